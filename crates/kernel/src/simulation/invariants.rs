//! Invariants while time passes: judged at the start and whenever a value changes that they look at.

use super::Simulation;
use super::report::InvariantFailure;
use crate::exposed::Invariant;
use crate::ids::{ActorId, ExposedId};

impl Simulation {
    /// Adds what must be true of the values that actors show.
    pub fn uphold(&mut self, invariants: impl IntoIterator<Item = Invariant>) {
        self.invariants.extend(invariants);
    }

    /// An actor has shown another value; at the start, nobody has shown any.
    pub(super) fn judge(&mut self, shown: Option<(ActorId, ExposedId)>) {
        let (exposure, at) = (self.kernel.exposure(), self.models.now());
        let mut broken = Vec::new();
        // Once broken, it is told, and not looked at again; nor is a goal that was reached.
        self.invariants.retain(|invariant| {
            if shown.is_some_and(|(_, id)| !invariant.looks_at(id)) {
                return true;
            }
            let judged = invariant.judge(exposure);
            let is_settled = *judged.as_ref().unwrap_or(&true);
            broken.extend(judged.err());
            !is_settled
        });
        let by = shown.map(|(actor, _)| self.kernel.actor_name(actor).to_owned());
        let told = broken.into_iter().map(|what| InvariantFailure { at, by: by.clone(), what });
        self.broken.extend(told);
    }

    /// All is over: goals that were never reached are told.
    pub(super) fn judge_goals(&mut self) {
        let (exposure, at) = (self.kernel.exposure(), self.models.now());
        for goal in self.invariants.drain(..).filter(Invariant::is_goal) {
            self.broken.push(InvariantFailure { at, by: None, what: goal.missed(exposure) });
        }
    }
}
