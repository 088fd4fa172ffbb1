//! The lines of source that a counterexample speaks of: how they are named briefly, and what stands there.

use std::collections::{BTreeMap, BTreeSet};

use crate::counterexample::told::Counterexample;
use simurgh_kernel::context::Place;

use super::Source;
use crate::text;

/// The lines that a counterexample speaks of, by file.
pub struct Lines {
    files: BTreeMap<&'static str, BTreeSet<u32>>,
}

impl Lines {
    /// The lines of all steps, of what failed or differs, and of what the actors are about at the end.
    pub fn of(told: &Counterexample) -> Self {
        let mut files: BTreeMap<&'static str, BTreeSet<u32>> = BTreeMap::new();
        let steps = told.steps.iter().map(|step| step.place);
        let ends = told.standing.iter().map(|standing| standing.place);
        let differs =
            told.difference.iter().flat_map(|difference| [difference.here.place, difference.there.place]);
        for place in steps.chain(ends).chain(differs).chain([told.place]).flatten() {
            files.entry(place.file).or_default().insert(place.line);
        }
        Self { files }
    }

    /// The only file, if there is but one.
    pub fn only_file(&self) -> Option<&'static str> {
        match self.files.len() {
            1 => self.files.keys().next().copied(),
            _ => None,
        }
    }

    /// A place as briefly as it can be told from others: its line, its file without folders, or all of it.
    pub fn brief(&self, place: Place) -> String {
        if self.only_file() == Some(place.file) {
            return format!(":{}", place.line);
        }
        let name = base(place.file);
        let is_alone = self.files.keys().filter(|file| base(file) == name).count() <= 1;
        if is_alone { format!("{name}:{}", place.line) } else { place.to_string() }
    }

    /// What stands at each line, by file; files that cannot be had are left out.
    pub fn texts(&self, source: Source<'_>) -> Vec<(&'static str, Vec<(u32, String)>)> {
        let mut all = Vec::new();
        for (&file, lines) in &self.files {
            let Some(content) = source(file) else { continue };
            let content: Vec<&str> = content.lines().collect();
            let at = |&line: &u32| {
                let text = content.get(line.checked_sub(1)? as usize)?;
                Some((line, text::line(text.trim())))
            };
            let texts: Vec<(u32, String)> = lines.iter().filter_map(at).collect();
            if !texts.is_empty() {
                all.push((file, texts));
            }
        }
        all
    }
}

/// The name of a file without its folders.
fn base(file: &str) -> &str {
    file.rsplit(['/', '\\']).next().unwrap_or(file)
}
