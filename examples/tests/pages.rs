//! The pages of the examples and the documentation show commands and what they print; here they are run, and must print
//! just that.
//!
//! In a block that begins with ```` ```console ````, a line `$ cargo run --release --example NAME -- ARGUMENTS` is a
//! command, and so is `$ cargo run --release -- ARGUMENTS`, or `$ simurgh ARGUMENTS`, for the `simurgh` command itself. The
//! lines up to the next one are its output. A line `...` stands for any lines, and `...` within a line for any text, such as how long a search
//! took. A last line `exit code N` tells the exit code where it is not 0.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

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

/// The pages of `docs`.
fn documents() -> Vec<PathBuf> {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let mut documents: Vec<_> = std::fs::read_dir(docs)
        .expect("there is documentation")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    documents.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    documents.sort();
    documents
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

/// `target/PROFILE`, where this test is built too.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    test.parent().and_then(Path::parent).expect("target/PROFILE/deps").to_owned()
}

/// The `simurgh` command: cargo builds the examples with this test, but not the programs of other packages.
fn simurgh() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let beside = built().join("simurgh");
        if beside.exists() {
            return beside;
        }
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--release", "-p", "simurgh-cli", "--bin", "simurgh"]);
        let status = cargo.current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("cargo runs");
        assert!(status.success(), "the simurgh command is built");
        built().parent().expect("target/PROFILE").join("release").join("simurgh")
    })
}

/// The program that a command of a page runs, and its arguments.
fn program(command: &str) -> Option<(PathBuf, Vec<&str>)> {
    if let Some(arguments) = command.strip_prefix("simurgh ") {
        return Some((simurgh().to_owned(), arguments.split_whitespace().collect()));
    }
    let mut words = command.strip_prefix("cargo run --release ")?.split_whitespace();
    let program = match words.next()? {
        "--example" => {
            let name = words.next()?;
            words.next().filter(|&word| word == "--")?;
            built().join("examples").join(name)
        }
        "--" => simurgh().to_owned(),
        _ => return None,
    };
    Some((program, words.collect()))
}

fn fits(expected: &[String], actual: &[String]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((first, rest)) if first == "..." => (0..=actual.len()).any(|skip| fits(rest, &actual[skip..])),
        Some((first, rest)) => {
            actual.split_first().is_some_and(|(line, others)| line_fits(first, line) && fits(rest, others))
        }
    }
}

fn line_fits(expected: &str, actual: &str) -> bool {
    let Some((before, after)) = expected.split_once("...") else { return expected == actual };
    let Some(rest) = actual.strip_prefix(before) else { return false };
    rest.char_indices().map(|(at, _)| &rest[at..]).chain([""]).any(|rest| line_fits(after, rest))
}

#[test]
fn dots_stand_for_what_is_not_told() {
    assert!(line_fits("took ... s, ...", "took 0.1 s, or so"));
    assert!(line_fits("took ...", "took "));
    assert!(!line_fits("took ... s", "took 0.1 ms, or so"));
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(fits(&lines("a\n...\nb ...\nc"), &lines("a\nx\ny\nb 1\nc")));
    assert!(!fits(&lines("a\n...\nc"), &lines("a\nx\nc\nd")));
}

#[test]
fn what_the_pages_show_is_what_the_programs_print() {
    let mut run = 0;
    let mut wrong = Vec::new();
    // Where the pages compile MPI programs to; cargo may build elsewhere.
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    std::fs::create_dir_all(target).expect("the folder is ours");
    for shown in pages().iter().chain(&documents()).flat_map(|page| shown(page)) {
        let Some((program, arguments)) = program(&shown.command) else {
            panic!("{}:{}: not a command that can be run here", shown.page.display(), shown.line);
        };
        // From the root, as the page says.
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let output = Command::new(&program).args(arguments).current_dir(root).output();
        let output = output.unwrap_or_else(|error| {
            panic!("{}: {error}; `cargo build --release --workspace --bins --examples` makes all that the pages run", program.display())
        });
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
    let manifest = include_str!("../Cargo.toml");
    for path in manifest
        .lines()
        .filter_map(|line| line.strip_prefix("path = \"")?.strip_suffix("/main.rs\""))
        .filter(|path| *path != "tests")
    {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(path).join("README.md");
        assert!(page.exists(), "{} is missing", page.display());
    }
    for page in pages() {
        let name = page.parent().and_then(Path::file_name).expect("a folder").to_string_lossy().into_owned();
        let first =
            shown(&page).into_iter().next().unwrap_or_else(|| panic!("{} shows no command", page.display()));
        let own = [format!("--example {name} "), format!("examples/{name}/")];
        assert!(
            own.iter().any(|own| first.command.contains(own)),
            "{}: shows {}",
            page.display(),
            first.command
        );
    }
}
