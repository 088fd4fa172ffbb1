//! Dates to come, the nearest first; a date can be changed or taken back.

use crate::shelves::{Entry, Moment};

/// Dates of things numbered from 0, at most one each. Ties go by when the date was set.
#[derive(Clone, Default, Debug)]
pub struct EventHeap {
    entries: Vec<Entry>,
    /// Where each thing stands in `entries`.
    positions: Vec<u32>,
    sequence: u64,
}

const ABSENT: u32 = u32::MAX;
/// Four children a node: fewer levels, and the four are neighbours in memory.
const ARITY: usize = 4;

impl EventHeap {
    /// Sets the date of a thing, whether it had one or not.
    pub fn set(&mut self, thing: u32, date: f64) {
        debug_assert!(!date.is_nan(), "a date is a number");
        let index = thing as usize;
        if self.positions.len() <= index {
            self.positions.resize(index + 1, ABSENT);
        }
        self.sequence += 1;
        let entry = Entry { moment: Moment { date, sequence: self.sequence }, thing };
        match self.positions[index] {
            ABSENT => {
                self.entries.push(entry);
                self.rise(self.entries.len() - 1);
            }
            position => {
                let position = position as usize;
                let before = self.entries[position];
                self.entries[position] = entry;
                if entry < before {
                    self.rise(position);
                } else {
                    self.sink(position);
                }
            }
        }
    }

    /// The number of a date that is set now elsewhere, and ordered among these.
    pub(crate) fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// The nearest date, with its number.
    pub(crate) fn next_moment(&self) -> Option<Moment> {
        self.entries.first().map(|entry| entry.moment)
    }

    /// Takes the date of a thing back, if it has one.
    pub fn remove(&mut self, thing: u32) {
        let Some(&position) = self.positions.get(thing as usize) else { return };
        if position == ABSENT {
            return;
        }
        self.positions[thing as usize] = ABSENT;
        let position = position as usize;
        let last = self.entries.pop().expect("a thing that has a position is in the heap");
        if position < self.entries.len() {
            self.entries[position] = last;
            if position > 0 && last < self.entries[(position - 1) / ARITY] {
                self.rise(position);
            } else {
                self.sink(position);
            }
        }
    }

    /// The nearest date.
    pub fn next_date(&self) -> Option<f64> {
        self.entries.first().map(|entry| entry.moment.date)
    }

    /// The date of a thing, if it has one.
    pub fn date(&self, thing: u32) -> Option<f64> {
        let position = *self.positions.get(thing as usize)?;
        (position != ABSENT).then(|| self.entries[position as usize].moment.date)
    }

    /// Takes the nearest thing whose date is below `limit`.
    pub fn pop_before(&mut self, limit: f64) -> Option<u32> {
        let first = self.entries.first()?;
        if first.moment.date >= limit {
            return None;
        }
        let thing = first.thing;
        self.remove(thing);
        Some(thing)
    }

    /// Whether nothing has a date.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    fn rise(&mut self, mut position: usize) {
        let entry = self.entries[position];
        while position > 0 {
            let parent = (position - 1) / ARITY;
            if self.entries[parent] < entry {
                break;
            }
            self.place(position, self.entries[parent]);
            position = parent;
        }
        self.place(position, entry);
    }

    fn sink(&mut self, mut position: usize) {
        let entry = self.entries[position];
        while let Some(least) = self.least_child(position)
            && self.entries[least] < entry
        {
            self.place(position, self.entries[least]);
            position = least;
        }
        self.place(position, entry);
    }

    /// Which child is least is as good as random: found without branches where there are all four.
    #[inline]
    fn least_child(&self, position: usize) -> Option<usize> {
        let first = position * ARITY + 1;
        let children = self.entries.get(first..)?;
        if let Some([a, b, c, d]) = children.first_chunk() {
            let (left, right) = (usize::from(b < a), 2 + usize::from(d < c));
            return Some(first + if children[right] < children[left] { right } else { left });
        }
        (0..children.len()).min_by_key(|&child| &children[child]).map(|child| first + child)
    }

    fn place(&mut self, position: usize, entry: Entry) {
        self.entries[position] = entry;
        self.positions[entry.thing as usize] = position as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ties_go_by_when_the_date_was_set() {
        let mut heap = EventHeap::default();
        for thing in [3, 1, 2] {
            heap.set(thing, 1.0);
        }
        heap.set(3, 1.0);
        let order: Vec<u32> = std::iter::from_fn(|| heap.pop_before(2.0)).collect();
        assert_eq!(order, [1, 2, 3]);
    }

    proptest! {
        /// Against a plain list, scanned each time.
        #[test]
        fn a_heap_is_a_sorted_list(operations in prop::collection::vec((0..20u32, 0..4u8, 0..10u8), 0..200)) {
            let mut heap = EventHeap::default();
            let mut list: Vec<(u8, usize, u32)> = Vec::new();
            for (order, (thing, operation, date)) in operations.into_iter().enumerate() {
                if operation < 3 || !list.is_empty() && operation == 3 && date > 5 {
                    list.retain(|&(_, _, other)| other != thing);
                }
                if operation < 3 {
                    heap.set(thing, f64::from(date));
                    list.push((date, order, thing));
                } else if date > 5 {
                    heap.remove(thing);
                } else {
                    let least = list.iter().copied().min().filter(|&(at, _, _)| at < date);
                    prop_assert_eq!(heap.pop_before(f64::from(date)), least.map(|(_, _, thing)| thing));
                    list.retain(|entry| Some(*entry) != least);
                }
                prop_assert_eq!(heap.next_date(), list.iter().min().map(|&(at, _, _)| f64::from(at)));
            }
        }
    }
}
