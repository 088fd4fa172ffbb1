//! A constraint of few users in a solution: they are read where they are, in its list, and no roster is written.
//!
//! The operations and their order are those of `incremental.rs`, so that the numbers are the same. Who is to be solved has an
//! infinite level until it is fixed.

use super::incremental::{Scratch, fix, join_all};
use super::storage::{Element, FixedBy, NONE, Sharing, Variable};
use super::taking::take_all;
use super::{ConstraintId, System};

/// So many are not few.
pub(super) const MANY: usize = if cfg!(test) { 3 } else { 8 };

/// Whether the users of a constraint that is visited are read from its list.
#[inline]
pub(super) fn is_one_of_few(system: &System, index: u32) -> bool {
    system.works[index as usize].roster == NONE
}

/// Takes off what the kept variables have, opens the others, and marks the constraints that they use. False if there are many: then
/// they are to be written down.
pub(super) fn visit(system: &mut System, index: u32, scratch: &mut Scratch) -> bool {
    let System { constraints, works, variables, elements, clocks, threshold, precision, .. } = &mut *system;
    let (constraint, work) = (&mut constraints[index as usize], &mut works[index as usize]);
    let (mut remaining, mut usage, mut most, mut lowest_bound) =
        (constraint.capacity, 0.0, 0.0, f64::INFINITY);
    let (mut opened, mut count, mut users) = ([0; MANY], 0, 0);
    let mut number = constraint.active.head;
    while number != NONE {
        if users == MANY - 1 {
            return false;
        }
        users += 1;
        let &Element { weight, variable: user, next, group, .. } = elements.at(number);
        if group != NONE {
            return false;
        }
        let variable = &mut variables[user as usize];
        if variable.home != NONE {
            variable.level = clocks.level(variable.home);
            variable.value = variable.level / variable.penalty;
        }
        if variable.level < *threshold {
            remaining -= weight * variable.value;
        } else {
            let part = weight / variable.penalty;
            usage += part;
            most = if part > most { part } else { most };
            let reach = variable.bound * variable.penalty;
            lowest_bound = if reach < lowest_bound { reach } else { lowest_bound };
            variable.level = f64::INFINITY;
            opened[count] = user;
            count += 1;
        }
        number = next;
    }
    if constraint.sharing == Sharing::FatPipe {
        (remaining, usage) = (constraint.capacity, most);
    }
    scratch.open += count;
    let spent = remaining != constraint.capacity && remaining < constraint.capacity * *precision;
    constraint.slack = constraint.has_slack();
    (work.remaining, work.usage, work.lowest_bound) = (remaining, usage, lowest_bound);
    work.dust = constraint.capacity * *precision;
    work.stale = false;
    work.gone = usage <= 0.0 || spent || constraint.slack;
    if !scratch.has_met_all(system) {
        opened[..count].iter().for_each(|&user| join_all(system, user, scratch));
    }
    true
}

/// The users of a constraint that are to be solved, by the elements of its list.
pub(super) fn find_open(system: &System, index: u32, open: &mut Vec<u32>) {
    open.clear();
    let mut number = system.constraints[index as usize].active.head;
    while number != NONE {
        let &Element { variable, next, .. } = system.elements.at(number);
        if system.variables[variable as usize].level == f64::INFINITY {
            open.push(number);
        }
        number = next;
    }
}

/// The most of weight / penalty of those to be solved, and the least of bound * penalty.
pub(super) fn extremes(system: &System, index: u32) -> (f64, f64) {
    let users = system.elements.iter(&system.constraints[index as usize].active);
    let users = users.map(|number| system.elements.at(number));
    let users = users.map(|element| (element.weight, &system.variables[element.variable as usize]));
    users.filter(|(_, variable)| variable.level == f64::INFINITY).fold(
        (0.0, f64::INFINITY),
        |(most, least): (f64, f64), (weight, variable)| {
            (most.max(weight / variable.penalty), least.min(variable.bound * variable.penalty))
        },
    )
}

/// Fixes the variables of a full constraint at its level. Answers how many.
pub(super) fn fix_all(system: &mut System, full: u32, level: f64, scratch: &mut Scratch) -> usize {
    let open = open_of(system, full, scratch);
    for &number in &open {
        let index = system.elements.variable(number);
        let Variable { first, count, penalty, .. } = system.variables[index as usize];
        fix(system, index, level, level / penalty, FixedBy::Constraint(ConstraintId(full)));
        take_all(system, (first, count), full, level, scratch);
    }
    let count = open.len();
    scratch.unfixed = open;
    scratch.open -= count;
    let work = &mut system.works[full as usize];
    (work.remaining, work.gone) = (0.0, true);
    count
}

/// Fixes the variables of a full constraint whose bound is the lowest. Answers how many.
pub(super) fn fix_bounded(system: &mut System, full: u32, lowest: f64, scratch: &mut Scratch) -> usize {
    let open = open_of(system, full, scratch);
    let mut fixed = 0;
    for &number in &open {
        let index = system.elements.variable(number);
        let Variable { first, count, penalty, bound, .. } = system.variables[index as usize];
        if (bound * penalty - lowest).abs() < system.precision {
            fix(system, index, bound * penalty, bound, FixedBy::Bound);
            take_all(system, (first, count), NONE, bound * penalty, scratch);
            fixed += 1;
        }
    }
    system.works[full as usize].gone |= fixed == open.len();
    scratch.unfixed = open;
    fixed
}

fn open_of(system: &System, full: u32, scratch: &mut Scratch) -> Vec<u32> {
    let mut open = std::mem::take(&mut scratch.unfixed);
    find_open(system, full, &mut open);
    open
}
