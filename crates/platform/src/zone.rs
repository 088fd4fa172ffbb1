//! Zones: parts of the platform that route in one way, nested in each other.

use std::collections::BTreeMap;
use std::fmt;

use crate::ids::{LinkId, Point, ZoneId};
use crate::inventory::Properties;
use crate::routing::Local;

/// How a zone finds the way between its members.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Routing {
    /// Each pair has a declared route.
    Full,
    /// Fewest links over the declared routes, all pairs computed together.
    Floyd,
    /// Fewest links over the declared routes, computed for each source.
    Dijkstra,
    /// Each member has links of its own to the centre.
    Star,
    /// A star with a backbone at its centre.
    Cluster,
    /// A star whose latencies come from coordinates.
    Vivaldi,
    /// Stations around an access point.
    Wifi,
    /// No routes.
    None,
    /// A cluster in which each host has a private link to a backbone or a crossbar.
    Flat,
    /// A cluster on a grid that wraps around.
    Torus,
    /// A cluster below layers of switches.
    FatTree,
    /// A cluster of groups of chassis of blades.
    Dragonfly,
}

impl Routing {
    /// The kinds that a platform file may name in `<zone routing="...">`, with their names.
    pub(crate) const NAMED: [(&'static str, Routing); 10] = [
        ("Full", Routing::Full),
        ("Floyd", Routing::Floyd),
        ("Dijkstra", Routing::Dijkstra),
        ("DijkstraCache", Routing::Dijkstra),
        ("Star", Routing::Star),
        ("Cluster", Routing::Cluster),
        ("Vivaldi", Routing::Vivaldi),
        ("Wifi", Routing::Wifi),
        ("None", Routing::None),
        ("Empty", Routing::None),
    ];

    /// Whether routes between two members are declared one by one.
    pub(crate) fn takes_routes(self) -> bool {
        matches!(self, Routing::Full | Routing::Floyd | Routing::Dijkstra)
    }

    /// Whether each member has its own links up and down.
    pub(crate) fn is_star(self) -> bool {
        matches!(self, Routing::Star | Routing::Cluster | Routing::Vivaldi)
    }

    /// Whether a `<cluster>` made it.
    pub(crate) fn is_regular(self) -> bool {
        matches!(self, Routing::Flat | Routing::Torus | Routing::FatTree | Routing::Dragonfly)
    }
}

impl fmt::Display for Routing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Routing::Full => "full",
            Routing::Floyd => "floyd",
            Routing::Dijkstra => "dijkstra",
            Routing::Star => "star",
            Routing::Cluster => "cluster",
            Routing::Vivaldi => "vivaldi",
            Routing::Wifi => "wifi",
            Routing::None => "none",
            Routing::Flat => "flat cluster",
            Routing::Torus => "torus",
            Routing::FatTree => "fat tree",
            Routing::Dragonfly => "dragonfly",
        })
    }
}

/// A zone as the platform keeps it.
pub(crate) struct ZoneRecord {
    pub(crate) parent: Option<ZoneId>,
    /// Its number among the members of its parent.
    pub(crate) member: u32,
    /// Zones around it.
    pub(crate) depth: u32,
    /// The line of the file, where there is one.
    pub(crate) line: Option<u32>,
    pub(crate) routing: Routing,
    /// In the order of the file.
    pub(crate) members: Vec<Point>,
    pub(crate) has_zones: bool,
    pub(crate) local: Local,
    /// Between two members, one way.
    pub(crate) bypasses: BTreeMap<(u32, u32), Box<[LinkId]>>,
    /// Between zones at any depth inside this one, one way.
    pub(crate) zone_bypasses: BTreeMap<(ZoneId, ZoneId), ZoneBypass>,
    pub(crate) properties: Properties,
}

/// Links from a gateway of one zone to a gateway of another, preferred to the route of the zone around both.
pub(crate) struct ZoneBypass {
    pub(crate) gateways: (Point, Point),
    pub(crate) links: Box<[LinkId]>,
}
