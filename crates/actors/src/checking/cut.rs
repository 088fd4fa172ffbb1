//! An execution that was cut, because it was longer than allowed: what it was about, so that one sees why it does not end.

use std::fmt::Write;

use serde::Serialize;
use simurgh_explore::{Exploration, Faults, Network};
use simurgh_trace::counterexample::told::{Counterexample, How, Standing, Taken, tell};
use simurgh_trace::counterexample::{NAME_MAX, about, cut, in_one_line};

use super::{Spelling, Subject};
use crate::text::count;

/// Longer ones are not told again: that would take long, and much memory.
const TOLD_MAX: usize = 100_000;
/// So many of the last steps are shown where they do not repeat.
const LAST: usize = 12;
/// So many times something must have been done to be taken for a circle.
const ROUNDS: usize = 3;
/// No longer circle is looked for.
const CIRCLE_MAX: usize = 200;

/// The executions that were cut, because they were longer than allowed, and how the first of them ended.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[non_exhaustive]
pub struct Cut {
    /// How many were.
    pub executions: u64,
    /// How long the first of them was.
    pub steps: usize,
    /// How many of the last steps are done again and again, if it seems so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub circle: Option<usize>,
    /// These, or some of the last steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<Taken>,
    /// How the actors stand where it was cut.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub standing: Vec<Standing>,
    /// The names of all actors, by number.
    #[serde(skip)]
    pub actors: Vec<String>,
    /// All of its steps.
    pub schedule: Vec<String>,
}

impl Cut {
    /// Looks at the first execution that was cut, if there is one.
    pub(super) fn of(subject: &Subject<'_>, network: Network, found: &Exploration) -> Option<Self> {
        let schedule = found.cut_schedule.as_ref()?;
        let names = |mailbox| subject.mailbox_name(mailbox);
        let mut system = subject.actors(network).unreliable(Faults::of(schedule));
        let told = match schedule.len() {
            0..=TOLD_MAX => tell(&mut system, schedule, None, &names).ok(),
            _ => None,
        };
        let (mut circle, mut last, mut standing, mut actors) = (None, Vec::new(), Vec::new(), Vec::new());
        if let Some(Counterexample { steps, standing: how, actors: names, .. }) = told {
            circle = circle_of(&steps);
            last = steps[steps.len().saturating_sub(circle.unwrap_or(LAST))..].to_vec();
            (standing, actors) = (how, names);
        }
        let steps = schedule.len();
        let schedule = schedule.iter().map(ToString::to_string).collect();
        Some(Self { executions: found.cut, steps, circle, last, standing, actors, schedule })
    }

    /// What it is about, for people; `asked` if it was cut where somebody said.
    pub(super) fn in_words(&self, spelling: Spelling, asked: bool) -> String {
        let Self { executions, steps, .. } = self;
        let verb = if *executions == 1 { "goes" } else { "go" };
        let mut text = format!(
            "{} {verb} on after {}{}: does the program ever end?\n",
            count(*executions, "execution"),
            count(*steps as u64, "step"),
            if asked { spelling.of(" (--depth)", " (`depth`)") } else { "" }
        );
        if self.last.is_empty() {
            return text;
        }
        let which = if *executions == 1 { "It" } else { "The first of them" };
        let _ = match self.circle {
            Some(1) => writeln!(text, "{which} does this again and again:"),
            Some(circle) => writeln!(text, "{which} does these {circle} steps again and again:"),
            None => writeln!(text, "{which} ends so:"),
        };
        for taken in &self.last {
            let name = taken.actor.and_then(|actor| self.actors.get(actor as usize));
            let line = in_one_line(taken, name.map_or("", String::as_str));
            let _ = writeln!(text, "  {:>6}  {line}", taken.number);
        }
        let _ = writeln!(text, "and then:");
        let alive = || self.standing.iter().filter(|one| matches!(one.how, How::Ready | How::Waits));
        let name = |standing: &Standing| {
            let name = self.actors.get(standing.actor as usize).map_or("", String::as_str);
            cut(name, NAME_MAX)
        };
        let widest = alive().map(|standing| name(standing).chars().count()).max().unwrap_or(0);
        for standing in alive() {
            let _ = writeln!(text, "  {:<widest$}  {}", name(standing), about(standing));
        }
        text
    }
}

/// How many of the last steps are done again and again, if some are: the same actors, at the same lines, do the same to the
/// same mailboxes.
fn circle_of(steps: &[Taken]) -> Option<usize> {
    let alike = |a: &Taken, b: &Taken| {
        (a.actor, a.kind, &a.mailbox, a.place) == (b.actor, b.kind, &b.mailbox, b.place)
    };
    (1..=CIRCLE_MAX.min(steps.len() / ROUNDS)).find(|&length| {
        let last = &steps[steps.len() - length * ROUNDS..];
        last.iter().zip(&last[length..]).all(|(a, b)| alike(a, b))
    })
}
