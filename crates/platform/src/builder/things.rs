//! Hosts, links and disks refined after they were declared: `b.host(zone, "a", 1e9).cores(4).id()`.

use crate::builder::{PlatformBuilder, bad_bandwidth};
use crate::error::Complaint;
use crate::ids::{DiskId, HostId, LinkId};
use crate::inventory::Sharing;

/// A host in the making.
pub struct HostBuilder<'b> {
    pub(super) builder: &'b mut PlatformBuilder,
    pub(super) id: HostId,
}

impl HostBuilder<'_> {
    /// How many cores, each of the host's speed.
    pub fn cores(self, cores: u32) -> Self {
        if cores == 0 {
            self.builder.fail(Complaint::new("a host has 0 cores", "give it at least 1"));
        }
        if let Some(host) = self.builder.things.hosts.get_mut(self.id.index()) {
            host.cores = cores;
        }
        self
    }

    /// The speed in each power state, and the state it starts in.
    pub fn power_states(self, speeds: &[f64], start: usize) -> Self {
        if self.id.index() >= self.builder.things.hosts.len() {
            return self;
        }
        // Its name is for messages: most hosts need none.
        let is_odd =
            start >= speeds.len() || speeds.iter().any(|speed| !(speed.is_finite() && *speed >= 0.0));
        let is_told = is_odd || speeds.len() > u16::MAX as usize;
        let name = if is_told {
            self.builder.things.host_names.get(self.id.index()).to_owned()
        } else {
            String::new()
        };
        if start >= speeds.len() {
            self.builder.fail(Complaint::new(
                format!("host {name:?} starts in power state {start} of {}", speeds.len()),
                "number power states from 0",
            ));
        }
        let (speeds_start, speeds_count) = self.builder.keep_speeds(&name, speeds);
        let host = &mut self.builder.things.hosts[self.id.index()];
        (host.speeds_start, host.speeds_count) = (speeds_start, speeds_count);
        host.pstate = start.min(usize::from(speeds_count) - 1) as u16;
        self
    }

    /// Where it is, for a Vivaldi zone: x, y and height in milliseconds.
    pub fn coordinates(self, coordinates: [f64; 3]) -> Self {
        self.builder.check_coordinates(coordinates);
        self.builder.things.host_coordinates.insert(self.id, coordinates);
        self
    }

    /// A property.
    pub fn property(self, key: &str, value: &str) -> Self {
        self.builder.host_property(self.id, key, value);
        self
    }

    /// Its identity.
    pub fn id(self) -> HostId {
        self.id
    }
}

/// A link in the making.
pub struct LinkBuilder<'b> {
    pub(super) builder: &'b mut PlatformBuilder,
    pub(super) id: LinkId,
}

impl LinkBuilder<'_> {
    /// How flows share it. A wifi link is made by [`PlatformBuilder::wifi_link`].
    pub fn sharing(self, sharing: Sharing) -> Self {
        if let Some(link) = self.builder.things.links.get_mut(self.id.index()) {
            link.sharing = sharing;
        }
        self
    }

    /// How many flows it takes at once.
    pub fn concurrency(self, flows: u32) -> Self {
        self.builder.link_concurrency(self.id, flows);
        self
    }

    /// A property.
    pub fn property(self, key: &str, value: &str) -> Self {
        self.builder.link_property(self.id, key, value);
        self
    }

    /// Its identity.
    pub fn id(self) -> LinkId {
        self.id
    }
}

/// A disk in the making.
pub struct DiskBuilder<'b> {
    pub(super) builder: &'b mut PlatformBuilder,
    pub(super) id: DiskId,
}

impl DiskBuilder<'_> {
    /// Bytes a second of reads and writes together; the larger of both unless given.
    pub fn readwrite(self, bandwidth: f64) -> Self {
        let disk = &mut self.builder.things.disks[self.id.index()];
        disk.readwrite_bandwidth = bandwidth;
        if !(bandwidth.is_finite() && bandwidth > 0.0) {
            let name = disk.name.clone();
            self.builder.fail(bad_bandwidth("disk", &name, bandwidth));
        }
        self
    }

    /// A property.
    pub fn property(self, key: &str, value: &str) -> Self {
        let kept = self.builder.things.disk_properties.insert(self.id.0, key, value, self.builder.line);
        self.builder.check_kept(kept);
        self
    }

    /// Its identity.
    pub fn id(self) -> DiskId {
        self.id
    }
}
