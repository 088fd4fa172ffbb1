//! `simurgh check -n 3 ./app`: every way in which the messages of a compiled MPI program can be received.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Parser, ValueEnum};
use simurgh_actors::checking::Stopped;
use simurgh_actors::command_line::{
    Stopwatch, checked as run_check, in_turn, keep_finished, made_of, watchdog, with_length,
};
use simurgh_actors::{Check, Error, Exit, Result, Verdict};
use simurgh_mpi::explored::{Buffering, Explored};
use simurgh_mpi::launch::Launch;
use simurgh_mpi::world::Output;

use super::super::mpi::refuse_options;
use super::super::progress::Interrupt;
use super::super::run::load;
use super::super::{print, print_answer};
use super::ci::{self, Case};
use super::guard::Guard;
use super::report::Part;
use super::{CheckArguments, CheckOptions, Engine, Examined, NetworkName, concluded, duration, examined};

/// What can be said of MPI programs.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "MPI programs")]
pub(super) struct MpiOptions {
    /// How many processes
    #[arg(long = "processes", short = 'n', visible_alias = "np", value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) processes: Option<u32>,
    /// Whether a standard send waits for its receiver [default: both]
    #[arg(long, value_enum, value_name = "HOW")]
    pub(super) buffering: Option<BufferingName>,
    /// What was known of the program when it was checked before, in the file of a schedule
    #[arg(long, hide = true, value_delimiter = ',', value_name = "WHAT")]
    pub(super) knows: Vec<String>,
}

/// What a standard send does that finds nobody who receives.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default, ValueEnum)]
pub(super) enum BufferingName {
    /// It waits
    Zero,
    /// It goes on
    Infinite,
    /// Either: one search for each
    #[default]
    Both,
}

impl MpiOptions {
    /// Refuses them where no MPI program is checked.
    pub(super) fn refuse(&self, file: &Path) -> Result<()> {
        refuse_options(&[(self.processes.is_some(), "-n"), (self.buffering.is_some(), "--buffering")], file)
    }
}

/// Checks a compiled MPI program.
pub(super) fn run(arguments: &CheckArguments) -> Result<Exit> {
    let Some(processes) = arguments.mpi.processes else {
        return Err(Error::input(format!(
            "{0}: say how many processes there are, as in `simurgh check -n 3 {0}`",
            arguments.file.display()
        )));
    };
    if !crate::command::mpi::programs(&arguments.arguments)?.1.is_empty() {
        return Err(Error::input(
            "several programs (with a colon between them) can be run, and not be checked yet; check one",
        ));
    }
    let mut options = arguments.options.clone();
    if options.workers != 1 {
        return Err(Error::input(
            "--workers: the processes of an MPI program share one memory; one core explores them",
        ));
    }
    if options.json {
        crate::command::keep_output();
    }
    options.network.get_or_insert(NetworkName::Pairwise);
    let searches = searches(arguments.mpi.buffering.unwrap_or_default());
    let mut kept = Vec::new();
    let (mut cases, mut part, mut exit) = (Vec::new(), Part::default(), Exit::Fine);
    let mut text = String::new();
    let clock = Stopwatch::start();
    // All searches together take no longer; in words it is rounded.
    let left =
        || arguments.options.time.map(|time| ((time - clock.seconds()).max(0.0) * 10.0).round() / 10.0);
    for (number, &(buffering, name)) in searches.iter().enumerate() {
        options.resume = arguments.options.resume.as_deref().map(|path| kept_at(path, number));
        part.buffering = name;
        let program = launch(arguments, processes, buffering).explored(load(None)?)?;
        part.program = Some(program.clone());
        let length = Cell::new(0);
        let check = || {
            let check = made_of(checked(&program, arguments, processes, name)?, &arguments.file);
            let check = with_length(in_turn(check), length.get());
            // Whoever goes on with the second one does not begin the first again.
            Ok::<_, Error>(if number + 1 < searches.len() { keep_finished(check) } else { check })
        };
        options.time = left();
        by_traces(&program, &mut options);
        let came = determined(&program, check()?, &options, &part, &length)?;
        // One that was interrupted is over, whatever turned out.
        let is_over = |came: &Examined| came.exit == Exit::NotExhausted || !program.has_news();
        let came = match came.filter(is_over) {
            Some(came) => came,
            None => searched(&program, check, &mut options, &part, left)?,
        };
        // A race is one whether or not others wait for what is not explored; a deadlock or an assertion may be due to that.
        let kind = came.object["counterexample"]["finding"]["kind"].as_str();
        let is_found = came.exit == Exit::Failed && kind == Some("window-race");
        if let (Some(why), false) = (program.gives_up(), is_found) {
            return Err(Error::input(format!("{}: {why}", arguments.file.display())));
        }
        kept.extend(options.resume.take());
        exit = came.exit;
        part.searches = serde_json::from_value(came.object["searches"].clone()).unwrap_or_default();
        let called = format!("{} --buffering {name}", arguments.file.display());
        cases.push(Case { name: called, outcome: Ok(came.object) });
        if options.json {
            // The search that found something, or else the last.
            text = came.text;
        } else {
            print(&format!("--buffering {name}: {}", came.text));
        }
        if exit != Exit::Fine {
            break;
        }
    }
    if let (Some(path), Exit::Fine, [_, _]) = (&arguments.options.resume, exit, searches) {
        // Nothing is left of either.
        kept.iter().chain([path]).for_each(|path| drop(std::fs::remove_file(path)));
    }
    ci::write(&cases, &options.saved)?;
    print_answer(&text, options.json);
    Ok(exit)
}

/// Searches, and once more whenever something turns out that changes what is to be explored.
fn searched<'a>(
    program: &'a Explored,
    check: impl Fn() -> Result<Check<'a>>,
    options: &mut CheckOptions,
    part: &Part,
    left: impl Fn() -> Option<f64>,
) -> Result<Examined> {
    let first = options.resume.clone();
    for turn in 0_u32.. {
        if program.has_learned() && turn > 0 {
            // What was kept is of a search that saw less.
            options.resume.iter().for_each(|path| drop(std::fs::remove_file(path)));
        }
        options.resume = first.as_deref().map(|path| known_at(path, &program.known()));
        options.time = left();
        by_traces(program, options);
        let has_news = Cell::new(false);
        let is_outdated = || {
            has_news.set(program.has_news());
            has_news.get()
        };
        let came = examined(check()?, options, Some(part), is_outdated)?;
        let is_stopped = came.exit == Exit::NotExhausted && !has_news.get();
        if is_stopped || !program.has_news() {
            return Ok(came);
        }
    }
    unreachable!("what can turn out has an end")
}

/// Where a search is kept that begins with such knowledge.
fn known_at(path: &Path, known: &[&str]) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    known.iter().for_each(|known| name.push(format!(".{known}")));
    name.into()
}

/// Where processes wait for changes of memory, all is done under locks: `optimal` takes a fourth of the steps, and as many executions.
/// It cannot go on with a search that was kept.
fn by_traces(program: &Explored, options: &mut CheckOptions) {
    let is_polled = program.known().contains(&"polled-memory");
    if is_polled && options.engine == Engine::Receives && options.resume.is_none() {
        options.engine = Engine::Optimal;
    }
}

/// What standard sends do, in one search after the other.
fn searches(name: BufferingName) -> &'static [(Buffering, &'static str)] {
    const BOTH: [(Buffering, &str); 2] = [(Buffering::Infinite, "infinite"), (Buffering::Zero, "zero")];
    match name {
        BufferingName::Zero => &BOTH[1..],
        BufferingName::Infinite => &BOTH[..1],
        BufferingName::Both => &BOTH,
    }
}

/// Where a search is kept: the second one of two beside the first.
fn kept_at(path: &Path, number: usize) -> PathBuf {
    match number {
        0 => path.to_owned(),
        _ => {
            let mut name = path.as_os_str().to_owned();
            name.push(".zero");
            name.into()
        }
    }
}

fn launch(arguments: &CheckArguments, processes: u32, buffering: Buffering) -> Launch {
    Launch {
        executable: arguments.file.clone(),
        arguments: arguments.arguments.clone(),
        processes: Some(processes as usize),
        oversubscribe: true,
        output: Output::ToDriver,
        explored: Some(buffering),
        ..Launch::default()
    }
}

/// At most so many steps, and so long, are made to find out whether there is anything to be explored.
const STEPS: u64 = 2_000_000;
const PATIENCE: Duration = Duration::from_secs(30);

/// Runs a program once: if nothing in it depends on the order in which something happens, that is all there is to know of it, however
/// long it is. Nothing is said of others, but how long they are if they come to their end.
fn determined(
    program: &Explored,
    check: Check<'_>,
    options: &CheckOptions,
    part: &Part,
    length: &Cell<u64>,
) -> Result<Option<Examined>> {
    if options.engine != Engine::Receives || options.depth.is_some() || options.deterministic.is_some() {
        return Ok(None);
    }
    let guard = Guard::start(watchdog(&check), options)?;
    let (interrupt, told) = (Interrupt::listen(), guard.listener());
    let once = CheckOptions {
        engine: Engine::Random,
        executions: Some(1),
        depth: Some(STEPS),
        resume: None,
        ..options.clone()
    };
    let patience = options.time.map(duration).transpose()?.map_or(PATIENCE, |time| PATIENCE.min(time / 2));
    let check = once.apply(check)?.time(patience).progress(told).stop_when(move |_| interrupt.came());
    let (mut report, subject) = run_check(check)?;
    guard.search_is_over();
    if report.cut.is_none() && report.executions == 1 {
        length.set(report.transitions);
    }
    match (report.verdict, report.stopped) {
        // Whoever asked for an end means all of it.
        (Verdict::NotExhausted, Some(Stopped::Asked)) => {}
        _ if !program.is_deterministic() || report.cut.is_some() => return Ok(None),
        (verdict, Some(Stopped::Executions(_)))
            if report.executions == 1 || verdict != Verdict::NotExhausted =>
        {
            // There is no other.
            if verdict == Verdict::NotExhausted {
                report.verdict = Verdict::Holds;
            }
            (report.exhausted, report.stopped) = (report.verdict == Verdict::Holds || options.all, None);
        }
        (Verdict::NotExhausted, _) => return Ok(None),
        _ => {}
    }
    report.engine = options.engine.into();
    concluded(&report, &subject, options, Some(part)).map(Some)
}

/// The check of a program, and what it is called in the file of a schedule.
fn checked<'a>(
    program: &'a Explored,
    arguments: &CheckArguments,
    processes: u32,
    buffering: &str,
) -> Result<Check<'a>> {
    let mut words = vec!["check".to_owned(), "-n".to_owned(), processes.to_string()];
    words.extend(["--buffering", buffering].map(str::to_owned));
    let known = program.known();
    if !known.is_empty() {
        words.extend(["--knows".to_owned(), known.join(",")]);
    }
    words.push(arguments.file.display().to_string());
    if !arguments.arguments.is_empty() {
        words.push("--".to_owned());
        words.extend(arguments.arguments.iter().cloned());
    }
    Ok(simurgh_actors::check(|made| program.fill(made)).platform(load(None)?).program("simurgh", words))
}

/// Calls a function with the check that a schedule of `simurgh check` is of.
///
/// # Errors
/// If it was not called so.
pub(crate) fn again<T>(words: &[String], with: impl FnOnce(Check<'_>, &Explored) -> Result<T>) -> Result<T> {
    let given = Again::try_parse_from(words).map_err(|error| Error::input(error.to_string()))?.given;
    let missing = || Error::input("it is no schedule of a compiled MPI program");
    let processes = given.mpi.processes.ok_or_else(missing)?;
    let (buffering, name) = match given.mpi.buffering.ok_or_else(missing)? {
        BufferingName::Zero => (Buffering::Zero, "zero"),
        BufferingName::Infinite | BufferingName::Both => (Buffering::Infinite, "infinite"),
    };
    let program = launch(&given, processes, buffering).explored(load(None)?)?;
    program.knows(&given.mpi.knows);
    with(checked(&program, &given, processes, name)?, &program)
}

/// The command line of a check.
#[derive(Parser)]
struct Again {
    #[command(flatten)]
    given: CheckArguments,
}
