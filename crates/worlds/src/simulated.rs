//! The simulated world.

use std::sync::PoisonError;
use std::time::Duration;

use simurgh_protocol::{ActorId, Data, States};
use simurgh_protocol_sim::{End, Running, Simulation};

use crate::World;
use crate::cast::Watcher;

/// A protocol on a simulated platform: time goes by only while somebody waits.
#[derive(Debug)]
pub struct Simulated<M: Data> {
    running: Running<M>,
    nodes: usize,
    watcher: Watching,
}

/// Who looks at states, if anybody does.
struct Watching(Option<Watcher>);

impl std::fmt::Debug for Watching {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", if self.0.is_some() { "watched" } else { "not watched" })
    }
}

impl Watching {
    fn see(&self, states: &States<'_>) {
        if let Some(watcher) = &self.0 {
            let mut watch = watcher.lock().unwrap_or_else(PoisonError::into_inner);
            states.each(|node, state| watch(node, state));
        }
    }
}

impl<M: Data> Simulated<M> {
    pub(crate) fn new(simulation: Simulation<M>, watcher: Option<Watcher>) -> Self {
        let running = simulation.begin().unwrap_or_else(|error| panic!("the simulated world: {error}"));
        let nodes = running.states().len();
        let world = Self { running, nodes, watcher: Watching(watcher) };
        world.watcher.see(&world.running.states());
        world
    }

    /// The simulation.
    pub fn running(&self) -> &Running<M> {
        &self.running
    }

    fn done(&mut self, done: Result<(), simurgh_protocol_sim::Error>) {
        done.unwrap_or_else(|error| panic!("the simulated world: {error}"));
        self.watcher.see(&self.running.states());
        assert!(!self.running.is_violated(), "{}", self.running.report(End::Violated));
    }
}

impl<M: Data> World<M> for Simulated<M> {
    fn name(&self) -> &'static str {
        "simulated"
    }

    fn nodes(&self) -> usize {
        self.nodes
    }

    fn input(&mut self, node: ActorId, msg: M) {
        let done = self.running.input(node, &msg);
        self.done(done);
    }

    fn kill(&mut self, node: ActorId) {
        let done = self.running.kill(node);
        self.done(done);
    }

    fn restart(&mut self, node: ActorId) {
        let done = self.running.restart(node);
        self.done(done);
    }

    fn wait(&mut self, time_max: Duration, until: &mut dyn FnMut(&States<'_>) -> bool) -> bool {
        let date = self.running.now() + time_max.as_secs_f64();
        let watcher = &self.watcher;
        let end = self.running.go(Some(date), |states| {
            watcher.see(states);
            until(states)
        });
        let end = end.unwrap_or_else(|error| panic!("the simulated world: {error}"));
        assert!(end != End::Violated, "{}", self.running.report(end));
        end == End::Stopped
    }

    fn lost(&self) -> u64 {
        self.running.report(End::Stopped).counts.lost
    }
}
