//! Long searches: bounds, several cores, random walks, Ctrl-C, and going on where one stopped.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::command::Folder;

/// One receiver and so many senders.
fn fan_in(senders: usize) -> String {
    let mut text = format!("[[actor]]\nname = \"r\"\ndo = [{}]\n", vec!["\"recv m\""; senders].join(", "));
    for sender in 0..senders {
        text.push_str(&format!("[[actor]]\nname = \"s{sender}\"\ndo = [\"send m 8\"]\n"));
    }
    text
}

fn number(text: &str, key: &str) -> u64 {
    let value: serde_json::Value = serde_json::from_str(text).expect("one JSON object");
    value[key].as_u64().expect("a number")
}

#[test]
fn several_cores_see_what_one_sees() {
    let folder = Folder::new("cores");
    folder.write("f.toml", &fan_in(7));
    for workers in ["1", "2", "4", "0"] {
        let ran = folder.simurgh(&["check", "f.toml", "--json", "--workers", workers]);
        assert_eq!((ran.code, number(&ran.stdout, "executions")), (0, 5040), "{}", ran.told());
    }
}

#[test]
fn a_bound_is_told_and_never_taken_for_a_proof() {
    let folder = Folder::new("bounds");
    folder.write("f.toml", &fan_in(9));
    let table = [
        (["--executions", "1000"], "stopped after 1000 executions (--executions)\n"),
        (["--time", "0"], "stopped after 0 s (--time)\n"),
        (["--memory", "1"], "stopped at 1 MB of memory (--memory)\n"),
    ];
    for (bound, told) in table {
        let ran = folder.simurgh(&["check", "f.toml", bound[0], bound[1]]);
        assert_eq!(ran.code, 3, "{}", ran.told());
        assert!(ran.stdout.contains("not-exhausted") && ran.stdout.contains(told), "{}", ran.told());
    }
    for engine in ["receives", "optimal", "dfs"] {
        let ran = folder.simurgh(&[
            "check",
            "f.toml",
            "--engine",
            engine,
            "--depth",
            "5",
            "--executions",
            "20",
            "--json",
        ]);
        assert_eq!((ran.code, number(&ran.stdout, "executions")), (3, 0), "{engine}: {}", ran.told());
    }
}

#[test]
fn a_search_goes_on_where_it_stopped() {
    let folder = Folder::new("resume");
    folder.write("f.toml", &fan_in(7));
    let go = |executions: &str| {
        folder.simurgh(&["check", "f.toml", "--json", "--executions", executions, "--resume", "left.search"])
    };
    // Where there are as many as there are to be, none is added.
    for executions in [500, 1000, 1000, 4000] {
        let ran = go(&executions.to_string());
        assert_eq!((ran.code, number(&ran.stdout, "executions")), (3, executions), "{}", ran.told());
    }
    // The file of one program is not that of another.
    folder.write("other.toml", &fan_in(6));
    let ran = folder.simurgh(&["check", "other.toml", "--resume", "left.search"]);
    assert_eq!(ran.code, 2);
    assert_eq!(
        ran.stderr,
        "simurgh: left.search: the search of another program, or of this one with other options; remove it to begin anew\n"
    );
    // Nor is one of which a part is missing, or with other counts.
    let kept = String::from_utf8(folder.read("left.search")).expect("it is text");
    let first = kept.lines().skip_while(|line| !line.contains("\"parts\"")).nth(1).expect("a part is left");
    for changed in [
        kept.replacen(&format!("{first}\n"), "", 1),
        kept.replacen("\"executions\": 4000", "\"executions\": 5", 1),
        kept.replacen(" l ", " l l ", 1),
    ] {
        assert_ne!(changed, kept);
        folder.write("left.search", &changed);
        let ran = go("10000");
        assert_eq!(ran.code, 2, "{}", ran.told());
        assert_eq!(
            ran.stderr,
            "simurgh: left.search: a search that was changed after it was kept; remove it to begin anew\n"
        );
    }
    folder.write("left.search", &kept);
    let ran = go("10000");
    assert_eq!((ran.code, number(&ran.stdout, "executions")), (0, 5040), "{}", ran.told());
    // Nothing is left: it begins anew.
    let ran = go("10");
    assert_eq!((ran.code, number(&ran.stdout, "executions")), (3, 10), "{}", ran.told());
    folder.write("left.search", "{}");
    let ran = go("10");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("simurgh: left.search: not a search that was kept"), "{}", ran.told());
}

#[test]
fn what_only_one_engine_can_do_is_refused_by_the_others() {
    let folder = Folder::new("refused");
    folder.write("f.toml", &fan_in(2));
    let ran = folder.simurgh(&["check", "f.toml", "--engine", "optimal", "--resume", "x"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (
            2,
            "simurgh: only the engine `receives` can go on with a search that was kept; leave out --resume\n"
        )
    );
    let ran = folder.simurgh(&["check", "f.toml", "--engine", "dfs", "--workers", "2"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (2, "simurgh: only the engine `receives` explores on several cores; leave out --workers\n")
    );
}

#[test]
fn a_walk_is_found_again_by_its_seed() {
    let folder = Folder::new("walks");
    // It blocks only if the first of three messages is the second sender's.
    let text = "[[actor]]\nname = \"r\"\ndo = [\"irecv m\", \"irecv n\", \"waitany\", \"waitany\", \"recv m\", \"recv q\"]\n\
                [[actor]]\nname = \"a\"\ndo = [\"send m 8\", \"send n 8\", \"send m 8\"]\n\
                [[actor]]\nname = \"b\"\ndo = [\"dsend m 8\"]\n";
    folder.write("f.toml", text);
    for engine in ["random", "pct"] {
        let walk = |seed: &str| {
            folder
                .simurgh(&["check", "f.toml", "--engine", engine, "--seed", seed, "--executions", "50"])
                .stdout
        };
        let without_time =
            |text: String| text.lines().filter(|line| !line.contains(" steps, ")).collect::<String>();
        assert_eq!(without_time(walk("3")), without_time(walk("3")));
        assert!(walk("3").contains("deadlock"));
    }
}

#[test]
fn an_interrupt_stops_it_with_what_it_knows() {
    let folder = Folder::new("interrupt");
    folder.write("f.toml", &fan_in(12));
    let child = Command::new(env!("CARGO_BIN_EXE_simurgh"))
        .args(["check", "f.toml", "--resume", "left.search"])
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("simurgh runs");
    std::thread::sleep(Duration::from_secs(2));
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(sent.success());
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("not-exhausted") && text.contains("interrupted; what is left ("), "{text}");
    assert!(folder.path().join("left.search").exists());
}

#[test]
fn a_search_writes_no_file_but_its_own() {
    let folder = Folder::new("own-files");
    folder.write("f.toml", &fan_in(7));
    for name in ["v.new", "v.search.new"] {
        folder.write(name, "mine");
    }
    let ran = folder.simurgh(&["check", "f.toml", "--executions", "10", "--resume", "v.search"]);
    assert_eq!(ran.code, 3, "{}", ran.told());
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["f.toml", "v.new", "v.search", "v.search.new"]);
    assert_eq!((folder.read("v.new"), folder.read("v.search.new")), (b"mine".to_vec(), b"mine".to_vec()));
}

#[test]
fn two_processes_do_not_keep_two_searches_in_one_file() {
    let folder = Folder::new("two-searches");
    folder.write("f.toml", &fan_in(12));
    let mut first = Command::new(env!("CARGO_BIN_EXE_simurgh"))
        .args(["check", "f.toml", "--resume", "left.search"])
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("simurgh runs");
    // It is claimed before anything is explored.
    while !folder.path().join("left.search").exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    let second = folder.simurgh(&["check", "f.toml", "--resume", "left.search"]);
    first.kill().and_then(|()| first.wait()).expect("it ends");
    assert_eq!(
        (second.code, second.stderr.as_str()),
        (2, "simurgh: left.search: another process is writing this file; let it end, or name another file\n")
    );
    // Who was killed before anything was kept leaves nothing that is in the way.
    let third = folder.simurgh(&["check", "f.toml", "--executions", "5", "--resume", "left.search"]);
    assert_eq!(third.code, 3, "{}", third.told());
}

/// Which of several schedules of one kind was told depended on who was faster.
#[test]
fn several_workers_tell_the_same_counterexamples() {
    let folder = Folder::new("same-told");
    folder.write(
        "s.toml",
        r#"[[actor]]
do = ["irecv x", "recv x", "recv x timeout 1", "irecv x", "waitany", "dsend x 1", "waitall", "recv x", "waitall"]
[[actor]]
do = ["isend x 1", "send x 1 timeout 1", "isend x 1", "waitany", "send x 1", "waitany", "recv x", "dsend x 1", "waitall"]
"#,
    );
    let told = |workers: &str| {
        let words = ["check", "s.toml", "--network", "unordered", "--all", "--json", "--workers", workers];
        let mut object: serde_json::Value =
            serde_json::from_str(&folder.simurgh(&words).stdout).expect("one JSON object");
        object["seconds"] = 0.into();
        object
    };
    let first = told("1");
    assert_eq!(first["verdict"], "deadlock");
    for round in 0..25 {
        assert_eq!(told("2"), first, "round {round}");
    }
}

/// What was found was shortened for minutes after the time was over, and nothing was told until then.
#[test]
fn time_is_over_also_where_hundreds_are_found() {
    let folder = Folder::new("late");
    let turn = r#""irecv x", "isend x 1", "irecv y", "isend y 1", "waitany", "recv x timeout 1", "send y 1 timeout 1", "waitany", "waitall""#;
    let actor = format!("[[actor]]\ndo = [{}]\n", [turn; 10].join(", "));
    folder.write("s.toml", &actor.repeat(12));
    #[expect(clippy::disallowed_methods, reason = "that it ends in time is what is tested")]
    let start = std::time::Instant::now();
    let ran = folder.simurgh(&["check", "s.toml", "--engine", "random", "--time", "1", "--all"]);
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(ran.code, 1, "{}", ran.told());
    assert!(ran.stdout.contains("stopped after 1 s"), "{}", ran.stdout.lines().last().unwrap_or_default());
    // A second to search, one to shorten, one to replay; and the machine may be busy.
    assert!(seconds < 15.0, "{seconds} s");
}

/// `timeout` sends two SIGTERMs at once, to its child and to their group: the second one ended the search without a word.
#[test]
fn two_sigterms_at_once_are_one() {
    let folder = Folder::new("two-sigterms");
    let senders: String =
        (0..10).map(|sender| format!("[[actor]]\nname = \"s{sender}\"\ndo = [\"dsend m 1\"]\n")).collect();
    let receives = ["\"recv m\""; 10].join(", ");
    folder.write("fan.toml", &format!("[[actor]]\nname = \"r\"\ndo = [{receives}]\n{senders}"));
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_simurgh"));
    command.args(["check", "fan.toml"]).current_dir(folder.path()).stdout(std::process::Stdio::piped());
    let child = command.spawn().expect("it runs");
    std::thread::sleep(std::time::Duration::from_millis(500));
    let twice = format!("kill -TERM {0}; kill -TERM {0}", child.id());
    let sent = std::process::Command::new("sh").args(["-c", &twice]).status();
    assert!(sent.expect("a shell runs").success());
    let output = child.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(3) && text.contains("not-exhausted"), "{:?}: {text}", output.status);
}
