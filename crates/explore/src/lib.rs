//! Explores every order that matters of a distributed program.
//!
//! - [`receives`](mod@receives): one execution for each way to receive.
//! - [`verdict`](mod@verdict): what an exploration found.
#![forbid(unsafe_code)]

pub mod receives;
pub mod verdict;

pub use verdict::{Exploration, Step, Verdict, Violation};
