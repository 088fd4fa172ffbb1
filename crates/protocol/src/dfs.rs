//! Depth-first search: a set of fingerprints and one path, in little memory.

use crate::actor::Data;
use crate::schedule::{Schedule, Step};
use crate::session::{Code, Decided, Session};
use crate::successors::Successors;
use crate::symmetry;
use crate::visited::FingerprintSet;

/// A state on the path: what comes after it lies on the stack from `next` to `end`; before it, the stack was at `mark`.
struct Frame {
    next: usize,
    end: usize,
    mark: (usize, usize),
}

pub(crate) fn search<M: Data>(session: &mut Session<'_, M>) {
    let mut visited = FingerprintSet::new();
    let mut count = 0;
    let mut stack = Successors::default();
    let mut path: Vec<Frame> = Vec::new();
    let mut current = Vec::new();
    let mut over = false;
    for start in 0..session.starts.len() {
        let state = session.starts[start].clone();
        symmetry::compare(session, 0, &[&state]);
        if !session.within(&state) || !visited.insert(session.space.hash(&state)) {
            continue;
        }
        count += 1;
        decide(session, &state, None, start, &path, &stack);
        push(session, &state, start, &mut path, &mut stack);
        while session.wants_more() {
            let depth = path.len();
            let Some(frame) = path.last_mut() else { break };
            if frame.next == frame.end {
                let mark = frame.mark;
                stack.truncate(mark);
                path.pop();
                continue;
            }
            let successor = stack.list[frame.next];
            frame.next += 1;
            session.report.transitions += 1;
            session.compare(stack.state(&successor), successor.hash);
            if !session.within(stack.state(&successor)) {
                // That a state is left out has to be true of all that count as the same.
                compare(session, count, start, &path, &stack);
                continue;
            }
            if !visited.insert(successor.hash) {
                continue;
            }
            count += 1;
            current.clear();
            current.extend_from_slice(stack.state(&successor));
            session.report.depth = session.report.depth.max(depth);
            decide(session, &current, successor.actor(), start, &path, &stack);
            compare(session, count, start, &path, &stack);
            if session.over(count, depth) {
                over = true;
                break;
            }
            if depth >= session.limits.depth_max {
                session.cut = Some(format!("{depth} steps were the bound"));
                continue;
            }
            push(session, &current, start, &mut path, &mut stack);
        }
        path.clear();
        stack.clear();
        if over {
            break;
        }
    }
    session.report.states = visited.len() as u64;
    session.report.system_states = visited.len() as u64;
}

fn push<M: Data>(
    session: &mut Session<'_, M>,
    state: &[u32],
    start: usize,
    path: &mut Vec<Frame>,
    stack: &mut Successors,
) {
    let mark = stack.mark();
    session.space.expand_learning(state, stack);
    if session.broken_history().is_some() {
        let schedule = schedule(session, start, path, stack);
        session.decide(Decided::Broken(Code::History), schedule);
    }
    path.push(Frame { next: mark.0, end: stack.list.len(), mark });
}

/// Looks whether the state at the end of a path is alike for symmetric actors, for samples.
fn compare<M: Data>(
    session: &mut Session<'_, M>,
    number: usize,
    start: usize,
    path: &[Frame],
    stack: &Successors,
) {
    if symmetry::is_sample(&session.space, number) {
        let first = session.starts[start].clone();
        let taken = path.iter().map(|frame| stack.state(&stack.list[frame.next - 1]));
        let way: Vec<&[u32]> = std::iter::once(first.as_slice()).chain(taken).collect();
        symmetry::compare(session, number, &way);
    }
}

fn decide<M: Data>(
    session: &mut Session<'_, M>,
    state: &[u32],
    changed: Option<usize>,
    start: usize,
    path: &[Frame],
    stack: &Successors,
) {
    for decided in session.look(state, changed) {
        let schedule = schedule(session, start, path, stack);
        session.decide(decided, schedule);
    }
}

/// The steps that were taken on a path.
fn schedule<M: Data>(session: &Session<'_, M>, start: usize, path: &[Frame], stack: &Successors) -> Schedule {
    let mut state = session.starts[start].as_slice();
    let mut steps = Vec::new();
    for frame in path {
        let successor = &stack.list[frame.next - 1];
        steps.push(Step::of(&session.space, state, successor.step));
        state = stack.state(successor);
    }
    Schedule { start, steps, back_to: None }
}
