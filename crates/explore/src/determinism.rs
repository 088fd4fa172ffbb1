//! Communication determinism: do all executions give every actor the same sequence of sends? Of receives?
//!
//! The records of each complete execution are compared with those of the executions before. What is compared:
//!
//! - Sends: the mailbox, the envelope and the length of each, in the order in which the actor posts them. What is in a message
//!   cannot be compared.
//! - Receives: the mailbox of each, and which message it got (whose, and how many that actor had sent before), in the
//!   order in which the actor posts them. In which order it waits for them makes no difference.
//!
//! What an actor that waits for ever, failed or was killed has sent is a beginning: it differs from another record only where that says
//! something else, or has ended before. Actors are compared by their numbers. Where several differ, the one is named that departs
//! first: the others may only follow suit.

use std::cell::LazyCell;

use simurgh_kernel::context::Place;
use simurgh_kernel::simcall::Envelope;

use crate::transition::Post;
use crate::verdict::{Step, Violation};

/// What is compared.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Compared {
    /// What each actor sends: where to, with which label, how long.
    Sends,
    /// What each actor receives: which message of whom.
    Receives,
    /// Both.
    Both,
}

/// Which end of the communications of an actor.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Traffic {
    /// What it sends.
    Sends,
    /// What it receives.
    Receives,
}

/// A send or a receive, as far as executions are compared by it.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Exchange {
    /// A message was sent.
    Sent {
        /// Where to.
        mailbox: u32,
        /// What was written on it.
        envelope: Envelope,
        /// How long it was, as bits.
        bytes: u64,
    },
    /// A receive was posted.
    Received {
        /// Where.
        mailbox: u32,
        /// What it got, if it got something: numbered among the sends of its actor.
        message: Option<Post>,
    },
}

/// A send or a receive, and where it took place: that is told, and not compared.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Posted {
    /// What it was.
    pub exchange: Exchange,
    /// The step of the execution that posted it, from 1.
    pub step: usize,
    /// The line of the program, if it is known.
    pub place: Option<Place>,
}

/// What an actor sent and received in an execution.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ActorRecord {
    /// What it sent, in the order in which it was posted.
    pub sends: Vec<Posted>,
    /// What it received, in the order in which the receives were posted.
    pub receives: Vec<Posted>,
    /// Whether it came to its end by itself.
    pub ended: bool,
}

/// What the sequence of one actor is to be, as far as it is known.
#[derive(Clone, Debug, Default)]
struct Reference {
    exchanges: Vec<Posted>,
    ended: bool,
    /// The execution that showed it.
    schedule: Vec<Step>,
}

/// Compares executions.
#[derive(Clone, Debug)]
pub struct Determinism {
    compared: Compared,
    /// For each actor: its sends and its receives.
    references: Vec<[Option<Reference>; 2]>,
}

impl Determinism {
    /// Compares by this.
    pub fn new(compared: Compared) -> Self {
        Self { compared, references: Vec::new() }
    }

    /// A complete execution gave the actors these records, by number. Says where it differs from those before.
    pub fn observe(
        &mut self,
        records: &[ActorRecord],
        schedule: impl FnOnce() -> Vec<Step>,
    ) -> Option<Violation> {
        if self.references.len() < records.len() {
            self.references.resize(records.len(), [None, None]);
        }
        // The actor that departs first is named.
        let first = self.partings(records).min_by_key(|(_, second)| second.map_or(usize::MAX, |it| it.step));
        if first.is_none() {
            self.extend(records, schedule);
        }
        first.map(|(violation, _)| violation)
    }

    /// Where each actor parts from what was seen before, and by what.
    fn partings(&self, records: &[ActorRecord]) -> impl Iterator<Item = (Violation, Option<Posted>)> {
        let actors = (0..).zip(records.iter().zip(&self.references));
        actors.flat_map(|(actor, (record, references))| {
            self.traffic().iter().filter_map(move |&what| {
                let reference = references[what as usize].as_ref()?;
                let exchanges = sequence(record, what);
                let number = parts(exchanges, record.ended, reference)?;
                let (first, second) =
                    (reference.exchanges.get(number).copied(), exchanges.get(number).copied());
                let other = reference.schedule.clone();
                Some((Violation::Varies { actor, what, number, first, second, other }, second))
            })
        })
    }

    /// Nothing differs: what came further than before is what is compared with from now on.
    fn extend(&mut self, records: &[ActorRecord], schedule: impl FnOnce() -> Vec<Step>) {
        let traffic = self.traffic();
        let schedule = LazyCell::new(schedule);
        for (record, references) in records.iter().zip(&mut self.references) {
            for &what in traffic {
                let exchanges = sequence(record, what);
                let known = &mut references[what as usize];
                let is_further = known.as_ref().is_none_or(|known| {
                    exchanges.len() > known.exchanges.len() || (record.ended && !known.ended)
                });
                if is_further {
                    let (exchanges, schedule) = (exchanges.to_vec(), schedule.clone());
                    *known = Some(Reference { exchanges, ended: record.ended, schedule });
                }
            }
        }
    }

    fn traffic(&self) -> &'static [Traffic] {
        match self.compared {
            Compared::Sends => &[Traffic::Sends],
            Compared::Receives => &[Traffic::Receives],
            Compared::Both => &[Traffic::Sends, Traffic::Receives],
        }
    }
}

fn sequence(record: &ActorRecord, what: Traffic) -> &[Posted] {
    match what {
        Traffic::Sends => &record.sends,
        Traffic::Receives => &record.receives,
    }
}

/// The place where a sequence parts from the one that it should be, if it does.
fn parts(exchanges: &[Posted], ended: bool, reference: &Reference) -> Option<usize> {
    let known = &reference.exchanges;
    let common = exchanges.len().min(known.len());
    let different = (0..common).find(|&index| exchanges[index].exchange != known[index].exchange);
    let is_longer = exchanges.len() > known.len() && reference.ended;
    let is_shorter = exchanges.len() < known.len() && ended;
    different.or((is_longer || is_shorter).then_some(common))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first send of an actor is step 1, its next one step 2.
    fn sent(mailbox: u32, step: usize) -> Posted {
        let exchange = Exchange::Sent { mailbox, envelope: Envelope::default(), bytes: 8f64.to_bits() };
        Posted { exchange, step, place: None }
    }

    /// An actor that sends to these mailboxes, each a step later.
    fn record(mailboxes: &[u32], ended: bool) -> ActorRecord {
        let sends = mailboxes.iter().zip(1..).map(|(&mailbox, step)| sent(mailbox, step)).collect();
        ActorRecord { sends, receives: Vec::new(), ended }
    }

    fn observe(seen: &mut Determinism, number: u32, records: &[ActorRecord]) -> Option<Violation> {
        seen.observe(records, || vec![Step { actor: number, choice: 0 }])
    }

    fn sends() -> Determinism {
        Determinism::new(Compared::Sends)
    }

    #[test]
    fn a_beginning_differs_only_where_it_says_something_else() {
        let mut seen = sends();
        let varies = |number, first: Option<u32>, second: Option<u32>, other| {
            Some(Violation::Varies {
                actor: 0,
                what: Traffic::Sends,
                number,
                first: first.map(|mailbox| sent(mailbox, number + 1)),
                second: second.map(|mailbox| sent(mailbox, number + 1)),
                other: vec![Step { actor: other, choice: 0 }],
            })
        };
        // It waits for ever after the first send; later it comes further, and to its end.
        assert_eq!(observe(&mut seen, 0, &[record(&[1], false)]), None);
        assert_eq!(observe(&mut seen, 1, &[record(&[1, 2], false)]), None);
        assert_eq!(observe(&mut seen, 2, &[record(&[], false)]), None);
        assert_eq!(observe(&mut seen, 3, &[record(&[1], true)]), varies(1, Some(2), None, 1));
        assert_eq!(observe(&mut seen, 4, &[record(&[1, 2], true)]), None);
        assert_eq!(observe(&mut seen, 5, &[record(&[1, 2, 3], false)]), varies(2, None, Some(3), 4));
        assert_eq!(observe(&mut seen, 6, &[record(&[3], false)]), varies(0, Some(1), Some(3), 4));
        // An actor that was not there before has nothing to differ from.
        assert_eq!(observe(&mut seen, 7, &[record(&[1, 2], true), record(&[9], true)]), None);
    }

    #[test]
    fn the_actor_that_departs_first_is_named() {
        let mut seen = sends();
        assert_eq!(observe(&mut seen, 0, &[record(&[1, 1], true), record(&[1, 1], true)]), None);
        let found = observe(&mut seen, 1, &[record(&[1, 2], true), record(&[2, 2], true)]);
        assert!(matches!(found, Some(Violation::Varies { actor: 1, number: 0, .. })), "{found:?}");
    }

    #[test]
    fn only_what_is_asked_for_is_compared() {
        let got = |actor| {
            let message = Some(Post { actor, number: 0 });
            let exchange = Exchange::Received { mailbox: 0, message };
            let receives = vec![Posted { exchange, step: 1, place: None }];
            ActorRecord { sends: Vec::new(), receives, ended: true }
        };
        let differs = |compared: Compared| {
            let mut seen = Determinism::new(compared);
            assert_eq!(observe(&mut seen, 0, &[got(1)]), None);
            observe(&mut seen, 1, &[got(2)]).is_some()
        };
        let all = [Compared::Sends, Compared::Receives, Compared::Both];
        assert_eq!(all.map(differs), [false, true, true]);
    }
}
