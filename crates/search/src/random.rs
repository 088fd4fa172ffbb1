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
    walks(system, seed, options, &mut Anything)
}

struct Anything;

impl<S: System> Walker<S> for Anything {
    fn pick(&mut self, random: &mut Random, enabled: &[S::Transition], _: usize) -> usize {
        random.below(enabled.len() as u64) as usize
    }
}

/// Who chooses the steps of walks.
pub(crate) trait Walker<S: System> {
    /// A walk begins; the longest until then had so many steps.
    fn begin(&mut self, random: &mut Random, longest: usize) {
        let _ = (random, longest);
    }

    /// Chooses one of the possible steps, after so many.
    fn pick(&mut self, random: &mut Random, enabled: &[S::Transition], taken: usize) -> usize;
}

/// Walk after walk.
pub(crate) fn walks<S: System>(
    system: &mut S,
    seed: u64,
    options: Options<'_, S>,
    walker: &mut impl Walker<S>,
) -> Found<S> {
    assert!(
        options.executions.is_some() || options.watcher.is_some(),
        "random walks go on for ever: bound the number of executions, or watch"
    );
    let mut session = Session::new(system, options);
    session.bounded = true;
    let _ = walk_on(&mut session, seed, walker);
    session.conclude()
}

fn walk_on<S: System>(
    session: &mut Session<'_, '_, S>,
    seed: u64,
    walker: &mut impl Walker<S>,
) -> ControlFlow<()> {
    let (mut trace, mut enabled) = (Vec::new(), Vec::new());
    let mut longest = 0;
    for walk in 0.. {
        session.begin()?;
        // Each walk has its own stream, so that one can be repeated without those before it.
        let mut random = Random::new(seed, walk);
        walker.begin(&mut random, longest);
        session.system.reset();
        trace.clear();
        loop {
            enabled.clear();
            session.system.enabled(&mut enabled);
            longest = longest.max(trace.len());
            if enabled.is_empty() {
                session.complete(&trace)?;
                break;
            }
            if session.is_cut(&trace) {
                break;
            }
            let chosen = walker.pick(&mut random, &enabled, trace.len());
            session.execute(S::step(&enabled[chosen]), &mut trace)?;
        }
    }
    ControlFlow::Continue(())
}
