//! Platforms drawn: zones as nested boxes, hosts as labelled nodes, links along declared routes and cluster structure.
//!
//! A drawing is put together from scenes, each with its size: `nodes` draws single things, `buses` stars and
//! flat clusters, `shapes` the other clusters, `scatter` Vivaldi zones, and `graphs` places whatever routes join, with
//! the `layout` of nodes of different sizes. What is too large to be read is summed up instead.

mod buses;
mod graphs;
mod layout;
mod nodes;
mod scatter;
mod scene;
mod shapes;

use std::fmt::Write;

use crate::describe::many;
use crate::ids::ZoneId;
use crate::platform::Platform;
use crate::routing::Local;
use crate::routing::cluster::Shape;
use crate::units::{show_count, show_speed};
use crate::zone::Routing;
use scene::{Scene, escape};

/// An SVG document that shows the platform.
pub fn draw(platform: &Platform) -> String {
    let drawing = Drawing { platform, summarise: platform.host_count() > 150 && platform.zone_count() > 4 };
    let scene = drawing.zone(platform.root(), 0);
    let (margin, header) = (24.0, 64.0);
    let width = scene.width.max(560.0) + 2.0 * margin;
    let height = scene.height + header + margin + 40.0;
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" style=\"max-width:100%;height:auto\">\n<style>{STYLE}</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
    );
    let speed: f64 = platform
        .hosts()
        .map(|host| platform.host(host))
        .map(|host| host.speed() * f64::from(host.cores))
        .fold(0.0, |sum, speed| sum + speed);
    let name = platform.name().rsplit('/').next().unwrap_or("platform");
    let _ = write!(
        text,
        "<text class=\"name\" x=\"{margin}\" y=\"32\">{}</text>\n<text class=\"small\" x=\"{margin}\" y=\"50\">{}, {}, {}</text>\n",
        escape(name),
        many(platform.host_count() as u64, "host"),
        many(platform.link_count() as u64 - 1, "link"),
        show_speed(speed)
    );
    let left = (width - scene.width) / 2.0;
    let _ = write!(text, "<g transform=\"translate({left:.1},{header})\">\n{}</g>\n", scene.body);
    let _ = write!(text, "<g transform=\"translate({margin},{:.1})\">{LEGEND}</g>\n</svg>\n", height - 30.0);
    text
}

const STYLE: &str = "text{font-family:system-ui,'DejaVu Sans',sans-serif;fill:#1e293b}\
.name{font-size:20px;font-weight:600}.title{font-size:13px;font-weight:600;fill:#334155}\
.small{font-size:11px;fill:#64748b}.label{font-size:12px}.tiny{font-size:10px;fill:#475569}\
.plate{fill:#fff;fill-opacity:.9}\
.zone{fill:#f8fafc;stroke:#cbd5e1}.zone1{fill:#fff;stroke:#cbd5e1}.host{fill:#dbeafe;stroke:#3b82f6}\
.router{fill:#fef3c7;stroke:#d97706}.card{fill:#e0e7ff;stroke:#6366f1}.switch{fill:#fde68a;stroke:#d97706}\
.link{stroke:#64748b;fill:none}.fat{stroke:#64748b;fill:none;stroke-dasharray:6 3}\
.bus{fill:#cbd5e1}.air{fill:#c7d2fe}";

const LEGEND: &str = "<rect class=\"host\" x=\"0\" y=\"0\" width=\"16\" height=\"12\" rx=\"3\"/><text class=\"small\" x=\"22\" y=\"10\">host</text>\
<rect class=\"router\" x=\"66\" y=\"0\" width=\"16\" height=\"12\" rx=\"6\"/><text class=\"small\" x=\"88\" y=\"10\">router</text>\
<rect class=\"card\" x=\"142\" y=\"0\" width=\"16\" height=\"12\" rx=\"3\"/><text class=\"small\" x=\"164\" y=\"10\">many hosts</text>\
<path class=\"link\" stroke-width=\"2\" d=\"M240 6h24\"/><text class=\"small\" x=\"270\" y=\"10\">link, wider if faster</text>\
<path class=\"fat\" stroke-width=\"2\" d=\"M394 6h24\"/><text class=\"small\" x=\"424\" y=\"10\">fatpipe</text>";

/// A platform being drawn.
struct Drawing<'a> {
    platform: &'a Platform,
    /// Whether clusters are shown by a card: there are too many hosts and zones for more.
    summarise: bool,
}

impl Drawing<'_> {
    /// A zone with everything in it, in a titled box.
    fn zone(&self, id: ZoneId, depth: u32) -> Scene {
        let zone = self.platform.zone(id);
        let local = &self.platform.zones[id.index()].local;
        if zone.routing.is_regular() && self.summarise {
            return self.cluster_card(id);
        }
        let (content, note) = match local {
            Local::Regular(cluster) => match &cluster.shape {
                Shape::Flat => self.flat(id, cluster),
                Shape::Torus(torus) => self.torus(id, cluster, torus),
                Shape::FatTree(tree) => self.fat_tree(id, cluster, tree),
                Shape::Dragonfly(dragonfly) => self.dragonfly(id, cluster, dragonfly),
            },
            Local::Star(star) => self.star(id, star, depth),
            Local::Wifi(wifi) => self.wifi(id, wifi),
            Local::Vivaldi(vivaldi) => self.vivaldi(id, vivaldi, depth),
            Local::Full(routes) => self.graph(id, Some(routes), depth),
            Local::Floyd(floyd) => self.graph(id, Some(&floyd.declared), depth),
            Local::Dijkstra(dijkstra) => self.graph(id, Some(&dijkstra.declared), depth),
            Local::None => self.graph(id, None, depth),
        };
        let kind =
            if note.is_empty() { zone.routing.to_string() } else { format!("{}, {note}", zone.routing) };
        content.boxed(zone.name, &kind, depth)
    }

    /// A cluster in four lines.
    fn cluster_card(&self, id: ZoneId) -> Scene {
        let zone = self.platform.zone(id);
        let hosts = crate::describe::hosts_inside(self.platform, id) as u64;
        let mut lines = vec![zone.name.to_owned(), many(hosts, "host")];
        if let Some(&crate::ids::Point::Host(host)) = zone.members.first() {
            let host = self.platform.host(host);
            lines[1] = match host.cores {
                1 => format!("{} of {}", lines[1], show_speed(host.speed())),
                cores => {
                    format!("{} of {} x {}", lines[1], show_count(cores.into()), show_speed(host.speed()))
                }
            };
        }
        if zone.routing != Routing::Flat {
            lines.push(zone.routing.to_string());
        }
        nodes::card(&lines)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClusterSpec, Topology};

    #[test]
    fn every_kind_of_cluster_gives_a_well_formed_drawing() {
        let topologies = [
            (7, Topology::Flat),
            (5000, Topology::Flat),
            (12, Topology::Torus(vec![3, 2, 2])),
            (4096, Topology::Torus(vec![16, 16, 16])),
            (16, Topology::FatTree { down: vec![4, 4], up: vec![1, 2], count: vec![1, 2] }),
            (120, Topology::Dragonfly { groups: (3, 4), chassis: (4, 3), blades: (5, 1), nodes: 2 }),
        ];
        for (hosts, topology) in topologies {
            let mut b = Platform::builder();
            b.cluster(None, ClusterSpec { topology, ..ClusterSpec::new("a<&>\"b", hosts) });
            let text = draw(&b.build().unwrap());
            let document = roxmltree::Document::parse(&text).unwrap_or_else(|error| panic!("{error}"));
            assert!(document.descendants().count() > 20);
            assert!(!text.contains("NaN") && !text.contains("inf"));
        }
    }

    #[test]
    fn the_same_platform_gives_the_same_drawing() {
        assert_eq!(draw(&Platform::builtin()), draw(&Platform::builtin()));
    }
}
