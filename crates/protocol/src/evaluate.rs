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
#[derive(Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) space: &'a Space,
    pub(crate) state: &'a [u32],
}

impl Found<'_> {
    fn at(self, actor: usize) -> At {
        (actor, self.state[actor])
    }
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
    pub(crate) asked: Asked,
}

/// How often conditions were asked, and which of them gave another answer when it was asked once more.
#[derive(Default)]
pub(crate) struct Asked {
    times: u64,
    pub(crate) unsteady: Option<usize>,
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

    fn ask(&mut self, property: usize, ask: impl FnMut() -> bool) -> bool {
        self.asked.ask(property, ask).unwrap_or_else(|why| self.panicked(property, why))
    }

    fn panicked(&mut self, property: usize, why: String) -> bool {
        self.panic = Some(why);
        self.deciding(property)
    }

    /// Whether a state is the one that decides a property: it violates an `always`, or satisfies a `sometimes`.
    ///
    /// If only one actor has changed since a state that was not, only that one needs to be looked at.
    pub(crate) fn decides(&mut self, property: usize, found: Found<'_>, changed: Option<usize>) -> bool {
        self.panic = None;
        let wanted = self.deciding(property);
        let some = self.some(property, found, changed, wanted);
        some.unwrap_or_else(|| self.of_all(property, found) == wanted)
    }

    /// Whether a condition on one state or on pairs gives an answer for some actor or pair, of those that have changed; nothing if it is
    /// about all actors.
    fn some(
        &mut self,
        property: usize,
        found: Found<'_>,
        changed: Option<usize>,
        answer: bool,
    ) -> Option<bool> {
        let (space, actors) = (found.space, found.count());
        let mut range = changed.map_or(0..actors, |actor| actor..actor + 1);
        match &self.properties[property].condition.kind {
            Kind::Local(_) => {
                Some(range.any(|actor| self.of_one(property, space, found.at(actor)) == Some(answer)))
            }
            Kind::Pairwise(_) => Some(range.any(|left| {
                let mut others = (0..actors).filter(|right| *right != left);
                others.any(|right| {
                    self.of_two(property, space, found.at(left), found.at(right)) == Some(answer)
                })
            })),
            _ => None,
        }
    }

    /// Whether an `eventually` has come true: of all actors, so that it does not by one of them being down.
    pub(crate) fn has_come_true(&mut self, property: usize, found: Found<'_>) -> bool {
        let of = self.properties[property].condition.of;
        let is_missing = |actor: usize| found.space.local(actor, found.state[actor]).is_missing(of);
        if (0..found.count()).any(is_missing) {
            return false;
        }
        self.panic = None;
        // One that panics does not hold.
        let fails = self.some(property, found, None, false);
        fails.map_or_else(|| self.of_all(property, found), |fails| !fails)
    }

    /// What a condition on all actors says of a state.
    fn of_all(&mut self, property: usize, found: Found<'_>) -> bool {
        let (space, actors) = (found.space, found.count());
        match &self.properties[property].condition.kind {
            Kind::Local(_) | Kind::Pairwise(_) => unreachable!("it is about some"),
            Kind::Projected(..) => {
                let keys = (0..actors).filter_map(|actor| self.key(property, space, found.at(actor)));
                let keys: Vec<u32> = keys.collect();
                self.of_keys(property, &keys)
            }
            Kind::Global(holds) => self.ask(property, || holds(&States { nodes: &found })),
            Kind::World(holds) => self.ask(property, || holds(&found)),
            Kind::History(holds) => {
                let at = found.at(actors);
                let known = self.known(property, at);
                known.unwrap_or_else(|| self.ask_of(property, at, || holds(space.history(at.1))))
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
        let answer = self.of_two_anew(property, space, [left, right])?;
        if self.panic.is_none() {
            self.memories[property].pairs.insert(known, answer);
        }
        Some(answer)
    }

    /// The same, without remembering it: for those who ask once for each pair.
    pub(crate) fn of_two_anew(&mut self, property: usize, space: &Space, pair: [At; 2]) -> Option<bool> {
        let Property { mode, condition, .. } = &self.properties[property];
        let Kind::Pairwise(holds) = &condition.kind else { return None };
        let [left, right] = pair.map(|at| subject(space, at, condition));
        let (left, right) = (left?, right?);
        Some(self.ask(property, || of_pair(holds, *mode, left, right)))
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
            Ok(answer) => *memory.combinations.entry(keys.to_vec()).or_insert(answer),
            Err(why) => self.panicked(property, why),
        }
    }
}

/// Whether any handler has panicked on the way to a state.
pub(crate) fn failed(space: &Space, state: &[u32], changed: Option<usize>) -> bool {
    let is = |actor: usize| space.facts(actor, state[actor]).health == Health::Failed;
    changed.map_or_else(|| (0..space.actors()).any(is), is)
}
