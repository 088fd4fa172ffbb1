//! The `simurgh` command, and the commands that programs are.
//!
//! In reading order:
//! - [`command`]: the `simurgh` command, and what all commands share.
//! - [`app`]: a program as a command, `fn main() -> ExitCode { simurgh::main(app) }`.
//!
//! Programs use this as `simurgh`, with its feature `cli`.
#![forbid(unsafe_code)]

pub mod app;
pub mod command;

pub use app::{App, NoOptions, main, main_with};
/// Reading the command line of a program (see [`main_with`]).
pub use clap;
