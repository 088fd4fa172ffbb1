//! Plain depth-first search without any reduction: every interleaving, one by one.
//!
//! The oracle for all other engines, so it is as plain as it can be. Stateless (Godefroid, "Model checking for
//! programming languages using VeriSoft", 1997): going back means to start anew and to repeat the schedule.

use std::ops::ControlFlow;

use crate::session::{Options, Session};
use crate::system::System;
use crate::verdict::Found;

/// Explores every interleaving.
pub fn explore<S: System>(system: &mut S, options: Options<'_, S>) -> Found<S> {
    let mut session = Session::new(system, options);
    let _ = search(&mut session);
    session.conclude()
}

fn search<S: System>(session: &mut Session<'_, '_, S>) -> ControlFlow<()> {
    let mut trace = Vec::new();
    // For each state on the way, what is still to be tried there; the last one first.
    let mut rest: Vec<Vec<S::Transition>> = Vec::new();
    let mut spare = Vec::new();
    session.begin()?;
    loop {
        let mut enabled: Vec<_> = spare.pop().unwrap_or_default();
        session.system.enabled(&mut enabled);
        enabled.reverse();
        if enabled.is_empty() {
            session.complete(&trace)?;
        } else if session.is_cut(&trace) {
            enabled.clear();
        }
        rest.push(enabled);
        if rest.last().is_some_and(Vec::is_empty) {
            while rest.last().is_some_and(Vec::is_empty) {
                spare.extend(rest.pop());
                trace.pop();
            }
            if rest.is_empty() {
                return ControlFlow::Continue(());
            }
            session.begin()?;
            session.replay(&trace, rest.last().map_or(&[], Vec::as_slice))?;
        }
        let next = rest.last_mut().and_then(Vec::pop).expect("something is left to be tried");
        session.execute(S::step(&next), &mut trace)?;
    }
}
