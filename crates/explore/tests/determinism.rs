//! Communication determinism against brute force: the records of all interleavings, compared two by two.

use crate::common::{Engine, Op, Played, Program, fan_in, system};
use proptest::prelude::*;
use simurgh_explore::determinism::{ActorRecord, Compared, Exchange, Traffic};
use simurgh_explore::replay::follow;
use simurgh_explore::transition::Post;
use simurgh_explore::{Network, Options, Progress, Verdict, Violation, dfs, dpor, optimal, source};

/// More executions than this, and plain search is not waited for.
const MOST: u64 = 2_000;

const SENDS: Compared = Compared::Sends;
const RECEIVES: Compared = Compared::Receives;

fn exchanges(record: &ActorRecord, what: Traffic) -> Vec<Exchange> {
    let list = if what == Traffic::Sends { &record.sends } else { &record.receives };
    list.iter().map(|posted| posted.exchange).collect()
}

/// Whether two records of an actor can be of one sequence.
fn agree(a: &ActorRecord, b: &ActorRecord, what: Traffic) -> bool {
    let (x, y) = (exchanges(a, what), exchanges(b, what));
    match (a.ended, b.ended) {
        (true, true) => x == y,
        (true, false) => x.starts_with(&y),
        (false, true) => y.starts_with(&x),
        (false, false) => x.starts_with(&y) || y.starts_with(&x),
    }
}

/// The records of all executions that plain search sees, without duplicates; nothing if there are too many.
fn records(program: &Program, network: Network) -> Option<Vec<Vec<ActorRecord>>> {
    let mut all: Vec<Vec<ActorRecord>> = Vec::new();
    let mut progress = Progress::default();
    let mut options = Options::all().visit(|system: &mut Played, _| {
        let mut records = system.records().expect("executions are compared");
        for record in &mut records {
            // When something happened is not compared.
            record.sends.iter_mut().chain(&mut record.receives).for_each(|posted| posted.step = 0);
        }
        if !all.contains(&records) {
            all.push(records);
        }
    });
    options.executions = Some(MOST);
    options.report = Some(&mut progress);
    dfs::explore(&mut system(program, network).compare(SENDS), options);
    progress.exhausted.then_some(all)
}

fn varies(records: &[Vec<ActorRecord>], what: Traffic) -> bool {
    let pairs = records.iter().flat_map(|one| records.iter().map(move |other| (one, other)));
    pairs.into_iter().any(|(one, other)| one.iter().zip(other).any(|(a, b)| !agree(a, b, what)))
}

/// Whether an engine finds that executions differ; what it finds is followed again.
fn found(program: &Program, network: Network, compared: Compared, engine: Engine) -> bool {
    let explored = engine(&mut system(program, network).compare(compared), Options::all());
    let varying = explored.found.iter().filter(|(what, _)| matches!(what, Violation::Varies { .. }));
    let mut any = false;
    for (violation, schedule) in varying {
        any = true;
        assert_eq!(explored.verdict, Verdict::Violated);
        let Violation::Varies { other, .. } = violation else { unreachable!("just filtered") };
        let mut again = system(program, network).compare(compared);
        assert!(follow(&mut again, other).expect("the first can be followed").came(violation).is_none());
        assert!(follow(&mut again, schedule).expect("the second can be followed").came(violation).is_some());
    }
    any
}

fn operation() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (0..2u32).prop_map(Op::Send),
        3 => (0..2u32).prop_map(Op::Recv),
        2 => (0..2u32).prop_map(Op::Dsend),
        1 => (0..2u32).prop_map(Op::Isend),
        1 => (0..2u32).prop_map(Op::Irecv),
        1 => (0..2u32, 0..3u32).prop_map(|(mailbox, source)| Op::RecvFrom(mailbox, source)),
        1 => Just(Op::WaitAny),
        1 => Just(Op::WaitAll),
        1 => Just(Op::RecvTimed(0)),
        1 => (0..2u32).prop_map(Op::SendIfFrom),
    ]
}

fn program() -> impl Strategy<Value = Program> {
    prop::collection::vec(prop::collection::vec(operation(), 1..4), 2..4)
        .prop_filter("small", |program| program.iter().map(Vec::len).sum::<usize>() <= 7)
}

fn network() -> impl Strategy<Value = Network> {
    prop_oneof![2 => Just(Network::Mailbox), 1 => Just(Network::Pairwise), 1 => Just(Network::Unordered)]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    #[test]
    fn engines_find_a_difference_where_there_is_one(program in program(), network in network()) {
        let all = records(&program, network);
        prop_assume!(all.is_some());
        let all = all.expect("just seen");
        for (compared, what) in [(SENDS, Traffic::Sends), (RECEIVES, Traffic::Receives)] {
            let expected = varies(&all, what);
            for engine in [dfs::explore as Engine, dpor::explore, source::explore, optimal::explore] {
                prop_assert_eq!(found(&program, network, compared, engine), expected, "{:?}", what);
            }
        }
    }
}

#[test]
fn a_receiver_of_any_message_is_deterministic_in_what_it_sends_only() {
    let mut system = system(&fan_in(3), Network::Mailbox).compare(SENDS);
    assert_eq!(optimal::explore(&mut system, Options::all()).verdict, Verdict::Holds);
    let mut system = crate::common::system(&fan_in(3), Network::Mailbox).compare(RECEIVES);
    let explored = optimal::explore(&mut system, Options::default());
    let [(violation, schedule)] = &explored.found[..] else { panic!("{explored:?}") };
    let Violation::Varies { actor, what, number, first, second, other } = violation else {
        panic!("{violation:?}")
    };
    assert_eq!((*actor, *what, *number), (0, Traffic::Receives, 0));
    let message = |actor| Some(Exchange::Received { mailbox: 0, message: Some(Post { actor, number: 0 }) });
    let exchanges = [first, second].map(|posted| posted.map(|posted| posted.exchange));
    assert_eq!(exchanges, [message(1), message(2)]);
    assert_ne!(schedule, other);
    assert_eq!(explored.executions, 2);
}
