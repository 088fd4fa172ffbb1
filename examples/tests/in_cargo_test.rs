//! Checks as tests: those that stand in the examples themselves (`cargo test --example fan_in` runs them too), and some of
//! scenarios.

#[path = "../crossing/main.rs"]
#[allow(dead_code, missing_docs)]
mod crossing;
#[path = "../fan_in/main.rs"]
#[allow(dead_code, missing_docs)]
mod fan_in;
#[path = "../token_ring/main.rs"]
#[allow(dead_code, missing_docs)]
mod token_ring;

use simurgh::{Network, Objective, Scenario};

fn scenario(name: &str) -> Scenario {
    Scenario::from_file(format!("{}/scenarios/{name}", env!("CARGO_MANIFEST_DIR"))).expect("it is a scenario")
}

#[test]
fn a_comment_overtakes_pages() {
    let overtaking = scenario("overtaking.toml");
    for (network, executions) in [(Network::Mailbox, 1), (Network::Pairwise, 3), (Network::Unordered, 6)] {
        let report = overtaking.check().network(network).assert_holds();
        assert_eq!(report.executions, executions, "on a {network} network");
    }
}

#[test]
fn philosophers_starve() {
    let found = scenario("deadlock.toml").check().assert_deadlock();
    assert_eq!(found.what, "deadlock: plato and hypatia wait for ever");
}

#[test]
fn whatever_the_order_the_press_is_done_in_time() {
    let report = scenario("queue.toml").explore().assert_at_most(11.2);
    assert_eq!(report.found.ways, 24);
    report.assert_at_least(6.8);
    scenario("queue.toml").explore().objective(Objective::Energy).assert_at_most(4800.0);
}
