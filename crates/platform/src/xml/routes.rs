//! Routes: read where they stand, or, if something that they name stands after them, after everything else.

use crate::error::Error;
use crate::ids::{LinkId, Point, ZoneId};
use crate::inventory::Inventory;
use crate::suggest;
use crate::xml::document::Bookmark;
use crate::xml::element::Element;
use crate::xml::zones::Reader;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    None,
    Up,
    Down,
}

/// What becomes of the routes of a file. They may stand before what they name, and what is wrong with them is told after what is wrong
/// with everything else. So one that cannot be read where it stands waits until the end, and then all after it do, in order.
#[derive(Default)]
pub(super) struct Routes {
    later: Vec<(ZoneId, Bookmark)>,
    /// What is wrong with one that was read; no other is read then.
    failure: Option<Error>,
    /// The links of the one that is being read.
    links: Vec<LinkId>,
    before: Before,
}

/// What was found last for each part of a route: the next route often names the same, or what was declared after it.
#[derive(Default)]
struct Before {
    src: u32,
    dst: u32,
    gateways: [u32; 2],
    /// By the place in the list, up to some.
    links: [u32; 8],
}

impl<'t> Reader<'_, 't> {
    pub(super) fn route_or_later(&mut self, zone: ZoneId, element: &Element<'t>) -> Result<(), Error> {
        if self.routes.failure.is_some() {
            return Ok(());
        }
        let bookmark = self.document.bookmark(element);
        if self.routes.later.is_empty() {
            match self.any_route(zone, element) {
                Ok(()) => {
                    self.routes.failure = self.builder.take_failure();
                    return Ok(());
                }
                Err(error) if self.document.is_malformed() => return Err(error),
                Err(_) => {}
            }
        }
        self.routes.later.push((zone, bookmark));
        Ok(())
    }

    pub(super) fn finish_routes(&mut self) -> Result<(), Error> {
        if let Some(failure) = self.routes.failure.take() {
            self.builder.fail_with(failure);
        }
        for (zone, bookmark) in std::mem::take(&mut self.routes.later) {
            if self.builder.failed() {
                return Ok(());
            }
            let element = self.document.revisit(bookmark)?;
            self.at(&element);
            self.any_route(zone, &element)?;
        }
        Ok(())
    }

    /// Nothing is done before all that it names is found.
    fn any_route(&mut self, zone: ZoneId, element: &Element<'t>) -> Result<(), Error> {
        match element.tag() {
            "host_link" => self.host_link(zone, element),
            "route" | "zoneRoute" | "ASroute" => self.route(zone, element),
            _ => self.bypass(zone, element),
        }
    }

    #[cold]
    pub(super) fn no_link(&self, element: &Element<'t>, name: &str) -> Error {
        let things = &self.builder.things;
        let (up, down) = (format!("{name}_UP"), format!("{name}_DOWN"));
        if things.link_named(&up).is_some() && things.link_named(&down).is_some() {
            return element.error(
                format!("link {name:?} has two directions, and none is given"),
                "add direction=\"UP\" or direction=\"DOWN\"",
            );
        }
        let hint = suggest::hint(name, things.link_names.iter().skip(1));
        element.error(format!("link {name:?} is never defined{hint}"), "declare it, or correct the name")
    }

    fn host_link(&mut self, zone: ZoneId, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&["id", "up", "down"])?;
        let point = element.point("id", &self.builder.things, &mut self.routes.before.src)?;
        let up = self.link_of(element, "up", 0)?;
        let down = self.link_of(element, "down", 1)?;
        self.builder.star_up(zone, point, &[up]);
        self.builder.star_down(zone, point, &[down]);
        Ok(())
    }

    fn route(&mut self, zone: ZoneId, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&["src", "dst", "gw_src", "gw_dst", "symmetrical"])?;
        self.read_links(element)?;
        let symmetrical = element
            .choice("symmetrical", &[("YES", true), ("NO", false), ("TRUE", true), ("FALSE", false)])?
            .unwrap_or(true);
        let src = optional_point(element, "src", &self.builder.things, &mut self.routes.before.src)?;
        let dst = optional_point(element, "dst", &self.builder.things, &mut self.routes.before.dst)?;
        let src_gateway =
            optional_point(element, "gw_src", &self.builder.things, &mut self.routes.before.gateways[0])?;
        let dst_gateway =
            optional_point(element, "gw_dst", &self.builder.things, &mut self.routes.before.gateways[1])?;
        match (src, dst) {
            (Some(src), Some(dst)) if src == dst && self.is_star(zone) => {
                self.builder.star_loopback(zone, src, &self.routes.links);
            }
            (Some(src), Some(dst)) => {
                let route = self.builder.route(zone, src, dst, self.routes.links.iter().copied());
                let route = if symmetrical { route } else { route.one_way() };
                route.optional_gateways(src_gateway, dst_gateway);
            }
            (Some(src), None) => {
                if symmetrical {
                    self.builder.star(zone, src, &self.routes.links);
                } else {
                    self.builder.star_up(zone, src, &self.routes.links);
                }
                self.star_gateway(zone, src, src_gateway);
            }
            (None, Some(dst)) => {
                if symmetrical {
                    let back: Vec<LinkId> = self
                        .routes
                        .links
                        .iter()
                        .rev()
                        .map(|&link| self.builder.things.opposite(link))
                        .collect();
                    self.builder.star(zone, dst, &back);
                } else {
                    self.builder.star_down(zone, dst, &self.routes.links);
                }
                self.star_gateway(zone, dst, dst_gateway);
            }
            (None, None) => {
                return Err(element.error(format!("<{}> has no ends", element.tag()), "give it src and dst"));
            }
        }
        Ok(())
    }

    fn bypass(&mut self, zone: ZoneId, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&["src", "dst", "gw_src", "gw_dst"])?;
        self.read_links(element)?;
        let src = element.point("src", &self.builder.things, &mut self.routes.before.src)?;
        let dst = element.point("dst", &self.builder.things, &mut self.routes.before.dst)?;
        let src_gateway =
            optional_point(element, "gw_src", &self.builder.things, &mut self.routes.before.gateways[0])?;
        let dst_gateway =
            optional_point(element, "gw_dst", &self.builder.things, &mut self.routes.before.gateways[1])?;
        let links = self.routes.links.iter().copied();
        self.builder.bypass(zone, src, dst, links).optional_gateways(src_gateway, dst_gateway);
        Ok(())
    }

    fn star_gateway(&mut self, zone: ZoneId, point: Point, gateway: Option<Point>) {
        if let (Point::Zone(inner), Some(gateway)) = (point, gateway) {
            self.builder.star_gateway(zone, inner, gateway);
        }
    }

    fn is_star(&self, zone: ZoneId) -> bool {
        self.builder.routing_of(zone).is_some_and(crate::zone::Routing::is_star)
    }

    /// The links of a route, into `routes.links`.
    fn read_links(&mut self, element: &Element<'t>) -> Result<(), Error> {
        self.routes.links.clear();
        let mut child = Element::default();
        while self.document.child(element, &mut child)? {
            if child.tag() != "link_ctn" {
                return Err(child.unexpected(element.tag(), &["link_ctn"]));
            }
            child.allow(&["id", "direction"])?;
            let place = self.routes.links.len();
            let link = self.crossed_link(&child, place)?;
            self.routes.links.push(link);
        }
        Ok(())
    }

    fn crossed_link(&mut self, element: &Element<'t>, place: usize) -> Result<LinkId, Error> {
        let name = element.required("id", "the name of a link")?;
        let directions = [("UP", Direction::Up), ("DOWN", Direction::Down), ("NONE", Direction::None)];
        let half = match element.choice("direction", &directions)?.unwrap_or(Direction::None) {
            Direction::None => return self.link_of(element, "id", place),
            Direction::Up => "UP",
            Direction::Down => "DOWN",
        };
        let found = self.builder.link_named(&format!("{name}_{half}"));
        found.ok_or_else(|| match self.builder.link_named(name) {
            Some(_) => element.error(
                format!("link {name:?} has no directions"),
                "remove the direction, or make it sharing_policy=\"SPLITDUPLEX\"",
            ),
            None => self.no_link(element, name),
        })
    }

    #[inline(always)]
    fn link_of(&mut self, element: &Element<'t>, attribute: &str, place: usize) -> Result<LinkId, Error> {
        let name = element.required(attribute, "the name of a link")?;
        let before = &mut self.routes.before.links;
        let before = &mut before[place % before.len()];
        match self.builder.things.link_names.find_near(name, before) {
            Some(link) => Ok(LinkId(link)),
            None => Err(self.no_link(element, name)),
        }
    }
}

/// An end of a route; absent, empty or `*` is the centre of a star.
#[inline(always)]
fn optional_point(
    element: &Element<'_>,
    name: &str,
    things: &Inventory,
    before: &mut u32,
) -> Result<Option<Point>, Error> {
    match element.filled(name) {
        None | Some("*") => Ok(None),
        Some(value) => element.named_point(name, value, things, before).map(Some),
    }
}
