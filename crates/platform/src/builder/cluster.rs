//! Clusters: many equal hosts at once, with the links of a regular shape.

use std::fmt::Write;
use std::ops::RangeInclusive;

use crate::builder::PlatformBuilder;
use crate::builder::limits::check;
use crate::ids::{LinkId, ZoneId};
use crate::inventory::{Half, Properties, Sharing};
use crate::routing::cluster::{Blocks, Cluster, Shape};
use crate::routing::dragonfly::Dragonfly;
use crate::routing::fat_tree::FatTree;
use crate::routing::torus::Torus;
use crate::zone::Routing;

/// A cluster to be made: see [`PlatformBuilder::cluster`].
///
/// Its hosts are named PREFIX NUMBER SUFFIX, its links `NAME_link_NUMBER`, its router PREFIX `NAME_router` SUFFIX.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterSpec {
    /// The name of the zone.
    pub name: String,
    /// What the names of the hosts begin with.
    pub prefix: String,
    /// What they end with.
    pub suffix: String,
    /// The numbers of the hosts.
    pub radical: Vec<RangeInclusive<u32>>,
    /// Flop/s of a core, one for each power state.
    pub speeds: Vec<f64>,
    /// Cores of each host.
    pub cores: u32,
    /// Of the private links, and the unit of the others in a dragonfly, in bytes a second.
    pub bandwidth: f64,
    /// Of all links between hosts, in seconds.
    pub latency: f64,
    /// Whether the private links have a bandwidth for each direction.
    pub private: PrivateLinks,
    /// What all routes of a flat cluster cross.
    pub backbone: Option<BackboneSpec>,
    /// What a host crosses to itself.
    pub loopback: Option<LoopbackSpec>,
    /// What a host can send and receive altogether, in bytes a second.
    pub limiter: Option<f64>,
    /// The name of the router of a flat cluster, if not the usual one.
    pub router: Option<String>,
    /// What lies between the hosts.
    pub topology: Topology,
    /// Properties of the zone and of each of its hosts.
    pub properties: Properties,
}

/// How the private links of a cluster are shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PrivateLinks {
    /// A bandwidth for each direction.
    SplitDuplex,
    /// One bandwidth for both.
    Shared,
}

/// The link in the middle of a flat cluster.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BackboneSpec {
    /// Bytes a second.
    pub bandwidth: f64,
    /// Seconds.
    pub latency: f64,
    /// How flows share it.
    pub sharing: Sharing,
}

/// The link from a host of a cluster to itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LoopbackSpec {
    /// Bytes a second, for each flow.
    pub bandwidth: f64,
    /// Seconds.
    pub latency: f64,
}

/// The shape of a cluster.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Topology {
    /// Private links to a backbone, or to a crossbar that limits nothing.
    Flat,
    /// A grid that wraps around, with these sizes.
    Torus(Vec<u32>),
    /// Layers of switches, the lowest first.
    FatTree {
        /// Children of a node of each level.
        down: Vec<u32>,
        /// Parents of a node of the level below.
        up: Vec<u32>,
        /// Parallel cables between a node and each of its parents.
        count: Vec<u32>,
    },
    /// Groups of chassis of blades of nodes.
    Dragonfly {
        /// How many groups, and the bandwidth between two, in private links.
        groups: (u32, u32),
        /// How many chassis in a group, and the bandwidth between two.
        chassis: (u32, u32),
        /// How many blades in a chassis, and the bandwidth between two.
        blades: (u32, u32),
        /// How many nodes on a blade.
        nodes: u32,
    },
}

impl ClusterSpec {
    /// Hosts `NAME-0`, `NAME-1`... of one core of 1 Gf, with private links of 125 MBps and 50 us.
    pub fn new(name: &str, hosts: u32) -> Self {
        ClusterSpec {
            name: name.to_owned(),
            prefix: format!("{name}-"),
            suffix: String::new(),
            radical: if hosts == 0 { Vec::new() } else { vec![0..=hosts - 1] },
            speeds: vec![1e9],
            cores: 1,
            bandwidth: 125e6,
            latency: 50e-6,
            private: PrivateLinks::SplitDuplex,
            backbone: None,
            loopback: None,
            limiter: None,
            router: None,
            topology: Topology::Flat,
            properties: Properties::new(),
        }
    }

    pub(super) fn host_count(&self) -> u64 {
        self.radical
            .iter()
            .map(|range| (u64::from(*range.end()) + 1).saturating_sub(u64::from(*range.start())))
            .sum()
    }
}

impl Topology {
    pub(super) fn routing(&self) -> Routing {
        match self {
            Topology::Flat => Routing::Flat,
            Topology::Torus(_) => Routing::Torus,
            Topology::FatTree { .. } => Routing::FatTree,
            Topology::Dragonfly { .. } => Routing::Dragonfly,
        }
    }

    /// How many hosts the shape has room for.
    pub(super) fn hosts(&self) -> Option<u64> {
        let product =
            |sizes: &[u32]| sizes.iter().try_fold(1_u64, |product, &size| product.checked_mul(size.into()));
        match self {
            Topology::Flat => None,
            Topology::Torus(sizes) => product(sizes),
            Topology::FatTree { down, .. } => product(down),
            Topology::Dragonfly { groups, chassis, blades, nodes } => {
                product(&[groups.0, chassis.0, blades.0, *nodes])
            }
        }
    }
}

impl PlatformBuilder {
    /// A zone of many equal hosts, inside another zone or, with `None`, as the root.
    pub fn cluster(&mut self, parent: impl Into<Option<ZoneId>>, spec: ClusterSpec) -> ZoneId {
        let before = self.drafts.len();
        let zone = self.add_zone(parent.into(), &spec.name, spec.topology.routing());
        if let Err(complaint) = check(&spec) {
            self.fail(complaint);
        }
        if self.failed() || before == self.drafts.len() {
            return zone;
        }
        self.expand(zone, &spec);
        self.drafts[zone.index()].properties = spec.properties;
        zone
    }

    fn expand(&mut self, zone: ZoneId, spec: &ClusterSpec) {
        let hosts = spec.host_count() as u32;
        let name_length = spec.prefix.len() + spec.suffix.len() + 7;
        self.reserve(hosts as usize, name_length);
        self.drafts[zone.index()].members.reserve(hosts as usize + 1);
        let privates = match &spec.topology {
            Topology::Flat | Topology::Dragonfly { .. } => 1,
            Topology::Torus(sizes) => sizes.len() as u32,
            Topology::FatTree { .. } => 0,
        };
        let mut blocks = Blocks {
            first: self.things.links.len() as u32,
            stride: 0,
            has_loopback: spec.loopback.is_some(),
            has_limiter: spec.limiter.is_some(),
            split: spec.private == PrivateLinks::SplitDuplex,
        };
        blocks.stride =
            u32::from(blocks.has_loopback) + u32::from(blocks.has_limiter) + privates * blocks.width();
        let torus = match &spec.topology {
            Topology::Torus(sizes) => Some(Torus { sizes: sizes.clone() }),
            _ => None,
        };
        let mut name = String::new();
        for (rank, radical) in (0..).zip(spec.radical.iter().cloned().flatten()) {
            name.clear();
            let _ = write!(name, "{}{radical}{}", spec.prefix, spec.suffix);
            self.add_host(zone, &name, &spec.speeds, spec.cores);
            if let Some(loopback) = spec.loopback {
                name.clear();
                let _ = write!(name, "{}_link_{radical}_loopback", spec.name);
                self.add_link(&name, loopback.bandwidth, loopback.latency, Sharing::FatPipe, Half::Whole);
            }
            if let Some(limiter) = spec.limiter {
                name.clear();
                let _ = write!(name, "{}_link_{radical}_limiter", spec.name);
                self.add_link(&name, limiter, 0.0, Sharing::Shared, Half::Whole);
            }
            match &torus {
                Some(torus) => self.torus_links(spec, torus, rank, &mut name),
                None if privates == 1 => {
                    name.clear();
                    let _ = write!(name, "{}_link_{radical}", spec.name);
                    self.cable(spec, &mut name, 1);
                }
                None => {}
            }
            if self.failed() {
                return;
            }
        }
        let shape = match &spec.topology {
            Topology::Flat => Shape::Flat,
            Topology::Torus(sizes) => Shape::Torus(Torus { sizes: sizes.clone() }),
            Topology::FatTree { .. } => Shape::FatTree(self.fat_tree(spec, &blocks, hosts)),
            Topology::Dragonfly { .. } => Shape::Dragonfly(self.dragonfly(spec)),
        };
        let backbone = spec.backbone.map(|backbone| {
            let name = format!("{}_backbone", spec.name);
            self.add_link(&name, backbone.bandwidth, backbone.latency, backbone.sharing, Half::Whole)
        });
        if matches!(spec.topology, Topology::Flat) {
            let usual = || format!("{}{}_router{}", spec.prefix, spec.name, spec.suffix);
            self.add_router(zone, &spec.router.clone().unwrap_or_else(usual));
        }
        self.drafts[zone.index()].cluster = Some(Cluster { hosts, blocks, backbone, shape });
    }

    fn torus_links(&mut self, spec: &ClusterSpec, torus: &Torus, rank: u32, name: &mut String) {
        for dimension in 0..torus.sizes.len() {
            name.clear();
            let right = torus.right(rank, dimension);
            let _ = write!(name, "{}_link_from_{rank}_to_{right}", spec.name);
            if right == rank {
                // A dimension of size 1 has a link that no route takes; several of them need different names.
                let _ = write!(name, "_{dimension}");
            }
            self.cable(spec, name, 1);
        }
    }

    /// A cable of so many times the private links' bandwidth: one link, or two if these are split.
    fn cable(&mut self, spec: &ClusterSpec, name: &mut String, times: u32) {
        let bandwidth = spec.bandwidth * f64::from(times);
        if spec.private == PrivateLinks::Shared {
            self.add_link(name, bandwidth, spec.latency, Sharing::Shared, Half::Whole);
            return;
        }
        let length = name.len();
        name.push_str("_UP");
        self.add_link(name, bandwidth, spec.latency, Sharing::Shared, Half::Up);
        name.truncate(length);
        name.push_str("_DOWN");
        self.add_link(name, bandwidth, spec.latency, Sharing::Shared, Half::Down);
    }

    fn fat_tree(&mut self, spec: &ClusterSpec, blocks: &Blocks, hosts: u32) -> FatTree {
        let Topology::FatTree { down, up, count } = &spec.topology else {
            unreachable!("called for fat trees")
        };
        let mut tree = FatTree {
            down: down.clone(),
            up: up.clone(),
            count: count.clone(),
            hosts_before: self.fat_tree_hosts,
            cables: Vec::new(),
            limiters: Vec::new(),
        };
        self.fat_tree_hosts = self.fat_tree_hosts.saturating_add(hosts);
        let mut name = String::new();
        for level in 1..=tree.levels() {
            tree.cables.push(self.things.links.len() as u32);
            let children = FatTree::width(down, up, level - 1).unwrap_or(0);
            for child in 0..children {
                for port in 0..up[level - 1] * count[level - 1] {
                    let (parent, cable) = tree.parent(level, child, port);
                    name.clear();
                    let _ = write!(
                        name,
                        "{}_link_from_{}.{child}_to_{level}.{parent}_{cable}",
                        spec.name,
                        level - 1
                    );
                    debug_assert_eq!(
                        tree.cable(blocks, level, child, port) as usize,
                        self.things.links.len()
                    );
                    self.cable(spec, &mut name, 1);
                }
            }
        }
        if let Some(limiter) = spec.limiter {
            for level in 1..=tree.levels() {
                tree.limiters.push(self.things.links.len() as u32);
                for switch in 0..FatTree::width(down, up, level).unwrap_or(0) {
                    let name = format!("{}_switch_{level}.{switch}_limiter", spec.name);
                    self.add_link(&name, limiter, 0.0, Sharing::Shared, Half::Whole);
                }
            }
        }
        tree
    }

    fn dragonfly(&mut self, spec: &ClusterSpec) -> Dragonfly {
        let Topology::Dragonfly { groups, chassis, blades, nodes } = &spec.topology else {
            unreachable!("called for dragonflies")
        };
        let (blue, black, green) = (groups.1, chassis.1, blades.1);
        let (groups, chassis, blades) = (groups.0, chassis.0, blades.0);
        let mut name = String::new();
        let green_first = self.things.links.len() as u32;
        for group in 0..groups {
            for chassis in 0..chassis {
                self.pair_cables(spec, &mut name, blades, green, &format!("green_{group}.{chassis}"));
            }
        }
        let black_first = self.things.links.len() as u32;
        for group in 0..groups {
            for blade in 0..blades {
                self.pair_cables(spec, &mut name, chassis, black, &format!("black_{group}.{blade}"));
            }
        }
        let blue_first = self.things.links.len() as u32;
        self.pair_cables(spec, &mut name, groups, blue, "blue");
        let limiters = spec.limiter.map(|limiter| {
            let first = self.things.links.len() as u32;
            for router in 0..groups * chassis * blades {
                let name = format!("{}_router_{router}_limiter", spec.name);
                self.add_link(&name, limiter, 0.0, Sharing::Shared, Half::Whole);
            }
            LinkId(first).0
        });
        Dragonfly {
            groups,
            chassis,
            blades,
            nodes: *nodes,
            green: green_first,
            black: black_first,
            blue: blue_first,
            limiters,
        }
    }

    /// A cable between each two of so many.
    fn pair_cables(&mut self, spec: &ClusterSpec, name: &mut String, of: u32, times: u32, colour: &str) {
        for low in 0..of {
            for high in low + 1..of {
                name.clear();
                let _ = write!(name, "{}_link_{colour}_{low}_{high}", spec.name);
                self.cable(spec, name, times);
            }
        }
    }
}
