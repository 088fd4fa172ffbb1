//! Runs a program and shows what came of it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::{Args, ValueEnum};
use simurgh_actors::scenario::file::read_text;
use simurgh_actors::scenario::{Records, Scenario};
use simurgh_actors::timed::steering::{Steering, steer};
use simurgh_actors::{Error, Exit, Outcome, Program, Result, Settings};
use simurgh_kernel::event::Observer;
use simurgh_kernel::simulation::{Pacing, Said};
use simurgh_platform::{Platform, ProfileBinding, ProfileTarget, Repeat, shown};
use simurgh_trace::{Recorder, Timeline};

use super::stats::Stats;
use super::{print, print_as_it_is, progress, summary};

/// What can be said about any simulation.
#[derive(Args, Clone, Debug, Default)]
pub struct RunOptions {
    /// Prints one JSON object instead of a summary
    #[arg(long)]
    pub json: bool,
    /// Writes a timeline: *.json for the Perfetto viewer (ui.perfetto.dev), *.paje for Paje
    #[arg(long, value_name = "OUT")]
    pub trace: Vec<PathBuf>,
    /// Draws a Gantt chart
    #[arg(long, value_name = "OUT.svg")]
    pub svg: Option<PathBuf>,
    /// Sets one of SimGrid's configuration keys, such as network/model=CM02
    #[arg(long = "config", alias = "cfg", value_name = "KEY=VALUE")]
    pub config: Vec<String>,
    /// The seed of all randomness
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Stops at this date
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub until: Option<f64>,
    /// How many threads run the code of the actors, where that is faster; as many as there are cores if not said, one for
    /// scenarios. The outcome is the same for any number
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub workers: Option<u16>,
    /// What happens within so many seconds happens at once: rounds of more actors, dates less exact
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub precision: Option<f64>,
    /// Which order events have within an instant, and how many turns an operation takes there [default: reference for
    /// scenarios, single for programs]
    #[arg(long, value_enum)]
    pub pacing: Option<PacingName>,
    /// Tells what the run cost, and where the time went
    #[arg(long)]
    pub stats: bool,
    /// Lets the messages be received in the way that this file prescribes, as `explore` writes it
    #[arg(long, value_name = "FILE")]
    pub way: Option<PathBuf>,
    /// Says less: no summary, and nothing of what actors say
    #[arg(long, short)]
    pub quiet: bool,
}

/// Which order events have within an instant.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
pub enum PacingName {
    /// An operation takes one turn: the fastest
    Single,
    /// As many turns as SimGrid's programs take, for the same order
    Reference,
}

impl From<PacingName> for Pacing {
    fn from(name: PacingName) -> Self {
        match name {
            PacingName::Single => Pacing::Single,
            PacingName::Reference => Pacing::Reference,
        }
    }
}

impl RunOptions {
    /// The settings that these options stand for.
    ///
    /// # Errors
    /// If an option is not understood.
    pub fn settings(&self) -> Result<Settings> {
        let mut settings = Settings { config: parse_config(&self.config)?, ..Settings::default() };
        if let Some(until) = self.until.filter(|date| !date.is_finite() || *date < 0.0) {
            return Err(Error::input(format!("--until {until}: give a date that is not negative")));
        }
        // -0 is 0.
        settings.until = self.until.map(|date| date + 0.0);
        settings.pacing = self.pacing.map_or(Pacing::Single, Pacing::from);
        settings.workers = self.workers.map(usize::from);
        settings.timed = self.stats;
        if let Some(precision) = self.precision {
            if !(precision.is_finite() && precision > 0.0) {
                return Err(Error::input(format!("--precision {precision}: give seconds, such as 1e-3")));
            }
            settings.config.push(("precision/timing".to_owned(), precision.to_string()));
        }
        settings.watcher = progress::watcher();
        Ok(settings)
    }

    pub(crate) fn wants_timeline(&self) -> bool {
        !self.trace.is_empty() || self.svg.is_some()
    }
}

/// The keys and values of `--config`.
pub(crate) fn parse_config(pairs: &[String]) -> Result<Vec<(String, String)>> {
    let parse = |pair: &String| match pair.split_once(['=', ':']) {
        Some((key, value)) => Ok((key.to_owned(), value.to_owned())),
        None => Err(Error::input(format!(
            "--config {pair}: a key and a value are needed, such as network/model=CM02"
        ))),
    };
    pairs.iter().map(parse).collect()
}

/// A scenario and the record of its operations, for the summary.
pub(crate) struct Played<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) records: Records,
}

/// What is told of some programs beside what is told of all.
pub(crate) trait More {
    /// Lines after the summary.
    fn human(&self, outcome: &Outcome) -> String;
    /// More of what is said of MPI to machines.
    fn json(&self, outcome: &Outcome) -> serde_json::Value;
    /// How many messages there were beside those that the kernel delivered.
    fn messages(&self) -> u64;
    /// Changes the timeline before it is drawn.
    fn adorn(&self, timeline: &mut Timeline);
}

/// What whoever runs a program tells of its end, in the place of what is told of any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// Lines for standard error.
    pub(crate) text: String,
    /// What an actor waits for, by its name.
    pub(crate) waits: BTreeMap<String, String>,
    /// All of it for machines.
    pub(crate) value: Option<serde_json::Value>,
    /// Whether somebody has failed.
    pub(crate) is_failure: bool,
}

/// Tells of the end of a program.
pub(crate) type Teller<'a> = &'a dyn Fn(&Outcome) -> Told;

/// Simulates a program, writes what was asked for, and tells how it ended.
pub(crate) fn simulate(program: Program, options: &RunOptions, played: Option<Played<'_>>) -> Result<Exit> {
    simulate_with(program, options, played, None, None, Vec::new())
}

/// The same, where somebody else tells how it ended, with observers, and more to tell.
pub(crate) fn simulate_with(
    program: Program,
    options: &RunOptions,
    played: Option<Played<'_>>,
    teller: Option<Teller<'_>>,
    more: Option<&dyn More>,
    observers: Vec<Box<dyn Observer>>,
) -> Result<Exit> {
    let mut settings = options.settings()?;
    check_pictures(&options.trace, options.svg.as_deref())?;
    let (program, steering) = match &options.way {
        Some(path) => steer_by_file(program, path).map(|(program, steering)| (program, Some(steering)))?,
        None => (program, None),
    };
    if let Some(played) = &played {
        // The order of events within an instant is that of the reference; the file's settings come before the command's.
        settings.pacing = options.pacing.map_or(Pacing::Reference, Pacing::from);
        settings.config.splice(0..0, played.scenario.config.iter().cloned());
        // Actors write down what they did when they run, and others may read in which order.
        settings.workers = Some(1);
    }
    if !options.json && !options.quiet {
        settings.listener = Some(Box::new(hear));
    }
    settings.observers.extend(observers);
    if let Some(warning) = hasty_profile(program.platform()).filter(|_| !options.quiet) {
        eprintln!("simurgh: warning: {}", shown(&warning));
    }
    let recording = options.wants_timeline().then(|| {
        let (recorder, recording) = Recorder::new(std::sync::Arc::clone(program.platform()));
        settings.observers.push(Box::new(recorder));
        recording
    });
    #[expect(clippy::disallowed_methods, reason = "the statistics tell how long it took")]
    let start = Instant::now();
    let mut outcome = program.simulate(settings).map_err(|error| match (&played, error) {
        (Some(played), error @ Error::Simulation(_)) => {
            Error::input(format!("{}: {error}", played.scenario.name))
        }
        (_, error) => error,
    })?;
    outcome.report.messages += more.map_or(0, More::messages);
    let stats = options.stats.then(|| Stats::new(&outcome, start.elapsed()));
    if let Some(obstacle) = steering.and_then(|steering| steering.obstacle()) {
        return Err(Error::input(format!("the program does not go this way: {obstacle}")));
    }
    if let Some(recording) = recording {
        let mut timeline = recording.finish(outcome.report.clock, &|mailbox| outcome.mailbox_name(mailbox));
        timeline.title = title(played.as_ref());
        if let Some(more) = more {
            more.adorn(&mut timeline);
        }
        write_timeline(&timeline, &options.trace, options.svg.as_deref())?;
    }
    let records = played.as_ref().map(|played| played.records.take());
    let scenario = played.as_ref().map(|played| played.scenario);
    let told = teller.map(|teller| teller(&outcome));
    if let Some(told) = &told
        && !(options.quiet && outcome.is_fine())
    {
        eprint!("{}", told.text);
    }
    if options.json {
        let more = more.map(|more| more.json(&outcome));
        let played = scenario.zip(records.as_deref());
        print_as_it_is(&summary::json(&outcome, played, stats.as_ref(), told.as_ref(), more));
    } else if !options.quiet {
        print(&summary::told_by(&outcome, scenario.zip(records.as_deref()), told.as_ref()));
        if let Some(more) = more {
            print(&more.human(&outcome));
        }
        for path in options.trace.iter().chain(&options.svg) {
            print(&format!("wrote {}\n", named(path)));
        }
    }
    // Who asks for both wants these lines and no others.
    if let Some(stats) = stats.filter(|_| !options.json) {
        print(&stats.human());
    }
    Ok(exit_of(&outcome))
}

/// A profile that repeats so often that a simulation hardly gets anywhere: what is said of it.
fn hasty_profile(platform: &Platform) -> Option<String> {
    /// A millionth of a second makes a million events in each second, which takes about as long.
    const HASTY: f64 = 1e-6;
    let period = |binding: &ProfileBinding| match binding.profile.repeat {
        Repeat::Periodic(period) if period < HASTY && !binding.profile.events.is_empty() => Some(period),
        _ => None,
    };
    let of_each = platform.profiles().iter().filter_map(|binding| Some((period(binding)?, binding.target)));
    let (period, target) = of_each.min_by(|one, other| one.0.total_cmp(&other.0))?;
    let what = match target {
        ProfileTarget::HostSpeed(host) | ProfileTarget::HostState(host) => {
            format!("host {:?}", platform.host(host).name)
        }
        ProfileTarget::LinkBandwidth(link)
        | ProfileTarget::LinkLatency(link)
        | ProfileTarget::LinkState(link) => {
            format!("link {:?}", platform.link(link).name)
        }
    };
    Some(format!(
        "{}: a profile of {what} repeats every {period:e} s, which makes {:.0e} events in each simulated second, and may take very long; give it a longer period, or stop with --until",
        platform.name(),
        1.0 / period
    ))
}

/// What a picture of the run is called: the scenario, or the program itself.
fn title(played: Option<&Played<'_>>) -> Option<String> {
    let path = match played {
        Some(played) => PathBuf::from(&played.scenario.name),
        None => PathBuf::from(std::env::args_os().next()?),
    };
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned())
}

fn exit_of(outcome: &Outcome) -> Exit {
    if outcome.is_fine() { Exit::Fine } else { Exit::Failed }
}

fn hear(said: &Said<'_>) {
    print_as_it_is(&format!(
        "[{:>12.6}] {} on {}: {}\n",
        said.at.seconds(),
        shown(said.actor),
        shown(said.host),
        said.text
    ));
}

enum Format {
    Perfetto,
    Paje,
}

fn format_of(path: &Path) -> Result<Format> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => Ok(Format::Perfetto),
        Some("paje" | "trace") => Ok(Format::Paje),
        _ => Err(Error::input(format!(
            "--trace {}: the name says the format; let it end in .json (Perfetto) or .paje",
            path.display()
        ))),
    }
}

/// Says before a long run that its pictures could not be written.
pub(crate) fn check_pictures(traces: &[PathBuf], svg: Option<&Path>) -> Result<()> {
    for path in traces {
        format_of(path)?;
    }
    traces.iter().map(PathBuf::as_path).chain(svg).try_for_each(check_place)
}

/// Writes the timeline in the formats that the names of the files say, and as a picture.
pub(crate) fn write_timeline(timeline: &Timeline, traces: &[PathBuf], svg: Option<&Path>) -> Result<()> {
    for path in traces {
        match format_of(path)? {
            Format::Perfetto => write_file(path, |out| timeline.write_perfetto(out))?,
            Format::Paje => write_file(path, |out| timeline.write_paje(out))?,
        }
    }
    match svg {
        Some(path) => write_file(path, |out| timeline.write_svg(out)),
        None => Ok(()),
    }
}

/// Says before a long run that a file could not be written.
pub(crate) fn check_place(path: &Path) -> Result<()> {
    let name = path.display();
    if path.is_dir() {
        return Err(Error::input(format!("{name}: this is a directory; name a file in it to write to")));
    }
    check_twice(path)?;
    match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() || folder.is_dir() => {
            simurgh_files::check(path).map_err(|error| Error::file(path, error))
        }
        Some(folder) => Err(Error::input(format!(
            "{name}: there is no directory {:?} to write into; make it first",
            folder.display().to_string()
        ))),
        None => Err(Error::input("a file to write to has no name; name one")),
    }
}

/// Refuses a file to write to that the command line names for something else, too.
pub(crate) fn check_twice(path: &Path) -> Result<()> {
    let name = path.display();
    match is_named_twice(path) {
        true => Err(Error::input(format!(
            "{name}: this file is named twice on the command line, and what is written there would replace the other; name two files"
        ))),
        false => Ok(()),
    }
}

/// Whether a file to write to is also what another word of the command line names: a file that is there, or one that another option
/// writes to.
fn is_named_twice(path: &Path) -> bool {
    const WRITES: [&str; 6] = ["save", "html", "resume", "svg", "trace", "way"];
    let real = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        path.canonicalize().ok().or_else(|| Some(folder.canonicalize().ok()?.join(path.file_name()?)))
    };
    let Some(place) = real(path) else { return false };
    let (mut before, mut count) = (String::new(), 0);
    for word in std::env::args().skip(1) {
        let (option, value) = match word.split_once('=') {
            Some((option, value)) if option.starts_with("--") => (option, value),
            _ => (before.as_str(), word.as_str()),
        };
        let writes = option.starts_with("--") && WRITES.iter().any(|name| option.ends_with(name));
        let is_it = (writes || path.exists()) && real(Path::new(value)).as_ref() == Some(&place);
        count += usize::from(is_it);
        before = word;
    }
    count > 1
}

/// The name of a file as it is shown.
pub(crate) fn named(path: &Path) -> String {
    simurgh_files::shown(&path.display().to_string()).into_owned()
}

/// Writes a file, with errors that name it.
pub(crate) fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<()> {
    simurgh_files::write(path, write).map_err(|error| Error::file(path, error))
}

/// Writes a file into a directory, which is made if it is not there; says so.
pub(crate) fn write_into(folder: &Path, name: &str, text: &[u8]) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let what = if folder.exists() { "this is not a directory".to_owned() } else { error.to_string() };
        Error::input(format!("{}: {what}; name a directory to write into", folder.display()))
    })?;
    let path = folder.join(name);
    write_file(&path, |out| out.write_all(text))?;
    print(&format!("wrote {}\n", named(&path)));
    Ok(())
}

/// Makes a program into one that takes the way of a file.
fn steer_by_file(program: Program, path: &Path) -> Result<(Program, Steering)> {
    let text = read_text(path)?;
    let way = text.parse().map_err(|what| Error::input(format!("{}: {what}", path.display())))?;
    Ok(steer(program, way))
}
