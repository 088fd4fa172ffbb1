//! A system as a space of states: a state is known by its key, and come to by the steps that led to it, or by a snapshot.

use std::ops::ControlFlow;

use crate::session::{Options, Session};
use crate::space::{Lasso, Seen, StateSpace, Steps, Successors};
use crate::system::System;
use crate::verdict::Found;

/// The states of a system, as the number of what was come to.
pub(crate) struct Stepped<'x, 's, 'a, S: System> {
    session: &'x mut Session<'s, 'a, S>,
    /// From which state, and by what, each was come to.
    reached: Vec<Option<(u32, S::Transition)>>,
    /// How to come back to each, where the system can.
    snapshots: Vec<Option<S::Snapshot>>,
    /// Which state the system is in, where that is one.
    at: Option<u32>,
    /// The search is over: it was stopped, or something was found, or is to begin anew.
    is_over: bool,
    /// What was seen makes other steps, and so other states, different from each other.
    learned: bool,
    /// The fingerprint of the start.
    first: u128,
    /// Whether it was looked whether processes are created without end.
    probed: bool,
}

/// With so many states it is looked whether processes are created without end.
const MANY: usize = 10_000;

/// Searches the states of a system, anew where it turns out that what is the same is not.
pub(crate) fn explore<S: System>(
    system: &mut S,
    options: Options<'_, S>,
    search: impl Fn(&mut Stepped<'_, '_, '_, S>) -> Seen,
) -> Found<S> {
    let mut session = Session::new(system, options);
    loop {
        let (reached, snapshots, at) = (Vec::new(), Vec::new(), None);
        let (is_over, learned, first, probed) = (false, false, 0, false);
        let mut space =
            Stepped { session: &mut session, reached, snapshots, at, is_over, learned, first, probed };
        space.first = space.reach(None).1;
        search(&mut space);
        if !space.learned {
            return session.conclude();
        }
        session.restart();
    }
}

impl<S: System> Stepped<'_, '_, '_, S> {
    /// Notes the present state, and gives what it is known by.
    fn reach(&mut self, from: Option<(u32, S::Transition)>) -> (u32, u128) {
        let number = self.reached.len() as u32;
        let system = &mut *self.session.system;
        // Where a system cannot tell, each state is new.
        let key = system.state_key().unwrap_or(u128::from(number) << 64 | u128::from(number));
        self.snapshots.push(system.snapshot());
        self.reached.push(from);
        self.at = Some(number);
        (number, key)
    }

    /// The steps from the start to a state.
    fn trace(&self, last: u32) -> Vec<S::Transition> {
        let before = |at: u32| self.reached[at as usize].as_ref();
        let way = std::iter::successors(before(last), |(at, _)| before(*at));
        let mut steps: Vec<_> = way.map(|(_, transition)| transition.clone()).collect();
        steps.reverse();
        steps
    }

    /// Brings the system to a state.
    fn go_to(&mut self, number: u32, trace: &[S::Transition]) -> ControlFlow<()> {
        if self.at.replace(number) != Some(number) {
            match &self.snapshots[number as usize] {
                Some(snapshot) => self.session.system.restore(snapshot),
                None => self.session.replay(trace, &[])?,
            }
        }
        ControlFlow::Continue(())
    }

    fn successors(&mut self, number: u32, out: &mut Successors<u32>) -> ControlFlow<()> {
        self.session.begin()?;
        if self.reached.len() >= MANY && !std::mem::replace(&mut self.probed, true) {
            self.at = None;
            if self.session.creates_for_ever() {
                return ControlFlow::Break(());
            }
        }
        let mut trace = self.trace(number);
        self.go_to(number, &trace)?;
        let mut enabled = Vec::new();
        self.session.system.enabled(&mut enabled);
        if enabled.is_empty() {
            // What it looks at may leave the system anywhere.
            self.at = None;
            return self.session.complete(&trace);
        }
        if self.session.is_cut(&trace) {
            return ControlFlow::Continue(());
        }
        // The first comes last, so that a search in depth finds the system there.
        let mut next = Vec::new();
        for transition in enabled.into_iter().rev() {
            self.go_to(number, &trace)?;
            let length = trace.len();
            self.session.execute(S::step(&transition), &mut trace)?;
            trace.truncate(length);
            next.push(self.reach(Some((number, transition))));
            if self.session.system.learned() {
                self.learned = true;
                return ControlFlow::Break(());
            }
        }
        for (number, key) in next.into_iter().rev() {
            let start = out.data.len();
            out.data.push(number);
            out.push(number, key, start);
        }
        ControlFlow::Continue(())
    }
}

impl<S: System> StateSpace for Stepped<'_, '_, '_, S> {
    type Step = u32;
    /// What is wrong is noted by the session, when a step is taken.
    type Finding = ();

    fn starts(&mut self) -> Vec<Vec<u32>> {
        vec![vec![0]]
    }

    fn key(&mut self, _: &[u32]) -> u128 {
        self.first
    }

    fn expand(&mut self, _: Steps, state: &[u32], out: &mut Successors<u32>) -> Option<()> {
        self.is_over |= !self.is_over && self.successors(state[0], out).is_break();
        None
    }

    fn look(&mut self, _: &[u32], _: Option<u32>) -> Vec<()> {
        Vec::new()
    }

    fn found(&mut self, (): (), _: Lasso<u32>) {}

    fn wants_more(&self) -> bool {
        !self.is_over
    }

    fn is_over(&mut self, _: Seen) -> bool {
        self.is_over
    }

    /// That is known only where it is seen whether anything comes after.
    fn is_cut(&mut self, _: usize) -> bool {
        false
    }
}
