//! Fewest links from one source at a time: Dijkstra, "A note on two problems in connexion with graphs", 1959.
//!
//! Ties are broken as the reference does: points are numbered by their first appearance in the declared routes, the
//! one of least (cost, number) leaves the queue first, and only a strictly lower cost replaces another. The ways
//! from a source are found when the first route from it is asked for, and kept.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

use crate::ids::ZoneId;
use crate::routing::declared::DeclaredRoutes;
use crate::routing::{DeadEnd, Ends, Finder};
use crate::zone::ZoneRecord;

/// The declared routes, and the ways from each source that was asked for.
pub(crate) struct Dijkstra {
    pub(crate) declared: DeclaredRoutes,
    /// By member; [`u32::MAX`] for members that no route names.
    numbers: Vec<u32>,
    trees: Vec<OnceLock<Box<[u32]>>>,
}

const NOWHERE: u32 = u32::MAX;

impl Dijkstra {
    /// `appearance` lists the ends of the declared routes, source then target, in the order of the file.
    pub(crate) fn new(declared: DeclaredRoutes, appearance: impl Iterator<Item = u32>) -> Self {
        let members = declared.members();
        let mut numbers = vec![NOWHERE; members];
        let mut next = 0;
        for member in appearance {
            if numbers[member as usize] == NOWHERE {
                numbers[member as usize] = next;
                next += 1;
            }
        }
        let trees = (0..members).map(|_| OnceLock::new()).collect();
        Dijkstra { declared, numbers, trees }
    }

    /// The member before `to` on the way from `from`.
    fn before(&self, from: u32, to: u32) -> Option<u32> {
        let tree = self.trees[from as usize].get_or_init(|| self.tree(from));
        let before = tree[to as usize];
        (before != NOWHERE).then_some(before)
    }

    fn tree(&self, from: u32) -> Box<[u32]> {
        let members = self.declared.members();
        let mut costs = vec![u32::MAX; members];
        let mut before = vec![NOWHERE; members];
        let mut queue = BinaryHeap::new();
        costs[from as usize] = 0;
        queue.push(Reverse((0, self.numbers[from as usize], from)));
        while let Some(Reverse((cost, _, at))) = queue.pop() {
            if cost > costs[at as usize] {
                continue;
            }
            for route in self.declared.row(at) {
                let to = self.declared.target(route) as usize;
                let through = cost + self.declared.links(route).len() as u32;
                if through < costs[to] {
                    costs[to] = through;
                    before[to] = at;
                    queue.push(Reverse((through, self.numbers[to], to as u32)));
                }
            }
        }
        before.into_boxed_slice()
    }
}

impl Finder<'_> {
    pub(crate) fn dijkstra(
        &mut self,
        zone: ZoneId,
        record: &ZoneRecord,
        dijkstra: &Dijkstra,
        from: u32,
        to: u32,
    ) -> Result<Ends, DeadEnd> {
        if from == to {
            let at = dijkstra.declared.find(from, to);
            return self.itself(zone, record, &dijkstra.declared, at, from);
        }
        self.along_hops(zone, record, &dijkstra.declared, from, to, |at| dijkstra.before(from, at))
    }
}
