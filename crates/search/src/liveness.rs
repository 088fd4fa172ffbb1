//! `eventually`: is there a way on which a condition never becomes true, and that ends, or goes on for ever and is fair?
//!
//! Only states in which the condition is false are gone through, and only by way of such states. A way ends in a state in which nothing has
//! to happen any more: crashes and losses may be possible there, but nobody has to crash. A way that goes on for ever stays in one
//! strongly connected component in the end (Tarjan's algorithm, without recursion), and fairness is a question about the component.
//!
//! What has no effect counts here ([`Steps::All`]): a timer that is set again by its handler may go off for ever, and a message
//! that was ignored does not come again. A way that leaves the boundary is neither good nor bad.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;

use crate::space::{Frame, Seen, StateSpace, Steps, Successor, Successors};
use crate::visited::Parents;

/// What can be relied on: steps that have to happen ([`Eventually::must_happen`]), such as messages that arrive. Nobody has to
/// crash.
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
struct Member<Step> {
    state: Vec<u32>,
    enabled: BTreeSet<Key>,
    edges: Vec<Edge<Step>>,
}

/// Which state a step leads to, what it is known by, and the step itself.
type Edge<Step> = (u32, Key, Step);

type Component<Step> = BTreeMap<u32, Member<Step>>;

/// What is asked to become true, of the states of a space.
pub trait Eventually: StateSpace {
    /// Whether it is true in a state.
    ///
    /// # Errors
    /// What is found if that cannot be answered.
    fn holds(&mut self, state: &[u32]) -> Result<bool, Self::Finding>;

    /// Whether fairness has anything to say about a step.
    fn must_happen(step: Self::Step) -> bool;

    /// What a step is known by, from state to state.
    fn fairness_key(&self, state: &[u32], step: Self::Step) -> u64;

    /// Whether a step may be done at once in a state, and nothing else be looked at there: a persistent set.
    fn is_persistent(&self, state: &[u32], step: Self::Step) -> bool;

    /// What is found where it never becomes true.
    fn never(&self) -> Self::Finding;
}

/// What is known of an `eventually`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It becomes true, whatever happens.
    Holds,
    /// Something was found, or the search had to end.
    Over,
    /// Some ways leave the boundary before it becomes true.
    Left,
}

/// Looks for a way on which something never becomes true.
pub fn search<S: Eventually>(space: &mut S, fairness: Fairness) -> (Answer, Seen) {
    let (parents, low, waiting, seen) = (Parents::default(), Vec::new(), Vec::new(), Seen::default());
    let mut search = Search { space, fairness, parents, low, waiting, left: false, seen };
    let ended = search.space.starts().into_iter().try_for_each(|start| search.from(start));
    let answer = match (ended.is_continue(), search.left) {
        (false, _) => Answer::Over,
        (true, true) => Answer::Left,
        (true, false) => Answer::Holds,
    };
    (answer, search.seen)
}

struct Search<'s, S> {
    space: &'s mut S,
    fairness: Fairness,
    parents: Parents,
    /// For each state, the first one that waits and is known to be in the same component; [`DONE`] where the component is known.
    low: Vec<u32>,
    /// The states that are not yet known to be in a component, in the order in which they were found.
    waiting: Vec<(u32, Vec<u32>)>,
    /// Some way has left the boundary.
    left: bool,
    seen: Seen,
}

const DONE: u32 = u32::MAX;

impl<S: Eventually> Search<'_, S> {
    /// Goes through what can be reached from a start. Breaks if something was found, or the search is over.
    fn from(&mut self, start: Vec<u32>) -> ControlFlow<()> {
        let key = self.space.key(&start);
        let mut enter = self.turn(&start, key, None)?.map(|number| (number, start));
        let mut stack = Successors::default();
        let mut path: Vec<(u32, Frame)> = Vec::new();
        loop {
            if let Some((number, state)) = enter.take() {
                let mark = stack.mark();
                let mut found = self.space.expand(Steps::All, &state, &mut stack);
                let must_happen = |successor: &Successor<S::Step>| S::must_happen(successor.step);
                if self.space.wants_more() && !stack.list[mark.0..].iter().any(must_happen) {
                    found = found.or(Some(self.space.never()));
                }
                if let Some(finding) = found {
                    self.parents.tell(self.space, Steps::All, number, finding);
                    return ControlFlow::Break(());
                }
                let is_persistent = |at: &usize| self.space.is_persistent(&state, stack.list[*at].step);
                let (next, end) = match (mark.0..stack.list.len()).find(is_persistent) {
                    Some(only) => (only, only + 1),
                    None => (mark.0, stack.list.len()),
                };
                path.push((number, Frame { next, end, mark }));
                self.low.push(number);
                self.waiting.push((number, state));
                self.seen.states = self.parents.count();
                if !self.space.wants_more() || self.space.is_over(Seen { depth: path.len(), ..self.seen }) {
                    return ControlFlow::Break(());
                }
            }
            let Some((at, frame)) = path.last_mut() else { return ControlFlow::Continue(()) };
            let at = *at;
            if let Some(successor) = stack.next(frame) {
                self.seen.transitions += 1;
                let state = stack.state(&successor);
                let new = self.turn(state, successor.key, Some(at))?;
                enter = new.map(|number| (number, state.to_vec()));
                continue;
            }
            stack.truncate(frame.mark);
            path.pop();
            let low = self.low[at as usize];
            if let Some((parent, _)) = path.last() {
                self.lower(*parent, low);
            }
            if low == at
                && let Some(cycle) = fair_cycle(self.component(at), self.fairness)
            {
                self.report(cycle);
                return ControlFlow::Break(());
            }
        }
    }

    fn lower(&mut self, number: u32, low: u32) {
        let known = &mut self.low[number as usize];
        *known = low.min(*known);
    }

    /// Notes a state, if the condition is false there; gives its number if it is new.
    fn turn(&mut self, state: &[u32], key: u128, from: Option<u32>) -> ControlFlow<(), Option<u32>> {
        if !self.space.is_within(state) {
            self.left = true;
            return ControlFlow::Continue(None);
        }
        let holds = self.space.holds(state);
        if matches!(holds, Ok(true)) {
            return ControlFlow::Continue(None);
        }
        let new = self.parents.insert(key, from);
        match (new, holds) {
            (Some(number), Err(broken)) => {
                self.parents.tell(self.space, Steps::All, number, broken);
                return ControlFlow::Break(());
            }
            (None, _) => {
                let number = self.parents.find(key).expect("it was there");
                if let Some(from) = from.filter(|_| self.low[number as usize] != DONE) {
                    self.lower(from, number);
                }
            }
            _ => {}
        }
        ControlFlow::Continue(new)
    }

    /// A component is known: the states that were found after this one and are waiting, with what can happen in each.
    fn component(&mut self, first: u32) -> Component<S::Step> {
        let begin = self.waiting.iter().rposition(|(number, _)| *number == first).expect("it is waiting");
        let states = self.waiting.split_off(begin);
        states.iter().for_each(|(number, _)| self.low[*number as usize] = DONE);
        let inside: BTreeSet<u32> = states.iter().map(|(number, _)| *number).collect();
        let mut next = Successors::default();
        states
            .into_iter()
            .map(|(number, state)| {
                next.clear();
                self.space.expand(Steps::All, &state, &mut next);
                let mut member = Member { state, enabled: BTreeSet::new(), edges: Vec::new() };
                for successor in &next.list {
                    let key = self.space.fairness_key(&member.state, successor.step);
                    if S::must_happen(successor.step) {
                        member.enabled.insert(key);
                    }
                    if let Some(to) = self.parents.find(successor.key).filter(|to| inside.contains(to)) {
                        member.edges.push((to, key, successor.step));
                    }
                }
                (number, member)
            })
            .collect()
    }

    /// Reports a way to a component, and round in it: through everything that fairness asks for.
    fn report(&mut self, (component, duties, fairness): Cycle<S::Step>) {
        let home = *component.keys().next().expect("components are not empty");
        // Each step with the state in which it is made.
        let mut round: Vec<(u32, Edge<S::Step>)> = Vec::new();
        let go = |round: &mut Vec<(u32, Edge<S::Step>)>, arrived: &dyn Fn(u32, Key) -> bool| {
            let at = round.last().map_or(home, |(_, edge)| edge.0);
            round.extend(shortest(&component, at, arrived));
        };
        for duty in duties {
            if round.iter().all(|(_, edge)| edge.1 != duty) {
                go(&mut round, &|_, key| key == duty);
            }
        }
        // Being fair to what is not done, and possible everywhere until now, means passing where it is not possible.
        let is_unfair_to = |round: &[(u32, Edge<S::Step>)], key: &Key| {
            round.iter().all(|(_, (to, done, _))| done != key && component[to].enabled.contains(key))
        };
        while fairness == Fairness::Weak
            && let Some(key) = component[&home].enabled.iter().find(|key| is_unfair_to(&round, key))
        {
            let goal = component.iter().find(|(_, member)| !member.enabled.contains(key));
            let (&goal, _) = goal.expect("what is possible everywhere is a duty");
            go(&mut round, &|to, _| to == goal);
        }
        if round.last().is_none_or(|(_, edge)| edge.0 != home) {
            go(&mut round, &|to, _| to == home);
        }
        let (mut way, _) = self.parents.way_to(self.space, Steps::All, home);
        way.back_to = Some(way.steps.len());
        way.steps.extend(round.iter().map(|(at, (_, _, step))| (component[at].state.clone(), *step)));
        let never = self.space.never();
        self.space.found(never, way);
    }
}

/// A component, what a fair way has to do in it, and in which sense it is fair.
type Cycle<Step> = (Component<Step>, Vec<Key>, Fairness);

/// A component in which a fair way can stay for ever, if there is one in this component.
fn fair_cycle<Step: Copy>(mut component: Component<Step>, fairness: Fairness) -> Option<Cycle<Step>> {
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
            members.for_each(|member| everywhere.retain(|key| member.enabled.contains(key)));
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
fn components<Step: Copy>(mut rest: Component<Step>) -> Vec<Component<Step>> {
    let (mut forth, mut back) = (Leads::new(), Leads::new());
    for (&from, member) in &rest {
        for &(to, ..) in member.edges.iter().filter(|edge| rest.contains_key(&edge.0)) {
            forth.entry(from).or_default().push(to);
            back.entry(to).or_default().push(from);
        }
    }
    let mut parts = Vec::new();
    while let Some(&first) = rest.keys().next() {
        let both = &reach(first, &forth) & &reach(first, &back);
        let (mut part, others): (Component<Step>, Component<Step>) =
            rest.into_iter().partition(|(number, _)| both.contains(number));
        part.values_mut().for_each(|member| member.edges.retain(|edge| both.contains(&edge.0)));
        parts.push(part);
        rest = others;
    }
    parts
}

/// Which states lead to which.
type Leads = BTreeMap<u32, Vec<u32>>;

fn reach(first: u32, leads: &Leads) -> BTreeSet<u32> {
    let mut seen = BTreeSet::from([first]);
    let mut queue = vec![first];
    while let Some(at) = queue.pop() {
        let new = leads.get(&at).into_iter().flatten().filter(|to| seen.insert(**to));
        queue.extend(new);
    }
    seen
}

/// The shortest way inside of a component, of at least one step, whose last step is the wanted one.
fn shortest<Step: Copy>(
    component: &Component<Step>,
    from: u32,
    arrived: &dyn Fn(u32, Key) -> bool,
) -> Vec<(u32, Edge<Step>)> {
    let mut came: BTreeMap<u32, (u32, Edge<Step>)> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for &edge in &component[&at].edges {
            if arrived(edge.0, edge.1) {
                let before = |(at, _): &(u32, Edge<Step>)| came.get(at).copied();
                let mut way: Vec<_> = std::iter::successors(Some((at, edge)), before).collect();
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
