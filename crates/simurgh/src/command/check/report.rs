//! How the outcome of an exploration is told, to people and to machines.

use std::fmt::Write;
use std::io::IsTerminal;

use serde::Serialize;
use simurgh_explore::counterexample::Counterexample;
use simurgh_explore::{Engine, Exploration};
use simurgh_trace::counterexample::{View, in_columns};

use super::cut::Cut;
use super::findings::Finding;
use crate::command::summary::count;

/// More findings than these are told in a line each.
const FINDINGS_MAX: usize = 5;

/// Who explored, and how long it took.
pub(super) struct By {
    pub(super) engine: Engine,
    /// Why that is not the engine that was asked for, if it is not.
    pub(super) refined: Option<String>,
    pub(super) seconds: f64,
    /// The executions that it did not follow to their ends.
    pub(super) cut: Option<Cut>,
    pub(super) ending: Ending,
}

/// How a search ended.
pub(super) struct Ending {
    /// Whether nothing was left out.
    pub(super) exhausted: bool,
    /// Why it stopped early, if it did.
    pub(super) stopped: Option<String>,
}

/// The outcome as one JSON object and a newline.
pub(super) fn json(found: &Exploration, findings: &[Finding], by: &By) -> String {
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
    let counterexamples: Vec<OutFinding<'_>> = findings.iter().map(OutFinding::new).collect();
    let out = Out {
        verdict: found.verdict.to_string(),
        exhausted: by.ending.exhausted,
        stopped: by.ending.stopped.as_deref(),
        executions: found.executions,
        transitions: found.transitions,
        seconds: by.seconds,
        engine: by.engine.to_string(),
        refined: by.refined.as_deref(),
        cut: by.cut.as_ref(),
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
        told: &'a Counterexample,
    },
    Untold {
        what: &'a str,
        schedule: Vec<String>,
        error: &'a str,
    },
}

impl<'a> OutFinding<'a> {
    fn new(finding: &'a Finding) -> Self {
        let schedule = finding.schedule.iter().map(ToString::to_string).collect();
        match &finding.told {
            Ok(told) => OutFinding::Told { schedule, told },
            Err(error) => OutFinding::Untold { what: &finding.what, schedule, error },
        }
    }
}

/// The outcome for people. `hint` is told below a counterexample.
pub(super) fn human(found: &Exploration, findings: &[Finding], hint: &str, by: &By) -> String {
    let mut text = String::new();
    for finding in findings.iter().take(FINDINGS_MAX) {
        match &finding.told {
            Ok(told) => text.push_str(&columns(told)),
            Err(why) => {
                let steps: Vec<_> = finding.schedule.iter().map(ToString::to_string).collect();
                let _ = writeln!(text, "{}\n  schedule: {}\n  {why}", finding.what, steps.join(" "));
            }
        }
        text.push('\n');
    }
    for finding in findings.iter().skip(FINDINGS_MAX) {
        let _ = writeln!(text, "also: {}", finding.what);
    }
    if !findings.is_empty() && !hint.is_empty() {
        let _ = writeln!(text, "{hint}");
    }
    if let Some(cut) = &by.cut {
        let _ = writeln!(text, "{}", cut.in_words());
    }
    let _ = writeln!(
        text,
        "{}: {}, {} steps, {:.3} s",
        found.verdict,
        count(found.executions, "execution"),
        found.transitions,
        by.seconds
    );
    if let Some(stopped) = &by.ending.stopped {
        let _ = writeln!(text, "{stopped}");
    }
    text
}

/// A counterexample as columns that fit where they are printed.
pub(crate) fn columns(told: &Counterexample) -> String {
    in_columns(told, &view())
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
    const USUAL: usize = 100;
    let told = std::env::var("COLUMNS").ok().filter(|_| std::io::stdout().is_terminal());
    told.and_then(|columns| columns.parse().ok()).unwrap_or(USUAL).clamp(40, 200)
}

/// The text of a source file, if it is where the program was built.
pub(crate) fn source(file: &str) -> Option<String> {
    std::fs::read_to_string(file).ok()
}
