//! What went wrong in a counterexample, as data for machines: its kind, who, which call, where.

use serde::{Deserialize, Serialize};
use simurgh_actors::checking::{Counterexample, Violation};
use simurgh_trace::counterexample::told::{Counterexample as Told, How, Standing};

/// What went wrong.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(super) struct Finding {
    /// One word for all that go wrong in the same way: the rule of a report.
    pub kind: String,
    /// Who: the number of an actor, which is its rank in an MPI program. The first, if several wait for ever.
    pub rank: Option<u32>,
    /// The call in which it goes wrong, if the actor names its calls.
    pub call: Option<String>,
    /// Where in the program.
    pub file: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// What, without who and where.
    pub message: String,
}

impl Finding {
    pub(super) fn of(found: &Counterexample) -> Self {
        let told = found.told.as_ref().ok();
        let mut finding = match &found.violation {
            Violation::Failed { actor, message } => {
                let (message, kind) = kind_of(message);
                let (message, place) = place_of(message);
                let call = told.and_then(|told| call_of(told, *actor, message));
                let (file, line) = place.unzip();
                Finding {
                    kind: kind.to_owned(),
                    rank: Some(*actor),
                    call,
                    file,
                    line,
                    message: message.to_owned(),
                }
            }
            Violation::Deadlock { actors } => {
                let waits =
                    told.and_then(|told| told.standing.iter().find(|standing| standing.how == How::Waits));
                let message = found.what.strip_prefix("deadlock: ").unwrap_or(&found.what).to_owned();
                let (file, line) = waits.and_then(place_of_standing).unzip();
                let call =
                    waits.and_then(|standing| Some(standing.does.strip_prefix("waits in ")?.to_owned()));
                Finding {
                    kind: "deadlock".to_owned(),
                    rank: actors.first().copied(),
                    call,
                    file,
                    line,
                    message,
                }
            }
            Violation::Invariant { .. } => {
                Finding { kind: "invariant".to_owned(), message: found.what.clone(), ..Finding::default() }
            }
            Violation::Varies { actor, .. } => Finding {
                kind: "not-deterministic".to_owned(),
                rank: Some(*actor),
                message: found.what.clone(),
                ..Finding::default()
            },
        };
        // What was noted when it was replayed is nearer than what the words say.
        if let Some(place) = told.and_then(|told| told.place) {
            (finding.file, finding.line) = (Some(place.file.to_owned()), Some(place.line));
        }
        finding
    }
}

fn place_of_standing(standing: &Standing) -> Option<(String, u32)> {
    standing.place.map(|place| (place.file.to_owned(), place.line))
}

/// The message without its kind, which stands in brackets behind it; and the kind, of what says nothing else too.
fn kind_of(message: &str) -> (&str, &str) {
    let is_kind =
        |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let marked = message.strip_suffix(']').and_then(|rest| rest.rsplit_once(" ["));
    if let Some((rest, kind)) = marked.filter(|(_, kind)| is_kind(kind)) {
        return (rest, kind);
    }
    let known = [
        ("assertion", "assertion"),
        ("Assertion", "assertion"),
        ("segmentation fault", "crash"),
        ("bus error", "crash"),
        ("division by zero", "crash"),
        ("illegal instruction", "crash"),
        ("stack", "crash"),
        ("aborted", "crash"),
        ("heap corruption", "crash"),
        ("double free", "crash"),
        ("not the beginning of an allocated block", "crash"),
        ("MPI_Abort", "abort"),
        ("without MPI_Finalize", "missing-finalize"),
        ("exited with code", "exit-code"),
        ("(MPI_ERR_", "error"),
    ];
    let kind = known.iter().find(|(words, _)| message.contains(words)).map_or("failure", |(_, kind)| kind);
    (message, kind)
}

/// The message without its place, which stands before it, as that of an assertion does, or behind it; and the place.
fn place_of(message: &str) -> (&str, Option<(String, u32)>) {
    let place = |text: &str| {
        let (file, line) = text.rsplit_once(':')?;
        let is_file = !file.is_empty() && !file.contains(' ') && file.contains('.');
        is_file.then_some((file.to_owned(), line.parse().ok()?))
    };
    if let Some((before, rest)) = message.split_once(": ")
        && let Some(place) = place(before)
    {
        // An assertion says it itself.
        return (place_of(rest).0, Some(place));
    }
    match message.rsplit_once(" at ") {
        Some((rest, after)) => match place(after) {
            Some(place) => (rest, Some(place)),
            None => (message, None),
        },
        None => (message, None),
    }
}

/// The call that went wrong: the one that the message begins with, or else the last one that the actor made.
fn call_of(told: &Told, actor: u32, message: &str) -> Option<String> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let word = message.split(|letter| !is_letter(letter)).next().unwrap_or_default();
    if word.starts_with("MPI_") && !word.starts_with("MPI_ERR_") {
        return Some(word.to_owned());
    }
    // The program itself, between its calls.
    if ["a load from", "a store to", "free of", "the program:"]
        .into_iter()
        .any(|does| message.starts_with(does))
    {
        return None;
    }
    let steps = told.steps.iter().rev().filter(|step| step.actor == Some(actor));
    steps.filter_map(|step| step.call.as_ref()).map(|call| call.text.clone()).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_kind_and_place_is_read() {
        let leak = "MPI_Finalize: a communicator was never freed at ring.c:14 [leak]";
        let (rest, kind) = kind_of(leak);
        assert_eq!(kind, "leak");
        assert_eq!(
            place_of(rest),
            ("MPI_Finalize: a communicator was never freed", Some(("ring.c".to_owned(), 14)))
        );
        let failed = "/home/you/a.c:7: a.c:7: main: assertion `x == 1' failed";
        assert_eq!(kind_of(failed), (failed, "assertion"));
        assert_eq!(
            place_of(failed),
            ("main: assertion `x == 1' failed", Some(("/home/you/a.c".to_owned(), 7)))
        );
        assert_eq!(kind_of("as I said"), ("as I said", "failure"));
        assert_eq!(place_of("looked at it: nothing"), ("looked at it: nothing", None));
    }
}
