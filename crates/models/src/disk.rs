//! Disks: reads and writes, which are fluids.
//!
//! A disk has three capacities: for reads, for writes, and for both together. All reads of a disk get one level, and so do all
//! writes; an operation gets its level times its priority. So a solution is two numbers (`levels`), whatever the number of
//! operations, and their ends are dated in virtual time: an operation that comes or goes touches the first end of either direction.
//!
//! The reference takes whole bytes off each operation at every stop of its clock. Whoever wants its very digits
//! ([`Config::whole_bytes`](crate::Config)) has every operation visited at every stop, and dated again.

use simurgh_platform::{DiskId, Platform};

use crate::actions::{Action, Actions};
use crate::heap::EventHeap;
use crate::virtual_time::{Newcomer, VirtualTime};
use crate::work::{Direction, DiskAccess};

/// The disks that were used so far, and the operations under way.
#[derive(Debug)]
pub(crate) struct Disks {
    /// Where each disk is in `disks`; put there when first needed.
    slots: Vec<u32>,
    disks: Vec<Disk>,
    /// The ends of operations. The clocks of a disk are two neighbours: reads, then writes.
    pub ends: VirtualTime,
    /// The part of a capacity that counts as nothing.
    precision: f64,
    /// Disks to be solved again, each once; then those that the last solution looked at.
    dirty: Vec<u32>,
    solved: Vec<u32>,
    solves: u64,
    levels_solved: u64,
    /// How many operations are under way.
    running: u32,
    /// The last stop of the clock since there are any, where whole bytes are taken off at each.
    last_stop: Option<f64>,
}

#[derive(Clone, Debug)]
struct Disk {
    id: DiskId,
    /// For both, for reads, for writes.
    capacities: [f64; 3],
    /// Reads, then writes.
    sides: [Side; 2],
    dirty: bool,
}

/// Those that go in one direction.
#[derive(Clone, Default, Debug)]
struct Side {
    /// The sum of their priorities, and how many left since it was computed afresh.
    priorities: f64,
    left: usize,
    level: f64,
    limit: Limit,
}

/// Which capacity limits a direction.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
enum Limit {
    #[default]
    Both,
    Own,
}

const NOT_YET: u32 = u32::MAX;
/// So many more may leave than there are before sums are computed afresh.
const FEW: usize = 64;

impl Disks {
    pub fn new(platform: &Platform, precision: f64, whole_bytes: bool) -> Disks {
        Disks {
            slots: vec![NOT_YET; platform.disk_count()],
            disks: Vec::new(),
            ends: VirtualTime::default(),
            precision,
            dirty: Vec::new(),
            solved: Vec::new(),
            solves: 0,
            levels_solved: 0,
            running: 0,
            last_stop: whole_bytes.then_some(0.0),
        }
    }

    /// The clock on which an operation will be dated.
    pub fn clock(&mut self, platform: &Platform, what: &DiskAccess) -> u32 {
        let slot = self.slot(platform, what.disk);
        2 * slot + u32::from(what.direction == Direction::Write)
    }

    /// An operation takes part from now on; its weight is its priority.
    pub fn join(&mut self, clock: u32, operation: Newcomer, now: f64) {
        if self.running == 0 && self.last_stop.is_some() {
            self.last_stop = Some(now);
        }
        self.running += 1;
        self.side_mut(clock).priorities += operation.weight;
        self.ends.insert(clock, operation, now);
    }

    /// An operation takes part no longer; answers the bytes that are left.
    pub fn leave(&mut self, clock: u32, action: u32, actions: &Actions, now: f64) -> f64 {
        let priority = actions.at(action).factor;
        let left = self.ends.remove(action, now);
        self.running -= 1;
        let count = self.ends.count(clock);
        let side = self.side_mut(clock);
        let before = side.priorities;
        side.priorities -= priority;
        side.left += 1;
        // What was rounded when the others came and went must not become all that is left.
        if side.priorities < before * 1e-3 || side.left > count + FEW {
            let priorities = self.ends.things(clock).map(|action| actions.at(action).factor).sum();
            let side = self.side_mut(clock);
            (side.priorities, side.left) = (priorities, 0);
        }
        left
    }

    /// Whether there is anything to solve.
    #[inline]
    pub fn is_changed(&self) -> bool {
        !self.dirty.is_empty()
    }

    /// Computes the levels again where somebody came or went, and the dates of the first ends.
    pub fn solve(&mut self, now: f64, dates: &mut EventHeap) {
        dates.begin_together();
        std::mem::swap(&mut self.dirty, &mut self.solved);
        self.dirty.clear();
        self.solves += 1;
        for &slot in &self.solved {
            let disk = &mut self.disks[slot as usize];
            disk.dirty = false;
            let priorities = disk.sides.each_ref().map(|side| side.priorities);
            let solution = levels(disk.capacities, priorities, self.precision);
            for (number, (level, limit)) in (0..).zip(solution) {
                let side = &mut disk.sides[number as usize];
                (side.level, side.limit) = (level, limit);
                self.ends.set_level(2 * slot + number, level, now);
                self.ends.date_first(2 * slot + number, dates);
                self.levels_solved += 1;
            }
        }
    }

    /// Whether operations are under way that lose whole bytes at each stop of the clock, even if none ends.
    #[inline]
    pub fn counts_stops(&self) -> bool {
        self.running > 0 && self.last_stop.is_some()
    }

    /// Where whole bytes are counted: takes off each operation what it did since the last stop, rounded, halves to even.
    pub fn take_whole_bytes(&mut self, actions: &mut Actions, now: f64, dates: &mut EventHeap) {
        let Some(last_stop) = self.last_stop.replace(now) else { return };
        dates.begin_together();
        for clock in 0..2 * self.disks.len() as u32 {
            let level = self.level(clock);
            let running: Vec<u32> = self.ends.things(clock).collect();
            for &index in &running {
                let action = actions.at_mut(index);
                action.remaining -= (level * action.factor * (now - last_stop)).round_ties_even();
                let &mut Action { order, remaining: work, factor: weight, .. } = action;
                self.ends.remove(index, now);
                self.ends.insert(clock, Newcomer { thing: index, order, work, weight }, now);
            }
            self.ends.date_first(clock, dates);
        }
    }

    /// The clocks whose level the last solution computed.
    pub fn solved_clocks(&self) -> impl Iterator<Item = u32> + '_ {
        self.solved.iter().flat_map(|&slot| [2 * slot, 2 * slot + 1])
    }

    /// The disks that the last solution looked at, with their load and their capacity.
    pub fn solved_loads(&self) -> Vec<(DiskId, f64, f64)> {
        let load = |disk: &Disk| disk.sides.iter().map(|side| side.level * side.priorities).sum();
        let disks = self.solved.iter().map(|&slot| &self.disks[slot as usize]);
        disks.map(|disk| (disk.id, load(disk), disk.capacities[0])).collect()
    }

    /// What a priority of 1 gets on a clock.
    pub fn level(&self, clock: u32) -> f64 {
        self.disks[clock as usize / 2].sides[clock as usize % 2].level
    }

    /// Which disk a clock is of.
    pub fn owner(&self, clock: u32) -> DiskId {
        self.disks[clock as usize / 2].id
    }

    /// The actions that share what limits those of a clock, in no order, these themselves among them.
    pub fn sharers(&self, clock: u32) -> Vec<u32> {
        let mut all: Vec<u32> = self.ends.things(clock).collect();
        if self.disks[clock as usize / 2].sides[clock as usize % 2].limit == Limit::Both {
            all.extend(self.ends.things(clock ^ 1));
        }
        all
    }

    /// How many solutions were computed, and how many levels in those.
    pub fn counts(&self) -> (u64, u64) {
        (self.solves, self.levels_solved)
    }

    /// Those of a clock, of whom somebody comes or goes.
    fn side_mut(&mut self, clock: u32) -> &mut Side {
        let disk = &mut self.disks[clock as usize / 2];
        if !std::mem::replace(&mut disk.dirty, true) {
            self.dirty.push(clock / 2);
        }
        &mut disk.sides[clock as usize % 2]
    }

    fn slot(&mut self, platform: &Platform, disk: DiskId) -> u32 {
        let known = self.slots[disk.index()];
        if known != NOT_YET {
            return known;
        }
        let facts = platform.disk(disk);
        let capacities = [facts.readwrite_bandwidth, facts.read_bandwidth, facts.write_bandwidth];
        let slot = self.disks.len() as u32;
        self.disks.push(Disk { id: disk, capacities, sides: Default::default(), dirty: false });
        let clocks = [self.ends.add_clock(), self.ends.add_clock()];
        debug_assert_eq!(clocks, [2 * slot, 2 * slot + 1], "the clocks of a disk are neighbours");
        self.slots[disk.index()] = slot;
        slot
    }
}

/// What a priority of 1 gets, of reads and of writes, where these are the sums of their priorities; and what limits it. That is
/// max-min fairness for three capacities and two directions, with the tolerance of `maxmin`.
fn levels(capacities: [f64; 3], priorities: [f64; 2], precision: f64) -> [(f64, Limit); 2] {
    let [both, read, write] = capacities;
    let all = priorities[0] + priorities[1];
    if all <= 0.0 {
        return [(0.0, Limit::Both); 2];
    }
    // Nobody is never the first.
    let own = |capacity: f64, priorities: f64| {
        if priorities > 0.0 { capacity / priorities } else { f64::INFINITY }
    };
    let owns = [own(read, priorities[0]), own(write, priorities[1])];
    let together = both / all;
    let first = usize::from(owns[1] < owns[0]);
    if together <= owns[first] {
        return [(together, Limit::Both); 2];
    }
    let mut solution = [(owns[first], Limit::Own); 2];
    let second = 1 - first;
    if priorities[second] > 0.0 {
        let remaining = both - owns[first] * priorities[first];
        let is_spent = remaining < both * precision || priorities[second] < precision;
        let share = remaining / priorities[second];
        solution[second] = match !is_spent && share <= owns[second] {
            true => (share, Limit::Both),
            false => (owns[second], Limit::Own),
        };
    }
    solution
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::config::Solver;
    use crate::maxmin::{Method, Sharing, System, Use};

    /// The same by the obvious solver: three constraints, a variable for each operation.
    fn obvious(capacities: [f64; 3], operations: &[(usize, f64)]) -> [Option<f64>; 2] {
        let mut system = System::new(Method::MaxMin(Solver::Obvious), 1e-5);
        let constraints = capacities.map(|capacity| system.add_constraint(capacity, Sharing::Shared, None));
        let mut found = [None; 2];
        let mut variables = Vec::new();
        for &(side, priority) in operations {
            let uses =
                [constraints[0], constraints[1 + side]].map(|constraint| Use { constraint, weight: 1.0 });
            variables.push((side, priority, system.add_variable(0, 1.0 / priority, f64::INFINITY, &uses)));
        }
        system.solve();
        for (side, priority, variable) in variables {
            found[side] = Some(system.value(variable) / priority);
        }
        found
    }

    proptest! {
        #[test]
        fn levels_are_those_of_the_obvious_solver(
            capacities in [1..1000u32, 1..1000, 1..1000],
            operations in prop::collection::vec((0..2usize, 1..9u32), 1..20),
        ) {
            let capacities = capacities.map(|capacity| f64::from(capacity) * 1e5);
            let operations: Vec<_> =
                operations.into_iter().map(|(side, priority)| (side, f64::from(priority) / 2.0)).collect();
            let sum = |wanted| {
                operations.iter().filter(|&&(side, _)| side == wanted).map(|&(_, priority)| priority).sum()
            };
            let found = levels(capacities, [sum(0), sum(1)], 1e-5).map(|(level, _)| level);
            for (level, wanted) in found.into_iter().zip(obvious(capacities, &operations)) {
                if let Some(wanted) = wanted {
                    prop_assert!((level - wanted).abs() <= 1e-9 * wanted, "{level} {wanted}");
                }
            }
        }
    }
}
