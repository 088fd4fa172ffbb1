//! Traces that are wrong on purpose, in their last entry: whoever compares must see it.

use std::collections::BTreeSet;

use simurgh_kernel::random::Random;

use super::data::{Ask, By, Choice, Entry, Post, Taken, Told};
use super::record::Recorded;

/// What is made wrong.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Mutation {
    /// Two posts of a queue change places.
    Order,
    /// A post is missing in a queue.
    Queue,
    /// A message under way is missing.
    Travel,
    /// Two receives have met each other's sends.
    Partners,
    /// Two posts have not met.
    Meeting,
    /// A step is said to be impossible.
    Impossible,
    /// A step is said to be possible.
    Possible,
    /// An actor was told something else.
    Told,
    /// An actor is dead, or alive.
    Alive,
    /// An actor asks something else than before, without having acted.
    Ask,
    /// The step depends on one that it does not depend on, or the other way round.
    Dependence,
}

/// All kinds of mistakes.
pub const MUTATIONS: [Mutation; 11] = [
    Mutation::Order,
    Mutation::Queue,
    Mutation::Travel,
    Mutation::Partners,
    Mutation::Meeting,
    Mutation::Impossible,
    Mutation::Possible,
    Mutation::Told,
    Mutation::Alive,
    Mutation::Ask,
    Mutation::Dependence,
];

/// The trace up to one of its entries, in which something is wrong; nothing if it has no entry where that is possible.
pub fn mutate(trace: &Recorded, mutation: Mutation, random: &mut Random) -> Option<Recorded> {
    let mut places: Vec<usize> = (1..trace.entries.len()).collect();
    random.shuffle(&mut places);
    places.into_iter().find_map(|place| {
        let mut wrong = Recorded { network: trace.network, entries: trace.entries[..=place].to_vec() };
        let last = wrong.entries.last_mut().expect("it has an entry");
        spoil(last, place, mutation).then_some(wrong)
    })
}

fn spoil(entry: &mut Entry, place: usize, mutation: Mutation) -> bool {
    let seen = &mut entry.seen;
    let mut queues = seen.sends.iter_mut().chain(&mut seen.recvs);
    match mutation {
        Mutation::Order => queues.find(|queue| queue.len() > 1).is_some_and(|queue| {
            queue.swap(0, 1);
            true
        }),
        Mutation::Queue => queues.find(|queue| !queue.is_empty()).is_some_and(|queue| queue.pop().is_some()),
        Mutation::Travel => seen.travel.pop_first().is_some(),
        Mutation::Partners => {
            let pairs: Vec<(Post, Post)> = seen.met.iter().copied().collect();
            let [(one, first), (other, second), ..] = pairs[..] else { return false };
            seen.met.retain(|pair| *pair != (one, first) && *pair != (other, second));
            seen.met.extend([(one, second), (other, first)]);
            true
        }
        Mutation::Meeting => seen.met.pop_last().is_some(),
        Mutation::Impossible => seen.enabled.pop_first().is_some(),
        Mutation::Possible => {
            // An actor that asks for no number cannot choose one.
            let asks_none = |ask: &Option<Ask>| !matches!(ask, Some(Ask::Local { .. }));
            let Some(actor) = entry.asks.iter().position(asks_none) else { return false };
            seen.enabled.insert(Taken { by: By::Actor(actor as u32), choice: Choice::Number(0) })
        }
        Mutation::Told => {
            seen.told[0] = if seen.told[0] == Told::Timeout { Told::Nothing } else { Told::Timeout };
            true
        }
        Mutation::Alive => {
            seen.alive[0] = !seen.alive[0];
            true
        }
        Mutation::Ask => {
            let idle = |actor: &usize| entry.step.is_some_and(|step| step.by != By::Actor(*actor as u32));
            let asks = |actor: &usize| entry.asks[*actor].as_ref().is_some_and(|ask| *ask != Ask::Exit);
            let Some(actor) = (0..entry.asks.len()).find(|actor| idle(actor) && asks(actor)) else {
                return false;
            };
            entry.asks[actor] = Some(Ask::Exit);
            true
        }
        Mutation::Dependence => {
            let none = place == 1;
            if !none && !entry.depends.remove(&(place - 1)) {
                entry.depends.extend(BTreeSet::from([place - 1]));
            }
            !none
        }
    }
}
