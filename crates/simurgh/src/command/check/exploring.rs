//! Runs the engine that was asked for, within its bounds; or another one, where that one cannot be used.

use std::ops::ControlFlow;

use simurgh_explore::receives::actors::Actors as Processes;
use simurgh_explore::receives::again::{diverged, same_twice};
use simurgh_explore::receives::parts::{Frontier, explore_parts};
use simurgh_explore::receives::search::{Limits, Refusal};
use simurgh_explore::{Exploration, Options, Progress, dfs, dpor, optimal, pct, random, source};

use simurgh_kernel::context::Place;
use simurgh_kernel::ids::MailboxId;

use super::demands::refinement;
use super::guard::Guard;
use super::kept::Kept;
use super::report::Ending;
use super::watch::{Glance, Watch};
use super::{CheckOptions, Engine, Subject};
use crate::error::{Error, Result};

/// What was found, and why it was not all.
pub(super) struct Explored {
    pub(super) found: Exploration,
    /// Whether that is all, and why not.
    pub(super) ending: Ending,
    /// Who explored it.
    pub(super) engine: simurgh_explore::Engine,
    /// Why that is not the engine that was asked for, if it is not.
    pub(super) refined: Option<String>,
}

/// How many random walks are made where nobody says.
const WALKS: u64 = 10_000;

/// An execution that is longer than this is taken for endless where nobody says, and the search stops there: it would go
/// on for ever. What happened before what is a table of all pairs of steps, so that much longer ones would need much memory.
const DEPTH: u64 = 20_000;

/// How many executions of the engine `receives` are between two looks at the clock: some take long.
const BETWEEN_LOOKS: u64 = 8;

/// How many priorities change on a walk of [`pct`]: enough for what needs two coincidences.
const PCT_DEPTH: u32 = 3;

pub(super) fn explore(subject: &Subject<'_>, options: &CheckOptions, guard: &Guard) -> Result<Explored> {
    options.faults()?;
    let refined = refinement(subject, options);
    if options.engine == Engine::Receives && refined.is_none() {
        match explore_receives(subject, options, guard) {
            Err(Refused::By(Refusal::Unsupported(what))) if options.resume.is_none() => {
                let why =
                    format!("the engine receives does not explore {what}; exploring with optimal instead");
                return explore_instead(subject, options, why, guard);
            }
            Err(Refused::By(Refusal::Unsupported(what))) => {
                return Err(Error::input(format!(
                    "the engine `receives` does not explore {what}, and only it can go on with a search that was kept; \
                     leave out --resume"
                )));
            }
            Err(Refused::By(Refusal::Diverged(actor))) => {
                let name = subject.watchdog().actor_name(actor);
                return Err(Error::input(diverged(&name.unwrap_or_else(|| format!("number {actor}")))));
            }
            Err(Refused::Otherwise(error)) => return Err(error),
            Ok(explored) => return Ok(explored),
        }
    }
    if options.resume.is_some() {
        return Err(Error::input(
            "only the engine `receives` can go on with a search that was kept; leave out --resume",
        ));
    }
    if options.workers != 1 {
        return Err(Error::input(
            "only the engine `receives` explores on several cores; leave out --workers",
        ));
    }
    match refined {
        Some(why) => explore_instead(subject, options, why, guard),
        None => explore_system(subject, options, options.engine, guard),
    }
}

/// Explores with the best of the engines that can, and says why.
fn explore_instead(
    subject: &Subject<'_>,
    options: &CheckOptions,
    why: String,
    guard: &Guard,
) -> Result<Explored> {
    eprintln!("simurgh: {why}");
    guard.explored_by(Engine::Optimal.into(), Some(&why));
    let explored = explore_system(subject, options, Engine::Optimal, guard)?;
    Ok(Explored { refined: Some(why), ..explored })
}

enum Refused {
    By(Refusal),
    Otherwise(Error),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Refused::Otherwise(error)
    }
}

fn explore_receives(
    subject: &Subject<'_>,
    options: &CheckOptions,
    guard: &Guard,
) -> Result<Explored, Refused> {
    let network = options.network.into();
    let defaults = Limits::default();
    let limits = Limits {
        all: options.all,
        executions: options.executions.unwrap_or(defaults.executions),
        depth: options.depth.unwrap_or(DEPTH),
        stops_when_cut: options.depth.is_none(),
        stretch: BETWEEN_LOOKS,
        ..defaults
    };
    let make = || Processes::with_pulse(subject, subject.watchdog().pulse());
    let kept = match &options.resume {
        Some(path) => Some(Kept::new(path, subject.names(), network, &mut make()).map_err(Refused::By)?),
        None => None,
    };
    let frontier = match &kept {
        Some(kept) => kept.load()?,
        None => Frontier::default(),
    };
    let workers = match options.workers {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        workers => workers,
    };
    let name = |mailbox| subject.mailbox_name(MailboxId(mailbox));
    if let Some(divergence) = same_twice(&mut make(), network, &name).map_err(Refused::By)? {
        return Err(Error::input(divergence.to_string()).into());
    }
    let mut watch = Watch::start(options)?;
    let frontier = explore_parts(&make, network, limits, workers, frontier, &mut |progress| {
        guard.note(progress.executions, progress.transitions);
        watch.go_on(&Glance {
            executions: progress.executions,
            depth: progress.depth,
            part: Some(progress.part),
        })
    })
    .map_err(Refused::By)?;
    let mut stopped = watch.finish().map(|why| why.to_string());
    if stopped.is_none() && !frontier.is_exhausted() && frontier.found.executions >= limits.executions {
        stopped = Some(format!("stopped after {} executions (--executions)", frontier.found.executions));
    }
    if stopped.is_none() && options.depth.is_none() && frontier.found.cut > 0 {
        stopped = Some(endless());
    }
    if let Some(kept) = kept {
        if frontier.is_exhausted() {
            kept.forget();
        } else {
            kept.save(&frontier)?;
            let parts = frontier.parts.len();
            let why = stopped.unwrap_or_else(|| "stopped at the first violation".to_owned());
            stopped = Some(format!(
                "{why}; what is left ({}) is kept in {}: the same command goes on from there",
                crate::command::summary::count(parts as u64, "part"),
                kept.path().display()
            ));
        }
    }
    let exhausted = frontier.is_exhausted() && frontier.found.cut == 0;
    let ending = Ending { exhausted, stopped };
    Ok(Explored { found: frontier.found, ending, engine: Engine::Receives.into(), refined: None })
}

fn explore_system(
    subject: &Subject<'_>,
    options: &CheckOptions,
    engine: Engine,
    guard: &Guard,
) -> Result<Explored> {
    let mut system = subject.actors(options.network.into()).unreliable(options.faults()?);
    if let Some(compared) = options.deterministic {
        system = system.compare(compared.into());
    }
    let mut watch = Watch::start(options)?;
    let walks = matches!(engine, Engine::Random | Engine::Pct);
    let executions = options.executions.or(walks.then_some(WALKS));
    let mut last = Progress::default();
    let limits = Options {
        all: options.all,
        executions,
        depth: Some(options.depth.unwrap_or(DEPTH) as usize),
        every: 64,
        watchdog: Some(subject.watchdog().clone()),
        report: Some(&mut last),
        ..Options::default()
    };
    let limits = limits.watch(|progress: &Progress| {
        guard.note(progress.executions, progress.transitions);
        let glance = Glance {
            executions: progress.executions,
            depth: progress.depth as u64,
            part: executions.filter(|_| walks).map(|all| progress.executions as f64 / all as f64),
        };
        let endless = options.depth.is_none() && progress.cut > 0;
        if !endless && watch.go_on(&glance) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let found = match engine {
        Engine::Receives | Engine::Optimal => optimal::explore(&mut system, limits),
        Engine::Source => source::explore(&mut system, limits),
        Engine::Dpor => dpor::explore(&mut system, limits),
        Engine::Dfs => dfs::explore(&mut system, limits),
        Engine::Random => random::explore(&mut system, options.seed, limits),
        Engine::Pct => pct::explore(&mut system, options.seed, PCT_DEPTH, limits),
    };
    let unrepeatable: Vec<_> = system.unrepeatable().collect();
    if let Some(told) = uncopied(subject, &unrepeatable) {
        eprintln!("simurgh: {told}");
    }
    let mut stopped = watch.finish().map(|why| why.to_string());
    if stopped.is_none() && options.depth.is_none() && found.cut > 0 {
        stopped = Some(endless());
    }
    if stopped.is_none() && executions.is_some_and(|most| found.executions + found.cut >= most) {
        stopped = Some(format!("stopped after {} executions (--executions)", found.executions));
    }
    let ending = Ending { exhausted: last.exhausted, stopped };
    Ok(Explored { found, ending, engine: engine.into(), refined: None })
}

/// Why a search stopped at an execution that was cut.
fn endless() -> String {
    format!(
        "stopped at an execution of more than {DEPTH} steps; --depth N cuts it after N, and goes on with the others"
    )
}

/// That some messages did not arrive twice, since they cannot be copied; in a line.
fn uncopied(subject: &Subject<'_>, sends: &[(Option<Place>, u32)]) -> Option<String> {
    const SHOWN: usize = 3;
    let one = |(place, mailbox): &(Option<Place>, u32)| {
        let mailbox = subject.mailbox_name(MailboxId(*mailbox));
        place.map_or_else(|| format!("to {mailbox:?}"), |place| format!("to {mailbox:?} at {place}"))
    };
    let mut shown: Vec<String> = sends.iter().take(SHOWN).map(one).collect();
    if sends.len() > SHOWN {
        shown.push(format!("{} more", sends.len() - SHOWN));
    }
    let what = shown.join(", ");
    (!sends.is_empty()).then(|| {
        format!("messages that cannot be copied did not arrive twice: {what}; send(..).repeatable() lets them be copied")
    })
}
