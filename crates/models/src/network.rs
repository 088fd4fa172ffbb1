//! Messages: latency, shares of links, penalties, acknowledgements.
//!
//! A flow first waits `latency factor × L`, holding no link, then moves at `bandwidth factor × v`, where `v` is
//! its share: bounded by the smallest bandwidth of the route (as it was at the start), by the TCP window and by
//! the rate asked for; weighing 1 on each link of the route and, with cross-traffic, 0.05 on each of the way
//! back; inversely proportional to its penalty `L + Σ S / bandwidth`.
//!
//! The model is that of P. Velho and A. Legrand, "Accuracy study and improvement of network simulation in the
//! SimGrid framework" (SIMUTools 2009); other kinds differ by their numbers only.

mod access_links;
mod star;
mod uncontended;

use std::collections::BTreeMap;

use simurgh_platform::{HostId, LinkId, Platform, Route, Sharing as LinkSharing};

use crate::config::{Config, NetworkKind};
use crate::factors::Factor;
use crate::infiniband::Contention;
use crate::maxmin::{Capacity, ConstraintId, Method, Note, Sharing, System, Use, VariableId};
use crate::route_cache::{CachedRoute, RouteCache};
use crate::seeing::{FlowFacts, Limit};
use crate::virtual_time::VirtualTime;
use crate::work::{Refused, Resource, Transfer};
use access_links::AccessLinks;
pub(crate) use uncontended::UncontendedFlow;

/// The links that were used or changed so far, and the flows on them.
#[derive(Debug)]
pub(crate) struct Network {
    pub system: System,
    /// The ends of members of pools.
    pub ends: VirtualTime,
    /// Where each group of neighbours among the links begins in `links`; made when first needed. The links of a host
    /// are neighbours, and so stay together in memory.
    slots: Vec<u32>,
    pub links: Vec<LinkState>,
    /// Where the links of hosts in stars are.
    access_links: AccessLinks,
    /// By what the links of a flow were known that was alone, and what it got of them. Those like it get the same, whatever
    /// their size, for no link changes while flows may be alone.
    last_share: Option<(UncontendedFlow, f64)>,
    /// By variable.
    flows: Vec<Flow>,
    /// Which wifi rate each station was given, where not the first.
    stations: BTreeMap<(LinkId, HostId), usize>,
    pub contention: Option<Contention>,
    numbers: Numbers,
    route: Route,
    /// Where the links of `route` are in `links`.
    forward: Vec<u32>,
    reverse: Route,
    backward: Vec<u32>,
    /// Whether flows may be alone (see `uncontended.rs`).
    may_be_uncontended: bool,
    /// The way found last.
    cached_route: CachedRoute,
    /// By link: where it is in the list of uses being made, and of which list, by number.
    places: Vec<(u32, u32)>,
    lists: u32,
    route_cache: RouteCache,
}

/// What can change about a link. Its constraint has the same number, and what most messages ask is noted there: the
/// latency, if the link is on, as declared, and no wifi cell.
#[derive(Clone, Debug)]
pub(crate) struct LinkState {
    pub id: LinkId,
    pub bandwidth: f64,
    pub latency: f64,
    /// As the platform says, which is what routes add up.
    declared_latency: f64,
    pub sharing: LinkSharing,
    pub on: bool,
}

/// How long the wait is and how much there is to move, of a flow just started.
pub(crate) struct Started {
    pub carrier: Carrier,
    pub wait: f64,
    pub bytes: f64,
    /// Bytes move at this times the value of the variable.
    pub factor: f64,
}

/// Who a flow is for the solver.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) enum Carrier {
    Variable(VariableId),
    /// Nobody, as long as it has its links to itself.
    Uncontended(UncontendedFlow),
}

#[derive(Debug)]
struct Numbers {
    latency_factor: Factor,
    bandwidth_factor: Factor,
    weight_s: f64,
    reverse_weight: f64,
    gamma: f64,
    /// How long a message lasts, whatever the network.
    constant: Option<Factor>,
    loopback: LinkId,
    loopback_bandwidth: Option<f64>,
    loopback_latency: Option<f64>,
    concurrency_limit: Option<u32>,
}

#[derive(Copy, Clone, Debug)]
struct Flow {
    latency: f64,
    factor: f64,
    /// The smallest bandwidth of the route at the start, infinite if none, and where that link is.
    narrowest: f64,
    narrowest_at: u32,
    user_rate: f64,
    /// `L + Σ S / bandwidth`.
    penalty: f64,
    /// A flow that started without latency has a penalty of 1, until a link changes under it.
    without_latency: bool,
    priority: f64,
    /// Its bound is divided by this (InfiniBand).
    contention: f64,
    src: HostId,
    dst: HostId,
}

const NOT_YET: u32 = u32::MAX;
/// How many links make a group.
const GROUP: usize = 256;
/// A route with more links than this is searched for those that it passes twice by marks instead of by looking.
const FEW: usize = 4;

impl Network {
    pub fn new(platform: &Platform, config: &Config, method: Method) -> Network {
        Network {
            system: System::new(method, config.precision_work_amount),
            ends: VirtualTime::default(),
            slots: vec![NOT_YET; platform.link_count().div_ceil(GROUP)],
            links: Vec::new(),
            access_links: AccessLinks::default(),
            last_share: None,
            flows: Vec::new(),
            stations: BTreeMap::new(),
            contention: (config.network == NetworkKind::Infiniband)
                .then(|| Contention::new(config.infiniband)),
            numbers: Numbers {
                latency_factor: config.latency_factors(),
                bandwidth_factor: config.bandwidth_factors(),
                weight_s: config.penalty_weight(),
                reverse_weight: config.reverse_weight(),
                gamma: config.tcp_gamma,
                constant: (config.network == NetworkKind::Constant).then(|| config.constant_durations()),
                loopback: platform.loopback(),
                loopback_bandwidth: config.loopback_bandwidth,
                loopback_latency: config.loopback_latency,
                concurrency_limit: config.concurrency_limit,
            },
            route: Route::default(),
            forward: Vec::new(),
            reverse: Route::default(),
            backward: Vec::new(),
            may_be_uncontended: config.network != NetworkKind::Infiniband,
            cached_route: CachedRoute::default(),
            places: Vec::new(),
            lists: 0,
            route_cache: RouteCache::default(),
        }
    }

    /// The state of a link, if it or one near it was ever used or changed.
    pub fn state(&self, link: LinkId) -> Option<&LinkState> {
        self.constraint(link).map(|id| &self.links[id.index()])
    }

    /// The constraint of a link, if it or one near it was ever used or changed.
    pub fn constraint(&self, link: LinkId) -> Option<ConstraintId> {
        let start = self.slots[link.index() / GROUP];
        (start != NOT_YET).then(|| ConstraintId(start + (link.index() % GROUP) as u32))
    }

    /// The bandwidth and latency that a link has before anything changes.
    pub fn declared(&self, platform: &Platform, link: LinkId) -> (f64, f64) {
        let params = platform.link(link);
        if link == self.numbers.loopback {
            let bandwidth = self.numbers.loopback_bandwidth.unwrap_or(params.bandwidth);
            (bandwidth, self.numbers.loopback_latency.unwrap_or(params.latency))
        } else {
            (params.bandwidth, params.latency)
        }
    }

    /// The number of a link here.
    #[inline]
    pub fn slot(&mut self, platform: &Platform, link: LinkId) -> usize {
        let mut start = self.slots[link.index() / GROUP];
        if start == NOT_YET {
            start = self.open_group(platform, link.index() / GROUP);
        }
        start as usize + link.index() % GROUP
    }

    #[cold]
    fn open_group(&mut self, platform: &Platform, group: usize) -> u32 {
        let start = self.links.len() as u32;
        self.slots[group] = start;
        for number in group * GROUP..platform.link_count().min((group + 1) * GROUP) {
            self.open(platform, LinkId(number as u32));
        }
        start
    }

    fn open(&mut self, platform: &Platform, link: LinkId) {
        let params = platform.link(link);
        let (bandwidth, latency) = self.declared(platform, link);
        let (capacity, sharing) = match params.sharing {
            LinkSharing::Shared => (bandwidth, Sharing::Shared),
            LinkSharing::FatPipe => (bandwidth, Sharing::FatPipe),
            LinkSharing::Wifi => (1.0, Sharing::Shared),
        };
        let limit = params.concurrency.or(self.numbers.concurrency_limit);
        self.system.add_constraint(capacity, sharing, limit);
        self.links.push(LinkState {
            id: link,
            bandwidth,
            latency,
            declared_latency: params.latency,
            sharing: params.sharing,
            on: true,
        });
        self.places.push((0, 0));
        self.note(self.links.len() - 1);
    }

    /// Keeps what messages ask of a link with its constraint.
    fn note(&mut self, slot: usize) {
        let state = &self.links[slot];
        let plain = state.on && state.latency == state.declared_latency && state.sharing != LinkSharing::Wifi;
        self.system.set_note(ConstraintId(slot as u32), Note { number: state.latency, plain });
    }

    /// Something about a link changed.
    fn changed(&mut self, slot: usize) {
        self.note(slot);
        self.route_cache.clear();
        self.access_links.may_differ();
    }

    /// Switches a link on or off, for the flows to come.
    pub fn set_on(&mut self, slot: usize, on: bool) {
        self.links[slot].on = on;
        self.changed(slot);
    }

    /// Finds the way from `src` to `dst` (see [`Network::found`]); answers the sum of its latencies as they are
    /// now.
    pub fn find_route(&mut self, platform: &Platform, src: HostId, dst: HostId) -> Result<f64, Refused> {
        platform.links_into(src, dst, &mut self.route).map_err(Refused::NoRoute)?;
        let extra = self.route.latency;
        let (mut changed, mut declared) = (false, 0.0);
        self.forward.clear();
        while let Some(group) = number(&self.slots, &self.route.links, &mut self.forward) {
            self.open_group(platform, group);
        }
        for &slot in &self.forward {
            let (_, note) = self.system.noted(ConstraintId(slot));
            if note.plain {
                declared += note.number;
                continue;
            }
            let state = &self.links[slot as usize];
            if !state.on {
                return Err(Refused::Off(Resource::Link(state.id)));
            }
            changed |= state.latency != state.declared_latency;
            declared += state.declared_latency;
        }
        self.route.latency = extra + declared;
        Ok(if changed { self.latency_now() } else { self.route.latency })
    }

    /// The links of the way found last.
    pub fn found(&self) -> &[LinkId] {
        &self.route.links
    }

    /// Starts a transfer of action `tag`: it is uncontended, or has a variable, idle if there is a latency to wait for.
    pub fn start(&mut self, platform: &Platform, what: &Transfer, tag: u32) -> Result<Started, Refused> {
        let bytes = whole(what.bytes);
        if let Some(wait) = self.numbers.constant.as_ref().map(|duration| duration.of(bytes)) {
            let variable = self.system.add_variable(tag, 0.0, f64::INFINITY, &[]);
            keep(&mut self.flows, variable, Flow::empty(what));
            return Ok(Started { carrier: Carrier::Variable(variable), wait, bytes: 0.0, factor: 1.0 });
        }
        if let Some(started) = self.start_in_star(platform, what, bytes, tag) {
            return Ok(started);
        }
        let known = self.route_cache.find(what.src, what.dst);
        if known.is_none() {
            self.summarise_route(platform, what)?;
            self.route_cache.keep(&self.cached_route);
        }
        let Network { route_cache, cached_route, numbers, system, flows, .. } = self;
        let route = known.map_or(&*cached_route, |place| route_cache.at(place));
        if self.may_be_uncontended
            && system.reserves()
            && let Some(uncontended) = route.uncontended
            && let Some(started) = numbers.start_uncontended(uncontended, what, route.latency, bytes)
        {
            return Ok(started);
        }
        let flow = Flow {
            latency: route.latency,
            factor: numbers.bandwidth_factor.of(bytes),
            narrowest: route.narrowest,
            narrowest_at: route.narrowest_at,
            penalty: route.penalty,
            without_latency: route.latency == 0.0,
            ..Flow::empty(what)
        };
        let amount = if route.is_empty { 0.0 } else { bytes };
        Ok(begin(system, flows, numbers, flow, &route.uses, bytes, amount, tag))
    }

    /// Gives a flow its share of the links: its wait is over, or it is resumed. Nobody may be in the way.
    #[inline]
    pub fn resume(&mut self, variable: VariableId) {
        let penalty = self.flows[variable.index()].penalty_now();
        self.system.wake(variable, penalty);
    }

    pub fn set_priority(&mut self, variable: VariableId, priority: f64, active: bool) {
        self.flows[variable.index()].priority = priority;
        if active {
            self.resume(variable);
        }
    }

    pub fn set_rate(&mut self, variable: VariableId, rate: Option<f64>) {
        self.flows[variable.index()].user_rate = rate.unwrap_or(f64::INFINITY);
        self.refresh_bound(variable);
    }

    /// How much the InfiniBand cards slow a flow down.
    pub fn set_contention(&mut self, variable: VariableId, contention: f64) {
        self.flows[variable.index()].contention = contention;
        self.refresh_bound(variable);
    }

    /// The ends of a flow.
    pub fn ends(&self, variable: VariableId) -> (HostId, HostId) {
        (self.flows[variable.index()].src, self.flows[variable.index()].dst)
    }

    /// Another bandwidth, under the flows that use the link, whichever way.
    pub fn set_bandwidth(&mut self, slot: usize, bandwidth: f64) {
        let before = std::mem::replace(&mut self.links[slot].bandwidth, bandwidth);
        self.changed(slot);
        if before == bandwidth || self.links[slot].sharing == LinkSharing::Wifi {
            return;
        }
        self.system.set_capacity(ConstraintId(slot as u32), bandwidth);
        let weight_s = self.numbers.weight_s;
        if weight_s <= 0.0 {
            return;
        }
        let difference = part(weight_s, bandwidth) - part(weight_s, before);
        self.for_each_user(slot, |network, user| {
            let flow = &mut network.flows[user.index()];
            flow.penalty += difference;
            flow.without_latency = false;
            network.refresh_penalty(user);
        });
    }

    /// Another latency, under the flows that use the link, whichever way. A wait under way keeps its end.
    pub fn set_latency(&mut self, slot: usize, latency: f64) {
        let before = std::mem::replace(&mut self.links[slot].latency, latency);
        self.changed(slot);
        if before == latency {
            return;
        }
        let difference = latency - before;
        self.for_each_user(slot, |network, user| {
            let flow = &mut network.flows[user.index()];
            flow.latency += difference;
            flow.penalty += difference;
            flow.without_latency = false;
            network.refresh_bound(user);
            network.refresh_penalty(user);
        });
    }

    /// The wifi rate of a station, for the flows to come.
    pub fn set_station(&mut self, link: LinkId, host: HostId, level: usize) {
        self.stations.insert((link, host), level);
        self.route_cache.clear();
    }

    /// Which of its bounds is the one that limits a flow.
    pub fn binding_bound(&self, variable: VariableId) -> Limit {
        let flow = &self.flows[variable.index()];
        let window = self.numbers.window(flow);
        let rate = flow.user_rate / flow.factor;
        if rate <= window && rate <= flow.narrowest {
            Limit::UserRate
        } else if window <= flow.narrowest {
            Limit::TcpWindow
        } else {
            Limit::Bandwidth(self.links[flow.narrowest_at as usize].id)
        }
    }

    /// The numbers of a flow just started, for an explanation.
    pub fn facts(&self, platform: &Platform, started: &Started, what: &Transfer) -> FlowFacts {
        let Carrier::Variable(variable) = started.carrier else {
            unreachable!("no flow is alone while there is somebody to explain it to")
        };
        let flow = &self.flows[variable.index()];
        let window = self.numbers.window(flow);
        let links = |src, dst| {
            let mut route = Route::default();
            match self.numbers.constant.is_none() && platform.links_into(src, dst, &mut route).is_ok() {
                true => route.links,
                false => Vec::new(),
            }
        };
        FlowFacts {
            src: what.src,
            dst: what.dst,
            bytes: started.bytes,
            links: links(what.src, what.dst),
            reverse_links: match self.numbers.reverse_weight > 0.0 {
                true => links(what.dst, what.src),
                false => Vec::new(),
            },
            latency: flow.latency,
            latency_factor: self.numbers.latency_factor.of(whole(what.bytes)),
            bandwidth_factor: flow.factor,
            bandwidth: flow
                .narrowest
                .is_finite()
                .then(|| (self.links[flow.narrowest_at as usize].id, flow.narrowest)),
            window_bound: window.is_finite().then_some(window),
            rate: what.rate,
            penalty: flow.penalty_now(),
        }
    }

    /// The latencies of `self.route` as they are now. What the platform adds to its links' (Vivaldi) is kept.
    fn latency_now(&self) -> f64 {
        let states = self.forward.iter().map(|&slot| &self.links[slot as usize]);
        let (mut now, mut declared) = (0.0, 0.0);
        for state in states {
            now += state.latency;
            declared += state.declared_latency;
        }
        let added = self.route.latency - declared;
        if added.abs() < 1e-12 { now } else { now + added }
    }

    /// Finds all that a message between two hosts needs to know, and leaves it in `self.cached_route`.
    #[inline(never)]
    fn summarise_route(&mut self, platform: &Platform, what: &Transfer) -> Result<(), Refused> {
        let latency = self.find_route(platform, what.src, what.dst)?;
        let has_reverse = self.find_reverse(platform, what)?;
        let (mut penalty, mut narrowest, mut narrowest_at) = (latency, f64::INFINITY, 0);
        for &slot in &self.forward {
            let (Capacity { amount: capacity, .. }, note) = self.system.noted(ConstraintId(slot));
            let bandwidth = if note.plain {
                capacity
            } else {
                let state = &self.links[slot as usize];
                if state.sharing == LinkSharing::Wifi {
                    continue;
                }
                state.bandwidth
            };
            penalty += part(self.numbers.weight_s, bandwidth);
            if bandwidth < narrowest {
                (narrowest, narrowest_at) = (bandwidth, slot);
            }
        }
        let way = &mut self.cached_route;
        (way.src, way.dst, way.latency, way.penalty) = (what.src, what.dst, latency, penalty);
        (way.narrowest, way.narrowest_at) = (narrowest, narrowest_at);
        way.is_empty = self.route.links.is_empty();
        self.collect_uses(platform, what, has_reverse);
        self.cached_route.uncontended = self.uncontended_route();
        Ok(())
    }

    /// Finds the way back, if acknowledgements count. A platform without one is let be.
    fn find_reverse(&mut self, platform: &Platform, what: &Transfer) -> Result<bool, Refused> {
        if self.numbers.reverse_weight <= 0.0
            || platform.links_into(what.dst, what.src, &mut self.reverse).is_err()
        {
            return Ok(false);
        }
        self.backward.clear();
        while let Some(group) = number(&self.slots, &self.reverse.links, &mut self.backward) {
            self.open_group(platform, group);
        }
        for &slot in &self.backward {
            let (_, note) = self.system.noted(ConstraintId(slot));
            if !note.plain && !self.links[slot as usize].on {
                return Err(Refused::Off(Resource::Link(self.links[slot as usize].id)));
            }
        }
        Ok(true)
    }

    /// What the flow uses: each link once, its weights added up (a fat pipe: the greatest).
    fn collect_uses(&mut self, platform: &Platform, what: &Transfer, has_reverse: bool) {
        let backward = if has_reverse { self.backward.len() } else { 0 };
        let count = self.forward.len() + backward;
        self.cached_route.uses.clear();
        self.cached_route.uses.reserve(count);
        let few = count <= FEW;
        self.lists = self.lists.wrapping_add(1);
        for position in 0..self.forward.len() {
            let slot = self.forward[position];
            let weight = match self.is_wifi(slot) {
                true => self.wifi_weight(platform, what, &self.route, position),
                false => 1.0,
            };
            self.add_use(slot, weight, few);
        }
        for position in 0..backward {
            let slot = self.backward[position];
            let weight = match self.is_wifi(slot) {
                true => {
                    let back = Transfer::new(what.dst, what.src, 0.0);
                    self.wifi_weight(platform, &back, &self.reverse, position)
                }
                false => 1.0,
            };
            self.add_use(slot, weight * self.numbers.reverse_weight, few);
        }
    }

    #[inline]
    fn is_wifi(&self, slot: u32) -> bool {
        let (_, note) = self.system.noted(ConstraintId(slot));
        !note.plain && self.links[slot as usize].sharing == LinkSharing::Wifi
    }

    #[inline(always)]
    fn add_use(&mut self, slot: u32, weight: f64, few: bool) {
        if weight <= 0.0 {
            return;
        }
        let constraint = ConstraintId(slot);
        let uses = &mut self.cached_route.uses;
        let before = if few {
            uses.iter().position(|used| used.constraint == constraint)
        } else {
            let place = &mut self.places[slot as usize];
            let known = (place.0 == self.lists).then_some(place.1 as usize);
            if known.is_none() {
                *place = (self.lists, uses.len() as u32);
            }
            known
        };
        match before {
            None => uses.push(Use { constraint, weight }),
            Some(before) => {
                let total = &mut uses[before].weight;
                *total = match self.links[slot as usize].sharing {
                    LinkSharing::FatPipe => total.max(weight),
                    LinkSharing::Shared | LinkSharing::Wifi => *total + weight,
                };
            }
        }
    }

    /// The time that a byte takes in a wifi cell, from the source if it is a station, and to the destination
    /// if it is one; each counted once, even where the route passes the cell twice.
    fn wifi_weight(&self, platform: &Platform, what: &Transfer, route: &Route, position: usize) -> f64 {
        let link = route.links[position];
        let rates = platform.link(link).bandwidths;
        let time = |host: HostId, is_next_to_it: bool| match self.stations.get(&(link, host)) {
            Some(&level) => 1.0 / rates[level],
            // A host next to the cell is one of its stations, at the first rate unless told otherwise.
            None if is_next_to_it => 1.0 / rates[0],
            None => 0.0,
        };
        let (before, after) = (&route.links[..position], &route.links[position + 1..]);
        let mut weight = 0.0;
        if !before.contains(&link) {
            weight += time(what.src, before.is_empty());
        }
        if !after.contains(&link) {
            weight += time(what.dst, after.is_empty());
        }
        weight
    }

    fn refresh_bound(&mut self, variable: VariableId) {
        let bound = self.numbers.bound(&self.flows[variable.index()]);
        self.system.set_bound(variable, bound);
    }

    /// Only for a flow that takes part: one in its wait keeps out of the links.
    fn refresh_penalty(&mut self, variable: VariableId) {
        if self.system.penalty(variable) > 0.0 {
            self.resume(variable);
        }
    }

    fn for_each_user(&mut self, slot: usize, mut change: impl FnMut(&mut Network, VariableId)) {
        for user in self.system.users(ConstraintId(slot as u32)) {
            change(self, user);
        }
    }
}

/// Adds where links are, after those that are there. If a group is not open yet, which one: then it is to be opened, and this is done
/// again for those that are left.
fn number(slots: &[u32], links: &[LinkId], found: &mut Vec<u32>) -> Option<usize> {
    for link in &links[found.len()..] {
        let start = slots[link.index() / GROUP];
        if start == NOT_YET {
            return Some(link.index() / GROUP);
        }
        found.push(start + (link.index() % GROUP) as u32);
    }
    None
}

impl Numbers {
    fn window(&self, flow: &Flow) -> f64 {
        match flow.latency > 0.0 && self.gamma > 0.0 {
            true => self.gamma / (2.0 * flow.latency),
            false => f64::INFINITY,
        }
    }

    fn bound(&self, flow: &Flow) -> f64 {
        let wanted = flow.user_rate / flow.factor;
        flow.narrowest.min(self.window(flow)).min(wanted) / flow.contention
    }
}

impl Flow {
    fn empty(what: &Transfer) -> Flow {
        Flow {
            latency: 0.0,
            factor: 1.0,
            narrowest: f64::INFINITY,
            narrowest_at: 0,
            user_rate: what.rate.filter(|&rate| rate > 0.0).unwrap_or(f64::INFINITY),
            penalty: 0.0,
            without_latency: true,
            priority: 1.0,
            contention: 1.0,
            src: what.src,
            dst: what.dst,
        }
    }

    #[inline]
    fn penalty_now(&self) -> f64 {
        let plain = if self.without_latency || self.penalty <= 0.0 { 1.0 } else { self.penalty };
        plain / self.priority
    }
}

/// So many bytes, cut to whole ones.
#[inline]
fn whole(bytes: f64) -> f64 {
    // What fits is cut by two instructions; most processors have none that cuts anything.
    if (0.0..1e15).contains(&bytes) { bytes as i64 as f64 } else { bytes.max(0.0).trunc() }
}

/// A variable for a flow, and what there is to wait for and to move. The number of bytes that was asked for counts for the
/// factors, even where none of them has to move.
#[inline(always)]
#[expect(clippy::too_many_arguments, reason = "parts of the network that are borrowed one by one")]
fn begin(
    system: &mut System,
    flows: &mut Vec<Flow>,
    numbers: &Numbers,
    flow: Flow,
    uses: &[Use],
    asked: f64,
    bytes: f64,
    tag: u32,
) -> Started {
    let wait = numbers.latency_factor.of(asked) * flow.latency;
    // If somebody has its links to itself, it cannot begin at once.
    let waits = wait > 0.0 || bytes <= 0.0 || system.in_the_way_of(uses).is_some();
    let penalty = if waits { 0.0 } else { flow.penalty_now() };
    let variable = system.add_variable(tag, penalty, numbers.bound(&flow), uses);
    let factor = flow.factor;
    keep(flows, variable, flow);
    Started { carrier: Carrier::Variable(variable), wait, bytes, factor }
}

#[inline(always)]
fn keep(flows: &mut Vec<Flow>, variable: VariableId, flow: Flow) {
    if flows.len() <= variable.index() {
        make_room(flows, variable.index() + 1);
    }
    flows[variable.index()] = flow;
}

#[cold]
fn make_room(flows: &mut Vec<Flow>, count: usize) {
    flows.resize_with(count, || Flow::empty(&Transfer::new(HostId(0), HostId(0), 0.0)));
}

/// The part of a link in a penalty; a link of no bandwidth gives no share anyway.
fn part(weight_s: f64, bandwidth: f64) -> f64 {
    if bandwidth > 0.0 { weight_s / bandwidth } else { 0.0 }
}
