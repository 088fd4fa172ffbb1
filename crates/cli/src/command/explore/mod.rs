//! `explore`: the best and the worst that a scenario or program can come to on its platform, over every way in which
//! its messages can be received.

mod report;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use simurgh_actors::command_line::{amount, explored, range, way};
use simurgh_actors::timed::{Attempt, Explore, Objective, Run, Subject};
use simurgh_actors::{Error, Exit, Result, Scenario};
use simurgh_platform::Platform;
use simurgh_trace::Recorder;

use super::check::{NetworkName, duration};
use super::progress::{Exploring, Interrupt};
use super::simulate::{check_pictures, check_place, named, parse_config, write_file, write_timeline};
use super::{print, print_answer};

/// The arguments of `simurgh explore`.
#[derive(Args, Clone, Debug)]
pub struct ExploreArguments {
    /// The scenario (.toml)
    pub file: PathBuf,
    /// The platform file (SimGrid XML); that of the scenario, or the built-in one, if there is none
    #[arg(long, short, value_name = "FILE")]
    pub platform: Option<PathBuf>,
    #[command(flatten)]
    options: ExploreOptions,
}

/// What can be said about any timed exploration.
#[derive(Args, Clone, Debug)]
pub struct ExploreOptions {
    /// What is to be least and most
    #[arg(long, value_enum, default_value_t = ObjectiveName::Makespan)]
    pub objective: ObjectiveName,
    /// What may arrive before what
    #[arg(long, value_enum, default_value_t = NetworkName::Mailbox)]
    pub network: NetworkName,
    /// At most so many ways
    #[arg(long, value_name = "N", default_value_t = u64::MAX, hide_default_value = true, value_parser = clap::value_parser!(u64).range(1..))]
    pub executions: u64,
    /// At most so many seconds
    #[arg(long, value_name = "SECONDS")]
    pub time: Option<f64>,
    /// Prints one JSON object instead of a summary
    #[arg(long)]
    pub json: bool,
    /// Sets one of SimGrid's configuration keys, such as network/model=CM02
    #[arg(long = "config", alias = "cfg", value_name = "KEY=VALUE")]
    pub config: Vec<String>,
    /// The seed of all randomness
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Writes the best way, for `run --way`
    #[arg(long, value_name = "OUT")]
    pub best_way: Option<PathBuf>,
    /// Writes the worst way, for `run --way`
    #[arg(long, value_name = "OUT")]
    pub worst_way: Option<PathBuf>,
    /// Writes a timeline of the best run: *.json for the Perfetto viewer, *.paje for Paje
    #[arg(long, value_name = "OUT")]
    pub best_trace: Vec<PathBuf>,
    /// Writes a timeline of the worst run
    #[arg(long, value_name = "OUT")]
    pub worst_trace: Vec<PathBuf>,
    /// Draws a Gantt chart of the best run
    #[arg(long, value_name = "OUT.svg")]
    pub best_svg: Option<PathBuf>,
    /// Draws a Gantt chart of the worst run
    #[arg(long, value_name = "OUT.svg")]
    pub worst_svg: Option<PathBuf>,
}

/// What is to be least and most.
#[derive(Copy, Clone, PartialEq, Eq, Debug, ValueEnum)]
pub enum ObjectiveName {
    /// The date of the end
    Makespan,
    /// How many messages are received
    Messages,
    /// How many bytes are in them
    Bytes,
    /// The joules that all hosts use
    Energy,
}

impl From<ObjectiveName> for Objective {
    fn from(name: ObjectiveName) -> Self {
        match name {
            ObjectiveName::Makespan => Objective::Makespan,
            ObjectiveName::Messages => Objective::Messages,
            ObjectiveName::Bytes => Objective::Bytes,
            ObjectiveName::Energy => Objective::Energy,
        }
    }
}

/// Explores a scenario.
pub(crate) fn run(arguments: &ExploreArguments) -> Result<Exit> {
    let file = &arguments.file;
    super::mpi::refuse_compiled("explore", file)?;
    if file.extension().is_none_or(|extension| extension != "toml") {
        return Err(Error::input(format!("{}: explore takes a scenario (.toml)", file.display())));
    }
    let mut asked = Scenario::from_file(file)?.explore();
    if let Some(path) = &arguments.platform {
        asked = asked.platform(Platform::from_file(path)?);
    }
    explore(asked, &arguments.options)
}

/// Explores a program, prints what was found, and writes what is to be written of it.
pub(crate) fn explore(asked: Explore<'_>, options: &ExploreOptions) -> Result<Exit> {
    let ends = [End::best(options), End::worst(options)];
    ends.iter().try_for_each(End::check)?;
    let (mut line, interrupt) = (Exploring::start(), Interrupt::listen());
    let objective = Objective::from(options.objective);
    let mut asked = asked
        .objective(objective)
        .network(options.network.into())
        .executions(options.executions)
        .seed(options.seed)
        .progress(move |found| line.show(found.ways, || range(found, objective)))
        .stop_when(move |_| interrupt.came());
    if let Some(seconds) = options.time {
        asked = asked.time(duration(seconds)?);
    }
    for (key, value) in parse_config(&options.config)? {
        asked = asked.config(key, value);
    }
    let (report, subject) = explored(asked)?;
    print_answer(&if options.json { report::json(&report) } else { report.to_string() }, options.json);
    for (end, run) in ends.iter().zip([report.best(), report.worst()]) {
        let Some(run) = run else { continue };
        end.write(&subject, objective, run, options.json)?;
    }
    Ok(report.verdict().into())
}

/// One end of what was found, and what is to be written of it.
struct End<'a> {
    name: &'static str,
    way: Option<&'a Path>,
    traces: &'a [PathBuf],
    svg: Option<&'a Path>,
}

impl<'a> End<'a> {
    fn best(options: &'a ExploreOptions) -> Self {
        let (way, svg) = (options.best_way.as_deref(), options.best_svg.as_deref());
        Self { name: "best", way, traces: &options.best_trace, svg }
    }

    fn worst(options: &'a ExploreOptions) -> Self {
        let (way, svg) = (options.worst_way.as_deref(), options.worst_svg.as_deref());
        Self { name: "worst", way, traces: &options.worst_trace, svg }
    }

    /// Says before a long exploration that its results could not be written.
    fn check(&self) -> Result<()> {
        check_pictures(self.traces, self.svg)?;
        self.way.map_or(Ok(()), check_place)
    }

    fn write(&self, subject: &Subject<'_>, objective: Objective, run: &Run, quiet: bool) -> Result<()> {
        if let Some(path) = self.way {
            write_file(path, |out| out.write_all(way(self.name, objective, run).as_bytes()))?;
        }
        if !self.traces.is_empty() || self.svg.is_some() {
            self.draw(subject, objective, run)?;
        }
        if !quiet {
            for path in self.way.into_iter().chain(self.traces.iter().map(PathBuf::as_path)).chain(self.svg) {
                print(&format!("wrote {}\n", named(path)));
            }
        }
        Ok(())
    }

    /// Simulates the way once more, with someone who looks on.
    fn draw(&self, subject: &Subject<'_>, objective: Objective, run: &Run) -> Result<()> {
        let (recorder, recording) = Recorder::new(Arc::clone(subject.platform()));
        let again = subject
            .simulate(Some(&run.way), objective, |settings| settings.observers.push(Box::new(recorder)))?;
        let Attempt::Fine(again, outcome) = again else {
            unreachable!("what was simulated once is simulated again");
        };
        debug_assert_eq!(again.value, run.value);
        let mut timeline = recording.finish(outcome.report.clock, &|mailbox| outcome.mailbox_name(mailbox));
        timeline.title = Some(format!("{} {objective}: {}", self.name, amount(objective, run.value)));
        write_timeline(&timeline, self.traces, self.svg)
    }
}
