//! A node of one execution: its handlers run once for each thing that happens, and what they ask for is carried out by
//! somebody else. This is where the types of an actor end, as in `node`, but nothing is remembered of the past.

use super::node::{AnyLocal, Environment, Event, LocalOf, Process};
use super::{Outbox, Request};
use crate::actor::{Actor, After, Chooser, Data, Out};
use crate::ids::ActorId;
use crate::message::Message;

/// What came of something that happened.
pub(crate) struct Ran {
    pub(crate) choices: Vec<usize>,
    /// Whether anything is different: the state, the timers, or what is under way.
    pub(crate) effective: bool,
}

/// A node of one execution.
pub(crate) trait RunningNode: Send {
    /// Lets something happen, if it means anything to the node. A timeout is of the timer with this number.
    fn execute(&mut self, event: &Event<'_, Message>, choose: Chooser, outbox: &mut Outbox) -> Option<Ran>;
    fn local(&self) -> &dyn AnyLocal;
    fn timer_text(&self, timer: usize) -> String;
}

pub(crate) struct TypedNode<A: Actor, D: Data> {
    pub(crate) process: Process<A, D>,
    pub(crate) local: LocalOf<A, D>,
    /// All timers that were ever set; the number of one is its place.
    pub(crate) timers: Vec<A::Timer>,
}

/// Gives numbers to timers.
struct Numbered<'a, T> {
    timers: &'a mut Vec<T>,
    outbox: &'a mut Outbox,
}

impl<T: PartialEq + Clone> Numbered<'_, T> {
    fn number(&mut self, timer: &T) -> usize {
        self.timers.iter().position(|other| other == timer).unwrap_or_else(|| {
            self.timers.push(timer.clone());
            self.timers.len() - 1
        })
    }
}

impl<A: Actor> Environment<A> for Numbered<'_, A::Timer> {
    type Due = ();

    fn send(&mut self, from: ActorId, to: ActorId, msg: A::Msg) {
        let msg = Message::new(msg);
        self.outbox.tell(from, to, &msg, false);
        self.outbox.send(from, to, msg);
    }

    fn set_timer(&mut self, at: ActorId, timer: &A::Timer, after: After) {
        let timer = self.number(timer);
        self.outbox.requests.push(Request::SetTimer { at, timer, after });
    }

    fn cancel_timer(&mut self, at: ActorId, timer: &A::Timer) {
        let timer = self.number(timer);
        self.outbox.requests.push(Request::CancelTimer { at, timer });
    }
}

impl<A: Actor, D: Data> RunningNode for TypedNode<A, D> {
    fn execute(&mut self, event: &Event<'_, Message>, choose: Chooser, outbox: &mut Outbox) -> Option<Ran> {
        let event = if let Event::Timeout(timer) = event {
            let name = self.timers.get(*timer)?;
            Event::Timeout(self.local.up()?.timers.keys().position(|set| set == name)?)
        } else {
            event.typed()
        };
        let out = Out::new(self.process.me, choose);
        let sent_before = outbox.count;
        let mut numbered = Numbered { timers: &mut self.timers, outbox };
        let stepped = self.process.step(&self.local, &event, out, &mut numbered)?;
        let choices = stepped.choices();
        let effective = outbox.count > sent_before || stepped.local != self.local;
        self.local = stepped.local;
        Some(Ran { choices, effective })
    }

    fn local(&self) -> &dyn AnyLocal {
        &self.local
    }

    fn timer_text(&self, timer: usize) -> String {
        format!("{:?}", self.timers[timer])
    }
}
