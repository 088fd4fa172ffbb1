//! What `check` says of the examples: how many executions the small ones have, that every right program holds, and that
//! every wrong one is found out.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Where the examples are built, beside this test.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    test.parent().and_then(Path::parent).expect("target/PROFILE/deps").join("examples").join(name)
}

/// Runs `NAME check ARGUMENTS --json`: what it prints, and its exit code.
fn check(command: &str) -> (Value, i32) {
    let (name, arguments) = command.split_once(' ').unwrap_or((command, ""));
    let mut run = Command::new(example(name));
    run.arg("check").args(arguments.split_whitespace()).arg("--json");
    let output = run.output().expect("the example runs");
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let found =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{command}: {error}: {text}{errors}"));
    (found, output.status.code().expect("it was not killed"))
}

/// One execution for each order in which K messages can be received: K!.
#[test]
fn fan_in_has_one_execution_for_each_order() {
    for (senders, executions) in [(1, 1), (2, 2), (3, 6), (4, 24), (7, 5040)] {
        let (found, code) = check(&format!("fan_in --senders {senders}"));
        assert_eq!(
            (&found["verdict"], &found["executions"], code),
            (&"holds".into(), &executions.into(), 0),
            "{senders} senders: {found}"
        );
    }
}

/// Two orders a group, and what one group does is nothing to the others: 2^G.
#[test]
fn threes_has_two_orders_a_group() {
    for (groups, executions) in [(1, 2), (2, 4), (3, 8)] {
        let (found, code) = check(&format!("threes --groups {groups}"));
        assert_eq!(
            (&found["verdict"], &found["executions"], code),
            (&"holds".into(), &executions.into(), 0),
            "{groups} groups: {found}"
        );
    }
}

const PROGRAMS: [(&str, &str); 7] = [
    ("chord --nodes 2", "violated"),
    ("crossing --turns 2", "violated"),
    ("leader_election", "violated"),
    ("mutual_exclusion", "violated"),
    ("stop_and_wait", "violated"),
    ("token_ring --actors 3", "deadlock"),
    ("two_phase_commit", "violated"),
];

#[test]
fn what_is_right_holds() {
    for (program, _) in PROGRAMS {
        let (found, code) = check(program);
        assert_eq!((&found["verdict"], code), (&"holds".into(), 0), "{program}: {found}");
    }
}

#[test]
fn what_is_wrong_is_found_out() {
    for (program, verdict) in PROGRAMS {
        let (found, code) = check(&format!("{program} --bug"));
        assert_eq!((&found["verdict"], code), (&verdict.into(), 1), "{program}: {found}");
    }
}

/// Messages come in any order, and what is sent is the same in all of them. An invariant needs more orders than the ways to
/// receive, and so does a comparison of executions: both say so.
#[test]
fn executions_are_compared() {
    let (found, code) = check("fan_in --senders 3 --deterministic sends");
    assert_eq!((&found["verdict"], code), (&"holds".into(), 0), "{found}");
    for what in ["receives", "both"] {
        let (found, code) = check(&format!("fan_in --senders 3 --deterministic {what}"));
        assert_eq!((&found["verdict"], code), (&"violated".into(), 1), "{found}");
        let told = found["counterexamples"][0]["what"].to_string();
        assert!(told.contains("receiver is not deterministic: its receive number"), "{told}");
    }
}

/// Labels make up for all that is lost or comes twice. Without patience to send again, a loss is for ever; and one bit does
/// not tell an old copy from a new item.
#[test]
fn messages_are_lost_and_come_twice() {
    let table = [
        ("--loss 1 --duplication 1", "holds"),
        ("--patient", "holds"),
        ("--patient --duplication 1", "holds"),
        ("--patient --loss 1", "deadlock"),
        ("--patient --bit --items 3", "holds"),
        ("--patient --bit --items 3 --duplication 1", "violated"),
        ("--patient --bug", "holds"),
        ("--patient --bug --duplication 1", "violated"),
    ];
    for (arguments, verdict) in table {
        let (found, code) = check(&format!("stop_and_wait --network unordered {arguments}"));
        let expected = i32::from(verdict != "holds");
        assert_eq!((&found["verdict"], code), (&verdict.into(), expected), "{arguments}: {found}");
        for counterexample in found["counterexamples"].as_array().expect("a list") {
            let does = counterexample["steps"].to_string();
            let fault = if arguments.contains("loss") { "it is lost" } else { "it will come twice" };
            assert!(does.contains(fault), "{arguments}: {does}");
        }
    }
}

/// Who tries again for ever is seen to.
#[test]
fn what_does_not_end_is_shown() {
    for engine in ["receives", "optimal"] {
        let (found, code) = check(&format!("stop_and_wait --retries 1000000 --engine {engine}"));
        assert_eq!((&found["verdict"], code), (&"not-exhausted".into(), 3), "{engine}");
        let cut = &found["cut"];
        assert!(cut["circle"].as_u64().is_some_and(|circle| circle < 20), "{engine}: {}", cut["circle"]);
        assert!(cut["last"].to_string().contains("times out at"), "{engine}: {}", cut["last"]);
        assert_eq!(cut["standing"][0]["actor"], 0, "{engine}: {}", cut["standing"]);
    }
}

/// A node that waits for the answer to its question takes something else for it; among the ways in which that may happen is
/// the one of listing 4.6 of "SimGrid MC" (2011), a notification of the other node.
#[test]
fn the_bug_of_2011_is_found_in_a_moment() {
    let runs = [(); 3].map(|()| check("chord --nodes 2 --bug").0);
    assert!(runs[0].to_string().contains("for the answer to Neighbours"), "{}", runs[0]);
    if !cfg!(debug_assertions) {
        // The best of three: other things may keep the machine busy.
        let seconds = runs.iter().filter_map(|found| found["seconds"].as_f64()).fold(f64::INFINITY, f64::min);
        assert!(seconds < 0.05, "it took {seconds} s");
    }
    let (all, _) = check("chord --nodes 2 --bug --all");
    assert!(all.to_string().contains("takes Notify"), "{all}");
}

fn number(found: &Value, name: &str) -> u64 {
    found[name].as_u64().unwrap_or_else(|| panic!("{name} is a number: {found}"))
}

/// The experiments of the paper on local model checking: 157,332 transitions against 1,186, with one proposal.
#[test]
fn paxos_has_far_fewer_local_transitions() {
    let (global, code) = check("paxos --proposals 1 --engine dfs");
    assert_eq!((&global["verdict"], code), (&"holds".into(), 0));
    assert_eq!((number(&global, "states"), number(&global, "transitions")), (4395, 19246));
    let (local, code) = check("paxos --proposals 1 --engine local");
    assert_eq!((&local["verdict"], code, number(&local, "system_states")), (&"holds".into(), 0, 0));
    let transitions = number(&local, "transitions");
    assert!(transitions <= 1186 && transitions * 100 <= number(&global, "transitions"), "{transitions}");
    let (all, code) = check("paxos --proposals 1 --engine local-gen");
    assert_eq!((&all["verdict"], code), (&"holds".into(), 0));
    assert!(number(&all, "system_states") > 0 && number(&all, "system_states") < number(&global, "states"));
}

/// Figure 12 of the paper: what local search needs grows with the depth, not with what can happen. `--nocapture` shows it.
#[test]
fn the_memory_of_local_search_is_linear_in_depth() {
    println!("{:>5} {:>6} {:>11} {:>6}", "steps", "states", "transitions", "bytes");
    let bytes: Vec<i64> = (0..=8)
        .map(|depth| {
            let (found, _) = check(&format!("paxos --proposals 1 --engine local --depth {depth}"));
            assert_eq!(found["depth"], depth);
            let [states, transitions, bytes] =
                ["states", "transitions", "peak_bytes"].map(|name| found[name].to_string());
            println!("{depth:5} {states:>6} {transitions:>11} {bytes:>6}");
            found["peak_bytes"].as_i64().expect("bytes are a number")
        })
        .collect();
    // No depth lies much above the line from the first to the last, and the second half is no steeper than the first.
    for (depth, &here) in (0..).zip(&bytes) {
        let line = bytes[0] + (bytes[8] - bytes[0]) * depth / 8;
        assert!(here < line * 3 / 2, "{here} bytes at depth {depth}, where the line is at {line}");
    }
    assert!(bytes[8] - bytes[4] <= bytes[4] - bytes[0], "{bytes:?}");
    assert!(bytes[8] < 200_000, "the paper needed 200 KB");
}

#[test]
fn paxos_with_two_proposals_is_exhausted_by_local_search() {
    let (found, code) = check("paxos --proposals 2");
    assert_eq!((&found["verdict"], code), (&"holds".into(), 0), "{found}");
}

#[test]
fn the_bugs_of_paxos_are_found_from_the_start_and_from_live_states() {
    for (program, engines) in [
        ("paxos --proposals 2 --bug", 1),
        ("paxos --bug --live", 4),
        ("one_paxos --bug", 1),
        ("one_paxos --bug --live", 4),
    ] {
        for engine in ["local", "local-gen", "bfs", "dfs"].into_iter().take(engines) {
            let (found, code) = check(&format!("{program} --engine {engine}"));
            assert_eq!((&found["verdict"], code), (&"violated".into(), 1), "{program} {engine}: {found}");
            let schedule = found["properties"][0]["schedule"].as_array();
            assert!(schedule.is_some_and(|steps| !steps.is_empty()), "{program} {engine}: {found}");
        }
    }
    for program in ["paxos --live", "one_paxos", "one_paxos --live"] {
        let (found, code) = check(program);
        let agreement = &found["properties"][0];
        assert_eq!(
            (&agreement["outcome"], agreement["mode"].as_str()),
            (&"holds".into(), Some("always")),
            "{program}: {found}"
        );
        assert!(code <= 1);
    }
}

/// Exit code 3: how far it came is told.
#[test]
fn a_search_that_is_cut_short_says_so() {
    for engine in ["local", "local-gen", "bfs", "dfs"] {
        let (found, code) = check(&format!("paxos --proposals 2 --depth 4 --engine {engine}"));
        assert_eq!((&found["verdict"], code), (&"not exhausted".into(), 3), "{engine}: {found}");
        assert!(found["note"].as_str().is_some_and(|note| note.contains('4')), "{engine}: {found}");
    }
}

/// Runs `NAME ARGUMENTS`: what it prints, and its exit code.
fn output(command: &str) -> (String, i32) {
    let (name, arguments) = command.split_once(' ').expect("a name and arguments");
    let output = Command::new(example(name)).args(arguments.split_whitespace()).output().expect("it runs");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (text, output.status.code().expect("it was not killed"))
}

/// Section 5.5 of the paper: the bug of Paxos is predicted from a live state of a run that loses 30% of its messages.
#[test]
fn the_bug_of_paxos_is_found_while_a_simulated_run_is_watched() {
    let (text, code) = output("paxos watch --bug --loss 0.3 --simulate --seed 8 --for 60");
    assert_eq!(code, 1, "{text}");
    let (rounds, found) = text.split_once("will be violated, if from the live state").expect("a prediction");
    assert!(
        rounds.lines().next().is_some_and(|line| line.contains("consistent snapshot of 3 nodes")),
        "{text}"
    );
    assert!(found.contains("  0: {") && found.contains("timers [Propose]"), "the live state is told: {text}");
    assert!(found.contains("steps follow:\n  "), "the schedule is told: {text}");
    // A machine reads the same.
    let (json, code) = output("paxos watch --bug --loss 0.3 --simulate --seed 8 --for 60 --json");
    let last: Value = serde_json::from_str(json.lines().last().expect("a line")).expect("JSON");
    assert_eq!((code, &last["verdict"]), (1, &"violated".into()), "{json}");
    assert!(last["live"].as_array().is_some_and(|live| live.len() >= 3), "{json}");
    assert!(last["schedule"].as_array().is_some_and(|steps| steps.len() >= 9), "{json}");
}

#[test]
fn nothing_is_found_while_a_right_paxos_is_watched() {
    let (text, code) = output("paxos watch --loss 0.3 --simulate --for 40 --every 4 --budget 0.2");
    assert_eq!((code, text.lines().count()), (0, 10), "{text}");
    assert!(text.lines().all(|line| line.contains("consistent snapshot")), "{text}");
}

/// A child process that does not outlive its test.
struct Killed(std::process::Child);

impl Drop for Killed {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The same over real sockets: three processes, each of which drops 30% of what it sends.
#[test]
fn the_bug_of_paxos_is_found_while_three_processes_are_watched() {
    let folder = std::env::temp_dir().join(format!("simurgh-watch-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    for transport in ["tcp", "udp"] {
        let held = [(); 3].map(|()| std::net::TcpListener::bind("127.0.0.1:0").expect("a free port"));
        let ports = held.map(|listener| listener.local_addr().expect("an address").port());
        let node = |port: &u16| format!("[[node]]\nname = \"n{port}\"\naddress = \"127.0.0.1:{port}\"\n");
        let nodes: String = ports.iter().map(node).collect();
        let file = folder.join(format!("{transport}.toml"));
        let text = format!("transport = \"{transport}\"\nkey = \"a key for this test\"\n{nodes}");
        std::fs::write(&file, text).expect("it is written");
        let file = file.to_str().expect("a plain path");
        let node = |number: usize| {
            let arguments =
                format!("deploy-log {file} --node {number} --seconds 60 --bug --loss 0.3 --rest 2");
            let mut command = Command::new(example("paxos"));
            command.args(arguments.split_whitespace()).stderr(std::process::Stdio::null());
            Killed(command.spawn().expect("it runs"))
        };
        let running: Vec<Killed> = (0..3).map(node).collect();
        std::thread::sleep(std::time::Duration::from_secs(2));
        let (text, code) = output(&format!("paxos watch {file} --bug --every 0.5 --budget 0.5 --for 40"));
        assert_eq!(code, 1, "{text}");
        assert!(text.contains("consistent snapshot of 3 nodes") && text.contains("the live state"), "{text}");
        drop(running);
        let (text, code) = output(&format!("paxos watch {file} --for 2"));
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("it does not answer"), "{text}");
    }
    std::fs::remove_dir_all(&folder).expect("it is removed");
}
