//! `eventually`: is there a way on which a condition never becomes true, and that ends, or goes on for ever and is fair?
//!
//! Only states in which the condition is false are gone through, and only by way of such states: so it does not matter
//! that a state can also be reached by a way on which the condition was true before. A way ends in a state in which
//! nothing has to happen any more: crashes and losses may be possible there, but nobody has to crash. A way that goes on
//! for ever stays in one strongly connected component in the end (Tarjan's algorithm, without recursion), and fairness is a
//! question about the component.
//!
//! What has no effect counts here ([`Steps::All`]): a timer that is set again by its handler may go off for ever, and a message
//! that was ignored does not come again. A way that leaves the boundary is neither good nor bad.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::actor::Data;
use crate::bfs;
use crate::hash::fingerprint;
use crate::inert::Inert;
use crate::property::Kind;
use crate::schedule::{Schedule, Step};
use crate::session::{Code, Decided, Session};
use crate::space::{CRASH, Move, Space, TIMEOUT};
use crate::successors::{Steps, Successors};
use crate::visited::Parents;

/// What can be relied on: messages that arrive, timers that go off, actors that recover. Nobody has to crash, and no
/// message has to be lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fairness {
    /// Nothing: whatever can go on for ever may do so.
    Unfair,
    /// What can happen all the time happens at some time.
    #[default]
    Weak,
    /// What can happen again and again happens at some time.
    Strong,
}

/// What something that happens is known by, from state to state.
type Key = u64;

/// A state of a component, what can happen in it, and which of that stays in the component.
struct Member {
    state: Vec<u32>,
    enabled: BTreeSet<Key>,
    edges: Vec<(u32, Key, Move)>,
}

type Component = BTreeMap<u32, Member>;

struct Frame {
    number: u32,
    next: usize,
    end: usize,
    mark: (usize, usize),
}

pub(crate) fn search<M: Data>(session: &mut Session<'_, M>, property: usize, fairness: Fairness) {
    if session.space.permutations.len() > 1 {
        session.cut = Some(format!(
            "\"{}\" is an eventually, which cannot be looked for with symmetric()",
            session.system.properties[property].name
        ));
        return;
    }
    // Only a condition on everything sees messages that will be ignored.
    let sees_messages = matches!(session.system.properties[property].condition.0, Kind::World(_));
    let inert = if sees_messages { Inert::unknown() } else { Inert::new(&session.space) };
    let mut search =
        Search { inert, property, fairness, parents: Parents::new(), tarjan: Tarjan::default(), left: false };
    for start in session.starts.clone() {
        if !search.from(session, start) {
            return;
        }
    }
    if search.left {
        session.undecided = Some(format!(
            "\"{}\" is not known: some ways leave the boundary before it becomes true",
            session.system.properties[property].name
        ));
        return;
    }
    session.hold(property);
}

struct Search {
    inert: Inert,
    property: usize,
    fairness: Fairness,
    parents: Parents,
    tarjan: Tarjan,
    /// Some way has left the boundary.
    left: bool,
}

/// What is done with a state.
enum Turn {
    /// It is new, and its number is this one.
    New(u32),
    /// It was there before, or need not be looked at.
    Old,
    /// The search is over.
    Over,
}

#[derive(Default)]
struct Tarjan {
    low: Vec<u32>,
    /// The states that are not yet known to be in a component, in the order in which they were found.
    waiting: Vec<(u32, Vec<u32>)>,
    is_waiting: Vec<bool>,
}

impl Tarjan {
    fn enter(&mut self, number: u32, state: Vec<u32>) {
        self.low.push(number);
        self.is_waiting.push(true);
        self.waiting.push((number, state));
    }

    /// A component is known: the states that were found after this one and are waiting.
    fn leave(&mut self, first: u32) -> Vec<(u32, Vec<u32>)> {
        let begin = self.waiting.iter().rposition(|(number, _)| *number == first).expect("it is waiting");
        let states = self.waiting.split_off(begin);
        for (number, _) in &states {
            self.is_waiting[*number as usize] = false;
        }
        states
    }
}

impl Search {
    /// Goes through what can be reached from a start; whether nothing was found.
    fn from<M: Data>(&mut self, session: &mut Session<'_, M>, start: Vec<u32>) -> bool {
        let hash = session.space.hash(&start);
        let mut enter = match self.turn(session, &start, hash, None) {
            Turn::New(number) => Some((number, start)),
            Turn::Old => None,
            Turn::Over => return false,
        };
        let mut stack = Successors::default();
        let mut path: Vec<Frame> = Vec::new();
        loop {
            if let Some((number, state)) = enter.take() {
                let mark = stack.mark();
                session.space.expand_learning_by(Steps::All, &state, &mut stack);
                let is_broken = session.broken_history().is_some();
                if is_broken || !stack.list[mark.0..].iter().any(|successor| must_happen(successor.step)) {
                    let schedule = bfs::schedule(session, Steps::All, &self.parents, number);
                    let ends = Decided::Property(self.property);
                    session.decide(if is_broken { Decided::Broken(Code::History) } else { ends }, schedule);
                    return false;
                }
                let is_done_with = |at: &usize| self.inert.is_done_with(&state, stack.list[*at].step);
                let (next, end) = match (mark.0..stack.list.len()).find(is_done_with) {
                    Some(only) => (only, only + 1),
                    None => (mark.0, stack.list.len()),
                };
                path.push(Frame { number, next, end, mark });
                self.tarjan.enter(number, state);
                if session.over(self.parents.len(), path.len()) {
                    return false;
                }
            }
            let Some(frame) = path.last_mut() else { return true };
            let at = frame.number;
            if frame.next < frame.end {
                let successor = stack.list[frame.next];
                frame.next += 1;
                session.report.transitions += 1;
                let state = stack.state(&successor);
                match self.turn(session, state, successor.hash, Some(at)) {
                    Turn::New(number) => enter = Some((number, state.to_vec())),
                    Turn::Old => {}
                    Turn::Over => return false,
                }
                continue;
            }
            stack.truncate(frame.mark);
            path.pop();
            let low = self.tarjan.low[at as usize];
            if let Some(parent) = path.last() {
                let of_parent = &mut self.tarjan.low[parent.number as usize];
                *of_parent = low.min(*of_parent);
            }
            if low == at {
                let states = self.tarjan.leave(at);
                let component = component(&mut session.space, &self.parents, states);
                if let Some(cycle) = fair_cycle(component, self.fairness) {
                    report(session, self.property, &self.parents, cycle);
                    return false;
                }
            }
        }
    }

    /// Notes a state, if the condition is false there.
    fn turn<M: Data>(
        &mut self,
        session: &mut Session<'_, M>,
        state: &[u32],
        hash: u128,
        from: Option<u32>,
    ) -> Turn {
        if !session.within(state) {
            self.left = true;
            return Turn::Old;
        }
        if session.evaluator.holds(self.property, &session.space, state) {
            return Turn::Old;
        }
        let broken = session.broken_condition(self.property);
        let Some(number) = self.parents.insert(hash, from) else {
            let number = self.parents.find(hash).expect("it was there");
            if let Some(from) = from
                && self.tarjan.is_waiting[number as usize]
            {
                self.tarjan.low[from as usize] = self.tarjan.low[from as usize].min(number);
            }
            return Turn::Old;
        };
        if let Some(broken) = broken {
            let schedule = bfs::schedule(session, Steps::All, &self.parents, number);
            session.decide(broken, schedule);
            return Turn::Over;
        }
        Turn::New(number)
    }
}

fn component<M: Data>(space: &mut Space<M>, parents: &Parents, states: Vec<(u32, Vec<u32>)>) -> Component {
    let inside: BTreeSet<u32> = states.iter().map(|(number, _)| *number).collect();
    let mut next = Successors::default();
    states
        .into_iter()
        .map(|(number, state)| {
            next.clear();
            space.expand_learning_by(Steps::All, &state, &mut next);
            let mut member = Member { state, enabled: BTreeSet::new(), edges: Vec::new() };
            for successor in &next.list {
                let key = key(space, &member.state, successor.step);
                if must_happen(successor.step) {
                    member.enabled.insert(key);
                }
                if let Some(to) = parents.find(successor.hash).filter(|to| inside.contains(to)) {
                    member.edges.push((to, key, successor.step));
                }
            }
            (number, member)
        })
        .collect()
}

/// Whether fairness has anything to say about a step.
fn must_happen(step: Move) -> bool {
    matches!(step, Move::Event { event, .. } if event != CRASH)
}

fn key<M: Data>(space: &Space<M>, state: &[u32], step: Move) -> Key {
    match step {
        Move::Loss { envelope, after } => fingerprint(&("loss", envelope, after)) as u64,
        // A timer is known by its name, since its place among those that are set changes.
        Move::Event { actor, event, .. } if (TIMEOUT..CRASH).contains(&event) => {
            let timer =
                space.node(actor as usize).timer_text(state[actor as usize], (event - TIMEOUT) as usize);
            fingerprint(&("timeout", actor, timer)) as u64
        }
        Move::Event { actor, event, .. } => fingerprint(&("event", actor, event)) as u64,
    }
}

/// A component in which a fair way can stay for ever, if there is one in this component.
fn fair_cycle(mut component: Component, fairness: Fairness) -> Option<(Component, Vec<Key>, Fairness)> {
    if component.values().all(|member| member.edges.is_empty()) {
        return None;
    }
    let taken: BTreeSet<Key> =
        component.values().flat_map(|member| member.edges.iter().map(|edge| edge.1)).collect();
    match fairness {
        Fairness::Unfair => Some((component, Vec::new(), fairness)),
        Fairness::Weak => {
            // A way through all of the component is the fairest: what is possible in all of its states must be done in it.
            let mut members = component.values();
            let mut everywhere = members.next()?.enabled.clone();
            for member in members {
                everywhere.retain(|key| member.enabled.contains(key));
            }
            everywhere.is_subset(&taken).then(|| (component, everywhere.into_iter().collect(), fairness))
        }
        Fairness::Strong => {
            // Where something is possible that is never done, no fair way passes: what is left without those states is
            // looked at in the same way.
            let anywhere: BTreeSet<Key> =
                component.values().flat_map(|member| member.enabled.iter().copied()).collect();
            let never: BTreeSet<Key> = anywhere.difference(&taken).copied().collect();
            if never.is_empty() {
                return Some((component, anywhere.into_iter().collect(), fairness));
            }
            component.retain(|_, member| member.enabled.is_disjoint(&never));
            components(component).into_iter().find_map(|part| fair_cycle(part, fairness))
        }
    }
}

/// The strongly connected parts of what is left of a component: each state with all that it reaches and that reach it.
fn components(mut rest: Component) -> Vec<Component> {
    let inside: BTreeSet<u32> = rest.keys().copied().collect();
    for member in rest.values_mut() {
        member.edges.retain(|edge| inside.contains(&edge.0));
    }
    let mut backwards: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (&from, member) in &rest {
        for edge in &member.edges {
            backwards.entry(edge.0).or_default().push(from);
        }
    }
    let mut parts = Vec::new();
    while let Some(&first) = rest.keys().next() {
        let forth = reach(first, |at| rest.get(&at).map(|m| m.edges.iter().map(|edge| edge.0).collect()));
        let back = reach(first, |at| {
            rest.contains_key(&at).then(|| backwards.get(&at).cloned().unwrap_or_default())
        });
        let both: BTreeSet<u32> =
            forth.intersection(&back).copied().filter(|number| rest.contains_key(number)).collect();
        let mut part = Component::new();
        for number in &both {
            let mut member = rest.remove(number).expect("parts are disjoint");
            member.edges.retain(|edge| both.contains(&edge.0));
            part.insert(*number, member);
        }
        parts.push(part);
    }
    parts
}

fn reach(first: u32, next: impl Fn(u32) -> Option<Vec<u32>>) -> BTreeSet<u32> {
    let mut seen = BTreeSet::from([first]);
    let mut queue = vec![first];
    while let Some(at) = queue.pop() {
        for to in next(at).into_iter().flatten() {
            if seen.insert(to) {
                queue.push(to);
            }
        }
    }
    seen
}

/// A way round in a component that is growing.
struct Round<'a> {
    component: &'a Component,
    at: u32,
    way: Vec<(u32, Key, Move)>,
    done: BTreeSet<Key>,
    /// What was possible in all states so far.
    possible: BTreeSet<Key>,
}

impl Round<'_> {
    fn go(&mut self, arrived: &dyn Fn(u32, Key) -> bool) {
        for edge in shortest(self.component, self.at, arrived) {
            let (to, key, _) = edge;
            self.done.insert(key);
            self.possible.retain(|key| self.component[&to].enabled.contains(key));
            self.way.push((self.at, key, edge.2));
            self.at = to;
        }
    }
}

/// Reports a way to a component, and round in it: through everything that fairness asks for.
fn report<M: Data>(
    session: &mut Session<'_, M>,
    property: usize,
    parents: &Parents,
    (component, duties, fairness): (Component, Vec<Key>, Fairness),
) {
    let home = *component.keys().next().expect("components are not empty");
    let Schedule { start, mut steps, .. } = bfs::schedule(session, Steps::All, parents, home);
    let back_to = Some(steps.len());
    let possible = component[&home].enabled.clone();
    let mut round =
        Round { component: &component, at: home, way: Vec::new(), done: BTreeSet::new(), possible };
    for duty in duties {
        if !round.done.contains(&duty) {
            round.go(&|_, key| key == duty);
        }
    }
    // Being fair to what is not done means passing where it is not possible.
    while fairness == Fairness::Weak
        && let Some(&key) = round.possible.difference(&round.done).next()
    {
        let without = |(number, member): (&u32, &Member)| (!member.enabled.contains(&key)).then_some(*number);
        let goal = component.iter().find_map(without).expect("what is possible everywhere is a duty");
        round.go(&|to, _| to == goal);
    }
    if round.at != home || round.way.is_empty() {
        round.go(&|to, _| to == home);
    }
    steps.extend(round.way.iter().map(|(at, _, step)| Step::of(&session.space, &component[at].state, *step)));
    session.decide(Decided::Property(property), Schedule { start, steps, back_to });
}

/// The shortest way inside of a component, of at least one step, whose last step is the wanted one.
fn shortest(component: &Component, from: u32, arrived: &dyn Fn(u32, Key) -> bool) -> Vec<(u32, Key, Move)> {
    let mut came: BTreeMap<u32, (u32, (u32, Key, Move))> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for &edge in &component[&at].edges {
            if arrived(edge.0, edge.1) {
                let mut way = vec![edge];
                let mut back = at;
                while back != from {
                    let (before, edge) = came[&back];
                    way.push(edge);
                    back = before;
                }
                way.reverse();
                return way;
            }
            if edge.0 != from && !came.contains_key(&edge.0) {
                came.insert(edge.0, (at, edge));
                queue.push_back(edge.0);
            }
        }
    }
    unreachable!("all of a component can be reached from all of it")
}
