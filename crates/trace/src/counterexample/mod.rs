//! Counterexamples for people: told in words, then shown in columns of text, one an actor, or in a diagram to click through.

mod calls;
mod columns;
mod html;
mod lines;
pub mod told;

use std::collections::BTreeMap;

use crate::counterexample::told::{Counterexample, Taken};

pub use calls::rows;
pub use columns::{NAME_MAX, View, about, cut, in_columns, in_one_line, steps_in_columns};
pub use html::{Heading, in_html};
pub use lines::Lines;

/// Reads the text of a source file, if it can be had.
pub type Source<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Which column each step belongs to: that of its actor. What arrives belongs to who receives it, or to who sent it if
/// nobody does.
pub(crate) fn owners(told: &Counterexample) -> Vec<u32> {
    let received = |step: &&Taken| step.kind == "receive";
    let receivers: BTreeMap<u32, u32> =
        told.steps.iter().filter(received).filter_map(|step| Some((step.message?, step.actor?))).collect();
    let owner = |step: &Taken| {
        let receiver = step.message.and_then(|message| receivers.get(&message).copied());
        step.actor.or(receiver).or(step.other).unwrap_or(0)
    };
    told.steps.iter().map(owner).collect()
}
