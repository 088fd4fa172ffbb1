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

/// A route as declared, or the way back of one, before its links are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Way {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Which of the declared routes.
    pub(crate) route: u32,
    pub(crate) is_back: bool,
}

/// Ways by source, then by target, then as they were: each source has its place counted beforehand, and its own few are sorted if
/// they are not in order, as they are in most files.
pub(crate) fn sorted(members: usize, ways: &[Way]) -> Vec<Way> {
    let mut rows = vec![0; members + 1];
    for way in ways {
        rows[way.from as usize + 1] += 1;
    }
    for member in 0..members {
        rows[member + 1] += rows[member];
    }
    let mut sorted = vec![Way { from: 0, to: 0, route: 0, is_back: false }; ways.len()];
    let mut next = rows.clone();
    for way in ways {
        let place: &mut usize = &mut next[way.from as usize];
        sorted[*place] = *way;
        *place += 1;
    }
    for row in rows.windows(2) {
        let row = &mut sorted[row[0]..row[1]];
        if !row.is_sorted_by_key(|way| way.to) {
            row.sort_by_key(|way| way.to);
        }
    }
    sorted
}

impl DeclaredRoutes {
    /// From ways that are [`sorted`] and all different. `links` adds those of a way to the list, and says where it leaves and enters its
    /// two members.
    pub(crate) fn new(
        members: usize,
        ways: &[Way],
        links_in_all: usize,
        has_zones: bool,
        mut links: impl FnMut(&Way, &mut Vec<LinkId>) -> Ends,
    ) -> Self {
        let mut table = DeclaredRoutes {
            rows: vec![0; members + 1],
            targets: Vec::with_capacity(ways.len()),
            starts: Vec::with_capacity(ways.len() + 1),
            links: Vec::with_capacity(links_in_all),
            ends: Vec::with_capacity(if has_zones { ways.len() } else { 0 }),
        };
        table.starts.push(0);
        for way in ways {
            table.rows[way.from as usize + 1] += 1;
            table.targets.push(way.to);
            let ends = links(way, &mut table.links);
            table.starts.push(table.links.len() as u32);
            if has_zones {
                table.ends.push(ends);
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
