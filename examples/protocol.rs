//! The commands of the protocols among the examples: `check` looks at everything that can happen, `run` simulates one way on a
//! platform, `deploy` runs a node over real sockets. All three run the same actors.

mod check;
mod run;

use std::process::ExitCode;

use peak_alloc::PeakAlloc;
use serde::Serialize;
use serde::de::DeserializeOwned;
use simurgh::clap::{self, Args, Parser, Subcommand};
use simurgh_deploy::Arguments;
use simurgh_protocol::{Data, System};

pub use check::{CheckOptions, Engine, check};
pub use run::{RunOptions, run};

/// Prints something; who does not read on is no reason to fail.
fn print(text: impl std::fmt::Display) {
    use std::io::Write;
    let _ = write!(std::io::stdout().lock(), "{text}");
}

/// A protocol as a command. `O` are its options, `C` those of `check` alone.
pub struct Protocol<O, C, M> {
    /// The search if none is asked for.
    pub engine: Engine,
    /// What is checked.
    pub check: fn(&O, &C) -> System<M>,
    /// What is simulated.
    pub run: fn(&O) -> System<M>,
    /// Runs a node over real sockets.
    pub deploy: fn(&Arguments, &O) -> ExitCode,
}

#[derive(Parser)]
struct Cli<O: Args, C: Args> {
    #[command(subcommand)]
    verb: Verb<O, C>,
}

/// The same with commands of the program's own.
#[derive(Parser)]
struct CliOr<O: Args, C: Args, V: Subcommand> {
    #[command(subcommand)]
    verb: VerbOr<O, C, V>,
}

#[derive(Subcommand)]
enum VerbOr<O: Args, C: Args, V: Subcommand> {
    #[command(flatten)]
    Usual(Verb<O, C>),
    #[command(flatten)]
    Own(V),
}

#[derive(Subcommand)]
enum Verb<O: Args, C: Args> {
    /// Looks at everything that can happen
    Check {
        #[command(flatten)]
        check: CheckOptions,
        #[command(flatten)]
        options: O,
        #[command(flatten)]
        only: C,
    },
    /// Simulates one way that it can go, on a platform
    Run {
        #[command(flatten)]
        run: RunOptions,
        #[command(flatten)]
        options: O,
    },
    /// Runs one node over real sockets
    Deploy {
        #[command(flatten)]
        arguments: Arguments,
        #[command(flatten)]
        options: O,
    },
}

impl<O: Args, C: Args, M: Data + Serialize + DeserializeOwned> Protocol<O, C, M> {
    /// Does what the command line says; `memory` knows how many bytes are allocated.
    pub fn main(&self, memory: &PeakAlloc) -> ExitCode {
        self.execute(Cli::<O, C>::parse().verb, memory)
    }

    /// The same for a program with commands of its own beside these.
    pub fn main_or<V: Subcommand>(&self, memory: &PeakAlloc, own: impl FnOnce(V) -> ExitCode) -> ExitCode {
        match CliOr::<O, C, V>::parse().verb {
            VerbOr::Usual(verb) => self.execute(verb, memory),
            VerbOr::Own(verb) => own(verb),
        }
    }

    fn execute(&self, verb: Verb<O, C>, memory: &PeakAlloc) -> ExitCode {
        memory.reset_peak_usage();
        let peak = || memory.peak_usage();
        match verb {
            Verb::Check { check: how, options, only } => {
                check(&(self.check)(&options, &only), &how, self.engine, peak)
            }
            Verb::Run { run: how, options } => run((self.run)(&options), &how, peak),
            Verb::Deploy { arguments, options } => (self.deploy)(&arguments, &options),
        }
    }
}
