//! Can these local states be there at the same time, and how? (Figure 9, isStateSound and isSequenceValid.)
//!
//! The answer is looked for among global states, but only among those that can contribute: an actor that has to get
//! somewhere moves only where it still can get there; the others move only as long as they can still send something
//! that is needed; messages that nobody can receive any more are forgotten; and local states that do not differ in
//! what can come of them count as one (the coarsest bisimulation, by refining colours). All of it looks at the local
//! graphs alone, so handlers hardly ever run. None of it changes the answer.

use std::collections::BTreeMap;

use crate::actor::Data;
use crate::hash::fingerprint;
use crate::local::bits::Bits;
use crate::local::goals::Goal;
use crate::local::graph::Graph;
use crate::network::Network;
use crate::schedule::{Schedule, Step};
use crate::session::{Code, Decided, Session};
use crate::space::{Lookup, Move, Space, TIMEOUT};
use crate::successors::Successors;
use simurgh_search::visited::Parents;

pub(crate) enum Answer {
    /// They can, and this is how, and what is decided by that.
    Real(Decided, Schedule),
    /// They cannot.
    Impossible,
    /// The search ended before that was known.
    Unknown,
}

/// How far it is to a target; nothing if it cannot be reached.
const FAR: u32 = u32::MAX;

/// What can contribute to an answer.
struct Contribution {
    /// For each actor that has to get somewhere, how far it is from each state; for the others, zero where they can still
    /// send something that is needed.
    far: Vec<Vec<u32>>,
    bound: Vec<bool>,
    needed: Bits,
    /// For each needed message, in which states of its receiver it may still be received.
    receivable: Lookup<u32, Bits>,
    /// For each actor and state, the fingerprint of what can come of it.
    colours: Vec<Vec<u128>>,
    exact: bool,
}

pub(crate) fn verify<M: Data>(
    session: &mut Session<'_, M>,
    graph: &Graph,
    goal: &Goal,
    states_max: usize,
) -> Answer {
    let contribution = Contribution::new(session, graph, goal);
    if session.cut.is_some() {
        return Answer::Unknown;
    }
    let mut search = Search::default();
    for (number, start) in session.starts.clone().into_iter().enumerate() {
        if session.within(&start) {
            search.add(
                session,
                &contribution,
                &start,
                None,
                Move::Loss { envelope: number as u32, after: 0 },
                0,
            );
        }
    }
    let mut next = Successors::default();
    loop {
        if let Some((last, decided)) = search.goal(session, goal) {
            session.report.verified_states += search.parents.count() as u64;
            return Answer::Real(decided, search.schedule(session, last));
        }
        let Some((number, steps)) = search.pop() else { break };
        let state = std::mem::take(&mut search.states[number as usize]);
        next.clear();
        session.space.expand_learning(&state, &mut next);
        if session.broken_history().is_some() {
            return Answer::Real(Decided::Broken(Code::History), search.schedule(session, number));
        }
        for successor in &next.list {
            let after = next.state(successor);
            if !contribution.allows(&session.space, successor.step) || !session.within(after) {
                continue;
            }
            if let Some(broken) = session.broken_boundary() {
                let mut schedule = search.schedule(session, number);
                schedule.steps.push(Step::of(&session.space, &state, successor.step));
                return Answer::Real(broken, schedule);
            }
            search.add(session, &contribution, after, Some(number), successor.step, steps + 1);
        }
        let (states, depth) = (graph.states, graph.depth as usize);
        // A queue that grows without end makes each step slower than the last.
        let work = 1 + state.len() as u64 / 8;
        if search.parents.count() > states_max || session.over_after(work, states, depth) {
            session.report.verified_states += search.parents.count() as u64;
            return Answer::Unknown;
        }
    }
    session.report.verified_states += search.parents.count() as u64;
    Answer::Impossible
}

impl Contribution {
    fn new<M: Data>(session: &mut Session<'_, M>, graph: &Graph, goal: &Goal) -> Self {
        let actors = session.space.actors();
        let mut backwards: Vec<Vec<Vec<u32>>> = (0..actors)
            .map(|actor| {
                vec![Vec::new(); graph.seen(actor).iter().last().map_or(0, |last| last as usize + 1)]
            })
            .collect();
        for (at, edge) in graph.edges.iter().enumerate() {
            backwards[edge.node as usize][edge.to as usize].push(at as u32);
        }
        // Queues keep their order, and a boundary sees everything: then only where actors have to get counts.
        let exact = session.space.network == Network::Ordered || session.system.within.is_some();
        let bound: Vec<bool> = goal.targets.iter().map(Option::is_some).collect();
        let far = (0..actors)
            .map(|actor| match &goal.targets[actor] {
                Some(targets) => distances(graph, &backwards[actor], targets),
                None => vec![if exact { 0 } else { FAR }; backwards[actor].len()],
            })
            .collect();
        let (needed, receivable, colours) = (Bits::default(), Lookup::default(), Vec::new());
        let mut contribution = Self { far, bound, needed, receivable, colours, exact };
        if !exact {
            contribution.find_needed(session, graph);
            contribution.find_receivable(session, graph, &backwards);
            contribution.colour(session, graph, goal);
        }
        contribution
    }

    /// An actor that has to get nowhere contributes what others need for getting somewhere, and so on backwards.
    fn find_needed<M: Data>(&mut self, session: &mut Session<'_, M>, graph: &Graph) {
        while !session.over_often(graph.states, graph.depth as usize) {
            let mut more = false;
            for edge in graph.edges.iter().rev() {
                if !self.useful(&session.space, edge.node, edge.to, edge.reaction) {
                    continue;
                }
                if edge.event < TIMEOUT {
                    more |= self.needed.set(edge.event);
                }
                let from = &mut self.far[edge.node as usize][edge.from as usize];
                if *from == FAR && !self.bound[edge.node as usize] {
                    *from = 0;
                    more = true;
                }
            }
            if !more {
                return;
            }
        }
    }

    fn useful<M: Data>(&self, space: &Space<M>, actor: u32, to: u32, reaction: u32) -> bool {
        let far = &self.far[actor as usize];
        far.get(to as usize).is_some_and(|far| *far != FAR)
            || !self.bound[actor as usize]
                && space.sends(space.reaction(reaction)).iter().any(|sent| self.needed.get(*sent))
    }

    fn allows<M: Data>(&self, space: &Space<M>, step: Move) -> bool {
        match step {
            // What is lost might as well never arrive, unless it is in the way of others.
            Move::Loss { .. } => self.exact,
            Move::Event { actor, reaction, .. } => {
                self.useful(space, actor, space.reaction(reaction).local, reaction)
            }
        }
    }

    fn find_receivable<M: Data>(
        &mut self,
        session: &mut Session<'_, M>,
        graph: &Graph,
        backwards: &[Vec<Vec<u32>>],
    ) {
        let mut sources: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for edge in &graph.edges {
            if edge.event < TIMEOUT && self.useful(&session.space, edge.node, edge.to, edge.reaction) {
                sources.entry(edge.event).or_default().push(edge.from);
            }
        }
        for (message, sources) in sources {
            if session.over_often(graph.states, graph.depth as usize) {
                return;
            }
            let space = &session.space;
            let to = space.envelopes[message as usize].to as usize;
            let mut states = Bits::default();
            let mut queue = sources;
            while let Some(state) = queue.pop() {
                if states.set(state) {
                    let useful = |edge: &&u32| {
                        let edge = graph.edges[**edge as usize];
                        self.useful(space, edge.node, edge.to, edge.reaction)
                    };
                    let into = backwards[to][state as usize].iter().filter(useful);
                    queue.extend(into.map(|edge| graph.edges[*edge as usize].from));
                }
            }
            self.receivable.insert(message, states);
        }
    }

    /// Refines colours until states of one colour lead to the same colours, by the same events, with the same needed messages.
    fn colour<M: Data>(&mut self, session: &mut Session<'_, M>, graph: &Graph, goal: &Goal) {
        let space = &session.space;
        let mut colours: Vec<Vec<u128>> = Vec::new();
        for (actor, far) in self.far.iter().enumerate() {
            let first = |state: u32| {
                let is_target = goal.targets[actor].as_ref().is_some_and(|targets| targets.get(state));
                let shade = match goal.decides {
                    Decided::Property(property) => {
                        session.evaluator.shade(property, space, actor, state, is_target)
                    }
                    Decided::Panic | Decided::Broken(_) => u32::MAX,
                };
                let health = space.facts(actor, state).health as u8;
                fingerprint(&(is_target, shade, health, actor))
            };
            colours.push((0..far.len() as u32).map(first).collect());
        }
        let mut edges: Vec<(u32, u32, u32, u32, u128)> = Vec::new();
        for edge in graph.edges.iter().filter(|edge| self.useful(space, edge.node, edge.to, edge.reaction)) {
            let needed: Vec<u32> = space
                .sends(space.reaction(edge.reaction))
                .iter()
                .copied()
                .filter(|sent| self.needed.get(*sent))
                .collect();
            // Which timer goes off does not matter, only that one does and what comes of it.
            let event =
                if edge.event < TIMEOUT || edge.event >= crate::space::CRASH { edge.event } else { TIMEOUT };
            edges.push((edge.node, edge.from, edge.to, event, fingerprint(&needed)));
        }
        let count = |colours: &[Vec<u128>]| {
            let mut all: Vec<u128> = colours.iter().flatten().copied().collect();
            all.sort_unstable();
            all.dedup();
            all.len()
        };
        let mut known = count(&colours);
        loop {
            let mut leads: Vec<(u32, u32, u128)> = edges
                .iter()
                .map(|(node, from, to, event, sends)| {
                    (*node, *from, fingerprint(&(event, sends, colours[*node as usize][*to as usize])))
                })
                .collect();
            leads.sort_unstable();
            leads.dedup();
            let mut refined = colours.clone();
            for (node, from, lead) in leads {
                let colour = &mut refined[node as usize][from as usize];
                *colour = fingerprint(&(*colour, lead));
            }
            let now = count(&refined);
            colours = refined;
            if now == known {
                break;
            }
            known = now;
            if session.over_often(graph.states, graph.depth as usize) {
                break;
            }
        }
        self.colours = colours;
    }

    /// Forgets the messages that cannot be received any more, and gives the fingerprint of what is left.
    fn reduce<M: Data>(&self, space: &Space<M>, state: &mut Vec<u32>) -> u128 {
        if self.exact {
            // Actors that could be exchanged are told apart here, since only some of them have to get somewhere.
            return space.hash_under(state, 0);
        }
        let header = space.header();
        let mut kept = header;
        let mut sum = 0_u128;
        for at in header..state.len() {
            let message = state[at];
            let to = state[space.envelopes[message as usize].to as usize];
            if self.receivable.get(&message).is_some_and(|states| states.get(to)) {
                state[kept] = message;
                kept += 1;
                sum = sum.wrapping_add(space.envelope_hash(message));
            }
        }
        state.truncate(kept);
        for (actor, colours) in self.colours.iter().enumerate() {
            let local = state[actor] as usize;
            // A state that was not seen when the colours were made keeps its own.
            let own = || space.local_hash(actor, local as u32);
            sum = sum.wrapping_add(colours.get(local).copied().unwrap_or_else(own));
        }
        sum
    }

    /// How many steps there are to go at least; nothing if it is too far.
    fn distance(&self, state: &[u32]) -> Option<u32> {
        let bound = (0..self.far.len()).filter(|actor| self.bound[*actor]);
        bound.map(|actor| self.far[actor].get(state[actor] as usize).copied().filter(|far| *far != FAR)).sum()
    }
}

fn distances(graph: &Graph, backwards: &[Vec<u32>], targets: &Bits) -> Vec<u32> {
    let mut far = vec![FAR; backwards.len()];
    let mut level: Vec<u32> = targets.iter().collect();
    let mut distance = 0;
    while !level.is_empty() {
        let mut next = Vec::new();
        for state in level {
            if far[state as usize] == FAR {
                far[state as usize] = distance;
                next.extend(backwards[state as usize].iter().map(|edge| graph.edges[*edge as usize].from));
            }
        }
        level = next;
        distance += 1;
    }
    far
}

/// A search that prefers what is near: steps so far and steps to go at least.
struct Search {
    parents: Parents,
    states: Vec<Vec<u32>>,
    steps: Vec<Move>,
    buckets: Vec<Vec<(u32, u32)>>,
    nearest: usize,
    arrived: Vec<u32>,
}

impl Default for Search {
    fn default() -> Self {
        let (states, steps, buckets, arrived) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { parents: Parents::default(), states, steps, buckets, nearest: 0, arrived }
    }
}

impl Search {
    fn add<M: Data>(
        &mut self,
        session: &mut Session<'_, M>,
        contribution: &Contribution,
        state: &[u32],
        parent: Option<u32>,
        step: Move,
        steps: u32,
    ) {
        let Some(distance) = contribution.distance(state) else { return };
        let mut state = state.to_vec();
        let hash = contribution.reduce(&session.space, &mut state);
        let Some(number) = self.parents.insert(hash, parent) else { return };
        self.states.push(state);
        self.steps.push(step);
        let bucket = (steps + distance) as usize;
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, Vec::new());
        }
        self.buckets[bucket].push((number, steps));
        self.nearest = self.nearest.min(bucket);
        if distance == 0 {
            self.arrived.push(number);
        }
    }

    fn pop(&mut self) -> Option<(u32, u32)> {
        while self.nearest < self.buckets.len() {
            if let Some(entry) = self.buckets[self.nearest].pop() {
                return Some(entry);
            }
            self.nearest += 1;
        }
        None
    }

    /// A state in which the property is decided, among those that have come.
    fn goal<M: Data>(&mut self, session: &mut Session<'_, M>, goal: &Goal) -> Option<(u32, Decided)> {
        while let Some(number) = self.arrived.pop() {
            if let Some(decided) = session.look_for(goal.decides, &self.states[number as usize]) {
                return Some((number, decided));
            }
        }
        None
    }

    /// The way to a state, from the start with all its messages.
    fn schedule<M: Data>(&self, session: &mut Session<'_, M>, last: u32) -> Schedule {
        let way = self.parents.way(last);
        let Move::Loss { envelope: start, .. } = self.steps[way[0] as usize] else {
            unreachable!("the first of a way is a start")
        };
        let mut state = session.starts[start as usize].clone();
        let mut steps = Vec::new();
        let mut next = Successors::default();
        for number in &way[1..] {
            next.clear();
            session.space.expand_learning(&state, &mut next);
            let step = self.steps[*number as usize];
            let found = next.list.iter().find(|successor| successor.step == step);
            let found = found.expect("what happens with fewer messages happens with more");
            steps.push(Step::of(&session.space, &state, step));
            state = next.state(found).to_vec();
        }
        Schedule { start: start as usize, steps, back_to: None }
    }
}
