//! Vector clocks: what happens before what (Mattern 1989). Each message carries the clock of its sender, collectives as the messages
//! that they are made of.

use std::sync::PoisonError;

use crate::message::{Content, Sent, Typed};
use crate::os;
use crate::p2p::Mode;
use crate::rank::Rank;

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

    /// A message that is sent now to a process is a ready one, or a synchronous one.
    pub fn is_of_mode(&self, sent: &mut Sent, mode: Mode, destination: u32) {
        (sent.is_ready, sent.is_synchronous) = (mode == Mode::Ready, mode == Mode::Synchronous);
        if sent.is_synchronous {
            sent.number = self.next_handshake();
        }
        if sent.is_ready {
            sent.over = self.for_others(|| self.handshakes_over(destination).to_vec());
        }
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
            Box::new(Sent { clock, typed, call, at, ..Sent::default() })
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
            if sent.is_immediate {
                let moment = sent.clock.get(content.process as usize).copied().unwrap_or(0);
                self.for_others(|| {
                    let mut common = self.world.common.lock().unwrap_or_else(PoisonError::into_inner);
                    common.receipts.insert((content.process, moment), (self.process, self.moment()));
                });
            }
        }
    }

    /// Whether what another process did at a moment is known here to have happened.
    pub(super) fn knows(&self, process: u32, moment: u32) -> bool {
        self.clock_of_all.borrow().get(process as usize).is_some_and(|known| *known >= moment)
    }

    /// The process does something that others will know by its number.
    pub(super) fn clock_now(&self) -> VectorClock {
        self.moment();
        self.clock_of_all.borrow().to_vec()
    }

    /// The moment at which a message was just sent.
    pub fn moment_of_send(&self) -> u32 {
        if self.world.explored { self.moment() - 1 } else { 0 }
    }

    /// When a receive is posted, for those who check ready sends. What is posted later is later.
    pub fn moment_of_post(&self) -> u32 {
        if !self.world.explored {
            return 0;
        }
        let moment = self.moment();
        self.clock_of_all.borrow_mut()[self.process as usize] += 1;
        moment
    }
}
