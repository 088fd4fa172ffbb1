//! Messages within a star: what most messages of large systems are.
//!
//! Such a message needs no route: the links of a host to the centre and back are kept by host, a few bytes each, so that
//! a system of millions of hosts finds all that it needs of two of them in two places.

use simurgh_platform::{HostId, Platform, Sharing as LinkSharing};

use super::{Flow, Lone, Network, Started, begin, part};
use crate::ahead::fetch_from;
use crate::maxmin::{ConstraintId, Use};
use crate::work::Transfer;

/// Where the links of a host to the centre of its star are in `links`, if it has one each way.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(super) struct Leg {
    /// The star, [`Leg::UNKNOWN`] or [`Leg::NONE`].
    zone: u32,
    pub up: u32,
    pub down: u32,
}

impl Default for Leg {
    fn default() -> Leg {
        Leg { zone: Leg::UNKNOWN, up: 0, down: 0 }
    }
}

impl Leg {
    const UNKNOWN: u32 = u32::MAX;
    const NONE: u32 = u32::MAX - 1;
}

impl Network {
    /// A flow between two hosts of a star, each with its own link up and its own link down, about which there is
    /// nothing special: what most messages of large systems are. `None` if it is not so.
    #[inline]
    pub(super) fn start_in_star(
        &mut self,
        platform: &Platform,
        what: &Transfer,
        bytes: f64,
        tag: u32,
    ) -> Option<Started> {
        let (from, to) = (self.leg(platform, what.src), self.leg(platform, what.dst));
        let shared = from.up == to.up || from.up == to.down || from.down == to.up || from.down == to.down;
        let both_ways = from.up == from.down;
        if from.zone != to.zone || from.zone == Leg::NONE || shared || both_ways != (to.up == to.down) {
            return None;
        }
        let id = ConstraintId;
        let Network { numbers, system, flows, .. } = self;
        let (up_bandwidth, up) = system.noted(id(from.up));
        let (down_bandwidth, down) = system.noted(id(to.down));
        if !(up.plain && down.plain) {
            return None;
        }
        let back = numbers.reverse_weight;
        let mut uses = [
            Use { constraint: id(from.up), weight: 1.0 },
            Use { constraint: id(to.down), weight: 1.0 },
            Use { constraint: id(to.up), weight: back },
            Use { constraint: id(from.down), weight: back },
        ];
        let mut count = 2;
        if back > 0.0 && both_ways {
            uses[0].weight = 1.0 + back;
            uses[1].weight = 1.0 + back;
        } else if back > 0.0 {
            if !(system.noted(id(to.up)).1.plain && system.noted(id(from.down)).1.plain) {
                return None;
            }
            count = 4;
        }
        let latency = up.number + down.number;
        if self.may_be_lone && system.lends() {
            let lone = match both_ways {
                true => Lone::links(from.up, to.down),
                false => Lone::hosts(what.src, what.dst),
            };
            let started = numbers.start_lone(lone, what, latency, bytes);
            if started.is_some() {
                return started;
            }
        }
        let penalty = latency + part(numbers.weight_s, up_bandwidth) + part(numbers.weight_s, down_bandwidth);
        let (narrowest, slot) = match down_bandwidth < up_bandwidth {
            true => (down_bandwidth, to.down),
            false => (up_bandwidth, from.up),
        };
        let flow = Flow {
            latency,
            factor: numbers.bandwidth_factor.of(bytes),
            narrowest,
            narrowest_at: slot,
            penalty,
            without_latency: latency == 0.0,
            ..Flow::empty(what)
        };
        Some(begin(system, flows, numbers, flow, &uses[..count], bytes, bytes, tag))
    }

    /// Asks the processor for the leg of a host.
    #[inline]
    pub fn fetch_host(&self, host: HostId) {
        fetch_from(&self.legs, host.index());
    }

    /// Asks the processor for the links of the leg of a host.
    #[inline]
    pub fn fetch_links(&self, host: HostId) {
        let Leg { up, down, .. } = self.legs[host.index()];
        self.system.fetch_constraint(ConstraintId(up));
        if down != up {
            self.system.fetch_constraint(ConstraintId(down));
        }
    }

    /// The leg of a host.
    #[inline]
    fn leg(&mut self, platform: &Platform, host: HostId) -> Leg {
        let known = self.legs[host.index()];
        if known.zone != Leg::UNKNOWN { known } else { self.find_leg(platform, host) }
    }

    #[cold]
    fn find_leg(&mut self, platform: &Platform, host: HostId) -> Leg {
        let found = match platform.star_leg(host) {
            // A fat pipe that is passed both ways is counted once, not twice: let it be found the long way.
            Some(leg) if leg.up != leg.down || platform.link(leg.up).sharing == LinkSharing::Shared => {
                let (up, down) = (self.slot(platform, leg.up), self.slot(platform, leg.down));
                Leg { zone: leg.zone.0, up: up as u32, down: down as u32 }
            }
            _ => Leg { zone: Leg::NONE, up: 0, down: 0 },
        };
        self.legs[host.index()] = found;
        found
    }
}
