//! Where a local state comes from: which first causes are in its causal history.
//!
//! First causes are the messages that are there at the start, and that an actor has been moved by something other than a message. They are
//! known over all messages received on the way (docs/search.md). Causal histories are words: with more than 64 causes, several share
//! a bit. That is less telling, not wrong.

use crate::space::Lookup;

/// A set of first causes.
pub(crate) type CausalHistory = u64;

/// Which first causes there are; none by default, where nobody looks at causal histories and all are the same.
#[derive(Default)]
pub(crate) struct Causes {
    /// Whether local states are told apart by their causal histories.
    pub(crate) are_told_apart: bool,
    of_start: Lookup<u32, CausalHistory>,
}

impl Causes {
    /// The messages that are there at some start, and local events of each actor.
    pub(crate) fn new(actors: usize, flying: impl Iterator<Item = u32>) -> Self {
        let mut of_start = Lookup::default();
        for envelope in flying {
            let next = actors + of_start.len();
            of_start.entry(envelope).or_insert(bit(next));
        }
        Self { are_told_apart: true, of_start }
    }

    /// The causal history of a message that is there at the start.
    pub(crate) fn of_start(&self, envelope: u32) -> CausalHistory {
        self.of_start.get(&envelope).copied().unwrap_or(0)
    }

    /// What a timeout, a crash or a recovery adds to the causal history of an actor.
    pub(crate) fn of_local_event(&self, actor: u32) -> CausalHistory {
        if self.are_told_apart { bit(actor as usize) } else { 0 }
    }
}

fn bit(cause: usize) -> CausalHistory {
    1 << (cause % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_have_bits_of_their_own_as_long_as_there_are_any() {
        let causes = Causes::new(3, [7, 9, 7].into_iter());
        assert_eq!((causes.of_local_event(2), causes.of_start(7), causes.of_start(9)), (4, 8, 16));
        assert_eq!(causes.of_start(8), 0);
        let many = Causes::new(60, 0..10);
        assert_eq!((many.of_start(3), many.of_start(4)), (1 << 63, 1));
        assert_eq!((Causes::default().of_start(0), Causes::default().of_local_event(0)), (0, 0));
    }
}
