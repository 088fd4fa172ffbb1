//! `check`: explores every order in which the messages of a scenario or program can be received.
//!
//! The command makes a [`Check`] of its arguments, and prints the report.

mod ci;
mod finding;
mod guard;
pub(crate) mod mpi;
mod report;
mod saved;
mod suite;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use simurgh_actors::command_line::{Subject, came_of, checked, in_words, spelled_as_arguments, watchdog};
use simurgh_actors::{Check, CheckReport, Error, Exit, Result, Scenario};
use simurgh_explore::Network;

use self::ci::Case;
use self::guard::Guard;
use super::print_answer;
use super::progress::{Interrupt, Searching};
use super::simulate::check_twice;

pub(crate) use report::view;
pub use saved::SaveOptions;
pub(crate) use saved::draw;

/// The arguments of `simurgh check`.
#[derive(Args, Clone, Debug)]
pub struct CheckArguments {
    /// The scenario (.toml), a compiled MPI program, or a folder of them and of sources of MPI programs
    pub file: PathBuf,
    /// What an MPI program is called with: all that follows it
    #[arg(last = true, value_name = "ARGUMENTS")]
    arguments: Vec<String>,
    /// What can be said of MPI programs.
    #[command(flatten)]
    mpi: mpi::MpiOptions,
    #[command(flatten)]
    options: CheckOptions,
}

/// What can be said about any exploration.
#[derive(Args, Clone, Debug)]
pub struct CheckOptions {
    /// How the orders are explored
    #[arg(long, value_enum, default_value_t = Engine::Receives)]
    pub engine: Engine,
    /// What may arrive before what [default: mailbox; of MPI programs: pairwise]
    #[arg(long, value_enum, value_name = "NETWORK")]
    pub network: Option<NetworkName>,
    /// At most so many messages of an execution are lost (with `--network unordered`)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub loss: u32,
    /// At most so many messages of an execution arrive twice (with `--network unordered`)
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub duplication: u32,
    /// Goes on after a violation, and collects them all
    #[arg(long)]
    pub all: bool,
    /// Prints one JSON object instead of a summary
    #[arg(long)]
    pub json: bool,
    /// What is kept of what was found.
    #[command(flatten)]
    pub saved: SaveOptions,
    /// At most so many executions [default for random walks: 10000]
    #[arg(long, value_name = "N")]
    pub executions: Option<u64>,
    /// At most so many steps an execution: longer ones are cut, and the search is not exhausted [default: stops at the first
    /// of more than 20000, or with 1000 waits in vain in a row]
    #[arg(long, value_name = "N")]
    pub depth: Option<u64>,
    /// At most so many seconds [default of each program in a folder: 60]
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<f64>,
    /// At most so many megabytes of memory; three quarters of what is available if not said
    #[arg(long, value_name = "MEGABYTES")]
    pub memory: Option<u64>,
    /// Stops when an actor, an invariant, the making of the program or the Drop, Clone or Debug of a value takes more than so many
    /// seconds without coming to its next step: it loops for ever; 0 to wait for ever
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub stuck_after: f64,
    /// How many cores explore at once (engine `receives`); 0 for all there are
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub workers: usize,
    /// Compares what each actor sends, or receives, in all executions: if they differ, it is violated
    #[arg(long, value_name = "WHAT", value_enum)]
    pub deterministic: Option<Compared>,
    /// The seed of random walks
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Goes on with the search that is kept in this file, if there is one; keeps there what is left, every five seconds and when it stops
    /// early (engine receives)
    #[arg(long, value_name = "FILE")]
    pub resume: Option<PathBuf>,
}

impl CheckOptions {
    /// The check that these options stand for.
    ///
    /// # Errors
    /// If one of them makes no sense.
    fn apply<'a>(&self, check: Check<'a>) -> Result<Check<'a>> {
        let mut check = spelled_as_arguments(check)
            .engine(self.engine.into())
            .network(self.network.unwrap_or(NetworkName::Mailbox).into())
            .losses(self.loss)
            .duplications(self.duplication)
            .workers(self.workers)
            .seed(self.seed);
        if self.all {
            check = check.all();
        }
        if let Some(executions) = self.executions {
            check = check.executions(executions);
        }
        if let Some(depth) = self.depth {
            check = check.depth(depth);
        }
        if let Some(seconds) = self.time {
            check = check.time(duration(seconds)?);
        }
        if self.memory == Some(0) {
            return Err(Error::input("--memory: a number of megabytes, 1 or more"));
        }
        if let Some(megabytes) = self.memory {
            check = check.memory(megabytes);
        }
        if let Some(compared) = self.deterministic {
            check = check.deterministic(compared.into());
        }
        if let Some(file) = &self.resume {
            check = check.resume(file);
        }
        Ok(check)
    }
}

/// The value of `--time`.
///
/// # Errors
/// If it is none.
pub(crate) fn duration(seconds: f64) -> Result<Duration> {
    if seconds.is_nan() || seconds < 0.0 {
        return Err(Error::input("--time: a number of seconds, 0 or more"));
    }
    // What is too long to say is for ever.
    Ok(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
}

/// How the orders are explored.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
pub enum Engine {
    /// One execution for each way in which the messages can be received (reads-from equivalence class)
    Receives,
    /// One execution for each Mazurkiewicz trace, the orders of steps with one happens-before relation (wakeup trees)
    Optimal,
    /// The same by source sets and sleep sets; some executions are sleep-set blocked
    Source,
    /// Dynamic partial order reduction (Flanagan and Godefroid, POPL 2005)
    Dpor,
    /// Every interleaving: the exhaustive reference engine
    Dfs,
    /// Every state once, in depth (visited-state search)
    States,
    /// Every state once, the nearest first: a shortest counterexample
    Bfs,
    /// Random walks: for what is too big to exhaust
    Random,
    /// Walks with random priorities, which find bugs of few coincidences (PCT)
    Pct,
}

impl From<Engine> for simurgh_explore::Engine {
    fn from(engine: Engine) -> Self {
        match engine {
            Engine::Receives => simurgh_explore::Engine::Receives,
            Engine::Optimal => simurgh_explore::Engine::Optimal,
            Engine::Source => simurgh_explore::Engine::Source,
            Engine::Dpor => simurgh_explore::Engine::Dpor,
            Engine::Dfs => simurgh_explore::Engine::Dfs,
            Engine::States => simurgh_explore::Engine::States,
            Engine::Bfs => simurgh_explore::Engine::Bfs,
            Engine::Random => simurgh_explore::Engine::Random,
            Engine::Pct => simurgh_explore::Engine::Pct,
        }
    }
}

/// What of all executions is compared.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
pub enum Compared {
    /// What each actor sends: where to, with which label, how long
    Sends,
    /// What each actor receives: which message of whom
    Receives,
    /// Both
    Both,
}

impl From<Compared> for simurgh_explore::determinism::Compared {
    fn from(compared: Compared) -> Self {
        match compared {
            Compared::Sends => Self::Sends,
            Compared::Receives => Self::Receives,
            Compared::Both => Self::Both,
        }
    }
}

/// What may arrive before what.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
pub enum NetworkName {
    /// A message is there when it is sent.
    Mailbox,
    /// Messages of one sender to one mailbox keep their order.
    Pairwise,
    /// Any message may overtake any other.
    Unordered,
}

impl From<NetworkName> for Network {
    fn from(name: NetworkName) -> Self {
        match name {
            NetworkName::Mailbox => Network::Mailbox,
            NetworkName::Pairwise => Network::Pairwise,
            NetworkName::Unordered => Network::Unordered,
        }
    }
}

impl std::fmt::Display for NetworkName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            NetworkName::Mailbox => "mailbox",
            NetworkName::Pairwise => "pairwise",
            NetworkName::Unordered => "unordered",
        })
    }
}

/// Checks a scenario.
pub(crate) fn run(arguments: &CheckArguments) -> Result<Exit> {
    if arguments.file.is_dir() {
        return suite::run(arguments);
    }
    if super::mpi::is_compiled(&arguments.file) {
        return mpi::run(arguments);
    }
    super::mpi::refuse_binary(&arguments.file)?;
    arguments.mpi.refuse(&arguments.file)?;
    check(Scenario::from_file(&arguments.file)?.check(), &arguments.options)
}

/// Checks a program, and prints what was found.
pub(crate) fn check(check: Check<'_>, options: &CheckOptions) -> Result<Exit> {
    // As long as it lives, code that ends the process is told.
    let _pulse = watchdog(&check).pulse();
    let name = came_of(&check).to_string();
    let Examined { text, object, exit } = examined(check, options, None, || false)?;
    ci::write(&[Case { name, outcome: Ok(object) }], &options.saved)?;
    print_answer(&text, options.json);
    Ok(exit)
}

/// What came of a check.
struct Examined {
    /// What is to be said of it, as a summary or as one JSON object.
    text: String,
    /// The same as data.
    object: serde_json::Value,
    exit: Exit,
}

/// Checks a program: what is to be said of it. `part` is what else a JSON object says. The search stops as soon as it `is_outdated`.
fn examined<'a>(
    check: Check<'a>,
    options: &CheckOptions,
    part: Option<&report::Part>,
    is_outdated: impl Fn() -> bool + 'a,
) -> Result<Examined> {
    options.saved.check_places()?;
    options.resume.iter().try_for_each(|path| check_twice(path))?;
    let guard = Guard::start(watchdog(&check), options)?;
    let (mut line, interrupt, told) = (Searching::start(), Interrupt::listen(), guard.listener());
    let check = options
        .apply(check)?
        .progress(move |progress| {
            told(progress);
            line.show(progress);
        })
        .stop_when(move |_| interrupt.came() || is_outdated())
        .on_note(|note| eprintln!("simurgh: {note}"));
    let (report, subject) = checked(check)?;
    guard.search_is_over();
    concluded(&report, &subject, options, part)
}

/// What is to be said of a search.
fn concluded(
    report: &CheckReport,
    subject: &Subject<'_>,
    options: &CheckOptions,
    part: Option<&report::Part>,
) -> Result<Examined> {
    let hint = options.saved.save(subject, &report.counterexamples)?;
    let json = report::json(report, None, part);
    let object = serde_json::from_str(&json).unwrap_or_default();
    let text = match part {
        _ if options.json => json,
        Some(part) if report.counterexamples.is_empty() => {
            in_words(report, &view(), &hint) + &part.in_words()
        }
        _ => in_words(report, &view(), &hint),
    };
    Ok(Examined { text, object, exit: report.verdict.into() })
}
