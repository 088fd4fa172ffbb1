//! The strip below the rows: how much of the busiest links was used, over time.

use std::fmt::Write;

use super::bars::{dates, extent};
use super::canvas::{Canvas, number};
use super::layout::{LINK_GAP, LINK_HEIGHT, Layout, Scale};
use crate::text;
use crate::timeline::{LinkLine, Load, Timeline, Unit};

/// How many links are shown.
const LINKS_MAX: usize = 6;
/// Changes closer than this are drawn as one, at their average.
const STEP_MIN: f64 = 0.5;

/// The links that were used most, with the part of their capacity that was used on average.
pub(super) fn busiest(timeline: &Timeline) -> Vec<(&LinkLine, f64)> {
    let end = timeline.end.seconds();
    let used = |link: &LinkLine| link.loads.iter().any(|load| load.used > 0.0) || !link.off.is_empty();
    let links = timeline.links.iter().filter(|link| used(link));
    let mut links: Vec<(&LinkLine, f64)> = links.map(|link| (link, average(&link.loads, end))).collect();
    links.sort_by(|(a, use_of_a), (b, use_of_b)| use_of_b.total_cmp(use_of_a).then(a.id.cmp(&b.id)));
    links.truncate(LINKS_MAX);
    links
}

fn average(loads: &[Load], end: f64) -> f64 {
    let mut sum = 0.0;
    for (place, load) in loads.iter().enumerate() {
        let until = loads.get(place + 1).map_or(end, |next| next.at.seconds());
        sum += load.ratio() * (until - load.at.seconds()).max(0.0);
    }
    let average = sum / end;
    if average.is_finite() { average } else { 0.0 }
}

pub(super) fn draw(canvas: &mut Canvas, layout: &Layout<'_>) {
    if layout.links.is_empty() {
        return;
    }
    canvas.text(layout.margin, layout.strip_top - 6.0, "host", "Busiest links");
    canvas.text(
        layout.scale.left,
        layout.strip_top - 6.0,
        "quiet",
        "part of the capacity in use; a full row is 100 %",
    );
    for (number, (link, average)) in layout.links.iter().enumerate() {
        let top = layout.strip_top + number as f64 * (LINK_HEIGHT + LINK_GAP) + LINK_GAP / 2.0;
        draw_link(canvas, layout, link, *average, top);
    }
}

fn draw_link(canvas: &mut Canvas, layout: &Layout<'_>, link: &LinkLine, average: f64, top: f64) {
    let scale = layout.scale;
    let bottom = top + LINK_HEIGHT;
    let room = scale.left - layout.margin - 14.0;
    let peak = link.loads.iter().map(Load::ratio).fold(0.0, f64::max);
    let numbers = format!("mean {}, peak {}", text::percent(average), text::percent(peak));
    canvas.fitted(layout.margin, top + 11.0, "", &link.name, 11.0, room);
    canvas.fitted(layout.margin, bottom - 2.0, "quiet", &numbers, 11.0, room);
    for span in &link.off {
        let (x, width) = extent(scale, *span);
        let told = format!("{} is off\n{}", link.name, dates(*span));
        canvas.told_rect([x, top, width, LINK_HEIGHT], "url(#off)", "", &told);
    }
    let capacity = link.loads.last().map_or(0.0, |load| load.capacity);
    let capacity = match link.unit {
        Unit::BytesPerSecond => text::quantity(capacity, "B/s"),
        Unit::AirTime => "air time".to_owned(),
    };
    let told = format!("{}: {numbers} of {capacity}", link.name);
    let outline = outline(&link.loads, scale, top, bottom);
    if !outline.is_empty() {
        let (left, right) = (number(outline[0].0), number(scale.right));
        let mut path = String::new();
        for (place, (x, y)) in outline.iter().enumerate() {
            let (x, y) = (number(*x), number(*y));
            // Levels hold until the next change: first across, then up or down.
            let _ = if place == 0 { write!(path, "M{x},{y}") } else { write!(path, "H{x}V{y}") };
        }
        let _ = write!(path, "H{right}");
        let floor = number(bottom);
        canvas.raw(&format!(
            "<path class=\"area\" d=\"{path}V{floor}H{left}Z\"><title>{}</title></path>",
            text::xml(&told)
        ));
        canvas.raw(&format!("<path class=\"load\" d=\"{path}\"/>"));
    }
    canvas.line((scale.left, bottom), (scale.right, bottom), "frame", "");
}

/// The corners of the load: where it changes, and to what height.
fn outline(loads: &[Load], scale: Scale, top: f64, bottom: f64) -> Vec<(f64, f64)> {
    let mut corners: Vec<(f64, f64)> = Vec::new();
    let mut corner = |x: f64, ratio: f64| corners.push((x, bottom - ratio * (bottom - top)));
    let mut merged = Merged::default();
    for (place, load) in loads.iter().enumerate() {
        let from = scale.x(load.at.seconds());
        let to = loads.get(place + 1).map_or(scale.right, |next| scale.x(next.at.seconds()));
        let ratio = load.ratio().clamp(0.0, 1.0);
        if to - from >= STEP_MIN {
            merged.flush(&mut corner);
            corner(from, ratio);
        } else {
            merged.add(from, to - from, ratio);
            if merged.width >= STEP_MIN {
                merged.flush(&mut corner);
            }
        }
    }
    merged.flush(&mut corner);
    corners
}

/// Changes that are too close to be told apart, and their average.
#[derive(Default)]
struct Merged {
    from: f64,
    width: f64,
    area: f64,
}

impl Merged {
    fn add(&mut self, from: f64, width: f64, ratio: f64) {
        if self.width == 0.0 {
            self.from = from;
        }
        self.width += width;
        self.area += width * ratio;
    }

    fn flush(&mut self, corner: &mut dyn FnMut(f64, f64)) {
        if self.width > 0.0 {
            corner(self.from, self.area / self.width);
        }
        *self = Merged::default();
    }
}

#[cfg(test)]
mod tests {
    use simurgh_models::SimTime;

    use super::*;

    fn load(at: f64, used: f64) -> Load {
        Load { at: SimTime::new(at), used, capacity: 1.0 }
    }

    #[test]
    fn what_flickers_is_drawn_at_its_average() {
        let scale = Scale { left: 0.0, right: 128.0, end: 128.0 };
        let mut loads: Vec<Load> =
            (0..80).map(|step| load(10.0 + f64::from(step) / 8.0, f64::from(step % 2))).collect();
        loads.push(load(20.0, 1.0));
        loads.push(load(30.0, 0.25));
        let corners = outline(&loads, scale, 0.0, 8.0);
        let expected = (0..20).map(|step| (10.0 + f64::from(step) / 2.0, 4.0));
        assert_eq!(corners, expected.chain([(20.0, 0.0), (30.0, 6.0)]).collect::<Vec<_>>());
    }

    #[test]
    fn the_average_counts_time_not_changes() {
        assert_eq!(average(&[load(0.0, 1.0), load(1.0, 0.0)], 4.0), 0.25);
        assert_eq!(average(&[load(3.0, 0.5)], 4.0), 0.125);
        assert_eq!(average(&[load(0.0, 1.0)], 0.0), 0.0);
        assert_eq!(average(&[], 1.0), 0.0);
    }
}
