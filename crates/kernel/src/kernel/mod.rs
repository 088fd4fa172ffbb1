//! The kernel: a deterministic state machine that plays operating system for the actors.
//!
//! It is driven from outside. A driver hands it the simcalls of the actors one by one ([`Kernel::serve`]), carries out
//! the [`Effect`]s that this has on the world (a flow starts, a timer is set), and tells it what came of them
//! ([`Kernel::finish`], [`Kernel::timer_fired`]). Who drives, and whether time passes at all, is not known here.
//!
//! - `network`, `work`, `synchronisation`, `lifecycle`: what actors ask for, and what becomes of it.
//! - `waits`: how they come to wait, and go on.
//! - `queue`: those who wait for one thing.
//! - `actor`: what is kept of one.
//! - `view`: what can be seen of all.
//! - `ahead`: asking for records before they are needed.

mod actor;
mod lifecycle;
mod network;
mod prefetch;
mod queue;
mod synchronisation;
mod view;
mod wait_all;
mod waits;
mod work;

use std::collections::VecDeque;

use simurgh_models::{DiskAccess, Execution, ParallelTask, SimTime, Transfer};
use simurgh_platform::HostId;

use crate::activity::{Activities, Activity, Kind, State};
use crate::event::Event;
use crate::exposed::{Exposure, Value};
use crate::ids::{ActivityId, ActorId, ExposedId, MailboxId};
use crate::mailbox::Mailbox;
use crate::random::Random;
use crate::simcall::{Answer, Criteria, Failure, Note, PlatformRequest, Simcall, SpawnRequest};

use actor::{Actor, Halt, Several, Waiting};
use synchronisation::{Barrier, Condition, Mutex, Semaphore};
pub use view::{Blocked, Unreceived};

/// What the kernel wants done in the world.
#[derive(Debug)]
pub enum Effect {
    /// A message sets out.
    Transfer {
        /// Which communication.
        activity: ActivityId,
        /// From where.
        src: HostId,
        /// To where.
        dst: HostId,
        /// How long it is.
        bytes: f64,
        /// At most so many bytes a second.
        rate: Option<f64>,
    },
    /// A message was sent and is held back: [`Kernel::deliver`] puts it into its mailbox.
    UnderWay(ActivityId),
    /// A computation begins: [`Kernel::execution`].
    Execute(ActivityId),
    /// A disk access begins.
    Access(ActivityId, DiskAccess),
    /// A parallel task begins.
    Parallel(ActivityId, Box<ParallelTask>),
    /// Bytes begin to flow from one host to another.
    Flow(ActivityId, Transfer),
    /// An activity under way is dropped, and with it what the driver noted.
    Stop(ActivityId, Option<u64>),
    /// An activity under way is halted.
    Pause(ActivityId),
    /// A halted activity goes on.
    Continue(ActivityId),
    /// What is left of an execution goes on elsewhere: as this one, whose amount is the one of its start.
    Move(ActivityId, Execution),
    /// A new actor; its code is to be kept, and run when the actor is ready.
    Started(ActorId, Box<SpawnRequest>),
    /// An actor ended; its code is to be dropped.
    Ended {
        /// Who.
        actor: ActorId,
        /// Whether it was killed or failed.
        failed: bool,
    },
}

/// What [`Effect::Transfer`] tells.
#[derive(Copy, Clone, Debug)]
pub(crate) struct PendingTransfer {
    pub(crate) activity: ActivityId,
    pub(crate) src: HostId,
    pub(crate) dst: HostId,
    pub(crate) bytes: f64,
    pub(crate) rate: Option<f64>,
}

/// What became of a simcall.
#[derive(Debug)]
pub enum Served {
    /// It is answered: the driver carries out the effects, then calls [`Kernel::answer`].
    Answered(Answer),
    /// The actor waits.
    Blocked,
    /// The first half is done: the driver carries out the effects, then serves this, for the same actor.
    Then(Simcall),
    /// The actor is gone.
    Gone,
}

/// What an actor whose turn has come needs to run.
#[derive(Debug)]
pub struct Woken<'a, K> {
    /// Where it is.
    pub host: HostId,
    /// What it is answered.
    pub answer: &'a mut Option<Answer>,
    /// What the driver keeps with it.
    pub kept: &'a mut K,
}

/// The state of all actors, mailboxes, communications and synchronisation objects. With each actor it keeps what the
/// driver wants to have at hand whenever it comes to that actor, and does not look at it.
#[derive(Debug)]
pub struct Kernel<K = ()> {
    now: SimTime,
    actors: Vec<Actor<K>>,
    names: Vec<Box<str>>,
    living: usize,
    living_regular: usize,
    activities: Activities,
    mailboxes: Vec<Mailbox>,
    mutexes: Vec<Mutex>,
    semaphores: Vec<Semaphore>,
    conditions: Vec<Condition>,
    barriers: Vec<Barrier>,
    exposure: Exposure,
    ready: Vec<ActorId>,
    /// What is to be done before `effects`: a message sets out.
    pending_transfer: Option<PendingTransfer>,
    /// What is to be done before `effects`: a computation begins. There is no pending_transfer then.
    begun: Option<ActivityId>,
    effects: VecDeque<Effect>,
    /// Whose timers are to be set, and to what, or not needed any more.
    timers: Vec<(ActorId, Option<f64>)>,
    events: Vec<Event>,
    listening: bool,
    holding: bool,
    fuse_post_wait: bool,
    lazy_timer_cancel: bool,
    random: Random,
    messages: u64,
    bytes: f64,
}

impl<K: Default> Kernel<K> {
    /// A kernel without actors.
    pub fn new(seed: u64) -> Self {
        Self {
            now: SimTime::ZERO,
            actors: Vec::new(),
            names: Vec::new(),
            living: 0,
            living_regular: 0,
            activities: Activities::default(),
            mailboxes: Vec::new(),
            mutexes: Vec::new(),
            semaphores: Vec::new(),
            conditions: Vec::new(),
            barriers: Vec::new(),
            exposure: Exposure::default(),
            ready: Vec::new(),
            pending_transfer: None,
            begun: None,
            effects: VecDeque::new(),
            timers: Vec::new(),
            events: Vec::new(),
            listening: false,
            holding: false,
            fuse_post_wait: false,
            lazy_timer_cancel: false,
            random: Random::new(seed, u64::MAX),
            messages: 0,
            bytes: 0.0,
        }
    }

    /// Forgets all actors and objects, as if new; the memory of the tables stays.
    pub fn reset(&mut self, seed: u64) {
        self.now = SimTime::ZERO;
        self.actors.clear();
        self.names.clear();
        self.living = 0;
        self.living_regular = 0;
        self.activities.clear();
        self.mailboxes.clear();
        self.mutexes.clear();
        self.semaphores.clear();
        self.conditions.clear();
        self.barriers.clear();
        self.exposure.clear();
        self.ready.clear();
        self.pending_transfer = None;
        self.begun = None;
        self.effects.clear();
        self.timers.clear();
        self.events.clear();
        self.random = Random::new(seed, u64::MAX);
        self.messages = 0;
        self.bytes = 0.0;
    }

    /// Whether messages are held back when they are sent, until the driver delivers them.
    pub fn hold_messages(&mut self, on: bool) {
        self.holding = on;
    }

    /// Whether a send or receive that is waited for is served whole, instead of in two parts ([`Served::Then`]).
    pub fn wait_at_once(&mut self, on: bool) {
        self.fuse_post_wait = on;
    }

    /// What the driver keeps with an actor.
    #[inline]
    pub fn kept(&self, actor: ActorId) -> &K {
        &self.actors[actor.index()].kept
    }

    /// What the driver keeps with an actor.
    #[inline]
    pub fn kept_mut(&mut self, actor: ActorId) -> &mut K {
        &mut self.actors[actor.index()].kept
    }

    /// Whether a timer that is not needed any more is taken back only when its actor waits again, or ends; most are
    /// replaced then. Actors that can run must do so before any timer runs out.
    pub fn cancel_timers_lazily(&mut self, on: bool) {
        self.lazy_timer_cancel = on;
    }

    /// The present date, as the driver told.
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Tells the kernel what time it is.
    pub fn set_now(&mut self, now: SimTime) {
        debug_assert!(now >= self.now, "time does not go back");
        self.now = now;
    }

    /// Whether events are collected.
    pub fn listen(&mut self, on: bool) {
        self.listening = on;
    }

    /// Moves the events since the last call into `events`.
    pub fn take_events(&mut self, events: &mut Vec<Event>) {
        events.append(&mut self.events);
    }

    /// Moves the actors that can run into `ready`, in the order in which they became so.
    #[inline]
    pub fn take_ready(&mut self, ready: &mut Vec<ActorId>) {
        match ready.is_empty() {
            true => std::mem::swap(ready, &mut self.ready),
            false => ready.append(&mut self.ready),
        }
    }

    /// Whether some actor can run.
    pub fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Whether something is to be done in the world.
    #[inline]
    pub fn has_effects(&self) -> bool {
        self.pending_transfer.is_some() || self.begun.is_some() || !self.effects.is_empty()
    }

    /// The next thing to be done in the world.
    #[inline]
    pub fn next_effect(&mut self) -> Option<Effect> {
        if let Some(pending_transfer) = self.pending_transfer.take() {
            let PendingTransfer { activity, src, dst, bytes, rate } = pending_transfer;
            return Some(Effect::Transfer { activity, src, dst, bytes, rate });
        }
        if let Some(begun) = self.begun.take() {
            return Some(Effect::Execute(begun));
        }
        self.effects.pop_front()
    }

    /// The message that sets out, if that is the next thing to be done: [`next_effect`](Self::next_effect) without the way
    /// round. It is read where it is; then [`transfer_started`](Self::transfer_started).
    #[inline]
    pub(crate) fn pending_transfer(&self) -> Option<&PendingTransfer> {
        self.pending_transfer.as_ref()
    }

    /// The computation that begins, if that is the next thing to be done.
    #[inline]
    pub(crate) fn take_begun(&mut self) -> Option<ActivityId> {
        self.begun.take()
    }

    /// The message that was to set out has.
    #[inline]
    pub(crate) fn transfer_started(&mut self) {
        self.pending_transfer = None;
    }

    /// The timers that are to be changed, in order: the actor is to be woken after so many seconds, with
    /// [`Kernel::timer_fired`], or not any more. It has one timer at most, and a change replaces the one before.
    #[inline]
    pub fn timers(&self) -> &[(ActorId, Option<f64>)] {
        &self.timers
    }

    /// All timers have been changed.
    #[inline]
    pub fn clear_timers(&mut self) {
        self.timers.clear();
    }

    /// Keeps a number with an activity, for the driver.
    #[inline]
    pub fn set_driver_data(&mut self, id: ActivityId, data: u64) {
        if let Some(activity) = self.activities.get_mut(id) {
            activity.driver_data = data;
        }
    }

    /// An activity that is under way.
    #[inline]
    pub(crate) fn running(&mut self, id: ActivityId) -> Option<&mut Activity> {
        self.activities.get_mut(id).filter(|activity| matches!(activity.state, State::Running))
    }

    /// What an actor started does not end with it any more.
    pub fn disown(&mut self, actor: ActorId) {
        if let Some(more) = &mut self.actors[actor.index()].more {
            more.owned.clear();
        }
    }

    /// Makes room for a value that actors will show, with what it is called and what it is at the start.
    pub fn expose(&mut self, name: &str, value: Box<dyn Value>) -> ExposedId {
        self.exposure.add(name, value)
    }

    /// The answer that waits for an actor about to run.
    pub fn take_answer(&mut self, actor: ActorId) -> Option<Answer> {
        self.actors[actor.index()].answer.take()
    }

    /// Makes sure that a mailbox is there.
    #[inline]
    pub fn open_mailbox(&mut self, mailbox: MailboxId) {
        if self.mailboxes.len() <= mailbox.index() {
            self.mailboxes.resize(mailbox.index() + 1, Mailbox::default());
        }
    }

    /// Serves a simcall.
    pub fn serve(&mut self, actor: ActorId, simcall: Simcall) -> Served {
        if !self.actors[actor.index()].alive {
            return Served::Gone;
        }
        match simcall {
            Simcall::Send(mut request, follow) => self.send(actor, &mut request, follow),
            Simcall::Recv(request, follow) => self.recv(actor, &request, follow),
            Simcall::WaitAny { activities, timeout, on_timeout, release } => {
                self.wait_any(actor, activities, timeout, on_timeout, release)
            }
            Simcall::WaitAll(all) => self.wait_all(actor, all),
            Simcall::TestAny { activities } => self.test_any(actor, &activities),
            Simcall::Execute(request, follow) => self.execute(actor, &request, follow),
            Simcall::Access(what, follow) => self.access(actor, what, follow),
            Simcall::Parallel(what, follow) => self.parallel(actor, what, follow),
            Simcall::Flow(what, follow) => self.flow(actor, what, follow),
            Simcall::Sleep(duration) => self.sleep(actor, duration),
            Simcall::Yield => Served::Answered(Answer::Ready),
            Simcall::Withdraw(id) => {
                let has_met_nobody =
                    |activity: &Activity| matches!(activity.state, State::Posted | State::UnderWay);
                let posted = self.activities.get(id).is_some_and(has_met_nobody);
                if posted {
                    self.cancel(id, Failure::Cancelled);
                }
                Served::Answered(Answer::Flag(posted))
            }
            Simcall::Cancel(id) => {
                self.cancel(id, Failure::Cancelled);
                Served::Answered(Answer::Ready)
            }
            Simcall::Pause(id) => self.pause(id, true),
            Simcall::Continue(id) => self.pause(id, false),
            Simcall::Spawn(request) => Served::Answered(Answer::Actor(self.spawn(*request))),
            Simcall::Exit => {
                self.end(actor, false);
                Served::Gone
            }
            Simcall::Join(target, timeout) => self.join(actor, target, timeout),
            Simcall::Kill(target) => {
                self.end(target, true);
                if target == actor { Served::Gone } else { Served::Answered(Answer::Ready) }
            }
            Simcall::KillAll => {
                for index in 0..self.actors.len() {
                    if index != actor.index() {
                        self.end(ActorId::from_index(index), true);
                    }
                }
                Served::Answered(Answer::Ready)
            }
            Simcall::Suspend(target) => self.suspend(actor, target),
            Simcall::Resume(target) => {
                self.resume(target);
                Served::Answered(Answer::Ready)
            }
            Simcall::Migrate(target, host) => {
                self.migrate(target, host);
                Served::Answered(Answer::Ready)
            }
            Simcall::BecomeDaemon => {
                self.make_daemon(actor);
                Served::Answered(Answer::Ready)
            }
            Simcall::IsAlive(target) => {
                Served::Answered(Answer::Flag(self.actors.get(target.index()).is_some_and(|a| a.alive)))
            }
            Simcall::Lock(mutex, timeout) => self.lock(actor, mutex, timeout),
            Simcall::TryLock(mutex) => self.try_lock(actor, mutex),
            Simcall::Unlock(mutex) => {
                self.unlock(actor, mutex);
                Served::Answered(Answer::Ready)
            }
            Simcall::Acquire(semaphore, timeout) => self.acquire(actor, semaphore, timeout),
            Simcall::Release(semaphore) => {
                self.release(semaphore);
                Served::Answered(Answer::Ready)
            }
            Simcall::WaitCondition(condition, mutex, timeout) => {
                self.wait_condition(actor, condition, mutex, timeout)
            }
            Simcall::Notify(condition, wake) => {
                self.notify(condition, wake);
                Served::Answered(Answer::Ready)
            }
            Simcall::Arrive { barrier, .. } => self.arrive(actor, barrier),
            Simcall::Choose(n) => {
                Served::Answered(Answer::Chosen(self.random.below(u64::from(n.max(1))) as u32))
            }
            Simcall::Probe(mailbox, criteria) => self.probe(mailbox, criteria),
            Simcall::Expose(id, value) => {
                let known = self.exposure.set(id, value);
                debug_assert!(known, "room was made for what is shown");
                Served::Answered(Answer::Ready)
            }
            Simcall::Remaining(_) | Simcall::Platform(_) => {
                unreachable!("the driver answers what concerns the platform")
            }
        }
    }

    /// Serves a simcall that has nothing to give away, where it lies: what is asked often, and is short. None if it is of
    /// another kind, and must be [served](Self::serve).
    #[inline(always)]
    pub(crate) fn serve_in_place(&mut self, actor: ActorId, simcall: &Simcall) -> Option<Served> {
        let is_alive = self.actors[actor.index()].alive;
        Some(match *simcall {
            Simcall::Sleep(duration) if is_alive => self.sleep(actor, duration),
            Simcall::Lock(mutex, timeout) if is_alive => self.lock(actor, mutex, timeout),
            Simcall::Acquire(semaphore, timeout) if is_alive => self.acquire(actor, semaphore, timeout),
            Simcall::Arrive { barrier, .. } if is_alive => self.arrive(actor, barrier),
            _ => return None,
        })
    }

    #[inline]
    fn sleep(&mut self, actor: ActorId, duration: f64) -> Served {
        if duration > 0.0 {
            self.block(actor, Waiting::Sleep, Some(duration));
            return Served::Blocked;
        }
        Served::Answered(Answer::Ready)
    }

    /// Serves a note of an actor, living or just ended.
    pub fn serve_note(&mut self, actor: ActorId, note: Note) {
        match note {
            Note::Forget(id) => self.forget(actor, id),
            Note::Unlock(mutex) => self.unlock(actor, mutex),
            Note::Release(semaphore) => self.release(semaphore),
            Note::NewMutex(id) => self.new_mutex(id),
            Note::NewSemaphore(id, count) => self.new_semaphore(id, count),
            Note::NewCondition(id) => self.new_condition(id),
            Note::NewBarrier(id, count) => self.new_barrier(id, count),
        }
    }

    /// A priority or bound was changed: an execution that moves keeps it.
    pub fn retune(&mut self, request: &PlatformRequest) {
        let (PlatformRequest::SetPriority(id, _) | PlatformRequest::SetBound(id, _)) = *request else {
            return;
        };
        let Some(Activity { kind: Kind::Execution { what, .. }, .. }) = self.activities.get_mut(id) else {
            return;
        };
        match *request {
            PlatformRequest::SetPriority(_, priority) => what.priority = priority,
            PlatformRequest::SetBound(_, bound) => what.bound = bound,
            _ => {}
        }
    }

    #[inline]
    fn tell(&mut self, event: impl FnOnce(&Self) -> Event) {
        if self.listening {
            let event = event(self);
            self.events.push(event);
        }
    }

    fn probe(&mut self, mailbox: MailboxId, criteria: Criteria) -> Served {
        self.open_mailbox(mailbox);
        let sends = self.mailboxes[mailbox.index()].sends;
        let found = sends.find(&mut self.activities, |comm| criteria.admits(&comm.envelope()));
        let probed = found
            .and_then(|id| self.activities.comm_mut(id))
            .map(|comm| Box::new((comm.envelope(), comm.bytes)));
        Served::Answered(Answer::Probed(probed))
    }
}
