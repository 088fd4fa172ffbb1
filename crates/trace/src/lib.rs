//! What was recorded of a run, for people to look at.
#![forbid(unsafe_code)]

use std::io::{self, Write};
use std::sync::Arc;

use simurgh_kernel::event::{Event, Observer};
use simurgh_kernel::ids::MailboxId;
use simurgh_models::SimTime;
use simurgh_platform::Platform;

/// Sees a run.
#[derive(Debug)]
pub struct Recorder;

/// What the recorder has seen.
#[derive(Clone, Debug)]
pub struct Recording;

/// A run, as it can be drawn.
#[derive(Clone, Debug)]
pub struct Timeline;

impl Recorder {
    /// A recorder, and what it will have seen.
    pub fn new(_platform: Arc<Platform>) -> (Recorder, Recording) {
        (Recorder, Recording)
    }
}

impl Observer for Recorder {
    fn event(&mut self, _now: SimTime, _event: &Event) {}
}

impl Recording {
    /// What was seen until the end of the run.
    pub fn finish(&self, _end: SimTime, _mailbox_name: &dyn Fn(MailboxId) -> String) -> Timeline {
        Timeline
    }
}

impl Timeline {
    /// Writes it for the Perfetto viewer.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_perfetto(&self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Writes it as a Paje trace.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_paje(&self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    /// Draws it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write_svg(&self, _out: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }
}
