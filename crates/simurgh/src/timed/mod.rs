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
//! - `pilot`: how an actor is steered.
//! - `log`: what a run was like.
//! - [`objective`]: what is measured.
//! - this module: all ways, one simulation each.
//!
//! ```
//! use simurgh::prelude::*;
//! use simurgh::timed::{Limit, Objective, Subject, explore};
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
//!         Ok::<_, simurgh::Error>(())
//!     })?;
//!     for (name, host, seconds) in [("short", "node-1", 1.0), ("long", "node-2", 3.0)] {
//!         program.spawn(name, host, move |ctx: Ctx| async move {
//!             ctx.mailbox("requests").send((name, seconds), 0.0).await?;
//!             ctx.mailbox::<()>(name).recv().await?;
//!             ctx.sleep(2.0).await;
//!             Ok::<_, simurgh::Error>(())
//!         })?;
//!     }
//!     Ok(())
//! }
//!
//! let subject = Subject::new(Platform::builtin(), app);
//! let found = explore(&subject, Objective::Makespan, Limit::default(), &mut |_, _| true)?;
//! assert_eq!(found.ways, 2);
//! // Both are served after 4 s in any order; then the last one works for 2 s.
//! let (best, worst) = (found.best.unwrap().value, found.worst.unwrap().value);
//! assert!((best - 6.0).abs() < 1e-2 && (worst - 6.0).abs() < 1e-2);
//! # Ok::<(), simurgh::Error>(())
//! ```

mod log;
pub mod objective;
mod pilot;

use std::cmp::Ordering;
use std::path::Path;
use std::sync::Arc;

use simurgh_explore::receives::actors::{Actors, Factory};
use simurgh_explore::receives::search::{Limits, Refusal, explore_ways};
pub use simurgh_explore::receives::way::{Outcome as Came, Place, Way};
use simurgh_explore::{Network, Verdict, Violation};
use simurgh_kernel::simcall::{Note, SpawnRequest};
use simurgh_kernel::simulation::End;
use simurgh_platform::Platform;

pub use log::{Receive, Story};
pub use objective::{Measures, Objective};

use crate::api::Registry;
use crate::error::{Error, Result};
use crate::program::{Outcome, Program, Settings};
use log::{Log, Trouble};

/// Adds the actors to a program, each time it is made.
type Fill<'a> = Box<dyn Fn(&mut Program) -> Result + 'a>;

/// A program that is made again and again, and how it is simulated.
pub struct Subject<'a> {
    platform: Arc<Platform>,
    fill: Fill<'a>,
    settings: Box<dyn Fn() -> Settings + 'a>,
    seed: u64,
    registry: Arc<Registry>,
}

impl std::fmt::Debug for Subject<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subject").field("platform", &self.platform.name()).finish_non_exhaustive()
    }
}

impl<'a> Subject<'a> {
    /// A program on a platform, to which a function adds the actors: always the same ones.
    pub fn new(platform: impl Into<Arc<Platform>>, fill: impl Fn(&mut Program) -> Result + 'a) -> Self {
        Self {
            platform: platform.into(),
            fill: Box::new(fill),
            settings: Box::new(Settings::default),
            seed: 0,
            registry: Arc::default(),
        }
    }

    /// How it is simulated.
    pub fn settings(mut self, settings: impl Fn() -> Settings + 'a) -> Self {
        self.settings = Box::new(settings);
        self
    }

    /// The seed of its randomness.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The platform.
    pub fn platform(&self) -> &Arc<Platform> {
        &self.platform
    }

    /// Makes it anew.
    fn fresh(&self) -> Result<Program> {
        let mut program = Program::in_registry(Arc::clone(&self.platform), self.seed, &self.registry);
        (self.fill)(&mut program)?;
        Ok(program)
    }
}

/// How far to go.
#[derive(Copy, Clone, Debug)]
pub struct Limit {
    /// What may arrive before what.
    pub network: Network,
    /// At most so many ways.
    pub executions: u64,
}

impl Default for Limit {
    fn default() -> Self {
        Self { network: Network::Mailbox, executions: u64::MAX }
    }
}

/// A run that came to a good end.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// What it came to.
    pub value: f64,
    /// All that was measured.
    pub measures: Measures,
    /// The way that it took.
    pub way: Way,
    /// What each actor did.
    pub stories: Vec<Story>,
}

/// What an exploration found.
#[derive(Clone, PartialEq, Debug)]
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
}

/// What became of a program on one way.
#[derive(Debug)]
pub enum Attempt {
    /// It came to a good end.
    Fine(Box<Run>, Outcome),
    /// Actors failed, or wait for ever.
    Broken(String),
    /// It cannot take this way on this platform.
    Impossible(String),
}

impl Subject<'_> {
    /// Simulates the program on one way, or as it goes by itself if there is none. `prepare` may add to the settings.
    ///
    /// # Errors
    /// If the program cannot be made or simulated, if it does something that is not steered, or if the platform says
    /// nothing about the objective.
    pub fn simulate(
        &self,
        way: Option<&Way>,
        objective: Objective,
        prepare: impl FnOnce(&mut Settings),
    ) -> Result<Attempt> {
        let way = way.cloned().map(Arc::new);
        let mut settings = (self.settings)();
        prepare(&mut settings);
        let (program, log) = pilot::board(self.fresh()?, way.clone());
        let outcome = program.simulate(settings)?;
        match log.take_trouble() {
            Some(Trouble::Unknown(what)) => return Err(unknown(what)),
            Some(Trouble::Strayed { actor, what }) => {
                return Ok(Attempt::Impossible(format!("actor {actor:?} {what}")));
            }
            None => {}
        }
        if let Some(damage) = damage_of(&outcome) {
            return Ok(Attempt::Broken(damage));
        }
        if let Some(actor) = way.as_ref().and_then(|way| log.behind(way)) {
            return Ok(Attempt::Impossible(format!("actor {actor:?} ends before it has done all")));
        }
        let measures = Measures::of(&outcome);
        let value = measures.value(objective)?;
        Ok(Attempt::Fine(Box::new(Run { value, measures, way: log.way(), stories: log.stories() }), outcome))
    }
}

/// A program that takes a given way.
#[derive(Debug)]
pub struct Steering {
    way: Arc<Way>,
    log: Arc<Log>,
}

/// Makes a program into one that takes a given way.
pub fn steer(program: Program, way: Way) -> (Program, Steering) {
    let way = Arc::new(way);
    let (program, log) = pilot::board(program, Some(Arc::clone(&way)));
    (program, Steering { way, log })
}

impl Steering {
    /// Once it was simulated: why it did not take its way, if it did not.
    pub fn obstacle(&self) -> Option<String> {
        match self.log.take_trouble() {
            Some(Trouble::Unknown(what)) => Some(unknown(what).to_string()),
            Some(Trouble::Strayed { actor, what }) => Some(format!("actor {actor:?} {what}")),
            None => {
                let behind = self.log.behind(&self.way)?;
                Some(format!("actor {behind:?} ends or waits for ever before it has done all"))
            }
        }
    }
}

/// Makes a program into one that takes the way of a file.
pub(crate) fn steer_by_file(program: Program, path: &Path) -> Result<(Program, Option<Steering>)> {
    let text = crate::scenario::file::read_text(path)?;
    let way = text.parse().map_err(|what| Error::input(format!("{}: {what}", path.display())))?;
    let (program, steering) = steer(program, way);
    Ok((program, Some(steering)))
}

/// Simulates a program once for each way in which its messages can be received. `watch` sees what
/// came of each and what was found until then, and stops the exploration by saying false.
///
/// # Errors
/// If the program cannot be made or simulated, if it does something that is not explored, or if the platform says nothing
/// about the objective.
pub fn explore(
    subject: &Subject<'_>,
    objective: Objective,
    limit: Limit,
    watch: &mut dyn FnMut(&Attempt, &Found) -> bool,
) -> Result<Found> {
    let mut found = Found {
        best: None,
        worst: None,
        simulated: None,
        ways: 0,
        broken: 0,
        damage: None,
        impossible: 0,
        obstacle: None,
        exhausted: false,
    };
    if let Attempt::Fine(run, _) = subject.simulate(None, objective, |_| {})? {
        found.simulated = Some(*run);
    }
    let names: Vec<_> = subject.fresh()?.into_parts().0.into_iter().map(|actor| actor.name).collect();
    let (mut error, mut stopped) = (None, false);
    let mut visit = |way: &Way, violation: Option<&Violation>| {
        if found.ways == limit.executions {
            // There is one more than may be looked at.
            stopped = true;
            return false;
        }
        let attempt = match violation {
            Some(violation) => Ok(Attempt::Broken(describe(violation, &names))),
            None => subject.simulate(Some(way), objective, |_| {}),
        };
        match attempt {
            Ok(attempt) => {
                found.take(&attempt);
                stopped = !watch(&attempt, &found);
            }
            Err(what) => {
                error = Some(what);
                stopped = true;
            }
        }
        !stopped
    };
    let limits = Limits { all: true, ..Limits::default() };
    let mut actors = Actors::new(subject);
    let explored = explore_ways(&mut actors, limit.network, limits, &mut |_| true, Some(&mut visit));
    if let Some(error) = error {
        return Err(error);
    }
    let explored = explored.map_err(|refusal| match refusal {
        Refusal::Unsupported(what) => unknown(what),
        Refusal::Diverged(_) => Error::input(refusal.to_string()),
    })?;
    found.exhausted = !stopped && explored.verdict != Verdict::NotExhausted;
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

impl Factory for &Subject<'_> {
    fn make(&mut self, actors: &mut Vec<SpawnRequest>, notes: &mut Vec<Note>) {
        // It was made before the exploration: what does not depend on anything succeeds again.
        if let Ok(program) = self.fresh() {
            let (made, shared) = program.into_parts();
            actors.extend(made);
            notes.extend(shared);
        }
    }
}

fn unknown(what: &str) -> Error {
    Error::input(format!("the program has {what}, which are not explored in time yet"))
}

/// What went wrong in a run.
fn damage_of(outcome: &Outcome) -> Option<String> {
    if let Some(failure) = outcome.report.failures.first() {
        return Some(format!(
            "actor {:?} failed at {:.6} s: {}",
            failure.name,
            failure.at.seconds(),
            failure.message
        ));
    }
    match &outcome.report.end {
        End::Finished => None,
        End::Deadlock(blocked) => {
            let who: Vec<_> = blocked.iter().map(|blocked| blocked.name.clone()).collect();
            Some(waiting(&who))
        }
        End::Reached | End::Interrupted => Some("the run was stopped before its end".to_owned()),
    }
}

fn describe(violation: &Violation, names: &[String]) -> String {
    let name = |actor: u32| names.get(actor as usize).cloned().unwrap_or_else(|| format!("actor {actor}"));
    match violation {
        Violation::Failed { actor, message } => format!("actor {:?} failed: {message}", name(*actor)),
        Violation::Invariant { name, .. } => format!("invariant {name:?} does not hold"),
        Violation::Deadlock { actors } => {
            waiting(&actors.iter().map(|&actor| name(actor)).collect::<Vec<_>>())
        }
    }
}

fn waiting(actors: &[String]) -> String {
    format!("deadlock: {} wait for ever", actors.join(", "))
}
