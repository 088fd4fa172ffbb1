//! What can be seen of a kernel: how far it is, its actors, and who waits for what.

use std::hash::{Hash, Hasher};

use simurgh_models::SimTime;
use simurgh_platform::HostId;

use super::Kernel;
use super::actor::{Actor, Halt, Waiting};
use crate::activity::{Activities, Kind};
use crate::event::Reason;
use crate::exposed::Exposure;
use crate::ids::{ActivityId, ActorId, MailboxId};
use crate::mailbox::Mailbox;
use crate::simcall::{Answer, Envelope};

/// An actor that waits, as people want to read of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Blocked {
    /// Who.
    pub actor: ActorId,
    /// Its name.
    pub name: String,
    /// Where.
    pub host: HostId,
    /// What it waits for.
    pub reason: Reason,
    /// When it waits for one of several activities: what each of them is.
    pub among: Vec<Reason>,
    /// Since when.
    pub since: SimTime,
    /// Whether it is a daemon.
    pub daemon: bool,
}

/// A message that was sent and that no receive has met.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Unreceived {
    /// Where it lies.
    pub mailbox: MailboxId,
    /// What is written on it.
    pub envelope: Envelope,
    /// How long it is.
    pub bytes: f64,
}

impl<K: Default> Kernel<K> {
    /// The messages that no receive has met, by mailbox, the oldest first.
    pub fn unreceived(&self) -> Vec<Unreceived> {
        let in_mailbox = |index: usize| {
            let mailbox = MailboxId(index as u32);
            self.mailbox(mailbox).sends.iter(&self.activities).filter_map(move |id| {
                match &self.activities.get(id)?.kind {
                    Kind::Comm(comm) => {
                        Some(Unreceived { mailbox, envelope: comm.envelope(), bytes: comm.bytes })
                    }
                    _ => None,
                }
            })
        };
        (0..self.mailbox_count()).flat_map(in_mailbox).collect()
    }

    /// How many messages have been delivered.
    pub fn messages(&self) -> u64 {
        self.messages
    }

    /// How many bytes were in them.
    pub fn bytes(&self) -> f64 {
        self.bytes
    }

    /// How many actors were ever created.
    pub fn actor_count(&self) -> usize {
        self.actors.len()
    }

    /// How many actors are living.
    pub fn living(&self) -> usize {
        self.living
    }

    /// How many living actors are not daemons.
    pub fn living_regular(&self) -> usize {
        self.living_regular
    }

    /// The name of an actor.
    pub fn actor_name(&self, actor: ActorId) -> &str {
        &self.names[actor.index()]
    }

    /// The host an actor is on, or was on when it ended.
    pub fn actor_host(&self, actor: ActorId) -> HostId {
        self.actors[actor.index()].host
    }

    /// Whether an actor is living.
    pub fn is_alive(&self, actor: ActorId) -> bool {
        self.actors[actor.index()].alive
    }

    /// Whether an actor is halted.
    pub fn is_suspended(&self, actor: ActorId) -> bool {
        self.actors[actor.index()].halt != Halt::No
    }

    /// Whether an actor is a daemon.
    pub fn is_daemon(&self, actor: ActorId) -> bool {
        self.actors[actor.index()].daemon
    }

    /// The living actors on a host, oldest first.
    pub fn actors_on(&self, host: HostId) -> Vec<ActorId> {
        let on = |(index, actor): (usize, &Actor<K>)| {
            (actor.alive && actor.host == host).then(|| ActorId::from_index(index))
        };
        self.actors.iter().enumerate().filter_map(on).collect()
    }

    /// The activities, to look at.
    pub fn activities(&self) -> &Activities {
        &self.activities
    }

    /// What an actor started and has not forgotten, oldest first; what is over may still be among it.
    pub fn owned(&self, actor: ActorId) -> &[ActivityId] {
        self.actors[actor.index()].owned()
    }

    /// A mailbox, to look at.
    pub fn mailbox(&self, mailbox: MailboxId) -> Mailbox {
        self.mailboxes.get(mailbox.index()).copied().unwrap_or_default()
    }

    /// How many mailboxes have been used.
    pub fn mailbox_count(&self) -> usize {
        self.mailboxes.len()
    }

    /// Feeds the state of all locks, semaphores, conditions and barriers to a hasher.
    pub fn hash_synchronisation(&self, hasher: &mut impl Hasher) {
        self.mutexes.hash(hasher);
        self.semaphores.hash(hasher);
        self.conditions.hash(hasher);
        self.barriers.hash(hasher);
    }

    /// Feeds to a hasher what will become of the wait of an actor, as far as that is decided: the answer that lies ready, or
    /// whether it was notified before it queued for its lock; and whether it is halted.
    pub fn hash_wait(&self, actor: ActorId, hasher: &mut impl Hasher) {
        let actor = &self.actors[actor.index()];
        let flag = |answer: &Answer| if let Answer::Flag(flag) = answer { Some(*flag) } else { None };
        actor.answer.as_ref().map(flag).hash(hasher);
        let notified = match actor.waiting {
            Waiting::Reacquiring { notified, .. } => Some(notified),
            _ => None,
        };
        (notified, actor.halt as u8, actor.daemon).hash(hasher);
    }

    /// What the actors show.
    pub fn exposure(&self) -> &Exposure {
        &self.exposure
    }

    /// Who waits for what since when.
    pub fn blocked(&self) -> Vec<Blocked> {
        let mut blocked = Vec::new();
        for (index, actor) in self.actors.iter().enumerate() {
            // One that could go on and is suspended does not go on either.
            let halted = (actor.halt == Halt::Ready).then_some(Reason::Suspended);
            let Some(reason) = self.reason(&actor.waiting).or(halted).filter(|_| actor.alive) else {
                continue;
            };
            let among = match &actor.waiting {
                Waiting::Several(several) if several.set.len() > 1 => {
                    several.set.iter().map(|&id| self.purpose(id)).collect()
                }
                _ => Vec::new(),
            };
            blocked.push(Blocked {
                among,
                actor: ActorId::from_index(index),
                name: self.names[index].to_string(),
                host: actor.host,
                reason,
                since: actor.since,
                daemon: actor.daemon,
            });
        }
        blocked
    }

    pub(super) fn reason(&self, waiting: &Waiting) -> Option<Reason> {
        Some(match waiting {
            Waiting::Nothing => return None,
            Waiting::One { id, .. } => self.purpose(*id),
            Waiting::Several(several) => match several.set[..] {
                [id] => self.purpose(id),
                _ => Reason::WaitingAny(several.set.len() as u32),
            },
            Waiting::All(all) => self.purpose(all.present()),
            Waiting::Sleep => Reason::Sleeping,
            Waiting::Mutex(mutex) | Waiting::Reacquiring { mutex, .. } => Reason::Locking(*mutex),
            Waiting::Semaphore(semaphore) => Reason::Acquiring(*semaphore),
            Waiting::Condition(condition, _) => Reason::Condition(*condition),
            Waiting::Barrier(barrier) => Reason::Barrier(*barrier),
            Waiting::Join(actor) => Reason::Joining(*actor),
            Waiting::Suspended => Reason::Suspended,
        })
    }
}
