//! The declared routes of a zone, found by their two ends.

use crate::ids::{LinkId, Point};
use crate::routing::Ends;

/// One-way routes between members, sorted by source then target.
#[derive(Default)]
pub(crate) struct DeclaredRoutes {
    /// Where the routes of each source start in `targets`; one more than there are members.
    rows: Vec<u32>,
    targets: Vec<u32>,
    /// Where the links of each route start in `links`; one more than there are routes.
    starts: Vec<u32>,
    links: Vec<LinkId>,
    /// One for each route in a zone of zones, else none at all.
    ends: Vec<Ends>,
}

/// A route as declared, or the way back of one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneWay {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// A part of the list of links given along.
    pub(crate) links: (u32, u32),
    pub(crate) ends: Ends,
}

impl DeclaredRoutes {
    /// From routes in any order, whose links are parts of `links`. The caller has excluded duplicates.
    pub(crate) fn new(members: usize, mut routes: Vec<OneWay>, links: &[LinkId], has_zones: bool) -> Self {
        routes.sort_by_key(|route| (route.from, route.to));
        let mut table = DeclaredRoutes { rows: vec![0; members + 1], ..Default::default() };
        table.starts.push(0);
        for route in &routes {
            table.rows[route.from as usize + 1] += 1;
            table.targets.push(route.to);
            table.links.extend_from_slice(&links[route.links.0 as usize..route.links.1 as usize]);
            table.starts.push(table.links.len() as u32);
            if has_zones {
                table.ends.push(route.ends);
            }
        }
        for member in 0..members {
            table.rows[member + 1] += table.rows[member];
        }
        table
    }

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
        &self.links[self.starts[route] as usize..self.starts[route + 1] as usize]
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
