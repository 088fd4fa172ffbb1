//! Constraints by what they leave for a penalty of 1, the least first.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// The constraints that are left in a solution. Their order is by share, then by number.
#[derive(Clone, Default, Debug)]
pub(super) struct ByShare {
    heap: BinaryHeap<Reverse<Key>>,
    /// Those that are there from the beginning, until all are.
    first: Vec<Reverse<Key>>,
}

#[derive(Copy, Clone, Debug)]
struct Key {
    share: f64,
    constraint: u32,
}

/// What is to be done with the constraint at the top.
pub(super) enum Top {
    /// It is taken out.
    Out,
    /// Its share is larger by now.
    Later(f64),
    /// It stays, and so does the rest.
    Enough,
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    #[inline]
    fn cmp(&self, other: &Key) -> Ordering {
        self.share.total_cmp(&other.share).then(self.constraint.cmp(&other.constraint))
    }
}

impl ByShare {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.first.clear();
    }

    /// Adds one, before [`begin`](Self::begin).
    #[inline]
    pub fn add(&mut self, share: f64, constraint: u32) {
        self.first.push(Reverse(Key { share, constraint }));
    }

    /// All are there.
    pub fn begin(&mut self) {
        let spare = std::mem::take(&mut self.heap).into_vec();
        self.heap = BinaryHeap::from(std::mem::replace(&mut self.first, spare));
        self.first.clear();
    }

    /// Adds one that was taken out.
    #[inline]
    pub fn push(&mut self, share: f64, constraint: u32) {
        self.heap.push(Reverse(Key { share, constraint }));
    }

    /// Looks at one after the other, the least share first, until it is enough or none is left.
    #[inline]
    pub fn look(&mut self, mut decide: impl FnMut(f64, u32) -> Top) {
        while let Some(mut top) = self.heap.peek_mut() {
            match decide(top.0.share, top.0.constraint) {
                Top::Out => drop(PeekMut::pop(top)),
                Top::Later(share) => top.0.share = share,
                Top::Enough => return,
            }
        }
    }
}
