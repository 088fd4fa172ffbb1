//! How what `check` finds in compiled MPI programs is shown, kept, replayed and debugged.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::command::{Folder, Ran};

/// Compiles a program with this text.
fn compile(folder: &Folder, name: &str, text: &str) {
    folder.write(&format!("{name}.c"), text);
    let compiled = folder.simurgh(&["cc", "-g", "-O1", &format!("{name}.c"), "-o", name]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
}

/// The first message is to be that of rank 1.
const ORDER: &str = "#include <mpi.h>
#include <assert.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, size, x = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf(\"hello of %d\\n\", rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf(\"got %d\\n\", x);
    assert(x == 1);
    MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(&rank, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
";

/// Both send first, after an exchange that is fine.
const HEADS: &str = "#include <mpi.h>
int main(int argc, char **argv) {
  int rank, y;
  double x[2] = {0, 0}, z[2];
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Irecv(&y, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD, &request);
  MPI_Send(&rank, 1, MPI_INT, 1 - rank, 3, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Send(x, 2, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD);
  MPI_Recv(z, 2, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
";

/// One that follows a null pointer once it has received something.
const CRASH: &str = "#include <mpi.h>
int main(int argc, char **argv) {
  int rank, x = 5, *nowhere = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 1) MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    *nowhere = x;
  }
  MPI_Finalize();
  return 0;
}
";

/// The text without its columns: each line without bars, and without spaces at its ends.
fn cells(ran: &Ran) -> Vec<String> {
    let words = |line: &str| line.replace('│', " ").split_whitespace().collect::<Vec<_>>().join(" ");
    ran.stdout.lines().map(words).collect()
}

#[test]
fn steps_are_calls_of_mpi() {
    let folder = Folder::new("mpi-reports-calls");
    compile(&folder, "order", ORDER);
    let ran =
        folder.simurgh(&["check", "-n", "3", "--save", "order.schedule", "--html", "order.html", "./order"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    let cells = cells(&ran);
    let has = |line: &str| cells.iter().any(|cell| cell.contains(line));
    assert!(has(":17 MPI_Send(1 x MPI_INT to 0, tag"), "{}", ran.told());
    assert!(has(":12 MPI_Recv(from any, tag 7) gets"), "{}", ran.told());
    assert!(has("the message of rank 2 ✗"), "{}", ran.told());
    // A collective is one call of each rank, and nothing is said of how messages travel.
    assert_eq!(cells.iter().filter(|cell| cell.contains(":10 MPI_Barrier()")).count(), 3, "{}", ran.told());
    for word in ["mailbox", "barrier 0", "arrives", "posts a receive", "m1"] {
        assert!(!ran.stdout.contains(word), "{word}: {}", ran.told());
    }
    for line in ["rank 0 | hello of 0", "rank 0 | got 2", "rank 1 | hello of 1", "rank 2 | hello of 2"] {
        assert!(cells.iter().any(|cell| cell == line), "{line}: {}", ran.told());
    }
    // The same again, and in the page.
    let replayed = folder.simurgh(&["replay", "order.schedule"]);
    assert!(
        replayed.code == 1 && replayed.stdout.contains("MPI_Send(1 x MPI_INT to 0,"),
        "{}",
        replayed.told()
    );
    let page = String::from_utf8(folder.read("order.html")).expect("it is text");
    assert!(page.contains("rank 0 MPI_Recv(from any, tag 7) gets the message of rank 2"));
    assert!(!page.contains("posts a receive") && !page.contains("arrives at"));
    // A program that holds prints nothing of its own.
    let ran = folder.simurgh(&["check", "-n", "2", "./order"]);
    assert!(!ran.stdout.starts_with("hello"), "{}", ran.told());
}

#[test]
fn who_waits_for_ever_is_told_by_its_call_and_line() {
    let folder = Folder::new("mpi-reports-waits");
    compile(&folder, "heads", HEADS);
    let ran = folder.simurgh(&["check", "-n", "2", "./heads"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    for rank in 0..2 {
        let line =
            format!("  rank {rank}  waits in MPI_Send(2 x MPI_DOUBLE to {}, tag 0) (heads.c:11)\n", 1 - rank);
        assert!(ran.stdout.contains(&line), "{}", ran.told());
    }
    let has = |line: &str| cells(&ran).iter().any(|cell| cell.contains(line));
    assert!(
        has(":8 MPI_Irecv(from 1, tag 3)") && has(":10 MPI_Wait(MPI_Irecv from 1, tag 3)"),
        "{}",
        ran.told()
    );
}

#[test]
fn calls_are_told_with_what_they_are_given() {
    let folder = Folder::new("mpi-reports-arguments");
    let text = "#include <mpi.h>
int main(int argc, char **argv) {
  int rank, x = 0, y[8], z[8];
  MPI_Request requests[2];
  MPI_Comm half;
  MPI_Datatype pair;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&rank, &x, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Bcast(y, 4, MPI_INT, 1, MPI_COMM_WORLD);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &half);
  MPI_Comm_set_name(half, \"half\");
  MPI_Barrier(half);
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Irecv(y, 1, pair, 1 - rank, MPI_ANY_TAG, half, &requests[0]);
  MPI_Isend(z, 1, pair, 1 - rank, 4, half, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(z, 3, MPI_INT, 1 - rank, 1, y, 3, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Type_free(&pair);
  MPI_Comm_free(&half);
  return rank == 0 ? MPI_Recv(y, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE), *(volatile int *)0 : 0;
}
";
    compile(&folder, "many", text);
    let ran = folder.simurgh(&["check", "-n", "2", "--buffering", "zero", "--json", "./many"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    let object: Value = serde_json::from_str(&ran.stdout).expect("one object");
    let calls = object["counterexample"]["calls"].as_array().expect("there are calls");
    let does: Vec<&str> = calls.iter().filter_map(|call| call["does"].as_str()).collect();
    for call in [
        "MPI_Allreduce(1 x MPI_INT, MPI_MAX)",
        "MPI_Bcast(4 x MPI_INT, root 1)",
        "MPI_Comm_split(color 0, key 0)",
        "MPI_Barrier(on \"half\")",
        "MPI_Irecv(from 1, any tag, on \"half\")",
        "MPI_Isend(1 x a derived datatype to 1, tag 4, on \"half\")",
        "MPI_Waitall(2 requests) gets the message of rank 1",
        "MPI_Sendrecv(3 x MPI_INT to 1, tag 1, from 1, tag 1)",
    ] {
        assert!(does.contains(&call), "{call}: {does:#?}");
    }
}

#[test]
fn reports_for_machines_say_kind_rank_call_and_line() {
    let folder = Folder::new("mpi-reports-machines");
    compile(&folder, "order", ORDER);
    compile(&folder, "heads", HEADS);
    compile(&folder, "crash", CRASH);
    let table: [(&str, &str, &str, u64, &str, u64); 3] = [
        ("order", "3", "assertion", 0, "MPI_Recv(from any, tag 7)", 14),
        ("heads", "2", "deadlock", 0, "MPI_Send(2 x MPI_DOUBLE to 1, tag 0)", 11),
        ("crash", "2", "crash", 0, "MPI_Recv(from 1, tag 0)", 9),
    ];
    for (name, processes, kind, rank, call, line) in table {
        let program = format!("./{name}");
        let words =
            ["check", "-n", processes, "--json", "--junit", "out.xml", "--sarif", "out.sarif", &program];
        let ran = folder.simurgh(&words);
        assert_eq!(ran.code, 1, "{}", ran.told());
        let object: Value = serde_json::from_str(&ran.stdout).expect("one object");
        let found = &object["counterexamples"][0];
        let finding = &found["finding"];
        assert_eq!(finding["kind"], kind, "{finding}");
        assert_eq!((&finding["rank"], &finding["call"]), (&rank.into(), &call.into()), "{finding}");
        assert_eq!(
            (&finding["file"], &finding["line"]),
            (&format!("{name}.c").into(), &line.into()),
            "{finding}"
        );
        assert!(finding["message"].as_str().is_some_and(|text| !text.is_empty()), "{finding}");
        assert_eq!(found["schedule"].as_array().map(Vec::len), found["steps"].as_array().map(Vec::len));
        let sarif: Value = serde_json::from_slice(&folder.read("out.sarif")).expect("one object");
        assert_eq!(sarif["version"], "2.1.0");
        let result = &sarif["runs"][0]["results"][0];
        assert_eq!((&result["ruleId"], &result["level"]), (&kind.into(), &"error".into()), "{result}");
        let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().expect("there are rules");
        assert_eq!(rules[result["ruleIndex"].as_u64().expect("a number") as usize]["id"], kind);
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], format!("{name}.c"), "{place}");
        assert_eq!(place["region"]["startLine"], line, "{place}");
        let junit = String::from_utf8(folder.read("out.xml")).expect("it is text");
        assert!(junit.contains(&format!("<failure type=\"{kind}\" message=\"")), "{junit}");
        assert!(junit.contains("failures=\"1\" errors=\"0\" skipped=\"0\""), "{junit}");
    }
    // What holds is no failure, and what was not exhausted is no success.
    compile(&folder, "fan", FAN_IN);
    let ran = folder.simurgh(&["check", "-n", "2", "--junit", "out.xml", "--sarif", "out.sarif", "./fan"]);
    assert_eq!(ran.code, 0, "{}", ran.told());
    let junit = String::from_utf8(folder.read("out.xml")).expect("it is text");
    assert!(junit.contains("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"0\""), "{junit}");
    let sarif: Value = serde_json::from_slice(&folder.read("out.sarif")).expect("one object");
    assert_eq!(sarif["runs"][0]["results"], Value::Array(Vec::new()));
    let ran = folder.simurgh(&["check", "-n", "3", "--executions", "1", "--junit", "out.xml", "./order"]);
    assert_eq!(ran.code, 3, "{}", ran.told());
    let junit = String::from_utf8(folder.read("out.xml")).expect("it is text");
    assert!(junit.contains("<skipped message=\"not exhausted: stopped after 1 execution"), "{junit}");
}

/// What gdb prints when it is given these commands.
fn walked(folder: &Folder, schedule: &str, commands: &str) -> Option<String> {
    Command::new("gdb").arg("--version").output().ok()?;
    let mut gdb = Command::new(env!("CARGO_BIN_EXE_simurgh"))
        .args(["replay", schedule, "--gdb"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("simurgh runs");
    gdb.stdin.take().expect("it is piped").write_all(commands.as_bytes()).expect("gdb reads");
    let output = gdb.wait_with_output().expect("it ends");
    Some(String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

#[test]
fn a_schedule_is_walked_in_gdb() {
    let folder = Folder::new("mpi-reports-gdb");
    compile(&folder, "order", ORDER);
    compile(&folder, "crash", CRASH);
    let ran = folder.simurgh(&["check", "-n", "3", "--save", "order.schedule", "./order"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    let commands = "simurgh next\nsimurgh next\nsimurgh next\nsimurgh next\nrank print rank\nsimurgh next\nsimurgh ranks\nsimurgh next\nprint x\n\
                    continue\n";
    let Some(told) = walked(&folder, "order.schedule", commands) else { return };
    for line in [
        "3 ranks are there, and have called MPI_Init.",
        "rank 1: MPI_Barrier()",
        "rank 2: MPI_Send(1 x MPI_INT to 0, tag 7)",
        "rank 0: MPI_Recv(from any, tag 7) gets the message of rank 2",
        ">    12      MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE",
        "rank 0    waits in MPI_Recv, in main at order.c:12",
        "rank 0 ends here, in main at order.c:14",
        "= 2",
        "it happens again: rank 0 failed: ",
        "assertion `x == 1' failed",
    ] {
        assert!(told.contains(line), "{line}:\n{told}");
    }
    let ran = folder.simurgh(&["check", "-n", "2", "--save", "crash.schedule", "./crash"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    let told = walked(&folder, "crash.schedule", "simurgh end\nprint x\ncontinue\n").expect("gdb is there");
    for line in [
        "Segmentation fault",
        "$1 = 5",
        "it happens again: rank 0 failed: ",
        "segmentation fault writing 0x0",
    ] {
        assert!(told.contains(line), "{line}:\n{told}");
    }
}

#[test]
fn every_kind_is_replayed() {
    let folder = Folder::new("mpi-reports-replays");
    let main = |statements: &str| {
        format!(
            "#include <mpi.h>\n#include <stdlib.h>\nint main(int argc, char **argv) {{ int rank, x = 0; MPI_Init(&argc, &argv);\n\
             MPI_Comm_rank(MPI_COMM_WORLD, &rank); (void)x;\n{statements}\nMPI_Finalize(); return 0; }}\n"
        )
    };
    let programs = [
        ("order", ORDER.to_owned()),
        ("heads", HEADS.to_owned()),
        ("crash", CRASH.to_owned()),
        ("aborts", main("if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3); MPI_Barrier(MPI_COMM_WORLD);")),
        ("leaves", main("if (rank == 1) exit(0); MPI_Barrier(MPI_COMM_WORLD);")),
        ("argument", main("if (rank == 0) MPI_Send(&x, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);")),
        (
            "late",
            main(
                "MPI_Barrier(MPI_COMM_WORLD); if (rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
            ),
        ),
    ];
    for (name, text) in programs {
        compile(&folder, name, &text);
        let processes = if name == "order" { "3" } else { "2" };
        let ran = folder.simurgh(&[
            "check",
            "-n",
            processes,
            "--json",
            "--save",
            "found.schedule",
            &format!("./{name}"),
        ]);
        assert_eq!(ran.code, 1, "{}", ran.told());
        let object: Value = serde_json::from_str(&ran.stdout).expect("one object");
        let what = object["counterexample"]["what"].as_str().expect("it was found").to_owned();
        let replayed = folder.simurgh(&["replay", "found.schedule", "--json"]);
        let object: Value = serde_json::from_str(&replayed.stdout).expect("one object");
        assert_eq!(replayed.code, 1, "{name}: {}", replayed.told());
        assert_eq!((&object["reproduced"], &object["what"]), (&true.into(), &what.as_str().into()), "{name}");
    }
}

#[test]
fn a_folder_is_a_test_suite() {
    let folder = Folder::new("mpi-reports-suite");
    std::fs::create_dir_all(folder.path().join("all/ready")).expect("the folder is ours");
    compile(&folder, "heads", HEADS);
    std::fs::rename(folder.path().join("heads"), folder.path().join("all/compiled"))
        .expect("the folder is ours");
    folder.write("all/order.c", ORDER);
    folder.write("all/crash.c", CRASH);
    folder.write("all/helper.c", "int help(void) { return 1; }\n");
    folder.write(
        "all/scene.toml",
        "[[actor]]\nname = \"a\"\ndo = [\"send m 8\"]\n[[actor]]\nname = \"b\"\ndo = [\"recv m\", \"recv m\"]\n[[actor]]\nname = \"c\"\ndo = [\"send m 8\"]\n",
    );
    let words = ["check", "-n", "2", "--junit", "all.xml", "--sarif", "all.sarif", "--save", "kept", "all"];
    let ran = folder.simurgh(&words);
    assert_eq!(ran.code, 1, "{}", ran.told());
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert!(
        lines[0].starts_with("compiled    deadlock: rank 0 and rank 1 wait for ever (--buffering zero)"),
        "{}",
        ran.told()
    );
    assert!(lines[1].starts_with("crash.c     crash: rank 0 failed: "), "{}", ran.told());
    assert!(lines[2].starts_with("order.c     deadlock: rank 0 waits for ever"), "{}", ran.told());
    assert!(lines[3].starts_with("scene.toml  holds: 2 executions, "), "{}", ran.told());
    assert_eq!(
        lines[5..8],
        ["programs          4", "  hold            1", "  violated        3"],
        "{}",
        ran.told()
    );
    let junit = String::from_utf8(folder.read("all.xml")).expect("it is text");
    assert!(junit.contains("tests=\"4\" failures=\"3\" errors=\"0\" skipped=\"0\""), "{junit}");
    let sarif: Value = serde_json::from_slice(&folder.read("all.sarif")).expect("one object");
    assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(3));
    let replayed = folder.simurgh(&["replay", "kept/crash-c.schedule"]);
    assert!(replayed.code == 1 && replayed.stdout.contains("segmentation fault"), "{}", replayed.told());
    // What does not compile is told, and does not hide what is violated; nor does what is not exhausted.
    folder.write("all/broken.c", "#include <mpi.h>\nint main(void) { MPI_Init(0, 0) }\n");
    let ran = folder.simurgh(&["check", "-n", "2", "all"]);
    assert!(
        ran.code == 1 && ran.stdout.contains("broken.c    cannot run: it does not compile: "),
        "{}",
        ran.told()
    );
    for name in ["compiled", "crash.c", "order.c"] {
        std::fs::remove_file(folder.path().join("all").join(name)).expect("it is there");
    }
    let ran = folder.simurgh(&["check", "-n", "2", "all"]);
    assert_eq!(ran.code, 2, "{}", ran.told());
    std::fs::remove_file(folder.path().join("all/broken.c")).expect("it is there");
    let ran = folder.simurgh(&["check", "all"]);
    assert_eq!(ran.code, 0, "{}", ran.told());
    let ran = folder.simurgh(&["check", "--executions", "1", "all"]);
    assert!(
        ran.code == 3 && ran.stdout.contains("scene.toml  not exhausted: stopped after 1 execution"),
        "{}",
        ran.told()
    );
    let ran = folder.simurgh(&["check", "all/ready"]);
    assert!(
        ran.code == 2 && ran.stderr.starts_with("simurgh: all/ready: there is nothing to check in it: "),
        "{}",
        ran.told()
    );
}

/// One receiver of all others, so that there is an execution for each order of them.
const FAN_IN: &str = "#include <mpi.h>
int main(int argc, char **argv) {
  int rank, size, x = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) for (int i = 1; i < size; i++) MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  else MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
";

fn searches(ran: &Ran) -> Vec<(String, u64)> {
    let object: Value = serde_json::from_str(&ran.stdout).expect("one object");
    let searches = object["searches"].as_array().expect("there are searches");
    let one = |search: &Value| {
        (
            search["buffering"].as_str().expect("a word").to_owned(),
            search["executions"].as_u64().expect("a number"),
        )
    };
    searches.iter().map(one).collect()
}

#[test]
fn a_search_of_an_mpi_program_goes_on_where_it_was_killed() {
    let folder = Folder::new("mpi-reports-resume");
    compile(&folder, "fan", FAN_IN);
    let go = |more: &[&str]| {
        let words = ["check", "-n", "7", "--json", "--resume", "left"];
        folder.simurgh(&[&words[..], more, &["./fan"]].concat())
    };
    // Step by step, with the first search of two and then the second.
    let ran = go(&["--executions", "500"]);
    assert_eq!((ran.code, searches(&ran)), (3, vec![("infinite".to_owned(), 500)]), "{}", ran.told());
    let ran = go(&["--executions", "700"]);
    assert_eq!((ran.code, searches(&ran)), (3, vec![("infinite".to_owned(), 700)]), "{}", ran.told());
    assert!(folder.path().join("left").exists() && !folder.path().join("left.zero").exists());
    // Of another number of processes, with other sends, with other arguments, or compiled anew it is another search.
    for other in [
        &["check", "-n", "6", "--resume", "left", "./fan"][..],
        &["check", "-n", "7", "--buffering", "zero", "--resume", "left", "./fan"],
        &["check", "-n", "7", "--resume", "left", "./fan", "argument"],
    ] {
        let ran = folder.simurgh(other);
        assert!(ran.code == 2 && ran.stderr.starts_with("simurgh: left: the search of "), "{}", ran.told());
    }
    let before = folder.read("fan");
    compile(&folder, "fan", &FAN_IN.replace("x = 0", "x = 1, unused"));
    let ran = go(&[]);
    assert!(
        ran.code == 2 && ran.stderr.contains("or before it was changed and built again"),
        "{}",
        ran.told()
    );
    folder.write_bytes("fan", &before);
    // Killed, whenever that is, it comes to the same in the end.
    for milliseconds in [50, 150, 400] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_simurgh"))
            .args(["check", "-n", "7", "--resume", "left", "./fan"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("simurgh runs");
        std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        child.kill().and_then(|()| child.wait()).expect("it ends");
    }
    let ran = go(&[]);
    let both = vec![("infinite".to_owned(), 720), ("zero".to_owned(), 720)];
    assert_eq!((ran.code, searches(&ran)), (0, both), "{}", ran.told());
    assert!(!folder.path().join("left").exists() && !folder.path().join("left.zero").exists());
    // The second search is gone on with, and the first is not done again.
    let ran = folder.simurgh(&["check", "-n", "7", "--json", "--resume", "left", "--time", "0", "./fan"]);
    assert_eq!(ran.code, 3, "{}", ran.told());
    let ran = go(&["--executions", "720"]);
    assert_eq!(searches(&ran)[0], ("infinite".to_owned(), 720), "{}", ran.told());
}

#[test]
fn executions_do_not_see_what_others_did_to_files() {
    let folder = Folder::new("mpi-reports-files");
    let text = "#include <mpi.h>
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, size, x = 0, number = 0;
  char name[32];
  MPI_File file;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  sprintf(name, \"made-%d\", rank);
  assert(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS);
  MPI_File_write(file, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
  sprintf(name, \"log-%d\", rank);
  for (int i = 0; i < 20; i++) assert(open(name, O_WRONLY | O_CREAT | O_APPEND, 0600) >= 0);
  if (rank == 0) {
    FILE *data = fopen(\"data\", \"r+\");
    assert(data && fscanf(data, \"%d\", &number) == 1 && number == 7);
    rewind(data);
    fprintf(data, \"8\\n\");
    for (int i = 1; i < size; i++) MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_File_close(&file);
  MPI_Finalize();
  return 0;
}
";
    compile(&folder, "files", text);
    folder.write("data", "7\n");
    // More than a thousand descriptors would be open in the end.
    let ran = folder.simurgh(&["check", "-n", "5", "./files"]);
    assert!(
        ran.code == 0 && ran.stdout.contains("--buffering zero: holds: 24 executions,"),
        "{}",
        ran.told()
    );
    assert_eq!(folder.read("data"), b"7\n");
    let mut names: Vec<_> = std::fs::read_dir(folder.path())
        .expect("the folder is ours")
        .map(|entry| entry.expect("it is there").file_name().into_string().expect("it is text"))
        .collect();
    names.sort();
    assert_eq!(names, ["data", "files", "files.c"]);
}
