//! Random programs of all that the kernel can do, from a seed.
//!
//! A program is drawn for a theme, which says how often each kind of operation comes: where all kinds are equally likely,
//! two of them hardly ever meet in one small program.

use simurgh_explore::{Faults, Network};
use simurgh_kernel::random::Random;

use super::{Op, Program};

/// A program, and what it runs on.
#[derive(Clone, Debug)]
pub struct Case {
    pub program: Program,
    pub network: Network,
    pub faults: Faults,
    /// Whether what an actor posted stays when it ends.
    pub keeps_posts: bool,
}

/// What a program is mostly about.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Theme {
    /// Messages, received by whoever comes first.
    Messages,
    /// Messages with names, waits that give up, and posts that are taken back.
    Waits,
    /// Locks, semaphores, condition variables and barriers.
    Synchronisation,
    /// Actors that create, join, kill and halt others.
    Lives,
    /// All of it.
    Mixed,
}

const THEMES: [Theme; 5] =
    [Theme::Messages, Theme::Waits, Theme::Synchronisation, Theme::Lives, Theme::Mixed];

/// The seed of a test that has this one of its own: the same in every run, unless `PROPTEST_RNG_SEED` says otherwise.
pub fn seed_of(own: u64) -> u64 {
    simurgh_testing::seed().map_or(own, |given| given.wrapping_mul(0x9E37_79B9).wrapping_add(own))
}

/// The case of this number, of a seed: of at most so many operations.
pub fn case(seed: u64, number: u64, most: u64) -> Case {
    let random = &mut Random::new(seed, number);
    let theme = THEMES[random.below(THEMES.len() as u64) as usize];
    let actors = 2 + random.below(4);
    let mut left = 3 + random.below(most - 2);
    let mut program = vec![Vec::new(); actors as usize];
    while left > 0 {
        let actor = random.below(actors) as usize;
        program[actor].push(operation(random, theme, actors));
        left -= 1;
    }
    let network = match random.below(4) {
        0 | 1 => Network::Mailbox,
        2 => Network::Pairwise,
        _ => Network::Unordered,
    };
    let mut faults = Faults::default();
    if network == Network::Unordered {
        faults = Faults { losses: random.below(3) as u32, duplications: random.below(3) as u32 };
    }
    Case { program, network, faults, keeps_posts: random.below(2) == 0 }
}

/// A case that is wrong as well, and from which nothing can be taken away.
pub fn shorten(mut case: Case, is_wrong: impl Fn(&Case) -> bool) -> Case {
    let places = |case: &Case| {
        let actors = case.program.iter().enumerate();
        actors.flat_map(|(actor, ops)| (0..ops.len()).map(move |place| (actor, place))).collect::<Vec<_>>()
    };
    loop {
        let shorter = places(&case).into_iter().map(|(actor, place)| {
            let mut shorter = case.clone();
            shorter.program[actor].remove(place);
            shorter
        });
        match shorter.into_iter().find(&is_wrong) {
            Some(shorter) => case = shorter,
            None => return case,
        }
    }
}

fn operation(random: &mut Random, theme: Theme, actors: u64) -> Op {
    let theme = match random.below(8) {
        0 => THEMES[random.below(5) as usize],
        _ => theme,
    };
    match theme {
        Theme::Messages => message(random, actors),
        Theme::Waits => wait(random, actors),
        Theme::Synchronisation => synchronisation(random),
        Theme::Lives => life(random, actors),
        Theme::Mixed => match random.below(4) {
            0 => message(random, actors),
            1 => wait(random, actors),
            2 => synchronisation(random),
            _ => life(random, actors),
        },
    }
}

fn message(random: &mut Random, actors: u64) -> Op {
    let mailbox = random.below(2) as u32;
    let actor = random.below(actors) as u32;
    match random.below(14) {
        0 | 1 => Op::Send(mailbox),
        2 | 3 => Op::Isend(mailbox),
        4..=6 => Op::Dsend(mailbox),
        7 | 8 => Op::Recv(mailbox),
        9 | 10 => Op::Irecv(mailbox),
        11 => Op::WaitAny,
        12 => Op::IfFrom(actor),
        _ => Op::SendIfFrom(actor),
    }
}

fn wait(random: &mut Random, actors: u64) -> Op {
    let mailbox = random.below(2) as u32;
    let (actor, tag) = (random.below(actors) as u32, random.below(2) as u32);
    match random.below(28) {
        0 => Op::Dsend(mailbox),
        1 => Op::Isend(mailbox),
        2 => Op::SendTimed(mailbox),
        3 => Op::DsendTagged(mailbox, tag),
        4 => Op::IsendTagged(mailbox, tag),
        5 => Op::RecvFrom(mailbox, actor),
        6 => Op::IrecvFrom(mailbox, actor),
        7 => Op::RecvTagged(mailbox, tag),
        8 => Op::IrecvTagged(mailbox, tag),
        9 | 10 => Op::Irecv(mailbox),
        11 => Op::RecvTimed(mailbox),
        12 => Op::WaitOne,
        13 => Op::WaitOneTimed,
        14 => Op::WaitOneOrGiveUp,
        15 => Op::WaitAny,
        16 => Op::WaitAnyTimed,
        17 => Op::WaitAnyOrGiveUp,
        18 => Op::WaitAll,
        19 => Op::TestOne,
        20 => Op::TestAny,
        21 => Op::Cancel,
        22 => Op::CancelFirst,
        23 => Op::Forget,
        24 => Op::Probe(mailbox),
        25 => Op::ProbeFrom(mailbox, actor),
        26 => Op::ProbeTagged(mailbox, tag),
        _ => Op::Choose(2),
    }
}

fn synchronisation(random: &mut Random) -> Op {
    let object = random.below(2) as u32;
    match random.below(22) {
        0 | 1 => Op::Lock(object),
        2 => Op::LockTimed(object),
        3 => Op::TryLock(object),
        4 | 5 => Op::Unlock(object),
        6 => Op::Acquire(object),
        7 => Op::AcquireTimed(object),
        8 => Op::TryAcquire(object),
        9 | 10 => Op::Release(object),
        11 => Op::WaitCondition,
        12 => Op::WaitConditionTimed,
        13 => Op::NotifyOne,
        14 => Op::NotifyAll,
        15 => Op::Barrier,
        16 => Op::BarrierUntold,
        17 => Op::BarrierOfThree { told: true },
        18 if object == 0 => Op::BarrierOfThree { told: false },
        18 => Op::BarrierOfFour { told: random.below(3) == 0 },
        19 => Op::IfYes,
        20 => Op::Lock(0),
        _ => Op::Dsend(object),
    }
}

fn life(random: &mut Random, actors: u64) -> Op {
    let mailbox = random.below(2) as u32;
    let actor = random.below(actors + 1) as u32;
    let first = random.below(actors) as u32;
    match random.below(22) {
        0 => Op::Spawn(mailbox),
        1 => Op::SpawnReceiver(mailbox),
        2 => Op::SpawnDaemon(mailbox),
        3 => Op::SpawnLocker(mailbox),
        4 => Op::Join(first),
        5 => Op::JoinTimed(first),
        6 => Op::IsAlive(actor),
        7 => Op::Kill(actor),
        8 => Op::Suspend(actor),
        9 => Op::Resume(actor),
        10 => Op::BecomeDaemon,
        11 => Op::Choose(2),
        12 => Op::IfYes,
        13 => Op::Expect(actor),
        14 => Op::Dsend(mailbox),
        15 => Op::Recv(mailbox),
        16 => Op::Isend(mailbox),
        17 => Op::Irecv(mailbox),
        18 => Op::Lock(mailbox),
        19 => Op::JoinChild,
        20 => Op::JoinChildTimed,
        _ => match random.below(4) {
            0 => Op::KillAll,
            _ => Op::RecvTimed(mailbox),
        },
    }
}
