//! Random conditions, twice: as the crate is given them, and as they are documented.

use simurgh_protocol::{
    ActorId, Condition, Mode, States, World, agree, global, history, local, pairwise, projected, world,
};

use crate::brute::State;
use crate::protocol::{Number, One, Protocol, Random, Two, mix};

/// What a condition says: any function of what it sees, by a hash.
#[derive(Clone, Copy, Debug)]
pub struct Any {
    seed: u64,
    /// It is false for about one in so many, or true if `rarely`.
    of: u64,
    rarely: bool,
}

impl Any {
    fn random(random: &mut Random) -> Self {
        Self { seed: random.word(), of: 2 + random.below(5) as u64, rarely: random.chance(2) }
    }

    fn says(self, seen: impl IntoIterator<Item = u64>) -> bool {
        let word = seen.into_iter().fold(mix(self.seed), |word, one| mix(word ^ one.wrapping_add(1)));
        (word % self.of == 0) == self.rarely
    }
}

#[derive(Clone, Copy, Debug)]
pub enum Kind {
    Local,
    Pairwise,
    /// What is kept: the state, of those that are at least so much.
    Agree(u8),
    /// What is kept: the state modulo something, of those that are at least so much.
    Projected(u8, u8),
    Global,
    /// As `Global`, but who is who does not matter.
    Count,
    World,
    History,
}

#[derive(Clone, Debug)]
pub struct Property {
    pub name: String,
    pub mode: Mode,
    pub kind: Kind,
    pub any: Any,
    /// It is about states of the other type.
    pub of_other: bool,
}

fn key(state: u8, least: u8, modulo: u8) -> Option<u64> {
    (state >= least).then_some(u64::from(state % modulo))
}

fn packed(states: impl IntoIterator<Item = Option<u8>>) -> Vec<u64> {
    states.into_iter().map(|state| state.map_or(0, |state| u64::from(state) + 1)).collect()
}

/// What a condition on everything sees of messages: how many of each there are.
fn letters(messages: impl IntoIterator<Item = (u32, u32, u8)>) -> Vec<u64> {
    let mut all: Vec<u64> = messages
        .into_iter()
        .map(|(from, to, msg)| 100 + u64::from(from) * 100 + u64::from(to) * 10 + u64::from(msg))
        .collect();
    all.sort_unstable();
    all
}

/// All states that somebody sees, whatever their type.
fn seen(states: &States<'_>) -> Vec<Option<u8>> {
    (0..states.len())
        .map(ActorId::from)
        .map(|actor| {
            let one = states.get::<One>(actor).map(One::number);
            one.or_else(|| states.get::<Two>(actor).map(Two::number))
        })
        .collect()
}

impl Property {
    pub fn random(random: &mut Random, protocol: &Protocol, at: usize) -> Self {
        let mode = match random.below(5) {
            0 | 1 => Mode::Always,
            2 => Mode::Sometimes,
            3 => Mode::Eventually,
            _ if random.chance(2) => Mode::Always,
            _ => Mode::Sometimes,
        };
        let kind = match random.below(12) {
            0 => Kind::Local,
            1 => Kind::Pairwise,
            2 => Kind::Agree(random.below(3) as u8),
            3..=6 => Kind::Projected(random.below(2) as u8, 1 + random.below(3) as u8),
            7 => Kind::Global,
            8 | 9 => Kind::Count,
            10 => Kind::World,
            _ if protocol.history.is_some() => Kind::History,
            _ => Kind::Local,
        };
        let mut any = Any::random(random);
        // Otherwise nearly everything is violated at the start.
        any.rarely = if random.chance(5) { any.rarely } else { mode != Mode::Always };
        any.of += if mode == Mode::Always { random.below(12) as u64 } else { 0 };
        Self { name: format!("property {at}"), mode, kind, any, of_other: random.chance(4) }
    }

    /// As the crate is given it.
    pub fn condition(&self) -> Condition<u8> {
        if self.of_other { self.about::<Two>() } else { self.about::<One>() }
    }

    fn about<S: Number>(&self) -> Condition<u8> {
        let any = self.any;
        match self.kind {
            Kind::Local => local(move |state: &S| any.says([u64::from(state.number())])),
            Kind::Pairwise => pairwise(move |one: &S, other: &S| {
                any.says([u64::from(one.number()), u64::from(other.number())])
            }),
            Kind::Agree(least) => agree(move |state: &S| key(state.number(), least, u8::MAX)),
            Kind::Projected(least, modulo) => projected(
                move |state: &S| key(state.number(), least, modulo),
                move |keys: &[&u64]| any.says(keys.iter().map(|key| **key)),
            ),
            Kind::Global => global(move |states: &States<'_>| any.says(packed(seen(states)))),
            Kind::Count => global(move |states: &States<'_>| {
                let mut states = packed(seen(states));
                states.sort_unstable();
                any.says(states)
            }),
            Kind::World => world(move |world: &World<'_, u8>| {
                any.says(letters(world.messages().map(|(from, to, msg)| (from.0, to.0, *msg))))
            }),
            Kind::History => history(move |told: &u8| any.says([u64::from(*told)])),
        }
    }

    /// As it is documented: what is said of one state, each two, all of them.
    fn answers(&self, protocol: &Protocol, state: &State) -> Vec<bool> {
        let all = state.states();
        let of_kind: Vec<u8> = all
            .iter()
            .zip(&protocol.tables)
            .filter(|(_, table)| table.is_other == self.of_other)
            .filter_map(|(state, _)| *state)
            .collect();
        let pair = |one: u8, other: u8| self.any.says([u64::from(one), u64::from(other)]);
        match self.kind {
            Kind::Local => of_kind.iter().map(|state| self.any.says([u64::from(*state)])).collect(),
            Kind::Pairwise => {
                // Each two in both orders, each an answer of its own.
                let places =
                    (0..of_kind.len()).flat_map(|one| (0..of_kind.len()).map(move |other| (one, other)));
                let two = places.filter(|(one, other)| one != other);
                two.map(|(one, other)| pair(of_kind[one], of_kind[other])).collect()
            }
            Kind::Agree(least) => {
                let keys: Vec<u8> = of_kind.into_iter().filter(|state| *state >= least).collect();
                vec![keys.iter().all(|one| keys.iter().all(|other| one == other))]
            }
            Kind::Projected(least, modulo) => {
                vec![self.any.says(of_kind.iter().filter_map(|state| key(*state, least, modulo)))]
            }
            Kind::Global => vec![self.any.says(packed(all))],
            Kind::Count => {
                let mut states = packed(all);
                states.sort_unstable();
                vec![self.any.says(states)]
            }
            Kind::World => vec![self.any.says(letters(state.flying.iter().copied()))],
            Kind::History => vec![self.any.says([u64::from(state.history)])],
        }
    }

    /// Whether a state violates an `always`, or is what a `sometimes` or an `eventually` asks for.
    pub fn is_decided_by(&self, protocol: &Protocol, state: &State) -> bool {
        let answers = self.answers(protocol, state);
        match self.mode {
            Mode::Always => answers.contains(&false),
            Mode::Sometimes => answers.contains(&true),
            Mode::Eventually => !answers.contains(&false) && !self.misses_somebody(protocol, state),
        }
    }

    /// Whether one of those that it is about is down: it does not become true by that.
    fn misses_somebody(&self, protocol: &Protocol, state: &State) -> bool {
        let is_of_kind =
            matches!(self.kind, Kind::Local | Kind::Pairwise | Kind::Agree(_) | Kind::Projected(..));
        let mut all = state.states().into_iter().zip(&protocol.tables);
        is_of_kind && all.any(|(state, table)| table.is_other == self.of_other && state.is_none())
    }

    /// Whether local search can see it.
    pub fn is_local(&self) -> bool {
        self.mode != Mode::Eventually && !matches!(self.kind, Kind::World | Kind::History)
    }

    /// Whether it may tell actors apart.
    pub fn names_actors(&self) -> bool {
        matches!(self.kind, Kind::Global | Kind::World | Kind::Projected(..))
    }
}

/// A boundary: which states of all actors are within.
#[derive(Clone, Copy, Debug)]
pub struct Boundary {
    any: Any,
    counts: bool,
}

impl Boundary {
    pub fn random(random: &mut Random) -> Self {
        let any = Any { seed: random.word(), of: 3 + random.below(8) as u64, rarely: false };
        Self { any, counts: random.chance(2) }
    }

    fn says(self, all: Vec<Option<u8>>) -> bool {
        let mut states = packed(all);
        if self.counts {
            states.sort_unstable();
        }
        self.any.says(states)
    }

    pub fn sees(self, states: &States<'_>) -> bool {
        self.says(seen(states))
    }

    pub fn is_within(self, state: &State) -> bool {
        self.says(state.states())
    }

    pub fn names_actors(self) -> bool {
        !self.counts
    }
}
