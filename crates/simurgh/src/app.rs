//! A program as a command: one binary that gains `run` from here, and options for what is to be seen.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use simurgh_platform::Platform;

use crate::command::simulate::{RunOptions, simulate};
use crate::error::Result;
use crate::program::Program;

/// For programs that have no options of their own.
#[derive(Args, Clone, Debug, Default)]
pub struct NoOptions {}

#[derive(Parser)]
struct Cli<O: Args> {
    #[command(subcommand)]
    command: Verb<O>,
}

#[derive(Subcommand)]
enum Verb<O: Args> {
    /// Simulates the program
    Run {
        #[command(flatten)]
        run: RunOptions,
        /// The platform file (SimGrid XML); the built-in platform if there is none
        #[arg(long, short, value_name = "FILE")]
        platform: Option<std::path::PathBuf>,
        #[command(flatten)]
        options: O,
    },
}

/// The `main` of a program without options: `fn main() -> ExitCode { simurgh::main(app) }`.
///
/// `app` adds the actors to the program. The platform is there already: the one given on the command line, or the
/// built-in one.
pub fn main(app: impl Fn(&mut Program) -> Result) -> ExitCode {
    main_with(None, |program: &mut Program, _: &NoOptions| app(program))
}

/// The `main` of a program with options of its own, and perhaps a platform of its own:
///
/// ```no_run
/// use std::process::ExitCode;
/// use simurgh::clap;
/// use simurgh::prelude::*;
///
/// #[derive(clap::Args)]
/// struct Options {
///     /// How many workers there are
///     #[arg(long, default_value_t = 4)]
///     workers: usize,
/// }
///
/// fn app(program: &mut Program, options: &Options) -> simurgh::Result {
///     for i in 0..options.workers {
///         let host = program.any_host()?;
///         program.spawn(format!("worker-{i}"), host, |ctx: Ctx| async move { ctx.execute(1e9).await })?;
///     }
///     Ok(())
/// }
///
/// fn main() -> ExitCode {
///     simurgh::main_with(None, app)
/// }
/// ```
///
/// `own` gives the platform that is used when the command line names none.
pub fn main_with<O: Args>(
    own: Option<&dyn Fn(&O) -> Result<Platform>>,
    app: impl Fn(&mut Program, &O) -> Result,
) -> ExitCode {
    let matches = Cli::<O>::command().get_matches();
    let cli = match Cli::<O>::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    let Verb::Run { run, platform, options } = cli.command;
    let result = (|| {
        let platform = match (platform, own) {
            (Some(path), _) => Platform::from_file(path)?,
            (None, Some(own)) => own(&options)?,
            (None, None) => Platform::builtin(),
        };
        let mut program = Program::with_seed(Arc::new(platform), run.seed);
        app(&mut program, &options)?;
        simulate(program, &run, None)
    })();
    crate::command::conclude(result)
}
