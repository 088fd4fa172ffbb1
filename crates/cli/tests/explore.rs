//! The command `explore`, and `run --way`: what they print and write, and their exit codes.

use crate::support::command::{Folder, Ran};
use serde_json::Value;

const SERVED: &str = r#"
[[actor]]
name = "server"
host = "node-0"
do = ["recv box", "exec 1e9", "recv box", "exec 1e9"]
[[actor]]
name = "a"
host = "node-1"
do = ["send box 1e6", "exec 5e9"]
[[actor]]
name = "b"
host = "node-2"
do = ["sleep 0.1", "send box 1e6", "exec 1e9"]
"#;

fn refused(ran: &Ran, expected: &str) {
    assert_eq!(ran.stderr, format!("simurgh: {expected}\n"), "{}", ran.told());
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.told());
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {}", ran.told()))
}

#[test]
fn what_people_read() {
    let folder = Folder::new("explore-people");
    folder.write("served.toml", SERVED);
    let ran = folder.simurgh(&["explore", "served.toml"]);
    assert_eq!(ran.code, 0, "{}", ran.told());
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert!(lines[0].starts_with("makespan over 2 ways to receive on a mailbox network, all of them, "));
    let rest = [
        "  best       5.001681 s",
        "  worst      6.103363 s  1.220 times the best",
        "  simulated  5.001681 s  as time decides: the best",
        "server got, in the order of its receives",
        "  best       a, b",
        "  worst      b, a",
        "  simulated  a, b",
    ];
    assert_eq!(lines[1..], rest);
}

#[test]
fn what_machines_read() {
    let folder = Folder::new("explore-machines");
    folder.write("served.toml", SERVED);
    let found = json(&folder.simurgh(&["explore", "served.toml", "--json", "--objective", "bytes"]));
    assert_eq!(
        (&found["objective"], &found["unit"], &found["network"]),
        (&"bytes".into(), &"B".into(), &"mailbox".into())
    );
    assert_eq!((&found["executions"], &found["exhausted"]), (&2.into(), &true.into()));
    assert_eq!((found["best"]["value"].as_f64(), found["simulated"].as_f64()), (Some(2e6), Some(2e6)));
    let found = json(&folder.simurgh(&["explore", "served.toml", "--json"]));
    let worst = &found["worst"];
    assert_eq!(worst["schedule"], serde_json::json!(["0: =2.0 +0 =1.0 +0", "1: =0.1 +0", "2: =0.0 +0"]));
    let receives = serde_json::json!([{ "actor": "server", "got": [
        { "mailbox": "box", "from": "b", "number": 1 },
        { "mailbox": "box", "from": "a", "number": 1 },
    ]}]);
    assert_eq!(worst["receives"], receives);
    // The plain simulation, as `run` has it, is what stands beside them.
    let plain = json(&folder.simurgh(&["run", "served.toml", "--json"]));
    assert_eq!(found["simulated"], plain["clock"]);
    assert_eq!(found["best"]["value"], plain["clock"]);
}

#[test]
fn ways_are_written_and_run_again() {
    let folder = Folder::new("explore-ways");
    folder.write("served.toml", SERVED);
    let arguments = [
        "explore",
        "served.toml",
        "--best-way",
        "best.way",
        "--worst-way",
        "worst.way",
        "--best-svg",
        "best.svg",
        "--worst-svg",
        "worst.svg",
        "--worst-trace",
        "worst.json",
        "--worst-trace",
        "worst.paje",
    ];
    let ran = folder.simurgh(&arguments);
    assert_eq!(ran.code, 0, "{}", ran.told());
    let written: Vec<_> = ran.stdout.lines().filter_map(|line| line.strip_prefix("wrote ")).collect();
    assert_eq!(written, ["best.way", "best.svg", "worst.way", "worst.json", "worst.paje", "worst.svg"]);
    let text = |name: &str| String::from_utf8(folder.read(name)).unwrap();
    let way =
        "# the worst makespan: 6.103363 s\n0: =2.0 +0 =1.0 +0  # server\n1: =0.1 +0  # a\n2: =0.0 +0  # b\n";
    assert_eq!(text("worst.way"), way);
    assert!(text("worst.svg").contains("worst makespan: 6.103363 s"));
    // The picture of a way is the picture of the run that takes it, but for its title.
    let found = json(&folder.simurgh(&["explore", "served.toml", "--json"]));
    for end in ["best", "worst"] {
        let way = format!("{end}.way");
        let again =
            json(&folder.simurgh(&["run", "served.toml", "--way", &way, "--json", "--trace", "again.json"]));
        assert_eq!(again["clock"], found[end]["value"]);
        assert_eq!(again["end"], "finished");
    }
    assert_eq!(text("again.json"), text("worst.json"));
}

#[test]
fn ways_that_are_none() {
    let folder = Folder::new("explore-no-ways");
    folder.write("served.toml", SERVED);
    let run = |way: &str| {
        folder.write("some.way", way);
        folder.simurgh(&["run", "served.toml", "--way", "some.way"])
    };
    refused(
        &run("0: =2.0 +0 x\n"),
        "some.way: line 1: \"x\" is not what came of a request; there are =PROCESS.POST, =-, +INDEX, +-, +!, |, |last, \
         ?NUMBER, *PROCESS",
    );
    refused(&run("1: =2.0\n"), "some.way: line 1: process 0 is missing; write 0: ...");
    refused(&run(" \n"), "some.way: the file is empty; write a scenario, a trace or a schedule into it");
    // The server is to stop after one message.
    refused(
        &run("0: =1.0 +0\n1: =0.0 +0\n2: =-\n"),
        "the program does not go this way: actor \"server\" sends or receives where its way has nothing more",
    );
    // Both are to get the same message.
    let ran = run("0: =1.0 +0 =1.0 +0\n1: =0.0 +0\n2: =0.1 +0\n");
    refused(&ran, "the program does not go this way: actor \"server\" ends or waits before it has done all");
}

#[test]
fn exit_codes_and_refusals() {
    let folder = Folder::new("explore-codes");
    folder.write("served.toml", SERVED);
    let bounded = folder.simurgh(&["explore", "served.toml", "--executions", "1"]);
    assert_eq!(bounded.code, 3, "{}", bounded.told());
    assert!(
        bounded.stdout.starts_with(
            "makespan over 1 way to receive on a mailbox network, not exhausted: there are more, "
        )
    );
    let hurried = folder.simurgh(&["explore", "served.toml", "--time", "0"]);
    assert_eq!(hurried.code, 3, "{}", hurried.told());
    let deadlock = SERVED
        .replace("\"send box 1e6\", \"exec 5e9\"", "\"dsend box 1e6\"")
        .replace(", \"recv box\", \"exec 1e9\"", "");
    folder.write("deadlock.toml", &deadlock);
    let broken = folder.simurgh(&["explore", "deadlock.toml"]);
    assert_eq!(broken.code, 1, "{}", broken.told());
    let expected = "1 of 2 ways comes to a bad end and has no value, the first with: deadlock: b wait for ever; `check` shows how";
    assert!(broken.stdout.contains(expected), "{}", broken.told());

    refused(
        &folder.simurgh(&["explore", "served.toml", "--time", "NaN"]),
        "--time: a number of seconds, 0 or more",
    );
    refused(&folder.simurgh(&["explore", "served.txt"]), "served.txt: explore takes a scenario (.toml)");
    refused(&folder.simurgh(&["explore", "none.toml"]), "none.toml: there is no such file; check the path");
    refused(
        &folder.simurgh(&["explore", "served.toml", "--objective", "energy"]),
        "--objective energy: no host of the platform says what it draws; give hosts the property \"wattage_per_state\"",
    );
    refused(
        &folder.simurgh(&["explore", "served.toml", "--worst-trace", "worst.png"]),
        "--trace worst.png: the name says the format; let it end in .json (Perfetto) or .paje",
    );
    refused(
        &folder.simurgh(&["explore", "served.toml", "--best-way", "no/best.way"]),
        "no/best.way: there is no directory \"no\" to write into; make it first",
    );
}
