//! Breadth-first search: all states at one distance before any that is further, so what is found is found by a shortest way.
//!
//! A level is expanded block by block. Several threads may expand a block, since that only looks things up; what
//! is not known yet is learned in between, and the results are taken in order. So every number, and every
//! counterexample, is the same whatever the number of threads.

use crate::session::Options;
use crate::space::{Lasso, Level, Seen, StateSpace, Steps, Successors};
use crate::stepped;
use crate::system::System;
use crate::verdict::Found;
use crate::visited::Parents;

/// How many states a thread expands before the results are taken.
const BLOCK: usize = 2048;

/// Looks at every state of a system once, the nearest first.
pub fn explore<S: System>(system: &mut S, options: Options<'_, S>) -> Found<S> {
    stepped::explore(system, options, |space| search(space))
}

/// Looks at every state once, the nearest first.
pub fn search<S: StateSpace>(space: &mut S) -> Seen {
    let (parents, next) = (Parents::default(), Level::default());
    Search { space, parents, next, seen: Seen::default() }.search()
}

struct Search<'s, S> {
    space: &'s mut S,
    parents: Parents,
    /// The states one step further than those that are expanded.
    next: Level,
    seen: Seen,
}

impl<S: StateSpace> Search<'_, S> {
    fn search(mut self) -> Seen {
        for start in self.space.starts() {
            self.space.compare(0, &[&start]);
            let key = self.space.key(&start);
            if self.space.is_within(&start)
                && let Some(number) = self.parents.insert(key, None)
            {
                self.next.push(&start);
                self.look(&start, None, number);
            }
        }
        let mut level = std::mem::take(&mut self.next);
        let block_max = BLOCK * self.space.workers();
        let mut lists: Vec<Successors<S::Step>> = Vec::new();
        let mut first_of_level = 0;
        'levels: while level.len() > 0 && self.space.wants_more() && !self.space.is_cut(self.seen.depth) {
            for block in (0..level.len()).step_by(block_max) {
                lists.resize_with((level.len() - block).min(block_max), Successors::default);
                if let Some((at, finding)) = self.space.expand_block(&level, block, &mut lists) {
                    self.parents.tell(self.space, Steps::Effective, first_of_level + at as u32, finding);
                    break 'levels;
                }
                for (at, list) in lists.iter().enumerate() {
                    let goes_on = self.take(first_of_level + (block + at) as u32, list);
                    self.seen.states = self.parents.count();
                    if !goes_on || self.space.is_over(Seen { depth: self.seen.depth + 1, ..self.seen }) {
                        break 'levels;
                    }
                }
            }
            first_of_level += level.len() as u32;
            std::mem::swap(&mut level, &mut self.next);
            self.next.clear();
            self.seen.depth += usize::from(level.len() > 0);
        }
        Seen { states: self.parents.count(), ..self.seen }
    }

    /// Takes what comes after a state; whether the search goes on.
    fn take(&mut self, parent: u32, list: &Successors<S::Step>) -> bool {
        for successor in &list.list {
            self.seen.transitions += 1;
            let state = list.state(successor);
            self.space.meet(state, successor.key);
            if !self.space.is_within(state) {
                // That a state is left out has to be true of all that count as the same.
                if self.space.is_sample(self.parents.count()) {
                    self.compare(parent, Some(state));
                }
                continue;
            }
            let Some(number) = self.parents.insert(successor.key, Some(parent)) else { continue };
            self.next.push(state);
            self.look(state, Some(successor.step), number);
            if self.space.is_sample(number as usize) {
                self.compare(number, None);
            }
            if !self.space.wants_more() {
                return false;
            }
        }
        self.space.wants_more()
    }

    fn look(&mut self, state: &[u32], step: Option<S::Step>, number: u32) {
        for finding in self.space.look(state, step) {
            self.parents.tell(self.space, Steps::Effective, number, finding);
        }
    }

    /// Looks whether a state that was reached, or one that comes right after it, is alike for all that have its key.
    fn compare(&mut self, number: u32, next: Option<&[u32]>) {
        let (way, last) = self.parents.way_to(self.space, Steps::Effective, number);
        let states = way.steps.iter().map(|(state, _)| state.as_slice()).chain([last.as_slice()]).chain(next);
        self.space.compare(number as usize, &states.collect::<Vec<_>>());
    }
}

impl Parents {
    /// Tells what was found in a state, and the way to it.
    pub(crate) fn tell<S: StateSpace>(&self, space: &mut S, steps: Steps, number: u32, finding: S::Finding) {
        let (way, _) = self.way_to(space, steps, number);
        space.found(finding, way);
    }

    /// The way to a state, found again from the start, and the state itself.
    pub(crate) fn way_to<S: StateSpace>(
        &self,
        space: &mut S,
        steps: Steps,
        last: u32,
    ) -> (Lasso<S::Step>, Vec<u32>) {
        let numbers = self.way(last);
        let starts = space.starts();
        let is_first = |start: &Vec<u32>| self.find(space.key(start)) == Some(numbers[0]);
        let start = starts.iter().position(is_first).expect("ways begin with a start");
        let mut way = Lasso { start, steps: Vec::new(), back_to: None };
        let mut state = starts[start].clone();
        let mut next = Successors::default();
        for &number in &numbers[1..] {
            next.clear();
            space.expand(steps, &state, &mut next);
            let found = next.list.iter().find(|successor| self.find(successor.key) == Some(number));
            // With states that only seem to be the same there may be no such step; following the schedule then shows it.
            let Some(found) = found else { break };
            way.steps.push((state, found.step));
            state = next.state(found).to_vec();
        }
        (way, state)
    }
}
