//! What a simcall means to a search: its *visible operation* (Godefroid, VeriSoft, POPL 1997), as plain data.
//!
//! A kernel serves a simcall; whoever searches only wants to know what others may notice of it, what it may have to wait
//! for, and whether it may come to several ends. That is said here, once, and in fewer words than there are simcalls:
//!
//! | operation | of which simcalls |
//! | --- | --- |
//! | [`Post`](Operation::Post) | `Send`, `Recv`: one [`Side`] of a communication comes to a mailbox |
//! | [`Wait`](Operation::Wait) | `WaitAny`, and `TestAny`, which waits for no time |
//! | [`Take`](Operation::Take), [`Give`](Operation::Give) | `Lock`, `TryLock`, `Acquire`; `Unlock`, `Release`: a lock is a semaphore of one [`Token`] |
//! | [`WaitCondition`](Operation::WaitCondition), [`Notify`](Operation::Notify), [`Arrive`](Operation::Arrive) | condition variables and barriers |
//! | [`Cancel`](Operation::Cancel), [`Probe`](Operation::Probe), [`Choose`](Operation::Choose), [`Expose`](Operation::Expose) | themselves |
//! | [`Spawn`](Operation::Spawn), [`Join`](Operation::Join), [`IsAlive`](Operation::IsAlive), [`Exit`](Operation::Exit), [`BecomeDaemon`](Operation::BecomeDaemon) | themselves |
//! | [`Interfere`](Operation::Interfere) | `Kill`, `KillAll`, `Suspend`, `Resume` |
//! | [`Work`](Operation::Work) | `Execute`, `Access`, `Parallel`: takes time, of which others see nothing |
//! | [`Adjust`](Operation::Adjust) | `Pause`, `Continue`, `Migrate`: how work goes on |
//! | [`Local`](Operation::Local) | `Sleep`, `Yield`, `Remaining`, `Platform`: answered at once where time is abstract |
//!
//! How long something may take matters only in so far as it may be given up: [`Patience`].

use std::fmt;

use crate::exposed::Value;
use crate::ids::{ActivityId, ActorId, BarrierId, ConditionId, ExposedId, MailboxId, MutexId, SemaphoreId};
use crate::simcall::{
    ActivitySet, Answer, Criteria, Envelope, Follow, Note, OnTimeout, Payload, PlatformAnswer,
    PlatformRequest, SendRequest, Simcall, SpawnRequest, Wake,
};

/// Which side of a communication, with all that decides whom it meets.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Side {
    /// A message, and what is written on it.
    Send(Envelope),
    /// A receive, and what it admits.
    Recv(Criteria),
}

impl Side {
    /// A token is given, or a message of which nobody needs to know more.
    pub const GIVE: Side = Side::Send(Envelope { context: 0, source: 0, tag: 0 });
    /// A token is taken, or a receive of which nobody needs to know more.
    pub const TAKE: Side = Side::Recv(Criteria { context: 0, source: None, tag: None });

    /// Whether it is a send.
    #[inline]
    pub fn is_send(&self) -> bool {
        matches!(self, Side::Send(_))
    }

    /// The context in which it meets its other end.
    #[inline]
    pub fn context(&self) -> u32 {
        match self {
            Side::Send(envelope) => envelope.context,
            Side::Recv(criteria) => criteria.context,
        }
    }

    /// Whether two posts of one mailbox may meet: one is a receive that admits the other.
    #[inline]
    pub fn meets(&self, other: &Side) -> bool {
        match (self, other) {
            (Side::Recv(criteria), Side::Send(envelope)) | (Side::Send(envelope), Side::Recv(criteria)) => {
                criteria.admits(envelope)
            }
            _ => false,
        }
    }
}

/// How long an actor waits, as far as a search can tell.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Patience {
    /// For ever.
    Forever,
    /// Until it has had enough, which may be at any time; and what becomes of its posts then.
    Timed(OnTimeout),
    /// Not at all: it takes what is there, or goes on without.
    Now,
}

impl Patience {
    /// That of a wait for activities. One of no time may still find that its time is up just before something comes.
    #[inline]
    pub fn of_wait(timeout: Option<f64>, on_timeout: OnTimeout) -> Self {
        timeout.map_or(Patience::Forever, |_| Patience::Timed(on_timeout))
    }

    fn of_queue(timeout: Option<f64>) -> Self {
        match timeout {
            Some(seconds) if seconds <= 0.0 => Patience::Now,
            timeout => Self::of_wait(timeout, OnTimeout::GiveUp),
        }
    }
}

/// What is taken and given back: a lock, or one of what a semaphore has.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Token {
    /// A lock.
    Mutex(MutexId),
    /// One from a semaphore.
    Semaphore(SemaphoreId),
}

impl Token {
    /// What becomes of it when it is given, in words that go on from "gives".
    pub fn given(self) -> String {
        match self {
            Token::Mutex(_) => format!("{self} back"),
            Token::Semaphore(_) => format!("one to {self}"),
        }
    }
}

/// What it is taken from; with `#`, what is taken.
impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Mutex(id) => write!(f, "lock {id}"),
            Token::Semaphore(id) if f.alternate() => write!(f, "one of semaphore {id}"),
            Token::Semaphore(id) => write!(f, "semaphore {id}"),
        }
    }
}

/// What an actor may do to another.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Deed {
    /// Ends it.
    Kill,
    /// Halts it.
    Halt,
    /// Lets it go on.
    Resume,
}

impl fmt::Display for Deed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Deed::Kill => "kill",
            Deed::Halt => "halt",
            Deed::Resume => "resume",
        })
    }
}

/// What others may notice of a simcall, and what it may have to wait for.
#[derive(Copy, Clone, Debug)]
pub enum Operation<'a> {
    /// Comes to a mailbox; what follows is a wait for this post, if anything.
    Post {
        /// Where.
        mailbox: MailboxId,
        /// Which side.
        side: Side,
        /// What follows.
        follow: Follow,
        /// The message, of a send.
        message: Option<&'a SendRequest>,
    },
    /// Completes one of a set.
    Wait {
        /// The set.
        set: &'a ActivitySet,
        /// How long it waits; not at all if it is a test.
        patience: Patience,
    },
    /// Stops an activity.
    Cancel(ActivityId),
    /// Looks into a mailbox.
    Probe(MailboxId, Criteria),
    /// Takes a lock, or one from a semaphore.
    Take(Token, Patience),
    /// Gives it back.
    Give(Token),
    /// Gives a lock back, waits for a notification, and takes the lock again.
    WaitCondition {
        /// Which.
        condition: ConditionId,
        /// The lock.
        lock: MutexId,
        /// Whether it may give up.
        timed: bool,
    },
    /// Wakes those that wait for a condition.
    Notify(ConditionId, Wake),
    /// Waits for others at a barrier.
    Arrive {
        /// Which.
        barrier: BarrierId,
        /// Whether it asks if it was the last.
        told: bool,
    },
    /// Chooses a number below this one, which is not 0.
    Choose(u32),
    /// Shows a value.
    Expose(ExposedId, &'a dyn Value),
    /// Creates an actor.
    Spawn(&'a SpawnRequest),
    /// Waits for the end of an actor.
    Join {
        /// Which.
        target: ActorId,
        /// Whether it may give up.
        timed: bool,
    },
    /// Looks whether an actor has ended.
    IsAlive(ActorId),
    /// Does something to an actor, itself perhaps, or to all others.
    Interfere(Deed, Option<ActorId>),
    /// Is a daemon from now on.
    BecomeDaemon,
    /// Ends.
    Exit,
    /// Computes, or uses a disk.
    Work(Follow),
    /// Halts its work, lets it go on, or moves.
    Adjust,
    /// Concerns nobody: [`Simcall::answer_without_time`].
    Local,
}

impl Simcall {
    /// What it means to a search.
    #[inline]
    pub fn operation(&self) -> Operation<'_> {
        match self {
            Simcall::Send(request, follow) => Operation::Post {
                mailbox: request.mailbox,
                side: Side::Send(request.envelope),
                follow: *follow,
                message: Some(request),
            },
            Simcall::Recv(request, follow) => Operation::Post {
                mailbox: request.mailbox,
                side: Side::Recv(request.criteria),
                follow: *follow,
                message: None,
            },
            Simcall::WaitAny { activities, timeout, on_timeout, .. } => {
                Operation::Wait { set: activities, patience: Patience::of_wait(*timeout, *on_timeout) }
            }
            Simcall::WaitAll(_) => {
                unreachable!("only a driver that takes posts is asked for several at once")
            }
            Simcall::TestAny { activities } => Operation::Wait { set: activities, patience: Patience::Now },
            Simcall::Cancel(id) | Simcall::Withdraw(id) => Operation::Cancel(*id),
            Simcall::Probe(mailbox, criteria) => Operation::Probe(*mailbox, *criteria),
            Simcall::Lock(id, timeout) => Operation::Take(Token::Mutex(*id), Patience::of_queue(*timeout)),
            Simcall::TryLock(id) => Operation::Take(Token::Mutex(*id), Patience::Now),
            Simcall::Unlock(id) => Operation::Give(Token::Mutex(*id)),
            Simcall::Acquire(id, timeout) => {
                Operation::Take(Token::Semaphore(*id), Patience::of_queue(*timeout))
            }
            Simcall::Release(id) => Operation::Give(Token::Semaphore(*id)),
            Simcall::WaitCondition(condition, lock, timeout) => {
                Operation::WaitCondition { condition: *condition, lock: *lock, timed: timeout.is_some() }
            }
            Simcall::Notify(condition, wake) => Operation::Notify(*condition, *wake),
            Simcall::Arrive { barrier, told } => Operation::Arrive { barrier: *barrier, told: *told },
            Simcall::Choose(n) => Operation::Choose((*n).max(1)),
            Simcall::Expose(slot, value) => Operation::Expose(*slot, &**value),
            Simcall::Spawn(request) => Operation::Spawn(request),
            Simcall::Join(target, timeout) => Operation::Join { target: *target, timed: timeout.is_some() },
            Simcall::IsAlive(target) => Operation::IsAlive(*target),
            Simcall::Kill(target) => Operation::Interfere(Deed::Kill, Some(*target)),
            Simcall::KillAll => Operation::Interfere(Deed::Kill, None),
            Simcall::Suspend(target) => Operation::Interfere(Deed::Halt, Some(*target)),
            Simcall::Resume(target) => Operation::Interfere(Deed::Resume, Some(*target)),
            Simcall::BecomeDaemon => Operation::BecomeDaemon,
            Simcall::Exit => Operation::Exit,
            Simcall::Execute(_, follow)
            | Simcall::Access(_, follow)
            | Simcall::Parallel(_, follow)
            | Simcall::Flow(_, follow) => Operation::Work(*follow),
            Simcall::Pause(_) | Simcall::Continue(_) | Simcall::Migrate(..) => Operation::Adjust,
            Simcall::Sleep(_) | Simcall::Yield | Simcall::Remaining(_) | Simcall::Platform(_) => {
                Operation::Local
            }
        }
    }

    /// The answer to what concerns nobody else and takes no time.
    pub fn answer_without_time(&self) -> Answer {
        match self {
            Simcall::Remaining(_) => Answer::Number(0.0),
            Simcall::Platform(request) => Answer::Platform(answer_platform(request)),
            _ => Answer::Ready,
        }
    }

    /// After how many seconds it gives up to take something, if it does.
    pub fn timeout(&self) -> Option<f64> {
        match self {
            Simcall::Lock(_, timeout) | Simcall::Acquire(_, timeout) => *timeout,
            Simcall::TryLock(_) => Some(0.0),
            _ => None,
        }
    }

    /// Takes what is in a message, of a send.
    #[inline]
    pub fn take_payload(&mut self) -> Option<Payload> {
        match self {
            Simcall::Send(request, _) => request.payload.take(),
            _ => None,
        }
    }

    /// The same post, but of this side: what is written on the message, or what the receive admits.
    pub fn set_side(&mut self, side: Side) {
        match (self, side) {
            (Simcall::Send(request, _), Side::Send(envelope)) => request.envelope = envelope,
            (Simcall::Recv(request, _), Side::Recv(criteria)) => request.criteria = criteria,
            (other, side) => unreachable!("{other:?} is no post of {side:?}"),
        }
    }

    /// The same wait, but its time is up; a test has none.
    pub fn wait_no_longer(&mut self) {
        if let Simcall::WaitAny { timeout, .. } = self {
            *timeout = Some(0.0);
        }
    }

    /// The same wait or test, but for this one of its set alone.
    pub fn wait_only_for(&mut self, index: u32) {
        if let Simcall::WaitAny { activities, .. } | Simcall::TestAny { activities } = self {
            *activities = ActivitySet::from_slice(&[activities[index as usize]]);
        }
    }
}

impl Operation<'_> {
    /// Whether it may be given up after a time.
    pub fn is_timed(&self) -> bool {
        matches!(
            self,
            Operation::Wait { patience: Patience::Timed(_), .. }
                | Operation::Take(_, Patience::Timed(_))
                | Operation::WaitCondition { timed: true, .. }
                | Operation::Join { timed: true, .. }
        )
    }
}

/// What a note does with tokens.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Noted {
    /// Gives one back.
    Give(Token),
    /// Makes a lock, or a semaphore, with so many.
    Make(Token, u32),
    /// Nothing.
    Other,
}

impl Note {
    /// What it means to a search.
    pub fn tokens(self) -> Noted {
        match self {
            Note::Unlock(id) => Noted::Give(Token::Mutex(id)),
            Note::Release(id) => Noted::Give(Token::Semaphore(id)),
            Note::NewMutex(id) => Noted::Make(Token::Mutex(id), 1),
            Note::NewSemaphore(id, count) => Noted::Make(Token::Semaphore(id), count),
            Note::Forget(_) | Note::NewCondition(_) | Note::NewBarrier(..) => Noted::Other,
        }
    }
}

/// Explored programs run on no platform in particular: all is on and idle.
fn answer_platform(request: &PlatformRequest) -> PlatformAnswer {
    use PlatformRequest::*;
    match request {
        HostIsOn(_) | LinkIsOn(_) => PlatformAnswer::Flag(true),
        HostLoad(_) | LinkLoad(_) | HostEnergy(_) | LinkEnergy(_) | HostPower(_) | Pstate(_) => {
            PlatformAnswer::Number(0.0)
        }
        SetHostState(..) | SetPstate(..) | SetLinkState(..) | SetLinkBandwidth(..) | SetLinkLatency(..)
        | SetStationRate(..) | SetPriority(..) | SetBound(..) => PlatformAnswer::Done,
        HostSpeed(_) | LinkBandwidth(_) | LinkLatency(_) => PlatformAnswer::Refused(Box::new(
            "time is abstract while a program is explored: there are no speeds".to_owned(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn to_lock_for_no_time_is_to_try() {
        let take = |simcall: Simcall| match simcall.operation() {
            Operation::Take(token, patience) => (token, patience),
            other => panic!("{other:?}"),
        };
        let lock = |timeout| take(Simcall::Lock(MutexId(1), timeout));
        assert_eq!(lock(Some(0.0)), take(Simcall::TryLock(MutexId(1))));
        assert_eq!(lock(None), (Token::Mutex(MutexId(1)), Patience::Forever));
        assert_eq!(lock(Some(2.0)).1, Patience::Timed(OnTimeout::GiveUp));
    }

    #[test]
    fn a_wait_of_no_time_may_time_out_and_a_test_is_no_wait() {
        let patience = |simcall: Simcall| match simcall.operation() {
            Operation::Wait { patience, .. } => patience,
            other => panic!("{other:?}"),
        };
        let (activities, on_timeout) = (ActivitySet::new(), OnTimeout::Keep);
        let wait = Simcall::WaitAny { activities, timeout: Some(0.0), on_timeout, release: false };
        assert_eq!(patience(wait), Patience::Timed(OnTimeout::Keep));
        assert_eq!(patience(Simcall::TestAny { activities: ActivitySet::new() }), Patience::Now);
    }

    #[test]
    fn tokens_in_words() {
        let (lock, semaphore) = (Token::Mutex(MutexId(1)), Token::Semaphore(SemaphoreId(2)));
        assert_eq!(
            [format!("{lock}"), format!("{lock:#}"), lock.given()],
            ["lock 1", "lock 1", "lock 1 back"]
        );
        assert_eq!(
            [format!("{semaphore}"), format!("{semaphore:#}"), semaphore.given()],
            ["semaphore 2", "one of semaphore 2", "one to semaphore 2"]
        );
    }
}
