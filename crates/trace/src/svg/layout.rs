//! Where everything goes: columns of names, rows of actors in groups by host, and the strip of links below.

use super::canvas::text_width;
use super::{Sample, links};
use crate::rows::Rows;
use crate::text;
use crate::timeline::{LinkLine, Timeline};

const WIDTH: f64 = 1400.0;
const MARGIN: f64 = 24.0;
const LEGEND_TOP: f64 = 80.0;
const LEGEND_LINE: f64 = 20.0;
const NAME_MAX: f64 = 150.0;
const AXIS_HEIGHT: f64 = 26.0;
const ROWS_HEIGHT: f64 = 700.0;
const ROW_MAX: f64 = 26.0;
/// Rows stay this high while all of them fit into [`ROWS_HEIGHT_MAX`].
const ROW_LOW: f64 = 3.0;
const ROWS_HEIGHT_MAX: f64 = 1500.0;
const ROW_MIN: f64 = 1.0;
/// More rows than these make a picture that no viewer scrolls smoothly.
const ROWS_MAX: usize = 2000;
/// Names closer than this cannot be read.
const NAME_HEIGHT: f64 = 13.0;
/// Room for the name and the numbers of a link.
const LINK_NAME_MIN: f64 = 170.0;
const LINK_NAME_MAX: f64 = 240.0;
/// The height of a link of the strip, and of the gap above it.
pub(super) const LINK_HEIGHT: f64 = 26.0;
pub(super) const LINK_GAP: f64 = 8.0;

/// Dates to places on the picture.
#[derive(Copy, Clone)]
pub(super) struct Scale {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) end: f64,
}

impl Scale {
    /// Where a date is. Of a run without duration all is at the left.
    pub(super) fn x(&self, seconds: f64) -> f64 {
        let part = seconds / self.end;
        let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.0 };
        self.left + part * (self.right - self.left)
    }
}

/// Rows of the same host.
pub(super) struct Group {
    pub(super) first: usize,
    pub(super) count: usize,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// The plan of a picture. Lengths are in pixels.
pub(super) struct Layout<'a> {
    pub(super) width: f64,
    pub(super) margin: f64,
    /// The place of each sample of the legend.
    pub(super) legend: Vec<(f64, f64)>,
    pub(super) actor_column: f64,
    pub(super) host_width: f64,
    pub(super) actor_width: f64,
    pub(super) scale: Scale,
    pub(super) rows_top: f64,
    pub(super) rows_bottom: f64,
    pub(super) row_height: f64,
    pub(super) groups: Vec<Group>,
    /// The top of each row that is shown.
    pub(super) tops: Vec<f64>,
    pub(super) row_count: usize,
    /// The links of the strip, with the part of their capacity that was used on average.
    pub(super) links: Vec<(&'a LinkLine, f64)>,
    pub(super) strip_top: f64,
    pub(super) strip_bottom: f64,
}

impl<'a> Layout<'a> {
    pub(super) fn of(timeline: &'a Timeline, rows: &Rows<'_>, legend: &[Sample<'_>]) -> Layout<'a> {
        let (legend, legend_bottom) = place_legend(legend);
        let widest = |names: &mut dyn Iterator<Item = &str>, size: f64| {
            let width = |name: &str| text_width(&text::line(name), size);
            names.map(width).fold(36.0, f64::max).min(NAME_MAX)
        };
        let shown = rows.rows.len().min(ROWS_MAX);
        let host_width = widest(&mut rows.rows[..shown].iter().map(|row| row.host.name.as_str()), 11.8);
        let actor_width = widest(&mut rows.rows[..shown].iter().map(|row| row.actor.name.as_str()), 11.0);
        let actor_column = MARGIN + host_width + 12.0;
        let links = links::busiest(timeline);
        let link_width = |(link, _): &(&LinkLine, f64)| text_width(&text::line(&link.name), 11.0);
        let link_width = links.iter().map(link_width).fold(LINK_NAME_MIN, f64::max).min(LINK_NAME_MAX);
        let link_width = if links.is_empty() { 0.0 } else { link_width };
        let left = (actor_column + actor_width).max(MARGIN + link_width) + 14.0;
        let scale = Scale { left, right: WIDTH - MARGIN - 8.0, end: timeline.end.seconds() };

        let rows_top = legend_bottom + AXIS_HEIGHT;
        let row_height = row_height(shown);
        let gap = gap(row_height, rows, shown);
        let (mut groups, mut tops): (Vec<Group>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut y = rows_top;
        for (place, row) in rows.rows[..shown].iter().enumerate() {
            if place == 0 || rows.rows[place - 1].host.id != row.host.id {
                y += gap;
                groups.push(Group { first: place, count: 0, top: y - gap / 2.0, bottom: y });
            }
            tops.push(y);
            y += row_height;
            if let Some(group) = groups.last_mut() {
                group.count += 1;
                group.bottom = y + gap / 2.0;
            }
        }
        let rows_bottom = if shown == 0 { rows_top + ROW_MAX } else { y + gap };

        let strip_top = rows_bottom + AXIS_HEIGHT + 22.0;
        let strip_bottom = if links.is_empty() {
            rows_bottom + AXIS_HEIGHT
        } else {
            strip_top + links.len() as f64 * (LINK_HEIGHT + LINK_GAP)
        };
        Layout {
            width: WIDTH,
            margin: MARGIN,
            legend,
            actor_column,
            host_width,
            actor_width,
            scale,
            rows_top,
            rows_bottom,
            row_height,
            groups,
            tops,
            row_count: rows.rows.len(),
            links,
            strip_top,
            strip_bottom,
        }
    }

    /// The top and the height of the bars of a row, unless it is left out.
    pub(super) fn bar(&self, place: usize) -> Option<(f64, f64)> {
        let filled = match self.row_height {
            height if height >= 10.0 => 0.7,
            height if height >= ROW_LOW => 0.86,
            _ => 1.0,
        };
        let height = self.row_height * filled;
        self.tops.get(place).map(|top| (top + (self.row_height - height) / 2.0, height))
    }

    /// Which of these heights have room for a name, when the one above has one.
    pub(super) fn named(middles: &[f64]) -> Vec<bool> {
        let mut last = f64::NEG_INFINITY;
        let mut has_room = |middle: &f64| {
            let room = middle - last >= NAME_HEIGHT - 0.01;
            if room {
                last = *middle;
            }
            room
        };
        middles.iter().map(&mut has_room).collect()
    }

    /// What is left out.
    pub(super) fn note(&self) -> Option<String> {
        let shown = self.tops.len();
        (shown < self.row_count).then(|| format!("The first {shown} rows of {} are shown.", self.row_count))
    }
}

fn row_height(count: usize) -> f64 {
    let count = count.max(1) as f64;
    let low = (ROWS_HEIGHT_MAX / count).clamp(ROW_MIN, ROW_LOW);
    (ROWS_HEIGHT / count).clamp(low, ROW_MAX)
}

/// The distance of one host from the next, where that leaves most of the room to the rows.
fn gap(row_height: f64, rows: &Rows<'_>, shown: usize) -> f64 {
    let hosts = rows.rows[..shown].chunk_by(|a, b| a.host.id == b.host.id).count();
    match (row_height, hosts) {
        (height, _) if height >= 8.0 => 4.0,
        (_, ..=80) => 3.0,
        _ => 0.0,
    }
}

fn place_legend(samples: &[Sample<'_>]) -> (Vec<(f64, f64)>, f64) {
    let (mut x, mut y) = (MARGIN, LEGEND_TOP);
    let mut places = Vec::with_capacity(samples.len());
    for sample in samples {
        if x > MARGIN && x + sample.width() > WIDTH - MARGIN {
            (x, y) = (MARGIN, y + LEGEND_LINE);
        }
        places.push((x, y));
        x += sample.width();
    }
    (places, if samples.is_empty() { LEGEND_TOP - LEGEND_LINE } else { y + 8.0 })
}
