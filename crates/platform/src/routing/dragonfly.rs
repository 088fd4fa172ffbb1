//! Dragonflies: groups of chassis of blades (Kim et al., "Technology-Driven, Highly-Scalable Dragonfly Topology",
//! ISCA 2008), with the minimal routes of the Cray Cascade as the reference computes them.
//!
//! One router for each blade. Green links join the blades of a chassis, black ones the chassis of a group (one for
//! each blade), blue ones the groups: between groups i < j from router j of group i to router i of group j.

use crate::ids::LinkId;
use crate::routing::cluster::{Blocks, Direction};

/// How many of each, and where the links are.
pub(crate) struct Dragonfly {
    pub(crate) groups: u32,
    pub(crate) chassis: u32,
    pub(crate) blades: u32,
    pub(crate) nodes: u32,
    pub(crate) green: u32,
    pub(crate) black: u32,
    pub(crate) blue: u32,
    /// The first limiter of the routers.
    pub(crate) limiters: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Router {
    group: u32,
    chassis: u32,
    blade: u32,
}

impl Dragonfly {
    pub(crate) fn route(&self, blocks: &Blocks, from: u32, to: u32, route: &mut Vec<LinkId>) {
        let (mut at, target) = (self.router(from), self.router(to));
        route.extend(blocks.limiter(from));
        route.push(blocks.private(from, 0, Direction::Up));
        self.limit(at, route);
        if at.group != target.group {
            if at.blade != target.group {
                at = self.green(blocks, at, target.group, route);
            }
            if at.chassis != 0 {
                at = self.black(blocks, at, 0, route);
            }
            route.push(between(blocks, self.blue, self.groups, at.group, target.group));
            at = Router { group: target.group, chassis: 0, blade: at.group };
            self.limit(at, route);
        }
        if at.blade != target.blade {
            route.push(self.green_link(blocks, at, target.blade));
            // From here on the reference takes the chassis to be the first one, whatever it was.
            at = Router { chassis: 0, blade: target.blade, ..at };
            self.limit(at, route);
        }
        if at.chassis != target.chassis {
            self.black(blocks, at, target.chassis, route);
        }
        route.push(blocks.private(to, 0, Direction::Down));
        // To itself, a host passes its limiter twice: once out, once in.
        route.extend(blocks.limiter(to));
    }

    fn green(&self, blocks: &Blocks, at: Router, blade: u32, route: &mut Vec<LinkId>) -> Router {
        route.push(self.green_link(blocks, at, blade));
        let at = Router { blade, ..at };
        self.limit(at, route);
        at
    }

    fn green_link(&self, blocks: &Blocks, at: Router, blade: u32) -> LinkId {
        let first = self.green + (at.group * self.chassis + at.chassis) * pairs(self.blades) * blocks.width();
        between(blocks, first, self.blades, at.blade, blade)
    }

    fn black(&self, blocks: &Blocks, at: Router, chassis: u32, route: &mut Vec<LinkId>) -> Router {
        let first = self.black + (at.group * self.blades + at.blade) * pairs(self.chassis) * blocks.width();
        route.push(between(blocks, first, self.chassis, at.chassis, chassis));
        let at = Router { chassis, ..at };
        self.limit(at, route);
        at
    }

    fn router(&self, rank: u32) -> Router {
        let blade = rank / self.nodes;
        let chassis = blade / self.blades;
        Router { group: chassis / self.chassis, chassis: chassis % self.chassis, blade: blade % self.blades }
    }

    fn limit(&self, at: Router, route: &mut Vec<LinkId>) {
        if let Some(first) = self.limiters {
            route.push(LinkId(first + (at.group * self.chassis + at.chassis) * self.blades + at.blade));
        }
    }
}

/// How many pairs there are of so many.
pub(crate) fn pairs(of: u32) -> u32 {
    of * of.saturating_sub(1) / 2
}

/// The link between two of so many, the cables of all pairs being in order from `first`; UP from the lower.
fn between(blocks: &Blocks, first: u32, of: u32, from: u32, to: u32) -> LinkId {
    let (low, high) = (from.min(to), from.max(to));
    let pair = low * (2 * of - low - 1) / 2 + (high - low - 1);
    let direction = if from < to { Direction::Up } else { Direction::Down };
    blocks.half(first + pair * blocks.width(), direction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_numbered_one_after_the_other() {
        let blocks = Blocks { first: 0, stride: 1, has_loopback: false, has_limiter: false, split: false };
        let mut next = 0;
        for low in 0..5 {
            for high in low + 1..5 {
                assert_eq!(between(&blocks, 0, 5, low, high), LinkId(next));
                assert_eq!(between(&blocks, 0, 5, high, low), LinkId(next));
                next += 1;
            }
        }
        assert_eq!(next, pairs(5));
    }
}
