//! The kernel's door: what an actor may ask, and what it is answered. Plain data, the only way in.
//!
//! Four primitives carry all communication (Rosa's thesis, 2.4.1): [`Simcall::Send`] and [`Simcall::Recv`] post to a
//! mailbox, [`Simcall::WaitAny`] and [`Simcall::TestAny`] complete one of a set. What follows a post is part of the
//! request ([`Follow`]): a blocking send is still a Send and a WaitAny, in one trip through the door.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

use simurgh_models::{DiskAccess, ParallelTask, Resource, Transfer};
use simurgh_platform::{HostId, LinkId};
use smallvec::SmallVec;

use crate::context::Body;
use crate::exposed::Value;
use crate::ids::{ActivityId, ActorId, BarrierId, ConditionId, ExposedId, MailboxId, MutexId, SemaphoreId};

/// What a message carries.
pub type Payload = Box<dyn Any + Send>;

/// The activities of one wait; almost always a single one.
pub type ActivitySet = SmallVec<[ActivityId; 1]>;

/// What is written on a message, for receives that choose.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Envelope {
    /// The communication context: messages of different contexts never meet.
    pub context: u32,
    /// The sender, as the layer above numbers them.
    pub source: u32,
    /// A label chosen by the sender.
    pub tag: i32,
}

/// Which messages a receive accepts; `None` accepts any.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Criteria {
    /// The communication context; always compared.
    pub context: u32,
    /// The only source accepted.
    pub source: Option<u32>,
    /// The only tag accepted.
    pub tag: Option<i32>,
}

impl Criteria {
    /// Whether a message with this envelope may be received.
    pub fn admits(&self, envelope: &Envelope) -> bool {
        self.context == envelope.context
            && self.source.is_none_or(|source| source == envelope.source)
            && self.tag.is_none_or(|tag| tag == envelope.tag)
    }

    /// Whether some message may be received by both.
    pub fn overlaps(&self, other: &Criteria) -> bool {
        fn fit<T: PartialEq>(one: Option<T>, two: Option<T>) -> bool {
            one.is_none() || two.is_none() || one == two
        }
        self.context == other.context && fit(self.source, other.source) && fit(self.tag, other.tag)
    }
}

/// What the actor does once its activity is started.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Follow {
    /// Goes on with the identity of the activity, to wait for it later.
    Return,
    /// Waits for it at once, at most so many seconds. The identity is never seen.
    Wait(Option<f64>),
    /// Goes on and never asks again; a detached send outlives its actor.
    Detach,
}

/// Posts a message to a mailbox.
#[derive(Debug)]
pub struct SendRequest {
    /// Where to.
    pub mailbox: MailboxId,
    /// How long the message is.
    pub bytes: f64,
    /// At most so many bytes a second.
    pub rate: Option<f64>,
    /// What is written on it.
    pub envelope: Envelope,
    /// What is in it.
    pub payload: Option<Payload>,
}

/// What is in a message that can be copied, for networks that deliver some twice. Whoever opens a message takes what is in
/// it ([`unwrap`](Self::unwrap)). An empty message, `()`, can always be copied, and needs none of this.
pub struct Repeatable {
    content: Payload,
    copy: fn(&Payload) -> Option<Payload>,
}

impl Repeatable {
    /// Allows a payload to be copied, which is a `T`.
    pub fn wrap<T: Clone + Send + 'static>(content: Payload) -> Payload {
        Box::new(Self { content, copy: |content| Some(Box::new(content.downcast_ref::<T>()?.clone())) })
    }

    /// What is in a payload, whether it can be copied or not.
    pub fn unwrap(payload: Payload) -> Payload {
        match payload.downcast::<Self>() {
            Ok(repeatable) => repeatable.content,
            Err(payload) => payload,
        }
    }

    /// What is in a payload, whether it can be copied or not, to look at.
    pub fn content(payload: &Payload) -> &Payload {
        payload.downcast_ref::<Self>().map_or(payload, |repeatable| &repeatable.content)
    }

    /// Whether a payload can be copied.
    pub fn allows(payload: &Payload) -> bool {
        payload.is::<()>() || payload.is::<Self>()
    }

    /// A copy of a payload that can be copied.
    pub fn copy(payload: &Payload) -> Option<Payload> {
        if payload.is::<()>() {
            return Some(Box::new(()));
        }
        let Self { content, copy } = payload.downcast_ref()?;
        Some(Box::new(Self { content: copy(content)?, copy: *copy }))
    }
}

/// Posts a receive to a mailbox.
#[derive(Debug)]
pub struct RecvRequest {
    /// Where from.
    pub mailbox: MailboxId,
    /// At most so many bytes a second.
    pub rate: Option<f64>,
    /// Which messages are accepted.
    pub criteria: Criteria,
}

/// What may be left in the port of a driver that takes it, instead of being asked for: it goes with the next simcall, and is
/// served before it.
#[derive(Debug)]
pub enum Post {
    /// A message that nobody waits for.
    Send(SendRequest),
    /// A receive. Its identity is told when the actor runs again, unless it has waited for it by then.
    Recv(RecvRequest),
}

impl Post {
    /// Where it goes.
    #[inline]
    pub fn mailbox(&self) -> MailboxId {
        match self {
            Post::Send(request) => request.mailbox,
            Post::Recv(request) => request.mailbox,
        }
    }
}

/// An amount of computation.
#[derive(Clone, PartialEq, Debug)]
pub struct ExecRequest {
    /// How much.
    pub flops: f64,
    /// Where; the actor's own host if not said.
    pub host: Option<HostId>,
    /// Its share against others on the same cores (1 if not said).
    pub priority: Option<f64>,
    /// At most so many flop/s.
    pub bound: Option<f64>,
    /// On how many cores at once.
    pub threads: u32,
}

/// What becomes of the activities when a wait times out.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum OnTimeout {
    /// A communication is over for both sides; an execution goes on in the background.
    GiveUp,
    /// Nothing happens to them.
    Keep,
}

/// A new actor.
pub struct SpawnRequest {
    /// Its name; need not be unique.
    pub name: String,
    /// Where it runs.
    pub host: HostId,
    /// What it does.
    pub body: Body,
    /// Whether it ends with the last actor that is not a daemon.
    pub daemon: bool,
    /// Killed at this date.
    pub kill_at: Option<f64>,
    /// How to start it again when its host went off and comes back.
    pub reboot: Option<Reboot>,
}

impl SpawnRequest {
    /// An ordinary actor.
    pub fn new(name: String, host: HostId, body: Body) -> Self {
        Self { name, host, body, daemon: false, kill_at: None, reboot: None }
    }
}

/// Makes the code of an actor anew.
pub type Reboot = Arc<dyn Fn() -> Body + Send + Sync>;

impl fmt::Debug for SpawnRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpawnRequest")
            .field("name", &self.name)
            .field("host", &self.host)
            .finish_non_exhaustive()
    }
}

/// A wait for all of several activities. It goes to the kernel and comes back, so that its memory is used again.
#[derive(Debug, Default)]
pub struct WaitForAll {
    /// The set; what was posted with it comes after these.
    pub activities: ActivitySet,
    /// How many of the first of them are over so far is written there, for those who look.
    pub over: Arc<AtomicU32>,
    /// What came of each, in their order, once all are over.
    pub results: Vec<Result<Option<Payload>, Failure>>,
}

/// A request of an actor. It blocks until it is answered.
#[derive(Debug)]
pub enum Simcall {
    /// Posts a message. Answer: [`Answer::Activity`], or as the wait that follows.
    Send(SendRequest, Follow),
    /// Posts a receive. Answer: [`Answer::Activity`], or as the wait that follows.
    Recv(RecvRequest, Follow),
    /// Completes one of a set. Answer: [`Answer::Completed`] or [`Answer::Failed`].
    WaitAny {
        /// The set; the first of those already over is taken.
        activities: ActivitySet,
        /// At most so many seconds; 0 is at once.
        timeout: Option<f64>,
        /// What a timeout does to them.
        on_timeout: OnTimeout,
        /// Whether the kernel forgets the activity once it is completed.
        release: bool,
    },
    /// Completes all of a set, and of what was posted with it ([`Post::Recv`]), one after the other in one trip; the kernel
    /// forgets them. For drivers that take posts: others are asked for one after the other. Answer: [`Answer::All`].
    WaitAll(Box<WaitForAll>),
    /// Asks whether one of a set is over, without blocking. Answer: [`Answer::Completed`], [`Answer::Failed`] or
    /// [`Answer::Nothing`].
    TestAny {
        /// The set; the first of those already over is taken.
        activities: ActivitySet,
    },
    /// Computes. Answer: [`Answer::Activity`], or as the wait that follows.
    Execute(ExecRequest, Follow),
    /// Reads from or writes to a disk. Answer: [`Answer::Activity`], or as the wait that follows.
    Access(DiskAccess, Follow),
    /// Computes and communicates on several hosts at once. Answer: [`Answer::Activity`], or as the wait that follows.
    Parallel(ParallelTask, Follow),
    /// Lets bytes flow from one host to another, whoever is there. Answer: [`Answer::Activity`], or as the wait that follows.
    Flow(Transfer, Follow),
    /// Lets time pass. Answer: [`Answer::Ready`].
    Sleep(f64),
    /// Lets the others go first, without time passing. Answer: [`Answer::Ready`].
    Yield,
    /// Stops an activity: it fails for all who wait for it. Answer: [`Answer::Ready`].
    Cancel(ActivityId),
    /// Takes a post back, unless it has met another: then nothing happens to it. Answer: [`Answer::Flag`], whether it did.
    Withdraw(ActivityId),
    /// Halts the progress of an activity. Answer: [`Answer::Ready`].
    Pause(ActivityId),
    /// Lets a halted activity go on. Answer: [`Answer::Ready`].
    Continue(ActivityId),
    /// How much of an activity is left. Answer: [`Answer::Number`] (0 once it is over).
    Remaining(ActivityId),
    /// Creates an actor. Answer: [`Answer::Actor`].
    Spawn(Box<SpawnRequest>),
    /// Ends the actor that asks. Never answered.
    Exit,
    /// Waits until an actor has ended. Answer: [`Answer::Flag`], false after a timeout.
    Join(ActorId, Option<f64>),
    /// Ends another actor. Answer: [`Answer::Ready`].
    Kill(ActorId),
    /// Ends all other actors. Answer: [`Answer::Ready`].
    KillAll,
    /// Halts an actor, itself perhaps. Answer: [`Answer::Ready`], to itself once it is resumed.
    Suspend(ActorId),
    /// Lets a halted actor go on. Answer: [`Answer::Ready`].
    Resume(ActorId),
    /// Moves an actor to another host. Answer: [`Answer::Ready`].
    Migrate(ActorId, HostId),
    /// Makes the actor that asks a daemon. Answer: [`Answer::Ready`].
    BecomeDaemon,
    /// Whether an actor is still there. Answer: [`Answer::Flag`].
    IsAlive(ActorId),
    /// Takes a lock. Answer: [`Answer::Flag`], false after a timeout.
    Lock(MutexId, Option<f64>),
    /// Takes a lock if it is free. Answer: [`Answer::Flag`].
    TryLock(MutexId),
    /// Gives a lock back. Answer: [`Answer::Ready`].
    Unlock(MutexId),
    /// Takes one from a semaphore. Answer: [`Answer::Flag`], false after a timeout.
    Acquire(SemaphoreId, Option<f64>),
    /// Gives one to a semaphore. Answer: [`Answer::Ready`].
    Release(SemaphoreId),
    /// Gives the lock back, waits for a notification, takes the lock again. Answer: [`Answer::Flag`], false after a timeout.
    WaitCondition(ConditionId, MutexId, Option<f64>),
    /// Wakes one that waits for the condition, or all. Answer: [`Answer::Ready`].
    Notify(ConditionId, Wake),
    /// Waits until as many have come as the barrier was made for. Answer: [`Answer::Flag`], true for the last to come.
    Arrive {
        /// Which barrier.
        barrier: BarrierId,
        /// Whether it matters to the actor that it was the last: then who it was is explored, otherwise not.
        told: bool,
    },
    /// Chooses a number below `n`: at random when simulated, every one when explored. Answer: [`Answer::Chosen`].
    Choose(u32),
    /// Whether a message that the criteria admit lies in a mailbox. Answer: [`Answer::Probed`].
    Probe(MailboxId, Criteria),
    /// Shows a value, for all to see from then on. Answer: [`Answer::Ready`].
    Expose(ExposedId, Box<dyn Value>),
    /// Asks about, or changes, the platform. Answered by whoever plays the platform: [`Answer::Platform`].
    Platform(PlatformRequest),
}

/// How many a notification wakes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Wake {
    /// The one that has waited longest.
    One,
    /// All.
    All,
}

/// A request that needs no answer: it goes with the next simcall, and is served just before it.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Note {
    /// The actor will not ask about this activity any more.
    Forget(ActivityId),
    /// Gives a lock back.
    Unlock(MutexId),
    /// Gives one to a semaphore.
    Release(SemaphoreId),
    /// Makes a lock.
    NewMutex(MutexId),
    /// Makes a semaphore with so many to take.
    NewSemaphore(SemaphoreId, u32),
    /// Makes a condition variable.
    NewCondition(ConditionId),
    /// Makes a barrier for so many actors.
    NewBarrier(BarrierId, u32),
}

/// What can be asked of the platform while the program runs.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum PlatformRequest {
    /// The speed of a core now, flop/s.
    HostSpeed(HostId),
    /// The flop/s in use now.
    HostLoad(HostId),
    /// Whether a host is on.
    HostIsOn(HostId),
    /// Turns a host on or off; its actors die with it.
    SetHostState(HostId, bool),
    /// The power state of a host.
    Pstate(HostId),
    /// Changes the power state of a host.
    SetPstate(HostId, usize),
    /// The joules a host has used until now.
    HostEnergy(HostId),
    /// The watts that a host draws now.
    HostPower(HostId),
    /// The bandwidth of a link now, B/s.
    LinkBandwidth(LinkId),
    /// The latency of a link now, s.
    LinkLatency(LinkId),
    /// The B/s in use on a link now.
    LinkLoad(LinkId),
    /// Whether a link is on.
    LinkIsOn(LinkId),
    /// Turns a link on or off; its flows fail with it.
    SetLinkState(LinkId, bool),
    /// Changes the bandwidth of a link.
    SetLinkBandwidth(LinkId, f64),
    /// Changes the latency of a link.
    SetLinkLatency(LinkId, f64),
    /// The joules a link has used until now.
    LinkEnergy(LinkId),
    /// Sets the transmission rate of a station to one of the levels of its wifi link.
    SetStationRate(LinkId, HostId, usize),
    /// Changes the priority of an execution or disk access.
    SetPriority(ActivityId, f64),
    /// Changes the bound of an execution.
    SetBound(ActivityId, Option<f64>),
}

impl PlatformRequest {
    /// Which host and which link it is about.
    pub fn of(&self) -> (Option<HostId>, Option<LinkId>) {
        use PlatformRequest::*;
        match *self {
            HostSpeed(host) | HostLoad(host) | HostIsOn(host) | SetHostState(host, _) | Pstate(host) => {
                (Some(host), None)
            }
            SetPstate(host, _) | HostEnergy(host) | HostPower(host) => (Some(host), None),
            LinkBandwidth(link) | LinkLatency(link) | LinkLoad(link) | LinkIsOn(link) => (None, Some(link)),
            SetLinkState(link, _) | SetLinkBandwidth(link, _) | SetLinkLatency(link, _) => (None, Some(link)),
            LinkEnergy(link) => (None, Some(link)),
            SetStationRate(link, host, _) => (Some(host), Some(link)),
            SetPriority(..) | SetBound(..) => (None, None),
        }
    }

    /// Whether it only asks, and changes nothing.
    pub fn is_question(&self) -> bool {
        use PlatformRequest::*;
        match self {
            HostSpeed(_) | HostLoad(_) | HostIsOn(_) | Pstate(_) | HostEnergy(_) | HostPower(_) => true,
            LinkBandwidth(_) | LinkLatency(_) | LinkLoad(_) | LinkIsOn(_) | LinkEnergy(_) => true,
            SetHostState(..) | SetPstate(..) | SetLinkState(..) | SetLinkBandwidth(..) => false,
            SetLinkLatency(..) | SetStationRate(..) | SetPriority(..) | SetBound(..) => false,
        }
    }
}

/// What the platform answers.
#[derive(Clone, PartialEq, Debug)]
pub enum PlatformAnswer {
    /// It was done.
    Done,
    /// A quantity.
    Number(f64),
    /// Yes or no.
    Flag(bool),
    /// It has no such thing (energy without wattages, a power state that does not exist...): why.
    Refused(Box<String>),
}

/// Why an activity did not succeed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// It took longer than the wait allowed.
    Timeout,
    /// A resource that it used went off, or was off.
    Resource(Resource),
    /// The actor at the other end is gone.
    PeerGone,
    /// Somebody cancelled it.
    Cancelled,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Timeout => f.write_str("timeout"),
            Failure::Resource(Resource::Host(_)) => f.write_str("a host went off"),
            Failure::Resource(Resource::Link(_)) => f.write_str("a link of the route is off"),
            Failure::Resource(Resource::Disk(_)) => f.write_str("the disk is off"),
            Failure::PeerGone => f.write_str("the actor at the other end is gone"),
            Failure::Cancelled => f.write_str("cancelled"),
        }
    }
}

impl std::error::Error for Failure {}

/// What an actor is answered.
#[derive(Debug)]
pub enum Answer {
    /// It is done, and there is nothing to say.
    Ready,
    /// The activity that was started.
    Activity(ActivityId),
    /// One of the activities is over, and went well.
    Completed {
        /// Which of the set.
        index: u32,
        /// What a receive brings.
        message: Option<Payload>,
    },
    /// One of the activities is over, and failed.
    Failed {
        /// Which of the set; of none, see [`Answer::TIMED_OUT`].
        index: u32,
        /// Why.
        failure: Failure,
    },
    /// All of the activities are over.
    All(Box<WaitForAll>),
    /// None of the activities is over.
    Nothing,
    /// The actor that was created.
    Actor(ActorId),
    /// Yes or no.
    Flag(bool),
    /// The number that was chosen.
    Chosen(u32),
    /// A quantity.
    Number(f64),
    /// The envelope and length of the first message that the criteria admit, if there is one.
    Probed(Option<Box<(Envelope, f64)>>),
    /// What the platform said.
    Platform(PlatformAnswer),
}

impl Answer {
    /// The time of the wait was up. No activity has this place in a set, so that one that failed by a timeout, long ago or
    /// for somebody else, is not mistaken for it.
    pub const TIMED_OUT: Answer = Answer::Failed { index: u32::MAX, failure: Failure::Timeout };

    /// Whether it is [`TIMED_OUT`](Self::TIMED_OUT).
    pub fn is_timed_out(&self) -> bool {
        matches!(self, Answer::Failed { index: u32::MAX, failure: Failure::Timeout })
    }

    /// One of the activities is over.
    #[inline]
    pub fn over(index: u32, result: Result<Option<Payload>, Failure>) -> Self {
        match result {
            Ok(message) => Answer::Completed { index, message },
            Err(failure) => Answer::Failed { index, failure },
        }
    }

    /// Which of the activities is over, and how it ended: what [`over`](Self::over) was told.
    ///
    /// # Errors
    /// Any other answer, as it is.
    #[inline]
    pub fn into_over(self) -> Result<(u32, Result<Option<Payload>, Failure>), Self> {
        match self {
            Answer::Completed { index, message } => Ok((index, Ok(message))),
            Answer::Failed { index, failure } => Ok((index, Err(failure))),
            other => Err(other),
        }
    }
}
