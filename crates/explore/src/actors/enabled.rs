//! What may happen next: the requests that can be served now, with each of their outcomes.

use simurgh_kernel::activity::{Kind as Activity, State};
use simurgh_kernel::ids::{ActivityId, ActorId};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::operation::{Noted, Operation, Patience, Side, Token};
use simurgh_kernel::simcall::Note;
use smallvec::SmallVec;

use super::faults::fate_of;
use super::{Actors, Message, Network, Next};
use crate::transition::{Awaited, Ending, Kind, Known, Outcome, Post, Posting, Transition};
use crate::verdict::Step;

impl<F: FnMut(&mut Kernel)> Actors<F> {
    pub(super) fn collect_enabled(&mut self, into: &mut Vec<Transition>) {
        if self.kernel.living_regular() == 0 && self.kernel.living() > 0 {
            // Daemons end with the last of the others, and what they might have received does not count.
            return;
        }
        for index in 0..self.count {
            let actor = ActorId::from_index(index);
            self.choices(actor, |choice| {
                into.extend(self.kind(actor, choice).map(|kind| transition(actor, choice, kind)));
            });
        }
        for (index, message) in self.messages.iter().enumerate() {
            if self.is_next(index, message) {
                into.push(self.arrival(message));
            }
        }
    }

    /// Whether a message under way may arrive next.
    fn is_next(&self, index: usize, message: &Message) -> bool {
        !self.messages[..index].iter().any(|other| match self.network {
            // A copy comes after the message itself.
            Network::Unordered => message.post.is_copy() && other.post == message.post.original(),
            _ => {
                other.post.actor == message.post.actor
                    && other.mailbox == message.mailbox
                    && other.envelope.context == message.envelope.context
            }
        })
    }

    pub(super) fn arrival(&self, message: &Message) -> Transition {
        let posting = self.posting(message.post, message.mailbox, Side::Send(message.envelope));
        let kind = Kind::Arrive { posting, ordered: self.network == Network::Pairwise };
        Transition { step: arrival_step(message.post), kind }
    }

    /// A post that comes to a mailbox, with what is known of who may tell when it came.
    pub(super) fn posting(&self, post: Post, mailbox: u32, side: Side) -> Posting {
        let observers = self.observers.get(mailbox as usize).copied().unwrap_or_default();
        Posting { post, mailbox, side, observers: Known(observers) }
    }

    /// The outcomes with which an actor can go on now.
    pub(super) fn choices(&self, actor: ActorId, mut each: impl FnMut(u32)) {
        let process = &self.processes[actor.index()];
        if !self.kernel.is_alive(actor) || self.kernel.is_suspended(actor) {
            return;
        }
        match &process.next {
            _ if !process.returns.is_empty() => each(0),
            Next::Queued(_) if process.granted => each(0),
            Next::Queued(_) if process.timer => each(Step::OTHERWISE),
            Next::Ask(simcall) => self.outcomes(&simcall.operation(), each),
            Next::Nothing | Next::Queued(_) => {}
        }
    }

    /// What an actor does next with this outcome, whether that is possible or not.
    pub(super) fn kind(&self, actor: ActorId, choice: u32) -> Option<Kind> {
        let process = &self.processes[actor.index()];
        if let Some(note) = process.returns.front() {
            return Some(kind_of_return(note));
        }
        match &process.next {
            Next::Nothing => None,
            Next::Queued(wait) => Some(kind_of_wait(wait, process.timed, choice == Step::OTHERWISE)),
            Next::Ask(simcall) => Some(self.kind_of(actor, &simcall.operation(), choice)),
        }
    }

    /// The outcomes with which an operation can be served now.
    fn outcomes(&self, operation: &Operation<'_>, mut each: impl FnMut(u32)) {
        match *operation {
            // One for each of the set that is over, or may be; and otherwise, if none is for certain, and it may give up.
            Operation::Wait { set, patience } => {
                let mut some = false;
                for (index, &id) in set.iter().enumerate() {
                    let is_over = self.is_over(id);
                    some |= is_over;
                    if is_over || self.is_at_work(id) {
                        each(index as u32);
                    }
                }
                if !some && patience != Patience::Forever {
                    each(Step::OTHERWISE);
                }
            }
            Operation::Choose(n) => (0..n).for_each(each),
            Operation::Join { target, timed } => {
                let alive = target.index() < self.count && self.kernel.is_alive(target);
                if !alive {
                    each(0);
                } else if timed {
                    each(Step::OTHERWISE);
                }
            }
            // It is stopped, or was over before.
            Operation::Cancel(id) if self.is_at_work(id) => [0, Step::OTHERWISE].into_iter().for_each(each),
            Operation::Post { message: Some(message), .. } => {
                each(0);
                self.fates(message).for_each(each);
            }
            _ => each(0),
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

    /// A communication as it is seen from one end; nothing if it is something else, or was forgotten.
    pub(super) fn awaited(&self, id: ActivityId) -> Option<Awaited> {
        let activity = self.kernel.activities().get(id)?;
        let Activity::Comm(posted) = &activity.kind else { return None };
        let comm = self.comm(id)?;
        let (post, partner, side) = if id.is_receiving() {
            (comm.recv?, comm.send, Side::Recv(posted.criteria()))
        } else {
            (comm.send?, comm.recv, Side::Send(posted.envelope()))
        };
        // Once it has met somebody, what it would have accepted matters to nobody, and is not the same in every order.
        let side = match partner {
            Some(_) if side.is_send() => Side::GIVE,
            Some(_) => Side::TAKE,
            None => side,
        };
        // Nothing else is over that neither met somebody nor failed.
        let lost = partner.is_none() && side.is_send() && activity.state == State::Over(Ok(()));
        Some(Awaited { post, mailbox: comm.mailbox, side, partner, lost })
    }

    /// The communications of a set, as whoever waits for it sees them.
    pub fn awaited_set(&self, set: &[ActivityId]) -> SmallVec<[Awaited; 1]> {
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
        let posted = self.processes[actor.index()].unclaimed.iter().filter_map(|&(id, posted)| {
            let left = Awaited { partner: self.partner(id, &posted), ..posted };
            // What was taken back before is nobody's business any more.
            (left.partner.is_some() || !self.is_over(id)).then_some(left)
        });
        posted.collect()
    }

    /// What a post has met, also where the kernel has forgotten it since.
    pub(super) fn partner(&self, id: ActivityId, posted: &Awaited) -> Option<Post> {
        let is_send = posted.side.is_send();
        match self.comm(id) {
            Some(comm) if is_send => comm.recv,
            Some(comm) => comm.send,
            None => self.meetings.iter().rev().find_map(|&(recv, send)| {
                let (own, partner) = if is_send { (send, recv) } else { (recv, send) };
                (own == posted.post).then_some(partner)
            }),
        }
    }

    /// What an operation does with this outcome.
    pub(super) fn kind_of(&self, actor: ActorId, operation: &Operation<'_>, choice: u32) -> Kind {
        let post = Post { actor: actor.0, number: self.processes[actor.index()].posts };
        match *operation {
            Operation::Post { mailbox, side, .. } if self.network == Network::Mailbox || !side.is_send() => {
                Kind::Post(self.posting(post, mailbox.0, side))
            }
            Operation::Post { .. } => {
                let fate = fate_of(choice);
                Kind::Submit { post, fate, last: self.unreliable.left(fate) <= 1 }
            }
            Operation::Wait { set, patience } => Kind::Wait {
                awaited: self.awaited_set(set),
                taken: set.get(choice as usize).and_then(|&id| self.awaited(id)).map(|one| one.post),
                outcome: match patience {
                    _ if choice != Step::OTHERWISE => Outcome::Taken,
                    Patience::Now => Outcome::Nothing,
                    _ => Outcome::Timeout,
                },
                timed: patience != Patience::Forever,
                single: set.len() == 1,
            },
            Operation::Cancel(id) => Kind::Withdraw(self.awaited(id).into_iter().collect()),
            Operation::Probe(mailbox, criteria) => Kind::Probe(mailbox.0, criteria),
            Operation::Take(token, Patience::Now) => Kind::TryTake(token),
            Operation::Take(token, _) => Kind::Take(token),
            Operation::Give(token) => Kind::Give(token),
            Operation::WaitCondition { condition, lock, .. } => {
                Kind::ConditionPost(condition.0, Token::Mutex(lock))
            }
            Operation::Notify(condition, _) => Kind::Notify(condition.0),
            Operation::Arrive { barrier, told } => {
                let (round, crowd) = self.next_round(barrier.0);
                Kind::BarrierPost { barrier: barrier.0, round, told, crowd }
            }
            Operation::Choose(_) => Kind::Choose,
            Operation::Expose(slot, _) => Kind::Expose(slot, self.watched(slot)),
            Operation::Spawn(_) => Kind::Spawn(self.count as u32),
            Operation::Join { target, timed } => {
                Kind::Join(target.0, Ending { timed, timeout: choice == Step::OTHERWISE })
            }
            Operation::IsAlive(target) => Kind::IsAlive(target.0),
            Operation::Interfere(..) | Operation::BecomeDaemon => Kind::Interfere,
            Operation::Exit => {
                // Whether there are daemons, or were.
                let mut all = (0..self.count).map(ActorId::from_index);
                let daemons = self.spawned_daemons || all.any(|other| self.kernel.is_daemon(other));
                let last = !self.kernel.is_daemon(actor) && daemons;
                Kind::Exit { withdrawn: self.left_behind(actor), last }
            }
            Operation::Work(_) | Operation::Adjust | Operation::Local => {
                unreachable!("what is local is never pending")
            }
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
    let Noted::Give(token) = note.tokens() else { unreachable!("other notes are served at once") };
    Kind::Give(token)
}

/// The end of a wait in a queue: whether it might have been given up, and whether it was.
pub(super) fn kind_of_wait(wait: &Kind, timed: bool, timeout: bool) -> Kind {
    let mut kind = wait.clone();
    if let Kind::TakeWait(_, ending) | Kind::ConditionWait(_, _, ending) = &mut kind {
        *ending = Ending { timed, timeout };
    }
    kind
}
