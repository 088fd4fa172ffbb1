//! The loop that the engines with a partial order reduction share; each supplies what it does about a race.
//!
//! Stateless depth-first search. At each state on the way there is what is still to be explored, and what is asleep: steps
//! after which all has been explored, and that nothing since depends on (Godefroid, "Partial-order methods for the
//! verification of concurrent systems", 1996).
//!
//! The papers assume that a process has one possible step at a time. Here a request may have several outcomes (which
//! activity a wait takes, which number is chosen), so that where one outcome is explored, the others are too. And a step may
//! end another actor: beside such a step all that was possible is explored ([`System::disables`]). Both are the
//! alternatives of a step (`is_alternative`); each engine says when it takes them up.

use std::ops::ControlFlow;

use fixedbitset::FixedBitSet;

use crate::causality::Causality;
use crate::session::{Options, Session};
use crate::system::System;
use crate::verdict::Found;
use crate::wakeup::{Branch, WakeupTree};

/// A state on the way of the present execution.
pub(crate) struct Node<T> {
    /// What is possible here.
    pub(crate) enabled: Vec<T>,
    /// What need not be explored here.
    pub(crate) sleep: Vec<T>,
    /// What is to be explored here.
    pub(crate) rest: WakeupTree<T>,
    /// What was explored here, or is being.
    pub(crate) begun: Vec<T>,
}

impl<T> Node<T> {
    /// What was, is, or will be explored here.
    fn considered(&self) -> impl Iterator<Item = &T> {
        self.begun.iter().chain(self.rest.iter().map(|branch| &branch.transition))
    }
}

/// The present execution of an exploration.
pub(crate) struct Path<'s, 'a, S: System> {
    pub(crate) session: Session<'s, 'a, S>,
    /// The states, from the start; the last is the present one.
    pub(crate) nodes: Vec<Node<S::Transition>>,
    /// The steps between them.
    pub(crate) trace: Vec<S::Transition>,
    pub(crate) causality: Causality,
    /// Whether it was cut at the present state.
    is_cut: bool,
    /// The lists of states that were left, to be used again.
    spare: Vec<[Vec<S::Transition>; 3]>,
}

/// What an engine does.
pub(crate) trait Strategy<S: System> {
    /// Whether it uses sleep sets.
    const SLEEPS: bool;

    /// Whether alternatives to a step are taken up when it is about to be explored.
    const ALTERNATIVES_AT_ONCE: bool;

    /// What is to be done about the races of an execution whose steps before `fresh` were seen before.
    fn races(path: &mut Path<'_, '_, S>, fresh: usize) -> ControlFlow<()>;
}

/// Explores with a strategy.
pub(crate) fn explore<S: System, R: Strategy<S>>(system: &mut S, options: Options<'_, S>) -> Found<S> {
    let (session, causality) = (Session::new(system, options), Causality::default());
    let (nodes, trace, spare) = (Vec::new(), Vec::new(), Vec::new());
    let mut path = Path { session, nodes, trace, causality, is_cut: false, spare };
    let _ = search::<S, R>(&mut path);
    path.session.conclude()
}

fn search<S: System, R: Strategy<S>>(path: &mut Path<'_, '_, S>) -> ControlFlow<()> {
    // The steps before this one were taken by an earlier execution too.
    let mut fresh = 0;
    loop {
        if path.nodes.is_empty() {
            path.session.begin()?;
            path.enter::<R>(WakeupTree::default());
        }
        if path.is_over()? {
            if path.session.system.learned() {
                path.nodes.clear();
                path.trace.clear();
                path.causality.truncate(0);
                path.session.restart();
                fresh = 0;
                continue;
            }
            if path.is_cut {
                path.session.look(true, path.trace.len())?;
                path.races_to_come::<R>()?;
            }
            R::races(path, fresh)?;
            let Some(branch) = path.backtrack::<R>() else { return ControlFlow::Continue(()) };
            path.session.begin()?;
            path.session.replay(&path.trace, path.nodes.last().map_or(&[], |node| &node.enabled))?;
            fresh = path.trace.len();
            path.descend::<R>(branch)?;
        } else if let Some(branch) = path.next_branch() {
            path.descend::<R>(branch)?;
        }
    }
}

/// Whether a step is asleep.
pub(crate) fn is_asleep<S: System>(sleep: &[S::Transition], transition: &S::Transition) -> bool {
    sleep.iter().any(|asleep| S::step(asleep) == S::step(transition))
}

impl<S: System> Path<'_, '_, S> {
    /// Whether the execution ends here; if not, there is something to be explored.
    fn is_over(&mut self) -> ControlFlow<(), bool> {
        self.is_cut = false;
        let node = self.nodes.last_mut().expect("there is a present state");
        if node.enabled.is_empty() {
            self.session.complete(&self.trace)?;
            return ControlFlow::Continue(true);
        }
        self.is_cut = self.session.is_cut(&self.trace);
        if self.is_cut {
            return ControlFlow::Continue(true);
        }
        if node.rest.is_empty() {
            let Some(awake) = node.enabled.iter().find(|t| !is_asleep::<S>(&node.sleep, t)) else {
                // All that is possible was explored elsewhere.
                self.session.progress.redundant += 1;
                return ControlFlow::Continue(true);
            };
            node.rest.push_back(awake.clone().into());
        }
        ControlFlow::Continue(false)
    }

    /// What an execution that was cut would do next has not been done, and yet may race with what it did: somebody else may not have
    /// had a turn.
    fn races_to_come<R: Strategy<S>>(&mut self) -> ControlFlow<()> {
        let steps = self.trace.len();
        for index in 0..self.nodes[steps].enabled.len() {
            self.trace.push(self.nodes[steps].enabled[index].clone());
            self.causality.push::<S>(&self.trace);
            R::races(self, steps)?;
            self.trace.truncate(steps);
            self.causality.truncate(steps);
        }
        ControlFlow::Continue(())
    }

    /// Takes what is to be explored next at the present state.
    fn next_branch(&mut self) -> Option<Branch<S::Transition>> {
        let node = self.nodes.last_mut()?;
        while let Some(branch) = node.rest.pop_front() {
            let step = S::step(&branch.transition);
            let possible = node.enabled.iter().any(|enabled| S::step(enabled) == step);
            if possible && !is_asleep::<S>(&node.sleep, &branch.transition) {
                return Some(branch);
            }
        }
        None
    }

    /// Goes back to the last state where something is left to be explored, and takes it.
    fn backtrack<R: Strategy<S>>(&mut self) -> Option<Branch<S::Transition>> {
        loop {
            self.spare.extend(self.nodes.pop().map(|node| [node.enabled, node.sleep, node.begun]));
            let explored = self.trace.pop()?;
            self.causality.truncate(self.trace.len());
            let node = self.nodes.last_mut().expect("a state before each step");
            if R::SLEEPS {
                node.sleep.push(explored);
            }
            if let Some(branch) = self.next_branch() {
                return Some(branch);
            }
        }
    }

    /// Takes a step from the present state.
    fn descend<R: Strategy<S>>(&mut self, branch: Branch<S::Transition>) -> ControlFlow<()> {
        let node = self.nodes.last_mut().expect("there is a present state");
        for index in 0..node.enabled.len() {
            if R::ALTERNATIVES_AT_ONCE && is_alternative::<S>(&branch.transition, &node.enabled[index]) {
                add_once::<S>(node, index);
            }
        }
        let step = S::step(&branch.transition);
        node.begun.push(branch.transition);
        self.session.execute(step, &mut self.trace)?;
        self.causality.push::<S>(&self.trace);
        self.enter::<R>(branch.below);
        ControlFlow::Continue(())
    }

    /// Comes to a new state.
    fn enter<R: Strategy<S>>(&mut self, rest: WakeupTree<S::Transition>) {
        let [mut enabled, mut sleep, mut begun] = self.spare.pop().unwrap_or_default();
        enabled.clear();
        sleep.clear();
        begun.clear();
        let mut node = Node { enabled, sleep, rest, begun };
        self.session.system.enabled(&mut node.enabled);
        if R::SLEEPS
            && let (Some(parent), Some(taken)) = (self.nodes.last(), self.trace.last())
        {
            let asleep = parent.sleep.iter().filter(|asleep| !S::dependent(asleep, taken));
            node.sleep.extend(asleep.cloned());
        }
        self.nodes.push(node);
    }

    /// The processes whose steps were, are, or will be explored at a state.
    pub(crate) fn is_considered(&self, state: usize, process: u64) -> bool {
        self.nodes[state].considered().any(|transition| S::process(transition) == process)
    }

    /// Adds all steps of a process that are possible at a state; says whether there are any.
    pub(crate) fn consider(&mut self, state: usize, process: u64) -> bool {
        let Node { enabled, rest, .. } = &mut self.nodes[state];
        let before = rest.len();
        let of_process = enabled.iter().filter(|transition| S::process(transition) == process);
        of_process.for_each(|transition| rest.push_back(transition.clone().into()));
        rest.len() > before
    }

    /// The steps between two that did not happen after the first, by their places.
    pub(crate) fn not_after(&self, first: usize, end: usize, into: &mut Vec<usize>) {
        into.clear();
        into.extend((first + 1..end).filter(|&other| !self.causality.is_before(first, other)));
    }

    /// Goes where a step was not taken: after the steps before it, and these of those behind it. Gives what a process can do there.
    pub(crate) fn without(
        &mut self,
        step: usize,
        places: &[usize],
        process: u64,
    ) -> ControlFlow<(), Vec<S::Transition>> {
        self.session.system.reset();
        for place in (0..step).chain(places.iter().copied()) {
            self.session.repeat(&self.trace[place])?;
        }
        let mut enabled = Vec::new();
        self.session.system.enabled(&mut enabled);
        enabled.retain(|transition| S::process(transition) == process);
        ControlFlow::Continue(enabled)
    }

    /// The processes whose steps nothing of a sequence happened before.
    pub(crate) fn initials(&self, sequence: &[usize]) -> Vec<u64> {
        let is_initial = |&place: &usize| {
            let mut earlier = sequence[..place].iter();
            !earlier.any(|&other| self.causality.is_before(other, sequence[place]))
        };
        let initials = (0..sequence.len()).filter(is_initial);
        initials.map(|place| S::process(&self.trace[sequence[place]])).collect()
    }

    /// Puts those of some steps first that a step would have to come after; says how many. Otherwise they are in the order of their
    /// places.
    pub(crate) fn needed(&self, places: &mut [usize], last: &S::Transition) -> usize {
        places.sort_unstable();
        let mut before = FixedBitSet::with_capacity(self.trace.len());
        let mut needed = vec![false; places.len()];
        for (&place, needed) in places.iter().zip(&mut needed).rev() {
            *needed = before.contains(place) || S::dependent(&self.trace[place], last);
            if *needed {
                before.union_with(self.causality.row(place));
            }
        }
        let (first, rest): (Vec<_>, Vec<_>) = places.iter().zip(needed).partition(|(_, needed)| *needed);
        let count = first.len();
        let sorted: Vec<usize> = first.into_iter().chain(rest).map(|(&place, _)| place).collect();
        places.copy_from_slice(&sorted);
        count
    }
}

/// Whether a step that is possible beside another is to be explored because that other is: another outcome of the same
/// request, or anything that the other may make impossible.
pub(crate) fn is_alternative<S: System>(taken: &S::Transition, other: &S::Transition) -> bool {
    let instead = S::disables(taken) || S::process(other) == S::process(taken) || S::blocks(taken, other);
    instead && S::step(other) != S::step(taken)
}

/// Adds one of the possible steps to what is to be explored at a state, unless it was already.
pub(crate) fn add_once<S: System>(node: &mut Node<S::Transition>, index: usize) {
    let step = S::step(&node.enabled[index]);
    if !node.considered().any(|transition| S::step(transition) == step) {
        node.rest.push_back(node.enabled[index].clone().into());
    }
}
