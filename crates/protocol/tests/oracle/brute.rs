//! The obvious search: global states as they are, every step as the documentation tells it. It shares nothing with the crate but
//! the tables that the actors follow, and the notation of schedules.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use simurgh_protocol::{Network, Schedule, Step};

use crate::protocol::{Deed, Protocol, Rule};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    Up { state: u8, timers: BTreeSet<u8> },
    Down { stored: Option<u8> },
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State {
    pub nodes: Vec<Node>,
    /// Sender, receiver, message. In an ordered network: in the order of each sender and receiver.
    pub flying: Vec<(u32, u32, u8)>,
    pub history: u8,
}

impl State {
    /// The states of those that are up.
    pub fn states(&self) -> Vec<Option<u8>> {
        let state = |node: &Node| if let Node::Up { state, .. } = node { Some(*state) } else { None };
        self.nodes.iter().map(state).collect()
    }

    pub fn has_failed(&self) -> bool {
        self.nodes.contains(&Node::Failed)
    }
}

/// Something that can happen, without what is left to chance: what fairness is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    Deliver(u32, u32, u8),
    Timeout(u32, u8),
    Recover(u32),
    Crash(u32),
    /// The message, and how many of the same before it stay.
    Lose((u32, u32, u8), usize),
}

impl Act {
    /// Nobody has to crash, and nothing has to be lost.
    pub fn has_to_happen(self) -> bool {
        !matches!(self, Self::Crash(_) | Self::Lose(..))
    }
}

#[derive(Clone, Debug)]
pub struct Next {
    pub act: Act,
    pub choices: Vec<usize>,
    pub state: State,
    /// Nothing is different for the actor, and nothing was sent.
    pub is_quiet: bool,
}

impl Protocol {
    fn count(&self) -> u32 {
        self.tables.len() as u32
    }

    fn normal(&self, mut state: State) -> State {
        match self.network {
            Network::Ordered => state.flying.sort_by_key(|(from, to, _)| (*from, *to)),
            Network::Unordered => state.flying.sort_unstable(),
            Network::Duplicating => {
                state.flying.sort_unstable();
                state.flying.dedup();
            }
        }
        state
    }

    fn told(&self, history: u8, msg: u8, received: bool) -> u8 {
        match &self.history {
            Some(told) if told.concerns[msg as usize] => {
                told.next[history as usize][msg as usize][usize::from(received)]
            }
            _ => history,
        }
    }

    /// What comes of one deed of an actor.
    fn done(&self, before: &State, me: u32, sender: u32, timers: &BTreeSet<u8>, deed: &Deed) -> State {
        let mut state = before.clone();
        if deed.panics {
            state.nodes[me as usize] = Node::Failed;
            return state;
        }
        let mut timers = timers.clone();
        timers.extend(&deed.sets);
        timers.retain(|timer| !deed.cancels.contains(timer));
        state.nodes[me as usize] = Node::Up { state: deed.state, timers };
        for (to, msg) in &deed.sends {
            for to in to.actors(me, sender, self.count()) {
                state.history = self.told(state.history, *msg, false);
                state.flying.push((me, to, *msg));
            }
        }
        state
    }

    pub fn starts(&self) -> Vec<State> {
        let nodes = vec![Node::Failed; self.tables.len()];
        let mut starts = vec![State { nodes, flying: self.flying.clone(), history: 0 }];
        for (me, table) in self.tables.iter().enumerate() {
            let me = me as u32;
            let all = starts.iter().flat_map(|start| {
                table.start.iter().map(move |deed| self.done(start, me, me, &BTreeSet::new(), deed))
            });
            starts = all.collect();
        }
        starts.into_iter().map(|start| self.normal(start)).collect()
    }

    /// Everything that can happen in a state.
    pub fn nexts(&self, state: &State) -> Vec<Next> {
        let mut nexts = Vec::new();
        let mut push = |act: Act, choices: Vec<usize>, next: State, is_quiet: bool| {
            nexts.push(Next { act, choices, state: self.normal(next), is_quiet });
        };
        let mut seen = BTreeSet::new();
        for (at, &message) in state.flying.iter().enumerate() {
            let (from, to, msg) = message;
            let without = |at: usize| {
                let mut rest = state.clone();
                rest.flying.remove(at);
                rest
            };
            let same_before = state.flying[..at].iter().filter(|other| **other == message).count();
            let is_ordered = self.network == Network::Ordered;
            if self.lossy && (is_ordered || same_before == 0) {
                push(Act::Lose(message, same_before), Vec::new(), without(at), false);
            }
            let is_first = if is_ordered { seen.insert((from, to, 0)) } else { seen.insert(message) };
            if !is_first {
                continue;
            }
            if let Node::Up { state: local, timers } = &state.nodes[to as usize] {
                let mut before =
                    if self.network == Network::Duplicating { state.clone() } else { without(at) };
                before.history = self.told(state.history, msg, true);
                let rule = &self.tables[to as usize].on_msg[*local as usize][msg as usize];
                for (choices, deed) in chosen(rule) {
                    let mut next = self.done(&before, to, from, timers, deed);
                    let is_quiet = !is_ordered && next.nodes == state.nodes && deed.sends.is_empty();
                    if is_quiet {
                        // What is ignored counts as not received.
                        next.history = state.history;
                    }
                    push(Act::Deliver(from, to, msg), choices, next, is_quiet);
                }
            }
        }
        let down = state.nodes.iter().filter(|node| matches!(node, Node::Down { .. })).count();
        for (me, node) in state.nodes.iter().enumerate() {
            let (table, actor) = (&self.tables[me], me as u32);
            match node {
                Node::Up { state: local, timers } => {
                    for timer in timers {
                        let mut rest = timers.clone();
                        rest.remove(timer);
                        for (choices, deed) in chosen(&table.on_timeout[*local as usize][*timer as usize]) {
                            let next = self.done(state, actor, actor, &rest, deed);
                            let is_quiet = next == *state;
                            push(Act::Timeout(actor, *timer), choices, next, is_quiet);
                        }
                    }
                    if down < self.crashes {
                        let mut next = state.clone();
                        let stored = table.is_durable.then(|| table.stored[*local as usize]);
                        next.nodes[me] = Node::Down { stored };
                        push(Act::Crash(actor), Vec::new(), next, false);
                    }
                }
                Node::Down { stored } => {
                    let rule = stored.map_or(&table.start, |stored| &table.recover[stored as usize]);
                    for (choices, deed) in chosen(rule) {
                        let next = self.done(state, actor, actor, &BTreeSet::new(), deed);
                        push(Act::Recover(actor), choices, next, false);
                    }
                }
                Node::Failed => {}
            }
        }
        nexts
    }

    /// Follows a schedule; gives the states and what happened, for each start from which that is possible.
    pub fn follow(&self, schedule: &Schedule) -> Vec<(Vec<State>, Vec<Act>)> {
        let mut runs = Vec::new();
        for start in self.starts() {
            let (mut states, mut acts) = (vec![start], Vec::new());
            for step in &schedule.steps {
                let nexts = self.nexts(states.last().expect("there is a start"));
                let Some(next) = nexts.into_iter().find(|next| is_step(next, step)) else { break };
                states.push(next.state);
                acts.push(next.act);
            }
            if acts.len() == schedule.steps.len() {
                runs.push((states, acts));
            }
        }
        runs
    }
}

fn chosen(rule: &Rule) -> impl Iterator<Item = (Vec<usize>, &Deed)> {
    let choices = |at: usize| if rule.len() > 1 { vec![at] } else { Vec::new() };
    rule.iter().enumerate().map(move |(at, deed)| (choices(at), deed))
}

fn is_step(next: &Next, step: &Step) -> bool {
    match (next.act, step) {
        (Act::Deliver(sender, receiver, number), Step::Deliver { from, to, msg, choices }) => {
            (sender, receiver, number.to_string()) == (from.0, to.0, msg.clone()) && next.choices == *choices
        }
        (Act::Timeout(actor, number), Step::Timeout { at, timer, choices }) => {
            (actor, number.to_string()) == (at.0, timer.clone()) && next.choices == *choices
        }
        (Act::Recover(actor), Step::Recover { at, choices }) => actor == at.0 && next.choices == *choices,
        (Act::Crash(actor), Step::Crash { at }) => actor == at.0,
        (Act::Lose((sender, receiver, number), before), Step::Lose { from, to, msg, after }) => {
            (sender, receiver, number.to_string()) == (from.0, to.0, msg.clone()) && before == *after
        }
        _ => false,
    }
}

/// All states that can be reached within a boundary, with how many steps that takes at least; nothing if there are too many.
pub fn reachable(
    protocol: &Protocol,
    quiet: bool,
    within: &dyn Fn(&State) -> bool,
    states_max: usize,
) -> Option<BTreeMap<State, usize>> {
    let mut seen = BTreeMap::new();
    let mut queue = VecDeque::new();
    for start in protocol.starts() {
        if within(&start) && !seen.contains_key(&start) {
            seen.insert(start.clone(), 0);
            queue.push_back((start, 0));
        }
    }
    while let Some((state, depth)) = queue.pop_front() {
        for next in protocol.nexts(&state) {
            if (next.is_quiet && !quiet) || !within(&next.state) || seen.contains_key(&next.state) {
                continue;
            }
            if next.state.flying.len() > 8 || seen.len() >= states_max {
                return None;
            }
            seen.insert(next.state.clone(), depth + 1);
            queue.push_back((next.state, depth + 1));
        }
    }
    Some(seen)
}
