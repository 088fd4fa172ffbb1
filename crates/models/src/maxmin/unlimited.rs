//! Changes on constraints that cannot be full, whoever gets what: nobody gains or loses by them, and who came or changed gets its bound. Nothing
//! is solved.
//!
//! So it is with most computations: as long as a host has as many cores as executions, each gets what it can use.

use super::System;
use super::incremental::{self, HIGH, stays_slack};
use super::storage::{FixedBy, NONE, State, Variable};
use super::taking::take_unvisited;

impl System {
    /// Gives their bounds to the variables to be solved, if no constraint that changed was full at the last solution, or could be now. False,
    /// and nothing is done, if one could.
    pub(super) fn settle_unlimited(&mut self) -> bool {
        let System { constraints, dirty, .. } = &mut *self;
        let is_limit = |&index: &u32| {
            let constraint = &constraints[index as usize];
            constraint.active.head != NONE && !stays_slack(constraint)
        };
        if dirty.iter().any(is_limit) {
            return false;
        }
        for &index in dirty.iter() {
            let constraint = &mut constraints[index as usize];
            constraint.slack = constraint.has_slack();
        }
        for position in 0..self.unsettled.len() {
            let index = self.unsettled[position];
            let Variable { state, home, level, bound, penalty, .. } = self.variables[index as usize];
            if state == State::Active && home == NONE && level == f64::INFINITY {
                let level = (bound * penalty).min(HIGH);
                incremental::fix(self, index, level, bound, FixedBy::Bound);
                take_unvisited(self, index, level);
                self.variables_solved += 1;
            }
        }
        true
    }
}
