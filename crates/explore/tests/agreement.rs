//! Random small programs: every engine against plain search, and both orders of every independent pair.

use std::collections::BTreeSet;

use crate::common::commute::{commute, enabled};
use crate::common::{Engine, Op, Played, Program, canonical, system};
use proptest::prelude::*;
use simurgh_explore::{
    Exploration, Network, Options, Progress, Step, System, Verdict, Violation, dfs, dpor, optimal, source,
};

/// More executions than this, and plain search is not waited for.
const MOST: u64 = 5_000;

fn operation() -> impl Strategy<Value = Op> {
    let mailbox = 0..2u32;
    prop_oneof![
        4 => mailbox.clone().prop_map(Op::Send),
        4 => mailbox.clone().prop_map(Op::Recv),
        2 => mailbox.clone().prop_map(Op::Isend),
        2 => mailbox.clone().prop_map(Op::Irecv),
        2 => mailbox.clone().prop_map(Op::Dsend),
        2 => (mailbox.clone(), 0..3u32).prop_map(|(mailbox, source)| Op::RecvFrom(mailbox, source)),
        1 => (mailbox.clone(), 0..3u32).prop_map(|(mailbox, source)| Op::IrecvFrom(mailbox, source)),
        1 => (mailbox.clone(), 0..3u32).prop_map(|(mailbox, source)| Op::ProbeFrom(mailbox, source)),
        1 => mailbox.clone().prop_map(Op::RecvTimed),
        1 => mailbox.prop_map(Op::Probe),
        2 => Just(Op::WaitAny),
        1 => Just(Op::TestAny),
        1 => Just(Op::WaitAll),
        2 => (0..2u32).prop_map(Op::Lock),
        1 => Just(Op::LockTimed(0)),
        1 => Just(Op::TryLock(0)),
        2 => (0..2u32).prop_map(Op::Unlock),
        1 => (0..2u32).prop_map(Op::Acquire),
        1 => (0..2u32).prop_map(Op::Release),
        1 => Just(Op::AcquireTimed(0)),
        1 => Just(Op::Barrier),
        1 => Just(Op::Cancel),
        1 => Just(Op::Forget),
        1 => (0..2u32).prop_map(Op::Join),
        1 => (0..2u32).prop_map(Op::JoinTimed),
        1 => (0..2u32).prop_map(Op::IsAlive),
        1 => Just(Op::Spawn(0)),
        1 => Just(Op::WaitCondition),
        1 => Just(Op::WaitConditionTimed),
        1 => Just(Op::NotifyOne),
        1 => Just(Op::NotifyAll),
        1 => Just(Op::Choose(2)),
        1 => Just(Op::Sleep),
        1 => (0..3u32).prop_map(Op::Expect),
    ]
}

fn program() -> impl Strategy<Value = Program> {
    prop::collection::vec(prop::collection::vec(operation(), 1..4), 2..5)
        .prop_filter("small", |program| program.iter().map(Vec::len).sum::<usize>() <= 8)
}

/// Programs in which actors interfere with each other: what is possible does not stay so.
fn rough_program() -> impl Strategy<Value = Program> {
    let rough = prop_oneof![
        4 => operation(),
        1 => (0..3u32).prop_map(Op::Kill),
        1 => (0..3u32).prop_map(Op::Suspend),
        1 => (0..3u32).prop_map(Op::Resume),
        1 => Just(Op::BecomeDaemon),
    ];
    prop::collection::vec(prop::collection::vec(rough, 1..4), 2..4)
        .prop_filter("small", |program| program.iter().map(Vec::len).sum::<usize>() <= 6)
}

fn network() -> impl Strategy<Value = Network> {
    prop_oneof![2 => Just(Network::Mailbox), 1 => Just(Network::Pairwise), 1 => Just(Network::Unordered)]
}

/// What an engine saw: the final states, and the traces.
struct Seen {
    found: Exploration,
    progress: Progress,
    states: BTreeSet<u128>,
    traces: BTreeSet<Vec<Step>>,
}

impl Seen {
    fn violations(&self) -> Vec<&Violation> {
        self.found.found.iter().map(|(violation, _)| violation).collect()
    }
}

fn see(program: &Program, network: Network, engine: Engine) -> Seen {
    let (mut states, mut traces) = (BTreeSet::new(), BTreeSet::new());
    let mut progress = Progress::default();
    let mut options = Options::all().visit(|system: &mut Played, trace| {
        states.insert(system.state_key().expect("actors have one"));
        traces.insert(canonical(trace));
    });
    options.executions = Some(MOST);
    options.report = Some(&mut progress);
    let mut system = informed(program, network);
    let found = engine(&mut system, options);
    // A reduction has seen all that any order of the steps could show.
    assert!(!system.learned(), "a receive was seen that optimal did not see");
    Seen { found, progress, states, traces }
}

/// A system that knows by what its receives choose, so that fingerprints and traces mean the same from the first
/// execution to the last.
fn informed(program: &Program, network: Network) -> Played {
    let mut system = system(program, network);
    optimal::explore(&mut system, Options { executions: Some(MOST), ..Options::all() });
    system.learned();
    system
}

#[test]
fn a_choice_beside_a_race_is_not_lost() {
    let program = vec![vec![Op::Isend(0)], vec![Op::Isend(0), Op::Choose(2)]];
    let plain = see(&program, Network::Pairwise, dfs::explore);
    for engine in [dpor::explore as Engine, source::explore, optimal::explore] {
        let seen = see(&program, Network::Pairwise, engine);
        let missed: Vec<_> = plain.traces.difference(&seen.traces).map(|trace| written(trace)).collect();
        assert!(missed.is_empty(), "misses {missed:?}");
    }
}

#[test]
fn a_receive_that_does_not_accept_a_message_does_not_race_with_its_end() {
    let program = vec![vec![Op::RecvFrom(0, 2)], vec![Op::RecvFrom(0, 0)], vec![Op::Isend(0)]];
    let plain = see(&program, Network::Mailbox, dfs::explore);
    let seen = see(&program, Network::Mailbox, optimal::explore);
    // The message is received, or its sender ends first and takes it back.
    assert_eq!((plain.traces.len(), seen.found.executions), (2, 2));
    assert_eq!(seen.traces, plain.traces);
}

/// A receive that was let go of is taken back all the same when its actor ends, unless it has met a send before: a
/// race, though the kernel knows nothing of the receive once it has met.
#[test]
fn what_was_let_go_of_is_taken_back_at_the_end() {
    let program = vec![vec![Op::Send(0)], vec![Op::Irecv(0), Op::Forget, Op::Choose(1)]];
    for network in [Network::Mailbox, Network::Pairwise, Network::Unordered] {
        for engine in [dfs::explore as Engine, dpor::explore, source::explore, optimal::explore] {
            assert_eq!(see(&program, network, engine).found.verdict, Verdict::Deadlock);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_engine_agrees_with_plain_search(program in program(), network in network()) {
        let plain = see(&program, network, dfs::explore);
        prop_assume!(plain.progress.exhausted);
        let engines: [(&str, Engine); 3] =
            [("dpor", dpor::explore), ("source", source::explore), ("optimal", optimal::explore)];
        for (name, engine) in engines {
            let seen = see(&program, network, engine);
            prop_assert_eq!(seen.found.verdict, plain.found.verdict, "{}", name);
            prop_assert_eq!(seen.violations(), plain.violations(), "{}", name);
            prop_assert_eq!(&seen.states, &plain.states, "{}", name);
            let missed: Vec<_> = plain.traces.difference(&seen.traces).map(|trace| written(trace)).collect();
            prop_assert!(missed.is_empty(), "{name} misses {missed:?}");
            if name == "optimal" {
                prop_assert_eq!(seen.found.executions as usize, plain.traces.len());
                prop_assert_eq!(seen.progress.redundant, 0);
            }
            for (violation, schedule) in &seen.found.found {
                prop_assert!(shows(&program, network, schedule, violation), "{}: {:?}", name, schedule);
            }
        }
        let first = optimal::explore(&mut system(&program, network), Options::default());
        prop_assert_eq!(first.verdict == Verdict::Holds, plain.found.verdict == Verdict::Holds);
    }

    #[test]
    fn interference_changes_no_verdict(program in rough_program(), network in network()) {
        let plain = see(&program, network, dfs::explore);
        prop_assume!(plain.progress.exhausted);
        for engine in [dpor::explore as Engine, source::explore, optimal::explore] {
            let seen = see(&program, network, engine);
            prop_assert_eq!(seen.violations(), plain.violations());
            prop_assert_eq!(&seen.states, &plain.states);
        }
    }

    #[test]
    fn independent_steps_commute(program in program(), network in network()) {
        commute(&mut informed(&program, network))?;
    }
}

fn written(trace: &[Step]) -> String {
    trace.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Whether a schedule, repeated, shows a violation.
fn shows(program: &Program, network: Network, schedule: &[Step], violation: &Violation) -> bool {
    let mut system = system(program, network);
    schedule.iter().for_each(|&step| drop(system.execute(step)));
    let failed = (0..system.violation_count()).any(|index| system.violation(index) == *violation);
    failed || (enabled(&mut system).is_empty() && system.deadlock().as_ref() == Some(violation))
}
