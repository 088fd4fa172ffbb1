//! What a variable that is fixed uses is taken off its constraints: most of what a solution does.

use super::System;
use super::groups::Group;
use super::incremental::{Scratch, is_far_from_full};
use super::rosters::Seat;
use super::storage::{Constraint, Element, Elements, NONE, Variable, Work};

/// Takes what a variable just fixed uses off its constraints, without one of them, and closes its seats there.
pub(super) fn take_all(
    system: &mut System,
    elements: (u32, u32),
    without: u32,
    level: f64,
    scratch: &mut Scratch,
) {
    take_each(system, elements, without, level, scratch);
}

/// The same, where it is done for one after the other.
#[inline(always)]
pub(super) fn take_each(
    system: &mut System,
    (first, count): (u32, u32),
    without: u32,
    level: f64,
    scratch: &mut Scratch,
) {
    let (elements, mut taking) = taking(system, level, scratch);
    for element in elements.block(first, count) {
        if element.constraint != without {
            taking.take(element);
        }
    }
}

/// The same, off one of its constraints.
#[inline(always)]
pub(super) fn take_at(system: &mut System, element: u32, level: f64, scratch: &mut Scratch) {
    let (elements, mut taking) = taking(system, level, scratch);
    taking.take(elements.at(element));
}

/// Takes what a variable uses off its constraints, none of which is visited.
pub(super) fn take_unvisited(system: &mut System, index: u32, level: f64) {
    let System { variables, elements, constraints, works, rosters, .. } = system;
    let Variable { first, count, .. } = variables[index as usize];
    for &Element { constraint, seat, .. } in elements.block(first, count) {
        if constraints[constraint as usize].is_roster_true {
            let seat = rosters.at_mut(seat);
            let before = std::mem::replace(&mut seat.taken, seat.part * level);
            seat.level = level;
            works[constraint as usize].remaining += before - seat.taken;
        }
    }
}

/// The same for all the residents of a clock that are in groups, without the constraint whose clock it is.
pub(super) fn take_groups(system: &mut System, clock: u32, without: u32, level: f64, scratch: &mut Scratch) {
    let groups = std::mem::take(&mut system.groups);
    let (_, mut taking) = taking(system, level, scratch);
    for &number in groups.of(clock) {
        let group = groups.at(number);
        if group.constraint != without {
            taking.take_group(group);
        }
    }
    system.groups = groups;
}

#[inline(always)]
fn taking<'a>(system: &'a mut System, level: f64, scratch: &'a mut Scratch) -> (&'a Elements, Taking<'a>) {
    let System { elements, constraints, works, rosters, variables, precision, .. } = system;
    // Whoever gets nothing has the highest level.
    let factor = if level == f64::MAX { 0.0 } else { level };
    let Scratch { mark, stirred, open, .. } = scratch;
    let seats = rosters.all_mut();
    let taking = Taking {
        constraints,
        works,
        seats,
        variables,
        precision: *precision,
        level,
        factor,
        mark: *mark,
        stirred,
        open,
    };
    (elements, taking)
}

/// What is changed where a variable is fixed at a level.
struct Taking<'a> {
    constraints: &'a [Constraint],
    works: &'a mut [Work],
    seats: &'a mut [Seat],
    variables: &'a mut [Variable],
    stirred: &'a mut Vec<u32>,
    open: &'a mut usize,
    mark: u32,
    precision: f64,
    level: f64,
    /// The level, or nothing.
    factor: f64,
}

impl Taking<'_> {
    #[inline(always)]
    fn take(&mut self, element: &Element) {
        let &Element { constraint: number, seat, weight, variable, .. } = element;
        let work = &mut self.works[number as usize];
        if work.mark != self.mark {
            return self.take_unseen(number, seat);
        }
        let part;
        if work.roster == NONE {
            let variable = &mut self.variables[variable as usize];
            variable.level = self.level;
            part = weight / variable.penalty;
        } else {
            let seat = &mut self.seats[seat as usize];
            part = seat.part;
            (seat.level, seat.taken) = (self.level, part * self.factor);
        }
        self.take_part(number, part);
    }

    /// The same for a group.
    #[inline(always)]
    fn take_group(&mut self, group: &Group) {
        let &Group { constraint: number, seat, .. } = group;
        if self.works[number as usize].mark != self.mark {
            return self.take_unseen(number, seat);
        }
        if self.constraints[number as usize].is_roster_true {
            let seat = &mut self.seats[seat as usize];
            let part = seat.part;
            (seat.level, seat.taken) = (self.level, part * self.factor);
            self.take_part(number, part);
        }
    }

    #[inline(always)]
    fn take_part(&mut self, number: u32, part: f64) {
        let work = &mut self.works[number as usize];
        *self.open -= 1;
        if work.is_fat {
            work.stale = true;
        } else {
            work.remaining -= part * self.factor;
            work.usage -= part;
            if work.usage < self.precision || work.remaining < work.dust {
                work.gone = true;
            }
        }
    }

    /// The same, off a constraint that is not visited.
    #[inline(always)]
    fn take_unseen(&mut self, number: u32, seat: u32) {
        let constraint = &self.constraints[number as usize];
        if !constraint.is_roster_true {
            return;
        }
        let work = &mut self.works[number as usize];
        let seat = &mut self.seats[seat as usize];
        let taken = seat.part * self.factor;
        let before = std::mem::replace(&mut seat.taken, taken);
        seat.level = self.level;
        let was_far = is_far_from_full(constraint, work) && !work.is_fat;
        work.remaining += before - taken;
        if was_far && !is_far_from_full(constraint, work) {
            self.stirred.push(number);
        }
    }
}
