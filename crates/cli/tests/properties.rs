//! `check` beyond assertions and deadlocks: communication determinism, messages that are lost or come twice, and executions
//! that are cut.

use crate::support::command::Folder;

/// One sends, another receives.
const PAIR: &str =
    "[[actor]]\nname = \"a\"\ndo = [\"send m 8\"]\n[[actor]]\nname = \"b\"\ndo = [\"recv m\"]\n";

/// Two send, one receives twice.
const FAN_IN: &str = "[[actor]]\nname = \"r\"\ndo = [\"recv m\", \"recv m\"]\n\
                      [[actor]]\nname = \"s\"\ndo = [\"send m 8\"]\n[[actor]]\nname = \"t\"\ndo = [\"send m 8\"]\n";

#[test]
fn a_loss_is_seen_saved_and_replayed() {
    let folder = Folder::new("loss");
    folder.write("pair.toml", PAIR);
    let check = ["check", "pair.toml", "--network", "unordered"];
    let ran = folder.simurgh(&check);
    assert_eq!(ran.code, 0, "{}", ran.told());
    let ran = folder.simurgh(&[&check[..], &["--loss", "1", "--save", "lost.toml"]].concat());
    assert_eq!(ran.code, 1, "{}", ran.told());
    assert!(ran.stdout.starts_with("deadlock: b waits for ever\n"), "{}", ran.told());
    assert!(ran.stdout.contains("it is lost") && ran.stdout.contains("for received"), "{}", ran.told());
    assert_eq!(
        ran.stderr,
        "simurgh: the engine receives is not sound and complete for messages that are lost or arrive twice; exploring with optimal \
         instead\n"
    );
    let ran = folder.simurgh(&["replay", "lost.toml"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    assert!(ran.stdout.contains("it happens again: deadlock: b waits for ever"), "{}", ran.told());
}

/// What comes twice is received twice, after which nobody receives the other message.
#[test]
fn a_copy_is_seen_saved_and_replayed() {
    let folder = Folder::new("copy");
    folder.write("fan_in.toml", FAN_IN);
    let check =
        ["check", "fan_in.toml", "--network", "unordered", "--duplication", "1", "--save", "twice.toml"];
    let ran = folder.simurgh(&check);
    assert_eq!(ran.code, 1, "{}", ran.told());
    for told in ["waits for ever", "it will come twice", "arrives again at \"m\""] {
        assert!(ran.stdout.contains(told), "{told}: {}", ran.told());
    }
    let ran = folder.simurgh(&["replay", "twice.toml"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    assert!(ran.stdout.contains("it happens again: deadlock"), "{}", ran.told());
}

#[test]
fn other_networks_deliver_once() {
    let folder = Folder::new("reliable");
    folder.write("pair.toml", PAIR);
    let table = [
        (
            ["--network", "pairwise", "--loss", "1"],
            "--loss: the network pairwise delivers each message once; add --network unordered",
        ),
        (
            ["--network", "mailbox", "--duplication", "2"],
            "--duplication: the network mailbox delivers each message once; add --network unordered",
        ),
    ];
    for (options, expected) in table {
        for engine in ["receives", "optimal"] {
            let ran = folder.simurgh(&[&["check", "pair.toml", "--engine", engine], &options[..]].concat());
            assert_eq!(
                (ran.code, &ran.stderr[..]),
                (2, &format!("simurgh: {expected}\n")[..]),
                "{}",
                ran.told()
            );
        }
    }
}

#[test]
fn what_differs_is_told_saved_and_replayed() {
    let folder = Folder::new("varies");
    folder.write("fan_in.toml", FAN_IN);
    for engine in ["receives", "optimal", "source", "dpor", "dfs"] {
        let check = ["check", "fan_in.toml", "--engine", engine, "--deterministic"];
        let ran = folder.simurgh(&[&check[..], &["sends"]].concat());
        assert_eq!(ran.code, 0, "{engine}: {}", ran.told());
        let ran = folder.simurgh(&[&check[..], &["both", "--save", "differs.toml", "--json"]].concat());
        assert_eq!(ran.code, 1, "{engine}: {}", ran.told());
        let found: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one JSON object");
        let difference = &found["counterexample"]["difference"];
        assert_eq!(found["verdict"], "violated");
        assert_eq!((&difference["actor"], &difference["what"]), (&0.into(), &"receives".into()));
        for which in ["here", "there"] {
            let told = &difference[which];
            assert!(told["does"].to_string().contains("gets message 1 of"), "{engine}: {difference}");
            assert!(told["step"].is_u64() && told["place"].is_string(), "{engine}: {difference}");
        }
        assert_ne!(difference["schedule"], found["counterexample"]["schedule"]);
        let ran = folder.simurgh(&["replay", "differs.toml"]);
        assert_eq!(ran.code, 1, "{engine}: {}", ran.told());
        assert!(ran.stdout.contains("it happens again: r is not deterministic"), "{engine}: {}", ran.told());
    }
}

#[test]
fn a_cut_shows_what_the_actors_are_about() {
    let folder = Folder::new("cut");
    folder.write("pair.toml", PAIR);
    for engine in ["receives", "optimal", "dfs", "random"] {
        let ran =
            folder.simurgh(&["check", "pair.toml", "--engine", engine, "--depth", "2", "--executions", "1"]);
        assert_eq!(ran.code, 3, "{engine}: {}", ran.told());
        for told in [
            "on after 2 steps (--depth): does the program ever end?",
            "so:\n",
            "and then:\n",
            "not-exhausted:",
        ] {
            assert!(ran.stdout.contains(told), "{engine}: {told}: {}", ran.told());
        }
    }
}
