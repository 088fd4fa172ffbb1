//! A system without the types of its actors and messages: what searches and executions see of it.

use std::sync::Arc;

use crate::history::Recorder;
use crate::ids::ActorId;
use crate::intern::Permutations;
use crate::message::Message;
use crate::network::Network;
use crate::node::Kind;
use crate::property::Property;

/// How many actors may be exchanged for each other: there are 720 ways for six.
const SYMMETRIC_MAX: usize = 6;

pub(crate) type MakeRecorder = Arc<dyn Fn(Permutations) -> Box<dyn Recorder> + Send + Sync>;
pub(crate) type Within = Arc<dyn Fn(&crate::States<'_>) -> bool + Send + Sync>;

/// Actors, what the network may do to them, and what is to hold.
#[derive(Clone, Default)]
pub(crate) struct Model {
    pub(crate) kinds: Vec<Arc<dyn Kind>>,
    pub(crate) network: Network,
    pub(crate) lossy: bool,
    pub(crate) crashes_max: usize,
    pub(crate) flying: Vec<(ActorId, ActorId, Message)>,
    pub(crate) symmetric: Vec<Vec<ActorId>>,
    pub(crate) properties: Vec<Property>,
    pub(crate) recorder: Option<MakeRecorder>,
    pub(crate) within: Option<Within>,
    pub(crate) has_two_histories: bool,
}

impl Model {
    pub(crate) fn permutations(&self) -> Permutations {
        Arc::new(permutations(&self.symmetric, self.kinds.len()))
    }

    /// What is wrong with the way it is put together, if anything is.
    pub(crate) fn mistake(&self) -> Option<String> {
        let count = self.kinds.len();
        let outside = |actor: &&ActorId| actor.index() >= count;
        if count == 0 {
            return Some("the system has no actors: add some with actor()".into());
        }
        if self.has_two_histories {
            return Some("history() is there twice: keep one, of a type that has both in it".into());
        }
        let mut exchanged = self.symmetric.concat();
        if let Some(actor) = exchanged.iter().find(outside) {
            return Some(format!("symmetric(): there is no actor {actor}, only {count} actors"));
        }
        let asked = exchanged.len();
        if asked > SYMMETRIC_MAX {
            return Some(format!(
                "symmetric(): {asked} actors are exchanged, at most {SYMMETRIC_MAX} can be"
            ));
        }
        exchanged.sort_unstable();
        if let Some(twice) = exchanged.windows(2).find(|pair| pair[0] == pair[1]) {
            return Some(format!("symmetric(): actor {} is named twice", twice[0]));
        }
        if let Some((from, to, _)) = self.flying.iter().find(|(from, to, _)| outside(&from) || outside(&to)) {
            return Some(format!("in_flight(): a message from {from} to {to}, but there are {count} actors"));
        }
        None
    }
}

/// Every way to exchange those of each group among each other, as what becomes of each actor; the first is to leave them.
fn permutations(groups: &[Vec<ActorId>], count: usize) -> Vec<Vec<u32>> {
    let mut all = vec![(0..count as u32).collect::<Vec<u32>>()];
    for (group, last) in groups.iter().flat_map(|group| (0..group.len()).map(move |last| (group, last))) {
        for at in 0..all.len() {
            for other in &group[..last] {
                let mut images = all[at].clone();
                images.swap(group[last].index(), other.index());
                all.push(images);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_permutations_are_there_once_and_the_first_changes_nothing() {
        for (symmetric, expected) in [(0, 1), (1, 1), (2, 2), (3, 6), (4, 24), (5, 120)] {
            let ids: Vec<ActorId> = (1..=symmetric).map(ActorId).collect();
            let others = vec![ActorId(0), ActorId(6)];
            for (groups, expected) in [(vec![ids.clone()], expected), (vec![ids, others], 2 * expected)] {
                let all = permutations(&groups, 7);
                let distinct: std::collections::BTreeSet<_> = all.iter().collect();
                assert_eq!((all.len(), distinct.len()), (expected, expected));
                assert_eq!(all[0], (0..7).collect::<Vec<u32>>());
            }
        }
    }
}
