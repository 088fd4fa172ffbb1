//! The `run` of the protocols among the examples: on which platform, what goes wrong, and how what came of it is told.

use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use simurgh::{Platform, clap};
use simurgh_protocol::{ActorId, Data, System};
use simurgh_protocol_sim::{MESSAGE_BYTES, Report, Simulation};

/// Something that happens to an actor at a date, written `ACTOR@SECONDS`.
#[derive(Clone, Copy, Debug)]
struct Moment {
    actor: ActorId,
    at: f64,
}

impl FromStr for Moment {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let moment = text
            .split_once('@')
            .and_then(|(actor, at)| Some(Self { actor: ActorId(actor.parse().ok()?), at: at.parse().ok()? }));
        moment.ok_or_else(|| "write the number of an actor and a date in seconds, as in 0@2.5".to_owned())
    }
}

/// What all protocols can be told about a run.
#[derive(clap::Args)]
pub struct RunOptions {
    /// The platform file (SimGrid XML); the built-in platform if there is none
    #[arg(long, short, value_name = "FILE")]
    platform: Option<PathBuf>,
    /// The hosts of the actors, in turn; all of the platform if nothing is said
    #[arg(long, value_name = "HOST,HOST...", value_delimiter = ',')]
    hosts: Vec<String>,
    /// The share of messages that are lost, from 0 to 1
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    loss: f64,
    /// The share of messages that come twice, from 0 to 1
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    duplication: f64,
    /// The seed of losses, timers and choices: the same seed gives the same run
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Stops at this date, in simulated seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0)]
    until: f64,
    /// Crashes an actor at a date
    #[arg(long, value_name = "ACTOR@SECONDS")]
    crash: Vec<Moment>,
    /// Starts an actor again at a date
    #[arg(long, value_name = "ACTOR@SECONDS")]
    recover: Vec<Moment>,
    /// Shows what happened, with its dates
    #[arg(long)]
    steps: bool,
    /// For machines
    #[arg(long)]
    json: bool,
}

/// Simulates a system, tells what came of it, and gives the exit code: 0 fine, 1 violated, 2 cannot run.
#[allow(clippy::disallowed_methods, reason = "how long a simulation took is told, and nothing depends on it")]
pub fn run<M: Data + Serialize + DeserializeOwned>(
    system: System<M>,
    options: &RunOptions,
    peak: impl Fn() -> usize,
) -> ExitCode {
    let before = peak();
    let begin = Instant::now();
    match simulate(system, options) {
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
        Ok(report) => {
            if options.json {
                let (seconds, bytes) = (begin.elapsed().as_secs_f64(), peak().saturating_sub(before));
                super::print(format_args!("{}\n", as_json(&report, seconds, bytes)));
            } else {
                as_text(&report);
            }
            ExitCode::from(u8::from(!report.is_fine()))
        }
    }
}

fn simulate<M: Data + Serialize + DeserializeOwned>(
    system: System<M>,
    options: &RunOptions,
) -> Result<Report, String> {
    let platform = match &options.platform {
        Some(path) => Platform::from_file(path).map_err(|error| error.to_string())?,
        None => Platform::builtin(),
    };
    let mut simulation = Simulation::new(system, platform)
        .hosts(&options.hosts)
        .size(|msg| simurgh_deploy::wire_bytes(msg).unwrap_or(MESSAGE_BYTES))
        .loss(options.loss)
        .duplication(options.duplication)
        .seed(options.seed);
    for Moment { actor, at } in &options.crash {
        simulation = simulation.crash(*actor, *at);
    }
    for Moment { actor, at } in &options.recover {
        simulation = simulation.recover(*actor, *at);
    }
    if options.steps {
        simulation = simulation.record();
    }
    simulation.run(Some(options.until)).map_err(|error| error.to_string())
}

fn as_text(report: &Report) {
    if let Some(schedule) = &report.schedule {
        for (date, step) in report.dates.iter().zip(&schedule.steps) {
            super::print(format_args!("{date:11.6}  {step}\n"));
        }
    }
    super::print(report);
}

fn as_json(report: &Report, seconds: f64, bytes: usize) -> Value {
    let properties: Vec<Value> = report
        .properties
        .iter()
        .map(|property| {
            let mode = format!("{:?}", property.mode).to_lowercase();
            json!({ "name": property.name, "mode": mode, "at": property.at })
        })
        .collect();
    let nodes: Vec<Value> = report
        .nodes
        .iter()
        .map(|node| json!({ "name": node.name, "host": node.host, "is_up": node.is_up, "state": node.state }))
        .collect();
    let failures: Vec<Value> =
        report.failures.iter().map(|(actor, why)| json!({ "actor": actor.0, "why": why })).collect();
    let counts = &report.counts;
    let schedule = report.schedule.as_ref().map(|schedule| {
        let steps = report.dates.iter().zip(&schedule.steps);
        steps.map(|(date, step)| json!({ "at": date, "step": step.to_string() })).collect::<Vec<_>>()
    });
    json!({
        "verdict": if report.is_fine() { "fine" } else { "violated" },
        "end": format!("{:?}", report.end).to_lowercase(),
        "clock": report.clock,
        "sent": counts.sent,
        "received": counts.received,
        "lost": counts.lost,
        "doubled": counts.doubled,
        "missed": counts.missed,
        "flying": report.flying,
        "bytes": counts.bytes,
        "timeouts": counts.timeouts,
        "crashes": counts.crashes,
        "recoveries": counts.recoveries,
        "properties": properties,
        "failures": failures,
        "nodes": nodes,
        "schedule": schedule,
        "seconds": seconds,
        "peak_bytes": bytes,
    })
}
