//! Dates to come, the nearest first; a date can be changed or taken back.
//!
//! Many dates are set in the order in which they come: a program whose messages are of one size and go equally far waits
//! equally long for each of them. So there are two lanes, each for dates of one sort, which take what is no earlier than
//! their last; the others are in a heap. The next is the first of these three.

use crate::ladder_queue::{Entry, Moment};
use crate::prefetch::prefetch_from;

/// Dates of things numbered from 0, at most one each. Ties go by when the date was set.
#[derive(Clone, Debug)]
pub struct EventHeap {
    /// The nearest date; infinite if there is none.
    next: f64,
    entries: Vec<Entry>,
    /// Where each thing stands: in `entries`, or in a lane.
    positions: Vec<u32>,
    sequence: u64,
    lanes: [Ring; 2],
}

/// Dates of one sort, which often come in the order in which they are set.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Lane {
    /// Ends of waits.
    Waits = 0,
    /// Ends of work.
    Ends = 1,
}

/// Entries in the order of their moments. Those that were taken back are no thing's; the first never is.
#[derive(Clone, Default, Debug)]
struct Ring {
    entries: Vec<Entry>,
    /// Where the first is; those before have been taken.
    head: usize,
    /// How many were in front of `entries`, ever.
    before: u32,
    /// How many are no thing's.
    void: usize,
}

const ABSENT: u32 = u32::MAX;
/// A position in a lane, and in the second.
const IN_LANE: u32 = 1 << 31;
const IN_SECOND: u32 = 1 << 30;
/// Places in a lane are counted modulo this.
const PLACES: u32 = 1 << 29;
/// So many entries that are void, or taken, do not matter in a lane.
const FEW: usize = 64;
/// Four children a node: fewer levels, and the four are neighbours in memory.
const ARITY: usize = 4;

impl Default for EventHeap {
    fn default() -> EventHeap {
        let (entries, positions, lanes) = (Vec::new(), Vec::new(), Default::default());
        EventHeap { next: f64::INFINITY, entries, positions, sequence: 0, lanes }
    }
}

impl EventHeap {
    /// Sets the date of a thing, whether it had one or not.
    pub fn set(&mut self, thing: u32, date: f64) {
        self.sequence += 1;
        let position = self.position_for(thing);
        self.put(self.entry(thing, date, 0), position);
    }

    /// Asks the processor for where a thing stands.
    #[inline]
    pub(crate) fn prefetch(&self, thing: u32) {
        let Some(&position) = self.positions.get(thing as usize) else { return };
        prefetch_from(&self.entries, position as usize);
    }

    /// The dates that are set from now on by [`set_ranked`](Self::set_ranked) count as set together.
    #[inline]
    pub fn begin_together(&mut self) {
        self.sequence += 1;
    }

    /// Sets the date of a thing, of a sort that often comes in order, together with others: of these, the one of the
    /// lowest rank counts as the first. Ranks are of a count that may wrap.
    #[inline]
    pub fn set_ranked(&mut self, lane: Lane, thing: u32, date: f64, rank: u32) {
        self.put_in(lane, thing, date, rank);
    }

    /// The number under which dates are set together now.
    #[inline]
    pub(crate) fn sequence(&self) -> u64 {
        self.sequence
    }

    /// As [`set_ranked`](Self::set_ranked), as if together with others that were set before.
    pub(crate) fn set_as_of(&mut self, lane: Lane, thing: u32, moment: Moment, rank: u32) {
        self.put_entry(lane, Entry { moment, thing, rank });
    }

    /// Puts an entry into the heap, where its thing stands at this position.
    fn put(&mut self, entry: Entry, position: u32) {
        match position {
            ABSENT => {
                self.entries.push(entry);
                self.rise(self.entries.len() - 1);
                if entry.moment.date < self.next {
                    self.next = entry.moment.date;
                }
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
                self.find_next();
            }
        }
    }

    /// As [`set`](Self::set), of a sort that often comes in order.
    #[inline]
    pub fn set_in(&mut self, lane: Lane, thing: u32, date: f64) {
        self.sequence += 1;
        self.put_in(lane, thing, date, 0);
    }

    /// Puts an entry into a lane if it comes in order, else into the heap.
    #[inline]
    fn put_in(&mut self, lane: Lane, thing: u32, date: f64, rank: u32) {
        self.put_entry(lane, self.entry(thing, date, rank));
    }

    #[inline]
    fn put_entry(&mut self, lane: Lane, entry: Entry) {
        let Entry { thing, moment: Moment { date, .. }, .. } = entry;
        let position = self.position_for(thing);
        let ring = &mut self.lanes[lane as usize];
        if position != ABSENT || ring.entries.last().is_some_and(|last| entry < *last) {
            return self.put(entry, position);
        }
        self.positions[thing as usize] = ring.position(lane, ring.entries.len());
        ring.entries.push(entry);
        if date < self.next {
            self.next = date;
        }
    }

    /// Where a thing stands in the heap; if it is in a lane, it is taken out there.
    #[inline]
    fn position_for(&mut self, thing: u32) -> u32 {
        let index = thing as usize;
        if self.positions.len() <= index {
            self.positions.resize(index + 1, ABSENT);
        }
        let position = self.positions[index];
        if position != ABSENT && position & IN_LANE != 0 {
            self.leave_lane(position);
            return ABSENT;
        }
        position
    }

    #[inline]
    fn entry(&self, thing: u32, date: f64, rank: u32) -> Entry {
        debug_assert!(date >= 0.0, "a date is not below 0");
        Entry { moment: Moment { date, sequence: self.sequence }, thing, rank }
    }

    /// The number of a date that is set now elsewhere, and ordered among these.
    pub(crate) fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// The nearest date, with its number.
    #[inline]
    pub(crate) fn next_moment(&self) -> Option<Moment> {
        let of_lanes = self.lanes.iter().filter_map(Ring::first);
        self.entries.first().into_iter().chain(of_lanes).min().map(|entry| entry.moment)
    }

    /// Takes the date of a thing back, if it has one.
    pub fn remove(&mut self, thing: u32) {
        let Some(&position) = self.positions.get(thing as usize) else { return };
        if position == ABSENT {
            return;
        }
        if position & IN_LANE != 0 {
            self.leave_lane(position);
        } else {
            self.take_out(position as usize);
            self.find_next();
        }
    }

    /// Takes an entry out of the heap.
    fn take_out(&mut self, position: usize) {
        self.positions[self.entries[position].thing as usize] = ABSENT;
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

    /// Takes an entry out of its lane.
    fn leave_lane(&mut self, position: u32) {
        let lane = if position & IN_SECOND == 0 { Lane::Waits } else { Lane::Ends };
        let ring = &mut self.lanes[lane as usize];
        let place = ring.place(position);
        self.positions[ring.entries[place].thing as usize] = ABSENT;
        ring.entries[place].thing = ABSENT;
        ring.void += 1;
        ring.drop_void();
        if ring.void > FEW && ring.void > ring.entries.len() / 2 {
            ring.drop_taken();
            ring.entries.retain(|entry| entry.thing != ABSENT);
            ring.void = 0;
            for (place, entry) in ring.entries.iter().enumerate() {
                self.positions[entry.thing as usize] = ring.position(lane, place);
            }
        }
        self.find_next();
    }

    /// The nearest date.
    #[inline]
    pub fn next_date(&self) -> Option<f64> {
        (self.next < f64::INFINITY).then_some(self.next)
    }

    /// The nearest date; infinite if there is none.
    #[inline]
    pub(crate) fn next_or_never(&self) -> f64 {
        self.next
    }

    /// The nearest date of all but the lane of waits; infinite if there is none.
    #[inline]
    pub(crate) fn next_but_waits(&self) -> f64 {
        let heap = self.entries.first().map_or(f64::INFINITY, |entry| entry.moment.date);
        match self.lanes[Lane::Ends as usize].first() {
            Some(entry) if entry.moment.date < heap => entry.moment.date,
            _ => heap,
        }
    }

    /// Takes the nearest thing of the lane of waits, if its date is below `limit`.
    #[inline]
    pub(crate) fn pop_wait_before(&mut self, limit: f64) -> Option<u32> {
        let ring = &mut self.lanes[Lane::Waits as usize];
        let &Entry { moment, thing, .. } = ring.first()?;
        if moment.date >= limit {
            return None;
        }
        ring.drop_first();
        self.positions[thing as usize] = ABSENT;
        self.find_next();
        Some(thing)
    }

    /// What is in a lane, from the next on; the numbers of those that were taken back are nobody's.
    #[inline]
    pub(crate) fn coming(&self, lane: Lane) -> &[Entry] {
        let ring = &self.lanes[lane as usize];
        &ring.entries[ring.head..]
    }

    /// What is in the heap, the nearest first and then in no order.
    #[inline]
    pub(crate) fn others(&self) -> &[Entry] {
        &self.entries
    }

    /// Finds the nearest date again.
    #[inline]
    fn find_next(&mut self) {
        let [waits, ends] = &self.lanes;
        let mut next = self.entries.first().map_or(f64::INFINITY, |entry| entry.moment.date);
        if let Some(entry) = waits.first()
            && entry.moment.date < next
        {
            next = entry.moment.date;
        }
        if let Some(entry) = ends.first()
            && entry.moment.date < next
        {
            next = entry.moment.date;
        }
        self.next = next;
    }

    /// The date of a thing, if it has one.
    pub fn date(&self, thing: u32) -> Option<f64> {
        let position = *self.positions.get(thing as usize)?;
        if position == ABSENT {
            return None;
        }
        let entry = match position & IN_LANE {
            0 => &self.entries[position as usize],
            _ => {
                let ring = &self.lanes[usize::from(position & IN_SECOND != 0)];
                &ring.entries[ring.place(position)]
            }
        };
        Some(entry.moment.date)
    }

    /// Takes the nearest thing whose date is below `limit`.
    #[inline]
    pub fn pop_before(&mut self, limit: f64) -> Option<u32> {
        if self.next < limit { self.pop_first() } else { None }
    }

    fn pop_first(&mut self) -> Option<u32> {
        let [waits, ends] = self.lanes.each_ref().map(Ring::first);
        let (lane, first) = match (waits, ends) {
            (Some(wait), Some(end)) if wait < end => (Lane::Waits, wait),
            (_, Some(end)) => (Lane::Ends, end),
            (Some(wait), None) => (Lane::Waits, wait),
            (None, None) => return self.pop(),
        };
        if self.entries.first().is_some_and(|entry| entry < first) {
            return self.pop();
        }
        let thing = first.thing;
        self.positions[thing as usize] = ABSENT;
        self.lanes[lane as usize].drop_first();
        self.find_next();
        Some(thing)
    }

    /// Takes the first of the heap.
    fn pop(&mut self) -> Option<u32> {
        let thing = self.entries.first()?.thing;
        self.take_out(0);
        self.find_next();
        Some(thing)
    }

    /// Whether nothing has a date.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.lanes[0].entries.is_empty() && self.lanes[1].entries.is_empty()
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

impl Ring {
    #[inline]
    fn first(&self) -> Option<&Entry> {
        self.entries.get(self.head)
    }

    /// How a place is written down.
    #[inline]
    fn position(&self, lane: Lane, place: usize) -> u32 {
        let number = self.before.wrapping_add(place as u32) % PLACES;
        IN_LANE | number | if lane == Lane::Ends { IN_SECOND } else { 0 }
    }

    /// Which place was written down.
    #[inline]
    fn place(&self, position: u32) -> usize {
        ((position % PLACES).wrapping_sub(self.before) % PLACES) as usize
    }

    #[inline]
    fn drop_first(&mut self) {
        self.head += 1;
        if self.void > 0 {
            self.drop_void();
        }
        self.sweep();
    }

    /// The first is some thing's.
    fn drop_void(&mut self) {
        while self.first().is_some_and(|entry| entry.thing == ABSENT) {
            self.head += 1;
            self.void -= 1;
        }
        self.sweep();
    }

    /// Lets go of those that were taken, once they are many; an empty lane is empty at once.
    #[inline]
    fn sweep(&mut self) {
        if self.head == self.entries.len() {
            self.before = self.before.wrapping_add(self.head as u32);
            self.entries.clear();
            self.head = 0;
        } else if self.head > FEW && self.head > self.entries.len() / 2 {
            self.drop_taken();
        }
    }

    #[cold]
    fn drop_taken(&mut self) {
        self.before = self.before.wrapping_add(self.head as u32);
        self.entries.drain(..self.head);
        self.head = 0;
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

    #[test]
    fn dates_set_together_go_by_rank_and_before_those_set_later() {
        let mut heap = EventHeap::default();
        heap.set_in(Lane::Ends, 9, 1.0);
        heap.begin_together();
        for (thing, rank) in [(3, 2), (1, u32::MAX - 1), (2, 0)] {
            heap.set_ranked(Lane::Ends, thing, 1.0, rank);
        }
        heap.set(8, 1.0);
        let order: Vec<u32> = std::iter::from_fn(|| heap.pop_before(2.0)).collect();
        assert_eq!(order, [9, 1, 2, 3, 8]);
    }

    proptest! {
        /// Against a plain list, scanned each time. Dates mostly rise, as they do in a simulation.
        #[test]
        fn a_heap_is_a_sorted_list(operations in prop::collection::vec((0..40u32, 0..8u8, 0..10u32), 0..1500)) {
            let mut heap = EventHeap::default();
            let mut list: Vec<(u32, usize, u32)> = Vec::new();
            for (order, (thing, operation, date)) in operations.into_iter().enumerate() {
                let date = date + order as u32 / 100;
                if operation < 5 {
                    list.retain(|&(_, _, other)| other != thing);
                }
                match operation {
                    0 => heap.set(thing, f64::from(date)),
                    1 | 2 => heap.set_in(Lane::Waits, thing, f64::from(date)),
                    3 => heap.set_in(Lane::Ends, thing, f64::from(date)),
                    4 => heap.remove(thing),
                    _ => {
                        let least = list.iter().copied().min().filter(|&(at, _, _)| at < date);
                        prop_assert_eq!(heap.pop_before(f64::from(date)), least.map(|(_, _, thing)| thing));
                        list.retain(|entry| Some(*entry) != least);
                    }
                }
                if operation < 4 {
                    list.push((date, order, thing));
                }
                prop_assert_eq!(heap.next_date(), list.iter().min().map(|&(at, _, _)| f64::from(at)));
                let asked = list.iter().find(|entry| entry.2 == thing).map(|&(at, _, _)| f64::from(at));
                prop_assert_eq!(heap.date(thing), asked);
                prop_assert_eq!(heap.is_empty(), list.is_empty());
            }
        }
    }
}
