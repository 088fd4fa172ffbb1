//! What users get wrong on the command line and in files, and the exact line that they read about it; and what the
//! command shows when all goes well.

use crate::support::command::{Folder, Ran};

/// A platform of hosts a, b, c; a has a disk d, and a way to b alone.
const PLATFORM: &str = r#"<platform version="4.1">
<zone id="w" routing="Full">
<host id="a" speed="1Gf"><disk id="d" read_bw="1MBps" write_bw="1MBps"/></host>
<host id="b" speed="1Gf"/>
<host id="c" speed="1Gf"/>
<link id="l" bandwidth="1MBps" latency="1ms"/>
<route src="a" dst="b"><link_ctn id="l"/></route>
</zone>
</platform>
"#;

/// A scenario of one actor on host a; its operations are on line 5.
fn scenario(operations: &str) -> String {
    format!("platform = \"p.xml\"\n[[actor]]\nname = \"x\"\nhost = \"a\"\ndo = [{operations}]\n")
}

fn zone(body: &str) -> String {
    format!(
        "<platform version=\"4.1\">\n<zone id=\"w\" routing=\"Full\">\n<host id=\"a\" speed=\"1Gf\"/><host id=\"b\" speed=\"1Gf\"/>\n{body}\n</zone></platform>"
    )
}

fn refused(ran: &Ran, expected: &str) {
    assert_eq!(ran.stderr, format!("simurgh: {expected}\n"), "{}", ran.told());
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.told());
}

#[test]
fn operations_that_cannot_be_understood() {
    let table = [
        (r#""send m -1""#, r#"bytes: "-1" is negative"#),
        (r#""send m 1e400""#, r#"bytes: "1e400" is too large a number"#),
        (r#""send m NaN""#, r#"bytes: "NaN" is not a size such as "2MiB""#),
        (r#""exec inf""#, r#"flops: "inf" is not a number of flops such as "1Gf""#),
        (r#""sleep -1""#, r#"seconds: "-1" is negative"#),
        (r#""send m 1 rate 0""#, "rate cannot be 0; leave it out or give a positive number"),
        (r#""exec 1 priority NaN""#, "priority cannot be NaN; give a number that is not negative"),
        (r#""exec 1 priority -1""#, "priority cannot be -1; give a number that is not negative"),
        (
            r#""fly 1""#,
            "there is no operation \"fly\"; there are exec, sleep, send, isend, dsend, recv, irecv, waitall, waitany, read, write",
        ),
        (r#""""#, "an operation is missing; write one such as \"exec 1e9\""),
        (
            r#""send m""#,
            "the bytes are missing; it is written `send MAILBOX BYTES [rate BYTES_PER_SECOND] [timeout SECONDS]`",
        ),
        (
            r#""recv""#,
            "the mailbox is missing; it is written `recv MAILBOX [rate BYTES_PER_SECOND] [timeout SECONDS]`",
        ),
        (
            r#""recv m 3""#,
            "\"3\" is not understood; it is written `recv MAILBOX [rate BYTES_PER_SECOND] [timeout SECONDS]`",
        ),
        (
            r#""exec 1 timeout""#,
            "the timeout is missing; it is written `exec FLOPS [on HOST] [priority P] [bound FLOPS_PER_SECOND] [timeout SECONDS]`",
        ),
        (r#""exec 1 timeout 1 timeout 2""#, "timeout is given twice"),
        (r#""waitall 1""#, "\"1\" is one word too many; it is written `waitall`"),
        (r#""read d""#, "the bytes are missing; it is written `read DISK BYTES`"),
    ];
    let folder = Folder::new("operations");
    folder.write("p.xml", PLATFORM);
    for (operation, expected) in table {
        folder.write("s.toml", &scenario(operation));
        let line = format!("s.toml:5: actor \"x\", operation 0: {expected}");
        refused(&folder.simurgh(&["run", "s.toml"]), &line);
    }
}

#[test]
fn scenarios_that_cannot_be_used() {
    const SHAPE: &str = "a scenario has platform = \"FILE\", [config], and for each actor [[actor]] with name = \"NAME\", host = \"HOST\", do = [\"exec 1e9\"], and where wanted start_at = SECONDS, kill_at = SECONDS, daemon = true, restart = true";
    let table = [
        ("", "the file is empty; write a scenario, a trace or a schedule into it".to_owned()),
        ("[[actor]\n", ":1: unclosed array table, expected `]`; correct the TOML there or just before".into()),
        (
            "platform = \"p.xml\"\n",
            ":1: there is no actor; add an [[actor]] with name, host and do = [\"exec 1e9\"]".into(),
        ),
        (
            "platform = \"p.xml\"\nplatform = \"q.xml\"\n",
            ":2: the key \"platform\" is there twice; keep one of them".into(),
        ),
        ("platform = 3\n", format!(":1: invalid type: integer `3`, expected a string; {SHAPE}")),
        (
            "[[actor]]\ndo = \"exec 1\"\n",
            format!(":2: invalid type: string \"exec 1\", expected a sequence; {SHAPE}"),
        ),
        ("[[actor]]\ndo = [3]\n", format!(":2: invalid type: integer `3`, expected a string; {SHAPE}")),
        (
            "[actor]\ndo = [\"exec 1\"]\n",
            format!(":1: invalid type: map, expected a sequence; {SHAPE}"),
        ),
        (
            "[[actor]]\ndos = [\"exec 1\"]\n",
            format!(":2: unknown field `dos`, expected one of `name`, `host`, `start_at`, `kill_at`, `daemon`, `restart`, `do`; {SHAPE}"),
        ),
        (
            "[config]\n\"network/modle\" = \"CM02\"\n[[actor]]\n",
            ":2: unknown configuration key \"network/modle\"; did you mean \"network/model\"?".into(),
        ),
        (
            "[config]\n\"network/model\" = \"CM03\"\n[[actor]]\n",
            ":2: configuration key \"network/model\" cannot be \"CM03\"; LV08, CM02, Raw, SMPI, IB or Constant is expected".into(),
        ),
        (
            "[[actor]]\nname = \"x\"\nhost = \"node-16\"\n",
            ":1: actor \"x\": there is no host \"node-16\" in the platform; did you mean \"node-1\"?".into(),
        ),
        (
            "[[actor]]\nname = \"x\"\nstart_at = -1\n",
            ":3: actor \"x\": start_at cannot be -1; give a date in seconds, 0 or more".into(),
        ),
        (
            "[[actor]]\nname = \"x\"\nkill_at = nan\n",
            ":3: actor \"x\": kill_at cannot be NaN; give a date in seconds, 0 or more".into(),
        ),
        (
            "[[actor]]\nname = \"x\"\ndo = [\"exec 1 on nod-1\"]\n",
            ":3: actor \"x\": there is no host \"nod-1\" in the platform; did you mean \"node-1\"?".into(),
        ),
        (
            "[[actor]]\nname = \"x\"\nhost = \"node-0\"\ndo = [\n\"exec 1\",\n\"read dsk 1\"]\n",
            ":6: actor \"x\": there is no disk \"dsk\" in the platform; host \"node-0\" has \"disk\"".into(),
        ),
    ];
    let folder = Folder::new("scenarios");
    for (text, expected) in table {
        folder.write("s.toml", text);
        let colon = if expected.starts_with(':') { "" } else { ": " };
        refused(&folder.simurgh(&["run", "s.toml"]), &format!("s.toml{colon}{expected}"));
    }
}

#[test]
fn files_that_cannot_be_read() {
    let folder = Folder::new("files");
    folder.write_bytes("u.toml", b"\n\xff\xfe");
    folder.write_bytes("u.xml", b"\xff\xfe");
    folder.write_bytes("u.txt", b"p0 compute 1\n\xff\xfe");
    folder.write("missing.toml", "# elsewhere\nplatform = \"nowhere.xml\"\n[[actor]]\n");
    let table: [(&[&str], &str); 10] = [
        (&["run", "nowhere.toml"], "nowhere.toml: there is no such file; check the path"),
        (
            &["run", "missing.toml"],
            "missing.toml:2: platform \"nowhere.xml\": there is no such file; check the path",
        ),
        (
            &["check", "missing.toml"],
            "missing.toml:2: platform \"nowhere.xml\": there is no such file; check the path",
        ),
        (
            &["explore", "missing.toml"],
            "missing.toml:2: platform \"nowhere.xml\": there is no such file; check the path",
        ),
        (&["platform", "show", "nowhere.xml"], "nowhere.xml: there is no such file; check the path"),
        (&["run", "."], ".: this is a directory; name a file in it"),
        (&["platform", "show", "."], ".: this is a directory; name a file in it"),
        (&["run", "u.toml"], "u.toml:2: this is not UTF-8 text; save the file as UTF-8"),
        (&["run", "u.txt"], "u.txt:2: this is not UTF-8 text; save the file as UTF-8"),
        (&["platform", "show", "u.xml"], "u.xml: byte 0 is not UTF-8 text; save the file as UTF-8"),
    ];
    for (arguments, expected) in table {
        refused(&folder.simurgh(arguments), expected);
    }
}

#[test]
fn platforms_that_cannot_be_used() {
    let folder = Folder::new("platforms");
    folder.write("back.profile", "1 2\n0.5 3\n");
    folder.write("s.toml", "[[actor]]\ndo = [\"exec 1\"]\n");
    let table = [
        (
            "<platform version=\"4.1\"><zone".to_owned(),
            "p.xml:1: this is not well-formed XML: the root node was opened but never closed; correct it there or just before",
        ),
        (String::new(), "p.xml: the file is empty; write a <platform version=\"4.1\"> with a zone into it"),
        (
            zone("<route src=\"a\" dst=\"b\"><link_ctn id=\"zz\"/></route>"),
            "p.xml:4: link \"zz\" is never defined; declare it, or correct the name",
        ),
        (
            zone("<zone id=\"v\" routing=\"Full\">\n<zone id=\"w\" routing=\"Full\"/></zone>"),
            "p.xml:5: zone \"w\" has the name of a zone declared before; give each host, router and zone its own name",
        ),
        (
            zone("<host id=\"c\" speed=\"1Gf\" speed_file=\"back.profile\"/>"),
            "back.profile:2: date 0.5 comes after date 1; sort the events by date",
        ),
        (
            zone("<link id=\"l\" bandwidth=\"1e400\"/>"),
            "p.xml:4: bandwidth: \"1e400\" is too large a number; correct the bandwidth of this <link>",
        ),
    ];
    for (text, expected) in table {
        folder.write("p.xml", &text);
        for arguments in [&["platform", "show", "p.xml"][..], &["run", "s.toml", "--platform", "p.xml"]] {
            refused(&folder.simurgh(arguments), expected);
        }
    }
}

#[test]
fn values_of_platforms_that_make_no_sense_have_a_line() {
    let setting = |key: &str, value: &str| {
        let config = format!("<config>\n<prop id=\"{key}\" value=\"{value}\"/></config>");
        zone("").replacen("<zone", &format!("{config}<zone"), 1)
    };
    let table = [
        (
            zone(
                "<host id=\"c\" speed=\"1Gf\">\n<prop id=\"x\" value=\"y\"/>\n<prop id=\"wattage_per_state\" value=\"many\"/></host>",
            ),
            "p.xml:6: host \"c\": property \"wattage_per_state\" cannot be \"many\"; idle:epsilon:all_cores in watts is expected for each power state",
        ),
        (
            zone(
                "<host id=\"c\" speed=\"1Gf\">\n<prop id=\"watt_per_state\" value=\"1:2\"/>\n<prop id=\"watt_off\" value=\"-1\"/></host>",
            ),
            "p.xml:6: host \"c\": property \"watt_off\" cannot be \"-1\"; a number of watts is expected",
        ),
        (
            zone("<link id=\"l\" bandwidth=\"1MBps\">\n<prop id=\"wattage_range\" value=\"1\"/></link>"),
            "p.xml:5: link \"l\": property \"wattage_range\" cannot be \"1\"; idle:busy in watts is expected",
        ),
        (
            "<platform version=\"4.1\">\n<cluster id=\"k\" prefix=\"k-\" suffix=\"\" radical=\"0-1\" speed=\"1Gf\" bw=\"1MBps\" lat=\"1us\">\n<prop id=\"wattage_per_state\" value=\"x\"/></cluster></platform>".to_owned(),
            "p.xml:2: host \"k-0\": property \"wattage_per_state\" cannot be \"x\"; idle:epsilon:all_cores in watts is expected for each power state",
        ),
        (
            setting("network/model", "CM03"),
            "p.xml:3: configuration key \"network/model\" cannot be \"CM03\"; LV08, CM02, Raw, SMPI, IB or Constant is expected",
        ),
        (
            setting("network/modle", "CM02"),
            "p.xml:3: unknown configuration key \"network/modle\"; did you mean \"network/model\"?",
        ),
        (
            setting("network/loopback-bw", "fast"),
            "p.xml:3: setting network/loopback-bw: \"fast\" is not a bandwidth such as \"125MBps\"; correct it in <config>",
        ),
    ];
    let folder = Folder::new("values-of-platforms");
    folder.write("s.toml", "[[actor]]\ndo = [\"exec 1\"]\n");
    for (text, expected) in table {
        folder.write("p.xml", &text);
        refused(&folder.simurgh(&["run", "s.toml", "--platform", "p.xml"]), expected);
    }
}

#[test]
fn options_that_cannot_be_followed() {
    let folder = Folder::new("options");
    folder.write("p.xml", PLATFORM);
    folder.write("s.toml", "[[actor]]\ndo = [\"exec 1\"]\n");
    let table: [(&[&str], &str); 28] = [
        (
            &["run", "s.toml", "--config", "network/modle=CM02"],
            "unknown configuration key \"network/modle\"; did you mean \"network/model\"?",
        ),
        (
            &["run", "s.toml", "--config", "network/model"],
            "--config network/model: a key and a value are needed, such as network/model=CM02",
        ),
        (
            &["run", "s.toml", "--trace", "out.txt"],
            "--trace out.txt: the name says the format; let it end in .json (Perfetto) or .paje",
        ),
        (
            &["run", "s.toml", "--trace", "nowhere/out.json"],
            "nowhere/out.json: there is no directory \"nowhere\" to write into; make it first",
        ),
        (
            &["run", "s.toml", "--svg", "nowhere/out.svg"],
            "nowhere/out.svg: there is no directory \"nowhere\" to write into; make it first",
        ),
        (&["run", "s.toml", "--svg", "."], ".: this is a directory; name a file in it to write to"),
        (&["run", "s.toml", "--until", "-1"], "--until -1: give a date that is not negative"),
        (&["run", "s.toml", "--until", "NaN"], "--until NaN: give a date that is not negative"),
        (
            &["run", "s.toml", "--until", "noon"],
            "invalid value 'noon' for '--until <SECONDS>': invalid float literal; try --help",
        ),
        (
            &["run", "s.toml", "--bogus"],
            "unexpected argument '--bogus' found; to pass '--bogus' as a value, use '-- --bogus'; Usage: simurgh run <FILE> [-- <ARGUMENTS>...]; try --help",
        ),
        (
            &["run"],
            "the following required arguments were not provided: <FILE>; Usage: simurgh run <FILE> [-- <ARGUMENTS>...]; try --help",
        ),
        (
            &["runn", "s.toml"],
            "unrecognized subcommand 'runn'; a similar subcommand exists: 'run'; Usage: simurgh <COMMAND>; try --help",
        ),
        (&["run", "s.toml", "--actions", "p.xml"], "--actions goes with a deployment file (.xml)"),
        (
            &["run", "s.toml", "--platform", "nowhere.xml"],
            "nowhere.xml: there is no such file; check the path",
        ),
        (
            &["platform", "show", "p.xml", "--route", "a", "z"],
            "p.xml: there is no host \"z\"; name one of its hosts",
        ),
        (
            &["platform", "show", "p.xml", "--route", "a"],
            "2 values required for '--route <FROM> <TO>' but 1 was provided; Usage: simurgh platform show [OPTIONS] [FILE]; try --help",
        ),
        (
            &["platform", "show", "p.xml", "--route", "a", "c"],
            "p.xml: no route from host \"a\" to host \"c\": zone \"w\" (full) has no way from \"a\" to \"c\"; declare a route between them in that zone",
        ),
        (
            &["platform", "show", "p.xml", "--svg", "nowhere/out.svg"],
            "nowhere/out.svg: there is no directory \"nowhere\" to write into; make it first",
        ),
        (&["why", "nowhere.toml", "x", "0"], "nowhere.toml: there is no such file; check the path"),
        (&["why", "s.toml", "x", "0"], "s.toml: there is no actor \"x\"; there are actor-0"),
        (
            &["why", "s.toml", "actor-0", "1"],
            "s.toml: actor \"actor-0\" has 1 operations, numbered from 0; there is no number 1",
        ),
        (
            &["why", "s.toml", "actor-0", "first"],
            "invalid value 'first' for '<INDEX>': invalid digit found in string; try --help",
        ),
        (
            &["why", "p.xml", "x", "0"],
            "p.xml:1: key with no value, expected `=`; correct the TOML there or just before",
        ),
        (
            &["check", "s.toml", "--executions", "0"],
            "--executions: 1 or more are expected, or nothing to bound them",
        ),
        (
            &["check", "s.toml", "--executions", "-1"],
            "invalid value '-1' for '--executions <N>': invalid digit found in string; try --help",
        ),
        (&["check", "s.toml", "--time", "-1"], "--time: a number of seconds, 0 or more"),
        (
            &["explore", "s.toml", "--executions", "0"],
            "invalid value '0' for '--executions <N>': 0 is not in 1..18446744073709551615; try --help",
        ),
        (
            &["run", "p.xml"],
            "p.xml:2: a deployment file holds only actors, and here is a <zone>; give the platform file as platform, and the deployment as deployment",
        ),
    ];
    for (arguments, expected) in table {
        refused(&folder.simurgh(arguments), expected);
    }
}

#[test]
fn traces_that_cannot_be_understood() {
    let table = [
        (
            "p0 fly",
            "t.txt:1: there is no action \"fly\"; there are compute, sleep, send, recv, isend, irecv, wait, waitall, bcast, reduce, allreduce, barrier, init, finalize, comm_size",
        ),
        ("\np0", "t.txt:2: the action is missing; a line is PROCESS ACTION ARGUMENTS"),
        ("p0 compute", "t.txt:1: the number of flops is missing; it is written `PROCESS compute FLOPS`"),
        ("p0 compute -1", "t.txt:1: compute: \"-1\" is negative"),
        ("p0 compute NaN", "t.txt:1: compute: \"NaN\" is not a number of flops such as \"1Gf\""),
        ("p0 send p1", "t.txt:1: the number of bytes is missing; it is written `PROCESS send TO BYTES`"),
        ("p0 send p1 1e400", "t.txt:1: send: \"1e400\" is too large a number"),
        ("p0 send p1 0 1e6", "t.txt:1: send: \"1e6\" is one word too many; take it out"),
        ("0 send 1 0", "t.txt:1: send: a number is missing; it is written `PROCESS send TO TAG COUNT TYPE`"),
        ("p0 recv", "t.txt:1: the process is missing; it is written `PROCESS recv FROM`"),
        ("# nothing", "t.txt: the trace has no action; a line is PROCESS ACTION ARGUMENTS"),
    ];
    let folder = Folder::new("traces");
    for (text, expected) in table {
        folder.write("t.txt", text);
        refused(&folder.simurgh(&["run", "t.txt"]), expected);
    }
}

#[test]
fn deployments_that_cannot_be_used() {
    let actor = |attributes: &str, body: &str| {
        format!("<platform version=\"4.1\">\n<actor {attributes}>{body}</actor></platform>")
    };
    let own = "<argument value=\"t.txt\"/>";
    let table = [
        (
            actor("host=\"node-0\" function=\"p0\"", ""),
            "d.xml:2: actor \"p0\" has no trace; give one as an argument there, or for all with --actions FILE",
        ),
        (
            actor("host=\"nowhere\" function=\"p0\"", own),
            "d.xml:2: there is no host \"nowhere\" in the platform; `simurgh platform show FILE` lists them",
        ),
        (
            actor("host=\"node-0\" function=\"p7\"", own),
            "d.xml:2: its trace has no actions of \"p7\"; it has those of p0",
        ),
        (
            actor("host=\"node-0\" function=\"p0\"", "<argument value=\"nowhere.txt\"/>"),
            "nowhere.txt: there is no such file; check the path",
        ),
        (actor("host=\"node-0\"", own), "d.xml:2: <actor> has no function; give it the function it runs"),
        (
            "<platform version=\"4.1\"/>".to_owned(),
            "d.xml: there is no actor; add an <actor host=\"HOST\" function=\"PROCESS\"/>",
        ),
    ];
    let folder = Folder::new("deployments");
    folder.write("t.txt", "p0 compute 1\n");
    for (text, expected) in table {
        folder.write("d.xml", &text);
        refused(&folder.simurgh(&["run", "d.xml"]), expected);
    }
}

#[test]
fn a_message_without_a_way_names_both_ends() {
    let folder = Folder::new("no-way");
    folder.write("p.xml", PLATFORM);
    let receiver = "[[actor]]\nname = \"y\"\nhost = \"c\"\ndo = [\"recv m\"]\n";
    folder.write("s.toml", &format!("{}{receiver}", scenario("\"send m 1\"")));
    refused(
        &folder.simurgh(&["run", "s.toml"]),
        "s.toml: actor \"x\" sends to actor \"y\": no route from host \"a\" to host \"c\": zone \"w\" (full) has no way from \"a\" to \"c\"; declare a route between them in that zone",
    );
}

#[test]
fn huge_amounts_take_huge_times() {
    let folder = Folder::new("huge");
    folder.write("p.xml", PLATFORM);
    let table = [
        ("\"exec 1e308\"", "         1e299  x  exec 1e308\nfinished at 1e299 s: 1 actor, 0 messages\n"),
        ("\"sleep 1e308\"", "         1e308  x  sleep 1e308\nfinished at 1e308 s: 1 actor, 0 messages\n"),
        ("\"write d 1e308\"", "         1e302  x  write d 1e308\nfinished at 1e302 s: 1 actor, 0 messages\n"),
    ];
    for (operation, expected) in table {
        folder.write("s.toml", &scenario(operation));
        let ran = folder.simurgh(&["run", "s.toml"]);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, expected, ""));
    }
    for (operation, expected) in [
        (
            "\"exec 1 priority 1e-300\"",
            "the priority of an execution cannot be 1e-300; it is too small: give 1e-100 at least",
        ),
        (
            "\"exec 1 bound 1e-300\"",
            "the bound of an execution cannot be 1e-300; it is too small: give 1e-100 at least",
        ),
        (
            "\"exec 1 bound 1e308\"",
            "the bound of an execution cannot be 1e308; it is too large: give 1e100 at most",
        ),
    ] {
        folder.write("s.toml", &scenario(operation));
        let line = format!("s.toml: actor \"x\": {expected}");
        refused(&folder.simurgh(&["run", "s.toml"]), &line);
    }
}

#[test]
fn blocked_for_ever_is_told_with_who_waits_for_what_since_when() {
    let folder = Folder::new("blocked");
    folder.write("p.xml", PLATFORM);
    let other = "[[actor]]\nname = \"y\"\nhost = \"b\"\ndo = [\"isend n 1\", \"irecv o\", \"waitany\"]\n";
    folder.write("s.toml", &format!("{}{other}", scenario("\"exec 1e9\", \"recv m\"")));
    let ran = folder.simurgh(&["run", "s.toml"]);
    assert_eq!(
        ran.stdout,
        "      0.000000  y  isend n 1\n\
        \x20     0.000000  y  irecv o\n\
        \x20     1.000000  x  exec 1000000000\n\
         actor \"x\" on a waits since 1.000000 s to receive from mailbox \"m\"\n\
         actor \"y\" on b waits since 0.000000 s to send to mailbox \"n\", or to receive from mailbox \"o\"\n\
         blocked for ever at 1.000000 s: 2 actors, 0 messages\n"
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let ran = folder.simurgh(&["run", "s.toml", "--json"]);
    assert_eq!(ran.code, 1);
    let json: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(json["end"], "deadlock");
    assert_eq!(
        json["blocked"][0],
        serde_json::json!({"actor": "x", "host": "a", "since": 1.0, "waits_for": "to receive from mailbox \"m\""})
    );
    assert_eq!(json["blocked"].as_array().unwrap().len(), 2);
}

#[test]
fn json_is_one_line_of_known_shape() {
    let folder = Folder::new("json");
    folder.write("p.xml", PLATFORM);
    folder.write("s.toml", &scenario("\"exec 1e9\", \"exec 1e9 timeout 0.5\""));
    let ran = folder.simurgh(&["run", "s.toml", "--json"]);
    let expected = "{\"clock\":1.5,\"operations\":[{\"actor\":\"x\",\"index\":0,\"end\":1.0,\"how\":\"ok\"},\
        {\"actor\":\"x\",\"index\":1,\"end\":1.5,\"how\":\"timeout\"}],\"actors\":1,\"messages\":0,\
        \"end\":\"finished\",\"blocked\":[],\"failures\":[]}\n";
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, expected, ""));
}

#[test]
fn two_runs_are_alike_to_the_byte() {
    let scenarios = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../actors/tests/scenarios");
    let folder = Folder::new("alike");
    for name in ["full-102", "failing-101", "disks-101", "profiles-101", "dragonfly-102", "dogbone-003"] {
        let scenario = scenarios.join(name).with_extension("toml");
        let run = |turn: &str| {
            let outputs = ["json", "paje", "svg"].map(|kind| format!("{turn}.{kind}"));
            let [json, paje, svg] = &outputs;
            let told = folder.simurgh(&["run", &scenario.to_string_lossy(), "--json"]);
            let drawn = folder.simurgh(&[
                "run",
                &scenario.to_string_lossy(),
                "--trace",
                json,
                "--trace",
                paje,
                "--svg",
                svg,
            ]);
            assert!(drawn.code < 2, "{}", drawn.told());
            let stdout = drawn.stdout.replace(turn, "turn");
            (told.stdout, stdout, outputs.map(|output| folder.read(&output)))
        };
        let (first, second) = (run("first"), run("second"));
        assert!(first == second, "{name} differs from one run to the next");
        assert!(!first.1.contains('\x1b'), "{name}: colours in a pipe");
    }
}

#[test]
fn scenarios_are_alike_for_any_number_of_workers() {
    let folder = Folder::new("alike-workers");
    let mut text = String::new();
    for actor in 0..2000 {
        let host = actor % 16;
        text += &format!(
            "[[actor]]\nname = \"a{actor}\"\nhost = \"node-{host}\"\ndo = [\"sleep 1\", \"exec 1e6\", \"dsend m 10\"]\n"
        );
    }
    folder.write("s.toml", &text);
    let one = folder.simurgh(&["run", "s.toml", "--json", "--workers", "1"]).stdout;
    assert!(one.contains("\"actor\":\"a1999\""), "{one}");
    for workers in ["2", "8", "300"] {
        assert!(
            folder.simurgh(&["run", "s.toml", "--json", "--workers", workers]).stdout == one,
            "{workers}"
        );
    }
    // It is not by luck: no round is shared.
    let told = folder.simurgh(&["run", "s.toml", "--quiet", "--stats", "--workers", "300"]).told();
    assert!(told.contains("all run by one thread"), "{told}");
}

#[test]
fn help_and_version() {
    let folder = Folder::new("help");
    let version = folder.simurgh(&["--version"]);
    let expected = format!("simurgh {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!((version.code, version.stdout, version.stderr), (0, expected, String::new()));
    let help = folder.simurgh(&["--help"]);
    assert_eq!((help.code, help.stderr.as_str()), (0, ""));
    for verb in ["run", "platform", "why"] {
        assert!(help.stdout.contains(&format!("\n  {verb} ")), "{}", help.stdout);
        let of_verb = folder.simurgh(&[verb, "--help"]);
        assert!(of_verb.code == 0 && of_verb.stdout.contains("Usage: simurgh"), "{}", of_verb.told());
    }
    let bare = folder.simurgh(&[]);
    assert_eq!((bare.code, bare.stdout.as_str()), (2, ""));
    assert!(bare.stderr.contains("Usage: simurgh <COMMAND>"), "{}", bare.stderr);
}

/// A full disk is no success.
/// The second of two outputs replaced the first, and a scenario could be replaced by what was found with it.
#[test]
fn a_file_that_is_named_twice_is_not_written() {
    let folder = Folder::new("twice");
    folder.write("s.toml", "[[actor]]\ndo = [\"recv nobody\"]\n");
    let commands: [&[&str]; 5] = [
        &["check", "s.toml", "--save", "out", "--html", "out"],
        &["check", "s.toml", "--save=out", "--html=./out"],
        &["check", "s.toml", "--save", "s.toml"],
        &["check", "s.toml", "--resume", "out", "--save", "out"],
        &["run", "s.toml", "--svg", "s.toml"],
    ];
    for command in commands {
        let told = folder.simurgh(command);
        assert_eq!(told.code, 2, "{command:?}: {}", told.stderr);
        assert!(told.stderr.contains("this file is named twice on the command line"), "{}", told.stderr);
    }
    assert!(folder.read("s.toml").starts_with(b"[[actor]]"), "it is as it was");
    assert_eq!(folder.simurgh(&["check", "s.toml", "--save", "out", "--html", "page"]).code, 1);
}

/// What a scenario is made of was replaced by its picture.
#[test]
fn a_file_that_was_read_is_not_written() {
    let folder = Folder::new("inputs");
    folder.write("p.xml", PLATFORM);
    folder.write("s.toml", &scenario(r#""recv nobody""#));
    folder.write("fine.toml", &scenario(r#""exec 1e9""#));
    assert_eq!(folder.simurgh(&["check", "s.toml", "--save", "found"]).code, 1);
    let commands: [&[&str]; 5] = [
        &["run", "s.toml", "--svg", "p.xml"],
        &["run", "s.toml", "--trace", "./p.xml"],
        &["check", "s.toml", "--save", "p.xml"],
        &["explore", "fine.toml", "--best-way", "p.xml"],
        &["replay", "found", "--html", "s.toml"],
    ];
    for command in commands {
        let told = folder.simurgh(command);
        assert_eq!(told.code, 2, "{command:?}: {}", told.told());
    }
    assert_eq!(folder.read("p.xml"), PLATFORM.as_bytes());
    assert_eq!(folder.read("s.toml"), scenario(r#""recv nobody""#).as_bytes());
    let told = folder.simurgh(commands[0]);
    assert!(told.stderr.contains("this file was read as a part of the input"), "{}", told.stderr);
}

#[test]
fn names_of_files_move_no_cursor() {
    let folder = Folder::new("names");
    folder.write("p.xml", PLATFORM);
    folder.write("s.toml", &scenario(r#""exec 1e9""#));
    let ran = folder.simurgh(&["run", "s.toml", "--svg", "a\u{1b}[31m\u{202e}b"]);
    assert!(ran.stdout.contains("wrote a\\u{1b}[31m\\u{202e}b\n"), "{}", ran.told());
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_is_lost_is_an_error() {
    let folder = Folder::new("full");
    folder.write("p.xml", PLATFORM);
    folder.write("s.toml", &scenario(r#""exec 1e9""#));
    let commands: [&[&str]; 8] = [
        &["run", "s.toml"],
        &["run", "s.toml", "--json"],
        &["check", "s.toml"],
        &["explore", "s.toml"],
        &["platform", "show", "p.xml"],
        &["--help"],
        &["completions", "bash"],
        &["man"],
    ];
    for arguments in commands {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full is there");
        let ran = std::process::Command::new(env!("CARGO_BIN_EXE_simurgh"))
            .args(arguments)
            .current_dir(folder.path())
            .stdout(full)
            .output()
            .expect("it runs");
        let told = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(2), "{arguments:?}: {told}");
        assert!(told.contains("simurgh: standard output: No space left on device"), "{arguments:?}: {told}");
    }
}

/// Nothing is waited for that may never come, nor read that never ends.
#[test]
#[cfg(unix)]
fn pipes_and_devices_are_no_files() {
    let folder = Folder::new("special");
    folder.write("p.xml", PLATFORM);
    folder.write("s.toml", &scenario(r#""recv m""#));
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status();
    assert!(made.expect("mkfifo runs").success());
    std::os::unix::fs::symlink("pipe", folder.path().join("pipe.toml")).unwrap();
    std::os::unix::fs::symlink("pipe", folder.path().join("pipe.xml")).unwrap();
    for (name, what) in [("pipe", "pipe"), ("/dev/zero", "device"), ("/dev/urandom", "device")] {
        let line =
            format!("{name}: this is a {what}, not a file; write what it gives into a file, and name that");
        let commands: [&[&str]; 7] = [
            &["run", name],
            &["check", name],
            &["replay", name],
            &["why", name, "x", "0"],
            &["run", "s.toml", "--platform", name],
            &["run", "s.toml", "--way", name],
            &["platform", "show", name],
        ];
        for arguments in commands {
            refused(&folder.simurgh(arguments), &line);
        }
        let line =
            format!("{name}: this is a {what}, not a file; name a file, which is made if it is not there");
        refused(&folder.simurgh(&["check", "s.toml", "--resume", name]), &line);
    }
    for name in ["pipe.toml", "pipe.xml"] {
        let ran = folder.simurgh(&["run", name]);
        assert!(ran.code == 2 && ran.stderr.contains("this is a pipe"), "{}", ran.told());
    }
}

#[test]
fn names_of_any_length_are_told() {
    let folder = Folder::new("long-names");
    let long = "x".repeat(70_000);
    let text = format!(
        "[[actor]]\nname = \"{long}\"\ndo = [\"recv {long}\"]\n[[actor]]\nname = \"y\"\ndo = [\"sleep 1\"]\n"
    );
    folder.write("s.toml", &text);
    let (commands, code): ([&[&str]; 4], _) = (
        [
            &["run", "s.toml"],
            &["check", "s.toml", "--save", "found.toml", "--html", "found.html"],
            &["replay", "found.toml"],
            &["check", "s.toml", "--depth", "1"],
        ],
        [1, 1, 1, 3],
    );
    for (arguments, code) in commands.into_iter().zip(code) {
        let ran = folder.simurgh(arguments);
        assert_eq!((ran.code, ran.stderr.as_str()), (code, ""), "{arguments:?}");
        assert!(
            ran.stdout.contains("xxx[... "),
            "{arguments:?}: {}",
            &ran.stdout[..1000.min(ran.stdout.len())]
        );
        assert!(ran.stdout.len() < 20_000, "{arguments:?} prints {} bytes", ran.stdout.len());
    }
}

#[test]
fn what_is_refused_is_shown_in_a_line_that_can_be_read() {
    let folder = Folder::new("odd-names");
    let long = "x".repeat(100_000);
    let quoted = format!("\"{}[... 99852 letters ...]{}\"", "x".repeat(99), "x".repeat(49));
    folder.write("s.toml", &format!("[[actor]]\nname = \"a\"\nhost = \"{long}\"\n"));
    let line = format!(
        "s.toml:1: actor \"a\": there is no host {quoted} in the platform; `simurgh platform show FILE` lists them"
    );
    refused(&folder.simurgh(&["run", "s.toml"]), &line);
    folder.write("s.toml", "[config]\n\"a\\u001b[31m\\nb\" = \"c\"\n[[actor]]\n");
    let line = "s.toml:2: unknown configuration key \"a\\u{1b}[31m\\nb\"; the keys are those of SimGrid, such as network/model and host/model; docs/models.md lists them";
    refused(&folder.simurgh(&["run", "s.toml"]), line);
    folder.write("s.toml", "[[actor]]\nname = \"a\\u001b[31m\\nb\"\nhost = \"node-0\"\ndo = [\"recv m\"]\n");
    for arguments in [["run", "s.toml"], ["check", "s.toml"]] {
        let ran = folder.simurgh(&arguments);
        assert!(ran.code == 1 && !ran.stdout.contains('\x1b'), "{}", ran.told());
    }
}

/// Names that turn the direction of what follows them, or have letters that cannot be seen, were printed as they are.
#[test]
fn all_letters_of_names_can_be_seen() {
    let folder = Folder::new("unseen-names");
    let odd = "a\u{202e}b\u{2066}c\u{200b}d\u{feff}";
    let platform = PLATFORM
        .replace("id=\"a\"", &format!("id=\"{odd}\""))
        .replace("src=\"a\"", &format!("src=\"{odd}\""));
    let platform = platform.replace("id=\"w\"", &format!("id=\"w{odd}\""));
    folder.write("p.xml", &platform.replace("id=\"l\"", &format!("id=\"l{odd}\"")));
    let actor = |name: &str, host: &str, operations: &str| {
        format!("[[actor]]\nname = \"{name}\"\nhost = \"{host}\"\ndo = [{operations}]\n")
    };
    let pair = actor(odd, odd, &format!("\"send {odd} 1\", \"recv n{odd}\""))
        + &actor("b", "b", &format!("\"recv {odd}\""));
    folder.write("s.toml", &format!("platform = \"p.xml\"\n{pair}"));
    folder.write("bad.toml", &actor(odd, "nowhere", "\"exec 1\""));
    let commands: [(&[&str], i32); 9] = [
        (&["run", "s.toml"], 1),
        (&["check", "s.toml", "--save", "found.toml"], 1),
        (&["replay", "found.toml"], 1),
        (&["explore", "s.toml"], 1),
        (&["why", "s.toml", odd, "0"], 0),
        (&["why", "s.toml", odd, "7"], 2),
        (&["platform", "show", "p.xml"], 0),
        (&["platform", "show", "p.xml", "--route", odd, "b"], 0),
        (&["run", "bad.toml"], 2),
    ];
    for (arguments, code) in commands {
        let ran = folder.simurgh(arguments);
        assert_eq!(ran.code, code, "{}", ran.told());
        let told = format!("{}{}", ran.stdout, ran.stderr);
        let seen =
            ['\u{202e}', '\u{2066}', '\u{200b}', '\u{feff}'].iter().all(|letter| !told.contains(*letter));
        assert!(seen, "{arguments:?}: {}", told.escape_default());
        assert!(told.contains("a\\u{202e}b\\u{2066}c\\u{200b}d\\u{feff}"), "{arguments:?}: {told}");
    }
    // What is for machines is as it is.
    let ran = folder.simurgh(&["run", "s.toml", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["blocked"][0]["actor"], odd, "{}", ran.told());
}

/// A date of -0 was printed as "-0.000000 s".
#[test]
fn there_is_no_negative_zero() {
    let folder = Folder::new("negative-zero");
    folder.write("p.xml", PLATFORM);
    let text = scenario("\"sleep -0\", \"exec -0\", \"sleep 1\"").replace("do =", "start_at = -0.0\ndo =");
    folder.write("s.toml", &text);
    for arguments in [
        &["run", "s.toml"][..],
        &["run", "s.toml", "--until", "-0"],
        &["run", "s.toml", "--until", "-0", "--json"],
    ] {
        let ran = folder.simurgh(arguments);
        assert!(ran.code == 0 && !ran.stdout.contains("-0.0"), "{}", ran.told());
    }
}

/// A simulation that hardly gets anywhere went on without a word.
#[test]
fn a_profile_that_repeats_very_often_is_told() {
    let folder = Folder::new("hasty-profile");
    folder.write("quick.profile", "0 1\nPERIODICITY 1e-9\n");
    folder.write("p.xml", &zone("<host id=\"c\" speed=\"1Gf\" speed_file=\"quick.profile\"/>"));
    folder.write("s.toml", "[[actor]]\nhost = \"c\"\ndo = [\"exec 1\"]\n");
    let ran = folder.simurgh(&["run", "s.toml", "-p", "p.xml", "--until", "1e-7"]);
    let line = "simurgh: warning: p.xml: a profile of host \"c\" repeats every 1e-9 s, which makes 1e9 events in each simulated second, and may take very long; give it a longer period, or stop with --until\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (0, line), "{}", ran.told());
    folder.write("quick.profile", "0 1\nPERIODICITY 1e-6\n");
    let ran = folder.simurgh(&["run", "s.toml", "-p", "p.xml", "--until", "1e-7"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.told());
}

#[test]
fn an_element_of_200000_attributes_is_refused_at_once() {
    let folder = Folder::new("attributes");
    let attributes: String = (0..200_000).map(|number| format!(" a{number}=\"\"")).collect();
    folder.write("p.xml", &zone(&format!("<host id=\"c\" speed=\"1Gf\"{attributes}/>")));
    let line = "p.xml:4: an element has more than 256 attributes; no element of a platform has; remove them";
    refused(&folder.simurgh(&["platform", "show", "p.xml"]), line);
}

/// A search of hours must not end with that.
#[test]
#[cfg(target_os = "linux")]
fn files_that_cannot_be_written_are_told_before_the_run() {
    let folder = Folder::new("unwritable");
    folder.write("p.xml", PLATFORM);
    // Whoever sets out on it does not come back.
    folder.write("s.toml", &scenario(r#""recv m""#));
    let long = format!("{}.svg", "x".repeat(252));
    let commands: [&[&str]; 6] = [
        &["run", "s.toml", "--svg"],
        &["check", "s.toml", "--save"],
        &["check", "s.toml", "--html"],
        &["check", "s.toml", "--resume"],
        &["explore", "s.toml", "--best-way"],
        &["explore", "s.toml", "--worst-svg"],
    ];
    for arguments in commands {
        for name in [long.as_str(), "/proc/none.svg"] {
            let ran = folder.simurgh(&[arguments, &[name][..]].concat());
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.told());
            assert!(ran.stderr.starts_with("simurgh: "), "{}", ran.told());
            assert!(!ran.stderr.trim_end().contains('\n'), "{}", ran.told());
        }
    }
}
