//! The TOML file of a scenario.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use simurgh_files::Unreadable;
use simurgh_models::Config;
use simurgh_platform::Platform;
use toml::Spanned;

use super::operation::Operation;
use crate::error::{Error, Result};

/// A scenario: a platform, settings, and what each actor does.
#[derive(Clone, PartialEq, Debug)]
pub struct Scenario {
    /// How messages name the file.
    pub name: String,
    /// The platform file; the built-in platform if there is none.
    pub platform: Option<PathBuf>,
    /// The line of the file that names it.
    pub platform_line: usize,
    /// SimGrid's configuration keys and values.
    pub config: Vec<(String, String)>,
    /// The actors, in the order in which they start.
    pub actors: Vec<ScenarioActor>,
}

/// An actor of a scenario.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ScenarioActor {
    /// Its name.
    pub name: String,
    /// Where it runs; anywhere if not said.
    pub host: Option<String>,
    /// The date at which it starts; at once if not said.
    pub start_at: Option<f64>,
    /// The date at which it is killed.
    pub kill_at: Option<f64>,
    /// Whether it ends with the last of those that are not daemons.
    pub daemon: bool,
    /// Whether it starts again from the beginning whenever its host does.
    pub restart: bool,
    /// What it does, one after the other.
    pub operations: Arc<[Operation]>,
    /// The line of the file that it begins at.
    pub line: usize,
    /// The line of each operation.
    pub lines: Arc<[usize]>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScenario {
    platform: Option<Spanned<String>>,
    #[serde(default)]
    config: BTreeMap<String, Spanned<toml::Value>>,
    #[serde(default)]
    actor: Vec<Spanned<RawActor>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawActor {
    name: Option<Spanned<String>>,
    host: Option<String>,
    start_at: Option<Spanned<f64>>,
    kill_at: Option<Spanned<f64>>,
    #[serde(default)]
    daemon: bool,
    #[serde(default)]
    restart: bool,
    #[serde(rename = "do", default)]
    operations: Vec<Spanned<String>>,
}

impl Scenario {
    /// Reads a file.
    ///
    /// # Errors
    /// Where it cannot be read or understood, and what to do.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Scenario> {
        let path = path.as_ref();
        let text = read_text(path)?;
        let directory = path.parent().unwrap_or_else(|| Path::new("."));
        Self::parse(&text, &path.display().to_string(), directory)
    }

    /// Reads the text of a file. The platform is looked for in the directory.
    ///
    /// # Errors
    /// Where it cannot be understood, and what to do.
    pub fn parse(text: &str, name: &str, directory: &Path) -> Result<Scenario> {
        let ends: Vec<usize> = text.match_indices('\n').map(|(offset, _)| offset).collect();
        let line_of = |offset: usize| 1 + ends.partition_point(|&end| end < offset);
        let raw: RawScenario = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(span.start));
            let found = error.span().and_then(|span| text.get(span)).unwrap_or_default();
            Error::input(format!("{name}:{line}: {}", in_one_line(error.message(), found)))
        })?;
        if raw.actor.is_empty() {
            return Err(Error::input(format!(
                "{name}:1: there is no actor; add an [[actor]] with name, host and do = [\"exec 1e9\"]"
            )));
        }
        let mut actors = Vec::new();
        for (index, raw) in raw.actor.into_iter().enumerate() {
            let line = line_of(raw.span().start);
            let raw = raw.into_inner();
            let actor = raw.name.map_or_else(|| format!("actor-{index}"), Spanned::into_inner);
            let mut operations = Vec::new();
            let mut lines = Vec::new();
            for (index, text) in raw.operations.iter().enumerate() {
                let line = line_of(text.span().start);
                let operation = Operation::parse(text.get_ref()).map_err(|what| {
                    Error::input(format!("{name}:{line}: actor {actor:?}, operation {index}: {what}"))
                })?;
                operations.push(operation);
                lines.push(line);
            }
            let date = |key: &str, given: Option<Spanned<f64>>| match given {
                Some(date) if !(0.0..f64::INFINITY).contains(date.get_ref()) => {
                    let line = line_of(date.span().start);
                    let what =
                        format!("{key} cannot be {}; give a date in seconds, 0 or more", date.get_ref());
                    Err(Error::input(format!("{name}:{line}: actor {actor:?}: {what}")))
                }
                given => Ok(given.map(Spanned::into_inner)),
            };
            let (start_at, kill_at) = (date("start_at", raw.start_at)?, date("kill_at", raw.kill_at)?);
            actors.push(ScenarioActor {
                name: actor,
                host: raw.host,
                start_at,
                kill_at,
                daemon: raw.daemon,
                restart: raw.restart,
                operations: operations.into(),
                line,
                lines: lines.into(),
            });
        }
        let mut config = Vec::new();
        for (key, value) in raw.config {
            let line = line_of(value.span().start);
            let first = config.len();
            flatten(key, value.into_inner(), &mut config);
            for (key, value) in &config[first..] {
                // Only to hear whether it is understood: the platform's own settings come before these.
                let known = Config::default().set(key, value);
                known.map_err(|error| Error::input(format!("{name}:{line}: {error}")))?;
            }
        }
        let platform_line = raw.platform.as_ref().map_or(1, |platform| line_of(platform.span().start));
        let platform = raw.platform.map(|platform| directory.join(platform.into_inner()));
        Ok(Scenario { name: name.to_owned(), platform, platform_line, config, actors })
    }
}

impl Scenario {
    /// Reads the platform file that it names; the built-in platform if it names none.
    ///
    /// # Errors
    /// Where the platform cannot be understood; which line names it, if it cannot be read.
    pub fn read_platform(&self) -> Result<Platform> {
        use simurgh_platform::Error::Unreadable;
        let Some(path) = &self.platform else { return Ok(Platform::builtin()) };
        Platform::from_file(path).map_err(|error| match error {
            Unreadable { file, problem, advice } if Path::new(&file) == path => {
                let place = format!("{}:{}", self.name, self.platform_line);
                Error::input(format!("{place}: platform {file:?}: {problem}; {advice}"))
            }
            error => error.into(),
        })
    }
}

/// What the TOML reader says, and what to do.
fn in_one_line(message: &str, found: &str) -> String {
    let what = message.lines().next().unwrap_or_default();
    if what == "duplicate key" {
        format!("the key {found:?} is there twice; keep one of them")
    } else if what.starts_with("invalid type") || what.starts_with("unknown field") {
        format!(
            "{what}; a scenario has platform = \"FILE\", [config], and for each actor [[actor]] with \
             name = \"NAME\", host = \"HOST\", do = [\"exec 1e9\"], and where wanted start_at = SECONDS, \
             kill_at = SECONDS, daemon = true, restart = true"
        )
    } else {
        format!("{what}; correct the TOML there or just before")
    }
}

/// Reads a text file, with errors that say what it is instead.
pub fn read_text(path: &Path) -> Result<String> {
    read_text_with(path, "a scenario, a trace or a schedule")
}

/// The same for a file with something else in it, which is said where it is empty.
pub fn read_text_with(path: &Path, content: &str) -> Result<String> {
    let name = path.display();
    let text = simurgh_files::read_text(path).map_err(|unreadable| match unreadable {
        Unreadable::NotText { line, .. } => {
            Error::input(format!("{name}:{line}: this is not UTF-8 text; save the file as UTF-8"))
        }
        Unreadable::Failed(error) => Error::file(path, error),
        other => Error::input(format!("{name}: {other}")),
    })?;
    if text.bytes().all(|byte| byte.is_ascii_whitespace()) {
        return Err(Error::input(format!("{name}: the file is empty; write {content} into it")));
    }
    Ok(text)
}

fn flatten(key: String, value: toml::Value, config: &mut Vec<(String, String)>) {
    match value {
        toml::Value::String(text) => config.push((key, text)),
        toml::Value::Table(table) => {
            for (inner, value) in table {
                flatten(format!("{key}/{inner}"), value, config);
            }
        }
        other => config.push((key, other.to_string())),
    }
}
