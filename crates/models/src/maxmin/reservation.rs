//! Constraints that are reserved: to an owner who has all of them to itself, and so needs no variable.
//!
//! An owner is known by a number of the caller. Its value is that of `single_user.rs`, by the same operations on the same
//! numbers. Nobody may enter a constraint that is reserved: whoever wants to asks first who is [in the way](System::in_the_way),
//! and that one [releases](System::release) what it has and enters as a variable.

use super::storage::{Constraint, NONE, State};
use super::{Capacity, ConstraintId, Method, System, Use, VariableId};
use crate::config::Solver;
use crate::prefetch::prefetch_from;

/// The owner of a constraint that variables use, or used since it was reserved last.
pub(super) const VARIABLES: u32 = NONE - 1;

/// A constraint that somebody wants to himself, and what he knows of it.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Wanted {
    /// Which.
    pub constraint: ConstraintId,
    /// How much of it is taken for each unit of the value.
    pub weight: f64,
    /// How much there is.
    pub capacity: Capacity,
}

impl System {
    /// Whether constraints can be reserved at all. Once somebody watches or slots are limited they cannot.
    #[inline]
    pub fn reserves(&self) -> bool {
        !self.watched && !self.limited && self.method == Method::MaxMin(Solver::Incremental)
    }

    /// The place in the line of one that begins to wait, as [`add_variable`](System::add_variable) gives it.
    #[inline]
    pub fn next_in_line(&mut self) -> u64 {
        self.idled += 1;
        self.idled
    }

    /// The last place in the line that was given.
    #[inline]
    pub fn last_in_line(&self) -> u64 {
        self.idled
    }

    /// Reserves constraints to an owner who gets this [`value`] of them, if nobody uses them, and nobody did since the last
    /// solution; that is told by [`reserved`](System::reserved) after the next one. False, and nothing is done, if somebody does.
    #[inline]
    pub fn reserve<All: AsRef<[ConstraintId]>>(&mut self, all: All, value: f64, owner: u32) -> bool {
        let all = all.as_ref();
        if !self.reserves() || all.iter().any(|&id| self.is_taken(id)) {
            return false;
        }
        for id in all {
            self.owners[id.index()] = owner;
        }
        self.reservations += 1;
        self.reserved.push((owner, value));
        self.pending = true;
        true
    }

    /// Whether a constraint is as an owner thinks, and who has it is known.
    pub fn has(&self, wanted: &Wanted) -> bool {
        let place = wanted.constraint.index();
        let Constraint { capacity, sharing, dirty, active, .. } = self.constraints[place];
        let is_free = self.owners[place] == NONE;
        wanted.capacity == Capacity { amount: capacity, sharing }
            && !(is_free && (dirty || active.head != NONE))
    }

    /// Whether a constraint cannot be reserved.
    #[inline]
    fn is_taken(&self, id: ConstraintId) -> bool {
        match self.owners[id.index()] {
            NONE => false,
            // It may be some time ago.
            VARIABLES => {
                let constraint = &self.constraints[id.index()];
                constraint.dirty || constraint.active.head != NONE
            }
            _ => true,
        }
    }

    /// To whom a constraint is reserved, if it is.
    #[inline]
    pub fn owner(&self, id: ConstraintId) -> Option<u32> {
        Some(self.owners[id.index()]).filter(|&owner| owner != NONE && owner != VARIABLES)
    }

    /// Asks the processor for who has a constraint.
    #[inline]
    pub(crate) fn prefetch_owner(&self, id: ConstraintId) {
        prefetch_from(&self.owners, id.index());
    }

    /// An owner leaves.
    #[inline]
    pub fn release(&mut self, uses: impl Iterator<Item = ConstraintId>) {
        self.reservations -= 1;
        for id in uses {
            debug_assert!(self.owner(id).is_some(), "what is given back was reserved");
            debug_assert!(!self.constraints[id.index()].dirty, "nothing is done to what is reserved");
            self.owners[id.index()] = NONE;
        }
    }

    /// An owner that gave back what it had goes on as a variable, which was created idle and without a value. If its
    /// value was told before, that is not told again.
    pub fn enter_promoted(&mut self, id: VariableId, penalty: f64, was_told: bool) {
        self.wake(id, penalty);
        let variable = &mut self.variables[id.index()];
        debug_assert!(variable.state == State::Active, "nobody else was there");
        if was_told && variable.settled && self.settled.last() == Some(&id) {
            variable.settled = false;
            self.settled.pop();
            self.pending = !(self.settled.is_empty()
                && self.reserved.is_empty()
                && self.dirty.is_empty()
                && self.unsettled.is_empty());
        }
    }

    /// A variable that waits has this place in the line.
    pub fn set_place_in_line(&mut self, id: VariableId, place: u64) {
        self.idleness[id.index()].since = place;
    }

    /// An owner of one of the constraints that a variable uses.
    #[inline]
    pub fn in_the_way(&self, id: VariableId) -> Option<u32> {
        if self.reservations == 0 {
            return None;
        }
        let variable = &self.variables[id.index()];
        let block = self.elements.block(variable.first, variable.count);
        block.iter().find_map(|element| self.owner(ConstraintId(element.constraint)))
    }

    /// An owner of one of some constraints.
    pub fn in_the_way_of(&self, uses: &[Use]) -> Option<u32> {
        if self.reservations == 0 {
            return None;
        }
        uses.iter().find_map(|used| self.owner(used.constraint))
    }

    /// The owners whose value was not told yet, with their values. They may have left since, or entered.
    #[inline]
    pub fn reserved(&self) -> &[(u32, f64)] {
        &self.reserved
    }

    /// They were told.
    #[inline]
    pub fn clear_reserved(&mut self) {
        self.variables_solved += self.reserved.len() as u64;
        self.reserved.clear();
    }
}

/// What an owner gets.
#[inline]
pub fn value(all: &[Wanted], penalty: f64, bound: f64) -> f64 {
    let (mut least, mut fullest) = (f64::INFINITY, u32::MAX);
    for &Wanted { constraint: id, weight, capacity } in all {
        if capacity.has_slack_for(weight, bound) {
            continue;
        }
        let share = capacity.amount / (weight / penalty);
        if share < least || (share == least && id.0 < fullest) {
            (least, fullest) = (share, id.0);
        }
    }
    // Where nothing limits it, the least is infinite.
    let bounded = fullest == u32::MAX || bound * penalty < least;
    if bounded { bound } else { least / penalty }
}
