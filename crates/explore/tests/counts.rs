//! Exact numbers of executions, each with its reason.

use crate::common::{Op, fan_in, system, tally, threes};
use simurgh_explore::{Network, Options, Verdict, dfs, dpor, optimal, pct, random, source};

#[test]
fn plain_search_counts_every_interleaving() {
    // A send and its wait, a receive and its wait, and two ends: the posts come in either order, after both of them each
    // side has two steps left: 2 * C(4, 2) orders.
    let found = dfs::explore(&mut system(&fan_in(2), Network::Mailbox), Options::all());
    assert_eq!((found.verdict, found.executions), (Verdict::Holds, 12));
    // Two actors of three choices and an end each: C(8, 4) orders of 2^3 * 2^3 outcomes.
    let choices = vec![vec![Op::Choose(2); 3]; 2];
    let found = dfs::explore(&mut system(&choices, Network::Mailbox), Options::all());
    assert_eq!(found.executions, 70 * 64);
}

#[test]
fn a_bound_is_never_silent() {
    let options = Options { executions: Some(100), ..Options::all() };
    let found = dfs::explore(&mut system(&fan_in(4), Network::Mailbox), options);
    assert_eq!((found.verdict, found.executions), (Verdict::NotExhausted, 100));
    let options = Options { depth: Some(3), ..Options::all() };
    let found = dfs::explore(&mut system(&threes(1), Network::Mailbox), options);
    assert_eq!((found.verdict, found.executions), (Verdict::NotExhausted, 0));
    assert!(found.cut > 0 && found.cut_schedule.is_some_and(|schedule| schedule.len() == 3));
}

#[test]
fn one_execution_for_each_order_of_messages() {
    for (processes, orders) in [(2, 1), (3, 2), (4, 6), (5, 24), (6, 120)] {
        for network in [Network::Mailbox, Network::Pairwise, Network::Unordered] {
            let program = fan_in(processes);
            assert_eq!(tally(&program, network, optimal::explore), (Verdict::Holds, orders, 0));
            assert_eq!(tally(&program, network, source::explore).1, orders);
        }
    }
}

#[test]
fn groups_of_three_are_independent() {
    for (groups, orders) in [(1, 2), (2, 4), (3, 8), (4, 16)] {
        for engine in [dpor::explore, source::explore, optimal::explore] {
            let found = tally(&threes(groups), Network::Mailbox, engine);
            assert_eq!(found, (Verdict::Holds, orders, 0));
        }
    }
}

/// Receives from each of the others by its number, from the first to the last.
fn named_fan_in(processes: u32) -> Vec<Vec<Op>> {
    let mut program = vec![(1..processes).map(|source| Op::RecvFrom(0, source)).collect()];
    program.extend(vec![vec![Op::Send(0)]; processes as usize - 1]);
    program
}

#[test]
fn named_receives_leave_no_choice() {
    // No receive of the mailbox can tell in which order messages of different senders came.
    for processes in 3..8 {
        for network in [Network::Mailbox, Network::Pairwise, Network::Unordered] {
            for engine in [source::explore, optimal::explore] {
                assert_eq!(tally(&named_fan_in(processes), network, engine), (Verdict::Holds, 1, 0));
            }
        }
    }
    // With one receive that takes any among them, all orders can be told apart; where it takes the third sender's message,
    // the last receive waits for ever.
    let mut program = named_fan_in(4);
    program[0][1] = Op::Recv(0);
    let found = tally(&program, Network::Mailbox, optimal::explore);
    assert_eq!(found, (Verdict::Deadlock, 6, 0));
}

#[test]
fn one_receive_that_takes_any_sees_the_first_of_them_only() {
    // There are as many ways as senders. But a trace also says in which order the other messages came, which nobody asks.
    let mut fan_in = fan_in(4);
    fan_in[0] = vec![Op::Recv(0)];
    fan_in[1..].iter_mut().for_each(|sender| *sender = vec![Op::Dsend(0)]);
    assert_eq!(tally(&fan_in, Network::Mailbox, optimal::explore), (Verdict::Holds, 6, 0));
}

#[test]
fn arrivals_at_a_barrier_are_told_apart_by_those_who_ask() {
    let four = |asking: usize| -> Vec<Vec<Op>> {
        (0..4).map(|actor| vec![Op::BarrierOfFour { told: actor < asking }]).collect()
    };
    // Nobody asks; one asks, and each of the others comes before it or after it; all ask, and all orders count.
    for (asking, orders) in [(0, 1), (1, 8), (4, 24)] {
        assert_eq!(tally(&four(asking), Network::Mailbox, optimal::explore), (Verdict::Holds, orders, 0));
    }
    // The next round is another one: nobody comes to it before the last has come to this one.
    let twice: Vec<Vec<Op>> = four(0).into_iter().map(|arrival| arrival.repeat(2)).collect();
    assert_eq!(tally(&twice, Network::Mailbox, optimal::explore), (Verdict::Holds, 1, 0));
    // Three at a barrier of two: who comes last waits for ever.
    let crowd = vec![vec![Op::BarrierUntold]; 3];
    assert_eq!(tally(&crowd, Network::Mailbox, optimal::explore).0, Verdict::Deadlock);
}

#[test]
fn timeouts_may_always_fire() {
    // The message is there in time or not; then its sender waits for ever.
    let program = vec![vec![Op::RecvTimed(0)], vec![Op::Send(0)]];
    for engine in [dfs::explore, dpor::explore, source::explore, optimal::explore] {
        let found = engine(&mut system(&program, Network::Mailbox), Options::all());
        assert_eq!(found.verdict, Verdict::Deadlock);
    }
    assert_eq!(tally(&program, Network::Mailbox, optimal::explore), (Verdict::Deadlock, 2, 0));
}

#[test]
fn walks_find_what_a_seed_finds_again() {
    // Only one of six orders ends with the second sender.
    let mut program = fan_in(4);
    program[0].push(Op::Expect(2));
    let walk = |seed| {
        let options = Options { executions: Some(200), ..Options::default() };
        random::explore(&mut system(&program, Network::Mailbox), seed, options)
    };
    assert_eq!(walk(1).verdict, Verdict::Violated);
    assert_eq!(walk(1), walk(1));
    let options = Options { executions: Some(200), ..Options::default() };
    let found = pct::explore(&mut system(&program, Network::Mailbox), 1, 3, options);
    assert_eq!(found.verdict, Verdict::Violated);
    let options = Options { executions: Some(50), ..Options::default() };
    let found = pct::explore(&mut system(&fan_in(3), Network::Mailbox), 1, 3, options);
    assert_eq!((found.verdict, found.executions), (Verdict::NotExhausted, 50));
}

/// `cargo test --release -p simurgh-explore --test explore counts -- --ignored` says how fast it is.
#[test]
#[ignore = "for measuring"]
fn one_receiver_and_eight_senders() {
    assert_eq!(tally(&fan_in(9), Network::Mailbox, optimal::explore), (Verdict::Holds, 40_320, 0));
}
