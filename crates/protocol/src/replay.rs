//! Following a schedule from the start, through the handlers themselves.

use std::fmt;
use std::sync::Arc;

use simurgh_search::space::Steps;

use crate::actor::Data;
use crate::model::Model;
use crate::node::Kind;
use crate::report::count;
use crate::schedule::{Schedule, Step};
use crate::space::Space;
use crate::system::System;

/// Why a schedule cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "step {at} of the schedule, {step}, cannot happen there: was the program changed, or do handlers depend on more than their arguments?"
)]
pub struct ReplayError {
    /// The number of the step, from 1.
    pub at: usize,
    /// The step.
    pub step: String,
}

/// A schedule that was followed.
pub struct Replayed {
    kinds: Vec<Arc<dyn Kind>>,
    pub(crate) space: Space,
    pub(crate) states: Vec<Vec<u32>>,
}

impl Replayed {
    /// The states of all actors after so many steps, as they print.
    pub fn actors_after(&self, steps: usize) -> Vec<String> {
        let state = &self.states[steps];
        let text = |actor: usize| self.space.local(actor, state[actor]).text_with_timers();
        (0..self.space.actors()).map(text).collect()
    }

    /// What the actors are called: their kind and their number.
    pub fn names(&self) -> Vec<String> {
        let kinds = self.kinds.iter().enumerate();
        kinds.map(|(actor, kind)| format!("{}-{actor}", kind.name())).collect()
    }

    pub(crate) fn last(&self) -> &[u32] {
        self.states.last().expect("there is the start at least")
    }
}

impl fmt::Debug for Replayed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&count(self.states.len() as u64 - 1, "step"))
    }
}

impl<M: Data> System<M> {
    /// Follows a schedule: every handler runs again, from the start.
    ///
    /// # Errors
    /// If a step cannot happen where the schedule says it does.
    pub fn replay(&self, schedule: &Schedule) -> Result<Replayed, ReplayError> {
        self.model.replay(schedule)
    }
}

impl Model {
    pub(crate) fn replay(&self, schedule: &Schedule) -> Result<Replayed, ReplayError> {
        let (mut space, starts) = Space::new(self);
        let Some(start) = starts.into_iter().nth(schedule.start) else {
            return Err(ReplayError { at: 0, step: format!("start {}", schedule.start) });
        };
        let mut states = vec![start];
        for (at, step) in schedule.steps.iter().enumerate() {
            let state = states.last().expect("there is the start at least");
            let after = space.after(Steps::All, state, |space, other| Step::of(space, state, other) == *step);
            states.push(after.ok_or_else(|| ReplayError { at: at + 1, step: step.to_string() })?);
        }
        Ok(Replayed { kinds: self.kinds.clone(), space, states })
    }
}
