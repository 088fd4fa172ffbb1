//! What is to be true: conditions on one state, on pairs, on projections, on all states, on the whole world.

use std::any::{Any, TypeId};
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;

use crate::actor::Data;
use crate::ids::ActorId;
use crate::intern::Interner;
use crate::message::Message;

/// When a condition is to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mode {
    /// In every state.
    Always,
    /// In at least one state.
    Sometimes,
    /// At some time on every way.
    Eventually,
}

#[derive(Clone)]
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) mode: Mode,
    pub(crate) condition: Predicate,
}

/// The states of all actors at one time.
pub struct States<'a> {
    pub(crate) nodes: &'a dyn LocalStates,
}

/// Where [`States`] come from: a checker, a simulation, or whoever looks at real nodes.
pub trait LocalStates {
    /// How many actors there are.
    fn count(&self) -> usize;
    /// The state of an actor, by its number; nothing if it is down.
    fn state(&self, actor: usize) -> Option<&dyn Any>;
}

impl<'a> States<'a> {
    /// The states of actors that somebody knows.
    pub fn new(nodes: &'a dyn LocalStates) -> Self {
        Self { nodes }
    }

    /// The state of an actor; nothing if it is down, or of another kind.
    pub fn get<S: 'static>(&self, actor: ActorId) -> Option<&'a S> {
        (actor.index() < self.nodes.count()).then(|| self.nodes.state(actor.index())?.downcast_ref())?
    }

    /// The states of all actors of a kind that are up.
    pub fn of<S: 'static>(&self) -> impl Iterator<Item = (ActorId, &'a S)> {
        let nodes = self.nodes;
        (0..nodes.count()).filter_map(move |at| Some((ActorId::from(at), nodes.state(at)?.downcast_ref()?)))
    }

    /// Shows the state of every actor that is up, of whichever kind.
    pub fn each(&self, mut see: impl FnMut(ActorId, &dyn Any)) {
        for at in 0..self.nodes.count() {
            if let Some(state) = self.nodes.state(at) {
                see(ActorId::from(at), state);
            }
        }
    }

    /// How many actors there are, up or down.
    pub fn len(&self) -> usize {
        self.nodes.count()
    }

    /// Whether there is no actor.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Everything there is at one time: states, messages on their way, history.
pub struct World<'a, M> {
    whole: &'a dyn Whole,
    language: PhantomData<fn() -> M>,
}

/// Where a [`World`] comes from.
pub(crate) trait Whole: LocalStates {
    /// The messages on their way, with their senders and receivers.
    fn messages(&self) -> Vec<(ActorId, ActorId, &Message)>;
    fn history(&self) -> Option<&dyn Any>;
}

impl<'a, M: Data> World<'a, M> {
    fn new(whole: &'a dyn Whole) -> Self {
        Self { whole, language: PhantomData }
    }

    /// The state of an actor; nothing if it is down, or of another kind.
    pub fn get<S: 'static>(&self, actor: ActorId) -> Option<&'a S> {
        States { nodes: self.whole }.get(actor)
    }

    /// The messages on their way, with their senders and receivers.
    pub fn messages(&self) -> impl Iterator<Item = (ActorId, ActorId, &'a M)> {
        self.whole.messages().into_iter().map(|(from, to, msg)| (from, to, msg.get()))
    }

    /// The history, if there is one of this type.
    pub fn history<H: 'static>(&self) -> Option<&'a H> {
        self.whole.history()?.downcast_ref()
    }
}

type OfOne = dyn Fn(&dyn Any) -> bool + Send + Sync;
type OfTwo = dyn Fn(&dyn Any, &dyn Any) -> bool + Send + Sync;
type OfAll = dyn Fn(&States<'_>) -> bool + Send + Sync;
type OfWorld = dyn Fn(&dyn Whole) -> bool + Send + Sync;

/// Something that is true or false of a state. Made by [`local`](fn@local), [`pairwise`], [`agree`], [`projected`], [`global`],
/// [`history`](fn@history) and [`world`].
#[derive(Clone)]
pub struct Condition<M> {
    pub(crate) predicate: Predicate,
    language: PhantomData<fn(M)>,
}

/// A condition, for those who know no types.
#[derive(Clone)]
pub(crate) struct Predicate {
    /// The type of the states that it is about, where it looks at states by themselves.
    pub(crate) of: Option<TypeId>,
    pub(crate) kind: Kind,
}

#[derive(Clone)]
pub(crate) enum Kind {
    Local(Arc<OfOne>),
    Pairwise(Arc<OfTwo>),
    /// Whether what holds of each two holds of all, and what makes the projection.
    Projected(bool, Arc<dyn Fn() -> Box<dyn Projection> + Send + Sync>),
    Global(Arc<OfAll>),
    History(Arc<OfOne>),
    World(Arc<OfWorld>),
}

impl<M> Condition<M> {
    /// A condition on states of a type.
    fn of<S: 'static>(kind: Kind) -> Self {
        Self { predicate: Predicate { of: Some(TypeId::of::<S>()), kind }, language: PhantomData }
    }
}

impl<M> From<Kind> for Condition<M> {
    fn from(kind: Kind) -> Self {
        Self { predicate: Predicate { of: None, kind }, language: PhantomData }
    }
}

fn cast<S: 'static>(state: &dyn Any) -> &S {
    state.downcast_ref().expect("conditions see states of their own type only")
}

/// A condition on the state of each actor of a kind, by itself.
pub fn local<M, S: 'static>(holds: impl Fn(&S) -> bool + Send + Sync + 'static) -> Condition<M> {
    Condition::of::<S>(Kind::Local(Arc::new(move |state| holds(cast(state)))))
}

/// A condition on each two actors of a kind, in either order: `always` and `eventually` ask it of both orders, `sometimes` of one.
pub fn pairwise<M, S: 'static>(holds: impl Fn(&S, &S) -> bool + Send + Sync + 'static) -> Condition<M> {
    let directed = move |left: &dyn Any, right: &dyn Any| holds(cast(left), cast(right));
    Condition::of::<S>(Kind::Pairwise(Arc::new(directed)))
}

/// What a condition on pairs says of two states, in either order.
pub(crate) fn of_pair(holds: &Arc<OfTwo>, mode: Mode, left: &dyn Any, right: &dyn Any) -> bool {
    match mode {
        Mode::Sometimes => holds(left, right) || holds(right, left),
        Mode::Always | Mode::Eventually => holds(left, right) && holds(right, left),
    }
}

/// A condition that looks only at what a projection keeps of each state: `holds` is given what is kept of those actors of
/// a kind of which anything is, in the order of the actors. Local search makes no system states that differ in the rest.
pub fn projected<M, S: 'static, K: Data>(
    project: impl Fn(&S) -> Option<K> + Send + Sync + 'static,
    holds: impl Fn(&[&K]) -> bool + Send + Sync + 'static,
) -> Condition<M> {
    projection(false, project, holds)
}

/// No two actors of a kind have different values of something, once they have any: consensus.
pub fn agree<M, S: 'static, K: Data>(
    value: impl Fn(&S) -> Option<K> + Send + Sync + 'static,
) -> Condition<M> {
    projection(true, value, |values: &[&K]| values.windows(2).all(|two| two[0] == two[1]))
}

fn projection<M, S: 'static, K: Data>(
    pairs: bool,
    project: impl Fn(&S) -> Option<K> + Send + Sync + 'static,
    holds: impl Fn(&[&K]) -> bool + Send + Sync + 'static,
) -> Condition<M> {
    let project = move |state: &dyn Any| project(cast(state));
    let rules = Arc::new((project, holds));
    let make = move || -> Box<dyn Projection> {
        Box::new(Typed { keys: Interner::new(Arc::default()), rules: Arc::clone(&rules) })
    };
    Condition::of::<S>(Kind::Projected(pairs, Arc::new(make)))
}

/// A condition on the states of all actors.
pub fn global<M>(holds: impl Fn(&States<'_>) -> bool + Send + Sync + 'static) -> Condition<M> {
    Kind::Global(Arc::new(holds)).into()
}

/// A condition on the history that [`System::history`](crate::System::history) keeps.
pub fn history<M, H: 'static>(holds: impl Fn(&H) -> bool + Send + Sync + 'static) -> Condition<M> {
    Kind::History(Arc::new(move |history| holds(cast(history)))).into()
}

/// A condition on everything: states, messages on their way, history. Local search cannot see it.
pub fn world<M: Data>(holds: impl Fn(&World<'_, M>) -> bool + Send + Sync + 'static) -> Condition<M> {
    Kind::World(Arc::new(move |whole| holds(&World::new(whole)))).into()
}

/// A projection whose values are numbers.
pub(crate) trait Projection: Send + Sync {
    fn key(&mut self, state: &dyn Any) -> Option<u32>;
    fn holds(&self, keys: &[u32]) -> bool;
}

struct Typed<K, P, H> {
    keys: Interner<K>,
    /// What is kept of a state, and what is to hold of all that is kept.
    rules: Arc<(P, H)>,
}

impl<K, P, H> Projection for Typed<K, P, H>
where
    K: Eq + Hash + Send + Sync,
    P: Fn(&dyn Any) -> Option<K> + Send + Sync,
    H: Fn(&[&K]) -> bool + Send + Sync,
{
    fn key(&mut self, state: &dyn Any) -> Option<u32> {
        let key = (self.rules.0)(state)?;
        Some(self.keys.intern(key, |_| 0))
    }

    fn holds(&self, keys: &[u32]) -> bool {
        let keys: Vec<&K> = keys.iter().map(|key| self.keys.get(*key)).collect();
        (self.rules.1)(&keys)
    }
}
