//! Clusters: regular zones whose routes are arithmetic on the hosts' ranks; nothing is kept for a host or a pair.

use crate::ids::LinkId;
use crate::routing::Reason;
use crate::routing::dragonfly::Dragonfly;
use crate::routing::fat_tree::FatTree;
use crate::routing::star::add_once;
use crate::routing::torus::Torus;

/// Where the links of a cluster are. Each host has a block of consecutive links; the rest is the shape's.
pub(crate) struct Cluster {
    /// Members 0 to `hosts - 1`; one more member, if any, is the router.
    pub(crate) hosts: u32,
    pub(crate) blocks: Blocks,
    pub(crate) backbone: Option<LinkId>,
    pub(crate) shape: Shape,
}

/// The links that belong to single hosts: loopback, limiter, then the private ones.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    pub(crate) first: u32,
    pub(crate) stride: u32,
    pub(crate) has_loopback: bool,
    pub(crate) has_limiter: bool,
    /// Whether each private link is two, UP then DOWN.
    pub(crate) split: bool,
}

/// What lies between the hosts.
pub(crate) enum Shape {
    Flat,
    Torus(Torus),
    FatTree(FatTree),
    Dragonfly(Dragonfly),
}

/// A direction of a split link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Direction {
    Up,
    Down,
}

impl Cluster {
    pub(crate) fn route(&self, from: u32, to: u32, route: &mut Vec<LinkId>) -> Result<(), Reason> {
        if from == to
            && from < self.hosts
            && let Some(loopback) = self.blocks.loopback(from)
        {
            route.push(loopback);
            return Ok(());
        }
        match &self.shape {
            Shape::Flat => self.flat(from, to, route),
            Shape::Torus(torus) => return torus.route(&self.blocks, from, to, route),
            Shape::FatTree(tree) => tree.route(&self.blocks, from, to, route),
            Shape::Dragonfly(dragonfly) => dragonfly.route(&self.blocks, from, to, route),
        }
        Ok(())
    }

    /// The links of a host up and down, where these are all that routes have of it: in a flat cluster with nothing in between.
    pub(crate) fn leg(&self, host: u32) -> Option<(LinkId, LinkId)> {
        let is_star =
            matches!(self.shape, Shape::Flat) && self.backbone.is_none() && !self.blocks.has_limiter;
        let private = |direction| self.blocks.private(host, 0, direction);
        (is_star && host < self.hosts).then(|| (private(Direction::Up), private(Direction::Down)))
    }

    /// A star: limiter, private link, backbone; then the same the other way, no link twice.
    fn flat(&self, from: u32, to: u32, route: &mut Vec<LinkId>) {
        if from == to && from >= self.hosts {
            // The router has no links of its own.
            return;
        }
        let start = route.len();
        if from < self.hosts {
            route.extend(self.blocks.limiter(from));
            route.push(self.blocks.private(from, 0, Direction::Up));
        }
        if let Some(backbone) = self.backbone {
            add_once(route, start, backbone);
        }
        if to < self.hosts {
            add_once(route, start, self.blocks.private(to, 0, Direction::Down));
            if let Some(limiter) = self.blocks.limiter(to) {
                add_once(route, start, limiter);
            }
        }
    }
}

impl Blocks {
    pub(crate) fn loopback(&self, host: u32) -> Option<LinkId> {
        self.has_loopback.then(|| LinkId(self.first + host * self.stride))
    }

    pub(crate) fn limiter(&self, host: u32) -> Option<LinkId> {
        self.has_limiter.then(|| LinkId(self.first + host * self.stride + u32::from(self.has_loopback)))
    }

    /// A direction of the host's private link of that number.
    pub(crate) fn private(&self, host: u32, number: u32, direction: Direction) -> LinkId {
        let before = u32::from(self.has_loopback) + u32::from(self.has_limiter);
        let first = self.first + host * self.stride + before;
        self.half(first + number * self.width(), direction)
    }

    /// The links that one cable takes.
    pub(crate) fn width(&self) -> u32 {
        1 + u32::from(self.split)
    }

    /// A direction of the cable whose first link this is.
    pub(crate) fn half(&self, first: u32, direction: Direction) -> LinkId {
        LinkId(first + u32::from(self.split && direction == Direction::Down))
    }
}
