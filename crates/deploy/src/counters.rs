//! What came and went, and what was dropped for which reason.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Count {
    /// Messages given to the network.
    Sent,
    /// Messages given to the actor.
    Received,
    /// Timers that went off.
    Timeouts,
    /// Times that something was stored.
    Stored,
    /// Connections made to peers; all but the first to each are reconnections.
    Connected,
    /// Dropped: it is no frame of this version, or its length is wrong.
    Garbage,
    /// Dropped: longer than a message may be.
    TooLong,
    /// Dropped: its sender is nobody of this deployment, or it is not meant for this node.
    UnknownSender,
    /// Dropped: it is not authentic; a stranger, another key, or other nodes in the deployment file.
    NotAuthentic,
    /// Dropped: it was delivered before, or is too old to tell.
    Replayed,
    /// Dropped: it belongs to a session that is over, or to an earlier incarnation of this node.
    Outdated,
    /// Dropped: it is authentic, but no message of this program.
    NotUnderstood,
    /// Dropped: a queue was full.
    QueueFull,
    /// Dropped: a message to nobody of this deployment.
    NoSuchNode,
    /// Dropped on purpose: the deployment asks for losses.
    Lost,
    /// Connections closed because they did not prove in time that they come from a peer, or were too many.
    Refused,
    /// Connections closed because their other end, which had proved itself, said nothing any more.
    Silent,
    /// Questions of observers that were answered.
    Observed,
}

const NAMES: [(Count, &str); 18] = [
    (Count::Sent, "sent"),
    (Count::Received, "received"),
    (Count::Timeouts, "timeouts"),
    (Count::Stored, "stored"),
    (Count::Connected, "connections"),
    (Count::Garbage, "dropped as garbage"),
    (Count::TooLong, "dropped as too long"),
    (Count::UnknownSender, "dropped from unknown senders"),
    (Count::NotAuthentic, "dropped as not authentic"),
    (Count::Replayed, "dropped as replayed"),
    (Count::Outdated, "dropped as outdated"),
    (Count::NotUnderstood, "dropped as not understood"),
    (Count::QueueFull, "dropped from full queues"),
    (Count::NoSuchNode, "dropped to nobody"),
    (Count::Lost, "dropped on purpose"),
    (Count::Refused, "connections refused"),
    (Count::Silent, "connections gone silent"),
    (Count::Observed, "answers to observers"),
];

/// How often each thing happened. It prints as one line, without what never happened.
#[derive(Debug, Default)]
pub struct Counters([AtomicU64; NAMES.len()]);

impl Counters {
    /// How often something happened.
    pub fn get(&self, count: Count) -> u64 {
        self.0[count as usize].load(Ordering::Relaxed)
    }

    /// How many frames and messages were dropped, for whatever reason.
    pub fn dropped(&self) -> u64 {
        NAMES.iter().filter(|(_, name)| name.starts_with("dropped")).map(|(count, _)| self.get(*count)).sum()
    }

    pub(crate) fn add(&self, count: Count) {
        self.0[count as usize].fetch_add(1, Ordering::Relaxed);
    }
}

impl Clone for Counters {
    fn clone(&self) -> Self {
        Self(std::array::from_fn(|place| AtomicU64::new(self.0[place].load(Ordering::Relaxed))))
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let told: Vec<String> = NAMES
            .iter()
            .filter(|(count, _)| self.get(*count) > 0 || *count <= Count::Received)
            .map(|(count, name)| format!("{} {name}", self.get(*count)))
            .collect();
        f.write_str(&told.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_happened_is_not_told() {
        let counters = Counters::default();
        counters.add(Count::Received);
        counters.add(Count::Replayed);
        assert_eq!(counters.to_string(), "0 sent, 1 received, 1 dropped as replayed");
        assert_eq!(counters.dropped(), 1);
        assert!(NAMES.iter().enumerate().all(|(place, (count, _))| *count as usize == place));
    }
}
