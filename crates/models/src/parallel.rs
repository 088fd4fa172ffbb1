//! Parallel tasks: computations and messages that progress as one (the L07 model).
//!
//! A task is one variable of cost 1 whose weights are its flops on each host and its bytes on each link; it
//! starts after its largest latency, bounded by the speed of one core and by the TCP window. Those who share a
//! host or a link get equal parts of it, whatever their weights: see `maxmin/bottleneck.rs`.

use std::collections::BTreeMap;

use simurgh_platform::{HostId, Platform, Sharing as LinkSharing};

use crate::cpu::Cpu;
use crate::maxmin::{ConstraintId, Method, Sharing, System, Use, VariableId};
use crate::network::Network;
use crate::work::{Execution, ParallelTask, Refused, Resource, Transfer};

/// The hosts and links that parallel tasks used so far, and the tasks.
#[derive(Debug)]
pub(crate) struct Parallel {
    pub system: System,
    constraints: BTreeMap<Resource, ConstraintId>,
    owners: Vec<Resource>,
    /// By variable.
    tasks: Vec<Task>,
    gamma: f64,
}

#[derive(Clone, Default, Debug)]
struct Task {
    /// The hosts that compute, and how much for each unit of the task (0 if it may fill all its cores).
    flops: Vec<(HostId, f64)>,
    /// What the TCP window allows.
    window: f64,
    user_bound: f64,
}

/// A variable, idle, and how long to wait before it takes part.
pub(crate) struct Started {
    pub variable: VariableId,
    pub wait: f64,
    /// There is nothing to share: it ends with its wait.
    pub is_empty: bool,
}

/// What is under the tasks.
pub(crate) struct Ground<'a> {
    pub platform: &'a Platform,
    pub cpu: &'a mut Cpu,
    pub network: &'a mut Network,
}

impl Parallel {
    pub fn new(precision: f64, gamma: f64) -> Parallel {
        Parallel {
            system: System::new(Method::Bottleneck, precision),
            constraints: BTreeMap::new(),
            owners: Vec::new(),
            tasks: Vec::new(),
            gamma,
        }
    }

    /// Which host or link a constraint is of.
    pub fn owner(&self, constraint: ConstraintId) -> Resource {
        self.owners[constraint.index()]
    }

    /// The constraint of a host or a link that a task used.
    pub fn constraint(&self, resource: Resource) -> Option<ConstraintId> {
        self.constraints.get(&resource).copied()
    }

    /// A parallel task, of cost 1.
    pub fn start(&mut self, ground: Ground<'_>, what: &ParallelTask, tag: u32) -> Result<Started, Refused> {
        let count = what.hosts.len();
        check_sizes(what)?;
        let Ground { platform, cpu, network } = ground;
        let mut weights: BTreeMap<Resource, f64> = BTreeMap::new();
        let mut task = Task { window: f64::INFINITY, user_bound: f64::INFINITY, flops: Vec::new() };
        for (&host, &flops) in what.hosts.iter().zip(&what.flops) {
            let slot = cpu.slot(platform, host);
            if !cpu.hosts[slot].on {
                return Err(Refused::Off(Resource::Host(host)));
            }
            if flops > 0.0 {
                task.flops.push((host, flops));
                *weights.entry(Resource::Host(host)).or_default() += flops;
            }
        }
        let (mut wait, mut widest) = (0.0_f64, 0.0_f64);
        for (position, &bytes) in what.bytes.iter().enumerate().filter(|&(_, &bytes)| bytes > 0.0) {
            let (src, dst) = (what.hosts[position / count], what.hosts[position % count]);
            let latency = network.find_route(platform, src, dst)?;
            wait = wait.max(latency);
            widest = widest.max(latency * bytes);
            add_route(&mut weights, platform, network, bytes);
        }
        if widest > 0.0 && self.gamma > 0.0 {
            task.window = self.gamma / (2.0 * widest);
        }
        Ok(self.add(Ground { platform, cpu, network }, task, &weights, wait, tag))
    }

    /// An ordinary execution, through this model.
    pub fn start_execution(&mut self, ground: Ground<'_>, what: &Execution, tag: u32) -> Started {
        let threads = f64::from(what.threads.max(1));
        let task = Task {
            flops: vec![(what.host, 1.0 / threads)],
            window: f64::INFINITY,
            user_bound: what.bound.unwrap_or(f64::INFINITY),
        };
        let weights = BTreeMap::from([(Resource::Host(what.host), 1.0)]);
        self.add(ground, task, &weights, 0.0, tag)
    }

    /// An ordinary transfer, through this model.
    pub fn start_transfer(
        &mut self,
        ground: Ground<'_>,
        what: &Transfer,
        tag: u32,
    ) -> Result<Started, Refused> {
        let Ground { platform, cpu, network } = ground;
        let latency = network.find_route(platform, what.src, what.dst)?;
        let mut weights = BTreeMap::new();
        add_route(&mut weights, platform, network, 1.0);
        let window = match latency > 0.0 && self.gamma > 0.0 {
            true => self.gamma / (2.0 * latency),
            false => f64::INFINITY,
        };
        let user_bound = what.rate.filter(|&rate| rate > 0.0).unwrap_or(f64::INFINITY);
        let task = Task { flops: Vec::new(), window, user_bound };
        // A message of no bytes is a task without parts: it is over at once.
        let wait = if what.bytes < 1.0 { 0.0 } else { latency };
        Ok(self.add(Ground { platform, cpu, network }, task, &weights, wait, tag))
    }

    /// Gives a task its share: its wait is over, or it is resumed. There are no priorities here.
    pub fn resume(&mut self, variable: VariableId) {
        self.system.set_penalty(variable, 1.0);
    }

    pub fn set_bound(&mut self, variable: VariableId, bound: Option<f64>, cpu: &Cpu) {
        self.tasks[variable.index()].user_bound = bound.unwrap_or(f64::INFINITY);
        let bound = self.bound(variable, cpu);
        self.system.set_bound(variable, bound);
    }

    /// Whether the bound asked for, and whether the TCP window, is the lowest.
    pub fn binding(&self, variable: VariableId, cpu: &Cpu) -> (bool, bool) {
        let task = &self.tasks[variable.index()];
        let bound = self.bound(variable, cpu);
        (task.user_bound <= bound, task.window <= bound)
    }

    /// Another capacity of a host or a link that tasks used; a host's also bounds its tasks.
    pub fn set_capacity(&mut self, resource: Resource, capacity: f64, cpu: &Cpu) {
        let Some(constraint) = self.constraint(resource) else { return };
        self.system.set_capacity(constraint, capacity);
        let users: Vec<VariableId> = self.system.users(constraint);
        for user in users {
            let bound = self.bound(user, cpu);
            self.system.set_bound(user, bound);
        }
    }

    fn bound(&self, variable: VariableId, cpu: &Cpu) -> f64 {
        let task = &self.tasks[variable.index()];
        let speed = |host: HostId| cpu.state(host).map_or(f64::INFINITY, |state| state.speed());
        let fastest =
            task.flops.iter().map(|&(host, flops)| speed(host) / flops).fold(f64::INFINITY, f64::min);
        fastest.min(task.window).min(task.user_bound)
    }

    fn add(
        &mut self,
        ground: Ground<'_>,
        task: Task,
        weights: &BTreeMap<Resource, f64>,
        wait: f64,
        tag: u32,
    ) -> Started {
        let Ground { platform, cpu, network } = ground;
        let mut uses = Vec::with_capacity(weights.len());
        for (&resource, &weight) in weights {
            uses.push(Use { constraint: self.constraint_of(platform, cpu, network, resource), weight });
        }
        let is_empty = uses.is_empty();
        let variable = self.system.add_variable(tag, 0.0, f64::INFINITY, &uses);
        if self.tasks.len() <= variable.index() {
            self.tasks.resize(variable.index() + 1, Task::default());
        }
        self.tasks[variable.index()] = task;
        let bound = self.bound(variable, cpu);
        self.system.set_bound(variable, bound);
        Started { variable, wait, is_empty }
    }

    fn constraint_of(
        &mut self,
        platform: &Platform,
        cpu: &mut Cpu,
        network: &mut Network,
        resource: Resource,
    ) -> ConstraintId {
        if let Some(&known) = self.constraints.get(&resource) {
            return known;
        }
        let (capacity, sharing) = match resource {
            Resource::Host(host) => {
                let slot = cpu.slot(platform, host);
                (cpu.hosts[slot].cores * cpu.hosts[slot].speed(), Sharing::Shared)
            }
            Resource::Link(link) => {
                let slot = network.slot(platform, link);
                let state = &network.links[slot];
                let is_fat = state.sharing == LinkSharing::FatPipe;
                (state.bandwidth, if is_fat { Sharing::FatPipe } else { Sharing::Shared })
            }
            Resource::Disk(_) => unreachable!("parallel tasks use hosts and links alone"),
        };
        let id = self.system.add_constraint(capacity, sharing, None);
        self.owners.push(resource);
        self.constraints.insert(resource, id);
        id
    }
}

/// Bytes on each link of the way found last. Those of one task do not add up on a fat pipe.
fn add_route(weights: &mut BTreeMap<Resource, f64>, platform: &Platform, network: &Network, bytes: f64) {
    for &link in network.found() {
        let weight = weights.entry(Resource::Link(link)).or_default();
        *weight = match platform.link(link).sharing {
            LinkSharing::FatPipe => weight.max(bytes),
            LinkSharing::Shared | LinkSharing::Wifi => *weight + bytes,
        };
    }
}

fn check_sizes(what: &ParallelTask) -> Result<(), Refused> {
    let count = what.hosts.len();
    if count == 0 {
        return Err(Refused::Invalid("a parallel task needs at least one host".to_string()));
    }
    if !what.flops.is_empty() && what.flops.len() != count {
        let given = what.flops.len();
        return Err(Refused::Invalid(format!(
            "a parallel task on {count} hosts has {given} amounts of flops"
        )));
    }
    if !what.bytes.is_empty() && what.bytes.len() != count * count {
        let (given, wanted) = (what.bytes.len(), count * count);
        return Err(Refused::Invalid(format!(
            "a parallel task on {count} hosts has {given} amounts of bytes instead of {wanted}"
        )));
    }
    Ok(())
}
