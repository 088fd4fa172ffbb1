//! A ladder queue: a priority queue for events most of which are far in the future.
//!
//! After Tang, Goh, Thng, "Ladder queue: an O(1) priority queue structure for large-scale discrete event simulation" (ACM TOMACS,
//! 2005). A heap of all events is touched all over by each change. Here only the nearest few are sorted (the bottom), which stays in
//! the cache. The others are on rungs, unsorted: a rung has all events up to its date that are on no nearer rung. When the
//! bottom is empty, the nearest rung is split: its first sixteenth is the next rung, or is sorted. So each event is moved a few
//! times, and memory is read in sequence. What is inserted into the bottom later is in a small heap beside it.
//!
//! An entry on a rung may be out of date: before it is sorted, its owner is asked ([`Current`]).

use std::cmp::Ordering;

use crate::quad_heap::QuadHeap;

/// When something happens, and which of two at one date is first. Dates are not below 0.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) struct Moment {
    pub date: f64,
    pub sequence: u64,
}

impl Moment {
    pub const NEVER: Moment = Moment { date: f64::INFINITY, sequence: u64::MAX };

    #[inline]
    pub fn is_before(&self, other: &Moment) -> bool {
        self.key() < other.key()
    }

    /// Both in one number: one comparison, without a branch.
    #[inline]
    pub fn key(&self) -> u128 {
        u128::from(self.date.to_bits()) << 64 | u128::from(self.sequence)
    }
}

/// A thing and its moment.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) struct Entry {
    pub moment: Moment,
    pub thing: u32,
    /// Which of two at one moment is first: 32 bits of a count, of which the two are never far apart.
    pub rank: u32,
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    #[inline]
    fn partial_cmp(&self, other: &Entry) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    #[inline]
    fn lt(&self, other: &Entry) -> bool {
        let (mine, theirs) = (self.moment.key(), other.moment.key());
        mine < theirs || (mine == theirs && self.comes_first(other))
    }

    #[inline]
    fn le(&self, other: &Entry) -> bool {
        self.cmp(other) != Ordering::Greater
    }
}

impl Ord for Entry {
    #[inline]
    fn cmp(&self, other: &Entry) -> Ordering {
        let by_rank = || (self.rank.wrapping_sub(other.rank) as i32).cmp(&0);
        self.moment.key().cmp(&other.moment.key()).then_with(by_rank)
    }
}

impl Entry {
    #[cold]
    fn comes_first(&self, other: &Entry) -> bool {
        (self.rank.wrapping_sub(other.rank) as i32) < 0
    }
}

/// A rung of no more than this is put in order.
const FEW: usize = 96;
/// A heap of more than this is put on a rung, unless dates are so equal that it was of little use the last time.
const MANY: usize = 1024;
/// So many dates of a rung are looked at to find out which come first,
const SAMPLE: usize = 64;
/// and this one of them is up to where the next rung goes: a sixteenth.
const NEXT: usize = SAMPLE / 16;

/// So many things come before one of which the processor is asked what is known.
const AHEAD: usize = 8;

/// Who knows when things happen.
pub(crate) trait Current {
    /// Asks the processor for what is known of a thing.
    fn prefetch(&self, thing: u32);

    /// The entry that takes the place of this one: no earlier, and itself if nothing has changed. None if nothing is to
    /// happen any more.
    fn current(&mut self, entry: Entry) -> Option<Entry>;
}

/// Entries in order of their moments.
#[derive(Clone, Debug)]
pub(crate) struct LadderQueue {
    /// The nearest when this was put in order: the first is the last.
    run: Vec<Entry>,
    /// Those as near that came since then.
    near: QuadHeap,
    /// All up to this date are in `run` and `near`.
    edge: f64,
    /// How many may be in `near`.
    limit: usize,
    /// The farthest first.
    far: Vec<Rung>,
    /// The memory of one that was emptied, to be used again.
    spare: Vec<Entry>,
    count: usize,
}

#[derive(Clone, Debug)]
struct Rung {
    /// What comes later is on the one before.
    until: f64,
    entries: Vec<Entry>,
}

impl Default for LadderQueue {
    fn default() -> LadderQueue {
        let (run, near, far, spare) = (Vec::new(), QuadHeap::default(), Vec::new(), Vec::new());
        LadderQueue { run, near, edge: f64::INFINITY, limit: MANY, far, spare, count: 0 }
    }
}

impl LadderQueue {
    /// Whether there is nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// One more.
    #[inline]
    pub fn push(&mut self, entry: Entry) {
        self.count += 1;
        self.put(entry);
    }

    #[inline]
    fn put(&mut self, entry: Entry) {
        debug_assert!(entry.moment.date >= 0.0, "a date is not below 0");
        if entry.moment.date > self.edge {
            let rung = self.far.iter_mut().rev().find(|rung| entry.moment.date <= rung.until);
            rung.expect("the farthest rung has no end").entries.push(entry);
            return;
        }
        self.near.push(entry);
        if self.near.len() > self.limit {
            self.put_away();
        }
    }

    /// Puts what is near on a rung, but for what comes first.
    #[cold]
    fn put_away(&mut self) {
        let mut entries = self.near.take_all();
        entries.append(&mut self.run);
        self.far.push(Rung { until: self.edge, entries });
        self.edge = f64::NEG_INFINITY;
    }

    /// Sees to it that what comes first is in order.
    #[inline]
    pub fn prepare(&mut self, current: &mut impl Current) {
        if self.run.is_empty() && self.near.is_empty() && !self.far.is_empty() {
            self.refill(current);
        }
    }

    /// The first. It may be out of date, if that happened since it was put in order.
    #[inline]
    pub fn first(&mut self, current: &mut impl Current) -> Option<Entry> {
        self.prepare(current);
        match (self.run.last(), self.near.first()) {
            (Some(run), Some(near)) => Some(if run.moment.is_before(&near.moment) { *run } else { *near }),
            (one, other) => one.or(other).copied(),
        }
    }

    /// Whether the first is the last of the run.
    #[inline]
    fn is_run_first(&self) -> bool {
        match (self.run.last(), self.near.first()) {
            (Some(run), Some(near)) => run.moment.is_before(&near.moment),
            (run, _) => run.is_some(),
        }
    }

    /// A thing that comes some time after the first.
    #[inline]
    pub fn coming(&self) -> Option<u32> {
        self.after(AHEAD)
    }

    /// The thing that comes as the so manieth of those that were put in order.
    #[inline]
    pub fn after(&self, others: usize) -> Option<u32> {
        let place = self.run.len().checked_sub(others)?;
        self.run.get(place).map(|entry| entry.thing)
    }

    /// Takes the first out, which [`first`](Self::first) would tell; it is in order.
    #[inline]
    pub fn pop(&mut self) {
        let taken = if self.is_run_first() { self.run.pop() } else { self.near.pop() };
        self.count -= usize::from(taken.is_some());
    }

    /// Puts another in place of the first, which [`first`](Self::first) has told.
    #[inline]
    pub fn replace(&mut self, entry: Entry) {
        if self.is_run_first() {
            self.run.pop();
            return self.put(entry);
        }
        if self.near.is_empty() {
            self.push(entry);
        } else if entry.moment.date <= self.edge {
            self.near.replace(entry);
        } else {
            self.near.pop();
            self.put(entry);
        }
    }

    /// Puts in order what comes first, when nothing is.
    #[cold]
    fn refill(&mut self, current: &mut impl Current) {
        while self.run.is_empty()
            && let Some(Rung { until, mut entries }) = self.far.pop()
        {
            if entries.len() > FEW
                && let limit = early_date(&entries)
                && entries.iter().any(|entry| entry.moment.date > limit)
            {
                let mut first = std::mem::take(&mut self.spare);
                first.extend(entries.extract_if(.., |entry| entry.moment.date <= limit));
                self.far.push(Rung { until, entries });
                self.far.push(Rung { until: limit, entries: first });
                continue;
            }
            self.edge = until;
            let mut run = self.brought_up_to_date(entries, current);
            run.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.moment.key()));
            self.spare = std::mem::replace(&mut self.run, run);
        }
        self.limit = MANY.max(2 * self.run.len());
    }
}

impl LadderQueue {
    /// Those of some entries that still come up to the edge; the others are put where they belong.
    fn brought_up_to_date(&mut self, mut entries: Vec<Entry>, current: &mut impl Current) -> Vec<Entry> {
        entries.iter().take(AHEAD).for_each(|entry| current.prefetch(entry.thing));
        let mut kept = 0;
        for place in 0..entries.len() {
            if let Some(next) = entries.get(place + AHEAD) {
                current.prefetch(next.thing);
            }
            match current.current(entries[place]) {
                Some(entry) if entry.moment.date <= self.edge => {
                    entries[kept] = entry;
                    kept += 1;
                }
                Some(later) => self.put(later),
                None => self.count -= 1,
            }
        }
        entries.truncate(kept);
        entries
    }
}

/// Up to which date about a sixteenth of them come.
fn early_date(entries: &[Entry]) -> f64 {
    let mut sample = [f64::INFINITY; SAMPLE];
    let stride = entries.len() / SAMPLE;
    for (place, date) in sample.iter_mut().enumerate() {
        *date = entries[place * stride].moment.date;
    }
    *sample.select_nth_unstable_by(NEXT, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Nothing is ever out of date.
    struct AsTheyAre;

    impl Current for AsTheyAre {
        fn prefetch(&self, _: u32) {}

        fn current(&mut self, entry: Entry) -> Option<Entry> {
            Some(entry)
        }
    }

    /// Of many at one date none can be put off: then it is not tried again and again.
    #[test]
    fn equal_dates_are_not_moved_more_and_more_often() {
        let mut ladder_queue = LadderQueue::default();
        let entry =
            |thing: u32| Entry { moment: Moment { date: 7.0, sequence: u64::from(thing) }, thing, rank: 0 };
        for thing in 0..100_000 {
            ladder_queue.push(entry(thing));
        }
        assert_eq!(ladder_queue.first(&mut AsTheyAre), Some(entry(0)));
        assert!(ladder_queue.limit >= 100_000, "the next time is far away");
        for thing in 0..100_000 {
            assert_eq!(ladder_queue.first(&mut AsTheyAre), Some(entry(thing)));
            ladder_queue.pop();
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: simurgh_testing::cases(200), ..ProptestConfig::default() })]

        /// Against a plain list that is sorted: bursts of many, near and far, with equal dates among them.
        #[test]
        fn shelves_are_a_sorted_list(bursts in prop::collection::vec((0..3000usize, 0..4000usize, 1..100_000u32), 1..8)) {
            let mut ladder_queue = LadderQueue::default();
            let mut list: Vec<(u64, u64, u32)> = Vec::new();
            let (mut sequence, mut now, mut mixed) = (0, 0u64, 1u64);
            for (pushes, pops, spread) in bursts {
                for _ in 0..pushes {
                    sequence += 1;
                    mixed = mixed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let date = now + (mixed >> 33) % u64::from(spread);
                    ladder_queue.push(Entry { moment: Moment { date: date as f64, sequence }, thing: sequence as u32, rank: 0 });
                    list.push((date, sequence, sequence as u32));
                }
                list.sort_unstable();
                let mut taken = 0;
                while taken < pops.min(list.len()) {
                    let (date, order, thing) = list[taken];
                    let first = ladder_queue.first(&mut AsTheyAre).map(|entry| (entry.moment.date as u64, entry.moment.sequence, entry.thing));
                    prop_assert_eq!(first, Some((date, order, thing)));
                    now = date;
                    taken += 1;
                    if order % 5 == 0 {
                        sequence += 1;
                        let later = (date + u64::from(spread) / 3, sequence, thing);
                        ladder_queue.replace(Entry { moment: Moment { date: later.0 as f64, sequence }, thing, rank: 0 });
                        let place = list[taken..].partition_point(|other| *other < later) + taken;
                        list.insert(place, later);
                    } else {
                        ladder_queue.pop();
                    }
                }
                list.drain(..taken);
                prop_assert_eq!(ladder_queue.is_empty(), list.is_empty());
            }
        }
    }
}
