//! Schedules: what happened, as plain data that prints, parses and is followed again.

use std::fmt;
use std::str::FromStr;

use crate::ids::ActorId;
use crate::runtime::node::text;
use crate::space::{CRASH, Move, RECOVER, Space, TIMEOUT};

/// One thing that happens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// A message arrives.
    Deliver {
        /// Its sender.
        from: ActorId,
        /// Its receiver.
        to: ActorId,
        /// What it says, as it prints.
        msg: String,
        /// What the handler chose.
        choices: Vec<usize>,
    },
    /// A timer goes off.
    Timeout {
        /// Where.
        at: ActorId,
        /// Which, as it prints.
        timer: String,
        /// What the handler chose.
        choices: Vec<usize>,
    },
    /// A message is lost.
    Lose {
        /// Its sender.
        from: ActorId,
        /// Its receiver.
        to: ActorId,
        /// What it says, as it prints.
        msg: String,
        /// How many messages before it in its queue say the same and stay: none but in an ordered network.
        after: usize,
    },
    /// An actor crashes.
    Crash {
        /// Which.
        at: ActorId,
    },
    /// An actor is started again.
    Recover {
        /// Which.
        at: ActorId,
        /// What it chose.
        choices: Vec<usize>,
    },
}

impl Step {
    /// A step that is known as numbers, from the state in which it is made.
    pub(crate) fn of(space: &Space, state: &[u32], step: Move) -> Self {
        let letter = |envelope: u32| {
            let (from, to, msg) = space.message(envelope);
            (from, to, text(msg))
        };
        match step {
            Move::Loss { envelope, after } => {
                let (from, to, msg) = letter(envelope);
                Self::Lose { from, to, msg, after: after as usize }
            }
            Move::Event { actor, event, reaction } => {
                let (at, choices) = (ActorId(actor), space.choices(reaction).to_vec());
                match event {
                    CRASH => Self::Crash { at },
                    RECOVER => Self::Recover { at, choices },
                    timeout if timeout >= TIMEOUT => {
                        let local = space.local(actor as usize, state[actor as usize]);
                        let timer = local.timer_text((timeout - TIMEOUT) as usize);
                        Self::Timeout { at, timer, choices }
                    }
                    envelope => {
                        let (from, to, msg) = letter(envelope);
                        Self::Deliver { from, to, msg, choices }
                    }
                }
            }
        }
    }
}

fn chosen(choices: &[usize]) -> String {
    if choices.is_empty() { String::new() } else { format!("{choices:?}").replace(' ', "") }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deliver { from, to, msg, choices } => {
                write!(f, "deliver{} {from} -> {to}: {msg}", chosen(choices))
            }
            Self::Timeout { at, timer, choices } => write!(f, "timeout{} {at}: {timer}", chosen(choices)),
            Self::Lose { from, to, msg, after: 0 } => write!(f, "lose {from} -> {to}: {msg}"),
            Self::Lose { from, to, msg, after } => write!(f, "lose[{after}] {from} -> {to}: {msg}"),
            Self::Crash { at } => write!(f, "crash {at}"),
            Self::Recover { at, choices } => write!(f, "recover{} {at}", chosen(choices)),
        }
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "{line:?} is no step: one is like \"deliver 1 -> 0: Ping\", \"timeout 0: Retry\", \"crash 2\""
            )
        };
        let (head, text) = line.split_once(": ").unwrap_or((line, ""));
        let (verb, who) = head.trim().split_once(' ').ok_or_else(wrong)?;
        let (verb, choices) = match verb.split_once('[') {
            None => (verb, Vec::new()),
            Some((verb, rest)) => {
                let inside = rest.strip_suffix(']').ok_or_else(wrong)?;
                let numbers = inside.split(',').map(str::parse).collect::<Result<_, _>>();
                (verb, numbers.map_err(|_| wrong())?)
            }
        };
        let id = |text: &str| text.trim().parse().map(ActorId).map_err(|_| wrong());
        let two = || -> Result<(ActorId, ActorId), String> {
            let (from, to) = who.split_once("->").ok_or_else(wrong)?;
            Ok((id(from)?, id(to)?))
        };
        match verb {
            "deliver" => two().map(|(from, to)| Self::Deliver { from, to, msg: text.into(), choices }),
            "lose" => {
                let after = choices.first().copied().unwrap_or(0);
                two().map(|(from, to)| Self::Lose { from, to, msg: text.into(), after })
            }
            "timeout" => Ok(Self::Timeout { at: id(who)?, timer: text.into(), choices }),
            "crash" => Ok(Self::Crash { at: id(who)? }),
            "recover" => Ok(Self::Recover { at: id(who)?, choices }),
            _ => Err(wrong()),
        }
    }
}

/// What leads from a start to what was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// In which of the states that the system can start it begins; there is one unless actors choose when they start.
    pub start: usize,
    /// What happens.
    pub steps: Vec<Step>,
    /// For what goes on for ever: after the last step, all is as it was before the step with this number.
    pub back_to: Option<usize>,
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.start > 0 {
            writeln!(f, "start {}", self.start)?;
        }
        for (at, step) in self.steps.iter().enumerate() {
            if self.back_to == Some(at) {
                writeln!(f, "again and again")?;
            }
            writeln!(f, "{step}")?;
        }
        Ok(())
    }
}

impl FromStr for Schedule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut schedule = Self::default();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(start) = line.strip_prefix("start ") {
                schedule.start = start.parse().map_err(|_| format!("{line:?}: a number was expected"))?;
            } else if line == "again and again" {
                schedule.back_to = Some(schedule.steps.len());
            } else {
                schedule.steps.push(line.parse()?);
            }
        }
        Ok(schedule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_is_parsed() {
        let text = "start 2\ndeliver[1,0] 1 -> 0: Put { key: 3 }\nagain and again\ntimeout 2: Retry(1)\n\
                    lose 0 -> 1: A: b\nlose[2] 0 -> 1: C\ncrash 1\nrecover[2] 1\n";
        let schedule: Schedule = text.parse().expect("it parses");
        assert_eq!(schedule.to_string(), text);
        assert_eq!((schedule.steps.len(), schedule.back_to, schedule.start), (6, Some(1), 2));
        assert!("deliver 1: x".parse::<Step>().is_err() && "dance 1".parse::<Step>().is_err());
    }
}
