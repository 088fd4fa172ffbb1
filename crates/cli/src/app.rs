//! A program as a command: one binary that gains `run` from here, and options for what is to be seen.

use std::process::ExitCode;
use std::sync::Arc;

use clap::{Arg, Args, Command, Parser, Subcommand};
use simurgh_actors::command_line::{Origin, Schedule, came_from, making, subject};
use simurgh_actors::{Check, Error, Exit, Program, Result, check, explore};
use simurgh_kernel::watchdog::{Watchdog, ended_the_process};
use simurgh_platform::Platform;

use crate::command::check::CheckOptions;
use crate::command::explore::ExploreOptions;
use crate::command::replay::ReplayOptions;
use crate::command::simulate::{RunOptions, simulate};

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
    /// Explores every order in which the messages of the program can be received
    Check {
        #[command(flatten)]
        check: CheckOptions,
        /// The platform file (SimGrid XML), for its hosts; the built-in platform if there is none
        #[arg(long, short, value_name = "FILE")]
        platform: Option<std::path::PathBuf>,
        #[command(flatten)]
        options: O,
    },
    /// Executes a schedule that `check --save` wrote, step by step; options are those it was found with
    Replay(ReplayOptions),
    /// Simulates every order in which messages can be received: the best and the worst of them
    Explore {
        #[command(flatten)]
        explore: ExploreOptions,
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
pub fn main(app: impl Fn(&mut Program) -> Result + Sync) -> ExitCode {
    main_with(|program: &mut Program, _: &NoOptions| app(program))
}

/// The `main` of a program with options of its own:
///
/// ```no_run
/// use std::process::ExitCode;
/// use simurgh::clap;
/// use simurgh::prelude::*;
///
/// #[derive(clap::Args)]
/// struct Options {
///     /// How many servers there are
///     #[arg(long, default_value_t = 4)]
///     servers: usize,
/// }
///
/// fn app(program: &mut Program, options: &Options) -> simurgh::Result {
///     for i in 0..options.servers {
///         let host = program.any_host()?;
///         program.spawn(format!("server-{i}"), host, |ctx: Ctx| async move { ctx.execute(1e9).await })?;
///     }
///     Ok(())
/// }
///
/// fn main() -> ExitCode {
///     simurgh::main_with(app)
/// }
/// ```
///
/// The options of `run`, `check` and `explore` (`--seed`, `--workers` and the others that `--help` lists) have their names
/// already; a program that gives one of them to its own option is told so when it starts.
pub fn main_with<O: Args + Sync>(app: impl Fn(&mut Program, &O) -> Result + Sync) -> ExitCode {
    App::new(app).main()
}

type OwnPlatform<O> = Box<dyn Fn(&O) -> Result<Platform> + Sync>;

/// A program that brings a platform of its own: `App::new(app).platform(own).main()`.
pub struct App<O, F> {
    app: F,
    own: Option<OwnPlatform<O>>,
}

impl<O: Args + Sync, F: Fn(&mut Program, &O) -> Result + Sync> App<O, F> {
    /// A program whose actors `app` adds.
    pub fn new(app: F) -> Self {
        Self { app, own: None }
    }

    /// The platform that is used when the command line names none.
    pub fn platform(mut self, own: impl Fn(&O) -> Result<Platform> + Sync + 'static) -> Self {
        self.own = Some(Box::new(own));
        self
    }

    /// Reads the command line and does what it says.
    pub fn main(self) -> ExitCode {
        if let Some(clash) = clash::<O>() {
            return crate::command::conclude(Err(Error::input(clash)));
        }
        match crate::command::parse::<Cli<O>>(std::env::args_os()) {
            Ok(cli) => {
                simurgh_files::protect_inputs();
                let watchdog = Watchdog::default();
                if let Verb::Check { .. } = cli.command {
                    // What it found is not to be changed by values of the program that end the process when they are dropped.
                    watchdog.on_exit(ended_the_process);
                }
                let _pulse = watchdog.pulse();
                let exit = crate::command::conclude(self.execute(cli.command));
                drop(self);
                exit
            }
            Err(error) => crate::command::answer(&error),
        }
    }

    fn execute(&self, verb: Verb<O>) -> Result<Exit> {
        match verb {
            Verb::Run { run, platform, options } => {
                let mut program = Program::with_seed(self.platform_for(platform, &options)?, run.seed);
                making(|| (self.app)(&mut program, &options))?;
                simulate(program, &run, None)
            }
            Verb::Check { check: asked, platform, options } => {
                let mut arguments = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
                let name = arguments.next().unwrap_or_default();
                let origin = Origin::Program { name, arguments: asked.saved.without(arguments) };
                crate::command::check::check(self.check(platform, origin, &options)?, &asked)
            }
            Verb::Replay(replay) => self.replay(&replay),
            Verb::Explore { explore: asked, platform, options } => {
                let platform = self.platform_for(platform, &options)?;
                let fill = |program: &mut Program| (self.app)(program, &options);
                crate::command::explore::explore(explore(fill).platform(platform), &asked)
            }
        }
    }

    fn check<'a>(
        &'a self,
        platform: Option<std::path::PathBuf>,
        origin: Origin,
        options: &'a O,
    ) -> Result<Check<'a>> {
        let platform = self.platform_for(platform, options)?;
        Ok(came_from(check(|program| (self.app)(program, options)).platform(platform), origin))
    }

    /// Replays a schedule of this program, made with the options that it was found with.
    fn replay(&self, replay: &ReplayOptions) -> Result<Exit> {
        let schedule = Schedule::from_file(&replay.file)?;
        let name = std::env::args_os().next().unwrap_or_default().to_string_lossy().into_owned();
        let arguments = crate::command::replay::arguments(&schedule, &replay.file, &name)?;
        let words = std::iter::once(&name).chain(arguments);
        match crate::command::parse::<Cli<O>>(words.map(Into::into)) {
            Ok(Cli { command: Verb::Check { platform, options, .. } }) => {
                let subject = subject(self.check(platform, schedule.origin.clone(), &options)?)?;
                crate::command::replay::replay(&subject, &schedule, replay)
            }
            _ => Err(Error::input(format!(
                "{}: the arguments {:?} are not understood any more; save the schedule anew with `check --save FILE`",
                replay.file.display(),
                arguments.join(" ")
            ))),
        }
    }

    fn platform_for(&self, file: Option<std::path::PathBuf>, options: &O) -> Result<Arc<Platform>> {
        Ok(Arc::new(match (file, &self.own) {
            (Some(path), _) => Platform::from_file(path)?,
            (None, Some(own)) => own(options)?,
            (None, None) => Platform::builtin(),
        }))
    }
}

/// What is wrong with the options of a program, if one of them has the name of one that every program has.
fn clash<O: Args>() -> Option<String> {
    let own = O::augment_args(Command::new("own"));
    let all = Verb::<NoOptions>::augment_subcommands(Command::new("all"));
    let same = |a: &Arg, b: &Arg| {
        a.get_id() == b.get_id()
            || a.get_long().is_some_and(|long| b.get_long() == Some(long))
            || a.get_short().is_some_and(|short| b.get_short() == Some(short))
    };
    for verb in all.get_subcommands().filter(|verb| verb.get_name() != "replay") {
        let taken = |arg: &&Arg| verb.get_arguments().any(|other| same(arg, other));
        if let Some(arg) = own.get_arguments().find(taken) {
            let name = arg.get_long().map_or_else(|| arg.get_id().to_string(), |long| format!("--{long}"));
            let verb = verb.get_name();
            return Some(format!(
                "the program's own option {name} has the name of one of `{verb}`; give it another (see `{verb} --help`)"
            ));
        }
    }
    None
}

impl<O, F> std::fmt::Debug for App<O, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("App").field("own", &self.own.is_some()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Args)]
    struct Fine {
        #[arg(long)]
        _servers: u32,
    }

    #[derive(Args)]
    struct Taken {
        #[arg(long)]
        workers: u32,
    }

    #[derive(Args)]
    struct TakenLetter {
        #[arg(long, short)]
        quick: bool,
    }

    #[test]
    fn options_with_a_name_that_is_taken_are_told() {
        assert_eq!(clash::<NoOptions>(), None);
        assert_eq!(clash::<Fine>(), None);
        let told = "the program's own option --workers has the name of one of `run`; give it another (see `run --help`)";
        assert_eq!(clash::<Taken>().as_deref(), Some(told));
        assert!(clash::<TakenLetter>().is_some_and(|told| told.contains("--quick")));
    }
}
