//! Messages within a star: what most messages of large systems are.
//!
//! Such a message needs no route: where the links of a host to the centre and back are is known (see `access_links.rs`), and
//! often all that it asks of them too.

use simurgh_platform::Platform;

use super::access_links::{AccessLink, PairParams};
use super::{Flow, Network, Started, UncontendedFlow, begin, part};
use crate::maxmin::{ConstraintId, Use};
use crate::work::Transfer;

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
        let (from, to) = (self.access_link(platform, what.src), self.access_link(platform, what.dst));
        let shared = from.up == to.up || from.up == to.down || from.down == to.up || from.down == to.down;
        let both_ways = from.up == from.down;
        if from.zone != to.zone || from.zone == AccessLink::NONE || shared || both_ways != (to.up == to.down)
        {
            return None;
        }
        let id = ConstraintId;
        let range = self.common_range(what.src, what.dst);
        let PairParams { up, down } = match range.and_then(|range| self.params_of_range(range)) {
            Some(params) => params,
            None => self.look_up(from, to)?,
        };
        let Network { numbers, system, flows, .. } = self;
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
            let is_plain = |slot| system.noted(id(slot)).1.plain;
            if range.is_none() && !(is_plain(to.up) && is_plain(from.down)) {
                return None;
            }
            count = 4;
        }
        let latency = up.latency + down.latency;
        if self.may_be_uncontended && system.reserves() {
            let uncontended = match (both_ways, range) {
                (true, Some(range)) => UncontendedFlow::links_of_range(from.up, to.down, range as u32),
                (true, None) => UncontendedFlow::links(from.up, to.down),
                (false, _) => UncontendedFlow::hosts(what.src, what.dst),
            };
            let started = uncontended
                .and_then(|uncontended| numbers.start_uncontended(uncontended, what, latency, bytes));
            if started.is_some() {
                return started;
            }
        }
        let penalty = latency + part(numbers.weight_s, up.bandwidth) + part(numbers.weight_s, down.bandwidth);
        let (narrowest, slot) = match down.bandwidth < up.bandwidth {
            true => (down.bandwidth, to.down),
            false => (up.bandwidth, from.up),
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

    /// What a message asks of its links, if there is nothing special about them.
    #[inline]
    fn look_up(&self, from: AccessLink, to: AccessLink) -> Option<PairParams> {
        let (up, down) = (ConstraintId(from.up), ConstraintId(to.down));
        let is_plain = |link| self.system.noted(link).1.plain;
        (is_plain(up) && is_plain(down))
            .then(|| PairParams { up: self.link_params(up), down: self.link_params(down) })
    }
}
