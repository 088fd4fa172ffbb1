//! `replay FILE`: executes a schedule again, step by step.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use simurgh_actors::command_line::{
    Differs, Origin, Planned, Schedule, Subject, base, count, find_scenario, lines, shell_word, silently,
    subject,
};
use simurgh_actors::{Error, Exit, Result, Scenario};
use simurgh_explore::replay;
use simurgh_explore::verdict::Impossible;
use simurgh_explore::{Faults, Step};
use simurgh_kernel::kernel::Kernel;
use simurgh_mpi::launch::Run;
use simurgh_trace::counterexample::told::{Counterexample, Shown, Taken, Telling};
use simurgh_trace::counterexample::{NAME_MAX, about, cut, in_one_line, rows, steps_in_columns};

use super::check::{draw, view};
use super::simulate::{check_place, named};
use super::{debugger, gdb, print, print_answer};

/// The arguments of `replay`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Exit codes: 0 nothing goes wrong, 1 something does, 2 it cannot be followed.")]
pub struct ReplayOptions {
    /// The schedule that `check --save FILE` wrote
    pub file: PathBuf,
    /// Stops after this step, and tells what every actor is about
    #[arg(long, value_name = "STEP")]
    pub until: Option<usize>,
    /// Stops for a debugger just before the code of this step runs
    #[arg(long, value_name = "STEP")]
    pub break_at: Option<usize>,
    /// Draws what happens, as a page to click through
    #[arg(long, value_name = "OUT")]
    pub html: Option<PathBuf>,
    /// Prints one JSON object instead of the steps
    #[arg(long)]
    pub json: bool,
    /// Walks through it in gdb, call by call (compiled MPI programs)
    #[arg(long, conflicts_with_all = ["until", "break_at", "html", "json"])]
    pub gdb: bool,
}

/// Replays a schedule of a scenario.
pub(crate) fn run(options: &ReplayOptions) -> Result<Exit> {
    let schedule = Schedule::from_file(&options.file)?;
    match &schedule.origin {
        Origin::Scenario(scenario) => {
            refuse_gdb(options)?;
            let scenario = Scenario::from_file(find_scenario(scenario, &options.file))?;
            let subject = subject(scenario.check())?;
            replay(&subject, &schedule, options)
        }
        // A compiled MPI program.
        Origin::Program { name, arguments } if base(name) == "simurgh" => {
            if options.gdb {
                return gdb::replay(&options.file);
            }
            if options.json {
                super::keep_output();
            }
            super::check::mpi::again(arguments, |check, program| {
                let subject = subject(check)?;
                if !gdb::is_debugged() {
                    return replay(&subject, &schedule, options);
                }
                // It is followed once before anybody looks, so that it can be told what each step comes to.
                let told = followed(&subject, &schedule, options, &[])?;
                gdb::stop_for_debugger(program.run())?;
                walk(&subject, &schedule, options, &rows(&told).unwrap_or_default())
            })
        }
        Origin::Program { name, .. } => {
            let (file, program) = (options.file.display(), base(name));
            Err(Error::input(format!(
                "{file}: this is a schedule of the program {program:?}; run `{program} replay {file}`"
            )))
        }
    }
}

/// The arguments with which a program was checked.
///
/// # Errors
/// If it is a schedule of something else.
pub(crate) fn arguments<'a>(schedule: &'a Schedule, file: &Path, program: &str) -> Result<&'a [String]> {
    let file = file.display();
    match &schedule.origin {
        Origin::Scenario(scenario) => Err(Error::input(format!(
            "{file}: this is a schedule of the scenario {}; run `simurgh replay {file}`",
            scenario.display()
        ))),
        Origin::Program { name, .. } if base(name) != base(program) => {
            let (name, program) = (base(name), base(program));
            Err(Error::input(format!(
                "{file}: this is a schedule of the program {name:?}, not of {program:?}; run `{name} replay {file}`"
            )))
        }
        Origin::Program { arguments, .. } => Ok(arguments),
    }
}

/// Refuses to walk through what gdb knows nothing of.
fn refuse_gdb(options: &ReplayOptions) -> Result<()> {
    match options.gdb {
        true => Err(Error::input(
            "--gdb: goes with schedules of compiled MPI programs; run `gdb --args` with --break-at STEP instead",
        )),
        false => Ok(()),
    }
}

/// Executes a schedule for a debugger that stops before each call of these, and tells how it ends.
fn walk(
    subject: &Subject<'_>,
    schedule: &Schedule,
    options: &ReplayOptions,
    calls: &[Taken],
) -> Result<Exit> {
    let told = followed(subject, schedule, options, calls)?;
    let report = report(schedule, options, &told);
    print(report.trim_start_matches('\n').rsplit("\n\n").next().unwrap_or_default());
    Ok(if told.what.is_some() { Exit::Failed } else { Exit::Fine })
}

/// Executes a schedule and tells what happens.
///
/// # Errors
/// Where it cannot be followed.
pub(crate) fn replay(subject: &Subject<'_>, schedule: &Schedule, options: &ReplayOptions) -> Result<Exit> {
    let length = schedule.steps.len();
    for (option, step, lowest) in [("--until", options.until, 0), ("--break-at", options.break_at, 1)] {
        if let Some(step) = step.filter(|step| !(lowest..=length).contains(step)) {
            let steps = count(length as u64, "step");
            return Err(Error::input(format!("{option} {step}: the schedule has {steps}")));
        }
    }
    options.html.iter().try_for_each(|path| check_place(path))?;
    if options.break_at.is_some() && !debugger::is_attached() {
        return Err(Error::input(debugger::how_to_attach()));
    }
    let told = followed(subject, schedule, options, &[])?;
    if let Some(path) = &options.html {
        let words = std::env::args_os().next().into_iter().chain([OsString::from("replay")]);
        let words = words.chain([options.file.clone().into_os_string()]);
        let command: Vec<_> = words.map(|word| shell_word(&word.to_string_lossy())).collect();
        draw(subject, &told, Some(command.join(" ")), path)?;
    }
    let text = if options.json { json(schedule, &told) } else { report(schedule, options, &told) };
    print_answer(&text, options.json);
    Ok(if told.what.is_some() { Exit::Failed } else { Exit::Fine })
}

fn followed(
    subject: &Subject<'_>,
    schedule: &Schedule,
    options: &ReplayOptions,
    calls: &[Taken],
) -> Result<Counterexample> {
    silently(|| follow(subject, schedule, options, calls))?.map_err(|what| {
        let file = options.file.display();
        Error::input(format!(
            "{file}: {what}; the program has changed, or it is another: `check --save` it anew"
        ))
    })
}

/// Takes the steps; or says which of them is another now. A debugger is shown the calls.
fn follow(
    subject: &Subject<'_>,
    schedule: &Schedule,
    options: &ReplayOptions,
    calls: &[Taken],
) -> std::result::Result<Counterexample, String> {
    // The network may do what it did.
    let planned: Vec<Step> = schedule.steps.iter().map(|planned| planned.step).collect();
    let mut system = subject.actors(schedule.network).unreliable(Faults::of(&planned));
    if let Some(Differs { what, from }) = &schedule.differs {
        // It is one of two executions: the other is what it is compared with.
        system = system.unreliable(Faults::of(from)).compare(*what);
        replay::follow(&mut system, from).map_err(|impossible| {
            format!("the execution that it differs from cannot be repeated: {impossible}")
        })?;
        system = system.unreliable(Faults::of(&planned));
    }
    let names = |mailbox| subject.mailbox_name(mailbox);
    let mut telling = Telling::new(&mut system, &names);
    let until = options.until.unwrap_or(schedule.steps.len());
    for (index, planned) in schedule.steps[..until].iter().enumerate() {
        let step = planned.step;
        telling.check(step).map_err(|impossible| not_possible(planned, &impossible, &mut telling))?;
        let name = telling.name(step.actor).to_owned();
        if let Some(call) = calls.iter().find(|call| call.at == Some(index + 1)) {
            Run::stop_before_step(index + 1, step.actor as usize, &call.does);
        }
        if options.break_at == Some(index + 1) {
            debugger::stop(index + 1, &name, telling.place(step));
        }
        let taken = telling.take(step).map_err(|impossible| impossible.to_string())?;
        if planned.does.as_ref().is_some_and(|does| *does != taken.does) {
            let (now, before) = (in_one_line(taken, &name), planned.in_words());
            return Err(format!("step {} is another now: {now}; when it was saved, {before}", index + 1));
        }
        // Who debugs wants to see how far it is.
        if options.break_at.is_some() && !options.json {
            print(&told_step(taken, &name, schedule.steps.len()));
        }
    }
    Ok(telling.end(|_, words| Some(words) == schedule.violation.as_deref()))
}

/// Why a step cannot be taken, and what could be instead.
fn not_possible<F: FnMut(&mut Kernel)>(
    planned: &Planned,
    impossible: &Impossible,
    telling: &mut Telling<'_, F>,
) -> String {
    let standing = telling.standing();
    let actor = planned.step.actor;
    let now = match standing.iter().find(|standing| standing.actor == actor) {
        Some(standing) => format!("{} {}", telling.name(actor), about(standing)),
        None if actor == Step::NETWORK => "no such message is on its way".to_owned(),
        None => format!("there is no actor {actor}"),
    };
    let mut could: Vec<&str> = impossible
        .possible
        .iter()
        .map(|step| if step.actor == Step::NETWORK { "the network" } else { telling.name(step.actor) })
        .collect();
    could.dedup();
    let could = if could.is_empty() { "nobody".to_owned() } else { could.join(", ") };
    let words = planned.does.as_ref().map_or_else(String::new, |_| format!(", {}", planned.in_words()));
    format!(
        "step {} ({}{words}) is not possible now: {now}; who could go on: {could}",
        impossible.taken + 1,
        planned.step
    )
}

/// A step, what was said, and what went wrong.
fn told_step(taken: &Taken, name: &str, count: usize) -> String {
    let width = count.to_string().len().max(3);
    let mut text = format!("{:>width$}  {}\n", taken.number, in_one_line(taken, name));
    for said in &taken.said {
        let _ = writeln!(text, "{:>width$}    {}", "", said.text);
    }
    if let Some(fails) = &taken.fails {
        let _ = writeln!(text, "{:>width$}  ✗ {}", "", lines(fails));
    }
    text
}

/// The steps, how all actors stand if it ended early or in a deadlock, and how it ended.
fn report(schedule: &Schedule, options: &ReplayOptions, told: &Counterexample) -> String {
    let mut text = String::new();
    let taken = told.steps.len();
    let is_early = taken < schedule.steps.len();
    if options.break_at.is_none() {
        text.push_str(&steps_in_columns(told, &view()));
    }
    if options.until.is_some() || told.is_deadlock() {
        let _ = writeln!(text, "\nafter step {taken}:");
        text.push_str(&state(told));
    }
    text.push('\n');
    if let Some(path) = &options.html {
        let _ = writeln!(text, "wrote {}: open it in a browser", named(path));
    }
    let words = |what: &Option<String>| what.as_deref().map(lines);
    match (words(&told.what), words(&schedule.violation)) {
        (Some(what), Some(saved)) if what == saved => {
            let _ = writeln!(text, "it happens again: {what}");
        }
        (Some(what), Some(saved)) => {
            let _ = writeln!(text, "{what}\nthe schedule was saved for something else: {saved}");
        }
        (Some(what), None) => {
            let _ = writeln!(text, "{what}");
        }
        (None, _) if is_early => {
            let left = count((schedule.steps.len() - taken) as u64, "step");
            let _ = writeln!(text, "nothing has gone wrong until here; {left} left");
        }
        (None, Some(saved)) => {
            let _ = writeln!(text, "nothing went wrong; the schedule was saved for: {saved}");
        }
        (None, None) => text.push_str("nothing went wrong\n"),
    }
    text
}

/// What every actor is about, and what it exposes.
fn state(told: &Counterexample) -> String {
    let mut text = String::new();
    let names: Vec<_> = told.actors.iter().map(|name| cut(name, NAME_MAX)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for standing in &told.standing {
        let name = names.get(standing.actor as usize).map_or("", String::as_str);
        let _ = writeln!(text, "  {name:<width$}  {}", about(standing));
    }
    let shown = told.shown();
    if !shown.is_empty() {
        text.push_str("exposed:\n");
    }
    for Shown { name, value } in shown {
        let _ = writeln!(text, "  {name} = {value}");
    }
    text
}

fn json(schedule: &Schedule, told: &Counterexample) -> String {
    #[derive(Serialize)]
    struct Out<'a> {
        reproduced: bool,
        schedule: Vec<String>,
        #[serde(flatten)]
        told: &'a Counterexample,
    }
    let reproduced = told.what.is_some() && told.what == schedule.violation;
    let steps = told.steps.iter().map(|taken| taken.step).map(|step: Step| step.to_string()).collect();
    let out = Out { reproduced, schedule: steps, told };
    serde_json::to_string(&out).expect("plain data becomes JSON") + "\n"
}
