//! Groups: residents of one clock that use one constraint, seated there as one.
//!
//! A route of a cluster or a torus has ten links and their acknowledgements, and what a full link fixes uses a few dozen others, again and
//! again the same. All that a solution asks of these users is what they take together, since their levels are one (`residents.rs`). So
//! they have one seat in the roster of each constraint (`rosters.rs`), whose part is the sum of theirs: a solution costs the constraints
//! that are full times those that their residents use, not all users times their routes.
//!
//! Whoever passes from one constraint to another leaves its groups for seats of its own, is fixed there, and enters those of its new
//! clock when that has fixed it some more times: some pass to and fro. Users of fat pipes, whose parts are no sum, and of one or two constraints, which would be alone in most groups, have seats of
//! their own.

use super::System;
use super::rosters::{EMPTY_SEAT, Seat};
use super::storage::{Element, NONE, Sharing, Variable, Work};

/// The variable of a seat of a group is its clock, and this.
pub(super) const GROUP: u32 = 1 << 31;
/// Routes of so many constraints are short.
const SHORT: u32 = if cfg!(test) { 1 } else { 2 };
/// Who was fixed so often by one constraint will stay there for a while: to enter groups and leave them costs as much as some solutions.
pub(super) const PATIENCE: u8 = if cfg!(test) { 0 } else { 2 };
/// A sum of which so little is left is mostly rounding,
const SMALL: f64 = 1e-3;
/// and one that changed so often is computed afresh.
const OFTEN: u32 = 1024;

/// Residents of one clock that use one constraint.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub constraint: u32,
    pub clock: u32,
    pub members: u32,
    /// Where it is among those of its clock.
    position: u32,
    /// Its seat, while the roster of the constraint is true.
    pub seat: u32,
    changes: u32,
    /// The sum of weight / penalty.
    pub part: f64,
    /// No bound * penalty is lower.
    pub reach: f64,
}

/// All the groups.
#[derive(Clone, Default, Debug)]
pub(super) struct Groups {
    all: Vec<Group>,
    free: Vec<u32>,
    by_clock: Vec<Vec<u32>>,
    /// By constraint: a clock, and its group there. Those of `known` are complete.
    places: Vec<(u32, u32)>,
    known: Option<u32>,
}

impl Groups {
    #[inline]
    pub fn at(&self, group: u32) -> &Group {
        &self.all[group as usize]
    }

    #[inline]
    pub fn at_mut(&mut self, group: u32) -> &mut Group {
        &mut self.all[group as usize]
    }

    /// The groups of a clock.
    #[inline]
    pub fn of(&self, clock: u32) -> &[u32] {
        self.by_clock.get(clock as usize).map_or(&[], Vec::as_slice)
    }

    /// The group of a clock on a constraint, which may be new and empty.
    fn find_or_add(&mut self, constraint: u32, clock: u32, works: &mut [Work]) -> u32 {
        if self.by_clock.len() <= clock as usize {
            self.by_clock.resize(clock as usize + 1, Vec::new());
        }
        if self.known != Some(clock) {
            for &group in &self.by_clock[clock as usize] {
                let place = self.all[group as usize].constraint as usize;
                self.places[place] = (clock, group);
            }
            self.known = Some(clock);
        }
        if self.places.len() <= constraint as usize {
            self.places.resize(constraint as usize + 1, (NONE, NONE));
        }
        let (known, group) = self.places[constraint as usize];
        if known == clock {
            return group;
        }
        let position = self.by_clock[clock as usize].len() as u32;
        let new = Group {
            constraint,
            clock,
            members: 0,
            position,
            seat: NONE,
            changes: 0,
            part: 0.0,
            reach: f64::INFINITY,
        };
        let group = match self.free.pop() {
            Some(group) => {
                self.all[group as usize] = new;
                group
            }
            None => {
                self.all.push(new);
                self.all.len() as u32 - 1
            }
        };
        works[constraint as usize].groups += 1;
        self.by_clock[clock as usize].push(group);
        self.places[constraint as usize] = (clock, group);
        group
    }

    fn remove(&mut self, group: u32, works: &mut [Work]) {
        let Group { constraint, clock, position, .. } = self.all[group as usize];
        works[constraint as usize].groups -= 1;
        let of_clock = &mut self.by_clock[clock as usize];
        of_clock.swap_remove(position as usize);
        if let Some(&moved) = of_clock.get(position as usize) {
            self.all[moved as usize].position = position;
        }
        if self.places[constraint as usize].1 == group {
            self.places[constraint as usize] = (NONE, NONE);
        }
        self.free.push(group);
    }
}

impl System {
    /// A resident that was just fixed by the constraint of its clock enters the groups of this, if it can be in some.
    pub(super) fn enter_groups(&mut self, index: u32) {
        let Variable { first, count, penalty, bound, home, .. } = self.variables[index as usize];
        let is_fat =
            |element: &Element| self.constraints[element.constraint as usize].sharing == Sharing::FatPipe;
        if count <= SHORT || self.elements.block(first, count).iter().any(is_fat) {
            return;
        }
        for place in first..first + count {
            let Element { constraint, weight, seat, .. } = *self.elements.at(place);
            let number = self.groups.find_or_add(constraint, home, &mut self.works);
            let group = self.groups.at_mut(number);
            group.members += 1;
            group.changes += 1;
            group.part += weight / penalty;
            group.reach = group.reach.min(bound * penalty);
            if self.constraints[constraint as usize].is_roster_true {
                let own = *self.rosters.at_mut(seat);
                debug_assert!(own.variable == index && own.element == place, "it is its seat");
                let Group { part, reach, .. } = *group;
                if group.members == 1 {
                    group.seat = seat;
                    *self.rosters.at_mut(seat) = seat_of_group(group, number, own.level, own.taken);
                } else {
                    let shared = self.rosters.at_mut(group.seat);
                    debug_assert_eq!(shared.level, own.level, "residents have one level");
                    (shared.part, shared.reach) = (part, reach);
                    shared.taken += own.taken;
                    self.vacate(constraint, seat);
                }
            }
            let element = self.elements.at_mut(place);
            (element.seat, element.group) = (NONE, number);
        }
    }

    /// Whoever is in groups has seats of its own from now on. Answers how many more seats are open.
    pub(super) fn leave_groups(&mut self, index: u32) -> usize {
        let Variable { first, count, penalty, bound, .. } = self.variables[index as usize];
        let mut opened = 0;
        // It is in groups everywhere, or nowhere.
        if count == 0 || self.elements.at(first).group == NONE {
            return 0;
        }
        for place in first..first + count {
            let Element { constraint, weight, group: number, .. } = *self.elements.at(place);
            self.elements.at_mut(place).group = NONE;
            let part = weight / penalty;
            let group = self.groups.at_mut(number);
            group.members -= 1;
            group.changes += 1;
            let before = group.part;
            group.part -= part;
            let (members, group_seat) = (group.members, group.seat);
            if members > 0 && (group.part < before * SMALL || group.changes > OFTEN) {
                self.sum_group_again(number);
            }
            if self.constraints[constraint as usize].is_roster_true {
                let sum = self.groups.at(number).part;
                let shared = self.rosters.at_mut(group_seat);
                let level = shared.level;
                let taken = if level == f64::INFINITY { 0.0 } else { part * level };
                shared.part = sum;
                shared.taken -= taken;
                let own = Seat {
                    level,
                    taken,
                    part,
                    reach: bound * penalty,
                    variable: index,
                    first,
                    count,
                    element: place,
                    ..EMPTY_SEAT
                };
                let seat = match members {
                    0 => group_seat,
                    _ => self.take_seat(constraint),
                };
                *self.rosters.at_mut(seat) = own;
                self.elements.at_mut(place).seat = seat;
                opened += usize::from(members > 0 && level == f64::INFINITY);
            }
            if members == 0 {
                self.groups.remove(number, &mut self.works);
            }
        }
        opened
    }

    /// Sums of what came and went are rounded.
    fn sum_group_again(&mut self, number: u32) {
        let constraint = self.groups.at(number).constraint;
        let users = self.elements.iter(&self.constraints[constraint as usize].active);
        let users = users.map(|place| self.elements.at(place)).filter(|element| element.group == number);
        let part = |element: &Element| element.weight / self.variables[element.variable as usize].penalty;
        let sum = users.map(part).sum();
        let group = self.groups.at_mut(number);
        (group.part, group.changes) = (sum, 0);
    }

    /// Gives seats of their own to those members of open groups on a constraint for whom this is wanted, by their number and their clock.
    /// Answers how many more seats are open.
    pub(super) fn dissolve(&mut self, constraint: u32, wanted: impl Fn(&System, u32, u32) -> bool) -> usize {
        let work = &self.works[constraint as usize];
        let mut seats = self.rosters.of(work).iter();
        if work.groups == 0 || !seats.any(|seat| seat.is_open() && seat.is_group()) {
            return 0;
        }
        let leaving: Vec<u32> = (self.open_members(constraint))
            .filter(|&(variable, group)| wanted(self, variable, self.groups.at(group).clock))
            .map(|(variable, _)| variable)
            .collect();
        leaving.into_iter().map(|variable| self.leave_groups(variable)).sum()
    }

    /// The members of open groups on a constraint, each with its group.
    fn open_members(&self, constraint: u32) -> impl Iterator<Item = (u32, u32)> + '_ {
        let users = self.elements.iter(&self.constraints[constraint as usize].active);
        let users = users.map(|place| self.elements.at(place));
        users.filter_map(|&Element { variable, group, .. }| {
            let is_open = group != NONE && self.rosters.at(self.groups.at(group).seat).is_open();
            is_open.then_some((variable, group))
        })
    }

    /// The lowest bound * penalty of the members of open groups on a constraint, and of each of these.
    pub(super) fn lowest_of_groups(&mut self, constraint: u32) -> f64 {
        let work = &self.works[constraint as usize];
        if work.groups == 0 {
            return f64::INFINITY;
        }
        let groups = self.rosters.of(work).iter().filter(|seat| seat.is_open() && seat.is_group());
        let groups: Vec<u32> = groups.map(|seat| seat.first).collect();
        if groups.is_empty() {
            return f64::INFINITY;
        }
        for &group in &groups {
            self.groups.at_mut(group).reach = f64::INFINITY;
        }
        let members: Vec<(u32, u32)> = self.open_members(constraint).collect();
        for (variable, group) in members {
            let Variable { bound, penalty, .. } = self.variables[variable as usize];
            let group = self.groups.at_mut(group);
            group.reach = group.reach.min(bound * penalty);
        }
        let mut lowest = f64::INFINITY;
        for group in groups {
            let Group { seat, reach, .. } = *self.groups.at(group);
            self.rosters.at_mut(seat).reach = reach;
            lowest = lowest.min(reach);
        }
        lowest
    }

    /// An empty seat on a constraint whose roster is true.
    pub(super) fn take_seat(&mut self, constraint: u32) -> u32 {
        let System { works, rosters, elements, groups, .. } = self;
        let work = &mut works[constraint as usize];
        if work.free_seat != NONE {
            let seat = work.free_seat;
            work.free_seat = rosters.at(seat).first;
            work.empty_seats -= 1;
            return seat;
        }
        if work.seats == work.room {
            rosters.grow(work);
            for (number, seat) in (work.roster..).zip(rosters.of(work)) {
                match seat.is_group() {
                    true => groups.at_mut(seat.first).seat = number,
                    false => elements.at_mut(seat.element).seat = number,
                }
            }
        }
        work.seats += 1;
        work.roster + work.seats - 1
    }

    /// A seat of a constraint is nobody's.
    pub(super) fn vacate(&mut self, constraint: u32, seat: u32) {
        let work = &mut self.works[constraint as usize];
        *self.rosters.at_mut(seat) = Seat { first: work.free_seat, ..EMPTY_SEAT };
        work.free_seat = seat;
        work.empty_seats += 1;
    }

    /// Whether there are groups among seats of a constraint, of clocks other than its own, and how many variables have these seats in all.
    pub(super) fn count_members(&self, constraint: u32, seats: &[u32]) -> (bool, usize) {
        let work = &self.works[constraint as usize];
        if work.groups == 0 {
            return (false, seats.len());
        }
        let (mut has_others, mut count) = (false, 0);
        for seat in seats.iter().map(|&seat| self.rosters.at(seat)) {
            if seat.is_group() {
                has_others |= seat.variable != GROUP | work.clock;
                count += self.groups.at(seat.first).members as usize;
            } else {
                count += 1;
            }
        }
        (has_others, count)
    }
}

/// The seat of a group at this level.
pub(super) fn seat_of_group(group: &Group, number: u32, level: f64, taken: f64) -> Seat {
    Seat {
        level,
        taken,
        part: group.part,
        reach: group.reach,
        variable: GROUP | group.clock,
        first: number,
        ..EMPTY_SEAT
    }
}
