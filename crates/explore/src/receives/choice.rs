//! A choice of an execution: what was picked, and what is left to pick.

use smallvec::SmallVec;

use super::graph::PostId;

/// What one choice can be.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Pick {
    /// The post meets this one.
    Meet(PostId),
    /// The post meets only what comes later, or nothing.
    Later,
    /// The wait is for this member of its set.
    Member(u32),
    /// The test finds none complete, or the wait gives up.
    None,
    /// This number is chosen.
    Number(u32),
}

/// The first choices of all executions that are meant: a part of the search.
pub type Path = Vec<Pick>;

/// What can be picked, in the order in which it is tried.
pub(super) type Picks = SmallVec<[Pick; 8]>;

/// A choice of the present execution, and those that are left to try.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) picks: Picks,
    pub(super) at: usize,
    pub(super) waits: Option<Waits>,
}

/// A receive that its process waits for, which may take what is there, or be left for what comes later.
#[derive(Copy, Clone, Debug)]
pub(super) struct Waits {
    pub(super) post: PostId,
    /// Whether something was seen to come that it might take, and did not cause.
    pub(super) is_met: bool,
}

impl Choice {
    pub(super) fn picked(&self) -> Option<Pick> {
        self.picks.get(self.at).copied()
    }

    /// Whether what is next is to wait for what nobody was seen to send.
    pub(super) fn is_in_vain(&self) -> bool {
        self.picked() == Some(Pick::Later) && self.waits.is_some_and(|waits| !waits.is_met)
    }
}
