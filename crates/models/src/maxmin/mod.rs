//! Sharing capacities among those who want them: max-min fairness, with penalties, bounds and weights.
//!
//! A *constraint* is a capacity; a *variable* is someone who wants as much as possible of the constraints it
//! uses, each by a weight: it gets a value `v`, and takes `weight * v` of each. Its share is inversely
//! proportional to its *penalty*, and never exceeds its *bound*. A variable without a penalty is idle: it
//! takes no part. The algorithm is that of SimGrid (Casanova and Marchal, "A network model for simulation of
//! grid application", INRIA RR-4596, 2002), with its tolerance: a rest below 1e-5 of a capacity is nothing.
//!
//! 1. `mod.rs`: the [`System`], how it is changed and read;
//! 2. `activation.rs`: who takes part, and who waits until others leave;
//! 3. `obvious.rs`: a fresh solution of everything, in a screenful;
//! 4. `incremental.rs`: only what is reachable from a change; `taking.rs`: what is fixed is taken off;
//! 5. `few.rs`: the constraints of few users in it; `by_share.rs`: which of them is full next;
//! 6. `single_user.rs`: a variable that shares nothing;
//! 7. `reservation.rs`: one that shares nothing, and so needs no variable;
//! 8. `unlimited.rs`: those who share what cannot be full;
//! 9. `pool.rs`: those who share one full constraint and nothing else;
//! 10. `residents.rs`: those whom one full constraint fixes, told by its level alone;
//! 11. `groups.rs`: residents that use the same, seated as one;
//! 12. `bottleneck.rs`: the other fairness, that of parallel tasks;
//! 13. `storage.rs`, `rosters.rs`: lists in flat arrays.

mod activation;
mod bottleneck;
mod by_share;
mod few;
mod groups;
mod incremental;
mod obvious;
mod pool;
mod reservation;
mod residents;
mod rosters;
mod single_user;
mod storage;
mod taking;
#[cfg(test)]
mod tests;
mod unlimited;

pub use pool::Standing;
pub use reservation::{Wanted, value};
pub use storage::{Capacity, ConstraintId, FixedBy, Note, Sharing, Use, VariableId};

use crate::config::Solver;
use crate::prefetch::prefetch_from;
use groups::Groups;
use incremental::Scratch;
use pool::Pools;
use residents::Clocks;
use rosters::Rosters;
use storage::{Constraint, Element, Elements, Idleness, NONE, State, Variable, Work};

/// Constraints, variables, and who uses what.
#[derive(Clone, Debug)]
pub struct System {
    constraints: Vec<Constraint>,
    /// What solutions keep of each constraint.
    works: Vec<Work>,
    /// By constraint: who has it, if anybody (see `reservation.rs`). So little is looked at by each message of a large system.
    owners: Vec<u32>,
    variables: Vec<Variable>,
    /// What is known of each variable while it takes no part.
    idleness: Vec<Idleness>,
    elements: Elements,
    free_variables: Vec<u32>,
    /// The variables that take no part, in any order; those that wait for a slot are among them.
    idle: Vec<u32>,
    /// How many became idle so far.
    idled: u64,
    /// How many constraints have active users.
    used: u32,
    /// Constraints to be solved again, each once.
    dirty: Vec<u32>,
    /// Whatever was fixed below this level stays as it was (see `incremental.rs`).
    threshold: f64,
    /// Active variables to be solved again: they are new, or their penalty or bound changed.
    unsettled: Vec<u32>,
    /// The active users of constraints that have many.
    rosters: Rosters,
    /// Constraints that the present solution filled unawares (see `incremental.rs`).
    stirred: Vec<u32>,
    clocks: Clocks,
    groups: Groups,
    /// Whether anything changed since the last solution.
    pending: bool,
    /// Whether `touched` must name every constraint whose load may have changed.
    watched: bool,
    changed: Vec<VariableId>,
    /// Variables that were alone when they became active, and have their value already (see `single_user.rs`).
    settled: Vec<VariableId>,
    /// Those to whom constraints were reserved since the last solution, with their values (see `reservation.rs`).
    reserved: Vec<(u32, f64)>,
    /// How many owners there are.
    reservations: u32,
    /// Whether somewhere only so many may be active at once.
    limited: bool,
    touched: Vec<ConstraintId>,
    method: Method,
    precision: f64,
    scratch: Scratch,
    rows: bottleneck::Rows,
    pools: Pools,
    solves: u64,
    variables_solved: u64,
}

/// What is computed, and how.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Method {
    /// Max-min fairness.
    MaxMin(Solver),
    /// Equal shares of each bottleneck, for parallel tasks.
    Bottleneck,
}

impl System {
    /// An empty system. `precision` is the part of a capacity that counts as nothing.
    pub fn new(method: Method, precision: f64) -> System {
        System {
            constraints: Vec::new(),
            works: Vec::new(),
            owners: Vec::new(),
            variables: Vec::new(),
            idleness: Vec::new(),
            elements: Elements::default(),
            free_variables: Vec::new(),
            idle: Vec::new(),
            idled: 0,
            used: 0,
            dirty: Vec::new(),
            threshold: f64::INFINITY,
            unsettled: Vec::new(),
            rosters: Rosters::default(),
            stirred: Vec::new(),
            clocks: Clocks::default(),
            groups: Groups::default(),
            pending: false,
            watched: false,
            changed: Vec::new(),
            settled: Vec::new(),
            reserved: Vec::new(),
            reservations: 0,
            limited: false,
            touched: Vec::new(),
            method,
            precision,
            scratch: Scratch::default(),
            rows: bottleneck::Rows::default(),
            pools: Pools::default(),
            solves: 0,
            variables_solved: 0,
        }
    }

    /// A new capacity. `limit` is how many variables may be active on it at once.
    pub fn add_constraint(&mut self, capacity: f64, sharing: Sharing, limit: Option<u32>) -> ConstraintId {
        let id = self.constraints.len() as u32;
        self.limited |= limit.is_some();
        self.constraints.push(Constraint::new(capacity, sharing, limit.unwrap_or(u32::MAX)));
        self.works.push(Work { is_fat: sharing == Sharing::FatPipe, ..Work::default() });
        self.owners.push(NONE);
        ConstraintId(id)
    }

    /// A new variable; `tag` is the caller's. A penalty of 0 means idle, an infinite bound means none. Each
    /// constraint comes at most once in `uses`, with a weight above 0.
    pub fn add_variable(&mut self, tag: u32, penalty: f64, bound: f64, uses: &[Use]) -> VariableId {
        let index = self.free_variables.pop().unwrap_or_else(|| {
            self.variables.push(Variable::default());
            self.idleness.push(Idleness { place: NONE, since: 0 });
            (self.variables.len() - 1) as u32
        });
        let first = self.elements.allocate(uses.len());
        for (element, wanted) in self.elements.block_mut(first, uses.len() as u32).iter_mut().zip(uses) {
            debug_assert!(wanted.weight > 0.0, "a constraint is used by a weight above 0");
            let &Use { constraint: ConstraintId(constraint), weight } = wanted;
            *element = Element::new(weight, constraint, index);
        }
        self.variables[index as usize] = Variable {
            tag,
            bound,
            first,
            count: uses.len() as u32,
            state: State::Idle,
            ..Variable::default()
        };
        self.become_idle(index);
        if penalty > 0.0 && penalty.is_finite() {
            self.variables[index as usize].penalty = penalty;
            let may_start = self.has_own_slots(index);
            self.activate_or_stage(index, may_start);
        }
        VariableId(index)
    }

    /// Forgets a variable. Its slots go to those that wait for them.
    pub fn remove_variable(&mut self, id: VariableId) {
        let Variable { state, pool, home, .. } = self.variables[id.index()];
        let may_be_alone = state == State::Active && pool == NONE && home == NONE;
        if !(may_be_alone && self.leave_single_user(id.0)) {
            self.deactivate_one(id.0, may_be_alone);
            self.leave_idle(id.0);
        }
        let variable = &mut self.variables[id.index()];
        let Variable { first, count, unsettled, .. } = *variable;
        if unsettled {
            // Its number may be another's before the next solution.
            self.unsettled.retain(|&other| other != id.0);
        }
        variable.count = 0;
        variable.state = State::Free;
        self.elements.release(first, count as usize);
        self.free_variables.push(id.0);
    }

    /// Keeps something with a capacity, for its owner.
    pub fn set_note(&mut self, id: ConstraintId, note: Note) {
        let constraint = &mut self.constraints[id.index()];
        (constraint.number, constraint.plain) = (note.number, note.plain);
    }

    /// A capacity, and what its owner keeps with it.
    #[inline]
    pub fn noted(&self, id: ConstraintId) -> (Capacity, Note) {
        let Constraint { capacity, sharing, number, plain, .. } = self.constraints[id.index()];
        (Capacity { amount: capacity, sharing }, Note { number, plain })
    }

    /// Asks the processor for a variable.
    #[inline]
    pub(crate) fn prefetch_variable(&self, id: VariableId) {
        prefetch_from(&self.variables, id.index());
    }

    /// Asks the processor for the constraints of a variable; nothing if there is none, or none any more.
    #[inline]
    pub(crate) fn prefetch_used(&self, id: VariableId) {
        if let Some(&Variable { first, count, .. }) = self.variables.get(id.index()) {
            for element in self.elements.some_block(first, count) {
                prefetch_from(&self.constraints, element.constraint as usize);
            }
        }
    }

    /// Asks the processor for a constraint.
    #[inline]
    pub(crate) fn prefetch_constraint(&self, id: ConstraintId) {
        prefetch_from(&self.constraints, id.index());
    }

    /// Sets the penalty of a variable that was created idle: as [`set_penalty`](Self::set_penalty), quick where it is alone.
    #[inline]
    pub fn wake(&mut self, id: VariableId, penalty: f64) {
        let variable = &mut self.variables[id.index()];
        if variable.state == State::Idle && penalty > 0.0 && penalty < f64::INFINITY {
            variable.penalty = penalty;
            if self.settle_single_user(id.0) {
                self.leave_idle(id.0);
                self.variables[id.index()].state = State::Active;
            } else {
                self.share_or_stage(id.0);
            }
            return;
        }
        self.set_penalty(id, penalty);
    }

    /// Sets the penalty; 0 makes the variable idle, its value 0 at once.
    pub fn set_penalty(&mut self, id: VariableId, penalty: f64) {
        if penalty > 0.0 && penalty != self.variables[id.index()].penalty {
            self.undo_pool_with(id);
            self.leave_home(id);
        }
        let variable = &mut self.variables[id.index()];
        debug_assert!(variable.state != State::Free, "a variable that was removed");
        if !(penalty > 0.0 && penalty.is_finite()) {
            self.deactivate(id.0);
            self.variables[id.index()].penalty = 0.0;
        } else if variable.state == State::Active {
            if variable.penalty != penalty {
                variable.penalty = penalty;
                self.unsettle_changed(id.0);
            }
        } else {
            variable.penalty = penalty;
            if variable.state == State::Idle {
                let may_start = self.has_all_slots(id.0);
                self.activate_or_stage(id.0, may_start);
            }
        }
    }

    /// Sets the bound; infinite for none.
    pub fn set_bound(&mut self, id: VariableId, bound: f64) {
        let Variable { bound: before, state, first, count, .. } = self.variables[id.index()];
        if before != bound {
            self.undo_pool_with(id);
            self.leave_home(id);
            self.variables[id.index()].bound = bound;
            if state == State::Active {
                for element in first..first + count {
                    let weight = self.elements.weight(element);
                    let constraint = &mut self.constraints[self.elements.constraint(element) as usize];
                    constraint.remove_demand(weight, before);
                    constraint.add_demand(weight, bound);
                }
                self.unsettle_changed(id.0);
            }
        }
    }

    /// Sets a capacity.
    pub fn set_capacity(&mut self, id: ConstraintId, capacity: f64) {
        if self.constraints[id.index()].capacity != capacity {
            self.undo_pool_of(id.0);
            let constraint = &mut self.constraints[id.index()];
            let work = &mut self.works[id.index()];
            work.lowest_capacity = work.lowest_capacity.min(constraint.capacity).min(capacity);
            constraint.capacity = capacity;
            // What is left of it is not known.
            constraint.is_roster_true = false;
            self.recount_demand(id.0);
            self.soil(id.0);
        }
    }

    /// Sets how many variables may be active at once from now on; those that already are, stay.
    pub fn set_limit(&mut self, id: ConstraintId, limit: Option<u32>) {
        self.limited |= limit.is_some();
        if self.limited {
            self.undo_all_pools();
            self.leave_all_homes();
        }
        self.constraints[id.index()].limit = limit.unwrap_or(u32::MAX);
        self.unstage(id.0);
    }

    /// Whether there is anything to solve, or to tell, since the last solution. Who watches is told each time.
    #[inline]
    pub fn is_changed(&self) -> bool {
        self.pending || self.watched
    }

    /// Gives a value to every variable that a change since the last time may touch. False if there was none.
    pub fn solve(&mut self) -> bool {
        self.pending = false;
        self.changed.clear();
        self.touched.clear();
        self.tell_settled();
        self.pools.levels.clear();
        self.clocks.begin();
        let pooled = self.pools.count > 0 && self.solve_pools();
        if self.dirty.is_empty() && self.unsettled.is_empty() {
            let told = pooled
                || !self.changed.is_empty()
                || !self.reserved.is_empty()
                || !self.pools.moved.is_empty();
            self.solves += u64::from(told);
            return told;
        }
        self.solves += 1;
        while !(self.dirty.is_empty() && self.unsettled.is_empty()) {
            let stirred = self.stirred.len();
            self.solve_unsettled();
            if self.stirred.len() > stirred {
                self.soil_stirred();
                continue;
            }
            if let Some(constraint) = self.pools.crowded.take() {
                self.try_pool(constraint);
            }
        }
        self.stirred.clear();
        self.pending = false;
        true
    }

    /// What turned out to be nearly full is solved again, with all that did so before.
    fn soil_stirred(&mut self) {
        for position in 0..self.stirred.len() {
            let index = self.stirred[position];
            self.works[index as usize].lowest_capacity = self.constraints[index as usize].capacity;
            self.soil(index);
        }
    }

    fn solve_unsettled(&mut self) {
        match self.method {
            Method::MaxMin(Solver::Incremental) => {
                if !self.settle_unlimited() {
                    incremental::solve(self);
                }
            }
            Method::MaxMin(Solver::Obvious) => obvious::solve(self),
            Method::Bottleneck => bottleneck::solve(self),
        }
        if self.watched && self.method == Method::MaxMin(Solver::Incremental) {
            self.touch_all_loads();
        }
        let System { variables, constraints, works, dirty, unsettled, .. } = self;
        for &variable in unsettled.iter() {
            variables[variable as usize].unsettled = false;
        }
        for &constraint in dirty.iter() {
            constraints[constraint as usize].dirty = false;
            works[constraint as usize].lowest_capacity = f64::INFINITY;
        }
        unsettled.clear();
        dirty.clear();
        self.threshold = f64::INFINITY;
    }

    /// If all that happened since the last solution is that variables became active which were alone: these are the
    /// changed ones, and nothing is left to be solved. False, and nothing is done, if something else happened.
    #[inline]
    pub fn take_settled(&mut self) -> bool {
        if self.watched || !self.dirty.is_empty() || !self.unsettled.is_empty() || self.pools.is_changed() {
            return false;
        }
        self.pending = false;
        self.changed.clear();
        self.touched.clear();
        self.tell_settled();
        self.solves += u64::from(!self.changed.is_empty() || !self.reserved.is_empty());
        true
    }

    /// The variables whose value the last solution changed, in no order.
    #[inline]
    pub fn changed(&self) -> &[VariableId] {
        &self.changed
    }

    /// Asks for every constraint whose load may have changed to be in [`System::touched`].
    pub fn watch(&mut self, on: bool) {
        if on {
            self.undo_all_pools();
            self.leave_all_homes();
        }
        self.watched = on;
    }

    /// The constraints that the last solution looked at; if watched, also those that it had no need to look at,
    /// but whose load may have changed.
    pub fn touched(&self) -> &[ConstraintId] {
        &self.touched
    }

    /// The value of a variable, as of the last solution.
    #[inline]
    pub fn value(&self, id: VariableId) -> f64 {
        let variable = &self.variables[id.index()];
        match (variable.pool, variable.home) {
            (NONE, NONE) => variable.value,
            (NONE, home) => self.clocks.level(home) / variable.penalty,
            _ => self.pooled_value(variable),
        }
    }

    /// The penalty of a variable; 0 if it is idle.
    pub fn penalty(&self, id: VariableId) -> f64 {
        self.variables[id.index()].penalty
    }

    /// The number that the caller gave.
    #[inline]
    pub fn tag(&self, id: VariableId) -> u32 {
        self.variables[id.index()].tag
    }

    /// What kept the value of a variable from being higher.
    pub fn fixed_by(&self, id: VariableId) -> FixedBy {
        let variable = &self.variables[id.index()];
        match variable.state {
            State::Staged => FixedBy::Staged,
            State::Active => variable.fixed_by,
            State::Idle | State::Free => FixedBy::Nothing,
        }
    }

    /// What a variable uses.
    pub fn uses(&self, id: VariableId) -> impl Iterator<Item = Use> + '_ {
        let Variable { first, count, .. } = self.variables[id.index()];
        (first..first + count).map(|element| Use {
            constraint: ConstraintId(self.elements.constraint(element)),
            weight: self.elements.weight(element),
        })
    }

    /// The variables that use a constraint: the active ones, then those that take no part, in the order in which they
    /// became idle.
    pub fn users(&self, id: ConstraintId) -> Vec<VariableId> {
        let mut users: Vec<VariableId> = self.active_users(id).collect();
        let active = users.len();
        users.extend(self.idle_users(id));
        users[active..].sort_unstable_by_key(|user| self.idleness[user.index()].since);
        users
    }

    /// The variables that use a constraint and take no part.
    fn idle_users(&self, id: ConstraintId) -> impl Iterator<Item = VariableId> + '_ {
        let uses = move |variable: &Variable| {
            (variable.first..variable.first + variable.count)
                .any(|element| self.elements.constraint(element) == id.0)
        };
        self.idle
            .iter()
            .filter(move |&&index| uses(&self.variables[index as usize]))
            .map(|&index| VariableId(index))
    }

    /// The active variables of a constraint.
    pub fn active_users(&self, id: ConstraintId) -> impl Iterator<Item = VariableId> + '_ {
        let constraint = &self.constraints[id.index()];
        self.elements.iter(&constraint.active).map(|element| VariableId(self.elements.variable(element)))
    }

    /// Whether some variable, active or not, uses a constraint.
    pub fn is_used(&self, id: ConstraintId) -> bool {
        let is_active = self.constraints[id.index()].active.head != NONE;
        is_active || self.owner(id).is_some() || self.idle_users(id).next().is_some()
    }

    /// How much of a constraint is taken by variables (of a fat pipe: by the one that takes most).
    pub fn load(&self, id: ConstraintId) -> f64 {
        let constraint = &self.constraints[id.index()];
        let taken = self.elements.iter(&constraint.active).map(|element| {
            self.elements.weight(element) * self.value(VariableId(self.elements.variable(element)))
        });
        match constraint.sharing {
            Sharing::Shared => taken.sum(),
            Sharing::FatPipe => taken.fold(0.0, f64::max),
        }
    }

    /// A capacity.
    pub fn capacity(&self, id: ConstraintId) -> f64 {
        self.constraints[id.index()].capacity
    }

    /// How many solutions were computed, and how many variables took part in those, all together.
    pub fn counts(&self) -> (u64, u64) {
        (self.solves, self.variables_solved)
    }

    /// The penalty or the bound of a variable will change: if it is a member of a pool, that is none any longer.
    #[inline]
    fn undo_pool_with(&mut self, id: VariableId) {
        let pool = self.variables[id.index()].pool;
        if pool != NONE {
            self.undo_pool(pool);
        }
    }

    fn soil(&mut self, constraint: u32) {
        debug_assert!(self.owner(ConstraintId(constraint)).is_none(), "nothing is done to what is reserved");
        if !self.constraints[constraint as usize].dirty {
            self.constraints[constraint as usize].dirty = true;
            self.dirty.push(constraint);
            self.pending = true;
        }
    }

    /// An active variable is to be solved again: its penalty or bound changed, or it left a pool. What is written of it is out of date.
    fn unsettle_changed(&mut self, variable: u32) {
        let Variable { first, count, .. } = self.variables[variable as usize];
        for element in first..first + count {
            self.constraints[self.elements.constraint(element) as usize].is_roster_true = false;
        }
        self.unsettle(variable);
    }

    /// An active variable is to be solved again; where it is written down, it is as it is now.
    fn unsettle(&mut self, variable: u32) {
        let state = &mut self.variables[variable as usize];
        self.threshold = self.threshold.min(state.level).min(state.bound * state.penalty);
        state.level = f64::INFINITY;
        let Variable { first, count, .. } = *state;
        for element in first..first + count {
            let number = self.elements.constraint(element);
            let work = &mut self.works[number as usize];
            let constraint = &mut self.constraints[number as usize];
            work.lowest_capacity = work.lowest_capacity.min(constraint.capacity);
            self.soil(number);
        }
        if !std::mem::replace(&mut self.variables[variable as usize].unsettled, true) {
            self.unsettled.push(variable);
        }
        self.pending = true;
    }

    /// Counts again what the active users of a constraint would take at most.
    fn recount_demand(&mut self, index: u32) {
        let constraint = &mut self.constraints[index as usize];
        constraint.demand = 0.0;
        constraint.greedy = 0;
        let mut element = constraint.active.head;
        while element != NONE {
            let bound = self.variables[self.elements.variable(element) as usize].bound;
            constraint.add_demand(self.elements.weight(element), bound);
            element = self.elements.next(element);
        }
    }

    fn touch_all_loads(&mut self) {
        let System { touched, dirty, changed, variables, elements, .. } = self;
        touched.extend(dirty.iter().map(|&constraint| ConstraintId(constraint)));
        for &variable in changed.iter() {
            let Variable { first, count, .. } = variables[variable.index()];
            touched
                .extend(elements.block(first, count).iter().map(|element| ConstraintId(element.constraint)));
        }
        // Of executions, most often all is about one host.
        if !touched.is_sorted() {
            touched.sort_unstable();
        }
        touched.dedup();
    }
}
