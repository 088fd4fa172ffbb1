//! Optimal reduction with wakeup trees: Abdulla, Aronis, Jonsson, Sagonas, "Optimal dynamic partial order reduction" (POPL 2014),
//! Algorithm 2, and "Source sets: a foundation for optimal dynamic partial order reduction" (JACM 2017): exactly one execution
//! for each Mazurkiewicz trace, and none that is begun in vain.
//!
//! When an execution E is complete, for each race of a step e with a later step e' the sequence v = notdep(e, E).e' is inserted at
//! the state before e: all steps of E, up to its end, that do not happen after e, then e'. It is left out if a step asleep there is
//! a weak initial of v. Races that an earlier execution showed too are looked at again, unless it can be proved that nothing comes of it.
//!
//! It departs from the papers where a request has several outcomes, where what a process does depends on the state, and where steps
//! disable or block others. docs/search.md says how, with the proofs ("Optimal reduction, and where it departs from the papers").

use std::ops::ControlFlow;

use crate::reduction::{self, Node, Path, Strategy};
use crate::session::Options;
use crate::system::{Reversal, System};
use crate::verdict::Found;
use crate::wakeup::{self, Weak};

/// Explores one execution for each trace.
pub fn explore<S: System>(system: &mut S, options: Options<'_, S>) -> Found<S> {
    reduction::explore::<S, Optimal>(system, options)
}

struct Optimal;

impl<S: System> Strategy<S> for Optimal {
    const SLEEPS: bool = true;
    /// They are taken up with the races, at the end of the execution, when it is known what else it does.
    const ALTERNATIVES_AT_ONCE: bool = false;

    fn races(path: &mut Path<'_, '_, S>, fresh: usize) -> ControlFlow<()> {
        // What all new steps happen after: the sequences of its races are prefixes of those that were inserted before.
        let common = path.causality.before_all_since(fresh);
        let mut places = Vec::new();
        for index in 0..path.causality.races.len() {
            let race = path.causality.races[index];
            if race.settled <= fresh || (race.second < fresh && common.contains(race.first)) {
                continue;
            }
            path.not_after(race.first, path.trace.len(), &mut places);
            let begins = match race.reversal {
                Reversal::Never => continue,
                Reversal::Same => {
                    let needed = path.needed(&mut places, &path.trace[race.second]);
                    places.insert(needed, race.second);
                    let sequence = places.iter().map(|&place| &path.trace[place]).collect();
                    insert::<S>(&mut path.nodes[race.first], &path.trace[race.first], sequence)
                }
                Reversal::Look => {
                    let process = S::process(&path.trace[race.second]);
                    look(path, race.first, process, &places)?
                }
            };
            if let Some(begins) = begins {
                path.causality.races[index].settled = places[begins].max(race.second) + 1;
            }
        }
        for first in 0..path.trace.len() {
            if !common.contains(first) && path.nodes[first].enabled.len() > 1 {
                alternatives(path, first)?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Inserts what was possible in the place of a step, because it is another outcome or may have become impossible.
fn alternatives<S: System>(path: &mut Path<'_, '_, S>, first: usize) -> ControlFlow<()> {
    let (mut places, mut known) = (Vec::new(), false);
    for index in 0..path.nodes[first].enabled.len() {
        if !reduction::is_alternative::<S>(&path.trace[first], &path.nodes[first].enabled[index]) {
            continue;
        }
        if !std::mem::replace(&mut known, true) {
            path.not_after(first, path.trace.len(), &mut places);
        }
        let other = path.nodes[first].enabled[index].clone();
        if S::stays(&other) || places.is_empty() {
            let needed = path.needed(&mut places, &other);
            let mut sequence: Vec<_> = places.iter().map(|&place| &path.trace[place]).collect();
            sequence.insert(needed, &other);
            insert::<S>(&mut path.nodes[first], &path.trace[first], sequence);
        } else {
            look(path, first, S::process(&other), &places)?;
        }
    }
    ControlFlow::Continue(())
}

/// Inserts a sequence at a state where a step is being explored, unless what it leads to was explored, or will be. If that is sure
/// because one of its steps is explored there, says which.
fn insert<S: System>(
    node: &mut Node<S::Transition>,
    present: &S::Transition,
    mut sequence: Vec<&S::Transition>,
) -> Option<usize> {
    for asleep in &node.sleep {
        match wakeup::weak_initial::<S>(asleep, &sequence) {
            Weak::No => {}
            Weak::Initial(place) => return Some(place),
            Weak::Independent => return None,
        }
    }
    let asleep: Vec<_> = node.sleep.iter().chain([present]).collect();
    wakeup::insert::<S>(&mut node.rest, &mut sequence, &asleep)
}

/// Goes to the state without the first step of the race, and inserts all that the process of the second can do there. That is not
/// needed where what comes before it is covered, whatever it is; if a step asleep is one of that, says which.
fn look<S: System>(
    path: &mut Path<'_, '_, S>,
    first: usize,
    process: u64,
    places: &[usize],
) -> ControlFlow<(), Option<usize>> {
    let mut sequence: Vec<_> = places.iter().map(|&place| &path.trace[place]).collect();
    let (node, present) = (&path.nodes[first], &path.trace[first]);
    for asleep in &node.sleep {
        if let Weak::Initial(place) = wakeup::weak_initial::<S>(asleep, &sequence) {
            return ControlFlow::Continue(Some(place));
        }
    }
    let asleep: Vec<_> = node.sleep.iter().chain([present]).collect();
    if wakeup::covers::<S>(&node.rest, &mut sequence, &asleep) {
        return ControlFlow::Continue(None);
    }
    let instead = path.without(first, places, process)?;
    let mut places = places.to_vec();
    for last in &instead {
        let needed = path.needed(&mut places, last);
        let mut sequence: Vec<_> = places.iter().map(|&place| &path.trace[place]).collect();
        sequence.insert(needed, last);
        if wakeup::weak_initial::<S>(&path.trace[first], &sequence) == Weak::No {
            insert::<S>(&mut path.nodes[first], &path.trace[first], sequence);
        }
    }
    ControlFlow::Continue(None)
}
