//! The space-time diagram: a column an actor, a row a step, an arrow for all that one actor waited for of another.

use std::fmt::Write;

use crate::counterexample::told::{Counterexample, How, Standing, Taken};

use super::differs;
use crate::counterexample::{cut, owners};
use crate::text;

/// The room at the left, for the numbers of the steps.
const GUTTER: f64 = 52.0;
/// The height of a row.
const ROW: f64 = 28.0;
/// From the top to the row of the start.
const TOP: f64 = 16.0;
/// All columns together are this wide, if each is then neither too narrow nor too wide.
const WIDTH: f64 = 860.0;
const COLUMN_MIN: f64 = 104.0;
const COLUMN_MAX: f64 = 260.0;
/// In columns narrower than this, labels are brief.
const COLUMN_BRIEF: f64 = 190.0;
/// From the line of an actor to the label of a step, and what is left free behind it.
const LABEL: f64 = 13.0;
/// The width of a letter of a label, on the large side.
const LETTER: f64 = 6.3;
const RADIUS: f64 = 5.5;

/// What is drawn.
pub(super) struct Diagram<'a> {
    told: &'a Counterexample,
    standings: &'a [Vec<Standing>],
    /// The actors that have a column, from left to right.
    actors: Vec<u32>,
    /// Whose column each step belongs to.
    owners: Vec<u32>,
    column: f64,
}

impl<'a> Diagram<'a> {
    /// Actors that take no step have no column, unless they wait for ever.
    pub(super) fn of(told: &'a Counterexample, standings: &'a [Vec<Standing>]) -> Self {
        let owners = owners(told);
        let waits = told.standing.iter().filter(|standing| told.is_deadlock() && standing.how == How::Waits);
        let mut actors: Vec<u32> =
            owners.iter().copied().chain(waits.map(|standing| standing.actor)).collect();
        actors.sort_unstable();
        actors.dedup();
        let column = (WIDTH / actors.len().max(1) as f64).clamp(COLUMN_MIN, COLUMN_MAX);
        Self { told, standings, actors, owners, column }
    }

    /// How many actors are not drawn, if any.
    pub(super) fn left_out(&self) -> Option<String> {
        match self.told.actors.len() - self.actors.len() {
            0 => None,
            1 => Some("one of them takes no step and is not drawn".to_owned()),
            count => Some(format!("{count} of them take no step and are not drawn")),
        }
    }

    /// The names above the columns.
    pub(super) fn names(&self) -> String {
        let mut out = String::new();
        for &actor in &self.actors {
            let name = text::xml(&text::line(&self.told.actors[actor as usize]));
            let (left, width) = (self.x(actor) - RADIUS, self.column - 10.0);
            let _ = writeln!(
                out,
                "<span style=\"left:{left:.0}px;width:{width:.0}px\" title=\"{name}\" data-actor=\"{actor}\">{name}</span>"
            );
        }
        out
    }

    /// The lines, arrows and steps.
    pub(super) fn svg(&self) -> String {
        let rows = self.told.steps.len() as f64 + if self.told.is_deadlock() { 1.0 } else { 0.0 };
        // The last column is as wide as all others, from its line on.
        let width = self.actors.last().map_or(GUTTER, |&actor| self.x(actor) + self.column);
        let height = TOP + ROW * rows + 32.0;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
             role=\"listbox\" aria-label=\"the steps\">\n"
        );
        self.bands(&mut out);
        self.lives(&mut out);
        self.arrows(&mut out);
        self.steps(&mut out);
        self.ends(&mut out);
        self.numbers(height, &mut out);
        out.push_str("</svg>");
        out
    }

    fn x(&self, actor: u32) -> f64 {
        let column = self.actors.iter().position(|&other| other == actor).unwrap_or(0);
        GUTTER + self.column * (column as f64 + if self.actors.len() > 4 { 0.25 } else { 0.3 })
    }

    /// Where a step is; 0 is the start.
    fn y(step: usize) -> f64 {
        TOP + ROW * step as f64
    }

    /// What is under a row, to click on and to be lit.
    fn bands(&self, out: &mut String) {
        let last = self.told.steps.len();
        let mut band = |row: usize, step: usize, fails: bool| {
            let class = if fails { "band fails" } else { "band" };
            let _ = writeln!(
                out,
                "<rect class=\"{class}\" data-step=\"{step}\" x=\"0\" y=\"{:.1}\" width=\"100%\" height=\"{ROW}\"/>",
                Self::y(row) - ROW / 2.0
            );
        };
        band(0, 0, false);
        for step in &self.told.steps {
            band(step.number, step.number, self.is_wrong(step));
        }
        if self.told.is_deadlock() {
            band(last + 1, last, true);
        }
    }

    /// Whether something goes wrong in a step, or differs from another execution.
    fn is_wrong(&self, step: &Taken) -> bool {
        step.fails.is_some() || differs(self.told) == Some(step.number)
    }

    /// The numbers of the steps, which stay where they are when the diagram is moved to the left.
    fn numbers(&self, height: f64, out: &mut String) {
        let _ =
            writeln!(out, "<g class=\"gutter\"><rect width=\"{:.0}\" height=\"{height:.0}\"/>", GUTTER - 8.0);
        for number in 0..=self.told.steps.len() {
            let label = if number == 0 { "start".to_owned() } else { number.to_string() };
            let (x, y) = (GUTTER - 16.0, Self::y(number) + 4.0);
            let _ = writeln!(out, "<text data-step=\"{number}\" x=\"{x:.0}\" y=\"{y:.1}\">{label}</text>");
        }
        out.push_str("</g>\n");
    }

    /// The line of each actor: whole while it can go on, broken while it waits.
    fn lives(&self, out: &mut String) {
        for &actor in &self.actors {
            let mut since: Option<(How, usize)> = None;
            for (number, changes) in self.standings.iter().enumerate() {
                let Some(now) = changes.iter().find(|standing| standing.actor == actor) else { continue };
                if since.is_some_and(|(how, _)| how == now.how) {
                    continue;
                }
                self.life(actor, since, number, out);
                since = Some((now.how, number));
            }
            let rows = self.told.steps.len() + usize::from(self.told.is_deadlock());
            self.life(actor, since, rows, out);
        }
    }

    fn life(&self, actor: u32, since: Option<(How, usize)>, until: usize, out: &mut String) {
        let class = match since {
            Some((How::Ready, _)) => "ready",
            Some((How::Waits, _)) => "waits",
            Some((How::Failed | How::Ended, _)) | None => return,
        };
        let since = since.map_or(0, |(_, since)| since);
        if until > since {
            let (x, from, to) = (self.x(actor), Self::y(since), Self::y(until));
            let _ = writeln!(out, "<path class=\"life {class}\" d=\"M{x:.1} {from:.1}V{to:.1}\"/>");
        }
    }

    /// What each step had to wait for: messages above all.
    fn arrows(&self, out: &mut String) {
        for (step, &owner) in self.told.steps.iter().zip(&self.owners) {
            let class = match step.kind {
                "receive" | "arrive" => "message",
                _ => "other",
            };
            for &from in step.after.iter().filter(|&&from| (1..step.number).contains(&from)) {
                let path = self.arrow(from, step.number, owner);
                let _ = writeln!(
                    out,
                    "<path class=\"arrow {class}\" data-from=\"{from}\" data-to=\"{}\" d=\"{path}\"/>",
                    step.number
                );
            }
        }
        for step in self.told.steps.iter().filter(|step| self.is_lost(step)) {
            let (x, y) = (self.x(self.owners[step.number - 1]) - RADIUS, Self::y(step.number));
            let _ = writeln!(
                out,
                "<path class=\"arrow lost\" data-from=\"{0}\" data-to=\"{0}\" d=\"M{x:.1} {y:.1}l-9 9m-4 -4l8 8\">\
                 <title>nobody has received it</title></path>",
                step.number
            );
        }
    }

    /// Whether a step sends what nobody receives, or what the network loses.
    fn is_lost(&self, step: &Taken) -> bool {
        if step.kind == "lose" {
            return true;
        }
        let goes_on = |other: &Taken| other.message == step.message && other.kind != "send";
        step.kind == "send" && step.message.is_some() && !self.told.steps.iter().any(goes_on)
    }

    fn arrow(&self, from: usize, to: usize, owner: u32) -> String {
        let (x1, y1) = (self.x(self.owners[from - 1]), Self::y(from));
        let (x2, y2) = (self.x(owner), Self::y(to));
        if x1 == x2 {
            // Beside the line of the actor.
            let bulge = x1 - 15.0;
            let (y1, y2) = (y1 + 2.0, y2 - 2.0);
            return format!(
                "M{:.1} {y1:.1}C{bulge:.1} {y1:.1} {bulge:.1} {y2:.1} {:.1} {y2:.1}",
                x1 - RADIUS,
                x2 - RADIUS - 1.0
            );
        }
        // A straight line, or one that is bent a little so that it leaves the steps of others alone.
        let bends = [0.0, 26.0, -26.0, 46.0, -46.0];
        let is_free = |bend: &&f64| !self.touches((x1, y1), (x2, y2), **bend);
        let bend = bends.iter().find(is_free).copied().unwrap_or(0.0);
        let unit = |dx: f64, dy: f64| (dx / dx.hypot(dy), dy / dx.hypot(dy));
        let (start_x, start_y) = unit(x2 - x1, y2 - y1 + 2.0 * bend);
        let (dx, dy) = unit(x2 - x1, y2 - y1 - 2.0 * bend);
        let (from_x, from_y) = (x1 + start_x * RADIUS, y1 + start_y * RADIUS);
        let (tip_x, tip_y) = (x2 - dx * (RADIUS + 2.0), y2 - dy * (RADIUS + 2.0));
        let (middle_x, middle_y) = ((x1 + x2) / 2.0, (y1 + y2) / 2.0 + bend);
        // The two strokes of the tip.
        let barb = |side: f64| {
            let (back, wide) = (8.0, 3.6 * side);
            (tip_x - dx * back - dy * wide, tip_y - dy * back + dx * wide)
        };
        let ((left_x, left_y), (right_x, right_y)) = (barb(1.0), barb(-1.0));
        format!(
            "M{from_x:.1} {from_y:.1}Q{middle_x:.1} {middle_y:.1} {tip_x:.1} {tip_y:.1}\
             M{left_x:.1} {left_y:.1}L{tip_x:.1} {tip_y:.1}L{right_x:.1} {right_y:.1}"
        )
    }

    /// Whether a line that is bent in its middle meets a step of an actor that it only passes.
    fn touches(&self, (x1, y1): (f64, f64), (x2, y2): (f64, f64), bend: f64) -> bool {
        self.actors.iter().any(|&actor| {
            let part = (self.x(actor) - x1) / (x2 - x1);
            if part <= 0.001 || part >= 0.999 {
                return false;
            }
            let y = y1 + (y2 - y1) * part + 2.0 * part * (1.0 - part) * bend;
            let row = ((y - TOP) / ROW).round().max(0.0) as usize;
            let owner = row.checked_sub(1).and_then(|index| self.owners.get(index));
            owner == Some(&actor) && (y - Self::y(row)).abs() < RADIUS + 4.0
        })
    }

    /// The steps, each with its label.
    fn steps(&self, out: &mut String) {
        for (step, &owner) in self.told.steps.iter().zip(&self.owners) {
            let (x, y, number) = (self.x(owner), Self::y(step.number), step.number);
            let name = step.actor.map_or("network", |actor| self.told.actors[actor as usize].as_str());
            let full = text::xml(&text::line(&format!("step {number}: {name} {}", step.does)));
            let class = if self.is_wrong(step) { "fails" } else { class(step) };
            let _ = write!(
                out,
                "<g class=\"step {class}\" data-step=\"{number}\" role=\"option\" tabindex=\"-1\" \
                 aria-label=\"{full}\"><title>{full}</title>"
            );
            let _ = match class {
                "fails" => write!(
                    out,
                    "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\"/><path class=\"cross\" d=\"M{:.1} {:.1}l7 7m0 -7l-7 7\"/>",
                    x - 3.5,
                    y - 3.5
                ),
                "end" => write!(out, "<path class=\"bar\" d=\"M{:.1} {y:.1}h14\"/>", x - 7.0),
                "arrive" => {
                    write!(out, "<path class=\"diamond\" d=\"M{x:.1} {:.1}l5 5l-5 5l-5 -5z\"/>", y - 5.0)
                }
                _ => write!(out, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{RADIUS}\"/>"),
            };
            // What fails is set in bold.
            let letter = if class == "fails" { 1.12 * LETTER } else { LETTER };
            let room = ((self.column - LABEL - 9.0) / letter).max(4.0) as usize;
            let label = text::xml(&self.label(step, room));
            let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\">{label}</text></g>", x + LABEL, y + 4.0);
        }
    }

    /// What stands beside a step.
    fn label(&self, step: &Taken, room: usize) -> String {
        if self.column >= COLUMN_BRIEF && step.does.chars().count() <= room {
            return text::line(&step.does);
        }
        let message = step.message.map_or_else(String::new, |message| format!("m{message}"));
        let brief = match step.kind {
            _ if step.at.is_some() => step.does.clone(),
            "send" => format!("sends {message}"),
            "lose" => format!("{message} is lost"),
            "arrive" => format!("{message} arrives"),
            "receive" => format!("receives {message}"),
            "post" => "posts receive".to_owned(),
            "timeout" => "times out".to_owned(),
            "sent" => format!("{} is taken", step.does.rsplit(' ').next().unwrap_or("it")),
            _ => step.does.clone(),
        };
        cut(if self.column >= COLUMN_BRIEF { &step.does } else { &brief }, room)
    }

    /// Who waits for ever, below the last step.
    fn ends(&self, out: &mut String) {
        if !self.told.is_deadlock() {
            return;
        }
        let last = self.told.steps.len();
        for standing in self.told.standing.iter().filter(|standing| standing.how == How::Waits) {
            let (x, y) = (self.x(standing.actor), Self::y(last + 1));
            let _ = writeln!(
                out,
                "<g class=\"stuck\" data-step=\"{last}\"><circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"9\"/><path class=\"cross\" \
                 d=\"M{:.1} {:.1}l7 7m0 -7l-7 7\"/><text x=\"{:.1}\" y=\"{:.1}\">{}</text></g>",
                x - 3.5,
                y - 3.5,
                x + LABEL,
                y + 4.0,
                if self.column >= 130.0 { "waits for ever" } else { "is stuck" }
            );
        }
    }
}

/// How a step is drawn in which nothing goes wrong.
fn class(step: &Taken) -> &'static str {
    match step.kind {
        "send" => "send",
        "receive" => "receive",
        "arrive" => "arrive",
        "post" | "sent" | "wait" | "test" | "probe" | "is alive" => "quiet",
        "timeout" | "cancel" | "interfere" | "lose" => "timeout",
        "choose" | "expose" => "choose",
        "end" => "end",
        _ => "shared",
    }
}
