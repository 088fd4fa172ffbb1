//! What is asked of a program, and whether an engine may be used for it.

use simurgh_explore::{Engine, Property};

use super::{Options, Subject};

/// What is asked of a program.
fn demands(subject: &Subject<'_>, options: &Options) -> Vec<Property> {
    let mut asked = vec![Property::Assertions, Property::Deadlocks];
    if !subject.invariants().is_empty() {
        asked.push(Property::Invariants);
    }
    if options.deterministic.is_some() {
        asked.push(Property::Determinism);
    }
    if !options.faults.is_none() {
        asked.push(Property::UnreliableNetwork);
    }
    asked
}

/// Why another engine is used than the one that was asked for, in a line; nothing if there is no need.
pub(super) fn refinement(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let wanted: Engine = options.engine;
    let (engine, lost) = wanted.refined(&demands(subject, options));
    lost.map(|lost| {
        format!("the engine {wanted} is not sound and complete for {lost}; exploring with {engine} instead")
    })
}
