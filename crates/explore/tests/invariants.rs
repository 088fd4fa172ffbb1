//! Invariants over what several actors show: every engine that says so preserves them, and the one that says that it does not
//! would miss some.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{Engine, Op, Played, Program, ReadsFrom, canonical, system, way};
use proptest::prelude::*;
use simurgh_explore::replay::follow;
use simurgh_explore::{
    Network, Options, Progress, Step, System, Verdict, Violation, dfs, dpor, optimal, shorten, source,
};
use simurgh_kernel::exposed::Invariant;
use simurgh_kernel::ids::ExposedId;

/// More executions than this, and plain search is not waited for.
const MOST: u64 = 4_000;

/// Two places and what must not be seen there at once.
type Never = [(u32, u32); 2];

fn invariant(index: usize, never: Never) -> Invariant {
    let looks_at = never.iter().map(|&(slot, _)| ExposedId(slot)).collect();
    let holds = move |exposure: &simurgh_kernel::exposed::Exposure| {
        let seen = never.iter().all(|&(slot, value)| exposure.get(ExposedId(slot)) == Some(&value));
        if seen { Err(None) } else { Ok(()) }
    };
    Invariant::new(format!("invariant {index}"), looks_at, Box::new(holds))
}

fn upheld(program: &Program, network: Network, never: &[Never]) -> Played {
    let invariants = never.iter().enumerate().map(|(index, never)| invariant(index, *never)).collect();
    system(program, network).uphold(invariants)
}

/// What an engine saw: which invariants do not hold, the final states and the traces, if it came to an end.
#[derive(Debug)]
struct Seen {
    broken: BTreeSet<String>,
    others: Vec<Violation>,
    states: BTreeSet<u128>,
    traces: BTreeSet<Vec<Step>>,
    executions: u64,
    exhausted: bool,
}

fn see(program: &Program, network: Network, never: &[Never], engine: Engine) -> Seen {
    let mut system = upheld(program, network, never);
    // By what the receives choose is known then.
    optimal::explore(&mut system, Options { executions: Some(MOST), ..Options::all() });
    let (mut states, mut traces) = (BTreeSet::new(), BTreeSet::new());
    let mut progress = Progress::default();
    let mut options = Options::all().visit(|system: &mut Played, trace| {
        states.insert(system.state_key().expect("actors have one"));
        traces.insert(canonical(trace));
    });
    options.executions = Some(MOST);
    options.report = Some(&mut progress);
    let found = engine(&mut system, options);
    let (mut broken, mut others) = (BTreeSet::new(), Vec::new());
    for (violation, schedule) in found.found {
        let followed = follow(&mut system, &schedule).expect("a schedule can be followed");
        assert!(followed.came(&violation).is_some(), "{violation:?} does not come again: {schedule:?}");
        match violation {
            Violation::Invariant { name, .. } => drop(broken.insert(name)),
            other => others.push(other),
        }
    }
    let (executions, exhausted) = (found.executions, progress.exhausted);
    Seen { broken, others, states, traces, executions, exhausted }
}

fn operation() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => (0..4u32, 0..3u32).prop_map(|(slot, value)| Op::Expose(slot, value)),
        2 => (0..2u32).prop_map(Op::Send),
        2 => (0..2u32).prop_map(Op::Recv),
        1 => Just(Op::Dsend(0)),
        1 => Just(Op::RecvTimed(0)),
        1 => Just(Op::RecvFrom(0, 0)),
        1 => Just(Op::Lock(0)),
        1 => Just(Op::Unlock(0)),
        1 => Just(Op::Choose(2)),
        1 => (0..2u32).prop_map(Op::Join),
    ]
}

fn program() -> impl Strategy<Value = Program> {
    prop::collection::vec(prop::collection::vec(operation(), 1..5), 2..4)
        .prop_filter("small", |program| program.iter().map(Vec::len).sum::<usize>() <= 8)
}

fn invariants() -> impl Strategy<Value = Vec<Never>> {
    let value = || (0..4u32, 0..3u32);
    prop::collection::vec([value(), value()], 1..4)
}

fn network() -> impl Strategy<Value = Network> {
    prop_oneof![2 => Just(Network::Mailbox), 1 => Just(Network::Pairwise), 1 => Just(Network::Unordered)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    #[test]
    fn every_engine_sees_what_plain_search_sees(program in program(), network in network(), never in invariants()) {
        let plain = see(&program, network, &never, dfs::explore);
        prop_assume!(plain.exhausted);
        let engines: [(&str, Engine); 3] =
            [("dpor", dpor::explore), ("source", source::explore), ("optimal", optimal::explore)];
        for (name, engine) in engines {
            let seen = see(&program, network, &never, engine);
            prop_assert_eq!(&seen.broken, &plain.broken, "{}", name);
            prop_assert_eq!(&seen.others, &plain.others, "{}", name);
            prop_assert_eq!(&seen.states, &plain.states, "{}", name);
            prop_assert_eq!(&seen.traces, &plain.traces, "{}", name);
            if name == "optimal" {
                prop_assert_eq!(seen.executions as usize, plain.traces.len());
            }
        }
    }
}

/// Two actors that never meet; each goes into a room and leaves it.
fn rooms() -> Program {
    vec![vec![Op::Expose(0, 1), Op::Expose(0, 0)], vec![Op::Expose(1, 1), Op::Expose(1, 0)]]
}

#[test]
fn the_ways_to_receive_do_not_tell_whether_an_invariant_holds() {
    // There is one way to receive, as nothing is received. In some of its orders both are in the room at once, in others
    // they are not: one execution cannot stand for all of them.
    let mut orders: BTreeMap<ReadsFrom, BTreeSet<bool>> = BTreeMap::new();
    let options = Options::all().visit(|system: &mut Played, trace| {
        orders.entry(way(system, trace)).or_default().insert(system.violation_count() == 0);
    });
    let mut system = upheld(&rooms(), Network::Mailbox, &[[(0, 1), (1, 1)]]);
    assert_eq!(dfs::explore(&mut system, options).verdict, Verdict::Violated);
    assert_eq!(orders.len(), 1);
    assert_eq!(orders.into_values().next(), Some([false, true].into()));
}

#[test]
fn values_depend_on_each_other_where_an_invariant_looks_at_both() {
    let count = |never: &[Never]| see(&rooms(), Network::Mailbox, never, optimal::explore).executions;
    // Nobody looks, so that nothing is a step but the ends.
    assert_eq!(count(&[]), 1);
    // Each invariant looks at one of them.
    assert_eq!(count(&[[(0, 9), (0, 9)], [(1, 9), (1, 9)]]), 1);
    // One looks at both: all orders of two steps and two others.
    assert_eq!(count(&[[(0, 9), (1, 9)]]), 6);
}

#[test]
fn a_violation_names_the_values_and_is_found_at_the_start_too() {
    let mut system = upheld(&rooms(), Network::Mailbox, &[[(0, 1), (1, 1)], [(2, 0), (3, 0)]]);
    let found = optimal::explore(&mut system, Options::all());
    let named = |name: &str, values: [(&str, &str); 2]| Violation::Invariant {
        name: name.to_owned(),
        message: None,
        values: values.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
    };
    let [(inside, steps), (start, nothing)] = &found.found[..] else { panic!("{found:?}") };
    assert_eq!(*inside, named("invariant 0", [("a", "1"), ("b", "1")]));
    assert_eq!(*start, named("invariant 1", [("c", "0"), ("d", "0")]));
    assert!(nothing.is_empty());
    // The shortest way there: each goes in.
    let short = shorten::shorten(&mut system, steps, inside, &|| false).expect("it is shown");
    assert_eq!(short.iter().map(|step| step.actor).collect::<BTreeSet<_>>(), [0, 1].into());
    assert_eq!(short.len(), 2);
}
