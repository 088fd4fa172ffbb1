//! A timed exploration as a call: what is explored, for what, within which bounds.

use std::sync::Arc;
use std::time::Duration;

use simurgh_explore::Network;
use simurgh_kernel::simulation::Pacing;
use simurgh_platform::Platform;

use super::report::ExploreReport;
use super::{Found, Limit, Objective, Subject, explore_ways};
use crate::checking::{Listener, Stopwatch, calling, pass_on, silently};
use crate::error::{Error, Result};
use crate::program::Program;
use crate::scenario::{Scenario, play};
use crate::settings::Settings;

/// A timed exploration that is about to begin.
///
/// Its methods are called as the options of the command are: `my_program explore --objective bytes` is
/// `simurgh::explore(app).objective(Objective::Bytes)`.
#[must_use = "nothing is explored before `run`, `assert_holds`, `assert_at_most` or `assert_at_least`"]
pub struct Explore<'a> {
    fill: Box<dyn Fn(&mut Program) -> Result + 'a>,
    on: On,
    objective: Objective,
    limit: Limit,
    time: Option<Duration>,
    config: Vec<(String, String)>,
    seed: u64,
    /// The name of the scenario, if it is one.
    scenario: Option<String>,
    progress: Option<Listener<'a, Found>>,
    stop_when: Option<Listener<'a, Found, bool>>,
}

/// Where it takes place.
enum On {
    Builtin,
    OfScenario(Box<Scenario>),
    Given(Arc<Platform>),
}

/// The best and the worst that a program can come to on a platform, over every way in which its messages can be received: takes what
/// `simurgh::main` takes, a function that adds the actors.
///
/// ```
/// use simurgh::prelude::*;
///
/// // Whoever is served first has less to do afterwards.
/// fn app(program: &mut Program) -> simurgh::Result {
///     program.spawn("server", "node-0", |ctx: Ctx| async move {
///         for _ in 0..2 {
///             ctx.mailbox::<()>("requests").recv().await?;
///             ctx.sleep(1.0).await;
///         }
///         Ok(())
///     })?;
///     for (name, host, seconds) in [("short", "node-1", 1.0), ("long", "node-2", 3.0)] {
///         program.spawn(name, host, move |ctx: Ctx| async move {
///             ctx.mailbox("requests").send((), 0.0).await?;
///             ctx.sleep(seconds).await;
///             Ok(())
///         })?;
///     }
///     Ok(())
/// }
///
/// let report = simurgh::explore(app).assert_at_most(4.1);
/// assert_eq!(report.found.ways, 2);
/// assert!(report.best().unwrap().value < 3.1);
/// ```
pub fn explore<'a>(app: impl Fn(&mut Program) -> Result + 'a) -> Explore<'a> {
    Explore {
        fill: Box::new(app),
        on: On::Builtin,
        objective: Objective::Makespan,
        limit: Limit::default(),
        time: None,
        config: Vec::new(),
        seed: 0,
        scenario: None,
        progress: None,
        stop_when: None,
    }
}

impl Scenario {
    /// The best and the worst that this scenario can come to on its platform, as [`simurgh::explore`](fn@crate::explore) does it
    /// for programs.
    pub fn explore(&self) -> Explore<'static> {
        let scenario = self.clone();
        Explore {
            on: On::OfScenario(Box::new(self.clone())),
            config: scenario.config.clone(),
            scenario: Some(scenario.name.clone()),
            ..explore(move |program| play::fill(program, &scenario, None))
        }
    }
}

impl<'a> Explore<'a> {
    /// What is to be least and most; [`Objective::Makespan`] if not said.
    pub fn objective(mut self, objective: Objective) -> Self {
        self.objective = objective;
        self
    }

    /// What may arrive before what; [`Network::Mailbox`] if not said.
    pub fn network(mut self, network: Network) -> Self {
        self.limit.network = network;
        self
    }

    /// Ends the exploration after so many ways.
    pub fn executions(mut self, ways: u64) -> Self {
        self.limit.executions = ways;
        self
    }

    /// Ends the exploration after so long.
    pub fn time(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Sets one of SimGrid's configuration keys, such as `network/model` to `CM02`, after those of the platform and the scenario.
    pub fn config(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.config.push((key.into(), value.into()));
        self
    }

    /// The seed of all randomness.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The platform; the built-in one if not said, or that of a scenario.
    pub fn platform(mut self, platform: impl Into<Arc<Platform>>) -> Self {
        self.on = On::Given(platform.into());
        self
    }

    /// Tells after each way what was found until then.
    pub fn progress(mut self, listener: impl FnMut(&Found) + 'a) -> Self {
        self.progress = Some(Box::new(listener));
        self
    }

    /// Asks after each way whether to end the exploration: for a clock, or for an interrupt.
    pub fn stop_when(mut self, stop: impl FnMut(&Found) -> bool + 'a) -> Self {
        self.stop_when = Some(Box::new(stop));
        self
    }
}

impl<'a> Explore<'a> {
    /// Does it. Nothing is printed, whatever is found.
    #[must_use = "the report says what was found"]
    pub fn run(self) -> ExploreReport {
        let (objective, network) = (self.objective, self.limit.network);
        match self.explore() {
            Ok((report, _)) => report,
            Err(error) => ExploreReport {
                objective,
                network,
                seconds: 0.0,
                found: Found::default(),
                error: Some(error),
            },
        }
    }

    /// For tests: does it, and asserts that all ways were seen, and all that can happen on this platform come to a good end.
    /// Gives the report.
    ///
    /// # Panics
    /// If some way comes to a bad end, or that is not known.
    #[track_caller]
    pub fn assert_holds(self) -> ExploreReport {
        let report = self.run();
        report.assert_holds();
        report
    }

    /// For tests: the same, and the worst is at most this.
    ///
    /// # Panics
    /// If it is more, or that is not known.
    #[track_caller]
    pub fn assert_at_most(self, value: f64) -> ExploreReport {
        let report = self.run();
        report.assert_at_most(value);
        report
    }

    /// For tests: the same, and the best is at least this.
    ///
    /// # Panics
    /// If it is less, or that is not known.
    #[track_caller]
    pub fn assert_at_least(self, value: f64) -> ExploreReport {
        let report = self.run();
        report.assert_at_least(value);
        report
    }

    /// Does it, and gives what was explored as well.
    ///
    /// # Errors
    /// If it cannot be explored.
    pub(crate) fn explore(mut self) -> Result<(ExploreReport, Subject<'a>)> {
        let scenario = self.scenario.take();
        self.explore_named(scenario.is_some()).map_err(|error| match (error, scenario) {
            (error @ Error::Simulation(_), Some(name)) => Error::input(format!("{name}: {error}")),
            (error, _) => error,
        })
    }

    fn explore_named(self, is_scenario: bool) -> Result<(ExploreReport, Subject<'a>)> {
        let Self { objective, limit, config, mut progress, mut stop_when, .. } = self;
        let platform = match self.on {
            On::Builtin => Arc::new(Platform::builtin()),
            On::OfScenario(scenario) => Arc::new(scenario.read_platform()?),
            On::Given(platform) => platform,
        };
        // The order of events within an instant is that of the reference for scenarios, as in `run`.
        let pacing = if is_scenario { Pacing::Reference } else { Pacing::Single };
        let settings = move || Settings { config: config.clone(), pacing, ..Settings::default() };
        let subject = Subject::new(platform, self.fill).settings(settings).seed(self.seed);
        let (clock, mut panic) = (Stopwatch::start(), None);
        let mut watch = |found: &Found| {
            if let Some(listener) = &mut progress {
                listener(found);
            }
            let stops = stop_when.as_mut().is_some_and(|stop| stop(found));
            !stops && self.time.is_none_or(|most| clock.seconds() < most.as_secs_f64())
        };
        let found = silently(|| {
            let found = explore_ways(&subject, objective, limit, &mut |_, found| {
                calling(|| watch(found)).unwrap_or_else(|what| {
                    panic = Some(what);
                    false
                })
            });
            match panic.take() {
                Some(panic) => pass_on(panic),
                None => found,
            }
        })??;
        let (network, seconds) = (limit.network, clock.seconds());
        Ok((ExploreReport { objective, network, seconds, found, error: None }, subject))
    }
}

impl std::fmt::Debug for Explore<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explore")
            .field("objective", &self.objective)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}
