//! How the outcome of an exploration is told, to people and to machines.

use serde::Serialize;
use simurgh_explore::{Exploration, Violation};

fn describe(violation: &Violation, names: &[String]) -> String {
    let name = |actor: u32| names.get(actor as usize).cloned().unwrap_or_else(|| format!("actor {actor}"));
    match violation {
        Violation::Failed { actor, message } => format!("{} failed: {message}", name(*actor)),
        Violation::Invariant { name, message, values } => {
            let values: Vec<_> = values.iter().map(|(what, value)| format!("{what} = {value}")).collect();
            let message = message.as_ref().map_or_else(String::new, |message| format!(": {message}"));
            format!("invariant {name:?} does not hold{message} ({})", values.join(", "))
        }
        Violation::Deadlock { actors } => {
            let who: Vec<_> = actors.iter().map(|&actor| name(actor)).collect();
            format!("deadlock: {} wait for ever", who.join(", "))
        }
    }
}

pub(super) fn json(found: &Exploration, names: &[String], seconds: f64) -> String {
    #[derive(Serialize)]
    struct Out {
        verdict: String,
        executions: u64,
        transitions: u64,
        seconds: f64,
        counterexamples: Vec<OutFound>,
    }
    #[derive(Serialize)]
    struct OutFound {
        what: String,
        schedule: Vec<String>,
    }
    let counterexamples = found.found.iter().map(|(violation, schedule)| OutFound {
        what: describe(violation, names),
        schedule: schedule.iter().map(ToString::to_string).collect(),
    });
    let out = Out {
        verdict: found.verdict.to_string(),
        executions: found.executions,
        transitions: found.transitions,
        seconds,
        counterexamples: counterexamples.collect(),
    };
    let mut text = serde_json::to_string(&out).expect("plain data becomes JSON");
    text.push('\n');
    text
}

pub(super) fn human(found: &Exploration, names: &[String], seconds: f64) -> String {
    let mut text = String::new();
    for (violation, schedule) in &found.found {
        let steps: Vec<_> = schedule.iter().map(ToString::to_string).collect();
        text.push_str(&format!("{}\n  schedule: {}\n", describe(violation, names), steps.join(" ")));
    }
    text.push_str(&format!(
        "{}: {}, {} steps, {seconds:.3} s\n",
        found.verdict,
        crate::command::summary::count(found.executions, "execution"),
        found.transitions
    ));
    text
}
