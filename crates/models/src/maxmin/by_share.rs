//! Constraints by what they leave for a penalty of 1, the least first: a heap, or a plain list where they are few.
//!
//! Of few, most are often full at one level: they are found in one pass, and not taken out one after the other.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// So many are few.
const FEW: usize = if cfg!(test) { 4 } else { 48 };

/// The constraints that are left in a solution. Their order is by share, then by number, whatever they are kept in.
#[derive(Clone, Default, Debug)]
pub(super) struct ByShare {
    heap: BinaryHeap<Reverse<Key>>,
    list: Vec<Key>,
    /// Those of the list that are at the top together, by number.
    together: Vec<Key>,
    is_heap: bool,
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
    /// The same, and those of larger shares are not wanted.
    Taken,
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
        self.list.clear();
        self.is_heap = false;
    }

    /// Adds one, before [`begin`](Self::begin).
    #[inline]
    pub fn add(&mut self, share: f64, constraint: u32) {
        self.list.push(Key { share, constraint });
    }

    /// All are there.
    pub fn begin(&mut self) {
        self.is_heap = self.list.len() > FEW;
        if self.is_heap {
            let mut all = std::mem::take(&mut self.heap).into_vec();
            all.extend(self.list.drain(..).map(Reverse));
            self.heap = BinaryHeap::from(all);
        }
    }

    /// Adds one that was taken out.
    #[inline]
    pub fn push(&mut self, share: f64, constraint: u32) {
        let key = Key { share, constraint };
        match self.is_heap {
            true => self.heap.push(Reverse(key)),
            false => self.list.push(key),
        }
    }

    /// Looks at one after the other, the least share first, until it is enough or none is left.
    #[inline]
    pub fn look(&mut self, mut decide: impl FnMut(f64, u32) -> Top) {
        match self.is_heap {
            true => self.look_at_heap(decide),
            false => while !self.list.is_empty() && self.look_at_least(&mut decide) {},
        }
    }

    fn look_at_heap(&mut self, mut decide: impl FnMut(f64, u32) -> Top) {
        while let Some(mut top) = self.heap.peek_mut() {
            match decide(top.0.share, top.0.constraint) {
                Top::Out | Top::Taken => drop(PeekMut::pop(top)),
                Top::Later(share) => top.0.share = share,
                Top::Enough => return,
            }
        }
    }

    /// The same for those of the list whose share is the least; false if it is enough.
    fn look_at_least(&mut self, decide: &mut impl FnMut(f64, u32) -> Top) -> bool {
        let Self { list, together, .. } = self;
        let least =
            list.iter().fold(f64::INFINITY, |least, key| if key.share < least { key.share } else { least });
        together.clear();
        // What is no number is nobody's share.
        list.retain(|key| {
            let is_least = key.share <= least;
            if is_least {
                together.push(*key);
            }
            !is_least
        });
        if together.is_empty() {
            return false;
        }
        // Their shares are equal.
        if !together.is_sorted_by_key(|key| key.constraint) {
            together.sort_unstable_by_key(|key| key.constraint);
        }
        let (mut is_enough, mut is_taken) = (false, false);
        for key in together {
            match if is_enough { Top::Enough } else { decide(key.share, key.constraint) } {
                Top::Out => {}
                Top::Taken => is_taken = true,
                Top::Later(share) => list.push(Key { share, ..*key }),
                Top::Enough => {
                    is_enough = true;
                    list.push(*key);
                }
            }
        }
        !(is_enough || is_taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A list and a heap of the same constraints, whose shares are out of date, give the same ones in the same order.
    #[test]
    fn few_are_taken_in_the_order_of_many() {
        let mut state = 7_u64;
        let mut random = |below: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32 % below
        };
        for _ in 0..20_000 {
            let count = 1 + random(11);
            let shares: Vec<f64> = (0..count).map(|_| f64::from(1 + random(4))).collect();
            let present: Vec<f64> = shares.iter().map(|share| share + f64::from(random(3))).collect();
            let gone: Vec<bool> = shares.iter().map(|_| random(5) == 0).collect();
            let all_taken = |is_heap: bool| {
                let mut queue = ByShare::default();
                for (constraint, share) in shares.iter().enumerate() {
                    queue.add(*share, constraint as u32);
                }
                if is_heap {
                    queue.heap = queue.list.drain(..).map(Reverse).collect();
                    queue.is_heap = true;
                }
                let (mut taken, mut put_back) = (Vec::new(), false);
                loop {
                    let mut least = None;
                    let before = taken.len();
                    queue.look(|share, constraint| {
                        let present = present[constraint as usize];
                        match least {
                            Some(least) if share > least => Top::Enough,
                            _ if gone[constraint as usize] => Top::Out,
                            _ if present > share => Top::Later(present),
                            Some(least) if present != least => Top::Enough,
                            _ => {
                                least = Some(present);
                                taken.push((constraint, present.to_bits()));
                                Top::Taken
                            }
                        }
                    });
                    if taken.len() == before {
                        return taken;
                    }
                    if !std::mem::replace(&mut put_back, true) {
                        let (constraint, share) = taken[before];
                        queue.push(f64::from_bits(share), constraint);
                    }
                }
            };
            assert_eq!(all_taken(false), all_taken(true));
        }
    }
}
