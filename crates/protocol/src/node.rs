//! The nodes of a system as a checker sees them: local states are numbers, and handlers lead from one to others.
//!
//! This is where the types of an actor end: above, a system of several kinds of actors is made of numbers alone.

use std::sync::Arc;

use simurgh_watchdog::{Trait, treating};

use crate::actor::{Actor, After, Data, Out, next_script};
use crate::hash::fingerprint;
use crate::ids::ActorId;
use crate::intern::{Interner, Permutations};
use crate::message::Message;
pub(crate) use crate::runtime::node::{AnyLocal, Event, Health};
use crate::runtime::node::{Environment, Kept, Local, LocalOf, Process};
use crate::runtime::running::{RunningNode, TypedNode};

/// One thing that a handler may lead to, by the choices that it made.
pub(crate) struct Outcome {
    pub(crate) local: u32,
    pub(crate) sends: Vec<(ActorId, Message)>,
    pub(crate) choices: Vec<usize>,
}

/// A node whose local states are numbers.
pub(crate) trait Node: Send + Sync {
    fn start(&mut self) -> Vec<Outcome>;
    fn execute(&mut self, local: u32, event: Event<'_, Message>) -> Vec<Outcome>;
    fn local(&self, local: u32) -> &dyn AnyLocal;
    /// The fingerprint of a local state where it is.
    fn hash(&self, local: u32, permutation: usize) -> u128;
    fn len(&self) -> usize;
}

/// Makes nodes: a system keeps these, and each search makes nodes of its own.
pub(crate) trait Kind: Send + Sync {
    fn name(&self) -> String;
    fn node(&self, me: ActorId, actors: usize, permutations: Permutations) -> Box<dyn Node>;
    /// A node of one execution.
    fn running(&self, me: ActorId, actors: usize) -> Box<dyn RunningNode>;
}

impl<A: Actor, D: Data> Kind for Arc<Kept<A, D>> {
    fn name(&self) -> String {
        self.actor.name()
    }

    fn node(&self, me: ActorId, actors: usize, permutations: Permutations) -> Box<dyn Node> {
        let process = Process { me, actors, kept: Arc::clone(self) };
        Box::new(Interned { process, locals: Interner::new(permutations) })
    }

    fn running(&self, me: ActorId, actors: usize) -> Box<dyn RunningNode> {
        let process = Process { me, actors, kept: Arc::clone(self) };
        Box::new(TypedNode { process, local: Local::NotStarted, timers: Vec::new() })
    }
}

struct Interned<A: Actor, D: Data> {
    process: Process<A, D>,
    locals: Interner<LocalOf<A, D>>,
}

/// Keeps what is sent; a checker lets timers go off at any time.
struct Sends(Vec<(ActorId, Message)>);

impl<A: Actor> Environment<A> for Sends {
    type Due = ();
    fn send(&mut self, _: ActorId, to: ActorId, msg: A::Msg) {
        self.0.push((to, Message::new(msg)));
    }
    fn set_timer(&mut self, _: ActorId, _: &A::Timer, _: After) {}
}

impl<A: Actor, D: Data> Interned<A, D> {
    /// Lets an event happen once for every way to choose; nothing comes of what means nothing to the node.
    fn outcomes(&mut self, local: &LocalOf<A, D>, event: &Event<'_, A::Msg>) -> Vec<Outcome> {
        let mut outcomes = Vec::new();
        let mut script = Some(Vec::new());
        while let Some(prescribed) = script {
            let (mut sends, mut prescribed) = (Sends(Vec::new()), prescribed.into_iter());
            // From where the script ends, the first option is taken.
            let out = Out::new(self.process.me, move |_| prescribed.next().unwrap_or(0));
            let Some(stepped) = self.process.step(local, event, out, &mut sends) else { break };
            let hash = |local: &_| fingerprint(&(fingerprint(local), fingerprint(&self.process.me)));
            let (choices, local) = (stepped.choices(), self.locals.intern(stepped.local, hash));
            outcomes.push(Outcome { local, sends: sends.0, choices });
            script = next_script(stepped.chosen);
        }
        outcomes
    }
}

impl<A: Actor, D: Data> Node for Interned<A, D> {
    fn start(&mut self) -> Vec<Outcome> {
        self.outcomes(&Local::NotStarted, &Event::Start)
    }

    fn execute(&mut self, local: u32, event: Event<'_, Message>) -> Vec<Outcome> {
        let before = treating(Trait::Clone, || self.locals.get(local).clone());
        let mut outcomes = self.outcomes(&before, &event.typed());
        treating(Trait::Drop, || drop(before));
        if outcomes.is_empty() {
            outcomes.push(Outcome { local, sends: Vec::new(), choices: Vec::new() });
        }
        outcomes
    }

    fn local(&self, local: u32) -> &dyn AnyLocal {
        self.locals.get(local)
    }

    fn hash(&self, local: u32, permutation: usize) -> u128 {
        self.locals.hash(local, permutation)
    }

    fn len(&self) -> usize {
        self.locals.values.len()
    }
}
