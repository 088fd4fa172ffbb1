//! Platforms from Rust; the reader of XML files uses this builder too.
//!
//! Methods never fail: the first mistake is kept, with the line it came from, and [`PlatformBuilder::build`] returns it.

mod cluster;
mod finish;
mod limits;
mod routes;
mod things;

pub use cluster::{BackboneSpec, ClusterSpec, LoopbackSpec, PrivateLinks, Topology};
pub(crate) use limits::HOSTS_MAX;
pub use routes::RouteBuilder;
pub use things::{DiskBuilder, HostBuilder, LinkBuilder};

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::deployment::ActorDeclaration;
use crate::error::{Complaint, Error};
use crate::ids::{DiskId, HostId, LinkId, Point, RouterId, ZoneId};
use crate::inventory::{
    DiskRecord, Half, HostRecord, Inventory, LinkRecord, Properties, RouterRecord, Sharing,
};
use crate::names::Refusal;
use crate::platform::Platform;
use crate::profile::{Profile, ProfileBinding, ProfileTarget, Repeat, long_enough};
use crate::routing::cluster::Cluster;
use crate::routing::star::Star;
use crate::zone::Routing;
use routes::RouteDraft;

/// Zones inside zones inside zones: more than this is a mistake.
const DEPTH_MAX: u32 = 64;

/// A platform in the making.
///
/// ```
/// use simurgh_platform::{Platform, Routing};
/// let mut b = Platform::builder();
/// let world = b.zone("world", Routing::Full);
/// let alice = b.host(world, "alice", 1e9).cores(4).id();
/// let bob = b.host(world, "bob", 2e9).id();
/// let wire = b.link(world, "wire", 125e6, 50e-6).id();
/// b.route(world, alice, bob, [wire]);
/// let platform = b.build().unwrap();
/// assert_eq!(platform.route(bob, alice).unwrap().links, [wire]);
/// ```
pub struct PlatformBuilder {
    pub(crate) name: String,
    /// The line of the file that is being read, for messages.
    pub(crate) line: Option<u32>,
    pub(crate) things: Inventory,
    drafts: Vec<ZoneDraft>,
    routes: Vec<RouteDraft>,
    route_links: Vec<LinkId>,
    config: BTreeMap<String, String>,
    config_lines: BTreeMap<String, u32>,
    profiles: Vec<ProfileBinding>,
    pub(crate) deployment: Vec<ActorDeclaration>,
    speed_lists: BTreeMap<Vec<u64>, u32>,
    fat_tree_hosts: u32,
    failure: Option<Error>,
}

/// A zone in the making.
struct ZoneDraft {
    parent: Option<ZoneId>,
    member: u32,
    depth: u32,
    routing: Routing,
    members: Vec<Point>,
    has_zones: bool,
    star: Star,
    cluster: Option<Cluster>,
    wifi_link: Option<LinkId>,
    properties: Properties,
    line: Option<u32>,
}

/// The two directions of a SPLITDUPLEX link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SplitLink {
    /// Named `NAME_UP`.
    pub up: LinkId,
    /// Named `NAME_DOWN`.
    pub down: LinkId,
}

impl PlatformBuilder {
    /// An empty platform; messages call it `name`.
    pub fn new(name: &str) -> Self {
        let mut builder = PlatformBuilder {
            name: name.to_owned(),
            line: None,
            things: Inventory::default(),
            drafts: Vec::new(),
            routes: Vec::new(),
            route_links: Vec::new(),
            config: BTreeMap::new(),
            config_lines: BTreeMap::new(),
            profiles: Vec::new(),
            deployment: Vec::new(),
            speed_lists: BTreeMap::new(),
            fat_tree_hosts: 0,
            failure: None,
        };
        builder.add_link("__loopback__", 1e10, 0.0, Sharing::FatPipe, Half::Whole);
        builder
    }

    /// The zone around all others: there is one, and it comes first.
    pub fn zone(&mut self, name: &str, routing: Routing) -> ZoneId {
        self.add_zone(None, name, routing)
    }

    /// A zone inside another.
    pub fn zone_in(&mut self, parent: ZoneId, name: &str, routing: Routing) -> ZoneId {
        self.add_zone(Some(parent), name, routing)
    }

    /// A host of one core and one power state, to be refined: `b.host(zone, "a", 1e9).cores(4).id()`.
    pub fn host(&mut self, zone: ZoneId, name: &str, speed: f64) -> HostBuilder<'_> {
        self.host_of(zone, name, &[speed])
    }

    /// The same with the speed in each power state.
    pub(crate) fn host_of(&mut self, zone: ZoneId, name: &str, speeds: &[f64]) -> HostBuilder<'_> {
        self.check_member(zone, "host", name);
        let id = self.add_host(zone, name, speeds, 1);
        HostBuilder { builder: self, id }
    }

    /// A point that routes pass by and where nothing runs.
    pub fn router(&mut self, zone: ZoneId, name: &str) -> RouterId {
        self.check_member(zone, "router", name);
        self.add_router(zone, name)
    }

    /// Where a router is, for a Vivaldi zone: x, y and height in milliseconds.
    pub fn router_coordinates(&mut self, router: RouterId, coordinates: [f64; 3]) {
        self.check_coordinates(coordinates);
        self.things.router_coordinates.insert(router, coordinates);
    }

    /// A link, shared unless refined: `b.link(zone, "l", 125e6, 50e-6).sharing(Sharing::FatPipe).id()`.
    pub fn link(&mut self, zone: ZoneId, name: &str, bandwidth: f64, latency: f64) -> LinkBuilder<'_> {
        self.check_zone(zone);
        let id = self.add_link(name, bandwidth, latency, Sharing::Shared, Half::Whole);
        LinkBuilder { builder: self, id }
    }

    /// A link with a bandwidth for each direction: two links, `NAME_UP` and `NAME_DOWN`.
    pub fn split_link(&mut self, zone: ZoneId, name: &str, bandwidth: f64, latency: f64) -> SplitLink {
        self.check_zone(zone);
        let up = self.add_link(&format!("{name}_UP"), bandwidth, latency, Sharing::Shared, Half::Up);
        let down = self.add_link(&format!("{name}_DOWN"), bandwidth, latency, Sharing::Shared, Half::Down);
        SplitLink { up, down }
    }

    /// The medium of a wifi zone, with the bandwidth of each level.
    pub fn wifi_link(&mut self, zone: ZoneId, name: &str, levels: &[f64], latency: f64) -> LinkId {
        self.check_zone(zone);
        let first = levels.first().copied().unwrap_or(f64::NAN);
        let id = self.add_link(name, first, latency, Sharing::Wifi, Half::Whole);
        if let Some(&level) = levels.iter().find(|level| !(level.is_finite() && **level > 0.0)) {
            self.fail(bad_bandwidth("link", name, level));
        }
        self.things.link_levels.insert(id, levels.to_vec());
        let taken = self.draft(zone).is_some_and(|draft| draft.wifi_link.is_some());
        if taken {
            self.fail(Complaint::new(
                format!("wifi link {name:?} is the second of its zone"),
                "a wifi zone has one medium: put the other link into a zone of its own",
            ));
        }
        if let Some(draft) = self.draft(zone) {
            draft.wifi_link = Some(id);
        }
        id
    }

    /// A disk, to be refined: `b.disk(host, "disk", 500e6, 250e6).readwrite(500e6).id()`.
    pub fn disk(&mut self, host: HostId, name: &str, read: f64, write: f64) -> DiskBuilder<'_> {
        for bandwidth in [read, write] {
            if !(bandwidth.is_finite() && bandwidth > 0.0) {
                self.fail(bad_bandwidth("disk", name, bandwidth));
            }
        }
        let disks = self.things.disks_of.entry(host).or_default();
        if disks.iter().any(|disk| self.things.disks[disk.index()].name == name) {
            self.fail(Complaint::new(
                format!("disk {name:?} is declared twice on one host"),
                "give each disk of a host its own name",
            ));
        }
        let id = DiskId::from_index(self.things.disks.len());
        let disks = self.things.disks_of.entry(host).or_default();
        disks.push(id);
        self.things.disks.push(DiskRecord {
            name: name.to_owned(),
            host,
            read_bandwidth: read,
            write_bandwidth: write,
            readwrite_bandwidth: read.max(write),
        });
        DiskBuilder { builder: self, id }
    }

    /// A property of a zone. The `access_point` of a wifi zone names the member that needs none of its medium.
    pub fn zone_property(&mut self, zone: ZoneId, key: &str, value: &str) {
        if let Some(draft) = self.draft(zone) {
            draft.properties.insert(key.to_owned(), value.to_owned());
        }
    }

    /// A property of a host.
    pub(crate) fn host_property(&mut self, host: HostId, key: &str, value: &str) {
        let kept = self.things.host_properties.insert(host.0, key, value, self.line);
        self.check_kept(kept);
    }

    /// A property of a link.
    pub fn link_property(&mut self, link: LinkId, key: &str, value: &str) {
        let kept = self.things.link_properties.insert(link.0, key, value, self.line);
        self.check_kept(kept);
    }

    /// How many flows a link takes at once.
    pub fn link_concurrency(&mut self, link: LinkId, flows: u32) {
        if flows == 0 {
            self.fail(Complaint::new("a concurrency of 0 lets nothing pass", "give at least 1"));
        }
        self.things.link_concurrency.insert(link, flows);
    }

    /// A setting, as in a file's `<config>`.
    pub fn config(&mut self, key: &str, value: &str) {
        self.config.insert(key.to_owned(), value.to_owned());
        match self.line {
            Some(line) => self.config_lines.insert(key.to_owned(), line),
            None => self.config_lines.remove(key),
        };
    }

    /// Lets a profile drive something.
    pub fn profile(&mut self, target: ProfileTarget, profile: Arc<Profile>) {
        if let Repeat::Periodic(period) = profile.repeat
            && let Err(complaint) = long_enough(period)
        {
            self.fail(complaint);
        }
        self.profiles.push(ProfileBinding { target, profile });
    }

    /// Makes room for that many hosts and as many links, with names of about that length.
    pub fn reserve(&mut self, hosts: usize, name_length: usize) {
        self.things.hosts.reserve(hosts);
        self.things.host_names.reserve(hosts, hosts * name_length);
        self.things.links.reserve(hosts);
        self.things.link_names.reserve(hosts, hosts * name_length);
    }

    /// The host of that name, so far.
    pub fn host_named(&self, name: &str) -> Option<HostId> {
        self.things.host_names.find(name).map(HostId)
    }

    /// The link of that name, so far.
    pub fn link_named(&self, name: &str) -> Option<LinkId> {
        self.things.link_named(name)
    }

    /// The platform, or the first mistake.
    pub fn build(self) -> Result<Platform, Error> {
        self.finish()
    }

    /// Keeps the first mistake.
    pub(crate) fn fail(&mut self, complaint: Complaint) {
        if self.failure.is_none() {
            self.failure = Some(complaint.at(&self.name, self.line));
        }
    }

    /// Keeps this mistake, unless there is one.
    pub(crate) fn fail_with(&mut self, failure: Error) {
        self.failure.get_or_insert(failure);
    }

    /// Forgets the first mistake, which the caller keeps.
    pub(crate) fn take_failure(&mut self) -> Option<Error> {
        self.failure.take()
    }

    pub(crate) fn routing_of(&self, zone: ZoneId) -> Option<Routing> {
        self.drafts.get(zone.index()).map(|draft| draft.routing)
    }

    pub(crate) fn failed(&self) -> bool {
        self.failure.is_some()
    }

    fn add_zone(&mut self, parent: Option<ZoneId>, name: &str, routing: Routing) -> ZoneId {
        let fresh = ZoneId::from_index(self.drafts.len());
        if parent.is_none() && !self.drafts.is_empty() {
            self.fail(Complaint::new(
                format!("zone {name:?} is a second root"),
                "put all zones and clusters into one zone",
            ));
            return ZoneId(0);
        }
        if !self.claim_point(name, "zone", |things| &mut things.zone_names) {
            return ZoneId(0);
        }
        let (mut depth, mut member) = (0, 0);
        if let Some(parent) = parent {
            self.check_member(parent, "zone", name);
            depth = self.drafts[parent.index()].depth + 1;
            member = self.add_member(parent, Point::Zone(fresh));
            self.drafts[parent.index()].has_zones = true;
        }
        if depth > DEPTH_MAX {
            self.fail(Complaint::new(
                format!("zone {name:?} is nested more than {DEPTH_MAX} deep"),
                "flatten the zones",
            ));
        }
        self.drafts.push(ZoneDraft {
            parent,
            member,
            depth,
            routing,
            members: Vec::new(),
            has_zones: false,
            star: Star::new(routing != Routing::Star),
            cluster: None,
            wifi_link: None,
            properties: Properties::new(),
            line: self.line,
        });
        fresh
    }

    fn add_host(&mut self, zone: ZoneId, name: &str, speeds: &[f64], cores: u32) -> HostId {
        if !self.claim_point(name, "host", |things| &mut things.host_names) {
            return HostId(0);
        }
        let id = HostId::from_index(self.things.hosts.len());
        let member = self.add_member(zone, Point::Host(id));
        let (speeds_start, speeds_count) = self.keep_speeds(name, speeds);
        self.things.hosts.push(HostRecord { speeds_start, speeds_count, pstate: 0, cores, zone, member });
        id
    }

    fn add_router(&mut self, zone: ZoneId, name: &str) -> RouterId {
        if !self.claim_point(name, "router", |things| &mut things.router_names) {
            return RouterId(0);
        }
        let id = RouterId::from_index(self.things.routers.len());
        let member = self.add_member(zone, Point::Router(id));
        self.things.routers.push(RouterRecord { zone, member });
        id
    }

    fn add_link(&mut self, name: &str, bandwidth: f64, latency: f64, sharing: Sharing, half: Half) -> LinkId {
        if !(bandwidth.is_finite() && bandwidth > 0.0) {
            self.fail(bad_bandwidth("link", name, bandwidth));
        }
        if !(latency.is_finite() && latency >= 0.0) {
            self.fail(Complaint::new(
                format!("link {name:?} has a latency of {latency} s"),
                "give it one of at least 0",
            ));
        }
        match self.things.link_names.insert(name) {
            Ok(at) => {
                self.things.links.push(LinkRecord { bandwidth, latency, sharing, half });
                LinkId(at)
            }
            Err(refusal) => {
                self.refuse(name, "link", &refusal);
                LinkId(0)
            }
        }
    }

    /// Takes a name for a host, a router or a zone; says whether it was free.
    fn claim_point(
        &mut self,
        name: &str,
        what: &str,
        table: impl Fn(&mut Inventory) -> &mut crate::names::NameTable,
    ) -> bool {
        if name.is_empty() {
            self.fail(Complaint::new(format!("a {what} has an empty name"), "give it a name"));
        }
        let taken = match what {
            "host" => self.things.router_names.find(name).or_else(|| self.things.zone_names.find(name)),
            "router" => self.things.host_names.find(name).or_else(|| self.things.zone_names.find(name)),
            _ => self.things.host_names.find(name).or_else(|| self.things.router_names.find(name)),
        };
        let result = match taken {
            Some(at) => Err(Refusal::Taken(at)),
            None => table(&mut self.things).insert(name),
        };
        match result {
            Ok(_) => true,
            Err(refusal) => {
                self.refuse(name, what, &refusal);
                false
            }
        }
    }

    fn refuse(&mut self, name: &str, what: &str, refusal: &Refusal) {
        self.fail(match refusal {
            Refusal::Taken(_) if what == "link" => {
                Complaint::new(format!("link {name:?} is declared twice"), "give each link its own name")
            }
            Refusal::Taken(_) => {
                let other = match self.things.point_named(name) {
                    Some(Point::Router(_)) => "router",
                    Some(Point::Zone(_)) => "zone",
                    _ => "host",
                };
                Complaint::new(
                    format!("{what} {name:?} has the name of a {other} declared before"),
                    "give each host, router and zone its own name",
                )
            }
            Refusal::Full => Complaint::new(
                "the names of the platform exceed 4 GiB",
                "shorten the names or declare fewer things",
            ),
        });
    }

    /// Whether there was room for a property.
    fn check_kept(&mut self, kept: Result<(), Refusal>) {
        if kept.is_err() {
            self.fail(Complaint::new(
                "the properties of the platform exceed 4 GiB",
                "shorten them or give fewer things properties",
            ));
        }
    }

    fn add_member(&mut self, zone: ZoneId, point: Point) -> u32 {
        let Some(draft) = self.draft(zone) else { return 0 };
        draft.members.push(point);
        draft.members.len() as u32 - 1
    }

    /// The same list is kept once, as far as is cheap to see: most platforms have a few kinds of hosts.
    fn keep_speeds(&mut self, name: &str, speeds: &[f64]) -> (u32, u16) {
        if let Some(&speed) = speeds.iter().find(|speed| !(speed.is_finite() && **speed >= 0.0)) {
            self.fail(Complaint::new(
                format!("host {name:?} has a speed of {speed} flop/s"),
                "give it one of at least 0",
            ));
        }
        if speeds.is_empty() || speeds.len() > u16::MAX as usize {
            self.fail(Complaint::new(
                format!("host {name:?} has {} speeds", speeds.len()),
                "give it one for each of its power states",
            ));
            return self.keep_speeds(name, &[1.0]);
        }
        if let Some(last) = self.things.hosts.last()
            && self.things.speeds_of(HostId::from_index(self.things.hosts.len() - 1)) == speeds
        {
            return (last.speeds_start, last.speeds_count);
        }
        let key: Vec<u64> = speeds.iter().map(|speed| speed.to_bits()).collect();
        let count = speeds.len() as u16;
        if let Some(&start) = self.speed_lists.get(&key) {
            return (start, count);
        }
        let start = self.things.speeds.len() as u32;
        self.things.speeds.extend_from_slice(speeds);
        if self.speed_lists.len() < 1000 {
            self.speed_lists.insert(key, start);
        }
        (start, count)
    }

    fn draft(&mut self, zone: ZoneId) -> Option<&mut ZoneDraft> {
        self.drafts.get_mut(zone.index())
    }

    /// A zone that this builder did not make can only come from another builder, or from a failed call.
    fn check_zone(&mut self, zone: ZoneId) {
        if zone.index() >= self.drafts.len() {
            self.fail(Complaint::new(
                format!("zone {zone} is not a zone of this platform"),
                "make a zone first: b.zone(\"world\", Routing::Full)",
            ));
        }
    }

    fn check_member(&mut self, zone: ZoneId, what: &str, name: &str) {
        self.check_zone(zone);
        let regular = self.draft(zone).map(|draft| draft.routing).filter(|routing| routing.is_regular());
        if let Some(routing) = regular {
            self.fail(Complaint::new(
                format!("{what} {name:?} cannot be put into a {routing}"),
                "put it into a zone around the cluster",
            ));
        }
    }

    fn check_coordinates(&mut self, coordinates: [f64; 3]) {
        if coordinates.iter().any(|value| !value.is_finite()) {
            self.fail(Complaint::new(
                "a coordinate is not a finite number",
                "give x, y and height in milliseconds",
            ));
        }
    }

    /// The zone a point is in, and its number there.
    fn place_of(&self, point: Point) -> Option<(ZoneId, u32)> {
        match point {
            Point::Host(id) => self.things.hosts.get(id.index()).map(|host| (host.zone, host.member)),
            Point::Router(id) => {
                self.things.routers.get(id.index()).map(|router| (router.zone, router.member))
            }
            Point::Zone(id) => self.drafts.get(id.index()).and_then(|zone| Some((zone.parent?, zone.member))),
        }
    }

    /// Whether a host or router is in a zone, at any depth.
    fn is_inside(&self, point: Point, zone: ZoneId) -> bool {
        let mut around = self.place_of(point).map(|(zone, _)| zone);
        while let Some(at) = around {
            if at == zone {
                return true;
            }
            around = self.drafts[at.index()].parent;
        }
        false
    }
}

fn bad_bandwidth(what: &str, name: &str, bandwidth: f64) -> Complaint {
    Complaint::new(
        format!("{what} {name:?} has a bandwidth of {bandwidth} Bps"),
        "give it one above 0, such as \"125MBps\"",
    )
}
