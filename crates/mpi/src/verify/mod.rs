//! What is checked while executions are explored, beyond what every call checks of its own arguments.
//!
//! - `finding`: what is told of a mistake, and the kinds of mistakes.
//! - `collectives`: whether all processes of a communicator call the same, with arguments that fit.
//! - `buffers`: whether memory is touched that a communication owns.
//! - `used`: which memory calls read and write. `effort`: how much of what the program itself reads and writes is looked at.
//! - `clocks`: what happens before what.
//! - `deed`, `windows`: whether something orders accesses to windows that conflict.
//! - `files`: whether something orders accesses to files that conflict.
//! - `promises`: whether assertions that windows are given hold.
//! - `polling`: probes and tests that the search understands; `watching`: loops that look at memory of windows.
//! - `types`: whether a message is received as what it was sent.
//! - `leaks`: what a process has left when it calls `MPI_Finalize`.
//!
//! What one process knows lies in its memory, and is put back with it; what all know together lies in the [`World`], which begins
//! again with each execution. None of it is seen by the search: whoever comes second finds what does not fit, in every order.
//!
//! [`World`]: crate::world::World

mod buffers;
mod clocks;
mod collectives;
mod deed;
mod effort;
mod files;
mod finding;
mod leaks;
mod polling;
mod promises;
mod ready;
mod types;
mod used;
mod watching;
mod windows;

pub use buffers::Buffers;
pub use clocks::VectorClock;
pub use deed::Deed;
pub use effort::{Effort, Unwatched};
pub use finding::{Kind, Lines};
pub use polling::Polling;
pub use ready::Handshakes;
pub use used::Used;

use std::collections::BTreeMap;

use collectives::Meetings;
use files::FileAccess;
use watching::Watchers;
use windows::Windows;

/// What all processes of an execution know together.
#[derive(Debug, Default)]
pub struct Common {
    meetings: Meetings,
    /// How many processes have called `MPI_Finalize`.
    finalized: usize,
    windows: Windows,
    watchers: Watchers,
    file_accesses: Vec<FileAccess>,
    /// When messages of immediate sends were received: by their senders and the moments there, the receiver and its moment.
    receipts: BTreeMap<(u32, u32), (u32, u32)>,
}
