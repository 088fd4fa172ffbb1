//! What is told of an MPI program that went wrong, to people and to machines; and what it left undone where all went well.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Value, json};
use simurgh_actors::Outcome;
use simurgh_kernel::simulation::End;
use simurgh_mpi::launch::Run;
use simurgh_mpi::report::{Failure, Group, Report, ranks_in_words};
use simurgh_platform::shown;

use super::simulate::Told;

/// So many functions are told of each that failed.
const FRAMES: usize = 10;
/// So many that failed in different ways are told.
const FAILURES: usize = 8;
/// So many groups of others are told.
const GROUPS: usize = 20;

/// What is told of a run, once it is over.
pub(crate) fn told(run: &Run, outcome: &Outcome, stuck: Option<f64>) -> Told {
    let is_deadlock = matches!(outcome.report.end, End::Deadlock(_));
    if outcome.is_fine() {
        let warnings = match outcome.report.end {
            End::Finished => run.leftovers(outcome.unreceived()),
            _ => Vec::new(),
        };
        let text = warnings.iter().map(|warning| format!("simurgh: warning: {}\n", shown(warning))).collect();
        let value = (!warnings.is_empty()).then(|| json!({ "warnings": warnings }));
        return Told { text, value, is_failure: false, ..Told::default() };
    }
    let mut report = run.report(is_deadlock, outcome.unreceived());
    if let Some((seconds, failure)) = stuck.zip(report.failures.first_mut()) {
        failure.message = format!("did not come any further for {seconds} s (--stuck-after)");
    }
    let waits = report.each.iter().map(|(rank, doing)| (format!("rank {rank}"), format!("in {doing}")));
    Told {
        text: in_words(&report, is_deadlock.then(|| outcome.clock())),
        waits: waits.collect::<BTreeMap<_, _>>(),
        value: Some(as_value(&report)),
        is_failure: !report.failures.is_empty(),
    }
}

/// The report as people read it; the date, if nobody can go on.
fn in_words(report: &Report, deadlock: Option<f64>) -> String {
    let mut text = String::new();
    for failure in report.failures.iter().take(FAILURES) {
        tell(&mut text, failure);
    }
    if report.failures.len() > FAILURES {
        let _ = writeln!(text, "simurgh: and {} more that failed", report.failures.len() - FAILURES);
    }
    match deadlock {
        Some(date) if report.failures.is_empty() => {
            let _ = writeln!(text, "simurgh: deadlock: from {date:.6} s on no process can go on");
        }
        _ if report.failures.is_empty() || report.groups.is_empty() => {}
        Some(_) => text.push_str("  and the others cannot go on:\n"),
        None => text.push_str("  meanwhile:\n"),
    }
    for Group { ranks, doing } in report.groups.iter().take(GROUPS) {
        let _ = writeln!(text, "  {}: {}", ranks_in_words(ranks), shown(&doing.to_string()));
    }
    if report.groups.len() > GROUPS {
        let rest: usize = report.groups.iter().skip(GROUPS).map(|group| group.ranks.len()).sum();
        let _ = writeln!(text, "  and {rest} more");
    }
    for advice in &report.advice {
        let _ = writeln!(text, "  hint: {}", shown(advice));
    }
    text
}

fn tell(text: &mut String, failure: &Failure) {
    let Failure { ranks, line, message, backtrace, .. } = failure;
    // An assertion says its line itself.
    let line = line.as_ref().filter(|line| !message.contains(line.rsplit('/').next().unwrap_or(line)));
    let line = line.map_or_else(String::new, |line| format!("{line}: "));
    let _ = writeln!(text, "simurgh: {}: {}", ranks_in_words(ranks), shown(&format!("{line}{message}")));
    // One function alone is the line that was told.
    let frames = if backtrace.len() > 1 || line.is_empty() { backtrace.as_slice() } else { &[] };
    for frame in frames.iter().take(FRAMES) {
        let _ = writeln!(text, "    in {}", shown(frame));
    }
    if frames.len() > FRAMES {
        let _ = writeln!(text, "    and {} more", frames.len() - FRAMES);
    }
}

fn as_value(report: &Report) -> Value {
    let failures: Vec<Value> = report
        .failures
        .iter()
        .map(|Failure { ranks, line, message, backtrace, code }| {
            json!({ "ranks": ranks, "line": line, "message": message, "backtrace": backtrace, "code": code })
        })
        .collect();
    let groups: Vec<Value> = report
        .groups
        .iter()
        .map(|Group { ranks, doing }| {
            json!({
                "ranks": ranks,
                "call": doing.call,
                "begun_by": doing.begun_by,
                "peer": doing.peer,
                "tag": doing.tag,
                "communicator": doing.communicator,
                "line": doing.line,
            })
        })
        .collect();
    json!({ "failures": failures, "ranks": groups, "advice": report.advice })
}
