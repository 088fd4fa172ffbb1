//! Pools: the users of one full constraint that share nothing else with others, solved by one number.
//!
//! A *pool* is a constraint all of whose users have no other bottleneck: each other constraint that one of them uses (a *spoke*) is
//! used by members of the pool alone, and would not be full at the present level even if none of them had a bound. Then a
//! solution is one level: members get level / penalty, or their bound where that is less. Who comes or goes changes two sums. Only
//! those whose bound the level passes are touched themselves; the others are told by the level alone, and dated in virtual time.
//!
//! A solution of `incremental.rs` whose variables are nearly all fixed by one constraint makes a pool; whatever is not as above (another
//! capacity, penalty or bound, a stranger on a spoke, a level that could fill one) undoes it, and its members are solved as all
//! others. So are levels that the tolerances of the reference could touch.

use std::collections::BTreeSet;

use super::storage::{FixedBy, NONE, Sharing, State, Variable};
use super::{ConstraintId, System, VariableId};

/// So many users are worth a pool.
pub(super) const MANY: usize = if cfg!(test) { 3 } else { 32 };
/// So many changes more than members do not matter to sums.
const FEW: usize = 64;
/// What is left of a sum by less than this is mostly rounding.
const SMALL: f64 = 1e-3;
/// Levels are compared with this relative margin.
const MARGIN: f64 = 1e-6;
/// To come or go costs as much as so many members in a solution without a pool.
const PRICE: u64 = 40;
/// Whoever tried in vain waits for so many solutions at most.
const PATIENCE_MAX: u64 = 1024;

#[derive(Clone, Debug)]
pub(super) struct Pool {
    constraint: u32,
    /// Of those that have no lower bound.
    level: f64,
    /// The sum of weight / penalty of those at the level, and what the others take.
    usage: f64,
    taken: f64,
    /// Those at the level, and those at their bound, by bound * penalty.
    free: BTreeSet<Member>,
    bounded: BTreeSet<Member>,
    /// How often the sums changed since they were computed afresh.
    changes: usize,
    /// No spoke could be full below this level.
    ceiling: f64,
    dirty: bool,
    /// The solution that made it.
    since: u64,
    /// How often somebody came or went, and how many members there were at most.
    visits: u64,
    most: u64,
}

/// A member by its bound * penalty, whose bits are in its order.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Member {
    reach: u64,
    variable: u32,
}

impl Member {
    fn reach(self) -> f64 {
        f64::from_bits(self.reach)
    }
}

impl Pool {
    /// The level at which a capacity is full, if nobody passes a bound.
    fn find_level(&mut self, capacity: f64) {
        self.usage = if self.free.is_empty() { 0.0 } else { self.usage };
        self.taken = if self.bounded.is_empty() { 0.0 } else { self.taken };
        let rest = capacity - self.taken;
        self.level = match self.free.is_empty() {
            true if rest >= 0.0 => f64::INFINITY,
            true => f64::NEG_INFINITY,
            false => rest / self.usage,
        };
    }
}

impl Pool {
    /// Whether so many solutions cost less than without it: those visit all members, a pool has its price for whoever comes or
    /// goes. Where many come and go at once, as in steps of a parallel program, it is not.
    fn was_worth_it(&self, solutions: u64) -> bool {
        solutions > FEW as u64 && self.most * solutions > PRICE * self.visits
    }
}

/// All the pools of a system.
#[derive(Clone, Default, Debug)]
pub(super) struct Pools {
    all: Vec<Option<Pool>>,
    /// How many there are.
    pub count: usize,
    pub dirty: Vec<u32>,
    /// The constraint that fixed many variables of the last solution, if there was one.
    pub crowded: Option<u32>,
    /// Variables that came to a pool or left it, or whose bound was passed.
    pub moved: Vec<VariableId>,
    /// The levels that the last solution computed.
    pub levels: Vec<(u32, f64)>,
    /// Who wants to know each share has no pools.
    pub forbidden: bool,
    /// When the next one may be tried, and how long to wait after that.
    next_try: u64,
    patience: u64,
}

impl Pools {
    /// Whether there is anything to be solved or told.
    #[inline]
    pub fn is_changed(&self) -> bool {
        !self.dirty.is_empty() || !self.moved.is_empty()
    }
}

/// Where an active variable stands.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Standing {
    /// It has a value of its own.
    Own,
    /// Its value is the level of this clock, divided by its penalty.
    Level(u32),
}

/// Clocks of pools and those of residents have numbers of their own.
fn clock_of_pool(pool: u32) -> u32 {
    2 * pool
}

/// The number by which others know the clock of residents.
pub(super) fn clock_of_residents(clock: u32) -> u32 {
    2 * clock + 1
}

impl System {
    /// Has all shares computed one by one from now on, or no longer.
    pub fn forbid_pools(&mut self, forbidden: bool) {
        self.pools.forbidden = forbidden;
        if forbidden {
            self.undo_all_pools();
            self.leave_all_homes();
        }
    }

    /// The variables that came to a pool or left it since the last solution, or whose bound it passed; some may be gone.
    #[inline]
    pub fn moved(&self) -> &[VariableId] {
        &self.pools.moved
    }

    /// All that moved is known.
    #[inline]
    pub fn clear_moved(&mut self) {
        self.pools.moved.clear();
        self.pools.levels.clear();
    }

    /// The clocks of pools and residents whose level the last solution changed, with their levels.
    #[inline]
    pub fn pool_levels(&self) -> &[(u32, f64)] {
        &self.pools.levels
    }

    /// Where a variable stands, if it is active.
    pub fn standing(&self, id: VariableId) -> Option<Standing> {
        let variable = &self.variables[id.index()];
        let standing = match (variable.pool, variable.home) {
            (NONE, NONE) => Standing::Own,
            (NONE, home) => Standing::Level(clock_of_residents(home)),
            (_, _) if variable.fixed_by == FixedBy::Bound => Standing::Own,
            (pool, _) => Standing::Level(clock_of_pool(pool)),
        };
        (variable.state == State::Active).then_some(standing)
    }

    /// The value of a member.
    pub(super) fn pooled_value(&self, variable: &Variable) -> f64 {
        match variable.fixed_by {
            FixedBy::Bound => variable.bound,
            _ => self.pool(variable.pool).level / variable.penalty,
        }
    }

    fn pool(&self, number: u32) -> &Pool {
        self.pools.all[number as usize].as_ref().expect("a pool that is used is there")
    }

    fn pool_mut(&mut self, number: u32) -> &mut Pool {
        self.pools.all[number as usize].as_mut().expect("a pool that is used is there")
    }

    /// Makes a pool of the users of a constraint that a solution found to be nearly all there is, if they are one.
    pub(super) fn try_pool(&mut self, constraint: u32) {
        if self.solves < self.pools.next_try {
            return;
        }
        if self.pools.forbidden || self.watched || self.limited || !self.is_pool(constraint) {
            self.pools.patience = (2 * self.pools.patience).clamp(1, PATIENCE_MAX);
            self.pools.next_try = self.solves + self.pools.patience;
            return;
        }
        let pool = Pool {
            constraint,
            level: 0.0,
            usage: 0.0,
            taken: 0.0,
            free: BTreeSet::new(),
            bounded: BTreeSet::new(),
            changes: 0,
            ceiling: 0.0,
            dirty: false,
            since: self.solves,
            visits: 0,
            most: 0,
        };
        let number = match self.pools.all.iter().position(Option::is_none) {
            Some(place) => place,
            None => {
                self.pools.all.push(None);
                self.pools.all.len() - 1
            }
        };
        self.pools.all[number] = Some(pool);
        self.pools.count += 1;
        self.works[constraint as usize].pool = number as u32;
        let users: Vec<VariableId> = self.active_users(ConstraintId(constraint)).collect();
        for VariableId(index) in users {
            self.leave(index);
            self.take_in(index, number as u32);
        }
        self.solve_pool(number as u32);
    }

    /// Whether the users of a constraint share nothing else with others, and nothing but it and their bounds limits them.
    fn is_pool(&mut self, constraint: u32) -> bool {
        let users: Vec<VariableId> = self.active_users(ConstraintId(constraint)).collect();
        let facts = &self.constraints[constraint as usize];
        let is_ours =
            |cause| cause == FixedBy::Bound || cause == FixedBy::Constraint(ConstraintId(constraint));
        if users.len() < MANY
            || facts.sharing != Sharing::Shared
            || facts.capacity <= 0.0
            || !users.iter().all(|user| is_ours(self.variables[user.index()].fixed_by))
        {
            return false;
        }
        // How often each other constraint is used by these, and by all.
        let mut seen: Vec<u32> = Vec::new();
        for user in &users {
            let Variable { first, count, .. } = self.variables[user.index()];
            let others = self.elements.block(first, count).iter().map(|element| element.constraint);
            seen.extend(others.filter(|&other| other != constraint));
        }
        seen.sort_unstable();
        seen.chunk_by(|a, b| a == b).all(|same| {
            let other = &self.works[same[0] as usize];
            let all = self.active_users(ConstraintId(same[0])).take(same.len() + 1).count();
            other.pool == NONE && other.spoke_of == NONE && all == same.len()
        })
    }

    /// Before a variable becomes active: undoes the pools that it disturbs. Answers which one it comes to.
    pub(super) fn make_way(&mut self, index: u32) -> Option<u32> {
        let Variable { first, count, .. } = self.variables[index as usize];
        let mut disturbed = Vec::new();
        let mut home = None;
        let mut is_member = true;
        for element in first..first + count {
            let number = self.elements.constraint(element) as usize;
            let (work, constraint) = (&self.works[number], &self.constraints[number]);
            is_member &= !constraint.dirty;
            if work.pool != NONE {
                is_member &= home.is_none();
                home = Some(work.pool);
                disturbed.push(work.pool);
            } else if work.spoke_of != NONE {
                disturbed.push(work.spoke_of);
            } else {
                is_member &= constraint.active.head == NONE;
            }
        }
        if home.is_some() && is_member && disturbed.iter().all(|&pool| Some(pool) == home) {
            return home;
        }
        disturbed.into_iter().for_each(|pool| self.undo_pool(pool));
        None
    }

    /// An active variable is a member from now on.
    pub(super) fn take_in(&mut self, index: u32, number: u32) {
        let constraint = self.pool(number).constraint;
        let Variable { first, count, penalty, bound, .. } = self.variables[index as usize];
        let mut ceiling = f64::INFINITY;
        for element in first..first + count {
            let other = self.elements.constraint(element);
            let part = self.elements.weight(element) / penalty;
            self.constraints[other as usize].is_roster_true = false;
            if other == constraint {
                self.pool_mut(number).usage += part;
            } else {
                let capacity = self.constraints[other as usize].capacity;
                let work = &mut self.works[other as usize];
                work.spoke_usage = if work.spoke_of == NONE { part } else { work.spoke_usage + part };
                work.spoke_of = number;
                ceiling = ceiling.min(capacity / work.spoke_usage);
            }
        }
        let variable = &mut self.variables[index as usize];
        variable.pool = number;
        variable.fixed_by = FixedBy::Constraint(ConstraintId(constraint));
        let pool = self.pool_mut(number);
        pool.ceiling = pool.ceiling.min(ceiling);
        pool.free.insert(Member { reach: (bound * penalty).to_bits(), variable: index });
        self.pools.moved.push(VariableId(index));
        self.soil_pool(number);
    }

    /// A member is none any longer, and not active.
    pub(super) fn let_go(&mut self, index: u32) {
        let Variable { first, count, penalty, bound, pool: number, .. } = self.variables[index as usize];
        let constraint = self.pool(number).constraint;
        for element in first..first + count {
            let other = self.elements.constraint(element);
            let weight = self.elements.weight(element);
            let takes_slot = self.elements.takes_slot(element);
            let (facts, work) = (&mut self.constraints[other as usize], &mut self.works[other as usize]);
            self.elements.unlink(&mut facts.active, element);
            facts.remove_demand(weight, bound);
            facts.slots_taken -= u32::from(takes_slot);
            facts.is_roster_true = false;
            let before = work.spoke_usage;
            work.spoke_usage -= weight / penalty;
            if facts.active.head == NONE {
                self.used -= 1;
                (facts.demand, facts.slack) = (0.0, true);
                work.spoke_of = NONE;
            } else if other != constraint && work.spoke_usage < before * SMALL {
                self.works[other as usize].spoke_usage = self.whole_usage(other);
            }
            if other == constraint {
                self.drop_member(number, index, weight);
            }
        }
        self.variables[index as usize].pool = NONE;
        self.soil_pool(number);
        let pool = self.pool(number);
        if pool.free.is_empty() && pool.bounded.is_empty() {
            self.forget_pool(number);
        }
    }

    fn drop_member(&mut self, number: u32, index: u32, weight: f64) {
        let Variable { penalty, bound, .. } = self.variables[index as usize];
        let pool = self.pool_mut(number);
        let member = Member { reach: (bound * penalty).to_bits(), variable: index };
        let (usage, taken) = (pool.usage, pool.taken);
        if pool.free.remove(&member) {
            pool.usage -= weight / penalty;
        } else {
            pool.bounded.remove(&member);
            pool.taken -= weight * bound;
        }
        if pool.usage < usage * SMALL || pool.taken < taken * SMALL {
            pool.changes = usize::MAX / 2;
        }
    }

    fn soil_pool(&mut self, number: u32) {
        let pool = self.pool_mut(number);
        pool.visits += 1;
        pool.most = pool.most.max((pool.free.len() + pool.bounded.len()) as u64);
        pool.changes += 1;
        if !std::mem::replace(&mut pool.dirty, true) {
            self.pools.dirty.push(number);
        }
        self.pending = true;
    }

    fn forget_pool(&mut self, number: u32) {
        let pool = self.pools.all[number as usize].take().expect("a pool that is used is there");
        self.works[pool.constraint as usize].pool = NONE;
        self.pools.count -= 1;
        self.pools.dirty.retain(|&other| other != number);
        let solutions = self.solves - pool.since;
        let patience = if pool.was_worth_it(solutions) { 1 } else { 2 * self.pools.patience };
        self.pools.patience = patience.clamp(1, PATIENCE_MAX);
        self.pools.next_try = self.solves + self.pools.patience;
    }

    /// The members of a pool are to be solved as all others.
    pub(super) fn undo_pool(&mut self, number: u32) {
        if self.pools.all[number as usize].is_none() {
            return;
        }
        let constraint = self.pool(number).constraint;
        let users: Vec<VariableId> = self.active_users(ConstraintId(constraint)).collect();
        let members = users.into_iter().filter(|user| self.variables[user.index()].pool == number);
        for VariableId(index) in members.collect::<Vec<_>>() {
            let value = self.pooled_value(&self.variables[index as usize]);
            let variable = &mut self.variables[index as usize];
            variable.pool = NONE;
            variable.value = value;
            variable.level = value * variable.penalty;
            let Variable { first, count, .. } = *variable;
            for element in first..first + count {
                self.works[self.elements.constraint(element) as usize].spoke_of = NONE;
            }
            self.unsettle_changed(index);
            self.pools.moved.push(VariableId(index));
        }
        self.forget_pool(number);
    }

    pub(super) fn undo_all_pools(&mut self) {
        (0..self.pools.all.len() as u32).for_each(|number| self.undo_pool(number));
    }

    /// Undoes the pool that a constraint is of, if it is of one.
    pub(super) fn undo_pool_of(&mut self, constraint: u32) {
        let work = &self.works[constraint as usize];
        let pool = if work.pool != NONE { work.pool } else { work.spoke_of };
        if pool != NONE {
            self.undo_pool(pool);
        }
    }

    /// Gives each pool that changed its level. Answers whether there was one.
    pub(super) fn solve_pools(&mut self) -> bool {
        let dirty = std::mem::take(&mut self.pools.dirty);
        dirty.iter().for_each(|&number| self.solve_pool(number));
        !dirty.is_empty()
    }

    fn solve_pool(&mut self, number: u32) {
        self.pools.dirty.retain(|&other| other != number);
        let Some(mut pool) = self.pools.all[number as usize].take() else { return };
        pool.dirty = false;
        let capacity = self.constraints[pool.constraint as usize].capacity;
        if pool.changes > pool.free.len() + pool.bounded.len() + FEW {
            self.sum_again(&mut pool);
        }
        self.find_level(&mut pool, capacity);
        self.variables_solved += 1;
        let highest = pool.bounded.last().map_or(0.0, |member| member.reach());
        let top = if pool.free.is_empty() { highest } else { pool.level } * (1.0 + MARGIN);
        if top >= pool.ceiling {
            pool.ceiling = self.find_ceiling(pool.constraint);
        }
        let is_exact = self.is_exact(&pool, capacity) && top < pool.ceiling;
        let level = pool.level;
        self.pools.all[number as usize] = Some(pool);
        match is_exact {
            true => self.pools.levels.push((clock_of_pool(number), level)),
            false => self.undo_pool(number),
        }
    }

    /// Finds the level at which a capacity is full, and who is at a bound below it: first those whose bound is above the level
    /// leave it, then those at the level whose bound is below it get that. Each step raises the level.
    fn find_level(&mut self, pool: &mut Pool, capacity: f64) {
        pool.find_level(capacity);
        while let Some(&member) = pool.bounded.last().filter(|member| member.reach() > pool.level) {
            pool.bounded.remove(&member);
            pool.free.insert(member);
            self.pass_bound(pool, member, FixedBy::Constraint(ConstraintId(pool.constraint)));
            pool.find_level(capacity);
        }
        while let Some(&member) = pool.free.first().filter(|member| member.reach() < pool.level) {
            pool.free.remove(&member);
            pool.bounded.insert(member);
            self.pass_bound(pool, member, FixedBy::Bound);
            pool.find_level(capacity);
        }
    }

    /// The level has passed the bound of a member.
    fn pass_bound(&mut self, pool: &mut Pool, member: Member, cause: FixedBy) {
        let variable = &mut self.variables[member.variable as usize];
        variable.value = variable.bound;
        variable.fixed_by = cause;
        let Variable { penalty, bound, first, count, .. } = *variable;
        let elements = self.elements.block(first, count);
        let weights = elements.iter().filter(|element| element.constraint == pool.constraint);
        let weight: f64 = weights.map(|element| element.weight).sum();
        let sign = if cause == FixedBy::Bound { 1.0 } else { -1.0 };
        let (usage, taken) = (pool.usage, pool.taken);
        pool.usage -= sign * weight / penalty;
        pool.taken += sign * weight * bound;
        pool.changes += 1;
        if pool.usage < usage * SMALL || pool.taken < taken * SMALL {
            self.sum_again(pool);
        }
        self.pools.moved.push(VariableId(member.variable));
        self.variables_solved += 1;
    }

    /// The sum of weight / penalty of all active users of a constraint.
    fn whole_usage(&self, constraint: u32) -> f64 {
        let users = self.elements.iter(&self.constraints[constraint as usize].active);
        let part = |element| {
            self.elements.weight(element) / self.variables[self.elements.variable(element) as usize].penalty
        };
        users.map(part).sum()
    }

    /// Sums of what came and went are rounded: they are computed afresh now and then.
    fn sum_again(&self, pool: &mut Pool) {
        (pool.usage, pool.taken, pool.changes) = (0.0, 0.0, 0);
        for element in self.elements.iter(&self.constraints[pool.constraint as usize].active) {
            let variable = &self.variables[self.elements.variable(element) as usize];
            let weight = self.elements.weight(element);
            match variable.fixed_by {
                FixedBy::Bound => pool.taken += weight * variable.bound,
                _ => pool.usage += weight / variable.penalty,
            }
        }
    }

    /// The lowest level at which a spoke would be full if nobody had a bound.
    fn find_ceiling(&self, constraint: u32) -> f64 {
        let mut ceiling = f64::INFINITY;
        for user in self.active_users(ConstraintId(constraint)) {
            for used in self.uses(user).filter(|used| used.constraint.0 != constraint) {
                let usage = self.works[used.constraint.index()].spoke_usage;
                ceiling = ceiling.min(self.constraints[used.constraint.index()].capacity / usage);
            }
        }
        ceiling
    }

    /// Whether no tolerance of the reference can make a difference: a rest that counts as nothing, or bounds that count as one.
    fn is_exact(&self, pool: &Pool, capacity: f64) -> bool {
        let (Some(bounded), Some(free)) = (pool.bounded.last(), pool.free.first()) else {
            return pool.free.is_empty() || pool.level > 0.0;
        };
        pool.level > 0.0
            && capacity - pool.taken >= 2.0 * capacity * self.precision
            && pool.usage >= 2.0 * self.precision
            && free.reach() - bounded.reach() >= 4.0 * self.precision
    }
}
