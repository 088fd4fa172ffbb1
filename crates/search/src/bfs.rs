//! Breadth-first search: all states at one distance before any that is further, so what is found is found by a shortest way.
//!
//! A level is expanded block by block. Several threads may expand a block, since that only looks things up; what
//! is not known yet is learned in between, and the results are taken in order. So every number, and every
//! counterexample, is the same whatever the number of threads.

use crate::session::{Options, Session};
use crate::space::{Level, Seen, StateSpace, Steps, Successors, Way};
use crate::stepped;
use crate::system::System;
use crate::verdict::Found;
use crate::visited::Parents;

/// How many states a thread expands before the results are taken.
const BLOCK: usize = 2048;

/// Looks at every state of a system once, the nearest first.
pub fn explore<S: System>(system: &mut S, options: Options<'_, S>) -> Found<S> {
    stepped::explore(Session::new(system, options), |space| {
        search(space);
    })
}

/// Looks at every state once, the nearest first.
pub fn search<S: StateSpace>(space: &mut S) -> Seen {
    let mut parents = Parents::default();
    let mut seen = Seen::default();
    let (mut level, mut next) = (Level::default(), Level::default());
    for start in space.starts() {
        space.compare(0, &[&start]);
        let key = space.key(&start);
        if !space.is_within(&start) || parents.insert(key, None).is_none() {
            continue;
        }
        level.push(&start);
        look(space, &parents, &start, None, parents.count() as u32 - 1);
    }
    let workers = space.workers();
    let mut lists: Vec<Successors<S::Step>> = Vec::new();
    let mut first_of_level = 0;
    'levels: while level.len() > 0 && space.wants_more() && !space.is_cut(seen.depth) {
        for block in (0..level.len()).step_by(BLOCK * workers) {
            lists.resize_with((level.len() - block).min(BLOCK * workers), Successors::default);
            if let Some((at, finding)) = space.expand_block(&level, block, &mut lists) {
                let way = way(space, Steps::Effective, &parents, first_of_level + at as u32);
                space.found(finding, way);
                break 'levels;
            }
            for (at, list) in lists.iter().enumerate() {
                let parent = first_of_level + (block + at) as u32;
                let goes_on = take(space, &mut parents, &mut next, parent, list, &mut seen);
                seen.states = parents.count();
                if !goes_on || space.is_over(Seen { depth: seen.depth + 1, ..seen }) {
                    break 'levels;
                }
            }
        }
        first_of_level += level.len() as u32;
        std::mem::swap(&mut level, &mut next);
        next.clear();
        seen.depth += usize::from(level.len() > 0);
    }
    Seen { states: parents.count(), ..seen }
}

/// Takes what comes after a state; whether the search goes on.
fn take<S: StateSpace>(
    space: &mut S,
    parents: &mut Parents,
    next: &mut Level,
    parent: u32,
    list: &Successors<S::Step>,
    seen: &mut Seen,
) -> bool {
    for successor in &list.list {
        seen.transitions += 1;
        let state = list.state(successor);
        space.meet(state, successor.key);
        if !space.is_within(state) {
            // That a state is left out has to be true of all that count as the same.
            if space.is_sample(parents.count()) {
                compare(space, parents, parent, Some(state));
            }
            continue;
        }
        let Some(number) = parents.insert(successor.key, Some(parent)) else { continue };
        next.push(state);
        look(space, parents, state, Some(successor.step), number);
        if space.is_sample(number as usize) {
            compare(space, parents, number, None);
        }
        if !space.wants_more() {
            return false;
        }
    }
    space.wants_more()
}

fn look<S: StateSpace>(space: &mut S, parents: &Parents, state: &[u32], step: Option<S::Step>, number: u32) {
    for finding in space.look(state, step) {
        let way = way(space, Steps::Effective, parents, number);
        space.found(finding, way);
    }
}

/// Looks whether a state that was reached, or one that comes right after it, is alike for all that have its key.
fn compare<S: StateSpace>(space: &mut S, parents: &Parents, number: u32, next: Option<&[u32]>) {
    let (way, last) = way_to(space, Steps::Effective, parents, number);
    let states = way.steps.iter().map(|(state, _)| state.as_slice()).chain([last.as_slice()]).chain(next);
    space.compare(number as usize, &states.collect::<Vec<_>>());
}

/// The way to a state, found again from the start.
pub(crate) fn way<S: StateSpace>(space: &mut S, made: Steps, parents: &Parents, last: u32) -> Way<S::Step> {
    way_to(space, made, parents, last).0
}

/// The same, with the state itself.
fn way_to<S: StateSpace>(
    space: &mut S,
    made: Steps,
    parents: &Parents,
    last: u32,
) -> (Way<S::Step>, Vec<u32>) {
    let numbers = parents.way(last);
    let starts = space.starts();
    let is_first = |start: &Vec<u32>| parents.find(space.key(start)) == Some(numbers[0]);
    let start = starts.iter().position(is_first).expect("ways begin with a start");
    let mut way = Way { start, steps: Vec::new(), back_to: None };
    let mut state = starts[start].clone();
    let mut next = Successors::default();
    for &number in &numbers[1..] {
        next.clear();
        space.expand(made, &state, &mut next);
        let found = next.list.iter().find(|successor| parents.find(successor.key) == Some(number));
        // With states that only seem to be the same there may be no such step; following the schedule then shows it.
        let Some(found) = found else { break };
        way.steps.push((state, found.step));
        state = next.state(found).to_vec();
    }
    (way, state)
}
