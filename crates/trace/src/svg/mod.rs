//! A Gantt chart in SVG, for people: what each actor does over time, who talks to whom, and which links are busy.
//!
//! In reading order: `layout` decides where everything goes, `axis` draws the time, `bars` the rows of the actors,
//! `arrows` the messages, `links` the strip below, and `canvas` knows how elements are written.

mod arrows;
mod axis;
mod bars;
mod canvas;
mod layout;
mod links;

use std::io::{self, Write};

use crate::palette;
use crate::rows::Rows;
use crate::text;
use crate::timeline::{Kind, Outcome, Timeline};
use crate::words;
use canvas::{Canvas, number, text_width};
use layout::Layout;

const STYLE: &str = "\
text{font-family:Inter,'Helvetica Neue',Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif;font-size:11px;\
fill:#3d4451;font-variant-numeric:tabular-nums}\
.title{font-size:18px;font-weight:600;fill:#1f2530}\
.quiet{fill:#7a8291}\
.host{font-weight:600;fill:#2b313c}\
.end{text-anchor:end}.middle{text-anchor:middle}\
.grid{stroke:#e6e9ee;stroke-width:1}\
.frame{stroke:#c6ccd6;stroke-width:1;fill:none}\
.arrow{stroke:#454d5c;fill:none;stroke-width:0.9}\
.lost{stroke:#c0392b;fill:none;stroke-width:1}\
.area{fill:#8fb0d6;fill-opacity:.55}.load{stroke:#4f7db3;stroke-width:1;fill:none}";

/// What is left out of the picture, and other things that must be said about it.
type Notes = Vec<String>;

impl Timeline {
    /// Writes the timeline as a picture.
    ///
    /// However long the run, the picture stays readable: rows shrink, and names, arrows and intervals that could not be
    /// told apart are left out. A note in the picture says so.
    pub fn write_svg(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = Rows::of(self);
        let legend = legend(self);
        let layout = Layout::of(self, &rows, &legend);
        let mut notes = Notes::new();
        notes.extend(layout.note());
        let mut canvas = Canvas::default();
        header(&mut canvas, self, &layout, &legend);
        bars::draw_bands(&mut canvas, &rows, &layout);
        axis::draw(&mut canvas, &layout);
        bars::draw(&mut canvas, self, &rows, &layout, &mut notes);
        arrows::draw(&mut canvas, self, &rows, &layout, &mut notes);
        links::draw(&mut canvas, &layout);
        if self.end.seconds() <= 0.0 {
            notes.push("No simulated time has passed.".to_owned());
        }
        let mut y = layout.strip_bottom + 26.0;
        for note in &notes {
            canvas.text(layout.margin, y, "quiet", note);
            y += 16.0;
        }
        let height = if notes.is_empty() { layout.strip_bottom + 20.0 } else { y };
        let (width, height) = (number(layout.width), number(height.ceil()));
        writeln!(
            out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">"
        )?;
        writeln!(out, "<title>{}</title>", text::xml(&text::line(heading(self))))?;
        writeln!(out, "<style>{STYLE}</style>")?;
        writeln!(out, "{DEFINITIONS}")?;
        writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>")?;
        out.write_all(canvas.into_string().as_bytes())?;
        writeln!(out, "</svg>")
    }
}

/// Arrow heads, and the hatching of what is off.
const DEFINITIONS: &str = "\
<defs>\
<marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"7.5\" refY=\"4\" markerWidth=\"6.5\" markerHeight=\"6.5\" orient=\"auto\">\
<path d=\"M0,1L8,4L0,7Z\" fill=\"#454d5c\"/></marker>\
<marker id=\"cross\" viewBox=\"0 0 8 8\" refX=\"4\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\">\
<path d=\"M1,1L7,7M7,1L1,7\" stroke=\"#c0392b\" stroke-width=\"1.6\"/></marker>\
<pattern id=\"off\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\">\
<rect width=\"6\" height=\"6\" fill=\"#eceef1\"/><rect width=\"2\" height=\"6\" fill=\"#cfd3da\"/></pattern>\
</defs>";

/// An entry of the legend.
enum Sample<'a> {
    Bar(Kind),
    Call(&'a str, &'static str),
    Off,
    Arrow,
    Lost,
}

impl Sample<'_> {
    fn name(&self) -> &str {
        match self {
            Sample::Bar(kind) => words::kind(*kind),
            Sample::Call(name, _) => name,
            Sample::Off => "off",
            Sample::Arrow => "message",
            Sample::Lost => "failed message",
        }
    }

    fn width(&self) -> f64 {
        20.0 + text_width(self.name(), 11.0) + 18.0
    }
}

/// What the picture shows, and nothing else.
fn legend(timeline: &Timeline) -> Vec<Sample<'_>> {
    let mut shown = [false; Kind::ALL.len()];
    for interval in timeline.actors.iter().flat_map(|actor| &actor.intervals) {
        shown[interval.kind as usize] = true;
    }
    // Calls are told apart by their names.
    shown[Kind::Calling as usize] &= timeline.calls.is_empty();
    let mut samples: Vec<Sample<'_>> =
        Kind::ALL.into_iter().filter(|kind| shown[*kind as usize]).map(Sample::Bar).collect();
    let calls = timeline.calls.iter().enumerate();
    samples.extend(calls.map(|(place, name)| Sample::Call(name, palette::call(place))));
    let hosts_off = timeline.hosts.iter().any(|host| !host.off.is_empty());
    if hosts_off || timeline.links.iter().any(|link| !link.off.is_empty()) {
        samples.push(Sample::Off);
    }
    let lost = |outcome: &Outcome| matches!(outcome, Outcome::Failed(_));
    if timeline.messages.iter().any(|message| !lost(&message.outcome)) {
        samples.push(Sample::Arrow);
    }
    if timeline.messages.iter().any(|message| lost(&message.outcome)) {
        samples.push(Sample::Lost);
    }
    samples
}

fn header(canvas: &mut Canvas, timeline: &Timeline, layout: &Layout<'_>, legend: &[Sample<'_>]) {
    let title = heading(timeline);
    canvas.fitted(layout.margin, 34.0, "title", title, 18.0, layout.width - 2.0 * layout.margin);
    canvas.text(layout.margin, 54.0, "quiet", &summary(timeline));
    for (sample, (x, y)) in legend.iter().zip(&layout.legend) {
        let middle = y - 4.0;
        match sample {
            Sample::Bar(kind) => canvas.rect(*x, middle - 5.0, 14.0, 10.0, palette::color(*kind), "rx=\"2\""),
            Sample::Call(_, color) => canvas.rect(*x, middle - 5.0, 14.0, 10.0, color, "rx=\"2\""),
            Sample::Off => canvas.rect(*x, middle - 5.0, 14.0, 10.0, "url(#off)", "rx=\"2\""),
            Sample::Arrow => {
                canvas.line((*x, middle), (x + 14.0, middle), "arrow", "marker-end=\"url(#head)\"")
            }
            Sample::Lost => {
                canvas.line((*x, middle), (x + 11.0, middle), "lost", "marker-end=\"url(#cross)\"")
            }
        }
        canvas.text(x + 20.0, *y, "", sample.name());
    }
}

fn summary(timeline: &Timeline) -> String {
    let plural = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let mut homes: Vec<_> =
        timeline.actors.iter().flat_map(|actor| actor.stays.iter().map(|stay| stay.host)).collect();
    homes.sort_unstable();
    homes.dedup();
    let mut parts =
        vec![format!("{} on {}", plural(timeline.actors.len(), "actor"), plural(homes.len(), "host"))];
    if !timeline.messages.is_empty() {
        let bytes: f64 = timeline.messages.iter().map(|message| message.bytes).sum();
        parts.push(format!("{}, {}", plural(timeline.messages.len(), "message"), text::quantity(bytes, "B")));
    }
    parts.push(format!("{} simulated", text::quantity(timeline.end.seconds(), "s")));
    parts.join("  ·  ")
}

/// What stands above the picture.
fn heading(timeline: &Timeline) -> &str {
    match &timeline.title {
        Some(title) => title,
        None if timeline.platform.is_empty() => "timeline",
        None => &timeline.platform,
    }
}
