//! Every engine against an exhaustive search that uses no reduction, on random programs of all that the kernel can do.

use std::collections::BTreeSet;

use crate::common::axioms;
use crate::common::brute::{self, Ends};
use crate::common::generate::{Case, case, shorten};
use crate::common::{Engine, Op, Played, Program};
use simurgh_explore::transition::Transition;
use simurgh_explore::{
    Faults, Network, Options, Progress, Step, System, bfs, dfs, dpor, optimal, source, states,
};
use simurgh_testing::{cases, seed};

/// More executions than this, and an engine is not waited for; nor is plain search, after fewer.
const MOST: u64 = 1_000;
const MOST_PLAIN: u64 = 200;

/// More visits of states than this, and a program is left out.
const VISITS: usize = 2_000;

/// A system that knows by what its receives choose, so that traces mean the same from the first execution to the last.
fn informed(case: &Case) -> Option<Played> {
    let mut system = crate::common::system(&case.program, case.network).unreliable(case.faults);
    if case.keeps_posts {
        system = system.keep_posts();
    }
    let mut progress = Progress::default();
    let options = Options { executions: Some(MOST), report: Some(&mut progress), ..Options::all() };
    optimal::explore(&mut system, options);
    system.learned();
    progress.exhausted.then_some(system)
}

/// What an engine saw.
struct Seen {
    ends: Ends,
    /// How many Mazurkiewicz traces.
    traces: u64,
    executions: u64,
    /// Executions that it began in vain.
    redundant: u64,
}

/// The first order of a trace, in the order of the steps.
fn first_order(trace: &[Transition]) -> Vec<Step> {
    let mut left: Vec<&Transition> = trace.iter().collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let is_first =
            |&place: &usize| !left[..place].iter().any(|other| Played::dependent(other, left[place]));
        let first = (0..left.len()).filter(is_first).min_by_key(|&place| left[place].step);
        order.push(left.remove(first.expect("the first of all depends on none before it")).step);
    }
    order
}

/// What an engine saw; nothing if it is too much.
fn see(system: &mut Played, engine: Engine, most: u64) -> Option<Seen> {
    let (mut ends, mut traces) = (Ends::default(), BTreeSet::new());
    let mut progress = Progress::default();
    let mut options = Options::all().visit(|system: &mut Played, trace| {
        ends.add(system);
        traces.insert(first_order(trace));
    });
    options.executions = Some(most);
    options.report = Some(&mut progress);
    let found = engine(system, options);
    ends.violations.extend(found.found.into_iter().map(|(violation, _)| violation));
    let Progress { exhausted, executions, redundant, .. } = progress;
    exhausted.then_some(Seen { ends, traces: traces.len() as u64, executions, redundant })
}

/// Compares all engines; says what is wrong, or whether the program was small enough.
fn compare(case: &Case) -> Result<bool, String> {
    let Some(mut system) = informed(case) else { return Ok(false) };
    let Some(all) = brute::ends(&mut system, VISITS) else { return Ok(false) };
    if system.learned() {
        return Err("optimal has not seen all receives".into());
    }
    let traces = brute::traces(&mut system, VISITS);
    let engines: [(&str, Engine, u64); 6] = [
        ("optimal", optimal::explore, MOST),
        ("source", source::explore, MOST),
        ("dpor", dpor::explore, MOST),
        ("states", states::explore, MOST),
        ("bfs", bfs::explore, MOST),
        ("dfs", dfs::explore, MOST_PLAIN),
    ];
    for (name, engine, most) in engines {
        let Some(Seen { ends: seen, traces: traces_seen, executions, redundant }) =
            see(&mut system, engine, most)
        else {
            continue;
        };
        if seen != all {
            let missed: Vec<_> = all.outcomes.difference(&seen.outcomes).collect();
            let more: Vec<_> = seen.outcomes.difference(&all.outcomes).collect();
            return Err(format!("{name} misses {missed:#?}, and sees {more:#?}"));
        }
        // Every trace is seen; with sleep sets once, and with wakeup trees nothing is begun in vain.
        if let "optimal" | "source" | "dpor" | "dfs" = name {
            let Some(all) = traces else { continue };
            let once = matches!(name, "optimal" | "source");
            if traces_seen != all || once && executions != all || name == "optimal" && redundant != 0 {
                let counts = format!("{traces_seen} of {all} traces in {executions} executions");
                return Err(format!("{name}: {counts}, {redundant} in vain"));
            }
        }
    }
    Ok(true)
}

#[test]
fn every_engine_sees_what_an_exhaustive_search_sees() {
    let (mut compared, seed) = (0, seed().unwrap_or(2026));
    for number in 0..cases(2_000) {
        let case = case(seed, number, 14);
        match compare(&case) {
            Ok(small) => compared += u64::from(small),
            Err(_) => {
                let short = shorten(case, |case| compare(case).is_err());
                let wrong = compare(&short).err();
                panic!("case {number} of seed {seed}: {short:?}\n{}", wrong.unwrap_or_default())
            }
        }
    }
    println!("compared {compared} programs");
}

#[test]
fn what_the_reductions_rely_on_is_true() {
    let seed = seed().unwrap_or(2026);
    let wrong = |case: &Case| informed(case).and_then(|mut system| axioms::check(&mut system, 300).err());
    for number in 0..cases(300) {
        let case = case(seed, number, 9);
        if wrong(&case).is_some() {
            let short = shorten(case, |case| wrong(case).is_some());
            panic!("case {number} of seed {seed}: {short:?}\n{}", wrong(&short).unwrap_or_default());
        }
    }
}

fn reliable(program: Program, network: Network) -> Case {
    Case { program, network, faults: Faults::default(), keeps_posts: true }
}

/// Who is notified and does not get its lock for ever does nothing that a notification could race with: that it might have given
/// up before was not seen.
#[test]
fn giving_up_before_a_notification_that_leads_nowhere_is_seen() {
    let program = vec![vec![Op::Lock(0)], vec![Op::NotifyAll], vec![Op::Lock(0), Op::WaitConditionTimed]];
    assert_eq!(compare(&reliable(program, Network::Mailbox)), Ok(true));
}

/// A step asleep was a weak initial of the second step of a race and what that needs, and not of all that the execution did beside the
/// race: the race was taken for explored.
#[test]
fn what_an_execution_does_beside_a_race_tells_whether_it_was_explored() {
    let program = vec![
        vec![Op::Isend(0)],
        vec![Op::Dsend(1)],
        vec![Op::Dsend(1), Op::Irecv(1)],
        vec![Op::Irecv(1), Op::Isend(0), Op::Irecv(0)],
    ];
    let case = reliable(program, Network::Mailbox);
    let mut system = informed(&case).expect("it is small");
    assert_eq!(brute::traces(&mut system, VISITS), Some(8));
    assert_eq!(see(&mut system, optimal::explore, MOST).map(|seen| seen.executions), Some(8));
    assert_eq!(compare(&case), Ok(true));
}

/// Both have come, and neither has gone on: which of them will be told that it was the last was no part of the fingerprint.
#[test]
fn who_was_last_at_a_barrier_is_part_of_a_state() {
    let program = vec![vec![Op::Barrier]; 2];
    assert_eq!(compare(&reliable(program, Network::Mailbox)), Ok(true));
}

/// Both messages were received, and nobody was told yet: which receive got which was no part of the fingerprint.
/// An actor that is halted may have halted itself, or be about to when it is let go on.
#[test]
fn whether_a_request_was_heard_is_part_of_a_state() {
    let case = Case {
        program: vec![vec![Op::Suspend(0)], vec![Op::Suspend(0), Op::Resume(0)]],
        network: Network::Pairwise,
        faults: Faults::default(),
        keeps_posts: false,
    };
    assert_eq!(compare(&case), Ok(true));
}

/// How many messages are on their way is part of a state, also where all their numbers are 0.
#[test]
fn what_was_given_up_and_is_on_its_way_is_part_of_a_state() {
    let case = Case {
        program: vec![vec![Op::SendTimed(0)], vec![Op::Dsend(1)], vec![Op::Recv(1)]],
        network: Network::Pairwise,
        faults: Faults::default(),
        keeps_posts: true,
    };
    assert_eq!(compare(&case), Ok(true));
}

#[test]
fn what_a_receive_got_is_part_of_a_state() {
    let program = vec![vec![Op::Irecv(1), Op::Dsend(1), Op::Recv(1)], vec![Op::Dsend(1)]];
    assert_eq!(compare(&reliable(program, Network::Pairwise)), Ok(true));
}

/// An end depended on all other steps after a daemon was created, and on none before: one trace was taken for two.
#[test]
fn an_end_before_a_daemon_is_created_is_one_after_it() {
    let program = vec![vec![Op::WaitAny], vec![Op::Choose(1)], vec![Op::SpawnDaemon(1)]];
    assert_eq!(compare(&reliable(program, Network::Mailbox)), Ok(true));
}

/// `source` did not see one of the ways.
#[test]
fn a_send_that_is_given_up_while_it_is_under_way() {
    for network in [Network::Pairwise, Network::Unordered] {
        let program =
            vec![vec![Op::SendTimed(0)], vec![Op::Dsend(1), Op::Recv(0)], vec![Op::Recv(1), Op::Recv(0)]];
        assert_eq!(compare(&reliable(program, network)), Ok(true));
    }
}
