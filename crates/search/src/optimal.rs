//! Optimal reduction with wakeup trees: Abdulla, Aronis, Jonsson, Sagonas, "Optimal dynamic partial order reduction" (POPL 2014),
//! Algorithm 2, and "Source sets: a foundation for optimal dynamic partial order reduction" (JACM 2017): exactly one execution
//! for each Mazurkiewicz trace, and none that is begun in vain.
//!
//! When an execution E is complete, for each race of a step e with a later step e' the sequence v = notdep(e, E).e' is inserted at
//! the state before e: all steps of E, up to its end, that do not happen after e, then e'. It is left out if a step asleep there is
//! a weak initial of v. A shorter sequence (only what e' needs) would be wrong: a step asleep may be a weak initial of it, and yet
//! depend on something else that E did beside the race. Then it stands for other executions than those that are looked for.
//!
//! Races that an earlier execution showed too are looked at again, with what this execution does beside them, unless it can be proved
//! that nothing comes of it:
//!
//! - All new steps happen after e. Then v is a prefix of a sequence u that was inserted before at the same state, and an
//!   execution that u leads to is one that v leads to.
//! - A step z asleep there was a weak initial of such a u, and one of its steps, and u and v have the same steps up to z; or z is e', and
//!   what is new in v, since it happens neither after nor before e', is independent of it. Then z is a weak initial of v too.
//!   The same if z is the first step of a branch with nothing asleep after it (`wakeup.rs`).
//!
//! To leave v out wherever a branch begins with a weak initial of it, since that branch will be explored, would be too much: what
//! is asleep may keep the executions below the branch from showing the race that leads to v. It was tried, and
//! `tests/trust.rs` found it in its eighth case. For the same reason the order of v is chosen so that little stays asleep: e' comes as early as
//! it can, since it depends on e, which will be asleep.
//!
//! Where it departs from the papers, which assume that a process has one possible step at a time and that no step makes that of
//! another process impossible:
//!
//! - **Several outcomes of one request** (a choice, a wait for any of several that are over, what becomes of a message). Where E took
//!   outcome b at a state, notdep(b, E).t is inserted there for each other outcome t. Think of a helper that writes, once, which outcome
//!   is meant, and of the request as reading that: b and t are the two orders of a race between write and read, and this
//!   is the sequence of that race. It needs that t is possible after notdep(b, E), and depends on nothing in it: so whatever is
//!   independent of one outcome must be independent of all, and must leave the outcomes as they are (axiom "outcomes").
//!   Losses break this, since others may use up what may be lost: there the system is brought to the state and asked
//!   ([`System::stays`]); `actors::faults` says why nothing is missed.
//! - **What a process does depends on the state** (it gives up, or takes what is there). Without e, the process of e' may do
//!   something else than e': the system is brought to the state after notdep(e, E), and all that the process can do there is inserted
//!   ([`Reversal::Look`]), unless e is a weak initial of it: that is explored below e. What the process would have done, q, must
//!   still be possible there, though E may contain an x that depends on q, and neither on e nor on e'. The axiom "hiding" says that
//!   such an x leaves q as it is; then it races with q in another execution, in which the process does q, and that race leads
//!   to q before x. In the proof of the papers, which takes among the steps explored or asleep at a state one that is independent of
//!   the longest prefix of an execution that was missed, x takes the place of e: it is independent of as long a prefix.
//! - **Steps that end or halt other actors** ([`System::disables`]) depend on everything, so notdep is empty: all that was possible in
//!   their place is inserted. In the proof: let w be an execution from that state that was missed. Its first step was inserted there,
//!   so something independent of at least that step was explored or is asleep; hence the one that is independent of the longest prefix of w
//!   is none of those that disable, and the next step of w is possible after it.
//! - **Steps that leave an actor with nothing to do** ([`System::blocks`]): a notification, after which giving up is not possible, nor perhaps
//!   anything else for ever, so that no race would show it. What they make impossible is inserted as another outcome is.
//!   (The papers on locks look at what is blocked at the end of an execution.)
//!
//! The axioms are checked at every reachable state of random programs by `tests/trust.rs`, and what comes of them is
//! compared there with an exhaustive search.

use std::ops::ControlFlow;

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

    fn alternative(_: &mut Node<S::Transition>, _: &S::Transition) {
        // They are taken up with the races, at the end of the execution, when it is known what else it does.
    }

    fn races(path: &mut Path<S>, fresh: usize, session: &mut Session<'_, '_, S>) -> ControlFlow<()> {
        // What all new steps happen after: the sequences of its races are prefixes of those that were inserted before.
        let common = path.causality.before_all_since(fresh);
        let is_before_all = |step: usize| step < fresh && common[step / 64] >> (step % 64) & 1 == 1;
        let mut places = Vec::new();
        for index in 0..path.causality.races.len() {
            let race = path.causality.races[index];
            if race.settled <= fresh || (race.second < fresh && is_before_all(race.first)) {
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
                    look(path, race.first, process, &places, session)?
                }
            };
            if let Some(begins) = begins {
                path.causality.races[index].settled = places[begins].max(race.second) + 1;
            }
        }
        for first in 0..path.trace.len() {
            if !is_before_all(first) && path.nodes[first].enabled.len() > 1 {
                alternatives(path, first, &mut places, session)?;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Inserts what was possible in the place of a step, because it is another outcome or may have become impossible.
fn alternatives<S: System>(
    path: &mut Path<S>,
    first: usize,
    places: &mut Vec<usize>,
    session: &mut Session<'_, '_, S>,
) -> ControlFlow<()> {
    places.clear();
    let mut known = false;
    for index in 0..path.nodes[first].enabled.len() {
        if !reduction::is_alternative::<S>(&path.trace[first], &path.nodes[first].enabled[index]) {
            continue;
        }
        if !std::mem::replace(&mut known, true) {
            path.not_after(first, path.trace.len(), places);
        }
        let other = path.nodes[first].enabled[index].clone();
        if S::stays(&other) || places.is_empty() {
            let needed = path.needed(places, &other);
            let mut sequence: Vec<_> = places.iter().map(|&place| &path.trace[place]).collect();
            sequence.insert(needed, &other);
            insert::<S>(&mut path.nodes[first], &path.trace[first], sequence);
        } else {
            look(path, first, S::process(&other), places, session)?;
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
    path: &mut Path<S>,
    first: usize,
    process: u64,
    places: &[usize],
    session: &mut Session<'_, '_, S>,
) -> ControlFlow<(), Option<usize>> {
    let sequence: Vec<_> = places.iter().map(|&place| &path.trace[place]).collect();
    let (node, present) = (&path.nodes[first], &path.trace[first]);
    for asleep in &node.sleep {
        if let Weak::Initial(place) = wakeup::weak_initial::<S>(asleep, &sequence) {
            return ControlFlow::Continue(Some(place));
        }
    }
    let asleep: Vec<_> = node.sleep.iter().chain([present]).collect();
    if wakeup::covers::<S>(&node.rest, &mut sequence.clone(), &asleep) {
        return ControlFlow::Continue(None);
    }
    session.reorder(path.trace[..first].iter().chain(sequence))?;
    let mut enabled = Vec::new();
    session.system.enabled(&mut enabled);
    let mut places = places.to_vec();
    for last in enabled.iter().filter(|transition| S::process(transition) == process) {
        let needed = path.needed(&mut places, last);
        let mut sequence: Vec<_> = places.iter().map(|&place| &path.trace[place]).collect();
        sequence.insert(needed, last);
        if wakeup::weak_initial::<S>(&path.trace[first], &sequence) == Weak::No {
            insert::<S>(&mut path.nodes[first], &path.trace[first], sequence);
        }
    }
    ControlFlow::Continue(None)
}
