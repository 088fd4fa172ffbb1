//! Fat trees with D-Mod-K routing: Zahavi, "D-Mod-K Routing Providing Non-Blocking Traffic for Shift Permutations on
//! Real Life Fat Trees", 2010.
//!
//! A node is its level (0: hosts) and its position there. The position is a number of L digits, the first the
//! fastest; at level l, digit j runs below `up[j]` if j <= l and below `down[j]` otherwise. A node and its parent at
//! level l differ in digit l alone. Departing from the paper, as the reference does: hosts are counted on over all
//! the fat trees of a platform, and the way down goes on scanning where it stopped one level above.

use crate::ids::LinkId;
use crate::routing::cluster::{Blocks, Direction};
use crate::routing::star::add_once;

/// Level l of the text is index l - 1 of these lists.
pub(crate) struct FatTree {
    pub(crate) down: Vec<u32>,
    pub(crate) up: Vec<u32>,
    pub(crate) count: Vec<u32>,
    /// Hosts of the fat trees declared before this one.
    pub(crate) hosts_before: u32,
    /// The first link of the cables between level l - 1 and level l.
    pub(crate) cables: Vec<u32>,
    /// The first limiter of the switches of each level, where there are limiters.
    pub(crate) limiters: Vec<u32>,
}

impl FatTree {
    pub(crate) fn levels(&self) -> usize {
        self.down.len()
    }

    /// How many nodes there are at a level; `None` if beyond counting.
    pub(crate) fn width(down: &[u32], up: &[u32], level: usize) -> Option<u32> {
        let radices = up[..level].iter().chain(&down[level..]);
        radices.into_iter().try_fold(1_u32, |product, &radix| product.checked_mul(radix))
    }

    /// The parent of a node of level `level - 1` by one of its ports, with the cable's number among parallel ones.
    pub(crate) fn parent(&self, level: usize, child: u32, port: u32) -> (u32, u32) {
        let (up, down, weight) = (self.up[level - 1], self.down[level - 1], self.weight(level));
        let (low, high) = (child % weight, child / weight / down);
        (low + weight * (port % up + up * high), port / up)
    }

    /// The first link of the cable from a node of level `level - 1` up by a port.
    pub(crate) fn cable(&self, blocks: &Blocks, level: usize, child: u32, port: u32) -> u32 {
        let ports = self.up[level - 1] * self.count[level - 1];
        self.cables[level - 1] + (child * ports + port) * blocks.width()
    }

    pub(crate) fn route(&self, blocks: &Blocks, from: u32, to: u32, route: &mut Vec<LinkId>) {
        let start = route.len();
        let mut level = 0;
        let mut at = from;
        self.limit(blocks, level, at, start, route);
        while level == 0 || !self.is_above(level, at, to) {
            level += 1;
            let ports = self.up[level - 1] * self.count[level - 1];
            let port = (self.hosts_before + to) / self.weight(level) % ports;
            route.push(blocks.half(self.cable(blocks, level, at, port), Direction::Up));
            at = self.parent(level, at, port).0;
            self.limit(blocks, level, at, start, route);
        }
        while level > 0 {
            let mut port = (self.hosts_before + from) % self.count[level - 1] * self.down[level - 1];
            while level > 0 && port < self.down[level - 1] * self.count[level - 1] {
                if port % self.down[level - 1] == self.host_digit(to, level) {
                    at = self.descend(blocks, level, at, port, route);
                    level -= 1;
                    self.limit(blocks, level, at, start, route);
                }
                port += 1;
            }
        }
        debug_assert_eq!(at, to, "each level sets one more digit to the destination's");
    }

    /// Takes a port of a node down, and returns the child.
    fn descend(&self, blocks: &Blocks, level: usize, node: u32, port: u32, route: &mut Vec<LinkId>) -> u32 {
        let (up, down, weight) = (self.up[level - 1], self.down[level - 1], self.weight(level));
        let (low, digit, high) = (node % weight, node / weight % up, node / weight / up);
        let child = low + weight * (port % down + down * high);
        let child_port = digit + port / down * up;
        route.push(blocks.half(self.cable(blocks, level, child, child_port), Direction::Down));
        child
    }

    /// Whether a node of a level is above a host: their digits beyond that level agree.
    fn is_above(&self, level: usize, node: u32, host: u32) -> bool {
        let (ups, downs): (u32, u32) = (self.weight(level + 1), self.down[..level].iter().product());
        node / ups == host / downs
    }

    /// The weight of digit `level` in the position of nodes at that level and just below.
    fn weight(&self, level: usize) -> u32 {
        self.up[..level - 1].iter().product()
    }

    fn host_digit(&self, host: u32, level: usize) -> u32 {
        let weight: u32 = self.down[..level - 1].iter().product();
        host / weight % self.down[level - 1]
    }

    fn limit(&self, blocks: &Blocks, level: usize, node: u32, start: usize, route: &mut Vec<LinkId>) {
        match level {
            // A host to itself passes its limiter twice: once out, once in.
            0 => route.extend(blocks.limiter(node)),
            _ => {
                if let Some(first) = self.limiters.get(level - 1) {
                    add_once(route, start, LinkId(first + node));
                }
            }
        }
    }
}
