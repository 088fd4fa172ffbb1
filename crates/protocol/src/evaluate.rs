//! Whether a state is what a property looks for; answers about local states are remembered.
//!
//! A condition that panics is a mistake of whoever wrote it. It answers what decides the property, so that no search passes
//! it by, and [`Evaluator::panic`] tells.

use std::any::Any;

use simurgh_watchdog::Code;

use crate::ids::ActorId;
use crate::message::Message;
use crate::node::Health;
use crate::property::{Kind, LocalStates, Mode, Predicate, Projection, Property, States, Whole, of_pair};
use crate::space::{Lookup, Space, steadily};

/// A state of a search.
pub(crate) struct Found<'a> {
    pub(crate) space: &'a Space,
    pub(crate) state: &'a [u32],
}

impl LocalStates for Found<'_> {
    fn count(&self) -> usize {
        self.space.actors()
    }
    fn state(&self, actor: usize) -> Option<&dyn Any> {
        self.space.local(actor, self.state[actor]).state()
    }
}

impl Whole for Found<'_> {
    fn messages(&self) -> Vec<(ActorId, ActorId, &Message)> {
        self.state[self.space.header()..].iter().map(|envelope| self.space.message(*envelope)).collect()
    }
    fn history(&self) -> Option<&dyn Any> {
        self.space.has_history().then(|| self.space.history(self.state[self.space.actors()]))
    }
}

/// The key of a state whose projection panics.
pub(crate) const PANICS: u32 = u32::MAX - 1;

/// What is remembered of one property.
#[derive(Default)]
struct Memory {
    /// For each actor, what is said of its states; behind the actors, of histories.
    answers: Vec<Vec<Option<bool>>>,
    pairs: Lookup<(u64, u64), bool>,
    projection: Option<Box<dyn Projection>>,
    keys: Vec<Vec<Option<Option<u32>>>>,
    combinations: Lookup<Vec<u32>, bool>,
    /// What a projection said when it panicked.
    why: String,
}

/// Answers for all properties of a system.
pub(crate) struct Evaluator<'a> {
    properties: &'a [Property],
    memories: Vec<Memory>,
    /// What a condition said when it panicked, if the last answer is of that kind.
    pub(crate) panic: Option<String>,
    asked: Asked,
}

/// How often conditions were asked, and which of them gave another answer when it was asked once more.
#[derive(Default)]
struct Asked {
    times: u64,
    unsteady: Option<usize>,
}

impl Asked {
    /// Asks a condition: the first times more than once.
    fn ask<T: PartialEq>(&mut self, property: usize, ask: impl FnMut() -> T) -> Result<T, String> {
        let asked = steadily(Code::Condition(property), self.times, ask);
        self.times += 1;
        let (answer, is_steady) = asked?;
        if !is_steady {
            self.unsteady.get_or_insert(property);
        }
        Ok(answer)
    }
}

/// A local state: of which actor, and its number.
pub(crate) type At = (usize, u32);

/// A state, if a condition is about such states.
fn subject<'s>(space: &'s Space, (actor, local): At, asked: &Predicate) -> Option<&'s dyn Any> {
    space.local(actor, local).state().filter(|state| Some((*state).type_id()) == asked.of)
}

fn slot<T: Clone>(table: &mut Vec<Option<T>>, at: u32) -> &mut Option<T> {
    if table.len() <= at as usize {
        table.resize(at as usize + 1, None);
    }
    &mut table[at as usize]
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(properties: &'a [Property], actors: usize) -> Self {
        let memories = properties
            .iter()
            .map(|property| Memory {
                answers: vec![Vec::new(); actors + 1],
                keys: vec![Vec::new(); actors],
                projection: match &property.condition.kind {
                    Kind::Projected(_, make) => Some(make()),
                    _ => None,
                },
                ..Memory::default()
            })
            .collect();
        Self { properties, memories, panic: None, asked: Asked::default() }
    }

    /// A property whose condition gave another answer when it was asked once more.
    pub(crate) fn unsteady(&self) -> Option<usize> {
        self.asked.unsteady
    }

    /// The answer that decides a property. It is also the answer of a condition that panics.
    pub(crate) fn deciding(&self, property: usize) -> bool {
        self.properties[property].mode == Mode::Sometimes
    }

    /// What was said of a state or a history, if it was asked.
    fn known(&self, property: usize, at: At) -> Option<bool> {
        self.memories[property].answers[at.0].get(at.1 as usize).copied().flatten()
    }

    fn ask_of(&mut self, property: usize, at: At, ask: impl FnMut() -> bool) -> bool {
        match self.asked.ask(property, ask) {
            Ok(answer) => *slot(&mut self.memories[property].answers[at.0], at.1).insert(answer),
            Err(why) => self.panicked(property, why),
        }
    }

    fn panicked(&mut self, property: usize, why: String) -> bool {
        self.panic = Some(why);
        self.deciding(property)
    }

    /// Whether a state is the one that decides a property: it violates an `always`, or satisfies a `sometimes`.
    ///
    /// If only one actor has changed since a state that was not, only that one needs to be looked at.
    pub(crate) fn decides(
        &mut self,
        property: usize,
        space: &Space,
        state: &[u32],
        changed: Option<usize>,
    ) -> bool {
        self.panic = None;
        let wanted = self.deciding(property);
        let (actors, at) = (space.actors(), |actor: usize| (actor, state[actor]));
        let range = changed.map_or(0..actors, |actor| actor..actor + 1);
        match &self.properties[property].condition.kind {
            Kind::Local(_) => {
                range.into_iter().any(|actor| self.of_one(property, space, at(actor)) == Some(wanted))
            }
            Kind::Pairwise(_) => range.into_iter().any(|left| {
                let mut others = (0..actors).filter(|right| *right != left);
                others.any(|right| self.of_two(property, space, at(left), at(right)) == Some(wanted))
            }),
            _ => self.holds(property, space, state) == wanted,
        }
    }

    /// Whether an `eventually` has come true: of all actors, so that it does not by one of them being down.
    pub(crate) fn has_come_true(&mut self, property: usize, space: &Space, state: &[u32]) -> bool {
        let of = self.properties[property].condition.of;
        let is_missing = |actor: usize| space.local(actor, state[actor]).is_missing(of);
        !(0..space.actors()).any(is_missing) && self.holds(property, space, state)
    }

    /// Whether a condition holds of a state: of all actors, or of all pairs. For an `eventually`, one that panics does not.
    pub(crate) fn holds(&mut self, property: usize, space: &Space, state: &[u32]) -> bool {
        self.panic = None;
        let (actors, at) = (space.actors(), |actor: usize| (actor, state[actor]));
        match &self.properties[property].condition.kind {
            Kind::Local(_) => (0..actors).all(|actor| self.of_one(property, space, at(actor)) != Some(false)),
            Kind::Pairwise(_) => (0..actors).all(|left| {
                (left + 1..actors)
                    .all(|right| self.of_two(property, space, at(left), at(right)) != Some(false))
            }),
            Kind::Projected(..) => {
                let keys: Vec<u32> =
                    (0..actors).filter_map(|actor| self.key(property, space, at(actor))).collect();
                self.of_keys(property, &keys)
            }
            Kind::Global(holds) => {
                let ask = || holds(&States { nodes: &Found { space, state } });
                self.asked.ask(property, ask).unwrap_or_else(|why| self.panicked(property, why))
            }
            Kind::World(holds) => {
                let ask = || holds(&Found { space, state });
                self.asked.ask(property, ask).unwrap_or_else(|why| self.panicked(property, why))
            }
            Kind::History(holds) => {
                let known = self.known(property, at(actors));
                known.unwrap_or_else(|| {
                    self.ask_of(property, at(actors), || holds(space.history(state[actors])))
                })
            }
        }
    }

    /// What a condition on one state says of one; nothing if it is not about such states.
    pub(crate) fn of_one(&mut self, property: usize, space: &Space, at: At) -> Option<bool> {
        let condition = &self.properties[property].condition;
        let Kind::Local(holds) = &condition.kind else { return None };
        if let Some(known) = self.known(property, at) {
            return Some(known);
        }
        let state = subject(space, at, condition)?;
        Some(self.ask_of(property, at, || holds(state)))
    }

    /// What a condition on pairs says of two states; nothing if it is not about such states.
    fn of_two(&mut self, property: usize, space: &Space, left: At, right: At) -> Option<bool> {
        let (left, right) = if left.0 < right.0 { (left, right) } else { (right, left) };
        let key = |(actor, local): At| ((actor as u64) << 32) | u64::from(local);
        let known = (key(left), key(right));
        if let Some(known) = self.memories[property].pairs.get(&known) {
            return Some(*known);
        }
        let answer = self.of_two_anew(property, space, left, right)?;
        if self.panic.is_none() {
            self.memories[property].pairs.insert(known, answer);
        }
        Some(answer)
    }

    /// The same, without remembering it: for those who ask once for each pair.
    pub(crate) fn of_two_anew(
        &mut self,
        property: usize,
        space: &Space,
        left: At,
        right: At,
    ) -> Option<bool> {
        let Property { mode, condition, .. } = &self.properties[property];
        let Kind::Pairwise(holds) = &condition.kind else { return None };
        let (left, right) = (subject(space, left, condition)?, subject(space, right, condition)?);
        let answer = self.asked.ask(property, || of_pair(holds, *mode, left, right));
        Some(answer.unwrap_or_else(|why| self.panicked(property, why)))
    }

    /// Something that is the same for two local states of an actor only if the property cannot tell them apart.
    pub(crate) fn shade(&mut self, property: usize, space: &Space, at: At, is_target: bool) -> u32 {
        match &self.properties[property].condition.kind {
            Kind::Projected(..) => self.key(property, space, at).map_or(0, |key| key + 1),
            Kind::Local(_) => u32::from(self.of_one(property, space, at) == Some(true)),
            // Pairs are decided among targets.
            Kind::Pairwise(_) if !is_target => 0,
            _ => at.1 + 1,
        }
    }

    /// What a projection keeps of a state.
    pub(crate) fn key(&mut self, property: usize, space: &Space, at: At) -> Option<u32> {
        let (condition, memory) = (&self.properties[property].condition, &mut self.memories[property]);
        let projection = memory.projection.as_mut()?;
        let known = slot(&mut memory.keys[at.0], at.1);
        if let Some(key) = known {
            return *key;
        }
        let key = subject(space, at, condition).and_then(|state| {
            self.asked.ask(property, || projection.key(state)).unwrap_or_else(|why| {
                memory.why = why;
                Some(PANICS)
            })
        });
        *known = Some(key);
        key
    }

    /// What a condition says of what projections have kept.
    pub(crate) fn of_keys(&mut self, property: usize, keys: &[u32]) -> bool {
        if keys.contains(&PANICS) {
            let why = self.memories[property].why.clone();
            return self.panicked(property, why);
        }
        let memory = &mut self.memories[property];
        if let Some(known) = memory.combinations.get(keys) {
            return *known;
        }
        let projection = memory.projection.as_ref().expect("projected properties have projections");
        match self.asked.ask(property, || projection.holds(keys)) {
            Ok(answer) => {
                memory.combinations.insert(keys.to_vec(), answer);
                answer
            }
            Err(why) => self.panicked(property, why),
        }
    }
}

/// Whether any handler has panicked on the way to a state.
pub(crate) fn failed(space: &Space, state: &[u32], changed: Option<usize>) -> bool {
    let is = |actor: usize| space.facts(actor, state[actor]).health == Health::Failed;
    changed.map_or_else(|| (0..space.actors()).any(is), is)
}
