//! Vivaldi zones: hosts where their coordinates put them; zones in rows.

use crate::ids::{Point, ZoneId};
use crate::routing::vivaldi::Vivaldi;
use crate::svg::scene::{Scene, grid, shorten, text_width};
use crate::svg::{Drawing, nodes};

const SIZE: (f64, f64) = (900.0, 560.0);

impl Drawing<'_> {
    pub(super) fn vivaldi(&self, id: ZoneId, vivaldi: &Vivaldi, depth: u32) -> (Scene, String) {
        let zone = self.platform.zone(id);
        let mut parts: Vec<Scene> = Vec::new();
        let mut points: Vec<(Point, [f64; 3])> = Vec::new();
        for (point, coordinates) in zone.members.iter().zip(&vivaldi.coordinates) {
            match (point, coordinates) {
                (Point::Zone(inner), _) => parts.push(self.zone(*inner, depth + 1)),
                (_, Some(at)) => points.push((*point, *at)),
                (_, None) => parts.push(nodes::point(self.platform, *point)),
            }
        }
        if !points.is_empty() {
            parts.insert(0, self.map(&points));
        }
        let note = "latency from coordinates; far ones are drawn nearer".to_owned();
        let note = if points.is_empty() { "latency from coordinates".to_owned() } else { note };
        (grid(&parts, 24.0), note)
    }

    fn map(&self, points: &[(Point, [f64; 3])]) -> Scene {
        let (horizontal, vertical) = (Axis::new(points, 0, SIZE.0), Axis::new(points, 1, SIZE.1));
        let margin = (80.0, 30.0);
        let size = (horizontal.length + 2.0 * margin.0, vertical.length + 2.0 * margin.1);
        let mut scene = Scene::new(size.0, size.1);
        scene.rect("zone1", (0.0, 0.0), size, 8.0);
        let dots: Vec<(f64, f64)> = points
            .iter()
            .map(|(_, at)| (margin.0 + horizontal.place(at[0]), size.1 - margin.1 - vertical.place(at[1])))
            .collect();
        for ((point, at), dot) in points.iter().zip(&dots) {
            let name = self.platform.point_name(*point);
            let tooltip = format!("{name} ({}, {}, {})", at[0], at[1], at[2]);
            scene.circle(
                if matches!(point, Point::Router(_)) { "router" } else { "host" },
                *dot,
                4.5,
                &tooltip,
            );
        }
        let mut taken: Vec<[f64; 4]> =
            dots.iter().map(|(x, y)| [x - 5.0, y - 5.0, x + 5.0, y + 5.0]).collect();
        for ((point, _), &(x, y)) in points.iter().zip(&dots) {
            let label = shorten(self.platform.point_name(*point), 16);
            let width = text_width(&label, 10.0);
            // Right, left, below, above: the first place where it covers nothing.
            let places = [
                (x + 7.0, y - 5.0),
                (x - 7.0 - width, y - 5.0),
                (x - width / 2.0, y + 6.0),
                (x - width / 2.0, y - 17.0),
            ];
            let free = places.iter().map(|&(left, top)| [left, top, left + width, top + 11.0]).find(|area| {
                let inside =
                    area[0] > 2.0 && area[1] > 2.0 && area[2] < size.0 - 2.0 && area[3] < size.1 - 2.0;
                inside && !taken.iter().any(|other| overlap(area, other))
            });
            if let Some(area) = free {
                scene.text("tiny", "start", (area[0], area[3] - 1.5), &label);
                taken.push(area);
            }
        }
        scene
    }
}

/// Whether two areas (left, top, right, bottom) share a point.
pub(super) fn overlap(a: &[f64; 4], b: &[f64; 4]) -> bool {
    a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]
}

/// From coordinates to places. Far ones are drawn nearer: a few outliers would squeeze all others together.
struct Axis {
    middle: f64,
    scale: f64,
    low: f64,
    high: f64,
    length: f64,
}

impl Axis {
    fn new(points: &[(Point, [f64; 3])], axis: usize, length: f64) -> Axis {
        let mut values: Vec<f64> = points.iter().map(|(_, at)| at[axis]).collect();
        values.sort_by(f64::total_cmp);
        let quantile = |part: f64| values[((values.len() - 1) as f64 * part) as usize];
        let scale = ((quantile(0.8) - quantile(0.2)) / 3.0).max(1e-6);
        let mut result = Axis { middle: quantile(0.5), scale, low: 0.0, high: 0.0, length: 0.0 };
        result.low = result.bend(values[0]);
        result.high = result.bend(values[values.len() - 1]);
        result.length =
            if result.high > result.low { length.min(60.0 * values.len() as f64 + 60.0) } else { 60.0 };
        result
    }

    fn bend(&self, value: f64) -> f64 {
        ((value - self.middle) / self.scale).asinh()
    }

    fn place(&self, value: f64) -> f64 {
        let span = self.high - self.low;
        if span > 0.0 { (self.bend(value) - self.low) / span * self.length } else { self.length / 2.0 }
    }
}
