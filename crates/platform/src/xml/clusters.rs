//! Clusters, cabinets and peers: elements that make several things at once.

use std::ops::RangeInclusive;

use crate::builder::{BackboneSpec, ClusterSpec, LoopbackSpec, PrivateLinks, Topology};
use crate::error::Error;
use crate::ids::ZoneId;
use crate::inventory::{Properties, Sharing};
use crate::units;
use crate::xml::actors::read_property;
use crate::xml::element::Element;
use crate::xml::zones::{Reader, read_coordinates, read_cores, read_speeds};

#[derive(Clone, Copy)]
enum Shape {
    Flat,
    Torus,
    FatTree,
    Dragonfly,
}

impl<'t> Reader<'_, 't> {
    pub(super) fn cluster(&mut self, parent: Option<ZoneId>, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&[
            "id",
            "prefix",
            "suffix",
            "radical",
            "speed",
            "core",
            "bw",
            "lat",
            "sharing_policy",
            "bb_bw",
            "bb_lat",
            "bb_sharing_policy",
            "topology",
            "topo_parameters",
            "loopback_bw",
            "loopback_lat",
            "limiter_link",
            "router_id",
        ])?;
        let mut properties = Properties::new();
        let mut child = Element::default();
        while self.document.child(element, &mut child)? {
            if child.tag() != "prop" {
                return Err(child.unexpected("cluster", &["prop"]));
            }
            let (key, value) = read_property(&child)?;
            properties.insert(key.to_owned(), value.to_owned());
        }
        // FATPIPE private links act as SHARED ones.
        let policies = [
            ("SPLITDUPLEX", PrivateLinks::SplitDuplex),
            ("SHARED", PrivateLinks::Shared),
            ("FATPIPE", PrivateLinks::Shared),
            ("FULLDUPLEX", PrivateLinks::SplitDuplex),
        ];
        let spec = ClusterSpec {
            name: element.required("id", "a name")?.to_owned(),
            prefix: element.attribute("prefix").unwrap_or("").to_owned(),
            suffix: element.attribute("suffix").unwrap_or("").to_owned(),
            radical: element.parsed_required(
                "radical",
                "the numbers of its hosts: radical=\"0-15\"",
                read_radical,
            )?,
            speeds: read_speeds(element)?,
            cores: read_cores(element)?,
            bandwidth: element.parsed_required("bw", "the bandwidth of a link", units::parse_bandwidth)?,
            latency: element.parsed_required("lat", "the latency of a link", units::parse_time)?,
            private: element.choice("sharing_policy", &policies)?.unwrap_or(PrivateLinks::SplitDuplex),
            backbone: self.cluster_backbone(element)?,
            loopback: cluster_loopback(element)?,
            limiter: element.parsed("limiter_link", units::parse_bandwidth)?.filter(|limit| *limit > 0.0),
            router: element.filled("router_id").map(str::to_owned),
            topology: read_topology(element)?,
            properties,
        };
        self.builder.cluster(parent, spec);
        Ok(())
    }

    fn cluster_backbone(&mut self, element: &Element<'t>) -> Result<Option<BackboneSpec>, Error> {
        let sharing = element
            .choice("bb_sharing_policy", &[("SHARED", Sharing::Shared), ("FATPIPE", Sharing::FatPipe)])?
            .unwrap_or(Sharing::Shared);
        let pair = bandwidth_and_latency(element, "bb_bw", "bb_lat")?;
        Ok(pair.map(|(bandwidth, latency)| BackboneSpec { bandwidth, latency, sharing }))
    }

    pub(super) fn cabinet(&mut self, zone: ZoneId, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&["id", "prefix", "suffix", "radical", "speed", "bw", "lat", "core"])?;
        let prefix = element.attribute("prefix").unwrap_or("");
        let suffix = element.attribute("suffix").unwrap_or("");
        let radical =
            element.parsed_required("radical", "the numbers of its hosts: radical=\"0-15\"", read_radical)?;
        let speeds = read_speeds(element)?;
        let cores = read_cores(element)?;
        let bandwidth = element.parsed_required("bw", "the bandwidth of a link", units::parse_bandwidth)?;
        let latency = element.parsed_required("lat", "the latency of a link", units::parse_time)?;
        for number in radical.into_iter().flatten() {
            if self.builder.failed() {
                break;
            }
            let name = format!("{prefix}{number}{suffix}");
            let host = self.builder.host_of(zone, &name, &speeds).power_states(&speeds, 0).cores(cores).id();
            let up = self.builder.link(zone, &format!("link_{name}_UP"), bandwidth, latency).id();
            let down = self.builder.link(zone, &format!("link_{name}_DOWN"), bandwidth, latency).id();
            self.builder.star_up(zone, host, &[up]);
            self.builder.star_down(zone, host, &[down]);
        }
        Ok(())
    }

    pub(super) fn peer(&mut self, zone: ZoneId, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&[
            "id",
            "speed",
            "bw_in",
            "bw_out",
            "coordinates",
            "speed_file",
            "availability_file",
            "state_file",
        ])?;
        let name = element.required("id", "a name")?;
        let speeds = read_speeds(element)?;
        let inwards = element.parsed_required("bw_in", "a bandwidth", units::parse_bandwidth)?;
        let outwards = element.parsed_required("bw_out", "a bandwidth", units::parse_bandwidth)?;
        let coordinates = read_coordinates(element)?;
        let host =
            self.builder.host_of(zone, name, &speeds).power_states(&speeds, 0).coordinates(coordinates).id();
        let up = self.builder.link(zone, &format!("link_{name}_UP"), outwards, 0.0).id();
        let down = self.builder.link(zone, &format!("link_{name}_DOWN"), inwards, 0.0).id();
        self.builder.star_up(zone, host, &[up]);
        self.builder.star_down(zone, host, &[down]);
        self.host_profiles(host, element)
    }

    pub(super) fn backbone(&mut self, zone: ZoneId, element: &Element<'t>) -> Result<(), Error> {
        element.allow(&["id", "bandwidth", "latency"])?;
        let name = element.required("id", "a name")?;
        let bandwidth = element.parsed_required("bandwidth", "a bandwidth", units::parse_bandwidth)?;
        let latency = element.parsed("latency", units::parse_time)?.unwrap_or(0.0);
        let link = self.builder.link(zone, name, bandwidth, latency).id();
        self.builder.backbone(zone, link);
        Ok(())
    }
}

fn cluster_loopback(element: &Element<'_>) -> Result<Option<LoopbackSpec>, Error> {
    let pair = bandwidth_and_latency(element, "loopback_bw", "loopback_lat")?;
    Ok(pair.map(|(bandwidth, latency)| LoopbackSpec { bandwidth, latency }))
}

/// A link described by two attributes, there if either is; both 0 is none.
fn bandwidth_and_latency(
    element: &Element<'_>,
    bandwidth: &str,
    latency: &str,
) -> Result<Option<(f64, f64)>, Error> {
    let pair = (
        element.filled(bandwidth).and(element.parsed(bandwidth, units::parse_bandwidth)?).unwrap_or(0.0),
        element.filled(latency).and(element.parsed(latency, units::parse_time)?).unwrap_or(0.0),
    );
    match pair {
        (0.0, 0.0) => Ok(None),
        (0.0, _) => Err(element.error(
            format!("there is a {latency} and no {bandwidth}"),
            format!("give both, or remove {latency}"),
        )),
        pair => Ok(Some(pair)),
    }
}

/// `"0-3,7"`.
fn read_radical(text: &str) -> Result<Vec<RangeInclusive<u32>>, String> {
    let refuse = || format!("{text:?} is not a list of numbers and ranges such as \"0-3,7\"");
    let number = |word: &str| word.trim().parse::<u32>().map_err(|_| refuse());
    let mut hosts = 0_u64;
    let mut ranges = Vec::new();
    for part in text.split(',') {
        let (first, last) = match part.split_once('-') {
            Some((first, last)) => (number(first)?, number(last)?),
            None => (number(part)?, number(part)?),
        };
        if last < first {
            return Err(format!("range {:?} ends before it starts", part.trim()));
        }
        hosts += u64::from(last - first) + 1;
        ranges.push(first..=last);
    }
    let most = crate::builder::HOSTS_MAX;
    if hosts > most {
        return Err(format!("{text:?} is {hosts} hosts, and {most} are the most"));
    }
    Ok(ranges)
}

fn read_topology(element: &Element<'_>) -> Result<Topology, Error> {
    let shapes = [
        ("FLAT", Shape::Flat),
        ("TORUS", Shape::Torus),
        ("FAT_TREE", Shape::FatTree),
        ("DRAGONFLY", Shape::Dragonfly),
    ];
    let (parser, what): (fn(&str) -> Option<Topology>, &str) =
        match element.choice("topology", &shapes)?.unwrap_or(Shape::Flat) {
            Shape::Flat => return Ok(Topology::Flat),
            Shape::Torus => (torus, "the sizes of a torus, such as \"3,2,2\""),
            Shape::FatTree => {
                (fat_tree, "a fat tree, such as \"2;4,4;1,2;1,2\": levels; children; parents; cables")
            }
            Shape::Dragonfly => {
                (dragonfly, "a dragonfly, such as \"3,4;4,3;5,1;2\": groups; chassis; blades; nodes")
            }
        };
    element.parsed_required("topo_parameters", what, |text| {
        parser(text).ok_or_else(|| format!("{text:?} is not {what}"))
    })
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    text.split(',').map(|word| word.trim().parse().ok().filter(|number| *number > 0)).collect()
}

fn torus(text: &str) -> Option<Topology> {
    let sizes = numbers(text)?;
    (sizes.len() <= 32).then_some(Topology::Torus(sizes))
}

fn fat_tree(text: &str) -> Option<Topology> {
    let [levels, down, up, count] = &text.split(';').collect::<Vec<_>>()[..] else { return None };
    let levels: usize = levels.trim().parse().ok()?;
    let (down, up, count) = (numbers(down)?, numbers(up)?, numbers(count)?);
    let agree = [&down, &up, &count].iter().all(|list| list.len() == levels);
    (agree && levels <= 32).then_some(Topology::FatTree { down, up, count })
}

fn dragonfly(text: &str) -> Option<Topology> {
    let pair = |text: &str| match numbers(text)?[..] {
        [count, times] => Some((count, times)),
        _ => None,
    };
    let [groups, chassis, blades, nodes] = text.split(';').collect::<Vec<_>>()[..] else { return None };
    let [nodes] = numbers(nodes)?[..] else { return None };
    Some(Topology::Dragonfly { groups: pair(groups)?, chassis: pair(chassis)?, blades: pair(blades)?, nodes })
}
