//! What happens to a node, and what the commands of its handlers mean: the one place that knows, for all who run actors.
//!
//! A checker, a simulation and a deployed node differ in what is around a node: who carries its messages,
//! what its clock is, and who answers its choices. They give that as an [`Environment`] and an [`Out`]. [`NodeRuntime`] is a node
//! that is up. [`Local`] is a node that may also crash, recover and fail, as long as it is in memory; [`Process::step`]
//! leads from one to the next. Deployed nodes crash and recover as processes of the system do, and have real disks.

use std::any::{Any, TypeId};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use simurgh_watchdog::{Trait, given, handling, treating};

use crate::actor::{Actor, After, Command, Data, Durable, Out};
use crate::ids::ActorId;
use crate::message::Message;

/// What is around nodes: a network and a clock.
pub trait Environment<A: Actor> {
    /// What is remembered of a timer that is set, such as when it goes off.
    type Due;

    /// Takes a message; whether it arrives is up to the network.
    fn send(&mut self, from: ActorId, to: ActorId, msg: A::Msg);

    /// Sets a timer; if it is set already, it starts again.
    fn set_timer(&mut self, at: ActorId, timer: &A::Timer, after: After) -> Self::Due;

    /// Forgets a timer that was set.
    fn cancel_timer(&mut self, _at: ActorId, _timer: &A::Timer) {}
}

/// A node that is up.
///
/// First a handler runs, then what it asked for is carried out: in between, whoever has a disk stores what has changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct NodeRuntime<S, T, D = ()> {
    /// What the actor remembers.
    pub state: S,
    /// The timers that are set.
    pub timers: BTreeMap<T, D>,
}

impl<S, T: Ord, D> NodeRuntime<S, T, D> {
    /// A node that has started or recovered, in the state that its handler gave.
    pub fn new(state: S) -> Self {
        Self { state, timers: BTreeMap::new() }
    }

    /// Lets the actor handle a message.
    pub fn deliver<A>(&mut self, actor: &A, from: ActorId, msg: &A::Msg, out: &mut Out<A>)
    where
        A: Actor<State = S, Timer = T>,
    {
        actor.on_msg(&mut self.state, from, msg, out);
    }

    /// Lets the actor handle a timer that goes off; it is no longer set.
    pub fn timeout<A: Actor<State = S, Timer = T>>(&mut self, actor: &A, timer: &T, out: &mut Out<A>) {
        self.timers.remove(timer);
        actor.on_timeout(&mut self.state, timer, out);
    }

    /// Does what a handler asked for, in order.
    pub fn carry_out<A: Actor<State = S, Timer = T>>(
        &mut self,
        out: Out<A>,
        environment: &mut impl Environment<A, Due = D>,
    ) {
        let me = out.me();
        for command in out.commands {
            match command {
                Command::Send(to, msg) => environment.send(me, to, msg),
                Command::SetTimer(timer, after) => {
                    let due = environment.set_timer(me, &timer, after);
                    self.timers.insert(timer, due);
                }
                Command::CancelTimer(timer) => {
                    if self.timers.remove(&timer).is_some() {
                        environment.cancel_timer(me, &timer);
                    }
                }
            }
        }
    }
}

/// What can happen to a node.
pub(crate) enum Event<'a, M> {
    Start,
    Deliver(ActorId, &'a M),
    /// The timer at this place among those that are set goes off.
    Timeout(usize),
    Crash,
    Recover,
}

impl<'a> Event<'a, Message> {
    /// The same, for who knows the type of its message.
    pub(crate) fn typed<M: Data>(&self) -> Event<'a, M> {
        match *self {
            Event::Start => Event::Start,
            Event::Deliver(from, msg) => Event::Deliver(from, msg.get()),
            Event::Timeout(timer) => Event::Timeout(timer),
            Event::Crash => Event::Crash,
            Event::Recover => Event::Recover,
        }
    }
}

/// How a node is, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Health {
    Up,
    Down,
    Failed,
}

/// Where a node is, with all that it has in memory and on its disk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Local<S, T, D> {
    NotStarted,
    Up(NodeRuntime<S, T>),
    Down(D),
    Failed(String),
}

pub(crate) type LocalOf<A, D> = Local<<A as Actor>::State, <A as Actor>::Timer, D>;

/// How a value prints.
pub(crate) fn text(value: &impl Debug) -> String {
    treating(Trait::Debug, || format!("{value:?}"))
}

fn copy<T: Clone>(value: &T) -> T {
    treating(Trait::Clone, || value.clone())
}

/// A local state of whatever types.
pub(crate) trait AnyLocal {
    fn health(&self) -> Health;
    /// The state of a node that is up.
    fn state(&self) -> Option<&dyn Any>;
    /// Whether it is down, and its states are of this type: what is asked of all such nodes cannot be told.
    fn is_missing(&self, of: Option<TypeId>) -> bool;
    /// Why it has failed, if it has.
    fn failure(&self) -> Option<&str>;
    /// How it prints, without its timers.
    fn text(&self) -> String;
    /// How many timers are set.
    fn timers(&self) -> usize;
    /// How the timer at a place among those that are set prints.
    fn timer_text(&self, place: usize) -> String;

    fn text_with_timers(&self) -> String {
        if self.timers() == 0 {
            return self.text();
        }
        let timers: Vec<String> = (0..self.timers()).map(|place| self.timer_text(place)).collect();
        format!("{}, timers [{}]", self.text(), timers.join(", "))
    }
}

impl<S: Data, T: Data, D: Data> AnyLocal for Local<S, T, D> {
    fn health(&self) -> Health {
        match self {
            Self::Up(_) => Health::Up,
            Self::NotStarted | Self::Down(_) => Health::Down,
            Self::Failed(_) => Health::Failed,
        }
    }

    fn state(&self) -> Option<&dyn Any> {
        self.up().map(|node| &node.state as &dyn Any)
    }

    fn is_missing(&self, of: Option<TypeId>) -> bool {
        of == Some(TypeId::of::<S>()) && self.up().is_none()
    }

    fn failure(&self) -> Option<&str> {
        if let Self::Failed(why) = self { Some(why) } else { None }
    }

    fn text(&self) -> String {
        match self {
            Self::NotStarted => "not started".to_owned(),
            Self::Up(node) => text(&node.state),
            Self::Down(stored) => format!("down, stored {}", text(stored)),
            Self::Failed(why) => format!("failed: {why}"),
        }
    }

    fn timers(&self) -> usize {
        self.up().map_or(0, |node| node.timers.len())
    }

    fn timer_text(&self, place: usize) -> String {
        self.timer(place).map_or(String::new(), text)
    }
}

impl<S, T, D> Local<S, T, D> {
    pub(crate) fn up(&self) -> Option<&NodeRuntime<S, T>> {
        if let Self::Up(node) = self { Some(node) } else { None }
    }

    /// The timer at a place among those that are set.
    fn timer(&self, place: usize) -> Option<&T> {
        self.up()?.timers.keys().nth(place)
    }
}

/// An actor, where it starts from if that is not its beginning, and what becomes of it in a crash.
pub(crate) struct Kept<A: Actor, D> {
    pub(crate) actor: A,
    resumed: Option<(A::State, Vec<A::Timer>)>,
    stored: fn(&A, &A::State) -> D,
    recover: fn(&A, &D, &mut Out<A>) -> A::State,
}

impl<A: Actor> Kept<A, ()> {
    /// It starts anew.
    pub(crate) fn anew(actor: A, resumed: Option<(A::State, Vec<A::Timer>)>) -> Self {
        Self { actor, resumed, stored: |_, _| (), recover: |actor, (), out| actor.on_start(out) }
    }
}

impl<A: Durable> Kept<A, A::Stored> {
    /// It starts from what is on its disk.
    pub(crate) fn durable(actor: A, resumed: Option<(A::State, Vec<A::Timer>)>) -> Self {
        Self { actor, resumed, stored: A::stored, recover: A::on_recover }
    }
}

/// An actor at its place in a system.
pub(crate) struct Process<A: Actor, D> {
    pub(crate) me: ActorId,
    pub(crate) actors: usize,
    pub(crate) kept: Arc<Kept<A, D>>,
}

/// What came of an event.
pub(crate) struct Stepped<L> {
    pub(crate) local: L,
    /// What was chosen, and out of how many options.
    pub(crate) chosen: Vec<(usize, usize)>,
}

impl<L> Stepped<L> {
    pub(crate) fn choices(&self) -> Vec<usize> {
        self.chosen.iter().map(|(which, _)| *which).collect()
    }
}

impl<A: Actor, D: Data> Process<A, D> {
    /// Where an event leads from a local state; nothing if it means nothing there. A handler that panics, or sends to an actor
    /// that is not there, leaves a node that has failed: what it asked for does not happen.
    pub(crate) fn step(
        &self,
        local: &LocalOf<A, D>,
        event: &Event<'_, A::Msg>,
        mut out: Out<A>,
        environment: &mut impl Environment<A, Due = ()>,
    ) -> Option<Stepped<LocalOf<A, D>>> {
        let call = || match *event {
            Event::Start => Some(("on_start", given(()))),
            Event::Deliver(from, msg) => Some(("on_msg", given((from, copy(msg))))),
            Event::Timeout(place) => Some(("on_timeout", given((copy(local.timer(place)?),)))),
            Event::Crash => Some(("stored", given(()))),
            Event::Recover => Some(("on_recover", given(()))),
        };
        let handled = handling(self.me.0, call, || self.handle(local, event, &mut out));
        let chosen = mem::take(&mut out.chosen);
        let stranger = out.commands.iter().find_map(|command| match command {
            Command::Send(to, _) if to.index() >= self.actors => Some(*to),
            _ => None,
        });
        let mut next = match (handled, stranger) {
            (Err(why), _) => Local::Failed(why),
            (Ok(None), _) => return None,
            (Ok(_), Some(to)) => {
                Local::Failed(format!("a message to actor {to}, but there are {} actors", self.actors))
            }
            (Ok(Some(next)), None) => next,
        };
        if let Local::Up(node) = &mut next {
            node.carry_out(out, environment);
        } else if let Local::Up(node) = local {
            node.timers.keys().for_each(|timer| environment.cancel_timer(self.me, timer));
        }
        Some(Stepped { local: next, chosen })
    }

    fn handle(
        &self,
        local: &LocalOf<A, D>,
        event: &Event<'_, A::Msg>,
        out: &mut Out<A>,
    ) -> Option<LocalOf<A, D>> {
        let actor = &self.kept.actor;
        let node = match (local, event) {
            (Local::NotStarted, Event::Start) => NodeRuntime::new(match self.kept.resumed.clone() {
                None => actor.on_start(out),
                Some((state, timers)) => {
                    let soon = Duration::ZERO..Duration::from_secs(1);
                    timers.into_iter().for_each(|timer| out.set_timer(timer, soon.clone()));
                    state
                }
            }),
            (Local::Up(node), Event::Deliver(from, msg)) => {
                let mut node = copy(node);
                node.deliver(actor, *from, msg, out);
                node
            }
            (Local::Up(node), Event::Timeout(place)) => {
                let (mut node, timer) = (copy(node), local.timer(*place)?);
                node.timeout(actor, timer, out);
                node
            }
            (Local::Up(node), Event::Crash) => {
                return Some(Local::Down((self.kept.stored)(actor, &node.state)));
            }
            (Local::Down(stored), Event::Recover) => {
                NodeRuntime::new((self.kept.recover)(actor, stored, out))
            }
            // Nothing reaches a node that is down, and nothing happens to one that has failed.
            _ => return None,
        };
        Some(Local::Up(node))
    }
}
