//! Who takes part: how each node is made, whichever world it lives in.

use std::any::Any;
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde::de::DeserializeOwned;
use simurgh_deploy::{Counters, Deployment, Error, Node, Transport, wire_bytes};
use simurgh_platform::Platform;
use simurgh_protocol::{Actor, ActorId, Data, Durable, System};
use simurgh_protocol_sim::Simulation;

use crate::World;
use crate::real::{Hooks, Real};
use crate::simulated::Simulated;

/// Who looks at every state of every node.
pub(crate) type Watcher = Arc<Mutex<dyn FnMut(ActorId, &dyn Any) + Send>>;

/// A node that can be made in either world.
pub(crate) trait Member<M>: Send + Sync {
    fn join(&self, system: System<M>, me: ActorId) -> System<M>;
    fn run(&self, me: ActorId, deployment: &Deployment, hooks: Hooks<M>) -> Result<Counters, Error>;
}

struct Plain<F>(F);
struct WithDisk<F>(F);

impl<A: Actor, F: Fn(ActorId) -> A + Send + Sync> Member<A::Msg> for Plain<F>
where
    A::Msg: Serialize + DeserializeOwned,
{
    fn join(&self, system: System<A::Msg>, me: ActorId) -> System<A::Msg> {
        system.actor((self.0)(me))
    }

    fn run(&self, me: ActorId, deployment: &Deployment, hooks: Hooks<A::Msg>) -> Result<Counters, Error> {
        hooks.attach(Node::new((self.0)(me), &me.to_string(), deployment)?).run()
    }
}

impl<A: Durable, F: Fn(ActorId) -> A + Send + Sync> Member<A::Msg> for WithDisk<F>
where
    A::Msg: Serialize + DeserializeOwned,
    A::Stored: Serialize + DeserializeOwned,
{
    fn join(&self, system: System<A::Msg>, me: ActorId) -> System<A::Msg> {
        system.durable((self.0)(me))
    }

    fn run(&self, me: ActorId, deployment: &Deployment, hooks: Hooks<A::Msg>) -> Result<Counters, Error> {
        hooks.attach(Node::durable((self.0)(me), &me.to_string(), deployment)?).run()
    }
}

type Properties<M> = Box<dyn Fn(System<M>) -> System<M>>;

/// Who takes part in a test, and what is to be true of them.
pub struct Cast<M> {
    members: Vec<Arc<dyn Member<M>>>,
    properties: Properties<M>,
    watcher: Option<Watcher>,
    loss: f64,
    seed: u64,
}

impl<M: Data + Serialize + DeserializeOwned> Default for Cast<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Data + Serialize + DeserializeOwned> Cast<M> {
    /// Nobody.
    pub fn new() -> Self {
        Self { members: Vec::new(), properties: Box::new(|system| system), watcher: None, loss: 0.0, seed: 0 }
    }

    /// Adds nodes; each is made by its number, whenever it is started.
    #[must_use]
    pub fn actors<A: Actor<Msg = M>>(
        self,
        count: usize,
        make: impl Fn(ActorId) -> A + Send + Sync + 'static,
    ) -> Self {
        self.add(count, Arc::new(Plain(make)))
    }

    /// Adds nodes with disks.
    #[must_use]
    pub fn durables<A: Durable<Msg = M>>(
        self,
        count: usize,
        make: impl Fn(ActorId) -> A + Send + Sync + 'static,
    ) -> Self
    where
        A::Stored: Serialize + DeserializeOwned,
    {
        self.add(count, Arc::new(WithDisk(make)))
    }

    fn add(mut self, count: usize, member: Arc<dyn Member<M>>) -> Self {
        self.members.extend((0..count).map(|_| Arc::clone(&member)));
        self
    }

    /// Adds properties to the system. They are looked at in the simulated world, where all states are those of one instant.
    #[must_use]
    pub fn properties(mut self, properties: impl Fn(System<M>) -> System<M> + 'static) -> Self {
        self.properties = Box::new(properties);
        self
    }

    /// Shows every state of every node of a kind, in both worlds, the first one of each incarnation too.
    #[must_use]
    pub fn watch<S: 'static>(mut self, mut watch: impl FnMut(ActorId, &S) + Send + 'static) -> Self {
        self.watcher = Some(Arc::new(Mutex::new(move |node: ActorId, state: &dyn Any| {
            if let Some(state) = state.downcast_ref() {
                watch(node, state);
            }
        })));
        self
    }

    /// Loses this share of the messages between nodes.
    #[must_use]
    pub fn loss(mut self, probability: f64) -> Self {
        self.loss = probability;
        self
    }

    /// The seed of the simulated world. In the real one, nothing can be repeated.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The simulated world: a host for each node, messages as long as over real sockets.
    ///
    /// # Panics
    /// If the platform cannot be used.
    pub fn simulated(&self, platform: impl Into<Arc<Platform>>) -> Simulated<M> {
        let join =
            |system, (at, member): (usize, &Arc<dyn Member<M>>)| member.join(system, ActorId::from(at));
        let system = self.members.iter().enumerate().fold(System::new(), join);
        let simulation = Simulation::new((self.properties)(system), platform)
            .size(|msg| wire_bytes(msg).unwrap_or(simurgh_protocol_sim::MESSAGE_BYTES))
            .loss(self.loss)
            .seed(self.seed);
        Simulated::new(simulation, self.watcher.clone())
    }

    /// The real world: a node is a thread that talks to the others over TCP on this machine, with a folder for its disk.
    ///
    /// # Panics
    /// If the system refuses ports or folders.
    pub fn real(&self) -> Real<M> {
        self.real_over(Transport::Tcp)
    }

    /// The real world over another transport.
    ///
    /// # Panics
    /// If the system refuses ports or folders.
    pub fn real_over(&self, transport: Transport) -> Real<M> {
        Real::new(self.members.clone(), self.watcher.clone(), transport, self.loss)
    }

    /// Runs a test in the simulated world, on the built-in platform, and then in the real one.
    pub fn in_both_worlds(&self, test: impl Fn(&mut dyn World<M>)) {
        test(&mut self.simulated(Platform::builtin()));
        test(&mut self.real());
    }
}

impl<M> std::fmt::Debug for Cast<M> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cast").field("nodes", &self.members.len()).finish_non_exhaustive()
    }
}
