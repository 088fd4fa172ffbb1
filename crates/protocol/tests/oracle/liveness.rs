//! `eventually` by definition, on the whole graph: ways that end, and ways that go round for ever and are fair.

use std::collections::{BTreeMap, BTreeSet};

use simurgh_protocol::{Fairness, Schedule};

use crate::brute::{Act, State};
use crate::protocol::Protocol;

/// What is to be said of an `eventually`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    Holds,
    Violated,
    /// Ways leave the boundary, and nothing is known of them.
    Undecided,
    /// There are too many states, or things that can happen, for the obvious way.
    TooMuch,
}

struct Vertex {
    enabled: BTreeSet<Act>,
    edges: Vec<(usize, Act)>,
}

pub fn eventually(
    protocol: &Protocol,
    fairness: Fairness,
    within: &dyn Fn(&State) -> bool,
    holds: &dyn Fn(&State) -> bool,
    states_max: usize,
) -> Known {
    let mut left = false;
    let mut numbers: BTreeMap<State, usize> = BTreeMap::new();
    let mut states: Vec<State> = Vec::new();
    let mut number = |state: State, states: &mut Vec<State>| -> Option<usize> {
        if !within(&state) {
            left = true;
            return None;
        }
        if holds(&state) {
            return None;
        }
        Some(*numbers.entry(state.clone()).or_insert_with(|| {
            states.push(state);
            states.len() - 1
        }))
    };
    for start in protocol.starts() {
        number(start, &mut states);
    }
    let mut graph: Vec<Vertex> = Vec::new();
    while graph.len() < states.len() {
        let nexts = protocol.nexts(&states[graph.len()]);
        let acts = nexts.iter().map(|next| next.act);
        let enabled: BTreeSet<Act> = acts.filter(|act| act.has_to_happen()).collect();
        if enabled.is_empty() {
            return Known::Violated;
        }
        let edges =
            nexts.into_iter().filter_map(|next| Some((number(next.state, &mut states)?, next.act))).collect();
        graph.push(Vertex { enabled, edges });
        if states.len() > states_max || states.iter().any(|state| state.flying.len() > 8) {
            return Known::TooMuch;
        }
    }
    match has_fair_cycle(&graph, fairness) {
        None => Known::TooMuch,
        Some(true) => Known::Violated,
        Some(false) if left => Known::Undecided,
        Some(false) => Known::Holds,
    }
}

/// Whether there are states that can be gone round for ever, fairly. Without fairness, any; with weak fairness, what is possible
/// in all of them is done among them; with strong fairness, what is possible in one of them is.
fn has_fair_cycle(graph: &[Vertex], fairness: Fairness) -> Option<bool> {
    let everywhere: BTreeSet<usize> = (0..graph.len()).collect();
    if fairness != Fairness::Strong {
        return Some(components(graph, &everywhere).iter().any(|part| is_fair(graph, part, fairness)));
    }
    // With strong fairness it is best to avoid some things altogether: every choice of them is tried.
    let acts: Vec<Act> = graph
        .iter()
        .flat_map(|vertex| vertex.enabled.iter().copied())
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    if acts.len() > 9 {
        return None;
    }
    Some((0..1_u32 << acts.len()).any(|avoided| {
        let is_avoided =
            |act: &Act| avoided & (1 << acts.iter().position(|other| other == act).expect("known")) != 0;
        let left = (0..graph.len()).filter(|at| !graph[*at].enabled.iter().any(is_avoided)).collect();
        components(graph, &left).iter().any(|part| is_fair(graph, part, fairness))
    }))
}

fn is_fair(graph: &[Vertex], part: &BTreeSet<usize>, fairness: Fairness) -> bool {
    let inside = |at: &usize| graph[*at].edges.iter().filter(|edge| part.contains(&edge.0));
    let done: BTreeSet<Act> = part.iter().flat_map(inside).map(|edge| edge.1).collect();
    let visited: Vec<&BTreeSet<Act>> = part.iter().map(|at| &graph[*at].enabled).collect();
    !done.is_empty() && is_fair_round(&visited, &done, fairness)
}

/// Whether going through states in which these things are possible, and doing those, is fair.
fn is_fair_round(visited: &[&BTreeSet<Act>], done: &BTreeSet<Act>, fairness: Fairness) -> bool {
    visited.iter().flat_map(|enabled| enabled.iter()).all(|act| {
        let must = match fairness {
            Fairness::Unfair => false,
            Fairness::Weak => visited.iter().all(|enabled| enabled.contains(act)),
            Fairness::Strong => true,
        };
        !must || done.contains(act)
    })
}

/// The strongly connected components of a part of a graph, by who reaches whom.
fn components(graph: &[Vertex], part: &BTreeSet<usize>) -> Vec<BTreeSet<usize>> {
    let mut backwards: Vec<Vec<usize>> = vec![Vec::new(); graph.len()];
    for &at in part {
        for (to, _) in graph[at].edges.iter().filter(|edge| part.contains(&edge.0)) {
            backwards[*to].push(at);
        }
    }
    let reach = |from: usize, back: bool| {
        let mut seen = BTreeSet::from([from]);
        let mut queue = vec![from];
        while let Some(at) = queue.pop() {
            let forth = graph[at].edges.iter().map(|edge| edge.0).filter(|to| part.contains(to));
            let next: Vec<usize> = if back { backwards[at].clone() } else { forth.collect() };
            queue.extend(next.into_iter().filter(|to| seen.insert(*to)));
        }
        seen
    };
    let mut left = part.clone();
    let mut parts = Vec::new();
    while let Some(&first) = left.first() {
        let both: BTreeSet<usize> = reach(first, false).intersection(&reach(first, true)).copied().collect();
        left.retain(|at| !both.contains(at));
        parts.push(both);
    }
    parts
}

/// Whether a schedule shows that an `eventually` is violated, by definition.
pub fn shows(
    protocol: &Protocol,
    fairness: Fairness,
    within: &dyn Fn(&State) -> bool,
    holds: &dyn Fn(&State) -> bool,
    schedule: &Schedule,
) -> bool {
    protocol.follow(schedule).iter().any(|(states, acts)| {
        if states.iter().any(|state| !within(state) || holds(state)) {
            return false;
        }
        let enabled = |state: &State| -> BTreeSet<Act> {
            protocol.nexts(state).iter().map(|next| next.act).filter(|act| act.has_to_happen()).collect()
        };
        let last = states.last().expect("there is a start");
        let Some(back) = schedule.back_to else { return enabled(last).is_empty() };
        let visited: Vec<BTreeSet<Act>> = states[back..].iter().map(enabled).collect();
        let done = acts[back..].iter().copied().collect();
        states[back] == *last && is_fair_round(&visited.iter().collect::<Vec<_>>(), &done, fairness)
    })
}
