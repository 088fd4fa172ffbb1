//! Runs the engine that was asked for, within its bounds; or another one, where that one cannot be used.

use std::ops::ControlFlow;

use simurgh_explore::receives::actors::Actors as Processes;
use simurgh_explore::receives::parts::{Frontier, explore_parts};
use simurgh_explore::receives::search::{Limits, Refusal};
use simurgh_explore::{Exploration, Options, Progress, dfs, dpor, optimal, pct, random, source};

use super::demands::refinement;
use super::kept::Kept;
use super::watch::{Glance, Watch};
use super::{CheckOptions, Engine, Subject};
use crate::error::{Error, Result};

/// What was found, and why it was not all.
pub(super) struct Explored {
    pub(super) found: Exploration,
    pub(super) stopped: Option<String>,
    /// Who explored it.
    pub(super) engine: simurgh_explore::Engine,
    /// Why that is not the engine that was asked for, if it is not.
    pub(super) refined: Option<String>,
}

/// How many random walks are made where nobody says.
const WALKS: u64 = 10_000;

/// An execution that is longer than this is taken for endless where nobody says. What happened before what is a table of all
/// pairs of steps, so that much longer ones would need much memory.
const DEPTH: u64 = 20_000;

/// How many priorities change on a walk of [`pct`]: enough for what needs two coincidences.
const PCT_DEPTH: u32 = 3;

pub(super) fn explore(subject: &Subject<'_>, options: &CheckOptions) -> Result<Explored> {
    let refined = refinement(subject, options);
    if options.engine == Engine::Receives && refined.is_none() {
        match explore_receives(subject, options) {
            Err(Refused::By(Refusal::Unsupported(what))) if options.resume.is_none() => {
                let why =
                    format!("the engine receives does not explore {what}; exploring with optimal instead");
                return explore_instead(subject, options, why);
            }
            Err(Refused::By(Refusal::Unsupported(what))) => {
                return Err(Error::input(format!(
                    "the engine `receives` does not explore {what}, and only it can go on with a search that was kept; \
                     leave out --resume"
                )));
            }
            Err(Refused::By(refusal)) => return Err(Error::input(refusal.to_string())),
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
        Some(why) => explore_instead(subject, options, why),
        None => explore_system(subject, options, options.engine),
    }
}

/// Explores with the best of the engines that can, and says why.
fn explore_instead(subject: &Subject<'_>, options: &CheckOptions, why: String) -> Result<Explored> {
    eprintln!("simurgh: {why}");
    let explored = explore_system(subject, options, Engine::Optimal)?;
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

fn explore_receives(subject: &Subject<'_>, options: &CheckOptions) -> Result<Explored, Refused> {
    let network = options.network.into();
    let defaults = Limits::default();
    let limits = Limits {
        all: options.all,
        executions: options.executions.unwrap_or(defaults.executions),
        depth: options.depth.unwrap_or(defaults.depth),
        ..defaults
    };
    let make = || Processes::new(subject);
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
    let mut watch = Watch::start(options)?;
    let frontier = explore_parts(&make, network, limits, workers, frontier, &mut |progress| {
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
    Ok(Explored { found: frontier.found, stopped, engine: Engine::Receives.into(), refined: None })
}

fn explore_system(subject: &Subject<'_>, options: &CheckOptions, engine: Engine) -> Result<Explored> {
    let mut system = subject.actors(options.network.into());
    if let Some(compared) = options.deterministic {
        system = system.compare(compared.into());
    }
    let mut watch = Watch::start(options)?;
    let walks = matches!(engine, Engine::Random | Engine::Pct);
    let executions = options.executions.or(walks.then_some(WALKS));
    let limits = Options {
        all: options.all,
        executions,
        depth: Some(options.depth.unwrap_or(DEPTH) as usize),
        every: 64,
        ..Options::default()
    };
    let limits = limits.watch(|progress: &Progress| {
        let glance = Glance {
            executions: progress.executions,
            depth: progress.depth as u64,
            part: executions.filter(|_| walks).map(|all| progress.executions as f64 / all as f64),
        };
        if watch.go_on(&glance) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let found = match engine {
        Engine::Receives | Engine::Optimal => optimal::explore(&mut system, limits),
        Engine::Source => source::explore(&mut system, limits),
        Engine::Dpor => dpor::explore(&mut system, limits),
        Engine::Dfs => dfs::explore(&mut system, limits),
        Engine::Random => random::explore(&mut system, options.seed, limits),
        Engine::Pct => pct::explore(&mut system, options.seed, PCT_DEPTH, limits),
    };
    let mut stopped = watch.finish().map(|why| why.to_string());
    if stopped.is_none() && executions.is_some_and(|most| found.executions + found.cut >= most) {
        stopped = Some(format!("stopped after {} executions (--executions)", found.executions));
    }
    Ok(Explored { found, stopped, engine: engine.into(), refined: None })
}
