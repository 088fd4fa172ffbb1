//! Identifiers on a ring, and who owns what of it.

use std::collections::BTreeSet;
use std::fmt;

/// A place on the ring: of a node, or of a key.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(pub u64);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Id {
    /// Whether it is after `from` and not after `to`, going round. From a place to itself, that is the whole ring.
    pub fn is_in(self, from: Id, to: Id) -> bool {
        if from < to { from < self && self <= to } else { from < self || self <= to }
    }

    /// Whether it is strictly between two places, going round.
    pub fn is_between(self, from: Id, to: Id) -> bool {
        self != to && self.is_in(from, to)
    }

    /// The place 2^power further on a ring of 2^bits places.
    pub fn plus(self, power: u32, bits: u32) -> Id {
        Id(self.0.wrapping_add(1 << power) & (u64::MAX >> (64 - bits)))
    }
}

/// The node that owns a key: the first that is not before it.
pub fn owner(members: &BTreeSet<Id>, key: Id) -> Option<Id> {
    members.range(key..).next().or_else(|| members.first()).copied()
}

/// The node after another.
pub fn successor(members: &BTreeSet<Id>, id: Id) -> Option<Id> {
    owner(members, Id(id.0.wrapping_add(1)))
}

/// The node before another.
pub fn predecessor(members: &BTreeSet<Id>, id: Id) -> Option<Id> {
    members.range(..id).next_back().or_else(|| members.last()).copied()
}
