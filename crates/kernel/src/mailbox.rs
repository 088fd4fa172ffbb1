//! Mailboxes: queues of sends and of receives that have not met, oldest first.
//!
//! Without criteria one of the two queues is always empty; with them both may hold posts that do not match. The queues
//! are threaded through the communications themselves, so that an idle mailbox costs eight bytes a queue.

use crate::activity::{Activities, Comm, Kind, NO_SLOT};
use crate::ids::ActivityId;

/// One queue of a mailbox: the slots of its oldest and newest posts.
#[derive(Copy, Clone, Debug)]
pub struct Queue {
    head: u32,
    tail: u32,
}

impl Default for Queue {
    fn default() -> Self {
        Self { head: NO_SLOT, tail: NO_SLOT }
    }
}

/// A meeting point, on one line of the cache.
#[derive(Copy, Clone, Debug, Default)]
#[repr(align(16))]
pub struct Mailbox {
    /// The sends that no receive has taken yet.
    pub sends: Queue,
    /// The receives that no send has met yet.
    pub receives: Queue,
}

impl Queue {
    /// Whether nothing waits here.
    pub fn is_empty(&self) -> bool {
        self.head == NO_SLOT
    }

    /// The slot of the oldest post.
    #[inline]
    pub(crate) fn first(&self) -> Option<u32> {
        (self.head != NO_SLOT).then_some(self.head)
    }

    /// The posts, oldest first.
    pub fn iter<'a>(&self, activities: &'a Activities) -> impl Iterator<Item = ActivityId> + use<'a> {
        let first = (self.head != NO_SLOT).then(|| activities.id_at(self.head));
        std::iter::successors(first, |&id| match &activities.get(id)?.kind {
            Kind::Comm(comm) => (comm.next != NO_SLOT).then(|| activities.id_at(comm.next)),
            _ => None,
        })
    }

    /// Adds a post as the newest.
    #[inline]
    pub fn push(&mut self, id: ActivityId, activities: &mut Activities) {
        let tail = std::mem::replace(&mut self.tail, id.slot());
        activities.comm_at(id.slot()).previous = tail;
        match tail {
            NO_SLOT => self.head = id.slot(),
            tail => activities.comm_at(tail).next = id.slot(),
        }
    }

    /// Takes a post out of the queue.
    #[inline]
    pub fn remove(&mut self, id: ActivityId, activities: &mut Activities) {
        let comm = activities.comm_at(id.slot());
        let previous = std::mem::replace(&mut comm.previous, NO_SLOT);
        let next = std::mem::replace(&mut comm.next, NO_SLOT);
        match previous {
            NO_SLOT => self.head = next,
            previous => activities.comm_at(previous).next = next,
        }
        match next {
            NO_SLOT => self.tail = previous,
            next => activities.comm_at(next).previous = previous,
        }
    }

    /// The oldest post that fits.
    #[inline]
    pub fn find(&self, activities: &mut Activities, fits: impl Fn(&Comm) -> bool) -> Option<ActivityId> {
        let mut at = self.head;
        while at != NO_SLOT {
            let comm = activities.comm_at(at);
            if fits(comm) {
                return Some(activities.id_at(at));
            }
            at = comm.next;
        }
        None
    }
}
