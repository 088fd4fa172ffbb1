//! Wakeup trees: what is still to be explored from a state, as sequences that share their beginnings.
//!
//! Abdulla, Aronis, Jonsson, Sagonas, "Optimal dynamic partial order reduction" (POPL 2014), section 6. A sequence is
//! inserted only if no branch before it leads to the same executions.
//!
//! Where it departs from it: a sequence is followed no further than to a state where nothing is asleep. From there on, an exploration
//! is one of its own, which misses nothing, whatever it is told to begin with. As published, a tree holds a leaf for each execution to
//! come, as long as an execution; so it holds mostly single steps.

use std::collections::VecDeque;

use crate::system::System;

/// A step to be taken, and what is to follow it; nothing said means anything may.
#[derive(Clone, Debug)]
pub(crate) struct Branch<T> {
    pub(crate) transition: T,
    pub(crate) below: WakeupTree<T>,
}

impl<T> From<T> for Branch<T> {
    /// A single step.
    fn from(transition: T) -> Self {
        Self { transition, below: WakeupTree::new() }
    }
}

/// The branches from a state, in the order in which they are explored.
pub(crate) type WakeupTree<T> = VecDeque<Branch<T>>;

/// Where a step stands to a sequence.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Weak {
    /// The sequence can begin with it, and has it here.
    Initial(usize),
    /// It depends on nothing of the sequence: something that begins with it can go on as the sequence.
    Independent,
    /// The sequence cannot begin with it.
    No,
}

/// Whether a step is a weak initial of a sequence.
pub(crate) fn weak_initial<S: System>(step: &S::Transition, sequence: &[&S::Transition]) -> Weak {
    for (index, other) in sequence.iter().enumerate() {
        if S::step(other) == S::step(step) {
            return Weak::Initial(index);
        }
        if S::dependent(step, other) {
            return Weak::No;
        }
    }
    Weak::Independent
}

/// Inserts a sequence at a state where these steps will be asleep, unless what it leads to will be explored anyway. If that is so because
/// one of its steps will be explored there with nothing asleep after it, says which.
pub(crate) fn insert<S: System>(
    tree: &mut WakeupTree<S::Transition>,
    sequence: &mut Vec<&S::Transition>,
    asleep: &[&S::Transition],
) -> Option<usize> {
    let branches = tree.make_contiguous();
    for index in 0..branches.len() {
        let weak = weak_initial::<S>(&branches[index].transition, sequence);
        if weak == Weak::No {
            continue;
        }
        let (earlier, rest) = branches.split_at_mut(index);
        let branch = &mut rest[0];
        let place = if let Weak::Initial(place) = weak { Some(place) } else { None };
        place.map(|place| sequence.remove(place));
        let left = still_asleep::<S>(asleep, earlier.iter(), &branch.transition);
        if left.is_empty() {
            return place;
        }
        if !branch.below.is_empty() && !sequence.is_empty() {
            insert::<S>(&mut branch.below, sequence, &left);
        }
        return None;
    }
    let mut left = asleep.to_vec();
    left.extend(branches.iter().map(|branch| &branch.transition));
    let enough = sequence.iter().position(|step| {
        left.retain(|asleep| !S::dependent(asleep, step));
        left.is_empty()
    });
    let length = enough.map_or(sequence.len(), |last| last + 1);
    let mut tree = tree;
    for &transition in &sequence[..length] {
        tree.push_back(transition.clone().into());
        tree = &mut tree.back_mut().expect("just pushed").below;
    }
    (length == 1).then_some(0)
}

/// Whether a sequence would not be inserted, whatever one more step comes after it: all branches that it leads through begin with
/// steps that it can begin with too.
pub(crate) fn covers<S: System>(
    tree: &WakeupTree<S::Transition>,
    sequence: &mut Vec<&S::Transition>,
    asleep: &[&S::Transition],
) -> bool {
    for (index, branch) in tree.iter().enumerate() {
        match weak_initial::<S>(&branch.transition, sequence) {
            Weak::No => continue,
            // The step to come may depend on it.
            Weak::Independent => return false,
            Weak::Initial(place) => {
                sequence.remove(place);
                let earlier = tree.iter().take(index);
                let left = still_asleep::<S>(asleep, earlier, &branch.transition);
                let ends = left.is_empty() || branch.below.is_empty();
                return ends || covers::<S>(&branch.below, sequence, &left);
            }
        }
    }
    false
}

/// What of that which is asleep at a state, and of the branches explored before, is still asleep after a step.
fn still_asleep<'t, S: System>(
    asleep: &[&'t S::Transition],
    earlier: impl Iterator<Item = &'t Branch<S::Transition>>,
    step: &S::Transition,
) -> Vec<&'t S::Transition>
where
    S::Transition: 't,
{
    let explored = earlier.map(|branch| &branch.transition);
    asleep.iter().copied().chain(explored).filter(|asleep| !S::dependent(asleep, step)).collect()
}
