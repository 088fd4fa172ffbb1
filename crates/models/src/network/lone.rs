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

    /// The same for all pairs of links of a row.
    #[inline]
    fn alike(self) -> Lone {
        match self.row() {
            Some(_) => Lone { from: self.from & !(LINKS - 1), to: ONE },
            None => self,
        }
    }

    /// The row, if it is known by one.
    #[inline]
    fn row(self) -> Option<usize> {
        (self.from & (HOSTS | ROW) == ROW).then_some(((self.from & !ROW) >> ROW_SHIFT) as usize)
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
        let (found, links) = self.find_lone(lone);
        let is_same = self::uses(&links).eq(uses.iter().copied())
            && found.latency == self.way.latency
            && found.penalty == self.way.penalty
            && found.narrowest == self.way.narrowest;
        is_same.then_some(lone)
    }

    /// Gives a flow that is alone its links, now that its wait is over. False if somebody else uses them.
    #[inline]
    pub fn lend(&mut self, lone: Lone, factor: f64, tag: u32) -> bool {
        if lone.is_hosts() {
            return self.lend_of_hosts(lone, factor, tag);
        }
        let way = if self.legs.is_as_declared() { lone.alike() } else { lone };
        let share = match self.last_share {
            Some((known, share)) if known == way => share,
            _ => {
                let share = self.share_of_links(lone, factor);
                self.last_share = Some((way, share));
                share
            }
        };
        debug_assert!(share == self.share_of_links(lone, factor), "what is alike gets the same");
        match lone.to {
            ONE => self.system.lend([lone.first()], share, tag),
            second => self.system.lend([lone.first(), ConstraintId(second)], share, tag),
        }
    }

    /// What a flow that is alone, and known by its links, gets of them.
    fn share_of_links(&self, lone: Lone, factor: f64) -> f64 {
        let (found, links) = self.find_links(lone);
        let links = if lone.to == ONE { &links[..1] } else { &links };
        debug_assert!(links.iter().all(|wanted| self.system.has(wanted)), "it is known what they are");
        self.share_of(&found, links, factor)
    }

    #[inline]
    fn share_of(&self, found: &Found, links: &[Wanted], factor: f64) -> f64 {
        let flow = found.flow(factor);
        value(links, flow.penalty_now(), self.numbers.bound(&flow))
    }

    fn lend_of_hosts(&mut self, lone: Lone, factor: f64, tag: u32) -> bool {
        let (found, links) = self.find_lone(lone);
        let share = self.share_of(&found, &links, factor);
        debug_assert!(links.iter().all(|wanted| self.system.has(wanted)), "it is known what they are");
        let all: SmallVec<[ConstraintId; 4]> = links.iter().map(|wanted| wanted.constraint).collect();
        self.system.lend(all, share, tag)
    }

    /// How much a flow that is alone takes of one of its links.
    pub fn load_of_lone(&self, lone: Lone, factor: f64, link: ConstraintId) -> f64 {
        let (found, links) = self.find_lone(lone);
        let value = self.share_of(&found, &links, factor);
        uses(&links).find(|used| used.constraint == link).map_or(0.0, |used| used.weight * value)
    }

    /// A flow that is alone gives its links back.
    #[inline]
    pub fn give_back(&mut self, lone: Lone) {
        if lone.is_hosts() {
            let (_, links) = self.find_lone(lone);
            self.system.give_back(links.iter().map(|wanted| wanted.constraint));
        } else {
            let second = (lone.to != ONE).then_some(ConstraintId(lone.to));
            self.system.give_back([lone.first()].into_iter().chain(second));
        }
    }

    /// A variable for a flow that was alone, idle; `place` is its place among those that wait.
    pub fn enter(&mut self, lone: Lone, factor: f64, tag: u32, place: u64) -> VariableId {
        let (found, links) = self.find_lone(lone);
        let flow = found.flow(factor);
        let uses: SmallVec<[Use; 4]> = uses(&links).collect();
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

    /// What a flow that is alone, and known by its links, needs to know of its way, and its links; of one link, twice that.
    #[inline]
    fn find_links(&self, lone: Lone) -> (Found, [Wanted; 2]) {
        let (first, second) = match lone.to {
            ONE => (lone.first(), lone.first()),
            second => (lone.first(), ConstraintId(second)),
        };
        let Facts { up, down } = match lone.row().and_then(|row| self.facts_of_row(row)) {
            Some(facts) => facts,
            None => Facts { up: self.fact(first), down: self.fact(second) },
        };
        let weight = 1.0 + self.numbers.reverse_weight;
        let found = match lone.to {
            ONE => self.way_of_one(first, up),
            _ => self.way_of_two((first, up), (second, down)),
        };
        (found, [wanted(first, weight, up), wanted(second, weight, down)])
    }

    /// All that a flow that is alone needs to know of its way, and its links.
    fn find_lone(&self, lone: Lone) -> (Found, Links) {
        if !lone.is_hosts() {
            let (found, links) = self.find_links(lone);
            return (found, Links::from_slice(if lone.to == ONE { &links[..1] } else { &links }));
        }
        let leg = |host: u32| self.known_leg(HostId(host)).expect("it was asked for when the flow began");
        let (from, to) = (leg(lone.from & !HOSTS), leg(lone.to));
        let link = |slot: u32, weight: f64| {
            let link = ConstraintId(slot);
            wanted(link, weight, self.fact(link))
        };
        let mut links = Links::from_slice(&[link(from.up, 1.0), link(to.down, 1.0)]);
        let back = self.numbers.reverse_weight;
        if back > 0.0 {
            links.extend([link(to.up, back), link(from.down, back)]);
        }
        let (up, down) = (ConstraintId(from.up), ConstraintId(to.down));
        (self.way_of_two((up, self.fact(up)), (down, self.fact(down))), links)
    }

    fn way_of_one(&self, link: ConstraintId, fact: Fact) -> Found {
        let Fact { bandwidth, latency, .. } = fact;
        let penalty = latency + part(self.numbers.weight_s, bandwidth);
        Found { latency, penalty, narrowest: bandwidth, narrowest_at: link.0 }
    }

    #[inline]
    fn way_of_two(&self, first: (ConstraintId, Fact), second: (ConstraintId, Fact)) -> Found {
        let ((up, up_fact), (down, down_fact)) = (first, second);
        let weight_s = self.numbers.weight_s;
        let latency = up_fact.latency + down_fact.latency;
        let penalty = latency + part(weight_s, up_fact.bandwidth) + part(weight_s, down_fact.bandwidth);
        let (narrowest, narrowest_at) = match down_fact.bandwidth < up_fact.bandwidth {
            true => (down_fact.bandwidth, down.0),
            false => (up_fact.bandwidth, up.0),
        };
        Found { latency, penalty, narrowest, narrowest_at }
    }
}

#[inline]
fn wanted(constraint: ConstraintId, weight: f64, fact: Fact) -> Wanted {
    Wanted { constraint, weight, capacity: Capacity { amount: fact.bandwidth, sharing: fact.sharing } }
}

impl Numbers {
    /// Starts a flow that will have its links to itself, if that can be: it has something to wait for and something to
    /// move, and nobody has asked for anything else.
    #[inline(always)]
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
