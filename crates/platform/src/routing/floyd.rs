//! Fewest links between all pairs at once: Floyd, "Algorithm 97: Shortest Path", CACM 5(6), 1962.
//!
//! Ties are broken as the reference does: the middle point outermost, then source, then target, in member order, and
//! only a strictly shorter way replaces another. The table of a small zone is made when the first route is asked for.
//!
//! That takes the cube of the members. In larger zones the same ways are found for one target at a time ([`Inbound`]). What
//! the algorithm takes for the way from `i` to `j` is put together at the last middle point that made it shorter. That is the least
//! `k` such that a way of the least cost has no middle point after `k`: of all ways of least cost, the one whose last middle point is
//! first. And the member before `j` is then the one before `j` on the way from `k`, whose own middle points are all before `k`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::OnceLock;

use crate::ids::ZoneId;
use crate::routing::declared::DeclaredRoutes;
use crate::routing::{DeadEnd, Ends, Finder, Reason};
use crate::zone::ZoneRecord;

/// More members than this would take gigabytes.
pub(crate) const MEMBERS_MAX: usize = 8192;

/// Up to so many members a table of all pairs takes no time.
const TABLE_MAX: usize = 256;

/// The declared routes, and how they combine.
pub(crate) struct Floyd {
    pub(crate) declared: DeclaredRoutes,
    hops: Hops,
}

/// For each source and target, the member before the target on the way there.
enum Hops {
    Table(OnceLock<Table>),
    ByTarget(OnceLock<Inbound>),
}

const NOWHERE: u16 = u16::MAX;

impl Floyd {
    pub(crate) fn new(declared: DeclaredRoutes) -> Self {
        assert!(declared.members() <= MEMBERS_MAX, "the builder limits Floyd zones");
        let hops = if declared.members() <= TABLE_MAX {
            Hops::Table(OnceLock::new())
        } else {
            Hops::ByTarget(OnceLock::new())
        };
        Floyd { declared, hops }
    }

    /// The member before `to` on the way from `from`.
    fn before(&self, from: u32, to: u32) -> Option<u32> {
        let before = match &self.hops {
            Hops::Table(table) => table.get_or_init(|| Table::new(&self.declared)).before(from, to),
            Hops::ByTarget(inbound) => inbound.get_or_init(|| Inbound::new(&self.declared)).before(from, to),
        };
        (before != NOWHERE).then_some(u32::from(before))
    }
}

/// All pairs at once, as published.
struct Table {
    members: usize,
    before: Vec<u16>,
}

impl Table {
    fn new(declared: &DeclaredRoutes) -> Self {
        let members = declared.members();
        let mut costs = vec![u32::MAX; members * members];
        let mut before = vec![NOWHERE; members * members];
        for (from, to, links) in declared.iter() {
            let at = from as usize * members + to as usize;
            costs[at] = links.len() as u32;
            before[at] = from as u16;
        }
        let (mut middle_costs, mut middle_before) = (Vec::new(), Vec::new());
        for middle in 0..members {
            let row = middle * members..(middle + 1) * members;
            middle_costs.clear();
            middle_costs.extend_from_slice(&costs[row.clone()]);
            middle_before.clear();
            middle_before.extend_from_slice(&before[row]);
            for from in 0..members {
                let to_middle = costs[from * members + middle];
                if to_middle == u32::MAX {
                    continue;
                }
                let row = from * members..(from + 1) * members;
                let ways = costs[row.clone()].iter_mut().zip(&mut before[row]);
                for ((cost, last), (&rest, &rest_last)) in ways.zip(middle_costs.iter().zip(&middle_before)) {
                    let through = to_middle.saturating_add(rest);
                    if through < *cost {
                        *cost = through;
                        *last = rest_last;
                    }
                }
            }
        }
        Table { members, before }
    }

    fn before(&self, from: u32, to: u32) -> u16 {
        self.before[from as usize * self.members + to as usize]
    }
}

/// The routes that lead to each member, and the ways to those targets that were asked for.
struct Inbound {
    /// Where the routes to each target start in `routes`; one more than there are members.
    rows: Vec<u32>,
    /// Source and cost.
    routes: Vec<(u16, u32)>,
    /// By target, then by source: the member before the target.
    ways: Vec<OnceLock<Box<[u16]>>>,
}

impl Inbound {
    fn new(declared: &DeclaredRoutes) -> Self {
        let members = declared.members();
        let mut by_target: Vec<Vec<(u16, u32)>> = vec![Vec::new(); members];
        for (from, to, links) in declared.iter() {
            by_target[to as usize].push((from as u16, links.len() as u32));
        }
        let mut rows = vec![0];
        let mut routes = Vec::new();
        for row in by_target {
            routes.extend(row);
            rows.push(routes.len() as u32);
        }
        Inbound { rows, routes, ways: (0..members).map(|_| OnceLock::new()).collect() }
    }

    fn before(&self, from: u32, to: u32) -> u16 {
        self.ways[to as usize].get_or_init(|| self.ways_to(to as u16))[from as usize]
    }

    /// Dijkstra's algorithm from the target backwards, over costs and then over the last middle points.
    fn ways_to(&self, to: u16) -> Box<[u16]> {
        const NONE: u16 = 0;
        let members = self.ways.len();
        // The cost, and one more than the last of the middle points.
        let mut labels = vec![(u32::MAX, u16::MAX); members];
        let mut before = vec![NOWHERE; members];
        let mut queue = BinaryHeap::new();
        labels[usize::from(to)] = (0, NONE);
        queue.push(Reverse(((0, NONE), to)));
        while let Some(Reverse((label, at))) = queue.pop() {
            if label != labels[usize::from(at)] {
                continue;
            }
            let (cost, last) = label;
            if at != to {
                // The way from the last middle point costs no more, and its own middle points are before that one.
                before[usize::from(at)] = match last.checked_sub(1) {
                    None => at,
                    Some(middle) => before[usize::from(middle)],
                };
            }
            let last = if at == to { NONE } else { last.max(at + 1) };
            let row = self.rows[usize::from(at)] as usize..self.rows[usize::from(at) + 1] as usize;
            for &(from, links) in &self.routes[row] {
                let through = (cost.saturating_add(links), last);
                if through < labels[usize::from(from)] {
                    labels[usize::from(from)] = through;
                    queue.push(Reverse((through, from)));
                }
            }
        }
        before.into_boxed_slice()
    }
}

impl Finder<'_> {
    pub(crate) fn floyd(
        &mut self,
        zone: ZoneId,
        record: &ZoneRecord,
        floyd: &Floyd,
        from: u32,
        to: u32,
    ) -> Result<Ends, DeadEnd> {
        if from == to {
            let at = floyd.declared.find(from, to);
            return self.itself(zone, record, &floyd.declared, at, from);
        }
        self.along_hops(zone, record, &floyd.declared, from, to, |at| floyd.before(from, at))
    }

    /// A declared route from a member to itself, else the implicit loopback.
    pub(crate) fn itself(
        &mut self,
        zone: ZoneId,
        record: &ZoneRecord,
        declared: &DeclaredRoutes,
        at: Option<usize>,
        member: u32,
    ) -> Result<Ends, DeadEnd> {
        match at {
            Some(at) => self.links.extend_from_slice(declared.links(at)),
            None => self.implicit_loopback(record).map_err(|reason| DeadEnd {
                zone,
                from: member,
                to: member,
                reason,
            })?,
        }
        let point = record.members[member as usize];
        Ok(Ends { src: point, dst: point })
    }

    /// Appends the declared routes on the way from `from` to `to`, given each member's predecessor on it. Where one
    /// route enters a zone by another gateway than the next one leaves it by, the way between the two comes between.
    pub(crate) fn along_hops(
        &mut self,
        zone: ZoneId,
        record: &ZoneRecord,
        declared: &DeclaredRoutes,
        from: u32,
        to: u32,
        before: impl Fn(u32) -> Option<u32>,
    ) -> Result<Ends, DeadEnd> {
        let point = |member: u32| record.members[member as usize];
        let start = self.links.len();
        let mut ends = Ends { src: point(from), dst: point(to) };
        let mut next_leaves = None;
        let mut at = to;
        // Predecessors lead backwards: everything is written in reverse, then turned round at once.
        while at != from {
            let hop = before(at).and_then(|previous| Some((previous, declared.find(previous, at)?)));
            let Some((previous, route)) = hop else {
                return Err(DeadEnd { zone, from, to, reason: Reason::Unconnected });
            };
            let enters = declared.end_dst(route, point(at));
            match next_leaves {
                None => ends.dst = enters,
                Some(leaves) if leaves != enters => {
                    let joint = self.links.len();
                    self.global(enters, leaves)?;
                    self.links[joint..].reverse();
                }
                Some(_) => {}
            }
            self.links.extend(declared.links(route).iter().rev());
            let leaves = declared.end_src(route, point(previous));
            next_leaves = Some(leaves);
            ends.src = leaves;
            at = previous;
        }
        self.links[start..].reverse();
        Ok(ends)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ids::{HostId, LinkId, Point};
    use crate::routing::declared::{Collector, Way};

    /// From, to, and how many links.
    fn routes(members: usize, ways: impl IntoIterator<Item = (u32, u32, u32)>) -> DeclaredRoutes {
        let ends = Ends { src: Point::Host(HostId(0)), dst: Point::Host(HostId(0)) };
        let ways: Vec<(u32, u32, u32)> = ways.into_iter().collect();
        let mut counts = vec![0; members];
        ways.iter().for_each(|(from, ..)| counts[*from as usize] += 1);
        let mut collector = Collector::new(&counts, false);
        for (from, to, length) in ways {
            collector.add(Way { from, to, ends }, (0..length).map(|_| LinkId(0)));
        }
        collector.finish().unwrap_or_else(|double| panic!("{double:?}"))
    }

    proptest! {
        /// Costs are few, so that most ways have others of the same cost.
        #[test]
        fn the_ways_to_one_target_are_those_of_the_table(
            members in 2..14_usize,
            lengths in prop::collection::vec(prop::option::weighted(0.3, 0..4_u32), 14 * 14),
        ) {
            let ends = (0..members).flat_map(|from| (0..members).map(move |to| (from, to)));
            let ways = ends.filter_map(|(from, to)| Some((from as u32, to as u32, lengths[from * 14 + to]?)));
            let declared = routes(members, ways);
            let (table, inbound) = (Table::new(&declared), Inbound::new(&declared));
            for (from, to) in (0..members as u32).flat_map(|from| (0..members as u32).map(move |to| (from, to))) {
                if from != to {
                    prop_assert_eq!(inbound.before(from, to), table.before(from, to), "{} to {}", from, to);
                }
            }
        }
    }

    #[test]
    fn a_ring_of_three_thousand_takes_no_minutes() {
        let members = 3000;
        let both = (0..members).flat_map(|from| {
            let next = (from + 1) % members;
            [(from, next, 1), (next, from, 1)]
        });
        let floyd = Floyd::new(routes(members as usize, both));
        // The other way round is longer.
        let mut at = 1400;
        while at != 0 {
            assert_eq!(floyd.before(0, at), Some(at - 1));
            at -= 1;
        }
    }
}
