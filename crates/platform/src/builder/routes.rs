//! Routes as they are declared: between two members, or from a member of a star to its centre.

use crate::builder::PlatformBuilder;
use crate::error::Complaint;
use crate::ids::{LinkId, Point, ZoneId};
use crate::routing::star::LINKS_MAX;
use crate::zone::Routing;

/// A declared route, checked and sorted in when the platform is built.
#[derive(Clone, Copy, Debug)]
pub(super) struct RouteDraft {
    pub(super) zone: ZoneId,
    pub(super) src: Point,
    pub(super) dst: Point,
    pub(super) src_gateway: Option<Point>,
    pub(super) dst_gateway: Option<Point>,
    /// A part of the builder's list of links.
    pub(super) links: (u32, u32),
    pub(super) symmetrical: bool,
    pub(super) bypass: bool,
    pub(super) line: Option<u32>,
}

impl PlatformBuilder {
    /// A route between two members of a zone, and the same way back: its links in reverse order, with the other half
    /// of each split link.
    pub fn route(
        &mut self,
        zone: ZoneId,
        src: impl Into<Point>,
        dst: impl Into<Point>,
        links: impl IntoIterator<Item = LinkId>,
    ) -> RouteBuilder<'_> {
        self.add_route(zone, src.into(), dst.into(), links)
    }

    /// A route that goes before the zone's own, one way only. Between zones it needs gateways, and these zones may be
    /// at any depth inside `zone`.
    pub fn bypass(
        &mut self,
        zone: ZoneId,
        src: impl Into<Point>,
        dst: impl Into<Point>,
        links: impl IntoIterator<Item = LinkId>,
    ) -> RouteBuilder<'_> {
        let route = self.add_route(zone, src.into(), dst.into(), links);
        route.draft.bypass = true;
        route.draft.symmetrical = false;
        route
    }

    /// The links of a member of a star zone up to its centre, and back down in reverse order, with the other half of
    /// each split link.
    pub fn star(&mut self, zone: ZoneId, member: impl Into<Point>, links: &[LinkId]) {
        let Some(member) = self.star_member(zone, member.into(), links, true) else { return };
        if let [link] = links {
            let back = self.things.opposite(*link);
            self.drafts[zone.index()].star.set(member, links, &[back]);
        } else {
            let back: Vec<LinkId> = links.iter().rev().map(|&link| self.things.opposite(link)).collect();
            self.drafts[zone.index()].star.set(member, links, &back);
        }
    }

    /// The links of a member of a star zone up to its centre only.
    pub fn star_up(&mut self, zone: ZoneId, member: impl Into<Point>, links: &[LinkId]) {
        if let Some(member) = self.star_member(zone, member.into(), links, true) {
            self.drafts[zone.index()].star.set_up(member, links);
        }
    }

    /// The links of a member of a star zone down from its centre only.
    pub fn star_down(&mut self, zone: ZoneId, member: impl Into<Point>, links: &[LinkId]) {
        if let Some(member) = self.star_member(zone, member.into(), links, false) {
            self.drafts[zone.index()].star.set_down(member, links);
        }
    }

    /// What a member of a star zone crosses to itself, instead of its links up and down.
    pub fn star_loopback(&mut self, zone: ZoneId, member: impl Into<Point>, links: &[LinkId]) {
        if let Some(member) = self.member_of(zone, member.into()) {
            self.check_links(links);
            self.drafts[zone.index()].star.set_loopback(member, links);
        }
    }

    /// The point by which a zone inside a star zone is left and entered.
    pub fn star_gateway(&mut self, zone: ZoneId, inner: ZoneId, gateway: impl Into<Point>) {
        let gateway = gateway.into();
        let Some(member) = self.member_of(zone, Point::Zone(inner)) else { return };
        if self.is_inside(gateway, inner) && !matches!(gateway, Point::Zone(_)) {
            self.drafts[zone.index()].star.set_gateway(member, gateway);
        } else {
            self.fail(self.outside(gateway, inner));
        }
    }

    /// The link in the middle of a `Routing::Cluster` zone, crossed by all members that have links of their own.
    pub fn backbone(&mut self, zone: ZoneId, link: LinkId) {
        self.check_links(&[link]);
        self.check_zone(zone);
        let Some(draft) = self.draft(zone) else { return };
        let (routing, taken) = (draft.routing, draft.star.backbone.replace(link).is_some());
        if routing != Routing::Cluster {
            self.fail(Complaint::new(
                format!("a {routing} zone has no backbone"),
                "use routing=\"Cluster\" for the zone, or a plain link in its routes",
            ));
        } else if taken {
            self.fail(Complaint::new("a zone has two backbones", "keep one"));
        }
    }

    pub(super) fn outside(&self, gateway: Point, zone: ZoneId) -> Complaint {
        Complaint::new(
            format!(
                "gateway {:?} is not a host or router inside zone {:?}",
                self.things.point_name(gateway),
                self.things.zone_names.get(zone.index())
            ),
            "name a host or router of that zone, or of a zone in it",
        )
    }

    fn add_route(
        &mut self,
        zone: ZoneId,
        src: Point,
        dst: Point,
        links: impl IntoIterator<Item = LinkId>,
    ) -> RouteBuilder<'_> {
        self.check_zone(zone);
        let start = self.route_links.len();
        self.route_links.extend(links);
        let links = (start as u32, self.route_links.len() as u32);
        if u32::try_from(self.route_links.len()).is_err() {
            self.fail(Complaint::new("the routes have more than 2^32 links", "use another kind of zone"));
        }
        if let Some(&link) =
            self.route_links[start..].iter().find(|link| link.index() >= self.things.links.len())
        {
            self.check_links(&[link]);
        }
        let line = self.line;
        self.routes.push(RouteDraft {
            zone,
            src,
            dst,
            src_gateway: None,
            dst_gateway: None,
            links,
            symmetrical: true,
            bypass: false,
            line,
        });
        RouteBuilder { draft: self.routes.last_mut().expect("just pushed") }
    }

    fn star_member(&mut self, zone: ZoneId, point: Point, links: &[LinkId], up: bool) -> Option<u32> {
        let member = self.member_of(zone, point)?;
        self.check_links(links);
        let draft = &self.drafts[zone.index()];
        let routing = draft.routing;
        let taken = if up { draft.star.has_up(member) } else { draft.star.has_down(member) };
        if !routing.is_star() {
            self.fail(Complaint::new(
                format!("a route with one end in a {routing} zone"),
                "give it both ends, or make the zone routing=\"Star\"",
            ));
        } else if taken {
            let name = self.things.point_name(point).to_owned();
            self.fail(Complaint::new(
                format!("{name:?} gets its links to the centre twice"),
                "declare them once for each direction",
            ));
        } else if links.len() > LINKS_MAX {
            self.fail(Complaint::new("a route has more than 65535 links", "shorten it"));
        }
        Some(member)
    }

    /// The number of a point in the zone it should be a member of.
    pub(super) fn member_of(&mut self, zone: ZoneId, point: Point) -> Option<u32> {
        self.check_zone(zone);
        match self.place_of(point) {
            Some((at, member)) if at == zone => Some(member),
            found => {
                self.fail(match found {
                    Some((other, _)) => Complaint::new(
                        format!(
                            "{:?} is in zone {:?}, not in {:?}",
                            self.things.point_name(point),
                            self.things.zone_names.get(other.index()),
                            self.things.zone_names.get(zone.index())
                        ),
                        "declare the route in the zone that both its ends are members of",
                    ),
                    None => Complaint::new(
                        format!("{point:?} is not a member of a zone of this platform"),
                        "use identities of this builder",
                    ),
                });
                None
            }
        }
    }

    fn check_links(&mut self, links: &[LinkId]) {
        if let Some(link) = links.iter().find(|link| link.index() >= self.things.links.len()) {
            self.fail(Complaint::new(
                format!("link {link} is not a link of this platform"),
                "use identities of this builder",
            ));
        }
    }
}

/// A route in the making.
pub struct RouteBuilder<'b> {
    draft: &'b mut RouteDraft,
}

impl RouteBuilder<'_> {
    /// Not the way back.
    pub fn one_way(self) -> Self {
        self.draft.symmetrical = false;
        self
    }

    /// Where it leaves the zone it comes from and enters the zone it leads to.
    pub fn gateways(self, src: impl Into<Point>, dst: impl Into<Point>) -> Self {
        self.draft.src_gateway = Some(src.into());
        self.draft.dst_gateway = Some(dst.into());
        self
    }

    /// The same where only one end is a zone.
    pub(crate) fn optional_gateways(self, src: Option<Point>, dst: Option<Point>) {
        self.draft.src_gateway = src;
        self.draft.dst_gateway = dst;
    }
}
