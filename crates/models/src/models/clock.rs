//! A step of the clock: solve, find the nearest date, apply profile events on the way, collect what ended.

use simurgh_platform::ProfileTarget;

use super::Models;
use super::pools::follow_pools;
use crate::actions::{Action, Class, Engine, Phase};
use crate::heap::Lane;
use crate::maxmin::VariableId;
use crate::step::{Ended, Outcome, Progress, Step};
use crate::time::SimTime;
use crate::work::{ActionId, Resource};

/// The flow whose share is told so many later is asked for.
const AHEAD: usize = 8;
/// Dates on different clocks are rounded differently, by no more than this part.
const ROUNDING: f64 = 1e-12;
/// So many instants at most go by before whoever drives is asked whether to go on.
const UNSEEN: u32 = 1024;

/// Where fewer messages are under way, what they need is in the cache.
const MANY: usize = 64;
/// What is needed is asked for when so many others come first, and what is needed to know that when so many do.
const SOON: usize = 6;
const LATER: usize = 16;
const LAST: usize = 28;
/// Where these are fewer, that is not worth it for those whose dates are in no order.
const VERY_MANY: usize = 2048;
/// Of those that are in no order, one of so many comes next but one.
const FIRST: usize = 5;

impl Models {
    /// Moves the clock to the next instant at which something happens that concerns others, and tells what.
    ///
    /// What was changed or made to fail at the present instant (by `set_host_state` and the like) is told
    /// first, without moving the clock. With `until`, the clock goes no further than that.
    pub fn step(&mut self, until: Option<SimTime>, step: &mut Step) -> Progress {
        step.ended.clear();
        step.changes.clear();
        if self.has_news() {
            self.report_failures(step);
            return Progress::Moved;
        }
        // An instant at which only waits are over concerns nobody else.
        for _ in 0..UNSEEN {
            let progress = self.stop(until, step);
            if progress != Progress::Moved || !step.ended.is_empty() || !step.changes.is_empty() {
                return progress;
            }
        }
        Progress::Moved
    }

    /// Moves the clock to the next instant at which something happens.
    #[inline]
    fn stop(&mut self, until: Option<SimTime>, step: &mut Step) -> Progress {
        let until = until.map(SimTime::seconds);
        let host = loop {
            self.solve_timed();
            let host = self.next_host_date();
            if !self.pass_waits(host, until) {
                break host;
            }
        };
        let Some(next) = self.next_date(host).or_else(|| self.next_revival()) else { return Progress::Idle };
        let mut target = next.max(self.now);
        let mut reached = false;
        if let Some(limit) = until
            && limit < target
        {
            target = limit.max(self.now);
            reached = true;
        }
        if self.profiles.next_date().is_some_and(|date| date <= target)
            && let Some(stop) = self.apply_events(target)
        {
            target = stop.max(self.now);
            reached = false;
        }
        self.now = target;
        if reached && self.changes.is_empty() {
            // Nothing happens here. So where the clock is halted changes nothing of what it comes to, to the last digit.
            return Progress::Reached;
        }
        self.statistics.steps += 1;
        self.collect(host, step);
        Progress::Moved
    }

    /// Makes the date that the clock was halted at ([`Progress::Reached`]) one at which something may be changed.
    pub fn halt(&mut self, step: &mut Step) {
        self.solve_timed();
        let host = self.next_host_date();
        self.collect(host, step);
    }

    /// Goes on over instants at which nothing happens but that waits are over: what a step of the clock would do there,
    /// without the rest of it. `host` is the nearest date of executions, timers and alarms. Answers whether there is
    /// something to be solved.
    #[inline]
    fn pass_waits(&mut self, host: f64, until: Option<f64>) -> bool {
        loop {
            let date = self.network_dates.next_or_never();
            let end = date + self.precision;
            if !(end <= self.network_dates.next_but_waits() && end <= host) {
                return false;
            }
            let goes_on = until.is_none_or(|until| date <= until)
                && self.profiles.next_date().is_none_or(|next| date < next)
                && end <= self.disk_dates.next_or_never()
                && !self.disks.counts_stops();
            let is_plain = self.explainer.is_none() && !self.network.system.is_changed();
            // Far from 0 the precision is lost in the date, and without a date it is not a number.
            if !(goes_on && is_plain && self.now <= date && date < end) {
                return false;
            }
            self.now = date;
            self.statistics.steps += 1;
            while let Some(index) = self.network_dates.pop_wait_before(end) {
                self.statistics.events += 1;
                self.prefetch_coming(Lane::Waits);
                self.begin_moving(index);
            }
            // An empty message ends with its wait, and whoever is told may change what there is to be solved.
            if self.network_dates.next_or_never() < end {
                return false;
            }
            if self.network.system.take_settled() {
                self.date_network();
            }
            if self.is_changed() {
                return true;
            }
        }
    }

    /// Where many messages are under way, asks the processor for what those that come soon will need.
    #[inline]
    fn prefetch_coming(&self, lane: Lane) {
        if self.network_dates.coming(lane).len() >= MANY {
            self.prefetch_some(lane);
        }
    }

    #[inline(never)]
    fn prefetch_some(&self, lane: Lane) {
        let coming = self.network_dates.coming(lane);
        if let Some(soon) = self.actions.get(coming[SOON].thing) {
            self.prefetch_links_of(soon);
        }
        if let Some(later) = self.actions.get(coming[LATER].thing)
            && later.engine != Engine::Uncontended
        {
            self.network.system.prefetch_variable(VariableId(later.variable));
        }
        self.actions.prefetch(coming[LAST].thing);
    }

    /// Asks the processor for the links of a flow.
    #[inline]
    fn prefetch_links_of(&self, action: &Action) {
        match action.engine {
            Engine::Uncontended => self.network.prefetch_uncontended(action.uncontended()),
            _ => self.network.system.prefetch_used(VariableId(action.variable)),
        }
    }

    /// The same for those whose dates are in no order: the first of them.
    #[inline]
    fn prefetch_first(&self) {
        let others = self.network_dates.others();
        if others.len() >= VERY_MANY {
            for entry in &others[..FIRST] {
                self.prefetch_links_of(self.actions.at(entry.thing));
            }
        }
    }

    /// Whether there is anything to be solved.
    #[inline]
    fn is_changed(&self) -> bool {
        self.network.system.is_changed()
            || self.cpu.system.is_changed()
            || self.disks.is_changed()
            || self.parallel.system.is_changed()
    }

    /// Computes the shares that changed, by the clock if they are timed.
    #[inline(always)]
    fn solve_timed(&mut self) {
        match self.stopwatch {
            None => self.solve(),
            Some(stopwatch) => {
                let start = stopwatch();
                self.solve();
                self.statistics.solver_nanoseconds += stopwatch().saturating_sub(start);
            }
        }
    }

    /// Whether something changed or failed at the present instant that the next step tells without moving the clock.
    pub fn has_news(&self) -> bool {
        !self.changes.is_empty() || self.has_failed()
    }

    /// Whether work failed that was not told yet.
    #[inline]
    fn has_failed(&self) -> bool {
        let [host, network, disk] = &self.failed;
        !(host.is_empty() && network.is_empty() && disk.is_empty())
    }

    /// The date of the next profile event.
    pub fn next_profile_date(&self) -> Option<SimTime> {
        self.profiles.next_date().map(SimTime::new)
    }

    /// Profile events of date 0, before anything starts.
    pub(super) fn apply_first_events(&mut self) {
        while let Some((target, value)) = self.profiles.pop_until(0.0) {
            self.apply_event(target, value);
        }
        self.changes.clear();
    }

    /// Computes the shares that changed, and thereby the dates.
    #[inline(always)]
    fn solve(&mut self) {
        if self.network.system.is_changed() && self.explainer.is_none() && self.network.system.take_settled()
        {
            self.date_network();
        }
        if self.is_changed() {
            self.solve_changed();
        }
    }

    /// Sets the dates of the flows whose share changed.
    #[inline]
    fn date_network(&mut self) {
        let Models { network, actions, network_dates, now, .. } = self;
        network_dates.begin_together();
        // Those that share with nobody come first: they end no later than others of their size, and in order.
        for &(index, share) in network.system.reserved() {
            let action = actions.at_mut(index);
            // It may be over, or among the others, by now.
            if action.engine == Engine::Uncontended && action.phase == Phase::Moving {
                action.set_share(index, share, *now, network_dates);
            }
        }
        let changed = network.system.changed();
        for (place, &variable) in changed.iter().enumerate() {
            if let Some(&later) = changed.get(place + AHEAD) {
                let index = network.system.tag(later);
                actions.prefetch(index);
                network_dates.prefetch(index);
            }
            let index = network.system.tag(variable);
            actions.at_mut(index).set_share(index, network.system.value(variable), *now, network_dates);
        }
        network.system.clear_reserved();
        follow_pools(&mut network.system, &mut network.ends, actions, network_dates, *now);
    }

    fn solve_changed(&mut self) {
        let mut solved = false;
        if self.network.system.is_changed() && self.network.system.solve() {
            solved = true;
            self.date_network();
        }
        let Models { cpu, disks, parallel, actions, host_dates, network_dates, disk_dates, now, .. } = self;
        let now = *now;
        if cpu.system.is_changed() && cpu.system.solve() {
            solved = true;
            host_dates.begin_together();
            for &variable in cpu.system.changed() {
                let index = cpu.system.tag(variable);
                actions.at_mut(index).set_share(index, cpu.system.value(variable), now, host_dates);
            }
            follow_pools(&mut cpu.system, &mut cpu.ends, actions, host_dates, now);
        }
        if disks.is_changed() {
            solved = true;
            disks.solve(now, disk_dates);
        }
        if parallel.system.is_changed() && parallel.system.solve() {
            solved = true;
            for &variable in parallel.system.changed() {
                let index = parallel.system.tag(variable);
                let action = actions.at_mut(index);
                let dates = if action.class == Class::Host { &mut *host_dates } else { &mut *network_dates };
                dates.begin_together();
                action.set_share(index, parallel.system.value(variable), now, dates);
            }
        }
        if solved {
            self.record_solution();
        }
    }

    /// The nearest date at which something ends; `host` is that of executions, timers and alarms.
    #[inline]
    fn next_date(&self, host: f64) -> Option<f64> {
        let (network, disk) = (self.network_dates.next_or_never(), self.disk_dates.next_or_never());
        let work = if network < disk { network } else { disk };
        let next = if work < host { work } else { host };
        (next < f64::INFINITY).then_some(next)
    }

    /// The nearest date of an execution, a timer or an alarm; infinite if there is none.
    #[inline]
    fn next_host_date(&mut self) -> f64 {
        let host = self.host_dates.next_or_never();
        match self.alarms.next() {
            Some((alarm, _)) if alarm.date < host => alarm.date,
            _ => host,
        }
    }

    /// When everything left stands still because a capacity is 0, and a profile will raise it: the next
    /// profile event.
    fn next_revival(&self) -> Option<f64> {
        let next = self.profiles.next_date()?;
        let stands_still = |target: ProfileTarget| match target {
            ProfileTarget::HostSpeed(host) => {
                let used = self.cpu.constraint(host).is_some_and(|id| self.cpu.system.is_used(id));
                let used_together = self
                    .parallel
                    .constraint(Resource::Host(host))
                    .is_some_and(|id| self.parallel.system.is_used(id));
                (used || used_together) && self.host_speed(host) <= 0.0
            }
            ProfileTarget::LinkBandwidth(link) => self.link_is_used(link) && self.link_bandwidth(link) <= 0.0,
            _ => false,
        };
        self.profiles.revivals().any(stands_still).then_some(next)
    }

    /// Applies the profile events up to `target`. One on a resource in use stops the clock at its date.
    fn apply_events(&mut self, target: f64) -> Option<f64> {
        while let Some(date) = self.profiles.next_date().filter(|&date| date <= target) {
            let mut in_use = false;
            // Nothing ends before this date: the clock may be there while the event is applied.
            self.now = self.now.max(date);
            while let Some((target, value)) = self.profiles.pop_until(date) {
                in_use |= match target {
                    ProfileTarget::HostSpeed(_) | ProfileTarget::HostState(_) => true,
                    ProfileTarget::LinkBandwidth(link)
                    | ProfileTarget::LinkLatency(link)
                    | ProfileTarget::LinkState(link) => self.link_is_used(link),
                };
                self.apply_event(target, value);
            }
            if in_use {
                return Some(date);
            }
        }
        None
    }

    fn apply_event(&mut self, target: ProfileTarget, value: f64) {
        self.statistics.profile_events += 1;
        match target {
            ProfileTarget::HostSpeed(host) => self.set_host_speed_scale(host, value),
            ProfileTarget::HostState(host) => self.set_host_state(host, value != 0.0),
            ProfileTarget::LinkBandwidth(link) => self.set_link_bandwidth(link, value),
            ProfileTarget::LinkLatency(link) => self.set_link_latency(link, value),
            ProfileTarget::LinkState(link) => self.set_link_state(link, value != 0.0),
        }
    }

    /// What failed and what changed at this instant.
    fn report_failures(&mut self, step: &mut Step) {
        step.changes.append(&mut self.changes);
        for failed in &mut self.failed {
            step.ended.append(failed);
        }
    }

    /// What ends at this instant, in order: by class, failed before finished, by date. `host` is the nearest date of
    /// executions, timers and alarms.
    fn collect(&mut self, host: f64, step: &mut Step) {
        if !self.changes.is_empty() {
            step.changes.append(&mut self.changes);
        }
        // Far from 0 the precision is lost in the date; what is dated now ends now all the same.
        let mut limit = self.now + self.precision;
        if limit <= self.now {
            limit = self.now.next_up();
        }
        let has_failed = self.has_failed();
        if has_failed {
            self.tell_failed(Class::Host, step);
        }
        if host < limit {
            self.collect_host(limit, step);
        }
        if has_failed {
            self.tell_failed(Class::Network, step);
        }
        if !self.network.ends.is_empty() {
            self.collect_clocked(limit, step);
        }
        while let Some(index) = self.network_dates.pop_before(limit) {
            self.prefetch_coming(Lane::Ends);
            self.prefetch_first();
            self.reach_date(index, step);
        }
        if has_failed {
            self.tell_failed(Class::Disk, step);
        }
        if self.disks.counts_stops() {
            self.disks.take_whole_bytes(&mut self.actions, self.now, &mut self.disk_dates);
        }
        if self.disk_dates.next_or_never() < limit {
            self.collect_disks(limit, step);
        }
    }

    /// What ends among flows of which some are dated in virtual time. Dates that are equal but for rounding count as one there, and
    /// their flows end in the order in which they were started.
    fn collect_clocked(&mut self, limit: f64, step: &mut Step) {
        let mut due: Vec<(f64, u32)> = Vec::new();
        while self.network_dates.next_or_never() < limit {
            let date = self.network_dates.next_or_never();
            let Some(index) = self.network_dates.pop_before(limit) else { break };
            // The next on this clock may end at this instant too.
            self.leave_clock(index);
            due.push((date, index));
        }
        let actions = &self.actions;
        let together = |a: &(f64, u32), b: &(f64, u32)| {
            let both_end = actions.at(a.1).phase == Phase::Moving && actions.at(b.1).phase == Phase::Moving;
            both_end && b.0 - a.0 <= ROUNDING * b.0
        };
        for same in due.chunk_by_mut(together) {
            same.sort_by_key(|&(_, index)| actions.at(index).order);
        }
        due.into_iter().for_each(|(_, index)| self.reach_date(index, step));
    }

    /// What ends among executions and timers, and the alarms that go off, in one order.
    #[inline]
    fn collect_host(&mut self, limit: f64, step: &mut Step) {
        while !self.alarms.is_empty() || !self.host_dates.is_empty() {
            let Some((alarm, whose)) = self.alarms.next().filter(|(alarm, _)| alarm.date < limit) else {
                while let Some(index) = self.host_dates.pop_before(limit) {
                    self.reach_date(index, step);
                }
                return;
            };
            // Which was set first is looked up only where it matters.
            let is_later = self.host_dates.next_or_never() > alarm.date;
            if !is_later && self.host_dates.next_moment().is_some_and(|date| date.is_before(&alarm)) {
                let index = self.host_dates.pop_before(limit).expect("it comes before an alarm that is due");
                self.reach_date(index, step);
            } else {
                self.alarms.pop();
                self.statistics.events += 1;
                let (action, token) = (ActionId::alarm(alarm.sequence), self.alarm_bits | u64::from(whose));
                step.ended.push(Ended { action, token, outcome: Outcome::Done });
            }
        }
    }

    #[cold]
    fn tell_failed(&mut self, class: Class, step: &mut Step) {
        step.ended.append(&mut self.failed[class as usize]);
    }

    /// The date of an action is here: its wait is over, or it is done.
    #[inline(always)]
    fn reach_date(&mut self, index: u32, step: &mut Step) {
        self.statistics.events += 1;
        if self.actions.at(index).phase == Phase::Waiting {
            self.explain_wait_over(index);
            self.begin_moving(index);
        } else {
            self.finish(index, step);
        }
    }

    #[inline]
    fn finish(&mut self, index: u32, step: &mut Step) {
        let token = self.actions.at(index).token;
        step.ended.push(Ended { action: self.actions.id(index), token, outcome: Outcome::Done });
        self.release_dated(index);
    }

    /// What ends among disk accesses, in the order in which they were started.
    fn collect_disks(&mut self, limit: f64, step: &mut Step) {
        let mut due = Vec::new();
        while let Some(index) = self.disk_dates.pop_before(limit) {
            if let Some(clock) = self.disks.ends.clock_of(index) {
                self.leave_disk(index);
                // The next on this clock may end at this instant too.
                self.disks.ends.date_first(clock, &mut self.disk_dates);
            }
            due.push(index);
        }
        due.sort_unstable_by_key(|&index| self.actions.at(index).order);
        self.statistics.events += due.len() as u64;
        due.into_iter().for_each(|index| self.finish(index, step));
    }

    /// Every user of these variables' action fails because of `resource`.
    pub(super) fn fail(&mut self, tags: &[u32], resource: Resource) {
        for &index in tags {
            let action = self.actions.at(index);
            let ended = Ended {
                action: self.actions.id(index),
                token: action.token,
                outcome: Outcome::Failed(resource),
            };
            let class = action.class;
            self.failed[class as usize].push(ended);
            self.release(index);
        }
    }

    pub(super) fn variable_of(&self, index: u32) -> VariableId {
        VariableId(self.actions.at(index).variable)
    }
}
