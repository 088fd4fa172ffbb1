//! `check`: explores every order in which the messages of a scenario or program can be received.

mod report;

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use simurgh_explore::receives::actors::{self, Factory};
use simurgh_explore::receives::search;
use simurgh_explore::{Actors, Exploration, Network, Options, Verdict, dfs, dpor, optimal, source};
use simurgh_kernel::ids::ActorId;
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::simcall::{Note, SpawnRequest};
use simurgh_platform::Platform;

use super::print;
use crate::error::{Error, Exit, Result};
use crate::program::Program;
use crate::scenario::{Scenario, play};

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

/// Makes the actors of a program anew.
struct Again<F>(F);

impl<F: FnMut() -> Result<Program>> Factory for Again<F> {
    fn make(&mut self, actors: &mut Vec<SpawnRequest>, notes: &mut Vec<Note>) {
        // It was made once before the exploration: what does not depend on anything succeeds again.
        if let Ok(program) = (self.0)() {
            let (made, shared) = program.into_parts();
            actors.extend(made);
            notes.extend(shared);
        }
    }
}

/// Checks a scenario.
pub(crate) fn run(arguments: &CheckArguments) -> Result<Exit> {
    let scenario = Scenario::from_file(&arguments.file)?;
    let platform = Arc::new(match &scenario.platform {
        Some(path) => Platform::from_file(path)?,
        None => Platform::builtin(),
    });
    check(|| play(&scenario, Arc::clone(&platform), 0).map(|(program, _)| program), &arguments.options)
}

/// Explores the program that `make` makes, again and again.
pub(crate) fn check(mut make: impl FnMut() -> Result<Program>, options: &CheckOptions) -> Result<Exit> {
    let names: Vec<_> = make()?.into_parts().0.into_iter().map(|actor| actor.name).collect();
    let watch = Stopwatch::start();
    // An actor that panics is a finding, told once: not a message for every execution.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let found = explore(make, options);
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

fn explore(make: impl FnMut() -> Result<Program>, options: &CheckOptions) -> Result<Exploration> {
    let network = match options.network {
        NetworkName::Mailbox => Network::Mailbox,
        NetworkName::Pairwise => Network::Pairwise,
        NetworkName::Unordered => Network::Unordered,
    };
    let mut again = Again(make);
    if options.engine == Engine::Receives {
        let limits =
            search::Limits { all: options.all, executions: options.executions, ..search::Limits::default() };
        return search::explore(&mut actors::Actors::new(again), network, limits, &mut |_| true)
            .map_err(|error| Error::input(error.to_string()));
    }
    let (mut spawned, mut notes) = (Vec::new(), Vec::new());
    let mut system = Actors::new(network, |kernel: &mut Kernel| {
        again.make(&mut spawned, &mut notes);
        for note in notes.drain(..) {
            kernel.serve_note(ActorId(0), note);
        }
        for request in spawned.drain(..) {
            kernel.spawn(request);
        }
    })
    .keep_posts();
    let limits = Options { all: options.all, executions: Some(options.executions), ..Options::default() };
    Ok(match options.engine {
        Engine::Optimal => optimal::explore(&mut system, limits),
        Engine::Source => source::explore(&mut system, limits),
        Engine::Dpor => dpor::explore(&mut system, limits),
        Engine::Dfs | Engine::Receives => dfs::explore(&mut system, limits),
    })
}

/// How long it took, for people.
struct Stopwatch(std::time::Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "the time that a search took is told, and changes nothing")]
    fn start() -> Self {
        Self(std::time::Instant::now())
    }

    fn seconds(&self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}
