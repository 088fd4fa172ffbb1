//! Can these local states be there at the same time, and how? (Figure 9, isStateSound and isSequenceValid.)
//!
//! The answer is looked for among global states, but only among those that can contribute: an actor that has to get
//! somewhere moves only where it still can get there; the others move only as long as they can still send something
//! that is needed; messages that nobody can receive any more are forgotten; and local states that do not differ in
//! what can come of them count as one (the coarsest bisimulation, by refining colours). All of it looks at the local
//! graphs alone, so handlers hardly ever run. None of it changes the answer.

use std::collections::{BTreeMap, VecDeque};

use crate::evaluate::failed;
use crate::hash::fingerprint;
use crate::local::bits::Bits;
use crate::local::goals::Goal;
use crate::local::graph::{Edge, Graph};
use crate::network::Network;
use crate::schedule::{Schedule, Step};
use crate::session::{Decided, Session};
use crate::space::{CRASH, Lookup, Move, Space, TIMEOUT};
use crate::successors::Successors;
use simurgh_search::space::{StateSpace, Steps};
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
#[derive(Default)]
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

/// Can the local states of a goal be there at the same time? The search for that ends with so many states.
pub(crate) fn verify(session: &mut Session<'_>, graph: &Graph, goal: &Goal, states_max: usize) -> Answer {
    let contribution = Contribution::new(session, graph, goal);
    if session.cut.is_some() {
        return Answer::Unknown;
    }
    let mut search = Search { contribution, ..Search::default() };
    for (number, start) in session.starts.clone().into_iter().enumerate() {
        if session.is_within(&start) {
            let number = Move::Loss { envelope: number as u32, after: 0 };
            search.add(&session.space, &start, None, (number, 0));
        }
    }
    let answer = search.answer(session, graph, goal, states_max);
    session.report.verified_states += search.parents.count() as u64;
    answer
}

/// For each actor and state, from which states it is come to.
fn backwards<'e>(graph: &Graph, edges: impl IntoIterator<Item = &'e Edge>) -> Vec<Vec<Vec<u32>>> {
    let states = |actor: usize| graph.seen(actor).iter().last().map_or(0, |last| last as usize + 1);
    let mut backwards: Vec<_> = (0..graph.actors()).map(|actor| vec![Vec::new(); states(actor)]).collect();
    for edge in edges {
        backwards[edge.node as usize][edge.to as usize].push(edge.from);
    }
    backwards
}

impl Contribution {
    fn new(session: &mut Session<'_>, graph: &Graph, goal: &Goal) -> Self {
        // Queues keep their order, and a boundary sees everything: then only where actors have to get counts.
        let exact = session.space.network == Network::Ordered || session.system.within.is_some();
        let of_actor = |(targets, backwards): (&Option<Bits>, Vec<Vec<u32>>)| match targets {
            Some(targets) => distances(&backwards, targets),
            None => vec![if exact { 0 } else { FAR }; backwards.len()],
        };
        let mut contribution = Self {
            far: goal.targets.iter().zip(backwards(graph, &graph.edges)).map(of_actor).collect(),
            bound: goal.targets.iter().map(Option::is_some).collect(),
            exact,
            ..Self::default()
        };
        if !exact {
            contribution.find_needed(session, graph);
            let is_useful = |edge: &&Edge| contribution.leads_on(&session.space, edge.node, edge.does);
            let edges: Vec<Edge> = graph.edges.iter().filter(is_useful).copied().collect();
            contribution.find_receivable(session, graph, &edges);
            contribution.colour(session, graph, goal, &edges);
        }
        contribution
    }

    /// An actor that has to get nowhere contributes what others need for getting somewhere, and so on backwards.
    fn find_needed(&mut self, session: &mut Session<'_>, graph: &Graph) {
        while !session.over_often(graph.progress()) {
            let mut more = false;
            for edge in graph.edges.iter().rev() {
                if !self.leads_on(&session.space, edge.node, edge.does) {
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

    /// Whether an actor still gets where it has to by a reaction, or sends something that is needed.
    fn leads_on(&self, space: &Space, actor: u32, reaction: u32) -> bool {
        let (actor, reaction) = (actor as usize, space.reaction(reaction));
        self.far[actor].get(reaction.local as usize).is_some_and(|far| *far != FAR)
            || !self.bound[actor] && space.sends(reaction).iter().any(|sent| self.needed.get(*sent))
    }

    fn allows(&self, space: &Space, step: Move) -> bool {
        match step {
            // What is lost might as well never arrive, unless it is in the way of others.
            Move::Loss { .. } => self.exact,
            Move::Event { actor, reaction, .. } => self.leads_on(space, actor, reaction),
        }
    }

    fn find_receivable(&mut self, session: &mut Session<'_>, graph: &Graph, useful: &[Edge]) {
        let mut sources: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for edge in useful.iter().filter(|edge| edge.event < TIMEOUT) {
            sources.entry(edge.event).or_default().push(edge.from);
        }
        let backwards = backwards(graph, useful);
        for (message, states) in sources {
            if session.over_often(graph.progress()) {
                return;
            }
            let to = session.space.envelopes.get(message).to as usize;
            self.receivable.insert(message, Bits::reaching(states, &backwards[to]));
        }
    }

    /// Refines colours until states of one colour lead to the same colours, by the same events, with the same needed messages.
    fn colour(&mut self, session: &mut Session<'_>, graph: &Graph, goal: &Goal, useful: &[Edge]) {
        let Session { space, evaluator, .. } = &mut *session;
        let of_actor = |(actor, far): (usize, &Vec<u32>)| {
            let first = |state: u32| {
                let is_target = goal.targets[actor].as_ref().is_some_and(|targets| targets.get(state));
                let shade = match goal.decides {
                    Decided::Property(property) => {
                        evaluator.shade(property, space, (actor, state), is_target)
                    }
                    Decided::Panic | Decided::Broken(_) => u32::MAX,
                };
                let health = space.facts(actor, state).health as u8;
                fingerprint(&(is_target, shade, health, actor))
            };
            (0..far.len() as u32).map(first).collect()
        };
        let mut colours: Vec<Vec<u128>> = self.far.iter().enumerate().map(of_actor).collect();
        let by_what = |edge: &Edge| {
            let sends = space.sends(space.reaction(edge.does)).iter().copied();
            let needed: Vec<u32> = sends.filter(|sent| self.needed.get(*sent)).collect();
            // Which timer goes off does not matter, only that one does and what comes of it.
            let event = if (TIMEOUT..CRASH).contains(&edge.event) { TIMEOUT } else { edge.event };
            (event, fingerprint(&needed))
        };
        let edges: Vec<(&Edge, (u32, u128))> = useful.iter().map(|edge| (edge, by_what(edge))).collect();
        let mut known = count(&colours);
        loop {
            let lead = |(edge, (event, sends)): &(&Edge, (u32, u128))| {
                let to = colours[edge.node as usize][edge.to as usize];
                (edge.node, edge.from, fingerprint(&(event, sends, to)))
            };
            let mut leads: Vec<(u32, u32, u128)> = edges.iter().map(lead).collect();
            leads.sort_unstable();
            leads.dedup();
            let mut refined = colours.clone();
            for (node, from, lead) in leads {
                let colour = &mut refined[node as usize][from as usize];
                *colour = fingerprint(&(*colour, lead));
            }
            colours = refined;
            let before = std::mem::replace(&mut known, count(&colours));
            if known == before || session.over_often(graph.progress()) {
                break;
            }
        }
        self.colours = colours;
    }

    /// Forgets the messages that cannot be received any more, and gives the fingerprint of what is left.
    fn reduce(&self, space: &Space, state: &mut Vec<u32>) -> u128 {
        if self.exact {
            // Actors that could be exchanged are told apart here, since only some of them have to get somewhere.
            return space.hash_under(state, 0);
        }
        let header = space.header();
        let mut kept = header;
        let mut sum = 0_u128;
        for at in header..state.len() {
            let message = state[at];
            let to = state[space.envelopes.get(message).to as usize];
            if self.receivable.get(&message).is_some_and(|states| states.get(to)) {
                state[kept] = message;
                kept += 1;
                sum = sum.wrapping_add(space.envelopes.hash(message, 0));
            }
        }
        state.truncate(kept);
        for (actor, colours) in self.colours.iter().enumerate() {
            let local = state[actor] as usize;
            // A state that was not seen when the colours were made keeps its own.
            let own = || space.nodes[actor].hash(local as u32, 0);
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

/// How many colours there are.
fn count(colours: &[Vec<u128>]) -> usize {
    let mut all: Vec<u128> = colours.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    all.len()
}

fn distances(backwards: &[Vec<u32>], targets: &Bits) -> Vec<u32> {
    let mut far = vec![FAR; backwards.len()];
    let mut queue: VecDeque<(u32, u32)> = targets.iter().map(|state| (state, 0)).collect();
    while let Some((state, distance)) = queue.pop_front() {
        if far[state as usize] == FAR {
            far[state as usize] = distance;
            queue.extend(backwards[state as usize].iter().map(|before| (*before, distance + 1)));
        }
    }
    far
}

/// A search that prefers what is near: steps so far and steps to go at least.
#[derive(Default)]
struct Search {
    contribution: Contribution,
    parents: Parents,
    states: Vec<Vec<u32>>,
    steps: Vec<Move>,
    buckets: Vec<Vec<(u32, u32)>>,
    nearest: usize,
    arrived: Vec<u32>,
}

impl Search {
    fn answer(&mut self, session: &mut Session<'_>, graph: &Graph, goal: &Goal, states_max: usize) -> Answer {
        let mut next = Successors::default();
        loop {
            if let Some((last, decided)) = self.goal(session, goal) {
                return Answer::Real(decided, self.schedule(session, last));
            }
            let Some((number, steps)) = self.pop() else { return Answer::Impossible };
            let state = std::mem::take(&mut self.states[number as usize]);
            next.clear();
            if let Some(broken) = session.expand(Steps::Effective, &state, &mut next) {
                return Answer::Real(broken, self.schedule(session, number));
            }
            for successor in &next.list {
                let after = next.state(successor);
                if !self.contribution.allows(&session.space, successor.step) || !session.is_within(after) {
                    continue;
                }
                // A handler that panics ends what can be said of anything else.
                if goal.decides != Decided::Panic && failed(&session.space, after, successor.step.actor()) {
                    continue;
                }
                if let Some(broken) = session.broken_boundary() {
                    let mut schedule = self.schedule(session, number);
                    schedule.steps.push(Step::of(&session.space, &state, successor.step));
                    return Answer::Real(broken, schedule);
                }
                self.add(&session.space, after, Some(number), (successor.step, steps + 1));
            }
            // A queue that grows without end makes each step slower than the last.
            let work = 1 + state.len() as u64 / 8;
            if self.parents.count() > states_max || session.over_after(work, graph.progress()) {
                return Answer::Unknown;
            }
        }
    }

    /// Adds a state unless it is known: by which step it was come to, and how many that are.
    fn add(&mut self, space: &Space, state: &[u32], parent: Option<u32>, (step, steps): (Move, u32)) {
        let Some(distance) = self.contribution.distance(state) else { return };
        let mut state = state.to_vec();
        let hash = self.contribution.reduce(space, &mut state);
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
        while self.buckets.get(self.nearest)?.is_empty() {
            self.nearest += 1;
        }
        self.buckets[self.nearest].pop()
    }

    /// A state in which the property is decided, among those that have come.
    fn goal(&mut self, session: &mut Session<'_>, goal: &Goal) -> Option<(u32, Decided)> {
        while let Some(number) = self.arrived.pop() {
            if let Some(decided) = session.look_for(goal.decides, &self.states[number as usize]) {
                return Some((number, decided));
            }
        }
        None
    }

    /// The way to a state, from the start with all its messages.
    fn schedule(&self, session: &mut Session<'_>, last: u32) -> Schedule {
        let way = self.parents.way(last);
        let Move::Loss { envelope: start, .. } = self.steps[way[0] as usize] else {
            unreachable!("the first of a way is a start")
        };
        let mut state = session.starts[start as usize].clone();
        let mut steps = Vec::new();
        for number in &way[1..] {
            let step = self.steps[*number as usize];
            steps.push(Step::of(&session.space, &state, step));
            let after = session.space.after(Steps::Effective, &state, |_, other| other == step);
            state = after.expect("what happens with fewer messages happens with more");
        }
        Schedule { start: start as usize, steps, back_to: None }
    }
}
