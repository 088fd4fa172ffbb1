//! The table of activities: what was started, how far it is, and who waits for it.

use simurgh_models::{DiskAccess, Execution, SimTime};

use crate::ids::{ActivityId, ActorId, MailboxId};
use crate::simcall::{Criteria, Envelope, Failure, Payload};

/// A message, a receive, or both once they have met.
#[derive(Debug)]
pub struct Comm {
    /// Where the two meet.
    pub mailbox: MailboxId,
    /// Who sends, once a send is there.
    pub sender: Option<ActorId>,
    /// Who receives, once a receive is there.
    pub receiver: Option<ActorId>,
    /// At most so many bytes a second, whoever said so; infinite if nobody did.
    pub rate: f64,
    /// How long the message is.
    pub bytes: f64,
    /// What is written on the message.
    pub envelope: Envelope,
    /// Which messages the receive accepts.
    pub criteria: Criteria,
    /// What is in the message, until it is received.
    pub payload: Option<Payload>,
    /// Whether the sender let go of it.
    pub detached: bool,
    /// When the send was posted.
    pub posted: SimTime,
    /// The next in the mailbox.
    pub(crate) next: Option<ActivityId>,
    /// The one before in the mailbox.
    pub(crate) previous: Option<ActivityId>,
}

/// What an activity is.
#[derive(Debug)]
pub enum Kind {
    /// A communication.
    Comm(Comm),
    /// A computation of an actor on a host.
    Execution {
        /// Whose.
        actor: ActorId,
        /// What.
        what: Execution,
    },
    /// A disk access of an actor.
    Access {
        /// Whose.
        actor: ActorId,
        /// What.
        what: DiskAccess,
    },
    /// A parallel task of an actor.
    Parallel {
        /// Whose.
        actor: ActorId,
    },
}

/// How far an activity is.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum State {
    /// Sent, and not in its mailbox yet: only where the driver holds messages back.
    UnderWay,
    /// In a mailbox, not met yet.
    Posted,
    /// Under way.
    Running,
    /// Over.
    Over(Result<(), Failure>),
}

/// Who may still ask about an activity: whoever started it (of a communication, the sender), and the receiver.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Held {
    /// The actor that started it, or the sender.
    pub owner: bool,
    /// The receiver.
    pub receiver: bool,
}

/// Who waits for an activity, in the order in which they began to: hardly ever more than its two ends.
#[derive(Clone, Default, Debug)]
pub struct Waiters {
    first: Option<ActorId>,
    second: Option<ActorId>,
    #[expect(clippy::box_collection, reason = "almost always empty: eight bytes instead of 24")]
    more: Option<Box<Vec<ActorId>>>,
}

impl Waiters {
    /// The one that has waited longest.
    #[inline]
    pub fn first(&self) -> Option<ActorId> {
        self.first
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = ActorId> + '_ {
        let more = self.more.iter().flat_map(|more| more.iter().copied());
        self.first.into_iter().chain(self.second).chain(more)
    }

    /// One more.
    #[inline]
    pub fn push(&mut self, actor: ActorId) {
        match (self.first, self.second) {
            (None, _) => self.first = Some(actor),
            (_, None) => self.second = Some(actor),
            _ => self.more.get_or_insert_default().push(actor),
        }
    }

    /// One less, if it was there.
    #[inline]
    pub fn remove(&mut self, actor: ActorId) {
        if self.first == Some(actor) {
            (self.first, self.second) = (self.second, self.next());
        } else if self.second == Some(actor) {
            self.second = self.next();
        } else if let Some(more) = &mut self.more {
            more.retain(|&other| other != actor);
        }
    }

    fn next(&mut self) -> Option<ActorId> {
        let more = self.more.as_mut().filter(|more| !more.is_empty())?;
        Some(more.remove(0))
    }
}

/// An activity in the table.
#[derive(Debug)]
pub struct Activity {
    /// What it is.
    pub kind: Kind,
    /// How far it is.
    pub state: State,
    /// Who waits for it, in the order in which they began to.
    pub waiters: Waiters,
    /// Who may still ask about it.
    pub held: Held,
    /// Whether its progress is halted.
    pub paused: bool,
}

/// The table. Slots of forgotten activities are used again.
#[derive(Debug, Default)]
pub struct Activities {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    tenant: Option<Activity>,
}

impl Activities {
    /// Puts an activity into the table.
    #[inline]
    pub fn insert(&mut self, activity: Activity) -> ActivityId {
        if let Some(index) = self.free.pop() {
            let slot = &mut self.slots[index as usize];
            debug_assert!(slot.tenant.is_none());
            slot.tenant = Some(activity);
            return ActivityId { index, generation: slot.generation, receiving: false };
        }
        let index = u32::try_from(self.slots.len()).expect("fewer than 2^32 activities at once");
        self.slots.push(Slot { generation: 0, tenant: Some(activity) });
        ActivityId { index, generation: 0, receiving: false }
    }

    /// The activity, unless it was forgotten.
    #[inline]
    pub fn get(&self, id: ActivityId) -> Option<&Activity> {
        self.slots.get(id.index()).filter(|slot| slot.generation == id.generation)?.tenant.as_ref()
    }

    /// The activity, unless it was forgotten.
    #[inline]
    pub fn get_mut(&mut self, id: ActivityId) -> Option<&mut Activity> {
        self.slots.get_mut(id.index()).filter(|slot| slot.generation == id.generation)?.tenant.as_mut()
    }

    /// Forgets an activity.
    #[inline]
    pub fn remove(&mut self, id: ActivityId) {
        let Some(slot) = self.slots.get_mut(id.index()) else { return };
        if slot.generation == id.generation && slot.tenant.is_some() {
            slot.tenant = None;
            // Two bits stay free, for the drivers' tokens.
            slot.generation = (slot.generation + 1) & 0x3fff_ffff;
            self.free.push(id.index);
        }
    }

    /// The communication, unless it was forgotten or is something else.
    pub fn comm_mut(&mut self, id: ActivityId) -> Option<&mut Comm> {
        match &mut self.get_mut(id)?.kind {
            Kind::Comm(comm) => Some(comm),
            _ => None,
        }
    }

    /// Forgets all; identities begin anew.
    pub fn clear(&mut self) {
        self.slots.clear();
        self.free.clear();
    }

    /// How many are in the table.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether the table is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All activities, by slot.
    pub fn iter(&self) -> impl Iterator<Item = (ActivityId, &Activity)> {
        self.slots.iter().enumerate().filter_map(|(index, slot)| {
            let id = ActivityId { index: index as u32, generation: slot.generation, receiving: false };
            slot.tenant.as_ref().map(|tenant| (id, tenant))
        })
    }
}
