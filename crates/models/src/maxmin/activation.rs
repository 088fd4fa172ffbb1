//! Who takes part: a variable becomes active, waits for slots, or leaves; where so many at most may be active at once, whoever waits longest
//! comes first.

use super::reservation::VARIABLES;
use super::rosters::{EMPTY_SEAT, Seat};
use super::storage::{Constraint, Element, Idleness, NONE, State, Variable};
use super::{System, incremental};

impl System {
    /// An idle variable that has a penalty now, and is not alone, becomes active, or waits for slots.
    pub(super) fn share_or_stage(&mut self, index: u32) {
        match self.has_all_slots(index) {
            true => {
                self.leave_idle(index);
                self.variables[index as usize].state = State::Active;
                self.share(index);
            }
            false => self.activate_or_stage(index, false),
        }
    }

    /// A variable with a penalty becomes active, or waits for slots: the place in the line is that of its creation,
    /// or of when it became idle.
    #[inline]
    pub(super) fn activate_or_stage(&mut self, index: u32, may_start: bool) {
        if may_start {
            self.activate(index);
            return;
        }
        self.variables[index as usize].state = State::Staged;
        let Variable { first, count, .. } = self.variables[index as usize];
        let since = self.idleness[index as usize].since;
        for element in first..first + count {
            let constraint = &mut self.constraints[self.elements.constraint(element) as usize];
            let mut after = NONE;
            let mut before = constraint.staged.tail;
            while before != NONE && self.idleness[self.elements.variable(before) as usize].since > since {
                (after, before) = (before, self.elements.previous(before));
            }
            match after {
                NONE => self.elements.push_back(&mut constraint.staged, element),
                after => self.elements.insert_before(&mut constraint.staged, element, after),
            }
        }
    }

    /// A variable is not among the idle ones any more, if it was.
    #[inline]
    pub(super) fn leave_idle(&mut self, index: u32) {
        let place = std::mem::replace(&mut self.idleness[index as usize].place, NONE);
        if place != NONE {
            self.idle.swap_remove(place as usize);
            if let Some(&moved) = self.idle.get(place as usize) {
                self.idleness[moved as usize].place = place;
            }
        }
    }

    /// A variable is the last that became idle.
    #[inline]
    pub(super) fn become_idle(&mut self, index: u32) {
        self.idled += 1;
        self.idleness[index as usize] = Idleness { place: self.idle.len() as u32, since: self.idled };
        self.idle.push(index);
    }

    /// Whether there is a slot wherever it would take one: all that is asked of a variable created with a penalty.
    pub(super) fn has_own_slots(&self, index: u32) -> bool {
        if !self.limited {
            return true;
        }
        let Variable { first, count, .. } = self.variables[index as usize];
        (first..first + count).all(|element| !self.elements.takes_slot(element) || self.has_slot(element))
    }

    /// Whether there is a slot on each of its constraints, even where it would take none: acknowledgements wait
    /// for a full link too.
    pub(super) fn has_all_slots(&self, index: u32) -> bool {
        if !self.limited {
            return true;
        }
        let Variable { first, count, .. } = self.variables[index as usize];
        (first..first + count).all(|element| self.has_slot(element))
    }

    fn has_slot(&self, element: u32) -> bool {
        let constraint = &self.constraints[self.elements.constraint(element) as usize];
        constraint.slots_taken < constraint.limit
    }

    pub(super) fn activate(&mut self, index: u32) {
        self.unlink_staged(index);
        self.leave_idle(index);
        self.variables[index as usize].state = State::Active;
        if !self.settle_single_user(index) {
            self.share(index);
        }
    }

    /// A variable that is active from now on joins those that use its constraints.
    pub(super) fn share(&mut self, index: u32) {
        let pool = if self.pools.count > 0 { self.make_way(index) } else { None };
        let Variable { first, count, bound, .. } = self.variables[index as usize];
        for element in first..first + count {
            let &Element { weight, constraint: number, .. } = self.elements.at(element);
            let constraint = &mut self.constraints[number as usize];
            self.used += u32::from(constraint.active.head == NONE);
            self.elements.push_back(&mut constraint.active, element);
            self.owners[number as usize] = VARIABLES;
            constraint.add_demand(weight, bound);
            constraint.slots_taken += u32::from(weight >= 1.0);
            if constraint.is_roster_true {
                self.give_seat(index, element);
            }
        }
        match pool {
            Some(pool) => self.take_in(index, pool),
            None => self.unsettle(index),
        }
    }

    /// Whoever comes to a constraint whose roster is true is written down there.
    fn give_seat(&mut self, index: u32, place: u32) {
        let Variable { first, count, penalty, bound, .. } = self.variables[index as usize];
        let Element { weight, constraint, .. } = *self.elements.at(place);
        let seat = self.take_seat(constraint);
        self.elements.at_mut(place).seat = seat;
        let other = if count == 2 { 2 * first + 1 - place } else { NONE };
        *self.rosters.at_mut(seat) = Seat {
            level: f64::INFINITY,
            part: weight / penalty,
            reach: bound * penalty,
            variable: index,
            first,
            count,
            element: place,
            other,
            other_constraint: if count == 2 { self.elements.constraint(other) } else { NONE },
            ..EMPTY_SEAT
        };
    }

    /// A variable waits for no slot any more, if it did.
    #[inline(always)]
    fn unlink_staged(&mut self, index: u32) {
        if self.variables[index as usize].state == State::Staged {
            let Variable { first, count, .. } = self.variables[index as usize];
            for element in first..first + count {
                let constraint = self.elements.constraint(element) as usize;
                self.elements.unlink(&mut self.constraints[constraint].staged, element);
            }
        }
    }

    pub(super) fn deactivate(&mut self, index: u32) {
        self.deactivate_one(index, false);
    }

    /// The same; that it shares its constraints may be known already.
    pub(super) fn deactivate_one(&mut self, index: u32, shares: bool) {
        self.unlink_staged(index);
        let variable = &mut self.variables[index as usize];
        let Variable { first, count, state, bound, .. } = *variable;
        let home = variable.home;
        let mut level = std::mem::replace(&mut variable.level, f64::INFINITY);
        variable.state = State::Idle;
        variable.value = 0.0;
        variable.settled = false;
        if state != State::Active {
            return;
        }
        self.become_idle(index);
        if home != NONE {
            level = self.clocks.level(home);
            self.leave(index);
        }
        if self.variables[index as usize].pool != NONE {
            return self.let_go(index);
        }
        if !shares && self.leave_single_user(index) {
            return;
        }
        self.threshold = self.threshold.min(level);
        let limited = self.limited;
        for element in first..first + count {
            let &Element { weight, constraint: number, .. } = self.elements.at(element);
            let constraint = &mut self.constraints[number as usize];
            self.elements.unlink(&mut constraint.active, element);
            constraint.remove_demand(weight, bound);
            if !limited {
                constraint.slots_taken -= u32::from(weight >= 1.0);
            }
            if constraint.active.head == NONE {
                self.used -= 1;
                constraint.demand = 0.0;
            }
            if constraint.is_roster_true {
                self.empty_seat(element);
            }
            self.soil(number);
        }
        if !limited {
            return;
        }
        // Constraint by constraint, so that its first constraints may go to one that does not need the others
        // before an older one can have them all. The reference does so.
        for element in first..first + count {
            let number = self.elements.constraint(element);
            let constraint = &mut self.constraints[number as usize];
            constraint.slots_taken -= u32::from(self.elements.takes_slot(element));
            if constraint.staged.head != NONE {
                self.unstage(number);
            }
        }
    }

    /// Whoever had a seat in a roster that is true goes.
    fn empty_seat(&mut self, element: u32) {
        let Element { constraint, seat, .. } = *self.elements.at_mut(element);
        let before = *self.rosters.at(seat);
        self.vacate(constraint, seat);
        let work = &mut self.works[constraint as usize];
        debug_assert_eq!(before.variable, self.elements.variable(element), "it is its seat");
        // What was nearly full is to be solved: it does not become quiet by this.
        if incremental::is_far_from_full(&self.constraints[constraint as usize], work) {
            work.remaining += before.taken;
        }
    }

    /// Gives the free slots of a constraint to the staged variables, in order.
    pub(super) fn unstage(&mut self, constraint: u32) {
        let mut element = self.constraints[constraint as usize].staged.head;
        while element != NONE {
            let Constraint { slots_taken, limit, .. } = self.constraints[constraint as usize];
            if slots_taken >= limit {
                return;
            }
            let next = self.elements.next(element);
            let variable = self.elements.variable(element);
            if self.has_all_slots(variable) {
                self.activate(variable);
            }
            element = next;
        }
    }
}
