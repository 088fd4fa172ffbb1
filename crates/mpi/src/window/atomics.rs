//! What is atomic at a process of a window, and who does not do it at once with whom.
//!
//! In simulated time, those that bring data back hold a lock while these are under way. Where executions are explored the lock is what
//! makes the search try both orders of two accesses. Most programs accumulate by one operator, in any order with one result: it is tried
//! only where two accesses met whose order matters. Then each process has a lock of its own for its updates, and whoever reads
//! holds them all; or, if the order of updates matters too, there is one lock for all.

use std::rc::Rc;

use simurgh_kernel::ids::MutexId;
use smallvec::SmallVec;

use super::{Exposed, Window};
use crate::operator::Predefined;
use crate::rank::Rank;
use crate::verify::Deed;
use crate::world::Learned;

/// What an atomic access does at its target.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    /// It changes data, and brings nothing back.
    Updates,
    /// It brings data back.
    Reads,
    /// It brings data back, and changes them if they are what is expected.
    Swaps,
    /// It brings data back, and changes them.
    Both,
}

/// How a program accesses windows atomically.
#[derive(Debug, Default)]
pub struct Atomics {
    /// Updates met accesses that bring data back.
    ordered: Learned,
    /// Updates met others, and what comes last is what stays.
    exclusive: Learned,
}

impl Atomics {
    /// Two accesses to one place that nothing orders: what they do, and whether they only update it.
    pub fn meet(&self, (one, one_updates): (Deed, bool), (two, two_updates): (Deed, bool)) {
        let (Deed::Accumulate(one, _), Deed::Accumulate(two, _)) = (one, two) else { return };
        match (one_updates, two_updates) {
            (true, true) if one != two || one == Predefined::Replace as usize => self.exclusive.is_seen(),
            (true, true) | (false, false) => {}
            (true, false) | (false, true) => self.ordered.is_seen(),
        }
    }

    /// Whether it turned out that orders matter, and is not known.
    pub fn has_news(&self) -> bool {
        self.ordered.is_news() || self.exclusive.is_news()
    }

    /// Whether it turned out that orders matter, and was not known before. It is known from now on.
    pub fn has_learned(&self) -> bool {
        self.ordered.has_learned() | self.exclusive.has_learned()
    }

    /// Whether updates and reads have an order.
    pub fn are_ordered(&self) -> bool {
        self.ordered.is_known()
    }

    /// Whether updates have one, too.
    pub fn are_exclusive(&self) -> bool {
        self.exclusive.is_known()
    }

    /// What is known from the beginning.
    pub fn know(&self, ordered: bool, exclusive: bool) {
        for (learned, is_known) in [(&self.ordered, ordered), (&self.exclusive, exclusive)] {
            if is_known {
                learned.know();
            }
        }
    }
}

impl Rank {
    /// The locks that an access holds.
    fn atomic_locks(&self, at: &Exposed, effect: Effect) -> SmallVec<[MutexId; 4]> {
        let (atomics, only_updates) = (&self.world.atomics, effect == Effect::Updates);
        let one = || SmallVec::from_slice(&[at.names.atomic]);
        if !self.world.explored {
            return if only_updates { SmallVec::new() } else { one() };
        }
        let own = at.names.of_origin(self.process);
        match (atomics.are_exclusive(), atomics.are_ordered()) {
            (false, false) if only_updates => SmallVec::new(),
            (false, true) => match own {
                Some(own) if only_updates => SmallVec::from_slice(&[own]),
                Some(_) => at.names.of_origins().collect(),
                None => one(),
            },
            _ => one(),
        }
    }

    /// Accesses a rank atomically.
    pub(super) fn atomically<T>(
        &self,
        window: &Rc<Window>,
        rank: usize,
        effect: Effect,
        access: impl FnOnce() -> T,
    ) -> T {
        let locks = self.atomic_locks(window.exposed(rank), effect);
        let hold = || locks.iter().for_each(|lock| self.hold(*lock));
        let give_back = || locks.iter().rev().for_each(|lock| self.give_back(*lock));
        match effect {
            // It may be a poll.
            Effect::Reads | Effect::Swaps => {
                self.polls_memory();
                self.while_polling(hold);
            }
            _ => hold(),
        }
        if effect != Effect::Updates {
            self.reads_atomically(window, rank);
        }
        if effect != Effect::Reads && !locks.is_empty() {
            self.writes_atomically(window, rank);
        }
        let result = access();
        match effect {
            Effect::Reads | Effect::Swaps => self.while_polling(give_back),
            _ => give_back(),
        }
        result
    }
}
