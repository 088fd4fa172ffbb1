//! The `simurgh` command.
//!
//! - [`simulate`](mod@simulate): runs a program and shows what came of it; shared with programs that are their own command.
//! - [`run`](mod@run): scenarios, deployments and traces.
//! - [`mpi`](mod@mpi): compiled MPI programs.
//! - [`compile`](mod@compile): compilers for MPI programs, `mpicc` and the like; `mpiexec`; which calls a program needs.
//! - [`gdb`](mod@gdb): the same under a debugger.
//! - [`check`](mod@check): explores all orders of a scenario.
//! - [`replay`](mod@replay): executes again, step by step, what was found.
//! - [`explore`](mod@explore): the best and the worst of all orders on a platform.
//! - [`platform`](mod@platform): looks at a platform file.
//! - [`why`](mod@why): explains one duration.
//! - [`watch`](mod@watch): the front door to programs that watch a running system.
//! - [`completions`](mod@completions), [`man`](mod@man): for the shell and the manual.
//! - [`summary`]: how outcomes are told, to people and to machines.

pub mod check;
pub mod compile;
pub mod completions;
mod coverage;
mod debugger;
pub mod explore;
pub mod gdb;
mod links;
mod lookout;
pub mod man;
pub mod mpi;
mod mpi_report;
mod mpi_summary;
mod mpi_timeline;
mod mpiexec;
pub mod platform;
mod progress;
mod record;
pub mod replay;
pub mod run;
pub mod simulate;
mod stats;
pub mod summary;
pub mod watch;
pub mod why;

use std::ffi::OsString;
use std::fs::File;
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::error::ErrorKind;
use clap::{Arg, CommandFactory, Parser, Subcommand};
use simurgh_actors::command_line::lines;
use simurgh_actors::{Error, Exit};
use simurgh_files::visible;
use simurgh_platform::shown;

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
    /// Simulates a compiled MPI program, a scenario (TOML), a deployment (XML) or a time-independent trace
    Run(run::RunArguments),
    /// Explores every order in which the messages of a scenario can be received
    Check(check::CheckArguments),
    /// Executes a schedule that `check --save` wrote, step by step
    Replay(replay::ReplayOptions),
    /// Simulates every order in which messages can be received: the best and the worst of them
    Explore(explore::ExploreArguments),
    /// Looks at a platform file
    Platform(platform::PlatformArguments),
    /// Explains why one operation of a scenario took as long as it did
    Why(why::WhyArguments),
    /// Watches a running system: snapshots of it, and what may happen to it next
    Watch(watch::WatchArguments),
    /// Compiles C programs that call MPI: gcc with our header and library
    #[command(disable_help_flag = true)]
    Cc(compile::CompileArguments),
    /// Compiles C++ programs that call MPI: g++ with our header and library
    #[command(disable_help_flag = true)]
    Cxx(compile::CompileArguments),
    /// Compiles Fortran programs that call MPI: gfortran with our header, modules and library
    #[command(disable_help_flag = true)]
    Fc(compile::CompileArguments),
    /// Runs an MPI program under gdb, with commands to look at each process
    Gdb(gdb::GdbArguments),
    /// Compilers under the names that build systems look for; which calls a program needs
    Mpi(compile::MpiArguments),
    /// Prints what a shell needs to complete command lines
    Completions(completions::CompletionsArguments),
    /// Prints the manual page, or writes those of all subcommands
    Man(man::ManArguments),
}

/// Reads the command line and does what it says.
pub fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if let Some(exit) = compile::by_name(&words) {
        return exit;
    }
    if let Some(exit) = gdb::by_name(&words) {
        return exit;
    }
    let words = mpi::mark_arguments(words, &Cli::command());
    let cli = match parse::<Cli>(words.into_iter()) {
        Ok(cli) => cli,
        Err(error) => return answer(&error),
    };
    simurgh_files::protect_inputs();
    let result = match cli.command {
        Verb::Run(arguments) => run::run(&arguments),
        Verb::Check(arguments) => check::run(&arguments),
        Verb::Replay(options) => replay::run(&options),
        Verb::Explore(arguments) => explore::run(&arguments),
        Verb::Platform(arguments) => platform::run(&arguments),
        Verb::Why(arguments) => why::run(&arguments),
        Verb::Watch(arguments) => watch::run(&arguments),
        Verb::Cc(_) | Verb::Cxx(_) | Verb::Fc(_) | Verb::Gdb(_) => {
            unreachable!("their arguments are not read here")
        }
        Verb::Mpi(arguments) => compile::tools(&arguments),
        Verb::Completions(arguments) => completions::run(&arguments, Cli::command()),
        Verb::Man(arguments) => man::run(&arguments, Cli::command()),
    };
    conclude(result)
}

/// Reads a command line. A negative number is a value, if not always one that makes sense, and never an option.
///
/// # Errors
/// What is wrong with it, or the help that it asks for.
pub(crate) fn parse<T: Parser>(words: impl Iterator<Item = OsString>) -> Result<T, clap::Error> {
    let number =
        |arg: Arg| if arg.get_action().takes_values() { arg.allow_negative_numbers(true) } else { arg };
    let command = T::command().mut_args(number).mut_subcommands(|verb| verb.mut_args(number));
    let mut matches = command.try_get_matches_from(words)?;
    T::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut T::command()))
}

/// What the command line comes to when it is not to be run: help, or what is wrong with it in one line.
pub(crate) fn answer(error: &clap::Error) -> ExitCode {
    let is_help = matches!(error.kind(), ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand);
    if is_help || !error.use_stderr() {
        unless_gone(error.print());
        return conclude(Ok(if error.use_stderr() { Exit::CannotRun } else { Exit::Fine }));
    }
    let text = error.render().to_string();
    let paragraphs = text.split("\n\n").filter(|paragraph| !paragraph.starts_with("For more information"));
    let one_line = |paragraph: &str| {
        let words: Vec<_> = paragraph.split_whitespace().collect();
        let words = words.join(" ");
        words.strip_prefix("error: ").or(words.strip_prefix("tip: ")).unwrap_or(&words).to_owned()
    };
    let parts: Vec<_> = paragraphs.map(one_line).filter(|part| !part.is_empty()).collect();
    eprintln!("simurgh: {}; try --help", shown(&parts.join("; ")));
    Exit::CannotRun.into()
}

/// Why something could not be printed.
static UNPRINTED: OnceLock<String> = OnceLock::new();

/// Remembers why something could not be printed, unless its reader has gone away: then nobody is left to tell.
fn unless_gone(printed: std::io::Result<()>) {
    if let Err(error) = printed
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        let _ = UNPRINTED.set(error.to_string());
    }
}

/// Remembers why something that a program printed was lost.
pub(crate) fn lost(error: &str) {
    let _ = UNPRINTED.set(error.to_owned());
}

/// Whether something could not be printed.
pub(crate) fn lost_output() -> bool {
    UNPRINTED.get().is_some()
}

/// Ends a command: an error is told in one line, with exit code 2. So is output that was lost.
pub(crate) fn conclude(result: Result<Exit, Error>) -> ExitCode {
    let lost =
        |error: &String| Error::input(format!("standard output: {error}; what was to be printed is lost"));
    let result = result.and_then(|exit| UNPRINTED.get().map_or(Ok(exit), |error| Err(lost(error))));
    match result {
        Ok(exit) => exit.into(),
        Err(error) => {
            eprintln!("simurgh: {}", told(&error));
            Exit::CannotRun.into()
        }
    }
}

/// Ends a command that another has ended with its exit code.
pub(crate) fn conclude_with(result: Result<ExitCode, Error>) -> ExitCode {
    match result {
        Ok(code) if !lost_output() => code,
        Ok(_) => conclude(Ok(Exit::Fine)),
        Err(error) => conclude(Err(error)),
    }
}

/// An error as it is printed. What a program says of itself may have several lines.
fn told(error: &Error) -> String {
    let text = error.to_string();
    match error {
        Error::Other(_) => lines(&text),
        _ => shown(&text).into_owned(),
    }
}

/// Standard output, once it is kept from commands that processes start.
static KEPT: OnceLock<File> = OnceLock::new();

/// Keeps standard output for what this command prints itself: one JSON object, into which nothing else may come. Commands that
/// processes of an MPI program start write to standard error from now on, as these do.
pub(crate) fn keep_output() {
    // Whoever has closed it wants nothing of it.
    if let Ok(kept) = simurgh_mpi::launch::keep_output() {
        let _ = KEPT.set(kept);
    }
}

/// Prints to standard output, for people: all of it can be seen, whatever names have in them. A reader that has gone away is no error;
/// any other is told by [`conclude`].
pub(crate) fn print(text: &str) {
    print_as_it_is(&visible(text));
}

/// Prints what is for people, or a JSON object.
pub(crate) fn print_answer(text: &str, is_json: bool) {
    if is_json { print_as_it_is(text) } else { print(text) }
}

/// Prints what programs say, or what machines read.
pub(crate) fn print_as_it_is(text: &str) {
    use std::io::Write;
    if let Some(mut out) = KEPT.get() {
        return unless_gone(out.write_all(text.as_bytes()));
    }
    let mut out = std::io::stdout().lock();
    unless_gone(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
}
