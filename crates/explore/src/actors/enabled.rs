//! What may happen next: the requests that can be served now, with each of their outcomes.

use simurgh_kernel::activity::{Kind as Activity, State};
use simurgh_kernel::ids::{ActivityId, ActorId};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::simcall::{Criteria, Envelope, Note, Simcall};
use smallvec::SmallVec;

use super::{Actors, Message, Network, Next, Queued};
use crate::transition::{Awaited, Fate, Kind, Outcome, Post, Side, Transition};
use crate::verdict::Step;

/// The choice that stands for a timeout, or for nothing being over.
pub(super) const OTHERWISE: u32 = Step::OTHERWISE;

impl<F: FnMut(&mut Kernel)> Actors<F> {
    pub(super) fn collect_enabled(&mut self, into: &mut Vec<Transition>) {
        if self.kernel.living_regular() == 0 && self.kernel.living() > 0 {
            // Daemons end with the last of the others, and what they might have received does not count.
            return;
        }
        for index in 0..self.count {
            let actor = ActorId::from_index(index);
            if self.kernel.is_alive(actor) && !self.kernel.is_suspended(actor) {
                self.enabled_of(actor, into);
            }
        }
        for (index, message) in self.messages.iter().enumerate() {
            if self.is_next(index, message) {
                into.push(self.arrival(message));
            }
        }
    }

    /// Whether a message under way may arrive next.
    fn is_next(&self, index: usize, message: &Message) -> bool {
        let earlier =
            |other: &&Message| other.post.actor == message.post.actor && other.mailbox == message.mailbox;
        match self.network {
            // A copy comes after the message itself.
            Network::Unordered => {
                !message.post.is_copy()
                    || !self.messages[..index].iter().any(|other| other.post == message.post.original())
            }
            _ => !self.messages[..index].iter().any(|other| earlier(&other)),
        }
    }

    pub(super) fn arrival(&self, message: &Message) -> Transition {
        Transition {
            step: arrival_step(message.post),
            kind: Kind::Arrive {
                post: message.post,
                mailbox: message.mailbox,
                envelope: message.envelope,
                observers: self.observers(message.mailbox),
                ordered: self.network == Network::Pairwise,
            },
        }
    }

    fn enabled_of(&self, actor: ActorId, into: &mut Vec<Transition>) {
        let process = &self.processes[actor.index()];
        if let Some(note) = process.returns.front() {
            into.push(transition(actor, 0, kind_of_return(note)));
            return;
        }
        match &process.next {
            Next::Nothing => {}
            Next::Queued(queued) => self.enabled_queued(actor, *queued, into),
            Next::Ask(simcall) => self.enabled_request(actor, simcall, into),
        }
    }

    fn enabled_queued(&self, actor: ActorId, queued: Queued, into: &mut Vec<Transition>) {
        let process = &self.processes[actor.index()];
        if process.granted {
            into.push(transition(actor, 0, kind_of_wait(queued, process.timed, false)));
        } else if process.timer {
            into.push(transition(actor, OTHERWISE, kind_of_wait(queued, true, true)));
        }
    }

    fn enabled_request(&self, actor: ActorId, simcall: &Simcall, into: &mut Vec<Transition>) {
        match simcall {
            Simcall::WaitAny { activities, timeout, .. } => {
                self.enabled_wait(actor, activities, timeout.is_some(), Outcome::Timeout, into);
            }
            Simcall::TestAny { activities } => {
                self.enabled_wait(actor, activities, true, Outcome::Nothing, into);
            }
            Simcall::Choose(n) => {
                into.extend((0..(*n).max(1)).map(|choice| transition(actor, choice, Kind::Choose)));
            }
            Simcall::Join(target, timeout) => {
                let alive = target.index() < self.count && self.kernel.is_alive(*target);
                let (timed, target) = (timeout.is_some(), target.0);
                if !alive {
                    into.push(transition(actor, 0, Kind::Join { target, timed, timeout: false }));
                } else if timed {
                    into.push(transition(actor, OTHERWISE, Kind::Join { target, timed, timeout: true }));
                }
            }
            // It is stopped, or was over before.
            Simcall::Cancel(id) if self.is_at_work(*id) => {
                let kind = self.kind_of_request(actor, simcall);
                into.push(transition(actor, 0, kind.clone()));
                into.push(transition(actor, OTHERWISE, kind));
            }
            Simcall::Send(request, _) => {
                into.push(transition(actor, 0, self.kind_of_request(actor, simcall)));
                let fates = self.fates(request);
                into.extend(
                    fates.map(|(choice, fate)| transition(actor, choice, self.kind_of_submit(actor, fate))),
                );
            }
            _ => into.push(transition(actor, 0, self.kind_of_request(actor, simcall))),
        }
    }

    /// One outcome for each of the set that is over, or may be; `otherwise` if none is for certain, and that is possible.
    fn enabled_wait(
        &self,
        actor: ActorId,
        set: &[ActivityId],
        timed: bool,
        otherwise: Outcome,
        into: &mut Vec<Transition>,
    ) {
        if !timed && !set.iter().any(|&id| self.may_be_over(id)) {
            return;
        }
        let awaited = self.awaited_set(set);
        let single = set.len() == 1;
        let mut some = false;
        for (index, &id) in set.iter().enumerate() {
            if self.may_be_over(id) {
                some |= self.is_over(id);
                let taken = self.awaited(id).map(|awaited| awaited.post);
                let (awaited, outcome) = (awaited.clone(), Outcome::Taken);
                let kind = Kind::Wait { awaited, taken, outcome, timed, single };
                into.push(transition(actor, index as u32, kind));
            }
        }
        if !some && timed {
            let kind = Kind::Wait { awaited, taken: None, outcome: otherwise, timed, single };
            into.push(transition(actor, OTHERWISE, kind));
        }
    }

    /// Whether an activity is over; one that was forgotten is.
    pub(super) fn is_over(&self, id: ActivityId) -> bool {
        self.kernel.activities().get(id).is_none_or(|activity| matches!(activity.state, State::Over(_)))
    }

    /// Whether an activity is a computation, disk access or parallel task that goes on: it may be over at any time, as long as
    /// nobody has seen that it is or is not.
    pub(super) fn is_at_work(&self, id: ActivityId) -> bool {
        self.kernel.activities().get(id).is_some_and(|activity| {
            !matches!(activity.kind, Activity::Comm(_)) && activity.state == State::Running
        })
    }

    /// Whether whoever looks at an activity may find it over.
    pub(super) fn may_be_over(&self, id: ActivityId) -> bool {
        self.is_over(id) || self.is_at_work(id)
    }

    /// A communication as it is seen from one end; nothing if it is something else, or was forgotten.
    pub(super) fn awaited(&self, id: ActivityId) -> Option<Awaited> {
        let activity = self.kernel.activities().get(id)?;
        let Activity::Comm(posted) = &activity.kind else { return None };
        let comm = self.comm(id)?;
        let (post, side, partner) = if id.is_receiving() {
            (comm.recv?, Side::Recv, comm.send)
        } else {
            (comm.send?, Side::Send, comm.recv)
        };
        // Once it has met somebody, what it would have accepted matters to nobody, and is not the same in every order.
        let (mut envelope, mut criteria) = (Envelope::default(), Criteria::default());
        match side {
            Side::Send if partner.is_none() => envelope = posted.envelope(),
            Side::Recv if partner.is_none() => criteria = posted.criteria(),
            _ => {}
        }
        // Nothing else is over that neither met somebody nor failed.
        let lost = partner.is_none() && side == Side::Send && activity.state == State::Over(Ok(()));
        Some(Awaited { post, mailbox: comm.mailbox, side, envelope, criteria, partner, lost })
    }

    pub(super) fn awaited_set(&self, set: &[ActivityId]) -> SmallVec<[Awaited; 1]> {
        match set {
            // Almost always.
            [id] => self.awaited(*id).map_or_else(SmallVec::new, |one| SmallVec::from_buf([one])),
            _ => set.iter().filter_map(|&id| self.awaited(id)).collect(),
        }
    }

    /// What an actor that ends takes back, and what it would take back had it not met somebody.
    pub(super) fn left_behind(&self, actor: ActorId) -> SmallVec<[Awaited; 1]> {
        if self.keeps_posts {
            return SmallVec::new();
        }
        let posted = self.processes[actor.index()].unclaimed.iter();
        let posted =
            posted.map(|&(id, posted)| (id, Awaited { partner: self.partner(id, &posted), ..posted }));
        // What was taken back before is nobody's business any more.
        posted
            .filter(|(id, left)| left.partner.is_some() || !self.is_over(*id))
            .map(|(_, left)| left)
            .collect()
    }

    /// What a post has met, also where the kernel has forgotten it since.
    pub(super) fn partner(&self, id: ActivityId, posted: &Awaited) -> Option<Post> {
        match (self.comm(id), posted.side) {
            (Some(comm), Side::Send) => comm.recv,
            (Some(comm), Side::Recv) => comm.send,
            (None, side) => self.meetings.iter().rev().find_map(|&(recv, send)| match side {
                Side::Send => (send == posted.post).then_some(recv),
                Side::Recv => (recv == posted.post).then_some(send),
            }),
        }
    }

    /// Whether there are daemons, or were.
    fn has_daemons(&self) -> bool {
        (0..self.count).any(|other| self.kernel.is_daemon(ActorId::from_index(other)))
    }

    /// What a request does that can always be served, in one way.
    pub(super) fn kind_of_request(&self, actor: ActorId, simcall: &Simcall) -> Kind {
        let at_once = |timeout: &Option<f64>| timeout.is_some_and(|seconds| seconds <= 0.0);
        let post = Post { actor: actor.0, number: self.processes[actor.index()].posts };
        match simcall {
            Simcall::Send(request, _) if self.network == Network::Mailbox => {
                let mailbox = request.mailbox.0;
                Kind::Send { post, mailbox, envelope: request.envelope, observers: self.observers(mailbox) }
            }
            Simcall::Send(..) => self.kind_of_submit(actor, Fate::Kept),
            Simcall::Recv(request, _) => {
                Kind::Recv { post, mailbox: request.mailbox.0, criteria: request.criteria }
            }
            Simcall::Cancel(id) => Kind::Withdraw(self.awaited(*id).into_iter().collect()),
            Simcall::Spawn(_) => Kind::Spawn { child: self.count as u32 },
            Simcall::Exit => Kind::Exit {
                withdrawn: self.left_behind(actor),
                last: !self.kernel.is_daemon(actor) && (self.spawned_daemons || self.has_daemons()),
            },
            Simcall::IsAlive(target) => Kind::IsAlive { target: target.0 },
            Simcall::Lock(lock, timeout) if at_once(timeout) => Kind::TryLock(lock.0),
            Simcall::Lock(lock, _) => Kind::Lock(lock.0),
            Simcall::TryLock(lock) => Kind::TryLock(lock.0),
            Simcall::Unlock(lock) => Kind::Unlock(lock.0),
            Simcall::Acquire(semaphore, timeout) if at_once(timeout) => Kind::TryAcquire(semaphore.0),
            Simcall::Acquire(semaphore, _) => Kind::Acquire(semaphore.0),
            Simcall::Release(semaphore) => Kind::Release(semaphore.0),
            Simcall::WaitCondition(condition, lock, _) => {
                Kind::ConditionPost { condition: condition.0, lock: lock.0 }
            }
            Simcall::Notify(condition, _) => Kind::Notify(condition.0),
            Simcall::Arrive { barrier, told } => {
                let (round, crowd) = self.next_round(barrier.0);
                Kind::BarrierPost { barrier: barrier.0, round, told: *told, crowd }
            }
            Simcall::Probe(mailbox, criteria) => Kind::Probe { mailbox: mailbox.0, criteria: *criteria },
            Simcall::Expose(slot, _) => Kind::Expose { slot: slot.0, invariants: self.watched(*slot) },
            Simcall::Kill(_)
            | Simcall::KillAll
            | Simcall::Suspend(_)
            | Simcall::Resume(_)
            | Simcall::BecomeDaemon => Kind::Interfere,
            Simcall::WaitAny { .. } | Simcall::TestAny { .. } | Simcall::Choose(_) | Simcall::Join(..) => {
                unreachable!("these have several outcomes, or none")
            }
            Simcall::Execute(..)
            | Simcall::Access(..)
            | Simcall::Parallel(..)
            | Simcall::Sleep(_)
            | Simcall::Yield
            | Simcall::Pause(_)
            | Simcall::Continue(_)
            | Simcall::Remaining(_)
            | Simcall::Migrate(..)
            | Simcall::Platform(_) => unreachable!("what is local is never pending"),
        }
    }
}

pub(super) fn transition(actor: ActorId, choice: u32, kind: Kind) -> Transition {
    Transition { step: Step { actor: actor.0, choice }, kind }
}

/// The arrival of a message in a schedule: sender and number in one. A copy has the same, after the message itself.
pub(super) fn arrival_step(post: Post) -> Step {
    Step::arrival(post.actor, post.original().number)
}

pub(super) fn kind_of_return(note: &Note) -> Kind {
    match note {
        Note::Unlock(lock) => Kind::Unlock(lock.0),
        Note::Release(semaphore) => Kind::Release(semaphore.0),
        _ => unreachable!("other notes are served at once"),
    }
}

pub(super) fn kind_of_wait(queued: Queued, timed: bool, timeout: bool) -> Kind {
    match queued {
        Queued::Lock(lock) => Kind::LockWait { lock, timed, timeout },
        Queued::Semaphore(semaphore) => Kind::AcquireWait { semaphore, timed, timeout },
        Queued::Condition { condition, lock } => Kind::ConditionWait { condition, lock, timed, timeout },
        Queued::Barrier { barrier, round } => Kind::BarrierWait { barrier, round },
        Queued::Resume => Kind::Interfere,
    }
}
