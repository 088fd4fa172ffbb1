//! Fast path for uncontended flows, as most messages of large systems are.
//!
//! A flow alone on its links needs no max-min solution, and no variable: it lives in its `Action`, which is one cache line, and owns
//! its links (`maxmin/reservation.rs`). When a second flow wants a link, the owner is promoted to a variable, bit for bit the same
//! (property test). Changes of links, profiles, observers and concurrency limits switch the path off:
//! then all owners are promoted.

use simurgh_platform::HostId;
use smallvec::SmallVec;

use super::access_links::{LinkParams, PairParams, RANGES};
use super::{Carrier, Flow, Network, Numbers, Started, keep, part};
use crate::maxmin::{Capacity, ConstraintId, Use, VariableId, Wanted, value};
use crate::work::Transfer;

/// By what the links of a flow that is alone are known.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) struct UncontendedFlow {
    /// The first link, with a mark; or the first host, with a mark.
    pub from: u32,
    /// The second link, if there is one; or the second host.
    pub to: u32,
}

/// The mark of hosts: they are in a star, and each has one link there and another back.
const HOSTS: u32 = 1 << 31;
/// The mark of two links of a range of hosts (see `access_links.rs`), of which all is known; after it comes the number of the range.
const RANGE: u32 = 1 << 30;
const RANGE_SHIFT: u32 = 27;
const _: () = assert!(RANGES <= (RANGE >> RANGE_SHIFT) as usize);
/// A link has a number below this.
const LINKS: u32 = 1 << RANGE_SHIFT;
/// No second link.
const ONE: u32 = u32::MAX;

impl UncontendedFlow {
    /// By links that the way back passes too, if they can be told so.
    #[inline]
    pub fn links(first: u32, second: u32) -> Option<UncontendedFlow> {
        (first < LINKS).then_some(UncontendedFlow { from: first, to: second })
    }

    /// By such links of a range of hosts.
    #[inline]
    pub fn links_of_range(first: u32, second: u32, range: u32) -> Option<UncontendedFlow> {
        (first < LINKS).then_some(UncontendedFlow { from: first | RANGE | range << RANGE_SHIFT, to: second })
    }

    /// By hosts in a star.
    #[inline]
    pub fn hosts(src: HostId, dst: HostId) -> Option<UncontendedFlow> {
        (src.0 < HOSTS).then_some(UncontendedFlow { from: src.0 | HOSTS, to: dst.0 })
    }

    #[inline]
    fn is_hosts(self) -> bool {
        self.from & HOSTS != 0
    }

    /// The first link.
    #[inline]
    fn first(self) -> ConstraintId {
        debug_assert!(!self.is_hosts(), "it is known by its links");
        ConstraintId(self.from & (LINKS - 1))
    }

    /// The same for all pairs of links of a range.
    #[inline]
    fn alike(self) -> UncontendedFlow {
        match self.range() {
            Some(_) => UncontendedFlow { from: self.from & !(LINKS - 1), to: ONE },
            None => self,
        }
    }

    /// The range, if it is known by one.
    #[inline]
    fn range(self) -> Option<usize> {
        (self.from & (HOSTS | RANGE) == RANGE).then_some(((self.from & !RANGE) >> RANGE_SHIFT) as usize)
    }
}

/// What a flow that is alone needs to know of its way.
struct Found {
    latency: f64,
    penalty: f64,
    /// As in [`Flow`].
    narrowest: f64,
    narrowest_at: u32,
}

impl Found {
    #[inline]
    fn flow(&self, factor: f64) -> Flow {
        let nowhere = Transfer::new(HostId(0), HostId(0), 0.0);
        let Found { latency, penalty, narrowest, narrowest_at } = *self;
        Flow {
            latency,
            factor,
            narrowest,
            narrowest_at,
            penalty,
            without_latency: false,
            ..Flow::empty(&nowhere)
        }
    }
}

/// The links of a flow that is alone, as it wants them: first those of its way, then those of the way back.
type Links = SmallVec<[Wanted; 4]>;

fn uses(links: &Links) -> impl Iterator<Item = Use> + '_ {
    links.iter().map(|&Wanted { constraint, weight, .. }| Use { constraint, weight })
}

impl Network {
    /// From now on no flow is alone.
    pub fn end_uncontended(&mut self) {
        self.may_be_uncontended = false;
    }

    /// Whether flows may be alone.
    #[inline]
    pub fn may_be_uncontended(&self) -> bool {
        self.may_be_uncontended
    }

    /// How the way just found is known, if it is short and nothing about it is special.
    pub(super) fn uncontended_route(&self) -> Option<UncontendedFlow> {
        let weight = 1.0 + self.numbers.reverse_weight;
        let (first, second) = match self.forward[..] {
            [first] => (first, ONE),
            [first, second] if first != second => (first, second),
            _ => return None,
        };
        let uncontended = UncontendedFlow::links(first, second)?;
        let uses = &self.cached_route.uses;
        let is_plain = |used: &Use| used.weight == weight && self.system.noted(used.constraint).1.plain;
        if uses.len() != self.forward.len() || !uses.iter().all(is_plain) {
            return None;
        }
        let (found, links) = self.find_uncontended(uncontended);
        let is_same = self::uses(&links).eq(uses.iter().copied())
            && found.latency == self.cached_route.latency
            && found.penalty == self.cached_route.penalty
            && found.narrowest == self.cached_route.narrowest;
        is_same.then_some(uncontended)
    }

    /// Gives a flow that is alone its links, now that its wait is over. False if somebody else uses them.
    #[inline]
    pub fn reserve(&mut self, uncontended: UncontendedFlow, factor: f64, tag: u32) -> bool {
        if uncontended.is_hosts() {
            return self.reserve_of_hosts(uncontended, factor, tag);
        }
        let way = if self.access_links.is_as_declared() { uncontended.alike() } else { uncontended };
        let share = match self.last_share {
            Some((known, share)) if known == way => share,
            _ => {
                let share = self.share_of_links(uncontended, factor);
                self.last_share = Some((way, share));
                share
            }
        };
        debug_assert!(share == self.share_of_links(uncontended, factor), "what is alike gets the same");
        match uncontended.to {
            ONE => self.system.reserve([uncontended.first()], share, tag),
            second => self.system.reserve([uncontended.first(), ConstraintId(second)], share, tag),
        }
    }

    /// What a flow that is alone, and known by its links, gets of them.
    fn share_of_links(&self, uncontended: UncontendedFlow, factor: f64) -> f64 {
        let (found, links) = self.find_links(uncontended);
        let links = if uncontended.to == ONE { &links[..1] } else { &links };
        debug_assert!(links.iter().all(|wanted| self.system.has(wanted)), "it is known what they are");
        self.share_of(&found, links, factor)
    }

    #[inline]
    fn share_of(&self, found: &Found, links: &[Wanted], factor: f64) -> f64 {
        let flow = found.flow(factor);
        value(links, flow.penalty_now(), self.numbers.bound(&flow))
    }

    fn reserve_of_hosts(&mut self, uncontended: UncontendedFlow, factor: f64, tag: u32) -> bool {
        let (found, links) = self.find_uncontended(uncontended);
        let share = self.share_of(&found, &links, factor);
        debug_assert!(links.iter().all(|wanted| self.system.has(wanted)), "it is known what they are");
        let all: SmallVec<[ConstraintId; 4]> = links.iter().map(|wanted| wanted.constraint).collect();
        self.system.reserve(all, share, tag)
    }

    /// How much a flow that is alone takes of one of its links.
    pub fn load_of_uncontended(&self, uncontended: UncontendedFlow, factor: f64, link: ConstraintId) -> f64 {
        let (found, links) = self.find_uncontended(uncontended);
        let value = self.share_of(&found, &links, factor);
        uses(&links).find(|used| used.constraint == link).map_or(0.0, |used| used.weight * value)
    }

    /// A flow that is alone gives its links back.
    #[inline]
    pub fn release(&mut self, uncontended: UncontendedFlow) {
        if uncontended.is_hosts() {
            let (_, links) = self.find_uncontended(uncontended);
            self.system.release(links.iter().map(|wanted| wanted.constraint));
        } else {
            let second = (uncontended.to != ONE).then_some(ConstraintId(uncontended.to));
            self.system.release([uncontended.first()].into_iter().chain(second));
        }
    }

    /// A variable for a flow that was alone, idle; `place` is its place among those that wait.
    pub fn enter(&mut self, uncontended: UncontendedFlow, factor: f64, tag: u32, place: u64) -> VariableId {
        let (found, links) = self.find_uncontended(uncontended);
        let flow = found.flow(factor);
        let uses: SmallVec<[Use; 4]> = uses(&links).collect();
        let variable = self.system.add_variable(tag, 0.0, self.numbers.bound(&flow), &uses);
        self.system.set_place_in_line(variable, place);
        keep(&mut self.flows, variable, flow);
        variable
    }

    /// Lets a flow into its links that it had to itself until now. If that was told, it is not told again.
    pub fn resume_promoted(&mut self, variable: VariableId, was_told: bool) {
        let penalty = self.flows[variable.index()].penalty_now();
        self.system.enter_promoted(variable, penalty, was_told);
    }

    /// Asks the processor for what a flow that is alone needs of its links.
    #[inline]
    pub fn prefetch_uncontended(&self, uncontended: UncontendedFlow) {
        if uncontended.is_hosts() {
            self.prefetch_links(HostId(uncontended.from & !HOSTS));
            self.prefetch_links(HostId(uncontended.to));
            return;
        }
        for link in [uncontended.first(), ConstraintId(uncontended.to)] {
            self.system.prefetch_owner(link);
            if uncontended.range().is_none() {
                self.system.prefetch_constraint(link);
            }
        }
    }

    /// What a flow that is alone, and known by its links, needs to know of its way, and its links; of one link, twice that.
    #[inline]
    fn find_links(&self, uncontended: UncontendedFlow) -> (Found, [Wanted; 2]) {
        let (first, second) = match uncontended.to {
            ONE => (uncontended.first(), uncontended.first()),
            second => (uncontended.first(), ConstraintId(second)),
        };
        let PairParams { up, down } = match uncontended.range().and_then(|range| self.params_of_range(range))
        {
            Some(params) => params,
            None => PairParams { up: self.link_params(first), down: self.link_params(second) },
        };
        let weight = 1.0 + self.numbers.reverse_weight;
        let found = match uncontended.to {
            ONE => self.route_of_one(first, up),
            _ => self.route_of_two((first, up), (second, down)),
        };
        (found, [wanted(first, weight, up), wanted(second, weight, down)])
    }

    /// All that a flow that is alone needs to know of its way, and its links.
    fn find_uncontended(&self, uncontended: UncontendedFlow) -> (Found, Links) {
        if !uncontended.is_hosts() {
            let (found, links) = self.find_links(uncontended);
            return (found, Links::from_slice(if uncontended.to == ONE { &links[..1] } else { &links }));
        }
        let access_link =
            |host: u32| self.known_access_link(HostId(host)).expect("it was asked for when the flow began");
        let (from, to) = (access_link(uncontended.from & !HOSTS), access_link(uncontended.to));
        let link = |slot: u32, weight: f64| {
            let link = ConstraintId(slot);
            wanted(link, weight, self.link_params(link))
        };
        let mut links = Links::from_slice(&[link(from.up, 1.0), link(to.down, 1.0)]);
        let back = self.numbers.reverse_weight;
        if back > 0.0 {
            links.extend([link(to.up, back), link(from.down, back)]);
        }
        let (up, down) = (ConstraintId(from.up), ConstraintId(to.down));
        (self.route_of_two((up, self.link_params(up)), (down, self.link_params(down))), links)
    }

    fn route_of_one(&self, link: ConstraintId, link_params: LinkParams) -> Found {
        let LinkParams { bandwidth, latency, .. } = link_params;
        let penalty = latency + part(self.numbers.weight_s, bandwidth);
        Found { latency, penalty, narrowest: bandwidth, narrowest_at: link.0 }
    }

    #[inline]
    fn route_of_two(&self, first: (ConstraintId, LinkParams), second: (ConstraintId, LinkParams)) -> Found {
        let ((up, up_params), (down, down_params)) = (first, second);
        let weight_s = self.numbers.weight_s;
        let latency = up_params.latency + down_params.latency;
        let penalty = latency + part(weight_s, up_params.bandwidth) + part(weight_s, down_params.bandwidth);
        let (narrowest, narrowest_at) = match down_params.bandwidth < up_params.bandwidth {
            true => (down_params.bandwidth, down.0),
            false => (up_params.bandwidth, up.0),
        };
        Found { latency, penalty, narrowest, narrowest_at }
    }
}

#[inline]
fn wanted(constraint: ConstraintId, weight: f64, link_params: LinkParams) -> Wanted {
    Wanted {
        constraint,
        weight,
        capacity: Capacity { amount: link_params.bandwidth, sharing: link_params.sharing },
    }
}

impl Numbers {
    /// Starts a flow that will have its links to itself, if that can be: it has something to wait for and something to
    /// move, and nobody has asked for anything else.
    #[inline(always)]
    pub(super) fn start_uncontended(
        &self,
        uncontended: UncontendedFlow,
        what: &Transfer,
        latency: f64,
        bytes: f64,
    ) -> Option<Started> {
        let wait = self.latency_factor.of(bytes) * latency;
        if !(wait > 0.0 && bytes > 0.0 && what.rate.is_none()) {
            return None;
        }
        Some(Started {
            carrier: Carrier::Uncontended(uncontended),
            wait,
            bytes,
            factor: self.bandwidth_factor.of(bytes),
        })
    }
}
