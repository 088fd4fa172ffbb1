//! Messages that are lost, or arrive twice: random small programs on an unordered network.

use std::collections::BTreeSet;

use crate::common::{Engine, Op, Played, Program, canonical, fan_in};
use proptest::prelude::*;
use simurgh_explore::replay::follow;
use simurgh_explore::transition::{Fate, Kind};
use simurgh_explore::{
    Actors, Exploration, Faults, Network, Options, Progress, Step, System, Verdict, Violation, dfs, dpor,
    optimal, source,
};
use simurgh_kernel::ids::MailboxId;

/// More executions than this, and plain search is not waited for.
const MOST: u64 = 5_000;

fn operation() -> impl Strategy<Value = Op> {
    let mailbox = 0..2u32;
    prop_oneof![
        3 => mailbox.clone().prop_map(Op::Send),
        4 => mailbox.clone().prop_map(Op::Recv),
        2 => mailbox.clone().prop_map(Op::Isend),
        2 => mailbox.clone().prop_map(Op::Irecv),
        3 => mailbox.clone().prop_map(Op::Dsend),
        1 => (mailbox.clone(), 0..3u32).prop_map(|(mailbox, source)| Op::RecvFrom(mailbox, source)),
        2 => mailbox.clone().prop_map(Op::RecvTimed),
        1 => mailbox.prop_map(Op::Probe),
        1 => Just(Op::WaitAny),
        1 => Just(Op::TestAny),
        1 => Just(Op::WaitAll),
        1 => Just(Op::Cancel),
        1 => Just(Op::Forget),
        1 => Just(Op::BecomeDaemon),
        1 => Just(Op::Choose(2)),
        1 => (0..3u32).prop_map(Op::SendIfFrom),
        1 => (0..3u32).prop_map(Op::Expect),
    ]
}

fn program() -> impl Strategy<Value = Program> {
    prop::collection::vec(prop::collection::vec(operation(), 1..4), 2..4)
        .prop_filter("small", |program| program.iter().map(Vec::len).sum::<usize>() <= 6)
}

fn faults() -> impl Strategy<Value = Faults> {
    (0..3u32, 0..3u32).prop_map(|(losses, duplications)| Faults { losses, duplications })
}

fn system(program: &Program, faults: Faults) -> Played {
    crate::common::system(program, Network::Unordered).unreliable(faults)
}

/// A system that knows by what its receives choose, so that fingerprints and traces mean the same from the first
/// execution to the last.
fn informed(program: &Program, faults: Faults) -> Played {
    let mut system = system(program, faults);
    optimal::explore(&mut system, Options { executions: Some(MOST), ..Options::all() });
    system.learned();
    system
}

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

fn see(program: &Program, faults: Faults, engine: Engine) -> Seen {
    let (mut states, mut traces) = (BTreeSet::new(), BTreeSet::new());
    let mut progress = Progress::default();
    let mut options = Options::all().visit(|system: &mut Played, trace| {
        states.insert(system.state_key().expect("actors have one"));
        traces.insert(canonical(trace));
        let fates = |fate| {
            trace.iter().filter(|t| matches!(t.kind, Kind::Submit { fate: f, .. } if f == fate)).count()
                as u32
        };
        assert!(fates(Fate::Lost) <= faults.losses && fates(Fate::Twice) <= faults.duplications);
        assert!(
            trace.iter().all(|t| t.step.actor != 2 || t.step.choice != Step::TWICE),
            "it cannot be copied"
        );
    });
    options.executions = Some(MOST);
    options.report = Some(&mut progress);
    let found = engine(&mut informed(program, faults), options);
    Seen { found, progress, states, traces }
}

/// A step that makes another possible hides the race of one before it with that other: the first arrival and the wait.
#[test]
fn a_race_before_the_step_that_enables_is_seen() {
    let program = vec![vec![Op::Isend(1), Op::Irecv(0), Op::WaitAny], vec![Op::Dsend(0)]];
    let traces = |engine| see(&program, Faults::default(), engine).traces;
    let plain = traces(dfs::explore);
    assert_eq!(plain.len(), 3);
    assert_eq!(traces(dpor::explore), plain);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, max_global_rejects: 1 << 20, ..ProptestConfig::default() })]

    #[test]
    fn every_engine_agrees_with_plain_search(program in program(), faults in faults()) {
        let plain = see(&program, faults, dfs::explore);
        prop_assume!(plain.progress.exhausted);
        let engines: [(&str, Engine); 3] =
            [("dpor", dpor::explore), ("source", source::explore), ("optimal", optimal::explore)];
        for (name, engine) in engines {
            let seen = see(&program, faults, engine);
            prop_assert_eq!(seen.found.verdict, plain.found.verdict, "{}", name);
            prop_assert_eq!(seen.violations(), plain.violations(), "{}", name);
            prop_assert_eq!(&seen.states, &plain.states, "{}", name);
            prop_assert_eq!(&seen.traces, &plain.traces, "{}", name);
            if name == "optimal" {
                prop_assert_eq!(seen.found.executions as usize, plain.traces.len());
                prop_assert_eq!(seen.progress.redundant, 0);
            }
            for (violation, schedule) in &seen.found.found {
                let again = follow(&mut system(&program, Faults::of(schedule)), schedule);
                prop_assert!(again.is_ok_and(|again| again.came(violation).is_some()), "{}: {:?}", name, schedule);
            }
        }
    }

    /// More may go wrong where more is allowed, and nothing less.
    #[test]
    fn what_a_reliable_network_shows_an_unreliable_one_shows_too(program in program(), faults in faults()) {
        let (plain, lossy) = (see(&program, Faults::default(), dfs::explore), see(&program, faults, dfs::explore));
        prop_assume!(lossy.progress.exhausted);
        prop_assert!(plain.traces.is_subset(&lossy.traces));
    }

    #[test]
    fn independent_steps_commute(program in program(), faults in faults()) {
        let mut system = informed(&program, faults);
        crate::common::commute::commute(&mut system)?;
    }
}

/// What one actor sends and another receives: with what faults, and how it ends.
fn verdict(program: &Program, losses: u32, duplications: u32) -> (Verdict, u64) {
    let found = optimal::explore(&mut system(program, Faults { losses, duplications }), Options::all());
    (found.verdict, found.executions)
}

#[test]
fn a_message_that_is_lost_is_received_by_nobody_and_its_sender_goes_on() {
    let program = vec![vec![Op::Send(0)], vec![Op::Recv(0)]];
    assert_eq!(verdict(&program, 0, 0), (Verdict::Holds, 1));
    assert_eq!(verdict(&program, 1, 0), (Verdict::Deadlock, 2));
    let found =
        optimal::explore(&mut system(&program, Faults { losses: 1, duplications: 0 }), Options::all());
    let [(Violation::Deadlock { actors }, schedule)] = &found.found[..] else { panic!("{found:?}") };
    // The sender has ended: only the receiver waits.
    assert_eq!(actors, &[1]);
    assert!(schedule.contains(&Step { actor: 0, choice: Step::LOST }));
}

#[test]
fn a_copy_is_received_after_the_message_itself() {
    let program = vec![vec![Op::Dsend(0)], vec![Op::Recv(0), Op::Recv(0)]];
    assert_eq!(verdict(&program, 0, 0), (Verdict::Deadlock, 1));
    // Once it comes once, and once twice.
    assert_eq!(verdict(&program, 0, 1), (Verdict::Deadlock, 2));
    let mut meetings = Vec::new();
    let options = Options::all().visit(|system: &mut Played, _| meetings.push(system.meetings().to_vec()));
    optimal::explore(&mut informed(&program, Faults { losses: 0, duplications: 1 }), options);
    let names: Vec<Vec<bool>> =
        meetings.iter().map(|met| met.iter().map(|(_, send)| send.is_copy()).collect()).collect();
    assert_eq!(names, [vec![false], vec![false, true]]);
}

/// Of k messages at most one is lost: none, or any of them; in whatever order the others come. The same for two.
#[test]
fn losses_are_counted_once_each() {
    let program: Program = (0..3).map(|mailbox| vec![Op::Dsend(mailbox)]).collect();
    let losses = |losses| verdict(&program, losses, 0);
    assert_eq!(losses(1), (Verdict::Holds, 4));
    assert_eq!(losses(2), (Verdict::Holds, 7));
    assert_eq!(losses(3), (Verdict::Holds, 8));
}

#[test]
fn only_an_unordered_network_is_unreliable() {
    // Both messages come, in two orders; one of them is lost; both are.
    for (network, executions) in
        [(Network::Mailbox, 2), (Network::Pairwise, 2), (Network::Unordered, 2 + 2 + 1)]
    {
        let mut system =
            crate::common::system(&fan_in(3), network).unreliable(Faults { losses: 2, duplications: 0 });
        assert_eq!(optimal::explore(&mut system, Options::all()).executions, executions, "{network}");
    }
}

#[test]
fn what_cannot_be_copied_is_told_with_its_mailbox() {
    let program = vec![vec![Op::Dsend(0)], vec![Op::Recv(0)], vec![Op::Dsend(1)]];
    let mut system = system(&program, Faults { losses: 0, duplications: 1 });
    optimal::explore(&mut system, Options::all());
    let mailboxes: Vec<_> = Actors::unrepeatable(&system).map(|(_, mailbox)| MailboxId(mailbox)).collect();
    assert_eq!(mailboxes, [MailboxId(1)]);
}
