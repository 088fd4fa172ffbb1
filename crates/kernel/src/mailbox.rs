//! Mailboxes: queues of sends and of receives that have not met, oldest first.
//!
//! Without criteria one of the two queues is always empty; with them both may hold posts that do not match. The queues
//! are threaded through the communications themselves, so that an idle mailbox costs sixteen bytes a queue.

use crate::activity::{Activities, Comm, Kind};
use crate::ids::ActivityId;

/// One queue of a mailbox.
#[derive(Copy, Clone, Debug, Default)]
pub struct Queue {
    head: Option<ActivityId>,
    tail: Option<ActivityId>,
}

/// A meeting point.
#[derive(Copy, Clone, Debug, Default)]
pub struct Mailbox {
    /// The sends that no receive has taken yet.
    pub sends: Queue,
    /// The receives that no send has met yet.
    pub receives: Queue,
}

impl Queue {
    /// Whether nothing waits here.
    pub fn is_empty(&self) -> bool {
        self.head.is_none()
    }

    /// The posts, oldest first.
    pub fn iter<'a>(&self, activities: &'a Activities) -> impl Iterator<Item = ActivityId> + use<'a> {
        std::iter::successors(self.head, |&id| match &activities.get(id)?.kind {
            Kind::Comm(comm) => comm.next,
            _ => None,
        })
    }

    /// Adds a post as the newest.
    pub fn push(&mut self, id: ActivityId, activities: &mut Activities) {
        let tail = self.tail.replace(id);
        link(activities, id).previous = tail;
        match tail {
            Some(tail) => link(activities, tail).next = Some(id),
            None => self.head = Some(id),
        }
    }

    /// Takes a post out of the queue.
    pub fn remove(&mut self, id: ActivityId, activities: &mut Activities) {
        let comm = link(activities, id);
        let (previous, next) = (comm.previous.take(), comm.next.take());
        match previous {
            Some(previous) => link(activities, previous).next = next,
            None => self.head = next,
        }
        match next {
            Some(next) => link(activities, next).previous = previous,
            None => self.tail = previous,
        }
    }

    /// The oldest post that fits.
    pub fn find(&self, activities: &mut Activities, fits: impl Fn(&Comm) -> bool) -> Option<ActivityId> {
        let mut at = self.head;
        while let Some(id) = at {
            let comm = link(activities, id);
            if fits(comm) {
                return Some(id);
            }
            at = comm.next;
        }
        None
    }
}

fn link(activities: &mut Activities, id: ActivityId) -> &mut Comm {
    activities.comm_mut(id).expect("a mailbox holds living communications only")
}
