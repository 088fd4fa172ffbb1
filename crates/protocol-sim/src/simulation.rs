//! What is to be simulated: a system, a platform, and what goes wrong on it.

use std::sync::Arc;

use simurgh_models::{Config, Models};
use simurgh_platform::{HostId, Platform};
use simurgh_protocol::runtime::Runtime;
use simurgh_protocol::{ActorId, Data, System};

use crate::error::Error;
use crate::report::Report;
use crate::running::Running;

/// How long a message is if nothing is said.
pub const MESSAGE_BYTES: u64 = 100;

/// Something that happens at a date, whatever else does.
pub(crate) enum Planned<M> {
    Crash(ActorId),
    Recover(ActorId),
    Input(ActorId, M),
}

pub(crate) type Size<M> = Box<dyn Fn(&M) -> u64 + Send>;

/// A system on a platform, about to be simulated.
pub struct Simulation<M> {
    system: Arc<System<M>>,
    platform: Arc<Platform>,
    hosts: Vec<String>,
    size: Size<M>,
    loss: f64,
    duplication: f64,
    seed: u64,
    plan: Vec<(f64, Planned<M>)>,
    recorded: bool,
}

impl<M: Data> Simulation<M> {
    /// A system on the hosts of a platform, in their order, and again from the first if there are fewer than actors.
    pub fn new(system: impl Into<Arc<System<M>>>, platform: impl Into<Arc<Platform>>) -> Self {
        Self {
            system: system.into(),
            platform: platform.into(),
            hosts: Vec::new(),
            size: Box::new(|_| MESSAGE_BYTES),
            loss: 0.0,
            duplication: 0.0,
            seed: 0,
            plan: Vec::new(),
            recorded: false,
        }
    }

    /// Puts the actors on these hosts, in turn.
    #[must_use]
    pub fn hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
        self.hosts = hosts.into_iter().map(Into::into).collect();
        self
    }

    /// Says how many bytes a message has on its way, such as `simurgh_deploy::wire_bytes`.
    #[must_use]
    pub fn size(mut self, size: impl Fn(&M) -> u64 + Send + 'static) -> Self {
        self.size = Box::new(size);
        self
    }

    /// Loses this share of the messages, at random; but none that an actor sends to itself.
    #[must_use]
    pub fn loss(mut self, probability: f64) -> Self {
        self.loss = probability;
        self
    }

    /// Doubles this share of the messages that are not lost, at random; but none that an actor sends to itself, and none where the
    /// network is ordered. Check such a protocol with `Network::Duplicating`.
    #[must_use]
    pub fn duplication(mut self, probability: f64) -> Self {
        self.duplication = probability;
        self
    }

    /// The seed of losses, timers and choices.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Crashes an actor at a date: what reaches it before it recovers is gone. It does nothing to one that is down.
    #[must_use]
    pub fn crash(mut self, actor: ActorId, at: f64) -> Self {
        self.plan.push((at, Planned::Crash(actor)));
        self
    }

    /// Starts an actor again at a date, from its disk if it has one. It does nothing to one that is up.
    #[must_use]
    pub fn recover(mut self, actor: ActorId, at: f64) -> Self {
        self.plan.push((at, Planned::Recover(actor)));
        self
    }

    /// Gives an actor a message from outside at a date, as if it had sent it to itself.
    #[must_use]
    pub fn input(mut self, actor: ActorId, at: f64, msg: M) -> Self {
        self.plan.push((at, Planned::Input(actor, msg)));
        self
    }

    /// Keeps what happens as a schedule, with its dates.
    #[must_use]
    pub fn record(mut self) -> Self {
        self.recorded = true;
        self
    }

    /// Simulates until nothing can happen any more, an `always` is violated, a handler panics, or a date is reached.
    ///
    /// # Errors
    /// If something is wrong with the system, the platform or the plan, or a message has no way to go.
    pub fn run(self, until: Option<f64>) -> Result<Report, Error> {
        let mut running = self.begin()?;
        let end = running.go(until, |_| false)?;
        Ok(running.report(end))
    }

    /// Starts all actors, at date 0.
    ///
    /// # Errors
    /// If something is wrong with the system, the platform or the plan, or a message has no way to go.
    pub fn begin(self) -> Result<Running<M>, Error> {
        for (what, probability) in [("loss", self.loss), ("duplication", self.duplication)] {
            if !(0.0..=1.0).contains(&probability) {
                return Err(Error::Probability { what, probability });
            }
        }
        let mut runtime = Runtime::new(Arc::clone(&self.system)).map_err(Error::System)?;
        let actors = simurgh_protocol::LocalStates::count(&runtime);
        for (at, planned) in &self.plan {
            check(*at, planned, actors)?;
        }
        let hosts = self.find_hosts()?;
        let mut config = Config::default();
        for (key, value) in self.platform.config() {
            let platform = || self.platform.config_place(key).to_string();
            config.set(key, value).map_err(|source| Error::Config { platform: platform(), source })?;
        }
        let models = Models::new(Arc::clone(&self.platform), &config).map_err(Error::Models)?;
        if self.recorded {
            runtime.record();
        }
        let placed = (0..actors).map(|actor| hosts[actor % hosts.len()]).collect();
        let settings = (self.size, self.loss, self.duplication, self.seed);
        Running::start(runtime, models, placed, settings, self.plan)
    }

    fn find_hosts(&self) -> Result<Vec<HostId>, Error> {
        let platform = self.platform.name().to_owned();
        if self.hosts.is_empty() {
            let all: Vec<HostId> = self.platform.hosts().collect();
            return if all.is_empty() { Err(Error::NoHost { platform }) } else { Ok(all) };
        }
        let find = |host: &String| {
            self.platform.host_named(host).ok_or_else(|| {
                let near = self.platform.host_suggestion(host);
                let hint = near.map_or(String::new(), |near| format!("; did you mean {near:?}?"));
                Error::Host { platform: platform.clone(), host: host.clone(), hint }
            })
        };
        self.hosts.iter().map(find).collect()
    }
}

fn check<M>(at: f64, planned: &Planned<M>, actors: usize) -> Result<(), Error> {
    let (what, actor) = match planned {
        Planned::Crash(actor) => ("a crash", *actor),
        Planned::Recover(actor) => ("a recovery", *actor),
        Planned::Input(actor, _) => ("an input", *actor),
    };
    let why = if actor.index() >= actors {
        format!("there are {actors} actors, the last is {}", actors - 1)
    } else if !(at >= 0.0 && at.is_finite()) {
        "a date is a number of seconds from 0 on".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::Plan { what, actor: actor.0, at, why })
}

impl<M> std::fmt::Debug for Simulation<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation")
            .field("platform", &self.platform.name())
            .field("loss", &self.loss)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}
