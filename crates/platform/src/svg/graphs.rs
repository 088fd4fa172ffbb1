//! Full, Floyd and Dijkstra zones: members placed by their routes, lines along these.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{LinkId, Point, ZoneId};
use crate::platform::Platform;
use crate::routing::declared::DeclaredRoutes;
use crate::svg::layout::{DENSE, layout};
use crate::svg::scatter::overlap;
use crate::svg::scene::{Scene, grid, shorten, text_width};
use crate::svg::{Drawing, nodes};
use crate::units::show_count;

/// More nodes than this are not placed one by one.
const NODES_MAX: usize = 48;
/// Hosts that hang on one router beyond this many become one card.
const LEAVES_MAX: usize = 6;

/// A declared route between two members, in one of its directions.
struct Edge {
    ends: (usize, usize),
    links: Vec<LinkId>,
}

impl Drawing<'_> {
    pub(super) fn graph(&self, id: ZoneId, routes: Option<&DeclaredRoutes>, depth: u32) -> (Scene, String) {
        let members = self.platform.zone(id).members;
        let edges = routes.map_or_else(Vec::new, |routes| plain_edges(members.len(), routes));
        let (mut nodes, edges) = self.nodes(members, edges, depth);
        let places = nodes.len();
        let edges = with_hubs(self.platform, &mut nodes, edges);
        if nodes.len() > NODES_MAX {
            return (self.crowd(members, depth), format!("{} routes", show_count(edges.len() as u64)));
        }
        if edges.is_empty() {
            return (grid(&nodes, 24.0), String::new());
        }
        (self.placed(&nodes, &edges, places), String::new())
    }

    /// A scene for each member; where there are many, hosts of one neighbour become one card.
    fn nodes(&self, members: &[Point], edges: Vec<Edge>, depth: u32) -> (Vec<Scene>, Vec<Edge>) {
        let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); members.len()];
        for edge in &edges {
            neighbours[edge.ends.0].push(edge.ends.1);
            neighbours[edge.ends.1].push(edge.ends.0);
        }
        let mut leaves: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        if members.len() > 24 {
            for (member, around) in neighbours.iter().enumerate() {
                if let ([centre], Point::Host(_)) = (&around[..], members[member]) {
                    leaves.entry(*centre).or_default().push(member);
                }
            }
        }
        leaves.retain(|_, hosts| hosts.len() > LEAVES_MAX);
        let mut node_of: Vec<Option<usize>> = vec![None; members.len()];
        let mut scenes = Vec::new();
        for hosts in leaves.values() {
            let names =
                [hosts[0], hosts[hosts.len() - 1]].map(|host| self.platform.point_name(members[host]));
            scenes.push(nodes::card(&[
                format!("{} hosts", show_count(hosts.len() as u64)),
                format!("{} to", shorten(names[0], 24)),
                shorten(names[1], 24),
            ]));
            for &host in hosts {
                node_of[host] = Some(scenes.len() - 1);
            }
        }
        for (member, point) in members.iter().enumerate() {
            if node_of[member].is_none() {
                node_of[member] = Some(scenes.len());
                // Nothing is drawn of a crowd's members, which is summed up.
                scenes.push(if members.len() > 600 {
                    Scene::new(1.0, 1.0)
                } else {
                    self.member(*point, depth)
                });
            }
        }
        let mut joined = Vec::new();
        let mut seen = BTreeSet::new();
        for edge in edges {
            let (Some(a), Some(b)) = (node_of[edge.ends.0], node_of[edge.ends.1]) else { continue };
            if a != b && seen.insert((a.min(b), a.max(b))) {
                joined.push(Edge { ends: (a, b), links: edge.links });
            }
        }
        (scenes, joined)
    }

    fn member(&self, point: Point, depth: u32) -> Scene {
        match point {
            Point::Zone(zone) => self.zone(zone, depth + 1),
            _ => nodes::point(self.platform, point),
        }
    }

    /// The first members and how many more.
    fn crowd(&self, members: &[Point], depth: u32) -> Scene {
        let shown = members.len().min(23);
        let mut scenes: Vec<Scene> =
            members[..shown].iter().map(|point| self.member(*point, depth)).collect();
        if shown < members.len() {
            scenes.push(nodes::card(&[format!("{} more", show_count((members.len() - shown) as u64))]));
        }
        grid(&scenes, 20.0)
    }

    /// Lines first, nodes over them, then words; lines to nodes from `hubs` on need no words.
    fn placed(&self, nodes: &[Scene], edges: &[Edge], hubs: usize) -> Scene {
        let sizes: Vec<(f64, f64)> = nodes.iter().map(|node| (node.width, node.height)).collect();
        let ends: Vec<(usize, usize)> = edges.iter().map(|edge| edge.ends).collect();
        let widths: Vec<f64> = edges
            .iter()
            .map(|edge| if edge.ends.1 < hubs { text_width(&self.words(&edge.links), 10.0) } else { 0.0 })
            .collect();
        let mut places = layout(&sizes, &ends, &widths);
        let corner = |axis: fn(&(f64, f64)) -> f64| {
            sizes
                .iter()
                .zip(&places)
                .map(|(size, place)| axis(place) - axis(size) / 2.0)
                .fold(f64::INFINITY, f64::min)
        };
        let (left, top) = (corner(|pair| pair.0), corner(|pair| pair.1));
        for place in &mut places {
            *place = (place.0 - left + 6.0, place.1 - top + 6.0);
        }
        let areas: Vec<[f64; 4]> =
            sizes.iter().zip(&places).map(|(size, place)| area(*place, *size)).collect();
        let right = areas.iter().map(|area| area[2]).fold(0.0, f64::max) + 6.0;
        let bottom = areas.iter().map(|area| area[3]).fold(0.0, f64::max) + 6.0;
        let mut scene = Scene::new(right, bottom);
        for edge in edges {
            let slowest = self.slowest(&edge.links);
            let (class, width) = nodes::stroke(self.platform, slowest);
            let width = if edges.len() > DENSE { 0.5 } else { width };
            scene.line(class, width, places[edge.ends.0], places[edge.ends.1]);
        }
        for (node, area) in nodes.iter().zip(&areas) {
            scene.place(area[0], area[1], node);
        }
        let mut taken: Vec<[f64; 4]> =
            areas.iter().map(|a| [a[0] - 3.0, a[1] - 3.0, a[2] + 3.0, a[3] + 3.0]).collect();
        for edge in edges.iter().filter(|edge| edges.len() <= DENSE && edge.ends.1 < hubs) {
            let (a, b) = (edge.ends.0, edge.ends.1);
            let line = (border(places[a], places[b], sizes[a]), border(places[b], places[a], sizes[b]));
            self.label(&mut scene, &self.words(&edge.links), line, &mut taken);
        }
        scene
    }

    /// Writes along a line where nothing else is, or not at all.
    fn label(
        &self,
        scene: &mut Scene,
        words: &str,
        line: ((f64, f64), (f64, f64)),
        taken: &mut Vec<[f64; 4]>,
    ) {
        let size = (text_width(words, 10.0) + 4.0, 13.0);
        for t in [0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74, 0.18, 0.82] {
            let (from, to) = line;
            let centre = (from.0 + (to.0 - from.0) * t, from.1 + (to.1 - from.1) * t);
            let area = area(centre, size);
            let inside = area[0] > 0.0 && area[1] > 0.0 && area[2] < scene.width && area[3] < scene.height;
            if inside && !taken.iter().any(|other| overlap(&area, other)) {
                scene.rect("plate", (area[0], area[1]), size, 3.0);
                scene.text("tiny", "middle", (centre.0, centre.1 + 3.5), words);
                taken.push(area);
                return;
            }
        }
    }

    fn words(&self, links: &[LinkId]) -> String {
        match links {
            [link] => shorten(self.platform.link(*link).name, 20),
            [first, second] => {
                let names = [first, second].map(|link| shorten(self.platform.link(*link).name, 12));
                names.join(", ")
            }
            _ => format!("{} links", links.len()),
        }
    }

    fn slowest(&self, links: &[LinkId]) -> LinkId {
        let bandwidth = |link: &&LinkId| self.platform.link(**link).bandwidth;
        links
            .iter()
            .min_by(|a, b| bandwidth(a).total_cmp(&bandwidth(b)))
            .copied()
            .unwrap_or(self.platform.loopback)
    }
}

/// Each joined pair once, without routes that are others in a row: those are seen anyway.
fn plain_edges(members: usize, routes: &DeclaredRoutes) -> Vec<Edge> {
    let mut pairs: BTreeMap<(usize, usize), Vec<LinkId>> = BTreeMap::new();
    // Contrived routes could be taken apart in very many ways; what is not found soon is drawn.
    let mut budget = if members > 200 { 0 } else { 1_000_000 };
    for (from, to, links) in routes.iter() {
        if from != to && !is_composite(routes, from, to, links, &mut budget) {
            let pair = (from.min(to) as usize, from.max(to) as usize);
            pairs.entry(pair).or_insert_with(|| links.to_vec());
        }
    }
    pairs.into_iter().map(|(ends, links)| Edge { ends, links }).collect()
}

/// Whether the links of a route are those of at least two other routes, one after the other.
fn is_composite(routes: &DeclaredRoutes, from: u32, to: u32, links: &[LinkId], budget: &mut u32) -> bool {
    routes.row(from).any(|first| {
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        let (middle, head) = (routes.target(first), routes.links(first));
        if middle == from || middle == to || head.len() >= links.len() || !links.starts_with(head) {
            return false;
        }
        let rest = &links[head.len()..];
        let last = routes.find(middle, to);
        last.is_some_and(|last| routes.links(last) == rest) || is_composite(routes, middle, to, rest, budget)
    })
}

/// Where at least three nodes are joined each to each by the same single link, that link becomes a node between them.
fn with_hubs(platform: &Platform, nodes: &mut Vec<Scene>, edges: Vec<Edge>) -> Vec<Edge> {
    let mut users: BTreeMap<LinkId, BTreeSet<usize>> = BTreeMap::new();
    let mut counts: BTreeMap<LinkId, usize> = BTreeMap::new();
    for edge in &edges {
        if let [link] = edge.links[..] {
            users.entry(link).or_default().extend([edge.ends.0, edge.ends.1]);
            *counts.entry(link).or_default() += 1;
        }
    }
    users.retain(|link, users| users.len() > 2 && counts[link] == users.len() * (users.len() - 1) / 2);
    let mut result: Vec<Edge> = edges
        .into_iter()
        .filter(|edge| !(edge.links.len() == 1 && users.contains_key(&edge.links[0])))
        .collect();
    for (link, users) in users {
        let hub = nodes.len();
        nodes.push(nodes::hub(platform, link));
        result.extend(users.into_iter().map(|user| Edge { ends: (user, hub), links: vec![link] }));
    }
    result
}

fn area(centre: (f64, f64), size: (f64, f64)) -> [f64; 4] {
    [centre.0 - size.0 / 2.0, centre.1 - size.1 / 2.0, centre.0 + size.0 / 2.0, centre.1 + size.1 / 2.0]
}

/// Where the line from the centre of a box to another point leaves the box.
fn border(centre: (f64, f64), to: (f64, f64), size: (f64, f64)) -> (f64, f64) {
    let (dx, dy) = (to.0 - centre.0, to.1 - centre.1);
    let scale = (size.0 / 2.0 / dx.abs().max(1e-9)).min(size.1 / 2.0 / dy.abs().max(1e-9)).min(1.0);
    (centre.0 + dx * scale, centre.1 + dy * scale)
}
