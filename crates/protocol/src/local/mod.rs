//! Local search: the local states of each actor by themselves, and whole systems only where something seems to be wrong.
//!
//! After "Local model checking" (seed 003 of the design; figure 9). `graph` explores local states over one network that only
//! grows. `goals` puts local states together into what would decide a property: all of them (LMC-GEN), or only those
//! that a property can tell apart (LMC-OPT). `verify` finds out whether such a combination can really be there, and
//! by which schedule. Where this departs from the paper:
//!
//! - One question is asked for all combinations of a kind (some state of this actor that has chosen 1, with some
//!   state of that one that has chosen 2), not one for each combination.
//! - A question is answered by a search through what can contribute to the answer, not by listing sequences of events. That
//!   is exact, with messages that are received twice, with cycles and self-references; so are histories, and what seemed
//!   to be refuted is asked again when there are more local states. In the paper's tool these were shortcuts (its 4.2).
//! - Local states that cannot be there together are known in pairs, see `coexistence`; much never gets as far as a question.
//! - Where pairs do not tell enough, local states are told apart by where they come from, too, see `causal_history`.

pub(crate) mod bits;
mod causal_history;
mod coexistence;
mod dovetail;
pub(crate) mod goals;
pub(crate) mod graph;
pub(crate) mod verify;

use simurgh_search::StateSpace;

use crate::model::Model;
use crate::property::{Kind, Mode as When, Property};
use crate::session::Session;
use dovetail::Dovetail;
pub(crate) use goals::Mode;
use goals::{Goal, goals, of_boundary};
use graph::Graph;
use verify::{Answer, verify};

/// How local search goes about it. The default is what is fastest as a rule; the rest shows what each idea is worth.
#[derive(Clone, Debug)]
pub struct Options {
    /// Do not receive what was sent once and has been received: otherwise every message may be received again and again.
    pub histories: bool,
    /// Know which local states can be there together: otherwise, as in the paper, everything meets everything.
    pub coexistence: bool,
    /// With more local states than this, `coexistence` is given up, since its memory is quadratic.
    pub coexistence_states_max: usize,
    /// With more local states than this, they are told apart by their causal histories, too: by a second exploration, which takes
    /// turns with the first. It has more states for the same system, but knows more of what cannot be, and so it may end
    /// where the other does not.
    pub causal_histories_from: usize,
    /// Verify while there are local states to come: otherwise only in the end, when all are known.
    pub early: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            histories: true,
            coexistence: true,
            coexistence_states_max: 20_000,
            causal_histories_from: 2_000,
            early: true,
        }
    }
}

/// What cannot be checked in this way, if there is anything.
fn refusal(system: &Model) -> Option<String> {
    let unseen = system.properties.iter().find_map(|Property { name, mode, condition }| {
        let why = match (mode, &condition.kind) {
            (When::Eventually, _) => "is an eventually",
            (_, Kind::World(_)) => "looks at the network",
            _ => return None,
        };
        Some(format!("\"{name}\" {why}, which local search cannot see: use bfs or dfs"))
    });
    // What a history is told may panic, even where nobody looks at it.
    let untold = "history() has an order, which local search does not know: use bfs or dfs, or take it away";
    unseen.or_else(|| system.recorder.is_some().then(|| untold.into()))
}

pub(crate) fn search(session: &mut Session<'_>, mut options: Options, mode: Mode) {
    if let Some(why) = refusal(session.system) {
        return session.fail(why);
    }
    options.histories &= session.space.network != crate::Network::Duplicating;
    let (early, mut dovetail) = (options.early, Dovetail::new(session, options));
    while session.wants_more() {
        let (graph, states_max) = dovetail.next(session);
        let ended = explore(session, graph, states_max);
        // Most of what is asked early is asked again later: so only when there is twice as much to ask about.
        let has_grown = early && graph.edges.len() >= 2 * graph.asked_at;
        if session.cut.is_none() && (ended || has_grown) {
            graph.asked_at = graph.edges.len();
            questions(session, graph, mode, !ended);
        }
        if session.cut.is_some() {
            break;
        }
        if ended {
            session.cut = what_is_missing(session, graph);
            break;
        }
    }
    dovetail.report(&mut session.report);
}

/// What was left out, where all local states are known.
fn what_is_missing(session: &Session<'_>, graph: &Graph) -> Option<String> {
    let depth = graph.cut_at.map(|depth| format!("{depth} steps of one actor were the bound"));
    let unanswered = Some(session.unanswered).filter(|unanswered| *unanswered > 0);
    depth.or(unanswered.map(|number| format!("{number} suspicions could not be verified in time")))
}

/// Explores until there is about twice as much as before; whether all local states are known.
fn explore(session: &mut Session<'_>, graph: &mut Graph, states_max: usize) -> bool {
    let mut left = graph.edges.len().max(256);
    while left > 0 && graph.states <= states_max {
        let some = left.min(64);
        let ended = graph.explore(&mut session.space, some);
        if ended || !session.wants_more() {
            return ended;
        }
        left -= some;
        if session.over_often(graph.progress()) {
            return false;
        }
    }
    false
}

/// Puts together what would decide a property, and asks whether it can be there.
fn questions(session: &mut Session<'_>, graph: &Graph, mode: Mode, bounded: bool) {
    session.unanswered = 0;
    let states_max = if bounded { 1_000 + 2 * graph.edges.len() } else { usize::MAX };
    for goal in goals(session, graph, mode) {
        ask(session, graph, &goal, states_max);
    }
    // A boundary may panic where nothing seems to be wrong. That is many states: so only in the end, if all else is well.
    if !bounded
        && session.wants_more()
        && session.cut.is_none()
        && let Some(goal) = of_boundary(session, graph)
    {
        ask(session, graph, &goal, states_max);
    }
}

fn ask(session: &mut Session<'_>, graph: &Graph, goal: &Goal, states_max: usize) {
    if !session.wants_more() || session.cut.is_some() {
        session.unanswered += 1;
        return;
    }
    if !session.is_open(goal.decides) {
        return;
    }
    session.report.suspicions += 1;
    match verify(session, graph, goal, states_max) {
        Answer::Real(decided, schedule) => session.decide(decided, schedule),
        Answer::Impossible => {}
        Answer::Unknown => session.unanswered += 1,
    }
}
