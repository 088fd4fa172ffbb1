//! Where a running system was found.
//!
//! A search that begins where a running system is goes further into what may happen to it next than one that begins at the
//! start (seed: local model checking, section 3, online model checking). [`Snapshot`] is where a system was found, by
//! whatever took the snapshot; [`System::from_live`] is the system that goes on from there.

use std::fmt;

use crate::actor::{Actor, Durable};
use crate::ids::ActorId;
use crate::system::System;

/// Where an actor was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSnapshot<S, T> {
    /// Its state.
    pub state: S,
    /// The timers that were set.
    pub timers: Vec<T>,
}

/// Where a running system was found: a consistent cut through all its actors and what was on its way between them.
pub struct Snapshot<A: Actor> {
    /// The actors, in order.
    pub nodes: Vec<NodeSnapshot<A::State, A::Timer>>,
    /// Messages that had been sent and not received: sender, receiver, message.
    pub in_flight: Vec<(ActorId, ActorId, A::Msg)>,
}

impl<A: Actor> Clone for Snapshot<A> {
    fn clone(&self) -> Self {
        Self { nodes: self.nodes.clone(), in_flight: self.in_flight.clone() }
    }
}

impl<A: Actor> fmt::Debug for Snapshot<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot").field("nodes", &self.nodes).field("in_flight", &self.in_flight).finish()
    }
}

impl<A: Actor> Snapshot<A> {
    /// The same, but the timers of all others never go off: less can happen, so that a search from here goes further.
    #[must_use]
    pub fn with_timers_of(&self, actors: &[ActorId]) -> Self {
        let mut fewer = self.clone();
        for (place, node) in fewer.nodes.iter_mut().enumerate() {
            if !actors.contains(&ActorId::from(place)) {
                node.timers.clear();
            }
        }
        fewer
    }
}

/// One line for each actor, and one for each message on its way.
impl<A: Actor> fmt::Display for Snapshot<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, NodeSnapshot { state, timers }) in self.nodes.iter().enumerate() {
            write!(f, "{number}: {state:?}")?;
            if !timers.is_empty() {
                write!(f, ", timers {timers:?}")?;
            }
            writeln!(f)?;
        }
        for (from, to, msg) in &self.in_flight {
            writeln!(f, "in flight {from} -> {to}: {msg:?}")?;
        }
        Ok(())
    }
}

impl<M: crate::Data> System<M> {
    /// A system that goes on from where a running one was found; `actors` are those that run, or stand for them in what
    /// is looked at from there. After a crash they start anew: those that have disks need [`System::from_live_durable`].
    ///
    /// # Panics
    /// If there are not as many actors as were found.
    pub fn from_live<A: Actor<Msg = M>>(actors: impl IntoIterator<Item = A>, live: Snapshot<A>) -> Self {
        Self::resume_all(actors, live, System::resumed)
    }

    /// The same for actors with disks: what is on them is a function of the states that were found, and survives a crash.
    ///
    /// # Panics
    /// If there are not as many actors as were found.
    pub fn from_live_durable<A: Durable<Msg = M>>(
        actors: impl IntoIterator<Item = A>,
        live: Snapshot<A>,
    ) -> Self {
        Self::resume_all(actors, live, System::durable_resumed)
    }

    fn resume_all<A: Actor<Msg = M>>(
        actors: impl IntoIterator<Item = A>,
        live: Snapshot<A>,
        resume: impl Fn(Self, A, A::State, Vec<A::Timer>) -> Self,
    ) -> Self {
        let actors: Vec<A> = actors.into_iter().collect();
        let found = live.nodes.len();
        assert_eq!(actors.len(), found, "{found} actors were found, and {} are given", actors.len());
        let system = actors
            .into_iter()
            .zip(live.nodes)
            .fold(Self::new(), |system, (actor, found)| resume(system, actor, found.state, found.timers));
        live.in_flight.into_iter().fold(system, |system, (from, to, msg)| system.in_flight(from, to, msg))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actor::Out;
    use crate::local;

    /// Keeps a number on its disk.
    struct Keeper;

    impl Actor for Keeper {
        type Msg = u32;
        type State = u32;
        type Timer = u8;

        fn on_start(&self, _: &mut Out<Self>) -> u32 {
            0
        }

        fn on_msg(&self, _: &mut u32, _: ActorId, _: &u32, _: &mut Out<Self>) {}
    }

    impl Durable for Keeper {
        type Stored = u32;

        fn stored(&self, state: &u32) -> u32 {
            *state
        }

        fn on_recover(&self, stored: &u32, _: &mut Out<Self>) -> u32 {
            *stored
        }
    }

    #[test]
    fn nodes_of_a_snapshot_recovered_without_their_disks() {
        let node = |state: u32| NodeSnapshot { state, timers: Vec::new() };
        let live = || Snapshot { nodes: vec![node(4), node(5)], in_flight: Vec::new() };
        let kept = || local(|number: &u32| *number >= 4);
        let forgetful = System::from_live([Keeper, Keeper], live()).crashes(1).always("kept", kept());
        let durable = System::from_live_durable([Keeper, Keeper], live()).crashes(1).always("kept", kept());
        for (forgetful, durable) in [
            (forgetful.checker().bfs(), durable.checker().bfs()),
            (forgetful.checker().local(), durable.checker().local()),
        ] {
            assert_eq!(forgetful.assert_violated("kept").steps.len(), 2);
            durable.assert_properties();
        }
    }
}
