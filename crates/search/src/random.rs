//! Random walks: at each state, any of the possible steps, with a seed that replays.

use std::ops::ControlFlow;

use simurgh_random::Random;

use crate::session::{Options, Session};
use crate::system::System;
use crate::verdict::Found;

/// Walks at random, as often as the options allow; never exhausts anything.
///
/// # Panics
/// If nothing bounds the exploration.
pub fn explore<S: System>(system: &mut S, seed: u64, options: Options<'_, S>) -> Found<S> {
    walks(system, seed, options, |random, enabled, _, _| random.below(enabled.len() as u64) as usize)
}

/// Walk after walk. `pick` chooses one of the possible steps; it is told how many were taken before, and how many the longest walk
/// has until then.
pub(crate) fn walks<S: System>(
    system: &mut S,
    seed: u64,
    options: Options<'_, S>,
    mut pick: impl FnMut(&mut Random, &[S::Transition], usize, usize) -> usize,
) -> Found<S> {
    assert!(
        options.executions.is_some() || options.watcher.is_some(),
        "random walks go on for ever: bound the number of executions, or watch"
    );
    let mut session = Session::new(system, options);
    session.bounded = true;
    let (mut trace, mut enabled) = (Vec::new(), Vec::new());
    let mut longest = 0;
    let mut walk = |walk: u64| -> ControlFlow<()> {
        session.begin()?;
        // Each walk has its own stream, so that one can be repeated without those before it.
        let mut random = Random::new(seed, walk);
        session.system.reset();
        trace.clear();
        loop {
            enabled.clear();
            session.system.enabled(&mut enabled);
            longest = longest.max(trace.len());
            if enabled.is_empty() {
                return session.complete(&trace);
            }
            if session.is_cut(&trace) {
                return ControlFlow::Continue(());
            }
            let chosen = pick(&mut random, &enabled, trace.len(), longest);
            session.execute(S::step(&enabled[chosen]), &mut trace)?;
        }
    };
    let _ = (0..).try_for_each(&mut walk);
    session.conclude()
}
