//! Ready sends (MPI 5.0, 3.4): the receive must be posted before, whatever happens. That is so if the sender has heard of it: by a
//! message of whoever posted it, or since a synchronous send of its own is over that met a later receive.
//!
//! Which receive a synchronous send met is known to its receiver, and often later than the ready send is received: until then it is
//! undecided whether that was in order.

use std::cell::RefCell;
use std::collections::BTreeMap;

use simurgh_kernel::ids::ActivityId;

use crate::message::Content;
use crate::os;
use crate::rank::Rank;

use super::Kind;

/// So many synchronous sends to a process are remembered: those that were over last.
const REMEMBERED: usize = 16;

/// What a process knows of synchronous sends.
#[derive(Debug, Default)]
pub struct Handshakes(RefCell<Known>);

#[derive(Debug, Default)]
struct Known {
    /// How many it has sent.
    sent: u32,
    /// Those that are not over: activity, destination, number.
    under_way: Vec<(ActivityId, u32, u32)>,
    /// The numbers of those that are over, for each destination.
    over: BTreeMap<u32, Vec<u32>>,
    /// When the receive was posted that met the one of this process and number.
    met: BTreeMap<(u32, u32), u32>,
    undecided: Vec<Undecided>,
}

/// A ready send that was received, and may have come too early.
#[derive(Debug)]
struct Undecided {
    process: u32,
    /// When its receive was posted.
    posted: u32,
    /// The synchronous sends that were over when it was sent, of which it is not known what they met.
    numbers: Vec<u32>,
    message: String,
    at: usize,
}

impl Known {
    fn is_over(&mut self, destination: u32, number: u32) {
        let over = self.over.entry(destination).or_default();
        if over.len() == REMEMBERED {
            over.remove(0);
        }
        over.push(number);
    }
}

impl Rank {
    /// The number of a synchronous send that begins now.
    pub(super) fn next_handshake(&self) -> u32 {
        let mut known = self.handshakes.0.borrow_mut();
        known.sent += 1;
        known.sent
    }

    /// The synchronous sends to a process that are over.
    pub(super) fn handshakes_over(&self, destination: u32) -> Vec<u32> {
        self.handshakes.0.borrow().over.get(&destination).cloned().unwrap_or_default()
    }

    /// The synchronous send that was begun last is this activity, or over if it is none.
    pub fn has_begun_handshake(&self, destination: u32, activity: Option<ActivityId>) {
        if !self.world.explored {
            return;
        }
        let mut known = self.handshakes.0.borrow_mut();
        let number = known.sent;
        match activity {
            Some(activity) => known.under_way.push((activity, destination, number)),
            None => known.is_over(destination, number),
        }
    }

    /// An activity is over: it may be a synchronous send.
    pub fn ends_handshake(&self, activity: ActivityId) {
        let mut known = self.handshakes.0.borrow_mut();
        if let Some(place) = known.under_way.iter().position(|(other, ..)| *other == activity) {
            let (_, destination, number) = known.under_way.swap_remove(place);
            known.is_over(destination, number);
        }
    }

    /// A message was received by a receive that was posted at this moment: if it is a ready send, nothing may let it come first.
    pub fn check_ready(&self, content: &Content, posted: u32) {
        let Some(sent) = &content.sent else { return };
        if sent.is_synchronous {
            self.has_met(content.process, sent.number, posted);
        }
        if !sent.is_ready || sent.clock.get(self.process as usize).is_some_and(|known| *known >= posted) {
            return;
        }
        let mut undecided = Undecided {
            process: content.process,
            posted,
            numbers: Vec::new(),
            message: format!(
                "{}: rank {} sends to rank {} with tag {}, and nothing makes sure that the receive is posted before",
                sent.call, content.process, self.process, content.tag
            ),
            at: sent.at,
        };
        {
            let mut known = self.handshakes.0.borrow_mut();
            for &number in &sent.over {
                match known.met.get(&(content.process, number)) {
                    Some(met) if *met >= posted => return,
                    Some(_) => {}
                    None => undecided.numbers.push(number),
                }
            }
            if !undecided.numbers.is_empty() {
                known.undecided.push(undecided);
                return;
            }
        }
        undecided.tell();
    }

    /// A synchronous send of a process met a receive that was posted at this moment.
    fn has_met(&self, process: u32, number: u32, posted: u32) {
        let early = {
            let mut known = self.handshakes.0.borrow_mut();
            known.met.insert((process, number), posted);
            known.undecided.retain_mut(|other| {
                if other.process != process || !other.numbers.contains(&number) {
                    return true;
                }
                other.numbers.retain(|missing| *missing != number);
                posted < other.posted
            });
            let early = known.undecided.iter().position(|other| other.numbers.is_empty());
            early.map(|place| known.undecided.swap_remove(place))
        };
        if let Some(early) = early {
            early.tell();
        }
    }
}

impl Undecided {
    fn tell(&self) -> ! {
        os::end_with(Kind::ReadySend, 1, &self.message, self.at)
    }
}
