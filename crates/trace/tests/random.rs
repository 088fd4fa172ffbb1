//! Random programs on the real kernel, and random events that no kernel would send: all formats stay well formed.

use std::sync::Arc;

use crate::support::check;
use crate::support::program::{Op, Script, play};
use simurgh_kernel::event::{Event, Observer, Reason};
use simurgh_kernel::ids::{ActivityId, ActorId, BarrierId, ConditionId, MailboxId, MutexId, SemaphoreId};
use simurgh_kernel::random::Random;
use simurgh_kernel::simcall::Failure;
use simurgh_models::{Resource, SimTime, Usage};
use simurgh_platform::{DiskId, HostId, LinkId, Platform};
use simurgh_trace::{Recorder, Timeline};

const NAMES: [&str; 6] = ["alice", "a<b & \"c\"", "line\nbreak", "ünï\u{1F426}", "", "back\\slash\u{7}"];

fn pick(random: &mut Random, count: u64) -> u32 {
    random.below(count) as u32
}

fn random_op(random: &mut Random, actors: u64) -> Op {
    let mailbox = pick(random, 3);
    let bytes = [0.0, 1.0, 1e4, 1e8][random.below(4) as usize];
    let seconds = [0.0, 1e-7, 0.01, 0.5][random.below(4) as usize];
    match random.below(24) {
        0..=2 => Op::Send(mailbox, bytes),
        3 => Op::SendFor(mailbox, bytes, seconds),
        4 => Op::StartSend(mailbox, bytes),
        5 => Op::DetachSend(mailbox, bytes),
        6..=8 => Op::Recv(mailbox),
        9 => Op::RecvFor(mailbox, seconds),
        10 => Op::StartRecv(mailbox),
        11 => Op::Execute(bytes * 10.0),
        12 => Op::StartExecute(bytes * 10.0),
        13 => Op::WaitAny,
        14 => Op::WaitAll,
        15 => Op::Sleep(seconds),
        16 => Op::Read(DiskId(pick(random, 4)), bytes),
        17 => Op::Write(DiskId(pick(random, 4)), bytes),
        18 => Op::Join(pick(random, actors)),
        19 if random.below(4) == 0 => Op::Kill(pick(random, actors)),
        20 => Op::Move(HostId(pick(random, 4))),
        21 if random.below(4) == 0 => Op::HostState(HostId(pick(random, 4)), random.below(2) == 0),
        22 if random.below(4) == 0 => Op::LinkState(LinkId(1 + pick(random, 4)), random.below(2) == 0),
        _ => Op::Sleep(0.1),
    }
}

fn random_run(seed: u64) -> Timeline {
    let mut random = Random::new(seed, 0);
    let actors = 1 + random.below(6);
    let mut scripts: Vec<Script> = Vec::new();
    for number in 0..actors {
        let ops = (0..random.below(12)).map(|_| random_op(&mut random, actors)).collect();
        let name = NAMES[(number % 6) as usize].to_owned();
        scripts.push((name, HostId(pick(&mut random, 4)), ops));
    }
    play(Platform::builtin(), scripts)
}

#[test]
fn every_run_is_written_well_and_twice_the_same() {
    let mut arrows = 0;
    let cases = simurgh_testing::cases(400);
    for seed in 0..cases {
        let written = check::written(&random_run(seed));
        assert_eq!(written, check::written(&random_run(seed)), "seed {seed}");
        arrows += written[0].matches("\"ph\":\"s\"").count();
    }
    assert!(
        cases < 400 || arrows > 200,
        "only {arrows} messages arrived: the programs are too quiet to test anything"
    );
}

fn random_event(random: &mut Random, now: SimTime) -> Event {
    let actor = ActorId(pick(random, 5));
    let host = HostId(pick(random, 16));
    let activity = ActivityId::from_bits(random.below(6));
    let bytes = [0.0, 1e6, -1.0, f64::NAN, f64::INFINITY][random.below(5) as usize];
    let reasons = [
        Reason::Sending(MailboxId(0)),
        Reason::Receiving(MailboxId(1)),
        Reason::Executing,
        Reason::Reading(DiskId(0)),
        Reason::Writing(DiskId(1)),
        Reason::Parallel,
        Reason::WaitingAny(3),
        Reason::Sleeping,
        Reason::Locking(MutexId(0)),
        Reason::Acquiring(SemaphoreId(0)),
        Reason::Condition(ConditionId(0)),
        Reason::Barrier(BarrierId(0)),
        Reason::Joining(ActorId(3)),
        Reason::Suspended,
    ];
    let failures =
        [Failure::Timeout, Failure::PeerGone, Failure::Cancelled, Failure::Resource(Resource::Host(host))];
    match random.below(16) {
        0 | 1 => Event::ActorStarted { actor, name: NAMES[random.below(6) as usize].into(), host },
        2 => Event::ActorEnded { actor, failed: random.below(2) == 0 },
        3 => Event::ActorMoved { actor, host },
        4..=6 => Event::Blocked { actor, reason: reasons[random.below(14) as usize] },
        7 | 8 => Event::Unblocked { actor },
        9 => Event::ExecutionStarted { activity, actor, host, flops: bytes },
        10 => Event::AccessStarted { activity, actor, disk: DiskId(0), bytes, write: true },
        11 => Event::ParallelStarted { activity, actor, hosts: vec![host] },
        12 => {
            let result = [Ok(()), Err(failures[random.below(4) as usize])][random.below(2) as usize];
            Event::ActivityEnded { activity, result }
        }
        13 => {
            let resources = [Resource::Host(host), Resource::Link(LinkId(1)), Resource::Disk(DiskId(2))];
            let (at, resource) = (now, resources[random.below(3) as usize]);
            Event::Used(Usage { at, resource, used: bytes, capacity: bytes * 2.0 })
        }
        14 => Event::HostState(host, random.below(2) == 0),
        _ => Event::LinkState(LinkId(pick(random, 5)), random.below(2) == 0),
    }
}

#[test]
fn events_in_any_order_are_written_well() {
    let platform = Arc::new(Platform::builtin());
    for seed in 0..simurgh_testing::cases(400) {
        let mut random = Random::new(seed, 1);
        let (mut recorder, recording) = Recorder::new(Arc::clone(&platform));
        let mut now = SimTime::ZERO;
        for _ in 0..random.below(80) {
            now = now + [0.0, 0.0, 1e-9, 0.25][random.below(4) as usize];
            recorder.event(now, &random_event(&mut random, now));
        }
        check::written(&recording.finish(now, &|mailbox| NAMES[mailbox.index() % 6].to_owned()));
    }
}
