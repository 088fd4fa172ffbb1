//! The local states of each actor, explored by themselves (seed: local model checking, figure 9, lines 1 to 14).
//!
//! There is one network for all, and it only grows: what was ever sent can be received in every local state of its receiver. Three kinds of
//! knowledge keep out what can never happen: **histories**, in place of the paper's shortcut (its 4.2), by which a message that was sent
//! at most once on any way of its sender is not received in a state that has received it on all known ways; `coexistence`; and
//! `causal_history`. The numbers of states and messages in this file are with their causal histories; those of the [`Space`] are plain.

use std::collections::VecDeque;

use simurgh_search::space::Seen as Progress;

use crate::local::Options;
use crate::local::bits::Bits;
use crate::local::causal_history::{CausalHistory, Causes};
use crate::node::Health;
use crate::session::Session;
use crate::space::{CRASH, Lookup, RECOVER, Space, TIMEOUT};

/// A step of one actor from local state to local state, in plain numbers: a predecessor pointer of the paper, seen
/// from its source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge<Does = u32> {
    pub(crate) node: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) event: u32,
    /// Which reaction it is; with causal histories, which messages it sends.
    pub(crate) does: Does,
}

/// The same with causal histories.
pub(super) type HistoryEdge = Edge<(u32, u32)>;

/// A local state or a message: its plain number and its causal history.
type WithHistory = (u32, CausalHistory);

/// What is known of the local states of one actor.
#[derive(Default)]
pub(super) struct Local {
    states: Vec<WithHistory>,
    numbers: Lookup<WithHistory, u32>,
    /// The plain states that are there.
    plain: Bits,
    depth: Vec<u32>,
    pub(super) out: Vec<Vec<u32>>,
    /// For each state, the messages that were received on all ways to it.
    received: Vec<Bits>,
    /// For each state, the messages that may have been sent when it is there; without coexistence, only its own ones.
    pub(super) sent: Vec<Bits>,
    /// For each other actor and each state: with which states of the other it may coexist.
    pub(super) coexistence: Vec<Vec<Bits>>,
    /// The states of which more is known than when their ways were last followed.
    pub(super) dirty: Bits,
}

/// What is known of a message.
#[derive(Default)]
pub(super) struct Message {
    itself: WithHistory,
    /// Its sender and its receiver.
    pub(super) from: u32,
    pub(super) to: u32,
    /// In which states of each actor it may have been sent.
    pub(super) with: Vec<Bits>,
    /// In which states of its receiver it has been received.
    done: Bits,
    /// It may be sent more than once on one way.
    pub(super) repeated: bool,
    /// The ways by which it is received.
    pub(super) ways: Vec<u32>,
    /// Which messages may have been sent together with it.
    pub(super) along: Bits,
    /// More is known of it than when its ways were last followed.
    pub(super) is_dirty: bool,
}

#[derive(Default)]
pub(crate) struct Graph {
    pub(super) nodes: Vec<Local>,
    /// All steps, in plain numbers.
    pub(crate) edges: Vec<Edge>,
    known_edges: Lookup<(u32, u32, u32), ()>,
    pub(super) ways: Vec<HistoryEdge>,
    pub(super) sends: Vec<u32>,
    pub(super) messages: Vec<Message>,
    message_numbers: Lookup<WithHistory, u32>,
    /// Which knowledge is used.
    pub(super) options: Options,
    pub(super) causes: Causes,
    /// What is to be executed: actor, state, event.
    todo: VecDeque<(u32, u32, u32)>,
    /// The messages of which more is known than when their ways were last followed.
    pub(super) dirty_messages: Vec<u32>,
    /// The states, with their actors, of which it is no longer certain that they have received something.
    forgetful: Vec<(u32, u32)>,
    /// Without coexistence, the messages that have not been considered in all states that there were before.
    pub(super) unconsidered: Vec<u32>,
    /// The states, with their actors, whose ways are about to be followed again.
    again: VecDeque<(u32, u32)>,
    pub(super) scratch: Vec<u32>,
    /// How many local states there are.
    pub(crate) states: usize,
    depth: u32,
    /// Handlers that were run and had an effect.
    pub(crate) transitions: u64,
    /// Coexistence was given up.
    pub(crate) crowded: bool,
    depth_max: usize,
    /// How many steps there were when it was last asked whether something is wrong.
    pub(crate) asked_at: usize,
    /// Something deeper than this was not explored.
    pub(crate) cut_at: Option<usize>,
}

impl Graph {
    pub(crate) fn new(session: &Session<'_>, options: &Options, causal_histories: bool) -> Self {
        let Session { space, starts, .. } = session;
        let actors = space.actors();
        let local = || Local { coexistence: vec![Vec::new(); actors], ..Local::default() };
        let flying = starts.iter().flat_map(|start| start[space.header()..].iter().copied());
        let mut graph = Self {
            nodes: (0..actors).map(|_| local()).collect(),
            options: options.clone(),
            causes: if causal_histories { Causes::new(actors, flying) } else { Causes::default() },
            depth_max: session.limits.depth_max,
            ..Self::default()
        };
        starts.iter().for_each(|start| graph.begin(space, start));
        graph
    }

    fn begin(&mut self, space: &Space, start: &[u32]) {
        let actors = space.actors() as u32;
        let states: Vec<u32> = (0..actors)
            .map(|actor| self.enter(space, actor, (start[actor as usize], 0), 0, Bits::default()))
            .collect();
        for right in 0..actors {
            (0..right).for_each(|left| self.meet(left, states[left as usize], right, states[right as usize]));
        }
        let flying: Vec<u32> = start[space.header()..]
            .iter()
            .map(|envelope| self.message(space, (*envelope, self.causes.of_start(*envelope))))
            .collect();
        for (at, &message) in flying.iter().enumerate() {
            for actor in 0..actors {
                self.sent_with(message, actor, states[actor as usize]);
            }
            for &other in &flying[..at] {
                self.sent_along(message, other);
            }
            if flying[..at].contains(&message) {
                self.repeat(message);
            }
        }
    }

    /// Executes what is to be executed, about so many events; whether there is nothing left.
    pub(crate) fn explore(&mut self, space: &mut Space, events_max: usize) -> bool {
        for _ in 0..events_max {
            if let Some((actor, state)) = self.again.pop_front() {
                for at in 0..self.nodes[actor as usize].out[state as usize].len() {
                    self.follow(self.nodes[actor as usize].out[state as usize][at], false);
                }
            } else if let Some((actor, state, event)) = self.todo.pop_front() {
                self.execute(space, actor, state, event);
            } else if let Some((actor, state)) = self.forgetful.pop() {
                for at in 0..self.nodes[actor as usize].out[state as usize].len() {
                    let way = self.nodes[actor as usize].out[state as usize][at];
                    let to = self.ways[way as usize].to;
                    self.remember(space, way, self.nodes[actor as usize].states[to as usize]);
                }
            } else if let Some(message) = self.unconsidered.pop() {
                self.consider_everywhere(message);
            } else if !self.gather() {
                return true;
            }
        }
        false
    }

    fn execute(&mut self, space: &mut Space, actor: u32, state: u32, event: u32) {
        let local = &self.nodes[actor as usize];
        if local.depth[state as usize] as usize >= self.depth_max {
            self.cut_at = Some(self.depth_max);
            return;
        }
        let (plain, causal_history) = local.states[state as usize];
        let (plain_event, comes) = match self.messages.get(event as usize).filter(|_| event < TIMEOUT) {
            Some(message) => message.itself,
            None => (event, self.causes.of_local_event(actor)),
        };
        let reactions = space.react(actor, plain, plain_event).effective();
        self.transitions += u64::from(!reactions.is_empty());
        let is_new =
            !reactions.is_empty() && self.known_edges.insert((actor, plain, plain_event), ()).is_none();
        for reaction in reactions {
            let to = space.reaction(reaction).local;
            if is_new {
                self.edges.push(Edge { node: actor, from: plain, to, event: plain_event, does: reaction });
            }
            let first_send = self.sends.len() as u32;
            // What only takes a message out of a queue is not part of what led to a state.
            let has_effect = to != plain || !space.sends(space.reaction(reaction)).is_empty();
            let causal_history = if has_effect { causal_history | comes } else { causal_history };
            for &envelope in space.sends(space.reaction(reaction)) {
                let message = self.message(space, (envelope, causal_history));
                self.sends.push(message);
            }
            let way = self.ways.len() as u32;
            self.nodes[actor as usize].out[state as usize].push(way);
            if event < TIMEOUT {
                self.messages[event as usize].ways.push(way);
            }
            let does = (first_send, self.sends.len() as u32);
            self.ways.push(Edge { node: actor, from: state, to: 0, event, does });
            let to = self.remember(space, way, (to, causal_history));
            self.ways[way as usize].to = to;
            self.follow(way, true);
        }
    }

    /// Collects the states of which more is known than before, so that their ways are followed again; whether there are
    /// any. This waits until there is nothing to execute, so that conclusions are drawn from much at a time.
    fn gather(&mut self) -> bool {
        for message in std::mem::take(&mut self.dirty_messages) {
            self.messages[message as usize].is_dirty = false;
            for at in 0..self.messages[message as usize].ways.len() {
                let way = self.ways[self.messages[message as usize].ways[at] as usize];
                self.nodes[way.node as usize].dirty.set(way.from);
            }
        }
        for actor in 0..self.nodes.len() {
            let dirty = std::mem::take(&mut self.nodes[actor].dirty);
            self.again.extend(dirty.iter().map(|state| (actor as u32, state)));
        }
        !self.again.is_empty()
    }

    /// Notes what has been received on all ways to the target of one, and enters it if it is new.
    fn remember(&mut self, space: &Space, way: u32, to: WithHistory) -> u32 {
        let Edge { node, from, event, .. } = self.ways[way as usize];
        let local = &mut self.nodes[node as usize];
        let mut received = local.received[from as usize].clone();
        if event < TIMEOUT {
            received.set(event);
        }
        let depth = local.depth[from as usize] + 1;
        let Some(&known) = local.numbers.get(&to) else {
            return self.enter(space, node, to, depth, received);
        };
        let mut fewer = Vec::new();
        local.received[known as usize].intersect(&received, |message| fewer.push(message));
        if !fewer.is_empty() {
            self.forgetful.push((node, known));
        }
        fewer.into_iter().for_each(|message| self.consider(message, known));
        known
    }

    /// A local state is there; gives its number.
    fn enter(&mut self, space: &Space, actor: u32, itself: WithHistory, depth: u32, received: Bits) -> u32 {
        let local = &mut self.nodes[actor as usize];
        if let Some(&known) = local.numbers.get(&itself) {
            return known;
        }
        let (state, plain) = (local.states.len() as u32, itself.0);
        local.numbers.insert(itself, state);
        local.states.push(itself);
        local.plain.set(plain);
        local.out.push(Vec::new());
        local.depth.push(depth);
        local.received.push(received);
        local.sent.push(Bits::default());
        local.coexistence.iter_mut().for_each(|coexistence| coexistence.push(Bits::default()));
        self.depth = self.depth.max(depth);
        self.states += 1;
        if self.knows_coexistence() && self.states > self.options.coexistence_states_max {
            self.give_up_company();
        }
        let facts = space.facts(actor as usize, plain);
        self.todo.extend((0..facts.timers).map(|timer| (actor, state, TIMEOUT + timer)));
        match facts.health {
            Health::Up if space.crashes_max > 0 => self.todo.push_back((actor, state, CRASH)),
            Health::Down => self.todo.push_back((actor, state, RECOVER)),
            _ => {}
        }
        if !self.knows_coexistence() {
            for message in 0..self.messages.len() as u32 {
                if self.messages[message as usize].to == actor {
                    self.consider(message, state);
                }
            }
        }
        state
    }

    /// The number of a message with its causal history.
    fn message(&mut self, space: &Space, itself: WithHistory) -> u32 {
        if let Some(&known) = self.message_numbers.get(&itself) {
            return known;
        }
        let number = self.messages.len() as u32;
        let envelope = space.envelopes.get(itself.0);
        self.message_numbers.insert(itself, number);
        self.messages.push(Message {
            itself,
            from: envelope.from,
            to: envelope.to,
            with: vec![Bits::default(); self.nodes.len()],
            along: [number].into_iter().collect(),
            ..Message::default()
        });
        if !self.knows_coexistence() {
            self.consider_everywhere(number);
        }
        number
    }

    pub(super) fn consider_everywhere(&mut self, message: u32) {
        let to = self.messages[message as usize].to as usize;
        (0..self.count(to)).for_each(|state| self.consider(message, state));
    }

    /// Lets a message be received in a state, if that may be.
    pub(super) fn consider(&mut self, message: u32, state: u32) {
        let knows_coexistence = self.knows_coexistence();
        let known = &mut self.messages[message as usize];
        let may_be_there = !knows_coexistence || known.with[known.to as usize].get(state);
        let was_received = self.options.histories
            && !known.repeated
            && self.nodes[known.to as usize].received[state as usize].get(message);
        if may_be_there && !was_received && known.done.set(state) {
            self.todo.push_back((known.to, state, message));
        }
    }

    pub(crate) fn actors(&self) -> usize {
        self.nodes.len()
    }

    /// The local states of an actor, in plain numbers.
    pub(crate) fn seen(&self, actor: usize) -> &Bits {
        &self.nodes[actor].plain
    }

    /// How many local states an actor has, told apart by their causal histories if that is done.
    pub(crate) fn count(&self, actor: usize) -> u32 {
        self.nodes[actor].states.len() as u32
    }

    /// The plain number of a local state.
    pub(crate) fn plain(&self, actor: usize, state: u32) -> u32 {
        self.nodes[actor].states[state as usize].0
    }

    pub(crate) fn progress(&self) -> Progress {
        Progress { states: self.states, transitions: self.transitions, depth: self.depth as usize }
    }
}
