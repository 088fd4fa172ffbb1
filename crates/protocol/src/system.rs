//! Systems: which actors there are, what the network may do to them, and what is to be true.

use std::marker::PhantomData;
use std::sync::Arc;

use crate::actor::{Actor, Data, Durable};
use crate::history::{self, Happened};
use crate::ids::ActorId;
use crate::message::Message;
use crate::model::Model;
use crate::network::Network;
use crate::property::{Condition, Mode, Property};
use crate::runtime::node::Kept;

/// Actors that talk to each other over a network, and the properties that are to hold of them.
#[derive(Clone)]
#[must_use]
pub struct System<M> {
    pub(crate) model: Model,
    language: PhantomData<fn(M)>,
}

impl<M: Data> Default for System<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Data> System<M> {
    /// A system without actors, on an unordered network that loses nothing.
    pub fn new() -> Self {
        Self { model: Model::default(), language: PhantomData }
    }

    /// Adds an actor; the first is number 0. Actors of any kinds may be added, as long as they speak the same language.
    pub fn actor<A: Actor<Msg = M>>(self, actor: A) -> Self {
        self.keep(Kept::anew(actor, None))
    }

    /// Adds several actors of one kind.
    pub fn actors<A: Actor<Msg = M>>(self, actors: impl IntoIterator<Item = A>) -> Self {
        actors.into_iter().fold(self, System::actor)
    }

    /// Adds an actor with a disk, which survives crashes.
    pub fn durable<A: Durable<Msg = M>>(self, actor: A) -> Self {
        self.keep(Kept::durable(actor, None))
    }

    /// Adds an actor that is in the middle of something: as it was found in a running system, with the timers that are set.
    pub fn resumed<A: Actor<Msg = M>>(self, actor: A, state: A::State, timers: Vec<A::Timer>) -> Self {
        self.keep(Kept::anew(actor, Some((state, timers))))
    }

    /// Adds an actor with a disk that is in the middle of something.
    pub fn durable_resumed<A: Durable<Msg = M>>(
        self,
        actor: A,
        state: A::State,
        timers: Vec<A::Timer>,
    ) -> Self {
        self.keep(Kept::durable(actor, Some((state, timers))))
    }

    fn keep<A: Actor<Msg = M>, D: Data>(mut self, kept: Kept<A, D>) -> Self {
        self.model.kinds.push(Arc::new(Arc::new(kept)));
        self
    }

    /// Says what the network may do to the order of messages, and to their number.
    pub fn network(mut self, network: Network) -> Self {
        self.model.network = network;
        self
    }

    /// Lets the network lose messages.
    pub fn lossy(mut self) -> Self {
        self.model.lossy = true;
        self
    }

    /// Lets actors crash and recover, with at most so many down at a time.
    pub fn crashes(mut self, at_a_time: usize) -> Self {
        self.model.crashes_max = at_a_time;
        self
    }

    /// Puts a message on its way before anything happens: what was in flight when a running system was looked at.
    pub fn in_flight(mut self, from: ActorId, to: ActorId, msg: M) -> Self {
        self.model.flying.push((from, to, Message::new(msg)));
        self
    }

    /// Says that these actors can be exchanged for each other: states that differ only in who is who count as one.
    ///
    /// This needs actors that are built alike, and handlers that treat all [`ActorId`]s alike: they may compare them for
    /// equality, but not for order. Nor may conditions, the boundary or the history name one of these actors. A search looks at
    /// samples of the states that it leaves out for this reason, and says so if something is different in them.
    ///
    /// Called again, it adds a group of others: acceptors for acceptors, say, and proposers for proposers.
    pub fn symmetric(mut self, actors: impl IntoIterator<Item = ActorId>) -> Self {
        self.model.symmetric.push(actors.into_iter().collect());
        self
    }

    /// Keeps a history beside the actors: `tell` changes it whenever a message that `concerns` it is sent or received. What
    /// changes nothing where it arrives counts as not received, but in an ordered network.
    pub fn history<H: Data>(
        mut self,
        first: H,
        concerns: impl Fn(&M) -> bool + Send + Sync + 'static,
        tell: impl Fn(&mut H, Happened<'_, M>) + Send + Sync + 'static,
    ) -> Self {
        let rules: Arc<history::Rules<M, H>> = Arc::new((Box::new(concerns), Box::new(tell)));
        self.model.has_two_histories |= self.model.recorder.is_some();
        self.model.recorder = Some(Arc::new(move |permutations| {
            Box::new(history::Typed::new(first.clone(), permutations, Arc::clone(&rules)))
        }));
        self
    }

    /// Restricts the system to what lies within a boundary: states outside are neither looked at nor gone through. What is said
    /// of the system is said of the states inside; two boundaries hold together; an `eventually` is not known where ways leave before it is true.
    pub fn within(mut self, inside: impl Fn(&crate::States<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.model.within = Some(match self.model.within.take() {
            None => Arc::new(inside),
            Some(before) => Arc::new(move |states| before(states) && inside(states)),
        });
        self
    }

    /// Asks for something to be true in every state that can be reached.
    pub fn always(self, name: impl Into<String>, condition: Condition<M>) -> Self {
        self.property(name, Mode::Always, condition)
    }

    /// Asks for something to be true in at least one state that can be reached. A condition on one state or on
    /// pairs is true when it is true of some actor, or some pair.
    pub fn sometimes(self, name: impl Into<String>, condition: Condition<M>) -> Self {
        self.property(name, Mode::Sometimes, condition)
    }

    /// Asks for something to become true at some time, whatever happens. A condition on one state or on pairs is
    /// true when it is true of all actors, or all pairs.
    pub fn eventually(self, name: impl Into<String>, condition: Condition<M>) -> Self {
        self.property(name, Mode::Eventually, condition)
    }

    fn property(mut self, name: impl Into<String>, mode: Mode, condition: Condition<M>) -> Self {
        self.model.properties.push(Property { name: name.into(), mode, condition: condition.predicate });
        self
    }
}
