//! Wakeup trees: what is still to be explored from a state, as sequences that share their beginnings.
//!
//! Abdulla, Aronis, Jonsson, Sagonas, "Optimal dynamic partial order reduction" (POPL 2014), section 6. A sequence is
//! inserted only if no branch before it leads to the same executions.

use std::collections::VecDeque;

use crate::system::System;

/// A step to be taken, and what is to follow it; nothing said means anything may.
#[derive(Clone, Debug)]
pub(crate) struct Branch<T> {
    pub(crate) transition: T,
    pub(crate) below: WakeupTree<T>,
    /// Sequences that this step has nothing to do with and that will be explored after it. If the step is one outcome of
    /// several, they are to be explored with the other outcomes too: the papers know no such steps.
    pub(crate) besides: Vec<Vec<T>>,
}

/// The branches from a state, in the order in which they are explored.
#[derive(Clone, Debug)]
pub(crate) struct WakeupTree<T> {
    pub(crate) branches: VecDeque<Branch<T>>,
}

impl<T> Default for WakeupTree<T> {
    fn default() -> Self {
        Self { branches: VecDeque::new() }
    }
}

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

impl<T> WakeupTree<T> {
    /// A single step.
    pub(crate) fn push(&mut self, transition: T) {
        self.branches.push_back(Branch { transition, below: Self::default(), besides: Vec::new() });
    }
}

/// Inserts a sequence, unless what it leads to will be explored anyway.
pub(crate) fn insert<S: System>(tree: &mut WakeupTree<S::Transition>, sequence: &mut Vec<&S::Transition>) {
    for branch in &mut tree.branches {
        match weak_initial::<S>(&branch.transition, sequence) {
            Weak::No => continue,
            Weak::Initial(index) => {
                sequence.remove(index);
            }
            Weak::Independent => {
                branch.besides.push(sequence.iter().map(|&transition| transition.clone()).collect());
            }
        }
        if !branch.below.branches.is_empty() && !sequence.is_empty() {
            insert::<S>(&mut branch.below, sequence);
        }
        return;
    }
    let mut tree = tree;
    for transition in sequence.iter() {
        tree.push((*transition).clone());
        tree = &mut tree.branches.back_mut().expect("just pushed").below;
    }
}
