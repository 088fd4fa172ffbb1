//! What happened before what in an execution, and which steps race.
//!
//! One row of bits a step: the steps that happened before it. A step is reached from those that it depends on, and from
//! all that reached them; the immediate ones among them, of other processes, are its races (Abdulla and others, "Source
//! sets: a foundation for optimal dynamic partial order reduction", 2017, 3.2).

use crate::system::{Reversal, System};

/// Two steps of an execution that depend on each other with nothing in between.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Race {
    /// The one that came first.
    pub first: usize,
    /// The one that came second.
    pub second: usize,
    /// What may come of it the other way round.
    pub reversal: Reversal,
    /// An execution that begins with so many steps of this one shows nothing new about it.
    pub settled: usize,
}

/// The happens-before relation of an execution.
#[derive(Default)]
pub struct Causality {
    rows: Vec<u64>,
    /// How many words a row has.
    stride: usize,
    len: usize,
    /// All races, in the order of their second steps; the latest first step of each comes first.
    pub(crate) races: Vec<Race>,
}

impl Causality {
    /// Adds the last step of a trace.
    pub fn push<S: System>(&mut self, trace: &[S::Transition]) {
        let (last, earlier) = trace.split_last().expect("a step was taken");
        let second = earlier.len();
        debug_assert_eq!(self.len, second);
        if second / 64 >= self.stride {
            self.widen();
        }
        self.rows.resize((second + 1) * self.stride, 0);
        self.len += 1;
        let process = S::process(last);
        let (above, row) = self.rows.split_at_mut(second * self.stride);
        for (first, other) in earlier.iter().enumerate().rev() {
            if row[first / 64] >> (first % 64) & 1 == 1 || !S::dependent(other, last) {
                continue;
            }
            let before = &above[first * self.stride..][..self.stride];
            row.iter_mut().zip(before).for_each(|(into, from)| *into |= from);
            row[first / 64] |= 1 << (first % 64);
            if S::process(other) != process {
                match S::reversal(other, last) {
                    Reversal::Never => {}
                    reversal => self.races.push(Race { first, second, reversal, settled: usize::MAX }),
                }
            }
        }
    }

    /// Forgets all but so many steps.
    pub fn truncate(&mut self, len: usize) {
        self.len = len;
        self.rows.truncate(len * self.stride);
        while self.races.last().is_some_and(|race| race.second >= len) {
            self.races.pop();
        }
    }

    /// Whether one step happened before another.
    pub fn is_before(&self, first: usize, second: usize) -> bool {
        self.rows[second * self.stride + first / 64] >> (first % 64) & 1 == 1
    }

    /// The steps that happened before one: one bit each.
    pub fn row(&self, step: usize) -> &[u64] {
        &self.rows[step * self.stride..][..self.stride]
    }

    /// The races whose second step is not before this one.
    pub fn races_since(&self, second: usize) -> &[Race] {
        let start = self.races.partition_point(|race| race.second < second);
        &self.races[start..]
    }

    /// The steps that happened before all steps from this one on: one bit each.
    pub fn before_all_since(&self, start: usize) -> Vec<u64> {
        let mut common = vec![u64::MAX; self.stride];
        for row in self.rows[start * self.stride..self.len * self.stride].chunks(self.stride.max(1)) {
            common.iter_mut().zip(row).for_each(|(into, from)| *into &= from);
        }
        common
    }

    fn widen(&mut self) {
        let (old, new) = (self.stride, (2 * self.stride).max(1));
        let mut rows = Vec::with_capacity(self.len * new);
        for index in 0..self.len {
            rows.extend_from_slice(&self.rows[index * old..][..old]);
            rows.resize((index + 1) * new, 0);
        }
        (self.rows, self.stride) = (rows, new);
    }
}
