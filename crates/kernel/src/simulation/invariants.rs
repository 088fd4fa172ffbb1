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
        // Once broken, it is told, and not looked at again.
        self.invariants.retain(|invariant| {
            let concerned = shown.is_none_or(|(_, id)| invariant.looks_at(id));
            let judged = concerned.then(|| invariant.judge(exposure)).flatten();
            let holds = judged.is_none();
            broken.extend(judged);
            holds
        });
        let by = shown.map(|(actor, _)| self.kernel.actor_name(actor).to_owned());
        let told = broken.into_iter().map(|what| InvariantFailure { at, by: by.clone(), what });
        self.broken.extend(told);
    }
}
