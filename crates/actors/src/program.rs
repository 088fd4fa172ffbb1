//! A program: the actors that are there at the start, and what they share.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use simurgh_kernel::context::Body;
use simurgh_kernel::exposed::{Exposure, Invariant, Value};
use simurgh_kernel::ids::{ActorId, ExposedId, MailboxId};
use simurgh_kernel::kernel::Unreceived;
use simurgh_kernel::random::Random;
use simurgh_kernel::simcall::{Answer, Note, PlatformRequest, SpawnRequest};
use simurgh_kernel::simulation::{End, Pacing, Report, Simulation as Engine, Stopwatch};
use simurgh_models::{Config, Models, SimTime};
use simurgh_platform::{ActorDeclaration, HostId, OnFailure, Platform};

use crate::api::{
    ActorHandle, Ask, Barrier, Condvar, Ctx, Exposed, Host, HostRef, IntoEnding, IntoJudgement, Link,
    Mailbox, Mailboxes, Mutex, Reader, Registry, Semaphore, Shared, View, body, reboot,
};
use crate::error::{Error, Result};
use crate::settings::Settings;
use crate::simulation::Simulation;

type Function = Arc<dyn Fn(Ctx, Vec<String>) -> Pin<Box<dyn Future<Output = Result> + Send>> + Send + Sync>;

/// A change of the platform, and how its answer is read.
type Change = (PlatformRequest, Reader<Result<()>>);

/// A value that actors expose, and what it is called.
type NamedValue = (String, Box<dyn Value>);

/// What is to be run: actors on the hosts of a platform.
///
/// ```
/// use simurgh::prelude::*;
///
/// async fn pinger(ctx: Ctx) -> simurgh::Result {
///     ctx.mailbox("ball").send("ping", 1e6).await
/// }
///
/// async fn ponger(ctx: Ctx) -> simurgh::Result {
///     let ball: &str = ctx.mailbox("ball").recv().await?;
///     ctx.say(format!("got {ball}"));
///     Ok(())
/// }
///
/// let mut program = Program::new(Platform::builtin());
/// program.spawn("pinger", "node-0", pinger)?;
/// program.spawn("ponger", "node-1", ponger)?;
/// let report = program.simulate(Settings::default())?;
/// assert!(report.is_fine());
/// # Ok::<(), simurgh::Error>(())
/// ```
pub struct Program {
    shared: Arc<Shared>,
    planned: Vec<Planned>,
    at_once: u32,
    notes: Vec<Note>,
    /// What is changed of the platform before the start.
    changes: Vec<Change>,
    exposed: Vec<(String, Box<dyn Value>)>,
    invariants: Vec<Invariant>,
    functions: BTreeMap<String, Function>,
    spread: usize,
    explored: bool,
}

struct Planned {
    start_at: Option<f64>,
    request: SpawnRequest,
}

impl std::fmt::Debug for Program {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Program").field("actors", &self.planned.len()).finish_non_exhaustive()
    }
}

thread_local! {
    /// The list of a program that was handed over, for the next: one that is explored is made again for each execution.
    static SPARE: Cell<Vec<Planned>> = const { Cell::new(Vec::new()) };
}

/// Nanoseconds since the first time that somebody asked, to compare ways of running the same.
#[expect(
    clippy::disallowed_methods,
    reason = "it decides who runs the actors, and nothing of what comes of it"
)]
fn stopwatch() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// How a simulation ended, with the names that people know.
#[derive(Debug)]
pub struct Outcome {
    /// The bare facts.
    pub report: Report,
    shared: Arc<Shared>,
    energy: Vec<(HostId, f64)>,
    statistics: simurgh_models::Statistics,
    threads: simurgh_kernel::simulation::Shared,
    /// The names of actors that others wait for.
    joined: BTreeMap<ActorId, String>,
    unreceived: Vec<Unreceived>,
}

impl Program {
    /// A program without actors.
    pub fn new(platform: impl Into<Arc<Platform>>) -> Self {
        Self::with_seed(platform, 0)
    }

    /// A program without actors, and the seed of its randomness.
    pub fn with_seed(platform: impl Into<Arc<Platform>>, seed: u64) -> Self {
        Self::in_registry(platform.into(), seed, &Registry::new())
    }

    /// A program without actors that is one of several runs of the same.
    pub(crate) fn in_registry(platform: Arc<Platform>, seed: u64, registry: &Arc<Registry>) -> Self {
        Self {
            shared: Arc::new(Shared::new(platform, seed, Arc::clone(registry))),
            planned: Vec::new(),
            at_once: 0,
            notes: Vec::new(),
            changes: Vec::new(),
            exposed: Vec::new(),
            invariants: Vec::new(),
            functions: BTreeMap::new(),
            spread: 0,
            explored: false,
        }
    }

    /// One of which every order is tried.
    pub(crate) fn explored(self) -> Self {
        Self { explored: true, planned: SPARE.take(), ..self }
    }

    /// Whether every order of it is tried (`check`) rather than one simulated (`run`). Time is abstract then: what goes on
    /// until a date in a simulation should go on for a number of turns instead, and a small one by default.
    pub fn is_explored(&self) -> bool {
        self.explored
    }

    /// The platform.
    pub fn platform(&self) -> &Arc<Platform> {
        &self.shared.platform
    }

    /// A host.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn host(&self, name: &str) -> Result<Host> {
        Ok(Host::new(&self.shared, self.shared.host(name)?))
    }

    /// All hosts, in the order of the platform.
    pub fn hosts(&self) -> Vec<Host> {
        self.shared.platform.hosts().map(|id| Host::new(&self.shared, id)).collect()
    }

    /// A host, by its identity.
    pub fn host_at(&self, id: HostId) -> Host {
        Host::new(&self.shared, id)
    }

    /// A link.
    ///
    /// # Errors
    /// If there is none of this name.
    pub fn link(&self, name: &str) -> Result<Link> {
        Link::named(&self.shared, name)
    }

    /// The next host in turn, for actors that may be anywhere.
    ///
    /// # Errors
    /// If the platform has no host.
    pub fn any_host(&mut self) -> Result<HostId> {
        let count = self.shared.platform.host_count();
        if count == 0 {
            return Err(Error::input("the platform has no host to put an actor on"));
        }
        let host = HostId::from_index(self.spread % count);
        self.spread += 1;
        Ok(host)
    }

    /// A generator of random numbers, from the seed of the program, for what is decided before it runs. Those of the
    /// actors are unrelated to it.
    pub fn random(&self) -> Random {
        Random::new(self.shared.seed(), u64::MAX)
    }

    /// A mailbox, to hand to the actors.
    pub fn mailbox<T: Send + 'static>(&self, name: &str) -> Mailbox<T> {
        Mailbox::new(&self.shared, name)
    }

    /// So many mailboxes, whose names are this text followed by 0, 1, 2...: one for each of many actors.
    #[track_caller]
    pub fn mailboxes<T: Send + 'static>(&self, name: &str, count: u32) -> Mailboxes<T> {
        Mailboxes::new(&self.shared, name, count)
    }

    /// Adds an actor that is there from the start.
    ///
    /// # Errors
    /// If there is no such host.
    pub fn spawn<F, Fut>(
        &mut self,
        name: impl Into<String>,
        host: impl Into<HostRef>,
        code: F,
    ) -> Result<ActorHandle>
    where
        F: FnOnce(Ctx) -> Fut + Send + 'static,
        Fut: Future<Output: IntoEnding> + Send + 'static,
    {
        self.actor(name, host)?.start(code)
    }

    /// Adds an actor of a special kind: a daemon, one that restarts with its host, one that comes later.
    ///
    /// # Errors
    /// If there is no such host.
    pub fn actor(&mut self, name: impl Into<String>, host: impl Into<HostRef>) -> Result<ActorPlan<'_>> {
        let host = host.into().find(&self.shared)?;
        Ok(ActorPlan { program: self, name: name.into(), host, daemon: false, start_at: None, kill_at: None })
    }

    /// Names a function, for deployment files to start actors with.
    pub fn register<F, Fut>(&mut self, name: impl Into<String>, function: F)
    where
        F: Fn(Ctx, Vec<String>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoEnding> + Send + 'static,
    {
        let function: Function = Arc::new(move |ctx, arguments| {
            let future = function(ctx, arguments);
            Box::pin(async move { future.await.into_ending().map_err(Error::Other) })
        });
        self.functions.insert(name.into(), function);
    }

    /// Adds the actors of a SimGrid deployment file; each runs a registered function.
    ///
    /// # Errors
    /// If the file cannot be read, or names a host or function that is not there.
    pub fn deploy(&mut self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let name = path.display().to_string();
        self.deploy_all(&simurgh_platform::read_deployment(path)?, &name)
    }

    /// Adds actors that a platform or deployment file declares.
    ///
    /// # Errors
    /// If one names a host or function that is not there.
    pub fn deploy_all(&mut self, declared: &[ActorDeclaration], file: &str) -> Result<()> {
        for actor in declared {
            let place = format!("{file}:{}", actor.line);
            let function = self.functions.get(&actor.function).cloned().ok_or_else(|| {
                let known: Vec<_> = self.functions.keys().map(|name| format!("{name:?}")).collect();
                Error::input(format!(
                    "{place}: there is no function {:?}; registered are: {}",
                    actor.function,
                    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
                ))
            })?;
            let arguments = actor.arguments.clone();
            let code = move |ctx: Ctx| function(ctx, arguments.clone());
            let mut plan = self
                .actor(actor.function.clone(), actor.host.as_str())
                .map_err(|error| Error::input(format!("{place}: {error}")))?;
            plan.start_at = actor.start_time.filter(|&date| date > 0.0);
            plan.kill_at = actor.kill_time.filter(|&date| date >= 0.0);
            match actor.on_failure {
                OnFailure::Restart => plan.restart(code)?,
                OnFailure::Die => plan.start(code)?,
            };
        }
        Ok(())
    }

    /// A lock around a value, to hand to the actors.
    pub fn mutex<T>(&mut self, value: T) -> Mutex<T> {
        let mutex = Mutex::unborn(&self.shared, value);
        self.notes.push(mutex.note());
        mutex
    }

    /// A semaphore with so many to take, to hand to the actors.
    pub fn semaphore(&mut self, count: u32) -> Semaphore {
        let semaphore = Semaphore::unborn(&self.shared, count);
        self.notes.push(semaphore.note());
        semaphore
    }

    /// A condition variable, to hand to the actors.
    pub fn condvar(&mut self) -> Condvar {
        let condvar = Condvar::unborn(&self.shared);
        self.notes.push(condvar.note());
        condvar
    }

    /// A barrier for so many actors, one or more, to hand to them.
    #[track_caller]
    pub fn barrier(&mut self, size: u32) -> Barrier {
        let barrier = Barrier::unborn(&self.shared, size);
        self.notes.push(barrier.note());
        barrier
    }

    /// A value that an actor exposes, with what it is called and what it is at the start: for
    /// [`invariant`](Self::invariant)s, and for people who look at a counterexample.
    pub fn exposed<T: Debug + Clone + Send + 'static>(
        &mut self,
        name: impl Into<String>,
        value: T,
    ) -> Exposed<T> {
        self.exposed.push((name.into(), Box::new(value)));
        Exposed::new(ExposedId::from_index(self.exposed.len() - 1))
    }

    /// Something that must be true of what the actors expose, at the start and after each step that exposes something
    /// else. It is given the values in the shape in which it names them, and says whether they are right, or an error
    /// that says what is wrong. Simulated, a run in which it did not hold has failed; explored, every order of the steps that
    /// it can see is tried.
    ///
    /// ```
    /// use simurgh::prelude::*;
    ///
    /// let mut program = Program::new(Platform::builtin());
    /// let a = program.exposed("balance of a", 10i64);
    /// let b = program.exposed("balance of b", 0i64);
    /// program.invariant("money is kept", (a, b), |(a, b)| a + b == 10);
    /// program.invariant("no debts", [a, b], |balances| match balances.iter().min() {
    ///     Some(least) if *least < 0 => Err(format!("somebody owes {}", -least)),
    ///     _ => Ok(()),
    /// });
    /// program.spawn("a", "node-0", move |ctx: Ctx| async move {
    ///     a.set(7).await;
    ///     ctx.mailbox("to b").send(3i64, 8.0).await
    /// })?;
    /// program.spawn("b", "node-1", move |ctx: Ctx| async move {
    ///     b.set(ctx.mailbox("to b").recv().await?).await;
    ///     Ok(())
    /// })?;
    /// // While the message is under way, its money is in no account.
    /// let outcome = program.simulate(Settings::default())?;
    /// assert!(!outcome.is_fine());
    /// assert_eq!(
    ///     outcome.report.broken[0].what.to_string(),
    ///     "invariant \"money is kept\" does not hold (balance of a = 7, balance of b = 0)"
    /// );
    /// # Ok::<(), simurgh::Error>(())
    /// ```
    pub fn invariant<V, J>(
        &mut self,
        name: impl Into<String>,
        view: V,
        holds: impl Fn(V::Values) -> J + Send + 'static,
    ) where
        V: View + Send + 'static,
        J: IntoJudgement,
    {
        self.invariants.push(demand(name.into(), view, holds));
    }

    /// Adds what must become true at some time, of values that actors show: `check` looks whether it does in every execution, whatever
    /// is received in which order, and `simulate` whether it does in this one.
    ///
    /// ```
    /// use simurgh::prelude::*;
    ///
    /// let mut program = Program::new(Platform::builtin());
    /// let served = program.exposed("served", 0);
    /// program.eventually("both are served", served, |served| served == 2);
    /// for client in ["a", "b"] {
    ///     program.spawn(client, "node-0", move |ctx: Ctx| async move { ctx.mailbox("door").send(client, 1.0).await })?;
    /// }
    /// program.spawn("server", "node-1", move |ctx: Ctx| async move {
    ///     let first: &str = ctx.mailbox("door").recv().await?;
    ///     served.set(1).await;
    ///     let _: &str = ctx.mailbox("door").recv().await?;
    ///     if first == "a" {
    ///         served.set(2).await; // forgotten if b came first
    ///     }
    ///     Ok(())
    /// })?;
    /// assert!(program.simulate(Settings::default())?.is_fine());
    /// # Ok::<(), simurgh::Error>(())
    /// ```
    pub fn eventually<V, J>(
        &mut self,
        name: impl Into<String>,
        view: V,
        holds: impl Fn(V::Values) -> J + Send + 'static,
    ) where
        V: View + Send + 'static,
        J: IntoJudgement,
    {
        self.invariants.push(demand(name.into(), view, holds).as_goal());
    }

    /// Changes a host or a link before the start: `program.set(link.set_bandwidth(1e6))?`. What every order is explored of, where time is
    /// abstract, takes no notice of it.
    ///
    /// # Errors
    /// If it is no change of the platform. What the platform refuses is told when the program starts.
    pub fn set(&mut self, change: Ask<Result<()>>) -> Result {
        let (request, read) = change.into_request()?;
        self.changes.push((request, read));
        Ok(())
    }

    /// Prepares the simulation of the program: it can be halted at any date and looked at
    /// ([`run_until`](Simulation::run_until)). [`simulate`](Self::simulate) runs it to its end.
    ///
    /// # Errors
    /// If the configuration is not understood, or the platform refuses a change.
    pub fn start(self, settings: Settings) -> Result<Simulation> {
        if settings.until.is_some_and(f64::is_nan) {
            return Err(Error::input("until(NaN): give a date in seconds"));
        }
        let platform = Arc::clone(&self.shared.platform);
        let mut config = Config::default();
        for (key, value) in platform.config() {
            let known = config.set(key, value);
            known.map_err(|error| Error::input(format!("{}: {error}", platform.config_place(key))))?;
        }
        for (key, value) in &settings.config {
            config.set(key, value)?;
        }
        config.whole_bytes = settings.pacing == Pacing::Reference;
        self.shared.mix_seed(settings.seed);
        let mut simulation = Engine::new(Models::new(platform, &config)?, self.shared.seed());
        simulation.set_program(self.shared.tag().0);
        simulation.set_pacing(settings.pacing);
        let watch: Option<Stopwatch> = if settings.always_share { None } else { Some(stopwatch) };
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        if settings.timed {
            simulation.models_mut().time_solver(stopwatch);
        }
        simulation.set_workers(settings.workers.unwrap_or_else(cores), watch);
        for observer in settings.observers {
            simulation.observe(observer);
        }
        simulation.explain(settings.explain);
        if let Some(watcher) = settings.watcher {
            simulation.watch(watcher);
        }
        if let Some(listener) = settings.listener {
            simulation.hear(listener);
        }
        for (name, value) in self.exposed {
            simulation.kernel_mut().expose(&name, value);
        }
        simulation.uphold(self.invariants);
        for note in self.notes {
            // These belong to no actor: making an object asks nothing of anyone.
            simulation.kernel_mut().serve_note(ActorId(0), note);
        }
        // A large system is not there twice, planned and made.
        let mut planned = self.planned;
        planned.reverse();
        while let Some(Planned { start_at, request }) = planned.pop() {
            if planned.len() < planned.capacity() / 2 {
                planned.shrink_to_fit();
            }
            match start_at {
                None => drop(simulation.spawn(request)?),
                Some(date) => simulation.spawn_at(SimTime::new(date), request),
            }
        }
        for (request, read) in self.changes {
            read(Answer::Platform(simulation.ask(&request)?))?;
        }
        Ok(Simulation::new(simulation, self.shared, settings.until))
    }
}

impl Outcome {
    pub(crate) fn new(
        report: Report,
        shared: Arc<Shared>,
        energy: Vec<(HostId, f64)>,
        statistics: simurgh_models::Statistics,
        threads: simurgh_kernel::simulation::Shared,
        joined: BTreeMap<ActorId, String>,
        unreceived: Vec<Unreceived>,
    ) -> Self {
        Self { report, shared, energy, statistics, threads, joined, unreceived }
    }

    /// The messages that were sent and met no receive.
    pub fn unreceived(&self) -> &[Unreceived] {
        &self.unreceived
    }

    /// Whether all actors came to a good end.
    pub fn is_fine(&self) -> bool {
        let as_it_should = self.report.failures.is_empty() && self.report.broken.is_empty();
        as_it_should && matches!(self.report.end, End::Finished | End::Reached)
    }

    /// The date of the end, in seconds.
    pub fn clock(&self) -> f64 {
        self.report.clock.seconds()
    }

    /// The joules that each host used, where the platform gives wattages.
    pub fn energy(&self) -> impl Iterator<Item = (&str, f64)> {
        self.energy.iter().map(|&(host, joules)| (self.shared.platform.host(host).name, joules))
    }

    /// What several threads did, which may differ from run to run as nothing else does.
    pub fn threads(&self) -> simurgh_kernel::simulation::Shared {
        self.threads
    }

    /// What the models did.
    pub fn statistics(&self) -> &simurgh_models::Statistics {
        &self.statistics
    }

    /// The name of an actor that another waits for.
    pub fn joined_name(&self, actor: ActorId) -> &str {
        self.joined.get(&actor).map_or("?", String::as_str)
    }

    /// The name of a mailbox.
    pub fn mailbox_name(&self, mailbox: MailboxId) -> String {
        self.shared.mailbox_name(mailbox)
    }

    /// The platform.
    pub fn platform(&self) -> &Platform {
        &self.shared.platform
    }
}

/// An actor about to be added to a program.
#[derive(Debug)]
#[must_use = "the actor is added by `start` or `restart`"]
pub struct ActorPlan<'a> {
    program: &'a mut Program,
    name: String,
    host: HostId,
    daemon: bool,
    start_at: Option<f64>,
    kill_at: Option<f64>,
}

impl ActorPlan<'_> {
    /// As a daemon, which ends when all actors that are not have ended.
    pub fn daemon(mut self) -> Self {
        self.daemon = true;
        self
    }

    /// To start at a date; 0 is the start. Its handle cannot be used: it is not there yet, and has no number.
    pub fn start_at(mut self, date: f64) -> Self {
        self.start_at = Some(date).filter(|date| *date != 0.0);
        self
    }

    /// To be killed at a date; one before it starts means nothing, as in SimGrid.
    pub fn kill_at(mut self, date: f64) -> Self {
        self.kill_at = Some(date);
        self
    }

    fn check_dates(&self) -> Result {
        for (what, date) in [("start", self.start_at), ("be killed", self.kill_at)] {
            if let Some(date) = date.filter(|date| date.is_nan() || *date < 0.0) {
                return Err(Error::input(format!(
                    "actor {:?} cannot {what} at {date}: give a date in seconds, 0 or more",
                    self.name
                )));
            }
        }
        Ok(())
    }

    /// Adds it.
    ///
    /// # Errors
    /// If its dates are none.
    pub fn start<F, Fut>(self, code: F) -> Result<ActorHandle>
    where
        F: FnOnce(Ctx) -> Fut + Send + 'static,
        Fut: Future<Output: IntoEnding> + Send + 'static,
    {
        let body = body(&self.program.shared, code);
        self.code(body)
    }

    /// Adds it, with code that is no Rust function: a compiled program, say.
    ///
    /// # Errors
    /// If its dates are none.
    pub fn code(self, body: Body) -> Result<ActorHandle> {
        self.check_dates()?;
        let request = SpawnRequest {
            kill_at: self.kill_at,
            daemon: self.daemon,
            ..SpawnRequest::new(self.name, self.host, body)
        };
        Ok(self.program.plan(self.start_at, request))
    }

    /// Adds it; whenever its host comes back, it starts again from the beginning, also if it had ended or was killed before the
    /// host went off. Its host is the one that it was added to, wherever it has moved. It is a daemon again if it was added as one; the
    /// date to be killed at is for the first one.
    ///
    /// # Errors
    /// If its dates are none.
    pub fn restart<F, Fut>(self, code: F) -> Result<ActorHandle>
    where
        F: Fn(Ctx) -> Fut + Send + Sync + 'static,
        Fut: Future<Output: IntoEnding> + Send + 'static,
    {
        self.check_dates()?;
        let again = reboot(&self.program.shared, code);
        let request = SpawnRequest {
            kill_at: self.kill_at,
            daemon: self.daemon,
            reboot: Some(Arc::clone(&again)),
            ..SpawnRequest::new(self.name, self.host, again())
        };
        Ok(self.program.plan(self.start_at, request))
    }
}

impl Program {
    /// The actors and shared objects of the start, for a driver other than the simulation. Dates mean nothing there:
    /// an actor that starts late may start at any time.
    pub(crate) fn into_parts(self) -> (Vec<SpawnRequest>, Vec<Note>) {
        (self.planned.into_iter().map(|planned| planned.request).collect(), self.notes)
    }

    /// As [`into_parts`](Self::into_parts), into lists that are there.
    pub(crate) fn hand_over(mut self, actors: &mut Vec<SpawnRequest>, notes: &mut Vec<Note>) {
        actors.extend(self.planned.drain(..).map(|planned| planned.request));
        notes.extend(self.notes);
        SPARE.set(self.planned);
    }

    /// What all actors share.
    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// The program with other actors in place of its own, by their numbers, and other notes of the start.
    pub(crate) fn convert(
        mut self,
        mut actor: impl FnMut(u32, SpawnRequest) -> SpawnRequest,
        notes: impl FnOnce(Vec<Note>) -> Vec<Note>,
    ) -> Self {
        let planned = (0..).zip(self.planned).map(|(number, planned)| Planned {
            start_at: planned.start_at,
            request: actor(number, planned.request),
        });
        self.planned = planned.collect();
        self.notes = notes(self.notes);
        self
    }

    /// The values that its actors expose, with what each is called, and what must be true of them.
    pub(crate) fn take_exposed(&mut self) -> (Vec<NamedValue>, Vec<Invariant>) {
        (std::mem::take(&mut self.exposed), std::mem::take(&mut self.invariants))
    }

    fn plan(&mut self, start_at: Option<f64>, mut request: SpawnRequest) -> ActorHandle {
        request.kill_at = request.kill_at.filter(|kill| start_at.is_none_or(|start| *kill >= start));
        // Actors of the start get their numbers first, in order; late ones have no handle that could be used before.
        let id = if start_at.is_none() {
            self.at_once += 1;
            ActorId(self.at_once - 1)
        } else {
            ActorId(u32::MAX)
        };
        self.planned.push(Planned { start_at, request });
        ActorHandle { id }
    }
}

/// What is asked of values that actors show.
fn demand<V, J>(name: String, view: V, holds: impl Fn(V::Values) -> J + Send + 'static) -> Invariant
where
    V: View + Send + 'static,
    J: IntoJudgement,
{
    let mut looks_at = Vec::new();
    view.list(&mut looks_at);
    let judge = move |exposure: &Exposure| holds(view.read(exposure)).into_judgement();
    Invariant::new(name, looks_at, Box::new(judge))
}
