//! The declared routes of a zone, found by their two ends.

use crate::ids::{HostId, LinkId, Point};
use crate::routing::Ends;

/// One-way routes between members, sorted by source then target.
#[derive(Default)]
pub(crate) struct DeclaredRoutes {
    /// Where the routes of each source start in `targets`; one more than there are members.
    rows: Vec<u32>,
    targets: Vec<u32>,
    /// Where the links of each route start and end in `links`.
    spans: Vec<(u32, u32)>,
    links: Vec<LinkId>,
    /// One for each route in a zone of zones, else none at all.
    ends: Vec<Ends>,
}

/// A route as declared, or the way back of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) ends: Ends,
}

/// Routes being collected. How many each source has is said beforehand, so each finds its place at once.
pub(crate) struct Collector {
    table: DeclaredRoutes,
    /// The place of the next route of each source.
    next: Vec<u32>,
    has_zones: bool,
}

impl Collector {
    /// `counts` has the number of routes of each source.
    pub(crate) fn new(counts: &[u32], has_zones: bool) -> Self {
        let mut rows = vec![0];
        let mut all = 0;
        for count in counts {
            all += count;
            rows.push(all);
        }
        let routes = all as usize;
        let nowhere = Point::Host(HostId(0));
        let ends = vec![Ends { src: nowhere, dst: nowhere }; if has_zones { routes } else { 0 }];
        let next = rows[..counts.len()].to_vec();
        let (targets, spans) = (vec![0; routes], vec![(0, 0); routes]);
        Collector { table: DeclaredRoutes { rows, targets, spans, links: Vec::new(), ends }, next, has_zones }
    }

    /// Adds a way over some links.
    pub(crate) fn add(&mut self, way: Way, links: impl IntoIterator<Item = LinkId>) {
        let table = &mut self.table;
        let start = table.links.len() as u32;
        table.links.extend(links);
        let place = &mut self.next[way.from as usize];
        let at = *place as usize;
        *place += 1;
        table.targets[at] = way.to;
        table.spans[at] = (start, table.links.len() as u32);
        if self.has_zones {
            table.ends[at] = way.ends;
        }
    }

    /// The table, or the first two members with two routes from one to the other. The routes of a source are sorted if they are not in
    /// order, as they are in most files.
    pub(crate) fn finish(self) -> Result<DeclaredRoutes, (u32, u32)> {
        let Collector { mut table, next, has_zones } = self;
        debug_assert_eq!(next, table.rows[1..], "as many were added as were counted");
        for from in 0..table.members() as u32 {
            let row = table.row(from);
            let targets = &table.targets[row.clone()];
            if !targets.is_sorted() {
                let mut order: Vec<usize> = row.clone().collect();
                order.sort_by_key(|&at| table.targets[at]);
                permute(&mut table.targets, &order, row.start);
                permute(&mut table.spans, &order, row.start);
                if has_zones {
                    permute(&mut table.ends, &order, row.start);
                }
            }
            let double = table.targets[row].windows(2).find(|pair| pair[0] == pair[1]);
            if let Some(pair) = double {
                return Err((from, pair[0]));
            }
        }
        table.links.shrink_to_fit();
        Ok(table)
    }
}

/// Puts what stands at the places of a list one after the other, from a place on.
fn permute<T: Copy>(things: &mut [T], order: &[usize], start: usize) {
    let sorted: Vec<T> = order.iter().map(|&at| things[at]).collect();
    things[start..start + sorted.len()].copy_from_slice(&sorted);
}

impl DeclaredRoutes {
    pub(crate) fn find(&self, from: u32, to: u32) -> Option<usize> {
        let row = self.row(from);
        let first = row.start;
        self.targets[row].binary_search(&to).ok().map(|offset| first + offset)
    }

    /// The routes from a member.
    pub(crate) fn row(&self, from: u32) -> std::ops::Range<usize> {
        self.rows[from as usize] as usize..self.rows[from as usize + 1] as usize
    }

    pub(crate) fn target(&self, route: usize) -> u32 {
        self.targets[route]
    }

    pub(crate) fn links(&self, route: usize) -> &[LinkId] {
        let (start, end) = self.spans[route];
        &self.links[start as usize..end as usize]
    }

    /// Where it leaves and enters its two members, if these may be zones.
    pub(crate) fn ends(&self, route: usize) -> Option<Ends> {
        self.ends.get(route).copied()
    }

    pub(crate) fn members(&self) -> usize {
        self.rows.len() - 1
    }

    /// Source, target and links of each route, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, u32, &[LinkId])> {
        (0..self.members() as u32)
            .flat_map(move |from| self.row(from).map(move |at| (from, self.targets[at], self.links(at))))
    }

    /// Where a route leaves its source.
    pub(crate) fn end_src(&self, route: usize, otherwise: Point) -> Point {
        self.ends(route).map_or(otherwise, |ends| ends.src)
    }

    /// Where a route enters its target.
    pub(crate) fn end_dst(&self, route: usize, otherwise: Point) -> Point {
        self.ends(route).map_or(otherwise, |ends| ends.dst)
    }
}
