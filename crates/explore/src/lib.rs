//! Explores every order that matters of a distributed program.
//!
//! - [`verdict`](mod@verdict): what an exploration found.
#![forbid(unsafe_code)]

pub mod verdict;

pub use verdict::{Exploration, Step, Verdict, Violation};
