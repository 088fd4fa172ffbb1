//! Programs as lists of operations.

use std::sync::Arc;

use simurgh_kernel::context::{Body, call};
use simurgh_kernel::ids::{ActorId, BarrierId, MailboxId, MutexId};
use simurgh_kernel::simcall::{
    ActivitySet, Answer, Criteria, Envelope, ExecRequest, Follow, OnTimeout, PlatformRequest, RecvRequest,
    SendRequest, Simcall, SpawnRequest,
};
use simurgh_kernel::simulation::Simulation;
use simurgh_models::{Config, Direction, DiskAccess, Models};
use simurgh_platform::{DiskId, HostId, LinkId, Platform};
use simurgh_trace::{Recorder, Timeline};

/// Something an actor does.
#[derive(Clone, Debug)]
pub enum Op {
    Send(u32, f64),
    SendFor(u32, f64, f64),
    StartSend(u32, f64),
    DetachSend(u32, f64),
    Recv(u32),
    RecvFor(u32, f64),
    StartRecv(u32),
    Execute(f64),
    StartExecute(f64),
    WaitAny,
    WaitAll,
    Sleep(f64),
    Read(DiskId, f64),
    Write(DiskId, f64),
    Lock(u32),
    Unlock(u32),
    Arrive,
    Join(u32),
    Kill(u32),
    Move(HostId),
    HostState(HostId, bool),
    LinkState(LinkId, bool),
}

/// An actor: its name, its host, what it does.
pub type Script = (String, HostId, Vec<Op>);

/// Plays the scripts and returns what was recorded.
pub fn play(platform: Platform, scripts: Vec<Script>) -> Timeline {
    let platform = Arc::new(platform);
    let models = Models::new(Arc::clone(&platform), &Config::default()).expect("a good platform");
    let mut simulation = Simulation::new(models, 0);
    let (recorder, recording) = Recorder::new(platform);
    simulation.observe(Box::new(recorder));
    for mutex in 0..4 {
        simulation
            .kernel_mut()
            .serve_note(ActorId(0), simurgh_kernel::simcall::Note::NewMutex(MutexId(mutex)));
    }
    let meeting = simurgh_kernel::simcall::Note::NewBarrier(BarrierId(0), scripts.len() as u32);
    simulation.kernel_mut().serve_note(ActorId(0), meeting);
    for (name, host, ops) in scripts {
        let body = Body::Future(Box::pin(async move {
            run(ops).await;
            Ok(())
        }));
        simulation.spawn(SpawnRequest::new(name, host, body)).expect("spawned");
    }
    simulation.run(None).expect("a program that the platform can run");
    let report = simulation.report();
    recording.finish(report.clock, &|mailbox| format!("box {mailbox}"))
}

async fn run(ops: Vec<Op>) {
    let mut started = ActivitySet::new();
    for op in ops {
        match op {
            Op::WaitAny if started.is_empty() => {}
            Op::WaitAny => {
                if let Ok((index, _)) = call(wait(started.clone())).await.into_over() {
                    started.remove(index as usize);
                }
            }
            Op::WaitAll => {
                for activity in started.drain(..) {
                    call(wait([activity].into_iter().collect())).await;
                }
            }
            op => {
                if let Answer::Activity(activity) = call(simcall(op)).await {
                    started.push(activity);
                }
            }
        }
    }
}

fn wait(activities: ActivitySet) -> Simcall {
    Simcall::WaitAny { activities, timeout: None, on_timeout: OnTimeout::Keep, release: true }
}

fn simcall(op: Op) -> Simcall {
    let send = |mailbox, bytes| SendRequest {
        mailbox: MailboxId(mailbox),
        bytes,
        rate: None,
        envelope: Envelope::default(),
        payload: None,
    };
    let recv =
        |mailbox| RecvRequest { mailbox: MailboxId(mailbox), rate: None, criteria: Criteria::default() };
    let execute = |flops| ExecRequest { flops, host: None, priority: None, bound: None, threads: 1 };
    let access = |disk, direction, bytes| DiskAccess { disk, direction, bytes, priority: 1.0 };
    match op {
        Op::Send(mailbox, bytes) => Simcall::Send(send(mailbox, bytes), Follow::Wait(None)),
        Op::SendFor(mailbox, bytes, timeout) => {
            Simcall::Send(send(mailbox, bytes), Follow::Wait(Some(timeout)))
        }
        Op::StartSend(mailbox, bytes) => Simcall::Send(send(mailbox, bytes), Follow::Return),
        Op::DetachSend(mailbox, bytes) => Simcall::Send(send(mailbox, bytes), Follow::Detach),
        Op::Recv(mailbox) => Simcall::Recv(recv(mailbox), Follow::Wait(None)),
        Op::RecvFor(mailbox, timeout) => Simcall::Recv(recv(mailbox), Follow::Wait(Some(timeout))),
        Op::StartRecv(mailbox) => Simcall::Recv(recv(mailbox), Follow::Return),
        Op::Execute(flops) => Simcall::Execute(execute(flops), Follow::Wait(None)),
        Op::StartExecute(flops) => Simcall::Execute(execute(flops), Follow::Return),
        Op::Sleep(seconds) => Simcall::Sleep(seconds),
        Op::Read(disk, bytes) => Simcall::Access(access(disk, Direction::Read, bytes), Follow::Wait(None)),
        Op::Write(disk, bytes) => Simcall::Access(access(disk, Direction::Write, bytes), Follow::Wait(None)),
        Op::Lock(mutex) => Simcall::Lock(MutexId(mutex), None),
        Op::Unlock(mutex) => Simcall::Unlock(MutexId(mutex)),
        Op::Arrive => Simcall::Arrive { barrier: BarrierId(0), told: true },
        Op::Join(actor) => Simcall::Join(ActorId(actor), None),
        Op::Kill(actor) => Simcall::Kill(ActorId(actor)),
        Op::Move(host) => {
            let me = simurgh_kernel::context::with_port(|port| port.actor).expect("an actor runs");
            Simcall::Migrate(me, host)
        }
        Op::HostState(host, on) => Simcall::Platform(PlatformRequest::SetHostState(host, on)),
        Op::LinkState(link, on) => Simcall::Platform(PlatformRequest::SetLinkState(link, on)),
        Op::WaitAny | Op::WaitAll => unreachable!("waits know what was started"),
    }
}
