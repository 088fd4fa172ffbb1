//! One execution of a system: what happens is said by whoever has a network, a clock and dice, such as a simulation; the
//! handlers run, and the properties are looked at after each of them.
//!
//! - [`Runtime`], [`Request`]: a system of several kinds of actors, and what is to be done for it.
//! - [`NodeRuntime`], [`Environment`]: one node, for whoever knows the type of its actor, such as a deployment.
//!
//! ```
//! use std::sync::Arc;
//! use simurgh_protocol::runtime::{Request, Runtime};
//! use simurgh_protocol::{Actor, ActorId, Out, System};
//!
//! struct Counter;
//!
//! impl Actor for Counter {
//!     type Msg = u32;
//!     type State = u32;
//!     type Timer = ();
//!     fn on_start(&self, out: &mut Out<Self>) -> u32 {
//!         out.send(out.me(), 7);
//!         0
//!     }
//!     fn on_msg(&self, seen: &mut u32, _: ActorId, number: &u32, _: &mut Out<Self>) { *seen += number; }
//! }
//!
//! let mut runtime = Runtime::new(Arc::new(System::new().actor(Counter)))?;
//! for request in runtime.start(|_| |_| 0) {
//!     let Request::Send { message, .. } = request else { continue };
//!     runtime.deliver(message, |_| 0);
//! }
//! assert_eq!(runtime.states().get::<u32>(ActorId(0)), Some(&7));
//! # Ok::<(), String>(())
//! ```

pub(crate) mod node;
pub(crate) mod running;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::actor::{After, Data};
use crate::history::Recorder;
use crate::ids::ActorId;
use crate::message::Message;
use crate::network::Network;
use crate::property::{Kind, LocalStates, Mode, Property, States, Whole, of_pair};
use crate::schedule::{Schedule, Step};
use crate::system::System;
use node::{Event, Health};
use running::{Ran, RunningNode};

pub use node::{Environment, NodeRuntime};

/// A message on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MessageId(u64);

/// What is to be done for an actor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Bring a message to its receiver, or lose it: by [`Runtime::deliver`] or [`Runtime::lose`].
    Send {
        /// By whom.
        from: ActorId,
        /// To whom.
        to: ActorId,
        /// Which; see [`Runtime::message`].
        message: MessageId,
    },
    /// Let a timer go off, by [`Runtime::timeout`]; if it is set, it starts again.
    SetTimer {
        /// Whose.
        at: ActorId,
        /// Which of its timers.
        timer: usize,
        /// How long it takes.
        after: After,
    },
    /// Forget a timer, if it is set.
    CancelTimer {
        /// Whose.
        at: ActorId,
        /// Which of its timers.
        timer: usize,
    },
}

/// What answers the choices of a handler: gives a number below the one that it is given.
pub trait Dice: FnMut(usize) -> usize + Send + 'static {}

impl<F: FnMut(usize) -> usize + Send + 'static> Dice for F {}

/// One execution of a system.
pub struct Runtime<M> {
    system: Arc<System<M>>,
    nodes: Vec<Box<dyn RunningNode>>,
    outbox: Outbox,
    decided: Vec<bool>,
    news: Vec<usize>,
    /// Whether a handler has panicked.
    has_failed: bool,
    schedule: Option<Schedule>,
}

/// What is on its way, and what is still to be done.
#[derive(Default)]
pub(crate) struct Outbox {
    in_flight: BTreeMap<MessageId, (ActorId, ActorId, Message)>,
    count: u64,
    requests: Vec<Request>,
    recorder: Option<Box<dyn Recorder>>,
    /// Whether the history is another one than when it was looked at last.
    told: bool,
}

impl Outbox {
    fn post(&mut self, from: ActorId, to: ActorId, msg: Message) -> MessageId {
        let message = MessageId(self.count);
        self.count += 1;
        self.in_flight.insert(message, (from, to, msg));
        message
    }

    fn send(&mut self, from: ActorId, to: ActorId, msg: Message) {
        let message = self.post(from, to, msg);
        self.requests.push(Request::Send { from, to, message });
    }

    /// Tells the history what was sent or received.
    fn tell(&mut self, from: ActorId, to: ActorId, msg: &Message, received: bool) {
        if let Some(recorder) = &mut self.recorder
            && recorder.concerns(msg)
        {
            let history = recorder.record(0, from, to, msg, received);
            recorder.forget_others(history);
            self.told = true;
        }
    }
}

impl<M: Data> LocalStates for Runtime<M> {
    fn count(&self) -> usize {
        self.nodes.len()
    }
    fn state(&self, actor: usize) -> Option<&dyn Any> {
        self.nodes[actor].local().state()
    }
}

impl<M: Data> Whole for Runtime<M> {
    fn messages(&self) -> Vec<(ActorId, ActorId, &Message)> {
        self.outbox.in_flight.values().map(|(from, to, msg)| (*from, *to, msg)).collect()
    }
    fn history(&self) -> Option<&dyn Any> {
        self.outbox.recorder.as_ref().map(|recorder| recorder.value(0))
    }
}

impl<M: Data> Runtime<M> {
    /// A system in which nothing has happened.
    ///
    /// # Errors
    /// What is wrong with the way the system is put together.
    pub fn new(system: Arc<System<M>>) -> Result<Self, String> {
        if let Some(mistake) = system.model.mistake() {
            return Err(mistake);
        }
        let count = system.model.kinds.len();
        let nodes =
            system.model.kinds.iter().enumerate().map(|(at, kind)| kind.running(ActorId::from(at), count));
        Ok(Self {
            nodes: nodes.collect(),
            outbox: Outbox {
                recorder: system.model.recorder.as_ref().map(|make| make(system.model.permutations())),
                told: true,
                ..Outbox::default()
            },
            decided: vec![false; system.model.properties.len()],
            news: Vec::new(),
            has_failed: false,
            schedule: None,
            system,
        })
    }

    /// Keeps what happens as a schedule from now on, if asked before the start: [`System::replay`] can follow it. What
    /// has no effect is left out.
    pub fn record(&mut self) {
        self.schedule = Some(Schedule::default());
    }

    /// What has happened, if it was to be kept. Which of several starts it was is not known if actors choose when they start.
    pub fn schedule(&self) -> Option<&Schedule> {
        self.schedule.as_ref()
    }

    /// Whether messages from one actor to another are to arrive in the order in which they were sent.
    pub fn is_ordered(&self) -> bool {
        self.system.model.network == Network::Ordered
    }

    /// Starts all actors, with what was in flight at the start. `dice` makes for each actor what answers its choices.
    pub fn start<D: Dice>(&mut self, mut dice: impl FnMut(ActorId) -> D) -> Vec<Request> {
        let flying = self.system.model.flying.iter().cloned();
        flying.for_each(|(from, to, msg)| self.outbox.send(from, to, msg));
        for actor in (0..self.nodes.len()).map(ActorId::from) {
            self.nodes[actor.index()].execute(&Event::Start, Box::new(dice(actor)), &mut self.outbox);
        }
        self.look(None);
        std::mem::take(&mut self.outbox.requests)
    }

    /// Brings a message to its receiver. If that is down, nothing happens, and the message is no longer on its way.
    pub fn deliver(&mut self, message: MessageId, dice: impl Dice) -> Vec<Request> {
        let Some((from, to, msg)) = self.outbox.in_flight.remove(&message) else { return Vec::new() };
        if !self.is_up(to) {
            self.note_loss((from, to, msg), 0);
            self.look(None);
            return Vec::new();
        }
        self.outbox.tell(from, to, &msg, true);
        self.happen(to, Event::Deliver(from, &msg), dice)
    }

    /// Gives an actor a message from outside, as if it had sent it to itself; it is not part of the schedule.
    pub fn input(&mut self, to: ActorId, msg: &M, dice: impl Dice) -> Vec<Request> {
        self.schedule = None;
        let msg = Message::new(msg.clone());
        self.happen(to, Event::Deliver(to, &msg), dice)
    }

    /// Doubles a message that is on its way: the copy may be delivered or lost by itself.
    pub fn double(&mut self, message: MessageId) -> Option<MessageId> {
        let (from, to, msg) = self.outbox.in_flight.get(&message)?.clone();
        Some(self.outbox.post(from, to, msg))
    }

    /// Loses a message.
    pub fn lose(&mut self, message: MessageId) {
        if let Some(lost) = self.outbox.in_flight.remove(&message) {
            let before = self.outbox.in_flight.range(..message);
            let after = before.filter(|(_, other)| self.is_ordered() && **other == lost).count();
            self.note_loss(lost, after);
            self.look(None);
        }
    }

    /// Lets a timer go off.
    pub fn timeout(&mut self, at: ActorId, timer: usize, dice: impl Dice) -> Vec<Request> {
        self.happen(at, Event::Timeout(timer), dice)
    }

    /// Crashes an actor: its timers are forgotten, and nothing reaches it.
    pub fn crash(&mut self, at: ActorId) -> Vec<Request> {
        self.happen(at, Event::Crash, |_| 0)
    }

    /// Starts an actor that is down: from its disk if it has one, anew otherwise.
    pub fn recover(&mut self, at: ActorId, dice: impl Dice) -> Vec<Request> {
        self.happen(at, Event::Recover, dice)
    }

    /// A message on its way: from whom, to whom, and what.
    pub fn message(&self, message: MessageId) -> Option<(ActorId, ActorId, &M)> {
        self.outbox.in_flight.get(&message).map(|(from, to, msg)| (*from, *to, msg.get()))
    }

    /// How many messages are on their way.
    pub fn in_flight(&self) -> usize {
        self.outbox.in_flight.len()
    }

    /// Whether an actor is up.
    pub fn is_up(&self, actor: ActorId) -> bool {
        self.nodes[actor.index()].local().health() == Health::Up
    }

    /// The states of all actors.
    pub fn states(&self) -> States<'_> {
        States { nodes: self }
    }

    /// What an actor is called, with its number.
    pub fn name(&self, actor: ActorId) -> String {
        format!("{}-{actor}", self.system.model.kinds[actor.index()].name())
    }

    /// The state of an actor, as it prints.
    pub fn text(&self, actor: ActorId) -> String {
        self.nodes[actor.index()].local().text()
    }

    /// The actors whose handlers have panicked, and what they said.
    pub fn failures(&self) -> impl Iterator<Item = (ActorId, &str)> {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter_map(|(at, node)| Some((ActorId::from(at), node.local().failure()?)))
    }

    /// The properties: what each is called, and when its condition is to hold.
    pub fn properties(&self) -> impl ExactSizeIterator<Item = (&str, Mode)> {
        self.system.model.properties.iter().map(|property| (property.name.as_str(), property.mode))
    }

    /// The properties that have been decided since this was asked last, by their places.
    pub fn take_decided(&mut self) -> Vec<usize> {
        std::mem::take(&mut self.news)
    }

    fn happen(&mut self, at: ActorId, event: Event<'_, Message>, dice: impl Dice) -> Vec<Request> {
        let node = &mut self.nodes[at.index()];
        let ran = node.execute(&event, Box::new(dice), &mut self.outbox);
        // A message that is ignored has left its queue all the same.
        let unqueued = matches!(event, Event::Deliver(..)) && self.system.model.network == Network::Ordered;
        if let (Some(schedule), Some(Ran { choices, effective })) = (&mut self.schedule, ran)
            && (effective || unqueued)
        {
            schedule.steps.push(match event {
                Event::Deliver(from, msg) => Step::Deliver { from, to: at, msg: format!("{msg:?}"), choices },
                Event::Timeout(timer) => Step::Timeout { at, timer: node.timer_text(timer), choices },
                Event::Crash => Step::Crash { at },
                Event::Start | Event::Recover => Step::Recover { at, choices },
            });
        }
        self.look(Some(at.index()));
        std::mem::take(&mut self.outbox.requests)
    }

    /// Where messages may come any number of times, all that are equal are one, and the loss of one is nothing that happens.
    fn note_loss(&mut self, (from, to, msg): (ActorId, ActorId, Message), after: usize) {
        if let Some(schedule) = &mut self.schedule
            && self.system.model.network != Network::Duplicating
        {
            schedule.steps.push(Step::Lose { from, to, msg: format!("{msg:?}"), after });
        }
    }

    /// Looks at the properties that have not been decided. If only one actor has changed, conditions on one or two need be looked at
    /// there only. After a panic there is no state of the protocol to look at.
    fn look(&mut self, changed: Option<usize>) {
        let range = changed.map_or(0..self.nodes.len(), |actor| actor..actor + 1);
        self.has_failed |= self.nodes[range].iter().any(|node| node.local().health() == Health::Failed);
        if self.has_failed {
            return;
        }
        let open: Vec<usize> = (0..self.decided.len()).filter(|at| !self.decided[*at]).collect();
        for property in open {
            if self.decides(property, changed) {
                self.decided[property] = true;
                self.news.push(property);
            }
        }
        self.outbox.told = false;
    }

    fn decides(&self, property: usize, changed: Option<usize>) -> bool {
        let Property { mode, condition, .. } = &self.system.model.properties[property];
        let (actors, once) = (self.nodes.len(), |answer: bool| Box::new(std::iter::once(answer)));
        let changed = changed.filter(|_| *mode != Mode::Eventually);
        let range = changed.map_or(0..actors, |actor| actor..actor + 1);
        let subject = |actor: usize| {
            LocalStates::state(self, actor).filter(|state| Some((*state).type_id()) == condition.of)
        };
        let mut answers: Box<dyn Iterator<Item = bool> + '_> = match &condition.kind {
            Kind::Local(holds) => Box::new(range.filter_map(|actor| Some(holds(subject(actor)?)))),
            Kind::Pairwise(holds) => Box::new(range.flat_map(move |left| {
                let others = (0..actors).filter(move |right| *right != left);
                others.filter_map(move |right| Some(of_pair(holds, *mode, subject(left)?, subject(right)?)))
            })),
            Kind::Projected(_, make) => {
                let mut projection = make();
                let keys: Vec<u32> =
                    (0..actors).filter_map(|actor| projection.key(subject(actor)?)).collect();
                once(projection.holds(&keys))
            }
            Kind::Global(holds) => once(holds(&self.states())),
            Kind::History(holds) => match &self.outbox.recorder {
                Some(recorder) if self.outbox.told => once(holds(recorder.value(0))),
                _ => return false,
            },
            Kind::World(holds) => once(holds(self)),
        };
        // A `sometimes` asks for some actor or pair, `always` and `eventually` for all.
        match mode {
            Mode::Always => answers.any(|answer| !answer),
            Mode::Sometimes => answers.any(|answer| answer),
            Mode::Eventually => {
                !self.nodes.iter().any(|node| node.local().is_missing(condition.of))
                    && answers.all(|answer| answer)
            }
        }
    }
}

impl<M: Data> std::fmt::Debug for Runtime<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.nodes.iter().map(|node| node.local().text())).finish()
    }
}
