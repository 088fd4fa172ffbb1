//! Scenarios whose best and worst are calculated by hand.

use std::sync::Arc;

use simurgh::platform::{Profile, ProfilePoint, ProfileTarget, Repeat};
use simurgh::scenario::Scenario;
use simurgh::timed::{Limit, Objective, explore_ways};
use simurgh_explore::Network;

use super::{attempts, explored, got, near, scenario, star, star_builder, values, with};

/// A server that works a second for each of two clients; the one has five seconds of work of its own then, the other
/// one.
fn served() -> Scenario {
    scenario(&[
        ("server", "s", &["recv box", "exec 1e9", "recv box", "exec 1e9"]),
        ("a", "a", &["send box 1e6", "exec 5e9"]),
        ("b", "b", &["sleep 0.1", "send box 1e6", "exec 1e9"]),
    ])
}

#[test]
fn whoever_is_served_first() {
    let found = explored(&served(), &star(&["s", "a", "b"]), Objective::Makespan);
    assert_eq!(found.ways, 2);
    let (best, worst, simulated) = values(&found);
    // a first: its message takes a second, its work five. The server works from 1 to 2 and from 3 to 4.
    near(best, 6.0);
    // b first: its message arrives at 1.1, the server works until 2.1, and only then a's message takes its second.
    near(worst, 8.1);
    assert_eq!(simulated, best);
    assert_eq!(got(&found.best, "server"), ["a", "b"]);
    assert_eq!(got(&found.worst, "server"), ["b", "a"]);
    assert_eq!(found.simulated, found.best);
}

#[test]
fn energy_of_all_hosts() {
    let found = explored(&served(), &star(&["s", "a", "b"]), Objective::Energy);
    let (best, worst, _) = values(&found);
    // 100 W of three hosts to the end, and 100 W more for the eight seconds at work.
    near(best, 300.0 * 6.0 + 100.0 * 8.0);
    near(worst, 300.0 * 8.1 + 100.0 * 8.0);
}

#[test]
fn messages_and_bytes_do_not_depend_on_who_is_first() {
    let platform = star(&["s", "a", "b"]);
    let messages = explored(&served(), &platform, Objective::Messages);
    assert_eq!(values(&messages), (2.0, 2.0, 2.0));
    let bytes = explored(&served(), &platform, Objective::Bytes);
    assert_eq!(values(&bytes), (2e6, 2e6, 2e6));
}

#[test]
fn an_order_that_does_not_matter() {
    let sender: &[&str] = &["sleep 1", "send box 1e6"];
    let program = scenario(&[
        ("receiver", "r", &["recv box", "recv box", "recv box"]),
        ("a", "a", sender),
        ("b", "b", sender),
        ("c", "c", sender),
    ]);
    let found = explored(&program, &star(&["r", "a", "b", "c"]), Objective::Makespan);
    assert_eq!(found.ways, 6);
    let (best, worst, simulated) = values(&found);
    assert_eq!((best, worst), (simulated, simulated));
    near(best, 4.0);
    // Of equal ways, the first counts, so that the answer does not depend on the order of the search.
    assert_eq!(got(&found.best, "receiver"), ["a", "b", "c"]);
    assert_eq!(found.best, found.worst);
}

#[test]
fn a_wait_for_any_takes_the_member_that_it_is_told_to() {
    let program = scenario(&[
        ("receiver", "r", &["irecv x", "irecv y", "waitany", "isend z 0", "waitany", "waitall"]),
        ("a", "a", &["send x 1e6 rate 1e5"]),
        ("b", "b", &["send y 1e6 rate 4e5"]),
        ("end", "e", &["recv z", "exec 20e9"]),
    ]);
    let found = explored(&program, &star(&["r", "a", "b", "e"]), Objective::Makespan);
    let (best, worst, simulated) = values(&found);
    // y takes 2.5 s, x takes 10: whichever is taken first decides when the work begins.
    near(best, 22.5);
    near(worst, 30.0);
    assert_eq!(simulated, best);
}

#[test]
fn what_may_overtake_on_a_network_without_order() {
    let program = scenario(&[
        ("receiver", "r", &["recv box", "exec 1e9", "recv box"]),
        ("a", "a", &["isend box 1e6", "isend box 3e6", "waitany", "exec 1e9", "waitall"]),
    ]);
    let platform = star(&["r", "a"]);
    for (network, ways) in [(Network::Mailbox, 2), (Network::Pairwise, 2), (Network::Unordered, 4)] {
        let limit = Limit { network, ..Limit::default() };
        let (found, mut runs) = attempts(&program, &platform, Objective::Makespan, limit);
        assert_eq!(found.ways, ways, "{network:?}");
        let (best, worst, _) = values(&found);
        // Both messages take 4 s, and the receiver works a second between them, whichever is first. The sender works a
        // second after the message that it waits for: that of 1 MB arrives at 1 or at 5, that of 3 MB at 5 or at 3.
        near(best, 5.0);
        near(worst, 6.0);
        runs.retain(|run| run.as_ref().is_ok_and(|run| run.value < 5.5));
        assert_eq!(runs.len() as u64, ways / 2);
    }
}

#[test]
fn a_way_that_ends_in_a_deadlock_has_no_value() {
    // Whoever of a and b meets the only receive lets the other one wait for ever; a is not needed any more.
    let program = scenario(&[
        ("receiver", "r", &["recv box", "recv back"]),
        ("a", "a", &["dsend box 0", "sleep 1"]),
        ("b", "b", &["send box 0", "send back 0"]),
    ]);
    let found = explored(&program, &star(&["r", "a", "b"]), Objective::Makespan);
    assert_eq!((found.ways, found.broken, found.impossible), (2, 1, 0));
    assert_eq!(found.damage.as_deref(), Some("deadlock: receiver, b wait for ever"));
    near(found.best.unwrap().value, 1.0);
    // Left to itself, the program takes the broken way: a comes first.
    assert_eq!(found.simulated, None);
}

#[test]
fn a_way_that_the_platform_does_not_allow() {
    let mut builder = star_builder(&["s", "a", "b"]);
    let link = builder.link_named("link of a").unwrap();
    let events = vec![ProfilePoint { date: 2.0, value: 0.0 }];
    builder.profile(ProfileTarget::LinkState(link), Arc::new(Profile { events, repeat: Repeat::Once }));
    let found = explored(&served(), &Arc::new(builder.build().unwrap()), Objective::Makespan);
    // If b is first, a's message sets out at 2.1, when its link is off.
    assert_eq!((found.ways, found.broken, found.impossible), (2, 0, 1));
    near(found.best.unwrap().value, 6.0);
    near(found.worst.unwrap().value, 6.0);
    let obstacle = found.obstacle.unwrap();
    assert!(obstacle.contains("failed (a link of the route is off)"), "{obstacle}");
}

#[test]
fn a_bound_is_never_silent() {
    let sender: &[&str] = &["send box 0"];
    let program = scenario(&[
        ("receiver", "r", &["recv box", "recv box", "recv box"]),
        ("a", "a", sender),
        ("b", "b", sender),
        ("c", "c", sender),
    ]);
    let platform = star(&["r", "a", "b", "c"]);
    for (executions, ways, exhausted) in [(5, 5, false), (6, 6, true), (7, 6, true)] {
        let limit = Limit { executions, ..Limit::default() };
        let found = with(&program, &platform, |subject| {
            explore_ways(subject, Objective::Makespan, limit, &mut |_, _| true)
        });
        let found = found.unwrap();
        assert_eq!((found.ways, found.exhausted), (ways, exhausted));
    }
    // What the plain simulation does is known, even if the search did not come to it.
    let served = served();
    let platform = star(&["s", "a", "b"]);
    for executions in [0, 1, 2] {
        let limit = Limit { executions, ..Limit::default() };
        let found = with(&served, &platform, |subject| {
            explore_ways(subject, Objective::Makespan, limit, &mut |_, _| true)
        });
        let found = found.unwrap();
        assert_eq!((found.ways, found.exhausted), (executions, executions == 2));
        near(found.best.unwrap().value, 6.0);
    }
    let platform = star(&["r", "a", "b", "c"]);
    let mut seen = 0;
    let mut watch = |attempt: Option<&_>, _: &_| {
        seen += usize::from(attempt.is_some());
        seen < 2
    };
    let found = with(&program, &platform, |subject| {
        explore_ways(subject, Objective::Makespan, Limit::default(), &mut watch)
    });
    let found = found.unwrap();
    assert_eq!((found.ways, found.exhausted), (2, false));
}

#[test]
fn timeouts_are_decided_by_time() {
    // The server works for 2 s for whoever comes first. The other one waits for 1.5 s at most.
    let program = scenario(&[
        ("server", "s", &["recv box", "exec 2e9", "recv box timeout 3", "exec 1e9"]),
        ("a", "a", &["send box 0 timeout 1.5", "exec 5e9"]),
        ("b", "b", &["sleep 0.1", "send box 0 timeout 1.5"]),
    ]);
    let found = explored(&program, &star(&["s", "a", "b"]), Objective::Makespan);
    let (best, worst, simulated) =
        (found.best.as_ref().unwrap(), found.worst.as_ref().unwrap(), found.simulated.as_ref().unwrap());
    // a first: it works until 5; b gives up at 1.6; the server waits from 2 to 5, and works a second more.
    near(best.value, 6.0);
    assert_eq!(got(&found.best, "server"), ["a", "-"]);
    // b first: a gives up at 1.5 and then works until 6.5; the server is done at 6.1.
    near(worst.value, 6.5);
    assert_eq!(got(&found.worst, "server"), ["b", "-"]);
    assert_eq!(simulated, best);
    // Both served, one after the other; and nobody served: not here. That the latter would be a deadlock is no matter.
    assert_eq!((found.ways, found.broken, found.impossible), (5, 0, 3));
}

#[test]
fn a_computation_that_is_given_up() {
    let program = scenario(&[("a", "a", &["exec 5e9 timeout 2", "send box 0"]), ("r", "r", &["recv box"])]);
    let found = explored(&program, &star(&["r", "a"]), Objective::Makespan);
    assert_eq!(found.ways, 1);
    // The wait is over at 2, the computation goes on in the background.
    assert_eq!(values(&found), (2.0, 2.0, 2.0));
}

#[test]
fn a_message_that_is_given_up_under_way_is_in_no_way() {
    let program = scenario(&[("a", "a", &["send box 3e6"]), ("r", "r", &["recv box timeout 1", "exec 1e9"])]);
    let found = explored(&program, &star(&["r", "a"]), Objective::Makespan);
    let simulated = found.simulated.unwrap();
    near(simulated.value, 2.0);
    let astray = simulated.astray.unwrap();
    assert!(astray.contains("waits for something that failed (timeout)"), "{astray}");
    // Received, or given up before it was sent: neither can happen here.
    assert_eq!((found.ways, found.broken, found.impossible), (2, 0, 2));
}

#[test]
fn what_cannot_be_explored_is_refused_in_a_line() {
    let program = scenario(&[("a", "node-0", &["send box 0"]), ("r", "node-1", &["recv box"])]);
    let bare = Arc::new(simurgh::Platform::builtin());
    let found = with(&program, &bare, |subject| {
        explore_ways(subject, Objective::Energy, Limit::default(), &mut |_, _| true)
    });
    assert_eq!(
        found.unwrap_err().to_string(),
        "--objective energy: no host of the platform says what it draws; give hosts the property \
         \"wattage_per_state\""
    );
}
