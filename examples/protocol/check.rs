//! The `check` of the protocols among the examples: which search, how long, and how what it found is told.

use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use simurgh::clap;
use simurgh_protocol::local::Options;
use simurgh_protocol::{Data, Outcome, Report, System, Verdict};

/// Which search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    /// All global states, the nearest first: the shortest counterexample
    Bfs,
    /// All global states in depth: the least memory
    Dfs,
    /// The local states of each node, and all system states made of them (LMC-GEN)
    LocalGen,
    /// The local states of each node, and system states only where something seems to be wrong (LMC-OPT)
    Local,
}

/// What all protocols can be asked.
#[derive(clap::Args)]
pub struct CheckOptions {
    /// Which search [default: the one that is quickest here]
    #[arg(long, value_enum)]
    engine: Option<Engine>,
    /// For machines
    #[arg(long)]
    json: bool,
    /// Stops after so many seconds, and says how far it came
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    time: f64,
    /// Stops when a handler or a condition takes more than so many seconds: it loops for ever; 0 to wait for ever
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    stuck_after: f64,
    /// Goes no further than so many steps from the start; of one node, in a local search
    #[arg(long, value_name = "STEPS")]
    depth: Option<usize>,
    /// How many threads a breadth-first search uses
    #[arg(long, default_value_t = 1)]
    workers: usize,
    /// Local search: lets every message be received again and again
    #[arg(long)]
    no_histories: bool,
    /// Local search: lets everything meet everything, as the paper does
    #[arg(long)]
    no_company: bool,
    /// Local search: verifies only when all local states are known
    #[arg(long)]
    late: bool,
}

/// Checks a system, tells what was found, and gives the exit code: 0 holds, 1 violated, 2 cannot run, 3 not exhausted.
///
/// `engine` is the search if none was asked for; `peak` gives the most bytes that were allocated so far.
#[allow(clippy::disallowed_methods, reason = "how long a search took is told, and nothing depends on it")]
pub fn check<M: Data>(
    system: &System<M>,
    options: &CheckOptions,
    engine: Engine,
    peak: impl Fn() -> usize,
) -> ExitCode {
    let before = peak();
    let begin = Instant::now();
    let time = Duration::try_from_secs_f64(options.time).unwrap_or(Duration::MAX);
    let patience = if options.stuck_after > 0.0 { options.stuck_after } else { f64::INFINITY };
    let local = Options {
        histories: !options.no_histories,
        coexistence: !options.no_company,
        early: !options.late,
        ..Options::default()
    };
    let checker = system
        .checker()
        .depth_max(options.depth.unwrap_or(usize::MAX))
        .workers(options.workers)
        .local_options(local)
        .stuck_after(Duration::try_from_secs_f64(patience).unwrap_or(Duration::MAX))
        .stop_when(move |_| begin.elapsed() > time);
    let report = match options.engine.unwrap_or(engine) {
        Engine::Bfs => checker.bfs(),
        Engine::Dfs => checker.dfs(),
        Engine::LocalGen => checker.local_gen(),
        Engine::Local => checker.local(),
    };
    let seconds = begin.elapsed().as_secs_f64();
    let bytes = peak().saturating_sub(before);
    if options.json {
        super::print(format_args!("{}\n", as_json(&report, seconds, bytes)));
    } else if report.verdict == Verdict::CannotRun {
        eprintln!("{}", report.note.as_deref().unwrap_or("the search is not possible"));
    } else {
        as_text(system, &report, seconds, bytes);
    }
    ExitCode::from(report.verdict.exit_code())
}

fn as_json(report: &Report, seconds: f64, bytes: usize) -> Value {
    let properties: Vec<Value> = report
        .findings
        .iter()
        .map(|finding| {
            let (outcome, schedule) = match &finding.outcome {
                Outcome::Holds(schedule) => ("holds", schedule.as_ref()),
                Outcome::Violated(schedule) => ("violated", schedule.as_ref()),
                Outcome::Unknown => ("unknown", None),
            };
            let steps = schedule.map(|schedule| schedule.steps.iter().map(ToString::to_string).collect::<Vec<_>>());
            let back_to = schedule.and_then(|schedule| schedule.back_to);
            let mode = format!("{:?}", finding.mode).to_lowercase();
            json!({ "name": finding.name, "mode": mode, "outcome": outcome, "schedule": steps, "back_to": back_to })
        })
        .collect();
    json!({
        "verdict": report.verdict.to_string().replace('-', " "),
        "engine": report.engine,
        "transitions": report.transitions,
        "states": report.states,
        "system_states": report.system_states,
        "handlers": report.handlers,
        "suspicions": report.suspicions,
        "verified_states": report.verified_states,
        "depth": report.depth,
        "seconds": seconds,
        "peak_bytes": bytes,
        "note": report.note,
        "properties": properties,
    })
}

fn as_text<M: Data>(system: &System<M>, report: &Report, seconds: f64, bytes: usize) {
    let mut text = report.to_string();
    if let Some(Outcome::Violated(Some(schedule))) = report.violation().map(|finding| &finding.outcome)
        && let Ok(replayed) = system.replay(schedule)
    {
        text += "in the end:\n";
        for (name, state) in replayed.names().iter().zip(replayed.actors_after(schedule.steps.len())) {
            text += &format!("  {name}: {state}\n");
        }
    }
    let Report { handlers, system_states, suspicions, verified_states, .. } = report;
    text += &format!("{handlers} handlers ran, {system_states} system states");
    if report.engine.starts_with("local") {
        text += &format!(", {suspicions} suspicions verified through {verified_states} states");
    }
    super::print(format_args!("{text}, {:.1} ms, {} KiB\n", seconds * 1e3, bytes / 1024));
}
