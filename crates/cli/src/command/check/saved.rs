//! Keeping what was found: as a schedule to replay, and as a diagram to look at.

use std::path::{Path, PathBuf};

use clap::Args;
use simurgh_actors::checking::Counterexample;
use simurgh_actors::command_line::{Subject, schedule, shell_word, silently, source};
use simurgh_actors::{Error, Result};
use simurgh_explore::{Faults, Step};
use simurgh_trace::counterexample::told::{Counterexample as Told, standings};
use simurgh_trace::counterexample::{Heading, in_html};

use crate::command::simulate::{check_place, named, write_file};

/// What is kept of what was found.
#[derive(Args, Clone, Debug, Default)]
pub struct SaveOptions {
    /// Writes the schedule of what was found, for `replay`; with --all also FILE-2 and so on, one for each
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
    /// Draws what was found, as a page to click through; with --all also OUT-2 and so on, one for each
    #[arg(long, value_name = "OUT")]
    pub html: Option<PathBuf>,
    /// Writes what came of it for test runners, as JUnit's XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Writes what was found with its places in the program, as SARIF 2.1.0
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
}

impl SaveOptions {
    /// Says before a long search that its result could not be written.
    ///
    /// # Errors
    /// If a file cannot be written there.
    pub(crate) fn check_places(&self) -> Result {
        let all = [&self.save, &self.html, &self.junit, &self.sarif];
        all.into_iter().flatten().try_for_each(|path| check_place(path))
    }

    /// The arguments of a program but for these options: they say nothing about what is checked.
    pub(crate) fn without(&self, arguments: impl Iterator<Item = String>) -> Vec<String> {
        let mut kept = Vec::new();
        let mut is_value = false;
        for word in arguments {
            let (name, value) =
                word.split_once('=').map_or((word.as_str(), None), |(name, _)| (name, Some(())));
            let ours = [
                ("--save", &self.save),
                ("--html", &self.html),
                ("--junit", &self.junit),
                ("--sarif", &self.sarif),
            ];
            let is_ours = ours.iter().any(|(option, value)| *option == name && value.is_some());
            if !is_value && !is_ours {
                kept.push(word);
            }
            is_value = !is_value && is_ours && value.is_none();
        }
        kept
    }

    /// Writes what was found.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn save(&self, subject: &Subject<'_>, found: &[Counterexample]) -> Result<String> {
        let told = found.iter().filter_map(|one| Some((one.told.as_ref().ok()?, schedule(one).ok()?)));
        let program = called();
        let mut lines = Vec::new();
        for (index, (told, schedule)) in told.enumerate() {
            let mut command = None;
            if let Some(path) = &self.save {
                let path = numbered(path, index);
                let text = schedule.write();
                write_file(&path, |out| out.write_all(text.as_bytes()))?;
                let replay = format!("{program} replay {}", shell_word(&path.display().to_string()));
                lines.push(format!("wrote {}: `{replay}` shows it step by step", named(&path)));
                command = Some(replay);
            }
            if let Some(path) = &self.html {
                let path = numbered(path, index);
                draw(subject, told, command, &path)?;
                lines.push(format!("wrote {}: open it in a browser", named(&path)));
            }
        }
        if self.save.is_none() {
            lines.push(format!("to see it step by step: --save FILE, and then `{program} replay FILE`"));
        }
        Ok(lines.join("\n"))
    }
}

/// Draws what happened, into a file.
///
/// # Errors
/// If it cannot be written.
pub(crate) fn draw(subject: &Subject<'_>, told: &Told, replay: Option<String>, path: &Path) -> Result {
    let steps: Vec<Step> = told.steps.iter().map(|taken| taken.step).collect();
    let names = |mailbox| subject.mailbox_name(mailbox);
    // The network may do what it did.
    let mut system = subject.actors(told.network).unreliable(Faults::of(&steps));
    let standings = silently(|| standings(&mut system, &steps, &names))?
        .map_err(|impossible| Error::other(format!("it is not the same every time: {impossible}")))?;
    let page = in_html(told, &standings, &Heading { program: subject.origin().to_string(), replay }, &source);
    write_file(path, |out| out.write_all(page.as_bytes()))
}

/// How this program was called, as a shell reads it.
fn called() -> String {
    let called = std::env::args_os().next().unwrap_or_default();
    shell_word(&called.to_string_lossy())
}

/// The file for the first, and those for the others: `bug.toml`, `bug-2.toml`...
fn numbered(path: &Path, index: usize) -> PathBuf {
    if index == 0 {
        return path.to_owned();
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(extension) => format!("{stem}-{}.{}", index + 1, extension.to_string_lossy()),
        None => format!("{stem}-{}", index + 1),
    };
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_it_is_written_is_no_part_of_the_program() {
        let options = SaveOptions {
            save: Some("x".into()),
            html: Some("y".into()),
            junit: None,
            sarif: Some("z".into()),
        };
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let kept = |text: &str| options.without(words(text).into_iter()).join(" ");
        assert_eq!(kept("check --save x --bug --html=y --sarif z --nodes 2"), "check --bug --nodes 2");
        assert_eq!(kept("check --html --save --bug"), "check --bug");
        assert_eq!(SaveOptions::default().without(words("run --save").into_iter()), ["run", "--save"]);
    }

    #[test]
    fn several_files_have_several_names() {
        assert_eq!(numbered(Path::new("a/bug.toml"), 0), Path::new("a/bug.toml"));
        assert_eq!(numbered(Path::new("a/bug.toml"), 1), Path::new("a/bug-2.toml"));
        assert_eq!(numbered(Path::new("bug"), 2), Path::new("bug-3"));
    }
}
