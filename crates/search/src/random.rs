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
    assert!(
        options.executions.is_some() || options.watcher.is_some(),
        "random walks go on for ever: bound the number of executions, or watch"
    );
    let mut session = Session::new(system, options);
    session.leave_out();
    let mut pick = |random: &mut Random, enabled: &[S::Transition], _: usize| {
        random.below(enabled.len() as u64) as usize
    };
    let _ = walks(&mut session, seed, &mut pick, &mut |_, _| {});
    session.conclude()
}

/// Chooses one of the possible steps; also told how many were taken before.
pub(crate) type Pick<'p, S> = dyn FnMut(&mut Random, &[<S as System>::Transition], usize) -> usize + 'p;

/// Walk after walk; `begin` is called before each, with the length of the longest until then.
pub(crate) fn walks<S: System>(
    session: &mut Session<'_, '_, S>,
    seed: u64,
    pick: &mut Pick<'_, S>,
    begin: &mut dyn FnMut(&mut Random, usize),
) -> ControlFlow<()> {
    let (mut trace, mut enabled) = (Vec::new(), Vec::new());
    let mut longest = 0;
    for walk in 0.. {
        session.begin()?;
        // Each walk has its own stream, so that one can be repeated without those before it.
        let mut random = Random::new(seed, walk);
        begin(&mut random, longest);
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
            let chosen = pick(&mut random, &enabled, trace.len());
            session.execute(S::step(&enabled[chosen]), &mut trace)?;
        }
    }
    ControlFlow::Continue(())
}
