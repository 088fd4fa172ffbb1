//! The driver of simulated time: lets the actors run until all wait, serves what they ask, and lets the models say
//! when the next of them goes on (Rosa's thesis, Algorithm 3).
//!
//! - [`report`]: what a simulation tells.
//! - `round`: what actors do within an instant.
//! - `worker_pool`, `sync`: the threads that may run them, and what they are made of.
//! - `parallelism`: whether they do.
//! - `round_timer`: how long a round takes, by which that is told.
//! - `effects`: from the kernel to the world.
//! - `completions`: from the world to the kernel.
//! - `invariants`: what must be true of what actors show.
//! - `prefetch`: asking for records before they are needed.

mod completions;
mod effects;
mod invariants;
mod parallelism;
mod posts;
mod prefetch;
pub mod report;
mod round;
mod round_timer;
mod sync;
mod worker_pool;

pub use parallelism::Stopwatch;
pub use report::{
    ActorFailure, End, Error, InvariantFailure, Listener, Pacing, Report, Said, Shared, Status, Watcher,
};

use std::sync::Arc;

use simurgh_models::{ActionId, Models, Progress, SimTime, Step, Token};
use simurgh_platform::{HostId, Platform, ProfileTarget, Repeat};

use crate::activity::Activity;
use crate::context::{Body, Door, OnExit};
use crate::event::{Event, Observer};
use crate::exposed::Invariant;
use crate::ids::{ActivityId, ActorId};
use crate::kernel::Kernel;
use crate::platform_requests;
use crate::simcall::{Answer, PlatformAnswer, PlatformRequest, Reboot, Simcall, SpawnRequest};
use parallelism::ParallelismController;
use round::{Held, Rest, Slot};
use worker_pool::WorkerPool;

/// The code of an actor and what belongs to it, kept with the actor.
#[derive(Default)]
pub struct Code {
    body: Option<Body>,
    rare: Option<Box<Rare>>,
}

/// What few actors have.
#[derive(Default)]
struct Rare {
    /// A simcall that is not served yet.
    held: Option<Held>,
    /// What it received that it has left to its driver, and was not told of yet.
    received: Vec<ActivityId>,
    on_exit: Vec<OnExit>,
    /// Which of the boots starts it again.
    boot: Option<usize>,
    kill: Option<ActionId>,
}

/// An actor that starts whenever its host does: the one that was there from the beginning, ended or not, is not asked.
struct Boot {
    host: HostId,
    name: String,
    daemon: bool,
    code: Reboot,
    /// The last one died with the host.
    is_awaited: bool,
}

/// A simulation: a program, a platform, and time.
pub struct Simulation {
    kernel: Kernel<Code>,
    models: Models,
    platform: Arc<Platform>,
    /// Those of the present round, used again and again.
    slots: Vec<Slot>,
    /// Those of the present round who have not been served.
    rest: Rest,
    /// For actors that end.
    parting: Door,
    /// Actors to be created later.
    late: Vec<Option<SpawnRequest>>,
    /// Actors that start again when their host does, in the order in which they were created.
    boots: Vec<Boot>,
    observers: Vec<Box<dyn Observer>>,
    events: Vec<Event>,
    /// Room for what a request changes, used again and again.
    news: Step,
    explaining: bool,
    pacing: Pacing,
    /// What its actors find in their port.
    program: u32,
    watcher: Option<Watcher>,
    listener: Option<Listener>,
    failures: Vec<ActorFailure>,
    invariants: Vec<Invariant>,
    broken: Vec<InvariantFailure>,
    rounds: u64,
    turns: u64,
    steps: u64,
    still: Still,
    /// Why it does not go on; nothing before it began.
    end: Option<End>,
    workers: Workers,
}

/// How much has happened since time passed.
struct Still {
    /// Rounds and steps when it did.
    since: u64,
    /// How many there may be until the next time.
    most: u64,
}

impl Default for Still {
    fn default() -> Self {
        Self { since: 0, most: 100_000_000 }
    }
}

/// Who runs the code of the actors.
#[derive(Default)]
struct Workers {
    /// How many threads may; none is as good as one.
    count: usize,
    stopwatch: Option<Stopwatch>,
    parallelism: ParallelismController,
    worker_pool: Option<WorkerPool<Slot>>,
    /// How many rounds several threads ran.
    rounds: u64,
}

/// What a token of the models stands for.
enum Purpose {
    Activity(ActivityId),
    Timer(ActorId),
    Kill(ActorId),
    Start(usize),
}

const KIND: u64 = 3 << 62;
const TIMER: u64 = 1 << 62;
const KILL: u64 = 2 << 62;
const START: u64 = 3 << 62;

/// Reads the token that the models carry for an activity, as explanations name those who share a resource.
pub fn activity_of(token: Token) -> Option<ActivityId> {
    (token & KIND == 0).then(|| ActivityId::from_bits(token))
}

/// What the models do for an activity: noted with it.
#[inline]
fn action_of(kernel: &Kernel<Code>, activity: ActivityId) -> Option<ActionId> {
    let note = kernel.activities().get(activity)?.driver_data;
    (note != Activity::NO_DATA).then(|| ActionId::from_bits(note))
}

fn purpose(token: Token) -> Purpose {
    let number = token & !KIND;
    match token & KIND {
        TIMER => Purpose::Timer(ActorId(number as u32)),
        KILL => Purpose::Kill(ActorId(number as u32)),
        START => Purpose::Start(number as usize),
        _ => Purpose::Activity(ActivityId::from_bits(number)),
    }
}

impl Simulation {
    /// A simulation without actors.
    pub fn new(mut models: Models, seed: u64) -> Self {
        let platform = Arc::clone(models.platform());
        models.mark_alarms(TIMER);
        let mut kernel = Kernel::new(seed);
        kernel.wait_at_once(true);
        kernel.cancel_timers_lazily(true);
        Self {
            kernel,
            models,
            platform,
            slots: Vec::new(),
            rest: Rest::default(),
            parting: Door::new(),
            late: Vec::new(),
            boots: Vec::new(),
            observers: Vec::new(),
            events: Vec::new(),
            news: Step::default(),
            explaining: false,
            pacing: Pacing::Single,
            program: 0,
            watcher: None,
            listener: None,
            failures: Vec::new(),
            invariants: Vec::new(),
            broken: Vec::new(),
            rounds: 0,
            turns: 0,
            steps: 0,
            still: Still::default(),
            end: None,
            workers: Workers::default(),
        }
    }

    /// What several threads did until now.
    pub fn shared(&self) -> Shared {
        Shared {
            workers: self.workers.worker_pool.as_ref().map_or(1, WorkerPool::size),
            rounds: self.workers.rounds,
            from: self.workers.parallelism.threshold(),
        }
    }

    /// Lets so many threads run the code of the actors, in rounds where it is faster by this clock; without a clock, in
    /// all rounds of two actors and more. What the simulation gives does not depend on it.
    pub fn set_workers(&mut self, count: usize, stopwatch: Option<Stopwatch>) {
        self.workers = Workers {
            count,
            stopwatch,
            parallelism: ParallelismController::new(count),
            ..Workers::default()
        };
    }

    /// After so many rounds in which no time passes, the simulation ends with [`Error::Stalled`]; 100 million if not said.
    pub fn stall_after(&mut self, rounds: u64) {
        self.still.most = rounds;
    }

    /// Counts a round or a step in which no time passed.
    #[inline]
    pub(super) fn stand_still(&mut self, ready: &[ActorId]) -> Result<(), Error> {
        let turns = self.rounds + self.steps - self.still.since;
        if turns <= self.still.most {
            return Ok(());
        }
        let actor = ready.first().map_or("something", |&actor| self.kernel.actor_name(actor)).to_owned();
        Err(Error::Stalled { at: self.models.now().seconds(), actor, turns })
    }

    /// Gives the program a number, by which its actors tell objects of another one.
    pub fn set_program(&mut self, number: u32) {
        self.program = number;
    }

    /// How many turns an operation takes within an instant.
    pub fn set_pacing(&mut self, pacing: Pacing) {
        self.pacing = pacing;
        self.kernel.wait_at_once(pacing == Pacing::Single);
    }

    /// Lets someone see all that happens.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.observers.push(observer);
        self.kernel.listen(true);
        self.models.record_usage(true);
    }

    /// Whether the models explain each duration, as [`Event::Explained`].
    pub fn explain(&mut self, on: bool) {
        self.explaining = on;
        self.models.record_explanations(on);
    }

    /// Lets someone look at a long run now and then.
    pub fn watch(&mut self, watcher: Watcher) {
        self.watcher = Some(watcher);
    }

    /// Lets someone hear what the actors say, in the order in which their requests are served.
    pub fn hear(&mut self, listener: Listener) {
        self.listener = Some(listener);
    }

    /// The actors and mailboxes.
    pub fn kernel(&self) -> &Kernel<Code> {
        &self.kernel
    }

    /// The actors and mailboxes, to prepare synchronisation objects.
    pub fn kernel_mut(&mut self) -> &mut Kernel<Code> {
        &mut self.kernel
    }

    /// The resources.
    pub fn models(&self) -> &Models {
        &self.models
    }

    /// The resources, to be set before the start.
    pub fn models_mut(&mut self) -> &mut Models {
        &mut self.models
    }

    /// Creates an actor that starts now. On a host that is off it ends at once, and comes again when the host does if
    /// it knows how to start again.
    ///
    /// # Errors
    /// None that a new actor can cause by itself.
    pub fn spawn(&mut self, request: SpawnRequest) -> Result<ActorId, Error> {
        let actor = self.kernel.spawn(request);
        self.settle()?;
        Ok(actor)
    }

    /// Creates an actor that starts at a date.
    pub fn spawn_at(&mut self, date: SimTime, request: SpawnRequest) {
        let token = START | self.late.len() as u64;
        self.late.push(Some(request));
        self.models.timer(date - self.models.now(), token);
    }

    /// Runs until all actors have ended, nothing can happen any more, or the date is reached. Where it was halted makes no
    /// difference to what comes of it.
    ///
    /// # Errors
    /// What the program asks and the platform cannot do at all, such as a message between hosts without a route.
    pub fn run(&mut self, until: Option<SimTime>) -> Result<&End, Error> {
        let goes_on = matches!(self.end, None | Some(End::Reached | End::Interrupted));
        if goes_on {
            if self.end.is_none() {
                self.judge(None);
            }
            let end = self.go_on(until)?;
            self.publish();
            if end == End::Finished {
                self.judge_goals();
            }
            self.end = Some(end);
        }
        Ok(self.end.as_ref().expect("it has run"))
    }

    fn go_on(&mut self, until: Option<SimTime>) -> Result<End, Error> {
        let mut step = Step::default();
        let mut ready = Vec::new();
        Ok(loop {
            self.run_actors(&mut ready)?;
            if self.is_interrupted() {
                break End::Interrupted;
            }
            match self.models.step(until, &mut step) {
                Progress::Reached => {
                    self.kernel.set_now(self.models.now());
                    break End::Reached;
                }
                Progress::Idle if self.wait_for_boot() => {}
                Progress::Idle => {
                    let end = self.last_state();
                    if matches!(end, End::Deadlock(_)) {
                        self.part_with_all();
                    }
                    break end;
                }
                Progress::Moved => {
                    self.steps += 1;
                    if self.models.now() > self.kernel.now() {
                        self.still.since = self.rounds + self.steps;
                    } else {
                        self.stand_still(&[])?;
                    }
                    self.kernel.set_now(self.models.now());
                    self.publish();
                    self.apply_step(&mut step)?;
                }
            }
        })
    }

    /// What became of it until now.
    pub fn report(&self) -> Report {
        Report {
            clock: self.models.now(),
            end: self.end.clone().unwrap_or(End::Reached),
            failures: self.failures.clone(),
            broken: self.broken.clone(),
            actors: self.kernel.actor_count(),
            messages: self.kernel.messages(),
            bytes: self.kernel.bytes(),
            rounds: self.rounds,
            turns: self.turns,
            steps: self.steps,
        }
    }

    /// The actors that failed until now.
    pub fn failures(&self) -> &[ActorFailure] {
        &self.failures
    }

    /// Asks about the platform, or changes it, while no actor runs.
    ///
    /// # Errors
    /// What comes of a change may be what the platform cannot do.
    pub fn ask(&mut self, request: &PlatformRequest) -> Result<PlatformAnswer, Error> {
        if !request.is_question() && self.end.is_some() {
            let mut news = Step::default();
            self.models.halt(&mut news);
            self.apply_step(&mut news)?;
        }
        let answer = self.answer_request(request);
        self.tell_news()?;
        // A host that is turned on again may bring actors back.
        if self.end == Some(End::Finished) && self.kernel.living_regular() > 0 {
            self.end = Some(End::Reached);
        }
        Ok(answer)
    }

    /// What a change takes down is told before anything else happens.
    #[inline]
    fn tell_news(&mut self) -> Result<(), Error> {
        if self.models.has_news() { self.tell_all_news() } else { Ok(()) }
    }

    fn tell_all_news(&mut self) -> Result<(), Error> {
        let mut news = std::mem::take(&mut self.news);
        while self.models.has_news() {
            self.models.step(None, &mut news);
            self.apply_step(&mut news)?;
        }
        self.news = news;
        Ok(())
    }

    fn is_interrupted(&mut self) -> bool {
        const EVERY: u64 = 1 << 10;
        if !self.steps.is_multiple_of(EVERY) {
            return false;
        }
        let status = Status {
            clock: self.models.now(),
            turns: self.turns,
            steps: self.steps,
            living: self.kernel.living(),
        };
        self.watcher.as_mut().is_some_and(|watcher| watcher(&status).is_break())
    }

    /// When all that is left are actors whose host is off, time goes on to the next change of the platform; but not for
    /// daemons, who never keep a simulation going, nor for a host that never comes back.
    fn wait_for_boot(&mut self) -> bool {
        if !self.awaits_boot() {
            return false;
        }
        let Some(date) = self.models.next_profile_date() else { return false };
        // The alarm names no late actor: it only lets the models reach the date.
        self.models.timer(date - self.models.now(), START | !KIND);
        true
    }

    /// Whether somebody who is no daemon will start again with a host.
    #[cold]
    fn awaits_boot(&self) -> bool {
        self.boots.iter().any(|boot| boot.is_awaited && !boot.daemon && self.comes_back(boot.host))
    }

    /// Whether only daemons live, and nobody else will again.
    #[inline(always)]
    fn only_daemons_are_left(&self) -> bool {
        self.kernel.living_regular() == 0 && self.kernel.living() > 0 && !self.awaits_boot()
    }

    /// Whether a profile will turn a host on.
    fn comes_back(&self, host: HostId) -> bool {
        let now = self.models.now().seconds();
        let of_host =
            self.platform.profiles().iter().filter(|bound| bound.target == ProfileTarget::HostState(host));
        of_host.map(|bound| &bound.profile).any(|profile| {
            let again = matches!(profile.repeat, Repeat::Periodic(_));
            profile.events.iter().any(|event| event.value != 0.0 && (again || event.date > now))
        })
    }

    fn last_state(&self) -> End {
        let blocked: Vec<_> = self.kernel.blocked().into_iter().filter(|blocked| !blocked.daemon).collect();
        if blocked.is_empty() { End::Finished } else { End::Deadlock(blocked) }
    }

    /// Tells the listener what an actor said.
    fn pass_on(&mut self, actor: ActorId, said: &[String]) {
        let Some(listener) = &mut self.listener else { return };
        let host = self.platform.host(self.kernel.actor_host(actor)).name;
        for text in said {
            listener(&Said { at: self.models.now(), actor: self.kernel.actor_name(actor), host, text });
        }
    }

    fn end_daemons(&mut self) -> Result<(), Error> {
        for index in 0..self.kernel.actor_count() {
            self.kernel.end(ActorId::from_index(index), true);
        }
        self.settle()
    }

    fn answer_request(&mut self, request: &PlatformRequest) -> PlatformAnswer {
        let (host, link) = request.of();
        if host.is_some_and(|host| host.index() >= self.platform.host_count())
            || link.is_some_and(|link| link.index() >= self.platform.link_count())
        {
            return PlatformAnswer::Refused(Box::new("this host or link is of another program".to_owned()));
        }
        self.kernel.retune(request);
        let kernel = &self.kernel;
        platform_requests::answer(&mut self.models, request, &|id| action_of(kernel, id))
    }

    /// What concerns resources is answered here: the kernel knows none.
    fn answer_platform(&mut self, simcall: &Simcall) -> Option<Answer> {
        match simcall {
            Simcall::Platform(request) => Some(Answer::Platform(self.answer_request(request))),
            Simcall::Remaining(id) => {
                let left = self.action(*id).and_then(|action| self.models.remaining(action));
                Some(Answer::Number(left.unwrap_or(0.0)))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_that_stands_still_is_told() {
        let models = Models::new(Arc::new(Platform::builtin()), &simurgh_models::Config::default()).unwrap();
        let mut simulation = Simulation::new(models, 0);
        let body = Body::Future(Box::pin(async {
            crate::context::call(Simcall::Sleep(2.0)).await;
            loop {
                crate::context::call(Simcall::Yield).await;
            }
        }));
        simulation.spawn(SpawnRequest::new("poller".to_owned(), HostId(0), body)).unwrap();
        simulation.stall_after(1000);
        let stalled = simulation.run(None).unwrap_err().to_string();
        assert!(stalled.starts_with("time stands still at 2 s: 1001 rounds"), "{stalled}");
        assert!(stalled.contains("the last one of poller"), "{stalled}");
    }

    /// With what the kernel has of an actor, which is one line, its code is on two lines of the cache.
    #[test]
    fn the_code_of_an_actor_is_kept_on_half_a_line() {
        assert!(size_of::<Code>() <= 32, "{}", size_of::<Code>());
    }
}
