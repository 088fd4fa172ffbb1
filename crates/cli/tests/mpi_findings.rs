//! What `check` finds in MPI programs: small programs with one mistake each, and their correct twins (tests/findings).

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::command::Folder;

/// A program with a mistake.
struct Case {
    name: String,
    processes: String,
    kind: String,
    /// The lines that may be told.
    lines: Vec<usize>,
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/findings")
}

/// The cases of a file: `// 3: kind` above `CASE(name) {`, up to a line with a brace alone.
fn cases(text: &str) -> Vec<Case> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let Some(name) = line.strip_prefix("CASE(").and_then(|rest| rest.split(')').next()) else { continue };
        let (processes, kind) =
            lines[number - 1].trim_start_matches("// ").split_once(": ").expect("it is said above");
        let body = (number..lines.len()).take_while(|line| lines[*line] != "}");
        let marked = body.filter(|line| lines[*line].contains("//!")).map(|line| line + 1).collect();
        found.push(Case {
            name: name.to_owned(),
            processes: processes.to_owned(),
            kind: kind.to_owned(),
            lines: marked,
        });
    }
    assert!(found.len() > 3, "there are cases");
    found
}

fn check(file: &str) {
    let folder = Folder::new(&format!("mpi-findings-{file}"));
    let (sources, source) = (sources(), sources().join(format!("{file}.c")));
    let (include, path) = (sources.display().to_string(), source.display().to_string());
    let compiled = folder.simurgh(&["cc", "-g", "-O1", "-I", &include, &path, "-o", file]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
    let program = format!("./{file}");
    let mut wrong = Vec::new();
    for case in cases(&std::fs::read_to_string(&source).unwrap()) {
        let words = ["check", "-n", &case.processes, &program, "--", &case.name];
        let ran = folder.simurgh(&words);
        if ran.code != 0 {
            wrong.push(format!("{} is right: {}", case.name, ran.told()));
        }
        let words = [
            "check",
            "--json",
            "-n",
            &case.processes,
            "--save",
            "found",
            &program,
            "--",
            &case.name,
            "wrong",
        ];
        let ran = folder.simurgh(&words);
        let is_told = |output: &str| match case.kind.as_str() {
            "deadlock" => output.contains("deadlock"),
            "assertion" => output.contains("aborted"),
            kind => {
                let at = |line: &usize| output.contains(&format!("{file}.c:{line} "));
                output.contains(&format!("[{kind}]")) && (case.lines.is_empty() || case.lines.iter().any(at))
            }
        };
        if ran.code != 1 || !is_told(&ran.stdout) {
            wrong.push(format!("{}: not {}: {}", case.name, case.kind, ran.told()));
            continue;
        }
        let report: Value = serde_json::from_str(&ran.stdout).expect("a report");
        let found = &report["counterexample"]["finding"];
        let is_line = |line: &usize| found["line"].as_u64() == Some(*line as u64);
        if !matches!(case.kind.as_str(), "deadlock" | "assertion")
            && !case.lines.is_empty()
            && !case.lines.iter().any(is_line)
        {
            wrong.push(format!("{}: for machines it is not at one of {:?}: {found}", case.name, case.lines));
        }
        let replayed = folder.simurgh(&["replay", "found"]);
        if replayed.code != 1 || !is_told(&replayed.stdout) {
            wrong.push(format!("{}: replayed: {}", case.name, replayed.told()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn messages() {
    check("messages");
}

#[test]
fn collectives() {
    check("collectives");
}

#[test]
fn buffers() {
    check("buffers");
}

#[test]
fn arguments() {
    check("arguments");
}

#[test]
fn ownership() {
    check("ownership");
}

#[test]
fn assertions() {
    check("assertions");
}

#[test]
fn windows() {
    check("windows");
}

#[test]
fn resources() {
    check("resources");
}

#[test]
fn orders() {
    check("orders");
}

#[test]
fn files() {
    check("files");
}

#[test]
fn answers() {
    check("answers");
}

#[test]
fn library() {
    check("library");
}

#[test]
fn lasting() {
    check("lasting");
}

#[test]
fn alike() {
    check("alike");
}
