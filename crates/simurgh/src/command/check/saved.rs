//! Keeping what was found: as a schedule to replay, and as a diagram to look at.

use std::path::{Path, PathBuf};

use clap::Args;

use super::Subject;
use super::findings::Finding;
use crate::command::debugger::shell_word;
use crate::command::schedule::Schedule;
use crate::command::simulate::{check_place, write_file};
use crate::error::Result;

/// What is kept of what was found.
#[derive(Args, Clone, Debug, Default)]
pub struct SaveOptions {
    /// Writes the schedule of what was found, for `replay`; with --all also FILE-2 and so on, one for each
    #[arg(long, value_name = "FILE")]
    pub save: Option<PathBuf>,
}

impl SaveOptions {
    /// Says before a long search that its result could not be written.
    ///
    /// # Errors
    /// If a file cannot be written there.
    pub(crate) fn check_places(&self) -> Result {
        self.save.iter().try_for_each(|path| check_place(path))
    }

    /// Writes what was found.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(crate) fn save(
        &self,
        subject: &Subject<'_>,
        engine: simurgh_explore::Engine,
        findings: &[Finding],
    ) -> Result<String> {
        let told = findings.iter().filter_map(|finding| finding.told.as_ref().ok());
        let mut saved = Vec::new();
        for (index, told) in told.enumerate() {
            if let Some(path) = &self.save {
                let path = numbered(path, index);
                let schedule = Schedule::of(told, subject.origin().clone(), engine.to_string());
                let text = schedule.write();
                write_file(&path, |out| out.write_all(text.as_bytes()))?;
                saved.push(path);
            }
        }
        Ok(Self::hint(&saved))
    }

    /// What can be done with a counterexample.
    fn hint(saved: &[PathBuf]) -> String {
        let called = std::env::args_os().next().unwrap_or_default();
        let program = shell_word(&called.to_string_lossy());
        if saved.is_empty() {
            return format!("to see it step by step: --save FILE, and then `{program} replay FILE`");
        }
        let lines = saved.iter().map(|path| {
            let word = shell_word(&path.display().to_string());
            format!("wrote {}: `{program} replay {word}` shows it step by step", path.display())
        });
        lines.collect::<Vec<_>>().join("\n")
    }
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
