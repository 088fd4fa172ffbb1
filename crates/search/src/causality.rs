//! What happened before what in an execution, and which steps race.
//!
//! One row of bits a step: the steps that happened before it. A step is reached from those that it depends on, and from
//! all that reached them; the immediate ones among them, of other processes, are its races (Abdulla and others, "Source
//! sets: a foundation for optimal dynamic partial order reduction", 2017, 3.2).

use fixedbitset::FixedBitSet;

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
    /// For each step, those that happened before it.
    rows: Vec<FixedBitSet>,
    /// Rows that were forgotten, to be used again.
    spare: Vec<FixedBitSet>,
    /// All races, in the order of their second steps; the latest first step of each comes first.
    pub(crate) races: Vec<Race>,
}

impl Causality {
    /// Adds the last step of a trace.
    pub fn push<S: System>(&mut self, trace: &[S::Transition]) {
        let (last, earlier) = trace.split_last().expect("a step was taken");
        let second = earlier.len();
        debug_assert_eq!(self.rows.len(), second);
        let process = S::process(last);
        let mut row = self.spare.pop().unwrap_or_default();
        row.clear();
        row.grow(second);
        for (first, other) in earlier.iter().enumerate().rev() {
            if row.contains(first) || !S::dependent(other, last) {
                continue;
            }
            row.union_with(&self.rows[first]);
            row.insert(first);
            if S::process(other) != process {
                match S::reversal(other, last) {
                    Reversal::Never => {}
                    reversal => self.races.push(Race { first, second, reversal, settled: usize::MAX }),
                }
            }
        }
        self.rows.push(row);
    }

    /// Forgets all but so many steps.
    pub fn truncate(&mut self, len: usize) {
        self.spare.extend(self.rows.drain(len..));
        self.races.truncate(self.races.partition_point(|race| race.second < len));
    }

    /// Whether one step happened before another.
    pub fn is_before(&self, first: usize, second: usize) -> bool {
        self.rows[second].contains(first)
    }

    /// The steps that happened before one.
    pub fn row(&self, step: usize) -> &FixedBitSet {
        &self.rows[step]
    }

    /// The races whose second step is not before this one.
    pub fn races_since(&self, second: usize) -> &[Race] {
        let start = self.races.partition_point(|race| race.second < second);
        &self.races[start..]
    }

    /// The steps before this one that happened before all from it on.
    pub fn before_all_since(&self, start: usize) -> FixedBitSet {
        let mut common = FixedBitSet::with_capacity(start);
        common.insert_range(..);
        self.rows[start..].iter().for_each(|row| common.intersect_with(row));
        common
    }
}
