//! `check`: explores every order in which the messages of a scenario or program can be received.

mod report;
mod subject;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use simurgh_explore::receives::actors;
use simurgh_explore::receives::search;
use simurgh_explore::{Exploration, Network, Options, Verdict, dfs, dpor, optimal, source};
use simurgh_kernel::context::remember_panic;

use super::print;
use crate::error::{Error, Exit, Result};

pub(crate) use subject::{Origin, Subject};

/// The arguments of `simurgh check`.
#[derive(Args, Clone, Debug)]
pub struct CheckArguments {
    /// The scenario (.toml)
    pub file: PathBuf,
    #[command(flatten)]
    options: CheckOptions,
}

/// What can be said about any exploration.
#[derive(Args, Clone, Debug)]
pub struct CheckOptions {
    /// How the orders are explored
    #[arg(long, value_enum, default_value_t = Engine::Receives)]
    pub engine: Engine,
    /// What may arrive before what
    #[arg(long, value_enum, default_value_t = NetworkName::Mailbox)]
    pub network: NetworkName,
    /// Goes on after a violation, and collects them all
    #[arg(long)]
    pub all: bool,
    /// Prints one JSON object instead of a summary
    #[arg(long)]
    pub json: bool,
    /// At most so many executions
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true)]
    pub executions: u64,
}

/// How the orders are explored.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
pub enum Engine {
    /// One execution for each way in which the messages can be received
    Receives,
    /// One execution for each order of steps that matters (wakeup trees)
    Optimal,
    /// Source sets and sleep sets
    Source,
    /// Dynamic partial order reduction, as in 2011
    Dpor,
    /// Every interleaving: slow, and obviously complete
    Dfs,
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
    check(&Subject::from_scenario(arguments.file.clone())?, &arguments.options)
}

/// Explores a program.
pub(crate) fn check(subject: &Subject<'_>, options: &CheckOptions) -> Result<Exit> {
    let names = subject.names();
    let watch = Stopwatch::start();
    // An actor that panics is a finding, told once: not a message for every execution.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(remember_panic));
    let found = explore(subject, options);
    std::panic::set_hook(hook);
    let found = found?;
    if let Some(divergence) = &found.divergence {
        return Err(Error::input(divergence.to_string()));
    }
    let seconds = watch.seconds();
    print(&if options.json {
        report::json(&found, &names, seconds)
    } else {
        report::human(&found, &names, seconds)
    });
    Ok(match found.verdict {
        Verdict::Holds => Exit::Fine,
        Verdict::Violated | Verdict::Deadlock => Exit::Failed,
        Verdict::NotExhausted => Exit::NotExhausted,
    })
}

fn explore(subject: &Subject<'_>, options: &CheckOptions) -> Result<Exploration> {
    let network = options.network.into();
    if options.engine == Engine::Receives {
        let limits =
            search::Limits { all: options.all, executions: options.executions, ..search::Limits::default() };
        return search::explore(&mut actors::Actors::new(subject), network, limits, &mut |_| true)
            .map_err(|error| Error::input(error.to_string()));
    }
    let mut system = subject.actors(network);
    let limits = Options { all: options.all, executions: Some(options.executions), ..Options::default() };
    Ok(match options.engine {
        Engine::Optimal => optimal::explore(&mut system, limits),
        Engine::Source => source::explore(&mut system, limits),
        Engine::Dpor => dpor::explore(&mut system, limits),
        Engine::Dfs | Engine::Receives => dfs::explore(&mut system, limits),
    })
}

/// How long it took, for people.
pub(crate) struct Stopwatch(std::time::Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "the time that a search took is told, and changes nothing")]
    pub(crate) fn start() -> Self {
        Self(std::time::Instant::now())
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}
