//! The protocols among the examples, simulated on platforms and deployed as processes on this machine.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use serde_json::Value;

/// Where the examples are built, beside this test.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    test.parent().and_then(Path::parent).expect("target/PROFILE/deps").join("examples").join(name)
}

/// Runs `NAME VERB ARGUMENTS --json`, from the root: what it prints, and its exit code.
fn json(command: &str) -> (Value, i32) {
    let mut words = command.split_whitespace();
    let mut run = Command::new(example(words.next().expect("a name")));
    run.args(words).arg("--json").current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."));
    let output = run.output().expect("the example runs");
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let found =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{command}: {error}: {text}{errors}"));
    (found, output.status.code().expect("it was not killed"))
}

#[test]
fn what_is_right_holds_and_what_is_wrong_is_found() {
    let cases = [
        ("raft check", "holds"),
        ("raft check --terms 1", "holds"),
        ("raft check --terms 1 --engine dfs", "holds"),
        ("raft check --bug", "violated"),
        ("raft check --bug --engine bfs", "violated"),
        ("atomic_commit check", "holds"),
        ("atomic_commit check --crashes 0", "holds"),
        ("atomic_commit check --engine local", "holds"),
        ("atomic_commit check --bug", "violated"),
        ("atomic_commit check --bug --engine local", "violated"),
        ("atomic_commit check --blocking", "violated"),
        ("register check", "holds"),
        ("register check --bug", "violated"),
        ("chat check", "holds"),
        ("chat check --bug", "violated"),
    ];
    for (command, verdict) in cases {
        let (found, code) = json(command);
        assert_eq!(
            (&found["verdict"], code),
            (&verdict.into(), i32::from(verdict != "holds")),
            "{command}: {found}"
        );
        for name in ["transitions", "states", "system_states", "seconds", "peak_bytes"] {
            assert!(found[name].is_number(), "{command}: {name}: {found}");
        }
    }
}

#[test]
fn a_linearizable_register_needs_a_global_search() {
    let (found, code) = json("register check --engine local");
    assert_eq!((&found["verdict"], code), (&"cannot run".into(), 2), "{found}");
}

/// On a platform, with losses and crashes: what is to come about does, and nothing is violated.
#[test]
fn all_protocols_run_on_a_platform() {
    let cities = "--platform examples/platforms/three_cities.xml";
    for command in [
        format!("paxos run {cities} --proposals 3 --loss 0.2 --duplication 0.2"),
        format!("one_paxos run {cities} --loss 0.2"),
        format!("raft run {cities} --commands 5 --loss 0.1 --duplication 0.1 --crash 0@2 --recover 0@4"),
        format!("atomic_commit run {cities} --loss 0.2 --crash 0@0.1 --recover 0@5"),
        format!("register run {cities} --loss 0.2 --crash 1@1 --recover 1@3"),
        format!("chat run {cities}"),
    ] {
        for seed in 0..5 {
            let command = format!("{command} --seed {seed}");
            let (found, code) = json(&command);
            assert_eq!((&found["verdict"], code), (&"fine".into(), 0), "{command}: {found}");
            let all = found["properties"].as_array().expect("a list");
            let came = all.iter().filter(|property| property["mode"] == "eventually");
            came.for_each(|property| assert!(property["at"].is_number(), "{command}: {found}"));
            let number =
                |name: &str| found[name].as_u64().unwrap_or_else(|| panic!("{command}: {name}: {found}"));
            assert_eq!(
                number("sent") + number("doubled"),
                number("received") + number("lost") + number("missed") + number("flying"),
                "{command}"
            );
            let (mut again, _) = json(&command);
            for measured in ["seconds", "peak_bytes"] {
                again[measured] = found[measured].clone();
            }
            assert_eq!(found, again, "{command}");
        }
    }
}

/// Without its coordinator, a transaction is neither committed nor aborted.
#[test]
fn a_crashed_coordinator_blocks() {
    let (found, code) = json("atomic_commit run --crash 0@0.0001");
    assert_eq!(code, 0, "{found}");
    assert!(found["properties"][1]["at"].is_null(), "{found}");
    assert_eq!(
        (&found["nodes"][1]["state"], &found["nodes"][2]["state"]),
        (&"Prepared".into(), &"Prepared".into())
    );
}

/// Wrong protocols go wrong in simulations too, with some seeds.
#[test]
fn bugs_are_met_with_some_seeds() {
    for command in ["one_paxos run --bug --loss 0.3", "register run --bug --loss 0.2 --clients 4"] {
        let violated = (0..60).any(|seed| json(&format!("{command} --seed {seed}")).1 == 1);
        assert!(violated, "{command}");
    }
}

#[test]
fn what_cannot_run_is_told_in_one_line() {
    let cases = [
        ("raft run --crash 9@1", "error: a crash of actor 9 at 1 s: there are 3 actors, the last is 2\n"),
        (
            "raft run --loss 2",
            "error: a loss of 2 is none; it is a number from 0 to 1, such as 0.1 for one message in ten\n",
        ),
        ("chat run --platform none.xml", "error: none.xml: there is no such file; check the path\n"),
        (
            "raft deploy none.toml --node a",
            "error: none.toml: cannot be read: there is no such file; check the path\n",
        ),
    ];
    for (command, expected) in cases {
        let mut words = command.split_whitespace();
        let run = Command::new(example(words.next().expect("a name"))).args(words).output().expect("it runs");
        assert_eq!((String::from_utf8_lossy(&run.stderr).as_ref(), run.status.code()), (expected, Some(2)));
    }
}

/// Nodes of an example as processes on this machine, killed when they are dropped.
struct Deployed {
    folder: PathBuf,
    children: Vec<Child>,
    lines: Receiver<(usize, String)>,
}

impl Deployed {
    fn start(name: &str, nodes: usize) -> Self {
        let folder = std::env::temp_dir().join(format!("simurgh-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let held: Vec<TcpListener> =
            (0..nodes).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
        let mut text = "transport = \"tcp\"\nkey = \"a key for this test\"\nstorage = \"state\"\n".to_owned();
        for (node, listener) in held.iter().enumerate() {
            let port = listener.local_addr().expect("an address").port();
            text += &format!("[[node]]\nname = \"n{node}\"\naddress = \"127.0.0.1:{port}\"\n");
        }
        drop(held);
        let file = folder.join("deployment.toml");
        std::fs::write(&file, text).expect("it is written");
        let (sender, lines) = channel();
        let child = |node| process(name, &file, node, &sender);
        Self { folder, children: (0..nodes).map(child).collect(), lines }
    }

    fn type_at(&mut self, node: usize, line: &str) {
        let input = self.children[node].stdin.as_mut().expect("it has an input");
        writeln!(input, "{line}").expect("it reads");
    }

    /// Waits until each of these nodes has said a line that is one of those wanted, and gives what they said.
    fn wait(&self, nodes: &[usize], wanted: impl Fn(&str) -> bool) -> Vec<String> {
        let mut said: Vec<Option<String>> = vec![None; self.children.len()];
        while nodes.iter().any(|node| said[*node].is_none()) {
            let (node, line) = self.lines.recv_timeout(Duration::from_secs(30)).unwrap_or_else(|_| {
                panic!("these say nothing more: {nodes:?}, said was {said:?}");
            });
            if wanted(&line) {
                said[node].get_or_insert(line);
            }
        }
        nodes.iter().filter_map(|node| said[*node].clone()).collect()
    }
}

fn process(name: &str, file: &Path, node: usize, sender: &Sender<(usize, String)>) -> Child {
    let mut command = Command::new(example(name));
    command.arg("deploy").arg(file).args(["--node", &node.to_string()]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a process starts");
    let output = BufReader::new(child.stdout.take().expect("it has an output"));
    let sender = sender.clone();
    #[expect(clippy::disallowed_methods, reason = "the outputs of processes are read beside each other")]
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            if sender.send((node, line)).is_err() {
                return;
            }
        }
    });
    child
}

impl Drop for Deployed {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn paxos_agrees_in_three_processes() {
    for name in ["paxos", "one_paxos"] {
        let nodes = Deployed::start(name, 3);
        let said = nodes.wait(&[0, 1, 2], |line| line.contains("is chosen"));
        let values: Vec<&str> = said.iter().filter_map(|line| line.split(' ').next()).collect();
        assert!(values.windows(2).all(|two| two[0] == two[1]), "{name}: {said:?}");
    }
}

#[test]
fn raft_replicates_what_is_typed_in_three_processes() {
    let mut nodes = Deployed::start("raft", 3);
    nodes.wait(&[0, 1, 2], |line| line.contains("leads"));
    nodes.type_at(0, "hello");
    assert_eq!(nodes.wait(&[0, 1, 2], |line| line.starts_with("1: ")), vec!["1: hello (from n0)"; 3]);
    nodes.type_at(2, "world");
    assert_eq!(nodes.wait(&[0, 1, 2], |line| line.starts_with("2: ")), vec!["2: world (from n2)"; 3]);
}

#[test]
fn a_transaction_is_committed_everywhere_or_nowhere_in_three_processes() {
    let nodes = Deployed::start("atomic_commit", 3);
    let said = nodes.wait(&[1, 2], |line| line.starts_with("Done"));
    assert_eq!(said[0], said[1]);
}

#[test]
fn a_register_is_read_and_written_in_five_processes() {
    let nodes = Deployed::start("register", 5);
    // What is read depends on who is quicker.
    let said = nodes.wait(&[3, 4], |line| line == "Write(10): Written" || line.starts_with("Read: Value("));
    assert_eq!(said[0], "Write(10): Written", "{said:?}");
}

#[test]
fn a_line_of_a_chat_is_read_in_three_processes() {
    let mut nodes = Deployed::start("chat", 3);
    nodes.type_at(1, "hello");
    assert_eq!(nodes.wait(&[0, 2], |line| line.starts_with("n1: ")), ["n1: hello", "n1: hello"]);
}
