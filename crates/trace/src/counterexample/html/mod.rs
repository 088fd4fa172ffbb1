//! A counterexample as one page of HTML: a space-time diagram, and what is to be known of the step that is selected.
//!
//! - `diagram`: actors as vertical lines, steps from top to bottom, messages as arrows, drawn as SVG.
//! - `page.html`, `page.css`, `page.js`: the page around it. It selects steps and shows what `data` holds of them; without
//!   scripts the diagram is there all the same.
//!
//! The page needs no network and refuses to use one. All that comes from the program is escaped: it gets into the page as
//! text of XML, or as JSON from which the script makes text.

mod diagram;
#[cfg(test)]
mod tests;

use crate::counterexample::told::{Counterexample, Said, Shown, Standing};
use simurgh_kernel::context::Place;

use super::calls::Calls;
use super::columns::differing;
use super::{Source, about};
use crate::text;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// So many lines of source are shown before and after that of a step.
const AROUND: u32 = 3;

/// What a page says besides what happened.
pub struct Heading {
    /// What was checked, such as the command.
    pub program: String,
    /// The command that replays it, if it was saved.
    pub replay: Option<String>,
}

/// The page. `standings` tells how the actors stand at the start and after each step, as
/// [`standings`](crate::counterexample::told::standings) does.
pub fn in_html(
    told: &Counterexample,
    standings: &[Vec<Standing>],
    heading: &Heading,
    source: Source<'_>,
) -> String {
    match Calls::of(told) {
        Some(calls) => page(&calls.told, &calls.standings(standings), heading, source),
        None => page(told, standings, heading, source),
    }
}

fn page(told: &Counterexample, standings: &[Vec<Standing>], heading: &Heading, source: Source<'_>) -> String {
    let diagram = diagram::Diagram::of(told, standings);
    let what = told.what.as_deref().unwrap_or("nothing went wrong");
    let place = told.place.filter(|place| !what.contains(&place.to_string()));
    let counted = |count: usize, thing: &str| format!("{count} {thing}{}", if count == 1 { "" } else { "s" });
    let mut facts = vec![
        heading.program.clone(),
        format!("network {}", told.network),
        counted(told.actors.len(), "actor"),
        counted(told.steps.len(), "step"),
    ];
    facts.extend(diagram.left_out());
    let parts: [(&str, String); 9] = [
        ("title", text::xml(&text::line(what))),
        ("what", text::xml(what)),
        ("verdict", if told.what.is_some() { "wrong" } else { "fine" }.to_owned()),
        ("place", place.map_or_else(String::new, |place| text::xml(&format!("at {place}")))),
        ("facts", text::xml(&facts.join(" · "))),
        ("names", diagram.names()),
        ("diagram", diagram.svg()),
        ("style", STYLE.to_owned()),
        ("script", SCRIPT.replace("{{data}}", &data(told, standings, heading, source))),
    ];
    fill(PAGE, &parts)
}

/// The step that differs from another execution, if that is what is wrong.
fn differs(told: &Counterexample) -> Option<usize> {
    told.difference.as_ref().and_then(|difference| difference.here.step)
}

/// A template with its parts. What is put in is not looked at again: it may hold anything.
fn fill(template: &str, parts: &[(&str, String)]) -> String {
    let mut out = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").expect("the template closes what it opens");
        let (_, part) = parts.iter().find(|(part, _)| *part == name).expect("the template names parts only");
        out.push_str(before);
        out.push_str(part);
        rest = after;
    }
    out + rest
}

/// What the script knows, as JSON that is fit for a script in a page.
fn data(told: &Counterexample, standings: &[Vec<Standing>], heading: &Heading, source: Source<'_>) -> String {
    let mut sources = Sources { source, files: Vec::new() };
    let steps: Vec<_> = told
        .steps
        .iter()
        .map(|step| {
            serde_json::json!({
                "step": step.step.to_string(),
                "actor": step.actor,
                "kind": step.kind,
                "does": step.does,
                "bytes": step.bytes,
                "after": step.after,
                "source": step.place.map(|place| sources.at(place)),
                "said": said(&step.said),
                "shows": shows(&step.shows),
                "fails": step.fails,
                "stands": stands(standings.get(step.number)),
                "at": step.at.unwrap_or(step.number),
            })
        })
        .collect();
    let data = serde_json::json!({
        "what": told.what,
        "place": told.place.map(|place| sources.at(place)),
        "differs": differs(told),
        "difference": told.difference.as_ref().map(differing).unwrap_or_default(),
        "actors": told.actors,
        "said": said(&told.said),
        "shows": shows(&told.shows),
        "stands": stands(standings.first()),
        "steps": steps,
        "files": sources.files.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "replay": heading.replay,
    });
    // The end of the script must not stand in it, nor what XML reads.
    let escaped = [("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")];
    escaped.iter().fold(data.to_string(), |text, (from, to)| text.replace(from, to))
}

fn said(said: &[Said]) -> Vec<(u32, &str)> {
    said.iter().map(|said| (said.actor, said.text.as_str())).collect()
}

fn shows(shows: &[Shown]) -> Vec<(&str, &str)> {
    shows.iter().map(|shown| (shown.name.as_str(), shown.value.as_str())).collect()
}

fn stands(standings: Option<&Vec<Standing>>) -> Vec<(u32, serde_json::Value, String)> {
    let how = |standing: &Standing| serde_json::to_value(standing.how).unwrap_or_default();
    let one = |standing: &Standing| (standing.actor, how(standing), about(standing));
    standings.into_iter().flatten().map(one).collect()
}

/// The files of the program, each read once.
struct Sources<'a> {
    source: Source<'a>,
    files: Vec<(&'static str, Option<Vec<String>>)>,
}

impl Sources<'_> {
    /// The number of the file, the line, and the lines around it with the number of the first.
    fn at(&mut self, place: Place) -> serde_json::Value {
        let file = self.files.iter().position(|(name, _)| *name == place.file).unwrap_or_else(|| {
            let lines = (self.source)(place.file);
            let lines = lines.map(|text| text.lines().map(|line| line.replace('\t', "    ")).collect());
            self.files.push((place.file, lines));
            self.files.len() - 1
        });
        let first = place.line.saturating_sub(AROUND).max(1);
        let lines: Vec<&String> = match &self.files[file].1 {
            Some(lines) => {
                let shown = first as usize - 1..(place.line + AROUND) as usize;
                shown.filter_map(|index| lines.get(index)).collect()
            }
            None => Vec::new(),
        };
        serde_json::json!([file, place.line, first, lines])
    }
}
