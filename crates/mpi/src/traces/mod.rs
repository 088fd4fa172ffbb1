//! Time-independent traces: what each process of a run did, without dates, in the format of SimGrid's SMPI. They are recorded on one
//! platform and replayed on others.
//!
//! - [`action`]: a line of a trace, which prints and parses back.
//! - [`record`]: what processes do becomes lines.
//! - [`collective`]: collectives become lines, where the format can tell them.
//! - [`read`]: a trace from its files.
//! - [`play`]: lines become calls of MPI again.

pub mod action;
pub mod collective;
pub mod play;
pub mod read;
pub mod record;

pub use action::{Action, Verb};
pub use read::Trace;
pub use record::Scribe;
