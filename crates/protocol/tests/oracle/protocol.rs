//! Random protocols as plain data: tables that the actors of the crate follow, and that the obvious search follows, too.

use std::time::Duration;

use simurgh_protocol::{Actor, ActorId, Durable, Network, Out};

/// A small generator of its own, so that a seed always means the same protocol.
pub struct Random(pub u64);

/// Mixes a number into others: also used for conditions that are any function of what they see.
pub fn mix(mut word: u64) -> u64 {
    word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(self.0) % bound as u64) as usize
    }

    pub fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    pub fn word(&mut self) -> u64 {
        self.below(usize::MAX) as u64
    }
}

pub const MSGS: usize = 3;
pub const TIMERS: usize = 2;

/// To whom something is sent.
#[derive(Clone, Copy, Debug)]
pub enum To {
    Actor(u32),
    /// Whoever sent what is handled; oneself where nothing was received.
    Sender,
    Others,
}

impl To {
    pub fn actors(self, me: u32, sender: u32, count: u32) -> Vec<u32> {
        match self {
            Self::Actor(actor) => vec![actor],
            Self::Sender => vec![sender],
            Self::Others => (0..count).filter(|other| *other != me).collect(),
        }
    }
}

/// One thing that a handler may do.
#[derive(Clone, Debug, Default)]
pub struct Deed {
    pub state: u8,
    pub sends: Vec<(To, u8)>,
    /// Timers that are set, and those that are cancelled.
    pub sets: Vec<u8>,
    pub cancels: Vec<u8>,
    pub panics: bool,
}

/// What a handler may do: one of these.
pub type Rule = Vec<Deed>;

/// What an actor does.
#[derive(Clone, Debug)]
pub struct Table {
    pub start: Rule,
    /// By state and message.
    pub on_msg: Vec<Vec<Rule>>,
    /// By state and timer.
    pub on_timeout: Vec<Vec<Rule>>,
    /// By state: what is on the disk.
    pub stored: Vec<u8>,
    /// By what is on the disk.
    pub recover: Vec<Rule>,
    pub is_durable: bool,
    /// Its state has another type.
    pub is_other: bool,
}

#[derive(Clone, Debug)]
pub struct Protocol {
    pub tables: Vec<Table>,
    pub network: Network,
    pub lossy: bool,
    pub crashes: usize,
    pub flying: Vec<(u32, u32, u8)>,
    pub symmetric: bool,
    pub history: Option<History>,
}

/// A history with a few values.
#[derive(Clone, Debug)]
pub struct History {
    /// Which messages it is told of.
    pub concerns: [bool; MSGS],
    /// By value, message, and whether it was received.
    pub next: [[[u8; 2]; MSGS]; 4],
}

fn deed(random: &mut Random, state: usize, states: usize, actors: usize, symmetric: bool) -> Deed {
    let to = |random: &mut Random| match random.below(if symmetric { 2 } else { 5 }) {
        0 => To::Sender,
        1 => To::Others,
        _ => To::Actor(random.below(actors) as u32),
    };
    let back = random.chance(5);
    let next = if back { random.below(states) } else { (state + random.below(3)).min(states - 1) };
    let moves = next > state;
    let sends = if moves || random.chance(12) { random.below(3).min(1 + random.below(2)) } else { 0 };
    let sends = (0..sends).map(|_| (to(random), random.below(MSGS) as u8)).collect();
    let timers = |random: &mut Random, of: usize| -> Vec<u8> {
        (0..TIMERS as u8).filter(|_| random.chance(of)).collect()
    };
    let (sets, cancels) = (timers(random, 4), timers(random, 6));
    Deed { state: next as u8, sends, sets, cancels, panics: random.chance(250) }
}

fn rule(random: &mut Random, state: usize, states: usize, actors: usize, symmetric: bool) -> Rule {
    if random.chance(3) {
        return vec![Deed { state: state as u8, ..Deed::default() }];
    }
    let deeds = if random.chance(5) { 2 } else { 1 };
    (0..deeds)
        .map(|at| {
            if at == 1 && random.chance(2) {
                return Deed { state: state as u8, ..Deed::default() };
            }
            deed(random, state, states, actors, symmetric)
        })
        .collect()
}

fn table(random: &mut Random, states: usize, actors: usize, symmetric: bool) -> Table {
    let first = random.below(states.min(2));
    let mut start = rule(random, first, states, actors, symmetric);
    for deed in &mut start {
        deed.panics = false;
        if random.chance(2) {
            deed.sets = vec![random.below(TIMERS) as u8];
        }
    }
    Table {
        start,
        on_msg: (0..states)
            .map(|state| (0..MSGS).map(|_| rule(random, state, states, actors, symmetric)).collect())
            .collect(),
        on_timeout: (0..states)
            .map(|state| (0..TIMERS).map(|_| rule(random, state, states, actors, symmetric)).collect())
            .collect(),
        stored: (0..states).map(|state| random.below(state + 1) as u8).collect(),
        recover: (0..states).map(|stored| rule(random, stored, states, actors, symmetric)).collect(),
        is_durable: random.chance(2),
        is_other: random.chance(3),
    }
}

impl Protocol {
    pub fn random(random: &mut Random) -> Self {
        let symmetric = random.chance(6);
        let actors = 2 + random.below(3).min(random.below(4));
        let states = 2 + random.below(3);
        let mut tables: Vec<Table> = (0..actors).map(|_| table(random, states, actors, symmetric)).collect();
        if symmetric {
            let first = tables[0].clone();
            tables.fill(first);
        }
        let network = match random.below(5) {
            0 => Network::Ordered,
            1 => Network::Duplicating,
            _ => Network::Unordered,
        };
        let mut flying = Vec::new();
        if random.chance(4) && !symmetric {
            let message =
                (random.below(actors) as u32, random.below(actors) as u32, random.below(MSGS) as u8);
            flying = vec![message; 1 + random.below(2)];
        }
        let history = random.chance(4).then(|| History {
            concerns: std::array::from_fn(|_| !random.chance(3)),
            next: std::array::from_fn(|_| {
                std::array::from_fn(|_| std::array::from_fn(|_| random.below(4) as u8))
            }),
        });
        let lossy = random.chance(4);
        let crashes = if random.chance(3) { 1 + random.below(2) } else { 0 };
        Self { tables, network, lossy, crashes, flying, symmetric, history }
    }
}

/// States of two kinds.
pub trait Number: Clone + std::fmt::Debug + Eq + std::hash::Hash + Send + Sync + 'static {
    fn of(number: u8) -> Self;
    fn number(&self) -> u8;
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct One(pub u8);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Two(pub u8);

impl Number for One {
    fn of(number: u8) -> Self {
        Self(number)
    }
    fn number(&self) -> u8 {
        self.0
    }
}

impl Number for Two {
    fn of(number: u8) -> Self {
        Self(number)
    }
    fn number(&self) -> u8 {
        self.0
    }
}

/// An actor that follows a table.
pub struct Follower<S> {
    pub table: Table,
    pub actors: u32,
    pub kind: std::marker::PhantomData<fn() -> S>,
}

impl<S: Number> Follower<S> {
    fn follow(&self, rule: &Rule, sender: ActorId, out: &mut Out<Self>) -> S {
        let deed = if rule.len() > 1 { &rule[out.choose(rule.len())] } else { &rule[0] };
        for (to, msg) in &deed.sends {
            out.broadcast(to.actors(out.me().0, sender.0, self.actors).into_iter().map(ActorId), *msg);
        }
        for timer in &deed.sets {
            out.set_timer(*timer, Duration::from_secs(1));
        }
        for timer in &deed.cancels {
            out.cancel_timer(*timer);
        }
        assert!(!deed.panics, "the table says so");
        S::of(deed.state)
    }
}

impl<S: Number> Actor for Follower<S> {
    type Msg = u8;
    type State = S;
    type Timer = u8;

    fn on_start(&self, out: &mut Out<Self>) -> S {
        let me = out.me();
        self.follow(&self.table.start, me, out)
    }

    fn on_msg(&self, state: &mut S, from: ActorId, msg: &u8, out: &mut Out<Self>) {
        let rule = &self.table.on_msg[state.number() as usize][*msg as usize];
        *state = self.follow(rule, from, out);
    }

    fn on_timeout(&self, state: &mut S, timer: &u8, out: &mut Out<Self>) {
        let (rule, me) = (&self.table.on_timeout[state.number() as usize][*timer as usize], out.me());
        *state = self.follow(rule, me, out);
    }
}

impl<S: Number> Durable for Follower<S> {
    type Stored = u8;

    fn stored(&self, state: &S) -> u8 {
        self.table.stored[state.number() as usize]
    }

    fn on_recover(&self, stored: &u8, out: &mut Out<Self>) -> S {
        let me = out.me();
        self.follow(&self.table.recover[*stored as usize], me, out)
    }
}
