//! Routes on demand: the way between two hosts through nested zones.
//!
//! Two points of one zone are joined by that zone's local route. Otherwise the innermost zone around both has a
//! local route between its two members that contain them, from a gateway inside the one to a gateway inside the
//! other, and the way to and from the gateways is found by the same rule. A gateway is always inside its zone (the
//! builder refuses others), so each part is found in a smaller zone and the search ends.

pub(crate) mod cluster;
pub(crate) mod declared;
pub(crate) mod dijkstra;
pub(crate) mod dragonfly;
pub(crate) mod fat_tree;
pub(crate) mod floyd;
pub(crate) mod star;
pub(crate) mod torus;
pub(crate) mod vivaldi;
pub(crate) mod wifi;

use simurgh_files::shortened;

use crate::error::RouteError;
use crate::ids::{HostId, LinkId, Point, ZoneId};
use crate::inventory::HostRecord;
use crate::platform::Platform;
use crate::zone::{ZoneBypass, ZoneRecord};

/// The links from a host to another, in order.
#[derive(Default, Clone, Debug, PartialEq)]
pub struct Route {
    /// A link may come twice.
    pub links: Vec<LinkId>,
    /// The sum of the links' latencies, and of what Vivaldi's coordinates add, in seconds.
    pub latency: f64,
}

impl Platform {
    /// The route from a host to another, or to itself.
    pub fn route(&self, src: HostId, dst: HostId) -> Result<Route, RouteError> {
        let mut route = Route::default();
        self.route_into(src, dst, &mut route)?;
        Ok(route)
    }

    /// The same in a route that is used again and again, so that nothing is allocated once it has grown.
    pub fn route_into(&self, src: HostId, dst: HostId, route: &mut Route) -> Result<(), RouteError> {
        self.links_into(src, dst, route)?;
        let links = &self.things.links;
        route.latency += route.links.iter().map(|link| links[link.index()].latency).sum::<f64>();
        Ok(())
    }

    /// The way of a host to the centre of its star and back, where that is one link each: then the route to any other
    /// host of the same zone that has such a leg is the link up of the one and the link down of the other.
    pub fn star_leg(&self, host: HostId) -> Option<StarLeg> {
        let HostRecord { zone, member, .. } = self.things.hosts[host.index()];
        let record = &self.zones[zone.index()];
        match &record.local {
            Local::Star(star) if record.bypasses.is_empty() => {
                star.leg(member).map(|(up, down)| StarLeg { zone, up, down })
            }
            Local::Regular(cluster) if record.bypasses.is_empty() => {
                cluster.leg(member).map(|(up, down)| StarLeg { zone, up, down })
            }
            _ => None,
        }
    }

    /// The same, for those who know the links' latencies: that of the route is only what the links do not have.
    pub fn links_into(&self, src: HostId, dst: HostId, route: &mut Route) -> Result<(), RouteError> {
        route.links.clear();
        let (from, to) = (&self.things.hosts[src.index()], &self.things.hosts[dst.index()]);
        if from.zone == to.zone
            && let record = &self.zones[from.zone.index()]
            && let Local::Star(star) = &record.local
            && record.bypasses.is_empty()
            && star.plain_route(from.member, to.member, &mut route.links)
        {
            route.latency = 0.0;
            return Ok(());
        }
        let mut finder = Finder { platform: self, links: &mut route.links, extra_latency: 0.0 };
        let found = finder.global(Point::Host(src), Point::Host(dst));
        route.latency = finder.extra_latency;
        found.map_err(|dead_end| dead_end.explain(self, src, dst))
    }
}

/// What joins a host to the centre of its star.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct StarLeg {
    /// The star.
    pub zone: ZoneId,
    /// From the host to the centre.
    pub up: LinkId,
    /// From the centre to the host.
    pub down: LinkId,
}

/// The ways in which zones route between their members.
pub(crate) enum Local {
    None,
    Full(declared::DeclaredRoutes),
    Floyd(floyd::Floyd),
    Dijkstra(dijkstra::Dijkstra),
    Star(star::Star),
    Vivaldi(vivaldi::Vivaldi),
    Wifi(wifi::Wifi),
    Regular(cluster::Cluster),
}

/// The points at which a local route leaves one member and enters the other: gateways, or the members themselves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Ends {
    pub(crate) src: Point,
    pub(crate) dst: Point,
}

/// Why there is no way, in plain data: the text is made only when somebody will read it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DeadEnd {
    pub(crate) zone: ZoneId,
    pub(crate) from: u32,
    pub(crate) to: u32,
    pub(crate) reason: Reason,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reason {
    /// Nothing declared joins them.
    Unconnected,
    /// The zone has no routes by its kind.
    NoRoutesHere,
    /// A point to itself, where nothing is implied.
    NoWayToItself,
    /// A member of a star without links of its own.
    NoStarLinks(u32),
    /// A zone in a star or a Vivaldi zone, without a point to enter it by.
    NoGateway(u32),
    /// A member of a Vivaldi zone without coordinates.
    NoCoordinates(u32),
    /// A wifi zone without a wifi link.
    NoWifiLink,
}

/// A search for one route: where it is written, and what is not a link's latency.
pub(crate) struct Finder<'a> {
    pub(crate) platform: &'a Platform,
    pub(crate) links: &'a mut Vec<LinkId>,
    pub(crate) extra_latency: f64,
}

impl<'a> Finder<'a> {
    /// Appends the route between two hosts or routers, wherever they are.
    pub(crate) fn global(&mut self, src: Point, dst: Point) -> Result<(), DeadEnd> {
        let (mut src_zone, mut src_member) = self.platform.place_of(src);
        let (mut dst_zone, mut dst_member) = self.platform.place_of(dst);
        if src_zone == dst_zone {
            return self.inside(src_zone, src_member, dst_member).map(|_| ());
        }
        let zones = &self.platform.zones;
        while src_zone != dst_zone {
            let (s, d) = (&zones[src_zone.index()], &zones[dst_zone.index()]);
            if s.depth >= d.depth {
                src_member = s.member;
                src_zone = s.parent.unwrap_or(src_zone);
            }
            if d.depth >= s.depth {
                dst_member = d.member;
                dst_zone = d.parent.unwrap_or(dst_zone);
            }
        }
        let common = &zones[src_zone.index()];
        if let Some(bypass) = self.zone_bypass(src_zone, common, src, dst) {
            self.around_bypass(src, bypass.gateways.0)?;
            self.links.extend_from_slice(&bypass.links);
            return self.around_bypass(bypass.gateways.1, dst);
        }
        let start = self.links.len();
        let ends = self.within(src_zone, src_member, dst_member)?;
        if src != ends.src {
            let middle = self.links.len();
            self.global(src, ends.src)?;
            // The gateway is known only now; the way to it belongs in front.
            let prefix = self.links.len() - middle;
            self.links[start..].rotate_right(prefix);
        }
        if dst != ends.dst {
            self.global(ends.dst, dst)?;
        }
        Ok(())
    }

    /// A part of a route by a bypass of zones. An end that is the gateway itself goes to itself, by its loopback or
    /// however its zone does that; as in the reference, it does not do so on other routes. Where there is no
    /// way to itself, it needs none.
    fn around_bypass(&mut self, src: Point, dst: Point) -> Result<(), DeadEnd> {
        match self.global(src, dst) {
            Err(DeadEnd { reason: Reason::NoWayToItself, .. }) if src == dst => Ok(()),
            result => result,
        }
    }

    /// Appends the route of a zone between two of its members, and says where it leaves and enters them.
    fn within(&mut self, zone: ZoneId, from: u32, to: u32) -> Result<Ends, DeadEnd> {
        let ends = self.inside(zone, from, to)?;
        Ok(ends.or_members(&self.platform.zones[zone.index()], from, to))
    }

    /// The same, without looking up the members where the route leaves and enters them as such.
    fn inside(&mut self, zone: ZoneId, from: u32, to: u32) -> Result<OptionalEnds, DeadEnd> {
        let record = &self.platform.zones[zone.index()];
        if !record.bypasses.is_empty()
            && let Some(links) = record.bypasses.get(&(from, to))
        {
            self.links.extend_from_slice(links);
            return Ok(Ends::UNKNOWN);
        }
        let result = match &record.local {
            Local::None => Err(Reason::NoRoutesHere),
            Local::Full(routes) => self.full(record, routes, from, to),
            Local::Floyd(floyd) => return self.floyd(zone, record, floyd, from, to).map(Ends::known),
            Local::Dijkstra(dijkstra) => {
                return self.dijkstra(zone, record, dijkstra, from, to).map(Ends::known);
            }
            Local::Star(star) => star.route(from, to, self.links),
            Local::Vivaldi(vivaldi) => vivaldi.route(from, to, self.links).map(|(ends, latency)| {
                self.extra_latency += latency;
                ends
            }),
            Local::Wifi(wifi) => wifi.route(from, to, self.links).map(|()| Ends::UNKNOWN),
            Local::Regular(cluster) => cluster.route(from, to, self.links).map(|()| Ends::UNKNOWN),
        };
        result.map_err(|reason| DeadEnd { zone, from, to, reason })
    }

    fn full(
        &mut self,
        record: &ZoneRecord,
        routes: &declared::DeclaredRoutes,
        from: u32,
        to: u32,
    ) -> Result<OptionalEnds, Reason> {
        match routes.find(from, to) {
            Some(at) => {
                self.links.extend_from_slice(routes.links(at));
                Ok(routes.ends(at).map_or(Ends::UNKNOWN, |ends| (Some(ends.src), Some(ends.dst))))
            }
            None if from == to => {
                self.implicit_loopback(record)?;
                Ok(Ends::UNKNOWN)
            }
            None => Err(Reason::Unconnected),
        }
    }

    /// A host to itself, in a zone that has no zones inside.
    pub(crate) fn implicit_loopback(&mut self, record: &ZoneRecord) -> Result<(), Reason> {
        if record.has_zones {
            return Err(Reason::NoWayToItself);
        }
        self.links.push(self.platform.loopback);
        Ok(())
    }

    /// The bypass between the nearest pair of zones around the two ends, below their common zone.
    fn zone_bypass(
        &self,
        common: ZoneId,
        record: &'a ZoneRecord,
        src: Point,
        dst: Point,
    ) -> Option<&'a ZoneBypass> {
        if record.zone_bypasses.is_empty() {
            return None;
        }
        let src_zones = self.zones_below(common, src);
        let dst_zones = self.zones_below(common, dst);
        let pair = |i: usize, j: usize| record.zone_bypasses.get(&(*src_zones.get(i)?, *dst_zones.get(j)?));
        (0..src_zones.len().max(dst_zones.len())).find_map(|far| {
            let mixed = (0..far).find_map(|near| pair(near, far).or_else(|| pair(far, near)));
            mixed.or_else(|| pair(far, far))
        })
    }

    /// The zones around a point, innermost first, up to but without `common`.
    fn zones_below(&self, common: ZoneId, point: Point) -> Vec<ZoneId> {
        let mut zone = self.platform.place_of(point).0;
        let mut around = Vec::new();
        while zone != common {
            around.push(zone);
            let Some(parent) = self.platform.zones[zone.index()].parent else { break };
            zone = parent;
        }
        around
    }
}

/// Ends of a local route, each given only if it is not simply the member itself.
pub(crate) type OptionalEnds = (Option<Point>, Option<Point>);

impl Ends {
    /// The members themselves.
    pub(crate) const UNKNOWN: OptionalEnds = (None, None);

    fn known(self) -> OptionalEnds {
        (Some(self.src), Some(self.dst))
    }
}

trait OrMembers {
    fn or_members(self, record: &ZoneRecord, from: u32, to: u32) -> Ends;
}

impl OrMembers for OptionalEnds {
    fn or_members(self, record: &ZoneRecord, from: u32, to: u32) -> Ends {
        let members = record.ends(from, to);
        Ends { src: self.0.unwrap_or(members.src), dst: self.1.unwrap_or(members.dst) }
    }
}

impl ZoneRecord {
    fn ends(&self, from: u32, to: u32) -> Ends {
        Ends { src: self.members[from as usize], dst: self.members[to as usize] }
    }
}

impl DeadEnd {
    fn explain(self, platform: &Platform, src: HostId, dst: HostId) -> RouteError {
        let zone = platform.zone(self.zone);
        let name = |member: u32| platform.point_name(zone.members[member as usize]);
        let (from, to) = (name(self.from), name(self.to));
        let kind = zone.routing;
        let (problem, advice) = match self.reason {
            Reason::Unconnected => (
                format!("zone {:?} ({kind}) has no way from {from:?} to {to:?}", zone.name),
                "declare a route between them in that zone".to_owned(),
            ),
            Reason::NoRoutesHere => (
                format!("zone {:?} has routing \"None\", hence no routes", zone.name),
                "give it another routing, Full for instance".to_owned(),
            ),
            Reason::NoWayToItself => (
                format!("zone {:?} ({kind}) has no route from {from:?} to itself", zone.name),
                if zone.routing == Routing::Torus {
                    "give the cluster a loopback_bw".to_owned()
                } else {
                    "declare one: only zones without zones inside have a loopback of their own".to_owned()
                },
            ),
            Reason::NoStarLinks(member) => (
                format!("{:?} has no links in the star zone {:?}", name(member), zone.name),
                "declare its route with an empty other end".to_owned(),
            ),
            Reason::NoGateway(member) if zone.routing == Routing::Vivaldi => (
                format!("zone {:?} in the Vivaldi zone {:?} has no gateway", name(member), zone.name),
                format!("put a router named \"router_{}\" with coordinates into it", name(member)),
            ),
            Reason::NoGateway(member) => (
                format!("zone {:?} in the star zone {:?} has no gateway", name(member), zone.name),
                "name one with gw_src where its route is declared".to_owned(),
            ),
            Reason::NoCoordinates(member) => (
                format!("{:?} in the Vivaldi zone {:?} has no coordinates", name(member), zone.name),
                "give it coordinates=\"x y height\"".to_owned(),
            ),
            Reason::NoWifiLink => (
                format!("the wifi zone {:?} has no wifi link", zone.name),
                "declare in it a link with sharing_policy=\"WIFI\"".to_owned(),
            ),
        };
        RouteError {
            source_host: shortened(platform.host(src).name).into_owned(),
            target_host: shortened(platform.host(dst).name).into_owned(),
            zone: zone.name.to_owned(),
            problem: one_line(problem),
            advice: one_line(advice),
        }
    }
}

use crate::error::one_line;
use crate::zone::Routing;
