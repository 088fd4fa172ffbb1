//! Every resource of one simulation, and the clock.
//!
//! 1. this file: the whole, and how work is started;
//! 2. `clock.rs`: a step of the clock;
//! 3. `steering.rs`: cancel, suspend, resume, priorities, bounds;
//! 4. `uncontended.rs`: flows that have their links to themselves;
//! 5. `pools.rs`: members of pools, dated in virtual time;
//! 6. `resources.rs`: hosts and links, read and changed;
//! 7. `recording.rs`: loads, energy, explanations.

mod clock;
mod pools;
mod recording;
mod resources;
mod steering;
mod uncontended;

use std::sync::Arc;

use simurgh_platform::{HostId, Platform};

use crate::actions::{Action, Actions, Class, Engine, NO_VARIABLE, Phase};
use crate::alarms::Alarms;
use crate::config::{Config, HostModel};
use crate::cpu::Cpu;
use crate::disk::Disks;
use crate::energy::Energy;
use crate::error::Error;
use crate::explain::Explainer;
use crate::heap::{EventHeap, Lane};
use crate::ladder_queue::Moment;
use crate::maxmin::{Method, VariableId};
use crate::network::{Carrier, Network, UncontendedFlow};
use crate::parallel::{Ground, Parallel};
use crate::profiles::Profiles;
use crate::seeing::What;
use crate::step::{Change, Ended, Statistics};
use crate::time::SimTime;
use crate::virtual_time::Newcomer;
use crate::work::{ActionId, DiskAccess, Execution, ParallelTask, Refused, Resource, Token, Transfer};
use recording::UsageRecorder;

/// Every resource of one simulation, the work under way, and the clock.
#[derive(Debug)]
pub struct Models {
    platform: Arc<Platform>,
    now: f64,
    precision: f64,
    host_model: HostModel,
    actions: Actions,
    /// Dates of executions, timers and parallel tasks.
    host_dates: EventHeap,
    /// Dates of timeouts, in one order with `host_dates`.
    alarms: Alarms,
    /// Dates of transfers: the ends of their waits, then their own.
    network_dates: EventHeap,
    /// Dates of disk accesses: the first end of each direction of a disk, and accesses of no bytes.
    disk_dates: EventHeap,
    cpu: Cpu,
    network: Network,
    disks: Disks,
    parallel: Parallel,
    profiles: Profiles,
    energy: Energy,
    /// Work that failed at the present instant and was not reported yet, by class.
    failed: [Vec<Ended>; 3],
    /// Changes of the present instant that were not reported yet.
    changes: Vec<Change>,
    usage: Option<Box<UsageRecorder>>,
    explainer: Option<Box<Explainer>>,
    statistics: Statistics,
    alarm_bits: Token,
    /// By which the solver is timed, in nanoseconds.
    stopwatch: Option<fn() -> u64>,
}

impl Models {
    /// The models of `platform`, at date 0, the profile events of date 0 already applied.
    pub fn new(platform: Arc<Platform>, config: &Config) -> Result<Models, Error> {
        let method = Method::MaxMin(config.solver);
        let precision = config.precision_work_amount;
        let mut models = Models {
            now: 0.0,
            precision: config.precision_timing,
            host_model: config.host_model,
            actions: Actions::default(),
            host_dates: EventHeap::default(),
            alarms: Alarms::default(),
            network_dates: EventHeap::default(),
            disk_dates: EventHeap::default(),
            cpu: Cpu::new(&platform, method, precision),
            network: Network::new(&platform, config, method),
            disks: Disks::new(&platform, precision, config.whole_bytes),
            parallel: Parallel::new(precision, config.tcp_gamma),
            profiles: Profiles::new(&platform),
            energy: if config.energy { Energy::new(&platform)? } else { Energy::default() },
            failed: [Vec::new(), Vec::new(), Vec::new()],
            changes: Vec::new(),
            usage: None,
            explainer: None,
            statistics: Statistics::default(),
            alarm_bits: 0,
            stopwatch: None,
            platform,
        };
        if models.profiles.change_links() {
            models.end_uncontended();
        }
        models.watch_loads();
        models.apply_first_events();
        Ok(models)
    }

    /// The clock.
    pub fn now(&self) -> SimTime {
        SimTime::new(self.now)
    }

    /// What the models are of.
    pub fn platform(&self) -> &Arc<Platform> {
        &self.platform
    }

    /// Counts of what was done so far.
    pub fn statistics(&self) -> Statistics {
        let [cpu, network, parallel] =
            [&self.cpu.system, &self.network.system, &self.parallel.system].map(|system| system.counts());
        let mut statistics = self.statistics;
        for (solves, variables) in [cpu, network, parallel, self.disks.counts()] {
            statistics.solves += solves;
            statistics.variables_solved += variables;
        }
        statistics
    }

    /// Measures how long computing shares takes, by a clock of nanoseconds.
    pub fn time_solver(&mut self, stopwatch: fn() -> u64) {
        self.stopwatch = Some(stopwatch);
    }

    /// Starts a sleep or a timeout: it uses nothing, and ends after `duration` (at least 1e-9 s).
    pub fn timer(&mut self, duration: f64, token: Token) -> ActionId {
        let duration = if duration > self.precision { duration } else { self.precision };
        let id = self.insert(Engine::Timer, Class::Host, NO_VARIABLE, duration, token);
        self.host_dates.set(id.index(), self.now + duration);
        self.explain_start(id, || What::Timer { duration });
        id
    }

    /// Sets the alarm of one of many, in place of the one it had: it goes off after `duration` (at least 1e-9 s), once.
    /// As a [`timer`](Self::timer), but cheap to set and to take back again and again. It cannot be suspended.
    pub fn set_alarm(&mut self, whose: u32, duration: f64) {
        let duration = if duration > self.precision { duration } else { self.precision };
        self.statistics.started += 1;
        let sequence = self.host_dates.next_sequence();
        self.alarms.set(whose, Moment { date: self.now + duration, sequence });
    }

    /// Takes the alarm of one of many back.
    pub fn clear_alarm(&mut self, whose: u32) {
        self.alarms.clear(whose);
    }

    /// Whether one of many has an alarm that has not gone off.
    #[inline]
    pub fn alarm_is_set(&self, whose: u32) -> bool {
        self.alarms.is_set(whose)
    }

    /// Asks the processor for what is known of an alarm (see [`crate::prefetch`]).
    #[inline]
    pub fn prefetch_alarm(&self, whose: u32) {
        self.alarms.prefetch(whose);
    }

    /// Whose alarm goes off as about the so manieth from now, as far as is known: to ask the processor for it.
    #[inline]
    pub fn coming_alarm(&self, others: usize) -> Option<u32> {
        self.alarms.after(others)
    }

    /// Whether a message that leaves or reaches a host asks for what is known of that host alone.
    #[inline]
    pub fn looks_at(&self, host: HostId) -> bool {
        self.network.looks_at(host)
    }

    /// Asks the processor for what is known of a host that a message will leave or reach (see [`crate::prefetch`]).
    #[inline]
    pub fn prefetch_host(&self, host: HostId) {
        self.network.prefetch_host(host);
    }

    /// Asks the processor for what is known of the links of such a host.
    #[inline]
    pub fn prefetch_links(&self, host: HostId) {
        self.network.prefetch_links(host);
    }

    /// What is told of an alarm that goes off: its owner as [`Ended::token`], with these bits.
    pub fn mark_alarms(&mut self, bits: Token) {
        self.alarm_bits = bits;
    }

    /// Starts a computation.
    pub fn execute(&mut self, what: Execution, token: Token) -> Result<ActionId, Refused> {
        Refused::unless_sensible("the priority of an execution", what.priority)?;
        what.bound.map_or(Ok(()), |bound| Refused::unless_sensible("the bound of an execution", bound))?;
        let slot = self.cpu.slot(&self.platform, what.host);
        if !self.cpu.hosts[slot].on {
            return Err(Refused::Off(Resource::Host(what.host)));
        }
        let flops = what.flops.max(0.0) * f64::from(what.threads.max(1));
        let tag = self.actions.next_index();
        let (engine, variable) = if flops <= 0.0 {
            (Engine::Timer, NO_VARIABLE)
        } else if self.host_model == HostModel::PtaskL07 {
            let ground = Ground { platform: &self.platform, cpu: &mut self.cpu, network: &mut self.network };
            let started = self.parallel.start_execution(ground, &what, tag);
            self.parallel.resume(started.variable);
            (Engine::Parallel, started.variable.0)
        } else {
            (Engine::Cpu, self.cpu.start(slot, &what, tag).0)
        };
        let id = self.insert(engine, Class::Host, variable, flops, token);
        if flops <= 0.0 {
            self.host_dates.set(id.index(), self.now);
        }
        self.explain_start(id, || What::Execution(what));
        Ok(id)
    }

    /// Starts a message, its sender and receiver having met.
    pub fn transfer(&mut self, what: Transfer, token: Token) -> Result<ActionId, Refused> {
        what.rate.map_or(Ok(()), |rate| Refused::unless_sensible("the rate of a message", rate))?;
        let tag = self.actions.next_index();
        if self.host_model == HostModel::PtaskL07 {
            let ground = Ground { platform: &self.platform, cpu: &mut self.cpu, network: &mut self.network };
            let started = self.parallel.start_transfer(ground, &what, tag)?;
            let bytes = if started.is_empty { 0.0 } else { what.bytes.max(0.0).trunc() };
            let id = self.insert(Engine::Parallel, Class::Network, started.variable.0, bytes, token);
            self.explain_start(id, || What::ParallelTask(as_task(&what)));
            self.begin(id.index(), started.wait);
            return Ok(id);
        }
        let started = self.network.start(&self.platform, &what, tag)?;
        let (engine, variable, second, order) = match started.carrier {
            Carrier::Uncontended(UncontendedFlow { from, to }) => {
                (Engine::Uncontended, from, to, self.network.system.next_in_line())
            }
            Carrier::Variable(id) => (Engine::Network, id.0, 0, self.network.system.last_in_line()),
        };
        let id = self.insert_action(Action {
            factor: started.factor,
            second,
            order,
            ..self.action(engine, Class::Network, variable, started.bytes, token)
        });
        if self.explainer.is_some() {
            let facts = self.network.facts(&self.platform, &started, &what);
            self.explain_start(id, || What::Transfer(facts));
        }
        if let Some(contention) = &mut self.network.contention {
            let penalties = contention.begin(variable, what.src, what.dst);
            self.set_contentions(&penalties);
        }
        self.begin(id.index(), started.wait);
        Ok(id)
    }

    /// Starts a read or a write.
    pub fn io(&mut self, what: DiskAccess, token: Token) -> Result<ActionId, Refused> {
        Refused::unless_sensible("the priority of a disk access", what.priority)?;
        let clock = self.disks.clock(&self.platform, &what);
        let bytes = what.bytes.max(0.0).trunc();
        let id = self.insert_action(Action {
            factor: what.priority,
            ..self.action(Engine::Disk, Class::Disk, clock, bytes, token)
        });
        self.explain_start(id, || What::DiskAccess(what));
        self.begin_moving(id.index());
        Ok(id)
    }

    /// Starts a parallel task.
    pub fn parallel(&mut self, what: ParallelTask, token: Token) -> Result<ActionId, Refused> {
        let tag = self.actions.next_index();
        let ground = Ground { platform: &self.platform, cpu: &mut self.cpu, network: &mut self.network };
        let started = self.parallel.start(ground, &what, tag)?;
        let amount = if started.is_empty { 0.0 } else { 1.0 };
        let id = self.insert(Engine::Parallel, Class::Host, started.variable.0, amount, token);
        self.explain_start(id, || What::ParallelTask(what));
        self.begin(id.index(), started.wait);
        Ok(id)
    }

    #[inline]
    fn insert(&mut self, engine: Engine, class: Class, variable: u32, amount: f64, token: Token) -> ActionId {
        self.insert_action(self.action(engine, class, variable, amount, token))
    }

    #[inline(always)]
    fn insert_action(&mut self, action: Action) -> ActionId {
        self.statistics.started += 1;
        self.actions.insert(action)
    }

    /// One that begins now.
    #[inline(always)]
    fn action(&self, engine: Engine, class: Class, variable: u32, amount: f64, token: Token) -> Action {
        Action {
            remaining: amount,
            rate: 0.0,
            updated: self.now,
            factor: 1.0,
            token,
            variable,
            second: 0,
            generation: 0,
            engine,
            class,
            phase: Phase::Moving,
            suspended: false,
            order: 0,
        }
    }

    /// First the wait, if there is one, then the work.
    #[inline(always)]
    fn begin(&mut self, index: u32, wait: f64) {
        if wait > 0.0 {
            self.actions.at_mut(index).phase = Phase::Waiting;
            let date = self.now + wait;
            self.dates_of(index).set_in(Lane::Waits, index, date);
            self.explain_wait(index);
        } else {
            self.begin_moving(index);
        }
    }

    /// The wait is over: takes its share, or ends now if there is nothing to do.
    #[inline]
    fn begin_moving(&mut self, index: u32) {
        let now = self.now;
        let action = self.actions.at_mut(index);
        action.phase = Phase::Moving;
        action.updated = now;
        if action.suspended {
            return;
        }
        if action.remaining <= 0.0 {
            self.dates_of(index).set(index, now);
        } else if action.engine == Engine::Network {
            let variable = VariableId(action.variable);
            self.resume_flow(variable);
        } else if action.engine == Engine::Uncontended {
            self.start_uncontended_transfer(index);
        } else {
            self.activate(index);
        }
    }

    /// Makes the variable of an action take part.
    fn activate(&mut self, index: u32) {
        let action = self.actions.at(index);
        let variable = VariableId(action.variable);
        match action.engine {
            Engine::Timer => {}
            Engine::Cpu => self.cpu.resume(variable),
            Engine::Network => self.resume_flow(variable),
            Engine::Uncontended => unreachable!("no flow is alone and suspended"),
            Engine::Disk => {
                let &Action { order, factor: weight, variable: clock, remaining: work, .. } = action;
                self.disks.join(clock, Newcomer { thing: index, order, work, weight }, self.now);
            }
            Engine::Parallel => self.parallel.resume(variable),
        }
    }

    #[inline]
    fn dates_of(&mut self, index: u32) -> &mut EventHeap {
        match self.actions.at(index).class {
            Class::Host => &mut self.host_dates,
            Class::Network => &mut self.network_dates,
            Class::Disk => &mut self.disk_dates,
        }
    }

    /// Forgets an action, its variable and its date.
    fn release(&mut self, index: u32) {
        self.dates_of(index).remove(index);
        self.release_dated(index);
    }

    /// The same, if its date was taken out already.
    #[inline]
    fn release_dated(&mut self, index: u32) {
        let Action { engine, variable, phase, .. } = *self.actions.at(index);
        let id = VariableId(variable);
        match engine {
            Engine::Timer => {}
            Engine::Uncontended if phase == Phase::Waiting => {}
            Engine::Uncontended => self.network.release(self.actions.at(index).uncontended()),
            Engine::Cpu => {
                self.leave_clock(index);
                self.cpu.system.remove_variable(id);
            }
            Engine::Network => {
                self.leave_clock(index);
                if self.network.contention.is_some()
                    && let (src, dst) = self.network.ends(id)
                    && let Some(contention) = &mut self.network.contention
                {
                    let penalties = contention.end(variable, src, dst);
                    self.set_contentions(&penalties);
                }
                self.network.system.remove_variable(id);
            }
            Engine::Disk => self.leave_disk(index),
            Engine::Parallel => self.parallel.system.remove_variable(id),
        }
        self.explain_end(index);
        self.actions.remove(index);
    }

    /// A disk access stops where it is, if it is under way.
    fn leave_disk(&mut self, index: u32) {
        if let Some(clock) = self.disks.ends.clock_of(index) {
            let left = self.disks.leave(clock, index, &self.actions, self.now);
            self.actions.at_mut(index).remaining = left;
        }
    }

    fn set_contentions(&mut self, penalties: &[(u32, f64)]) {
        for &(variable, penalty) in penalties {
            self.network.set_contention(VariableId(variable), penalty);
        }
    }
}

fn as_task(what: &Transfer) -> ParallelTask {
    ParallelTask {
        hosts: vec![what.src, what.dst],
        flops: Vec::new(),
        bytes: vec![0.0, what.bytes, 0.0, 0.0],
    }
}
