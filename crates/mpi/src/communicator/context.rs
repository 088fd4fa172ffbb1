//! Contexts: numbers that keep the messages of one communicator from those of another.
//!
//! The first process of a new communicator names its context, and tells the others. A name is the number of that process and a
//! count of its own, so that no two processes ever give the same name, and each follows from the history of one process.

use crate::rank::Rank;

/// From one communicator to the next: the program's messages, collectives, the making of others, and partitions.
pub const STEP: u32 = 4;

/// The context of `MPI_COMM_WORLD`.
pub const WORLD: u32 = 0;

/// The context of `MPI_COMM_SELF`, the same for all: no other process is in it.
pub const SELF: u32 = STEP;

/// The context in which communicators are made of groups alone.
pub const BOOT: u32 = 2 * STEP;

/// The first counts name what is there from the beginning.
const RESERVED: u32 = 4;

/// The bits of a context without those of [`STEP`].
const BITS: u32 = 30;

/// The bits of a count, in a run of so many processes; as many again may be started later, and some thousands in any case.
fn count_bits(size: usize) -> u32 {
    BITS - (usize::BITS - (2 * size).leading_zeros()).clamp(13, BITS - 4)
}

/// How many processes a run may have that begins with so many.
pub fn capacity(size: usize) -> usize {
    1 << (BITS - count_bits(size))
}

/// The context of this name.
fn packed(process: u32, count: u32, size: usize) -> u32 {
    let bits = count_bits(size);
    debug_assert!(count < 1 << bits, "the count is in its bounds");
    (process << bits | count) * STEP
}

impl Rank {
    /// Names contexts for `count` communicators, one [`STEP`] from another; gives the first.
    ///
    /// The counts start again when all were used: the contexts that are named anew are those that were named the longest ago, and
    /// that of no communicator that this process still has.
    pub fn name_contexts(&self, count: u32) -> u32 {
        let size = self.world.size();
        let end = 1 << count_bits(size);
        loop {
            let mut first = self.contexts.get().max(RESERVED);
            if first + count > end {
                first = RESERVED;
                self.wrapped.set(true);
            }
            self.contexts.set(first + count);
            let named = packed(self.process, first, size);
            let contexts = named..named + count * STEP;
            let comms = self.comms.borrow();
            if self.wrapped.get() && comms.iter().any(|comm| contexts.contains(&comm.context)) {
                continue;
            }
            return named;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for size in [1_usize, 5, 4096, 100_000, 1 << 20] {
            let bits = count_bits(size);
            let last = 2 * size as u32 - 1;
            let mut names: Vec<u32> = [0, 1, last / 2 + 1, last]
                .iter()
                .flat_map(|process| [RESERVED, (1 << bits) - 1].map(|count| packed(*process, count, size)))
                .collect();
            names.sort_unstable();
            names.dedup();
            let processes = if last > 1 { 4 } else { 2 };
            assert_eq!(names.len(), 2 * processes, "of {size} processes");
            assert!(capacity(size) > last as usize);
            assert!(names.iter().all(|name| name % STEP == 0 && *name > BOOT));
        }
    }
}
