//! Identities: small numbers with a type each, so that one cannot be taken for another.

use std::fmt;

macro_rules! identity {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// The position of this identity in a table.
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The identity at a position of a table.
            ///
            /// # Panics
            /// If there are more than four billion of them.
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("fewer than 2^32 objects of a kind"))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

identity!(
    /// An actor. Numbers follow the order of creation and are never used again.
    ActorId
);
identity!(
    /// A meeting point of sends and receives.
    MailboxId
);
identity!(
    /// A mutual exclusion lock.
    MutexId
);
identity!(
    /// A counting semaphore.
    SemaphoreId
);
identity!(
    /// A condition variable.
    ConditionId
);
identity!(
    /// A barrier.
    BarrierId
);

identity!(
    /// A value that actors show.
    ExposedId
);

/// A communication, execution, disk access or parallel task that was started and can be waited for.
///
/// Slots are used again; the generation tells an old identity from the new tenant of its slot. Both ends of a
/// communication have the same identity, and each knows which end it is, which is not part of the identity.
#[derive(Copy, Clone)]
pub struct ActivityId(
    /// From the least bit on: 32 of the slot, [`GENERATION_BITS`] of the generation, and whether it is the receiving end.
    u64,
);

/// Two bits of a number that stands for an activity stay free, for the drivers' tokens.
pub(crate) const GENERATION_BITS: u32 = 30;
const RECEIVING: u64 = 1 << 63;

impl ActivityId {
    #[inline]
    pub(crate) fn new(slot: u32, generation: u32) -> Self {
        debug_assert!(generation >> GENERATION_BITS == 0);
        Self(u64::from(generation) << 32 | u64::from(slot))
    }

    #[inline]
    pub(crate) fn slot(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    pub(crate) fn generation(self) -> u32 {
        ((self.0 & !RECEIVING) >> 32) as u32
    }

    /// The slot of this activity in the kernel's table.
    #[inline]
    pub fn index(self) -> usize {
        self.slot() as usize
    }

    /// Folds the identity into a number, for the models to carry.
    #[inline]
    pub fn to_bits(self) -> u64 {
        self.0 & !RECEIVING
    }

    /// Reads back what [`to_bits`](Self::to_bits) wrote.
    #[inline]
    pub fn from_bits(bits: u64) -> Self {
        Self(bits & !RECEIVING)
    }

    /// Whether this is the receiving end of a communication.
    #[inline]
    pub fn is_receiving(self) -> bool {
        self.0 & RECEIVING != 0
    }

    /// The same communication, seen from its receiving end.
    #[inline]
    pub(crate) fn received(self) -> Self {
        Self(self.0 | RECEIVING)
    }
}

impl fmt::Debug for ActivityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ActivityId({self}{})", if self.is_receiving() { ", receiving" } else { "" })
    }
}

impl PartialEq for ActivityId {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Eq for ActivityId {}

impl PartialOrd for ActivityId {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ActivityId {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.to_bits().cmp(&other.to_bits())
    }
}

impl std::hash::Hash for ActivityId {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.to_bits().hash(state);
    }
}

impl fmt::Display for ActivityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.slot(), self.generation())
    }
}
