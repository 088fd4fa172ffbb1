//! Alarms: one date for each of many, most of which are put off or taken back before they come.
//!
//! A timeout is set with each wait and seldom comes. So nothing is taken out of the queue when an alarm is taken back or
//! put off: the entry stays where it is and is looked at when its turn comes, at most once for each time that the
//! old date passes. An entry is never later than its alarm, so the order in which alarms go off is exact: by date, and
//! by when they were set where dates are equal. The next one is looked for once, and known until it changes.

use crate::ladder_queue::{Current, Entry, LadderQueue, Moment};
use crate::prefetch::prefetch_from;

/// What is known of one alarm, on one line of the cache.
#[derive(Copy, Clone, Debug)]
#[repr(align(32))]
struct Alarm {
    /// When it goes off.
    moment: Moment,
    /// Its entry in the queue, the earliest if there are several.
    entry: Moment,
}

/// The alarms of things numbered from 0, at most one each.
#[derive(Clone, Default, Debug)]
pub(crate) struct Alarms {
    entries: LadderQueue,
    alarms: Known,
    /// The next one to go off, and whose it is, if that is known; never, if there is none.
    next: Option<(Moment, u32)>,
}

/// There is no next one.
const NOBODY: (Moment, u32) = (Moment::NEVER, u32::MAX);

#[derive(Clone, Default, Debug)]
struct Known(Vec<Alarm>);

impl Current for Known {
    #[inline]
    fn prefetch(&self, thing: u32) {
        prefetch_from(&self.0, thing as usize);
    }

    #[inline]
    fn current(&mut self, entry: Entry) -> Option<Entry> {
        let alarm = &mut self.0[entry.thing as usize];
        // An entry that an earlier one replaced is nobody's.
        if entry.moment != alarm.entry {
            return None;
        }
        alarm.entry = alarm.moment;
        (alarm.moment != Moment::NEVER).then_some(Entry { moment: alarm.moment, ..entry })
    }
}

impl Alarms {
    /// Sets the alarm of a thing, in place of the one it had. Sequences grow from one call to the next.
    pub fn set(&mut self, thing: u32, moment: Moment) {
        let index = thing as usize;
        let alarms = &mut self.alarms.0;
        if alarms.len() <= index {
            alarms.resize(index + 1, Alarm { moment: Moment::NEVER, entry: Moment::NEVER });
        }
        let alarm = &mut alarms[index];
        alarm.moment = moment;
        if moment.is_before(&alarm.entry) {
            alarm.entry = moment;
            self.entries.push(Entry { moment, thing, rank: 0 });
        }
        match self.next {
            // All entries before that one have been looked at: its own is the first now.
            Some((next, _)) if moment.is_before(&next) => self.next = Some((moment, thing)),
            Some((_, whose)) if whose == thing => self.next = None,
            _ => {}
        }
    }

    /// Takes the alarm of a thing back, if it has one.
    pub fn clear(&mut self, thing: u32) {
        if let Some(alarm) = self.alarms.0.get_mut(thing as usize) {
            alarm.moment = Moment::NEVER;
            if self.next.is_some_and(|(_, whose)| whose == thing) {
                self.next = None;
            }
        }
    }

    /// Whether there is none, and none that was taken back is remembered.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a thing has an alarm.
    #[inline]
    pub fn is_set(&self, thing: u32) -> bool {
        self.alarms.0.get(thing as usize).is_some_and(|alarm| alarm.moment != Moment::NEVER)
    }

    /// Asks the processor for what is known of an alarm.
    #[inline]
    pub fn prefetch(&self, thing: u32) {
        self.alarms.prefetch(thing);
    }

    /// Whose alarm goes off as about the so manieth from now, if none of these is put off or taken back.
    #[inline]
    pub fn after(&self, others: usize) -> Option<u32> {
        self.entries.after(others)
    }

    /// The next one to go off, and whose it is.
    #[inline]
    pub fn next(&mut self) -> Option<(Moment, u32)> {
        let next = match self.next {
            Some(next) => next,
            None => self.find_next(),
        };
        (next != NOBODY).then_some(next)
    }

    fn find_next(&mut self) -> (Moment, u32) {
        let mut next = NOBODY;
        while let Some(entry) = self.entries.first(&mut self.alarms) {
            let Entry { moment, thing, .. } = entry;
            if moment == self.alarms.0[thing as usize].moment {
                next = (moment, thing);
                break;
            }
            self.prefetch_coming();
            match self.alarms.current(entry) {
                Some(later) => self.entries.replace(later),
                None => self.entries.pop(),
            }
        }
        self.next = Some(next);
        next
    }

    /// Takes out the one that [`next`](Self::next) told of.
    pub fn pop(&mut self) {
        if let Some((_, thing)) = self.next() {
            self.entries.prepare(&mut self.alarms);
            self.entries.pop();
            self.prefetch_coming();
            self.alarms.0[thing as usize] = Alarm { moment: Moment::NEVER, entry: Moment::NEVER };
            self.next = None;
        }
    }

    #[inline]
    fn prefetch_coming(&self) {
        self.entries.coming().into_iter().for_each(|next| self.alarms.prefetch(next));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// So many that most are on rungs, put off and taken back while they do: against an ordered set.
    #[test]
    fn many_alarms_are_a_sorted_list() {
        let (mut alarms, mut set) = (Alarms::default(), std::collections::BTreeSet::new());
        let mut dates = vec![None; 5000];
        let (mut sequence, mut mixed, mut now) = (0, 1_u64, 0);
        for _ in 0..60_000 {
            mixed = mixed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (thing, operation, later) = ((mixed >> 33) as usize % 5000, mixed >> 61, mixed >> 41 & 0xfff);
            if let Some(known) = dates[thing].filter(|_| operation < 6) {
                set.remove(&known);
                dates[thing] = None;
            }
            match operation {
                0..=4 => {
                    sequence += 1;
                    let entry = (now + later, sequence, thing as u32);
                    alarms.set(thing as u32, Moment { date: entry.0 as f64, sequence });
                    set.insert(entry);
                    dates[thing] = Some(entry);
                }
                5 => alarms.clear(thing as u32),
                _ => {
                    let next =
                        alarms.next().map(|(moment, thing)| (moment.date as u64, moment.sequence, thing));
                    assert_eq!(next, set.pop_first());
                    if let Some((date, _, thing)) = next {
                        alarms.pop();
                        (now, dates[thing as usize]) = (date, None);
                    }
                }
            }
        }
        assert!(set.len() > 1024, "{} are left: most were on rungs", set.len());
    }

    proptest! {
        /// Against a plain list, scanned each time.
        #[test]
        fn alarms_are_a_sorted_list(operations in prop::collection::vec((0..8u32, 0..4u8, 0..12u8), 0..300)) {
            let mut alarms = Alarms::default();
            let mut list: Vec<(u8, u64, u32)> = Vec::new();
            let mut sequence = 0;
            for (thing, operation, date) in operations {
                match operation {
                    0 | 1 => {
                        sequence += 1;
                        alarms.set(thing, Moment { date: f64::from(date), sequence });
                        list.retain(|&(_, _, other)| other != thing);
                        list.push((date, sequence, thing));
                    }
                    2 => {
                        alarms.clear(thing);
                        list.retain(|&(_, _, other)| other != thing);
                    }
                    _ => {
                        let least = list.iter().copied().min();
                        let next = alarms.next().map(|(moment, thing)| (moment.date, moment.sequence, thing));
                        prop_assert_eq!(next, least.map(|(date, sequence, thing)| (f64::from(date), sequence, thing)));
                        if next.is_some() {
                            alarms.pop();
                        }
                        list.retain(|entry| Some(*entry) != least);
                    }
                }
            }
            while let Some((moment, thing)) = alarms.next() {
                let least = list.iter().copied().min();
                prop_assert_eq!(Some((moment.date as u8, moment.sequence, thing)), least);
                alarms.pop();
                list.retain(|entry| Some(*entry) != least);
            }
            prop_assert!(list.is_empty());
        }
    }
}
