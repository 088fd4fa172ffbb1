//! Every page shows commands and what they print; here they are run, and must print just that.
//!
//! In a block that begins with ```` ```console ````, a line `$ cargo run --release --example NAME -- ARGUMENTS` is a
//! command, and the lines up to the next one are its output. A line `...` stands for any lines. A last line
//! `exit code N` tells the exit code where it is not 0.

use std::path::{Path, PathBuf};
use std::process::Command;

struct Shown {
    page: PathBuf,
    line: usize,
    command: String,
    output: Vec<String>,
}

fn pages() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = std::fs::read_dir(root).expect("the examples are there").flatten();
    let mut pages: Vec<_> =
        folders.map(|entry| entry.path().join("README.md")).filter(|page| page.exists()).collect();
    pages.sort();
    pages
}

fn shown(page: &Path) -> Vec<Shown> {
    let text = std::fs::read_to_string(page).expect("the page can be read");
    let mut all: Vec<Shown> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| inside) {
            let page = page.to_owned();
            all.push(Shown { page, line: number + 1, command: command.to_owned(), output: Vec::new() });
        } else if let Some(last) = all.last_mut().filter(|_| inside) {
            last.output.push(line.to_owned());
        }
    }
    all
}

/// The examples are built beside this test.
fn binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    test.parent().and_then(Path::parent).expect("target/PROFILE/deps").join("examples").join(name)
}

fn fits(expected: &[String], actual: &[String]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((first, rest)) if first == "..." => (0..=actual.len()).any(|skip| fits(rest, &actual[skip..])),
        Some((first, rest)) => {
            actual.split_first().is_some_and(|(line, others)| line == first && fits(rest, others))
        }
    }
}

#[test]
fn what_the_pages_show_is_what_the_programs_print() {
    let mut run = 0;
    let mut wrong = Vec::new();
    for shown in pages().iter().flat_map(|page| shown(page)) {
        let Some(rest) = shown.command.strip_prefix("cargo run --release --example ") else {
            panic!("{}:{}: not a command of an example", shown.page.display(), shown.line);
        };
        let mut words = rest.split_whitespace();
        let name = words.next().expect("a name");
        assert_eq!(words.next(), Some("--"), "{}:{}: `-- run` is missing", shown.page.display(), shown.line);
        // From the root, as the page says.
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let output =
            Command::new(binary(name)).args(words).current_dir(root).output().expect("the example runs");
        let mut actual: Vec<String> =
            String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        actual.extend(String::from_utf8_lossy(&output.stderr).lines().map(str::to_owned));
        if let Some(code) = output.status.code().filter(|&code| code != 0) {
            actual.push(format!("exit code {code}"));
        }
        run += 1;
        if !fits(&shown.output, &actual) {
            wrong.push(format!(
                "{}:{}: {}\n--- the page says\n{}\n--- it prints\n{}\n",
                shown.page.display(),
                shown.line,
                shown.command,
                shown.output.join("\n"),
                actual.join("\n")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(run > 0, "no page shows a command");
}

#[test]
fn every_example_has_a_page_that_runs_it() {
    for page in pages() {
        let name = page.parent().and_then(Path::file_name).expect("a folder").to_string_lossy().into_owned();
        let first =
            shown(&page).into_iter().next().unwrap_or_else(|| panic!("{} shows no command", page.display()));
        assert!(
            first.command.contains(&format!("--example {name} ")),
            "{}: shows {}",
            page.display(),
            first.command
        );
    }
}
