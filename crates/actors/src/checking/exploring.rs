//! Runs the engine that was asked for, within its bounds; or another one, where that one cannot be used.

use std::ops::ControlFlow;

use simurgh_explore::receives::actors::Actors as Processes;
use simurgh_explore::receives::parts::{Frontier, explore_parts};
use simurgh_explore::receives::search::{Limits, Refusal};
use simurgh_explore::replay::follow;
use simurgh_explore::{
    Engine, Exploration, Network, Options as Bounds, Progress, Step, bfs, dfs, dpor, optimal, pct, random,
    session, source, states,
};

use simurgh_kernel::context::{Place, is_quiet, quiet};
use simurgh_kernel::ids::MailboxId;

use super::demands::refinement;
use super::kept::{Kept, Left, identity};
use super::watch::{Listeners, Stopped, Stopwatch, Watch};
use super::{Options, Subject};
use crate::error::{Error, Result};

/// What was found, and why it was not all.
pub(super) struct Explored {
    pub(super) found: Exploration,
    /// Whether nothing is left.
    pub(super) exhausted: bool,
    pub(super) stopped: Option<Stopped>,
    /// What is kept of the search, to go on with.
    pub(super) left: Option<Left>,
    /// Who explored it.
    pub(super) engine: Engine,
    /// Why that is not the engine that was asked for, if it is not.
    pub(super) refined: Option<String>,
    /// What else is to be known.
    pub(super) notes: Vec<String>,
}

/// How many random walks are made where nobody says.
const WALKS: u64 = 10_000;

/// An execution that is longer than this is taken for endless where nobody says, and the search stops there: it would go
/// on for ever. What happened before what is a table of all pairs of steps, so that much longer ones would need much memory.
pub(super) const DEPTH: u64 = 20_000;
/// The same, where one was seen to end after many: memory grows with the square.
const DEPTH_MAX: u64 = 100_000;

/// How many executions of the engine `receives` are between two looks at the clock: some take long.
const BETWEEN_LOOKS: u64 = 8;

/// How many steps are done twice before `receives` begins, to see whether the program is the same: other engines do the same with
/// their first execution.
const REPEATED: usize = 1000;

/// After so many seconds what is left of a search is kept again, where it is to be resumed.
const KEPT_EVERY: f64 = 5.0;

/// How many priorities change on a walk of [`pct`]: enough for what needs two coincidences.
const PCT_DEPTH: u32 = 3;

/// Explores a program. Those who listen hear of it.
///
/// # Errors
/// If what is asked for does not go together, or the program is not the same twice.
pub(super) fn explore(
    subject: &Subject<'_>,
    options: &Options,
    listeners: &mut Listeners<'_>,
) -> Result<Explored> {
    let clock = Stopwatch::start();
    let actors = subject.names().len();
    if options.network != Network::Mailbox && actors > Step::SENDERS_MAX as usize {
        return Err(Error::input(format!(
            "{}: messages of at most {} actors can be told apart on their way, and there are {actors}",
            options.spelling.of("--network", "`network`"),
            Step::SENDERS_MAX
        )));
    }
    let refined = refinement(subject, options);
    let resume = options.spelling.of("--resume", "`resume`");
    if options.engine == Engine::Receives && refined.is_none() {
        match explore_receives(subject, options, listeners, clock) {
            Err(Refused::By(Refusal::Unsupported(what))) if options.resume.is_none() => {
                let why =
                    format!("the engine receives does not explore {what}; exploring with optimal instead");
                return explore_instead(subject, options, listeners, clock, why);
            }
            Err(Refused::By(Refusal::Unsupported(what))) => {
                return Err(Error::input(format!(
                    "the engine `receives` does not explore {what}, and only it can go on with a search that was kept; \
                     leave out {resume}"
                )));
            }
            Err(Refused::By(Refusal::Diverged(actor))) => {
                let name = subject.watchdog().actor_name(actor);
                return Err(Error::diverged(&name.unwrap_or_else(|| format!("number {actor}"))));
            }
            Err(Refused::Otherwise(error)) => return Err(error),
            Ok(explored)
                if explored.exhausted
                    && explored.found.found.is_empty()
                    && subject.watchdog().has_untold() =>
            {
                let why = "the engine receives does not explore daemons whose values panic when they are dropped at the end; \
                           exploring with optimal instead";
                return explore_instead(subject, options, listeners, clock, why.to_owned());
            }
            Ok(explored)
                if explored.stopped == Some(Stopped::Endless)
                    && !is_confirmed(subject, options, &explored) =>
            {
                let why = "the engine receives came to what does not end, in an execution that cannot be; exploring with \
                           optimal instead";
                return explore_instead(subject, options, listeners, clock, why.to_owned());
            }
            Ok(explored) => return Ok(explored),
        }
    }
    if options.resume.is_some() {
        return Err(Error::input(format!(
            "only the engine `receives` can go on with a search that was kept; leave out {resume}"
        )));
    }
    // Who did not ask for this engine need not know that it has one core.
    if options.workers != 1 && options.engine != Engine::Receives {
        let workers = options.spelling.of("--workers", "`workers`");
        return Err(Error::input(format!(
            "only the engine `receives` explores on several cores; leave out {workers}"
        )));
    }
    match refined {
        Some(why) => explore_instead(subject, options, listeners, clock, why),
        None => explore_system(subject, options, listeners, clock, options.engine),
    }
}

/// Whether the execution that seems to be endless can be followed. Code runs before it is known whether all that was chosen goes together.
fn is_confirmed(subject: &Subject<'_>, options: &Options, explored: &Explored) -> bool {
    let schedule = explored.found.cut_schedule.as_deref().unwrap_or_default();
    follow(&mut subject.actors(options.network), schedule).is_ok()
}

/// Explores with the best of the engines that can, and says why.
fn explore_instead(
    subject: &Subject<'_>,
    options: &Options,
    listeners: &mut Listeners<'_>,
    clock: Stopwatch,
    why: String,
) -> Result<Explored> {
    listeners.note(&why);
    let explored = explore_system(subject, options, listeners, clock, Engine::Optimal)?;
    Ok(Explored { refined: Some(why), ..explored })
}

pub(super) enum Refused {
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
    options: &Options,
    listeners: &mut Listeners<'_>,
    clock: Stopwatch,
) -> Result<Explored, Refused> {
    let network = options.network;
    let defaults = Limits::default();
    let limits = Limits {
        all: options.all,
        executions: options.executions.unwrap_or(defaults.executions),
        depth: options.depth.unwrap_or((4 * options.length).clamp(DEPTH, DEPTH_MAX)),
        stops_when_cut: options.depth.is_none(),
        stretch: BETWEEN_LOOKS,
        // What is kept, and gone on with, is a list of parts that know nothing of each other.
        in_turn: options.in_turn && options.resume.is_none(),
        ..defaults
    };
    // Each worker makes its own, on its thread.
    let is_quiet = is_quiet();
    let make = || {
        if is_quiet {
            quiet().stay();
        }
        Processes::with_pulse(subject, subject.watchdog().pulse())
    };
    let mut kept = match &options.resume {
        Some(path) => {
            let identity = identity(subject.origin(), &options.made_of);
            Some(Kept::new(path, identity, subject.names(), network, &mut make())?)
        }
        None => None,
    };
    let frontier = match &kept {
        Some(kept) => kept.load()?,
        None => Frontier::default(),
    };
    let workers = match options.workers {
        // Which executions are seen before a bound would depend on who is faster.
        _ if options.executions.is_some() => 1,
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        // More than there is work for would only wait.
        workers => workers.min(256),
    };
    if let Some(divergence) = session::divergence(&mut subject.actors(network), REPEATED) {
        return Err(Error::input(divergence.to_string()).into());
    }
    let mut watch = Watch::start(clock, options, listeners);
    let mut frontier = Ok(frontier);
    loop {
        // What is to be resumed is kept every now and then: whatever ends the process, little is lost.
        let slice = Stopwatch::start();
        let (mut over, is_kept) = (false, kept.is_some());
        frontier = frontier.and_then(|frontier| {
            explore_parts(&make, network, limits, workers, frontier, &mut |progress| {
                over = is_kept && slice.seconds() >= KEPT_EVERY;
                watch.go_on(progress.executions, progress.depth, Some(progress.part)) && !over
            })
        });
        if over && !watch.is_stopped() && !limits.all {
            frontier = frontier.map(Frontier::without_earlier);
        }
        let Ok(left) = &frontier else { break };
        let found = !limits.all && !left.found.found.is_empty();
        match &mut kept {
            Some(kept) if over && !watch.is_stopped() && !left.is_exhausted() && !found => {
                kept.save(left)?;
            }
            _ => break,
        }
    }
    let mut stopped = watch.finish();
    let frontier = frontier.map_err(Refused::By)?;
    if stopped.is_none() && !frontier.is_exhausted() && frontier.found.executions >= limits.executions {
        stopped = Some(Stopped::Executions(frontier.found.executions));
    }
    if stopped.is_none() && options.depth.is_none() && frontier.found.cut > 0 {
        stopped = Some(Stopped::Endless);
    }
    let mut left = None;
    if let Some(mut kept) = kept {
        if frontier.is_exhausted() && options.keeps_finished {
            kept.save(&frontier)?;
        } else if frontier.is_exhausted() {
            kept.forget();
        } else {
            left = Some(kept.save(&frontier)?);
        }
    }
    Ok(Explored {
        exhausted: frontier.is_exhausted() && frontier.found.cut == 0,
        found: frontier.found,
        stopped,
        left,
        engine: Engine::Receives,
        refined: None,
        notes: Vec::new(),
    })
}

fn explore_system(
    subject: &Subject<'_>,
    options: &Options,
    listeners: &mut Listeners<'_>,
    clock: Stopwatch,
    engine: Engine,
) -> Result<Explored> {
    let mut system = subject.actors(options.network).unreliable(options.faults);
    if let Some(compared) = options.deterministic {
        system = system.compare(compared);
    }
    let mut watch = Watch::start(clock, options, listeners);
    let walks = matches!(engine, Engine::Random | Engine::Pct);
    let executions = options.executions.or(walks.then_some(WALKS));
    let mut end = Progress::default();
    let limits = Bounds {
        report: Some(&mut end),
        all: options.all,
        executions,
        depth: Some(options.depth.unwrap_or(DEPTH) as usize),
        cuts_endless: options.depth.is_none(),
        due: Some(Box::new(|| subject.watchdog().is_due())),
        ..Bounds::default()
    };
    let limits = limits.watch(|progress: &Progress| {
        let part = executions.filter(|_| walks).map(|all| progress.executions as f64 / all as f64);
        let endless = options.depth.is_none() && progress.cut > 0;
        let go_on = !endless && watch.go_on(progress.executions, progress.depth as u64, part);
        if go_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    let found = match engine {
        Engine::Receives | Engine::Optimal => optimal::explore(&mut system, limits),
        Engine::Source => source::explore(&mut system, limits),
        Engine::Dpor => dpor::explore(&mut system, limits),
        Engine::Dfs => dfs::explore(&mut system, limits),
        Engine::States => states::explore(&mut system, limits),
        Engine::Bfs => bfs::explore(&mut system, limits),
        Engine::Random => random::explore(&mut system, options.seed, limits),
        Engine::Pct => pct::explore(&mut system, options.seed, PCT_DEPTH, limits),
    };
    let mut stopped = watch.finish();
    if stopped.is_none() && options.depth.is_none() && found.cut > 0 {
        stopped = Some(Stopped::Endless);
    }
    if stopped.is_none() && executions.is_some_and(|most| found.executions + found.cut >= most) {
        stopped = Some(Stopped::Executions(found.executions + found.cut));
    }
    let unrepeatable: Vec<_> = system.unrepeatable().collect();
    let notes: Vec<String> = uncopied(subject, &unrepeatable).into_iter().collect();
    notes.iter().for_each(|note| listeners.note(note));
    let exhausted = end.exhausted;
    Ok(Explored { found, exhausted, stopped, left: None, engine, refined: None, notes })
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
