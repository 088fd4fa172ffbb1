//! Makes a counterexample easier to read: fewer steps, and as few changes from one actor to another as its causes allow.
//!
//! 1. What did not happen before the failure is left out (a deadlock is about all that happened, so all of it stays).
//! 2. What happened before it by an accident of the order alone is left out too, one process after the other, as long as
//!    the same failure results: the dependence of steps is coarser than what a failure needs.
//! 3. Of all orders of what remains that its causes allow, one with the fewest changes is taken. A state of this search
//!    is how far each actor has come. It never hurts to let an actor go on as far as it can, so that an order is a
//!    sequence of such runs, and the shortest is found breadth first. If there are too many states of one length, only the
//!    most promising are kept (beam search).
//!
//! Arrivals of messages are no changes: the network does them beside the actors, as late as they are needed.
//!
//! Each result is followed again before it is accepted, so that what comes out shows the same violation for certain.

use std::collections::{BTreeMap, BTreeSet};

use simurgh_search::System;
use simurgh_search::causality::Causality;
use simurgh_search::replay::follow;

use crate::verdict::{Impossible, Step, Violation};

/// So many states are kept while the best order is looked for, but so many of each length at least.
const STATES_MAX: usize = 1 << 17;
const BEAM_MIN: usize = 64;
/// With more actors fewer states are kept.
const LANES_FEW: usize = 8;
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
/// more than the one given. It is asked from time to time whether that has taken long enough: then what is known so far is given.
///
/// # Errors
/// If the schedule that is given does not show the violation.
pub fn shorten<S: System<Step = Step, Violation = Violation>>(
    system: &mut S,
    schedule: &[Step],
    violation: &Violation,
    is_enough: &dyn Fn() -> bool,
) -> Result<Vec<Step>, NotShown> {
    // What a receive later in the schedule chooses by is known once it was followed.
    follow(system, schedule)?;
    let shown = Shown::of(system, schedule, violation)?.ok_or(NotShown::Absent)?;
    let mut shortening = Shortening { system, violation, shown, is_enough, budget: STEPS_MAX };
    // These are about the whole of an execution.
    let is_whole = matches!(violation, Violation::Deadlock { .. } | Violation::Varies { .. });
    loop {
        let before = weight(&shortening.shown.schedule);
        if is_enough() {
            return Ok(shortening.shown.schedule);
        }
        if !is_whole {
            shortening.try_instead(&shortening.shown.causal_past());
            shortening.leave_out();
        }
        if let Some(instead) = shortening.shown.fewest_switches(is_enough) {
            shortening.try_instead(&instead);
        }
        if weight(&shortening.shown.schedule) >= before {
            return Ok(shortening.shown.schedule);
        }
    }
}

/// How often the actor changes from one step to the next; arrivals of messages do not count.
pub fn switches(schedule: &[Step]) -> usize {
    let actors = || schedule.iter().map(|step| step.actor).filter(|&actor| actor != Step::NETWORK);
    actors().zip(actors().skip(1)).filter(|(last, next)| last != next).count()
}

/// What is better the less it is.
fn weight(schedule: &[Step]) -> (usize, usize) {
    (switches(schedule), schedule.len())
}

/// A schedule that is being shortened.
struct Shortening<'a, S> {
    system: &'a mut S,
    violation: &'a Violation,
    shown: Shown,
    is_enough: &'a dyn Fn() -> bool,
    /// How many steps may be taken to see what can be left out.
    budget: usize,
}

impl<S: System<Step = Step, Violation = Violation>> Shortening<'_, S> {
    /// Takes another schedule instead, if it shows the violation and is better.
    fn try_instead(&mut self, schedule: &[Step]) -> bool {
        if weight(schedule) >= weight(&self.shown.schedule) || schedule.len() > self.budget {
            return false;
        }
        self.budget -= schedule.len();
        let Ok(Some(shown)) = Shown::of(self.system, schedule, self.violation) else { return false };
        self.shown = shown;
        true
    }

    /// Leaves out the last steps of each process, as many as possible.
    fn leave_out(&mut self) {
        // Arrivals have the highest numbers: what need not arrive need not be sent.
        let processes: BTreeSet<u64> = self.shown.processes.iter().copied().collect();
        for process in processes.into_iter().rev() {
            // All of them first, and then fewer.
            for keep in 0..self.shown.processes.iter().filter(|&&other| other == process).count() {
                if (self.is_enough)() {
                    return;
                }
                let mut seen = 0;
                let is_kept = |(_, other): &(&Step, &u64)| {
                    seen += usize::from(**other == process);
                    **other != process || seen <= keep
                };
                let steps = self.shown.schedule.iter().zip(&self.shown.processes).filter(is_kept);
                let kept: Vec<Step> = steps.map(|(step, _)| *step).collect();
                if self.try_instead(&kept) {
                    break;
                }
            }
        }
    }
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
        (1..=steps).for_each(|taken| causality.push::<S>(&followed.transitions[..taken]));
        let processes = followed.transitions[..steps].iter().map(S::process).collect();
        Ok(Some(Self { schedule: schedule[..steps].to_vec(), processes, causality }))
    }

    /// The last step, which fails, and what happened before it.
    fn causal_past(&self) -> Vec<Step> {
        let Some(last) = self.schedule.len().checked_sub(1) else { return Vec::new() };
        let kept = (0..=last).filter(|&step| step == last || self.causality.is_before(step, last));
        kept.map(|step| self.schedule[step]).collect()
    }

    /// The same steps in an order with the fewest changes.
    fn fewest_switches(&self, is_enough: &dyn Fn() -> bool) -> Option<Vec<Step>> {
        let orders = Orders::of(self);
        let order = orders.written(&orders.shortest(is_enough)?);
        Some(order.into_iter().map(|step| self.schedule[step]).collect())
    }
}

/// How far each actor has come.
type Front = Vec<u32>;

/// The orders that the causes allow.
struct Orders<'a> {
    shown: &'a Shown,
    /// The steps of each actor, in order.
    lanes: Vec<Vec<usize>>,
    /// For each step: how far every other actor must have come. Arrivals hand on what they need themselves.
    needs: Vec<Vec<(usize, u32)>>,
}

impl<'a> Orders<'a> {
    fn of(shown: &'a Shown) -> Self {
        let mut actors = Vec::new();
        let mut lanes: Vec<Vec<usize>> = Vec::new();
        let mut place = vec![None; shown.schedule.len()];
        for (index, step) in shown.schedule.iter().enumerate().filter(|(_, s)| s.actor != Step::NETWORK) {
            let lane = actors.iter().position(|&actor| actor == step.actor).unwrap_or(actors.len());
            if lane == actors.len() {
                actors.push(step.actor);
                lanes.push(Vec::new());
            }
            lanes[lane].push(index);
            place[index] = Some((lane, lanes[lane].len() as u32));
        }
        let needs = place.iter().enumerate().map(|(index, own)| {
            let before = (0..index).filter(|&other| shown.causality.is_before(other, index));
            let others = before.filter_map(|other| place[other]);
            // The last of each actor counts.
            let needs: BTreeMap<usize, u32> =
                others.filter(|(lane, _)| Some(*lane) != own.map(|it| it.0)).collect();
            needs.into_iter().collect()
        });
        let needs = needs.collect();
        Self { shown, lanes, needs }
    }

    /// How far an actor comes in one go; `None` if it cannot go on.
    fn run(&self, front: &[u32], lane: usize) -> Option<u32> {
        let mut at = front[lane];
        while let Some(step) = self.lanes[lane].get(at as usize) {
            if self.needs[*step].iter().any(|&(other, count)| front[other] < count) {
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

    /// Which actor runs after which, with the fewest runs.
    fn shortest(&self, is_enough: &dyn Fn() -> bool) -> Option<Vec<usize>> {
        // A state is as large as there are actors, and each of these may follow it.
        let (length, many) = (self.shown.schedule.len().max(1), self.lanes.len().div_ceil(LANES_FEW).max(1));
        let width = (STATES_MAX / length / many).max(BEAM_MIN);
        // Of each state of one length: who ran until it.
        let mut beam: Vec<(Front, Vec<usize>)> = vec![(vec![0; self.lanes.len()], Vec::new())];
        loop {
            if let Some(at) = beam.iter().position(|(front, _)| self.left(front) == 0) {
                return Some(beam.swap_remove(at).1);
            }
            if is_enough() {
                return None;
            }
            let mut next: BTreeMap<Front, Vec<usize>> = BTreeMap::new();
            for (front, runs) in &beam {
                for lane in 0..self.lanes.len() {
                    if let Some(to) = self.run(front, lane) {
                        let mut further = front.clone();
                        further[lane] = to;
                        next.entry(further).or_insert_with(|| [&runs[..], &[lane]].concat());
                    }
                }
            }
            beam = next.into_iter().collect();
            beam.sort_by_cached_key(|(front, _)| (self.unfinished(front), self.left(front)));
            beam.truncate(width);
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
                order.extend(
                    arrivals.extract_if(.., |arrival| self.shown.causality.is_before(*arrival, step)),
                );
                order.push(step);
            }
            front[lane] = to;
        }
        order.extend(arrivals);
        order
    }
}
