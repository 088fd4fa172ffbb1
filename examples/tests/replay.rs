//! What `check --save` writes of every wrong variant of the examples, `replay` executes again.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The wrong variants, and where they go wrong.
const WRONG: [&str; 11] = [
    "chord --nodes 2 --bug",
    "crossing --turns 2 --bug",
    "fan_in --bug",
    "leader_election --bug",
    "mutual_exclusion --bug",
    "token_ring --actors 3 --bug",
    "two_phase_commit --bug",
    "two_phase_commit --bug --network unordered",
    "fan_in --bug --engine pct --seed 3",
    "fan_in --senders 3 --deterministic receives",
    "stop_and_wait --patient --network unordered --loss 1",
];

/// Where the examples are built, beside this test.
fn example(name: &str) -> Command {
    let test = std::env::current_exe().expect("this test has a path");
    let folder = test.parent().and_then(Path::parent).expect("target/PROFILE/deps").join("examples");
    Command::new(folder.join(name))
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("simurgh-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder can be made");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Checks a program and saves what was found.
fn save(command: &str, file: &Path) {
    let mut words = command.split_whitespace();
    let name = words.next().expect("a name");
    let mut run = example(name);
    run.arg("check").args(words).arg("--save").arg(file);
    let output = run.output().expect("the example runs");
    assert_eq!(output.status.code(), Some(1), "{command}: {}", told(&output));
}

#[test]
fn what_is_wrong_happens_again_when_it_is_replayed() {
    let folder = Folder::new("examples-replay");
    for (number, command) in WRONG.into_iter().enumerate() {
        let name = command.split_whitespace().next().expect("a name");
        let file = folder.0.join(format!("{number}.toml"));
        save(command, &file);
        let output = example(name).arg("replay").arg(&file).output().expect("the example runs");
        let text = told(&output);
        assert_eq!(output.status.code(), Some(1), "{command}: {text}");
        assert!(text.contains("\nit happens again: "), "{command}: {text}");
        let output = example(name).args(["replay", "--json"]).arg(&file).output().expect("the example runs");
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        assert_eq!(found["reproduced"], true, "{command}: {found}");
        let page = file.with_extension("html");
        let mut draw = example(name);
        draw.args(["replay", "--html"]).arg(&page).arg(&file);
        let output = draw.output().expect("the example runs");
        assert_eq!(output.status.code(), Some(1), "{command}: {}", told(&output));
        let page = std::fs::read_to_string(&page).expect("it was written");
        let steps = page.matches("role=\"option\"").count();
        assert_eq!(found["steps"].as_array().map(Vec::len), Some(steps), "{command}");
    }
}

#[test]
fn the_right_program_does_not_take_the_steps_of_the_wrong_one() {
    let folder = Folder::new("examples-mended");
    let file = folder.0.join("bug.toml");
    save("fan_in --bug", &file);
    let text = std::fs::read_to_string(&file).expect("it was written");
    std::fs::write(&file, text.replace(", \"--bug\"", "")).expect("it can be written");
    let output = example("fan_in").arg("replay").arg(&file).output().expect("the example runs");
    let text = told(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("nothing went wrong; the schedule was saved for: receiver failed"), "{text}");
}

#[test]
fn a_schedule_of_another_program_is_refused() {
    let folder = Folder::new("examples-other");
    let file = folder.0.join("bug.toml");
    save("fan_in --bug", &file);
    let refused = |name: &str, expected: &str| {
        let output = example(name).arg("replay").arg(&file).output().expect("the example runs");
        assert_eq!(output.status.code(), Some(2), "{}", told(&output));
        assert!(told(&output).contains(expected), "{expected}: {}", told(&output));
    };
    refused("threes", "this is a schedule of the program \"fan_in\", not of \"threes\"; run `fan_in replay ");
    let text = std::fs::read_to_string(&file).expect("it was written");
    std::fs::write(&file, text.replace("\"--bug\"", "\"--bugs\"")).expect("it can be written");
    refused("fan_in", "are not understood any more; save the schedule anew");
    let scenario = "simurgh-schedule = 1\nscenario = \"s.toml\"\nsteps = []\n";
    std::fs::write(&file, scenario).expect("it can be written");
    refused("fan_in", "this is a schedule of the scenario s.toml; run `simurgh replay ");
}
