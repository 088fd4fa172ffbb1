//! What is recorded when asked for: loads, energy, explanations. Free when it is not.

use std::collections::BTreeMap;

use simurgh_platform::{HostId, LinkId};

use super::Models;
use crate::actions::{Action, Engine, NO_VARIABLE, Phase};
use crate::explain::Explainer;
use crate::maxmin::{ConstraintId, FixedBy, System, VariableId};
use crate::seeing::{Explanation, Limit, Usage, What};
use crate::time::SimTime;
use crate::work::{ActionId, Resource, Token};

/// The loads recorded so far.
#[derive(Default, Debug)]
pub(super) struct UsageRecorder {
    last: BTreeMap<Resource, (f64, f64)>,
    records: Vec<Usage>,
}

impl Models {
    /// Records the load of each resource each time it changes, from now on.
    pub fn record_usage(&mut self, on: bool) {
        if on {
            self.end_uncontended();
        }
        self.usage = on.then(|| self.usage.take().unwrap_or_default());
        self.watch_loads();
    }

    /// The loads recorded since the last time.
    pub fn take_usage(&mut self) -> Vec<Usage> {
        self.usage.as_mut().map_or_else(Vec::new, |usage| std::mem::take(&mut usage.records))
    }

    /// Records what limits each piece of work started from now on.
    pub fn record_explanations(&mut self, on: bool) {
        if on {
            self.end_uncontended();
        }
        self.cpu.system.forbid_pools(on);
        self.network.system.forbid_pools(on);
        self.explainer = on.then(|| self.explainer.take().unwrap_or_default());
    }

    /// Why an action lasted as long as it did; up to now, if it is not over. One that is over can be taken once.
    pub fn take_explanation(&mut self, action: ActionId) -> Option<Explanation> {
        let is_over = self.actions.find(action).is_none();
        let now = self.now;
        self.explainer.as_mut()?.take(action, now, is_over)
    }

    /// Joules that a host drew up to now; none if its properties do not say what it draws.
    pub fn host_energy(&self, host: HostId) -> Option<f64> {
        self.energy.hosts.get(host.index()).map(|(_, meter)| meter.joules_at(self.now))
    }

    /// Joules that a link drew up to now; none if its properties do not say what it draws.
    pub fn link_energy(&self, link: LinkId) -> Option<f64> {
        self.energy.links.get(link.index()).map(|(_, meter)| meter.joules_at(self.now))
    }

    /// Watts that a host draws, as of the last step.
    pub fn host_power(&self, host: HostId) -> Option<f64> {
        self.energy.hosts.get(host.index()).map(|(_, meter)| meter.watts)
    }

    /// Watts that a link draws, as of the last step.
    pub fn link_power(&self, link: LinkId) -> Option<f64> {
        self.energy.links.get(link.index()).map(|(_, meter)| meter.watts)
    }

    /// Asks the solvers for all changes of load, if anyone wants to know them.
    pub(super) fn watch_loads(&mut self) {
        let usage = self.usage.is_some();
        self.cpu.system.watch(usage || !self.energy.hosts.is_empty());
        self.network.system.watch(usage || !self.energy.links.is_empty());
    }

    /// After a solution: loads, watts and causes may have changed.
    #[inline]
    pub(super) fn record_solution(&mut self) {
        if self.usage.is_some() || !self.energy.hosts.is_empty() {
            for position in 0..self.cpu.system.touched().len() {
                self.record_host(self.cpu.system.touched()[position].index());
            }
        }
        if self.usage.is_some() || !self.energy.links.is_empty() {
            for position in 0..self.network.system.touched().len() {
                self.record_link(self.network.system.touched()[position].index());
            }
        }
        if self.usage.is_some() || !self.energy.hosts.is_empty() || !self.energy.links.is_empty() {
            for position in 0..self.parallel.system.touched().len() {
                match self.parallel.owner(self.parallel.system.touched()[position]) {
                    Resource::Host(host) => {
                        let slot = self.cpu.slot(&self.platform, host);
                        self.record_host(slot);
                    }
                    Resource::Link(link) => {
                        let slot = self.network.slot(&self.platform, link);
                        self.record_link(slot);
                    }
                    Resource::Disk(_) => {}
                }
            }
        }
        if self.usage.is_some() {
            self.record_disks();
        }
        if self.explainer.is_some() {
            self.explain_solution();
        }
    }

    /// The load or the state of a host may have changed.
    pub(super) fn record_host(&mut self, slot: usize) {
        if self.usage.is_none() && self.energy.hosts.is_empty() {
            return;
        }
        let host = &self.cpu.hosts[slot];
        let (id, peak, speed, cores) = (host.id, host.peak, host.speed(), host.cores);
        let load = self.host_load(id);
        if let Some((power, meter)) = self.energy.hosts.get_mut(id.index()) {
            // Of what the power state could do: a profile that leaves half of the speed leaves half of the load.
            let busy = if peak > 0.0 { load / peak } else { 0.0 };
            meter.set_watts(power.watts(host.on, host.pstate, busy, cores), self.now);
        }
        self.record_load(Resource::Host(id), load, cores * speed);
    }

    /// The load or the state of a link may have changed.
    pub(super) fn record_link(&mut self, slot: usize) {
        if self.usage.is_none() && self.energy.links.is_empty() {
            return;
        }
        let link = &self.network.links[slot];
        let id = link.id;
        let load = self.link_load(id);
        let capacity = self.network.system.capacity(ConstraintId(slot as u32));
        if let Some((power, meter)) = self.energy.links.get_mut(id.index()) {
            let part = if capacity > 0.0 { load / capacity } else { 0.0 };
            meter.set_watts(power.watts(link.on, part), self.now);
        }
        self.record_load(Resource::Link(id), load, capacity);
    }

    fn record_disks(&mut self) {
        for (disk, load, capacity) in self.disks.solved_loads() {
            self.record_load(Resource::Disk(disk), load, capacity);
        }
    }

    fn record_load(&mut self, resource: Resource, used: f64, capacity: f64) {
        let Some(usage) = &mut self.usage else { return };
        let before = usage.last.insert(resource, (used, capacity));
        if before != Some((used, capacity)) && (before.is_some() || used != 0.0) {
            usage.records.push(Usage { at: SimTime::new(self.now), resource, used, capacity });
        }
    }

    #[inline]
    pub(super) fn explain_start(&mut self, id: ActionId, what: impl FnOnce() -> What) {
        let now = self.now;
        if let Some(explainer) = &mut self.explainer {
            explainer.begin(id, now, what());
            if self.actions.at(id.index()).engine == Engine::Timer {
                explainer.observe(id, now, 0.0, Limit::Latency, Vec::new());
            }
        }
    }

    #[inline]
    pub(super) fn explain_wait(&mut self, index: u32) {
        self.explain(index, 0.0, Limit::Latency);
    }

    #[inline]
    pub(super) fn explain_wait_over(&mut self, index: u32) {
        let (id, now) = (self.actions.id(index), self.now);
        if let Some(explainer) = &mut self.explainer {
            explainer.wait_over(id, now);
        }
    }

    #[inline]
    pub(super) fn explain_suspension(&mut self, index: u32) {
        self.explain(index, 0.0, Limit::Suspended);
    }

    #[inline]
    pub(super) fn explain_end(&mut self, index: u32) {
        let (id, now) = (self.actions.id(index), self.now);
        if let Some(explainer) = &mut self.explainer {
            explainer.end(id, now);
        }
    }

    fn explain(&mut self, index: u32, rate: f64, limit: Limit) {
        let (id, now) = (self.actions.id(index), self.now);
        if let Some(explainer) = &mut self.explainer {
            explainer.observe(id, now, rate, limit, Vec::new());
        }
    }

    /// The cause of each rate that the last solutions computed.
    fn explain_solution(&mut self) {
        let Some(mut explainer) = self.explainer.take() else { return };
        for engine in [Engine::Cpu, Engine::Network, Engine::Parallel] {
            let mut tags: Vec<u32> = Vec::new();
            let system = self.system(engine);
            tags.extend(system.changed().iter().map(|&user| system.tag(user)));
            for &constraint in system.touched() {
                tags.extend(system.users(constraint).into_iter().map(|user| system.tag(user)));
            }
            tags.sort_unstable();
            tags.dedup();
            for index in tags {
                self.explain_rate(&mut explainer, index);
            }
        }
        for clock in self.disks.solved_clocks() {
            self.explain_disk(&mut explainer, clock);
        }
        self.explainer = Some(explainer);
    }

    /// All accesses of one direction have the same cause.
    fn explain_disk(&self, explainer: &mut Explainer, clock: u32) {
        let mut sharers: Vec<u32> = self.disks.sharers(clock);
        sharers.sort_unstable();
        let limit = Limit::Resource(Resource::Disk(self.disks.owner(clock)));
        for index in self.disks.ends.things(clock) {
            let others = sharers.iter().filter(|&&other| other != index);
            let mut others: Vec<Token> = others.map(|&other| self.actions.at(other).token).collect();
            others.sort_unstable();
            let rate = self.disks.level(clock) * self.actions.at(index).factor;
            explainer.observe(self.actions.id(index), self.now, rate, limit, others);
        }
    }

    fn explain_rate(&self, explainer: &mut Explainer, index: u32) {
        let action = self.actions.at(index);
        if action.phase != Phase::Moving || action.suspended || action.variable == NO_VARIABLE {
            return;
        }
        let system = self.system(action.engine);
        let variable = VariableId(action.variable);
        let (limit, full) = match system.fixed_by(variable) {
            FixedBy::Bound => (self.binding_bound(action), None),
            FixedBy::Constraint(id) => (Limit::Resource(self.owner(action.engine, id)), Some(id)),
            FixedBy::Staged => (Limit::Concurrency, None),
            FixedBy::Nothing => (Limit::Nothing, None),
        };
        let mut sharers: Vec<Token> = Vec::new();
        if let Some(constraint) = full {
            let others = system.active_users(constraint).filter(|&user| user != variable);
            sharers.extend(others.map(|user| self.actions.at(system.tag(user)).token));
            sharers.sort_unstable();
        }
        explainer.observe(self.actions.id(index), self.now, action.rate, limit, sharers);
    }

    fn system(&self, engine: Engine) -> &System {
        match engine {
            Engine::Cpu => &self.cpu.system,
            Engine::Network => &self.network.system,
            Engine::Parallel => &self.parallel.system,
            Engine::Disk => unreachable!("disks have no system"),
            Engine::Timer | Engine::Uncontended => unreachable!("it shares nothing"),
        }
    }

    fn owner(&self, engine: Engine, constraint: ConstraintId) -> Resource {
        match engine {
            Engine::Cpu => Resource::Host(self.cpu.hosts[constraint.index()].id),
            Engine::Network => Resource::Link(self.network.links[constraint.index()].id),
            Engine::Parallel => self.parallel.owner(constraint),
            Engine::Disk => unreachable!("disks have no system"),
            Engine::Timer | Engine::Uncontended => unreachable!("it shares nothing"),
        }
    }

    fn binding_bound(&self, action: &Action) -> Limit {
        let variable = VariableId(action.variable);
        match action.engine {
            Engine::Cpu if self.cpu.is_bound_by_user(variable) => Limit::UserBound,
            Engine::Cpu => Limit::OneCore,
            Engine::Network => self.network.binding_bound(variable),
            Engine::Parallel => match self.parallel.binding(variable, &self.cpu) {
                (true, _) => Limit::UserBound,
                (_, true) => Limit::TcpWindow,
                _ => Limit::OneCore,
            },
            Engine::Disk | Engine::Timer | Engine::Uncontended => Limit::Nothing,
        }
    }
}
