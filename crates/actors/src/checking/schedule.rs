//! The file of a schedule: what was checked, and the steps that show what was found, one a line.
//!
//! It is TOML, to be read by people, kept beside a test, and sent to others:
//!
//! ```toml
//! simurgh-schedule = 1                    # the version of the format
//! program = "fan_in"                      # or: scenario = "FILE.toml"
//! arguments = ["check", "--bug"]          # what the program was called with; none for a scenario
//! network = "mailbox"                     # what may arrive before what
//! engine = "receives"                     # what found it
//! violation = "receiver failed: oh"       # what it shows
//! differs-in = "receives"                 # for `--deterministic`: the steps differ in what is received...
//! differs-from = ["0", "1"]               # ...from these
//! steps = [
//!     { step = "2", actor = "sender-1", does = 'sends m1 to "in"', at = "examples/fan_in/main.rs:31" }, # 1
//! ]
//! ```
//!
//! Only the `step`s are followed: `2` is the actor of that number, `2/1` with the second of its choices, `2/-` with a
//! timeout, `2/lost` and `2/twice` with what the network makes of its message, `net/2.0` the arrival of the first message of
//! that actor. What a step `does` is compared when it is replayed, if it is there, so that a program that has changed is found
//! out. Where it did it (`at`) may change freely.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use simurgh_explore::determinism::Compared;
use simurgh_explore::{Network, Step};
use simurgh_trace::counterexample::told::{Counterexample, Taken};
use toml::Spanned;

use super::Origin;
use crate::error::{Error, Result};
use crate::scenario::file::read_text;

/// The version of the format that is written and read here.
const VERSION: i64 = 1;

/// A schedule, and what it is of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// What was checked.
    pub origin: Origin,
    /// What may arrive before what.
    pub network: Network,
    /// What found it.
    pub engine: String,
    /// What it shows, in one line.
    pub violation: Option<String>,
    /// What it differs from, if that is what is wrong.
    pub differs: Option<Differs>,
    /// The steps.
    pub steps: Vec<Planned>,
}

/// Another execution, and in what it is not the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Differs {
    /// In what.
    pub what: Compared,
    /// The steps of the other one.
    pub from: Vec<Step>,
}

/// A step that is to be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Planned {
    /// Which one.
    pub step: Step,
    /// The name of who took it when it was saved.
    pub actor: Option<String>,
    /// What it did then.
    pub does: Option<String>,
    /// Where in the program.
    pub at: Option<String>,
}

impl Planned {
    /// What was told of a step.
    fn of(taken: &Taken, told: &Counterexample) -> Self {
        let name = |actor: u32| told.actors.get(actor as usize).cloned();
        Self {
            step: taken.step,
            actor: taken.actor.and_then(name),
            does: Some(taken.does.clone()),
            at: taken.place.map(|place| place.to_string()),
        }
    }

    /// Who did what, in words.
    pub fn in_words(&self) -> String {
        let actor = self.actor.as_ref().map_or_else(String::new, |actor| format!("{actor} "));
        format!("{actor}{}", self.does.as_deref().unwrap_or("did something"))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Raw {
    #[serde(rename = "simurgh-schedule")]
    version: Option<Spanned<i64>>,
    scenario: Option<String>,
    program: Option<Spanned<String>>,
    #[serde(default)]
    arguments: Vec<String>,
    network: Option<Spanned<String>>,
    engine: Option<String>,
    violation: Option<String>,
    differs_in: Option<Spanned<String>>,
    differs_from: Option<Vec<Spanned<String>>>,
    steps: Option<Vec<RawStep>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawStep {
    step: Spanned<String>,
    actor: Option<String>,
    does: Option<String>,
    at: Option<String>,
}

/// What executions are compared by, as it is written.
fn compared(text: &str) -> Option<Compared> {
    match text {
        "sends" => Some(Compared::Sends),
        "receives" => Some(Compared::Receives),
        "both" => Some(Compared::Both),
        _ => None,
    }
}

impl Schedule {
    /// Reads a file.
    ///
    /// # Errors
    /// Where it cannot be read or understood, and what to do.
    pub fn from_file(path: &Path) -> Result<Schedule> {
        Self::parse(&read_text(path)?, &path.display().to_string())
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// Where it cannot be understood, and what to do.
    pub(crate) fn parse(text: &str, name: &str) -> Result<Schedule> {
        let line = |offset: usize| 1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count();
        let wrong =
            |offset: usize, what: String| Err(Error::input(format!("{name}:{}: {what}", line(offset))));
        let raw: Raw = match toml::from_str(text) {
            Ok(raw) => raw,
            Err(error) => {
                let what = error.message().lines().next().unwrap_or_default();
                let offset = error.span().map_or(0, |span| span.start);
                return wrong(offset, format!("{what}; a schedule is written by `check --save FILE`"));
            }
        };
        let Some(version) = raw.version else {
            let what = format!(
                "this is not a schedule: there is no `simurgh-schedule = {VERSION}`; `check --save FILE` writes one"
            );
            return wrong(0, what);
        };
        if *version.get_ref() != VERSION {
            let what = format!(
                "this is version {} of the format, and version {VERSION} is understood; save it anew with \
                 `check --save FILE`",
                version.get_ref()
            );
            return wrong(version.span().start, what);
        }
        let origin = match (raw.scenario, raw.program) {
            (Some(file), None) => Origin::Scenario(file.into()),
            (None, Some(program)) => Origin::Program { name: program.into_inner(), arguments: raw.arguments },
            (None, None) => {
                let what =
                    "what is it a schedule of? add scenario = \"FILE\" or program = \"NAME\" and arguments";
                return wrong(0, what.to_owned());
            }
            (Some(_), Some(program)) => {
                let what = "scenario and program are both there; keep the one it is a schedule of";
                return wrong(program.span().start, what.to_owned());
            }
        };
        let network = match raw.network {
            None => Network::default(),
            Some(network) => match network.get_ref().parse() {
                Ok(network) => network,
                Err(what) => return wrong(network.span().start, what),
            },
        };
        let differs = match raw.differs_in {
            None => None,
            Some(what) => match compared(what.get_ref()) {
                Some(what) => Some(Differs { what, from: Vec::new() }),
                None => {
                    let unknown = format!("{:?} is not what executions can be compared by", what.get_ref());
                    return wrong(what.span().start, format!("{unknown}: sends, receives or both"));
                }
            },
        };
        let mut from = Vec::new();
        for step in raw.differs_from.unwrap_or_default() {
            match step.get_ref().parse() {
                Ok(step) => from.push(step),
                Err(what) => return wrong(step.span().start, what),
            }
        }
        let differs = differs.map(|differs| Differs { from, ..differs });
        let Some(raw_steps) = raw.steps else {
            return wrong(0, "there are no steps; add steps = [{ step = \"0\" }, ...]".to_owned());
        };
        let mut steps = Vec::with_capacity(raw_steps.len());
        for step in raw_steps {
            let RawStep { step, actor, does, at } = step;
            match step.get_ref().parse() {
                Ok(step) => steps.push(Planned { step, actor, does, at }),
                Err(what) => return wrong(step.span().start, what),
            }
        }
        let engine = raw.engine.unwrap_or_default();
        Ok(Schedule { origin, network, engine, violation: raw.violation, differs, steps })
    }

    /// The schedule of what was told.
    pub(crate) fn of(told: &Counterexample, origin: Origin, engine: String) -> Self {
        let steps = told.steps.iter().map(|taken| Planned::of(taken, told)).collect();
        let differs = told.difference.as_ref().and_then(|difference| {
            Some(Differs { what: compared(difference.what)?, from: difference.schedule.clone() })
        });
        Schedule { origin, network: told.network, engine, violation: told.what.clone(), differs, steps }
    }

    /// The text of a file.
    pub fn write(&self) -> String {
        let mut out = String::new();
        let program = match &self.origin {
            Origin::Scenario(_) => "simurgh".to_owned(),
            Origin::Program { name, .. } => base(name),
        };
        let _ = writeln!(
            out,
            "# What `{}` found. To see it again, step by step:",
            plain(&self.origin.to_string())
        );
        let _ = writeln!(out, "#   {} replay THIS_FILE", plain(&program));
        let _ = writeln!(out, "simurgh-schedule = {VERSION}");
        match &self.origin {
            Origin::Scenario(path) => {
                let _ = writeln!(out, "scenario = {}", quoted(&path.display().to_string()));
            }
            Origin::Program { name, arguments } => {
                let _ = writeln!(out, "program = {}", quoted(&base(name)));
                let words: Vec<_> = arguments.iter().map(|word| quoted(word)).collect();
                let _ = writeln!(out, "arguments = [{}]", words.join(", "));
            }
        }
        let _ = writeln!(out, "network = {}", quoted(&self.network.to_string()));
        let _ = writeln!(out, "engine = {}", quoted(&self.engine));
        if let Some(violation) = &self.violation {
            let _ = writeln!(out, "violation = {}", quoted(violation));
        }
        if let Some(Differs { what, from }) = &self.differs {
            let from: Vec<_> = from.iter().map(|step| quoted(&step.to_string())).collect();
            let what = format!("{what:?}").to_lowercase();
            let _ = writeln!(out, "differs-in = \"{what}\"\ndiffers-from = [{}]", from.join(", "));
        }
        let _ = writeln!(out, "steps = [");
        self.write_steps(&mut out);
        out.push_str("]\n");
        out
    }

    /// One step a line, in columns as far as they are narrow.
    fn write_steps(&self, out: &mut String) {
        const COLUMN_MAX: usize = 60;
        let cells = |planned: &Planned| {
            let cell = |key, value: &Option<String>| {
                value.as_ref().map_or_else(String::new, |value| format!("{key} = {}", quoted(value)))
            };
            let step = format!("step = {}", quoted(&planned.step.to_string()));
            [step, cell("actor", &planned.actor), cell("does", &planned.does), cell("at", &planned.at)]
        };
        let rows: Vec<[String; 4]> = self.steps.iter().map(cells).collect();
        let width = |column: usize| {
            let widths =
                rows.iter().map(|row| row[column].chars().count()).filter(|&width| width <= COLUMN_MAX);
            widths.max().unwrap_or(0)
        };
        let widths = [width(0), width(1), width(2), width(3)];
        for (index, row) in rows.iter().enumerate() {
            let mut line = String::new();
            let last = row.iter().rposition(|cell| !cell.is_empty()).unwrap_or(0);
            for (column, cell) in row.iter().enumerate() {
                let comma = if cell.is_empty() || column >= last { "" } else { "," };
                // A comma follows all but the last column, and a space follows all.
                let room = if widths[column] == 0 { 0 } else { widths[column] + 1 + usize::from(column < 3) };
                let fill = room.saturating_sub(cell.chars().count() + comma.len());
                let _ = write!(
                    line,
                    "{cell}{comma}{}",
                    " ".repeat(if cell.is_empty() { fill } else { fill.max(1) })
                );
            }
            let _ = writeln!(out, "    {{ {}}}, # {}", line, index + 1);
        }
    }
}

/// Where the scenario of a schedule is: beside the present directory, or beside the schedule.
pub fn find_scenario(scenario: &Path, schedule: &Path) -> PathBuf {
    let beside = schedule.parent().map(|folder| folder.join(scenario));
    match beside {
        Some(beside) if !scenario.exists() && beside.exists() => beside,
        _ => scenario.to_owned(),
    }
}

/// The name of a program without its folders.
pub fn base(program: &str) -> String {
    Path::new(program)
        .file_stem()
        .map_or_else(|| program.to_owned(), |stem| stem.to_string_lossy().into_owned())
}

/// Text for a comment.
fn plain(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// A string of TOML, in one line.
fn quoted(text: &str) -> String {
    let needs_escapes = text.chars().any(|character| character.is_control());
    let has = |character| text.contains(character);
    if !needs_escapes && (has('"') || has('\\')) && !has('\'') {
        return format!("'{text}'");
    }
    let mut out = String::from('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            character if character.is_control() => {
                let _ = write!(out, "\\u{:04x}", character as u32);
            }
            character => out.push(character),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOOD: &str = "simurgh-schedule = 1\nprogram = \"fan_in\"\narguments = [\"check\", \"--bug\"]\n\
                        network = \"pairwise\"\nengine = \"receives\"\nviolation = \"oh\"\n\
                        steps = [\n    { step = \"0\" }, # 1\n    { step = \"2/-\", actor = \"a\", does = \"b\", at = \"c:1\" },\n    \
                        { step = \"net/1.0\" },\n]\n";

    #[test]
    fn a_good_file_is_understood() {
        let schedule = Schedule::parse(GOOD, "good.toml").unwrap();
        let arguments = vec!["check".to_owned(), "--bug".to_owned()];
        assert_eq!(schedule.origin, Origin::Program { name: "fan_in".to_owned(), arguments });
        assert_eq!(schedule.network, Network::Pairwise);
        let steps: Vec<_> = schedule.steps.iter().map(|planned| planned.step.to_string()).collect();
        assert_eq!(steps, ["0", "2/-", "net/1.0"]);
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told_with_its_line() {
        let cases = [
            (
                "= 1",
                "= 2",
                "1: this is version 2 of the format, and version 1 is understood; save it anew with `check --save FILE`",
            ),
            (
                "simurgh-schedule = 1\n",
                "",
                "1: this is not a schedule: there is no `simurgh-schedule = 1`; `check --save FILE` writes one",
            ),
            (
                "program = \"fan_in\"\n",
                "",
                "1: what is it a schedule of? add scenario = \"FILE\" or program = \"NAME\" and arguments",
            ),
            (
                "network",
                "scenario = \"x\"\nnetwork",
                "2: scenario and program are both there; keep the one it is a schedule of",
            ),
            ("pairwise", "postal", "4: \"postal\" is not a network: mailbox, pairwise or unordered"),
            (
                "\"2/-\"",
                "\"2/\"",
                "9: \"2/\" is not a step: it is the number of an actor, such as 2; with its choice, 2/1, 2/- for a timeout, 2/lost or 2/twice for what becomes of a message; or the arrival of a message, net/2.0",
            ),
            (
                "engine",
                "engin",
                "5: unknown field `engin`, expected one of `simurgh-schedule`, `scenario`, `program`, `arguments`, `network`, `engine`, `violation`, `differs-in`, `differs-from`, `steps`; a schedule is written by `check --save FILE`",
            ),
            (
                "\"0\"",
                "0",
                "8: invalid type: integer `0`, expected a string; a schedule is written by `check --save FILE`",
            ),
        ];
        for (good, bad, expected) in cases {
            let error = Schedule::parse(&GOOD.replacen(good, bad, 1), "bad.toml").unwrap_err();
            assert_eq!(error.to_string(), format!("bad.toml:{expected}"));
        }
        let steps = GOOD.find("steps").unwrap();
        let error = Schedule::parse(&GOOD[..steps], "bad.toml").unwrap_err();
        assert_eq!(error.to_string(), "bad.toml:1: there are no steps; add steps = [{ step = \"0\" }, ...]");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn a_file_reads_back_as_it_was_written(
            name in "[a-z]{1,8}",
            arguments in prop::collection::vec(any::<String>(), 0..4),
            violation in prop::option::of(any::<String>()),
            steps in prop::collection::vec(("[1-9][0-9]?|[0-9]/[0-9]|[0-9]/-|[0-9]/lost|[0-9]/twice|net/[0-9][.][0-9]", prop::option::of(any::<String>())), 0..5),
            is_scenario: bool,
        ) {
            let planned = |(step, does): (String, Option<String>)| Planned {
                step: step.parse().expect("it is a step"),
                actor: does.clone().filter(|does| does.len() % 2 == 0),
                at: does.clone().filter(|does| does.len() % 3 == 0),
                does,
            };
            let origin = if is_scenario {
                Origin::Scenario(name.into())
            } else {
                Origin::Program { name, arguments }
            };
            let differs = violation.as_ref().filter(|what| what.len() % 2 == 0).map(|_| Differs {
                what: Compared::Receives,
                from: steps.iter().map(|(step, _)| step.parse().expect("it is a step")).collect(),
            });
            let schedule = Schedule {
                differs,
                origin,
                network: Network::Unordered,
                engine: "optimal".to_owned(),
                violation,
                steps: steps.into_iter().map(planned).collect(),
            };
            let text = schedule.write();
            prop_assert_eq!(Schedule::parse(&text, "x").map_err(|error| format!("{error}\n{text}")), Ok(schedule));
        }

        #[test]
        fn no_text_is_too_bad(place in 0..GOOD.len(), length in 0..12usize, instead in "\\PC{0,6}|[\\]\\[\"=#/0-9\n]{0,6}") {
            let mut text: Vec<char> = GOOD.chars().collect();
            text.splice(place..(place + length).min(text.len()), instead.chars());
            let text: String = text.into_iter().collect();
            if let Err(error) = Schedule::parse(&text, "bad.toml") {
                let told = error.to_string();
                let line = told.strip_prefix("bad.toml:").and_then(|rest| rest.split(':').next()).map(str::parse::<usize>);
                let lines = text.lines().count();
                prop_assert!(matches!(line, Some(Ok(line)) if line >= 1 && line <= lines + 1), "{}", told);
                prop_assert_eq!(told.lines().count(), 1, "{}", told);
            }
        }

        #[test]
        fn any_text_is_read_or_refused_in_one_line(text: String) {
            if let Err(error) = Schedule::parse(&text, "bad.toml") {
                prop_assert_eq!(error.to_string().lines().count(), 1, "{}", error);
            }
        }
    }
}
