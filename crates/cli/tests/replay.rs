//! What `check --save` writes, `replay` executes again; and what cannot be followed is told.

use std::path::{Path, PathBuf};

use crate::support::command::Folder;

/// `early` waits for ever if `first` has lost patience.
const RACE: &str = r#"
[[actor]]
name = "first"
do = ["recv a", "recv b timeout 1"]

[[actor]]
name = "early"
do = ["dsend a 8", "send b 8"]
"#;

/// All three wait for the next, and nobody sends.
const RING: &str = r#"
[[actor]]
name = "x"
do = ["recv y", "send x 1"]
[[actor]]
name = "y"
do = ["recv z", "send y 1"]
[[actor]]
name = "z"
do = ["dsend w 1", "recv x", "send z 1"]
"#;

fn text(folder: &Folder, file: &str) -> String {
    String::from_utf8(folder.read(file)).expect("plain text")
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn what_is_saved_happens_again() {
    let folder = Folder::new("replay-again");
    folder.write("race.toml", RACE);
    let ran = folder.simurgh(&["check", "race.toml", "--save", "bug.toml"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    assert!(ran.stdout.contains("simurgh replay bug.toml` shows it step by step"), "{}", ran.told());
    let ran = folder.simurgh(&["replay", "bug.toml"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    assert!(ran.stdout.contains("times out at \"b\""), "{}", ran.told());
    assert!(ran.stdout.contains("it happens again: deadlock: early waits for ever"), "{}", ran.told());
    let ran = folder.simurgh(&["replay", "bug.toml", "--json"]);
    let told = json(&ran.stdout);
    assert_eq!((ran.code, &told["reproduced"]), (1, &true.into()), "{}", ran.told());
    // Before its last step, nothing has gone wrong.
    let last = told["steps"].as_array().expect("steps").len();
    let ran = folder.simurgh(&["replay", "bug.toml", "--until", &(last - 1).to_string()]);
    assert_eq!(ran.code, 0, "{}", ran.told());
    assert!(ran.stdout.contains(&format!("after step {}:", last - 1)), "{}", ran.told());
    assert!(ran.stdout.contains("nothing has gone wrong until here; 1 step left"), "{}", ran.told());
}

#[test]
fn without_a_file_the_reader_is_told_how_to_keep_it() {
    let folder = Folder::new("replay-hint");
    folder.write("ring.toml", RING);
    let ran = folder.simurgh(&["check", "ring.toml"]);
    assert!(ran.stdout.contains("to see it step by step: --save FILE, and then `"), "{}", ran.told());
    assert!(ran.stdout.contains("simurgh replay FILE`"), "{}", ran.told());
    folder.write("fine.toml", "[[actor]]\nname = \"a\"\ndo = [\"dsend m 1\"]\n");
    let ran = folder.simurgh(&["check", "fine.toml", "--save", "none.toml"]);
    assert!(ran.code == 0 && !ran.stdout.contains("replay"), "{}", ran.told());
    assert!(!folder.path().join("none.toml").exists(), "there is nothing to write");
}

#[test]
fn a_deadlock_tells_who_waits_for_what() {
    let folder = Folder::new("replay-deadlock");
    folder.write("ring.toml", RING);
    let ran = folder.simurgh(&["check", "ring.toml", "--save", "bug.toml"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    let ran = folder.simurgh(&["replay", "bug.toml"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    assert!(ran.stdout.contains("it happens again: deadlock: x, y and z wait for ever"), "{}", ran.told());
    for (actor, mailbox, line) in [("x", "y", 4), ("y", "z", 7), ("z", "x", 10)] {
        let line =
            format!("  {actor}  waits to receive from \"{mailbox}\" (ring.toml:{line}), which holds nothing");
        assert!(ran.stdout.contains(&line), "{line}: {}", ran.told());
    }
}

#[test]
fn all_that_is_found_is_saved() {
    let folder = Folder::new("replay-all");
    folder.write(
        "two.toml",
        "[[actor]]\nname = \"a\"\ndo = [\"recv m timeout 1\"]\n[[actor]]\nname = \"b\"\ndo = [\"recv n timeout 1\"]\n\
         [[actor]]\nname = \"c\"\ndo = [\"send m 1\"]\n[[actor]]\nname = \"d\"\ndo = [\"send n 1\"]\n",
    );
    let ran = folder.simurgh(&["check", "two.toml", "--all", "--save", "bug.toml", "--json"]);
    let found = json(&ran.stdout)["counterexamples"].as_array().expect("a list").len();
    assert!(found >= 2, "{}", ran.told());
    let mut shown = Vec::new();
    for number in 1..=found {
        let file = if number == 1 { "bug.toml".to_owned() } else { format!("bug-{number}.toml") };
        let ran = folder.simurgh(&["replay", &file, "--json"]);
        let told = json(&ran.stdout);
        assert_eq!((ran.code, &told["reproduced"]), (1, &true.into()), "{file}: {}", ran.told());
        shown.push(told["what"].to_string());
    }
    shown.sort();
    shown.dedup();
    assert_eq!(shown.len(), found, "{shown:?}");
    assert!(!folder.path().join(format!("bug-{}.toml", found + 1)).exists());
}

#[test]
fn a_schedule_finds_its_scenario_beside_itself() {
    let folder = Folder::new("replay-beside");
    std::fs::create_dir_all(folder.path().join("deep")).expect("a folder");
    folder.write("deep/race.toml", RACE);
    let ran = folder.simurgh(&["check", "deep/race.toml", "--save", "deep/bug.toml"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    let bug = text(&folder, "deep/bug.toml");
    folder.write("deep/bug.toml", &bug.replace("\"deep/race.toml\"", "\"race.toml\""));
    let ran = folder.simurgh(&["replay", "deep/bug.toml"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
}

#[test]
fn what_cannot_be_followed_is_told() {
    let folder = Folder::new("replay-errors");
    folder.write("race.toml", RACE);
    folder.simurgh(&["check", "race.toml", "--save", "bug.toml"]);
    let bug = text(&folder, "bug.toml");
    let steps = bug.matches("{ step").count();

    let refused = |arguments: &[&str], expected: &str| {
        let ran = folder.simurgh(arguments);
        assert!(ran.code == 2 && ran.stderr.contains(expected), "{expected}: {}", ran.told());
        assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.told());
    };
    refused(&["replay", "nothing.toml"], "nothing.toml: ");
    refused(&["replay", "race.toml"], "a schedule is written by `check --save FILE`");
    refused(&["replay", "bug.toml", "--until", "99"], &format!("--until 99: the schedule has {steps} steps"));
    refused(
        &["replay", "bug.toml", "--break-at", "0"],
        &format!("--break-at 0: the schedule has {steps} steps"),
    );
    refused(&["check", "race.toml", "--save", "no/folder/bug.toml"], "no/folder/bug.toml");
    if Path::new("/proc/self/status").exists() {
        refused(&["replay", "bug.toml", "--break-at", "1"], "none is there: start `gdb --args ");
    }

    folder.write(
        "program.toml",
        &bug.replace("scenario = \"race.toml\"", "program = \"other\"\narguments = []"),
    );
    refused(
        &["replay", "program.toml"],
        "this is a schedule of the program \"other\"; run `other replay program.toml`",
    );

    // The program changes: `early` does something else first.
    folder.write("race.toml", &RACE.replace("dsend a 8", "dsend c 8"));
    refused(&["replay", "bug.toml"], "is another now: early: sends m1 to \"c\"");
    // It does not do as much.
    folder.write("race.toml", &RACE.replace("\"dsend a 8\", ", ""));
    refused(&["replay", "bug.toml"], "is another now: early: sends m1 to \"b\"");
    // There is nobody to take the step.
    folder.write("race.toml", &RACE[..RACE.find("[[actor]]\nname = \"early\"").expect("it is there")]);
    refused(
        &["replay", "bug.toml"],
        "is not possible now: there is no actor 1; who could go on: first; the program has changed",
    );
}

#[test]
fn what_does_not_go_wrong_any_more_is_told() {
    let folder = Folder::new("replay-mended");
    folder.write("race.toml", RACE);
    folder.simurgh(&["check", "race.toml", "--save", "bug.toml"]);
    // Without its last step it leads to nothing bad.
    let bug = text(&folder, "bug.toml");
    let steps: Vec<&str> = bug.lines().filter(|line| line.contains("{ step")).collect();
    let shorter = bug.replace(&format!("{}\n", steps.last().expect("steps")), "");
    folder.write("shorter.toml", &shorter);
    let ran = folder.simurgh(&["replay", "shorter.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.told());
    assert!(
        ran.stdout.contains("nothing went wrong; the schedule was saved for: deadlock: early waits for ever"),
        "{}",
        ran.told()
    );
}

#[test]
fn what_is_found_is_drawn() {
    let folder = Folder::new("replay-html");
    folder.write("ring.toml", RING);
    let ran = folder.simurgh(&["check", "ring.toml", "--html", "bug.html", "--save", "bug.toml"]);
    assert!(ran.stdout.contains("wrote bug.html: open it in a browser"), "{}", ran.told());
    let page = text(&folder, "bug.html");
    assert!(page.starts_with("<!DOCTYPE html>"), "{page}");
    for expected in
        ["deadlock: x, y and z wait for ever", "aria-label=\"step 1: z sends m1 to ", "replay bug.toml"]
    {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    // What is replayed is drawn alike, and as far as it is replayed.
    let ran = folder.simurgh(&["replay", "bug.toml", "--html", "again.html"]);
    assert!(ran.stdout.contains("wrote again.html: open it in a browser"), "{}", ran.told());
    assert_eq!(text(&folder, "again.html"), page);
    let ran = folder.simurgh(&["replay", "bug.toml", "--html", "early.html", "--until", "1", "--json"]);
    assert_eq!(json(&ran.stdout)["steps"].as_array().map(Vec::len), Some(1), "{}", ran.told());
    let early = text(&folder, "early.html");
    assert!(early.contains("step 1: z") && !early.contains("step 2: "), "{early}");
    let ran = folder.simurgh(&["replay", "bug.toml", "--html", "no/folder.html"]);
    assert_eq!(ran.code, 2, "{}", ran.told());
}

/// Every deadlock of the shared programs, on every network.
#[test]
fn the_deadlocks_of_the_shared_programs_happen_again() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/ways");
    let Ok(entries) = std::fs::read_dir(&shared) else {
        println!("skipped: ../shared/ways is not there");
        return;
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    let folder = Folder::new("replay-ways");
    let mut replayed = 0;
    for file in files {
        for network in ["mailbox", "pairwise", "unordered"] {
            let scenario = file.to_str().expect("a plain path");
            let checked = folder.simurgh(&["check", scenario, "--network", network, "--save", "bug.toml"]);
            if checked.code != 1 {
                continue;
            }
            let ran = folder.simurgh(&["replay", "bug.toml"]);
            assert_eq!(ran.code, 1, "{scenario}, {network}: {}", ran.told());
            assert!(ran.stdout.contains("it happens again: "), "{scenario}, {network}: {}", ran.told());
            replayed += 1;
        }
    }
    assert!(replayed > 0, "there are deadlocks among them");
}
