//! What is measured of a run.

use std::fmt;

use crate::error::{Error, Result};
use crate::program::Outcome;

/// What is to be least and most.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Objective {
    /// The date of the end.
    Makespan,
    /// How many messages were received.
    Messages,
    /// How many bytes were in them.
    Bytes,
    /// The joules that all hosts used.
    Energy,
}

impl Objective {
    /// The unit of its values.
    pub fn unit(self) -> &'static str {
        match self {
            Objective::Makespan => "s",
            Objective::Messages => "messages",
            Objective::Bytes => "B",
            Objective::Energy => "J",
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Objective::Makespan => "makespan",
            Objective::Messages => "messages",
            Objective::Bytes => "bytes",
            Objective::Energy => "energy",
        })
    }
}

/// All that is measured of a run.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Measures {
    /// The date of the end, in seconds.
    pub makespan: f64,
    /// How many messages were received.
    pub messages: u64,
    /// How many bytes were in them.
    pub bytes: f64,
    /// The joules that all hosts used, where the platform gives wattages.
    pub energy: Option<f64>,
}

impl Measures {
    /// Reads them off a run.
    pub fn of(outcome: &Outcome) -> Self {
        let joules = outcome.energy().map(|(_, joules)| joules).reduce(|all, host| all + host);
        Self {
            makespan: outcome.clock(),
            messages: outcome.report.messages,
            bytes: outcome.report.bytes,
            energy: joules,
        }
    }

    /// The one that matters.
    ///
    /// # Errors
    /// If the platform says nothing about it.
    pub fn value(&self, objective: Objective) -> Result<f64> {
        Ok(match objective {
            Objective::Makespan => self.makespan,
            Objective::Messages => self.messages as f64,
            Objective::Bytes => self.bytes,
            Objective::Energy => self.energy.ok_or_else(|| {
                Error::input(
                    "--objective energy: no host of the platform says what it draws; give hosts the property \
                     \"wattage_per_state\"",
                )
            })?,
        })
    }
}
