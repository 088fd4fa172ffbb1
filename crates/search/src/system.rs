//! What can be explored: anything that starts anew, says what may happen next, and does one thing at a time.
//!
//! The engines see nothing else, so that toy graphs, actors, protocol handlers and compiled programs share them all.

use std::fmt::Debug;

use crate::verdict::{Divergence, Finding};

/// What may come of a race if the second transition is to go first. See [`System::reversal`].
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Reversal {
    /// The second transition can take place, as it is, without the first.
    Same,
    /// The first makes the second possible, and its process can do nothing else instead.
    Never,
    /// It depends: the second may be possible without the first, or its process may do something else instead (a wait
    /// that times out, or takes another of its activities). An engine goes and looks.
    Look,
}

/// What a step tells about whether an execution gets anywhere.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Headway {
    /// Its process has got what it waited or looked for.
    Made,
    /// Its process has waited or looked in vain.
    InVain,
    /// It creates a process.
    Creates,
    /// Nothing.
    Unclear,
}

/// A system to explore. It must be deterministic: the same steps from the start lead to the same state.
///
/// A process is whatever does its transitions in order. It may have several possible ones at a time, of which it does
/// one (outcomes of one request). Transitions of one process always depend on each other.
pub trait System {
    /// One atomic step: plain data that says all that its dependence on others needs.
    type Transition: Clone + PartialEq + Debug;

    /// How a transition is written in a schedule.
    type Step: Copy + Eq + Ord + Debug;

    /// What may be wrong with an execution.
    type Violation: Finding;

    /// A state to come back to; `()` where a system cannot.
    type Snapshot;

    /// Goes back to the start.
    fn reset(&mut self);

    /// Appends what may happen next, in an order that depends on the state alone.
    fn enabled(&mut self, into: &mut Vec<Self::Transition>);

    /// Does an enabled step, and gives it back.
    fn execute(&mut self, step: Self::Step) -> Self::Transition;

    /// The present state, to come back to, where a system can. Otherwise an engine goes back to the start, and repeats.
    fn snapshot(&mut self) -> Option<Self::Snapshot> {
        None
    }

    /// Comes back to a state.
    fn restore(&mut self, _snapshot: &Self::Snapshot) {
        unreachable!("there are no snapshots")
    }

    /// Whether a step that was taken before, after the same steps, can be taken now. Where a system is not deterministic,
    /// through no fault of its own, this may be false; then [`divergence`](Self::divergence) says why.
    fn can_repeat(&self, _taken: &Self::Transition) -> bool {
        true
    }

    /// What is to be said when a step is not what it was before: it cannot be taken, or another was taken instead.
    fn divergence(&self, taken: &Self::Transition, instead: Option<&Self::Transition>) -> Divergence {
        let name = Self::process(taken).to_string();
        let asked = instead.map(|t| format!("{t:?}"));
        Divergence::Actor { name, asked, before: format!("{taken:?}") }
    }

    /// A condition that gave another answer about the same state, in words, if one did.
    fn unsteady(&self) -> Option<String> {
        None
    }

    /// What a step tells about whether an execution gets anywhere.
    fn headway(_transition: &Self::Transition) -> Headway {
        Headway::Unclear
    }

    /// How a transition is written in a schedule. Two enabled transitions have different steps, and a transition keeps
    /// its step while others that it does not depend on take place.
    fn step(transition: &Self::Transition) -> Self::Step;

    /// Whose transition it is: the same number for transitions that are done in order by one process.
    fn process(transition: &Self::Transition) -> u64;

    /// Whether the order of two transitions may matter: false only if, wherever both are possible, neither makes the
    /// other impossible and both orders lead to the same state. Also true if one may make the other possible.
    fn dependent(a: &Self::Transition, b: &Self::Transition) -> bool;

    /// Whether something was seen since the last call that makes transitions dependent that were taken for independent.
    /// Then what was explored counts for nothing, and an engine that relies on dependence begins anew.
    ///
    /// So a system may begin with few dependences and add those that the program turns out to have, if the first step of a
    /// program that needs one more is among those that the few lead to.
    fn learned(&mut self) -> bool {
        false
    }

    /// What may come of a race of two dependent transitions if the second is to go first.
    fn reversal(_first: &Self::Transition, _second: &Self::Transition) -> Reversal {
        Reversal::Same
    }

    /// Whether a transition, where it is one of several outcomes, stays possible while others take place that the outcome
    /// taken in its place does not depend on. An engine looks where it may not.
    fn stays(_transition: &Self::Transition) -> bool {
        true
    }

    /// Whether a transition may make those of other processes impossible for ever. Then all that is possible in its place is
    /// explored beside it; and it must depend on everything.
    fn disables(_transition: &Self::Transition) -> bool {
        false
    }

    /// Whether a transition may leave the process of another, which depends on it, with nothing to do: what it could do is
    /// impossible then, and nothing else is possible instead. Then the other is explored beside it.
    fn blocks(_transition: &Self::Transition, _other: &Self::Transition) -> bool {
        false
    }

    /// How many violations there have been since the start.
    fn violation_count(&self) -> usize;

    /// A violation since the start.
    fn violation(&self, index: usize) -> Self::Violation;

    /// What is wrong with an execution that is complete, and took these steps.
    fn at_end(&mut self, schedule: &mut dyn Iterator<Item = Self::Step>) -> Vec<Self::Violation>;

    /// A number that equal states share, and different ones hardly ever: states from which the same can happen, and of which
    /// the same is wrong. Nothing where a system cannot tell.
    fn state_key(&mut self) -> Option<u128> {
        None
    }
}
