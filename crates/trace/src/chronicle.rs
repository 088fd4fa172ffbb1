//! Lines of a trace in the order of time.
//!
//! Formats that are read from top to bottom need what happened at one date in the order of its causes: a message leaves
//! before it arrives, an interval is closed before the next one is opened. The order of the events tells.

use std::io::{self, Write};

use crate::timeline::Mark;

/// Where a line stands among those of the same event.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Phase {
    /// Before what the event begins.
    Before,
    /// Beginnings.
    Begin,
    /// What happens inside what was begun.
    Within,
    /// Ends.
    End,
}

/// Lines, each with its place in time.
#[derive(Default)]
pub(crate) struct Chronicle {
    lines: Vec<(Mark, Phase, String)>,
}

impl Chronicle {
    /// Adds a line. Lines with equal places stay in the order in which they were added.
    pub(crate) fn add(&mut self, mark: Mark, phase: Phase, line: String) {
        self.lines.push((mark, phase, line));
    }

    /// Writes all lines, with `separator` before each.
    pub(crate) fn write(mut self, separator: &str, out: &mut dyn Write) -> io::Result<()> {
        self.lines.sort_by_key(|(mark, phase, _)| (*mark, *phase));
        for (_, _, line) in &self.lines {
            out.write_all(separator.as_bytes())?;
            out.write_all(line.as_bytes())?;
        }
        Ok(())
    }
}
