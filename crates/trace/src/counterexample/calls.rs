//! An execution by the calls that its actors make, where they say what they call what they ask: a row a call, in place of a row a step.
//!
//! A call that sends is shown where it sends, one that receives where it has what it received, any other where it ends. What a call
//! does to get there is part of it, and so is the way of its messages. What actors say that have no such words is shown as it is.

use std::collections::BTreeMap;

use super::told::{Call, Counterexample, Standing, Taken};
use simurgh_kernel::context::Part;

/// The rows, in the form of an execution.
pub(super) struct Calls {
    /// What happened, a step a row.
    pub(super) told: Counterexample,
    /// The step of the schedule that each row stands at.
    steps: Vec<usize>,
}

/// The calls of an execution, a row a call: [`Taken::at`] is the step that each stands at. Nothing where no actor names any.
pub fn rows(told: &Counterexample) -> Option<Vec<Taken>> {
    Calls::of(told).map(|calls| calls.told.steps)
}

/// The rows to be, by the index of their step: what is said there.
type Rows = BTreeMap<usize, String>;

impl Calls {
    /// The calls of an execution; nothing where no actor names any.
    pub(super) fn of(told: &Counterexample) -> Option<Self> {
        let mut calls: BTreeMap<(u32, u64), Vec<usize>> = BTreeMap::new();
        for (index, step) in told.steps.iter().enumerate() {
            if let (Some(actor), Some(call)) = (step.actor, &step.call) {
                calls.entry((actor, call.number)).or_default().push(index);
            }
        }
        if calls.is_empty() {
            return None;
        }
        let mut rows = Rows::new();
        for steps in calls.values() {
            show(told, steps, &mut rows);
        }
        let named = |actor: u32| calls.keys().any(|(other, _)| *other == actor);
        for (index, step) in told.steps.iter().enumerate().filter(|(_, step)| step.call.is_none()) {
            // What is under way, and an ordinary end, need no word.
            let is_known = match step.actor {
                None => step.other.is_some_and(named),
                Some(actor) => step.kind == "end" && named(actor),
            };
            if !is_known || step.fails.is_some() {
                rows.insert(index, step.does.clone());
            }
        }
        Some(Self::made(told, &rows))
    }

    fn made(told: &Counterexample, rows: &Rows) -> Self {
        let order: Vec<usize> = rows.keys().copied().collect();
        let row_of = |index: usize| order.binary_search(&index).ok();
        let mut folded = Counterexample { steps: Vec::new(), ..told.clone() };
        for (row, (&index, text)) in rows.iter().enumerate() {
            let step = &told.steps[index];
            let is_inner = step.call.as_ref().is_some_and(|call| call.part != Part::Own);
            let after = if is_inner {
                Vec::new()
            } else {
                origins(told, step).filter_map(row_of).collect::<Vec<_>>()
            };
            folded.steps.push(Taken {
                number: row + 1,
                at: Some(step.number),
                kind: if is_inner { "call" } else { step.kind },
                does: text.clone(),
                after: after.into_iter().map(|row| row + 1).collect(),
                message: step.message.filter(|_| !is_inner && !is_received(told, step)),
                bytes: None,
                said: Vec::new(),
                shows: Vec::new(),
                ..step.clone()
            });
        }
        // What was said and shown in between belongs to the row before it.
        for (index, step) in told.steps.iter().enumerate() {
            let before = order.partition_point(|&row| row <= index).checked_sub(1);
            let (said, shows) = match before {
                Some(row) => {
                    let row = &mut folded.steps[row];
                    (&mut row.said, &mut row.shows)
                }
                None => (&mut folded.said, &mut folded.shows),
            };
            said.extend(step.said.iter().cloned());
            shows.extend(step.shows.iter().cloned());
        }
        if let Some(difference) = &mut folded.difference {
            let row = |step: usize| order.partition_point(|&row| row < step);
            difference.here.step = difference.here.step.map(row);
        }
        Self { told: folded, steps: order.into_iter().map(|index| index + 1).collect() }
    }

    /// How the actors stand at the start and after each row, made of how they stand after each step.
    pub(super) fn standings(&self, standings: &[Vec<Standing>]) -> Vec<Vec<Standing>> {
        let ends = self.steps.iter().copied().take(self.steps.len().saturating_sub(1));
        let mut first = 1;
        let mut all = vec![standings.first().cloned().unwrap_or_default()];
        for end in ends.chain([standings.len().saturating_sub(1)]) {
            let mut changes: BTreeMap<u32, &Standing> = BTreeMap::new();
            for standing in standings.get(first..=end).into_iter().flatten().flatten() {
                changes.insert(standing.actor, standing);
            }
            all.push(changes.into_values().cloned().collect());
            first = end + 1;
        }
        all
    }
}

/// Chooses the steps at which a call is shown.
fn show(told: &Counterexample, steps: &[usize], rows: &mut Rows) {
    let call = |index: usize| told.steps[index].call.as_ref().expect("it is a step of a call");
    let Call { text, .. } = call(steps[0]);
    let own: Vec<usize> = steps.iter().copied().filter(|&index| call(index).part == Part::Own).collect();
    let of_kind =
        |kind: &'static str| own.iter().copied().filter(move |&index| told.steps[index].kind == kind);
    let sent = of_kind("send").chain(of_kind("lose")).min();
    let mut names: Vec<&str> = Vec::new();
    for other in of_kind("receive").filter_map(|index| told.steps[index].other) {
        names.push(told.actors.get(other as usize).map_or("nobody", String::as_str));
    }
    if let Some(sent) = sent {
        rows.insert(sent, text.clone());
    }
    if let (Some(received), Some(gets)) = (of_kind("receive").next_back(), gets(&names)) {
        rows.insert(received, if sent.is_some() { gets } else { format!("{text} {gets}") });
    }
    if sent.is_none() && names.is_empty() {
        let visible = steps.iter().rev().copied().find(|&index| call(index).part != Part::Hidden);
        if let Some(last) = own.last().copied().or(visible) {
            let in_vain = told.steps[last].kind == "test";
            rows.insert(last, if in_vain { format!("{text}: not yet") } else { text.clone() });
        }
    }
    for &index in steps.iter().filter(|&&index| told.steps[index].fails.is_some()) {
        rows.entry(index).or_insert_with(|| format!("returns from {text}"));
    }
}

/// Whose messages a call got.
fn gets(names: &[&str]) -> Option<String> {
    Some(match names {
        [] => return None,
        [one] => format!("gets the message of {one}"),
        [first @ .., last] => format!("gets the messages of {} and {last}", first.join(", ")),
    })
}

/// The steps that one of an actor waited for, by index; a message comes from where it was sent.
fn origins<'a>(told: &'a Counterexample, step: &'a Taken) -> impl Iterator<Item = usize> + 'a {
    step.after.iter().filter_map(|&number| {
        let from = told.steps.get(number.checked_sub(1)?)?;
        let sent = if from.actor.is_none() { *from.after.first()? } else { number };
        sent.checked_sub(1)
    })
}

/// Whether somebody receives what a step sends.
fn is_received(told: &Counterexample, step: &Taken) -> bool {
    let receives = |other: &Taken| other.kind == "receive" && other.message == step.message;
    told.steps.iter().any(receives)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counterexample::told::Said;

    fn step(number: usize, actor: Option<u32>, kind: &'static str, call: Option<(&str, u64, Part)>) -> Taken {
        let call = call.map(|(text, number, part)| Call { text: text.to_owned(), number, part });
        Taken { number, actor, kind, does: kind.to_owned(), call, ..Taken::default() }
    }

    /// Both come together first; then one receives what the other sends, and fails.
    fn told() -> Counterexample {
        let (start, meet) = (Some(("begin()", 1, Part::Hidden)), Some(("meet()", 2, Part::Inner)));
        let send = Some(("send(7)", 3, Part::Own));
        let receive = Some(("receive()", 3, Part::Own));
        let mut steps = vec![
            step(1, Some(0), "barrier", start),
            step(2, Some(1), "send", meet),
            step(3, Some(0), "receive", meet),
            step(4, Some(1), "send", send),
            step(5, Some(0), "post", receive),
            step(6, None, "arrive", None),
            step(7, Some(0), "receive", receive),
            step(8, Some(1), "sent", send),
            step(9, Some(1), "end", None),
        ];
        (steps[5].other, steps[5].after) = (Some(1), vec![4]);
        (steps[6].other, steps[6].after, steps[6].message) = (Some(1), vec![6], Some(2));
        steps[3].message = Some(2);
        steps[6].fails = Some("it is odd".to_owned());
        steps[4].said = vec![Said { actor: 0, text: "waiting".to_owned() }];
        Counterexample { actors: vec!["a".to_owned(), "b".to_owned()], steps, ..Counterexample::default() }
    }

    #[test]
    fn a_row_is_a_call() {
        let calls = Calls::of(&told()).expect("they name their calls");
        let rows: Vec<_> =
            calls.told.steps.iter().map(|row| (row.at, row.actor, row.does.as_str())).collect();
        let expected = [
            (Some(2), Some(1), "meet()"),
            (Some(3), Some(0), "meet()"),
            (Some(4), Some(1), "send(7)"),
            (Some(7), Some(0), "receive() gets the message of b"),
        ];
        assert_eq!(rows, expected);
        // The message comes from where it was sent, and somebody has it.
        assert_eq!((calls.told.steps[3].after.as_slice(), calls.told.steps[2].message), (&[3][..], None));
        assert!(calls.told.steps[3].fails.is_some());
        // What was said in between is not lost.
        assert_eq!(calls.told.steps[2].said[0].text, "waiting");
    }

    #[test]
    fn what_goes_wrong_after_a_call_is_a_row() {
        let mut told = told();
        told.steps[6].fails = None;
        told.steps[7].fails = Some("it was taken".to_owned());
        let rows = rows(&told).expect("they name their calls");
        let last = rows.last().expect("there are rows");
        assert_eq!((last.at, last.does.as_str()), (Some(8), "returns from send(7)"));
    }

    #[test]
    fn executions_without_names_are_left_as_they_are() {
        let mut told = told();
        told.steps.iter_mut().for_each(|step| step.call = None);
        assert!(Calls::of(&told).is_none());
    }
}
