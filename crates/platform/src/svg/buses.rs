//! Stars, flat clusters and wifi zones: members on both sides of a bar, which is the backbone, the centre or the air.

use crate::ids::{LinkId, Point, ZoneId};
use crate::routing::cluster::{Cluster, Direction};
use crate::routing::star::Star;
use crate::routing::wifi::Wifi;
use crate::svg::scene::{Scene, text_width};
use crate::svg::{Drawing, nodes};
use crate::units::show_count;

/// More members than this are shown by the first ones, a count and the last one.
const SHOWN_MAX: usize = 12;

/// A member beside the bar: its scene, its link to the bar, and what is written along that link.
struct Leaf {
    scene: Scene,
    link: Option<LinkId>,
    label: String,
}

/// The bar itself.
struct Bar {
    class: &'static str,
    label: String,
}

impl Drawing<'_> {
    pub(super) fn flat(&self, id: ZoneId, cluster: &Cluster) -> (Scene, String) {
        let zone = self.platform.zone(id);
        let private = cluster.blocks.private(0, 0, Direction::Up);
        let (hosts, routers) = zone.members.split_at(cluster.hosts as usize);
        let leaf = |point: &Point| Leaf {
            scene: nodes::point(self.platform, *point),
            link: Some(private),
            label: String::new(),
        };
        let leaves = self.chosen(hosts, Some(private), leaf);
        let bar = match cluster.backbone {
            Some(backbone) => {
                Bar { class: "bus", label: format!("backbone {}", nodes::figures(self.platform, backbone)) }
            }
            None => Bar { class: "bus", label: "crossbar".to_owned() },
        };
        let ends: Vec<Scene> = routers.iter().map(|point| nodes::point(self.platform, *point)).collect();
        let note = format!("links of {}", nodes::figures(self.platform, private));
        (bus(self, leaves, &bar, &ends), note)
    }

    pub(super) fn star(&self, id: ZoneId, star: &Star, depth: u32) -> (Scene, String) {
        let zone = self.platform.zone(id);
        let numbered: Vec<(u32, Point)> = (0..).zip(zone.members.iter().copied()).collect();
        let is_leaf = |member: u32| star.has_up(member) || star.has_down(member);
        let (joined, free): (Vec<_>, Vec<_>) = numbered.into_iter().partition(|(member, _)| is_leaf(*member));
        let leaf = |(member, point): &(u32, Point)| {
            let link = star.up(*member).first().or(star.down(*member).first()).copied();
            let scene = match point {
                Point::Zone(inner) => self.zone(*inner, depth + 1),
                _ => nodes::point(self.platform, *point),
            };
            Leaf {
                scene,
                link,
                label: link.map_or_else(String::new, |link| nodes::figures(self.platform, link)),
            }
        };
        let first_link = joined.first().and_then(|(member, _)| star.up(*member).first().copied());
        let mut leaves = self.chosen(&joined, first_link, leaf);
        let labels: Vec<&String> =
            leaves.iter().map(|leaf| &leaf.label).filter(|label| !label.is_empty()).collect();
        let mut note = String::new();
        // What is the same everywhere is said once.
        if let [first, rest @ ..] = &labels[..]
            && rest.iter().all(|label| label == first)
        {
            note = format!("links of {first}");
            leaves.iter_mut().for_each(|leaf| leaf.label.clear());
        }
        let bar = match star.backbone {
            Some(backbone) => {
                let name = self.platform.link(backbone).name;
                Bar { class: "bus", label: format!("{name} {}", nodes::figures(self.platform, backbone)) }
            }
            None => Bar { class: "bus", label: "centre".to_owned() },
        };
        let ends: Vec<Scene> = free
            .iter()
            .take(SHOWN_MAX)
            .map(|(_, point)| match point {
                Point::Zone(inner) => self.zone(*inner, depth + 1),
                _ => nodes::point(self.platform, *point),
            })
            .collect();
        (bus(self, leaves, &bar, &ends), note)
    }

    pub(super) fn wifi(&self, id: ZoneId, wifi: &Wifi) -> (Scene, String) {
        let zone = self.platform.zone(id);
        let access = wifi.access_point.map(|member| zone.members[member as usize]);
        let stations: Vec<Point> =
            zone.members.iter().copied().filter(|point| Some(*point) != access).collect();
        let leaf = |point: &Point| Leaf {
            scene: nodes::point(self.platform, *point),
            link: wifi.link,
            label: String::new(),
        };
        let leaves = self.chosen(&stations, wifi.link, leaf);
        let label = wifi.link.map_or_else(
            || "no wifi link".to_owned(),
            |link| format!("{} {}", self.platform.link(link).name, nodes::figures(self.platform, link)),
        );
        let ends: Vec<Scene> = access.iter().map(|point| nodes::point(self.platform, *point)).collect();
        (bus(self, leaves, &Bar { class: "air", label }, &ends), String::new())
    }

    /// All members, or the first ones, how many more, and the last one.
    fn chosen<T>(&self, members: &[T], link: Option<LinkId>, leaf: impl Fn(&T) -> Leaf) -> Vec<Leaf> {
        if members.len() <= SHOWN_MAX {
            return members.iter().map(leaf).collect();
        }
        let (first, last) = (6, 1);
        let mut leaves: Vec<Leaf> = members[..first].iter().map(&leaf).collect();
        let more = members.len() - first - last;
        let scene = nodes::card(&[format!("{} more", show_count(more as u64))]);
        leaves.push(Leaf { scene, link, label: String::new() });
        leaves.extend(members[members.len() - last..].iter().map(leaf));
        leaves
    }
}

fn bus(drawing: &Drawing<'_>, leaves: Vec<Leaf>, bar: &Bar, ends: &[Scene]) -> Scene {
    let (gap, drop, thickness) = (16.0, 34.0, 20.0);
    let upper_count = leaves.len().div_ceil(2);
    let slot = |leaf: &Leaf| {
        leaf.scene.width.max(if leaf.label.is_empty() {
            0.0
        } else {
            text_width(&leaf.label, 10.0) * 2.0 + 12.0
        })
    };
    let row_width = |row: &[Leaf]| row.iter().map(|leaf| slot(leaf) + gap).sum::<f64>() - gap;
    let row_height = |row: &[Leaf]| row.iter().map(|leaf| leaf.scene.height).fold(0.0, f64::max);
    let (upper, lower) = leaves.split_at(upper_count);
    let label_width = text_width(&bar.label, 11.0) + 24.0;
    let width = row_width(upper).max(row_width(lower)).max(label_width).max(120.0);
    let upper_height = if upper.is_empty() { 0.0 } else { row_height(upper) + drop };
    let lower_height = if lower.is_empty() { 0.0 } else { row_height(lower) + drop };
    let mut scene = Scene::new(width, upper_height + thickness + lower_height);
    for (row, is_upper) in [(upper, true), (lower, false)] {
        let mut x = (width - row_width(row)) / 2.0;
        for leaf in row {
            let centre = x + slot(leaf) / 2.0;
            let (edge, top, bar_edge) = if is_upper {
                let top = row_height(row) - leaf.scene.height;
                (top + leaf.scene.height, top, upper_height)
            } else {
                let top = upper_height + thickness + drop;
                (top, top, upper_height + thickness)
            };
            if let Some(link) = leaf.link {
                let (class, stroke) = nodes::stroke(drawing.platform, link);
                scene.line(class, stroke, (centre, edge), (centre, bar_edge));
            }
            if !leaf.label.is_empty() {
                scene.text("tiny", "start", (centre + 5.0, (edge + bar_edge) / 2.0 + 3.0), &leaf.label);
            }
            scene.place(centre - leaf.scene.width / 2.0, top, &leaf.scene);
            x += slot(leaf) + gap;
        }
    }
    scene.rect(bar.class, (0.0, upper_height), (width, thickness), 6.0);
    scene.text("tiny", "middle", (width / 2.0, upper_height + 13.5), &bar.label);
    let mut x = width;
    for end in ends {
        let middle = upper_height + thickness / 2.0;
        scene.line("link", 2.0, (x, middle), (x + gap, middle));
        scene.place(x + gap, middle - end.height / 2.0, end);
        x += gap + end.width;
    }
    scene.width = x;
    let tallest = ends.iter().map(|end| end.height).fold(0.0, f64::max);
    let overhang = (tallest / 2.0 - upper_height - thickness / 2.0).max(0.0);
    if overhang > 0.0 {
        let mut lowered = Scene::new(scene.width, scene.height + 2.0 * overhang);
        lowered.place(0.0, overhang, &scene);
        return lowered;
    }
    scene
}
