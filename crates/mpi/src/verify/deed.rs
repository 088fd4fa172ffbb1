//! What accesses to windows do, and which of them conflict (MPI 5.0, 12.7).

use crate::operator::Predefined;

/// The number that stands for the operator of a comparison and swap.
const SWAP: usize = usize::MAX - 1;

/// What an access does.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Deed {
    /// A put.
    Put,
    /// A get.
    Get,
    /// An accumulate: its operator, and the kind of number.
    Accumulate(usize, usize),
    /// A load of the process itself.
    Load,
    /// A store of the process itself.
    Store,
}

impl Deed {
    /// A comparison, and a swap, of this kind of number: it meets any other accumulate.
    pub fn swap(kind: usize) -> Self {
        Deed::Accumulate(SWAP, kind)
    }

    pub(super) fn writes(self) -> bool {
        match self {
            Deed::Put | Deed::Store => true,
            Deed::Accumulate(operator, _) => operator != Predefined::NoOp as usize,
            Deed::Get | Deed::Load => false,
        }
    }

    /// Whether it changes the window of another, whatever is there.
    pub(super) fn updates(self) -> bool {
        match self {
            Deed::Put => true,
            Deed::Accumulate(operator, _) => ![Predefined::NoOp as usize, SWAP].contains(&operator),
            Deed::Get | Deed::Load | Deed::Store => false,
        }
    }

    /// Whether it is by the program itself.
    pub(super) fn is_local(self) -> bool {
        matches!(self, Deed::Load | Deed::Store)
    }

    pub(super) fn conflicts(self, other: Deed) -> bool {
        match (self, other) {
            (Deed::Accumulate(one, of), Deed::Accumulate(two, what)) => {
                // What replaces, and what fetches alone, may meet any other: programs make locks of them.
                let is_plain = |op: usize| {
                    ![Predefined::NoOp as usize, Predefined::Replace as usize, SWAP].contains(&op)
                };
                (one != two && is_plain(one) && is_plain(two)) || of != what
            }
            _ => self.writes() || other.writes(),
        }
    }

    pub(super) fn in_words(self) -> &'static str {
        match self {
            Deed::Put => "a put",
            Deed::Get => "a get",
            Deed::Accumulate(..) => "an accumulate",
            Deed::Load => "a load",
            Deed::Store => "a store",
        }
    }
}
