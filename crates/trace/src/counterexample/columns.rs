//! A counterexample as text: one column an actor, one line a step, in the order in which they take place.

use std::fmt::Write;

use crate::counterexample::told::{Counterexample, Difference, Exchanged, How, Said, Standing, Taken};
use simurgh_explore::Step;

use super::calls::Calls;
use super::{Lines, Source, owners};
use crate::text;

/// More columns than these are not read any more: a list is.
const COLUMNS_MAX: usize = 6;
/// A column is this wide at least, or a list is printed.
const WIDTH_MIN: usize = 16;
/// More steps than these, and only the first and the last are printed.
const STEPS_MAX: usize = 120;
/// Longer names are cut where others stand below them.
pub const NAME_MAX: usize = 60;
/// So many of the first are printed then; the last are what it leads to.
const STEPS_FIRST: usize = 10;
/// So many of the last lines that an actor printed are shown.
const PRINTED_MAX: usize = 5;
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
    let mut out = heading(told, view);
    if !told.steps.is_empty() {
        out.push('\n');
    }
    out.push_str(&steps_in_columns(told, view));
    out
}

/// The steps, and the lines of source that they speak of. Where actors name what they call, calls take the place of steps.
pub fn steps_in_columns(told: &Counterexample, view: &View<'_>) -> String {
    let Some(mut calls) = Calls::of(told) else { return in_rows(told, view, "") };
    let printed = printed(&mut calls.told, view);
    in_rows(&calls.told, view, &printed)
}

/// Takes out what the actors have printed: the last lines of each.
fn printed(told: &mut Counterexample, view: &View<'_>) -> String {
    let mut of_actors: Vec<Vec<String>> = vec![Vec::new(); told.actors.len()];
    let of_steps = told.steps.iter_mut().flat_map(|step| std::mem::take(&mut step.said));
    for said in std::mem::take(&mut told.said).into_iter().chain(of_steps) {
        if let Some(lines) = of_actors.get_mut(said.actor as usize) {
            lines.push(said.text);
        }
    }
    let mut out = String::new();
    let names = told.actors.iter().map(|name| cut(name, NAME_MAX));
    for (name, lines) in names.zip(&of_actors).filter(|(_, lines)| !lines.is_empty()) {
        let left_out = lines.len().saturating_sub(PRINTED_MAX);
        if left_out > 0 {
            let _ = writeln!(
                out,
                "{}",
                view.paint(Ink::Quiet, &format!("{name} | ... ({left_out} lines before)"))
            );
        }
        for line in &lines[left_out..] {
            let room = view.width.saturating_sub(name.chars().count() + 3);
            let _ = writeln!(out, "{} | {}", view.paint(Ink::Name, &name), cut(line, room));
        }
    }
    if out.is_empty() { out } else { format!("\nprinted:\n{out}") }
}

fn in_rows(told: &Counterexample, view: &View<'_>, printed: &str) -> String {
    let lines = Lines::of(told);
    let mut out = String::new();
    if !told.steps.is_empty() {
        match Columns::of(told, view, &lines) {
            Some(columns) => columns.print(&mut out),
            None => list(told, view, &lines, &mut out),
        }
    }
    out.push_str(printed);
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
    if let Some(difference) = &told.difference {
        entries(&differing(difference), view, &mut out);
    }
    if told.is_deadlock() {
        let waits: Vec<_> = told.standing.iter().filter(|standing| standing.how == How::Waits).collect();
        let name = |standing: &Standing| text::line(&told.actors[standing.actor as usize]);
        let waits: Vec<_> = waits.into_iter().map(|standing| (name(standing), about(standing))).collect();
        entries(&waits, view, &mut out);
    }
    out
}

/// Names, each with a text beside it.
fn entries(entries: &[(String, String)], view: &View<'_>, out: &mut String) {
    let names: Vec<_> = entries.iter().map(|(name, _)| cut(name, NAME_MAX)).collect();
    let widest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (name, (_, text)) in names.iter().zip(entries) {
        let room = view.width.saturating_sub(widest + 4).max(20);
        for (index, line) in wrap(text, room).iter().enumerate() {
            let name = if index == 0 {
                view.paint(Ink::Name, &format!("{name:<widest$}"))
            } else {
                " ".repeat(widest)
            };
            let _ = writeln!(out, "  {name}  {line}");
        }
    }
}

/// What an actor does in this execution and in another one, and that other one.
pub(super) fn differing(difference: &Difference) -> Vec<(String, String)> {
    let told = |exchanged: &Exchanged| {
        let step = exchanged.step.map_or_else(String::new, |step| format!("step {step} "));
        let place = exchanged.place.map_or_else(String::new, |place| format!(" ({place})"));
        text::line(&format!("{step}{}{place}", exchanged.does))
    };
    let steps: Vec<_> = difference.schedule.iter().map(Step::to_string).collect();
    let schedule = match steps.len() {
        0..=STEPS_MAX => steps.join(" "),
        many => format!("{many} steps (--json prints them)"),
    };
    let entry = |name: &str, text: String| (name.to_owned(), text);
    vec![
        entry("here", told(&difference.here)),
        entry("there", told(&difference.there)),
        entry("which is", schedule),
    ]
}

/// What an actor is about, with its place and why it waits.
pub fn about(standing: &Standing) -> String {
    let mut about = standing.does.clone();
    if let Some(place) = standing.place {
        let _ = write!(about, " ({place})");
    }
    if let Some(why) = &standing.why {
        // A clause about what it waits for, or a sentence of its own.
        let relative = ["which", "where", "of which"].iter().any(|word| why.starts_with(word));
        let _ = write!(about, "{} {why}", if relative { "," } else { ";" });
    }
    text::line(&about)
}

/// A step in one line, without its number: who, what, and where.
pub fn in_one_line(told: &Taken, name: &str) -> String {
    let who = if told.step.actor == Step::NETWORK { "network" } else { name };
    let place = told.place.map_or_else(String::new, |place| format!(" ({place})"));
    let does =
        told.call.as_ref().map_or_else(|| told.does.clone(), |call| format!("{}: {}", call.text, told.does));
    text::line(&format!("{who}: {does}{place}"))
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
    /// The actors that have a column, and how wide it is.
    actors: Vec<(u32, usize)>,
    /// What is printed, from top to bottom.
    rows: Vec<Row>,
    /// How wide the numbers are.
    number: usize,
}

/// What is printed in one column, in some lines.
enum Row {
    /// A step, or what was said then.
    Cell { number: String, owner: u32, place: String, text: String },
    /// So many steps are not shown.
    Gap(usize),
}

impl Row {
    fn number_width(&self) -> usize {
        match self {
            Row::Cell { number, .. } => number.len(),
            Row::Gap(_) => 0,
        }
    }
}

/// Whether one step posts a receive and the next is its end, whatever it came to.
fn is_whole(post: &Taken, end: &Taken) -> bool {
    post.kind == "post"
        && post.call.is_none()
        && (end.kind == "receive" || end.kind == "timeout")
        && (post.actor, &post.mailbox, post.place) == (end.actor, &end.mailbox, end.place)
        && post.said.is_empty()
}

impl<'a> Columns<'a> {
    /// The columns, if there is room for them.
    fn of(told: &'a Counterexample, view: &'a View<'a>, lines: &Lines) -> Option<Self> {
        let owners = owners(told);
        let said = |said: &Said, owner| {
            // Below what the actor did.
            Row::Cell { number: String::new(), owner, place: " ".to_owned(), text: quoted(said) }
        };
        let before = told.said.iter().filter(|said| owners.contains(&said.actor));
        let mut rows: Vec<Row> = before.map(|text| said(text, text.actor)).collect();
        for step in shown(told) {
            let index = match step {
                Ok(index) => index,
                Err(skipped) => {
                    rows.push(Row::Gap(skipped));
                    continue;
                }
            };
            let (step, owner) = (&told.steps[index], owners[index]);
            let place = step.place.map_or_else(String::new, |place| lines.brief(place));
            let mark = if step.fails.is_some() { " ✗" } else { "" };
            let does = if step.actor.is_none() { format!("({})", step.does) } else { step.does.clone() };
            let text = text::line(&does) + mark;
            // A receive that is over at once is one thing to people, though two steps.
            let begun = index.checked_sub(1).map(|before| &told.steps[before]);
            let number = match begun.filter(|begun| is_whole(begun, step)) {
                Some(begun) => {
                    rows.pop();
                    format!("{}-{}", begun.number, step.number)
                }
                None => step.at.unwrap_or(step.number).to_string(),
            };
            rows.push(Row::Cell { number, owner, place, text });
            for text in &step.said {
                rows.push(said(text, if owners.contains(&text.actor) { text.actor } else { owner }));
            }
        }
        let number = rows.iter().map(Row::number_width).max().unwrap_or(0).max(4);
        let mut actors: Vec<u32> = owners;
        actors.sort_unstable();
        actors.dedup();
        let room = view.width.saturating_sub(number + 3 * actors.len());
        if actors.len() > COLUMNS_MAX || room / actors.len().max(1) < WIDTH_MIN {
            return None;
        }
        let wanted: Vec<usize> = actors.iter().map(|&actor| widest(told, &rows, actor)).collect();
        let widths = share(room, &wanted);
        Some(Self { told, view, actors: actors.into_iter().zip(widths).collect(), rows, number })
    }

    fn print(&self, out: &mut String) {
        let (view, number) = (self.view, self.number);
        let mut head = view.paint(Ink::Quiet, &format!("{:>number$}", "step"));
        let mut rule = "─".repeat(number + 1);
        for &(actor, width) in &self.actors {
            let name = cut(&self.told.actors[actor as usize], width);
            let fill = " ".repeat(width - name.chars().count());
            let _ = write!(head, " {} {}{fill}", self.bar(), view.paint(Ink::Name, &name));
            let _ = write!(rule, "┼{}", "─".repeat(width + 2));
        }
        let _ = writeln!(out, "{}\n{}", head.trim_end(), view.paint(Ink::Quiet, &rule));
        for row in &self.rows {
            match row {
                Row::Cell { number, owner, place, text } => self.cell(number, *owner, place, text, out),
                Row::Gap(skipped) => {
                    let gap = format!("{:>number$} {skipped} steps are not shown", "...");
                    let _ = writeln!(out, "{}", view.paint(Ink::Quiet, &gap));
                }
            }
        }
    }

    fn bar(&self) -> String {
        self.view.paint(Ink::Quiet, "│")
    }

    /// Prints the lines of one cell; the others are empty.
    fn cell(&self, number: &str, owner: u32, place: &str, text: &str, out: &mut String) {
        let width = self.actors.iter().find(|(actor, _)| *actor == owner).map_or(0, |(_, width)| *width);
        let indent = if place.is_empty() { 0 } else { place.chars().count() + 1 };
        let mut lines: Vec<(&str, String)> = Vec::new();
        // A place too long for the column stands on a line of its own.
        let (indent, room) = if width < indent + WIDTH_MIN / 2 {
            lines.push((place, String::new()));
            (2, width.saturating_sub(2))
        } else {
            (indent, width - indent)
        };
        for line in wrap(text, room) {
            let first = lines.is_empty();
            lines.push((if first { place } else { "" }, line));
        }
        for (index, (place, text)) in lines.iter().enumerate() {
            let number = if index == 0 { number } else { "" };
            let mut line = self.view.paint(Ink::Quiet, &format!("{number:>0$}", self.number));
            for &(actor, width) in &self.actors {
                let _ = write!(line, " {} ", self.bar());
                let mut used = 0;
                if actor == owner {
                    let length = place.chars().count();
                    let fill = " ".repeat(indent.saturating_sub(length));
                    used = length.max(indent) + text.chars().count();
                    let _ =
                        write!(line, "{}{fill}{}", self.view.paint(Ink::Place, place), self.view.words(text));
                }
                line.push_str(&" ".repeat(width.saturating_sub(used)));
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
}

/// How wide a column would be if nothing had to be broken.
fn widest(told: &Counterexample, rows: &[Row], actor: u32) -> usize {
    let name = told.actors[actor as usize].chars().count();
    let cell = |row: &Row| match row {
        Row::Cell { owner, place, text, .. } if *owner == actor => {
            let place = if place.is_empty() { 0 } else { place.chars().count() + 1 };
            place + text.chars().count()
        }
        _ => 0,
    };
    rows.iter().map(cell).max().unwrap_or(0).max(name)
}

/// Gives each as much as it wants, or what is left when those that want less have it.
fn share(room: usize, wanted: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..wanted.len()).collect();
    order.sort_by_key(|&index| wanted[index]);
    let mut widths = vec![0; wanted.len()];
    let mut left = room;
    for (served, &index) in order.iter().enumerate() {
        widths[index] = wanted[index].min(left / (wanted.len() - served));
        left -= widths[index];
    }
    widths
}

/// One line a step, for more actors than there is room for.
fn list(told: &Counterexample, view: &View<'_>, lines: &Lines, out: &mut String) {
    const NAME_LISTED: usize = 20;
    let name = |step: &Taken| match step.actor {
        Some(actor) => cut(&told.actors[actor as usize], NAME_LISTED),
        None => "network".to_owned(),
    };
    let place = |step: &Taken| step.place.map_or_else(String::new, |place| lines.brief(place));
    let widest = |of: &dyn Fn(&Taken) -> String| {
        told.steps.iter().map(|step| of(step).chars().count()).max().unwrap_or(0)
    };
    let (names, places) = (widest(&name), widest(&place));
    let last = told.steps.last().map_or(0, |step| step.at.unwrap_or(step.number));
    let number = last.to_string().len().max(4);
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
                let number = view.paint(Ink::Quiet, &format!("{:>number$}", step.at.unwrap_or(step.number)));
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
pub fn cut(text: &str, room: usize) -> String {
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

    #[test]
    fn room_is_shared_fairly() {
        assert_eq!(share(30, &[5, 20, 20]), [5, 12, 13]);
        assert_eq!(share(100, &[5, 20, 20]), [5, 20, 20]);
        assert_eq!(share(9, &[5, 20, 20]), [3, 3, 3]);
    }
}
