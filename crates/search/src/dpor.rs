//! Dynamic partial order reduction as in Rosa's thesis (2011), Algorithm 4, after Flanagan and Godefroid, "Dynamic partial-order
//! reduction for model checking software" (POPL 2005).
//!
//! Where it departs from Algorithm 4: the last step is taken that a step depends on and that does not happen before the process's own
//! previous step, as in the paper of 2005; as printed in the thesis, a race behind a step of the same process is lost. And where the
//! process is not possible at the state before (the thesis assumes that it always is), one that must come before it is explored instead.

use std::ops::ControlFlow;

use crate::reduction::{self, Path, Strategy};
use crate::session::Options;
use crate::system::System;
use crate::verdict::Found;

/// Explores with the reduction of 2005.
pub fn explore<S: System>(system: &mut S, options: Options<'_, S>) -> Found<S> {
    reduction::explore::<S, Dpor>(system, options)
}

struct Dpor;

impl<S: System> Strategy<S> for Dpor {
    const SLEEPS: bool = false;
    const ALTERNATIVES_AT_ONCE: bool = true;

    fn races(path: &mut Path<'_, '_, S>, fresh: usize) -> ControlFlow<()> {
        let mut done = None;
        for race in path.causality.races_since(fresh).to_vec() {
            // The latest first step of each second one comes first, and is enough if the second could have come before it. If
            // not, the first only made it possible, and hides a race of one before that.
            if done != Some(race.second) && backtrack(path, race.first, race.second) {
                done = Some(race.second);
            }
        }
        ControlFlow::Continue(())
    }
}

/// Explores something else instead of the first; says whether that is the second itself.
fn backtrack<S: System>(path: &mut Path<'_, '_, S>, first: usize, second: usize) -> bool {
    let process = S::process(&path.trace[second]);
    let possible = path.nodes[first].enabled.iter().any(|t| S::step(t) == S::step(&path.trace[second]));
    if path.is_considered(first, process) || path.consider(first, process) {
        return possible;
    }
    // Not possible there: then some process whose step between the two must come before the second.
    let between = (first + 1..second).filter(|&step| path.causality.is_before(step, second));
    let possible = |helper: &u64| path.nodes[first].enabled.iter().any(|t| S::process(t) == *helper);
    let helpers: Vec<u64> = between.map(|step| S::process(&path.trace[step])).filter(possible).collect();
    if helpers.iter().any(|&helper| path.is_considered(first, helper)) {
        return false;
    }
    if let Some(&helper) = helpers.first() {
        path.consider(first, helper);
    } else {
        let node = &mut path.nodes[first];
        (0..node.enabled.len()).for_each(|index| reduction::add_once::<S>(node, index));
    }
    false
}
