//! Timed exploration: the best and the worst that a program can come to on a platform, over every way in which its
//! messages can be received (Rosa's thesis, 5.2).
//!
//! The engine [`receives`](simurgh_explore::receives) finds the ways; it knows nothing of time. For each of them the
//! program is simulated once more on its platform, steered so that it takes just that way: each receive gets the
//! message that the way gives it, and waits for it however late it comes. What the run costs is read off the
//! simulation. So an order that the platform at hand would never give by itself is among them: what is bounded is what
//! jitter, a slower link or a busier host can do to the order of messages, with every operation taking the time that it
//! takes on this platform.
//!
//! - `interposer`, `requests`: how an actor is steered.
//! - `log`: what a run was like.
//! - [`steering`]: a program that takes a given way.
//! - [`objective`]: what is measured.
//! - [`subject`]: one program, one way, one simulation.
//! - this module: all ways.
//! - [`Explore`], [`ExploreReport`]: the same as one call, for tests and for the command.
//!
//! ```
//! use simurgh::prelude::*;
//! use simurgh::timed::{Limit, Objective, Subject, explore_ways};
//!
//! // Whoever comes first is served first; serving takes 1 s for the one and 3 s for the other, and then each of them
//! // has 2 s of work of its own.
//! fn app(program: &mut Program) -> simurgh::Result {
//!     program.spawn("server", "node-0", |ctx: Ctx| async move {
//!         for _ in 0..2 {
//!             let (client, seconds) = ctx.mailbox::<(&str, f64)>("requests").recv().await?;
//!             ctx.sleep(seconds).await;
//!             ctx.mailbox(client).send((), 0.0).await?;
//!         }
//!         Ok(())
//!     })?;
//!     for (name, host, seconds) in [("short", "node-1", 1.0), ("long", "node-2", 3.0)] {
//!         program.spawn(name, host, move |ctx: Ctx| async move {
//!             ctx.mailbox("requests").send((name, seconds), 0.0).await?;
//!             ctx.mailbox::<()>(name).recv().await?;
//!             ctx.sleep(2.0).await;
//!             Ok(())
//!         })?;
//!     }
//!     Ok(())
//! }
//!
//! let subject = Subject::new(Platform::builtin(), app);
//! let found = explore_ways(&subject, Objective::Makespan, Limit::default(), &mut |_, _| true)?;
//! assert_eq!(found.ways, 2);
//! // Both are served after 4 s in any order; then the last one works for 2 s.
//! let (best, worst) = (found.best.unwrap().value, found.worst.unwrap().value);
//! assert!((best - 6.0).abs() < 1e-2 && (worst - 6.0).abs() < 1e-2);
//! # Ok::<(), simurgh::Error>(())
//! ```

mod exploration;
mod interposer;
mod log;
pub mod objective;
pub(crate) mod report;
mod requests;
pub mod steering;
pub mod subject;

use std::cmp::Ordering;

use simurgh_explore::receives::actors::Actors;
use simurgh_explore::receives::parts::explore_ways as all_ways;
pub use simurgh_explore::receives::reads_from::{Outcome as Came, Place, ReadsFrom};
use simurgh_explore::receives::search::{Limits, Refusal};
use simurgh_explore::{Network, Verdict, Violation};

pub use exploration::{Explore, explore};
pub use log::{Receive, Story};
pub use objective::{Measures, Objective};
pub use report::ExploreReport;
pub use steering::{Steering, steer};
pub use subject::{Attempt, Run, Subject};

use crate::error::{Error, Result};

/// How far to go.
#[derive(Copy, Clone, Debug)]
pub struct Limit {
    /// What may arrive before what.
    pub network: Network,
    /// At most so many ways.
    pub executions: u64,
}

/// More steps than this, and an execution is not followed any further.
const DEPTH_MAX: u64 = 20_000;

impl Default for Limit {
    fn default() -> Self {
        Self { network: Network::Mailbox, executions: u64::MAX }
    }
}

/// What an exploration found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Found {
    /// The way with the lowest value, if any came to a good end. Of several, the first in the order of ways.
    pub best: Option<Run>,
    /// The way with the highest value.
    pub worst: Option<Run>,
    /// The program left to itself, where time decides. `None` if it does not come to a good end.
    pub simulated: Option<Run>,
    /// How many ways were seen.
    pub ways: u64,
    /// How many of them end with actors that failed or wait for ever. They have no value.
    pub broken: u64,
    /// What happened in the first of those.
    pub damage: Option<String>,
    /// How many of them cannot happen on this platform, whatever the order of messages.
    pub impossible: u64,
    /// Why the first of those cannot.
    pub obstacle: Option<String>,
    /// Whether all ways were seen.
    pub exhausted: bool,
    /// Whether it was stopped at an execution that seems to have no end.
    pub endless: bool,
}

/// Simulates a program once for each way in which its messages can be received. `watch` sees what
/// came of each and what was found until then, and stops the exploration by saying false; it is asked in between too, if the next way
/// is long in coming.
///
/// # Errors
/// If the program cannot be made or simulated, if it does something that is not explored, or if the platform says nothing
/// about the objective.
pub fn explore_ways(
    subject: &Subject<'_>,
    objective: Objective,
    limit: Limit,
    watch: &mut dyn FnMut(Option<&Attempt>, &Found) -> bool,
) -> Result<Found> {
    let mut found = Found::default();
    if let Attempt::Fine(run, _) = subject.simulate(None, objective, |_| {})? {
        found.simulated = Some(*run);
    }
    let first = subject.actor_count()?;
    let plain = found.simulated.as_ref().map(|run| run.way.renumbered(first));
    let (mut error, mut stopped, mut seen) = (None, false, false);
    let mut visit = |way: Option<(&ReadsFrom, &[Violation])>| {
        let Some((way, wrong)) = way else {
            stopped |= !watch(None, &found);
            return !stopped;
        };
        if found.ways == limit.executions {
            // There is one more than may be looked at.
            stopped = true;
            return false;
        }
        let attempt = match wrong.first() {
            Some(Violation::Invariant { name, .. }) => {
                Ok(Attempt::Broken(format!("invariant {name:?} does not hold")))
            }
            // Whether it fails or waits for ever is seen again in time, if time allows this way at all.
            _ => subject.simulate(Some(way), objective, |_| {}),
        };
        seen |= plain.as_ref().is_some_and(|plain| *plain == way.renumbered(first));
        match attempt {
            Ok(attempt) => {
                found.take(&attempt);
                stopped = !watch(Some(&attempt), &found);
            }
            Err(what) => {
                error = Some(what);
                stopped = true;
            }
        }
        !stopped
    };
    let limits = Limits { all: true, depth: DEPTH_MAX, stops_when_cut: true, ..Limits::default() };
    let mut actors = Actors::new(subject).in_time();
    let explored = all_ways(&mut actors, limit.network, limits, &mut visit);
    if let Some(error) = error {
        return Err(error);
    }
    let explored = explored.map_err(|refusal| match refusal {
        Refusal::Unsupported(what) => unknown(what),
        Refusal::Diverged(actor) => Error::diverged(&actors.name(actor)),
    })?;
    found.endless = explored.cut > 0;
    found.exhausted = !stopped && explored.verdict != Verdict::NotExhausted;
    match &mut found.simulated {
        Some(simulated) if found.exhausted && !seen => {
            simulated.astray.get_or_insert_with(|| "a message is looked at while it is under way".to_owned());
        }
        Some(simulated) if simulated.astray.is_none() => {
            // It is one of the ways, also if the search did not come to it.
            replace(&mut found.best, simulated, Ordering::Less);
            replace(&mut found.worst, simulated, Ordering::Greater);
        }
        _ => {}
    }
    Ok(found)
}

impl Found {
    fn take(&mut self, attempt: &Attempt) {
        self.ways += 1;
        match attempt {
            Attempt::Broken(what) => {
                self.broken += 1;
                self.damage.get_or_insert_with(|| what.clone());
            }
            Attempt::Impossible(what) => {
                self.impossible += 1;
                self.obstacle.get_or_insert_with(|| what.clone());
            }
            Attempt::Fine(run, _) => {
                replace(&mut self.best, run, Ordering::Less);
                replace(&mut self.worst, run, Ordering::Greater);
            }
        }
    }
}

/// Takes a run in place of the known one if its value is on the right side, or the same and its way comes first.
fn replace(known: &mut Option<Run>, run: &Run, side: Ordering) {
    let better = known.as_ref().is_none_or(|known| {
        let order = run.value.total_cmp(&known.value);
        order == side || order == Ordering::Equal && run.way < known.way
    });
    if better {
        *known = Some(run.clone());
    }
}

/// What a program does that is not explored in time.
fn unknown(what: &str) -> Error {
    Error::input(format!("the program has {what}, which are not explored in time yet"))
}
