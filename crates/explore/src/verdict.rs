//! What may be wrong with an execution of actors, and how its steps are written.

use std::fmt;

pub use simurgh_search::{Divergence, Finding, Verdict};

use crate::determinism::{Posted, Traffic};

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
    /// An actor does not communicate as it did in another execution.
    Varies {
        /// The actor's number.
        actor: u32,
        /// What it is that differs.
        what: Traffic,
        /// Which one of them, from 0.
        number: usize,
        /// What it was in the other execution; nothing if the actor came to its end before.
        first: Option<Posted>,
        /// What it is here; nothing if the actor came to its end before.
        second: Option<Posted>,
        /// The other execution.
        other: Vec<Step>,
    },
    /// These actors wait for ever.
    Deadlock {
        /// Their numbers.
        actors: Vec<u32>,
    },
}

impl Finding for Violation {
    fn verdict(&self) -> Verdict {
        if matches!(self, Violation::Deadlock { .. }) { Verdict::Deadlock } else { Verdict::Violated }
    }

    /// An invariant is told once, with the first values that are wrong; so is an actor that varies.
    fn is_told_by(&self, other: &Self) -> bool {
        match (other, self) {
            (Violation::Invariant { name: a, .. }, Violation::Invariant { name: b, .. }) => a == b,
            (Violation::Varies { actor: a, what: x, .. }, Violation::Varies { actor: b, what: y, .. }) => {
                (a, x) == (b, y)
            }
            (other, own) => other == own,
        }
    }
}

/// One step of a schedule: which actor's request is served, and which of its outcomes is taken.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
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
    /// The choice that stands for a timeout, or for nothing being over.
    pub const OTHERWISE: u32 = u32::MAX;
    /// The choice that stands for the loss of a message, when it is sent.
    pub const LOST: u32 = u32::MAX - 1;
    /// The choice that stands for a message that arrives twice, when it is sent.
    pub const TWICE: u32 = u32::MAX - 2;
    /// How many bits of the choice of an arrival are the number of the message.
    const NUMBER_BITS: u32 = 20;
    /// Of so many actors, the arrivals of messages have names.
    pub const SENDERS_MAX: u32 = 1 << (32 - Self::NUMBER_BITS);

    /// The arrival of a message: who sent it, and how many posts that actor had made before.
    pub fn arrival(sender: u32, number: u32) -> Step {
        let has_name = sender < Self::SENDERS_MAX && number < 1 << Self::NUMBER_BITS;
        assert!(has_name, "names are for 2^20 messages each of 4096 actors, not for {sender}.{number}");
        Step { actor: Self::NETWORK, choice: sender << Self::NUMBER_BITS | number }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Step { actor, choice } = *self;
        match (actor, choice) {
            (Self::NETWORK, message) => {
                let (sender, number) =
                    (message >> Self::NUMBER_BITS, message & ((1 << Self::NUMBER_BITS) - 1));
                write!(f, "net/{sender}.{number}")
            }
            (actor, 0) => write!(f, "{actor}"),
            (actor, Self::OTHERWISE) => write!(f, "{actor}/-"),
            (actor, Self::LOST) => write!(f, "{actor}/lost"),
            (actor, Self::TWICE) => write!(f, "{actor}/twice"),
            (actor, choice) => write!(f, "{actor}/{choice}"),
        }
    }
}

impl std::str::FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{text:?} is not a step: it is the number of an actor, such as 2; with its choice, 2/1, 2/- for a \
                 timeout, 2/lost or 2/twice for what becomes of a message; or the arrival of a message, net/2.0"
            )
        };
        let below = |text: &str, bound: u32| match text.parse() {
            // A number is written in one way only.
            Ok(number) if number < bound && text == u32::to_string(&number) => Ok(number),
            _ => Err(wrong()),
        };
        match text.split_once('/') {
            None => Ok(Step { actor: below(text, Self::NETWORK)?, choice: 0 }),
            Some(("net", message)) => {
                let (sender, number) = message.split_once('.').ok_or_else(wrong)?;
                Ok(Self::arrival(below(sender, Self::SENDERS_MAX)?, below(number, 1 << Self::NUMBER_BITS)?))
            }
            Some((actor, choice)) => {
                let choice = match choice {
                    "-" => Self::OTHERWISE,
                    "lost" => Self::LOST,
                    "twice" => Self::TWICE,
                    choice => below(choice, Self::TWICE)?,
                };
                Ok(Step { actor: below(actor, Self::NETWORK)?, choice })
            }
        }
    }
}

/// Where a schedule of actors cannot be followed.
pub type Impossible = simurgh_search::replay::Impossible<Step>;

/// What an exploration of actors found.
pub type Exploration = simurgh_search::Exploration<Step, Violation>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_back_as_they_are_written() {
        let otherwise = Step::OTHERWISE;
        let cases = [
            (Step { actor: 0, choice: 0 }, "0"),
            (Step { actor: 12, choice: 3 }, "12/3"),
            (Step { actor: 7, choice: otherwise }, "7/-"),
            (Step { actor: 7, choice: Step::LOST }, "7/lost"),
            (Step { actor: 7, choice: Step::TWICE }, "7/twice"),
            (Step::arrival(0, 0), "net/0.0"),
            (Step::arrival(4095, (1 << 20) - 1), "net/4095.1048575"),
        ];
        for (step, text) in cases {
            assert_eq!(step.to_string(), text);
            assert_eq!(text.parse(), Ok(step));
        }
        for text in ["", "a", "-1", "+1", "01", "1/", "/1", "1/x", "net", "net/1", "net/4096.0", "4294967295"]
        {
            assert!(text.parse::<Step>().unwrap_err().contains("is not a step"), "{text}");
        }
    }
}
