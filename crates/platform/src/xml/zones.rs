//! Zones, hosts, routers, links and profiles: everything that is declared where it stands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::builder::PlatformBuilder;
use crate::error::Error;
use crate::ids::{HostId, LinkId, ZoneId};
use crate::inventory::Sharing;
use crate::platform::Platform;
use crate::profile::{Profile, ProfileTarget};
use crate::units;
use crate::xml::actors::{read_actor, read_property};
use crate::xml::document::{Bookmark, Document};
use crate::xml::element::Element;
use crate::xml::routes::Routes;
use crate::zone::Routing;

const ZONE_CHILDREN: [&str; 17] = [
    "host",
    "router",
    "link",
    "zone",
    "cluster",
    "cabinet",
    "peer",
    "backbone",
    "host_link",
    "route",
    "zoneRoute",
    "bypassRoute",
    "bypassZoneRoute",
    "prop",
    "trace",
    "trace_connect",
    "actor",
];

/// A platform file being read.
pub(super) struct Reader<'d, 't> {
    pub(super) builder: PlatformBuilder,
    pub(super) document: &'d mut Document<'t>,
    directory: PathBuf,
    traces: BTreeMap<String, Arc<Profile>>,
    /// They wait until everything that they may name has been declared.
    connections: Vec<Bookmark>,
    pub(super) routes: Routes,
}

/// How a link of a file is shared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    Shared,
    FatPipe,
    SplitDuplex,
    Wifi,
}

impl<'d, 't> Reader<'d, 't> {
    pub(super) fn new(document: &'d mut Document<'t>, name: &str, directory: &Path) -> Self {
        Reader {
            document,
            builder: PlatformBuilder::new(name),
            directory: directory.to_owned(),
            traces: BTreeMap::new(),
            connections: Vec::new(),
            routes: Routes::default(),
        }
    }

    pub(super) fn read(mut self, root: &Element<'t>) -> Result<Platform, Error> {
        match self.read_all(root) {
            Ok(()) => self.builder.build(),
            // A mistake that the builder noticed came before the one that the reader stumbled over.
            Err(error) if self.builder.failed() => Err(self.builder.build().err().unwrap_or(error)),
            Err(error) => Err(error),
        }
    }

    fn read_all(&mut self, root: &Element<'t>) -> Result<(), Error> {
        let mut child = Element::default();
        while self.document.child(root, &mut child)? {
            self.at(&child);
            match child.tag() {
                "config" => self.config(&child)?,
                "zone" | "AS" => self.zone(None, &child)?,
                "cluster" => self.cluster(None, &child)?,
                "trace" => self.trace(&child)?,
                "trace_connect" => self.connections.push(self.document.bookmark(&child)),
                "actor" | "process" => self.actor(&child)?,
                _ => {
                    let expected = ["config", "zone", "cluster", "trace", "trace_connect", "actor"];
                    return Err(child.unexpected("platform", &expected));
                }
            }
        }
        self.document.finish()?;
        self.finish_routes()?;
        self.finish_traces()
    }

    /// What the builder complains about from here on comes from this element.
    pub(super) fn at(&mut self, element: &Element<'t>) {
        self.builder.line = Some(element.line());
    }

    fn zone(&mut self, parent: Option<ZoneId>, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&["id", "routing"])?;
        let name = element.required("id", "a name")?;
        element.required("routing", "a kind of routing: routing=\"Full\"")?;
        let routing = element.choice("routing", &Routing::NAMED)?.unwrap_or(Routing::Full);
        let zone = match parent {
            Some(parent) => self.builder.zone_in(parent, name, routing),
            None => self.builder.zone(name, routing),
        };
        let mut child = Element::default();
        while self.document.child(element, &mut child)? {
            if self.builder.failed() {
                return Ok(());
            }
            self.at(&child);
            match child.tag() {
                "host" => self.host(zone, &child)?,
                "router" => self.router(zone, &child)?,
                "link" => self.link(zone, &child)?,
                "zone" | "AS" => self.zone(Some(zone), &child)?,
                "cluster" => self.cluster(Some(zone), &child)?,
                "cabinet" => self.cabinet(zone, &child)?,
                "peer" => self.peer(zone, &child)?,
                "backbone" => self.backbone(zone, &child)?,
                "host_link" | "route" | "zoneRoute" | "ASroute" | "bypassRoute" | "bypassZoneRoute"
                | "bypassASroute" => self.route_or_later(zone, &child)?,
                "prop" => {
                    let (key, value) = read_property(&child)?;
                    self.builder.zone_property(zone, key, value);
                }
                "trace" => self.trace(&child)?,
                "trace_connect" => self.connections.push(self.document.bookmark(&child)),
                "actor" | "process" => self.actor(&child)?,
                _ => return Err(child.unexpected(element.tag(), &ZONE_CHILDREN)),
            }
        }
        Ok(())
    }

    fn host(&mut self, zone: ZoneId, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&[
            "id",
            "speed",
            "core",
            "pstate",
            "coordinates",
            "speed_file",
            "availability_file",
            "state_file",
        ])?;
        let name = element.required("id", "a name")?;
        let speeds = read_speeds(element)?;
        let pstate = element.parsed("pstate", read_count)?.unwrap_or(0);
        let mut host = self
            .builder
            .host_of(zone, name, &speeds)
            .power_states(&speeds, pstate as usize)
            .cores(read_cores(element)?);
        if let Some(coordinates) = element.filled("coordinates").map(|_| read_coordinates(element)) {
            host = host.coordinates(coordinates?);
        }
        let id = host.id();
        self.host_profiles(id, element)?;
        let mut child = Element::default();
        while self.document.child(element, &mut child)? {
            self.at(&child);
            match child.tag() {
                "prop" => {
                    let (key, value) = read_property(&child)?;
                    self.builder.host_property(id, key, value);
                }
                "disk" => self.disk(id, &child)?,
                _ => return Err(child.unexpected("host", &["prop", "disk"])),
            }
        }
        Ok(())
    }

    /// The profiles of a host or a peer.
    pub(super) fn host_profiles(&mut self, host: HostId, element: &Element<'t>) -> Result<(), Error> {
        for (attribute, target) in [
            ("speed_file", ProfileTarget::HostSpeed(host)),
            ("availability_file", ProfileTarget::HostSpeed(host)),
            ("state_file", ProfileTarget::HostState(host)),
        ] {
            if let Some(profile) = self.profile_file(element, attribute)? {
                self.builder.profile(target, profile);
            }
        }
        Ok(())
    }

    fn disk(&mut self, host: HostId, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&["id", "read_bw", "write_bw", "readwrite_bw"])?;
        let name = element.required("id", "a name")?;
        let read = element.parsed_required("read_bw", "a bandwidth", units::parse_bandwidth)?;
        let write = element.parsed_required("write_bw", "a bandwidth", units::parse_bandwidth)?;
        let both = element.parsed("readwrite_bw", units::parse_bandwidth)?;
        let mut disk = self.builder.disk(host, name, read, write);
        if let Some(both) = both {
            disk = disk.readwrite(both);
        }
        let mut child = Element::default();
        while self.document.child(element, &mut child)? {
            if child.tag() != "prop" {
                return Err(child.unexpected("disk", &["prop"]));
            }
            let (key, value) = read_property(&child)?;
            disk = disk.property(key, value);
        }
        Ok(())
    }

    fn router(&mut self, zone: ZoneId, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&["id", "coordinates"])?;
        let router = self.builder.router(zone, element.required("id", "a name")?);
        if element.filled("coordinates").is_some() {
            self.builder.router_coordinates(router, read_coordinates(element)?);
        }
        Ok(())
    }

    fn link(&mut self, zone: ZoneId, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&[
            "id",
            "bandwidth",
            "latency",
            "sharing_policy",
            "bandwidth_file",
            "latency_file",
            "state_file",
            "concurrency",
        ])?;
        let name = element.required("id", "a name")?;
        let bandwidths = element.parsed_required("bandwidth", "a bandwidth", |text| {
            text.split(',').map(units::parse_bandwidth).collect::<Result<Vec<f64>, String>>()
        })?;
        let latency = element.parsed("latency", units::parse_time)?.unwrap_or(0.0);
        let policies = [
            ("SHARED", Policy::Shared),
            ("FATPIPE", Policy::FatPipe),
            ("SPLITDUPLEX", Policy::SplitDuplex),
            ("WIFI", Policy::Wifi),
            ("FULLDUPLEX", Policy::SplitDuplex),
        ];
        let policy = element.choice("sharing_policy", &policies)?.unwrap_or(Policy::Shared);
        if bandwidths.len() > 1 && policy != Policy::Wifi {
            return Err(element.error(
                format!("link {name:?} has several bandwidths"),
                "give one: only links with sharing_policy=\"WIFI\" have levels",
            ));
        }
        let ids = match policy {
            Policy::Shared => vec![self.builder.link(zone, name, bandwidths[0], latency).id()],
            Policy::FatPipe => {
                vec![self.builder.link(zone, name, bandwidths[0], latency).sharing(Sharing::FatPipe).id()]
            }
            Policy::SplitDuplex => {
                let split = self.builder.split_link(zone, name, bandwidths[0], latency);
                vec![split.up, split.down]
            }
            Policy::Wifi => vec![self.builder.wifi_link(zone, name, &bandwidths, latency)],
        };
        self.link_details(element, &ids)
    }

    /// Profiles, properties and the limit of flows; of both halves of a split link.
    fn link_details(&mut self, element: &Element<'t>, ids: &[LinkId]) -> Result<(), Error> {
        let mut concurrency = element.parsed("concurrency", read_concurrency)?.flatten();
        let mut child = Element::default();
        while self.document.child(element, &mut child)? {
            if child.tag() != "prop" {
                return Err(child.unexpected(element.tag(), &["prop"]));
            }
            self.at(&child);
            let (key, value) = read_property(&child)?;
            if key == "concurrency" {
                concurrency = child.parsed("value", read_concurrency)?.flatten();
            }
            for &id in ids {
                self.builder.link_property(id, key, value);
            }
        }
        self.at(element);
        for &id in ids {
            if let Some(flows) = concurrency {
                self.builder.link_concurrency(id, flows);
            }
        }
        for (attribute, target) in [
            ("bandwidth_file", ProfileTarget::LinkBandwidth as fn(LinkId) -> ProfileTarget),
            ("latency_file", ProfileTarget::LinkLatency),
            ("state_file", ProfileTarget::LinkState),
        ] {
            if let Some(profile) = self.profile_file(element, attribute)? {
                for &id in ids {
                    self.builder.profile(target(id), Arc::clone(&profile));
                }
            }
        }
        Ok(())
    }

    fn config(&mut self, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&["id"])?;
        let mut child = Element::default();
        while self.document.child(element, &mut child)? {
            if child.tag() != "prop" {
                return Err(child.unexpected("config", &["prop"]));
            }
            self.at(&child);
            let (key, value) = read_property(&child)?;
            self.builder.config(key, value);
        }
        Ok(())
    }

    fn actor(&mut self, element: &Element<'t>) -> Result<(), Error> {
        let actor = read_actor(self.document, element)?;
        self.builder.deployment.push(actor);
        Ok(())
    }

    fn trace(&mut self, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&["id", "file", "periodicity"])?;
        let name = element.required("id", "a name")?;
        let mut profile = match self.profile_file(element, "file")? {
            Some(profile) => Arc::unwrap_or_clone(profile),
            None => {
                let (text, line) = self.document.text(element)?;
                Profile::parse_from_line(&text, element.file(), line)?
            }
        };
        let never = |text: &&str| text.trim().parse::<f64>().is_ok_and(|period| period <= 0.0);
        if element.filled("periodicity").filter(|text| !never(text)).is_some() {
            let period = element.parsed("periodicity", units::parse_time)?.unwrap_or(0.0);
            let span = crate::profile::span(&profile.events);
            if period < span {
                return Err(element.error(
                    format!("a period of {period} s is shorter than the trace, of {span} s"),
                    "give a periodicity of at least the time from the first date to the last",
                ));
            }
            let period = crate::profile::long_enough(period)
                .map_err(|wrong| element.error(wrong.problem, wrong.advice))?;
            profile.repeat = crate::profile::Repeat::Periodic(period);
        }
        if self.traces.insert(name.to_owned(), Arc::new(profile)).is_some() {
            return Err(
                element.error(format!("trace {name:?} is declared twice"), "give each trace its own name")
            );
        }
        Ok(())
    }

    /// The profile in the file that an attribute names, relative to the platform file.
    fn profile_file(
        &mut self,
        element: &Element<'t>,
        attribute: &str,
    ) -> Result<Option<Arc<Profile>>, Error> {
        let Some(file) = element.filled(attribute) else { return Ok(None) };
        let profile = Profile::from_file(self.directory.join(file)).map_err(|error| match error {
            Error::Unreadable { problem, advice, .. } => {
                element.error(format!("{attribute}={file:?} cannot be read: {problem}"), advice)
            }
            other => other,
        })?;
        Ok(Some(Arc::new(profile)))
    }

    fn finish_traces(&mut self) -> Result<(), Error> {
        for bookmark in std::mem::take(&mut self.connections) {
            let element = self.document.revisit(bookmark)?;
            self.at(&element);
            self.connect(&element)?;
        }
        Ok(())
    }

    fn connect(&mut self, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&["kind", "trace", "element"])?;
        let name = element.required("trace", "the name of a trace")?;
        let Some(profile) = self.traces.get(name).cloned() else {
            let hint = crate::suggest::hint(name, self.traces.keys().map(String::as_str));
            return Err(
                element.error(format!("there is no trace {name:?}{hint}"), "declare it, or correct the name")
            );
        };
        let kind = element.filled("kind").unwrap_or("HOST_AVAIL");
        let target = element.required("element", "the name of a host or link")?;
        let links =
            |target: fn(LinkId) -> ProfileTarget, ids: Vec<LinkId>| ids.into_iter().map(target).collect();
        let targets: Vec<ProfileTarget> = match kind {
            "SPEED" => vec![ProfileTarget::HostSpeed(self.traced_host(element, target)?)],
            "HOST_AVAIL" => vec![ProfileTarget::HostState(self.traced_host(element, target)?)],
            "BANDWIDTH" => links(ProfileTarget::LinkBandwidth, self.traced_links(element, target)?),
            "LATENCY" => links(ProfileTarget::LinkLatency, self.traced_links(element, target)?),
            "LINK_AVAIL" => {
                return Err(
                    element.error("kind=\"LINK_AVAIL\" is not supported", "give the link a state_file")
                );
            }
            other => {
                let kinds = ["SPEED", "HOST_AVAIL", "BANDWIDTH", "LATENCY"];
                let hint = crate::suggest::hint(other, kinds);
                return Err(element.error(
                    format!("kind={other:?} is not known{hint}"),
                    format!("use one of {}", kinds.join(", ")),
                ));
            }
        };
        for target in targets {
            self.builder.profile(target, Arc::clone(&profile));
        }
        Ok(())
    }

    fn traced_host(&self, element: &Element<'t>, name: &str) -> Result<HostId, Error> {
        self.builder.host_named(name).ok_or_else(|| {
            let hint = crate::suggest::hint(name, self.builder.things.host_names.iter());
            element.error(format!("there is no host {name:?}{hint}"), "declare it, or correct the name")
        })
    }

    /// A link, or both halves of one.
    fn traced_links(&self, element: &Element<'t>, name: &str) -> Result<Vec<LinkId>, Error> {
        if let Some(link) = self.builder.link_named(name) {
            return Ok(vec![link]);
        }
        let halves = ["UP", "DOWN"].map(|half| self.builder.link_named(&format!("{name}_{half}")));
        match halves {
            [Some(up), Some(down)] => Ok(vec![up, down]),
            _ => Err(self.no_link(element, name)),
        }
    }
}

pub(super) fn read_speeds(element: &Element<'_>) -> Result<Vec<f64>, Error> {
    element.parsed_required("speed", "a speed such as \"1Gf\"", |text| {
        text.split(',').map(units::parse_speed).collect()
    })
}

pub(super) fn read_cores(element: &Element<'_>) -> Result<u32, Error> {
    match element.parsed("core", read_count)? {
        Some(0) => Err(element.error("core=\"0\" leaves nothing to compute with", "give at least 1")),
        cores => Ok(cores.unwrap_or(1)),
    }
}

pub(super) fn read_coordinates(element: &Element<'_>) -> Result<[f64; 3], Error> {
    element.parsed_required("coordinates", "x, y and height in milliseconds", |text| {
        let numbers: Vec<f64> = text
            .split_whitespace()
            .map_while(|word| word.parse().ok())
            .filter(|number: &f64| number.is_finite())
            .collect();
        match numbers[..] {
            [x, y, height] if text.split_whitespace().count() == 3 => Ok([x, y, height]),
            _ => Err(format!("{text:?} is not three numbers \"x y height\"")),
        }
    })
}

pub(super) fn read_count(text: &str) -> Result<u32, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is not a whole number"))
}

/// -1 is SimGrid's way to say "no limit".
fn read_concurrency(text: &str) -> Result<Option<u32>, String> {
    if text.trim() == "-1" { Ok(None) } else { read_count(text).map(Some) }
}
