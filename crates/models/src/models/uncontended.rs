//! Uncontended flows (`network/uncontended.rs`) as actions, and how they are promoted when somebody else wants their links.

use super::Models;
use crate::actions::{Action, Engine, Phase};
use crate::maxmin::{ConstraintId, VariableId};
use crate::network::UncontendedFlow;

impl Action {
    /// By what the links of a flow that is alone are known.
    #[inline]
    pub(super) fn uncontended(&self) -> UncontendedFlow {
        debug_assert!(self.engine == Engine::Uncontended, "a flow that is alone");
        UncontendedFlow { from: self.variable, to: self.second }
    }
}

impl Models {
    /// Gives a flow that is alone its links; if somebody uses one of them, it is alone no longer.
    #[inline]
    pub(super) fn start_uncontended_transfer(&mut self, index: u32) {
        let action = self.actions.at(index);
        if !self.network.reserve(action.uncontended(), action.factor, index) {
            let variable = self.enter(index);
            self.resume_flow(variable);
        }
    }

    /// Gives a flow its share of the links. Whoever had one of them to itself has it no longer.
    #[inline]
    pub(super) fn resume_flow(&mut self, variable: VariableId) {
        while let Some(index) = self.network.system.in_the_way(variable) {
            self.promote(index);
        }
        self.network.resume(variable);
    }

    /// From now on no flow is alone: something about the links will change, or somebody wants to know more about flows.
    pub(super) fn end_uncontended(&mut self) {
        if !self.network.may_be_uncontended() {
            return;
        }
        self.network.end_uncontended();
        self.actions.indices_of(Engine::Uncontended).into_iter().for_each(|index| self.promote(index));
    }

    /// How much a flow that is alone takes of one of its links.
    pub(super) fn load_of_uncontended(&self, index: u32, link: ConstraintId) -> f64 {
        let action = self.actions.at(index);
        self.network.load_of_uncontended(action.uncontended(), action.factor, link)
    }

    /// A flow that is alone goes on among the others.
    pub(super) fn promote(&mut self, index: u32) {
        let action = self.actions.at(index);
        let (uncontended, phase, was_told) = (action.uncontended(), action.phase, action.rate > 0.0);
        if phase == Phase::Moving {
            self.network.release(uncontended);
        }
        let variable = self.enter(index);
        if phase == Phase::Moving {
            self.network.resume_promoted(variable, was_told);
        }
    }

    /// The same, of any action.
    pub(super) fn promote_if_uncontended(&mut self, index: u32) {
        if self.actions.at(index).engine == Engine::Uncontended {
            self.promote(index);
        }
    }

    /// Gives a flow that is alone, and has no links, a variable.
    fn enter(&mut self, index: u32) -> VariableId {
        let action = self.actions.at_mut(index);
        let variable = self.network.enter(action.uncontended(), action.factor, index, action.order);
        (action.engine, action.variable) = (Engine::Network, variable.0);
        variable
    }
}
