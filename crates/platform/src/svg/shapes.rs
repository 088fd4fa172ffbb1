//! Toruses, fat trees and dragonflies: their structure where it can be seen, else in words.

use crate::ids::{HostId, LinkId, Point, ZoneId};
use crate::routing::cluster::{Cluster, Direction};
use crate::routing::dragonfly::Dragonfly;
use crate::routing::fat_tree::FatTree;
use crate::routing::torus::Torus;
use crate::svg::scene::{Scene, grid};
use crate::svg::{Drawing, nodes};
use crate::units::{show_count, show_speed};

/// More nodes than this in a row or layer are summed up.
const NODES_MAX: u32 = 64;

impl Drawing<'_> {
    /// Panels of the first two dimensions, a panel for each place in the others.
    pub(super) fn torus(&self, id: ZoneId, cluster: &Cluster, torus: &Torus) -> (Scene, String) {
        let sizes: Vec<String> = torus.sizes.iter().map(u32::to_string).collect();
        let link = nodes::figures(self.platform, cluster.blocks.private(0, 0, Direction::Up));
        let note = format!("{}, links of {link}, hosts by rank", sizes.join(" x "));
        let note = if sizes.len() > 2 { format!("{note}, levels joined host by host") } else { note };
        let columns = torus.sizes[0];
        let rows = torus.sizes.get(1).copied().unwrap_or(1);
        let panels = cluster.hosts / columns / rows;
        if columns > 24 || rows > 24 || panels > 12 || cluster.hosts > 4 * NODES_MAX {
            return (self.many_hosts(id, cluster, &[format!("torus {}", sizes.join(" x "))]), note);
        }
        let scenes: Vec<Scene> =
            (0..panels).map(|panel| self.torus_panel(id, torus, (columns, rows), panel)).collect();
        (grid(&scenes, 28.0), note)
    }

    fn torus_panel(&self, id: ZoneId, torus: &Torus, (columns, rows): (u32, u32), panel: u32) -> Scene {
        let (step, margin) = ((58.0, 50.0), 34.0);
        let titled = torus.sizes.len() > 2;
        let head = if titled { 18.0 } else { 0.0 };
        let size = (
            f64::from(columns - 1) * step.0 + 2.0 * margin,
            f64::from(rows - 1) * step.1 + 2.0 * margin + head,
        );
        let mut scene = Scene::new(size.0, size.1);
        scene.rect("zone1", (0.0, 0.0), size, 8.0);
        if titled {
            let mut rest = panel;
            let places: Vec<String> = torus.sizes[2..]
                .iter()
                .map(|size| {
                    let at = rest % size;
                    rest /= size;
                    at.to_string()
                })
                .collect();
            scene.text("small", "start", (10.0, 16.0), &format!("level {}", places.join(", ")));
        }
        let place = |column: u32, row: u32| {
            (margin + f64::from(column) * step.0, head + margin + f64::from(row) * step.1)
        };
        for row in 0..rows {
            for column in 0..columns {
                let (x, y) = place(column, row);
                if column + 1 < columns {
                    scene.line("link", 1.6, (x, y), place(column + 1, row));
                } else if columns > 1 {
                    let (first, _) = place(0, row);
                    let path =
                        format!("M{x:.1} {y:.1}Q{:.1} {:.1} {first:.1} {y:.1}", (x + first) / 2.0, y - 40.0);
                    scene.path("link", 1.0, &path);
                }
                if row + 1 < rows {
                    scene.line("link", 1.6, (x, y), place(column, row + 1));
                } else if rows > 1 {
                    let (_, first) = place(column, 0);
                    let path =
                        format!("M{x:.1} {y:.1}Q{:.1} {:.1} {x:.1} {first:.1}", x - 40.0, (y + first) / 2.0);
                    scene.path("link", 1.0, &path);
                }
            }
        }
        for row in 0..rows {
            for column in 0..columns {
                let rank = column + columns * (row + rows * panel);
                self.ranked(&mut scene, id, place(column, row), rank);
            }
        }
        scene
    }

    /// Hosts at the bottom, a row of switches for each level.
    pub(super) fn fat_tree(&self, id: ZoneId, cluster: &Cluster, tree: &FatTree) -> (Scene, String) {
        let widths: Vec<u32> = (0..=tree.levels())
            .map(|level| FatTree::width(&tree.down, &tree.up, level).unwrap_or(u32::MAX))
            .collect();
        let cable = nodes::figures(self.platform, LinkId(tree.cables[0]));
        let note = format!("cables of {cable}, hosts by rank");
        if widths.iter().any(|width| *width > NODES_MAX) {
            let levels: Vec<String> = (1..=tree.levels())
                .rev()
                .map(|level| format!("level {level}: {} switches", show_count(widths[level].into())))
                .collect();
            return (self.many_hosts(id, cluster, &levels), note);
        }
        let widest = f64::from(widths.iter().copied().max().unwrap_or(1));
        let (step, rise) = (36.0, 92.0);
        let size = (widest * step + 20.0, rise * tree.levels() as f64 + 40.0);
        let mut scene = Scene::new(size.0, size.1);
        let place = |level: usize, node: u32| {
            let spacing = size.0 / f64::from(widths[level]);
            ((f64::from(node) + 0.5) * spacing, size.1 - 20.0 - rise * level as f64)
        };
        for level in 1..=tree.levels() {
            let count = tree.count[level - 1];
            for child in 0..widths[level - 1] {
                for port in 0..tree.up[level - 1] {
                    let (parent, _) = tree.parent(level, child, port);
                    let (from, to) = (place(level - 1, child), place(level, parent));
                    for cable in 0..count.min(6) {
                        let aside = (f64::from(cable) - f64::from(count.min(6) - 1) / 2.0) * 3.0;
                        scene.line("link", 1.2, (from.0 + aside, from.1), (to.0 + aside, to.1));
                    }
                }
            }
        }
        for (level, &width) in widths.iter().enumerate() {
            for node in 0..width {
                let at = place(level, node);
                if level == 0 {
                    self.ranked(&mut scene, id, at, node);
                } else {
                    scene.rect("switch", (at.0 - 15.0, at.1 - 10.0), (30.0, 20.0), 4.0);
                }
            }
        }
        (scene, note)
    }

    /// A box for each group: a row for each chassis, a column for each blade, and how many hosts are on each.
    pub(super) fn dragonfly(&self, id: ZoneId, cluster: &Cluster, dragonfly: &Dragonfly) -> (Scene, String) {
        let Dragonfly { groups, chassis, blades, nodes, .. } = *dragonfly;
        let link = nodes::figures(self.platform, cluster.blocks.private(0, 0, Direction::Up));
        let note = format!(
            "{nodes} hosts on each router, by links of {link}; green in a chassis, black in a group, blue between groups"
        );
        if groups > 8 || chassis > 12 || blades > 16 || groups * blades > NODES_MAX {
            let lines = [
                format!("{groups} groups of {chassis} chassis"),
                format!("of {blades} blades of {nodes} hosts"),
            ];
            return (self.many_hosts(id, cluster, &lines), note);
        }
        let step = 42.0;
        let group_size = (f64::from(blades - 1) * step + 60.0, f64::from(chassis - 1) * step + 78.0);
        let arcs = if groups > 1 { 4.0 + 18.0 * f64::from(groups) } else { 0.0 };
        let size = (f64::from(groups) * (group_size.0 + 26.0) - 26.0, arcs + group_size.1);
        let mut scene = Scene::new(size.0, size.1);
        let place = |group: u32, chassis: u32, blade: u32| {
            let left = f64::from(group) * (group_size.0 + 26.0);
            (left + 30.0 + f64::from(blade) * step, arcs + 48.0 + f64::from(chassis) * step)
        };
        for group in 0..groups {
            let left = f64::from(group) * (group_size.0 + 26.0);
            scene.rect("zone1", (left, arcs), group_size, 8.0);
            scene.text("small", "start", (left + 10.0, arcs + group_size.1 - 8.0), &format!("group {group}"));
        }
        for low in 0..groups {
            for high in low + 1..groups {
                let (from, to) = (place(low, 0, high), place(high, 0, low));
                let top = arcs - 10.0 - 22.0 * f64::from(high - low);
                let path = format!(
                    "M{:.1} {:.1}C{:.1} {top:.1} {:.1} {top:.1} {:.1} {:.1}",
                    from.0, from.1, from.0, to.0, to.0, to.1
                );
                scene.path("link\" style=\"stroke:#2563eb", 1.8, &path);
            }
        }
        for group in 0..groups {
            for c in 0..chassis {
                scene.line(
                    "link\" style=\"stroke:#16a34a",
                    1.8,
                    place(group, c, 0),
                    place(group, c, blades - 1),
                );
            }
            for b in 0..blades {
                scene.line(
                    "link\" style=\"stroke:#0f172a",
                    1.8,
                    place(group, 0, b),
                    place(group, chassis - 1, b),
                );
            }
            for c in 0..chassis {
                for b in 0..blades {
                    let at = place(group, c, b);
                    scene.circle("router", at, 11.0, &format!("group {group}, chassis {c}, blade {b}"));
                    scene.text("tiny", "middle", (at.0, at.1 + 3.5), &nodes.to_string());
                }
            }
        }
        (scene, note)
    }

    /// A circle with a host's rank.
    fn ranked(&self, scene: &mut Scene, id: ZoneId, at: (f64, f64), rank: u32) {
        let name = self.platform.point_name(self.platform.zone(id).members[rank as usize]);
        scene.circle("host", at, 13.0, name);
        scene.text("tiny", "middle", (at.0, at.1 + 3.5), &rank.to_string());
    }

    fn many_hosts(&self, id: ZoneId, cluster: &Cluster, lines: &[String]) -> Scene {
        let members = self.platform.zone(id).members;
        let name = |at: usize| self.platform.point_name(members[at]);
        let speed = match members[0] {
            Point::Host(host) => speed_of(self, host),
            _ => String::new(),
        };
        let last = cluster.hosts as usize - 1;
        let mut all = vec![
            format!("{} hosts of {speed}", show_count(cluster.hosts.into())),
            format!("{} to {}", name(0), name(last)),
        ];
        all.extend_from_slice(lines);
        nodes::card(&all)
    }
}

fn speed_of(drawing: &Drawing<'_>, host: HostId) -> String {
    let host = drawing.platform.host(host);
    match host.cores {
        1 => show_speed(host.speed()),
        cores => format!("{} x {}", show_count(cores.into()), show_speed(host.speed())),
    }
}
