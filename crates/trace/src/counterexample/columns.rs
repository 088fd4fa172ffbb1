//! A counterexample as text: one column an actor, one line a step, in the order in which they take place.

use std::fmt::Write;

use simurgh_explore::counterexample::{Counterexample, How, Said, Standing, Taken};
use simurgh_explore::{Step, Violation};

use super::{Lines, Source, owners};
use crate::text;

/// More columns than these are not read any more: a list is.
const COLUMNS_MAX: usize = 6;
/// A column is this wide at least, or a list is printed.
const WIDTH_MIN: usize = 16;
/// More steps than these, and only the first and the last are printed.
const STEPS_MAX: usize = 120;
/// So many of the first are printed then; the last are what it leads to.
const STEPS_FIRST: usize = 10;
/// At most so many lines of source are shown.
const SOURCE_MAX: usize = 24;

/// How it is to be printed.
pub struct View<'a> {
    /// How many characters a line may have.
    pub width: usize,
    /// Whether colours are understood.
    pub colour: bool,
    /// Where the source is read.
    pub source: Source<'a>,
}

/// What a piece of text is, for its colour.
#[derive(Copy, Clone)]
enum Ink {
    Wrong,
    Name,
    Place,
    Quiet,
    Message,
}

impl View<'_> {
    fn paint(&self, ink: Ink, text: &str) -> String {
        if !self.colour || text.is_empty() {
            return text.to_owned();
        }
        let code = match ink {
            Ink::Wrong => "1;31",
            Ink::Name => "1",
            Ink::Place => "36",
            Ink::Quiet => "2",
            Ink::Message => "33",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// Text of a step: messages stand out.
    fn words(&self, text: &str) -> String {
        if !self.colour {
            return text.to_owned();
        }
        let is_message = |word: &str| {
            word.strip_prefix('m')
                .is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let ink = |word: &str| match word {
            "✗" => self.paint(Ink::Wrong, word),
            word if is_message(word) => self.paint(Ink::Message, word),
            word => word.to_owned(),
        };
        text.split(' ').map(ink).collect::<Vec<_>>().join(" ")
    }
}

/// The whole: what went wrong, who waits for what, the steps, and the lines of source that they speak of.
pub fn in_columns(told: &Counterexample, view: &View<'_>) -> String {
    let lines = Lines::of(told);
    let mut out = heading(told, view);
    if !told.steps.is_empty() {
        let owners = owners(told);
        let mut actors = owners.clone();
        actors.sort_unstable();
        actors.dedup();
        let number = told.steps.len().to_string().len().max(4);
        let room = view.width.saturating_sub(number + 1);
        let width = room / actors.len().max(1);
        out.push('\n');
        if actors.len() <= COLUMNS_MAX && width >= WIDTH_MIN + 3 {
            Columns { told, view, lines: &lines, owners, actors, number, width: width - 3 }.print(&mut out);
        } else {
            list(told, view, &lines, &mut out);
        }
    }
    source(told, view, &lines, &mut out);
    out
}

/// What went wrong, where, and who waits for what.
fn heading(told: &Counterexample, view: &View<'_>) -> String {
    let mut out = String::new();
    let what = told.what.as_deref().unwrap_or("nothing went wrong");
    for line in what.lines() {
        let _ = writeln!(out, "{}", view.paint(Ink::Wrong, &text::line(line)));
    }
    if let Some(place) = told.place.filter(|place| !what.contains(&place.to_string())) {
        let _ = writeln!(out, "  at {}", view.paint(Ink::Place, &place.to_string()));
    }
    if matches!(told.violation, Some(Violation::Deadlock { .. })) {
        let waits: Vec<_> = told.standing.iter().filter(|standing| standing.how == How::Waits).collect();
        let name = |standing: &Standing| text::line(&told.actors[standing.actor as usize]);
        let widest = waits.iter().map(|&standing| name(standing).chars().count()).max().unwrap_or(0);
        for standing in waits {
            let name = format!("{:<widest$}", name(standing));
            let about = about(standing);
            for (index, line) in
                wrap(&about, view.width.saturating_sub(widest + 4).max(20)).iter().enumerate()
            {
                let who = if index == 0 { view.paint(Ink::Name, &name) } else { " ".repeat(widest) };
                let _ = writeln!(out, "  {who}  {line}");
            }
        }
    }
    out
}

/// What an actor is about, with its place and why it waits.
pub(super) fn about(standing: &Standing) -> String {
    let mut about = standing.does.clone();
    if let Some(place) = standing.place {
        let _ = write!(about, " ({place})");
    }
    if let Some(why) = &standing.why {
        let _ = write!(about, ", {why}");
    }
    text::line(&about)
}

/// A step in one line, without its number: who, what, and where.
pub fn in_one_line(told: &Taken, name: &str) -> String {
    let who = if told.step.actor == Step::NETWORK { "network" } else { name };
    let place = told.place.map_or_else(String::new, |place| format!(" ({place})"));
    text::line(&format!("{who}: {}{place}", told.does))
}

fn quoted(said: &Said) -> String {
    format!("“{}”", text::line(&said.text))
}

/// The steps that are printed, with a gap where some are not.
fn shown(told: &Counterexample) -> impl Iterator<Item = Result<usize, usize>> {
    let count = told.steps.len();
    let skipped = count.saturating_sub(STEPS_MAX);
    let gap = (skipped > 0).then_some(Err(skipped));
    let first = if skipped > 0 { STEPS_FIRST } else { count };
    (0..first).map(Ok).chain(gap).chain((first + skipped..count).map(Ok))
}

struct Columns<'a> {
    told: &'a Counterexample,
    view: &'a View<'a>,
    lines: &'a Lines,
    /// Whose each step is.
    owners: Vec<u32>,
    actors: Vec<u32>,
    /// How wide the numbers are.
    number: usize,
    /// How wide a column is.
    width: usize,
}

impl Columns<'_> {
    fn print(&self, out: &mut String) {
        let names: Vec<String> =
            self.actors.iter().map(|&actor| cut(&self.told.actors[actor as usize], self.width)).collect();
        let head = |name: &String| format!(" {} {}", self.bar(), self.view.paint(Ink::Name, name));
        // The widths are of the text, not of the colours: all but the last are filled up.
        let mut line = format!("{:>1$}", "step", self.number);
        for (index, name) in names.iter().enumerate() {
            let fill = if index + 1 == names.len() { 0 } else { self.width - name.chars().count() };
            let _ = write!(line, "{}{}", head(name), " ".repeat(fill));
        }
        let _ = writeln!(out, "{line}");
        let rule: String = names.iter().map(|_| format!("┼{}", "─".repeat(self.width + 2))).collect();
        let _ = writeln!(
            out,
            "{}",
            self.view.paint(Ink::Quiet, &format!("{}{rule}", "─".repeat(self.number + 1)))
        );
        for step in shown(self.told) {
            match step {
                Ok(index) => self.step(index, out),
                Err(skipped) => {
                    let gap = format!("{:>1$} {skipped} steps are not shown", "...", self.number);
                    let _ = writeln!(out, "{}", self.view.paint(Ink::Quiet, &gap));
                }
            }
        }
    }

    fn bar(&self) -> String {
        self.view.paint(Ink::Quiet, "│")
    }

    fn step(&self, index: usize, out: &mut String) {
        let (step, owner) = (&self.told.steps[index], self.owners[index]);
        let place = step.place.map_or_else(String::new, |place| self.lines.brief(place));
        let mark = if step.fails.is_some() { " ✗" } else { "" };
        let does = if step.actor.is_none() { format!("({})", step.does) } else { step.does.clone() };
        let indent = if place.is_empty() { 0 } else { place.chars().count() + 1 };
        let room = self.width.saturating_sub(indent);
        // A place too long for the column stands on a line of its own.
        let (indent, room) = if room < WIDTH_MIN / 2 { (2, self.width - 2) } else { (indent, room) };
        let mut cell: Vec<(String, String)> = Vec::new();
        for (number, line) in wrap(&format!("{}{mark}", text::line(&does)), room).into_iter().enumerate() {
            match number {
                0 if indent > place.chars().count() || place.is_empty() => cell.push((place.clone(), line)),
                0 => {
                    cell.push((place.clone(), String::new()));
                    cell.push((String::new(), line));
                }
                _ => cell.push((String::new(), line)),
            }
        }
        self.cell(Some(step.number), owner, indent, &cell, out);
        for said in &step.said {
            let column = if self.actors.contains(&said.actor) { said.actor } else { owner };
            let lines = wrap(&quoted(said), self.width.saturating_sub(2));
            let lines: Vec<_> = lines.into_iter().map(|line| (String::new(), line)).collect();
            self.cell(None, column, 2, &lines, out);
        }
    }

    /// Prints the lines of one cell; the others are empty.
    fn cell(
        &self,
        number: Option<usize>,
        owner: u32,
        indent: usize,
        cell: &[(String, String)],
        out: &mut String,
    ) {
        for (index, (place, text)) in cell.iter().enumerate() {
            let number = number.filter(|_| index == 0).map_or_else(String::new, |number| number.to_string());
            let mut line = self.view.paint(Ink::Quiet, &format!("{number:>0$}", self.number));
            for &actor in &self.actors {
                let _ = write!(line, " {} ", self.bar());
                let last = actor == *self.actors.last().expect("there is one");
                if actor != owner {
                    line.push_str(&" ".repeat(if last { 0 } else { self.width }));
                    continue;
                }
                let before = indent.max(place.chars().count());
                let used = before + text.chars().count();
                let pad = before - place.chars().count();
                let place = self.view.paint(Ink::Place, place);
                let _ = write!(line, "{place}{}{}", " ".repeat(pad), self.view.words(text));
                line.push_str(&" ".repeat(if last { 0 } else { self.width.saturating_sub(used) }));
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
}

/// One line a step, for more actors than there is room for.
fn list(told: &Counterexample, view: &View<'_>, lines: &Lines, out: &mut String) {
    const NAME_MAX: usize = 20;
    let name = |step: &Taken| match step.actor {
        Some(actor) => cut(&told.actors[actor as usize], NAME_MAX),
        None => "network".to_owned(),
    };
    let place = |step: &Taken| step.place.map_or_else(String::new, |place| lines.brief(place));
    let widest = |of: &dyn Fn(&Taken) -> String| {
        told.steps.iter().map(|step| of(step).chars().count()).max().unwrap_or(0)
    };
    let (names, places) = (widest(&name), widest(&place));
    let number = told.steps.len().to_string().len().max(4);
    let room = view.width.saturating_sub(number + names + places + 6).max(WIDTH_MIN);
    for step in shown(told) {
        let index = match step {
            Ok(index) => index,
            Err(skipped) => {
                let gap = format!("{:>number$} {skipped} steps are not shown", "...");
                let _ = writeln!(out, "{}", view.paint(Ink::Quiet, &gap));
                continue;
            }
        };
        let step = &told.steps[index];
        let mark = if step.fails.is_some() { " ✗" } else { "" };
        let mut texts = wrap(&format!("{}{mark}", text::line(&step.does)), room);
        for said in &step.said {
            texts.extend(wrap(&format!("  {}", quoted(said)), room));
        }
        for (row, text) in texts.iter().enumerate() {
            let head = if row == 0 {
                let number = view.paint(Ink::Quiet, &format!("{:>number$}", step.number));
                let name = view.paint(Ink::Name, &format!("{:<names$}", name(step)));
                format!("{number}  {name}  {}", view.paint(Ink::Place, &format!("{:<places$}", place(step))))
            } else {
                " ".repeat(number + names + places + 4)
            };
            let _ = writeln!(out, "{}", format!("{head}  {}", view.words(text)).trim_end());
        }
    }
}

/// The lines of source that the steps speak of.
fn source(told: &Counterexample, view: &View<'_>, lines: &Lines, out: &mut String) {
    let texts = lines.texts(view.source);
    let count: usize = texts.iter().map(|(_, lines)| lines.len()).sum();
    if count > SOURCE_MAX {
        return;
    }
    let number = 6;
    for (file, texts) in texts {
        let _ = writeln!(out, "\n{}", view.paint(Ink::Place, file));
        for (line, text) in texts {
            let failed = told.place.is_some_and(|place| place.file == file && place.line == line);
            let room = view.width.saturating_sub(number + 5);
            let mark = if failed { format!(" {}", view.paint(Ink::Wrong, "✗")) } else { String::new() };
            let _ = writeln!(
                out,
                "{} {}{mark}",
                view.paint(Ink::Place, &format!("{line:>number$}")),
                cut(&text, room)
            );
        }
    }
}

/// Text that is cut where there is no room for more.
fn cut(text: &str, room: usize) -> String {
    let text = text::line(text);
    if text.chars().count() <= room {
        return text;
    }
    let mut cut: String = text.chars().take(room.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// Text in lines that have room for so many characters, broken between words where possible.
fn wrap(text: &str, room: usize) -> Vec<String> {
    let room = room.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        if length > 0 && length + 1 + word.len() > room {
            lines.push(std::mem::take(&mut line));
            length = 0;
        }
        while word.len() > room {
            lines.push(word.drain(..room).collect());
        }
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        line.extend(&word);
        length += word.len();
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_broken_between_words() {
        assert_eq!(wrap("receives m1 of sender-1", 12), ["receives m1", "of sender-1"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("", 3), [""]);
        assert_eq!(wrap("  said", 10), ["said"]);
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("abcd", 4), "abcd");
    }
}
