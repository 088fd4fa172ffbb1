//! Hosts and links: as they are now, and how they are changed.
//!
//! Changes take effect at the present instant, and are told by the next step, with what they made fail.

use simurgh_platform::{HostId, LinkId, Sharing};

use super::Models;
use crate::error::Error;
use crate::step::Change;
use crate::work::Resource;

impl Models {
    /// The speed of one core now, in flop/s.
    pub fn host_speed(&self, host: HostId) -> f64 {
        self.cpu.state(host).map_or_else(|| self.platform.host(host).speed(), |state| state.speed())
    }

    /// The part of its speed that a host has now: 1, unless a profile or a caller says otherwise.
    pub fn host_available_speed(&self, host: HostId) -> f64 {
        self.cpu.state(host).map_or(1.0, |state| state.scale)
    }

    /// How much of a host is used, in flop/s, as of the last step.
    pub fn host_load(&self, host: HostId) -> f64 {
        let own = self.cpu.constraint(host).map_or(0.0, |id| self.cpu.system.load(id));
        let together = self.parallel.constraint(Resource::Host(host));
        own + together.map_or(0.0, |id| self.parallel.system.load(id))
    }

    /// Whether a host is on.
    pub fn host_is_on(&self, host: HostId) -> bool {
        self.cpu.state(host).is_none_or(|state| state.on)
    }

    /// The power state of a host.
    pub fn host_pstate(&self, host: HostId) -> usize {
        self.cpu.state(host).map_or_else(|| self.platform.host(host).pstate, |state| state.pstate)
    }

    /// Changes the power state of a host, and thereby its speed.
    pub fn set_host_pstate(&mut self, host: HostId, pstate: usize) -> Result<(), Error> {
        let facts = self.platform.host(host);
        let Some(&peak) = facts.speeds.get(pstate) else {
            let (host, count) = (facts.name.to_string(), facts.speeds.len());
            return Err(Error::NoSuchPstate { host, pstate, count });
        };
        let slot = self.cpu.slot(&self.platform, host);
        self.cpu.hosts[slot].pstate = pstate;
        self.cpu.hosts[slot].peak = peak;
        self.refresh_host(slot);
        Ok(())
    }

    /// Changes the part of its speed that a host has.
    pub fn set_host_speed_scale(&mut self, host: HostId, scale: f64) {
        let slot = self.cpu.slot(&self.platform, host);
        self.cpu.hosts[slot].scale = scale;
        self.refresh_host(slot);
    }

    /// Switches a host on or off. Executions and parallel tasks on a host that goes off fail.
    pub fn set_host_state(&mut self, host: HostId, on: bool) {
        let slot = self.cpu.slot(&self.platform, host);
        if self.cpu.hosts[slot].on == on {
            return;
        }
        self.cpu.hosts[slot].on = on;
        self.changes.push(if on { Change::HostOn(host) } else { Change::HostOff(host) });
        if !on {
            let resource = Resource::Host(host);
            let mut tags: Vec<u32> = Vec::new();
            if let Some(id) = self.cpu.constraint(host) {
                tags.extend(self.cpu.system.users(id).into_iter().map(|user| self.cpu.system.tag(user)));
            }
            if let Some(id) = self.parallel.constraint(resource) {
                tags.extend(
                    self.parallel.system.users(id).into_iter().map(|user| self.parallel.system.tag(user)),
                );
            }
            self.fail(&tags, resource);
        }
        self.record_host(slot);
    }

    /// The bandwidth of a link now, in B/s.
    pub fn link_bandwidth(&self, link: LinkId) -> f64 {
        let declared = || self.network.declared(&self.platform, link).0;
        self.network.state(link).map_or_else(declared, |state| state.bandwidth)
    }

    /// The latency of a link now, in seconds.
    pub fn link_latency(&self, link: LinkId) -> f64 {
        let declared = || self.network.declared(&self.platform, link).1;
        self.network.state(link).map_or_else(declared, |state| state.latency)
    }

    /// Whether a link is on.
    pub fn link_is_on(&self, link: LinkId) -> bool {
        self.network.state(link).is_none_or(|state| state.on)
    }

    /// How much of a link is used, in B/s (wifi: the part of the time), as of the last step.
    pub fn link_load(&self, link: LinkId) -> f64 {
        let own = self.network.constraint(link).map_or(0.0, |id| match self.network.system.owner(id) {
            Some(index) => self.load_of_uncontended(index, id),
            None => self.network.system.load(id),
        });
        let together = self.parallel.constraint(Resource::Link(link));
        own + together.map_or(0.0, |id| self.parallel.system.load(id))
    }

    /// Changes the bandwidth of a link, under the flows that use it.
    pub fn set_link_bandwidth(&mut self, link: LinkId, bandwidth: f64) {
        let slot = self.network.slot(&self.platform, link);
        if self.network.links[slot].bandwidth == bandwidth {
            return;
        }
        self.end_uncontended();
        self.network.set_bandwidth(slot, bandwidth);
        self.parallel.set_capacity(Resource::Link(link), bandwidth, &self.cpu);
        self.changes.push(Change::LinkBandwidth(link));
        self.record_link(slot);
    }

    /// Changes the latency of a link, under the flows that use it. Waits under way keep their end.
    pub fn set_link_latency(&mut self, link: LinkId, latency: f64) {
        let slot = self.network.slot(&self.platform, link);
        if self.network.links[slot].latency == latency {
            return;
        }
        self.end_uncontended();
        self.network.set_latency(slot, latency);
        self.changes.push(Change::LinkLatency(link));
    }

    /// Switches a link on or off. Flows on a link that goes off fail, those in their wait as well, whichever
    /// way they use it.
    pub fn set_link_state(&mut self, link: LinkId, on: bool) {
        let slot = self.network.slot(&self.platform, link);
        if self.network.links[slot].on == on {
            return;
        }
        self.end_uncontended();
        self.network.set_on(slot, on);
        self.changes.push(if on { Change::LinkOn(link) } else { Change::LinkOff(link) });
        if !on {
            let resource = Resource::Link(link);
            let mut tags: Vec<u32> = Vec::new();
            if let Some(id) = self.network.constraint(link) {
                tags.extend(
                    self.network.system.users(id).into_iter().map(|user| self.network.system.tag(user)),
                );
            }
            if let Some(id) = self.parallel.constraint(resource) {
                tags.extend(
                    self.parallel.system.users(id).into_iter().map(|user| self.parallel.system.tag(user)),
                );
            }
            self.fail(&tags, resource);
        }
        self.record_link(slot);
    }

    /// Chooses the wifi rate of a station, one of the bandwidths of the link, for its flows to come.
    pub fn set_station_rate(&mut self, link: LinkId, host: HostId, level: usize) -> Result<(), Error> {
        let facts = self.platform.link(link);
        let count = if facts.sharing == Sharing::Wifi { facts.bandwidths.len() } else { 0 };
        if level >= count {
            return Err(Error::NoSuchRate { link: facts.name.to_string(), level, count });
        }
        self.end_uncontended();
        self.network.set_station(link, host, level);
        Ok(())
    }

    /// Whether some flow, waiting or moving, uses a link.
    pub(super) fn link_is_used(&self, link: LinkId) -> bool {
        self.network.constraint(link).is_some_and(|id| self.network.system.is_used(id))
            || self
                .parallel
                .constraint(Resource::Link(link))
                .is_some_and(|id| self.parallel.system.is_used(id))
    }

    fn refresh_host(&mut self, slot: usize) {
        self.cpu.refresh(slot);
        let host = &self.cpu.hosts[slot];
        let (id, capacity) = (host.id, host.cores * host.speed());
        self.parallel.set_capacity(Resource::Host(id), capacity, &self.cpu);
        self.changes.push(Change::HostSpeed(id));
        self.record_host(slot);
    }
}
