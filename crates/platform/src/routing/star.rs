//! Stars: each member has links up to the centre and down from it, and needs nothing for each pair.

use std::collections::BTreeMap;

use crate::ids::{LinkId, Point};
use crate::routing::{OptionalEnds, Reason};

/// The links of each member of a star, 12 bytes a member and 4 a link.
#[derive(Default)]
pub(crate) struct Star {
    entries: Vec<Entry>,
    links: Vec<LinkId>,
    /// What members with links of their own cross at the centre.
    pub(crate) backbone: Option<LinkId>,
    loopbacks: BTreeMap<u32, Box<[LinkId]>>,
    gateways: BTreeMap<u32, Point>,
    /// Members that are zones: these need a gateway.
    pub(crate) zones: Vec<u32>,
    /// Whether members without links reach the centre for nothing, as in SimGrid's clusters and Vivaldi zones.
    pub(crate) lenient: bool,
}

#[derive(Clone, Copy)]
struct Entry {
    up_start: u32,
    down_start: u32,
    up_count: u16,
    down_count: u16,
}

const UNDECLARED: u32 = u32::MAX;
const EMPTY: Entry = Entry { up_start: UNDECLARED, down_start: UNDECLARED, up_count: 0, down_count: 0 };

/// More links than this from a member to the centre cannot be meant.
pub(crate) const LINKS_MAX: usize = u16::MAX as usize;

impl Star {
    pub(crate) fn new(lenient: bool) -> Self {
        Star { lenient, ..Star::default() }
    }

    /// Both lists of a member at once; equal lists are kept once.
    pub(crate) fn set(&mut self, member: u32, up: &[LinkId], down: &[LinkId]) {
        self.set_up(member, up);
        let up_start = self.entries[member as usize].up_start;
        if up == down {
            let entry = &mut self.entries[member as usize];
            (entry.down_start, entry.down_count) = (up_start, up.len() as u16);
        } else {
            self.set_down(member, down);
        }
    }

    pub(crate) fn set_up(&mut self, member: u32, links: &[LinkId]) {
        let start = self.keep(links);
        let entry = self.entry(member);
        (entry.up_start, entry.up_count) = (start, links.len() as u16);
    }

    pub(crate) fn set_down(&mut self, member: u32, links: &[LinkId]) {
        let start = self.keep(links);
        let entry = self.entry(member);
        (entry.down_start, entry.down_count) = (start, links.len() as u16);
    }

    pub(crate) fn set_loopback(&mut self, member: u32, links: &[LinkId]) {
        self.loopbacks.insert(member, links.into());
    }

    pub(crate) fn set_gateway(&mut self, member: u32, gateway: Point) {
        self.gateways.insert(member, gateway);
    }

    pub(crate) fn gateway(&self, member: u32) -> Option<Point> {
        self.gateways.get(&member).copied()
    }

    pub(crate) fn has_up(&self, member: u32) -> bool {
        self.entries.get(member as usize).is_some_and(|entry| entry.up_start != UNDECLARED)
    }

    pub(crate) fn has_down(&self, member: u32) -> bool {
        self.entries.get(member as usize).is_some_and(|entry| entry.down_start != UNDECLARED)
    }

    /// The links of a member up to the centre, without the backbone.
    pub(crate) fn up(&self, member: u32) -> &[LinkId] {
        let entry = self.entries.get(member as usize).unwrap_or(&EMPTY);
        if entry.up_start == UNDECLARED {
            return &[];
        }
        &self.links[entry.up_start as usize..][..entry.up_count as usize]
    }

    /// The links of a member down from the centre, without the backbone.
    pub(crate) fn down(&self, member: u32) -> &[LinkId] {
        let entry = self.entries.get(member as usize).unwrap_or(&EMPTY);
        if entry.down_start == UNDECLARED {
            return &[];
        }
        &self.links[entry.down_start as usize..][..entry.down_count as usize]
    }

    pub(crate) fn shrink(&mut self) {
        self.entries.shrink_to_fit();
        self.links.shrink_to_fit();
    }

    /// Up from one member, down to the other; a link that is there already is not added again.
    pub(crate) fn route(&self, from: u32, to: u32, route: &mut Vec<LinkId>) -> Result<OptionalEnds, Reason> {
        if from == to
            && let Some(loopback) = self.loopbacks.get(&from)
        {
            route.extend_from_slice(loopback);
            return Ok((None, None));
        }
        if !self.lenient {
            if !self.has_up(from) {
                return Err(Reason::NoStarLinks(from));
            }
            if !self.has_down(to) {
                return Err(Reason::NoStarLinks(to));
            }
        }
        let ends = (self.entrance(from)?, self.entrance(to)?);
        let start = route.len();
        for &link in self.up(from) {
            add_once(route, start, link);
        }
        if let Some(backbone) = self.backbone
            && (self.has_up(from) || self.has_down(to))
        {
            add_once(route, start, backbone);
        }
        for &link in self.down(to) {
            add_once(route, start, link);
        }
        Ok(ends)
    }

    /// The one link up and the one link down of a member, in a star of hosts alone whose centre costs nothing.
    pub(crate) fn leg(&self, member: u32) -> Option<(LinkId, LinkId)> {
        if !self.gateways.is_empty() || !self.zones.is_empty() || self.backbone.is_some() {
            return None;
        }
        match (self.up(member), self.down(member)) {
            (&[up], &[down]) => Some((up, down)),
            _ => None,
        }
    }

    /// [`Star::route`] between two different members with links of their own, in a star of hosts alone; false, and
    /// nothing is done, if it is not so simple.
    #[inline]
    pub(crate) fn plain_route(&self, from: u32, to: u32, route: &mut Vec<LinkId>) -> bool {
        if from == to || !self.gateways.is_empty() || !self.zones.is_empty() {
            return false;
        }
        let (Some(up), Some(down)) = (self.entries.get(from as usize), self.entries.get(to as usize)) else {
            return false;
        };
        if up.up_start == UNDECLARED || down.down_start == UNDECLARED {
            return false;
        }
        for &link in &self.links[up.up_start as usize..][..up.up_count as usize] {
            add_once(route, 0, link);
        }
        if let Some(backbone) = self.backbone {
            add_once(route, 0, backbone);
        }
        for &link in &self.links[down.down_start as usize..][..down.down_count as usize] {
            add_once(route, 0, link);
        }
        true
    }

    fn entrance(&self, member: u32) -> Result<Option<Point>, Reason> {
        if self.gateways.is_empty() && self.zones.is_empty() {
            return Ok(None);
        }
        let gateway = self.gateway(member);
        if gateway.is_none() && self.zones.binary_search(&member).is_ok() {
            return Err(Reason::NoGateway(member));
        }
        Ok(gateway)
    }

    fn entry(&mut self, member: u32) -> &mut Entry {
        let at = member as usize;
        if self.entries.len() <= at {
            self.entries.resize(at + 1, EMPTY);
        }
        &mut self.entries[at]
    }

    fn keep(&mut self, links: &[LinkId]) -> u32 {
        let start = self.links.len() as u32;
        self.links.extend_from_slice(links);
        start
    }
}

/// Local routes of stars are a few links long: looking through them costs less than a set.
#[inline]
pub(crate) fn add_once(route: &mut Vec<LinkId>, start: usize, link: LinkId) {
    if !route[start..].contains(&link) {
        route.push(link);
    }
}
