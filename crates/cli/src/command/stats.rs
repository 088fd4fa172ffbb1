//! `--stats`: what a run cost, and where the time went.

use std::fmt::Write;
use std::time::Duration;

use serde::Serialize;
use simurgh_actors::Outcome;

/// What a run cost.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct Stats {
    /// How long it took in the world outside.
    seconds: f64,
    messages_per_second: f64,
    /// The most memory that the process has had, in bytes; not known on all systems.
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_bytes: Option<u64>,
    /// The same for an actor.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_per_actor: Option<f64>,
    rounds: u64,
    /// How many actors ran in a round, in the mean.
    mean_round: f64,
    workers: usize,
    /// How many rounds several threads shared.
    shared_rounds: u64,
    /// The least number of actors in a round for which that was faster.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_from: Option<usize>,
    /// How often the clock was moved.
    steps: u64,
    events: u64,
    /// How often shares were computed, and of how many in the mean.
    solutions: u64,
    mean_solution: f64,
    /// The part of the time that went into that.
    solver_share: f64,
}

impl Stats {
    pub(crate) fn new(outcome: &Outcome, took: Duration) -> Self {
        let (report, models) = (&outcome.report, outcome.statistics());
        let seconds = took.as_secs_f64();
        let ratio = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
        let peak_bytes = peak_bytes();
        Self {
            seconds,
            messages_per_second: ratio(report.messages as f64, seconds),
            peak_bytes,
            bytes_per_actor: peak_bytes.map(|bytes| ratio(bytes as f64, report.actors as f64)),
            rounds: report.rounds,
            mean_round: ratio(report.turns as f64, report.rounds as f64),
            workers: outcome.threads().workers,
            shared_rounds: outcome.threads().rounds,
            shared_from: outcome.threads().from,
            steps: report.steps,
            events: models.events,
            solutions: models.solves,
            mean_solution: ratio(models.variables_solved as f64, models.solves as f64),
            solver_share: ratio(models.solver_nanoseconds as f64 / 1e9, seconds),
        }
    }

    /// In a few lines.
    pub(crate) fn human(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, what: String| {
            let _ = writeln!(text, "  {name:<9} {what}");
        };
        line("time", format!("{:.3} s, {:.0} messages a second", self.seconds, self.messages_per_second));
        if let (Some(peak), Some(each)) = (self.peak_bytes, self.bytes_per_actor) {
            line("memory", format!("{:.1} MB at most, {each:.0} bytes an actor", peak as f64 / 1e6));
        }
        let shared = match (self.shared_rounds, self.shared_from) {
            (0, _) => "all run by one thread".to_owned(),
            (rounds, None) => format!("{rounds} shared by {} threads, to try", self.workers),
            (rounds, Some(from)) => {
                format!("{rounds} shared by {} threads, which pays from {from} actors on", self.workers)
            }
        };
        line("rounds", format!("{} of {:.2} actors in the mean, {shared}", self.rounds, self.mean_round));
        line("clock", format!("moved {} times, {} dates reached", self.steps, self.events));
        line(
            "solver",
            format!(
                "{:.1}% of the time, {} solutions of {:.2} shares in the mean",
                100.0 * self.solver_share,
                self.solutions,
                self.mean_solution
            ),
        );
        text
    }
}

/// The most memory that this process has had besides the program itself, where the system tells.
fn peak_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse().ok()
    };
    Some(kilobytes("VmHWM:")?.saturating_sub(kilobytes("RssFile:").unwrap_or(0)) * 1024)
}
