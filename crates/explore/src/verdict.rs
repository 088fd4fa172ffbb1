//! What an exploration found: a value, never a silent cut.

use std::fmt;

/// What is known about a program after an exploration.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// No execution does what it must not.
    Holds,
    /// Some execution violates an assertion, or panics.
    Violated,
    /// Some execution ends with actors that wait for ever.
    Deadlock,
    /// A bound was hit before all was seen, and nothing was found until then.
    NotExhausted,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Deadlock => "deadlock",
            Verdict::NotExhausted => "not-exhausted",
        })
    }
}

/// What went wrong in an execution.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Violation {
    /// An actor failed: an assertion, a panic, an error; who, and what it said.
    Failed {
        /// The actor's number.
        actor: u32,
        /// What it said.
        message: String,
    },
    /// These actors wait for ever.
    Deadlock {
        /// Their numbers.
        actors: Vec<u32>,
    },
}

/// One step of a schedule: which actor's request is served, and which of its outcomes is taken.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Step {
    /// The actor; the network itself when a message under way arrives.
    pub actor: u32,
    /// Which outcome, where the request has several (which of the activities of a wait, which number of a choice, which
    /// message arrives).
    pub choice: u32,
}

impl Step {
    /// Stands for the network in place of an actor.
    pub const NETWORK: u32 = u32::MAX;
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.choice == 0 {
            write!(f, "{}", self.actor)
        } else {
            write!(f, "{}/{}", self.actor, self.choice)
        }
    }
}

impl std::str::FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (actor, choice) = text.split_once('/').unwrap_or((text, "0"));
        let number = |text: &str| text.parse().map_err(|_| format!("{text:?} is not the number of a step"));
        Ok(Step { actor: number(actor)?, choice: number(choice)? })
    }
}

/// What an exploration found.
#[derive(Clone, PartialEq, Debug)]
pub struct Exploration {
    /// The verdict.
    pub verdict: Verdict,
    /// How many complete executions were seen.
    pub executions: u64,
    /// How many steps were taken, repeated ones included.
    pub transitions: u64,
    /// What went wrong, each kind once, with the schedule that shows it.
    pub found: Vec<(Violation, Vec<Step>)>,
}
