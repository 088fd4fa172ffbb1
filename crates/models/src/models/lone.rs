//! Flows that have their links to themselves (`network/lone.rs`), and what happens when they do not any more.

use super::Models;
use crate::actions::{Action, Engine, Phase};
use crate::maxmin::{ConstraintId, VariableId};
use crate::network::Lone;

impl Action {
    /// By what the links of a flow that is alone are known.
    #[inline]
    pub(super) fn lone(&self) -> Lone {
        debug_assert!(self.engine == Engine::Lone, "a flow that is alone");
        Lone { from: self.variable, to: self.second }
    }
}

impl Models {
    /// Gives a flow that is alone its links; if somebody uses one of them, it is alone no longer.
    #[inline]
    pub(super) fn move_alone(&mut self, index: u32) {
        let action = self.actions.at(index);
        if !self.network.lend(action.lone(), action.factor, index) {
            let variable = self.enter(index);
            self.resume_flow(variable);
        }
    }

    /// Gives a flow its share of the links. Whoever had one of them to itself has it no longer.
    #[inline]
    pub(super) fn resume_flow(&mut self, variable: VariableId) {
        while let Some(index) = self.network.system.in_the_way(variable) {
            self.join(index);
        }
        self.network.resume(variable);
    }

    /// From now on no flow is alone: something about the links will change, or somebody wants to know more about flows.
    pub(super) fn end_lone(&mut self) {
        if !self.network.may_be_lone() {
            return;
        }
        self.network.end_lone();
        self.actions.indices_of(Engine::Lone).into_iter().for_each(|index| self.join(index));
    }

    /// How much a flow that is alone takes of one of its links.
    pub(super) fn load_of_lone(&self, index: u32, link: ConstraintId) -> f64 {
        let action = self.actions.at(index);
        self.network.load_of_lone(action.lone(), action.factor, link)
    }

    /// A flow that is alone goes on among the others.
    pub(super) fn join(&mut self, index: u32) {
        let action = self.actions.at(index);
        let (lone, phase, was_told) = (action.lone(), action.phase, action.rate > 0.0);
        if phase == Phase::Moving {
            self.network.give_back(lone);
        }
        let variable = self.enter(index);
        if phase == Phase::Moving {
            self.network.resume_from_loan(variable, was_told);
        }
    }

    /// The same, of any action.
    pub(super) fn join_if_lone(&mut self, index: u32) {
        if self.actions.at(index).engine == Engine::Lone {
            self.join(index);
        }
    }

    /// Gives a flow that is alone, and has no links, a variable.
    fn enter(&mut self, index: u32) -> VariableId {
        let action = self.actions.at_mut(index);
        let variable = self.network.enter(action.lone(), action.factor, index, action.order);
        (action.engine, action.variable) = (Engine::Network, variable.0);
        variable
    }
}
