//! Residents: the variables that one full constraint fixes, told by its level alone.
//!
//! What a full constraint fixes gets its level / penalty. Where flows meet others at both ends, who comes or goes changes the levels of
//! many constraints a little, and nearly nobody passes from one constraint to another. So a constraint that fixes many has a
//! *clock*: its level is kept once, its residents are dated in virtual time (`virtual_time.rs`), and a solution tells of another
//! level instead of another value for each of them. Only those that come to a clock or leave it are told by themselves.
//!
//! A solution fixes all the residents of a constraint or none (whatever it does not fix again is below its threshold), so that they have
//! one level. Constraints of few have no clock; nor has anybody where every change is recorded, and under concurrency limits.

use super::pool::clock_of_residents;
use super::storage::{FixedBy, NONE, Variable};
use super::{ConstraintId, System, VariableId};

/// So many are worth a clock,
const MANY: usize = if cfg!(test) { 4 } else { 16 };
/// and so many are enough to keep it.
const ENOUGH: usize = MANY / 2;

/// All the clocks of a system.
#[derive(Clone, Default, Debug)]
pub(super) struct Clocks {
    all: Vec<Clock>,
    free: Vec<u32>,
    /// Those that lost their last resident since the last solution began: it may be on them elsewhere until that is told.
    released: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Clock {
    constraint: u32,
    residents: u32,
    level: f64,
}

impl Clocks {
    /// A solution begins: what the last one released is known to all.
    #[inline]
    pub fn begin(&mut self) {
        if !self.released.is_empty() {
            self.free.append(&mut self.released);
        }
    }

    /// The level of a clock, as of the last solution.
    #[inline]
    pub fn level(&self, clock: u32) -> f64 {
        self.all[clock as usize].level
    }

    fn add(&mut self, constraint: u32) -> u32 {
        let clock = Clock { constraint, residents: 0, level: f64::INFINITY };
        match self.free.pop() {
            Some(number) => {
                self.all[number as usize] = clock;
                number
            }
            None => {
                self.all.push(clock);
                self.all.len() as u32 - 1
            }
        }
    }
}

impl System {
    /// A full constraint fixes so many at this level. Answers its clock, if it has one from now on.
    pub(super) fn clock_for(&mut self, constraint: u32, count: usize, level: f64) -> Option<u32> {
        let clock = self.works[constraint as usize].clock;
        let enough = if clock == NONE { MANY } else { ENOUGH };
        if count < enough || !self.is_plain() {
            return None;
        }
        let clock = if clock == NONE { self.clocks.add(constraint) } else { clock };
        self.works[constraint as usize].clock = clock;
        let known = std::mem::replace(&mut self.clocks.all[clock as usize].level, level);
        if known != level {
            self.pools.levels.push((clock_of_residents(clock), level));
        }
        Some(clock)
    }

    /// Whether nobody wants to know each share, and nobody waits for a slot.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        !(self.pools.forbidden || self.watched || self.limited)
    }

    /// A variable is a resident from now on.
    pub(super) fn join(&mut self, index: u32, clock: u32) {
        self.leave(index);
        let Clock { constraint, residents, .. } = &mut self.clocks.all[clock as usize];
        *residents += 1;
        let variable = &mut self.variables[index as usize];
        variable.home = clock;
        variable.fixed_by = FixedBy::Constraint(ConstraintId(*constraint));
        self.pools.moved.push(VariableId(index));
    }

    /// A variable is no resident any longer. Answers whether it was one.
    #[inline]
    pub(super) fn leave(&mut self, index: u32) -> bool {
        let is_resident = self.variables[index as usize].home != NONE;
        if is_resident {
            self.leave_groups(index);
            self.leave_clock(index);
        }
        is_resident
    }

    fn leave_clock(&mut self, index: u32) {
        let Variable { first, count, .. } = self.variables[index as usize];
        let home = std::mem::replace(&mut self.variables[index as usize].home, NONE);
        let clock = &mut self.clocks.all[home as usize];
        clock.residents -= 1;
        let work = &mut self.works[clock.constraint as usize];
        if clock.residents == 0 {
            work.clock = NONE;
            self.clocks.released.push(home);
        }
        // A roster that is not true is made anew before anybody reads it.
        let elements = self.elements.block(first, count).iter();
        for element in elements.filter(|element| element.constraint == clock.constraint) {
            let seats = work.roster..work.roster.saturating_add(work.seats);
            if seats.contains(&element.seat)
                && let seat = self.rosters.at_mut(element.seat)
                && seat.variable == index
            {
                seat.is_resident = false;
            }
        }
    }

    /// A variable has a value of its own from now on, the one that it had as a resident.
    pub(super) fn leave_home(&mut self, id: VariableId) {
        let home = self.variables[id.index()].home;
        if home != NONE {
            let level = self.clocks.level(home);
            self.leave_groups(id.0);
            self.leave_clock(id.0);
            let variable = &mut self.variables[id.index()];
            variable.level = level;
            variable.value = level / variable.penalty;
            self.pools.moved.push(id);
            self.pending = true;
        }
    }

    /// Nobody is a resident any longer.
    pub(super) fn leave_all_homes(&mut self) {
        (0..self.variables.len() as u32).for_each(|index| self.leave_home(VariableId(index)));
    }
}
