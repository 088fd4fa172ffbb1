//! Identifiers, their distance, and the table of contacts of a node.

use std::collections::VecDeque;
use std::fmt;

/// How many contacts a bucket holds, and how many nodes a lookup finds.
pub const K: usize = 8;

/// The name of a node, or of what is looked up.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(pub u64);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Id {
    /// The bits in which two differ, read as a number.
    pub fn distance(self, other: Id) -> u64 {
        self.0 ^ other.0
    }
}

/// The contacts whose distance has its highest bit at one place.
#[derive(Clone, Default)]
struct Bucket {
    /// At most [`K`]; who was heard of last is last.
    contacts: VecDeque<Id>,
    /// Who would like to be in: takes the place of the next one that is found to be gone.
    spare: Option<Id>,
}

/// All contacts of a node, a bucket for each power of two of the distance: many that are near, and few of those that
/// are far.
pub struct Table {
    me: Id,
    buckets: Vec<Bucket>,
}

impl Table {
    pub fn new(me: Id) -> Self {
        Self { me, buckets: vec![Bucket::default(); 64] }
    }

    /// The number of the bucket for a node; its own has none.
    fn place(&self, id: Id) -> Option<usize> {
        self.me.distance(id).checked_ilog2().map(|bit| bit as usize)
    }

    /// A node was heard of. Old contacts stay: who has been there for long will probably stay for longer (section 2.1 of
    /// the paper); a newcomer waits until one of them is gone (section 4.1).
    pub fn heard_of(&mut self, id: Id) {
        let Some(place) = self.place(id) else { return };
        let Bucket { contacts, spare } = &mut self.buckets[place];
        if let Some(old) = contacts.iter().position(|&other| other == id) {
            contacts.remove(old);
            contacts.push_back(id);
        } else if contacts.len() < K {
            contacts.push_back(id);
        } else {
            *spare = Some(id);
        }
    }

    /// A node does not answer.
    pub fn forget(&mut self, id: Id) {
        let Some(place) = self.place(id) else { return };
        let Bucket { contacts, spare } = &mut self.buckets[place];
        *spare = spare.filter(|&other| other != id);
        if let Some(old) = contacts.iter().position(|&other| other == id) {
            contacts.remove(old);
            contacts.extend(spare.take());
        }
    }

    /// The contacts that are nearest to a target, at most [`K`].
    pub fn nearest(&self, target: Id) -> Vec<Id> {
        let mut all: Vec<Id> = self.buckets.iter().flat_map(|bucket| &bucket.contacts).copied().collect();
        all.sort_by_key(|id| id.distance(target));
        all.truncate(K);
        all
    }

    /// How many contacts there are.
    pub fn len(&self) -> usize {
        self.buckets.iter().map(|bucket| bucket.contacts.len()).sum()
    }

    /// The lowest bucket that is not empty: none of the nodes is nearer.
    pub fn lowest(&self) -> usize {
        self.buckets.iter().position(|bucket| !bucket.contacts.is_empty()).unwrap_or(self.buckets.len())
    }

    /// How many buckets there are.
    pub fn buckets(&self) -> usize {
        self.buckets.len()
    }

    /// A name that would be in a bucket, made of random bits.
    pub fn inside(&self, bucket: usize, random: u64) -> Id {
        let bit = 1u64 << bucket;
        Id(self.me.0 ^ (bit | random & (bit - 1)))
    }
}
