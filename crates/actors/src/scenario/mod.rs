//! Scenarios: small programs written as data, in TOML.
//!
//! - [`operation`]: what an actor can do, and how it is written.
//! - [`file`](mod@file): the TOML file.
//! - [`play`](mod@play): a scenario as a program, and the record of what each operation came to.

pub mod file;
pub mod operation;
pub mod play;

pub use file::{Scenario, ScenarioActor};
pub use operation::Operation;
pub use play::{How, Record, Records, play};
