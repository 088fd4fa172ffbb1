//! The `simurgh` command.
//!
//! - [`simulate`](mod@simulate): runs a program and shows what came of it; shared with programs that are their own command.
//! - [`run`](mod@run): scenarios, deployments and traces.
//! - [`check`](mod@check): explores all orders of a scenario.
//! - [`platform`](mod@platform): looks at a platform file.
//! - [`why`](mod@why): explains one duration.
//! - [`summary`]: how outcomes are told, to people and to machines.

pub mod check;
pub mod platform;
mod progress;
pub mod run;
pub mod simulate;
pub mod summary;
pub mod why;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::{Error, Exit};

#[derive(Parser)]
#[command(
    name = "simurgh",
    version,
    about = "Write a distributed program once; simulate it, verify it, run it for real",
    after_help = "Exit codes: 0 fine, 1 failed or blocked for ever, 2 cannot run (bad input), 3 not exhausted."
)]
struct Cli {
    #[command(subcommand)]
    command: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Simulates a scenario (TOML), a deployment (XML) or a time-independent trace
    Run(run::RunArguments),
    /// Explores every order in which the messages of a scenario can be received
    Check(check::CheckArguments),
    /// Looks at a platform file
    Platform(platform::PlatformArguments),
    /// Explains why one operation of a scenario took as long as it did
    Why(why::WhyArguments),
}

/// Reads the command line and does what it says.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Check(arguments) => check::run(&arguments),
        Verb::Platform(arguments) => platform::run(&arguments),
        Verb::Why(arguments) => why::run(&arguments),
    };
    conclude(result)
}

/// Ends a command: an error is told in one line, with exit code 2.
pub(crate) fn conclude(result: Result<Exit, Error>) -> ExitCode {
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("simurgh: {error}");
            Exit::CannotRun.into()
        }
    }
}

/// Prints to standard output; a reader that has gone away is no error.
pub(crate) fn print(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
