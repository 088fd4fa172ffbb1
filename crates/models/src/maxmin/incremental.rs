//! Only what a change can touch: the constraints and variables reachable from the changed ones, above the level
//! of the change.
//!
//! The same algorithm as `obvious.rs`, seen as water that rises: all values grow together, as level / penalty,
//! until a constraint is full or a bound is reached. Five departures:
//! - Whatever was fixed at a lower level than any change can have an effect at stays as it was. A variable that
//!   leaves frees nothing below its own level; a constraint that has more users, or another capacity, is full
//!   no sooner than if nobody else were fixed before.
//! - Above that level, only the part reachable from changed constraints, through active variables that were
//!   not kept, is solved.
//! - A constraint that cannot be full, even if each of its users reaches its bound, joins nobody, and is not
//!   looked at; a variable that has only such constraints gets its bound.
//! - The constraint that is full next is found by a heap, whose keys may be out of date: shares only grow while
//!   variables are fixed (up to rounding), so a key is checked when it comes to the top.
//! - The maximum of a fat pipe is computed again only when it comes to the top.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::storage::{Constraint, Element, FixedBy, NONE, Seat, Sharing, State, Variable};
use super::{ConstraintId, System, VariableId, pool};

/// What a solution works with, kept from one to the next so that nothing is allocated.
#[derive(Clone, Default, Debug)]
pub(super) struct Scratch {
    mark: u32,
    variables: Vec<u32>,
    /// Those that use each constraint and are not kept, constraint after constraint: read again and again.
    users: Vec<User>,
    /// How many of these there are.
    used: usize,
    /// For users that are few.
    few: Vec<Seat>,
    heap: Vec<Reverse<Key>>,
    full: Vec<u32>,
    /// The users of a full constraint that are not fixed yet.
    unfixed: Vec<u32>,
}

/// Someone who uses a constraint, and by how much.
#[derive(Copy, Clone, Default, Debug)]
pub(super) struct User {
    weight: f64,
    variable: u32,
}

/// A constraint by what it leaves for a penalty of 1.
#[derive(Copy, Clone, Debug)]
struct Key {
    share: f64,
    constraint: u32,
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> Ordering {
        self.share.total_cmp(&other.share).then(self.constraint.cmp(&other.constraint))
    }
}

/// Gives a value to every active variable that is reachable from a changed constraint.
pub(super) fn solve(system: &mut System) {
    let mut scratch = std::mem::take(&mut system.scratch);
    reach(system, &mut scratch);
    let mut heap = BinaryHeap::from(std::mem::take(&mut scratch.heap));
    let mut left = scratch.variables.len();
    // Once all are fixed, the constraints still in the heap have nobody to fix: they need not be taken out in order.
    while left > 0
        && let Some(least) = pop_full(system, &mut heap, &mut scratch.full)
    {
        let lowest = lowest_bound(system, &scratch.full, &scratch.users, least);
        for position in 0..scratch.full.len() {
            let full = scratch.full[position];
            find_unfixed(system, full, &scratch.users, &mut scratch.unfixed);
            let count = fix_users(system, full, least, lowest, &scratch.unfixed);
            left -= count;
            if count >= pool::MANY && lowest >= least {
                system.pools.crowded = Some(full);
            }
        }
        for &constraint in &scratch.full {
            // Bounds may have left some variables for later.
            if !system.works[constraint as usize].gone {
                push(system, &mut heap, constraint);
            }
        }
    }
    scratch.heap = heap.into_vec();
    settle_the_unfixed(system, &scratch);
    system.variables_solved += scratch.variables.len() as u64;
    scratch.variables.clear();
    system.scratch = scratch;
}

/// Collects the reachable part, and computes what is left of its constraints and who wants it.
fn reach(system: &mut System, scratch: &mut Scratch) {
    scratch.mark = scratch.mark.wrapping_add(1).max(1);
    let mark = scratch.mark;
    lower_threshold(system);
    for position in 0..system.dirty.len() {
        let index = system.dirty[position];
        let constraint = &mut system.constraints[index as usize];
        // Whom nobody uses any more needs no visit. Who watches is told of it by other means.
        match constraint.active.head {
            NONE => constraint.slack = constraint.has_slack(),
            _ => mark_constraint(system, index, mark),
        }
    }
    for position in 0..system.unsettled.len() {
        let index = system.unsettled[position];
        let variable = &system.variables[index as usize];
        if variable.state == State::Active && variable.mark != mark {
            mark_variable(system, index, mark, &mut scratch.variables);
        }
    }
    scratch.heap.clear();
    scratch.used = 0;
    let mut next = 0;
    while next < system.touched.len() {
        let id = system.touched[next];
        next += 1;
        visit_constraint(system, id.0, scratch);
        let work = &system.works[id.index()];
        if !work.gone {
            let share = work.remaining / work.usage;
            scratch.heap.push(Reverse(Key { share, constraint: id.0 }));
        }
    }
}

/// Levels are compared with this relative margin: they carry rounding errors.
const MARGIN: f64 = 1e-6;

/// The level below which nothing changes: no constraint that has more users or another capacity can have been
/// full, or can be, below its lowest capacity shared by all its users.
fn lower_threshold(system: &mut System) {
    for &index in &system.dirty {
        let constraint = &system.constraints[index as usize];
        let lowest_capacity = system.works[index as usize].lowest_capacity;
        if lowest_capacity == f64::INFINITY || stays_slack(constraint) {
            continue;
        }
        let mut usage: f64 = 0.0;
        let mut element = constraint.active.head;
        while element != NONE {
            let penalty = system.variables[system.elements.variable(element) as usize].penalty;
            let part = system.elements.weight(element) / penalty;
            usage = match constraint.sharing {
                Sharing::Shared => usage + part,
                Sharing::FatPipe => usage.max(part),
            };
            element = system.elements.next(element);
        }
        if usage > 0.0 {
            system.threshold = system.threshold.min(lowest_capacity / usage);
        }
    }
    system.threshold *= 1.0 - MARGIN;
}

/// It could not be full at the last solution, and still cannot.
fn stays_slack(constraint: &Constraint) -> bool {
    constraint.slack && constraint.has_slack()
}

fn mark_constraint(system: &mut System, index: u32, mark: u32) {
    let work = &mut system.works[index as usize];
    if work.mark != mark && !stays_slack(&system.constraints[index as usize]) {
        work.mark = mark;
        system.touched.push(ConstraintId(index));
    }
}

fn mark_variable(system: &mut System, index: u32, mark: u32, found: &mut Vec<u32>) {
    let variable = &mut system.variables[index as usize];
    variable.mark = mark;
    variable.fixed = false;
    found.push(index);
    mark_uses(system, index, mark);
}

/// Marks the constraints that a variable uses.
fn mark_uses(system: &mut System, index: u32, mark: u32) {
    let Variable { first, count, .. } = system.variables[index as usize];
    for element in first..first + count {
        mark_constraint(system, system.elements.constraint(element), mark);
    }
}

/// So many users are written down, so that the next solution need not follow from one to the next.
const MANY: usize = if cfg!(test) { 2 } else { 8 };

/// The active users of a constraint, one after the other.
fn roster(system: &mut System, index: u32, few: &mut Vec<Seat>) -> Vec<Seat> {
    let work = &system.works[index as usize];
    let constraint = &system.constraints[index as usize];
    if constraint.is_roster_true {
        return std::mem::take(&mut system.rosters[work.roster as usize]);
    }
    let mut seats = match work.roster {
        NONE => std::mem::take(few),
        roster => std::mem::take(&mut system.rosters[roster as usize]),
    };
    seats.clear();
    let mut number = constraint.active.head;
    while number != NONE {
        let element = system.elements.at_mut(number);
        element.seat = seats.len() as u32;
        let Element { weight, variable, next, .. } = *element;
        let Variable { level, value, .. } = system.variables[variable as usize];
        seats.push(Seat { level, taken: weight * value, weight, variable });
        number = next;
    }
    seats
}

/// Puts them back where they came from, or where they are kept from now on.
fn keep_roster(system: &mut System, index: u32, seats: Vec<Seat>, few: &mut Vec<Seat>) {
    let work = &mut system.works[index as usize];
    if work.roster == NONE && seats.len() < MANY {
        *few = seats;
        return;
    }
    if work.roster == NONE {
        work.roster = system.rosters.len() as u32;
        system.rosters.push(Vec::new());
    }
    system.constraints[index as usize].is_roster_true = true;
    system.rosters[work.roster as usize] = seats;
}

/// Takes off what the kept variables have; marks the others, and the constraints that they use.
fn visit_constraint(system: &mut System, index: u32, scratch: &mut Scratch) {
    let mark = scratch.mark;
    let start = scratch.used;
    let Constraint { capacity, sharing, .. } = system.constraints[index as usize];
    let all = roster(system, index, &mut scratch.few);
    let mut remaining = scratch.sift(&all, system, capacity);
    keep_roster(system, index, all, &mut scratch.few);
    if sharing == Sharing::FatPipe {
        remaining = capacity;
    }
    let (mut usage, mut lowest_bound) = (0.0_f64, f64::INFINITY);
    let known = scratch.variables.len();
    let mut found = known;
    scratch.variables.resize(known + scratch.used - start, 0);
    for &User { weight, variable: number } in &scratch.users[start..scratch.used] {
        let variable = &mut system.variables[number as usize];
        let part = weight / variable.penalty;
        match sharing {
            Sharing::Shared => usage += part,
            Sharing::FatPipe => usage = usage.max(part),
        }
        let bound = variable.bound * variable.penalty;
        if bound < lowest_bound {
            lowest_bound = bound;
        }
        // Whether it was found before is as good as random too.
        scratch.variables[found] = number;
        found += usize::from(variable.mark != mark);
        variable.mark = mark;
        variable.fixed = false;
        system.elements.prefetch(variable.first);
    }
    scratch.variables.truncate(found);
    for &number in &scratch.variables[known..] {
        mark_uses(system, number, mark);
    }
    let constraint = &mut system.constraints[index as usize];
    let spent = remaining != capacity && remaining < capacity * system.precision;
    constraint.slack = constraint.has_slack();
    let work = &mut system.works[index as usize];
    work.users = (start as u32, scratch.used as u32);
    work.remaining = remaining;
    work.usage = usage;
    work.lowest_bound = lowest_bound;
    work.stale = false;
    work.gone = usage <= 0.0 || spent || constraint.slack;
}

impl Scratch {
    /// Writes down those users that are to be solved; gives what the others leave of a capacity.
    fn sift(&mut self, all: &[Seat], system: &System, capacity: f64) -> f64 {
        let end = self.used + all.len();
        if end > self.users.len() {
            self.users.resize(2 * end, User::default());
        }
        let users = &mut self.users[self.used..end];
        let threshold = system.threshold;
        let (mut remaining, mut count) = (capacity, 0);
        // Who is kept is as good as random: this loop has no branch for it.
        for &Seat { level, taken, weight, variable } in all {
            debug_assert_eq!(level.to_bits(), system.variables[variable as usize].level.to_bits());
            let kept = level < threshold;
            debug_assert!(!kept || system.variables[variable as usize].fixed, "what has a level was fixed");
            remaining -= if kept { taken } else { 0.0 };
            users[count] = User { weight, variable };
            count += usize::from(!kept);
        }
        self.used += count;
        remaining
    }
}

/// Takes from the heap all the constraints that leave exactly the least; what they leave is the answer.
fn pop_full(system: &mut System, heap: &mut BinaryHeap<Reverse<Key>>, full: &mut Vec<u32>) -> Option<f64> {
    full.clear();
    let mut least = None;
    while let Some(mut top) = heap.peek_mut() {
        let Key { share, constraint } = top.0;
        if least.is_some_and(|least| share > least) {
            break;
        }
        refresh(system, constraint);
        let state = &system.works[constraint as usize];
        if state.gone {
            PeekMut::pop(top);
            continue;
        }
        let present = state.remaining / state.usage;
        if present > share {
            top.0.share = present;
            continue;
        }
        if least.is_none_or(|least| present == least) {
            least = Some(present);
            full.push(constraint);
            PeekMut::pop(top);
        } else {
            // Rounding made its share shrink: it comes next.
            break;
        }
    }
    least
}

fn push(system: &System, heap: &mut BinaryHeap<Reverse<Key>>, constraint: u32) {
    let state = &system.works[constraint as usize];
    heap.push(Reverse(Key { share: state.remaining / state.usage, constraint }));
}

/// Computes the maximum of a fat pipe again, if variables of it were fixed since.
fn refresh(system: &mut System, index: u32) {
    if !system.works[index as usize].stale {
        return;
    }
    let constraint = &system.constraints[index as usize];
    let mut usage: f64 = 0.0;
    let mut element = constraint.active.head;
    while element != NONE {
        let variable = &system.variables[system.elements.variable(element) as usize];
        if !variable.fixed {
            usage = usage.max(system.elements.weight(element) / variable.penalty);
        }
        element = system.elements.next(element);
    }
    let work = &mut system.works[index as usize];
    work.stale = false;
    work.usage = usage;
    work.gone |= usage < system.precision || work.remaining < constraint.capacity * system.precision;
}

/// The lowest bound * penalty among the variables on full constraints that are not fixed; infinite if none is below the
/// least.
fn lowest_bound(system: &System, full: &[u32], users: &[User], least: f64) -> f64 {
    let mut lowest = f64::INFINITY;
    if full.iter().all(|&constraint| system.works[constraint as usize].lowest_bound >= least) {
        return lowest;
    }
    for &constraint in full {
        for user in system.works[constraint as usize].users_in(users) {
            let variable = &system.variables[user.variable as usize];
            if !variable.fixed {
                lowest = lowest.min(variable.bound * variable.penalty);
            }
        }
    }
    lowest
}

/// Those users of a constraint that are not fixed yet: as good as random, and found without branches.
fn find_unfixed(system: &System, constraint: u32, users: &[User], unfixed: &mut Vec<u32>) {
    let users = system.works[constraint as usize].users_in(users);
    unfixed.resize(users.len(), 0);
    let mut count = 0;
    for user in users {
        unfixed[count] = user.variable;
        count += usize::from(!system.variables[user.variable as usize].fixed);
    }
    unfixed.truncate(count);
}

/// Fixes the variables of a full constraint: those of the lowest bound, if it is below the share, else all.
/// Answers how many.
fn fix_users(system: &mut System, full: u32, least: f64, lowest: f64, unfixed: &[u32]) -> usize {
    let bounded = lowest < least;
    let mut count = 0;
    let mut someone_left = false;
    for &index in unfixed {
        let variable = &mut system.variables[index as usize];
        if bounded && (variable.bound * variable.penalty - lowest).abs() >= system.precision {
            someone_left = true;
            continue;
        }
        variable.fixed = true;
        count += 1;
        let (value, cause) = match bounded {
            true => (variable.bound, FixedBy::Bound),
            false => (least / variable.penalty, FixedBy::Constraint(ConstraintId(full))),
        };
        variable.fixed_by = cause;
        let level = if bounded { value * variable.penalty } else { least };
        variable.level = level;
        if variable.value != value {
            variable.value = value;
            system.changed.push(VariableId(index));
        }
        take(system, index, level, value);
    }
    // Rounding may leave a rest of usage without anyone to use it.
    system.works[full as usize].gone |= !someone_left;
    count
}

/// Takes what a variable just fixed uses off its constraints.
fn take(system: &mut System, index: u32, level: f64, value: f64) {
    let System { variables, elements, constraints, works, rosters, precision, .. } = system;
    let Variable { first, count, penalty, .. } = variables[index as usize];
    for &Element { weight, constraint: number, seat, .. } in elements.block(first, count) {
        let (constraint, work) = (&constraints[number as usize], &mut works[number as usize]);
        let taken = weight * value;
        if constraint.is_roster_true {
            let seat = &mut rosters[work.roster as usize][seat as usize];
            (seat.level, seat.taken) = (level, taken);
        }
        match constraint.sharing {
            Sharing::Shared => {
                work.remaining -= taken;
                work.usage -= weight / penalty;
                let dust = constraint.capacity * *precision;
                work.gone |= (work.usage < *precision) | (work.remaining < dust);
            }
            Sharing::FatPipe => work.stale = true,
        }
    }
}

/// A variable that no constraint limited gets its bound; one that no constraint could serve gets nothing.
fn settle_the_unfixed(system: &mut System, scratch: &Scratch) {
    for &index in &scratch.variables {
        let Variable { fixed, first, count, bound, penalty, .. } = system.variables[index as usize];
        if fixed {
            continue;
        }
        let mut constraints = (first..first + count).map(|element| system.elements.constraint(element));
        let served =
            count == 0 || constraints.any(|constraint| system.constraints[constraint as usize].slack);
        let variable = &mut system.variables[index as usize];
        let value = if served { bound } else { 0.0 };
        variable.fixed = true;
        variable.fixed_by = if served { FixedBy::Bound } else { FixedBy::Nothing };
        variable.level = if served { bound * penalty } else { f64::INFINITY };
        let level = variable.level;
        for &Element { weight, constraint: number, seat, .. } in system.elements.block(first, count) {
            if system.constraints[number as usize].is_roster_true {
                let roster = system.works[number as usize].roster;
                let seat = &mut system.rosters[roster as usize][seat as usize];
                (seat.level, seat.taken) = (level, weight * value);
            }
        }
        if variable.value != value {
            variable.value = value;
            system.changed.push(VariableId(index));
        }
    }
}
