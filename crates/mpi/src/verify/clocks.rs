//! Vector clocks: what happens before what (Mattern 1989). Each message carries the clock of its sender, collectives as the messages
//! that they are made of.

use crate::message::{Content, Sent, Typed};
use crate::os;
use crate::rank::Rank;

use super::Kind;

/// How many events of each process are known to have happened.
pub type VectorClock = Vec<u32>;

/// Takes over what another clock knows.
pub(super) fn join(clock: &mut VectorClock, other: &[u32]) {
    if clock.len() < other.len() {
        clock.resize(other.len(), 0);
    }
    clock.iter_mut().zip(other).for_each(|(own, other)| *own = (*own).max(*other));
}

impl Rank {
    /// The number of what this process does now: others know of it once they have heard of that number.
    pub(super) fn moment(&self) -> u32 {
        let mut clock = self.clock_of_all.borrow_mut();
        let own = self.process as usize;
        if clock.len() <= own {
            clock.resize(self.world.size().max(own + 1), 0);
        }
        clock[own] = clock[own].max(1);
        clock[own]
    }

    /// What goes with a message that is sent now, for those who check it.
    pub fn stamp(&self, typed: Option<Typed>) -> Option<Box<Sent>> {
        if !self.world.explored {
            return None;
        }
        self.moment();
        let sent = self.for_others(|| {
            let clock = self.clock_of_all.borrow().to_vec();
            let (call, at) = (self.call_name(), os::caller());
            Box::new(Sent { clock, typed, is_ready: false, is_synchronous: false, call, at })
        });
        // What happens from now on is not known by who receives it.
        self.clock_of_all.borrow_mut()[self.process as usize] += 1;
        Some(sent)
    }

    /// A message was received: all that its sender knew is known here.
    pub fn learns(&self, content: &Content) {
        if let Some(sent) = &content.sent {
            self.moment();
            join(&mut self.clock_of_all.borrow_mut(), &sent.clock);
        }
    }

    /// The process does something that others will know by its number.
    pub(super) fn clock_now(&self) -> VectorClock {
        self.moment();
        self.clock_of_all.borrow().to_vec()
    }

    /// When a receive is posted, for those who check ready sends.
    pub fn moment_of_post(&self) -> u32 {
        if self.world.explored { self.moment() } else { 0 }
    }

    /// A ready send was received by a receive that was posted at this moment: nothing may let the send come first (3.4).
    pub fn check_ready(&self, content: &Content, posted: u32) {
        let Some(sent) = content.sent.as_ref().filter(|sent| sent.is_ready) else { return };
        if sent.clock.get(self.process as usize).is_none_or(|known| *known < posted) {
            let message = format!(
                "{}: rank {} sends to rank {} with tag {}, and nothing makes sure that the receive is posted before",
                sent.call, content.process, self.process, content.tag
            );
            os::end_with(Kind::ReadySend, 1, &message, sent.at);
        }
    }
}
