//! A variable that shares nothing with anybody: most messages of most programs. Its value is known when it becomes
//! active, and nobody gains when it leaves; nothing is solved.
//!
//! The value is that of `incremental.rs`, by the same operations on the same numbers.

use super::storage::{EMPTY, FixedBy, NONE, State, Variable};
use super::{ConstraintId, Method, System, VariableId};
use crate::config::Solver;

impl System {
    /// Lets a variable into its constraints and gives it its value, if nobody else uses them. False, and nothing is
    /// done, if somebody does.
    #[inline]
    pub(super) fn settle_alone(&mut self, index: u32) -> bool {
        // The slot of a variable that was to be solved, and left before it was, may be that of this one.
        let may_be_named = !self.unsettled.is_empty();
        if may_be_named || self.watched || self.method != Method::MaxMin(Solver::Incremental) {
            return false;
        }
        let Variable { first, count, bound, penalty, .. } = self.variables[index as usize];
        let (mut least, mut fullest, mut limited) = (f64::INFINITY, u32::MAX, false);
        for element in first..first + count {
            let (number, weight) = (self.elements.constraint(element), self.elements.weight(element));
            let constraint = &self.constraints[number as usize];
            if constraint.dirty || constraint.active.head != NONE || constraint.limit == 0 {
                return false;
            }
            if constraint.has_slack_for(weight, bound) {
                continue;
            }
            limited = true;
            let share = constraint.capacity / (weight / penalty);
            if share < least || (share == least && number < fullest) {
                (least, fullest) = (share, number);
            }
        }
        for element in first..first + count {
            let (number, weight) = (self.elements.constraint(element), self.elements.weight(element));
            let constraint = &mut self.constraints[number as usize];
            self.elements.link_only(&mut constraint.active, element);
            constraint.slack = constraint.has_slack_for(weight, bound);
            match constraint.is_greedy(weight, bound) {
                true => (constraint.demand, constraint.greedy) = (0.0, 1),
                false => (constraint.demand, constraint.greedy) = (weight * bound, 0),
            }
            constraint.slots_taken += u32::from(self.elements.takes_slot(element));
        }
        let variable = &mut self.variables[index as usize];
        let bounded = !limited || bound * penalty < least;
        let value = if bounded { bound } else { least / penalty };
        variable.fixed = true;
        variable.fixed_by = match bounded {
            true => FixedBy::Bound,
            false => FixedBy::Constraint(ConstraintId(fullest)),
        };
        variable.level = if bounded { value * penalty } else { least };
        if variable.value != value {
            variable.value = value;
            variable.settled = true;
            self.settled.push(VariableId(index));
            self.pending = true;
        }
        true
    }

    /// Takes a variable out, if nobody else uses its constraints. False, and nothing is done, if somebody does.
    #[inline]
    pub(super) fn leave_alone(&mut self, index: u32) -> bool {
        if self.watched || self.method != Method::MaxMin(Solver::Incremental) {
            return false;
        }
        let Variable { first, count, .. } = self.variables[index as usize];
        for element in first..first + count {
            let constraint = &self.constraints[self.elements.constraint(element) as usize];
            let alone = constraint.active.head == element && constraint.active.tail == element;
            if !alone || constraint.dirty || constraint.staged.head != NONE {
                return false;
            }
        }
        for element in first..first + count {
            let constraint = &mut self.constraints[self.elements.constraint(element) as usize];
            constraint.active = EMPTY;
            (constraint.demand, constraint.greedy, constraint.slack) = (0.0, 0, true);
            constraint.slots_taken -= u32::from(self.elements.takes_slot(element));
        }
        true
    }

    /// The values that were given since the last solution are told with the next one.
    pub(super) fn tell_settled(&mut self) {
        for id in self.settled.drain(..) {
            let variable = &mut self.variables[id.index()];
            if variable.state == State::Active && std::mem::replace(&mut variable.settled, false) {
                self.changed.push(id);
                self.variables_solved += 1;
            }
        }
    }
}
