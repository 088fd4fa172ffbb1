//! Are actors that are said to be symmetric treated alike: by handlers, conditions, the boundary and the history?
//!
//! With symmetry, one state stands for all that differ only in who is who. That is right only if conditions say the same of all
//! of them. Nobody knows how to exchange actors inside of a state, since only its hash knows where they are; but the state in
//! which they are exchanged is found by exchanging them in all that has happened. So the way to a state is gone once more for
//! every way to exchange actors, for the first states of a search and for samples of the others, and what is said is compared.

use simurgh_search::space::{StateSpace, Steps};

use crate::evaluate::{Found, failed};
use crate::session::Session;
use crate::space::Space;
use crate::successors::Successors;

/// How many of the first states are looked at under all permutations, times the number of those.
const FIRST: usize = 8192;

/// At least so many of the first states are looked at under one permutation each.
const SOME: usize = 128;

/// One of how many of the other states is looked at.
const SAMPLE: usize = 1024;

/// So many steps may be gone once more, beside one for each state: a search in depth has long ways.
const STEPS: usize = 1 << 15;

/// Whether a state is to be looked at, by its number.
pub(crate) fn is_sample(session: &Session<'_>, number: usize) -> bool {
    let permutations = session.space.permutations.len();
    let is_meant = number < (FIRST / permutations).max(SOME) || number.is_multiple_of(SAMPLE);
    permutations > 1 && is_meant && session.gone_again <= STEPS + number
}

/// Compares a state with others that count as the same; `way` leads to it from a start.
pub(crate) fn compare(session: &mut Session<'_>, number: usize, way: &[&[u32]]) {
    // The first one leaves all as it is.
    let others = session.space.permutations.len() - 1;
    let which =
        if number < FIRST / (others + 1) { 1..others + 1 } else { 1 + number % others..2 + number % others };
    for exchange in which {
        session.gone_again += way.len();
        let answer = match other(session, way, exchange) {
            Some(other) => same(session, way[way.len() - 1], &other),
            None => Err("the actors or the history behave differently when actors are exchanged; do handlers or history() \
                         compare identities for order or keep them as numbers, or were the actors built with different numbers?"
                .into()),
        };
        if let Err(why) = answer {
            return session.fail(format!("symmetric(): {why}"));
        }
    }
}

/// The state that is reached when actors are exchanged in all that happened; nothing if there is none.
fn other(session: &mut Session<'_>, way: &[&[u32]], exchange: usize) -> Option<Vec<u32>> {
    let starts = session.starts.iter().map(Vec::as_slice).collect::<Vec<_>>();
    let mut state = image(&session.space, &starts, way[0], exchange)?.to_vec();
    let mut next = Successors::default();
    for of in &way[1..] {
        next.clear();
        session.space.expand_learning(Steps::Effective, &state, &mut next);
        let states = next.list.iter().map(|successor| next.state(successor)).collect::<Vec<_>>();
        state = image(&session.space, &states, of, exchange)?.to_vec();
    }
    Some(state)
}

/// Which of some states is another with actors exchanged. Where values do not hash as what they are renamed to, one that
/// counts as the same will do.
fn image<'a>(space: &Space, states: &[&'a [u32]], of: &[u32], exchange: usize) -> Option<&'a [u32]> {
    let exact = space.hash_under(of, exchange);
    let found = states.iter().find(|state| space.hash_under(state, 0) == exact);
    found.or_else(|| states.iter().find(|state| space.hash(state) == space.hash(of))).copied()
}

/// Whether everything that is asked of two states has the same answer.
fn same(session: &mut Session<'_>, one: &[u32], other: &[u32]) -> Result<(), String> {
    let inside = session.is_within(one);
    if inside != session.is_within(other) && session.broken_boundary().is_none() {
        return Err(
            "within() tells actors apart that are exchanged for each other; it may not name an actor".into(),
        );
    }
    if !inside || failed(&session.space, one, None) {
        return Ok(());
    }
    for (at, property) in session.system.properties.iter().enumerate() {
        let space = &session.space;
        let [one, other] =
            [one, other].map(|state| session.evaluator.decides(at, Found { space, state }, None));
        if one != other && session.evaluator.panic.take().is_none() {
            return Err(format!(
                "\"{}\" tells actors apart that are exchanged for each other; take symmetric() away, or ask for \
                 something that does not name an actor",
                property.name
            ));
        }
    }
    Ok(())
}
