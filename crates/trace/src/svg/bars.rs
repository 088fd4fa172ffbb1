//! The rows: names, lives and intervals of the actors.

use super::Notes;
use super::canvas::Canvas;
use super::layout::{Layout, Scale};
use crate::palette;
use crate::rows::{Row, Rows};
use crate::text;
use crate::timeline::{Ending, Interval, Span, Timeline};
use crate::words::{self, Value};

/// An interval that ends less than this after what is already drawn cannot be seen.
const VISIBLE: f64 = 0.25;
/// The least width of a bar.
const BAR_MIN: f64 = 0.7;

/// The background: hosts told apart, and hatched where they are off.
pub(super) fn draw_bands(canvas: &mut Canvas, rows: &Rows<'_>, layout: &Layout<'_>) {
    let scale = layout.scale;
    for (number, group) in layout.groups.iter().enumerate() {
        let height = group.bottom - group.top;
        if number % 2 == 1 {
            let (left, right) = (layout.margin - 8.0, layout.width - layout.margin + 8.0);
            canvas.rect(left, group.top, right - left, height, "#f6f7f9", "");
        }
        let host = rows.rows[group.first].host;
        for span in &host.off {
            let told = format!("{} is off\n{}", host.name, dates(*span));
            let (x, width) = extent(scale, *span);
            canvas.told_rect([x, group.top, width, height], "url(#off)", "", &told);
        }
    }
}

/// Names, lives and intervals.
pub(super) fn draw(
    canvas: &mut Canvas,
    timeline: &Timeline,
    rows: &Rows<'_>,
    layout: &Layout<'_>,
    notes: &mut Notes,
) {
    draw_names(canvas, rows, layout, notes);
    let mut hidden = 0;
    for (place, row) in rows.rows.iter().enumerate() {
        let Some((top, height)) = layout.bar(place) else { break };
        hidden += draw_row(canvas, timeline, row, layout.scale, top, height);
    }
    match hidden {
        0 => {}
        1 => notes.push("One interval too short to be seen is left out.".to_owned()),
        _ => notes.push(format!("{hidden} intervals too short to be seen are left out.")),
    }
}

fn draw_names(canvas: &mut Canvas, rows: &Rows<'_>, layout: &Layout<'_>, notes: &mut Notes) {
    let middle = |group: &super::layout::Group| f64::midpoint(group.top, group.bottom);
    let middles: Vec<f64> = layout.groups.iter().map(middle).collect();
    for ((group, middle), named) in layout.groups.iter().zip(&middles).zip(Layout::named(&middles)) {
        if named {
            let name = &rows.rows[group.first].host.name;
            canvas.fitted(layout.margin, middle + 4.0, "host", name, 11.8, layout.host_width);
        }
    }
    let middles: Vec<f64> = layout.tops.iter().map(|top| top + layout.row_height / 2.0).collect();
    let named = Layout::named(&middles);
    for ((row, middle), named) in rows.rows.iter().zip(&middles).zip(&named) {
        if *named {
            let name = &row.actor.name;
            canvas.fitted(layout.actor_column, middle + 4.0, "", name, 11.0, layout.actor_width);
        }
    }
    let named = named.iter().filter(|named| **named).count();
    if named < layout.tops.len() {
        notes.push(format!(
            "{named} of {} actors are named; a bar tells its actor when the pointer rests on it.",
            layout.tops.len()
        ));
    }
}

/// Draws a row and returns how many intervals were left out.
fn draw_row(
    canvas: &mut Canvas,
    timeline: &Timeline,
    row: &Row<'_>,
    scale: Scale,
    top: f64,
    height: f64,
) -> usize {
    for span in row.stays() {
        let (x, width) = extent(scale, span);
        let thickness = (height * 0.12).max(0.8);
        canvas.rect(x, top + (height - thickness) / 2.0, width, thickness, "#d5dae2", "");
    }
    let corner = if height >= 8.0 { "rx=\"1.5\"" } else { "" };
    let (mut hidden, mut drawn_to) = (0, f64::NEG_INFINITY);
    for interval in row.intervals() {
        let (x, width) = extent(scale, interval.span);
        if x + width - drawn_to < VISIBLE {
            hidden += 1;
            continue;
        }
        drawn_to = x + width;
        let fill = palette::of(timeline, interval);
        let told = told(timeline, row, interval);
        let corner = if width >= 4.0 { corner } else { "" };
        canvas.told_rect([x, top, width, height], fill, corner, &told);
        if interval.failure.is_some() && width >= 4.0 {
            canvas.rect(x + width - 2.0, top, 2.0, height, "#c0392b", "");
        }
    }
    if row.is_last() && row.actor.ending == Ending::Failed {
        let to = row.actor.stays.last().expect("this row is a stay").span.to;
        let (x, y, arm) = (scale.x(to.seconds()), top + height / 2.0, (height / 2.0).min(5.0));
        let told = format!("{} was killed or failed\nat {} s", row.actor.name, to.seconds());
        let more = "style=\"stroke-width:1.8\"";
        canvas.told_line((x - arm, y - arm), (x + arm, y + arm), "lost", more, &told);
        canvas.told_line((x - arm, y + arm), (x + arm, y - arm), "lost", more, &told);
    }
    hidden
}

fn told(timeline: &Timeline, row: &Row<'_>, interval: &Interval) -> String {
    let mut told = format!("{} on {}: {}", row.actor.name, row.host.name, words::interval(interval));
    told.push('\n');
    told.push_str(&dates(interval.span));
    for (key, value) in words::facts(timeline, interval) {
        match value {
            Value::Text(value) => told.push_str(&format!("\n{key}: {value}")),
            Value::Number(value) => told.push_str(&format!("\n{key}: {value}")),
        }
    }
    told
}

/// The dates of a span in full, and how long it is.
pub(super) fn dates(span: Span) -> String {
    let (from, to) = (span.from.seconds(), span.to.seconds());
    format!("{from} s to {to} s ({})", text::quantity(to - from, "s"))
}

/// The left edge and the width of a span.
pub(super) fn extent(scale: Scale, span: Span) -> (f64, f64) {
    let (from, to) = (scale.x(span.from.seconds()), scale.x(span.to.seconds()));
    (from, (to - from).max(BAR_MIN))
}
