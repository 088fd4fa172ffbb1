//! Listening to a run: events become a tape of who waited for what, from when to when.
//!
//! Names are not looked up here; [`Recording::finish`] does it once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use simurgh_kernel::event::{Event, Observer, Reason};
use simurgh_kernel::ids::{ActivityId, ActorId, MailboxId};
use simurgh_kernel::simcall::Failure;
use simurgh_models::{Direction, Resource, SimTime};
use simurgh_platform::{DiskId, HostId, LinkId, Platform};

use crate::finish;
use crate::timeline::{Ending, Load, Mark, Timeline, Work};

/// Writes down what happens. Give it to a simulation, keep its [`Recording`].
pub struct Recorder {
    tape: Arc<Mutex<Tape>>,
}

impl Recorder {
    /// A recorder for runs on this platform, and what it will have recorded.
    pub fn new(platform: Arc<Platform>) -> (Recorder, Recording) {
        let tape = Arc::new(Mutex::new(Tape::new(platform)));
        (Recorder { tape: Arc::clone(&tape) }, Recording { tape })
    }
}

impl Observer for Recorder {
    fn event(&mut self, now: SimTime, event: &Event) {
        lock(&self.tape).event(now, event);
    }
}

/// What a [`Recorder`] has written down so far; clones share it.
#[derive(Clone)]
pub struct Recording {
    tape: Arc<Mutex<Tape>>,
}

impl Recording {
    /// The run up to now, which ended at `end`. What is not over by then lasts until then.
    pub fn finish(&self, end: SimTime, mailbox_name: &dyn Fn(MailboxId) -> String) -> Timeline {
        finish::timeline(&lock(&self.tape), end, mailbox_name)
    }
}

fn lock(tape: &Mutex<Tape>) -> MutexGuard<'_, Tape> {
    // Whoever panicked while it held the tape left at worst the last event half written.
    tape.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was recorded, by identity.
pub(crate) struct Tape {
    pub(crate) platform: Arc<Platform>,
    pub(crate) latest: SimTime,
    pub(crate) actors: BTreeMap<ActorId, ActorTape>,
    pub(crate) pieces: Pieces,
    pub(crate) loads: BTreeMap<Resource, Vec<Load>>,
    pub(crate) host_states: BTreeMap<HostId, Vec<(Mark, bool)>>,
    pub(crate) link_states: BTreeMap<LinkId, Vec<(Mark, bool)>>,
    order: u64,
    running: BTreeMap<ActivityId, Work>,
    /// What ended last, while the actors that it wakes are being told.
    just_ended: Option<(Work, Result<(), Failure>)>,
}

/// The life of an actor so far.
pub(crate) struct ActorTape {
    pub(crate) name: String,
    pub(crate) stays: Vec<(HostId, Mark, Option<Mark>)>,
    pub(crate) waits: Vec<Wait>,
    pub(crate) ending: Ending,
}

/// A wait of an actor; the last one may be going on.
pub(crate) struct Wait {
    pub(crate) reason: Reason,
    pub(crate) host: HostId,
    pub(crate) from: Mark,
    pub(crate) to: Option<Mark>,
    pub(crate) work: Option<Work>,
    pub(crate) failure: Option<Failure>,
}

/// All work that was started, in lists as those of the [`Timeline`].
#[derive(Default)]
pub(crate) struct Pieces {
    pub(crate) messages: Vec<Piece<MessageFacts>>,
    pub(crate) executions: Vec<Piece<ExecutionFacts>>,
    pub(crate) accesses: Vec<Piece<AccessFacts>>,
    pub(crate) parallel_tasks: Vec<Piece<ParallelFacts>>,
}

/// A piece of work, and when.
pub(crate) struct Piece<F> {
    pub(crate) facts: F,
    pub(crate) started: Mark,
    pub(crate) ended: Option<(Mark, Result<(), Failure>)>,
}

pub(crate) struct MessageFacts {
    pub(crate) sender: ActorId,
    pub(crate) receiver: ActorId,
    pub(crate) src: HostId,
    pub(crate) dst: HostId,
    pub(crate) mailbox: MailboxId,
    pub(crate) bytes: f64,
    pub(crate) posted: SimTime,
}

pub(crate) struct ExecutionFacts {
    pub(crate) actor: ActorId,
    pub(crate) host: HostId,
    pub(crate) flops: f64,
}

pub(crate) struct AccessFacts {
    pub(crate) actor: ActorId,
    pub(crate) disk: DiskId,
    pub(crate) bytes: f64,
    pub(crate) direction: Direction,
}

pub(crate) struct ParallelFacts {
    pub(crate) actor: ActorId,
    pub(crate) hosts: Vec<HostId>,
}

impl Tape {
    fn new(platform: Arc<Platform>) -> Tape {
        Tape {
            platform,
            latest: SimTime::ZERO,
            actors: BTreeMap::new(),
            pieces: Pieces::default(),
            loads: BTreeMap::new(),
            host_states: BTreeMap::new(),
            link_states: BTreeMap::new(),
            order: 0,
            running: BTreeMap::new(),
            just_ended: None,
        }
    }

    fn event(&mut self, now: SimTime, event: &Event) {
        self.order += 1;
        self.latest = self.latest.max(now);
        let mark = Mark { at: now, order: self.order };
        // The end of some work is followed by the waking of those who waited for it, and by nothing else.
        if !matches!(event, Event::ActivityEnded { .. } | Event::Unblocked { .. }) {
            self.just_ended = None;
        }
        match event {
            Event::ActorStarted { actor, name, host } => {
                let stays = vec![(*host, mark, None)];
                let tape = ActorTape { name: name.clone(), stays, waits: Vec::new(), ending: Ending::Alive };
                self.actors.insert(*actor, tape);
            }
            Event::ActorEnded { actor, failed } => {
                let Some(actor) = self.living(*actor) else { return };
                actor.close_wait(mark, None, None);
                actor.close_stay(mark);
                actor.ending = if *failed { Ending::Failed } else { Ending::Finished };
            }
            Event::ActorMoved { actor, host } => {
                let Some(actor) = self.living(*actor) else { return };
                let reason = actor.open_wait().map(|wait| wait.reason);
                actor.close_wait(mark, None, None);
                actor.close_stay(mark);
                actor.stays.push((*host, mark, None));
                if let Some(reason) = reason {
                    actor.start_wait(reason, mark);
                }
            }
            Event::Blocked { actor, reason } => {
                let Some(actor) = self.living(*actor) else { return };
                actor.close_wait(mark, None, None);
                actor.start_wait(*reason, mark);
            }
            Event::Unblocked { actor } => self.unblocked(*actor, mark),
            Event::TransferStarted { activity, sender, receiver, src, dst, mailbox, bytes, posted } => {
                let (sender, receiver, src, dst) = (*sender, *receiver, *src, *dst);
                let (mailbox, bytes, posted) = (*mailbox, *bytes, *posted);
                let facts = MessageFacts { sender, receiver, src, dst, mailbox, bytes, posted };
                let place = start(&mut self.pieces.messages, facts, mark);
                self.running.insert(*activity, Work::Message(place));
            }
            Event::ExecutionStarted { activity, actor, host, flops } => {
                let facts = ExecutionFacts { actor: *actor, host: *host, flops: *flops };
                let place = start(&mut self.pieces.executions, facts, mark);
                self.running.insert(*activity, Work::Execution(place));
            }
            Event::AccessStarted { activity, actor, disk, bytes, write } => {
                let direction = if *write { Direction::Write } else { Direction::Read };
                let facts = AccessFacts { actor: *actor, disk: *disk, bytes: *bytes, direction };
                let place = start(&mut self.pieces.accesses, facts, mark);
                self.running.insert(*activity, Work::Access(place));
            }
            Event::ParallelStarted { activity, actor, hosts } => {
                let facts = ParallelFacts { actor: *actor, hosts: hosts.clone() };
                let place = start(&mut self.pieces.parallel_tasks, facts, mark);
                self.running.insert(*activity, Work::Parallel(place));
            }
            Event::ActivityEnded { activity, result } => self.activity_ended(*activity, *result, mark),
            Event::Explained { .. } => {}
            Event::Used(usage) => {
                let load = Load { at: usage.at, used: usage.used, capacity: usage.capacity };
                self.loads.entry(usage.resource).or_default().push(load);
            }
            Event::HostState(host, on) => self.host_states.entry(*host).or_default().push((mark, *on)),
            Event::LinkState(link, on) => self.link_states.entry(*link).or_default().push((mark, *on)),
        }
    }

    /// The actor, unless it has ended or its beginning was not heard.
    fn living(&mut self, id: ActorId) -> Option<&mut ActorTape> {
        self.actors.get_mut(&id).filter(|actor| actor.ending == Ending::Alive)
    }

    fn unblocked(&mut self, id: ActorId, mark: Mark) {
        let Some(actor) = self.actors.get_mut(&id) else { return };
        let Some(wait) = actor.open_wait() else { return };
        let cause = self.just_ended.filter(|(work, _)| self.pieces.explain(*work, id, wait.reason));
        let failure = cause.and_then(|(_, result)| result.err());
        actor.close_wait(mark, cause.map(|(work, _)| work), failure);
    }

    fn activity_ended(&mut self, activity: ActivityId, result: Result<(), Failure>, mark: Mark) {
        let Some(work) = self.running.remove(&activity) else {
            self.just_ended = None;
            return;
        };
        self.pieces.end(work, mark, result);
        self.just_ended = Some((work, result));
        // Whoever gives up a wait goes on first, and ends the work by it.
        let Err(failure) = result else { return };
        for id in self.pieces.actors(work).into_iter().flatten() {
            let Some(actor) = self.actors.get_mut(&id) else { continue };
            let Some(wait) = actor.waits.last_mut() else { continue };
            let gave_up = wait.to.is_some_and(|to| to.at == mark.at) && wait.work.is_none();
            if gave_up && self.pieces.explain(work, id, wait.reason) {
                wait.work = Some(work);
                wait.failure = Some(failure);
            }
        }
    }
}

impl ActorTape {
    fn open_wait(&self) -> Option<&Wait> {
        self.waits.last().filter(|wait| wait.to.is_none())
    }

    fn start_wait(&mut self, reason: Reason, from: Mark) {
        let Some(&(host, ..)) = self.stays.last() else { return };
        self.waits.push(Wait { reason, host, from, to: None, work: None, failure: None });
    }

    fn close_wait(&mut self, mark: Mark, work: Option<Work>, failure: Option<Failure>) {
        if let Some(wait) = self.waits.last_mut().filter(|wait| wait.to.is_none()) {
            wait.to = Some(mark);
            wait.work = work;
            wait.failure = failure;
        }
    }

    fn close_stay(&mut self, mark: Mark) {
        if let Some((_, _, to)) = self.stays.last_mut() {
            to.get_or_insert(mark);
        }
    }
}

impl Pieces {
    fn end(&mut self, work: Work, mark: Mark, result: Result<(), Failure>) {
        let ended = match work {
            Work::Message(place) => &mut self.messages[place].ended,
            Work::Execution(place) => &mut self.executions[place].ended,
            Work::Access(place) => &mut self.accesses[place].ended,
            Work::Parallel(place) => &mut self.parallel_tasks[place].ended,
        };
        *ended = Some((mark, result));
    }

    /// Whose work it is.
    fn actors(&self, work: Work) -> [Option<ActorId>; 2] {
        match work {
            Work::Message(place) => {
                let facts = &self.messages[place].facts;
                [Some(facts.sender), Some(facts.receiver).filter(|&receiver| receiver != facts.sender)]
            }
            Work::Execution(place) => [Some(self.executions[place].facts.actor), None],
            Work::Access(place) => [Some(self.accesses[place].facts.actor), None],
            Work::Parallel(place) => [Some(self.parallel_tasks[place].facts.actor), None],
        }
    }

    /// Whether the end of this work is what that actor waits for.
    fn explain(&self, work: Work, actor: ActorId, reason: Reason) -> bool {
        let fits = match (reason, work) {
            (Reason::Sending(_), Work::Message(place)) => self.messages[place].facts.sender == actor,
            (Reason::Receiving(_), Work::Message(place)) => self.messages[place].facts.receiver == actor,
            (Reason::Executing, Work::Execution(_)) => true,
            (Reason::Reading(_) | Reason::Writing(_), Work::Access(_)) => true,
            (Reason::Parallel, Work::Parallel(_)) => true,
            (Reason::WaitingAny(_), _) => true,
            _ => false,
        };
        fits && self.actors(work).contains(&Some(actor))
    }
}

fn start<F>(pieces: &mut Vec<Piece<F>>, facts: F, started: Mark) -> usize {
    pieces.push(Piece { facts, started, ended: None });
    pieces.len() - 1
}
