//! From drafts to a platform: every reference is checked here, once, so that routing can trust its tables.

use std::collections::BTreeMap;

use crate::builder::routes::RouteDraft;
use crate::builder::{PlatformBuilder, ZoneDraft};
use crate::error::{Complaint, Error};
use crate::ids::{LinkId, Point, RouterId, ZoneId};
use crate::platform::Platform;
use crate::routing::declared::{Collector, DeclaredRoutes, Way};
use crate::routing::dijkstra::Dijkstra;
use crate::routing::floyd::{Floyd, MEMBERS_MAX};
use crate::routing::star::Star;
use crate::routing::vivaldi::Vivaldi;
use crate::routing::wifi::Wifi;
use crate::routing::{Ends, Local};
use crate::units;
use crate::zone::{Routing, ZoneBypass, ZoneRecord};

/// A complaint and the line that caused it.
type Located = (Complaint, Option<u32>);

impl PlatformBuilder {
    pub(super) fn finish(mut self) -> Result<Platform, Error> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        if self.drafts.is_empty() {
            self.line = None;
            return Err(Complaint::new("the platform has no zone", "declare a zone or a cluster")
                .at(&self.name, None));
        }
        self.configure_loopback();
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        match self.zone_records() {
            Ok(zones) => {
                self.things.settle();
                Ok(Platform {
                    name: self.name,
                    things: self.things,
                    zones,
                    loopback: LinkId(0),
                    config: self.config,
                    config_lines: self.config_lines,
                    profiles: self.profiles,
                    deployment: self.deployment,
                })
            }
            Err((complaint, line)) => Err(complaint.at(&self.name, line)),
        }
    }

    /// The settings that describe the implicit loopback belong to the platform.
    fn configure_loopback(&mut self) {
        for (key, parse) in [
            ("network/loopback-bw", units::parse_bandwidth as fn(&str) -> Result<f64, String>),
            ("network/loopback-lat", units::parse_time),
        ] {
            let Some(text) = self.config.get(key) else { continue };
            self.line = self.config_lines.get(key).copied();
            match parse(text) {
                Ok(value) if key.ends_with("bw") && value > 0.0 => self.things.links[0].bandwidth = value,
                Ok(value) if key.ends_with("lat") => self.things.links[0].latency = value,
                Ok(_) => self.fail(Complaint::new(format!("setting {key} is 0"), "give a bandwidth above 0")),
                Err(problem) => {
                    self.fail(Complaint::new(format!("setting {key}: {problem}"), "correct it in <config>"))
                }
            }
        }
    }

    fn zone_records(&mut self) -> Result<Vec<ZoneRecord>, Located> {
        let mut by_zone: Vec<Vec<u32>> = self.drafts.iter().map(|_| Vec::new()).collect();
        for (at, draft) in (0..).zip(&self.routes) {
            by_zone[draft.zone.index()].push(at);
        }
        let mut stars: Vec<Star> =
            self.drafts.iter_mut().map(|draft| std::mem::take(&mut draft.star)).collect();
        let mut locals = Vec::with_capacity(self.drafts.len());
        for (at, routes) in by_zone.iter().enumerate() {
            let zone = ZoneId::from_index(at);
            let star = std::mem::take(&mut stars[at]);
            locals.push(self.local(zone, routes, star)?);
        }
        let mut records = Vec::with_capacity(self.drafts.len());
        for ((at, routes), local) in by_zone.iter().enumerate().zip(locals) {
            let zone = ZoneId::from_index(at);
            let (bypasses, zone_bypasses) = self.bypasses(zone, routes)?;
            let draft = &mut self.drafts[at];
            records.push(ZoneRecord {
                parent: draft.parent,
                member: draft.member,
                depth: draft.depth,
                line: draft.line,
                routing: draft.routing,
                members: Vec::new(),
                has_zones: draft.has_zones,
                local,
                bypasses,
                zone_bypasses,
                properties: std::mem::take(&mut draft.properties),
            });
        }
        for (record, draft) in records.iter_mut().zip(&mut self.drafts) {
            record.members = std::mem::take(&mut draft.members);
            record.members.shrink_to_fit();
        }
        Ok(records)
    }

    fn local(&mut self, zone: ZoneId, routes: &[u32], star: Star) -> Result<Local, Located> {
        let draft = &mut self.drafts[zone.index()];
        let routing = draft.routing;
        if let Some(cluster) = draft.cluster.take() {
            return Ok(Local::Regular(cluster));
        }
        let draft = &self.drafts[zone.index()];
        if !routing.takes_routes()
            && let Some(route) = self.drafted(routes, false).next()
        {
            return Err((
                Complaint::new(
                    format!(
                        "a route between {:?} and {:?} in a {routing} zone",
                        self.name_of(route.src),
                        self.name_of(route.dst)
                    ),
                    match routing {
                        Routing::None => "give the zone another routing, Full for instance",
                        Routing::Star => "give only one end: routes of a star lead to its centre",
                        _ => "remove it: this kind of zone knows its routes",
                    },
                ),
                route.line,
            ));
        }
        Ok(match routing {
            Routing::Full => Local::Full(self.declared(draft, routes)?),
            Routing::Floyd if draft.members.len() > MEMBERS_MAX => {
                let problem = format!("a Floyd zone of {} members", draft.members.len());
                let advice = format!("use Dijkstra: Floyd takes at most {MEMBERS_MAX}");
                return Err((Complaint::new(problem, advice), draft.line));
            }
            Routing::Floyd => Local::Floyd(Floyd::new(self.declared(draft, routes)?)),
            Routing::Dijkstra => {
                let declared = self.declared(draft, routes)?;
                let ends = self.drafted(routes, false).flat_map(|route| [route.src, route.dst]);
                let members = ends.filter_map(|point| self.place_of(point)).map(|(_, member)| member);
                Local::Dijkstra(Dijkstra::new(declared, members))
            }
            Routing::Star | Routing::Cluster => Local::Star(self.finished_star(draft, star)),
            Routing::Vivaldi => Local::Vivaldi(self.vivaldi(zone, draft, star)?),
            Routing::Wifi => Local::Wifi(self.wifi(draft)?),
            Routing::None => Local::None,
            Routing::Flat | Routing::Torus | Routing::FatTree | Routing::Dragonfly => {
                let problem = format!("a {routing} is made by PlatformBuilder::cluster, not as a plain zone");
                return Err((Complaint::new(problem, "use ClusterSpec"), draft.line));
            }
        })
    }

    fn declared(&self, zone: &ZoneDraft, routes: &[u32]) -> Result<DeclaredRoutes, Located> {
        let mut counts = vec![0; zone.members.len()];
        for route in self.drafted(routes, false) {
            let (from, to) = self.checked(route).map_err(|complaint| (complaint, route.line))?;
            counts[from as usize] += 1;
            if route.symmetrical && from != to {
                counts[to as usize] += 1;
            }
        }
        let mut collector = Collector::new(&counts, zone.has_zones);
        for route in self.drafted(routes, false) {
            let (from, to) = self.members(route);
            let links = self.links_of(route);
            let end = |point, gateway: Option<Point>| match point {
                Point::Zone(_) => gateway.unwrap_or(point),
                Point::Host(_) | Point::Router(_) => point,
            };
            let (src, dst) = (end(route.src, route.src_gateway), end(route.dst, route.dst_gateway));
            collector.add(Way { from, to, ends: Ends { src, dst } }, links.iter().copied());
            if route.symmetrical && from != to {
                let back = links.iter().rev().map(|&link| self.things.opposite(link));
                collector.add(Way { from: to, to: from, ends: Ends { src: dst, dst: src } }, back);
            }
        }
        collector.finish().map_err(|double| self.declared_twice(zone, routes, double))
    }

    fn declared_twice(&self, zone: &ZoneDraft, routes: &[u32], (from, to): (u32, u32)) -> Located {
        let both_ways = |route: &&RouteDraft| {
            let members = self.members(route);
            members == (from, to) || (route.symmetrical && members == (to, from))
        };
        let second = self.drafted(routes, false).filter(both_ways).nth(1);
        let problem = format!(
            "the route from {:?} to {:?} is declared twice",
            self.name_of(zone.members[from as usize]),
            self.name_of(zone.members[to as usize])
        );
        let advice = "remove one, or write symmetrical=\"NO\" on both if they differ by direction";
        (Complaint::new(problem, advice), second.and_then(|route| route.line))
    }

    /// The members that a route joins, which was checked.
    fn members(&self, route: &RouteDraft) -> (u32, u32) {
        let member = |point| self.place_of(point).map_or(0, |(_, member)| member);
        (member(route.src), member(route.dst))
    }

    /// The members that a route joins, once all is right with it.
    fn checked(&self, route: &RouteDraft) -> Result<(u32, u32), Complaint> {
        let (from, to) = (self.member(route, route.src)?, self.member(route, route.dst)?);
        self.end(route.src, route.src_gateway, "gw_src")?;
        self.end(route.dst, route.dst_gateway, "gw_dst")?;
        if self.links_of(route).is_empty() {
            let problem = format!(
                "the route from {:?} to {:?} has no links",
                self.name_of(route.src),
                self.name_of(route.dst)
            );
            return Err(Complaint::new(problem, "name at least one link"));
        }
        Ok((from, to))
    }

    fn links_of(&self, route: &RouteDraft) -> &[LinkId] {
        &self.route_links[route.links.0 as usize..route.links.1 as usize]
    }

    /// Of these routes, the bypasses or the others.
    fn drafted<'s>(&'s self, routes: &'s [u32], bypasses: bool) -> impl Iterator<Item = &'s RouteDraft> {
        routes.iter().map(|&at| &self.routes[at as usize]).filter(move |route| route.bypass == bypasses)
    }

    fn finished_star(&self, zone: &ZoneDraft, mut star: Star) -> Star {
        let members = (0..).zip(&zone.members);
        star.zones =
            members.filter(|(_, point)| matches!(point, Point::Zone(_))).map(|(member, _)| member).collect();
        star.shrink();
        star
    }

    fn vivaldi(&self, id: ZoneId, zone: &ZoneDraft, mut star: Star) -> Result<Vivaldi, Located> {
        let mut coordinates = Vec::with_capacity(zone.members.len());
        for (member, &point) in (0..).zip(&zone.members) {
            let own = match point {
                Point::Zone(inner) => {
                    let wanted = format!("router_{}", self.name_of(point));
                    let router = self.things.router_names.find(&wanted).map(|at| Point::Router(RouterId(at)));
                    let gateway =
                        star.gateway(member).or(router.filter(|&router| self.is_inside(router, inner)));
                    if let Some(gateway) = gateway {
                        star.set_gateway(member, gateway);
                    }
                    gateway.and_then(|gateway| self.things.coordinates_of(gateway))
                }
                Point::Host(_) | Point::Router(_) => self.things.coordinates_of(point),
            };
            if own.is_none() && matches!(point, Point::Host(_)) {
                let zone_name = self.things.zone_names.get(id.index());
                let problem = format!(
                    "host {:?} in the Vivaldi zone {zone_name:?} has no coordinates",
                    self.name_of(point)
                );
                return Err((Complaint::new(problem, "give it coordinates=\"x y height\""), zone.line));
            }
            coordinates.push(own);
        }
        Ok(Vivaldi { star: self.finished_star(zone, star), coordinates })
    }

    fn wifi(&self, zone: &ZoneDraft) -> Result<Wifi, Located> {
        let access_point = match zone.properties.get("access_point") {
            None => None,
            Some(name) => {
                let found = zone.members.iter().position(|&point| self.name_of(point) == name);
                let at = found.ok_or_else(|| {
                    let hint =
                        crate::suggest::hint(name, zone.members.iter().map(|&point| self.name_of(point)));
                    let problem = format!("the access point {name:?} is not a member of its wifi zone{hint}");
                    (Complaint::new(problem, "name a host or router declared in the zone"), zone.line)
                })?;
                Some(at as u32)
            }
        };
        Ok(Wifi { link: zone.wifi_link, access_point })
    }

    #[allow(clippy::type_complexity, reason = "two maps that are taken apart at once")]
    fn bypasses(
        &self,
        zone: ZoneId,
        routes: &[u32],
    ) -> Result<(BTreeMap<(u32, u32), Box<[LinkId]>>, BTreeMap<(ZoneId, ZoneId), ZoneBypass>), Located> {
        let (mut plain, mut between) = (BTreeMap::new(), BTreeMap::new());
        for route in self.drafted(routes, true) {
            let located = |complaint| (complaint, route.line);
            let links: Box<[LinkId]> = self.links_of(route).into();
            let double = if let (Point::Zone(src), Point::Zone(dst)) = (route.src, route.dst) {
                for (point, inner) in [(route.src, src), (route.dst, dst)] {
                    if !self.is_inside(point, zone) {
                        let problem = format!(
                            "zone {:?} of a bypass is not inside zone {:?}",
                            self.things.zone_names.get(inner.index()),
                            self.things.zone_names.get(zone.index())
                        );
                        return Err(located(Complaint::new(
                            problem,
                            "declare the bypass in a zone around both",
                        )));
                    }
                }
                let src_end = self.end(route.src, route.src_gateway, "gw_src").map_err(located)?;
                let dst_end = self.end(route.dst, route.dst_gateway, "gw_dst").map_err(located)?;
                between.insert((src, dst), ZoneBypass { gateways: (src_end, dst_end), links }).is_some()
            } else {
                let pair = (
                    self.member(route, route.src).map_err(located)?,
                    self.member(route, route.dst).map_err(located)?,
                );
                plain.insert(pair, links).is_some()
            };
            if double {
                let problem = format!(
                    "the bypass from {:?} to {:?} is declared twice",
                    self.name_of(route.src),
                    self.name_of(route.dst)
                );
                return Err(located(Complaint::new(problem, "keep one")));
            }
        }
        Ok((plain, between))
    }

    /// The number of an end of a route in the zone that declares it.
    fn member(&self, route: &RouteDraft, point: Point) -> Result<u32, Complaint> {
        match self.place_of(point) {
            Some((zone, member)) if zone == route.zone => Ok(member),
            other => {
                let place = other.map_or("no zone", |(zone, _)| self.things.zone_names.get(zone.index()));
                Err(Complaint::new(
                    format!(
                        "{:?} is a member of {place:?}, not of {:?}, which has a route with it",
                        self.name_of(point),
                        self.things.zone_names.get(route.zone.index())
                    ),
                    "declare a route between the members of one zone, in that zone",
                ))
            }
        }
    }

    /// Where a route leaves or enters one of its ends: the end itself, or the gateway of a zone.
    fn end(&self, point: Point, gateway: Option<Point>, attribute: &str) -> Result<Point, Complaint> {
        let Point::Zone(zone) = point else { return Ok(point) };
        let Some(gateway) = gateway else {
            return Err(Complaint::new(
                format!("a route of zone {:?} has no {attribute}", self.name_of(point)),
                "name the host or router by which the zone is left and entered",
            ));
        };
        if matches!(gateway, Point::Zone(_)) || !self.is_inside(gateway, zone) {
            return Err(self.outside(gateway, zone));
        }
        Ok(gateway)
    }

    fn name_of(&self, point: Point) -> &str {
        self.things.point_name(point)
    }
}
