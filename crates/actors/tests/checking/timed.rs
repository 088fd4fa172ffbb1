//! Timed exploration as a call.

use std::cell::Cell;
use std::time::Duration;

use simurgh::prelude::*;
use simurgh::{ExploreReport, Network, Objective, Verdict};

use super::{one_host, one_seat, unmade};

/// Serves two, of whom the second one served has to hurry.
fn served(program: &mut Program) -> simurgh::Result {
    program.spawn("server", "node-0", |ctx: Ctx| async move {
        for _ in 0..2 {
            ctx.mailbox::<()>("requests").recv().await?;
            ctx.sleep(1.0).await;
        }
        Ok(())
    })?;
    for (name, host, seconds) in [("short", "node-1", 1.0), ("long", "node-2", 3.0)] {
        program.spawn(name, host, move |ctx: Ctx| async move {
            ctx.mailbox("requests").send((), 0.0).await?;
            ctx.sleep(seconds).await;
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
fn the_best_and_the_worst() {
    let report = simurgh::explore(served).assert_holds();
    assert_eq!((report.verdict(), report.found.ways, report.found.exhausted), (Verdict::Holds, 2, true));
    let (best, worst) = (report.assert_at_least(3.0), report.assert_at_most(4.1));
    assert!((best.value, worst.value) < (3.1, 4.1) && worst.value > 4.0, "{report}");
    assert_ne!(best.way, worst.way);
    assert_eq!((report.best(), report.worst()), (Some(best), Some(worst)));
    assert!(
        report.to_string().starts_with("makespan over 2 ways to receive on a mailbox network, "),
        "{report}"
    );
    let messages = simurgh::explore(served).objective(Objective::Messages).network(Network::Pairwise).run();
    assert_eq!(messages.best().map(|run| run.value), Some(2.0));
    assert_eq!((messages.objective, messages.network), (Objective::Messages, Network::Pairwise));
}

#[test]
fn options_of_timed_exploration() {
    let two = || simurgh::explore(served);
    assert_eq!(two().executions(1).run().verdict(), Verdict::NotExhausted);
    assert_eq!(two().time(Duration::ZERO).run().verdict(), Verdict::NotExhausted);
    assert_eq!(two().stop_when(|found| found.ways == 1).run().found.ways, 1);
    let ways = Cell::new(0);
    two().progress(|found| ways.set(found.ways)).seed(3).assert_holds();
    assert_eq!(ways.get(), 2);
    let value = |report: ExploreReport| report.best().map(|run| run.value);
    assert!(value(two().config("network/model", "CM02").run()) < value(two().run()));
    let wrong = two().config("network/model", "telepathy").run();
    assert_eq!(wrong.verdict(), Verdict::CannotRun);
    let elsewhere = two().platform(one_host("elsewhere")).run();
    assert!(elsewhere.to_string().starts_with("cannot-run: there is no host"), "{elsewhere}");
}

#[test]
#[should_panic(expected = "the worst is more than 3.500000 s\n\nmakespan over 2 ways")]
fn the_worst_is_too_much() {
    simurgh::explore(served).assert_at_most(3.5);
}

#[test]
#[should_panic(expected = "the best is less than 3.500000 s\n\nmakespan over 2 ways")]
fn the_best_is_too_little() {
    simurgh::explore(served).assert_at_least(3.5);
}

#[test]
#[should_panic(expected = "some way comes to a bad end\n\n")]
fn a_way_comes_to_a_bad_end() {
    simurgh::explore(one_seat).assert_holds();
}

#[test]
#[should_panic(expected = "not all ways were seen\n\n")]
fn not_all_ways_are_seen() {
    simurgh::explore(served).executions(1).assert_at_most(100.0);
}

#[test]
#[should_panic(expected = "it cannot be explored\n\ncannot-run: there is no host")]
fn what_cannot_be_made_cannot_be_explored() {
    simurgh::explore(unmade).assert_holds();
}

#[test]
#[should_panic(expected = "too many ways")]
fn a_listener_of_an_exploration_may_panic() {
    let _ = simurgh::explore(served).progress(|_| panic!("too many ways")).run();
}
