//! Flows that have their links to themselves, as most messages of large systems do.
//!
//! Such a flow needs no variable: its links are lent to it, and what little there is to know of it is kept with its
//! action. It is given a variable as soon as somebody else wants one of its links, and all of them are before a link
//! changes, or somebody wants to know more about them. What it does is the same in the end, with less memory to visit on
//! the way.

use simurgh_platform::HostId;
use smallvec::SmallVec;

use super::legs::{Fact, Facts, ROWS};
use super::{Carrier, Flow, Network, Numbers, Started, keep, part};
use crate::maxmin::{Capacity, ConstraintId, Use, VariableId, Wanted, value};
use crate::work::Transfer;

/// By what the links of a flow that is alone are known.
#[derive(Copy, Clone, PartialEq, Debug)]
pub(crate) struct Lone {
    /// The first link, with a mark; or the first host, with a mark.
    pub from: u32,
    /// The second link, if there is one; or the second host.
    pub to: u32,
}

/// The mark of hosts: they are in a star, and each has one link there and another back.
const HOSTS: u32 = 1 << 31;
/// The mark of two links of a row of hosts (see `legs.rs`), of which all is known; after it comes the number of the row.
const ROW: u32 = 1 << 30;
const ROW_SHIFT: u32 = 27;
const _: () = assert!(ROWS <= (ROW >> ROW_SHIFT) as usize);
/// A link has a number below this.
const LINKS: u32 = 1 << ROW_SHIFT;
/// No second link.
const ONE: u32 = u32::MAX;

impl Lone {
    /// By links that the way back passes too, if they can be told so.
    #[inline]
    pub fn links(first: u32, second: u32) -> Option<Lone> {
        (first < LINKS).then_some(Lone { from: first, to: second })
    }

    /// By such links of a row of hosts.
    #[inline]
    pub fn links_of_row(first: u32, second: u32, row: u32) -> Option<Lone> {
        (first < LINKS).then_some(Lone { from: first | ROW | row << ROW_SHIFT, to: second })
    }

    /// By hosts in a star.
    #[inline]
    pub fn hosts(src: HostId, dst: HostId) -> Option<Lone> {
        (src.0 < HOSTS).then_some(Lone { from: src.0 | HOSTS, to: dst.0 })
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

    /// The row, if it is known by one.
    #[inline]
    fn row(self) -> Option<usize> {
        (self.from & (HOSTS | ROW) == ROW).then_some(((self.from & !ROW) >> ROW_SHIFT) as usize)
    }
}

/// What a flow that is alone needs to know of its links.
struct Found {
    all: [Wanted; 4],
    count: usize,
    latency: f64,
    penalty: f64,
    /// As in [`Flow`].
    narrowest: f64,
    narrowest_at: u32,
}

impl Found {
    #[inline]
    fn all(&self) -> &[Wanted] {
        &self.all[..self.count]
    }

    fn uses(&self) -> impl Iterator<Item = Use> + '_ {
        self.all().iter().map(|&Wanted { constraint, weight, .. }| Use { constraint, weight })
    }

    #[inline]
    fn flow(&self, factor: f64) -> Flow {
        let nowhere = Transfer::new(HostId(0), HostId(0), 0.0);
        let Found { latency, penalty, narrowest, narrowest_at, .. } = *self;
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

impl Network {
    /// From now on no flow is alone.
    pub fn end_lone(&mut self) {
        self.may_be_lone = false;
    }

    /// Whether flows may be alone.
    #[inline]
    pub fn may_be_lone(&self) -> bool {
        self.may_be_lone
    }

    /// How the way just found is known, if it is short and nothing about it is special.
    pub(super) fn lone_way(&self) -> Option<Lone> {
        let weight = 1.0 + self.numbers.reverse_weight;
        let (first, second) = match self.forward[..] {
            [first] => (first, ONE),
            [first, second] if first != second => (first, second),
            _ => return None,
        };
        let lone = Lone::links(first, second)?;
        let uses = &self.way.uses;
        let is_plain = |used: &Use| used.weight == weight && self.system.noted(used.constraint).1.plain;
        if uses.len() != self.forward.len() || !uses.iter().all(is_plain) {
            return None;
        }
        let found = self.find_lone(lone);
        let is_same = found.uses().eq(uses.iter().copied())
            && found.latency == self.way.latency
            && found.penalty == self.way.penalty
            && found.narrowest == self.way.narrowest;
        is_same.then_some(lone)
    }

    /// Gives a flow that is alone its links, now that its wait is over. False if somebody else uses them.
    #[inline]
    pub fn lend(&mut self, lone: Lone, factor: f64, tag: u32) -> bool {
        let found = self.find_lone(lone);
        let flow = found.flow(factor);
        self.system.lend(found.all(), flow.penalty_now(), self.numbers.bound(&flow), tag)
    }

    /// How much a flow that is alone takes of one of its links.
    pub fn load_of_lone(&self, lone: Lone, factor: f64, link: ConstraintId) -> f64 {
        let found = self.find_lone(lone);
        let flow = found.flow(factor);
        let value = value(found.all(), flow.penalty_now(), self.numbers.bound(&flow));
        found.uses().find(|used| used.constraint == link).map_or(0.0, |used| used.weight * value)
    }

    /// A flow that is alone gives its links back.
    #[inline]
    pub fn give_back(&mut self, lone: Lone) {
        let (uses, count) = self.lone_uses(lone);
        self.system.give_back(uses.iter().take(count).map(|used| used.constraint));
    }

    /// A variable for a flow that was alone, idle; `place` is its place among those that wait.
    pub fn enter(&mut self, lone: Lone, factor: f64, tag: u32, place: u64) -> VariableId {
        let found = self.find_lone(lone);
        let flow = found.flow(factor);
        let uses: SmallVec<[Use; 4]> = found.uses().collect();
        let variable = self.system.add_variable(tag, 0.0, self.numbers.bound(&flow), &uses);
        self.system.set_place_in_line(variable, place);
        keep(&mut self.flows, variable, flow);
        variable
    }

    /// Lets a flow into its links that it had to itself until now. If that was told, it is not told again.
    pub fn resume_from_loan(&mut self, variable: VariableId, was_told: bool) {
        let penalty = self.flows[variable.index()].penalty_now();
        self.system.enter_from_loan(variable, penalty, was_told);
    }

    /// Asks the processor for what a flow that is alone needs of its links.
    #[inline]
    pub fn fetch_lone(&self, lone: Lone) {
        if lone.is_hosts() {
            self.fetch_links(HostId(lone.from & !HOSTS));
            self.fetch_links(HostId(lone.to));
            return;
        }
        for link in [lone.first(), ConstraintId(lone.to)] {
            self.system.fetch_holder(link);
            if lone.row().is_none() {
                self.system.fetch_constraint(link);
            }
        }
    }

    /// The links of a flow that is alone, as it uses them.
    #[inline]
    fn lone_uses(&self, lone: Lone) -> ([Use; 4], usize) {
        let back = self.numbers.reverse_weight;
        let used = |slot: u32, weight: f64| Use { constraint: ConstraintId(slot), weight };
        if !lone.is_hosts() {
            let first = Use { constraint: lone.first(), weight: 1.0 + back };
            let (second, count) = match lone.to {
                ONE => (first, 1),
                second => (used(second, 1.0 + back), 2),
            };
            return ([first, second, first, first], count);
        }
        let leg = |host: u32| self.known_leg(HostId(host)).expect("it was asked for when the flow began");
        let (from, to) = (leg(lone.from & !HOSTS), leg(lone.to));
        let uses = [used(from.up, 1.0), used(to.down, 1.0), used(to.up, back), used(from.down, back)];
        (uses, if back > 0.0 { 4 } else { 2 })
    }

    /// All that a flow that is alone needs to know of its links.
    #[inline]
    fn find_lone(&self, lone: Lone) -> Found {
        let (uses, count) = self.lone_uses(lone);
        let (up, down) = match lone.row().and_then(|row| self.facts_of_row(row)) {
            Some(Facts { up, down }) => (up, down),
            None => (self.fact(uses[0].constraint), self.fact(uses[1].constraint)),
        };
        let wanted = |used: Use, fact: Fact| {
            let Use { constraint, weight } = used;
            let capacity = Capacity { amount: fact.bandwidth, sharing: fact.sharing };
            Wanted { constraint, weight, capacity }
        };
        let (first, second) = (wanted(uses[0], up), wanted(uses[1], down));
        let (third, fourth) = match count {
            4 => {
                let [_, _, third, fourth] = uses;
                (wanted(third, self.fact(third.constraint)), wanted(fourth, self.fact(fourth.constraint)))
            }
            _ => (first, second),
        };
        let weight_s = self.numbers.weight_s;
        let (mut latency, mut narrowest, mut narrowest_at) = (up.latency, up.bandwidth, uses[0].constraint.0);
        let mut parts = [part(weight_s, up.bandwidth), 0.0];
        if count > 1 {
            latency += down.latency;
            parts[1] = part(weight_s, down.bandwidth);
            if down.bandwidth < narrowest {
                (narrowest, narrowest_at) = (down.bandwidth, uses[1].constraint.0);
            }
        }
        let penalty = latency + parts[0] + parts[1];
        Found { all: [first, second, third, fourth], count, latency, penalty, narrowest, narrowest_at }
    }
}

impl Numbers {
    /// Starts a flow that will have its links to itself, if that can be: it has something to wait for and something to
    /// move, and nobody has asked for anything else.
    #[inline]
    pub(super) fn start_lone(
        &self,
        lone: Lone,
        what: &Transfer,
        latency: f64,
        bytes: f64,
    ) -> Option<Started> {
        let wait = self.latency_factor.of(bytes) * latency;
        if !(wait > 0.0 && bytes > 0.0 && what.rate.is_none()) {
            return None;
        }
        Some(Started { carrier: Carrier::Lone(lone), wait, bytes, factor: self.bandwidth_factor.of(bytes) })
    }
}
