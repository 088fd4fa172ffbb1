//! Messages that can never have an effect again, where all local states are known.
//!
//! For `eventually` it matters that a message that was ignored is gone, so that every message that may be ignored now is a step,
//! in every order with all others. Most of these could just as well wait: whatever their receiver does from here on, it will
//! ignore them. Nothing depends on when they are received, so it is done at once, and is the only step (a persistent set).

use std::collections::BTreeMap;

use crate::local::bits::Bits;
use crate::network::Network;
use crate::space::{Move, Space, TIMEOUT};

/// For each message, the states of its receiver from which it may still have an effect; nothing is known by default.
#[derive(Default)]
pub(crate) struct Inert {
    live: BTreeMap<u32, Bits>,
    /// How many local states of each actor are known.
    locals: Vec<usize>,
    /// Whether messages are received once, so that those that have no effect can be done with.
    is_known: bool,
}

impl Inert {
    /// What follows from all reactions that are known: of all local states, after a search of the whole space.
    pub(crate) fn new(space: &Space) -> Self {
        let mut live = BTreeMap::new();
        for (actor, reacted) in space.reacted.iter().enumerate() {
            let mut backwards: Vec<Vec<u32>> = vec![Vec::new(); space.nodes[actor].len()];
            let mut effects: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for &(local, event) in reacted {
                let Ok(reactions) = space.reactions_to(actor as u32, local, event) else { continue };
                for reaction in reactions.effective() {
                    backwards[space.reaction(reaction).local as usize].push(local);
                }
                if event < TIMEOUT && !reactions.effective().is_empty() {
                    effects.entry(event).or_default().push(local);
                }
            }
            let reaching = |(message, ends)| (message, Bits::reaching(ends, &backwards));
            live.extend(effects.into_iter().map(reaching));
        }
        let locals = space.nodes.iter().map(|node| node.len()).collect();
        Self { live, locals, is_known: space.network == Network::Unordered }
    }

    /// Whether a step is the receipt of a message that can never have an effect again.
    pub(crate) fn is_done_with(&self, state: &[u32], step: Move) -> bool {
        let Move::Event { actor, event, .. } = step else { return false };
        let (actor, local) = (actor as usize, state[actor as usize]);
        let may_have_effect = |live: &Bits| live.get(local) || local as usize >= self.locals[actor];
        self.is_known && event < TIMEOUT && !self.live.get(&event).is_some_and(may_have_effect)
    }
}
