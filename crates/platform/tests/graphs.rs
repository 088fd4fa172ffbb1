//! Random graphs: Floyd and Dijkstra zones find routes as short as an obvious breadth-first search does.

use std::collections::VecDeque;

use proptest::prelude::*;
use simurgh_platform::{Platform, Routing};

/// A declared route between two members, of so many links.
type Edge = (usize, usize, usize);

/// The fewest links from a host to each: each link a step, with points of no name between the links of a route.
fn shortest(hosts: usize, edges: &[Edge], from: usize) -> Vec<Option<usize>> {
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); hosts];
    for &(a, b, links) in edges {
        let mut path = vec![a];
        for _ in 1..links {
            path.push(neighbours.len());
            neighbours.push(Vec::new());
        }
        path.push(b);
        for pair in path.windows(2) {
            neighbours[pair[0]].push(pair[1]);
            neighbours[pair[1]].push(pair[0]);
        }
    }
    let mut distances = vec![None; neighbours.len()];
    distances[from] = Some(0);
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        for &next in &neighbours[at] {
            if distances[next].is_none() {
                distances[next] = distances[at].map(|distance: usize| distance + 1);
                queue.push_back(next);
            }
        }
    }
    distances.truncate(hosts);
    distances
}

fn build(routing: Routing, hosts: usize, edges: &[Edge]) -> Platform {
    let mut b = Platform::builder();
    let world = b.zone("world", routing);
    let ids: Vec<_> = (0..hosts).map(|host| b.host(world, &format!("h{host}"), 1e9).id()).collect();
    for (number, &(from, to, links)) in edges.iter().enumerate() {
        let links: Vec<_> =
            (0..links).map(|at| b.link(world, &format!("l{number}.{at}"), 1e6, 1e-3).id()).collect();
        b.route(world, ids[from], ids[to], links);
    }
    b.build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: simurgh_testing::cases(150), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn routes_are_shortest(hosts in 2_usize..9, wanted in prop::collection::vec((0_usize..9, 0_usize..9, 1_usize..4), 0..14)) {
        let mut edges: Vec<Edge> = Vec::new();
        for (a, b, links) in wanted {
            let (a, b) = (a % hosts, b % hosts);
            if a != b && !edges.iter().any(|edge| (edge.0, edge.1) == (a, b) || (edge.1, edge.0) == (a, b)) {
                edges.push((a, b, links));
            }
        }
        for routing in [Routing::Floyd, Routing::Dijkstra] {
            let platform = build(routing, hosts, &edges);
            for src in platform.hosts() {
                let distances = shortest(hosts, &edges, src.index());
                for dst in platform.hosts().filter(|&dst| dst != src) {
                    let length = platform.route(src, dst).ok().map(|route| route.links.len());
                    prop_assert_eq!(length, distances[dst.index()], "{:?}: {} to {}", routing, src, dst);
                }
            }
        }
    }
}
