//! What a program can do, found without any reduction: every reachable state, each of them once.
//!
//! Nothing here looks at races or wakeup trees. States are told apart by their fingerprint, by all that the actors were
//! answered and by what may happen next; so a fingerprint that is too coarse loses nothing here.
//!
//! Mazurkiewicz traces are counted by sleep sets alone (Godefroid, 1996), with every step tried at every state: of the orders
//! of one trace, the first in the order of the steps is the only one that is not cut. What is left to count from a state
//! depends on the state and on what is asleep, and is remembered.

use std::collections::{BTreeMap, BTreeSet};

use simurgh_explore::transition::Transition;
use simurgh_explore::{Step, System, Violation};

use super::{Observed, Played, observed};

/// All that complete executions come to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Ends {
    /// What all actors were answered, together, and who waits for ever.
    pub outcomes: BTreeSet<(Vec<Observed>, Option<Violation>)>,
    /// Failures and deadlocks.
    pub violations: BTreeSet<Violation>,
}

impl Ends {
    /// Adds a complete execution.
    pub fn add(&mut self, system: &mut Played) {
        let deadlock = system.deadlock();
        self.outcomes.insert((observed(), deadlock.clone()));
        self.violations.extend(deadlock);
        self.violations.extend((0..system.violation_count()).map(|index| system.violation(index)));
    }
}

/// A state, as far as anybody can tell it from others.
type State = (Option<u128>, Vec<Observed>, Vec<Step>);

struct Search<'s> {
    system: &'s mut Played,
    left: usize,
    schedule: Vec<Step>,
    /// Where the system is: after so much of the schedule, if it is not somewhere else.
    at: Option<usize>,
}

impl Search<'_> {
    /// Goes to the present state.
    fn come(&mut self) -> Option<(State, Vec<Transition>)> {
        self.left = self.left.checked_sub(1)?;
        let done = self.at.filter(|&at| at <= self.schedule.len()).unwrap_or_else(|| {
            self.system.reset();
            0
        });
        self.schedule[done..].iter().for_each(|&step| drop(self.system.execute(step)));
        self.at = Some(self.schedule.len());
        let mut enabled = Vec::new();
        self.system.enabled(&mut enabled);
        let steps = enabled.iter().map(|transition| transition.step).collect();
        Some(((self.system.state_key(), observed(), steps), enabled))
    }
}

/// Every reachable state, if they can be seen in so many visits.
pub fn ends(system: &mut Played, most: usize) -> Option<Ends> {
    let mut search = Search { system, left: most, schedule: Vec::new(), at: None };
    let (mut seen, mut ends) = (BTreeSet::new(), Ends::default());
    let mut todo = vec![Vec::new()];
    while let Some(schedule) = todo.pop() {
        if !schedule.starts_with(&search.schedule) {
            search.at = None;
        }
        search.schedule = schedule;
        let (state, enabled) = search.come()?;
        if !seen.insert(state) {
            continue;
        }
        if enabled.is_empty() {
            ends.add(search.system);
        }
        todo.extend(enabled.iter().map(|next| {
            let mut longer = search.schedule.clone();
            longer.push(next.step);
            longer
        }));
    }
    Some(ends)
}

/// How many Mazurkiewicz traces there are, if they can be counted in so many visits.
pub fn traces(system: &mut Played, most: usize) -> Option<u64> {
    let mut search = Search { system, left: most, schedule: Vec::new(), at: None };
    count(&mut search, Vec::new(), &mut BTreeMap::new())
}

fn count(
    search: &mut Search<'_>,
    mut asleep: Vec<Step>,
    known: &mut BTreeMap<(State, Vec<Step>), u64>,
) -> Option<u64> {
    let (state, enabled) = search.come()?;
    if enabled.is_empty() {
        return Some(1);
    }
    asleep.sort_unstable();
    let key = (state, asleep);
    if let Some(&count) = known.get(&key) {
        return Some(count);
    }
    let mut total = 0;
    let mut sleep: Vec<Transition> =
        enabled.iter().filter(|transition| key.1.contains(&transition.step)).cloned().collect();
    for next in enabled.iter().filter(|next| !key.1.contains(&next.step)) {
        let kept = sleep.iter().filter(|asleep| !Played::dependent(asleep, next));
        let below = kept.map(|asleep| asleep.step).collect();
        search.schedule.push(next.step);
        total += count(search, below, known)?;
        search.schedule.pop();
        search.at = None;
        sleep.push(next.clone());
    }
    known.insert(key, total);
    Some(total)
}
