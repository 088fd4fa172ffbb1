//! Regular clusters against slow and obvious models of them: fat trees as graphs with ports, toruses as rings.

use proptest::prelude::*;
use simurgh_platform::{ClusterSpec, Platform, Topology};

/// A cable as seen from a node: where it leads, and its name.
#[derive(Clone, Debug)]
struct Port {
    node: usize,
    cable: String,
}

#[derive(Clone, Debug)]
struct Node {
    level: usize,
    /// Digit j of the text is at j - 1.
    digits: Vec<u32>,
    up: Vec<Port>,
    down: Vec<Port>,
}

struct Tree {
    levels: usize,
    down: Vec<u32>,
    up: Vec<u32>,
    count: Vec<u32>,
    nodes: Vec<Node>,
}

impl Tree {
    fn new(down: &[u32], up: &[u32], count: &[u32]) -> Tree {
        let levels = down.len();
        let mut nodes = Vec::new();
        let mut starts = Vec::new();
        for level in 0..=levels {
            starts.push(nodes.len());
            let radices: Vec<u32> = (0..levels).map(|j| if j < level { up[j] } else { down[j] }).collect();
            let mut digits = vec![0; levels];
            for _ in 0..radices.iter().product() {
                nodes.push(Node { level, digits: digits.clone(), up: Vec::new(), down: Vec::new() });
                for (digit, radix) in digits.iter_mut().zip(&radices) {
                    *digit += 1;
                    if *digit < *radix {
                        break;
                    }
                    *digit = 0;
                }
            }
        }
        let mut tree = Tree { levels, down: down.into(), up: up.into(), count: count.into(), nodes };
        tree.connect(&starts);
        tree
    }

    /// Joins nodes of neighbouring levels whose digits agree but for one, by their numbered ports.
    fn connect(&mut self, starts: &[usize]) {
        let blank = Port { node: usize::MAX, cable: String::new() };
        for at in 0..self.nodes.len() {
            let level = self.nodes[at].level;
            if level < self.levels {
                self.nodes[at].up = vec![blank.clone(); (self.up[level] * self.count[level]) as usize];
            }
            if level > 0 {
                self.nodes[at].down =
                    vec![blank.clone(); (self.down[level - 1] * self.count[level - 1]) as usize];
            }
        }
        for child in 0..self.nodes.len() {
            for parent in 0..self.nodes.len() {
                let level = self.nodes[parent].level;
                if level != self.nodes[child].level + 1 {
                    continue;
                }
                let (c, n) = (self.nodes[child].digits.clone(), self.nodes[parent].digits.clone());
                if (0..self.levels).any(|j| j != level - 1 && c[j] != n[j]) {
                    continue;
                }
                for k in 0..self.count[level - 1] {
                    let cable = format!(
                        "c_link_from_{}.{}_to_{level}.{}_{k}",
                        level - 1,
                        child - starts[level - 1],
                        parent - starts[level]
                    );
                    let up = (n[level - 1] + k * self.up[level - 1]) as usize;
                    let down = (c[level - 1] + k * self.down[level - 1]) as usize;
                    self.nodes[child].up[up] = Port { node: parent, cable: cable.clone() };
                    self.nodes[parent].down[down] = Port { node: child, cable };
                }
            }
        }
    }

    fn route(&self, src: usize, dst: usize) -> Vec<String> {
        let mut route = Vec::new();
        let mut at = src;
        let is_above = |node: &Node| {
            node.level > 0 && (node.level..self.levels).all(|j| node.digits[j] == self.nodes[dst].digits[j])
        };
        while !is_above(&self.nodes[at]) {
            let level = self.nodes[at].level;
            let below: u32 = self.up[..level].iter().product();
            let port = (dst as u32 / below) % (self.up[level] * self.count[level]);
            let port = &self.nodes[at].up[port as usize];
            route.push(format!("{}_UP", port.cable));
            at = port.node;
        }
        while self.nodes[at].level > 0 {
            let level = self.nodes[at].level;
            let mut port = (src as u32 % self.count[level - 1] * self.down[level - 1]) as usize;
            while port < self.nodes[at].down.len() {
                let level = self.nodes[at].level;
                if port as u32 % self.down[level - 1] == self.nodes[dst].digits[level - 1] {
                    route.push(format!("{}_DOWN", self.nodes[at].down[port].cable));
                    at = self.nodes[at].down[port].node;
                }
                port += 1;
            }
        }
        assert_eq!(at, dst);
        route
    }
}

fn built(hosts: u32, topology: Topology) -> Platform {
    let mut b = Platform::builder();
    b.cluster(None, ClusterSpec { topology, ..ClusterSpec::new("c", hosts) });
    b.build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: simurgh_testing::cases(60), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn fat_trees_route_as_their_graphs_do(levels in prop::collection::vec((1_u32..5, 1_u32..4, 1_u32..4), 1..4)) {
        let column = |at: fn(&(u32, u32, u32)) -> u32| levels.iter().map(at).collect::<Vec<u32>>();
        let (down, up, count) = (column(|l| l.0), column(|l| l.1), column(|l| l.2));
        let hosts: u32 = down.iter().product();
        let tree = Tree::new(&down, &up, &count);
        let platform = built(hosts, Topology::FatTree { down, up, count });
        for src in platform.hosts() {
            for dst in platform.hosts() {
                let links = platform.route(src, dst).unwrap().links;
                let names: Vec<&str> = links.iter().map(|&link| platform.link(link).name).collect();
                prop_assert_eq!(names, tree.route(src.index(), dst.index()));
            }
        }
    }

    #[test]
    fn toruses_take_a_shortest_way_round_each_ring(sizes in prop::collection::vec(1_u32..6, 1..4)) {
        let hosts: u32 = sizes.iter().product();
        let platform = built(hosts, Topology::Torus(sizes.clone()));
        for src in platform.hosts() {
            for dst in platform.hosts().filter(|&dst| dst != src) {
                let (mut a, mut b, mut length) = (src.0, dst.0, 0);
                for size in &sizes {
                    let apart = (a % size).abs_diff(b % size);
                    length += apart.min(size - apart);
                    (a, b) = (a / size, b / size);
                }
                prop_assert_eq!(platform.route(src, dst).unwrap().links.len(), length as usize);
            }
        }
    }

    #[test]
    fn dragonflies_start_and_end_at_their_hosts_and_change_group_once(groups in 1_u32..4, chassis in 1_u32..4, more in 0_u32..3, nodes in 1_u32..3) {
        let blades = groups + more;
        let topology = Topology::Dragonfly { groups: (groups, 2), chassis: (chassis, 3), blades: (blades, 4), nodes };
        let platform = built(groups * chassis * blades * nodes, topology);
        for src in platform.hosts() {
            for dst in platform.hosts() {
                let links = platform.route(src, dst).unwrap().links;
                let names: Vec<&str> = links.iter().map(|&link| platform.link(link).name).collect();
                prop_assert!((2..=8).contains(&links.len()));
                let first = format!("c_link_{}_UP", src.0);
                let last = format!("c_link_{}_DOWN", dst.0);
                prop_assert_eq!((names[0], names[names.len() - 1]), (first.as_str(), last.as_str()));
                let per_group = chassis * blades * nodes;
                let blue = names.iter().filter(|name| name.contains("_blue_")).count();
                prop_assert_eq!(blue, usize::from(src.0 / per_group != dst.0 / per_group));
            }
        }
    }
}
