//! Optimal reduction with wakeup trees: Abdulla, Aronis, Jonsson, Sagonas, "Optimal dynamic partial order reduction" (POPL 2014),
//! Algorithm 2, and the journal version of 2017: exactly one execution for each Mazurkiewicz trace, and none that is begun in vain.
//!
//! Where it departs from it: what is inserted for a race is the second step and what it needs, instead of all that the execution did
//! independently of the first. So nothing that happens later counts, races whose second step was seen by an earlier execution were
//! dealt with then, and sequences are short. A step whose request has several outcomes is inserted with each outcome. Where it is not known without looking what a
//! process can do before the first step of a race (its wait may time out instead, or take another activity), the system is brought
//! there to see.

use std::ops::ControlFlow;

use crate::causality::Race;
use crate::reduction::{self, Node, Path, Strategy};
use crate::session::{Options, Session};
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

    fn alternative(node: &mut Node<S::Transition>, sequence: &mut Vec<&S::Transition>) {
        insert::<S>(node, sequence);
    }

    fn races(path: &mut Path<S>, fresh: usize, session: &mut Session<'_, '_, S>) -> ControlFlow<()> {
        let mut places = Vec::new();
        for race in path.fresh_races(fresh) {
            path.not_after(race.first, race.second, &mut places);
            places.retain(|&place| path.causality.is_before(place, race.second));
            match race.reversal {
                Reversal::Never => {}
                Reversal::Same => {
                    places.push(race.second);
                    let mut sequence: Vec<_> = places.iter().map(|&place| &path.trace[place]).collect();
                    insert::<S>(&mut path.nodes[race.first], &mut sequence);
                }
                Reversal::Look => look(path, race, &places, session)?,
            }
        }
        ControlFlow::Continue(())
    }
}

/// Inserts a sequence, unless what it leads to was explored, or will be.
fn insert<S: System>(node: &mut Node<S::Transition>, sequence: &mut Vec<&S::Transition>) {
    let covered = |asleep: &S::Transition| wakeup::weak_initial::<S>(asleep, sequence) != Weak::No;
    if !node.sleep.iter().any(covered) {
        wakeup::insert::<S>(&mut node.rest, sequence);
    }
}

/// Goes to the state without the first step of the race, and inserts all that the process of the second can do there.
fn look<S: System>(
    path: &mut Path<S>,
    race: Race,
    places: &[usize],
    session: &mut Session<'_, '_, S>,
) -> ControlFlow<()> {
    let prefix = path.trace[..race.first].iter();
    session.reorder(prefix.chain(places.iter().map(|&place| &path.trace[place])))?;
    let mut enabled = Vec::new();
    session.system.enabled(&mut enabled);
    let process = S::process(&path.trace[race.second]);
    for last in enabled.iter().filter(|transition| S::process(transition) == process) {
        let mut sequence: Vec<_> = places.iter().map(|&place| &path.trace[place]).collect();
        sequence.push(last);
        insert::<S>(&mut path.nodes[race.first], &mut sequence);
    }
    ControlFlow::Continue(())
}
