//! A simulation that goes on: the models say what ends when, and the handlers what begins.

use std::collections::{BTreeMap, VecDeque};

use simurgh_kernel::random::Random;
use simurgh_models::{ActionId, Change, Ended, Models, Outcome, Progress, Refused, Step, Transfer};
use simurgh_platform::{HostId, ProfileBinding, ProfileTarget, Repeat};
use simurgh_protocol::runtime::{MessageId, Request, Runtime};
use simurgh_protocol::{ActorId, Data, Mode, States};

use crate::error::Error;
use crate::report::{Counts, End, Node, Property, Report};
use crate::simulation::{Planned, Size};

/// Streams of randomness: what is lost does not change how long timers take.
const LOSSES: u64 = 1;
const TIMERS: u64 = 2;
const DOUBLES: u64 = 3;
const CHOICES: u64 = 1 << 32;

/// What a token of the models stands for.
enum Awaited<M> {
    Message(MessageId),
    Timer(ActorId, usize),
    Planned(Planned<M>),
    /// Only the date is waited for.
    Date,
}

/// What the models said and nobody has handled.
enum News {
    Ended(Ended),
    Changed(Change),
}

/// What became of a message of an ordered network, where it waits for those before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Travelling,
    Arrived,
    Gone,
}

/// A simulation that goes on as far as it is told to.
pub struct Running<M> {
    runtime: Runtime<M>,
    models: Models,
    hosts: Vec<HostId>,
    size: Size<M>,
    loss: f64,
    duplication: f64,
    seed: u64,
    losses: Random,
    doubles: Random,
    timers_random: Random,
    events: u64,
    tokens: u64,
    awaited: BTreeMap<u64, Awaited<M>>,
    timers: BTreeMap<(ActorId, usize), (u64, ActionId)>,
    channels: BTreeMap<(ActorId, ActorId), VecDeque<(MessageId, Fate)>>,
    step: Step,
    news: VecDeque<News>,
    counts: Counts,
    decided: Vec<Option<f64>>,
    dates: Vec<f64>,
}

impl<M: Data> Running<M> {
    pub(crate) fn start(
        runtime: Runtime<M>,
        models: Models,
        hosts: Vec<HostId>,
        (size, loss, duplication, seed): (Size<M>, f64, f64, u64),
        plan: Vec<(f64, Planned<M>)>,
    ) -> Result<Self, Error> {
        let decided = vec![None; runtime.properties().len()];
        let mut running = Self {
            runtime,
            models,
            hosts,
            size,
            loss,
            duplication,
            seed,
            losses: Random::new(seed, LOSSES),
            doubles: Random::new(seed, DOUBLES),
            timers_random: Random::new(seed, TIMERS),
            events: 0,
            tokens: 0,
            awaited: BTreeMap::new(),
            timers: BTreeMap::new(),
            channels: BTreeMap::new(),
            step: Step::default(),
            news: VecDeque::new(),
            counts: Counts::default(),
            decided,
            dates: Vec::new(),
        };
        for (at, planned) in plan {
            running.set_timer(at, Awaited::Planned(planned));
        }
        running.events = running.hosts.len() as u64;
        let requests = running.runtime.start(|actor| dice(seed, u64::from(actor.0)));
        running.settle(requests)?;
        for actor in running.actors().filter(|actor| !running.is_on(*actor)).collect::<Vec<_>>() {
            running.kill(actor)?;
        }
        Ok(running)
    }

    /// Goes on until a condition holds, nothing can happen any more, an `always` is violated, a handler panics, or a date is reached.
    ///
    /// # Errors
    /// If a message has no way to go.
    pub fn go(
        &mut self,
        until: Option<f64>,
        mut stop: impl FnMut(&States<'_>) -> bool,
    ) -> Result<End, Error> {
        let until = until.map(simurgh_models::SimTime::new);
        loop {
            if self.is_violated() {
                return Ok(End::Violated);
            }
            if stop(&self.runtime.states()) {
                return Ok(End::Stopped);
            }
            match self.news.pop_front() {
                Some(News::Ended(ended)) => self.ended(ended)?,
                Some(News::Changed(change)) => self.changed(change)?,
                None => match self.models.step(until, &mut self.step) {
                    Progress::Moved => {
                        self.news.extend(self.step.changes.drain(..).map(News::Changed));
                        self.news.extend(self.step.ended.drain(..).map(News::Ended));
                    }
                    Progress::Reached => return Ok(End::Reached),
                    Progress::Idle => {
                        // Time goes on to the next change of the platform if that may start a node again.
                        let waits = self.actors().any(|actor| !self.is_on(actor) && self.comes_back(actor));
                        match self.models.next_profile_date().filter(|_| waits) {
                            Some(date) => {
                                let after = date - self.models.now();
                                self.set_timer(after, Awaited::Date);
                            }
                            None => return Ok(End::Quiet),
                        }
                    }
                },
            }
        }
    }

    /// The date, in seconds.
    pub fn now(&self) -> f64 {
        self.models.now().seconds()
    }

    /// The states of all actors.
    pub fn states(&self) -> States<'_> {
        self.runtime.states()
    }

    /// Whether an `always` was violated or a handler panicked.
    pub fn is_violated(&self) -> bool {
        let mut properties = self.runtime.properties().zip(&self.decided);
        let violated = properties.any(|((_, mode), at)| at.is_some() && mode == Mode::Always);
        violated || self.runtime.failures().next().is_some()
    }

    /// Gives an actor a message from outside, as if it had sent it to itself; one that is down does not get it.
    ///
    /// # Errors
    /// If a message that it sends then has no way to go.
    pub fn input(&mut self, actor: ActorId, msg: &M) -> Result<(), Error> {
        self.counts.inputs += 1;
        let dice = self.dice();
        let requests = self.runtime.input(actor, msg, dice);
        self.settle(requests)
    }

    /// Crashes an actor now; nothing happens if it is down.
    ///
    /// # Errors
    /// None that a crash can cause by itself.
    pub fn kill(&mut self, actor: ActorId) -> Result<(), Error> {
        if !self.runtime.is_up(actor) {
            return Ok(());
        }
        self.counts.crashes += 1;
        let requests = self.runtime.crash(actor);
        self.settle(requests)
    }

    /// Starts an actor again; nothing happens if it is up, or its host is off.
    ///
    /// # Errors
    /// If a message that it sends then has no way to go.
    pub fn restart(&mut self, actor: ActorId) -> Result<(), Error> {
        if self.runtime.is_up(actor) || !self.is_on(actor) {
            return Ok(());
        }
        self.counts.recoveries += 1;
        let dice = self.dice();
        let requests = self.runtime.recover(actor, dice);
        self.settle(requests)
    }

    /// What came of it so far.
    pub fn report(&self, end: End) -> Report {
        let platform = self.models.platform();
        let property = |((name, mode), at): ((&str, Mode), &Option<f64>)| Property {
            name: name.to_owned(),
            mode,
            at: *at,
        };
        let node = |actor: ActorId| Node {
            name: self.runtime.name(actor),
            host: platform.host(self.hosts[actor.index()]).name.to_owned(),
            is_up: self.runtime.is_up(actor),
            state: self.runtime.text(actor),
        };
        Report {
            end: if self.is_violated() { End::Violated } else { end },
            clock: self.now(),
            counts: self.counts,
            flying: self.runtime.in_flight() as u64,
            properties: self.runtime.properties().zip(&self.decided).map(property).collect(),
            failures: self.runtime.failures().map(|(actor, why)| (actor, why.to_owned())).collect(),
            nodes: self.actors().map(node).collect(),
            schedule: self.runtime.schedule().cloned(),
            dates: self.dates.clone(),
        }
    }

    fn actors(&self) -> impl Iterator<Item = ActorId> + use<M> {
        (0..self.hosts.len()).map(ActorId::from)
    }

    fn is_on(&self, actor: ActorId) -> bool {
        self.models.host_is_on(self.hosts[actor.index()])
    }

    /// Whether the host of an actor will be turned on by its profile.
    fn comes_back(&self, actor: ActorId) -> bool {
        let (host, now) = (self.hosts[actor.index()], self.now());
        let of_host = |bound: &&ProfileBinding| bound.target == ProfileTarget::HostState(host);
        self.models.platform().profiles().iter().filter(of_host).any(|bound| {
            let again = matches!(bound.profile.repeat, Repeat::Periodic(_));
            bound.profile.events.iter().any(|event| event.value != 0.0 && (again || event.date > now))
        })
    }

    /// What answers the choices of the next handler.
    fn dice(&mut self) -> impl FnMut(usize) -> usize + Send + 'static {
        self.events += 1;
        dice(self.seed, self.events)
    }

    fn set_timer(&mut self, after: f64, awaited: Awaited<M>) -> (u64, ActionId) {
        let token = self.token(awaited);
        (token, self.models.timer(after, token))
    }

    fn token(&mut self, awaited: Awaited<M>) -> u64 {
        self.tokens += 1;
        self.awaited.insert(self.tokens, awaited);
        self.tokens
    }

    fn ended(&mut self, ended: Ended) -> Result<(), Error> {
        // What was cancelled at this very instant is no longer awaited.
        match self.awaited.remove(&ended.token) {
            None | Some(Awaited::Date) => Ok(()),
            Some(Awaited::Message(message)) => {
                self.arrived(message, if ended.outcome == Outcome::Done { Fate::Arrived } else { Fate::Gone })
            }
            Some(Awaited::Timer(actor, timer)) => {
                self.timers.remove(&(actor, timer));
                self.counts.timeouts += 1;
                let dice = self.dice();
                let requests = self.runtime.timeout(actor, timer, dice);
                self.settle(requests)
            }
            Some(Awaited::Planned(Planned::Crash(actor))) => self.kill(actor),
            Some(Awaited::Planned(Planned::Recover(actor))) => self.restart(actor),
            Some(Awaited::Planned(Planned::Input(actor, msg))) => self.input(actor, &msg),
        }
    }

    fn changed(&mut self, change: Change) -> Result<(), Error> {
        let (host, on) = match change {
            Change::HostOff(host) => (host, false),
            Change::HostOn(host) => (host, true),
            _ => return Ok(()),
        };
        let here: Vec<ActorId> = self.actors().filter(|actor| self.hosts[actor.index()] == host).collect();
        here.into_iter().try_for_each(|actor| if on { self.restart(actor) } else { self.kill(actor) })
    }

    /// A message has come to the end of its way. In an ordered network, it waits there for those before it.
    fn arrived(&mut self, message: MessageId, fate: Fate) -> Result<(), Error> {
        let ends = self.runtime.message(message).map(|(from, to, _)| (from, to));
        let ends = ends.expect("a message that is awaited is on its way");
        if !self.runtime.is_ordered() {
            return self.handed(message, fate);
        }
        let channel = self.channels.entry(ends).or_default();
        if let Some((_, place)) = channel.iter_mut().find(|(other, _)| *other == message) {
            *place = fate;
        }
        while let Some((message, fate)) = self.channels.get_mut(&ends).and_then(|channel| {
            channel.front().is_some_and(|(_, fate)| *fate != Fate::Travelling).then(|| channel.pop_front())?
        }) {
            self.handed(message, fate)?;
        }
        Ok(())
    }

    fn handed(&mut self, message: MessageId, fate: Fate) -> Result<(), Error> {
        if fate == Fate::Gone {
            self.counts.lost += 1;
            self.runtime.lose(message);
            return self.settle(Vec::new());
        }
        let to = self.runtime.message(message).map(|(_, to, _)| to);
        if to.is_some_and(|to| self.runtime.is_up(to)) {
            self.counts.received += 1;
        } else {
            self.counts.missed += 1;
        }
        let dice = self.dice();
        let requests = self.runtime.deliver(message, dice);
        self.settle(requests)
    }

    /// Does what the handlers asked for, and notes what the properties came to.
    fn settle(&mut self, requests: Vec<Request>) -> Result<(), Error> {
        let now = self.now();
        for property in self.runtime.take_decided() {
            self.decided[property] = Some(now);
        }
        let steps = self.runtime.schedule().map_or(0, |schedule| schedule.steps.len());
        self.dates.resize(steps, now);
        for request in requests {
            match request {
                Request::Send { from, to, message } => self.send(from, to, message)?,
                Request::SetTimer { at, timer, after } => {
                    self.cancel(at, timer);
                    let (least, most) = (after.0.start.as_secs_f64(), after.0.end.as_secs_f64());
                    let drawn = least + self.timers_random.next_f64() * (most - least).max(0.0);
                    let set = self.set_timer(drawn, Awaited::Timer(at, timer));
                    self.timers.insert((at, timer), set);
                }
                Request::CancelTimer { at, timer } => self.cancel(at, timer),
            }
        }
        Ok(())
    }

    fn cancel(&mut self, at: ActorId, timer: usize) {
        if let Some((token, action)) = self.timers.remove(&(at, timer)) {
            self.awaited.remove(&token);
            self.models.cancel(action);
        }
    }

    fn send(&mut self, from: ActorId, to: ActorId, message: MessageId) -> Result<(), Error> {
        let Some((_, _, msg)) = self.runtime.message(message) else { return Ok(()) };
        let bytes = (self.size)(msg);
        self.counts.sent += 1;
        self.counts.bytes += bytes;
        // Drawn for each message, so that who sends to itself does not change what becomes of the others.
        let unlucky = self.losses.next_f64() < self.loss;
        if unlucky && from != to {
            self.counts.lost += 1;
            self.runtime.lose(message);
            return self.settle(Vec::new());
        }
        let doubled = self.doubles.next_f64() < self.duplication && from != to && !self.runtime.is_ordered();
        if let Some(copy) = doubled.then(|| self.runtime.double(message)).flatten() {
            self.counts.doubled += 1;
            self.carry(from, to, copy, bytes)?;
        }
        self.carry(from, to, message, bytes)
    }

    /// Lets the network carry a message.
    fn carry(&mut self, from: ActorId, to: ActorId, message: MessageId, bytes: u64) -> Result<(), Error> {
        if self.runtime.is_ordered() {
            self.channels.entry((from, to)).or_default().push_back((message, Fate::Travelling));
        }
        let way = Transfer::new(self.hosts[from.index()], self.hosts[to.index()], bytes as f64);
        let token = self.token(Awaited::Message(message));
        match self.models.transfer(way, token) {
            Ok(_) => Ok(()),
            Err(refused) => {
                self.awaited.remove(&token);
                let names = (self.runtime.name(from), self.runtime.name(to));
                match refused {
                    Refused::Off(_) => self.arrived(message, Fate::Gone),
                    Refused::NoRoute(source) => {
                        Err(Error::NoRoute { from: names.0, to: names.1, source: Box::new(source) })
                    }
                    other => Err(Error::Refused { from: names.0, to: names.1, reason: other.to_string() }),
                }
            }
        }
    }
}

/// Choices by a seed: the same for the same event.
fn dice(seed: u64, event: u64) -> impl FnMut(usize) -> usize + Send + 'static {
    let mut random = Random::new(seed, CHOICES + event);
    move |options| random.below(options as u64) as usize
}

impl<M: Data> std::fmt::Debug for Running<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running")
            .field("now", &self.now())
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}
