//! The local states of each actor, explored by themselves (seed: local model checking, figure 9, lines 1 to 14).
//!
//! There is one network for all, and it only grows: what was ever sent can be received in every local state of its
//! receiver. Two kinds of knowledge keep out much of what can never happen; both only ever leave out what is impossible:
//!
//! - **Histories**, in place of the paper's shortcut (its 4.2): a message that was sent at most once on any way of its sender
//!   is not received in a state that has received it on all known ways. If other ways turn up, it is.
//! - **Company**: which two local states, which local state and sent message, and which two sent messages may be there at the
//!   same time. A
//!   message is received only in a state that may be there after it was sent. The paper knows nothing like it; without
//!   it, a node meets consequences of what it has not done yet, and may count up for ever. It takes memory that is
//!   quadratic in the local states, so it is given up beyond a bound.

use std::collections::VecDeque;

use crate::actor::Data;
use crate::local::bits::Bits;
use crate::node::Health;
use crate::space::{CRASH, RECOVER, Space, TIMEOUT};

/// A step of one actor from local state to local state: a predecessor pointer of the paper, seen from its source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) node: u32,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) event: u32,
    pub(crate) reaction: u32,
}

/// What is known of the local states of one actor.
#[derive(Default)]
struct Local {
    seen: Bits,
    depth: Vec<u32>,
    out: Vec<Vec<u32>>,
    /// For each state, the messages that were received on all ways to it.
    received: Vec<Bits>,
    /// For each state, the messages that may have been sent when it is there; without company, only its own ones.
    sent: Vec<Bits>,
    /// For each other actor and each state: in the company of which states of the other it may be.
    company: Vec<Vec<Bits>>,
    /// The states of which more is known than when their edges were last followed.
    dirty: Bits,
}

/// What is known of a message.
#[derive(Clone, Default)]
struct Message {
    /// In which states of each actor it may have been sent.
    with: Vec<Bits>,
    /// In which states of its receiver it has been received.
    done: Bits,
    /// It may be sent more than once on one way.
    repeated: bool,
    /// The edges by which it is received.
    edges: Vec<u32>,
    /// Which messages may have been sent together with it.
    along: Bits,
    /// More is known of it than when its edges were last followed.
    is_dirty: bool,
}

/// Which knowledge is used; see the module.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Knowledge {
    pub(crate) histories: bool,
    pub(crate) company: bool,
    pub(crate) company_states_max: usize,
}

pub(crate) struct Graph {
    nodes: Vec<Local>,
    pub(crate) edges: Vec<Edge>,
    messages: Vec<Message>,
    knowledge: Knowledge,
    /// What is to be executed: actor, state, event.
    todo: VecDeque<(u32, u32, u32)>,
    /// The messages of which more is known than when their edges were last followed.
    dirty_messages: Vec<u32>,
    /// The states, with their actors, of which it is no longer certain that they have received something.
    forgetful: Vec<(u32, u32)>,
    scratch: Vec<u32>,
    pub(crate) states: usize,
    pub(crate) depth: u32,
    /// Handlers that were run and had an effect.
    pub(crate) transitions: u64,
    /// Company was given up.
    pub(crate) crowded: bool,
    depth_max: usize,
    /// Something deeper than this was not explored.
    pub(crate) cut_at: Option<usize>,
}

impl Graph {
    pub(crate) fn new<M: Data>(
        space: &Space<M>,
        starts: &[Vec<u32>],
        knowledge: Knowledge,
        depth_max: usize,
    ) -> Self {
        let actors = space.actors();
        let local = || Local { company: vec![Vec::new(); actors], ..Local::default() };
        let mut graph = Self {
            nodes: (0..actors).map(|_| local()).collect(),
            edges: Vec::new(),
            messages: Vec::new(),
            knowledge,
            todo: VecDeque::new(),
            dirty_messages: Vec::new(),
            forgetful: Vec::new(),
            scratch: Vec::new(),
            states: 0,
            depth: 0,
            transitions: 0,
            crowded: false,
            depth_max,
            cut_at: None,
        };
        for start in starts {
            for (actor, state) in start[..actors].iter().enumerate() {
                graph.enter(space, actor as u32, *state, 0, Bits::default());
            }
            for left in 0..actors {
                for right in (0..actors).filter(|right| *right != left) {
                    graph.meet(left as u32, start[left], right as u32, start[right]);
                }
            }
            let flying = &start[space.header()..];
            for (at, &message) in flying.iter().enumerate() {
                graph.note_message(space, message);
                for actor in 0..actors as u32 {
                    graph.sent_with(space, message, actor, start[actor as usize]);
                }
                for &other in &flying[..at] {
                    graph.sent_along(message, other);
                }
                if flying[..at].contains(&message) {
                    graph.repeat(space, message);
                }
            }
        }
        graph
    }

    /// Executes what is to be executed, about so many events; whether there is nothing left.
    pub(crate) fn explore<M: Data>(&mut self, space: &mut Space<M>, events_max: usize) -> bool {
        for _ in 0..events_max {
            match self.todo.pop_front() {
                Some((actor, state, event)) => self.execute(space, actor, state, event),
                // Conclusions wait until there is nothing to execute, so that they are drawn from much at a time.
                None if !self.conclude(space) => return true,
                None => {}
            }
        }
        false
    }

    fn execute<M: Data>(&mut self, space: &mut Space<M>, actor: u32, state: u32, event: u32) {
        if self.nodes[actor as usize].depth[state as usize] as usize >= self.depth_max {
            self.cut_at = Some(self.depth_max);
            return;
        }
        let (first, end) = space.react(actor, state, event);
        self.transitions += u64::from(end > first);
        for reaction in first..end {
            let edge = self.edges.len() as u32;
            let to = space.reaction(reaction).local;
            self.edges.push(Edge { node: actor, from: state, to, event, reaction });
            self.nodes[actor as usize].out[state as usize].push(edge);
            if event < TIMEOUT {
                self.messages[event as usize].edges.push(edge);
            }
            for &sent in space.sends(space.reaction(reaction)) {
                self.note_message(space, sent);
            }
            self.remember(space, edge);
            self.follow(space, edge, true);
        }
    }

    /// Follows the edges of all states of which more is known than before; whether there were any.
    fn conclude<M: Data>(&mut self, space: &Space<M>) -> bool {
        let mut any = false;
        while let Some((actor, state)) = self.forgetful.pop() {
            any = true;
            for at in 0..self.nodes[actor as usize].out[state as usize].len() {
                let edge = self.nodes[actor as usize].out[state as usize][at];
                self.remember(space, edge);
            }
        }
        for message in std::mem::take(&mut self.dirty_messages) {
            self.messages[message as usize].is_dirty = false;
            for at in 0..self.messages[message as usize].edges.len() {
                let Edge { node, from, .. } = self.edges[self.messages[message as usize].edges[at] as usize];
                self.nodes[node as usize].dirty.set(from);
            }
        }
        for actor in 0..self.nodes.len() {
            for state in std::mem::take(&mut self.nodes[actor].dirty).iter() {
                any = true;
                for at in 0..self.nodes[actor].out[state as usize].len() {
                    let edge = self.nodes[actor].out[state as usize][at];
                    self.follow(space, edge, false);
                }
            }
        }
        any
    }

    /// Notes what has been received on all ways to the target of an edge, and enters it if it is new.
    fn remember<M: Data>(&mut self, space: &Space<M>, edge: u32) {
        let Edge { node, from, to, event, .. } = self.edges[edge as usize];
        let at = node as usize;
        let mut received = self.nodes[at].received[from as usize].clone();
        if event < TIMEOUT {
            received.set(event);
        }
        let depth = self.nodes[at].depth[from as usize] + 1;
        if self.nodes[at].seen.get(to) {
            let mut fewer = Vec::new();
            self.nodes[at].received[to as usize].intersect(&received, |message| fewer.push(message));
            if !fewer.is_empty() {
                self.forgetful.push((node, to));
            }
            for message in fewer {
                self.consider(space, message, to);
            }
        } else {
            self.enter(space, node, to, depth, received);
        }
    }

    /// Draws all conclusions from an edge: who is in the company of its target, and what has been sent there.
    fn follow<M: Data>(&mut self, space: &Space<M>, edge: u32, is_new: bool) {
        let Edge { node, from, to, event, reaction } = self.edges[edge as usize];
        let (at, actors) = (node as usize, self.nodes.len());
        let sends = space.sends(space.reaction(reaction));
        let mut news = std::mem::take(&mut self.scratch);
        // What had been sent before has been sent after, unless it is never sent along with what is received.
        let along = (self.has_company() && event < TIMEOUT).then(|| &self.messages[event as usize].along);
        let before = &self.nodes[at].sent[from as usize];
        before.news(along, &self.nodes[at].sent[to as usize], &mut news);
        for &message in &news {
            self.sent_with(space, message, node, to);
        }
        for (place, &message) in sends.iter().enumerate() {
            if self.nodes[at].sent[from as usize].get(message)
                && (is_new || from != to || self.can_repeat(edge))
                || sends[..place].contains(&message)
            {
                self.repeat(space, message);
            }
            self.sent_with(space, message, node, to);
            if self.has_company() {
                let along = (event < TIMEOUT).then(|| &self.messages[event as usize].along);
                let before = &self.nodes[at].sent[from as usize];
                before.news(along, &self.messages[message as usize].along, &mut news);
                for &other in &news {
                    self.sent_along(message, other);
                }
                for &other in &sends[..place] {
                    self.sent_along(message, other);
                }
            }
        }
        if self.has_company() {
            for other in (0..actors).filter(|other| *other != at) {
                let mask = (event < TIMEOUT).then(|| &self.messages[event as usize].with[other]);
                let before = &self.nodes[at].company[other][from as usize];
                before.news(mask, &self.nodes[at].company[other][to as usize], &mut news);
                for &state in &news {
                    self.meet(node, to, other as u32, state);
                }
                for &message in sends {
                    let mask = (event < TIMEOUT).then(|| &self.messages[event as usize].with[other]);
                    let before = &self.nodes[at].company[other][from as usize];
                    before.news(mask, &self.messages[message as usize].with[other], &mut news);
                    for &state in &news {
                        self.sent_with(space, message, other as u32, state);
                    }
                }
            }
        }
        self.scratch = news;
    }

    /// Whether an edge that leads back to where it began can be gone more than once.
    fn can_repeat(&self, edge: u32) -> bool {
        let Edge { event, .. } = self.edges[edge as usize];
        event >= TIMEOUT || self.messages[event as usize].repeated || !self.knowledge.histories
    }

    fn has_company(&self) -> bool {
        self.knowledge.company && !self.crowded
    }

    /// A local state is there.
    fn enter<M: Data>(&mut self, space: &Space<M>, actor: u32, state: u32, depth: u32, received: Bits) {
        let local = &mut self.nodes[actor as usize];
        if !local.seen.set(state) {
            return;
        }
        let length = state as usize + 1;
        if local.out.len() < length {
            local.out.resize(length, Vec::new());
            local.depth.resize(length, 0);
            local.received.resize(length, Bits::default());
            local.sent.resize(length, Bits::default());
            for company in &mut local.company {
                company.resize(length, Bits::default());
            }
        }
        local.depth[state as usize] = depth;
        local.received[state as usize] = received;
        self.depth = self.depth.max(depth);
        self.states += 1;
        if self.has_company() && self.states > self.knowledge.company_states_max {
            self.give_up_company(space);
        }
        let facts = space.facts(actor as usize, state);
        for timer in 0..facts.timers {
            self.todo.push_back((actor, state, TIMEOUT + timer));
        }
        match facts.health {
            Health::Up if space.crashes_max > 0 => self.todo.push_back((actor, state, CRASH)),
            Health::Down => self.todo.push_back((actor, state, RECOVER)),
            _ => {}
        }
        if !self.has_company() {
            for message in 0..self.messages.len() as u32 {
                if space.envelopes[message as usize].to == actor {
                    self.consider(space, message, state);
                }
            }
        }
    }

    fn note_message<M: Data>(&mut self, space: &Space<M>, message: u32) {
        let known = self.messages.len() as u32;
        if message < known {
            return;
        }
        let actors = self.nodes.len();
        let new = Message { with: vec![Bits::default(); actors], ..Message::default() };
        self.messages.resize(message as usize + 1, new);
        for message in known..=message {
            self.messages[message as usize].along.set(message);
        }
        if !self.has_company() {
            for message in known..=message {
                self.consider_everywhere(space, message);
            }
        }
    }

    /// Two local states may be there at the same time.
    fn meet(&mut self, left: u32, state: u32, right: u32, other: u32) {
        if self.has_company() && self.nodes[left as usize].company[right as usize][state as usize].set(other)
        {
            self.nodes[right as usize].company[left as usize][other as usize].set(state);
            self.touch(left, state);
            self.touch(right, other);
        }
    }

    /// A message may have been sent when a local state is there.
    fn sent_with<M: Data>(&mut self, space: &Space<M>, message: u32, actor: u32, state: u32) {
        let envelope = space.envelopes[message as usize];
        if !self.has_company() {
            if envelope.from == actor && self.nodes[actor as usize].sent[state as usize].set(message) {
                self.touch(actor, state);
            }
            return;
        }
        if self.messages[message as usize].with[actor as usize].set(state) {
            self.nodes[actor as usize].sent[state as usize].set(message);
            self.touch(actor, state);
            self.touch_message(message);
            if envelope.to == actor {
                self.consider(space, message, state);
            }
        }
    }

    /// A message may be sent more than once.
    fn repeat<M: Data>(&mut self, space: &Space<M>, message: u32) {
        if !std::mem::replace(&mut self.messages[message as usize].repeated, true) {
            self.consider_everywhere(space, message);
            self.touch_message(message);
        }
    }

    /// Two messages may both have been sent.
    fn sent_along(&mut self, message: u32, other: u32) {
        for (one, two) in [(message, other), (other, message)] {
            if self.messages[one as usize].along.set(two) {
                self.touch_message(one);
            }
        }
    }

    fn consider_everywhere<M: Data>(&mut self, space: &Space<M>, message: u32) {
        let to = space.envelopes[message as usize].to;
        let states: Vec<u32> = self.nodes[to as usize].seen.iter().collect();
        for state in states {
            self.consider(space, message, state);
        }
    }

    /// Lets a message be received in a state, if that may be.
    fn consider<M: Data>(&mut self, space: &Space<M>, message: u32, state: u32) {
        let to = space.envelopes[message as usize].to;
        let may_be_there =
            !self.has_company() || self.messages[message as usize].with[to as usize].get(state);
        let was_received = self.knowledge.histories
            && !self.messages[message as usize].repeated
            && self.nodes[to as usize].received[state as usize].get(message);
        if may_be_there && !was_received && self.messages[message as usize].done.set(state) {
            self.todo.push_back((to, state, message));
        }
    }

    fn give_up_company<M: Data>(&mut self, space: &Space<M>) {
        self.crowded = true;
        for local in &mut self.nodes {
            local.company.iter_mut().for_each(Vec::clear);
        }
        for message in 0..self.messages.len() as u32 {
            self.messages[message as usize].with.clear();
            self.consider_everywhere(space, message);
        }
    }

    /// More is known of a state: what follows from it has to be drawn again.
    fn touch(&mut self, actor: u32, state: u32) {
        self.nodes[actor as usize].dirty.set(state);
    }

    fn touch_message(&mut self, message: u32) {
        if !std::mem::replace(&mut self.messages[message as usize].is_dirty, true) {
            self.dirty_messages.push(message);
        }
    }

    /// The local states of an actor.
    pub(crate) fn seen(&self, actor: usize) -> &Bits {
        &self.nodes[actor].seen
    }

    /// In the company of which states of another a state may be; nothing if that is not known.
    pub(crate) fn company(&self, actor: usize, state: u32, other: usize) -> Option<&Bits> {
        self.has_company().then(|| &self.nodes[actor].company[other][state as usize])
    }

    /// The bytes that the knowledge takes.
    pub(crate) fn bytes(&self) -> usize {
        let sum = |bits: &[Bits]| bits.iter().map(Bits::bytes).sum::<usize>();
        let nodes: usize = self
            .nodes
            .iter()
            .map(|local| {
                sum(&local.received)
                    + sum(&local.sent)
                    + local.company.iter().map(|all| sum(all)).sum::<usize>()
            })
            .sum();
        let messages: usize =
            self.messages.iter().map(|message| sum(&message.with) + message.done.bytes()).sum();
        nodes + messages + self.edges.len() * size_of::<Edge>()
    }
}
