//! What came of a simulation.

use std::fmt;

use simurgh_protocol::{ActorId, Mode, Schedule};

/// Why a simulation stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing can happen any more: no message is under way, and no timer is set.
    Quiet,
    /// The date up to which it was to go was reached.
    Reached,
    /// What was waited for has come.
    Stopped,
    /// A property `always` is violated, or a handler panicked.
    Violated,
}

/// What came and went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// Messages that were sent.
    pub sent: u64,
    /// Messages that were handled, of those that were sent or doubled.
    pub received: u64,
    /// Messages that the network lost.
    pub lost: u64,
    /// Messages that the network doubled.
    pub doubled: u64,
    /// Messages whose receiver was down.
    pub missed: u64,
    /// The bytes of all that were sent.
    pub bytes: u64,
    /// Timers that went off.
    pub timeouts: u64,
    /// Messages that came from outside.
    pub inputs: u64,
    /// Crashes.
    pub crashes: u64,
    /// Recoveries.
    pub recoveries: u64,
}

/// A property, and what was seen of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Property {
    /// Its name.
    pub name: String,
    /// When its condition is to hold.
    pub mode: Mode,
    /// When an `always` was violated first, or the condition of a `sometimes` or an `eventually` was seen to hold first.
    pub at: Option<f64>,
}

/// An actor in the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its kind and number.
    pub name: String,
    /// Where it is.
    pub host: String,
    /// Whether it is up.
    pub is_up: bool,
    /// Its state, as it prints; what it has stored, if it is down.
    pub state: String,
}

/// What came of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Why it stopped.
    pub end: End,
    /// The date of the end, in seconds.
    pub clock: f64,
    /// What came and went.
    pub counts: Counts,
    /// Messages that are still under way.
    pub flying: u64,
    /// The properties.
    pub properties: Vec<Property>,
    /// Actors whose handlers panicked, and what they said.
    pub failures: Vec<(ActorId, String)>,
    /// The actors in the end.
    pub nodes: Vec<Node>,
    /// What happened, if it was to be kept and nothing came from outside; `System::replay` can follow it.
    pub schedule: Option<Schedule>,
    /// When each step of the schedule happened.
    pub dates: Vec<f64>,
}

impl Report {
    /// Whether no `always` was violated and no handler panicked.
    pub fn is_fine(&self) -> bool {
        self.failures.is_empty() && self.violations().next().is_none()
    }

    /// The properties `always` that were violated.
    pub fn violations(&self) -> impl Iterator<Item = &Property> {
        self.properties.iter().filter(|property| property.mode == Mode::Always && property.at.is_some())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { counts, clock, .. } = self;
        let word = match self.end {
            End::Quiet => "nothing can happen any more",
            End::Reached => "the time is over",
            End::Stopped => "stopped",
            End::Violated if self.failures.is_empty() => "violated",
            End::Violated => "a handler panicked",
        };
        writeln!(f, "{clock:.6} s: {word}")?;
        write!(f, "{} messages sent, {} received", counts.sent, counts.received)?;
        let rest = [
            (counts.lost, "lost"),
            (counts.doubled, "doubled"),
            (counts.missed, "to nodes that were down"),
            (self.flying, "under way"),
        ];
        for (count, name) in rest.into_iter().filter(|(count, _)| *count > 0) {
            write!(f, ", {count} {name}")?;
        }
        write!(f, "; {} bytes, {} timeouts", counts.bytes, counts.timeouts)?;
        let rest = [
            (counts.inputs, "input", "inputs"),
            (counts.crashes, "crash", "crashes"),
            (counts.recoveries, "recovery", "recoveries"),
        ];
        for (count, one, many) in rest.into_iter().filter(|(count, ..)| *count > 0) {
            write!(f, ", {count} {}", if count == 1 { one } else { many })?;
        }
        writeln!(f)?;
        for Property { name, mode, at } in &self.properties {
            let mode_name = format!("{mode:?}").to_lowercase();
            match (mode, at) {
                (Mode::Always, None) => writeln!(f, "{mode_name} \"{name}\" holds in this run"),
                (Mode::Always, Some(at)) => writeln!(f, "{mode_name} \"{name}\" is violated at {at:.6} s"),
                (_, None) => writeln!(f, "{mode_name} \"{name}\" was not seen"),
                (_, Some(at)) => writeln!(f, "{mode_name} \"{name}\" is true at {at:.6} s"),
            }?;
        }
        for (actor, why) in &self.failures {
            writeln!(f, "{} panicked: {why}", self.nodes[actor.index()].name)?;
        }
        writeln!(f, "in the end:")?;
        for Node { name, host, state, .. } in &self.nodes {
            writeln!(f, "  {name} on {host}: {state}")?;
        }
        Ok(())
    }
}
