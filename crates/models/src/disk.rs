//! Disks: reads and writes, whose progress is counted in whole bytes.
//!
//! A disk is three constraints: for reads, for writes, and for both together. At *every* stop of the clock,
//! whatever caused it, each running operation loses `rate * elapsed` rounded to the nearest integer, halves to
//! even; its end is computed afresh from what is left. So there are no dates to keep, only a list to walk.

use simurgh_platform::{DiskId, Platform};

use crate::maxmin::{ConstraintId, Method, Sharing, System, Use, VariableId};
use crate::work::{Direction, DiskAccess};

/// The disks that were used so far, and the operations under way.
#[derive(Debug)]
pub(crate) struct Disks {
    pub system: System,
    /// The first of the three constraints of each disk; made when first needed.
    slots: Vec<u32>,
    /// Which disk a constraint is of.
    owners: Vec<DiskId>,
    priorities: Vec<f64>,
    /// The operations under way, in the order in which they began.
    pub running: Vec<u32>,
    /// The last stop of the clock.
    pub last_stop: f64,
}

const NOT_YET: u32 = u32::MAX;

impl Disks {
    pub fn new(platform: &Platform, method: Method, precision: f64) -> Disks {
        Disks {
            system: System::new(method, precision),
            slots: vec![NOT_YET; platform.disk_count()],
            owners: Vec::new(),
            priorities: Vec::new(),
            running: Vec::new(),
            last_stop: 0.0,
        }
    }

    /// Which disk a constraint is of.
    pub fn owner(&self, constraint: ConstraintId) -> DiskId {
        self.owners[constraint.index()]
    }

    /// Whether a constraint is the one of reads and writes together.
    pub fn is_whole(&self, constraint: ConstraintId) -> bool {
        self.slots[self.owner(constraint).index()] == constraint.0
    }

    /// A variable for an operation of action `tag`.
    pub fn start(&mut self, platform: &Platform, what: &DiskAccess, tag: u32) -> VariableId {
        let both = self.slot(platform, what.disk);
        let own = match what.direction {
            Direction::Read => ConstraintId(both.0 + 1),
            Direction::Write => ConstraintId(both.0 + 2),
        };
        let uses = [Use { constraint: both, weight: 1.0 }, Use { constraint: own, weight: 1.0 }];
        let variable = self.system.add_variable(tag, 1.0 / what.priority, f64::INFINITY, &uses);
        if self.priorities.len() <= variable.index() {
            self.priorities.resize(variable.index() + 1, 1.0);
        }
        self.priorities[variable.index()] = what.priority;
        self.running.push(tag);
        variable
    }

    pub fn set_priority(&mut self, variable: VariableId, priority: f64, suspended: bool) {
        self.priorities[variable.index()] = priority;
        if !suspended {
            self.resume(variable);
        }
    }

    pub fn resume(&mut self, variable: VariableId) {
        self.system.set_penalty(variable, 1.0 / self.priorities[variable.index()]);
    }

    fn slot(&mut self, platform: &Platform, disk: DiskId) -> ConstraintId {
        let known = self.slots[disk.index()];
        if known != NOT_YET {
            return ConstraintId(known);
        }
        let facts = platform.disk(disk);
        let capacities = [facts.readwrite_bandwidth, facts.read_bandwidth, facts.write_bandwidth];
        let ids = capacities.map(|capacity| self.system.add_constraint(capacity, Sharing::Shared, None));
        self.owners.extend([disk; 3]);
        self.slots[disk.index()] = ids[0].0;
        ids[0]
    }
}
