//! Depth-first search that comes to each state once: a set of fingerprints and one path, in little memory.
//!
//! What can happen from a state does not depend on how it was reached. Deadlocks and violations of states are found as by plain
//! search; executions are not seen one by one, so that what compares whole executions is lost.

use crate::session::Options;
use crate::space::{Frame, Lasso, Seen, StateSpace, Steps, Successors};
use crate::stepped;
use crate::system::System;
use crate::verdict::Found;
use crate::visited::FingerprintSet;

/// Looks at every state of a system once.
pub fn explore<S: System>(system: &mut S, options: Options<'_, S>) -> Found<S> {
    stepped::explore(system, options, |space| search(space))
}

/// The states from a start to the present one.
struct Path<'s, S: StateSpace> {
    space: &'s mut S,
    start: usize,
    first: Vec<u32>,
    frames: Vec<Frame>,
    stack: Successors<S::Step>,
}

/// Looks at every state once.
pub fn search<S: StateSpace>(space: &mut S) -> Seen {
    let mut visited = FingerprintSet::default();
    let mut seen = Seen::default();
    for (start, first) in space.starts().into_iter().enumerate() {
        space.compare(0, &[&first]);
        let key = space.key(&first);
        if !space.is_within(&first) || !visited.insert(key) {
            continue;
        }
        let mut path = Path { space, start, first, frames: Vec::new(), stack: Successors::default() };
        if !path.search(&mut visited, &mut seen) {
            break;
        }
    }
    Seen { states: visited.count(), ..seen }
}

impl<S: StateSpace> Path<'_, S> {
    /// Goes through what can be reached from a start; whether the search goes on.
    fn search(&mut self, visited: &mut FingerprintSet, seen: &mut Seen) -> bool {
        seen.states += 1;
        let mut current = self.first.clone();
        self.look(&current, None);
        if !self.space.is_cut(0) {
            self.push(&current);
        }
        while self.space.wants_more() {
            let depth = self.frames.len();
            let Some(frame) = self.frames.last_mut() else { return true };
            let Some(successor) = self.stack.next(frame) else {
                self.stack.truncate(frame.mark);
                self.frames.pop();
                continue;
            };
            seen.transitions += 1;
            let state = self.stack.state(&successor);
            self.space.meet(state, successor.key);
            if !self.space.is_within(state) {
                // That a state is left out has to be true of all that count as the same.
                self.compare(seen.states);
                continue;
            }
            if !visited.insert(successor.key) {
                continue;
            }
            seen.states += 1;
            seen.depth = seen.depth.max(depth);
            current.clear();
            current.extend_from_slice(state);
            self.look(&current, Some(successor.step));
            self.compare(seen.states);
            if self.space.is_over(Seen { depth, ..*seen }) {
                return false;
            }
            if !self.space.is_cut(depth) {
                self.push(&current);
            }
        }
        false
    }

    fn push(&mut self, state: &[u32]) {
        let mark = self.stack.mark();
        if let Some(finding) = self.space.expand(Steps::Effective, state, &mut self.stack) {
            self.space.found(finding, self.way());
        }
        self.frames.push(Frame { next: mark.0, end: self.stack.list.len(), mark });
    }

    /// Looks whether the state at the end is alike for all that have its key, for samples.
    fn compare(&mut self, number: usize) {
        if self.space.is_sample(number) {
            let taken = self.frames.iter().map(|frame| self.stack.state(&self.stack.list[frame.next - 1]));
            let way: Vec<&[u32]> = std::iter::once(self.first.as_slice()).chain(taken).collect();
            self.space.compare(number, &way);
        }
    }

    fn look(&mut self, state: &[u32], step: Option<S::Step>) {
        for finding in self.space.look(state, step) {
            self.space.found(finding, self.way());
        }
    }

    /// The steps that were taken.
    fn way(&self) -> Lasso<S::Step> {
        let mut state = self.first.as_slice();
        let mut steps = Vec::new();
        for frame in &self.frames {
            let successor = &self.stack.list[frame.next - 1];
            steps.push((state.to_vec(), successor.step));
            state = self.stack.state(successor);
        }
        Lasso { start: self.start, steps, back_to: None }
    }
}
