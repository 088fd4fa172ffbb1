//! How the outcome of a check is told to machines, and where it is printed for people.

use std::io::IsTerminal;

use serde::Serialize;
use simurgh_actors::checking::{CheckReport, Counterexample, Cut};
use simurgh_actors::command_line::{WIDTH, source, why_stopped};
use simurgh_trace::counterexample::View;
use simurgh_trace::counterexample::told::Counterexample as Told;

/// The outcome as one JSON object and a newline.
pub(super) fn json(report: &CheckReport, stopped: Option<&str>) -> String {
    #[derive(Serialize)]
    struct Out<'a> {
        verdict: String,
        /// Whether all was seen.
        exhausted: bool,
        /// Why the search stopped before it had seen all, if it did.
        #[serde(skip_serializing_if = "Option::is_none")]
        stopped: Option<&'a str>,
        executions: u64,
        transitions: u64,
        seconds: f64,
        engine: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        refined: Option<&'a str>,
        /// Executions that were longer than allowed.
        #[serde(skip_serializing_if = "Option::is_none")]
        cut: Option<&'a Cut>,
        counterexample: Option<&'a OutFinding<'a>>,
        counterexamples: &'a [OutFinding<'a>],
    }
    let why = why_stopped(report);
    let counterexamples: Vec<OutFinding<'_>> = report.counterexamples.iter().map(OutFinding::new).collect();
    let out = Out {
        verdict: report.verdict.to_string(),
        exhausted: report.exhausted,
        stopped: stopped.or(why.as_deref()),
        executions: report.executions,
        transitions: report.transitions,
        seconds: report.seconds,
        engine: report.engine.to_string(),
        refined: report.refined.as_deref(),
        cut: report.cut.as_ref(),
        counterexample: counterexamples.first(),
        counterexamples: &counterexamples,
    };
    let mut text = serde_json::to_string(&out).expect("plain data becomes JSON");
    text.push('\n');
    text
}

/// A counterexample as JSON.
#[derive(Serialize)]
#[serde(untagged)]
enum OutFinding<'a> {
    Told {
        schedule: Vec<String>,
        #[serde(flatten)]
        told: &'a Told,
    },
    Untold {
        what: &'a str,
        schedule: Vec<String>,
        error: &'a str,
    },
}

impl<'a> OutFinding<'a> {
    fn new(finding: &'a Counterexample) -> Self {
        let schedule = finding.schedule.iter().map(ToString::to_string).collect();
        match &finding.told {
            Ok(told) => OutFinding::Told { schedule, told },
            Err(error) => OutFinding::Untold { what: &finding.what, schedule, error },
        }
    }
}

/// How counterexamples are printed here.
pub(crate) fn view() -> View<'static> {
    View { width: width(), colour: colour(), source: &source }
}

/// Colours are for terminals whose owner has not said otherwise (no-color.org).
pub(crate) fn colour() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().filter(|_| std::io::stdout().is_terminal());
    told.and_then(|columns| columns.parse().ok()).unwrap_or(WIDTH).clamp(40, 200)
}
