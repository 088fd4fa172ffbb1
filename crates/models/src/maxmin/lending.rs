//! Constraints that are lent: to someone who has all of them to himself, and so needs no variable.
//!
//! A borrower is known by a number of the caller. Its value is that of `alone.rs`, by the same operations on the same
//! numbers. Nobody may enter a constraint that is lent: whoever wants to asks first who is [in the way](System::in_the_way),
//! and that one [gives back](System::give_back) what it has and enters as a variable.

use super::storage::{NONE, State};
use super::{Method, System, Use, VariableId};
use crate::config::Solver;

impl System {
    /// Whether constraints can be lent at all. Once somebody watches or slots are limited they cannot.
    #[inline]
    pub fn lends(&self) -> bool {
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

    /// Lends constraints to a borrower, if nobody uses them, and nobody did since the last solution; its value is told by
    /// [`lent`](System::lent) after the next one. False, and nothing is done, if somebody does.
    #[inline]
    pub fn lend(&mut self, uses: &[Use], penalty: f64, bound: f64, borrower: u32) -> bool {
        if !self.lends() {
            return false;
        }
        let constraints = &mut self.constraints;
        let is_taken = |wanted: &Use| {
            let constraint = &constraints[wanted.constraint.index()];
            constraint.dirty || constraint.active.head != NONE || constraint.lent != NONE
        };
        if uses.iter().any(is_taken) {
            return false;
        }
        let (mut least, mut fullest) = (f64::INFINITY, u32::MAX);
        for &Use { constraint: id, weight } in uses {
            let constraint = &mut constraints[id.index()];
            constraint.lent = borrower;
            if constraint.has_slack_for(weight, bound) {
                continue;
            }
            let share = constraint.capacity / (weight / penalty);
            if share < least || (share == least && id.0 < fullest) {
                (least, fullest) = (share, id.0);
            }
        }
        // Where nothing limits it, the least is infinite.
        let bounded = fullest == u32::MAX || bound * penalty < least;
        let value = if bounded { bound } else { least / penalty };
        for &Use { constraint, weight } in uses {
            constraints[constraint.index()].demand = weight * value;
        }
        self.on_loan += 1;
        self.lent.push((borrower, value));
        self.pending = true;
        true
    }

    /// A borrower leaves.
    #[inline]
    pub fn give_back(&mut self, uses: &[Use]) {
        self.on_loan -= 1;
        for used in uses {
            let constraint = &mut self.constraints[used.constraint.index()];
            debug_assert!(constraint.lent != NONE, "what is given back was lent");
            (constraint.lent, constraint.demand) = (NONE, 0.0);
        }
    }

    /// A borrower that gave back what it had goes on as a variable, which was created idle and without a value. If its
    /// value was told before, that is not told again.
    pub fn enter_from_loan(&mut self, id: VariableId, penalty: f64, was_told: bool) {
        self.wake(id, penalty);
        let variable = &mut self.variables[id.index()];
        debug_assert!(variable.state == State::Active, "nobody else was there");
        if was_told && variable.settled && self.settled.last() == Some(&id) {
            variable.settled = false;
            self.settled.pop();
            self.pending = !(self.settled.is_empty()
                && self.lent.is_empty()
                && self.dirty.is_empty()
                && self.unsettled.is_empty());
        }
    }

    /// A variable that waits has this place in the line.
    pub fn set_place_in_line(&mut self, id: VariableId, place: u64) {
        self.idleness[id.index()].since = place;
    }

    /// A borrower of one of the constraints that a variable uses.
    #[inline]
    pub fn in_the_way(&self, id: VariableId) -> Option<u32> {
        if self.on_loan == 0 {
            return None;
        }
        let variable = &self.variables[id.index()];
        let block = self.elements.block(variable.first, variable.count);
        let borrower = |constraint: u32| self.constraints[constraint as usize].lent;
        block.iter().map(|element| borrower(element.constraint)).find(|&borrower| borrower != NONE)
    }

    /// A borrower of one of some constraints.
    pub fn in_the_way_of(&self, uses: &[Use]) -> Option<u32> {
        if self.on_loan == 0 {
            return None;
        }
        uses.iter()
            .map(|used| self.constraints[used.constraint.index()].lent)
            .find(|&borrower| borrower != NONE)
    }

    /// The borrowers whose value was not told yet, with their values. They may have left since, or entered.
    #[inline]
    pub fn lent(&self) -> &[(u32, f64)] {
        &self.lent
    }

    /// They were told.
    #[inline]
    pub fn clear_lent(&mut self) {
        self.variables_solved += self.lent.len() as u64;
        self.lent.clear();
    }
}
