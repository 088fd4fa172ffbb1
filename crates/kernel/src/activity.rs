//! The table of activities: what was started, how far it is, and who waits for it.

use simurgh_models::prefetch::{prefetch, prefetch_from};
use simurgh_models::{DiskAccess, Execution, SimTime};
use simurgh_platform::HostId;

use crate::ids::{ActivityId, ActorId, GENERATION_BITS, MailboxId};
use crate::simcall::{Criteria, Envelope, Failure, Payload, RecvRequest, SendRequest};

/// A message, a receive, or both once they have met.
#[derive(Debug)]
pub struct Comm {
    /// Where the two meet.
    pub mailbox: MailboxId,
    /// Who sends, once a send is there.
    sender: Maybe,
    /// Who receives, once a receive is there.
    receiver: Maybe,
    /// Where the receiver is, so that whoever sends need not look for it.
    pub(crate) destination: HostId,
    /// At most so many bytes a second, whoever said so; infinite if nobody did.
    pub rate: f64,
    /// How long the message is.
    pub bytes: f64,
    /// What is written on the message; nothing, as long as there is none. The context is that of the receive as well.
    envelope: Envelope,
    /// The only source that the receive accepts, and the only label.
    source: u32,
    tag: i32,
    has_source: bool,
    has_tag: bool,
    /// What is in the message, until it is received.
    pub payload: Option<Payload>,
    /// Whether the sender let go of it.
    pub detached: bool,
    /// When the send was posted.
    pub posted: SimTime,
    /// The slot of the next in the mailbox, and of the one before.
    pub(crate) next: u32,
    pub(crate) previous: u32,
}

/// No slot: the end of a queue.
pub(crate) const NO_SLOT: u32 = u32::MAX;

/// An actor, or none, in four bytes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Maybe(u32);

impl Maybe {
    const NOBODY: Maybe = Maybe(u32::MAX);

    #[inline]
    fn get(self) -> Option<ActorId> {
        (self != Self::NOBODY).then_some(ActorId(self.0))
    }
}

impl Comm {
    /// A message that was sent.
    #[inline]
    pub(crate) fn sent(sender: ActorId, request: &mut SendRequest, detached: bool, posted: SimTime) -> Self {
        Self {
            mailbox: request.mailbox,
            sender: Maybe(sender.0),
            receiver: Maybe::NOBODY,
            destination: HostId(0),
            rate: request.rate.unwrap_or(f64::INFINITY),
            bytes: request.bytes,
            envelope: request.envelope,
            source: 0,
            tag: 0,
            has_source: false,
            has_tag: false,
            payload: request.payload.take(),
            detached,
            posted,
            next: NO_SLOT,
            previous: NO_SLOT,
        }
    }

    /// A receive.
    #[inline]
    pub(crate) fn awaited(receiver: ActorId, host: HostId, request: &RecvRequest, posted: SimTime) -> Self {
        Self {
            mailbox: request.mailbox,
            sender: Maybe::NOBODY,
            receiver: Maybe(receiver.0),
            destination: host,
            rate: request.rate.unwrap_or(f64::INFINITY),
            bytes: 0.0,
            envelope: Envelope { context: request.criteria.context, ..Envelope::default() },
            source: request.criteria.source.unwrap_or(0),
            tag: request.criteria.tag.unwrap_or(0),
            has_source: request.criteria.source.is_some(),
            has_tag: request.criteria.tag.is_some(),
            payload: None,
            detached: false,
            posted,
            next: NO_SLOT,
            previous: NO_SLOT,
        }
    }

    /// Who sends, once a send is there.
    #[inline]
    pub fn sender(&self) -> Option<ActorId> {
        self.sender.get()
    }

    /// Who receives, once a receive is there.
    #[inline]
    pub fn receiver(&self) -> Option<ActorId> {
        self.receiver.get()
    }

    /// A message has met a receive.
    #[inline]
    pub(crate) fn set_receive(&mut self, receiver: ActorId, host: HostId, criteria: Criteria) {
        (self.receiver, self.destination) = (Maybe(receiver.0), host);
        (self.source, self.has_source) = (criteria.source.unwrap_or(0), criteria.source.is_some());
        (self.tag, self.has_tag) = (criteria.tag.unwrap_or(0), criteria.tag.is_some());
    }

    /// Who receives is known.
    #[inline]
    pub(crate) fn set_receiver(&mut self, receiver: Option<ActorId>) {
        self.receiver = receiver.map_or(Maybe::NOBODY, |actor| Maybe(actor.0));
    }

    /// A receive has met a message.
    #[inline]
    pub(crate) fn set_message(
        &mut self,
        sender: Option<ActorId>,
        envelope: Envelope,
        bytes: f64,
        payload: Option<Payload>,
        posted: SimTime,
    ) {
        self.sender = sender.map_or(Maybe::NOBODY, |actor| Maybe(actor.0));
        (self.envelope, self.bytes, self.payload, self.posted) = (envelope, bytes, payload, posted);
    }

    /// What is written on the message; nothing, as long as there is none.
    #[inline]
    pub fn envelope(&self) -> Envelope {
        self.envelope
    }

    /// Which messages the receive accepts.
    #[inline]
    pub fn criteria(&self) -> Criteria {
        Criteria {
            context: self.envelope.context,
            source: self.has_source.then_some(self.source),
            tag: self.has_tag.then_some(self.tag),
        }
    }

    /// A copy of a message that nobody has received, and that nobody waits for.
    pub(crate) fn copied(&self, payload: Option<Payload>) -> Self {
        let (next, previous) = (NO_SLOT, NO_SLOT);
        let (has_source, has_tag, receiver) = (false, false, Maybe::NOBODY);
        Self { payload, has_source, has_tag, receiver, detached: true, next, previous, ..*self }
    }
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
    /// Bytes that an actor lets flow from one host to another.
    Flow {
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
#[derive(Clone, Debug)]
pub struct Waiters {
    first: Maybe,
    second: Maybe,
    #[expect(clippy::box_collection, reason = "almost always empty: eight bytes instead of 24")]
    more: Option<Box<Vec<ActorId>>>,
}

impl Default for Waiters {
    fn default() -> Self {
        Self { first: Maybe::NOBODY, second: Maybe::NOBODY, more: None }
    }
}

impl Waiters {
    /// The one that has waited longest.
    #[inline]
    pub fn first(&self) -> Option<ActorId> {
        self.first.get()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = ActorId> + '_ {
        let more = self.more.iter().flat_map(|more| more.iter().copied());
        self.first.get().into_iter().chain(self.second.get()).chain(more)
    }

    /// One more.
    #[inline]
    pub fn push(&mut self, actor: ActorId) {
        match (self.first, self.second) {
            (Maybe::NOBODY, _) => self.first = Maybe(actor.0),
            (_, Maybe::NOBODY) => self.second = Maybe(actor.0),
            _ => self.more.get_or_insert_default().push(actor),
        }
    }

    /// The one that has waited longest does not any more.
    #[inline]
    pub fn remove_first(&mut self) {
        self.first = self.second;
        if self.second != Maybe::NOBODY {
            self.second = self.next();
        }
    }

    /// One less, if it was there.
    #[inline]
    pub fn remove(&mut self, actor: ActorId) {
        if self.first == Maybe(actor.0) {
            (self.first, self.second) = (self.second, self.next());
        } else if self.second == Maybe(actor.0) {
            self.second = self.next();
        } else if let Some(more) = &mut self.more {
            more.retain(|&other| other != actor);
        }
    }

    fn next(&mut self) -> Maybe {
        match self.more.as_mut().filter(|more| !more.is_empty()) {
            Some(more) => Maybe(more.remove(0).0),
            None => Maybe::NOBODY,
        }
    }
}

/// An activity in the table: two lines of the cache, which the processor can fetch as one.
#[derive(Debug)]
#[repr(align(128))]
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
    /// What the driver keeps with it.
    pub driver_data: u64,
    /// How many were in this slot before.
    generation: u32,
    /// Whether this slot is in use.
    is_there: bool,
}

impl Activity {
    /// The note of an activity that has none.
    pub const NO_DATA: u64 = u64::MAX;

    /// One that begins.
    #[inline(always)]
    pub fn new(kind: Kind, state: State, held: Held) -> Self {
        let waiters = Waiters::default();
        Self {
            kind,
            state,
            waiters,
            held,
            paused: false,
            driver_data: Self::NO_DATA,
            generation: 0,
            is_there: true,
        }
    }

    /// The message, if it is the receiving end that asks; nobody gets it twice.
    #[inline]
    pub(crate) fn take_payload(&mut self, end: ActivityId) -> Option<Payload> {
        match &mut self.kind {
            Kind::Comm(comm) if end.is_receiving() => comm.payload.take(),
            _ => None,
        }
    }
}

/// The table. Slots of forgotten activities are used again.
#[derive(Debug, Default)]
pub struct Activities {
    slots: Vec<Activity>,
    free: Vec<u32>,
}

impl Activities {
    /// Puts an activity into the table. It is made in its place: a record that is made elsewhere and copied at once makes
    /// the processor wait until what was written piece by piece can be read as a whole.
    #[inline(always)]
    pub fn insert(&mut self, activity: impl FnOnce() -> Activity) -> ActivityId {
        let index = self.free.pop().unwrap_or_else(|| self.grow());
        let slot = &mut self.slots[index as usize];
        debug_assert!(!slot.is_there);
        let generation = slot.generation;
        // What was there before has nothing any more that must be dropped.
        std::mem::forget(std::mem::replace(slot, Activity { generation, ..activity() }));
        ActivityId::new(index, generation)
    }

    #[cold]
    fn grow(&mut self) -> u32 {
        let index = u32::try_from(self.slots.len()).expect("fewer than 2^32 activities at once");
        let nothing = Kind::Parallel { actor: ActorId(0) };
        let empty = Activity::new(nothing, State::UnderWay, Held::default());
        self.slots.push(Activity { is_there: false, ..empty });
        index
    }

    #[inline]
    fn is(slot: &Activity, id: ActivityId) -> bool {
        slot.generation == id.generation() && slot.is_there
    }

    /// The activity, unless it was forgotten.
    #[inline]
    pub fn get(&self, id: ActivityId) -> Option<&Activity> {
        self.slots.get(id.index()).filter(|slot| Self::is(slot, id))
    }

    /// The activity, unless it was forgotten.
    #[inline]
    pub fn get_mut(&mut self, id: ActivityId) -> Option<&mut Activity> {
        self.slots.get_mut(id.index()).filter(|slot| Self::is(slot, id))
    }

    /// Forgets an activity.
    #[inline]
    pub fn remove(&mut self, id: ActivityId) {
        let Some(slot) = self.slots.get_mut(id.index()) else { return };
        if Self::is(slot, id) {
            slot.is_there = false;
            slot.waiters.more = None;
            match &mut slot.kind {
                Kind::Comm(comm) => comm.payload = None,
                // Numbers alone.
                Kind::Execution { .. } | Kind::Access { .. } | Kind::Parallel { .. } | Kind::Flow { .. } => {}
            }
            slot.generation = (slot.generation + 1) & ((1 << GENERATION_BITS) - 1);
            self.free.push(id.slot());
        }
    }

    /// Asks the processor for a slot.
    #[inline]
    pub(crate) fn prefetch(&self, slot: u32) {
        prefetch_from(&self.slots, slot as usize);
    }

    /// Asks the processor for the slots that are used next.
    #[inline]
    pub(crate) fn prefetch_free(&self, count: usize) {
        self.free.iter().rev().take(count).for_each(|&slot| self.prefetch(slot));
    }

    /// Asks the processor for what is in a message.
    #[inline]
    pub(crate) fn prefetch_payload(&self, id: ActivityId) {
        if let Some(Activity { kind: Kind::Comm(Comm { payload: Some(payload), .. }), .. }) = self.get(id) {
            prefetch(&**payload);
        }
    }

    /// The communication in a slot, which is there.
    #[inline]
    pub(crate) fn comm_at(&mut self, slot: u32) -> &mut Comm {
        match &mut self.slots[slot as usize] {
            Activity { kind: Kind::Comm(comm), is_there: true, .. } => comm,
            _ => unreachable!("a mailbox holds living communications only"),
        }
    }

    /// The identity of what is in a slot.
    #[inline]
    pub(crate) fn id_at(&self, slot: u32) -> ActivityId {
        ActivityId::new(slot, self.slots[slot as usize].generation)
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
        self.slots.iter().enumerate().filter(|(_, slot)| slot.is_there).map(|(index, slot)| {
            let id = ActivityId::new(index as u32, slot.generation);
            (id, slot)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_activity_is_two_lines_of_the_cache() {
        assert_eq!(size_of::<Activity>(), 128);
    }

    #[test]
    fn waiters_stay_in_order() {
        let mut waiters = Waiters::default();
        for number in 0..6 {
            waiters.push(ActorId(number));
        }
        for gone in [1, 4, 0] {
            waiters.remove(ActorId(gone));
        }
        assert_eq!(waiters.iter().map(|actor| actor.0).collect::<Vec<_>>(), [2, 3, 5]);
        waiters.remove_first();
        waiters.push(ActorId(7));
        assert_eq!(waiters.iter().map(|actor| actor.0).collect::<Vec<_>>(), [3, 5, 7]);
        assert_eq!(waiters.first(), Some(ActorId(3)));
    }
}
