//! Consistent cuts through a running deployment.
//!
//! Cuts are numbered, and every message carries the number of the last cut that its sender was in when it was sent (the
//! idea of Lai and Yang, 1987: it needs no order of messages, so it is right over UDP, too). A node joins a cut when an
//! observer asks it to, or before it handles the first message from beyond the cut, whichever comes first: so no cut
//! contains the receipt of a message without its sending. To join is to record its state and the timers that are set.
//! What it then still gets from this side of the cut was on its way, and is recorded until the observer collects it.
//! A message that has not come by then counts as lost, which a network may do.
//!
//! The number of a cut is the time, in microseconds, of the observer who asks for it, or one more than the last if that is later. A
//! number more than a day ahead of the clock of a node is refused there: after the largest of all numbers there could be no cut any more.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use simurgh_protocol::ActorId;

use crate::error::Error;

/// How many bytes of a message are the number of a cut.
pub(crate) const CUT: usize = 8;
/// How far the clock of an observer may be ahead of that of a node.
const AHEAD: Duration = Duration::from_secs(24 * 3600);

/// What an observer asks of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Join this cut.
    Join(u64),
    /// Give what was recorded for this cut.
    Collect(u64),
}

/// What a node answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// It is in the cut.
    Joined,
    /// This is its part.
    Part(Part),
    /// The program does not let its nodes be observed.
    NotObservable,
    /// There is a later cut, of another observer, with this number.
    Overtaken(u64),
    /// The number of the cut is so far ahead that there could be none after it.
    Ahead,
    /// It was started after the cut, and knows nothing of it.
    Unknown,
    /// It does not fit into a datagram.
    TooLong,
}

/// What a node contributes to a cut.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Part {
    /// Its state and its timers, as they are sent.
    pub(crate) node: Vec<u8>,
    /// What was on its way to it.
    pub(crate) in_flight: Vec<(ActorId, Vec<u8>)>,
}

/// The cut that a node is in.
#[derive(Debug, Default)]
pub(crate) struct Cut {
    number: u64,
    part: Option<Part>,
}

impl Cut {
    /// The number that messages carry.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Joins a cut if it is later than the last; `record` gives the state and the timers.
    pub(crate) fn join(&mut self, number: u64, record: impl FnOnce() -> Option<Vec<u8>>) {
        if number > self.number {
            self.number = number;
            self.part = record().map(|node| Part { node, in_flight: Vec::new() });
        }
    }

    /// A message has come, from an actor in the cut with this number: it is recorded if it was on its way.
    pub(crate) fn comes(&mut self, number: u64, from: ActorId, message: &[u8], most: usize) {
        if number < self.number
            && let Some(part) = self.part.as_mut().filter(|part| part.in_flight.len() < most)
        {
            part.in_flight.push((from, message.to_vec()));
        }
    }

    /// Gives what was recorded, once.
    pub(crate) fn collect(&mut self, number: u64) -> Answer {
        match number.cmp(&self.number) {
            std::cmp::Ordering::Less => Answer::Overtaken(self.number),
            std::cmp::Ordering::Greater => Answer::Unknown,
            std::cmp::Ordering::Equal => self.part.take().map_or(Answer::Unknown, Answer::Part),
        }
    }
}

/// The time, as the number of a cut.
#[allow(clippy::disallowed_methods, reason = "numbers of cuts go up, also from one observer to the next")]
pub(crate) fn time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64
}

/// Whether there can be a cut with this number already.
pub(crate) fn is_plausible(number: u64) -> bool {
    number <= time().saturating_add(AHEAD.as_micros() as u64)
}

/// A message as it is sent: behind the number of a cut.
pub(crate) fn behind(number: u64, message: &[u8]) -> Vec<u8> {
    [&number.to_le_bytes()[..], message].concat()
}

/// The number of a cut, and the message behind it.
pub(crate) fn apart(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, message) = bytes.split_first_chunk::<CUT>()?;
    Some((u64::from_le_bytes(*number), message))
}

/// Why a node gave no part of a cut.
pub(crate) fn refusal(node: &str, answer: &Answer) -> Option<Error> {
    let why = match answer {
        Answer::Joined | Answer::Part(_) => return None,
        Answer::NotObservable => "its program does not let it be observed; add `.observable()` to its Node",
        Answer::Overtaken(_) => "another observer was faster",
        Answer::Ahead => "the clock here is more than a day ahead of its own; set the clocks",
        Answer::Unknown => "it was started in the middle of it",
        Answer::TooLong => "its state does not fit into a datagram; deploy over TCP to watch it",
    };
    Some(Error::NoPart { node: node.into(), why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_on_its_way_is_recorded_and_what_comes_from_beyond_is_not() {
        let mut cut = Cut::default();
        let alice = ActorId(0);
        cut.comes(0, alice, b"before any cut", 10);
        cut.join(5, || Some(b"state".to_vec()));
        cut.comes(0, alice, b"on its way", 10);
        cut.comes(5, alice, b"from beyond", 10);
        cut.comes(4, alice, b"on its way, too", 1);
        cut.join(5, || panic!("it is in this cut"));
        assert_eq!((cut.collect(4), cut.collect(6)), (Answer::Overtaken(5), Answer::Unknown));
        let Answer::Part(part) = cut.collect(5) else { panic!("there is a part") };
        assert_eq!((part.node, part.in_flight), (b"state".to_vec(), vec![(alice, b"on its way".to_vec())]));
        assert_eq!(cut.collect(5), Answer::Unknown, "it was collected");
        assert_eq!(apart(&behind(7, b"hi")), Some((7, &b"hi"[..])));
        assert_eq!(apart(&[0; 7]), None);
        assert!(is_plausible(time()) && is_plausible(0) && !is_plausible(u64::MAX));
    }
}
