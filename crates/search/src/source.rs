//! Source sets with sleep sets: Abdulla, Aronis, Jonsson, Sagonas, "Optimal dynamic partial order reduction" (POPL 2014), Algorithm 1.
//!
//! Which executions a race leads to is decided by the initials of what happened between its two steps alone, whatever is asleep: a race
//! that an earlier execution showed was dealt with then. Where a process may do something else without the first step
//! ([`Reversal::Look`]), all that does not happen after the first step counts, up to the end of the execution, as in `optimal`; and each
//! execution is looked at (docs/search.md).
//!
//! Where it departs from the paper: races are looked at when an execution is over, or is given up, instead of at each of its steps, with the
//! same outcome. A process is added with all outcomes of its request.

use std::ops::ControlFlow;

use crate::causality::Race;
use crate::reduction::{self, Path, Strategy};
use crate::session::Options;
use crate::system::{Reversal, System};
use crate::verdict::Found;

/// Explores with source sets.
pub fn explore<S: System>(system: &mut S, options: Options<'_, S>) -> Found<S> {
    reduction::explore::<S, Source>(system, options)
}

struct Source;

impl<S: System> Strategy<S> for Source {
    const SLEEPS: bool = true;
    const ALTERNATIVES_AT_ONCE: bool = true;

    fn races(path: &mut Path<'_, '_, S>, fresh: usize) -> ControlFlow<()> {
        let mut sequence = Vec::new();
        for race in path.causality.races_since(fresh).to_vec() {
            path.not_after(race.first, race.second, &mut sequence);
            sequence.push(race.second);
            let initials = path.initials(&sequence);
            if initials.iter().any(|&process| path.is_considered(race.first, process)) {
                continue;
            }
            // The last may be a request that has no outcome there.
            let _ = initials.into_iter().find(|&process| path.consider(race.first, process));
        }
        let may_differ = |race: &&Race| race.reversal == Reversal::Look;
        for race in path.causality.races.iter().filter(may_differ).copied().collect::<Vec<_>>() {
            path.not_after(race.first, path.trace.len(), &mut sequence);
            let initials = path.initials(&sequence);
            if !initials.is_empty()
                && !initials.iter().any(|&process| path.is_considered(race.first, process))
                && depends(path, race, &sequence)?
            {
                path.consider(race.first, initials[0]);
            }
        }
        ControlFlow::Continue(())
    }
}

/// Whether what the process of the second step of a race does without the first depends on something of a sequence.
fn depends<S: System>(path: &mut Path<'_, '_, S>, race: Race, sequence: &[usize]) -> ControlFlow<(), bool> {
    let instead = path.without(race.first, sequence, S::process(&path.trace[race.second]))?;
    let depends = |last| sequence.iter().any(|&place| S::dependent(&path.trace[place], last));
    ControlFlow::Continue(instead.iter().any(depends))
}
