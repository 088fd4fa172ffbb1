//! Breadth-first search over states: the nearest first, so that what is found is found by a shortest schedule.
//!
//! A state is kept as the step that led to it and the state before; to go on from it, the system is brought there from its start,
//! or from a snapshot. States that were seen are not gone on from ([`System::state_key`]).

use std::ops::ControlFlow;

use crate::session::{Options, Session};
use crate::states::Visited;
use crate::system::System;
use crate::verdict::Found;

/// Looks at every state once, the nearest first.
pub fn explore<S: System>(system: &mut S, options: Options<'_, S>) -> Found<S> {
    let mut session = Session::new(system, options);
    let _ = search(&mut session);
    session.conclude()
}

/// A state that was reached: from which, and by what.
struct Reached<S: System> {
    from: Option<(usize, S::Transition)>,
    snapshot: Option<S::Snapshot>,
}

fn search<S: System>(session: &mut Session<'_, '_, S>) -> ControlFlow<()> {
    let mut visited = Visited::default();
    visited.insert(session.system);
    let mut reached: Vec<Reached<S>> = vec![Reached { from: None, snapshot: session.system.snapshot() }];
    let mut at = 0;
    while at < reached.len() {
        session.begin()?;
        let mut trace = way(&reached, at);
        go_to(session, &reached[at], &trace)?;
        let mut enabled = Vec::new();
        session.system.enabled(&mut enabled);
        if enabled.is_empty() {
            session.complete(&trace)?;
        } else if session.is_cut(&trace) {
            enabled.clear();
        }
        for (index, next) in enabled.into_iter().enumerate() {
            if index > 0 {
                go_to(session, &reached[at], &trace)?;
            }
            let length = trace.len();
            session.execute(S::step(&next), &mut trace)?;
            trace.truncate(length);
            if visited.insert(session.system) {
                let snapshot = session.system.snapshot();
                reached.push(Reached { from: Some((at, next)), snapshot });
            } else {
                session.redundant();
            }
        }
        // What was gone on from needs its snapshot no more.
        reached[at].snapshot = None;
        at += 1;
    }
    ControlFlow::Continue(())
}

/// Brings the system to a state.
fn go_to<S: System>(
    session: &mut Session<'_, '_, S>,
    reached: &Reached<S>,
    trace: &[S::Transition],
) -> ControlFlow<()> {
    match &reached.snapshot {
        Some(snapshot) => session.system.restore(snapshot),
        None => session.replay(trace, &[])?,
    }
    ControlFlow::Continue(())
}

/// The steps from the start to a state.
fn way<S: System>(reached: &[Reached<S>], last: usize) -> Vec<S::Transition> {
    let mut steps = Vec::new();
    let mut at = last;
    while let Some((before, transition)) = &reached[at].from {
        steps.push(transition.clone());
        at = *before;
    }
    steps.reverse();
    steps
}
