//! Makes a counterexample easier to read: fewer steps, and as few changes from one actor to another as its causes allow.
//!
//! 1. What did not happen before the failure is left out (a deadlock is about all that happened, so all of it stays).
//! 2. What happened before it by an accident of the order alone is left out too, one process after the other, as long as
//!    the same failure results: the dependence of steps is coarser than what a failure needs.
//! 3. Of all orders of what remains that its causes allow, one with the fewest changes is taken. A state of this search
//!    is how far each actor has come. It never hurts to let an actor go on as far as it can, so that an order is a
//!    sequence of such runs, and the shortest sequence is found by A*, where each actor that has something left needs
//!    one more run at least. If there are too many states, only the most promising of each length are kept.
//!
//! Arrivals of messages are no changes: the network does them beside the actors, as late as they are needed.
//!
//! Each result is followed again before it is accepted, so that what comes out shows the same violation for certain.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use simurgh_search::System;
use simurgh_search::causality::Causality;
use simurgh_search::replay::follow;

use crate::verdict::{Impossible, Step, Violation};

/// So many states are looked at before the search for the best order becomes a greedy one.
const STATES_MAX: usize = 100_000;
/// So many states of one length are kept then.
const BEAM: usize = 64;
/// So many steps are taken in all to see what can be left out.
const STEPS_MAX: usize = 2_000_000;

/// Why there is nothing to shorten.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotShown {
    /// The schedule cannot be followed.
    #[error("{0}")]
    Diverges(#[from] Impossible),
    /// It can be followed, and the violation does not come.
    #[error("the schedule can be followed, and what was found does not happen")]
    Absent,
}

/// Gives a schedule that shows the same violation, with as few changes from one actor to another as possible, and never
/// more than the one given.
///
/// # Errors
/// If the schedule that is given does not show the violation.
pub fn shorten<S: System<Step = Step, Violation = Violation>>(
    system: &mut S,
    schedule: &[Step],
    violation: &Violation,
) -> Result<Vec<Step>, NotShown> {
    // What a receive later in the schedule chooses by is known once it was followed.
    follow(system, schedule)?;
    let mut shown = Shown::of(system, schedule, violation)?.ok_or(NotShown::Absent)?;
    let mut budget = STEPS_MAX;
    // These are about the whole of an execution.
    let is_whole = matches!(violation, Violation::Deadlock { .. } | Violation::Varies { .. });
    loop {
        let before = shown.weight();
        if !is_whole {
            let past = shown.causal_past();
            shown.try_instead(system, &past, violation, &mut budget);
            shown.leave_out(system, violation, &mut budget);
        }
        let order = shown.fewest_switches();
        shown.try_instead(system, &order, violation, &mut budget);
        if shown.weight() >= before {
            return Ok(shown.schedule);
        }
    }
}

/// How often the actor changes from one step to the next; arrivals of messages do not count.
pub fn switches(schedule: &[Step]) -> usize {
    let mut actors = schedule.iter().map(|step| step.actor).filter(|&actor| actor != Step::NETWORK);
    let Some(mut last) = actors.next() else { return 0 };
    let mut changes = 0;
    for actor in actors {
        changes += usize::from(actor != last);
        last = actor;
    }
    changes
}

/// A schedule that shows the violation.
struct Shown {
    schedule: Vec<Step>,
    /// Whose each step is.
    processes: Vec<u64>,
    causality: Causality,
}

impl Shown {
    /// Follows a schedule up to the violation; `None` if it does not come.
    fn of<S: System<Step = Step, Violation = Violation>>(
        system: &mut S,
        schedule: &[Step],
        violation: &Violation,
    ) -> Result<Option<Self>, Impossible> {
        let followed = follow(system, schedule)?;
        let Some(steps) = followed.came(violation) else { return Ok(None) };
        let mut causality = Causality::default();
        for taken in 1..=steps {
            causality.push::<S>(&followed.transitions[..taken]);
        }
        let processes = followed.transitions[..steps].iter().map(S::process).collect();
        Ok(Some(Self { schedule: schedule[..steps].to_vec(), processes, causality }))
    }

    fn weight(&self) -> (usize, usize) {
        (switches(&self.schedule), self.schedule.len())
    }

    /// Takes another schedule instead, if it shows the violation and is better.
    fn try_instead<S: System<Step = Step, Violation = Violation>>(
        &mut self,
        system: &mut S,
        schedule: &[Step],
        violation: &Violation,
        budget: &mut usize,
    ) -> bool {
        let better = (switches(schedule), schedule.len()) < self.weight();
        if !better || schedule.len() > *budget {
            return false;
        }
        *budget -= schedule.len();
        match Shown::of(system, schedule, violation) {
            Ok(Some(shown)) => {
                *self = shown;
                true
            }
            _ => false,
        }
    }

    /// The last step, which fails, and what happened before it.
    fn causal_past(&self) -> Vec<Step> {
        let Some(last) = self.schedule.len().checked_sub(1) else { return Vec::new() };
        let kept = (0..=last).filter(|&step| step == last || self.causality.is_before(step, last));
        kept.map(|step| self.schedule[step]).collect()
    }

    /// Leaves out the last steps of each process, as many as possible.
    fn leave_out<S: System<Step = Step, Violation = Violation>>(
        &mut self,
        system: &mut S,
        violation: &Violation,
        budget: &mut usize,
    ) {
        // Arrivals have the highest numbers: what need not arrive need not be sent.
        let processes: BTreeSet<u64> = self.processes.iter().copied().collect();
        for process in processes.into_iter().rev() {
            let mut keep = 0;
            // All of them first, and then fewer.
            while keep < self.processes.iter().filter(|&&other| other == process).count() {
                let mut seen = 0;
                let is_kept = |(_, other): &(&Step, &u64)| {
                    seen += usize::from(**other == process);
                    **other != process || seen <= keep
                };
                let steps = self.schedule.iter().zip(&self.processes).filter(is_kept);
                let kept: Vec<Step> = steps.map(|(step, _)| *step).collect();
                if self.try_instead(system, &kept, violation, budget) {
                    break;
                }
                keep += 1;
            }
        }
    }

    /// The same steps in an order with the fewest changes.
    fn fewest_switches(&self) -> Vec<Step> {
        let orders = Orders::of(self);
        let best = orders.shortest(STATES_MAX).unwrap_or_else(|| orders.greedy());
        orders.written(&best).into_iter().map(|step| self.schedule[step]).collect()
    }
}

/// How far each actor has come.
type Front = Vec<u32>;

/// How each state was reached with the fewest runs: how many, and the last of them with the state before it.
type Reached = BTreeMap<Front, (usize, Option<(usize, Front)>)>;

/// The orders that the causes allow.
struct Orders<'a> {
    shown: &'a Shown,
    /// The steps of each actor, in order.
    lanes: Vec<Vec<usize>>,
    /// For each step of an actor: how far every actor must have come. Arrivals hand on what they need themselves.
    needs: BTreeMap<usize, Vec<(usize, u32)>>,
}

impl<'a> Orders<'a> {
    fn of(shown: &'a Shown) -> Self {
        let mut numbers = BTreeMap::new();
        let mut lanes: Vec<Vec<usize>> = Vec::new();
        let mut place = vec![None; shown.schedule.len()];
        for (index, step) in shown.schedule.iter().enumerate().filter(|(_, s)| s.actor != Step::NETWORK) {
            let next = numbers.len();
            let lane = *numbers.entry(step.actor).or_insert(next);
            if lane == lanes.len() {
                lanes.push(Vec::new());
            }
            lanes[lane].push(index);
            place[index] = Some((lane, lanes[lane].len() as u32));
        }
        let needs = place.iter().enumerate().filter_map(|(index, own)| {
            let (own, _) = (*own)?;
            let mut needs: BTreeMap<usize, u32> = BTreeMap::new();
            let before = (0..index).filter(|&other| shown.causality.is_before(other, index));
            for (lane, count) in before.filter_map(|other| place[other]).filter(|&(lane, _)| lane != own) {
                let needed = needs.entry(lane).or_insert(0);
                *needed = count.max(*needed);
            }
            Some((index, needs.into_iter().collect()))
        });
        let needs = needs.collect();
        Self { shown, lanes, needs }
    }

    /// How far an actor comes in one go; `None` if it cannot go on.
    fn run(&self, front: &[u32], lane: usize) -> Option<u32> {
        let mut at = front[lane];
        while let Some(step) = self.lanes[lane].get(at as usize) {
            if self.needs[step].iter().any(|&(other, count)| front[other] < count) {
                break;
            }
            at += 1;
        }
        (at > front[lane]).then_some(at)
    }

    /// How many actors have something left: each needs a run more.
    fn unfinished(&self, front: &[u32]) -> usize {
        front.iter().zip(&self.lanes).filter(|(at, lane)| (**at as usize) < lane.len()).count()
    }

    fn left(&self, front: &[u32]) -> usize {
        front.iter().zip(&self.lanes).map(|(at, lane)| lane.len() - *at as usize).sum()
    }

    fn next<'f>(&'f self, front: &'f Front) -> impl Iterator<Item = (usize, Front)> + use<'f, 'a> {
        (0..self.lanes.len()).filter_map(move |lane| {
            let at = self.run(front, lane)?;
            let mut next = front.clone();
            next[lane] = at;
            Some((lane, next))
        })
    }

    /// Which actor runs after which, with the fewest runs. `None` if there are too many states to look at.
    fn shortest(&self, states_max: usize) -> Option<Vec<usize>> {
        let start: Front = vec![0; self.lanes.len()];
        let mut reached = Reached::new();
        let mut open = BinaryHeap::new();
        reached.insert(start.clone(), (0, None));
        open.push(Reverse((self.unfinished(&start), self.left(&start), 0, start)));
        while let Some(Reverse((_, left, runs, front))) = open.pop() {
            if left == 0 {
                return Some(way_back(&reached, &front));
            }
            if reached.get(&front).is_some_and(|&(best, _)| best < runs) {
                continue;
            }
            if reached.len() > states_max {
                return None;
            }
            for (lane, next) in self.next(&front) {
                let known = reached.get(&next).map_or(usize::MAX, |&(best, _)| best);
                if runs + 1 < known {
                    let bound = runs + 1 + self.unfinished(&next);
                    open.push(Reverse((bound, self.left(&next), runs + 1, next.clone())));
                    reached.insert(next, (runs + 1, Some((lane, front.clone()))));
                }
            }
        }
        unreachable!("the order that was followed is one")
    }

    /// Which actor runs after which, with few runs.
    fn greedy(&self) -> Vec<usize> {
        let mut beam: Vec<(Front, Vec<usize>)> = vec![(vec![0; self.lanes.len()], Vec::new())];
        loop {
            if let Some((_, runs)) = beam.iter().find(|(front, _)| self.left(front) == 0) {
                return runs.clone();
            }
            let mut next: BTreeMap<Front, Vec<usize>> = BTreeMap::new();
            for (front, runs) in &beam {
                for (lane, further) in self.next(front) {
                    next.entry(further).or_insert_with(|| runs.iter().copied().chain([lane]).collect());
                }
            }
            beam = next.into_iter().collect();
            beam.sort_by_cached_key(|(front, _)| (self.unfinished(front), self.left(front)));
            beam.truncate(BEAM);
        }
    }

    /// The steps in the order of these runs; arrivals come just before what they are needed for.
    fn written(&self, runs: &[usize]) -> Vec<usize> {
        let mut arrivals: Vec<usize> = (0..self.shown.schedule.len())
            .filter(|&step| self.shown.schedule[step].actor == Step::NETWORK)
            .collect();
        let mut front: Front = vec![0; self.lanes.len()];
        let mut order = Vec::with_capacity(self.shown.schedule.len());
        for &lane in runs {
            let to = self.run(&front, lane).expect("the runs were found so");
            for &step in &self.lanes[lane][front[lane] as usize..to as usize] {
                arrivals.retain(|&arrival| {
                    let needed = self.shown.causality.is_before(arrival, step);
                    if needed {
                        order.push(arrival);
                    }
                    !needed
                });
                order.push(step);
            }
            front[lane] = to;
        }
        order.extend(arrivals);
        order
    }
}

/// The runs that led to a state.
fn way_back(reached: &Reached, end: &Front) -> Vec<usize> {
    let mut runs = Vec::new();
    let mut at = end;
    while let Some((lane, before)) = &reached[at].1 {
        runs.push(*lane);
        at = before;
    }
    runs.reverse();
    runs
}
