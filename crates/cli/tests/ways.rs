//! `simurgh check` sees every way to receive once: small programs whose ways were counted by trying every interleaving.

use std::path::{Path, PathBuf};
use std::process::Command;

fn check(file: &Path, network: &str) -> serde_json::Value {
    let output = Command::new(env!("CARGO_BIN_EXE_simurgh"))
        .args(["check", "--engine", "receives", "--network", network, "--all", "--json"])
        .arg(file)
        .output()
        .expect("simurgh runs");
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("{}: {}", file.display(), String::from_utf8_lossy(&output.stderr)))
}

#[test]
fn the_ways_of_the_shared_programs_are_counted_exactly() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/ways");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: ../shared/ways is not there");
        return;
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let expected = std::fs::read_to_string(file.with_extension("expected")).expect("the answer is there");
        let expected: serde_json::Value = serde_json::from_str(&expected).expect("the answer is JSON");
        for network in ["mailbox", "pairwise", "unordered"] {
            let found = check(&file, network);
            let (answer, name) = (&expected[network], file.display());
            assert_eq!(found["executions"], answer["executions"], "{name}, {network}");
            let deadlock = found["verdict"] == "deadlock";
            assert_eq!(deadlock, answer["deadlock"] == true, "{name}, {network}: {}", found["verdict"]);
        }
    }
}

#[test]
fn one_receiver_has_as_many_ways_as_its_senders_have_orders() {
    let folder = std::env::temp_dir().join(format!("simurgh-ways-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for scenarios");
    for (senders, ways) in [(1, 1), (2, 2), (3, 6), (4, 24), (7, 5040)] {
        let mut scenario =
            format!("[[actor]]\nname = \"r\"\ndo = [{}]\n", vec!["\"recv m\""; senders].join(", "));
        for sender in 0..senders {
            scenario.push_str(&format!("[[actor]]\nname = \"s{sender}\"\ndo = [\"send m 8\"]\n"));
        }
        let file = folder.join(format!("fan-in-{senders}.toml"));
        std::fs::write(&file, scenario).expect("a scenario can be written");
        let found = check(&file, "mailbox");
        assert_eq!((found["executions"].as_u64(), found["verdict"].as_str()), (Some(ways), Some("holds")));
    }
    std::fs::remove_dir_all(folder).expect("the folder can be removed");
}
