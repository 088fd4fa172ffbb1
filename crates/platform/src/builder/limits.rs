//! What a cluster must satisfy before anything is made of it: parameters that agree, and sizes that fit.

use crate::builder::cluster::{ClusterSpec, Topology};
use crate::error::Complaint;
use crate::routing::dragonfly::pairs;
use crate::routing::fat_tree::FatTree;

/// More hosts than this in one cluster is a typing mistake, or needs another way to be described.
pub(crate) const HOSTS_MAX: u64 = 1 << 22;
/// The same for the links between them.
const LINKS_MAX: u64 = 1 << 24;

/// Says what is wrong with a cluster, if anything.
pub(super) fn check(spec: &ClusterSpec) -> Result<(), Complaint> {
    let name = &spec.name;
    let hosts = spec.host_count();
    if hosts == 0 {
        return Err(Complaint::new(
            format!("cluster {name:?} has no hosts"),
            "give it a radical such as \"0-15\"",
        ));
    }
    if hosts > HOSTS_MAX {
        return Err(Complaint::new(
            format!("cluster {name:?} has {hosts} hosts"),
            format!("a cluster has at most {HOSTS_MAX}"),
        ));
    }
    if spec.cores == 0 {
        return Err(Complaint::new(format!("cluster {name:?} has hosts of 0 cores"), "give them at least 1"));
    }
    if !matches!(spec.topology, Topology::Flat) {
        let kind = spec.topology.routing();
        if spec.backbone.is_some() {
            return Err(Complaint::new(
                format!("cluster {name:?} is a {kind} and has a backbone"),
                "remove bb_bw and bb_lat, or make it FLAT",
            ));
        }
        if spec.router.is_some() {
            return Err(Complaint::new(
                format!("cluster {name:?} is a {kind} and has a router"),
                "remove router_id, and use a host as gateway",
            ));
        }
        if spec.topology.hosts() != Some(hosts) {
            return Err(Complaint::new(
                match spec.topology.hosts() {
                    Some(room) => format!("cluster {name:?} has {hosts} hosts and a {kind} for {room}"),
                    None => format!("cluster {name:?} has {hosts} hosts and a {kind} beyond counting"),
                },
                "make the radical and the topo_parameters agree",
            ));
        }
    }
    let cables = match &spec.topology {
        Topology::Flat => hosts,
        Topology::Torus(sizes) => hosts.saturating_mul(sizes.len() as u64),
        Topology::FatTree { down, up, count } => check_fat_tree(name, down, up, count)?,
        Topology::Dragonfly { groups, chassis, blades, .. } => {
            if groups.0 > blades.0 {
                return Err(Complaint::new(
                    format!(
                        "dragonfly {name:?} has {} groups and only {} blades in a chassis",
                        groups.0, blades.0
                    ),
                    "a group is reached from the blade of its number: give at least as many blades as groups",
                ));
            }
            for (what, times) in [("groups", groups.1), ("chassis", chassis.1), ("blades", blades.1)] {
                if times == 0 {
                    return Err(Complaint::new(
                        format!("dragonfly {name:?} has 0 links between {what}"),
                        "give at least 1",
                    ));
                }
            }
            let all = u64::from(groups.0) * u64::from(chassis.0) * u64::from(blades.0);
            let each = u64::from(blades.0) + u64::from(chassis.0) + u64::from(groups.0);
            pairs_fit(name, [groups.0, chassis.0, blades.0])?;
            all.saturating_mul(each)
        }
    };
    if cables.saturating_mul(2) > LINKS_MAX {
        return Err(Complaint::new(
            format!("cluster {name:?} has about {cables} links"),
            format!("a cluster has at most {}", LINKS_MAX / 2),
        ));
    }
    Ok(())
}

fn check_fat_tree(name: &str, down: &[u32], up: &[u32], count: &[u32]) -> Result<u64, Complaint> {
    if down.is_empty() || up.len() != down.len() || count.len() != down.len() {
        return Err(Complaint::new(
            format!(
                "fat tree {name:?} has {} numbers of children, {} of parents and {} of cables",
                down.len(),
                up.len(),
                count.len()
            ),
            "give one of each for each level",
        ));
    }
    if [down, up, count].iter().any(|list| list.contains(&0)) {
        return Err(Complaint::new(
            format!("fat tree {name:?} has a 0 in its parameters"),
            "give at least 1",
        ));
    }
    let mut cables = 0_u64;
    for level in 1..=down.len() {
        let too_large = || {
            Complaint::new(
                format!("fat tree {name:?} has more switches or cables than can be counted"),
                "give smaller parameters",
            )
        };
        let children = FatTree::width(down, up, level - 1).ok_or_else(too_large)?;
        FatTree::width(down, up, level)
            .filter(|width| u64::from(*width) <= LINKS_MAX)
            .ok_or_else(too_large)?;
        let ports = u64::from(up[level - 1]) * u64::from(count[level - 1]);
        cables = cables.saturating_add(ports.saturating_mul(children.into()));
        if u64::from(down[level - 1]) * u64::from(count[level - 1]) > LINKS_MAX {
            return Err(too_large());
        }
    }
    Ok(cables)
}

/// Keeps the numbers of pairs within the arithmetic of routes.
fn pairs_fit(name: &str, counts: [u32; 3]) -> Result<(), Complaint> {
    if counts.iter().any(|&count| count > 8192) {
        return Err(Complaint::new(
            format!("dragonfly {name:?} has more than 8192 groups, chassis or blades"),
            "give smaller parameters",
        ));
    }
    debug_assert!(counts.iter().all(|&count| u64::from(pairs(count)) <= LINKS_MAX));
    Ok(())
}
