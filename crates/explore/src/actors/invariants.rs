//! Invariants over what the actors show: judged at the start, and whenever a value changes that they look at.

use std::hash::{Hash, Hasher};

use simurgh_kernel::context::{Place, panicked_at};
use simurgh_kernel::exposed::{Broken, Invariant};
use simurgh_kernel::ids::{ActorId, ExposedId};
use simurgh_kernel::kernel::{Kernel, Served};
use simurgh_kernel::simcall::Simcall;
use simurgh_kernel::watchdog::{Pulse, Trait, guarding};

use super::Actors;
use crate::verdict::Violation;
use simurgh_search::System;
use simurgh_search::session::repeats;

/// What must be true, and what is known of it.
#[derive(Debug, Default)]
pub(super) struct Upheld {
    invariants: Vec<Invariant>,
    /// Which of them look at each value, one bit each; those beyond the last bit share it.
    watched: Vec<u64>,
    /// Which of them were seen not to hold in this execution: each is told once. Of goals, which were reached.
    pub(super) broken: Vec<bool>,
    /// How often they were judged.
    judged: u64,
    /// One that gave another answer when it was asked once more.
    pub(super) unsteady: Option<usize>,
}

impl Upheld {
    pub(super) fn name(&self, index: usize) -> &str {
        self.invariants[index].name()
    }

    /// Drops what the invariants are made of.
    pub(super) fn let_go(&mut self, pulse: &mut Pulse) {
        pulse.treats(Some(Trait::Drop));
        guarding(Trait::Drop, panicked_at, || self.invariants.clear());
        pulse.rests();
    }

    /// The goals, and whether each was reached.
    fn goals(&self) -> impl Iterator<Item = (&Invariant, bool)> {
        let all = self.invariants.iter().zip(self.broken.iter().copied());
        all.filter(|(invariant, _)| invariant.is_goal())
    }
}

fn violation(Broken { name, message, values }: Broken) -> Violation {
    Violation::Invariant { name, message, values }
}

impl<F: FnMut(&mut Kernel)> Actors<F> {
    /// Adds what must be true of the values that the actors show. To show a value that one of them looks at is a step.
    pub fn uphold(mut self, invariants: Vec<Invariant>) -> Self {
        let slots = self.kernel.exposure().len();
        let looking = |slot: usize| {
            let bits = invariants.iter().enumerate();
            let looking = bits.filter(|(_, invariant)| invariant.looks_at(ExposedId::from_index(slot)));
            looking.fold(0, |bits, (index, _)| bits | 1 << index.min(63))
        };
        self.pulse.knows_invariants(invariants.iter().map(Invariant::name));
        self.upheld = Upheld {
            watched: (0..slots).map(looking).collect(),
            broken: vec![false; invariants.len()],
            invariants,
            ..Upheld::default()
        };
        self.reset();
        self
    }

    /// The invariants that look at a value, one bit each.
    pub(super) fn watched(&self, slot: ExposedId) -> u64 {
        self.upheld.watched.get(slot.index()).copied().unwrap_or(0)
    }

    /// The values that some invariant looks at, as they print, and which goals were reached.
    pub(super) fn fold_watched(&self, hasher: &mut impl Hasher) {
        let exposure = self.kernel.exposure();
        let slots = (0..exposure.len()).map(ExposedId::from_index);
        slots.filter(|&slot| self.watched(slot) != 0).for_each(|slot| exposure.text(slot).hash(hasher));
        self.upheld.goals().for_each(|(_, reached)| reached.hash(hasher));
    }

    /// All is over: the goals that were never reached.
    pub(super) fn missed_goals(&self) -> Vec<Violation> {
        let missed = self.upheld.goals().filter(|(_, reached)| !reached);
        let told = |goal: &Invariant| violation(goal.missed(self.kernel.exposure()));
        guarding(Trait::Debug, panicked_at, || missed.map(|(goal, _)| told(goal)).collect())
    }

    /// An actor shows a value, which is judged before the actor goes on.
    pub(super) fn expose(&mut self, actor: ActorId, slot: ExposedId, simcall: Simcall) {
        let place = self.place(actor);
        // What was shown before is dropped.
        let serve = || self.kernel.serve(actor, simcall);
        let Served::Answered(answer) = guarding(Trait::Drop, panicked_at, serve) else {
            unreachable!("to show something takes no time")
        };
        self.judge(Some(slot), place);
        self.advance(actor, Some(answer), 0);
    }

    /// A value has changed, or all are new.
    pub(super) fn judge(&mut self, changed: Option<ExposedId>, place: Option<Place>) {
        let Upheld { invariants, broken, judged: count, unsteady, .. } = &mut self.upheld;
        for (index, (invariant, broken)) in invariants.iter().zip(broken).enumerate() {
            if *broken || changed.is_some_and(|slot| !invariant.looks_at(slot)) {
                continue;
            }
            self.pulse.judges(index);
            // What it says itself is a judgement; what is left is how the values print.
            let judge = || invariant.judge(self.kernel.exposure());
            let judged = guarding(Trait::Debug, panicked_at, judge);
            if !(0..repeats(*count)).all(|_| judge() == judged) {
                unsteady.get_or_insert(index);
            }
            *count += 1;
            self.pulse.rests();
            *broken = *judged.as_ref().unwrap_or(&true);
            self.failures.extend(judged.err().map(|judged| (violation(judged), place)));
        }
    }
}
