//! A variable that shares nothing with anybody: most messages of most programs. Its value is known when it becomes
//! active, and nobody gains when it leaves; nothing is solved.
//!
//! The value is that of `incremental.rs`, by the same operations on the same numbers.

use super::reservation::VARIABLES;
use super::storage::{EMPTY, Element, FixedBy, List, NONE, State, Variable};
use super::{ConstraintId, Method, System, VariableId};
use crate::config::Solver;

impl System {
    /// Lets a variable into its constraints and gives it its value, if nobody else uses them. False, and nothing is
    /// done, if somebody does.
    #[inline]
    pub(super) fn settle_single_user(&mut self, index: u32) -> bool {
        if self.watched || self.method != Method::MaxMin(Solver::Incremental) {
            return false;
        }
        let System { variables, elements, constraints, owners, .. } = self;
        let variable = &mut variables[index as usize];
        let Variable { first, count, bound, penalty, .. } = *variable;
        let block = elements.block_mut(first, count);
        let is_taken = |element: &Element| {
            let constraint = &constraints[element.constraint as usize];
            constraint.dirty
                || constraint.active.head != NONE
                || constraint.limit == 0
                || owners[element.constraint as usize] < VARIABLES
        };
        if block.iter().any(is_taken) {
            return false;
        }
        let (mut least, mut fullest) = (f64::INFINITY, u32::MAX);
        for (place, element) in (first..).zip(block.iter_mut()) {
            let (number, weight) = (element.constraint, element.weight);
            let constraint = &mut constraints[number as usize];
            (element.previous, element.next) = (NONE, NONE);
            owners[number as usize] = VARIABLES;
            constraint.active = List { head: place, tail: place };
            constraint.is_roster_true = false;
            constraint.slots_taken += u32::from(element.takes_slot());
            (constraint.demand, constraint.greedy) = match constraint.is_greedy(weight, bound) {
                true => (0.0, 1),
                false => (weight * bound, 0),
            };
            constraint.slack = constraint.has_slack();
            if constraint.slack {
                continue;
            }
            let share = constraint.capacity / (weight / penalty);
            if share < least || (share == least && number < fullest) {
                (least, fullest) = (share, number);
            }
        }
        self.used += count;
        // Where nothing limits it, the least is infinite.
        let bounded = fullest == u32::MAX || bound * penalty < least;
        let value = if bounded { bound } else { least / penalty };
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
    pub(super) fn leave_single_user(&mut self, index: u32) -> bool {
        if self.watched || self.method != Method::MaxMin(Solver::Incremental) {
            return false;
        }
        let System { variables, elements, constraints, .. } = self;
        let Variable { first, count, home, .. } = variables[index as usize];
        debug_assert_eq!(home, NONE, "a resident is not alone");
        let block = elements.block(first, count);
        for (place, element) in (first..).zip(block) {
            let constraint = &constraints[element.constraint as usize];
            let alone = constraint.active.head == place && constraint.active.tail == place;
            if !alone || constraint.dirty || constraint.staged.head != NONE {
                return false;
            }
        }
        for element in block {
            let constraint = &mut constraints[element.constraint as usize];
            constraint.active = EMPTY;
            constraint.is_roster_true = false;
            (constraint.demand, constraint.greedy, constraint.slack) = (0.0, 0, true);
            constraint.slots_taken -= u32::from(element.takes_slot());
        }
        self.used -= count;
        true
    }

    /// The values that were given since the last solution are told with the next one.
    #[inline]
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
