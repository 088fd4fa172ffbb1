//! How outcomes are told, to people and to machines.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;
use simurgh_actors::Outcome;
use simurgh_actors::command_line::{count, lines};
use simurgh_actors::scenario::{How, Record, Scenario};
use simurgh_kernel::event::Reason;
use simurgh_kernel::kernel::Blocked;
use simurgh_kernel::simulation::End;
use simurgh_platform::{shortened, shown};
use simurgh_trace::counterexample::{NAME_MAX, cut};

use super::simulate::Told;
use super::stats::Stats;

/// The outcome as one JSON object and a newline.
pub(crate) fn json(
    outcome: &Outcome,
    played: Option<(&Scenario, &[Record])>,
    stats: Option<&Stats>,
    told: Option<&Told>,
    more: Option<serde_json::Value>,
) -> String {
    #[derive(Serialize)]
    struct Out<'a> {
        clock: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        operations: Option<Vec<OutOperation<'a>>>,
        actors: usize,
        messages: u64,
        end: &'static str,
        blocked: Vec<OutBlocked>,
        failures: Vec<OutFailure<'a>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        invariants: Vec<OutInvariant<'a>>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        energy: Vec<OutEnergy<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        mpi: Option<serde_json::Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        stats: Option<&'a Stats>,
    }
    #[derive(Serialize)]
    struct OutOperation<'a> {
        actor: &'a str,
        index: usize,
        end: f64,
        how: String,
    }
    #[derive(Serialize)]
    struct OutBlocked {
        actor: String,
        host: String,
        since: f64,
        waits_for: String,
    }
    #[derive(Serialize)]
    struct OutFailure<'a> {
        actor: &'a str,
        at: f64,
        message: &'a str,
    }
    #[derive(Serialize)]
    struct OutInvariant<'a> {
        name: &'a str,
        at: f64,
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
        values: BTreeMap<&'a str, &'a str>,
    }
    #[derive(Serialize)]
    struct OutEnergy<'a> {
        host: &'a str,
        joules: f64,
    }

    let report = &outcome.report;
    let operations = played.map(|(scenario, records)| {
        let operation = |record: &Record| OutOperation {
            actor: &scenario.actors[record.actor].name,
            index: record.index,
            end: record.end,
            how: record.how.to_string(),
        };
        // One `'a` for names of the scenario: they outlive the text.
        records.iter().map(operation).collect()
    });
    let blocked = match &report.end {
        End::Deadlock(blocked) => blocked.as_slice(),
        _ => &[],
    };
    let out = Out {
        clock: outcome.clock(),
        operations,
        actors: report.actors,
        messages: report.messages,
        end: match report.end {
            End::Finished if told.is_some_and(|told| told.is_failure) => "failed",
            End::Finished => "finished",
            End::Deadlock(_) => "deadlock",
            End::Reached => "reached",
            End::Interrupted => "interrupted",
        },
        blocked: blocked
            .iter()
            .map(|blocked| OutBlocked {
                actor: blocked.name.clone(),
                host: outcome.platform().host(blocked.host).name.to_owned(),
                since: blocked.since.seconds(),
                waits_for: told
                    .and_then(|told| told.waits.get(&blocked.name).cloned())
                    .unwrap_or_else(|| purpose(outcome, blocked)),
            })
            .collect(),
        failures: report
            .failures
            .iter()
            .map(|failure| OutFailure {
                actor: &failure.name,
                at: failure.at.seconds(),
                message: &failure.message,
            })
            .collect(),
        invariants: report
            .broken
            .iter()
            .map(|broken| OutInvariant {
                name: &broken.what.name,
                at: broken.at.seconds(),
                by: broken.by.as_deref(),
                message: broken.what.message.as_deref(),
                values: broken.what.values.iter().map(|(name, value)| (&**name, &**value)).collect(),
            })
            .collect(),
        energy: outcome.energy().map(|(host, joules)| OutEnergy { host, joules }).collect(),
        mpi: joined(told.and_then(|told| told.value.clone()), more),
        stats,
    };
    let mut text = serde_json::to_string(&out).expect("plain data becomes JSON");
    text.push('\n');
    text
}

/// What is said of MPI to machines: where the time went, and how it ended.
fn joined(report: Option<serde_json::Value>, more: Option<serde_json::Value>) -> Option<serde_json::Value> {
    let mut all = more.or_else(|| report.as_ref().map(|_| serde_json::json!({})))?;
    if let Some(report) = report {
        all["report"] = report;
    }
    Some(all)
}

/// The outcome in a few lines.
pub fn human(outcome: &Outcome, played: Option<(&Scenario, &[Record])>) -> String {
    told_by(outcome, played, None)
}

/// The same, where how actors failed and what they wait for was told by somebody else.
pub(crate) fn told_by(
    outcome: &Outcome,
    played: Option<(&Scenario, &[Record])>,
    told: Option<&Told>,
) -> String {
    let mut text = String::new();
    let report = &outcome.report;
    if let Some((scenario, records)) = played {
        operations(&mut text, scenario, records);
    }
    let untold = if told.is_none() { report.failures.as_slice() } else { &[] };
    for failure in untold {
        let host = shown(outcome.platform().host(failure.host).name);
        let _ = writeln!(
            text,
            "actor {:?} on {host} failed at {}: {}",
            shortened(&failure.name),
            seconds(failure.at.seconds()),
            lines(&failure.message)
        );
    }
    for broken in &report.broken {
        let by = broken.by.as_ref().map_or_else(String::new, |actor| format!(", by actor {actor:?}"));
        let by = shown(&by);
        let _ = writeln!(text, "{} at {}{by}", broken.what, seconds(broken.at.seconds()));
    }
    let verb = match &report.end {
        _ if told.is_some_and(|told| told.is_failure) => "failed",
        End::Finished => "finished",
        End::Reached => "stopped as asked",
        End::Interrupted => "interrupted",
        End::Deadlock(blocked) => {
            if told.is_none() {
                deadlock(&mut text, outcome, blocked);
            }
            "blocked for ever"
        }
    };
    let _ = writeln!(
        text,
        "{verb} at {}: {}, {}{}",
        seconds(outcome.clock()),
        count(report.actors as u64, "actor"),
        count(report.messages, "message"),
        energy(outcome)
    );
    text
}

/// The operations that ended, if they fit on a screen; else how many, and what did not go well.
fn operations(text: &mut String, scenario: &Scenario, records: &[Record]) {
    const MOST: usize = 24;
    let name = |name: &str| cut(&shown(name), NAME_MAX);
    let names = scenario.actors.iter().map(|actor| name(&actor.name).chars().count()).max().unwrap_or(0);
    let line = |text: &mut String, record: &Record| {
        let actor = &scenario.actors[record.actor];
        let how = match record.how {
            How::Ok => String::new(),
            other => format!("  -> {other}"),
        };
        let _ = writeln!(
            text,
            "{:>14}  {:<names$}  {}{how}",
            date(record.end),
            name(&actor.name),
            shown(&actor.operations[record.index].to_string())
        );
    };
    if records.len() <= MOST {
        for record in records {
            line(text, record);
        }
        return;
    }
    let bad: Vec<_> = records.iter().filter(|r| matches!(r.how, How::Timeout | How::Failure)).collect();
    for &record in bad.iter().take(MOST) {
        line(text, record);
    }
    if bad.len() > MOST {
        let _ = writeln!(text, "{:>14}  {} more that did not succeed", "...", bad.len() - MOST);
    }
    let _ = writeln!(
        text,
        "{} operations ended, {} of them with a timeout or failure (--json lists them all)",
        records.len(),
        bad.len()
    );
}

fn deadlock(text: &mut String, outcome: &Outcome, blocked: &[Blocked]) {
    const MOST: usize = 20;
    for waiting in blocked.iter().take(MOST) {
        let host = shown(outcome.platform().host(waiting.host).name);
        let _ = writeln!(
            text,
            "actor {:?} on {host} waits since {} {}",
            shortened(&waiting.name),
            seconds(waiting.since.seconds()),
            shown(&purpose(outcome, waiting))
        );
    }
    if blocked.len() > MOST {
        let _ = writeln!(text, "and {} more", blocked.len() - MOST);
    }
}

/// What an actor waits for, in words.
pub fn purpose(outcome: &Outcome, blocked: &Blocked) -> String {
    if let Some(first) = blocked.among.first() {
        const MOST: usize = 4;
        let mut all = in_words(outcome, first);
        for (count, reason) in blocked.among.iter().enumerate().skip(1) {
            if count == MOST {
                let _ = write!(all, ", or one of {} more", blocked.among.len() - MOST);
                break;
            }
            let _ = write!(all, ", or {}", in_words(outcome, reason));
        }
        return all;
    }
    in_words(outcome, &blocked.reason)
}

fn in_words(outcome: &Outcome, reason: &Reason) -> String {
    let mailbox = |id| format!("mailbox {:?}", outcome.mailbox_name(id));
    let disk = |id| format!("disk {:?}", outcome.platform().disk(id).name);
    match *reason {
        Reason::Sending(id) => format!("to send to {}", mailbox(id)),
        Reason::Receiving(id) => format!("to receive from {}", mailbox(id)),
        Reason::Executing => "for a computation that does not progress".to_owned(),
        Reason::Reading(id) => format!("to read from {}", disk(id)),
        Reason::Writing(id) => format!("to write to {}", disk(id)),
        Reason::Parallel => "for a parallel task that does not progress".to_owned(),
        Reason::WaitingAny(0) => "for one of no activities".to_owned(),
        Reason::WaitingAny(n) => format!("for one of {n} activities"),
        Reason::Sleeping => "to wake up".to_owned(),
        Reason::Locking(_) => "for a lock".to_owned(),
        Reason::Acquiring(_) => "for a semaphore".to_owned(),
        Reason::Condition(_) => "for a condition".to_owned(),
        Reason::Barrier(_) => "at a barrier".to_owned(),
        Reason::Joining(actor) => format!("for the end of actor {:?}", outcome.joined_name(actor)),
        Reason::Suspended => "to be resumed".to_owned(),
    }
}

fn energy(outcome: &Outcome) -> String {
    let total: f64 = outcome.energy().map(|(_, joules)| joules).sum();
    if total > 0.0 { format!(", {total:.3} J") } else { String::new() }
}

fn seconds(seconds: f64) -> String {
    format!("{} s", date(seconds))
}

/// A date to the microsecond, as far as it makes sense.
fn date(seconds: f64) -> String {
    // What is -0 by the way it was computed is 0.
    let seconds = seconds + 0.0;
    if seconds < 1e16 { format!("{seconds:.6}") } else { format!("{seconds:e}") }
}
