//! Counterexamples are made shorter, and still show what they are about.

use std::collections::BTreeSet;

use crate::common::{Op, Played, Program, system};
use proptest::prelude::*;
use simurgh_explore::replay::follow;
use simurgh_explore::shorten::{shorten, switches};
use simurgh_explore::transition::Transition;
use simurgh_explore::{Network, Options, Step, System, Violation, dfs, optimal, random};
use simurgh_trace::counterexample::told::{How, tell};

fn operation() -> impl Strategy<Value = Op> {
    let mailbox = 0..2u32;
    prop_oneof![
        4 => mailbox.clone().prop_map(Op::Send),
        4 => mailbox.clone().prop_map(Op::Recv),
        2 => mailbox.clone().prop_map(Op::Isend),
        2 => mailbox.clone().prop_map(Op::Irecv),
        2 => mailbox.clone().prop_map(Op::Dsend),
        1 => (mailbox.clone(), 0..3u32).prop_map(|(mailbox, source)| Op::RecvFrom(mailbox, source)),
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
        1 => Just(Op::Barrier),
        1 => Just(Op::Cancel),
        1 => (0..2u32).prop_map(Op::Join),
        1 => Just(Op::Spawn(0)),
        1 => Just(Op::WaitCondition),
        1 => Just(Op::NotifyOne),
        1 => Just(Op::NotifyAll),
        1 => Just(Op::Choose(2)),
        1 => (0..3u32).prop_map(Op::Kill),
        4 => (0..3u32).prop_map(Op::Expect),
    ]
}

fn program(actors: usize, operations: usize) -> impl Strategy<Value = Program> {
    prop::collection::vec(prop::collection::vec(operation(), 1..=operations), 2..=actors)
}

fn network() -> impl Strategy<Value = Network> {
    prop_oneof![2 => Just(Network::Mailbox), 1 => Just(Network::Pairwise), 1 => Just(Network::Unordered)]
}

/// What random walks find.
fn found(program: &Program, network: Network, walks: u64) -> Vec<(Violation, Vec<Step>)> {
    let options = Options { executions: Some(walks), depth: Some(200), ..Options::all() };
    random::explore(&mut system(program, network), 7, options).found
}

/// What a schedule does, from its start.
fn transitions(program: &Program, network: Network, schedule: &[Step]) -> Vec<Transition> {
    let mut played = system(program, network);
    // What receives choose by is known when all of them were seen.
    follow(&mut played, schedule).expect("it can be followed");
    follow(&mut played, schedule).expect("it can be followed").transitions
}

/// The fewest changes over all orders that the dependences allow, by trying them all.
fn fewest(trace: &[Transition]) -> usize {
    fn go(trace: &[Transition], done: &mut Vec<usize>, best: &mut usize) {
        let steps: Vec<Step> = done.iter().map(|&place| trace[place].step).collect();
        let changes = switches(&steps);
        if changes >= *best {
            return;
        }
        if done.len() == trace.len() {
            *best = changes;
            return;
        }
        for next in (0..trace.len()).filter(|next| !done.contains(next)).collect::<Vec<_>>() {
            let mut earlier = (0..next).filter(|earlier| !done.contains(earlier));
            if earlier.any(|earlier| Played::dependent(&trace[earlier], &trace[next])) {
                continue;
            }
            done.push(next);
            go(trace, done, best);
            done.pop();
        }
    }
    let mut best = usize::MAX;
    go(trace, &mut Vec::new(), &mut best);
    best
}

#[test]
fn what_has_nothing_to_do_with_a_failure_is_left_out() {
    // Three bystanders chat through another mailbox; one of them also sends where it matters, later.
    let program = vec![
        vec![Op::Recv(0), Op::Expect(1)],
        vec![Op::Recv(1), Op::Send(0)],
        vec![Op::Send(1), Op::Send(0)],
        vec![Op::Recv(2), Op::Recv(2)],
        vec![Op::Send(2), Op::Send(2)],
    ];
    let mut played = system(&program, Network::Mailbox);
    let violation = Violation::Failed { actor: 0, message: "expected 1, got Some(2)".to_owned() };
    let long: Vec<Step> =
        [3, 4, 0, 1, 2, 3, 4, 2, 4, 3, 2, 4, 1, 0].map(|actor| Step { actor, choice: 0 }).to_vec();
    let seen = follow(&mut played, &long).unwrap();
    assert_eq!(seen.came(&violation), Some(long.len()), "{:?}", seen.violations);
    let short = shorten(&mut played, &long, &violation, &|| false).unwrap();
    let written: Vec<_> = short.iter().map(ToString::to_string).collect();
    // The second message of actor 2 is received; its first must be received by actor 1 before.
    assert_eq!(written.join(" "), "1 2 2 2 0 0");
    assert_eq!((switches(&long), switches(&short)), (13, 2));
}

#[test]
fn a_deadlock_keeps_all_its_steps_in_few_runs() {
    // Each locks one, then the other.
    let program = vec![
        vec![Op::Lock(0), Op::Lock(1), Op::Unlock(1), Op::Unlock(0)],
        vec![Op::Lock(1), Op::Lock(0), Op::Unlock(0), Op::Unlock(1)],
        vec![Op::Send(0)],
        vec![Op::Recv(0)],
    ];
    let found = optimal::explore(&mut system(&program, Network::Mailbox), Options::all()).found;
    let (violation, schedule) = &found[0];
    assert_eq!(*violation, Violation::Deadlock { actors: vec![0, 1] });
    let mut played = system(&program, Network::Mailbox);
    let mixed: Vec<Step> =
        [0, 1, 2, 3, 0, 2, 1, 3, 0, 2, 1, 3].map(|actor| Step { actor, choice: 0 }).to_vec();
    assert_eq!(schedule.len(), mixed.len());
    let short = shorten(&mut played, &mixed, violation, &|| false).unwrap();
    assert_eq!(short.len(), mixed.len());
    // Each lock is had before the other actor asks for it; the rest needs a run and another for the sender's end.
    assert_eq!(switches(&short), 5, "{short:?}");

    let told = tell(&mut played, &short, None, &|mailbox| format!("box-{mailbox}")).unwrap();
    assert_eq!(told.what.as_deref(), Some("deadlock: actor-0 and actor-1 wait for ever"));
    let waits: Vec<_> = told.standing.iter().map(|s| (s.how, s.does.as_str(), s.why.as_deref())).collect();
    assert_eq!(
        waits,
        [
            (How::Waits, "waits for lock 1", Some("which actor-1 has")),
            (How::Waits, "waits for lock 0", Some("which actor-0 has")),
            (How::Ended, "has ended", None),
            (How::Ended, "has ended", None),
        ]
    );
}

#[test]
fn a_step_that_is_not_possible_is_told() {
    let program = vec![vec![Op::Send(0)], vec![Op::Recv(0)]];
    let mut played = system(&program, Network::Mailbox);
    let steps = [0, 0, 1].map(|actor| Step { actor, choice: 0 });
    let error = follow(&mut played, &steps).unwrap_err();
    assert_eq!(error.to_string(), "step 2 (0) is not possible there; possible are 1");
    let error = tell(&mut played, &[Step::arrival(0, 0)], None, &|_| String::new()).unwrap_err();
    assert_eq!(error.to_string(), "step 1 (net/0.0) is not possible there; possible are 0, 1");
}

#[test]
fn an_order_too_long_to_search_is_still_ordered_well() {
    // Twelve pairs that talk to each other: each order of the pairs is a state.
    let program: Program = (0..24)
        .map(|actor| {
            let m = actor / 2;
            if actor % 2 == 0 {
                vec![Op::Send(m), Op::Recv(m + 100), Op::Recv(1000)]
            } else {
                vec![Op::Recv(m), Op::Send(m + 100), Op::Recv(1000)]
            }
        })
        .collect();
    let found = found(&program, Network::Mailbox, 1);
    let (violation, schedule) = &found[0];
    assert!(matches!(violation, Violation::Deadlock { actors } if actors.len() == 24));
    let short = shorten(&mut system(&program, Network::Mailbox), schedule, violation, &|| false).unwrap();
    // A pair needs four runs; each may go on with its last receive at once.
    assert_eq!(switches(&short), 12 * 4 - 1);
    assert!(switches(schedule) > 100);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: simurgh_testing::cases(512), ..ProptestConfig::default() })]

    #[test]
    fn a_shorter_schedule_shows_the_same(program in program(5, 6), network in network()) {
        for (violation, schedule) in found(&program, network, 20) {
            let mut played = system(&program, network);
            let short = shorten(&mut played, &schedule, &violation, &|| false).expect("what was found is there");
            prop_assert!(switches(&short) <= switches(&schedule));
            prop_assert!(short.len() <= schedule.len());
            let again = follow(&mut played, &short).expect("it can be followed");
            prop_assert_eq!(again.came(&violation), Some(short.len()), "{:?} {:?}", violation, short);
            // It is told, too, and as many steps are told.
            let told = tell(&mut played, &short, Some(&violation), &|mailbox| mailbox.to_string());
            let told = told.expect("it can be followed");
            prop_assert_eq!(told.violation.as_ref(), Some(&violation));
            prop_assert_eq!(told.steps.len(), short.len());
            if matches!(violation, Violation::Failed { .. }) {
                let failed = told.steps.last().is_none_or(|step| step.fails.is_some());
                prop_assert!(failed, "{:?}", told);
            } else {
                prop_assert!(told.standing.iter().all(|standing| standing.how != How::Ready));
            }
            for step in &told.steps {
                prop_assert!(step.after.iter().all(|&before| 0 < before && before < step.number));
            }
        }
    }

    #[test]
    fn no_order_of_the_same_steps_has_fewer_changes(program in program(3, 3), network in network()) {
        for (violation, schedule) in found(&program, network, 6) {
            let short = shorten(&mut system(&program, network), &schedule, &violation, &|| false).expect("there");
            if short.len() > 10 {
                continue;
            }
            let trace = transitions(&program, network, &short);
            prop_assert_eq!(switches(&short), fewest(&trace), "{:?}", short);
        }
    }
}

#[test]
fn no_execution_that_fails_in_the_same_way_has_fewer_changes() {
    // Against all executions, not only those of one trace: here nothing is lost by keeping to it.
    let programs: [Program; 3] = [
        vec![vec![Op::Recv(0), Op::Expect(1), Op::Recv(0)], vec![Op::Send(0)], vec![Op::Send(0)]],
        vec![vec![Op::Recv(0), Op::Recv(0), Op::Expect(1)], vec![Op::Dsend(0)], vec![Op::Dsend(0)]],
        vec![
            vec![Op::Irecv(0), Op::Irecv(1), Op::WaitAny, Op::Expect(1)],
            vec![Op::Send(0)],
            vec![Op::Send(1)],
        ],
    ];
    for program in programs {
        for network in [Network::Mailbox, Network::Pairwise, Network::Unordered] {
            let mut best = usize::MAX;
            let mut messages = BTreeSet::new();
            let options = Options::all().visit(|played: &mut Played, trace: &[Transition]| {
                let steps: Vec<Step> = trace.iter().map(|transition| transition.step).collect();
                if played.violation_count() > 0 {
                    messages.insert(played.violation(0));
                    let came = follow(&mut system(&program, network), &steps).unwrap().violations[0].0;
                    best = best.min(switches(&steps[..came]));
                }
            });
            dfs::explore(&mut system(&program, network), options);
            let violation = messages.first().expect("it fails");
            for (other, schedule) in found(&program, network, 50) {
                if other == *violation {
                    let short =
                        shorten(&mut system(&program, network), &schedule, violation, &|| false).unwrap();
                    assert_eq!(switches(&short), best, "{network}: {short:?}");
                }
            }
        }
    }
}
