//! A choice of an execution: what was picked, and what is left to pick.

use std::fmt;
use std::str::FromStr;

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

impl fmt::Display for Pick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pick::Meet(post) => write!(f, "m{post}"),
            Pick::Later => f.write_str("l"),
            Pick::Member(index) => write!(f, "w{index}"),
            Pick::None => f.write_str("n"),
            Pick::Number(number) => write!(f, "c{number}"),
        }
    }
}

impl FromStr for Pick {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse::<u32>().map_err(|_| format!("{text:?} is not a number"));
        match text.split_at_checked(1) {
            Some(("m", post)) => number(post).map(Pick::Meet),
            Some(("w", index)) => number(index).map(Pick::Member),
            Some(("c", chosen)) => number(chosen).map(Pick::Number),
            Some(("l", "")) => Ok(Pick::Later),
            Some(("n", "")) => Ok(Pick::None),
            _ => Err(format!("{text:?} is not a pick: m, w or c with a number, l or n")),
        }
    }
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
}

impl Choice {
    pub(super) fn picked(&self) -> Option<Pick> {
        self.picks.get(self.at).copied()
    }
}
