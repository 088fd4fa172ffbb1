//! How the outcome of a check is told to machines, and where it is printed for people.

use std::io::IsTerminal;

use serde::{Deserialize, Serialize};
use simurgh_actors::checking::{CheckReport, Counterexample, Cut};
use simurgh_actors::command_line::{WIDTH, source, why_stopped};
use simurgh_mpi::explored::{Explored, Unwatched};
use simurgh_trace::counterexample::told::{Counterexample as Told, Taken};
use simurgh_trace::counterexample::{View, rows};

use super::finding::Finding;

/// What is said of one search of several.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Part {
    /// What standard sends did.
    pub buffering: &'static str,
    /// The searches until now, this one too.
    pub searches: Vec<Search>,
    /// What is searched.
    #[serde(skip)]
    pub program: Option<Explored>,
}

impl Part {
    fn unwatched(&self) -> Vec<Unwatched> {
        self.program.as_ref().map_or_else(Vec::new, Explored::unwatched)
    }

    /// What an outcome does not say, in words.
    pub fn in_words(&self) -> String {
        self.unwatched().iter().map(|what| format!("  not watched: {}\n", what.in_words())).collect()
    }
}

/// What came of one search of several.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Search {
    pub buffering: String,
    pub verdict: String,
    pub executions: u64,
    pub transitions: u64,
    pub seconds: f64,
    /// Which loads and stores were not watched.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unwatched: Vec<String>,
}

/// The outcome as one JSON object and a newline.
pub(super) fn json(report: &CheckReport, stopped: Option<&str>, part: Option<&Part>) -> String {
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
        #[serde(flatten, skip_serializing_if = "Option::is_none")]
        part: Option<Part>,
        counterexample: Option<&'a OutFinding<'a>>,
        counterexamples: &'a [OutFinding<'a>],
    }
    let why = why_stopped(report);
    let counterexamples: Vec<OutFinding<'_>> = report.counterexamples.iter().map(OutFinding::new).collect();
    let part = part.cloned().map(|mut part| {
        part.searches.push(Search {
            buffering: part.buffering.to_owned(),
            verdict: report.verdict.to_string(),
            executions: report.executions,
            transitions: report.transitions,
            seconds: report.seconds,
            unwatched: part.unwatched().iter().map(|what| what.name().to_owned()).collect(),
        });
        part
    });
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
        part,
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
        finding: Finding,
        schedule: Vec<String>,
        /// The steps by the calls that the actors make, where they name them.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        calls: Vec<OutCall>,
        #[serde(flatten)]
        told: &'a Told,
    },
    Untold {
        finding: Finding,
        what: &'a str,
        schedule: Vec<String>,
        error: &'a str,
    },
}

impl<'a> OutFinding<'a> {
    fn new(finding: &'a Counterexample) -> Self {
        let schedule = finding.schedule.iter().map(ToString::to_string).collect();
        match &finding.told {
            Ok(told) => {
                let calls = rows(told).into_iter().flatten().map(OutCall::new).collect();
                OutFinding::Told { finding: Finding::of(finding), schedule, calls, told }
            }
            Err(error) => {
                OutFinding::Untold { finding: Finding::of(finding), what: &finding.what, schedule, error }
            }
        }
    }
}

/// A call of an actor.
#[derive(Serialize)]
struct OutCall {
    /// The step that it stands at.
    number: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor: Option<u32>,
    does: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
}

impl OutCall {
    fn new(row: Taken) -> Self {
        let (number, place) = (row.at.unwrap_or(row.number), row.place.map(|place| place.to_string()));
        Self { number, actor: row.actor, does: row.does, place }
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
