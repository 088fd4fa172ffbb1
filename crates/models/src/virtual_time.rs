//! Virtual time: the ends of those who share a capacity, dated on a clock of their own.
//!
//! Whoever is limited by one full resource progresses at its level times a weight. So the resource has a clock that counts what a
//! weight of 1 has received there, as in fair queueing (Parekh, Gallager, "A generalized processor sharing approach to flow control",
//! IEEE/ACM ToN, 1993), and each end is a fixed reading of that clock. Another level touches one number and the date of the first
//! end, not all of them.
//!
//! The first end of each clock has a date among others ([`EventHeap`]); it is whoever comes and goes that asks for the next one.
//!
//! Readings of a clock that has run for long have few digits left for what is to come. So it is set back to 0 when it has nobody, and
//! after as many changes as there are ends on it.

use crate::heap::{EventHeap, Lane};
use crate::ladder_queue::Moment;

/// Clocks, and the ends on them. Things are numbered from 0; each is on one clock at most.
#[derive(Clone, Default, Debug)]
pub(crate) struct VirtualTime {
    clocks: Vec<Clock>,
    /// Where each thing is.
    places: Vec<Place>,
    /// How many are on a clock.
    present: usize,
}

#[derive(Clone, Default, Debug)]
struct Clock {
    /// What a weight of 1 had received at date `updated`, and receives a second since then.
    received: f64,
    level: f64,
    updated: f64,
    /// A heap: the nearest end first.
    ends: Vec<End>,
    /// How many changes there were since it was set back.
    changes: usize,
    /// Under which number the first end was written down since the last change of the level.
    sequence: Option<u64>,
    /// Whose end was written down elsewhere as the first, if it is still on the clock.
    dated: Option<u32>,
}

/// Of two ends at one reading, that of the lower order is first.
#[derive(Copy, Clone, PartialEq, Debug)]
struct End {
    reading: f64,
    weight: f64,
    order: u64,
    thing: u32,
}

#[derive(Copy, Clone, Debug)]
struct Place {
    clock: u32,
    position: u32,
}

const NOWHERE: u32 = u32::MAX;
/// So many changes more than ends do not matter.
const FEW: usize = 64;

impl End {
    #[inline]
    fn is_before(&self, other: &End) -> bool {
        self.reading < other.reading || (self.reading == other.reading && self.order < other.order)
    }
}

/// Who comes to a clock.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) struct Newcomer {
    pub thing: u32,
    pub order: u64,
    pub work: f64,
    pub weight: f64,
}

/// The end that comes first on a clock.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) struct FirstEnd {
    pub thing: u32,
    pub date: f64,
    pub order: u64,
}

impl VirtualTime {
    /// A clock that stands still.
    pub fn add_clock(&mut self) -> u32 {
        self.clocks.push(Clock::default());
        self.clocks.len() as u32 - 1
    }

    /// Whether somebody ever came to a clock of this number.
    pub fn has_clock(&self, clock: u32) -> bool {
        (clock as usize) < self.clocks.len()
    }

    /// Whether nobody is on a clock.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.present == 0
    }

    /// Which clock a thing is on.
    #[inline]
    pub fn clock_of(&self, thing: u32) -> Option<u32> {
        self.places.get(thing as usize).map(|place| place.clock).filter(|&clock| clock != NOWHERE)
    }

    /// How many are on a clock.
    pub fn count(&self, clock: u32) -> usize {
        self.clocks[clock as usize].ends.len()
    }

    /// Who is on a clock, in no order.
    pub fn things(&self, clock: u32) -> impl Iterator<Item = u32> + '_ {
        self.clocks[clock as usize].ends.iter().map(|end| end.thing)
    }

    /// Somebody of this weight comes, who has so much work to do from now on.
    pub fn insert(&mut self, clock: u32, newcomer: Newcomer, now: f64) {
        let Newcomer { thing, order, work, weight } = newcomer;
        while self.clocks.len() <= clock as usize {
            self.add_clock();
        }
        if self.places.len() <= thing as usize {
            self.places.resize(thing as usize + 1, Place { clock: NOWHERE, position: 0 });
        }
        debug_assert!(self.clock_of(thing).is_none(), "a thing is on one clock");
        self.present += 1;
        let on = self.settle(clock, now);
        let reading = on.received + work / weight;
        on.ends.push(End { reading, weight, order, thing });
        let last = on.ends.len() - 1;
        self.places[thing as usize] = Place { clock, position: last as u32 };
        self.rise(clock, last);
    }

    /// The work that a thing has still to do.
    pub fn left(&self, thing: u32, now: f64) -> f64 {
        let Place { clock, position } = self.places[thing as usize];
        let clock = &self.clocks[clock as usize];
        let End { reading, weight, .. } = clock.ends[position as usize];
        (reading - clock.reading_at(now)).max(0.0) * weight
    }

    /// Somebody goes; answers what was [`left`](Self::left).
    pub fn remove(&mut self, thing: u32, now: f64) -> f64 {
        let left = self.left(thing, now);
        self.settle(self.places[thing as usize].clock, now);
        let Place { clock, position } = self.places[thing as usize];
        self.places[thing as usize].clock = NOWHERE;
        self.present -= 1;
        let on = &mut self.clocks[clock as usize];
        on.dated = on.dated.filter(|&dated| dated != thing);
        let ends = &mut on.ends;
        let last = ends.pop().expect("the thing is there");
        if (position as usize) < ends.len() {
            let before = std::mem::replace(&mut ends[position as usize], last);
            match last.is_before(&before) {
                true => self.rise(clock, position as usize),
                false => self.sink(clock, position as usize),
            }
        }
        left
    }

    /// The clock goes at another pace from now on.
    pub fn set_level(&mut self, clock: u32, level: f64, now: f64) {
        let on = self.settle(clock, now);
        on.level = level;
        on.sequence = None;
    }

    /// The end that comes first, unless the clock stands still.
    pub fn first(&self, clock: u32) -> Option<FirstEnd> {
        let clock = &self.clocks[clock as usize];
        let &End { reading, order, thing, .. } = clock.ends.first()?;
        let left = reading - clock.received;
        let date = if left > 0.0 { clock.updated + left / clock.level } else { clock.updated };
        (date < f64::INFINITY).then_some(FirstEnd { thing, date, order })
    }

    /// Writes down the date of the first end of a clock, in place of the one that was first the last time.
    pub fn date_first(&mut self, clock: u32, dates: &mut EventHeap) {
        let first = self.first(clock);
        let on = &mut self.clocks[clock as usize];
        let dated = std::mem::replace(&mut on.dated, first.map(|end| end.thing));
        if let Some(before) = dated.filter(|&before| first.is_none_or(|end| end.thing != before)) {
            dates.remove(before);
        }
        if let Some(FirstEnd { thing, date, order }) = first {
            let sequence = *on.sequence.get_or_insert(dates.sequence());
            dates.set_as_of(Lane::Ends, thing, Moment { date, sequence }, order as u32);
        }
    }

    /// Brings a clock to a date.
    fn settle(&mut self, clock: u32, now: f64) -> &mut Clock {
        let on = &mut self.clocks[clock as usize];
        on.received = on.reading_at(now);
        on.updated = now;
        on.changes += 1;
        if on.ends.is_empty() {
            (on.received, on.changes) = (0.0, 0);
        } else if on.changes > on.ends.len() + FEW {
            self.set_back(clock);
        }
        &mut self.clocks[clock as usize]
    }

    /// Sets a clock back to 0. Two ends may be at one reading now that were not before.
    fn set_back(&mut self, clock: u32) {
        let on = &mut self.clocks[clock as usize];
        let received = std::mem::replace(&mut on.received, 0.0);
        on.changes = 0;
        on.ends.iter_mut().for_each(|end| end.reading -= received);
        for position in (0..on.ends.len()).rev() {
            self.sink(clock, position);
        }
    }

    fn rise(&mut self, clock: u32, mut position: usize) {
        let ends = &mut self.clocks[clock as usize].ends;
        let end = ends[position];
        while position > 0 {
            let parent = (position - 1) / 2;
            if ends[parent].is_before(&end) {
                break;
            }
            ends[position] = ends[parent];
            self.places[ends[position].thing as usize].position = position as u32;
            position = parent;
        }
        ends[position] = end;
        self.places[end.thing as usize].position = position as u32;
    }

    fn sink(&mut self, clock: u32, mut position: usize) {
        let ends = &mut self.clocks[clock as usize].ends;
        let end = ends[position];
        loop {
            let mut child = 2 * position + 1;
            if child + 1 < ends.len() && ends[child + 1].is_before(&ends[child]) {
                child += 1;
            }
            if child >= ends.len() || !ends[child].is_before(&end) {
                break;
            }
            ends[position] = ends[child];
            self.places[ends[position].thing as usize].position = position as u32;
            position = child;
        }
        ends[position] = end;
        self.places[end.thing as usize].position = position as u32;
    }
}

impl Clock {
    #[inline]
    fn reading_at(&self, now: f64) -> f64 {
        let elapsed = now - self.updated;
        if elapsed > 0.0 { self.received + self.level * elapsed } else { self.received }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The same by hand: everybody is visited at every change.
    #[derive(Default)]
    struct Plain {
        level: f64,
        left: Vec<(u32, f64)>,
    }

    impl Plain {
        fn pass(&mut self, seconds: f64) {
            self.left.iter_mut().for_each(|(_, left)| *left = (*left - self.level * seconds).max(0.0));
        }
    }

    proptest! {
        #[test]
        fn ends_come_as_if_everybody_was_visited(
            acts in prop::collection::vec((0..4u32, 1..1000u32, 1..1000u32), 1..400)
        ) {
            let (mut time, mut plain, mut now) = (VirtualTime::default(), Plain::default(), 0.0);
            let clock = time.add_clock();
            for (number, &(act, first, second)) in (0..).zip(&acts) {
                let seconds = f64::from(second) / 1e3;
                let step = match time.first(clock) {
                    Some(end) => seconds.min(end.date - now),
                    None => seconds,
                };
                now += step;
                plain.pass(step);
                match act {
                    0 | 1 => {
                        let weight = f64::from(1 + second % 3);
                        let work = f64::from(first) * weight;
                        time.insert(clock, Newcomer { thing: number, order: u64::from(number), work, weight }, now);
                        plain.left.push((number, f64::from(first)));
                    }
                    2 => {
                        let level = f64::from(1 + first % 50) * 3.7;
                        time.set_level(clock, level, now);
                        plain.level = level;
                    }
                    _ => {
                        let Some(end) = time.first(clock) else { continue };
                        let least = plain.left.iter().map(|&(_, left)| left).fold(f64::INFINITY, f64::min);
                        let wanted = now + least / plain.level;
                        prop_assert!((end.date - wanted).abs() <= 1e-9 * wanted, "{} {wanted}", end.date);
                        let place = plain.left.iter().position(|&(thing, _)| thing == end.thing).unwrap();
                        let left = plain.left.remove(place).1;
                        let told = time.remove(end.thing, now);
                        let told = told / f64::from(1 + acts[end.thing as usize].2 % 3);
                        prop_assert!((told - left).abs() <= 1e-9 * left.max(1.0), "{told} {left}");
                    }
                }
                prop_assert_eq!(time.things(clock).count(), plain.left.len());
            }
        }
    }

    #[test]
    fn what_ends_together_comes_in_order() {
        let mut time = VirtualTime::default();
        let clock = time.add_clock();
        time.set_level(clock, 2.0, 0.0);
        for thing in [3, 1, 4, 0, 2] {
            time.insert(clock, Newcomer { thing, order: u64::from(thing), work: 20.0, weight: 2.0 }, 0.0);
        }
        for thing in 0..5 {
            assert_eq!(time.first(clock), Some(FirstEnd { thing, date: 5.0, order: u64::from(thing) }));
            time.remove(thing, 5.0);
        }
        assert_eq!(time.first(clock), None);
    }
}
