//! The nodes of a system as a checker sees them: local states are numbers, and handlers lead from one to others.
//!
//! This is where the types of an actor end: above, a system of several kinds of actors is made of numbers alone.

use std::any::Any;
use std::sync::Arc;

use crate::actor::{Actor, After, Data, Out, next_script};
use crate::ids::ActorId;
use crate::intern::Interner;
use crate::runtime::node::{AnyLocal, Environment, Kept, Local, LocalOf, Process};
pub(crate) use crate::runtime::node::{Event, Health, quietly};
use crate::runtime::running::{RunningNode, TypedNode};

/// One thing that a handler may lead to, by the choices that it made.
pub(crate) struct Outcome<M> {
    pub(crate) local: u32,
    pub(crate) sends: Vec<(ActorId, M)>,
    pub(crate) choices: Vec<usize>,
}

/// A node whose local states are numbers.
pub(crate) trait Node<M>: Send + Sync {
    fn name(&self) -> String;
    fn start(&mut self) -> Vec<Outcome<M>>;
    fn execute(&mut self, local: u32, event: Event<'_, M>) -> Vec<Outcome<M>>;
    fn timers(&self, local: u32) -> usize;
    fn timer_text(&self, local: u32, timer: usize) -> String;
    fn health(&self, local: u32) -> Health;
    /// The state of a node that is up.
    fn state(&self, local: u32) -> Option<&dyn Any>;
    fn text(&self, local: u32) -> String;
    fn hash(&self, local: u32, permutation: usize) -> u128;
    fn len(&self) -> usize;
}

/// Makes nodes: a system keeps these, and each search makes nodes of its own.
pub(crate) trait Kind<M>: Send + Sync {
    fn node(&self, me: ActorId, actors: usize, permutations: Arc<Vec<Vec<u32>>>) -> Box<dyn Node<M>>;
    /// A node of one execution.
    fn running(&self, me: ActorId, actors: usize) -> Box<dyn RunningNode<M>>;
}

impl<A: Actor, D: Data> Kind<A::Msg> for Arc<Kept<A, D>> {
    fn node(&self, me: ActorId, actors: usize, permutations: Arc<Vec<Vec<u32>>>) -> Box<dyn Node<A::Msg>> {
        let process = Process { me, actors, kept: Arc::clone(self) };
        Box::new(Interned { process, locals: Interner::new(permutations.len()), permutations })
    }

    fn running(&self, me: ActorId, actors: usize) -> Box<dyn RunningNode<A::Msg>> {
        Box::new(TypedNode::new(Process { me, actors, kept: Arc::clone(self) }))
    }
}

struct Interned<A: Actor, D: Data> {
    process: Process<A, D>,
    locals: Interner<LocalOf<A, D>>,
    permutations: Arc<Vec<Vec<u32>>>,
}

/// Keeps what is sent; a checker lets timers go off at any time.
struct Sends<M>(Vec<(ActorId, M)>);

impl<A: Actor> Environment<A> for Sends<A::Msg> {
    type Due = ();
    fn send(&mut self, _: ActorId, to: ActorId, msg: A::Msg) {
        self.0.push((to, msg));
    }
    fn set_timer(&mut self, _: ActorId, _: &A::Timer, _: After) {}
}

impl<A: Actor, D: Data> Interned<A, D> {
    fn intern(&mut self, local: LocalOf<A, D>) -> u32 {
        let me = self.process.me;
        self.locals.intern(local, &self.permutations, || crate::hash::fingerprint(&me))
    }

    /// Lets an event happen once for every way to choose; nothing comes of what means nothing to the node.
    fn outcomes(&mut self, local: &LocalOf<A, D>, event: Event<'_, A::Msg>) -> Vec<Outcome<A::Msg>> {
        let mut outcomes = Vec::new();
        let mut script = Some(Vec::new());
        while let Some(prescribed) = script {
            let mut sends = Sends(Vec::new());
            let out = Out::scripted(self.process.me, prescribed);
            let Some(stepped) = self.process.step(local, event, out, &mut sends) else { break };
            let (local, choices) = (self.intern(stepped.local), stepped.choices);
            script = next_script(choices.clone(), &stepped.options);
            outcomes.push(Outcome { local, sends: sends.0, choices });
        }
        outcomes
    }
}

impl<A: Actor, D: Data> Node<A::Msg> for Interned<A, D> {
    fn name(&self) -> String {
        self.process.name()
    }

    fn start(&mut self) -> Vec<Outcome<A::Msg>> {
        self.outcomes(&Local::NotStarted, Event::Start)
    }

    fn execute(&mut self, local: u32, event: Event<'_, A::Msg>) -> Vec<Outcome<A::Msg>> {
        let before = self.locals.get(local).clone();
        let mut outcomes = self.outcomes(&before, event);
        if outcomes.is_empty() {
            outcomes.push(Outcome { local, sends: Vec::new(), choices: Vec::new() });
        }
        outcomes
    }

    fn timers(&self, local: u32) -> usize {
        self.locals.get(local).up().map_or(0, |node| node.timers.len())
    }

    fn timer_text(&self, local: u32, timer: usize) -> String {
        let set = self.locals.get(local).up().and_then(|node| node.timers.keys().nth(timer));
        set.map_or(String::new(), |timer| format!("{timer:?}"))
    }

    fn health(&self, local: u32) -> Health {
        self.locals.get(local).health()
    }

    fn state(&self, local: u32) -> Option<&dyn Any> {
        self.locals.get(local).state()
    }

    fn text(&self, local: u32) -> String {
        let local = self.locals.get(local);
        let set = local.up().filter(|node| !node.timers.is_empty());
        let timers = set.map(|node| format!(", timers {:?}", node.timers.keys().collect::<Vec<_>>()));
        local.text() + &timers.unwrap_or_default()
    }

    fn hash(&self, local: u32, permutation: usize) -> u128 {
        self.locals.hash(local, permutation)
    }

    fn len(&self) -> usize {
        self.locals.len()
    }
}
