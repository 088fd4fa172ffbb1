//! Source sets with sleep sets: Abdulla, Aronis, Jonsson, Sagonas, "Optimal dynamic partial order reduction" (POPL 2014), Algorithm 1.
//!
//! Which executions a race leads to is decided by the initials of what happened between its two steps alone, whatever is asleep: so
//! what the execution does after the second step makes no difference, and a race that an earlier execution showed was dealt
//! with then. (`optimal`, which looks at weak initials, has to look again.)
//!
//! Where it departs from it: races are looked at when an execution is over, or is given up, instead of at each of its steps, with the
//! same outcome, since only what lies between the two steps counts. A process is added with all outcomes of its request.

use std::ops::ControlFlow;

use crate::reduction::{self, Node, Path, Strategy};
use crate::session::{Options, Session};
use crate::system::System;
use crate::verdict::Found;

/// Explores with source sets.
pub fn explore<S: System>(system: &mut S, options: Options<'_, S>) -> Found<S> {
    reduction::explore::<S, Source>(system, options)
}

struct Source;

impl<S: System> Strategy<S> for Source {
    const SLEEPS: bool = true;

    fn alternative(node: &mut Node<S::Transition>, other: &S::Transition) {
        reduction::add_once::<S>(node, other);
    }

    fn races(path: &mut Path<S>, fresh: usize, _: &mut Session<'_, '_, S>) -> ControlFlow<()> {
        let mut sequence = Vec::new();
        for race in path.causality.races_since(fresh).to_vec() {
            path.not_after(race.first, race.second, &mut sequence);
            sequence.push(race.second);
            // The initials of the sequence: what nothing in it happened before.
            let is_initial = |&place: &usize| {
                let mut earlier = sequence[..place].iter();
                !earlier.any(|&other| path.causality.is_before(other, sequence[place]))
            };
            let initials: Vec<u64> = (0..sequence.len())
                .filter(is_initial)
                .map(|place| S::process(&path.trace[sequence[place]]))
                .collect();
            if initials.iter().any(|&process| path.is_considered(race.first, process)) {
                continue;
            }
            // The last may be a request that has no outcome there.
            for process in initials {
                if path.consider(race.first, process) {
                    break;
                }
            }
        }
        ControlFlow::Continue(())
    }
}
