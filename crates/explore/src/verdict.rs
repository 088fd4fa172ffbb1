//! What an exploration found: a value, never a silent cut.

use std::fmt;

/// What is known about a program after an exploration.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub enum Verdict {
    /// No execution does what it must not.
    #[default]
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
    /// What must be true of several actors was not.
    Invariant {
        /// What it is called.
        name: String,
        /// What it said, if it said something.
        message: Option<String>,
        /// The values that it looks at: what each is called, and what it was.
        values: Vec<(String, String)>,
    },
    /// These actors wait for ever.
    Deadlock {
        /// Their numbers.
        actors: Vec<u32>,
    },
}

impl Violation {
    /// What it makes of the whole.
    pub fn verdict(&self) -> Verdict {
        match self {
            Violation::Failed { .. } | Violation::Invariant { .. } => Verdict::Violated,
            Violation::Deadlock { .. } => Verdict::Deadlock,
        }
    }
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

/// A program did not do again what it did before: it depends on something else than messages and choices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The name of the actor.
    pub actor: String,
    /// What it asked for this time, in words; nothing if it had come to its end.
    pub asked: Option<String>,
    /// What it asked for before, in words.
    pub before: String,
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.asked {
            Some(asked) => write!(f, "actor {:?} asked for {asked}", self.actor),
            None => write!(f, "actor {:?} had come to its end", self.actor),
        }?;
        write!(
            f,
            " where it asked for {} before: a program must depend on messages and choices only (does it use \
             statics, the clock, random numbers of its own, or the order of a hash map?)",
            self.before
        )
    }
}

/// What an exploration found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Exploration {
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
    /// Why the exploration makes no sense, if it does not; then the verdict means nothing.
    pub divergence: Option<Divergence>,
}
