//! Probabilistic concurrency testing: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with probabilistic
//! guarantees of finding bugs" (ASPLOS 2010).
//!
//! Processes have random priorities, and the highest that can goes on; at `depth - 1` random steps the one that runs gets the lowest. A
//! bug that needs `depth` ordered steps of `n` processes that take `k` steps is met with a probability of at least 1 / (n k^(depth-1)).
//! Where it departs from the paper: `k` is the length of the longest walk until then, and outcomes of one request are chosen at random.

use std::collections::BTreeMap;

use simurgh_random::Random;

use crate::random::{Walker, walks};
use crate::session::Options;
use crate::system::System;
use crate::verdict::Found;

/// More changes of priorities than this are as good as random steps.
const CHANGES_MAX: u32 = 1 << 16;

/// Walks with random priorities, as often as the options allow; never exhausts anything.
///
/// # Panics
/// If nothing bounds the exploration.
pub fn explore<S: System>(system: &mut S, seed: u64, depth: u32, options: Options<'_, S>) -> Found<S> {
    walks(system, seed, options, &mut Priorities { depth, ..Priorities::default() })
}

#[derive(Default)]
struct Priorities {
    depth: u32,
    /// What is drawn for a walk, by process.
    priorities: BTreeMap<u64, u64>,
    /// The steps at which the one that runs falls back.
    changes: Vec<usize>,
    /// The lowest priority given until now.
    lowest: u64,
}

impl Priorities {
    /// The first of the possible steps whose process has the highest priority.
    fn highest<S: System>(&mut self, random: &mut Random, enabled: &[S::Transition]) -> usize {
        let mut priority = |t: &S::Transition| {
            *self.priorities.entry(S::process(t)).or_insert_with(|| (1 << 32) + (random.next_u64() >> 32))
        };
        let best = enabled.iter().map(&mut priority).max().expect("something is possible");
        enabled.iter().position(|t| priority(t) == best).expect("just seen")
    }
}

impl<S: System> Walker<S> for Priorities {
    fn begin(&mut self, random: &mut Random, longest: usize) {
        let changes = 1..self.depth.min(CHANGES_MAX);
        self.changes = changes.map(|_| random.below(longest.max(1) as u64) as usize).collect();
        self.priorities.clear();
        self.lowest = 1 << 32;
    }

    fn pick(&mut self, random: &mut Random, enabled: &[S::Transition], taken: usize) -> usize {
        let mut first = self.highest::<S>(random, enabled);
        if self.changes.contains(&taken) {
            self.lowest -= 1;
            self.priorities.insert(S::process(&enabled[first]), self.lowest);
            first = self.highest::<S>(random, enabled);
        }
        let process = S::process(&enabled[first]);
        let outcomes: Vec<usize> =
            (0..enabled.len()).filter(|&index| S::process(&enabled[index]) == process).collect();
        outcomes[random.below(outcomes.len() as u64) as usize]
    }
}
