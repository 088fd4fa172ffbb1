//! Systems: which actors there are, what the network may do to them, and what is to be true.

use std::sync::Arc;

use crate::actor::{Actor, Data, Durable};
use crate::history::{self, Happened, Recorder};
use crate::ids::ActorId;
use crate::intern::Permutations;
use crate::network::Network;
use crate::node::Kind;
use crate::property::{Condition, Mode, Property};
use crate::runtime::node::Kept;

/// How many actors may be exchanged for each other: there are 720 ways for six.
const SYMMETRIC_MAX: usize = 6;

type MakeRecorder<M> = Arc<dyn Fn(Permutations) -> Box<dyn Recorder<M>> + Send + Sync>;
type Within = Arc<dyn Fn(&crate::States<'_>) -> bool + Send + Sync>;

/// Actors that talk to each other over a network, and the properties that are to hold of them.
#[derive(Clone)]
#[must_use]
pub struct System<M> {
    pub(crate) kinds: Vec<Arc<dyn Kind<M>>>,
    pub(crate) network: Network,
    pub(crate) lossy: bool,
    pub(crate) crashes_max: usize,
    pub(crate) flying: Vec<(ActorId, ActorId, M)>,
    symmetric: Vec<Vec<ActorId>>,
    pub(crate) properties: Vec<Property<M>>,
    pub(crate) recorder: Option<MakeRecorder<M>>,
    pub(crate) within: Option<Within>,
    has_two_histories: bool,
}

impl<M: Data> Default for System<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Data> System<M> {
    /// A system without actors, on an unordered network that loses nothing.
    pub fn new() -> Self {
        Self {
            kinds: Vec::new(),
            network: Network::default(),
            lossy: false,
            crashes_max: 0,
            flying: Vec::new(),
            symmetric: Vec::new(),
            properties: Vec::new(),
            recorder: None,
            within: None,
            has_two_histories: false,
        }
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
        self.kinds.push(Arc::new(Arc::new(kept)));
        self
    }

    /// Says what the network may do to the order of messages, and to their number.
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Lets the network lose messages.
    pub fn lossy(mut self) -> Self {
        self.lossy = true;
        self
    }

    /// Lets actors crash and recover, with at most so many down at a time.
    pub fn crashes(mut self, at_a_time: usize) -> Self {
        self.crashes_max = at_a_time;
        self
    }

    /// Puts a message on its way before anything happens: what was in flight when a running system was looked at.
    pub fn in_flight(mut self, from: ActorId, to: ActorId, msg: M) -> Self {
        self.flying.push((from, to, msg));
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
        self.symmetric.push(actors.into_iter().collect());
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
        self.has_two_histories |= self.recorder.is_some();
        self.recorder = Some(Arc::new(move |permutations| {
            Box::new(history::Typed::new(first.clone(), permutations, Arc::clone(&rules)))
        }));
        self
    }

    /// Restricts the system to what lies within a boundary: states outside are neither looked at nor gone through. What is said
    /// of the system is said of the states inside; two boundaries hold together; an `eventually` is not known where ways leave before it is true.
    pub fn within(mut self, inside: impl Fn(&crate::States<'_>) -> bool + Send + Sync + 'static) -> Self {
        self.within = Some(match self.within.take() {
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
        self.properties.push(Property { name: name.into(), mode, condition });
        self
    }

    pub(crate) fn permutations(&self) -> Permutations {
        Arc::new(permutations(&self.symmetric, self.kinds.len()))
    }

    /// What is wrong with the way it is put together, if anything is.
    pub(crate) fn mistake(&self) -> Option<String> {
        let count = self.kinds.len();
        let outside = |actor: &&ActorId| actor.index() >= count;
        if count == 0 {
            return Some("the system has no actors: add some with actor()".into());
        }
        if self.has_two_histories {
            return Some("history() is there twice: keep one, of a type that has both in it".into());
        }
        let mut exchanged = self.symmetric.concat();
        if let Some(actor) = exchanged.iter().find(outside) {
            return Some(format!("symmetric(): there is no actor {actor}, only {count} actors"));
        }
        let asked = exchanged.len();
        if asked > SYMMETRIC_MAX {
            return Some(format!(
                "symmetric(): {asked} actors are exchanged, at most {SYMMETRIC_MAX} can be"
            ));
        }
        exchanged.sort_unstable();
        if let Some(twice) = exchanged.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(format!("symmetric(): actor {} is named twice", twice[0]));
        }
        if let Some((from, to, _)) = self.flying.iter().find(|(from, to, _)| outside(&from) || outside(&to)) {
            return Some(format!("in_flight(): a message from {from} to {to}, but there are {count} actors"));
        }
        None
    }
}

/// Every way to exchange those of each group among each other, as what becomes of each actor; the first is to leave them.
fn permutations(groups: &[Vec<ActorId>], count: usize) -> Vec<Vec<u32>> {
    let mut all = vec![(0..count as u32).collect::<Vec<u32>>()];
    for (group, last) in groups.iter().flat_map(|group| (0..group.len()).map(move |last| (group, last))) {
        for at in 0..all.len() {
            for other in &group[..last] {
                let mut images = all[at].clone();
                images.swap(group[last].index(), other.index());
                all.push(images);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_permutations_are_there_once_and_the_first_changes_nothing() {
        for (symmetric, expected) in [(0, 1), (1, 1), (2, 2), (3, 6), (4, 24), (5, 120)] {
            let ids: Vec<ActorId> = (1..=symmetric).map(ActorId).collect();
            let others = vec![ActorId(0), ActorId(6)];
            for (groups, expected) in [(vec![ids.clone()], expected), (vec![ids, others], 2 * expected)] {
                let all = permutations(&groups, 7);
                let distinct: std::collections::BTreeSet<_> = all.iter().collect();
                assert_eq!((all.len(), distinct.len()), (expected, expected));
                assert_eq!(all[0], (0..7).collect::<Vec<u32>>());
            }
        }
    }
}
