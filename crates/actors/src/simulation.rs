//! A simulation that can be halted, looked at, changed, and run on.

use std::collections::BTreeMap;
use std::sync::Arc;

use simurgh_kernel::event::Reason;
use simurgh_kernel::ids::ActorId;
use simurgh_kernel::simcall::{Answer, PlatformAnswer};
use simurgh_kernel::simulation::{ActorFailure, End, Simulation as Engine};
use simurgh_models::SimTime;

use crate::api::{Ask, Seconds, Shared, View};
use crate::error::{Error, Result};
use crate::program::{Outcome, Program};
use crate::settings::Settings;

/// A program under way, in simulated time ([`Program::start`]). Where it is halted makes no difference to what comes of it.
///
/// ```
/// use simurgh::prelude::*;
///
/// let mut program = Program::new(Platform::builtin());
/// let done = program.exposed("jobs done", 0);
/// program.spawn("worker", "node-0", move |ctx| async move {
///     for job in 1..=10 {
///         ctx.execute(1e9).await?;
///         done.set(job).await;
///     }
///     Ok(())
/// })?;
/// let host = program.host("node-0")?;
///
/// let mut simulation = program.start(Settings::default())?;
/// while simulation.value(done) < 3 && simulation.run_until(simulation.now() + 0.1)? {}
/// assert!(simulation.ask(host.load())? > 0.0);
/// // A fault in the middle of it:
/// simulation.ask(host.turn_off())??;
/// let outcome = simulation.finish()?;
/// assert_eq!(outcome.report.failures.len(), 0);
/// # Ok::<(), simurgh::Error>(())
/// ```
pub struct Simulation {
    engine: Engine,
    shared: Arc<Shared>,
    until: Option<SimTime>,
}

/// An actor that has not ended.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct LivingActor {
    /// Its number.
    pub id: ActorId,
    /// Its name.
    pub name: String,
    /// The name of its host.
    pub host: String,
    /// Whether it is a daemon.
    pub is_daemon: bool,
    /// What it waits for, and since when; nothing if it can go on at once.
    pub waits: Option<(Reason, f64)>,
}

impl Simulation {
    pub(crate) fn new(engine: Engine, shared: Arc<Shared>, until: Option<f64>) -> Self {
        Self { engine, shared, until: until.map(SimTime::new) }
    }

    /// The present date, in seconds.
    pub fn now(&self) -> f64 {
        self.engine.models().now().seconds()
    }

    /// Runs up to a date, with all that happens at it. Says whether there is more to come: not if all actors have ended, or wait for what
    /// never comes, or the date of [`Settings::until`] is reached. A date that is over changes nothing.
    ///
    /// # Errors
    /// If the program asks what the platform cannot do at all, or the date is none.
    pub fn run_until(&mut self, date: impl Into<Seconds>) -> Result<bool> {
        let Seconds(date) = date.into();
        if date.is_nan() {
            return Err(Error::input("run_until(NaN): give a date in seconds"));
        }
        let last = self.until.map_or(f64::INFINITY, SimTime::seconds);
        let date = date.min(last);
        let end = self.engine.run(date.is_finite().then(|| SimTime::new(date.max(0.0))))?;
        let goes_on = matches!(end, End::Reached);
        Ok(goes_on && self.now() < last)
    }

    /// Runs to the end, or to the date of [`Settings::until`].
    ///
    /// # Errors
    /// If the program asks what the platform cannot do at all.
    pub fn finish(mut self) -> Result<Outcome> {
        self.engine.run(self.until)?;
        let report = self.engine.report();
        let models = self.engine.models();
        let hosts = self.shared.platform.hosts();
        let energy = hosts.filter_map(|host| Some((host, models.host_energy(host)?))).collect();
        let mut joined = BTreeMap::new();
        if let End::Deadlock(blocked) = &report.end {
            for waiting in blocked {
                if let Reason::Joining(actor) = waiting.reason {
                    joined.insert(actor, self.engine.kernel().actor_name(actor).to_owned());
                }
            }
        }
        let (statistics, threads) = (models.statistics(), self.engine.shared());
        let unreceived = self.engine.kernel().unreceived();
        Ok(Outcome::new(report, self.shared, energy, statistics, threads, joined, unreceived))
    }

    /// Asks about a host or a link, or changes it, as an actor would by `.await`: `simulation.ask(host.load())?`,
    /// `simulation.ask(link.turn_off())??`.
    ///
    /// # Errors
    /// If only an actor can ask this, if the platform refuses it, or if what comes of a change is what it cannot do.
    pub fn ask<T>(&mut self, question: Ask<T>) -> Result<T> {
        let (request, read) = question.into_request()?;
        match self.engine.ask(&request)? {
            PlatformAnswer::Refused(why) => Err(Error::Refused(*why)),
            answer => Ok(read(Answer::Platform(answer))),
        }
    }

    /// The present value of what actors expose ([`Program::exposed`]), or of several in a tuple, an array or a vector.
    pub fn value<V: View>(&self, view: V) -> V::Values {
        view.read(self.engine.kernel().exposure())
    }

    /// The actors that have not ended, in the order in which they were created, and what each waits for.
    pub fn actors(&self) -> Vec<LivingActor> {
        let kernel = self.engine.kernel();
        let waits: BTreeMap<ActorId, (Reason, f64)> = kernel
            .blocked()
            .into_iter()
            .map(|blocked| (blocked.actor, (blocked.reason, blocked.since.seconds())))
            .collect();
        let all = (0..kernel.actor_count()).map(ActorId::from_index).filter(|&id| kernel.is_alive(id));
        all.map(|id| LivingActor {
            id,
            name: kernel.actor_name(id).to_owned(),
            host: self.shared.platform.host(kernel.actor_host(id)).name.to_owned(),
            is_daemon: kernel.is_daemon(id),
            waits: waits.get(&id).cloned(),
        })
        .collect()
    }

    /// The actors that failed until now.
    pub fn failures(&self) -> &[ActorFailure] {
        self.engine.failures()
    }

    /// How many messages were delivered until now.
    pub fn messages(&self) -> u64 {
        self.engine.kernel().messages()
    }
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let living = self.engine.kernel().living();
        f.debug_struct("Simulation")
            .field("now", &self.now())
            .field("living", &living)
            .finish_non_exhaustive()
    }
}

impl Program {
    /// Runs the program on its platform, in simulated time.
    ///
    /// # Errors
    /// If the configuration is not understood, or the program asks what the platform cannot do at all.
    pub fn simulate(self, settings: Settings) -> Result<Outcome> {
        self.start(settings)?.finish()
    }
}
