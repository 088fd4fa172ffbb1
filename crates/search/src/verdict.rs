//! What a search found: a value, never a silent cut.

use std::fmt;

use crate::system::System;

/// What is known about a system after a search, in one word: of what may be found, the worst comes first.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Verdict {
    /// All was seen, and no execution does what it must not.
    #[default]
    Holds,
    /// Some execution does what it must not: an actor fails, a property does not hold.
    Violated,
    /// Some execution ends while somebody waits for ever, and nothing worse was found.
    Deadlock,
    /// A bound was hit before all was seen, and nothing was found until then.
    NotExhausted,
    /// It cannot be searched: it cannot be made or is not the same twice, or what was asked for does not go together.
    CannotRun,
}

impl Verdict {
    /// What is known where this was found: a violation outweighs a deadlock, and anything found outweighs not having seen all.
    pub fn of<'f, F: Finding + 'f>(found: impl Iterator<Item = &'f F>, is_exhausted: bool) -> Self {
        let worst = found.map(Finding::verdict).min();
        worst.unwrap_or(if is_exhausted { Verdict::Holds } else { Verdict::NotExhausted })
    }

    /// How a command ends: 0 holds, 1 violated or deadlock, 2 cannot run, 3 not exhausted.
    pub fn exit_code(self) -> u8 {
        match self {
            Verdict::Holds => 0,
            Verdict::Violated | Verdict::Deadlock => 1,
            Verdict::CannotRun => 2,
            Verdict::NotExhausted => 3,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Deadlock => "deadlock",
            Verdict::NotExhausted => "not-exhausted",
            Verdict::CannotRun => "cannot-run",
        })
    }
}

/// What may be wrong with an execution: plain data of the system.
pub trait Finding: Clone + Ord + fmt::Debug {
    /// What it makes of the whole.
    fn verdict(&self) -> Verdict;

    /// Whether another is told already that says as much: each kind is told once.
    fn is_told_by(&self, other: &Self) -> bool {
        self == other
    }
}

/// What is to be said to who wrote a program that is not the same twice.
pub const STEADY: &str = "a program must depend on messages and choices only (does it use statics, the clock, random numbers of its own, \
                          or the order of a hash map?)";

/// A program did not do again what it did before: it depends on something else than messages and choices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Divergence {
    /// An actor asked for something else.
    Actor {
        /// Its name.
        name: String,
        /// What it asked for this time, in words; nothing if it had come to its end.
        asked: Option<String>,
        /// What it asked for before, in words.
        before: String,
    },
    /// A condition, in words, gave another answer about the same state.
    Condition(String),
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Actor { name, asked, before } => {
                let did = asked.as_ref().map(|asked| format!("asked for {asked}"));
                let did = did.unwrap_or_else(|| "had come to its end".to_owned());
                write!(f, "actor {name:?} {did} where it asked for {before} before: {STEADY}")
            }
            Self::Condition(what) => {
                write!(f, "not deterministic: {what} gave another answer about the same state: {STEADY}")
            }
        }
    }
}

/// What a search found, in terms of the steps and findings of a system.
#[derive(Clone, PartialEq, Debug)]
pub struct Exploration<Step, Violation> {
    /// The verdict.
    pub verdict: Verdict,
    /// How many complete executions were seen.
    pub executions: u64,
    /// How many steps were taken, repeated ones included.
    pub transitions: u64,
    /// What went wrong, each kind once, with the schedule that shows it.
    pub found: Vec<(Violation, Vec<Step>)>,
    /// How many executions were longer than allowed, and so cut.
    pub cut: u64,
    /// The schedule of the first of them.
    pub cut_schedule: Option<Vec<Step>>,
    /// Why the search makes no sense, if it does not; then the verdict means nothing.
    pub divergence: Option<Divergence>,
}

/// What a search of a system finds.
pub type Found<S> = Exploration<<S as System>::Step, <S as System>::Violation>;

impl<Step, Violation> Default for Exploration<Step, Violation> {
    fn default() -> Self {
        Self {
            verdict: Verdict::default(),
            executions: 0,
            transitions: 0,
            found: Vec::new(),
            cut: 0,
            cut_schedule: None,
            divergence: None,
        }
    }
}
