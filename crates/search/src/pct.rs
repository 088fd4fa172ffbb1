//! Probabilistic concurrency testing: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A randomized scheduler with probabilistic
//! guarantees of finding bugs" (ASPLOS 2010).
//!
//! Processes have random priorities, and the highest that can goes on; at `depth - 1` random steps the one that runs gets the lowest. A
//! bug that needs `depth` ordered steps of `n` processes that take `k` steps is met with a probability of at least 1 / (n k^(depth-1)).
//! Where it departs from the paper: `k` is the length of the longest walk until then, and outcomes of one request are chosen at random.

use std::collections::BTreeMap;

use simurgh_random::Random;

use crate::random::walks;
use crate::session::Options;
use crate::system::System;
use crate::verdict::Found;

/// More changes of priorities than this are as good as random steps.
const CHANGES_MAX: u32 = 1 << 16;

/// What is drawn for a walk.
#[derive(Default)]
struct Draw {
    priorities: BTreeMap<u64, u64>,
    /// The steps at which the one that runs falls back.
    changes: Vec<usize>,
    /// The lowest priority given until now.
    lowest: u64,
}

/// Walks with random priorities, as often as the options allow; never exhausts anything.
///
/// # Panics
/// If nothing bounds the exploration.
pub fn explore<S: System>(system: &mut S, seed: u64, depth: u32, options: Options<'_, S>) -> Found<S> {
    let mut draw = Draw::default();
    walks(system, seed, options, |random, enabled, taken, longest| {
        if taken == 0 {
            let change = |_| random.below(longest.max(1) as u64) as usize;
            let changes = (1..depth.min(CHANGES_MAX)).map(change).collect();
            draw = Draw { priorities: BTreeMap::new(), changes, lowest: 1 << 32 };
        }
        let highest = |draw: &mut Draw, random: &mut Random| {
            let mut priority = |t: &S::Transition| {
                *draw.priorities.entry(S::process(t)).or_insert_with(|| (1 << 32) + (random.next_u64() >> 32))
            };
            let best = enabled.iter().map(&mut priority).max().expect("something is possible");
            enabled.iter().position(|t| priority(t) == best).expect("just seen")
        };
        let mut first = highest(&mut draw, random);
        if draw.changes.contains(&taken) {
            draw.lowest -= 1;
            draw.priorities.insert(S::process(&enabled[first]), draw.lowest);
            first = highest(&mut draw, random);
        }
        let process = S::process(&enabled[first]);
        let outcomes: Vec<usize> =
            (0..enabled.len()).filter(|&index| S::process(&enabled[index]) == process).collect();
        outcomes[random.below(outcomes.len() as u64) as usize]
    })
}
