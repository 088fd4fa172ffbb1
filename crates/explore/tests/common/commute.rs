//! Both orders of every independent pair, at every reachable state.

use std::collections::BTreeSet;

use proptest::prelude::*;
use simurgh_explore::{Step, System};

use super::Played;

pub fn enabled(system: &mut Played) -> BTreeSet<(Step, u64)> {
    let mut enabled = Vec::new();
    system.enabled(&mut enabled);
    enabled.iter().map(|transition| (transition.step, transition.process())).collect()
}

fn go(system: &mut Played, schedule: &[Step]) {
    system.reset();
    schedule.iter().for_each(|&step| drop(system.execute(step)));
}

/// At every reachable state: both orders of independent steps lead to the same, and what makes another step possible or
/// impossible is dependent on it.
pub fn commute(system: &mut Played) -> Result<(), TestCaseError> {
    let mut seen = BTreeSet::new();
    let mut todo = vec![Vec::new()];
    while let Some(schedule) = todo.pop() {
        go(system, &schedule);
        if !seen.insert(system.state_key()) || seen.len() > 300 {
            continue;
        }
        let here = enabled(system);
        // Each step as it takes place here, with what is possible after it.
        let mut after = Vec::new();
        for &(step, process) in &here {
            go(system, &schedule);
            let taken = system.execute(step);
            after.push((step, process, taken, enabled(system)));
        }
        for (a, process, taken, then) in &after {
            for &(b, other) in then.difference(&here) {
                if other == *process {
                    continue;
                }
                go(system, &schedule);
                system.execute(*a);
                let enabled = system.execute(b);
                prop_assert!(Played::dependent(taken, &enabled), "{taken:?} makes possible {enabled:?}");
            }
            for (b, other, second, and_then) in after.iter().filter(|(_, other, ..)| other > process) {
                if Played::dependent(taken, second) {
                    continue;
                }
                prop_assert!(then.contains(&(*b, *other)), "{taken:?} ends {second:?}");
                prop_assert!(and_then.contains(&(*a, *process)), "{second:?} ends {taken:?}");
                let mut states = [a, b].map(|_| (None, BTreeSet::new()));
                for (state, order) in states.iter_mut().zip([[a, b], [b, a]]) {
                    go(system, &schedule);
                    order.iter().for_each(|&&step| drop(system.execute(step)));
                    *state = (system.state_key(), enabled(system));
                }
                prop_assert_eq!(&states[0], &states[1], "{:?} and {:?} after {:?}", taken, second, schedule);
            }
            let mut longer = schedule.clone();
            longer.push(*a);
            todo.push(longer);
        }
    }
    Ok(())
}
