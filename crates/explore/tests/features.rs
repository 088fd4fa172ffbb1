//! The engine `receives` against plain search, on random programs with timeouts, locks, semaphores, barriers, joins,
//! cancellations, named receives and failures: what the actors see must be the same, and no way must be seen twice.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::common::generate::seed_of;
use crate::common::{Op, Played, Program, bodies, observed, permits, system};
use simurgh_explore::receives::actors::{Actors, Factory};
use simurgh_explore::receives::parts::explore_ways;
use simurgh_explore::receives::reads_from::ReadsFrom;
use simurgh_explore::receives::search::{Limits, Refusal};
use simurgh_explore::replay::follow;
use simurgh_explore::transition::Transition;
use simurgh_explore::{Network, Options, Progress, Step, System, Verdict, Violation, dfs};
use simurgh_kernel::ids::{BarrierId, MutexId, SemaphoreId};
use simurgh_kernel::random::Random;
use simurgh_kernel::simcall::{Note, SpawnRequest};
use simurgh_testing::cases;

/// A program as a factory.
struct Made<'a>(&'a Program);

impl Factory for Made<'_> {
    fn make(&mut self, actors: &mut Vec<SpawnRequest>, notes: &mut Vec<Note>) {
        actors.extend(bodies(self.0));
        notes.extend([
            Note::NewMutex(MutexId(0)),
            Note::NewMutex(MutexId(1)),
            Note::NewSemaphore(SemaphoreId(0), permits(self.0)),
            Note::NewSemaphore(SemaphoreId(1), 0),
            Note::NewBarrier(BarrierId(0), 2),
        ]);
    }
}

/// What the actors were answered in all executions, and the verdict. Nothing if there are too many.
type Seen = (BTreeSet<Vec<crate::common::Observed>>, Verdict);

/// The same, how many executions there were, and what was wrong with some of them.
type Found = (Seen, u64, Vec<(Violation, Vec<Step>)>);

fn plain(program: &Program, network: Network) -> Option<Seen> {
    let mut seen = BTreeSet::new();
    let mut progress = Progress::default();
    let mut options = Options::all().visit(|_: &mut Played, _: &[Transition]| {
        seen.insert(observed());
    });
    options.executions = Some(6_000);
    options.report = Some(&mut progress);
    let found = dfs::explore(&mut system(program, network).keep_posts(), options);
    progress.exhausted.then_some((seen, found.verdict))
}

fn ways(program: &Program, network: Network, eager: bool) -> Result<Found, Refusal> {
    let seen = RefCell::new(BTreeSet::new());
    let mut all: BTreeSet<ReadsFrom> = BTreeSet::new();
    let mut visit = |shown: Option<(&ReadsFrom, &[Violation])>| {
        let Some((way, _)) = shown else { return true };
        seen.borrow_mut().insert(observed());
        assert!(all.insert(way.clone()), "{program:?} {network:?}: {way:?} is seen twice");
        true
    };
    let limits = Limits { all: true, eager, ..Limits::default() };
    let found = explore_ways(&mut Actors::new(Made(program)), network, limits, &mut visit)?;
    Ok(((seen.into_inner(), found.verdict), found.executions, found.found))
}

fn operation(random: &mut Random, actors: u64, mailboxes: u64) -> Op {
    let mailbox = random.below(mailboxes) as u32;
    let actor = random.below(actors) as u32;
    match random.below(26) {
        0 | 1 => Op::Send(mailbox),
        2 => Op::Isend(mailbox),
        3 | 4 => Op::Dsend(mailbox),
        5 => Op::Recv(mailbox),
        6 => Op::RecvFrom(mailbox, actor),
        7..=9 => Op::RecvTimed(mailbox),
        10 => Op::Irecv(mailbox),
        11 => Op::WaitAll,
        12 => Op::WaitAny,
        13 => Op::TestAny,
        14 => Op::Lock(0),
        15 => Op::LockTimed(0),
        16 => Op::TryLock(0),
        17 => Op::Unlock(0),
        18 => Op::Acquire(mailbox % 2),
        19 => Op::AcquireTimed(mailbox % 2),
        20 => Op::Release(mailbox % 2),
        21 => Op::Barrier,
        22 => Op::JoinTimed(actor),
        23 => Op::Cancel,
        24 => Op::Choose(2),
        _ => Op::Expect(actor),
    }
}

fn random_program(random: &mut Random) -> Program {
    let actors = 2 + random.below(2);
    let mailboxes = 1 + random.below(2);
    let length = if actors == 2 { 6 } else { 4 };
    (0..actors)
        .map(|_| (0..1 + random.below(length)).map(|_| operation(random, actors, mailboxes)).collect())
        .collect()
}

const NETWORKS: [Network; 3] = [Network::Mailbox, Network::Pairwise, Network::Unordered];

#[test]
fn the_actors_see_what_they_see_in_plain_search() {
    let mut random = Random::new(seed_of(2026), 4);
    let mut compared = 0;
    for round in 0..cases(700) {
        let program = random_program(&mut random);
        for network in NETWORKS {
            let Some((expected, verdict)) = plain(&program, network) else { continue };
            let Ok(((seen, found), executions, _)) = ways(&program, network, false) else { continue };
            assert_eq!((&seen, found), (&expected, verdict), "round {round}, {network:?}: {program:?}");
            assert!(executions >= seen.len() as u64);
            compared += 1;
        }
    }
    assert!(compared > cases(700), "only {compared} programs were small enough");
}

#[test]
fn every_counterexample_can_be_replayed_step_by_step() {
    let mut random = Random::new(seed_of(5), 12);
    let mut replayed = 0;
    for round in 0..cases(700) {
        let program = random_program(&mut random);
        for network in NETWORKS {
            let Ok((_, _, found)) = ways(&program, network, false) else { continue };
            for (violation, schedule) in found {
                let mut actors = system(&program, network).keep_posts();
                for (place, step) in schedule.iter().enumerate() {
                    let mut enabled = Vec::new();
                    actors.enabled(&mut enabled);
                    assert!(
                        enabled.iter().any(|transition| Played::step(transition) == *step),
                        "round {round}, {network:?}: {program:?}\n{violation:?}: step {place} of {schedule:?} is not one of {enabled:?}"
                    );
                    actors.execute(*step);
                }
                let happened = match &violation {
                    Violation::Deadlock { .. } => actors.deadlock().as_ref() == Some(&violation),
                    _ => (0..actors.violation_count()).any(|index| actors.violation(index) == violation),
                };
                assert!(happened, "round {round}, {network:?}: {program:?}\n{violation:?} {schedule:?}");
                replayed += 1;
            }
        }
    }
    assert!(replayed > cases(700) / 2, "only {replayed} violations");
}

/// Where messages of one mailbox are told apart by tag or source, who takes what is as clear as with a mailbox for each.
#[test]
fn streams_that_share_a_mailbox_take_few_steps() {
    let inboxes = |actors: u32, steps: usize| -> Program {
        let one = |i: u32| {
            let (left, right) = ((i + actors - 1) % actors, (i + 1) % actors);
            [Op::Dsend(left), Op::Dsend(right), Op::RecvFrom(i, left), Op::RecvFrom(i, right)]
        };
        (0..actors).map(|i| one(i).repeat(steps)).collect()
    };
    let tagged = |n: usize, tag: u32| [vec![Op::DsendTagged(0, tag); n], vec![Op::RecvTagged(0, tag); n]];
    let tags: Program = (0..4).flat_map(|tag| tagged(24, tag)).collect();
    // Whoever is known to post more must not count for others: what a search of several executions has learned stays known.
    let fan_in: Program = std::iter::once(vec![Op::Recv(1); 4]).chain(vec![vec![Op::Dsend(1)]; 4]).collect();
    let beside = [fan_in, tags.clone()].concat();
    let programs = [
        ("four tags in one mailbox", tags, 1),
        ("a halo of inboxes", inboxes(4, 12), 1),
        ("four tags beside a fan-in", beside, 24),
    ];
    for (name, program, ways) in programs {
        let operations: usize = program.iter().map(Vec::len).sum();
        for network in [Network::Mailbox, Network::Pairwise] {
            let limits = Limits { all: true, ..Limits::default() };
            let (mut actors, mut looks) = (Actors::new(Made(&program)), 0);
            let found = explore_ways(&mut actors, network, limits, &mut |shown| {
                // A search that goes astray is not waited for.
                looks += u32::from(shown.is_none());
                looks < 100
            });
            let found = found.expect("known");
            assert_eq!(found.executions, ways, "{name}, {network}");
            assert!(found.transitions <= 4 * ways * operations as u64, "{name}: {} steps", found.transitions);
        }
    }
}

#[test]
fn named_receives_have_one_way() {
    for senders in 2..7 {
        let mut program = vec![(1..=senders).map(|sender| Op::RecvFrom(0, sender)).collect()];
        program.extend(vec![vec![Op::Send(0)]; senders as usize]);
        for network in NETWORKS {
            assert_eq!(ways(&program, network, false).expect("known").1, 1);
        }
    }
}

#[test]
fn one_receive_for_any_of_the_senders_has_as_many_ways_as_there_are() {
    for senders in 2..7 {
        let mut program = vec![vec![Op::Recv(0)]];
        program.extend(vec![vec![Op::Dsend(0)]; senders]);
        for network in NETWORKS {
            assert_eq!(ways(&program, network, false).expect("known").1, senders as u64);
        }
    }
}

/// Daemons end with the last of the others: what they do comes before that in a schedule.
#[test]
fn what_a_daemon_does_wrong_can_be_followed() {
    let program = vec![vec![Op::Dsend(0)], vec![Op::BecomeDaemon, Op::Recv(0), Op::Expect(9)]];
    let (_, executions, found) = ways(&program, Network::Mailbox, false).expect("it is known");
    assert_eq!((executions, found.len()), (1, 1));
    let (violation, schedule) = &found[0];
    let mut system = system(&program, Network::Mailbox).keep_posts();
    let followed = follow(&mut system, schedule).expect("all steps are possible");
    assert!(followed.came(violation).is_some(), "{violation:?}");
}
