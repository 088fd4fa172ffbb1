//! Those who wait for one thing, in the order in which they came.
//!
//! Somebody may leave from the middle: by a timeout, or as it is killed. To look for its place would make a crowd that leaves
//! quadratic, so it only leaves a mark: the oldest entries of an actor that is marked so many times do not count. They are
//! passed over when they come to the front, and swept away when they are more than the others.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher};

use crate::ids::ActorId;

#[derive(Clone, Debug, Default)]
pub(super) struct WaitQueue {
    entries: VecDeque<ActorId>,
    /// How many of the entries of an actor do not count any more; those are its oldest.
    left: BTreeMap<ActorId, u32>,
    /// The sum of these.
    gone: usize,
}

impl WaitQueue {
    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.gone
    }

    /// Somebody comes, and is the last.
    pub(super) fn push(&mut self, actor: ActorId) {
        self.entries.push_back(actor);
    }

    /// Whoever has waited longest.
    pub(super) fn pop(&mut self) -> Option<ActorId> {
        loop {
            let first = self.entries.pop_front()?;
            if self.gone == 0 || !pass_over(&mut self.left, &mut self.gone, first) {
                return Some(first);
            }
        }
    }

    /// Somebody who waits does so no longer.
    pub(super) fn leave(&mut self, actor: ActorId) {
        if self.entries.back() == Some(&actor) {
            self.entries.pop_back();
            return;
        }
        *self.left.entry(actor).or_insert(0) += 1;
        self.gone += 1;
        if self.gone > self.len() + 16 {
            let Self { entries, left, gone } = self;
            entries.retain(|&entry| !pass_over(left, gone, entry));
        }
    }

    /// Those who wait, the first to come first.
    pub(super) fn iter(&self) -> impl Iterator<Item = ActorId> {
        let (mut left, mut gone) = (self.left.clone(), self.gone);
        self.entries.iter().copied().filter(move |&entry| !pass_over(&mut left, &mut gone, entry))
    }
}

/// Whether this entry, the oldest of its actor, does not count; then it is forgotten.
fn pass_over(left: &mut BTreeMap<ActorId, u32>, gone: &mut usize, entry: ActorId) -> bool {
    let Some(count) = left.get_mut(&entry) else { return false };
    *count -= 1;
    *gone -= 1;
    if *count == 0 {
        left.remove(&entry);
    }
    true
}

/// What is left of those who went away makes no difference.
impl Hash for WaitQueue {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.len().hash(hasher);
        self.iter().for_each(|actor| actor.hash(hasher));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    /// Against a list from which whoever leaves is taken out.
    #[test]
    fn it_is_a_queue_that_can_be_left() {
        let mut random = Random::new(5, 1);
        for _ in 0..200 {
            let (mut queue, mut list) = (WaitQueue::default(), Vec::new());
            for _ in 0..random.below(400) {
                let actor = ActorId(random.below(12) as u32);
                match random.below(5) {
                    0 | 1 if !list.contains(&actor) => {
                        queue.push(actor);
                        list.push(actor);
                    }
                    2 => {
                        let first = (!list.is_empty()).then(|| list.remove(0));
                        assert_eq!(queue.pop(), first);
                    }
                    _ if list.contains(&actor) => {
                        queue.leave(actor);
                        list.retain(|&other| other != actor);
                    }
                    _ => {}
                }
                assert_eq!(queue.len(), list.len());
                assert_eq!(queue.iter().collect::<Vec<_>>(), list);
                assert!(queue.entries.len() <= 2 * list.len() + 17, "what has left is swept away");
            }
        }
    }
}
