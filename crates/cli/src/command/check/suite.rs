//! `simurgh check -n 3 FOLDER`: every program in a folder, as a test suite.
//!
//! Each program is checked by a process of its own: whatever it does to that, the others are checked. Sources are compiled first, into
//! the cache, so that what is saved of them can be replayed later.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::ValueEnum;
use serde_json::Value;
use simurgh_actors::command_line::count;
use simurgh_actors::{Error, Exit, Result};
use simurgh_mpi::toolchain::cache::places;

use super::CheckArguments;
use super::ci::{self, Case};
use crate::command::mpi::is_compiled;
use crate::command::progress::Interrupt;
use crate::command::{print, print_answer};

/// So many seconds a program may take where nobody says.
const SECONDS: f64 = 60.0;

/// A program of the suite.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Member {
    /// One that can be checked as it is.
    Ready(PathBuf),
    /// A source, and the command of ours that compiles it.
    Source(PathBuf, &'static str),
}

impl Member {
    fn path(&self) -> &Path {
        match self {
            Member::Ready(path) | Member::Source(path, _) => path,
        }
    }
}

/// Checks every program in a folder.
pub(super) fn run(arguments: &CheckArguments) -> Result<Exit> {
    let folder = &arguments.file;
    let options = &arguments.options;
    if options.resume.is_some() {
        return Err(Error::input("--resume: a search of one program is kept; name the program"));
    }
    for path in [&options.saved.junit, &options.saved.sarif].into_iter().flatten() {
        crate::command::simulate::check_place(path)?;
    }
    for path in [&options.saved.save, &options.saved.html].into_iter().flatten() {
        std::fs::create_dir_all(path).map_err(|error| Error::file(path, error))?;
    }
    let members = members(folder)?;
    let compiled = members.iter().any(|member| !is_scenario(member.path()));
    if compiled && arguments.mpi.processes.is_none() {
        return Err(Error::input(format!(
            "{0}: say how many processes the MPI programs have, as in `simurgh check -n 3 {0}`",
            folder.display()
        )));
    }
    if members.is_empty() {
        return Err(Error::input(format!(
            "{}: there is nothing to check in it: no compiled MPI program, no source of one (.c, .cpp, .f90), no scenario (.toml)",
            folder.display()
        )));
    }
    let (interrupt, mut cases) = (Interrupt::listen(), Vec::new());
    let names: Vec<String> = members.iter().map(|member| name(member, folder)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (member, name) in members.iter().zip(&names) {
        let outcome = if interrupt.came() {
            Err("interrupted before it was checked".to_owned())
        } else {
            working(&format!("{name}..."));
            outcome(member, name, arguments)
        };
        let case = Case { name: name.clone(), outcome };
        working("");
        if !options.json {
            print(&format!("{name:<width$}  {}\n", in_a_line(&case)));
        }
        cases.push(case);
    }
    ci::write(&cases, &options.saved)?;
    print_answer(&if options.json { json(&cases) } else { summary(&cases) }, options.json);
    Ok(exit(&cases))
}

/// What is to be checked, by name.
fn members(folder: &Path) -> Result<Vec<Member>> {
    let entries = std::fs::read_dir(folder).map_err(|error| Error::file(folder, error))?;
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let mut members: Vec<Member> = Vec::new();
    for path in paths.iter().filter(|path| path.is_file()) {
        let extension = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
        let by = match extension {
            "c" => Some("cc"),
            "cpp" | "cxx" | "cc" | "C" => Some("cxx"),
            "f90" | "F90" | "f" | "F" | "f08" => Some("fc"),
            _ => None,
        };
        if let Some(by) = by {
            let program = path.with_extension("");
            let is_ready = is_mpi_program(&program) && is_newer(&program, path);
            if !is_ready && calls_mpi(path) {
                members.push(Member::Source(path.clone(), by));
            }
        } else if extension == "toml" && contains(path, b"[[actor]]") || is_mpi_program(path) {
            members.push(Member::Ready(path.clone()));
        }
    }
    // One that is older than its source is compiled anew instead.
    let sources: Vec<PathBuf> = members
        .iter()
        .filter_map(|member| match member {
            Member::Source(path, _) => Some(path.with_extension("")),
            Member::Ready(_) => None,
        })
        .collect();
    members.retain(|member| !matches!(member, Member::Ready(path) if sources.contains(path)));
    Ok(members)
}

fn is_scenario(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "toml")
}

fn contains(path: &Path, text: &[u8]) -> bool {
    std::fs::read(path).is_ok_and(|bytes| bytes.windows(text.len()).any(|window| window == text))
}

/// Whether it can be started, and begins MPI.
fn is_mpi_program(path: &Path) -> bool {
    let is_library = path.extension().is_some_and(|end| end == "o" || end == "so" || end == "a");
    let begins = [&b"MPI_Init"[..], b"mpi_init", b"MPI_Session_init"];
    !is_library && is_compiled(path) && begins.iter().any(|name| contains(path, name))
}

fn calls_mpi(source: &Path) -> bool {
    let begins = [&b"MPI_Init"[..], b"mpi_init", b"MPI_INIT", b"MPI_Session_init"];
    begins.iter().any(|name| contains(source, name))
}

fn is_newer(program: &Path, source: &Path) -> bool {
    let time = |path: &Path| path.metadata().and_then(|about| about.modified()).ok();
    time(program).zip(time(source)).is_some_and(|(program, source)| program >= source)
}

fn name(member: &Member, folder: &Path) -> String {
    let path = member.path();
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

/// Checks a program in a process of its own.
fn outcome(member: &Member, name: &str, arguments: &CheckArguments) -> std::result::Result<Value, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let program = match member {
        Member::Ready(path) => path.clone(),
        Member::Source(path, by) => compiled(&own, path, by)?,
    };
    let mut command = Command::new(own);
    command.arg("check").args(words(arguments, name, &program)).arg(&program);
    if !is_scenario(&program) && !arguments.arguments.is_empty() {
        command.arg("--").args(&arguments.arguments);
    }
    let output = command.stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr).trim_start_matches("simurgh: ").trim().to_owned();
    serde_json::from_slice(&output.stdout).map_err(|_| match said.is_empty() {
        true => format!("it ended without a word ({})", output.status),
        false => said,
    })
}

/// The options of a check that are those of each program.
fn words(arguments: &CheckArguments, name: &str, program: &Path) -> Vec<String> {
    let options = &arguments.options;
    let mut words = vec!["--json".to_owned()];
    let mut say = |option: &str, value: Option<String>| {
        words.extend(value.into_iter().flat_map(|value| [option.to_owned(), value]))
    };
    let named = |value: &dyn Fn() -> Option<clap::builder::PossibleValue>| {
        value().map(|value| value.get_name().to_owned())
    };
    say("--engine", named(&|| options.engine.to_possible_value()));
    say("--network", options.network.map(|network| network.to_string()));
    say("--deterministic", named(&|| options.deterministic?.to_possible_value()));
    say("--loss", Some(options.loss.to_string()));
    say("--duplication", Some(options.duplication.to_string()));
    say("--executions", options.executions.map(|most| most.to_string()));
    say("--depth", options.depth.map(|most| most.to_string()));
    say("--time", Some(options.time.unwrap_or(SECONDS).to_string()));
    say("--memory", options.memory.map(|most| most.to_string()));
    say("--stuck-after", Some(options.stuck_after.to_string()));
    say("--seed", Some(options.seed.to_string()));
    if !is_scenario(program) {
        say("-n", arguments.mpi.processes.map(|count| count.to_string()));
        say("--buffering", named(&|| arguments.mpi.buffering?.to_possible_value()));
    } else {
        say("--workers", Some(options.workers.to_string()));
    }
    let at = |folder: &Option<PathBuf>, end: &str| {
        folder.as_ref().map(|folder| {
            folder.join(format!("{}.{end}", name.replace(['/', '.'], "-"))).display().to_string()
        })
    };
    say("--save", at(&options.saved.save, "schedule"));
    say("--html", at(&options.saved.html, "html"));
    if options.all {
        words.push("--all".to_owned());
    }
    words
}

/// Compiles a source into the cache.
fn compiled(own: &Path, source: &Path, by: &str) -> std::result::Result<PathBuf, String> {
    let path = std::path::absolute(source).unwrap_or_else(|_| source.to_owned());
    // The same place every time, so that schedules find it.
    let place = simurgh_explore::fingerprint::fingerprint(&path.as_os_str().as_encoded_bytes());
    let made = |folder: PathBuf| {
        let folder = folder.join("suites").join(format!("{place:032x}"));
        std::fs::create_dir_all(&folder).ok().map(|()| folder)
    };
    let folder = places()
        .into_iter()
        .find_map(made)
        .ok_or("there is no place for what is compiled; SIMURGH_CACHE names one")?;
    let program = folder.join(path.file_stem().unwrap_or_default());
    let output = Command::new(own)
        .args([by, "-g", "-O1"])
        .arg(source)
        .arg("-o")
        .arg(&program)
        .arg("-lm")
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(program);
    }
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let error =
        said.lines().find(|line| line.contains("rror")).or_else(|| said.lines().next()).unwrap_or_default();
    Err(format!("it does not compile: {}", error.trim()))
}

/// What came of a program, in a line.
fn in_a_line(case: &Case) -> String {
    let object = match &case.outcome {
        Ok(object) => object,
        Err(why) => return format!("cannot run: {}", why.lines().next().unwrap_or_default()),
    };
    let searches = object["searches"].as_array();
    let sum = |key: &str| match searches {
        Some(searches) => searches.iter().filter_map(|search| search[key].as_u64()).sum(),
        None => object[key].as_u64().unwrap_or(0),
    };
    let (executions, seconds) = (sum("executions"), case.seconds());
    let counts = format!("{}, {seconds:.3} s", count(executions, "execution"));
    match case.verdict() {
        "violated" | "deadlock" => {
            let what = case.findings().first().map_or("", |found| found["what"].as_str().unwrap_or_default());
            let finding = case.findings().first().map(|found| &found["finding"]);
            let kind = finding.and_then(|finding| finding["kind"].as_str()).unwrap_or_default();
            let more = match case.findings().len() {
                0 | 1 => String::new(),
                count => format!(" (and {} more)", count - 1),
            };
            let of = object["buffering"]
                .as_str()
                .map_or_else(String::new, |buffering| format!(" (--buffering {buffering})"));
            let what = what.lines().next().unwrap_or_default();
            let what = what.strip_prefix("deadlock: ").unwrap_or(what);
            let what = what.strip_suffix(&format!(" [{kind}]")).unwrap_or(what);
            format!("{kind}: {what}{more}{of}")
        }
        "not-exhausted" => {
            let why = object["stopped"].as_str().unwrap_or("not all was explored");
            format!("not exhausted: {why}; {counts}")
        }
        verdict => {
            let is_cut = |search: &Value| !search["unwatched"].is_null();
            let is_watched = !searches.is_some_and(|searches| searches.iter().any(is_cut));
            format!("{verdict}: {counts}{}", if is_watched { "" } else { ", not all watched" })
        }
    }
}

/// How many of each verdict, and in which time.
fn summary(cases: &[Case]) -> String {
    let count = |verdicts: &[&str]| cases.iter().filter(|case| verdicts.contains(&case.verdict())).count();
    let rows = [
        ("hold", count(&["holds"])),
        ("violated", count(&["violated", "deadlock"])),
        ("not exhausted", count(&["not-exhausted"])),
        ("cannot run", count(&["cannot-run"])),
    ];
    let mut text = format!("\n{:<14}{:>5}\n", "programs", cases.len());
    for (name, count) in rows.iter().filter(|(_, count)| *count > 0) {
        text += &format!("{:<14}{count:>5}\n", format!("  {name}"));
    }
    let seconds: f64 = cases.iter().map(Case::seconds).sum();
    text + &format!("{:<14}{seconds:>9.3} s\n", "time")
}

fn json(cases: &[Case]) -> String {
    let one = |case: &Case| match &case.outcome {
        Ok(object) => {
            let mut object = object.clone();
            object["program"] = case.name.clone().into();
            object
        }
        Err(why) => serde_json::json!({ "program": case.name, "verdict": "cannot-run", "error": why }),
    };
    serde_json::json!({ "programs": cases.iter().map(one).collect::<Vec<_>>() }).to_string() + "\n"
}

/// What is worst: something is violated, could not be checked, is not exhausted.
fn exit(cases: &[Case]) -> Exit {
    let any = |verdicts: &[&str]| cases.iter().any(|case| verdicts.contains(&case.verdict()));
    if any(&["violated", "deadlock"]) {
        Exit::Failed
    } else if any(&["cannot-run"]) {
        Exit::CannotRun
    } else if any(&["not-exhausted"]) {
        Exit::NotExhausted
    } else {
        Exit::Fine
    }
}

/// Says which program is checked now, where somebody looks.
fn working(text: &str) {
    let mut error = std::io::stderr();
    if error.is_terminal() {
        let _ = write!(error, "\r\x1b[K{text}");
        let _ = error.flush();
    }
}
