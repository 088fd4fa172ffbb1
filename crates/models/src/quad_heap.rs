//! A heap of entries, the first on top, with four children a node: half as many levels as with two, and the four are neighbours in
//! memory. Nothing is found in it but the first (`heap.rs` has one in which all can be found). No two entries are of one moment, so
//! ranks are not looked at.

use crate::ladder_queue::Entry;

/// How many children a node has.
const ARITY: usize = 4;

/// Entries of which the first is at hand.
#[derive(Clone, Default, Debug)]
pub(crate) struct QuadHeap {
    entries: Vec<Entry>,
}

impl QuadHeap {
    /// Whether there is nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The first.
    #[inline]
    pub fn first(&self) -> Option<&Entry> {
        self.entries.first()
    }

    /// All of them, in no order.
    pub fn take_all(&mut self) -> Vec<Entry> {
        std::mem::take(&mut self.entries)
    }

    /// One more.
    #[inline]
    pub fn push(&mut self, entry: Entry) {
        let mut hole = self.entries.len();
        self.entries.push(entry);
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if is_before(&self.entries[parent], &entry) {
                break;
            }
            self.entries[hole] = self.entries[parent];
            hole = parent;
        }
        self.entries[hole] = entry;
    }

    /// Takes the first out.
    #[inline]
    pub fn pop(&mut self) -> Option<Entry> {
        let last = self.entries.pop()?;
        match self.entries.first() {
            Some(_) => Some(self.replace(last)),
            None => Some(last),
        }
    }

    /// Puts another in place of the first, which there must be.
    pub fn replace(&mut self, entry: Entry) -> Entry {
        let entries = &mut self.entries[..];
        let first = entries[0];
        let (mut hole, mut child) = (0, 1);
        // Which child is least is as good as random: found without branches where there are all four.
        while let Some([a, b, c, d]) = entries.get(child..).and_then(<[Entry]>::first_chunk) {
            let (left, right) = (is_before(b, a), is_before(d, c));
            let (lower, upper) = (if left { b } else { a }, if right { d } else { c });
            let is_right = is_before(upper, lower);
            let least = if is_right { *upper } else { *lower };
            if is_before(&entry, &least) {
                entries[hole] = entry;
                return first;
            }
            let place = if is_right { 2 + usize::from(right) } else { usize::from(left) };
            entries[hole] = least;
            hole = child + place;
            child = hole * ARITY + 1;
        }
        let children = entries.get(child..).unwrap_or_default();
        let first_child = children.iter().enumerate().min_by_key(|(_, entry)| entry.moment.key());
        if let Some((place, &least)) = first_child
            && is_before(&least, &entry)
        {
            entries[hole] = least;
            hole = child + place;
        }
        entries[hole] = entry;
        first
    }
}

#[inline(always)]
fn is_before(one: &Entry, other: &Entry) -> bool {
    one.moment.is_before(&other.moment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ladder_queue::Moment;
    use proptest::prelude::*;

    proptest! {
        /// Against a plain list, sorted each time.
        #[test]
        fn a_heap_is_a_sorted_list(operations in prop::collection::vec((0..4u8, 0..50u32), 0..400)) {
            let (mut heap, mut list) = (QuadHeap::default(), Vec::new());
            for (order, (operation, date)) in operations.into_iter().enumerate() {
                let moment = Moment { date: f64::from(date), sequence: order as u64 };
                let entry = Entry { moment, thing: order as u32, rank: 0 };
                match operation {
                    0 | 1 => {
                        heap.push(entry);
                        list.push(entry);
                    }
                    2 => {
                        let first = (!list.is_empty()).then(|| list.remove(0));
                        prop_assert_eq!(heap.pop(), first);
                    }
                    _ if list.is_empty() => {}
                    _ => {
                        let first = std::mem::replace(&mut list[0], entry);
                        prop_assert_eq!(heap.replace(entry), first);
                    }
                }
                list.sort_unstable();
                prop_assert_eq!(heap.first(), list.first());
                prop_assert_eq!((heap.len(), heap.is_empty()), (list.len(), list.is_empty()));
            }
        }
    }
}
