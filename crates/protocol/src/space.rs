//! A state space made of numbers: what is known of the local states, the messages, and what handlers make of them.
//!
//! A global state is a short list of numbers: a local state for each actor, the history if there is one, and the
//! messages on their way. A handler runs once for each local state and event, however many global states contain
//! them; after that, a step is a lookup.

use std::any::Any;
use std::sync::Arc;

use hashbrown::HashMap;
use simurgh_search::session::repeats;
use simurgh_watchdog::{Code, Trait, quietly, treating};

use crate::hash::fingerprint;
use crate::history::Recorder;
use crate::ids::ActorId;
use crate::intern::{Interner, Permutations};
use crate::message::Message;
use crate::model::Model;
use crate::network::{Envelope, Network};
use crate::node::{AnyLocal, Event, Health, Node, Outcome};

/// A map for lookups only: it is never iterated.
pub(crate) type Lookup<K, V> = HashMap<K, V, foldhash::fast::FixedState>;

/// What happens to a node, as a number: the envelope that arrives, or one of the following.
pub(crate) const TIMEOUT: u32 = 0x8000_0000;
pub(crate) const CRASH: u32 = u32::MAX - 1;
pub(crate) const RECOVER: u32 = u32::MAX;

/// So many handlers run twice, to see whether they do the same.
const TWICE: u64 = 1000;

/// Asks code of a user, and the same once more where it was asked seldom until now: the answer, and whether it stayed the same; or what
/// it said when it panicked.
pub(crate) fn steadily<T: PartialEq>(
    code: Code,
    asked: u64,
    mut ask: impl FnMut() -> T,
) -> Result<(T, bool), String> {
    quietly(code, || {
        let answer = ask();
        let is_steady = (0..repeats(asked)).all(|_| ask() == answer);
        (answer, is_steady)
    })
}

/// Code that did something else when the same happened once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unsteady {
    /// The handlers of an actor.
    Actor(u32),
    /// A condition, the boundary or the history.
    Code(Code),
}

/// Whether a handler did the same twice; in which order it sent matters only where messages keep their order.
fn alike(first: &[Outcome], again: &[Outcome], in_order: bool) -> bool {
    let sent = |outcome: &Outcome| {
        let hash =
            |(at, sent): (usize, &(ActorId, Message))| fingerprint(&(if in_order { at } else { 0 }, sent));
        outcome.sends.iter().enumerate().map(hash).fold(0, u128::wrapping_add)
    };
    let same =
        |(a, b): (&Outcome, &Outcome)| a.local == b.local && a.choices == b.choices && sent(a) == sent(b);
    first.len() == again.len() && first.iter().zip(again).all(same)
}

/// What a handler leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reaction {
    pub(crate) local: u32,
    sends: (u32, u32),
    /// The sum of the fingerprints of what is sent.
    pub(crate) sent_hash: u128,
    /// It has no effect: a message counts as not received by it.
    pub(crate) is_quiet: bool,
    /// The handler panicked: no history is told of it.
    is_failed: bool,
}

/// The reactions to one event in one local state, by their numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reactions {
    first: u32,
    /// One behind the last that has an effect, with [`QUIET`] if there is one without.
    end: u32,
}

/// The mark of reactions of which one has no effect.
const QUIET: u32 = 0x8000_0000;

impl Reactions {
    /// Those that change the actor, or send something, or take a message out of a queue.
    pub(crate) fn effective(self) -> std::ops::Range<u32> {
        self.first..self.end & !QUIET
    }

    /// One without any effect on the actor and without anything sent, if there is one; others are the same.
    pub(crate) fn quiet(self) -> Option<u32> {
        (self.end & QUIET != 0).then_some(self.end & !QUIET)
    }
}

/// What is known of a local state without asking its node.
#[derive(Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) timers: u32,
    pub(crate) health: Health,
}

/// A step as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Move {
    /// An event at an actor, and which reaction to it.
    Event { actor: u32, event: u32, reaction: u32 },
    /// The loss of a message.
    Loss {
        envelope: u32,
        /// How many equal messages before it in its queue stay.
        after: u32,
    },
}

impl Move {
    /// Which actor is changed by it, if any is.
    pub(crate) fn actor(self) -> Option<usize> {
        match self {
            Self::Event { actor, .. } => Some(actor as usize),
            Self::Loss { .. } => None,
        }
    }
}

/// Something that is not known yet: handlers have to run before a state can be expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unknown {
    Handler { actor: u32, local: u32, event: u32 },
    Record { history: u32, envelope: u32, received: bool },
}

/// What is known of the state space of a system.
pub(crate) struct Space {
    pub(crate) network: Network,
    pub(crate) lossy: bool,
    pub(crate) crashes_max: usize,
    pub(crate) nodes: Vec<Box<dyn Node>>,
    facts: Vec<Vec<Facts>>,
    msgs: Interner<Message>,
    pub(crate) envelopes: Interner<Envelope>,
    /// For each envelope, whether the history is told of it.
    pub(crate) concerns: Vec<bool>,
    pub(crate) permutations: Permutations,
    reactions: Vec<Reaction>,
    choices: Lookup<u32, Vec<usize>>,
    sends: Vec<u32>,
    /// The same at the same places, but each reaction in the order of sending, if there is a history to be told.
    sends_in_order: Vec<u32>,
    known: Vec<Lookup<u64, Reactions>>,
    /// What is known, in the order in which it was learned: for each actor, local states and events.
    pub(crate) reacted: Vec<Vec<(u32, u32)>>,
    recorder: Option<Box<dyn Recorder>>,
    records: Lookup<(u32, u32, bool), u32>,
    /// What the code of a user said that panicked while a history was kept, if any did.
    pub(crate) broken: Option<String>,
    /// What did something else when the same happened once more.
    pub(crate) unsteady: Option<Unsteady>,
    /// How many handlers were run.
    pub(crate) handlers: u64,
}

/// Values of a user may do anything when they are dropped.
impl Drop for Space {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            treating(Trait::Drop, || {
                self.nodes.clear();
                self.msgs.values.clear();
                self.recorder = None;
            });
        }
    }
}

/// What the reactions to an event in a local state are known by.
fn key(local: u32, event: u32) -> u64 {
    (u64::from(local) << 32) | u64::from(event)
}

impl Space {
    /// An empty space, and the states that the system can start in.
    pub(crate) fn new(system: &Model) -> (Self, Vec<Vec<u32>>) {
        let permutations = system.permutations();
        let count = system.kinds.len();
        let node = |at: usize| system.kinds[at].node(ActorId::from(at), count, Arc::clone(&permutations));
        let mut space = Self {
            network: system.network,
            lossy: system.lossy,
            crashes_max: system.crashes_max,
            nodes: (0..count).map(node).collect(),
            facts: vec![Vec::new(); count],
            known: vec![Lookup::default(); count],
            reacted: vec![Vec::new(); count],
            msgs: Interner::new(Arc::default()),
            envelopes: Interner::new(Arc::clone(&permutations)),
            concerns: Vec::new(),
            recorder: system.recorder.as_ref().map(|make| make(Arc::clone(&permutations))),
            permutations,
            reactions: Vec::new(),
            choices: Lookup::default(),
            sends: Vec::new(),
            sends_in_order: Vec::new(),
            records: Lookup::default(),
            broken: None,
            unsteady: None,
            handlers: 0,
        };
        let starts = space.starts(system);
        (space, starts)
    }

    fn starts(&mut self, system: &Model) -> Vec<Vec<u32>> {
        // (local states so far, history, messages in the order of being sent)
        let mut starts: Vec<(Vec<u32>, u32, Vec<u32>)> = vec![(Vec::new(), 0, Vec::new())];
        for (from, to, msg) in &system.flying {
            let envelope = self.envelope(*from, *to, msg.clone());
            starts[0].2.push(envelope);
        }
        for actor in 0..self.nodes.len() {
            let outcomes = self.nodes[actor].start();
            self.handlers += outcomes.len() as u64;
            self.note_facts(actor);
            let mut next = Vec::new();
            for outcome in outcomes {
                let sent = outcome.sends.into_iter();
                let sent = sent.map(|(to, msg)| self.envelope(ActorId::from(actor), to, msg));
                let sent: Vec<u32> = sent.collect();
                for (locals, history, flying) in &starts {
                    let record = |history, sent: &u32| self.record(history, *sent, false);
                    let history = sent.iter().fold(*history, record);
                    let locals = [&locals[..], &[outcome.local]].concat();
                    next.push((locals, history, [&flying[..], &sent].concat()));
                }
            }
            starts = next;
        }
        starts
            .into_iter()
            .map(|(mut state, history, mut flying)| {
                if self.recorder.is_some() {
                    state.push(history);
                }
                if self.network != Network::Ordered {
                    flying.sort_unstable();
                }
                self.network.after(&[], None, &flying, &self.envelopes.values, &mut state);
                state
            })
            .collect()
    }

    fn note_facts(&mut self, actor: usize) {
        let (node, known) = (&self.nodes[actor], &mut self.facts[actor]);
        for local in known.len()..node.len() {
            let local = node.local(local as u32);
            known.push(Facts { timers: local.timers() as u32, health: local.health() });
        }
    }

    fn envelope(&mut self, from: ActorId, to: ActorId, msg: Message) -> u32 {
        let number = self.msgs.intern(msg, |_| 0);
        let (envelope, msg) = (Envelope { from: from.0, to: to.0, msg: number }, self.msgs.get(number));
        let hash = |_: &Envelope| fingerprint(&(fingerprint(msg), from, to, 'm'));
        let number = self.envelopes.intern(envelope, hash);
        assert!(number < TIMEOUT, "fewer messages than two billion");
        if number as usize == self.concerns.len() {
            let concerns = self
                .recorder
                .as_deref()
                .map(|recorder| steadily(Code::History, u64::from(number), || recorder.concerns(msg)));
            let concerns = concerns.is_some_and(|said| self.heard(said, false));
            self.concerns.push(concerns);
        }
        number
    }

    /// What the history said; if it panicked, or says something else each time, that is noted.
    fn heard<T>(&mut self, said: Result<(T, bool), String>, otherwise: T) -> T {
        let (answer, is_steady) = said.unwrap_or_else(|why| {
            self.broken = Some(why);
            (otherwise, true)
        });
        if !is_steady {
            self.unsteady.get_or_insert(Unsteady::Code(Code::History));
        }
        answer
    }

    /// The history after a message was sent or received.
    fn record(&mut self, history: u32, envelope: u32, received: bool) -> u32 {
        if let Ok(known) = self.recorded(history, envelope, received) {
            return known;
        }
        let Envelope { from, to, msg } = *self.envelopes.get(envelope);
        let recorder = self.recorder.as_mut().expect("messages concern histories only");
        let msg = self.msgs.get(msg);
        let tell = || recorder.record(history, ActorId(from), ActorId(to), msg, received);
        let told = steadily(Code::History, self.records.len() as u64, tell);
        let next = self.heard(told, history);
        self.records.insert((history, envelope, received), next);
        next
    }

    fn recorded(&self, history: u32, envelope: u32, received: bool) -> Result<u32, Unknown> {
        if !self.concerns[envelope as usize] {
            return Ok(history);
        }
        let known = self.records.get(&(history, envelope, received));
        known.copied().ok_or(Unknown::Record { history, envelope, received })
    }

    /// Finds out what was not known, by running the code of the user.
    pub(crate) fn learn(&mut self, unknown: Unknown) {
        match unknown {
            Unknown::Record { history, envelope, received } => _ = self.record(history, envelope, received),
            Unknown::Handler { actor, local, event } => _ = self.react(actor, local, event),
        }
    }

    /// What a handler leads to; it runs if it has not run before. A reaction without any effect has one, if a message has to
    /// leave an ordered network by it.
    pub(crate) fn react(&mut self, actor: u32, local: u32, event: u32) -> Reactions {
        if let Ok(known) = self.reactions_to(actor, local, event) {
            return known;
        }
        let node = &mut self.nodes[actor as usize];
        let happens = || match event {
            CRASH => Event::Crash,
            RECOVER => Event::Recover,
            timeout if timeout >= TIMEOUT => Event::Timeout((timeout - TIMEOUT) as usize),
            envelope => {
                let Envelope { from, msg, .. } = *self.envelopes.get(envelope);
                Event::Deliver(ActorId(from), self.msgs.get(msg))
            }
        };
        let outcomes = node.execute(local, happens());
        let in_order = self.network == Network::Ordered || self.recorder.is_some();
        if self.handlers < TWICE {
            let again = node.execute(local, happens());
            if !treating(Trait::Hash, || alike(&outcomes, &again, in_order)) {
                self.unsteady.get_or_insert(Unsteady::Actor(actor));
            }
            treating(Trait::Drop, || drop(again));
        }
        self.handlers += outcomes.len() as u64;
        self.note_facts(actor as usize);
        let first = self.reactions.len() as u32;
        let up = self.facts[actor as usize][local as usize].health == Health::Up;
        let consumes = self.network == Network::Ordered && event < TIMEOUT && up;
        let mut quiet = None;
        for outcome in outcomes {
            if outcome.local == local && outcome.sends.is_empty() && !consumes {
                quiet = quiet.or(up.then_some(outcome));
            } else {
                self.note_reaction(actor, outcome, false);
            }
        }
        let mut known = Reactions { first, end: self.reactions.len() as u32 };
        assert!(known.end < QUIET, "fewer reactions than two billion");
        if let Some(outcome) = quiet {
            known.end |= QUIET;
            self.note_reaction(actor, outcome, true);
        }
        self.known[actor as usize].insert(key(local, event), known);
        self.reacted[actor as usize].push((local, event));
        known
    }

    fn note_reaction(&mut self, actor: u32, outcome: Outcome, is_quiet: bool) {
        let start = self.sends.len();
        for (to, msg) in outcome.sends {
            let envelope = self.envelope(ActorId(actor), to, msg);
            self.sends.push(envelope);
        }
        if self.recorder.is_some() {
            self.sends_in_order.extend_from_slice(&self.sends[start..]);
        }
        if self.network != Network::Ordered {
            self.sends[start..].sort_unstable();
        }
        let hashes = self.sends[start..].iter().map(|sent| self.envelopes.hash(*sent, 0));
        let sent_hash = hashes.fold(0, u128::wrapping_add);
        if !outcome.choices.is_empty() {
            self.choices.insert(self.reactions.len() as u32, outcome.choices);
        }
        let sends = (start as u32, self.sends.len() as u32);
        let is_failed = self.facts(actor as usize, outcome.local).health == Health::Failed;
        self.reactions.push(Reaction { local: outcome.local, sends, sent_hash, is_quiet, is_failed });
    }

    /// What a handler leads to, if it is known.
    pub(crate) fn reactions_to(&self, actor: u32, local: u32, event: u32) -> Result<Reactions, Unknown> {
        let known = self.known[actor as usize].get(&key(local, event));
        known.copied().ok_or(Unknown::Handler { actor, local, event })
    }

    pub(crate) fn reaction(&self, reaction: u32) -> Reaction {
        self.reactions[reaction as usize]
    }

    pub(crate) fn sends(&self, reaction: Reaction) -> &[u32] {
        &self.sends[reaction.sends.0 as usize..reaction.sends.1 as usize]
    }

    pub(crate) fn choices(&self, reaction: u32) -> &[usize] {
        self.choices.get(&reaction).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn actors(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn local(&self, actor: usize, local: u32) -> &dyn AnyLocal {
        self.nodes[actor].local(local)
    }

    pub(crate) fn facts(&self, actor: usize, local: u32) -> Facts {
        self.facts[actor][local as usize]
    }

    /// Where the messages begin in a global state.
    pub(crate) fn header(&self) -> usize {
        self.nodes.len() + usize::from(self.recorder.is_some())
    }

    pub(crate) fn has_history(&self) -> bool {
        self.recorder.is_some()
    }

    pub(crate) fn history(&self, number: u32) -> &dyn Any {
        self.recorder.as_ref().expect("asked for where there is a history").value(number)
    }

    pub(crate) fn message(&self, envelope: u32) -> (ActorId, ActorId, &Message) {
        let Envelope { from, to, msg } = *self.envelopes.get(envelope);
        (ActorId(from), ActorId(to), self.msgs.get(msg))
    }

    /// The history after a step.
    pub(crate) fn history_after(&self, history: u32, event: u32, reaction: Reaction) -> Result<u32, Unknown> {
        if reaction.is_quiet || reaction.is_failed {
            return Ok(history);
        }
        let received = if event < TIMEOUT { self.recorded(history, event, true)? } else { history };
        let mut sends = self.sends_in_order[reaction.sends.0 as usize..reaction.sends.1 as usize].iter();
        sends.try_fold(received, |history, sent| self.recorded(history, *sent, false))
    }

    pub(crate) fn history_hash(&self, history: u32) -> u128 {
        self.recorder.as_ref().map_or(0, |recorder| recorder.hash(history, 0))
    }

    /// The fingerprint of a global state: with symmetry, the least over all permutations. The least of several begins with
    /// zeros more often than not, and sets of fingerprints find their places by how they begin: so its halves change places.
    pub(crate) fn hash(&self, state: &[u32]) -> u128 {
        let least = (1..self.permutations.len()).map(|permutation| self.hash_under(state, permutation)).min();
        let itself = self.hash_under(state, 0);
        least.map_or(itself, |least| least.min(itself).rotate_left(64))
    }

    /// The fingerprint of a global state with its actors renamed by one of the permutations; the first renames nobody.
    pub(crate) fn hash_under(&self, state: &[u32], permutation: usize) -> u128 {
        let locals = self.nodes.iter().zip(state).map(|(node, local)| node.hash(*local, permutation));
        let mut sum = locals.fold(0, u128::wrapping_add);
        if let Some(recorder) = &self.recorder {
            sum = sum.wrapping_add(recorder.hash(state[self.nodes.len()], permutation));
        }
        let (mut channel, mut place) = (None, 0_u64);
        for &envelope in &state[self.header()..] {
            let hash = self.envelopes.hash(envelope, permutation);
            if self.network != Network::Ordered {
                sum = sum.wrapping_add(hash);
                continue;
            }
            // In an ordered network, the place in the queue counts.
            let here = Some(self.envelopes.get(envelope).channel());
            place = if here == channel { place + 1 } else { 0 };
            channel = here;
            sum = sum.wrapping_add(fingerprint(&(hash, place)));
        }
        sum
    }
}
