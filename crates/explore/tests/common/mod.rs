//! Small programs for the tests: lists of operations, one an actor, played by a coroutine.
#![allow(dead_code)]

pub mod axioms;
pub mod brute;
pub mod commute;
pub mod generate;
mod op;

use std::collections::BTreeSet;

use simurgh_explore::transition::{Kind, Post, Transition};
use simurgh_explore::{Actors, Exploration, Network, Options, Progress, Step, System, Verdict};
use simurgh_kernel::context::{Body, Coroutine, Ending, Port};
use simurgh_kernel::ids::{
    ActivityId, ActorId, BarrierId, ConditionId, ExposedId, MailboxId, MutexId, SemaphoreId,
};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::simcall::{
    ActivitySet, Answer, Criteria, Envelope, Failure, Follow, Note, OnTimeout, Payload, RecvRequest,
    Repeatable, SendRequest, Simcall, SpawnRequest, Wake,
};
use simurgh_platform::HostId;

pub use op::{Op, Program};

/// The place in a set that a wait gives when its time was up: none.
const TIMED_OUT: u32 = u32::MAX;

struct Player {
    me: u32,
    ops: Vec<Op>,
    at: usize,
    pending: Vec<ActivityId>,
    /// How many of the pending have been waited for by a `WaitAll` under way.
    waited: usize,
    held: Vec<u32>,
    last: Option<u32>,
    /// What the last answer was that was a yes or no, or a number.
    yes: bool,
    child: Option<ActorId>,
    asked: Option<Op>,
}

impl Player {
    fn body(me: u32, ops: Vec<Op>) -> Body {
        Body::Coroutine(Box::new(Player {
            me,
            ops,
            at: 0,
            pending: Vec::new(),
            waited: 0,
            held: Vec::new(),
            last: None,
            yes: false,
            child: None,
            asked: None,
        }))
    }

    fn digest(&mut self, answer: Option<Answer>) {
        let Some(op) = self.asked.take() else { return };
        // Who does not ask at a barrier looks at nothing that comes of it.
        let untold = matches!(
            op,
            Op::BarrierUntold | Op::BarrierOfThree { told: false } | Op::BarrierOfFour { told: false }
        );
        let answer = answer.filter(|_| !untold);
        observe(self.me, op, answer.as_ref());
        match answer {
            Some(Answer::Flag(flag)) => self.yes = flag,
            Some(Answer::Actor(child)) => self.child = Some(child),
            Some(Answer::Chosen(number)) => self.yes = number != 0,
            Some(Answer::Probed(ref probed)) => self.yes = probed.is_some(),
            _ => {}
        }
        match (op, answer) {
            (
                Op::Isend(_) | Op::IsendTagged(..) | Op::Irecv(_) | Op::IrecvFrom(..) | Op::IrecvTagged(..),
                Some(Answer::Activity(id)),
            ) => self.pending.push(id),
            (
                Op::Recv(_) | Op::RecvFrom(..) | Op::RecvTagged(..) | Op::RecvTimed(_),
                Some(Answer::Completed { message, .. }),
            ) => {
                if let Some(payload) = message {
                    self.last = Repeatable::unwrap(payload).downcast::<u32>().ok().map(|sender| *sender);
                }
            }
            (
                Op::WaitAny
                | Op::TestAny
                | Op::WaitOne
                | Op::WaitOneTimed
                | Op::WaitOneOrGiveUp
                | Op::WaitAnyTimed
                | Op::WaitAnyOrGiveUp
                | Op::TestOne,
                Some(Answer::Completed { index, message }),
            ) => {
                if let Some(payload) = message {
                    self.last = Repeatable::unwrap(payload).downcast::<u32>().ok().map(|sender| *sender);
                }
                self.pending.remove(index as usize);
            }
            // Nothing of the set was over when the time was up: it may be waited for again, or is forgotten.
            (
                Op::WaitAnyTimed | Op::WaitOneTimed,
                Some(Answer::Failed { index: TIMED_OUT, failure: Failure::Timeout }),
            ) => {}
            (Op::WaitAnyOrGiveUp, Some(Answer::Failed { index: TIMED_OUT, failure: Failure::Timeout })) => {
                self.pending.clear()
            }
            (Op::WaitOneOrGiveUp, Some(Answer::Failed { index: TIMED_OUT, failure: Failure::Timeout })) => {
                self.pending.remove(0);
            }
            (
                Op::WaitAny
                | Op::TestAny
                | Op::WaitOne
                | Op::WaitOneTimed
                | Op::WaitOneOrGiveUp
                | Op::WaitAnyTimed
                | Op::WaitAnyOrGiveUp
                | Op::TestOne,
                Some(Answer::Failed { index, .. }),
            ) => {
                self.pending.remove(index as usize);
            }
            (Op::Lock(lock) | Op::LockTimed(lock) | Op::TryLock(lock), Some(Answer::Flag(true))) => {
                self.held.push(lock);
            }
            _ => {}
        }
    }

    fn send(&self, mailbox: u32, follow: Follow) -> Simcall {
        self.send_tagged(mailbox, 0, follow)
    }

    fn send_tagged(&self, mailbox: u32, tag: u32, follow: Follow) -> Simcall {
        let envelope = Envelope { source: self.me, tag: tag as i32, ..Envelope::default() };
        // Messages of the last actor of three cannot be copied.
        let payload: Payload = Box::new(self.me);
        let payload = Some(if self.me == 2 { payload } else { Repeatable::wrap::<u32>(payload) });
        let mailbox = MailboxId(mailbox);
        Simcall::Send(SendRequest { mailbox, bytes: 8.0, rate: None, envelope, payload }, follow)
    }

    fn recv(&self, mailbox: u32, source: Option<u32>, follow: Follow) -> Simcall {
        let criteria = Criteria { source, ..Criteria::default() };
        Simcall::Recv(RecvRequest { mailbox: MailboxId(mailbox), rate: None, criteria }, follow)
    }

    fn tagged(mailbox: u32, tag: u32, follow: Follow) -> Simcall {
        let criteria = Criteria { tag: Some(tag as i32), ..Criteria::default() };
        Simcall::Recv(RecvRequest { mailbox: MailboxId(mailbox), rate: None, criteria }, follow)
    }

    fn wait(&self, activities: &[ActivityId]) -> Simcall {
        self.wait_until(activities, None, OnTimeout::Keep)
    }

    fn wait_until(&self, activities: &[ActivityId], timeout: Option<f64>, on_timeout: OnTimeout) -> Simcall {
        let activities = ActivitySet::from_slice(activities);
        let release = timeout.is_none() || on_timeout == OnTimeout::GiveUp;
        Simcall::WaitAny { activities, timeout, on_timeout, release }
    }

    fn spawn(&self, ops: Vec<Op>) -> Simcall {
        let body = Player::body(100 * (self.me + 1) + self.at as u32, ops);
        Simcall::Spawn(Box::new(SpawnRequest::new(String::new(), HostId::from_index(0), body)))
    }

    fn ask(&mut self, op: Op) -> Option<Simcall> {
        Some(match op {
            Op::Send(m) => self.send(m, Follow::Wait(None)),
            Op::Isend(m) => self.send(m, Follow::Return),
            Op::Dsend(m) => self.send(m, Follow::Detach),
            Op::Recv(m) => self.recv(m, None, Follow::Wait(None)),
            Op::RecvFrom(m, source) => self.recv(m, Some(source), Follow::Wait(None)),
            Op::RecvTimed(m) => self.recv(m, None, Follow::Wait(Some(1.0))),
            Op::Irecv(m) => self.recv(m, None, Follow::Return),
            Op::IrecvFrom(m, source) => self.recv(m, Some(source), Follow::Return),
            Op::WaitAll => {
                if self.waited == self.pending.len() {
                    self.waited = 0;
                    self.pending.clear();
                    return None;
                }
                self.waited += 1;
                self.at -= 1;
                self.wait(&self.pending[self.waited - 1..self.waited])
            }
            Op::WaitAny if self.pending.is_empty() => return None,
            Op::WaitAny => self.wait(&self.pending),
            Op::TestAny => Simcall::TestAny { activities: ActivitySet::from_slice(&self.pending) },
            Op::Probe(m) => Simcall::Probe(MailboxId(m), Criteria::default()),
            Op::ProbeFrom(m, source) => {
                Simcall::Probe(MailboxId(m), Criteria { source: Some(source), ..Criteria::default() })
            }
            Op::Lock(m) | Op::LockTimed(m) | Op::TryLock(m) if self.held.contains(&m) => return None,
            Op::Lock(m) => Simcall::Lock(MutexId(m), None),
            Op::LockTimed(m) => Simcall::Lock(MutexId(m), Some(1.0)),
            Op::TryLock(m) => Simcall::TryLock(MutexId(m)),
            Op::Unlock(m) => {
                let place = self.held.iter().position(|&held| held == m)?;
                self.held.remove(place);
                Simcall::Unlock(MutexId(m))
            }
            Op::Acquire(s) => Simcall::Acquire(SemaphoreId(s), None),
            Op::Release(s) => Simcall::Release(SemaphoreId(s)),
            Op::AcquireTimed(s) => Simcall::Acquire(SemaphoreId(s), Some(1.0)),
            Op::Barrier => Simcall::Arrive { barrier: BarrierId(0), told: true },
            Op::WaitCondition | Op::WaitConditionTimed if !self.held.contains(&0) => return None,
            Op::WaitCondition => Simcall::WaitCondition(ConditionId(0), MutexId(0), None),
            Op::WaitConditionTimed => Simcall::WaitCondition(ConditionId(0), MutexId(0), Some(1.0)),
            Op::NotifyOne => Simcall::Notify(ConditionId(0), Wake::One),
            Op::NotifyAll => Simcall::Notify(ConditionId(0), Wake::All),
            Op::Join(actor) => Simcall::Join(ActorId(actor), None),
            Op::JoinTimed(actor) => Simcall::Join(ActorId(actor), Some(1.0)),
            Op::IsAlive(actor) => Simcall::IsAlive(ActorId(actor)),
            Op::Cancel => Simcall::Cancel(self.pending.pop()?),
            Op::Spawn(mailbox) => self.spawn(vec![Op::Send(mailbox)]),
            Op::Kill(actor) => Simcall::Kill(ActorId(actor)),
            Op::Suspend(actor) => Simcall::Suspend(ActorId(actor)),
            Op::Resume(actor) => Simcall::Resume(ActorId(actor)),
            Op::BecomeDaemon => Simcall::BecomeDaemon,
            Op::Choose(n) => Simcall::Choose(n),
            Op::Expose(slot, value) => Simcall::Expose(ExposedId(slot), Box::new(value)),
            Op::Sleep => Simcall::Sleep(1.0),
            Op::SendIfFrom(sender) if self.last == Some(sender) => self.send(1, Follow::Detach),
            Op::SendIfFrom(_) | Op::Expect(_) | Op::Forget | Op::IfFrom(_) | Op::IfYes => return None,
            Op::SendTimed(m) => self.send_tagged(m, 1, Follow::Wait(Some(1.0))),
            Op::DsendTagged(m, tag) => self.send_tagged(m, tag, Follow::Detach),
            Op::IsendTagged(m, tag) => self.send_tagged(m, tag, Follow::Return),
            Op::RecvTagged(m, tag) => Self::tagged(m, tag, Follow::Wait(None)),
            Op::IrecvTagged(m, tag) => Self::tagged(m, tag, Follow::Return),
            Op::ProbeTagged(m, tag) => {
                Simcall::Probe(MailboxId(m), Criteria { tag: Some(tag as i32), ..Criteria::default() })
            }
            Op::WaitOne
            | Op::WaitOneTimed
            | Op::WaitOneOrGiveUp
            | Op::WaitAnyTimed
            | Op::WaitAnyOrGiveUp
            | Op::TestOne
                if self.pending.is_empty() =>
            {
                return None;
            }
            Op::WaitOne => self.wait(&self.pending[..1]),
            Op::WaitOneTimed => self.wait_until(&self.pending[..1], Some(1.0), OnTimeout::Keep),
            Op::WaitOneOrGiveUp => self.wait_until(&self.pending[..1], Some(1.0), OnTimeout::GiveUp),
            Op::WaitAnyTimed => self.wait_until(&self.pending, Some(1.0), OnTimeout::Keep),
            Op::WaitAnyOrGiveUp => self.wait_until(&self.pending, Some(1.0), OnTimeout::GiveUp),
            Op::TestOne => Simcall::TestAny { activities: ActivitySet::from_slice(&self.pending[..1]) },
            Op::CancelFirst if self.pending.is_empty() => return None,
            Op::CancelFirst => Simcall::Cancel(self.pending.remove(0)),
            Op::TryAcquire(s) => Simcall::Acquire(SemaphoreId(s), Some(0.0)),
            Op::BarrierOfThree { told } => Simcall::Arrive { barrier: BarrierId(1), told },
            Op::BarrierOfFour { told } => Simcall::Arrive { barrier: BarrierId(2), told },
            Op::BarrierUntold => Simcall::Arrive { barrier: BarrierId(0), told: false },
            Op::SpawnReceiver(m) => self.spawn(vec![Op::Recv(m)]),
            Op::SpawnDaemon(m) => self.spawn(vec![Op::BecomeDaemon, Op::Recv(m), Op::Dsend(m)]),
            Op::SpawnLocker(m) => self.spawn(vec![Op::Lock(m), Op::Unlock(m)]),
            Op::JoinChild => Simcall::Join(self.child?, None),
            Op::JoinChildTimed => Simcall::Join(self.child?, Some(1.0)),
            Op::KillAll => Simcall::KillAll,
        })
    }
}

impl Coroutine for Player {
    fn resume(&mut self, port: &mut Port) -> Option<Ending> {
        self.digest(port.answer.take());
        loop {
            let Some(&op) = self.ops.get(self.at) else { return Some(Ok(())) };
            self.at += 1;
            if let Op::Expect(sender) = op
                && self.last != Some(sender)
            {
                return Some(Err(format!("expected {sender}, got {:?}", self.last)));
            }
            let skips = match op {
                Op::IfFrom(sender) => self.last != Some(sender),
                Op::IfYes => !self.yes,
                _ => false,
            };
            self.at += usize::from(skips);
            if op == Op::Forget {
                port.notes.extend(self.pending.pop().map(Note::Forget));
            }
            if let Some(simcall) = self.ask(op) {
                self.asked = Some(op);
                port.simcall = Some(simcall);
                return None;
            }
        }
    }
}

/// What an actor was answered, as far as it looks.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Told {
    /// One of a set is over; of a receive, whose message it brought.
    Ok(u32, Option<u32>),
    /// One of a set has failed.
    Err(u32, &'static str),
    Flag(bool),
    Number(u32),
    /// From whom, and with which tag.
    Probed(Option<(u32, i32)>),
    Actor(u32),
    Nothing,
    Ready,
}

/// Who was answered what.
pub type Observed = (u32, Op, Told);

thread_local! {
    static OBSERVED: std::cell::RefCell<Vec<Observed>> = const { std::cell::RefCell::new(Vec::new()) };
}

fn observe(me: u32, op: Op, answer: Option<&Answer>) {
    let told = match answer {
        Some(Answer::Completed { index, message }) => {
            let sender = message.as_ref().and_then(|p| Repeatable::content(p).downcast_ref::<u32>().copied());
            Told::Ok(*index, sender)
        }
        Some(Answer::Failed { index, failure }) => Told::Err(
            *index,
            match failure {
                Failure::Timeout => "timeout",
                Failure::Resource(_) => "resource",
                Failure::PeerGone => "peer gone",
                Failure::Cancelled => "cancelled",
            },
        ),
        Some(Answer::Activity(_)) => return,
        Some(Answer::Flag(flag)) => Told::Flag(*flag),
        Some(Answer::Chosen(number)) => Told::Number(*number),
        Some(Answer::Probed(probed)) => {
            Told::Probed(probed.as_ref().map(|found| (found.0.source, found.0.tag)))
        }
        Some(Answer::Actor(actor)) => Told::Actor(actor.0),
        Some(Answer::Nothing) => Told::Nothing,
        _ => Told::Ready,
    };
    OBSERVED.with_borrow_mut(|all| all.push((me, op, told)));
}

/// What each actor was answered in the present execution, actor by actor.
pub fn observed() -> Vec<Observed> {
    let mut all = OBSERVED.with_borrow(Clone::clone);
    all.sort_by_key(|(actor, ..)| *actor);
    all
}

/// The actors of a program, made anew: what was observed before is forgotten.
pub fn bodies(program: &Program) -> Vec<SpawnRequest> {
    OBSERVED.with_borrow_mut(Vec::clear);
    let body = |(index, ops): (usize, &Vec<Op>)| {
        SpawnRequest::new(String::new(), HostId::from_index(0), Player::body(index as u32, ops.clone()))
    };
    program.iter().enumerate().map(body).collect()
}

/// How many permits the first semaphore of a program has: one, as a lock, or several, for some programs.
pub fn permits(program: &Program) -> u32 {
    1 + program.iter().map(Vec::len).sum::<usize>() as u32 % 3
}

/// A program as a system.
pub type Played = Actors<Box<dyn FnMut(&mut Kernel)>>;

/// Makes a system of a program.
pub fn system(program: &Program, network: Network) -> Played {
    let program = program.clone();
    Actors::new(
        network,
        Box::new(move |kernel: &mut Kernel| {
            kernel.new_semaphore(SemaphoreId(0), permits(&program));
            kernel.new_semaphore(SemaphoreId(1), 0);
            kernel.new_barrier(BarrierId(0), 2);
            kernel.new_barrier(BarrierId(1), 3);
            kernel.new_barrier(BarrierId(2), 4);
            for slot in ["a", "b", "c", "d"] {
                kernel.expose(slot, Box::new(0u32));
            }
            for request in bodies(&program) {
                kernel.spawn(request);
            }
        }),
    )
}

/// One receiver that takes a message of each of the others.
pub fn fan_in(processes: usize) -> Program {
    let mut program = vec![vec![Op::Recv(0); processes - 1]];
    program.extend(vec![vec![Op::Send(0)]; processes - 1]);
    program
}

/// Groups of three: one that receives from the two others.
pub fn threes(groups: u32) -> Program {
    (0..groups).flat_map(|m| [vec![Op::Recv(m); 2], vec![Op::Send(m)], vec![Op::Send(m)]]).collect()
}

/// Which send each receive got, and which choice each wait made.
pub type ReadsFrom = (Vec<(Post, Post)>, Vec<Step>);

/// The way that an execution took.
pub fn way(system: &Played, trace: &[Transition]) -> ReadsFrom {
    let mut meetings = system.meetings().to_vec();
    meetings.sort_unstable();
    let chose = |t: &&Transition| matches!(t.kind, Kind::Wait { single: false, .. });
    let mut choices: Vec<Step> = trace.iter().filter(chose).map(|t| t.step).collect();
    choices.sort_by_key(|step| step.actor);
    (meetings, choices)
}

/// An engine.
pub type Engine = fn(&mut Played, Options<'_, Played>) -> Exploration;

/// All ways of a program that an engine sees, in at most so many executions.
pub fn ways(
    mut system: Played,
    most: Option<u64>,
    engine: Engine,
) -> (BTreeSet<ReadsFrom>, Exploration, bool) {
    let mut all = BTreeSet::new();
    let mut progress = Progress::default();
    let mut options = Options::all().visit(|system: &mut Played, trace: &[Transition]| {
        all.insert(way(system, trace));
    });
    options.executions = most;
    options.report = Some(&mut progress);
    let found = engine(&mut system, options);
    (all, found, progress.exhausted)
}

/// The verdict of an engine, how many executions it saw, and how many it began in vain.
pub fn tally(program: &Program, network: Network, engine: Engine) -> (Verdict, u64, u64) {
    let mut progress = Progress::default();
    let options = Options { report: Some(&mut progress), ..Options::all() };
    let found = engine(&mut system(program, network), options);
    (found.verdict, found.executions, progress.redundant)
}

/// A trace as the least of its linearisations: two executions are of one Mazurkiewicz trace if these are equal.
pub fn canonical(trace: &[Transition]) -> Vec<Step> {
    let mut left: Vec<usize> = (0..trace.len()).collect();
    let mut order = Vec::new();
    while !left.is_empty() {
        let first = |&place: &usize| {
            let mut earlier = left[..place].iter();
            !earlier.any(|&other| Played::dependent(&trace[other], &trace[left[place]]))
        };
        let least = (0..left.len()).filter(first).min_by_key(|&place| trace[left[place]].step);
        order.push(trace[left.remove(least.expect("the first of them is one"))].step);
    }
    order
}
