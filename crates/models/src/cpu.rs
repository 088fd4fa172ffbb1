//! Processors: cores, power states, priorities, bounds and threads.
//!
//! A host is a constraint of cores × speed × scale. An execution weighs 1 on it, with a penalty of
//! 1 / priority, and is bounded by one core, so priorities count only where the capacity or the bounds bind.
//! One of k threads has a penalty of 1 / k, is bounded by k cores, and does k times the work; it has neither
//! a priority nor a bound of its own.

use simurgh_platform::{HostId, Platform};

use crate::maxmin::{ConstraintId, Method, Sharing, System, Use, VariableId};
use crate::virtual_time::VirtualTime;
use crate::work::Execution;

/// The processors of the hosts that were used or changed so far.
#[derive(Debug)]
pub(crate) struct Cpu {
    pub system: System,
    /// The ends of members of pools.
    pub ends: VirtualTime,
    /// Where each host is in `hosts`; made when first needed.
    slots: Vec<u32>,
    pub hosts: Vec<HostState>,
    /// By variable.
    executions: Vec<ExecutionState>,
    users: Vec<VariableId>,
}

/// What can change about a host. Its constraint has the same number.
#[derive(Clone, Debug)]
pub(crate) struct HostState {
    pub id: HostId,
    pub cores: f64,
    /// Of one core, in the present power state.
    pub peak: f64,
    /// Set by a profile.
    pub scale: f64,
    pub pstate: usize,
    pub on: bool,
}

impl HostState {
    /// Flop/s of one core now.
    pub fn speed(&self) -> f64 {
        self.peak * self.scale
    }
}

#[derive(Copy, Clone, Default, Debug)]
struct ExecutionState {
    threads: f64,
    priority: f64,
    user_bound: f64,
    host: u32,
}

impl ExecutionState {
    /// Sets what is given of the priority and the bound, which those of several threads ignore.
    fn prefer(&mut self, priority: Option<f64>, bound: Option<Option<f64>>) {
        if self.threads > 1.0 {
            return;
        }
        self.priority = priority.unwrap_or(self.priority);
        self.user_bound = bound.map_or(self.user_bound, |bound| bound.unwrap_or(f64::INFINITY));
    }
}

const NOT_YET: u32 = u32::MAX;

impl Cpu {
    pub fn new(platform: &Platform, method: Method, precision: f64) -> Cpu {
        Cpu {
            system: System::new(method, precision),
            ends: VirtualTime::default(),
            slots: vec![NOT_YET; platform.host_count()],
            hosts: Vec::new(),
            executions: Vec::new(),
            users: Vec::new(),
        }
    }

    /// The state of a host, if it was ever used or changed.
    pub fn state(&self, host: HostId) -> Option<&HostState> {
        self.hosts.get(self.slots[host.index()] as usize)
    }

    /// The constraint of a host, if it was ever used or changed.
    pub fn constraint(&self, host: HostId) -> Option<ConstraintId> {
        let slot = self.slots[host.index()];
        (slot != NOT_YET).then_some(ConstraintId(slot))
    }

    /// The number of a host here.
    pub fn slot(&mut self, platform: &Platform, host: HostId) -> usize {
        let known = self.slots[host.index()];
        if known != NOT_YET {
            return known as usize;
        }
        let slot = self.hosts.len();
        self.slots[host.index()] = slot as u32;
        let facts = platform.host(host);
        let state = HostState {
            id: host,
            cores: f64::from(facts.cores),
            peak: facts.speeds[facts.pstate],
            scale: 1.0,
            pstate: facts.pstate,
            on: true,
        };
        self.system.add_constraint(state.cores * state.speed(), Sharing::Shared, None);
        self.hosts.push(state);
        slot
    }

    /// A variable for an execution of action `tag`.
    pub fn start(&mut self, slot: usize, what: &Execution, tag: u32) -> VariableId {
        let mut execution = ExecutionState {
            threads: f64::from(what.threads.max(1)),
            priority: 1.0,
            user_bound: f64::INFINITY,
            host: slot as u32,
        };
        execution.prefer(Some(what.priority), Some(what.bound));
        let constraint = ConstraintId(slot as u32);
        let bound = self.bound(&execution);
        let uses = [Use { constraint, weight: 1.0 }];
        let variable = self.system.add_variable(tag, penalty(&execution), bound, &uses);
        if self.executions.len() <= variable.index() {
            self.executions.resize(variable.index() + 1, ExecutionState::default());
        }
        self.executions[variable.index()] = execution;
        variable
    }

    pub fn set_priority(&mut self, variable: VariableId, priority: f64, suspended: bool) {
        self.executions[variable.index()].prefer(Some(priority), None);
        if !suspended {
            self.resume(variable);
        }
    }

    pub fn set_bound(&mut self, variable: VariableId, bound: Option<f64>) {
        self.executions[variable.index()].prefer(None, Some(bound));
        let bound = self.bound(&self.executions[variable.index()]);
        self.system.set_bound(variable, bound);
    }

    /// Whether its own bound is what keeps an execution to less than its cores.
    pub fn is_bound_by_user(&self, variable: VariableId) -> bool {
        let execution = &self.executions[variable.index()];
        execution.user_bound <= self.bound(execution)
    }

    pub fn resume(&mut self, variable: VariableId) {
        let penalty = penalty(&self.executions[variable.index()]);
        self.system.set_penalty(variable, penalty);
    }

    /// Capacity and bounds anew, after a change of speed.
    pub fn refresh(&mut self, slot: usize) {
        let constraint = ConstraintId(slot as u32);
        let host = &self.hosts[slot];
        self.system.set_capacity(constraint, host.cores * host.speed());
        let mut users = std::mem::take(&mut self.users);
        users.extend(self.system.users(constraint));
        for &user in &users {
            let bound = self.bound(&self.executions[user.index()]);
            self.system.set_bound(user, bound);
        }
        users.clear();
        self.users = users;
    }

    fn bound(&self, execution: &ExecutionState) -> f64 {
        let speed = self.hosts[execution.host as usize].speed();
        execution.user_bound.min(execution.threads * speed)
    }
}

fn penalty(execution: &ExecutionState) -> f64 {
    1.0 / (execution.priority * execution.threads)
}
