//! Only what a change can touch: the constraints and variables reachable from the changed ones, above the level
//! of the change.
//!
//! The same algorithm as `obvious.rs`, seen as water that rises: all values grow together, as level / penalty,
//! until a constraint is full or a bound is reached. Seven departures:
//! - Whatever was fixed at a lower level than any change can have an effect at stays as it was. A variable that
//!   leaves frees nothing below its own level; a constraint that has more users, or another capacity, is full
//!   no sooner than if nobody else were fixed before.
//! - Above that level, only the part reachable from changed constraints, through active variables that were
//!   not kept, is solved.
//! - A constraint that cannot be full, even if each of its users reaches its bound, joins nobody, and is not
//!   looked at; a variable that has only such constraints gets its bound.
//! - A constraint that was far from full, and that nobody came to, joins nobody either (it is *quiet*): what it has left is kept up to
//!   date, and if it comes out nearly full, the solution goes on from there with it.
//! - Once all constraints that anybody uses were met, nobody looks for more.
//! - The constraint that is full next is found by its share (`by_share.rs`), which may be out of date: shares only grow while
//!   variables are fixed (up to rounding), so one is checked when it comes to the top.
//! - The maximum of a fat pipe is computed again only when it comes to the top.

use super::by_share::{ByShare, Top};
use super::few::{self, MANY, is_one_of_few};
use super::groups::{GROUP, PATIENCE, seat_of_group};
use super::rosters::Seat;
use super::storage::{Constraint, Element, FixedBy, NONE, Sharing, State, Variable, Work};
use super::taking::{take_all, take_at, take_each, take_groups};
use super::{ConstraintId, System, VariableId, pool};

/// What a solution works with, kept from one to the next so that nothing is allocated.
#[derive(Clone, Default, Debug)]
pub(super) struct Scratch {
    pub(super) mark: u32,
    /// The constraints touched before this solution.
    start: usize,
    /// Whether there may be quiet constraints, and those that may not be far from full any more.
    may_be_quiet: bool,
    pub(super) stirred: Vec<u32>,
    /// How many constraints of active users were met.
    met: u32,
    /// By variable, and by clock: the last solution whose visits were told of its constraints.
    reached: Vec<u32>,
    reached_clocks: Vec<u32>,
    /// How many seats of visited constraints are open.
    pub(super) open: usize,
    /// Of those users of a constraint that are to be solved: the constraint of the only other element, or [`NONE`]; where the
    /// elements begin.
    others: Vec<(u32, u32)>,
    shares: ByShare,
    full: Vec<u32>,
    /// The seats of a full constraint that are open; or the elements, where it has few users.
    pub(super) unfixed: Vec<u32>,
}

impl Scratch {
    /// Whether all constraints that anybody uses were met: then no user leads to another.
    #[inline]
    pub(super) fn has_met_all(&self, system: &System) -> bool {
        self.met == system.used
    }
}

/// Gives a value to every active variable that is reachable from a changed constraint.
pub(super) fn solve(system: &mut System) {
    let mut scratch = std::mem::take(&mut system.scratch);
    reach(system, &mut scratch);
    let mut shares = std::mem::take(&mut scratch.shares);
    shares.begin();
    // Once all are fixed, the constraints that are left have nobody to fix: they need not be taken out in order.
    while scratch.open > 0
        && let Some(least) = pop_full(system, &mut shares, &mut scratch.full)
    {
        let lowest = lowest_bound(system, &scratch.full, least);
        for position in 0..scratch.full.len() {
            let full = scratch.full[position];
            let count = match (lowest < least, is_one_of_few(system, full)) {
                (true, true) => few::fix_bounded(system, full, lowest, &mut scratch),
                (true, false) => fix_bounded(system, full, lowest, &mut scratch),
                (false, true) => few::fix_all(system, full, least, &mut scratch),
                (false, false) => fix_all(system, full, least, &mut scratch),
            };
            system.variables_solved += count as u64;
            if count >= pool::MANY && lowest >= least {
                system.pools.crowded = Some(full);
            }
        }
        for &constraint in &scratch.full {
            // Bounds may have left some variables for later.
            if !system.works[constraint as usize].gone {
                shares.push(share_of(system, constraint), constraint);
            }
        }
    }
    scratch.shares = shares;
    settle_the_unfixed(system, &mut scratch);
    give_rosters_back(system, &scratch);
    let stirred = std::mem::take(&mut scratch.stirred);
    system.scratch = scratch;
    visit_the_stirred(system, stirred);
}

/// What is left of a quiet constraint is at least this part of it.
const QUIET: f64 = 1e-3;

/// Whether a constraint was far from full when somebody last took of it or left it, and nobody came to it since.
#[inline]
fn is_quiet(constraint: &Constraint, work: &Work) -> bool {
    constraint.is_roster_true
        && constraint.sharing == Sharing::Shared
        && is_far_from_full(constraint, work)
        && work.lowest_capacity == f64::INFINITY
}

/// Whether enough is left of a constraint.
#[inline]
pub(super) fn is_far_from_full(constraint: &Constraint, work: &Work) -> bool {
    work.remaining >= constraint.capacity * QUIET
}

/// Quiet constraints that are not any more are to be solved, too, if that is no matter of rounding.
fn visit_the_stirred(system: &mut System, mut stirred: Vec<u32>) {
    for index in stirred.drain(..) {
        let constraint = &system.constraints[index as usize];
        let work = &mut system.works[index as usize];
        let taken = system.rosters.of(work).iter().map(|seat| seat.taken);
        work.remaining = taken.fold(constraint.capacity, |left, taken| left - taken);
        if !is_far_from_full(constraint, work) && !constraint.has_slack() {
            system.stirred.push(index);
        }
    }
    system.scratch.stirred = stirred;
}

/// Collects the reachable part, and computes what is left of its constraints and who wants it.
fn reach(system: &mut System, scratch: &mut Scratch) {
    scratch.mark = scratch.mark.wrapping_add(2).max(2);
    let mark = scratch.mark;
    scratch.may_be_quiet = system.is_plain();
    scratch.start = system.touched.len();
    scratch.met = 0;
    lower_threshold(system);
    for position in 0..system.dirty.len() {
        let index = system.dirty[position];
        let constraint = &mut system.constraints[index as usize];
        let is_quiet = scratch.may_be_quiet && is_quiet(constraint, &system.works[index as usize]);
        // Whom nobody uses any more needs no visit. Who watches is told of it by other means.
        match constraint.active.head == NONE || is_quiet {
            true => constraint.slack = constraint.has_slack(),
            false => scratch.met += u32::from(mark_constraint(system, index, mark)),
        }
    }
    if scratch.reached.len() < system.variables.len() {
        scratch.reached.resize(system.variables.len(), 0);
    }
    scratch.shares.clear();
    scratch.open = 0;
    let mut next = scratch.start;
    while next < system.touched.len() {
        let id = system.touched[next];
        next += 1;
        visit_constraint(system, id.0, scratch);
        if !system.works[id.index()].gone {
            scratch.shares.add(share_of(system, id.0), id.0);
        }
    }
}

/// Levels are compared with this relative margin: they carry rounding errors.
const MARGIN: f64 = 1e-6;

/// The level below which nothing changes: that at which the first constraint that has more users or another capacity would be full.
fn lower_threshold(system: &mut System) {
    for &index in &system.dirty {
        let constraint = &system.constraints[index as usize];
        let lowest_capacity = system.works[index as usize].lowest_capacity;
        if lowest_capacity == f64::INFINITY || stays_slack(constraint) {
            continue;
        }
        let full =
            full_from(system, (constraint, &system.works[index as usize]), lowest_capacity, system.threshold);
        system.threshold = system.threshold.min(full);
    }
    system.threshold *= 1.0 - MARGIN;
}

/// A level below which a constraint of this capacity is not full, if whoever is fixed below it stays where it was; or any that is not
/// below `enough`.
///
/// If all its users rose together, it would be full at some level. Whoever was fixed below that takes no more than it did: so the others
/// can rise to a higher level, and so on. Each of these levels is a lower bound; a few of them are close to the last.
fn full_from(system: &System, (constraint, work): (&Constraint, &Work), capacity: f64, enough: f64) -> f64 {
    let mut full = 0.0;
    for _ in 0..STEPS_TO_FULL {
        let (mut left, mut usage): (f64, f64) = (capacity, 0.0);
        // Who is at this level, but for rounding, may be fixed by this constraint.
        let kept_below = full * (1.0 - MARGIN);
        let is_written_down = constraint.is_roster_true && constraint.sharing == Sharing::Shared;
        let mut number = if is_written_down { NONE } else { constraint.active.head };
        if is_written_down {
            for seat in system.rosters.of(work) {
                let is_fixed = seat.level < kept_below;
                left -= if is_fixed { seat.taken } else { 0.0 };
                usage += if is_fixed { 0.0 } else { seat.part };
            }
        }
        while number != NONE {
            let &Element { weight, variable, next, .. } = system.elements.at(number);
            let Variable { penalty, home, level, .. } = system.variables[variable as usize];
            let level = if home == NONE { level } else { system.clocks.level(home) };
            let part = weight / penalty;
            let is_fixed = level < kept_below;
            match constraint.sharing {
                Sharing::Shared if is_fixed => left -= part * level,
                Sharing::Shared => usage += part,
                Sharing::FatPipe if is_fixed => {}
                Sharing::FatPipe => usage = usage.max(part),
            }
            number = next;
        }
        let before = std::mem::replace(&mut full, if usage > 0.0 { left / usage } else { f64::INFINITY });
        if full >= enough || full <= before * (1.0 + MARGIN) {
            return full.max(before);
        }
    }
    full
}

/// More would hardly be higher.
const STEPS_TO_FULL: usize = 6;

/// It could not be full at the last solution, and still cannot.
#[inline]
pub(super) fn stays_slack(constraint: &Constraint) -> bool {
    constraint.slack && constraint.has_slack()
}

/// A constraint is to be visited, unless it cannot be full. Answers whether that was not known.
fn mark_constraint(system: &mut System, index: u32, mark: u32) -> bool {
    let work = &mut system.works[index as usize];
    let is_new = work.mark != mark && !stays_slack(&system.constraints[index as usize]);
    if is_new {
        work.mark = mark;
        system.touched.push(ConstraintId(index));
    }
    is_new
}

/// Writes down the active users of a constraint one after the other, unless they are: so the next solution need not follow from one to
/// the next. Where they are few, that is for this solution only.
fn seat_users(system: &mut System, index: u32) {
    let System { constraints, works, rosters, elements, variables, clocks, groups, .. } = system;
    let (constraint, work) = (&mut constraints[index as usize], &mut works[index as usize]);
    if constraint.is_roster_true && !has_many_empty_seats(work) {
        return;
    }
    let is_kept = work.roster != NONE;
    let mut has_groups = false;
    rosters.make_room(work, FEW_SEATS);
    let mut number = constraint.active.head;
    while number != NONE {
        if work.seats == work.room {
            // Once more, with more room: it is kept from now on, if they are that many.
            rosters.make_room(work, 2 * work.room);
            number = constraint.active.head;
        }
        let element = elements.at_mut(number);
        if element.group != NONE {
            has_groups = true;
            number = element.next;
            let place = element.group;
            let group = groups.at_mut(place);
            // It has its seat among those written so far, unless this is its first member here.
            let is_seated = (work.roster..work.roster + work.seats).contains(&group.seat) && {
                let seat = rosters.at(group.seat);
                seat.is_group() && seat.first == place
            };
            if !is_seated {
                group.seat = work.roster + work.seats;
                let level = clocks.level(group.clock);
                *rosters.at_mut(group.seat) = seat_of_group(group, place, level, group.part * level);
                work.seats += 1;
            }
            continue;
        }
        element.seat = work.roster + work.seats;
        let Element { weight, variable: user, next, .. } = *element;
        let Variable { level, value, penalty, bound, first, count, home, .. } = variables[user as usize];
        let (level, value) = match home {
            NONE => (level, value),
            home => (clocks.level(home), clocks.level(home) / penalty),
        };
        let other = if count == 2 { 2 * first + 1 - number } else { NONE };
        *rosters.at_mut(work.roster + work.seats) = Seat {
            level,
            taken: weight * value,
            part: weight / penalty,
            reach: bound * penalty,
            variable: user,
            first,
            count,
            element: number,
            other,
            other_constraint: if count == 2 { elements.constraint(other) } else { NONE },
            is_resident: home != NONE && home == work.clock,
            fixes: 0,
        };
        work.seats += 1;
        number = next;
    }
    constraint.is_roster_true = is_kept || has_groups || work.seats as usize >= MANY;
}

/// Room for so many is made at first.
const FEW_SEATS: u32 = 16;

fn has_many_empty_seats(work: &Work) -> bool {
    4 * work.empty_seats > work.seats
}

/// Rosters of few users are used again by others.
fn give_rosters_back(system: &mut System, scratch: &Scratch) {
    for id in &system.touched[scratch.start..] {
        if !system.constraints[id.index()].is_roster_true {
            system.rosters.give_back(&mut system.works[id.index()]);
        }
    }
}

/// Takes off what the kept variables have; opens the seats of the others, and marks the constraints that they use.
fn visit_constraint(system: &mut System, index: u32, scratch: &mut Scratch) {
    if is_one_of_few(system, index) && few::visit(system, index, scratch) {
        return;
    }
    seat_users(system, index);
    let all_are_met = scratch.has_met_all(system);
    let System { constraints, works, rosters, threshold, precision, .. } = &mut *system;
    let (constraint, work) = (&mut constraints[index as usize], &mut works[index as usize]);
    let seats = rosters.of_mut(work);
    let Constraint { capacity, sharing, .. } = *constraint;
    let Tally { mut remaining, mut usage, most, lowest_bound, open: count } = match all_are_met {
        true => tally(seats, capacity, *threshold, |_, _| {}),
        false => {
            if scratch.others.len() < seats.len() {
                scratch.others.resize(2 * seats.len(), (0, 0));
            }
            let others = &mut scratch.others[..seats.len()];
            tally(seats, capacity, *threshold, |place, seat| {
                others[place] = (seat.other_constraint, seat.variable)
            })
        }
    };
    if sharing == Sharing::FatPipe {
        (remaining, usage) = (capacity, most);
    }
    scratch.open += count;
    let spent = remaining != capacity && remaining < capacity * *precision;
    constraint.slack = constraint.has_slack();
    work.remaining = remaining;
    work.usage = usage;
    work.lowest_bound = lowest_bound;
    work.dust = capacity * *precision;
    work.stale = false;
    work.gone = usage <= 0.0 || spent || constraint.slack;
    if all_are_met {
        return;
    }
    let System { constraints, works, variables, elements, touched, groups, .. } = system;
    let Scratch { others, mark, met, may_be_quiet, reached, reached_clocks, .. } = scratch;
    let mut meeting = Meeting { constraints, works, touched, met, mark: *mark, may_be_quiet: *may_be_quiet };
    for &(other, variable) in &others[..count] {
        if other != NONE {
            meeting.meet(other);
        } else if variable & GROUP != 0 {
            let clock = variable & !GROUP;
            if reached_clocks.len() <= clock as usize {
                reached_clocks.resize(clock as usize + 1, 0);
            }
            if std::mem::replace(&mut reached_clocks[clock as usize], *mark) != *mark {
                groups.of(clock).iter().for_each(|&group| meeting.meet(groups.at(group).constraint));
            }
        } else if std::mem::replace(&mut reached[variable as usize], *mark) != *mark {
            let Variable { first, count, .. } = variables[variable as usize];
            elements.block(first, count).iter().for_each(|element| meeting.meet(element.constraint));
        }
    }
}

/// What the users of a constraint leave of it.
struct Tally {
    remaining: f64,
    /// The sum of the parts of those to be solved, and the most.
    usage: f64,
    most: f64,
    lowest_bound: f64,
    /// How many are to be solved.
    open: usize,
}

/// Takes off what the kept users of a constraint have, and opens the seats of the others; each is told with how many of these came before it.
#[inline(always)]
fn tally(seats: &mut [Seat], capacity: f64, threshold: f64, mut tell: impl FnMut(usize, &Seat)) -> Tally {
    let mut tally =
        Tally { remaining: capacity, usage: 0.0, most: 0.0, lowest_bound: f64::INFINITY, open: 0 };
    // Who is kept is as good as random: this loop has no branch for it.
    for seat in seats {
        let kept = seat.level < threshold;
        tally.remaining -= if kept { seat.taken } else { 0.0 };
        let part = if kept { 0.0 } else { seat.part };
        tally.usage += part;
        tally.most = if part > tally.most { part } else { tally.most };
        let reach = if kept { f64::INFINITY } else { seat.reach };
        tally.lowest_bound = if reach < tally.lowest_bound { reach } else { tally.lowest_bound };
        seat.level = if kept { seat.level } else { f64::INFINITY };
        tell(tally.open, seat);
        tally.open += usize::from(!kept);
    }
    tally
}

/// All constraints of a user that is to be solved are met, by the first of them that is visited.
#[inline(always)]
pub(super) fn join_all(system: &mut System, variable: u32, scratch: &mut Scratch) {
    if std::mem::replace(&mut scratch.reached[variable as usize], scratch.mark) != scratch.mark {
        let System { constraints, works, variables, elements, touched, .. } = system;
        let Scratch { mark, met, may_be_quiet, .. } = scratch;
        let Variable { first, count, .. } = variables[variable as usize];
        let mut meeting =
            Meeting { constraints, works, touched, met, mark: *mark, may_be_quiet: *may_be_quiet };
        elements.block(first, count).iter().for_each(|element| meeting.meet(element.constraint));
    }
}

/// What is changed where constraints are met.
struct Meeting<'a> {
    constraints: &'a [Constraint],
    works: &'a mut [Work],
    touched: &'a mut Vec<ConstraintId>,
    met: &'a mut u32,
    mark: u32,
    may_be_quiet: bool,
}

impl Meeting<'_> {
    /// A constraint is met by a user that is to be solved: it is to be visited, unless it is quiet or cannot be full.
    #[inline(always)]
    fn meet(&mut self, index: u32) {
        // Mostly it is known already that it is to be visited, or passed over.
        if self.works[index as usize].mark | 1 != self.mark | 1 {
            self.meet_first(index);
        }
    }

    fn meet_first(&mut self, index: u32) {
        let (constraint, work) = (&self.constraints[index as usize], &mut self.works[index as usize]);
        let is_passed_over = (self.may_be_quiet && is_quiet(constraint, work)) || stays_slack(constraint);
        work.mark = self.mark | u32::from(is_passed_over);
        *self.met += 1;
        if !is_passed_over {
            self.touched.push(ConstraintId(index));
        }
    }
}

/// Takes out all the constraints that leave exactly the least; what they leave is the answer.
fn pop_full(system: &mut System, shares: &mut ByShare, full: &mut Vec<u32>) -> Option<f64> {
    full.clear();
    let mut least = None;
    shares.look(|share, constraint| {
        if least.is_some_and(|least| share > least) {
            return Top::Enough;
        }
        refresh(system, constraint);
        let state = &system.works[constraint as usize];
        if state.gone {
            return Top::Out;
        }
        let present = state.remaining / state.usage;
        if present > share {
            return Top::Later(present);
        }
        if least.is_some_and(|least| present != least) {
            // Rounding made its share shrink: it comes next.
            return Top::Enough;
        }
        least = Some(present);
        full.push(constraint);
        Top::Out
    });
    least
}

/// What a constraint leaves for a penalty of 1.
fn share_of(system: &System, constraint: u32) -> f64 {
    let state = &system.works[constraint as usize];
    state.remaining / state.usage
}

/// Computes the maximum of a fat pipe again, if variables of it were fixed since.
fn refresh(system: &mut System, index: u32) {
    let work = &mut system.works[index as usize];
    if !work.stale {
        return;
    }
    let usage = if work.roster == NONE {
        few::extremes(system, index).0
    } else {
        let open = system.rosters.of(work).iter().filter(|seat| seat.is_open());
        open.map(|seat| seat.part).fold(0.0, f64::max)
    };
    let work = &mut system.works[index as usize];
    let capacity = system.constraints[index as usize].capacity;
    work.stale = false;
    work.usage = usage;
    work.gone |= usage < system.precision || work.remaining < capacity * system.precision;
}

/// The lowest bound * penalty among the variables on full constraints that are not fixed; infinite if none is below the
/// least.
fn lowest_bound(system: &mut System, full: &[u32], least: f64) -> f64 {
    let mut works = full.iter().map(|&constraint| &system.works[constraint as usize]);
    if works.all(|work| work.lowest_bound >= least) {
        return f64::INFINITY;
    }
    let lowest = full.iter().map(|&constraint| {
        if is_one_of_few(system, constraint) {
            return few::extremes(system, constraint).1;
        }
        let of_groups = system.lowest_of_groups(constraint);
        let seats = system.rosters.of(&system.works[constraint as usize]);
        let open = seats.iter().filter(|seat| seat.is_open());
        open.map(|seat| seat.reach).fold(of_groups, f64::min)
    });
    lowest.fold(f64::INFINITY, f64::min)
}

/// The seats of a constraint that are open, by their number among all: as good as random, and found without branches.
fn find_unfixed(system: &System, constraint: u32, unfixed: &mut Vec<u32>) {
    let work = &system.works[constraint as usize];
    let seats = system.rosters.of(work);
    unfixed.resize(seats.len(), 0);
    let mut count = 0;
    for (number, seat) in (work.roster..).zip(seats) {
        unfixed[count] = number;
        count += usize::from(seat.is_open());
    }
    unfixed.truncate(count);
}

/// Fixes the variables of a full constraint at its level. Answers how many.
fn fix_all(system: &mut System, full: u32, level: f64, scratch: &mut Scratch) -> usize {
    let mut unfixed = std::mem::take(&mut scratch.unfixed);
    find_unfixed(system, full, &mut unfixed);
    let (has_others, count) = system.count_members(full, &unfixed);
    let clock = system.clock_for(full, count, level);
    if has_others || (clock.is_none() && system.works[full as usize].groups > 0) {
        // They come here from other clocks, or have none any more.
        let opened = system.dissolve(full, |_, _, home| Some(home) != clock);
        scratch.open += opened;
        find_unfixed(system, full, &mut unfixed);
    }
    scratch.open -= unfixed.len();
    // Those whose only other constraint is all that changes come first.
    unfixed.retain(|&number| {
        let seat = system.rosters.at_mut(number);
        (seat.level, seat.taken) = (level, seat.part * level);
        let Seat { other, is_resident, .. } = *seat;
        let is_simple = is_resident && other != NONE && clock.is_some();
        if is_simple {
            take_at(system, other, level, scratch);
        }
        !is_simple
    });
    // Groups before those that enter them, who have their seats until then.
    if let Some(clock) = clock
        && system.works[full as usize].groups > 0
    {
        take_groups(system, clock, full, level, scratch);
    }
    for &number in &unfixed {
        fix_at(system, (full, number), level, clock, scratch);
    }
    scratch.unfixed = unfixed;
    let work = &mut system.works[full as usize];
    (work.remaining, work.gone) = (0.0, true);
    count
}

/// Fixes the variable of this seat of a full constraint at its level, where more than that changes.
#[inline]
fn fix_at(
    system: &mut System,
    (full, number): (u32, u32),
    level: f64,
    clock: Option<u32>,
    scratch: &mut Scratch,
) {
    let seat = system.rosters.at_mut(number);
    let Seat { variable, first, count, is_resident, fixes, .. } = *seat;
    if seat.is_group() {
        // It is the only one left, and was fixed as a whole.
        return;
    }
    seat.is_resident = clock.is_some();
    let is_settled = is_resident && fixes == PATIENCE;
    seat.fixes = if is_resident { fixes.saturating_add(1) } else { 0 };
    if clock.is_none() {
        let value = level / system.variables[variable as usize].penalty;
        fix(system, variable, level, value, FixedBy::Constraint(ConstraintId(full)));
    }
    take_each(system, (first, count), full, level, scratch);
    match clock {
        Some(clock) if !is_resident => system.join(variable, clock),
        Some(_) if is_settled => system.enter_groups(variable),
        _ => {}
    }
}

/// Fixes the variables of a full constraint whose bound is the lowest. Answers how many.
fn fix_bounded(system: &mut System, full: u32, lowest: f64, scratch: &mut Scratch) -> usize {
    let precision = system.precision;
    scratch.open += system.dissolve(full, |system, index, _| {
        let Variable { bound, penalty, .. } = system.variables[index as usize];
        (bound * penalty - lowest).abs() < precision
    });
    let mut unfixed = std::mem::take(&mut scratch.unfixed);
    find_unfixed(system, full, &mut unfixed);
    let mut fixed = 0;
    for &number in &unfixed {
        let Seat { reach, variable, first, count, .. } = *system.rosters.at(number);
        if variable & GROUP == 0 && (reach - lowest).abs() < system.precision {
            let Variable { bound: value, penalty, .. } = system.variables[variable as usize];
            let level = value * penalty;
            fix(system, variable, level, value, FixedBy::Bound);
            take_all(system, (first, count), NONE, level, scratch);
            fixed += 1;
        }
    }
    system.works[full as usize].gone |= fixed == unfixed.len();
    scratch.unfixed = unfixed;
    fixed
}

/// Gives a variable a value of its own.
#[inline]
pub(super) fn fix(system: &mut System, index: u32, level: f64, value: f64, cause: FixedBy) {
    let was_resident = system.leave(index);
    let variable = &mut system.variables[index as usize];
    (variable.level, variable.fixed_by) = (level, cause);
    let before = std::mem::replace(&mut variable.value, value);
    if was_resident {
        system.pools.moved.push(VariableId(index));
    } else if before != value {
        system.changed.push(VariableId(index));
    }
}

/// Whoever was to be solved and is not fixed: those on visited constraints, and those that have no such constraint.
fn settle_the_unfixed(system: &mut System, scratch: &mut Scratch) {
    for position in 0..system.unsettled.len() {
        let index = system.unsettled[position];
        let variable = &system.variables[index as usize];
        if variable.state == State::Active && variable.home == NONE && variable.level == f64::INFINITY {
            settle_unfixed(system, index, scratch);
        }
    }
    if scratch.open == 0 {
        return;
    }
    for position in scratch.start..system.touched.len() {
        let constraint = system.touched[position].0;
        if is_one_of_few(system, constraint) {
            few::find_open(system, constraint, &mut scratch.unfixed);
            for position in 0..scratch.unfixed.len() {
                settle_unfixed(system, system.elements.variable(scratch.unfixed[position]), scratch);
            }
            continue;
        }
        scratch.open += system.dissolve(constraint, |_, _, _| true);
        find_unfixed(system, constraint, &mut scratch.unfixed);
        for position in 0..scratch.unfixed.len() {
            let Seat { variable, .. } = *system.rosters.at_mut(scratch.unfixed[position]);
            settle_unfixed(system, variable, scratch);
        }
    }
}

/// Above all levels, but not that of those who get nothing.
pub(super) const HIGH: f64 = 1e300;

/// A variable that no constraint limited gets its bound; one that no constraint could serve gets nothing.
fn settle_unfixed(system: &mut System, index: u32, scratch: &mut Scratch) {
    let Variable { first, count, bound, penalty, .. } = system.variables[index as usize];
    let limits =
        |number: usize| system.works[number].mark == scratch.mark && !system.constraints[number].slack;
    let mut uses = system.elements.block(first, count).iter();
    let served = count == 0 || uses.any(|element| !limits(element.constraint as usize));
    let (value, level, cause) = match served {
        // One without a bound, on what is far from full, will fill that: no seat stays open.
        true => (bound, (bound * penalty).min(HIGH), FixedBy::Bound),
        false => (0.0, f64::MAX, FixedBy::Nothing),
    };
    fix(system, index, level, value, cause);
    take_all(system, (first, count), NONE, level, scratch);
    system.variables_solved += 1;
}
