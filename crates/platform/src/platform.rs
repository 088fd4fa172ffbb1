//! The platform as its users see it: immutable, and cheap to look things up in.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use crate::builder::PlatformBuilder;
use crate::deployment::ActorDeclaration;
use crate::error::{Error, Place};
use crate::ids::{DiskId, HostId, LinkId, Point, RouterId, ZoneId};
use crate::inventory::{Inventory, Properties, Sharing};
use crate::profile::ProfileBinding;
use crate::properties::PropertiesOf;
use crate::suggest;
use crate::zone::{Routing, ZoneRecord};

/// Hosts, links, disks, zones and routes. Immutable once built, hence shared freely between threads.
pub struct Platform {
    pub(crate) name: String,
    pub(crate) things: Inventory,
    pub(crate) zones: Vec<ZoneRecord>,
    pub(crate) loopback: LinkId,
    pub(crate) config: BTreeMap<String, String>,
    pub(crate) config_lines: BTreeMap<String, u32>,
    pub(crate) profiles: Vec<ProfileBinding>,
    pub(crate) deployment: Vec<ActorDeclaration>,
}

impl Platform {
    /// Reads a SimGrid platform file, version 4.1 or 4.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Platform, Error> {
        crate::xml::platform_from_file(path.as_ref())
    }

    /// Reads the text of a platform file. Messages call it `name`; profiles are looked for in `directory`.
    pub fn from_xml(text: &str, name: &str, directory: &Path) -> Result<Platform, Error> {
        crate::xml::platform_from_text(text, name, directory)
    }

    /// The platform of those who gave none: see [`crate::builtin`].
    pub fn builtin() -> Platform {
        crate::builtin::platform()
    }

    /// Starts a platform from Rust.
    pub fn builder() -> PlatformBuilder {
        PlatformBuilder::new("platform")
    }

    /// What messages call it: the file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many hosts.
    pub fn host_count(&self) -> usize {
        self.things.hosts.len()
    }

    /// How many links, the implicit loopback included, a split link counted as two.
    pub fn link_count(&self) -> usize {
        self.things.links.len()
    }

    /// How many disks.
    pub fn disk_count(&self) -> usize {
        self.things.disks.len()
    }

    /// How many routers.
    pub fn router_count(&self) -> usize {
        self.things.routers.len()
    }

    /// How many zones.
    pub fn zone_count(&self) -> usize {
        self.zones.len()
    }

    /// All hosts, in the order of the file.
    pub fn hosts(&self) -> impl Iterator<Item = HostId> + use<> {
        (0..self.host_count()).map(HostId::from_index)
    }

    /// All links, in the order of the file, the implicit loopback first.
    pub fn links(&self) -> impl Iterator<Item = LinkId> + use<> {
        (0..self.link_count()).map(LinkId::from_index)
    }

    /// All disks.
    pub fn disks(&self) -> impl Iterator<Item = DiskId> + use<> {
        (0..self.disk_count()).map(DiskId::from_index)
    }

    /// All zones, outer ones before inner ones.
    pub fn zones(&self) -> impl Iterator<Item = ZoneId> + use<> {
        (0..self.zone_count()).map(ZoneId::from_index)
    }

    /// The zone around all others.
    pub fn root(&self) -> ZoneId {
        ZoneId(0)
    }

    /// What is known of a host.
    ///
    /// # Panics
    /// If the identity is another platform's and out of range here; likewise for links, disks, routers and zones.
    pub fn host(&self, id: HostId) -> Host<'_> {
        let record = &self.things.hosts[id.index()];
        Host {
            id,
            name: self.things.host_names.get(id.index()),
            speeds: self.things.speeds_of(id),
            pstate: record.pstate as usize,
            cores: record.cores,
            zone: record.zone,
            coordinates: self.things.host_coordinates.get(&id).copied(),
            platform: self,
        }
    }

    /// The host of that name.
    pub fn host_named(&self, name: &str) -> Option<HostId> {
        self.things.host_names.find(name).map(HostId)
    }

    /// What is known of a link.
    pub fn link(&self, id: LinkId) -> Link<'_> {
        let record = &self.things.links[id.index()];
        let bandwidths = match record.sharing {
            Sharing::Wifi => self.things.link_levels.get(&id).map(Vec::as_slice),
            Sharing::Shared | Sharing::FatPipe => None,
        };
        Link {
            id,
            name: self.things.link_names.get(id.index()),
            bandwidth: record.bandwidth,
            bandwidths: bandwidths.unwrap_or(std::slice::from_ref(&record.bandwidth)),
            latency: record.latency,
            sharing: record.sharing,
            concurrency: self.things.link_concurrency.get(&id).copied(),
            properties: self.things.link_properties.of(id.0),
            platform: self,
        }
    }

    /// The link of that name. The halves of a split link `x` are `x_UP` and `x_DOWN`.
    pub fn link_named(&self, name: &str) -> Option<LinkId> {
        self.things.link_named(name)
    }

    /// What is known of a disk.
    pub fn disk(&self, id: DiskId) -> Disk<'_> {
        let record = &self.things.disks[id.index()];
        Disk {
            id,
            name: &record.name,
            host: record.host,
            read_bandwidth: record.read_bandwidth,
            write_bandwidth: record.write_bandwidth,
            readwrite_bandwidth: record.readwrite_bandwidth,
            properties: self.things.disk_properties.of(id.0),
        }
    }

    /// The disk of that name on that host; disks of different hosts may have the same name.
    pub fn disk_named(&self, host: HostId, name: &str) -> Option<DiskId> {
        let disks = self.things.disks_of.get(&host)?;
        disks.iter().copied().find(|disk| self.things.disks[disk.index()].name == name)
    }

    /// The disks of a host, in the order of the file.
    pub fn disks_of(&self, host: HostId) -> Vec<DiskId> {
        self.things.disks_of.get(&host).cloned().unwrap_or_default()
    }

    /// The name of a router.
    pub fn router_name(&self, id: RouterId) -> &str {
        self.things.router_names.get(id.index())
    }

    /// The name of a host, a router or a zone.
    pub fn point_name(&self, point: Point) -> &str {
        self.things.point_name(point)
    }

    /// The host, router or zone of that name; they share one name space.
    pub fn point_named(&self, name: &str) -> Option<Point> {
        self.things.point_named(name)
    }

    /// What is known of a zone.
    pub fn zone(&self, id: ZoneId) -> Zone<'_> {
        let record = &self.zones[id.index()];
        Zone {
            id,
            name: self.things.zone_names.get(id.index()),
            parent: record.parent,
            routing: record.routing,
            members: &record.members,
            properties: &record.properties,
        }
    }

    /// The zone of that name.
    pub fn zone_named(&self, name: &str) -> Option<ZoneId> {
        self.things.zone_names.find(name).map(ZoneId)
    }

    /// The link from a host to itself where none is declared: FATPIPE, 10 GBps, no latency.
    pub fn loopback(&self) -> LinkId {
        self.loopback
    }

    /// The settings of the file's `<config>` elements.
    pub fn config(&self) -> &BTreeMap<String, String> {
        &self.config
    }

    /// Where a setting of a `<config>` element stands.
    pub fn config_place(&self, key: &str) -> Place {
        self.at(self.config_lines.get(key).copied())
    }

    fn at(&self, line: Option<u32>) -> Place {
        Place { file: self.name.clone(), line }
    }

    /// The profiles, in the order of the file.
    pub fn profiles(&self) -> &[ProfileBinding] {
        &self.profiles
    }

    /// The `<actor>` elements of the file.
    pub fn deployment(&self) -> &[ActorDeclaration] {
        &self.deployment
    }

    /// The host whose name is nearest to a misspelt one.
    pub fn host_suggestion(&self, name: &str) -> Option<String> {
        suggest::nearest(name, self.things.host_names.iter()).map(str::to_owned)
    }

    /// The zone a point is in and its number there; the root is in none, and answers itself.
    pub(crate) fn place_of(&self, point: Point) -> (ZoneId, u32) {
        match point {
            Point::Host(id) => {
                let record = &self.things.hosts[id.index()];
                (record.zone, record.member)
            }
            Point::Router(id) => {
                let record = &self.things.routers[id.index()];
                (record.zone, record.member)
            }
            Point::Zone(id) => {
                let record = &self.zones[id.index()];
                (record.parent.unwrap_or(id), record.member)
            }
        }
    }
}

impl fmt::Debug for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Platform({}: {} hosts, {} links)", self.name, self.host_count(), self.link_count())
    }
}

/// A host, read from its platform.
#[derive(Clone, Copy, Debug)]
pub struct Host<'a> {
    /// Its identity.
    pub id: HostId,
    /// Its name.
    pub name: &'a str,
    /// Flop/s of one core, one for each power state.
    pub speeds: &'a [f64],
    /// The power state it starts in.
    pub pstate: usize,
    /// How many cores.
    pub cores: u32,
    /// The zone it is a member of.
    pub zone: ZoneId,
    /// Vivaldi coordinates: x, y and height, in milliseconds.
    pub coordinates: Option<[f64; 3]>,
    platform: &'a Platform,
}

impl<'a> Host<'a> {
    /// Flop/s of one core in the power state it starts in.
    pub fn speed(&self) -> f64 {
        self.speeds[self.pstate]
    }

    /// A property of the host; a host of a cluster has the cluster's.
    pub fn property(&self, key: &str) -> Option<&'a str> {
        let own = self.platform.things.host_properties.of(self.id.0).get(key);
        own.or_else(|| self.inherited()?.get(key).map(String::as_str))
    }

    /// Where a property of the host is given; that of its cluster at the cluster.
    pub fn property_place(&self, key: &str) -> Place {
        let own = self.platform.things.host_properties.of(self.id.0);
        let line = match own.get(key) {
            Some(_) => own.line(key),
            None => self.platform.zones[self.zone.index()].line,
        };
        self.platform.at(line)
    }

    /// All properties, by name.
    pub fn properties(&self) -> BTreeMap<&'a str, &'a str> {
        let own = self.platform.things.host_properties.of(self.id.0);
        let inherited = self.inherited().into_iter().flatten();
        inherited.map(|(key, value)| (key.as_str(), value.as_str())).chain(own.iter()).collect()
    }

    fn inherited(&self) -> Option<&'a Properties> {
        let zone = &self.platform.zones[self.zone.index()];
        zone.routing.is_regular().then_some(&zone.properties)
    }
}

/// A link, read from its platform.
#[derive(Clone, Copy, Debug)]
pub struct Link<'a> {
    /// Its identity.
    pub id: LinkId,
    /// Its name.
    pub name: &'a str,
    /// Bytes a second; of a wifi link, its first level.
    pub bandwidth: f64,
    /// The levels of a wifi link; otherwise the bandwidth alone.
    pub bandwidths: &'a [f64],
    /// Seconds.
    pub latency: f64,
    /// How flows share it.
    pub sharing: Sharing,
    /// How many flows it takes at once, if limited.
    pub concurrency: Option<u32>,
    properties: PropertiesOf<'a>,
    platform: &'a Platform,
}

impl<'a> Link<'a> {
    /// A property of the link.
    pub fn property(&self, key: &str) -> Option<&'a str> {
        self.properties.get(key)
    }

    /// Where a property of the link is given.
    pub fn property_place(&self, key: &str) -> Place {
        self.platform.at(self.properties.line(key))
    }

    /// All properties, by name.
    pub fn properties(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.properties.iter()
    }
}

/// A disk, read from its platform.
#[derive(Clone, Copy, Debug)]
pub struct Disk<'a> {
    /// Its identity.
    pub id: DiskId,
    /// Its name, unique on its host.
    pub name: &'a str,
    /// The host it is in.
    pub host: HostId,
    /// Bytes a second.
    pub read_bandwidth: f64,
    /// Bytes a second.
    pub write_bandwidth: f64,
    /// Bytes a second of reads and writes together.
    pub readwrite_bandwidth: f64,
    properties: PropertiesOf<'a>,
}

impl<'a> Disk<'a> {
    /// A property of the disk.
    pub fn property(&self, key: &str) -> Option<&'a str> {
        self.properties.get(key)
    }

    /// All properties, by name.
    pub fn properties(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.properties.iter()
    }
}

/// A zone, read from its platform.
#[derive(Clone, Copy, Debug)]
pub struct Zone<'a> {
    /// Its identity.
    pub id: ZoneId,
    /// Its name.
    pub name: &'a str,
    /// The zone around it.
    pub parent: Option<ZoneId>,
    /// How it routes.
    pub routing: Routing,
    /// Its hosts, routers and zones, in the order of the file.
    pub members: &'a [Point],
    properties: &'a Properties,
}

impl<'a> Zone<'a> {
    /// A property of the zone.
    pub fn property(&self, key: &str) -> Option<&'a str> {
        self.properties.get(key).map(String::as_str)
    }

    /// All properties, by name.
    pub fn properties(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        self.properties.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}
