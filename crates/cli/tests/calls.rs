//! The command and the call of the same name come to the same.

use crate::support::command::Folder;
use simurgh::{Engine, Network, Scenario, Verdict};

/// One of two is served, and the other waits for ever.
const SEAT: &str = r#"
[[actor]]
name = "usher"
do = ["recv seat"]
[[actor]]
name = "ann"
do = ["send seat 1"]
[[actor]]
name = "bob"
do = ["send seat 1"]
"#;

#[test]
fn a_counterexample_is_saved_for_replay() {
    let folder = Folder::new("calls-save");
    folder.write("seat.toml", SEAT);
    let scenario = Scenario::from_file(folder.path().join("seat.toml")).expect("it is a scenario");
    let found = scenario.check().assert_deadlock();
    found.save(folder.path().join("bug.toml")).expect("it can be written");
    let ran = folder.simurgh(&["replay", "bug.toml"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    assert!(ran.stdout.ends_with(&format!("it happens again: {}\n", found.what)), "{}", ran.told());
}

#[test]
fn the_command_prints_the_same() {
    let folder = Folder::new("calls-check");
    folder.write("seat.toml", SEAT);
    let path = folder.path().join("seat.toml");
    let name = path.display().to_string();
    for options in [&[][..], &["--engine", "optimal", "--network", "unordered", "--all"]] {
        let ran = folder.simurgh(&[&["check", &name], options].concat());
        let mut check = Scenario::from_file(&path).expect("it is a scenario").check();
        if !options.is_empty() {
            check = check.engine(Engine::Optimal).network(Network::Unordered).all();
        }
        let report = check.run();
        let mut rest = ran.stdout.as_str();
        for found in &report.counterexamples {
            let text = format!("{found}\n");
            rest = rest.strip_prefix(text.as_str()).unwrap_or_else(|| panic!("{text}\n{}", ran.told()));
        }
        let counts = format!("deadlock: {} execution", report.executions);
        assert!(rest.contains(&counts), "{counts}\n{}", ran.told());
        assert!(rest.contains(&format!(", {} steps, ", report.transitions)), "{}", ran.told());
    }
}

#[test]
fn a_scenario_is_explored_as_the_command_does() {
    let folder = Folder::new("calls-explore");
    folder.write("seat.toml", SEAT);
    let ran = folder.simurgh(&["explore", "seat.toml"]);
    let report =
        Scenario::from_file(folder.path().join("seat.toml")).expect("it is a scenario").explore().run();
    assert_eq!(report.verdict(), Verdict::Violated);
    let after_time = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned());
    assert_eq!(after_time(&report.to_string()), after_time(&ran.stdout), "{}", ran.told());
}
