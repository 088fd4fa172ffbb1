//! The things of a platform in compact tables; what is rare is kept aside, by identity.

use std::collections::BTreeMap;

use crate::ids::{DiskId, HostId, LinkId, Point, RouterId, ZoneId};
use crate::names::NameTable;
use crate::properties::PropertyTable;

/// Properties of a zone.
pub(crate) type Properties = BTreeMap<String, String>;

/// How flows share a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sharing {
    /// All flows together get the bandwidth.
    Shared,
    /// Each flow gets up to the whole bandwidth.
    FatPipe,
    /// Stations share the air time.
    Wifi,
}

/// Whether a link is one direction of a SPLITDUPLEX link, the other being its neighbour in the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Half {
    Whole,
    Up,
    Down,
}

#[derive(Clone, Copy)]
pub(crate) struct HostRecord {
    pub(crate) speeds_start: u32,
    pub(crate) speeds_count: u16,
    pub(crate) pstate: u16,
    pub(crate) cores: u32,
    pub(crate) zone: ZoneId,
    pub(crate) member: u32,
}

#[derive(Clone, Copy)]
pub(crate) struct LinkRecord {
    pub(crate) bandwidth: f64,
    pub(crate) latency: f64,
    pub(crate) sharing: Sharing,
    pub(crate) half: Half,
}

#[derive(Clone, Copy)]
pub(crate) struct RouterRecord {
    pub(crate) zone: ZoneId,
    pub(crate) member: u32,
}

#[derive(Clone)]
pub(crate) struct DiskRecord {
    pub(crate) name: String,
    pub(crate) host: HostId,
    pub(crate) read_bandwidth: f64,
    pub(crate) write_bandwidth: f64,
    pub(crate) readwrite_bandwidth: f64,
}

/// Everything that has a name, except zones' ways of routing.
#[derive(Default)]
pub(crate) struct Inventory {
    pub(crate) host_names: NameTable,
    pub(crate) hosts: Vec<HostRecord>,
    pub(crate) speeds: Vec<f64>,
    pub(crate) host_coordinates: BTreeMap<HostId, [f64; 3]>,
    pub(crate) host_properties: PropertyTable,
    pub(crate) router_names: NameTable,
    pub(crate) routers: Vec<RouterRecord>,
    pub(crate) router_coordinates: BTreeMap<RouterId, [f64; 3]>,
    pub(crate) zone_names: NameTable,
    pub(crate) link_names: NameTable,
    pub(crate) links: Vec<LinkRecord>,
    pub(crate) link_levels: BTreeMap<LinkId, Vec<f64>>,
    pub(crate) link_concurrency: BTreeMap<LinkId, u32>,
    pub(crate) link_properties: PropertyTable,
    pub(crate) disks: Vec<DiskRecord>,
    pub(crate) disks_of: BTreeMap<HostId, Vec<DiskId>>,
    pub(crate) disk_properties: PropertyTable,
}

impl Inventory {
    /// Hosts, routers and zones share one name space.
    pub(crate) fn point_named(&self, name: &str) -> Option<Point> {
        if let Some(at) = self.host_names.find(name) {
            return Some(Point::Host(HostId(at)));
        }
        if let Some(at) = self.router_names.find(name) {
            return Some(Point::Router(RouterId(at)));
        }
        self.zone_names.find(name).map(|at| Point::Zone(ZoneId(at)))
    }

    /// The same, perhaps near the host found before ([`NameTable::find_near`]).
    #[inline]
    pub(crate) fn point_near(&self, name: &str, before: &mut u32) -> Option<Point> {
        match self.host_names.find_near(name, before) {
            Some(at) => Some(Point::Host(HostId(at))),
            None => self.point_named(name),
        }
    }

    pub(crate) fn point_name(&self, point: Point) -> &str {
        match point {
            Point::Host(id) => self.host_names.get(id.index()),
            Point::Router(id) => self.router_names.get(id.index()),
            Point::Zone(id) => self.zone_names.get(id.index()),
        }
    }

    pub(crate) fn link_named(&self, name: &str) -> Option<LinkId> {
        self.link_names.find(name).map(LinkId)
    }

    /// What the way back crosses where the way there crosses this link.
    pub(crate) fn opposite(&self, link: LinkId) -> LinkId {
        match self.links[link.index()].half {
            Half::Whole => link,
            Half::Up => LinkId(link.0 + 1),
            Half::Down => LinkId(link.0 - 1),
        }
    }

    pub(crate) fn speeds_of(&self, host: HostId) -> &[f64] {
        let record = &self.hosts[host.index()];
        let start = record.speeds_start as usize;
        &self.speeds[start..start + record.speeds_count as usize]
    }

    pub(crate) fn coordinates_of(&self, point: Point) -> Option<[f64; 3]> {
        match point {
            Point::Host(id) => self.host_coordinates.get(&id).copied(),
            Point::Router(id) => self.router_coordinates.get(&id).copied(),
            Point::Zone(_) => None,
        }
    }

    /// Once everything is there: in order, and without room for more.
    pub(crate) fn settle(&mut self) {
        for table in
            [&mut self.host_names, &mut self.router_names, &mut self.zone_names, &mut self.link_names]
        {
            table.shrink();
        }
        for table in [&mut self.host_properties, &mut self.link_properties, &mut self.disk_properties] {
            table.sort();
        }
        self.hosts.shrink_to_fit();
        self.links.shrink_to_fit();
    }
}
