//! Breadth-first search: all states at one distance before any that is further, so what is found is found by a shortest way.
//!
//! A level is expanded block by block. Several threads may expand a block, since that only looks things up; what
//! is not known yet is learned in between, and the results are taken in order. So every number, and every
//! counterexample, is the same whatever the number of threads.

use crate::actor::Data;
use crate::schedule::{Schedule, Step};
use crate::session::{Code, Decided, Session};
use crate::space::{Move, Space};
use crate::successors::{Steps, Successors};
use crate::symmetry;
use crate::visited::Parents;

/// How many states a thread expands before the results are taken.
const BLOCK: usize = 2048;

/// States one behind the other.
#[derive(Default)]
struct Level {
    data: Vec<u32>,
    ends: Vec<usize>,
}

impl Level {
    fn push(&mut self, state: &[u32]) {
        self.data.extend_from_slice(state);
        self.ends.push(self.data.len());
    }

    fn get(&self, at: usize) -> &[u32] {
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.data[start..self.ends[at]]
    }

    fn clear(&mut self) {
        self.data.clear();
        self.ends.clear();
    }
}

pub(crate) fn search<M: Data>(session: &mut Session<'_, M>, workers: usize) {
    let mut parents = Parents::new();
    let (mut level, mut next) = (Level::default(), Level::default());
    let mut first_of_level = 0;
    for start in session.starts.clone() {
        symmetry::compare(session, 0, &[&start]);
        if !session.within(&start) || parents.insert(session.space.hash(&start), None).is_none() {
            continue;
        }
        level.push(&start);
        for decided in session.look(&start, None) {
            let schedule = schedule(session, Steps::Effective, &parents, parents.len() as u32 - 1);
            session.decide(decided, schedule);
        }
    }
    let mut buffers: Vec<Vec<Successors>> = (0..workers).map(|_| Vec::new()).collect();
    let mut depth = 0;
    'levels: while !level.ends.is_empty() && session.wants_more() {
        if depth >= session.limits.depth_max {
            session.cut = Some(format!("{depth} steps were the bound"));
            break;
        }
        for block in (0..level.ends.len()).step_by(BLOCK * workers) {
            expand(&mut session.space, &level, block, &mut buffers);
            if let Some(state) = session.broken_history() {
                let at = parents.find(session.space.hash(&state)).expect("it was reached before");
                let schedule = schedule(session, Steps::Effective, &parents, at);
                session.decide(Decided::Broken(Code::History), schedule);
                break 'levels;
            }
            let lists = buffers.iter().flatten().take((level.ends.len() - block).min(BLOCK * workers));
            for (at, list) in lists.enumerate() {
                let parent = first_of_level + (block + at) as u32;
                if !take(session, &mut parents, &mut next, parent, list)
                    || session.over(parents.len(), depth + 1)
                {
                    break 'levels;
                }
            }
        }
        first_of_level += level.ends.len() as u32;
        std::mem::swap(&mut level, &mut next);
        next.clear();
        depth += usize::from(!level.ends.is_empty());
    }
    session.report.depth = depth;
    session.report.states = parents.len() as u64;
    session.report.system_states = parents.len() as u64;
}

/// Expands a block of states, each thread a part of it.
fn expand<M: Data>(space: &mut Space<M>, level: &Level, block: usize, buffers: &mut [Vec<Successors>]) {
    let parts: Vec<std::ops::Range<usize>> = (0..buffers.len())
        .map(|worker| {
            let start = (block + worker * BLOCK).min(level.ends.len());
            start..(start + BLOCK).min(level.ends.len())
        })
        .collect();
    let one = |space: &Space<M>, part: std::ops::Range<usize>, lists: &mut Vec<Successors>| {
        let mut unknown: Vec<usize> = Vec::new();
        lists.truncate(part.len());
        lists.resize_with(part.len(), Successors::default);
        for (list, at) in lists.iter_mut().zip(part) {
            list.clear();
            if space.expand(level.get(at), list).is_err() {
                unknown.push(at);
            }
        }
        unknown
    };
    let unknown: Vec<usize> = match buffers {
        [only] => one(space, parts[0].clone(), only),
        _ => std::thread::scope(|scope| {
            let space = &*space;
            let threads: Vec<_> = buffers
                .iter_mut()
                .zip(parts.iter().cloned())
                .map(|(lists, part)| scope.spawn(move || one(space, part, lists)))
                .collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().expect("looking things up does not panic"))
                .collect()
        }),
    };
    for at in unknown {
        let (worker, place) = ((at - block) / BLOCK, (at - block) % BLOCK);
        space.expand_learning(level.get(at), &mut buffers[worker][place]);
    }
}

/// Takes what comes after a state; whether the search goes on.
fn take<M: Data>(
    session: &mut Session<'_, M>,
    parents: &mut Parents,
    next: &mut Level,
    parent: u32,
    list: &Successors,
) -> bool {
    for successor in &list.list {
        session.report.transitions += 1;
        let state = list.state(successor);
        session.compare(state, successor.hash);
        if !session.within(state) {
            // That a state is left out has to be true of all that count as the same.
            if symmetry::is_sample(&session.space, parents.len()) {
                compare(session, parents, parent, Some(state));
            }
            continue;
        }
        let Some(number) = parents.insert(successor.hash, Some(parent)) else { continue };
        next.push(state);
        for decided in session.look(state, successor.actor()) {
            let schedule = schedule(session, Steps::Effective, parents, number);
            session.decide(decided, schedule);
        }
        if symmetry::is_sample(&session.space, number as usize) {
            compare(session, parents, number, None);
        }
        if !session.wants_more() {
            return false;
        }
    }
    session.wants_more()
}

/// Looks whether a state that was reached, or one that comes right after it, is alike for symmetric actors.
fn compare<M: Data>(session: &mut Session<'_, M>, parents: &Parents, number: u32, next: Option<&[u32]>) {
    let (_, way) = way(session, Steps::Effective, parents, number);
    let states: Vec<&[u32]> = way.iter().map(|(_, state)| state.as_slice()).chain(next).collect();
    symmetry::compare(session, number as usize, &states);
}

/// The way to a state, found again from the start.
pub(crate) fn schedule<M: Data>(
    session: &mut Session<'_, M>,
    made: Steps,
    parents: &Parents,
    last: u32,
) -> Schedule {
    let (start, way) = way(session, made, parents, last);
    let before = way.iter().map(|(_, state)| state);
    let steps = before.zip(&way[1..]).filter_map(|(before, (step, _))| {
        let step = (*step)?;
        Some(Step::of(&session.space, before, step))
    });
    Schedule { start, steps: steps.collect(), back_to: None }
}

/// The states on the way to one, each with the step that leads to it: none for the start, whose number is given, too.
#[allow(clippy::type_complexity, reason = "two names for what is used twice, next to it")]
fn way<M: Data>(
    session: &mut Session<'_, M>,
    made: Steps,
    parents: &Parents,
    last: u32,
) -> (usize, Vec<(Option<Move>, Vec<u32>)>) {
    let numbers = parents.way(last);
    let hash_of_first = |start: &Vec<u32>| parents.find(session.space.hash(start)) == Some(numbers[0]);
    let start = session.starts.iter().position(hash_of_first).expect("ways begin with a start");
    let mut state = session.starts[start].clone();
    let mut way = vec![(None, state.clone())];
    let mut next = Successors::default();
    for &number in &numbers[1..] {
        next.clear();
        session.space.expand_learning_by(made, &state, &mut next);
        let found = next.list.iter().find(|successor| parents.find(successor.hash) == Some(number));
        // With actors that only seem symmetric there may be no such step; following the schedule then shows it.
        let Some(found) = found else { break };
        state = next.state(found).to_vec();
        way.push((Some(found.step), state.clone()));
    }
    (start, way)
}
