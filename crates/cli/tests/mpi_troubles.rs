//! What whoever runs an MPI program reads when it goes wrong: who, where, and what the others were doing.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::mpi::{compile, is_there, run, two_at_a_time};
use crate::support::command::{Folder, Ran};

/// A program of these statements, run by so many processes; without computation, so that it is the same each time.
fn ran(folder: &Folder, name: &str, processes: &str, statements: &str) -> Ran {
    compile(folder, name, statements);
    folder.simurgh(&["run", "-n", processes, "--oversubscribe", "--compute", "none", &format!("./{name}")])
}

fn says(ran: &Ran, code: i32, stderr: &str) {
    assert_eq!((ran.code, ran.stderr.as_str()), (code, stderr), "{}", ran.told());
}

/// Deadlocks: their names, how many processes, their statements, and all that is said.
const DEADLOCKS: [(&str, &str, &str, &str); 11] = [
    (
        "skipped",
        "64",
        "if (rank != 0) MPI_Barrier(MPI_COMM_WORLD);",
        "  rank 0: called MPI_Finalize and ended\n\
         \x20 ranks 1-63: MPI_Barrier at skipped.c:5\n\
         \x20 hint: rank 0 has ended, and rank 1 waits in MPI_Barrier for all processes of its communicator\n",
    ),
    (
        "mixed",
        "4",
        "if (rank == 2) MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);\nelse MPI_Barrier(MPI_COMM_WORLD);",
        "  rank 2: MPI_Bcast at mixed.c:5\n\
         \x20 ranks 0, 1, 3: MPI_Barrier at mixed.c:6\n\
         \x20 hint: MPI_Barrier and MPI_Bcast wait for one another: all processes of a communicator call the same collectives, in the same order and with the same root\n",
    ),
    (
        "tags",
        "2",
        "if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);\nMPI_Recv(&x, 1, MPI_INT, 1 - rank, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "  rank 0: MPI_Recv from rank 1, tag 7 at tags.c:6\n\
         \x20 rank 1: MPI_Recv from rank 0, tag 7 at tags.c:6\n\
         \x20 hint: rank 1 waits for tag 7; a message with tag 6 has been sent to it from rank 0\n",
    ),
    (
        "anybody",
        "2",
        "if (rank == 1) MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "  rank 0: called MPI_Finalize and ended\n\
         \x20 rank 1: MPI_Recv from any source, any tag at anybody.c:5\n",
    ),
    (
        "gone",
        "2",
        "static char large[100000]; if (rank == 1) MPI_Send(large, 100000, MPI_CHAR, 0, 3, MPI_COMM_WORLD);",
        "  rank 0: called MPI_Finalize and ended\n\
         \x20 rank 1: MPI_Send to rank 0, tag 3 at gone.c:5\n\
         \x20 hint: rank 1 waits for rank 0, which has ended\n",
    ),
    (
        "row",
        "4",
        "MPI_Comm row; MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &row); MPI_Comm_set_name(row, \"row\");\nif (rank == 3) MPI_Recv(&x, 1, MPI_INT, 0, 4, row, MPI_STATUS_IGNORE);",
        "  rank 3: MPI_Recv from rank 0 (rank 2 of the run), tag 4 on \"row\" at row.c:6\n\
         \x20 ranks 0-2: called MPI_Finalize and ended\n\
         \x20 hint: rank 3 waits for rank 2, which has ended\n",
    ),
    (
        "waited",
        "2",
        "MPI_Request requests[2]; MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, requests); MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, requests + 1);\nif (rank == 0) MPI_Wait(requests, MPI_STATUS_IGNORE);\nelse MPI_Waitany(2, requests, &x, MPI_STATUS_IGNORE);",
        "  rank 0: MPI_Wait for MPI_Irecv from rank 1, tag 1 at waited.c:6\n\
         \x20 rank 1: MPI_Waitany for one of 2 requests, the first MPI_Irecv from rank 0, tag 1 at waited.c:7\n",
    ),
    (
        "all",
        "2",
        "MPI_Request requests[3]; if (rank == 0) { for (int tag = 0; tag < 3; tag++) MPI_Irecv(&x, 1, MPI_INT, 1, tag, MPI_COMM_WORLD, requests + tag);\nMPI_Waitall(3, requests, MPI_STATUSES_IGNORE); }\nelse { MPI_Send(&x, 1, MPI_INT, 0, 2, MPI_COMM_WORLD); MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); }",
        "  rank 0: MPI_Waitall for MPI_Irecv from rank 1, tag 1 at all.c:6\n\
         \x20 rank 1: called MPI_Finalize and ended\n\
         \x20 hint: rank 0 waits for rank 1, which has ended\n",
    ),
    (
        "immediate",
        "2",
        "MPI_Request request; if (rank == 0) { MPI_Ibarrier(MPI_COMM_WORLD, &request);\nMPI_Wait(&request, MPI_STATUS_IGNORE); }",
        "  rank 0: MPI_Wait for MPI_Ibarrier at immediate.c:6\n\
         \x20 rank 1: called MPI_Finalize and ended\n\
         \x20 hint: rank 1 has ended, and rank 0 waits in MPI_Ibarrier for all processes of its communicator\n",
    ),
    (
        "ring",
        "64",
        "MPI_Recv(&x, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "  ranks 0-63: MPI_Recv (rank 0: from rank 1, tag 0) at ring.c:5\n",
    ),
    (
        "begun",
        "1",
        "MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        "  rank 0: MPI_Recv from rank 0, tag 0 at begun.c:5\n\
         \x20 hint: rank 0 waits in MPI_Recv for itself\n",
    ),
];

#[test]
fn a_deadlock_names_calls_peers_and_lines() {
    let folder = Folder::new("mpi-deadlocks");
    let wrong = two_at_a_time(&DEADLOCKS, |(name, processes, statements, told)| {
        let ran = ran(&folder, name, processes, statements);
        let rest = ran.stderr.split_once(" s on no process can go on\n").map(|(_, rest)| rest);
        let is_right = ran.code == 1 && rest == Some(*told) && ran.stdout.starts_with("blocked for ever at ");
        (!is_right).then(|| ran.told())
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same for machines; the keys that were there before stay.
#[test]
fn a_deadlock_is_told_to_machines() {
    let folder = Folder::new("mpi-deadlock-json");
    compile(&folder, "tags", DEADLOCKS[2].2);
    let json = folder.simurgh(&["run", "--json", "-n", "2", "--compute", "none", "./tags"]);
    assert_eq!(json.code, 1, "{}", json.told());
    let object: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(object["end"], "deadlock");
    assert_eq!(object["blocked"][1]["actor"], "rank 1");
    assert_eq!(object["blocked"][1]["waits_for"], "in MPI_Recv from rank 0, tag 7 at tags.c:6");
    let second = &object["mpi"]["report"]["ranks"][1];
    assert_eq!(second["ranks"], serde_json::json!([1]));
    assert_eq!(
        (&second["call"], &second["peer"], &second["tag"], &second["line"]),
        (&"MPI_Recv".into(), &"from rank 0".into(), &"tag 7".into(), &"tags.c:6".into())
    );
    assert!(object["mpi"]["report"]["advice"][0].as_str().is_some_and(|advice| advice.contains("tag 6")));
}

/// A crash ends the run at once, and is told once.
#[test]
fn a_crash_ends_the_run() {
    let folder = Folder::new("mpi-crash");
    let crash = ran(
        &folder,
        "crash",
        "4",
        "if (rank == 2) { printf(\"half a line\"); *(volatile int *)0 = 1; }\nMPI_Barrier(MPI_COMM_WORLD);",
    );
    says(
        &crash,
        1,
        "simurgh: rank 2: crash.c:5: segmentation fault writing 0x0\n  meanwhile:\n  ranks 0, 1, 3: MPI_Barrier at crash.c:6\n",
    );
    assert!(crash.stdout.starts_with("half a line\nfailed at "), "{}", crash.told());
    // With the functions that led there.
    folder.write(
        "deep.c",
        "#include <mpi.h>\n#include <assert.h>\nvoid solve(int rank) { assert(rank != 1); }\n\
         int main(void) { int rank; MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\nsolve(rank);\nMPI_Finalize(); }\n",
    );
    let compiled = folder.simurgh(&["cc", "-g", "-O0", "deep.c", "-o", "deep"]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
    let deep = folder.simurgh(&["run", "-q", "-n", "2", "./deep"]);
    assert_eq!(deep.code, 1, "{}", deep.told());
    assert!(
        deep.stderr.contains("simurgh: rank 1: deep.c:3: solve: assertion `rank != 1' failed\n"),
        "{}",
        deep.told()
    );
    assert!(deep.stderr.contains("    in solve at deep.c:3\n    in main at deep.c:5\n"), "{}", deep.told());
    assert!(deep.stderr.matches("simurgh: rank").count() == 1, "{}", deep.told());
}

/// A large array is not on the stack of another process, whatever the compiler checks.
#[test]
fn a_stack_that_is_too_small_is_told() {
    let folder = Folder::new("mpi-stack");
    folder.write(
        "deep.c",
        "#include <mpi.h>\nint use(void) { volatile char array[2u << 30 >> 2]; array[0] = 1; return array[0]; }\n\
         int main(void) { int rank; MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\
         if (rank == 1) use();\nMPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); }\n",
    );
    let compiled = folder.simurgh(&["cc", "-g", "-O0", "-w", "deep.c", "-o", "deep"]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
    let mut limited = Command::new("sh");
    let command =
        format!("ulimit -s 8192 && exec {} run -n 2 --compute none ./deep", env!("CARGO_BIN_EXE_simurgh"));
    let output = limited.args(["-c", &command]).current_dir(folder.path()).output().expect("sh runs");
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.starts_with(
            "simurgh: rank 1: deep.c:2: stack overflow: more than 8192 KiB of stack; `ulimit -s`"
        ),
        "{told}"
    );
}

/// What C++ does not catch, and heaps that were written over.
#[test]
fn other_crashes_are_told() {
    let folder = Folder::new("mpi-other-crashes");
    if is_there("g++") {
        folder.write(
            "thrown.cpp",
            "#include <mpi.h>\n#include <stdexcept>\nint main() { int rank; MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\
             if (rank == 1) throw std::runtime_error(\"no such mesh\");\nMPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); }\n",
        );
        let compiled = folder.simurgh(&["cxx", "-g", "thrown.cpp", "-o", "thrown"]);
        assert_eq!(compiled.code, 0, "{}", compiled.told());
        let ran = folder.simurgh(&["run", "-n", "2", "--compute", "none", "./thrown"]);
        assert_eq!(ran.code, 1, "{}", ran.told());
        for part in
            ["no such mesh", "simurgh: rank 1: ", "thrown.cpp:4", "  rank 0: MPI_Barrier at thrown.cpp:5\n"]
        {
            assert!(ran.stderr.contains(part), "{part}: {}", ran.told());
        }
    }
    let exits = ran(&folder, "exits", "4", "if (rank == 3) exit(7); MPI_Barrier(MPI_COMM_WORLD);");
    says(
        &exits,
        1,
        "simurgh: rank 3: exits.c:5: exited with code 7, without MPI_Finalize\n  meanwhile:\n  ranks 0-2: MPI_Barrier at exits.c:5\n",
    );
    // Who ends first leaves the others time to say why.
    let told = ran(
        &folder,
        "told",
        "4",
        "extern int usleep(unsigned); if (rank == 0) { usleep(100); fprintf(stderr, \"no such deck\\n\"); } exit(1);",
    );
    assert_eq!(told.code, 1, "{}", told.told());
    assert!(
        told.stderr.starts_with("no such deck\nsimurgh: rank 1: told.c:5: exited with code 1"),
        "{}",
        told.told()
    );
    let late = ran(&folder, "late", "4", "x = rank > 1;");
    says(&late, 1, "simurgh: ranks 2, 3: exited with code 1\n");
    let before = ran(&folder, "before", "1", "MPI_Finalize(); MPI_Barrier(MPI_COMM_WORLD);");
    says(
        &before,
        1,
        "simurgh: rank 0: before.c:5: MPI_Barrier on MPI_COMM_WORLD: called after MPI_Finalize (MPI_ERR_OTHER)\n",
    );
}

/// Launchers end as their processes do.
#[test]
fn mpiexec_ends_with_the_code_of_the_program() {
    let folder = Folder::new("mpi-codes");
    let links = folder.simurgh(&["mpi", "wrappers", "bin"]);
    assert_eq!(links.code, 0, "{}", links.told());
    let file = folder.simurgh(&["mpi", "wrappers", "bin/mpicc"]);
    assert_eq!(file.code, 2, "{}", file.told());
    compile(&folder, "codes", "if (argc > 1) MPI_Abort(MPI_COMM_WORLD, atoi(argv[1])); x = 9 * (rank == 1);");
    let code = |arguments: &[&str]| {
        let mut command = Command::new(folder.path().join("bin/mpiexec"));
        command.args(["-n", "2", "./codes"]).args(arguments).current_dir(folder.path());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().expect("the link is there").code()
    };
    assert_eq!(code(&["42"]), Some(42));
    assert_eq!(code(&["256"]), Some(1), "a failure is never seen as none");
    assert_eq!(code(&[]), Some(9));
    // The rule of the tool is another one.
    assert_eq!(run(&folder, "codes").code, 1);
}

/// Loops that never come back: they are told after a while, and ended where that is said.
#[test]
fn an_endless_loop_is_told() {
    let folder = Folder::new("mpi-endless");
    compile(
        &folder,
        "spin",
        "volatile int flag = 0; if (rank == 1)\nwhile (!flag);\nMPI_Barrier(MPI_COMM_WORLD);",
    );
    let spin = folder.simurgh(&["run", "-n", "4", "--compute", "none", "--stuck-after", "1", "./spin"]);
    says(
        &spin,
        3,
        "simurgh: rank 1: spin.c:6: did not come any further for 1 s (--stuck-after)\n  meanwhile:\n  ranks 0, 2, 3: MPI_Barrier at spin.c:7\n",
    );
    compile(&folder, "clock", "if (rank == 1)\nwhile (MPI_Wtime() >= 0);\nMPI_Barrier(MPI_COMM_WORLD);");
    let clock = folder.simurgh(&["run", "-n", "2", "--compute", "none", "--stuck-after", "1", "./clock"]);
    assert_eq!(clock.code, 3, "{}", clock.told());
    assert!(
        clock.stderr.starts_with("simurgh: rank 1: clock.c:6: did not come any further for 1 s"),
        "{}",
        clock.told()
    );
    let wrong = folder.simurgh(&["run", "-n", "2", "--stuck-after", "0", "./clock"]);
    says(&wrong, 2, "simurgh: --stuck-after 0: give a number of seconds, such as 60\n");
}

/// Without any option, somebody is told where it is, and nobody is ended.
#[test]
fn a_long_computation_is_told_and_goes_on() {
    let folder = Folder::new("mpi-long");
    compile(&folder, "long", "volatile int flag = 0; if (rank == 1)\nwhile (!flag);");
    let mut command = Command::new(env!("CARGO_BIN_EXE_simurgh"));
    command.args(["run", "-n", "2", "--compute", "none", "./long"]).current_dir(folder.path());
    let mut child = command.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("it runs");
    let mut line = String::new();
    let told = BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut line);
    let goes_on = child.try_wait();
    child.kill().expect("it can be ended");
    child.wait().expect("it ends");
    assert!(told.is_ok() && matches!(goes_on, Ok(None)), "{line}");
    assert!(
        line.starts_with("simurgh: rank 1 has run for 10 s without a call of MPI at long.c:6; it goes on"),
        "{line}"
    );
}

/// Polling lets time pass, and never ends by itself.
#[test]
fn polling_for_what_never_comes_is_told() {
    let folder = Folder::new("mpi-polling");
    let probe = ran(
        &folder,
        "probe",
        "3",
        "MPI_Status status; if (rank == 1) MPI_Probe(0, 7, MPI_COMM_WORLD, &status);\nif (rank == 2) MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &status);",
    );
    assert_eq!(probe.code, 1, "{}", probe.told());
    assert!(
        probe.stderr.starts_with("simurgh: rank 1: probe.c:5: polls for ever: since 0.0"),
        "{}",
        probe.told()
    );
    assert!(
        probe.stderr.contains("  rank 2: MPI_Recv from rank 1, tag 0 at probe.c:6\n"),
        "{}",
        probe.told()
    );
    let test = ran(
        &folder,
        "test",
        "2",
        "MPI_Request request; int flag = 0; MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);\nwhile (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);",
    );
    assert_eq!(test.code, 1, "{}", test.told());
    assert!(test.stderr.contains(": test.c:6: polls for ever"), "{}", test.told());
    // Who sleeps will go on, and so will what waits for it.
    let sleeps = ran(
        &folder,
        "sleeps",
        "2",
        "extern unsigned sleep(unsigned); int flag = 0; if (rank == 0) { sleep(1000000); MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); } else {\nwhile (!flag) MPI_Iprobe(0, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }",
    );
    says(&sleeps, 0, "");
}

/// What is left undone is a warning, and no failure; what is right is not told.
#[test]
fn what_is_left_undone_is_told() {
    let folder = Folder::new("mpi-leftovers");
    let left = ran(
        &folder,
        "left",
        "3",
        "MPI_Request r; MPI_Irecv(&x, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &r); if (rank == 0) { MPI_Send(&x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD); MPI_Send(&x, 1, MPI_INT, 1, 5, MPI_COMM_WORLD); }",
    );
    says(
        &left,
        0,
        "simurgh: warning: at MPI_Finalize requests were neither completed nor freed: 3 of MPI_Irecv on ranks 0-2\n\
         simurgh: warning: 2 messages were never received: 2 times from rank 0 to rank 1 with tag 5 (8 bytes)\n",
    );
    let quiet = folder.simurgh(&["run", "-q", "-n", "3", "--compute", "none", "./left"]);
    says(&quiet, 0, "");
    let fine = ran(
        &folder,
        "fine",
        "2",
        "MPI_Request r; MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 6, MPI_COMM_WORLD, &r); MPI_Cancel(&r); MPI_Wait(&r, MPI_STATUS_IGNORE); \
         MPI_Isend(&x, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &r); MPI_Request_free(&r); \
         MPI_Irecv(&x, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, &r); MPI_Cancel(&r); MPI_Request_free(&r); \
         MPI_Recv(&x, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); x = 0; \
         MPI_Send_init(&x, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, &r); \
         MPI_Win w; MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &argv, &w); MPI_Win_fence(0, w); MPI_Win_free(&w); \
         MPI_Comm c; MPI_Comm_dup(MPI_COMM_WORLD, &c); MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INT, MPI_SUM, c); MPI_Comm_free(&c);",
    );
    says(&fine, 0, "");
}

/// Files and folders that are no programs of ours.
#[test]
fn what_is_no_program_of_ours_is_refused() {
    let folder = Folder::new("mpi-no-programs");
    compile(&folder, "good", "");
    std::fs::create_dir_all(folder.path().join("folder")).expect("a folder can be made");
    folder.write("text", "hello\n");
    folder.write(
        "comments",
        "# the first rack\nnode-0 # the head\n\nnode-1:2\nnode-2 slots=1 max_slots=4\nnode-3:0\n",
    );
    folder.write("empty", "# nobody\nnode-0:0\n");
    folder.write("near", "node_1\n");
    let refused = |words: &[&str], line: &str| {
        says(&folder.simurgh(words), 2, &format!("simurgh: {line}\n"));
    };
    refused(
        &["run", "-n", "2", "folder"],
        "-n goes with a compiled MPI program, and folder is a directory; name the program in it",
    );
    refused(&["run", "folder"], "folder: this is a directory; name a file in it");
    refused(
        &["run", "-n", "2", "text"],
        "-n goes with a compiled MPI program, and text is none; compile it with simurgh cc",
    );
    refused(
        &["check", "./good"],
        "./good: say how many processes there are, as in `simurgh check -n 3 ./good`",
    );
    refused(
        &["explore", "./good"],
        "./good: `explore` takes no compiled MPI programs yet; simulate it with `simurgh run -n 4 ./good`",
    );
    refused(&["mpi", "wrappers", "text"], "text: this is a file; name a folder for the links");
    refused(
        &["run", "--hostfile", "empty", "./good"],
        "empty: names no host for a process; write a host a line, HOST:4 for four processes",
    );
    refused(
        &["run", "--hostfile", "near", "./good"],
        "near:1: the platform has no host \"node_1\"; do you mean \"node-1\"?",
    );
    folder.write("blank", " \n");
    folder.write("endless", "node-0\nnode-1:18446744073709551615\n");
    refused(
        &["run", "--hostfile", "blank", "./good"],
        "blank: the file is empty; write a host a line, HOST:4 for four processes, into it",
    );
    refused(&["run", "--hostfile", "endless", "./good"], "endless:2: there are more than 1048576 processes");
    refused(&["run", "-n", "2", "./nothere", "-m", "3"], "./nothere: there is no such file");
    let hosts = folder.simurgh(&["run", "--hostfile", "comments", "--compute", "none", "./good"]);
    assert_eq!(hosts.code, 0, "{}", hosts.told());
    assert!(hosts.stdout.contains("4 actors, 0 messages\n"), "{}", hosts.told());
    // One that needs the library of another MPI.
    folder.write("other.c", "int MPI_Init(void) { return 0; }\n");
    folder.write("main.c", "int MPI_Init(void); int main(void) { return MPI_Init(); }\n");
    let gcc = |arguments: &[&str]| {
        Command::new("gcc")
            .args(arguments)
            .current_dir(folder.path())
            .status()
            .is_ok_and(|status| status.success())
    };
    assert!(gcc(&["-shared", "-fPIC", "other.c", "-Wl,-soname,libmpi.so.40", "-o", "libmpi.so"]));
    assert!(gcc(&["main.c", "-L.", "-lmpi", "-o", "foreign"]));
    refused(
        &["run", "-n", "2", "./foreign"],
        "./foreign: was built by the compiler of another MPI, whose library libmpi.so.40 it needs; build it again with simurgh cc (or cxx, fc), or with mpicc_abi",
    );
}

/// Compiles a program of these statements, the first on line 9, which call the system.
fn with_system(folder: &Folder, name: &str, statements: &str) {
    let source = format!(
        "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <signal.h>\n#include <sys/resource.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
         void rings(int s) {{ (void)s; }} int main(int c, char **v) {{ int rank; MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\
         {statements}\nMPI_Finalize(); return 0; }}\n"
    );
    folder.write(&format!("{name}.c"), &source);
    let compiled = folder.simurgh(&["cc", "-g", "-w", &format!("{name}.c"), "-o", name]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
}

/// The child went on as a copy of the simulator, and panicked.
#[test]
fn a_child_made_by_fork_that_calls_mpi_is_told() {
    let folder = Folder::new("mpi-fork");
    with_system(
        &folder,
        "forks",
        "int status; fflush(stdout); if (rank == 1) { pid_t child = fork(); if (!child) { MPI_Barrier(MPI_COMM_WORLD); _exit(0); }\n\
         waitpid(child, &status, 0); printf(\"the child ended with code %d\\n\", WEXITSTATUS(status)); }\n\
         MPI_Barrier(MPI_COMM_WORLD);",
    );
    let line = "simurgh: rank 1: a child made by fork calls MPI_Barrier, and has no part in the simulation: it ends with code 1; let the process itself do so, and its child compute, write, or become another program (exec)\n";
    let ran = folder.simurgh(&["run", "-q", "-n", "2", "./forks"]);
    assert_eq!(
        (ran.code, ran.stdout.as_str(), ran.stderr.as_str()),
        (0, "the child ended with code 1\n", line),
        "{}",
        ran.told()
    );
    let checked = folder.simurgh(&["check", "-n", "2", "./forks"]);
    assert!(checked.code == 0 && checked.stderr.starts_with(line), "{}", checked.told());
}

/// What commands printed that a program started came before the object.
#[test]
fn what_children_print_is_not_in_the_object_for_machines() {
    let folder = Folder::new("mpi-json-children");
    with_system(
        &folder,
        "noisy",
        "if (rank == 0) { system(\"echo a command\"); fflush(stdout); if (!fork()) { puts(\"a child\"); exit(0); } wait(0); }\n\
         if (c > 1 && rank == 1) MPI_Recv(&c, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
    );
    let commands: [(&[&str], i32); 4] = [
        (&["run", "-n", "2", "--json", "./noisy"], 0),
        (&["check", "-n", "2", "--json", "./noisy"], 0),
        (&["check", "-n", "2", "--json", "--save", "found.toml", "./noisy", "waits"], 1),
        (&["replay", "--json", "found.toml"], 1),
    ];
    for (words, code) in commands {
        let ran = folder.simurgh(words);
        let object: serde_json::Value =
            serde_json::from_str(&ran.stdout).unwrap_or_else(|_| panic!("{}", ran.told()));
        assert!(object.is_object() && ran.code == code, "{}", ran.told());
        assert!(ran.stderr.contains("a command\n") && ran.stderr.contains("a child\n"), "{}", ran.told());
    }
    let ran = folder.simurgh(&["run", "-q", "-n", "2", "./noisy"]);
    assert_eq!(ran.stdout, "a command\na child\n", "{}", ran.told());
}

/// A limit that a process set was that of the simulator; an alarm never rang, and a pause had no end.
#[test]
fn limits_and_alarms_are_those_of_a_process() {
    let folder = Folder::new("mpi-limits");
    with_system(
        &folder,
        "limits",
        "struct rlimit none = {0, 0}; setrlimit(RLIMIT_NOFILE, &none); setrlimit(RLIMIT_FSIZE, &none); setrlimit(RLIMIT_AS, &none);\n\
         double begun = MPI_Wtime(); signal(SIGALRM, rings); alarm(1); pause();\n\
         if (rank == 0) printf(\"%.1f s\\n\", MPI_Wtime() - begun);",
    );
    let ran = folder.simurgh(&["run", "-q", "-n", "2", "--compute", "none", "--svg", "out.svg", "./limits"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "1.0 s\n", ""), "{}", ran.told());
    with_system(&folder, "pauses", "if (rank == 1) pause();");
    let ran = folder.simurgh(&["run", "-n", "2", "./pauses"]);
    let line = "simurgh: rank 1: pauses.c:9: pause: waits for a signal, and none comes: no alarm is set, and signals from outside are not simulated; wait for a message, or set an alarm (alarm, setitimer)\n";
    assert!(ran.code == 1 && ran.stderr.starts_with(line), "{}", ran.told());
}

/// Threads of a program's own are refused as a system without resources does; whoever does not look reads why.
#[test]
fn threads_are_refused_with_a_word() {
    let folder = Folder::new("mpi-threads");
    folder.write(
        "threads.c",
        "#include <mpi.h>\n#include <pthread.h>\nvoid *work(void *x) { return x; }\n\
         int main(void) { MPI_Init(0, 0); pthread_t thread; int error = pthread_create(&thread, 0, work, 0); MPI_Finalize(); return error; }\n",
    );
    let compiled = folder.simurgh(&["cc", "-g", "threads.c", "-o", "threads"]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
    let ran = folder.simurgh(&["run", "-n", "4", "--compute", "none", "./threads"]);
    says(
        &ran,
        1,
        "simurgh: rank 0: pthread_create gives EAGAIN: threads that a program makes itself cannot be simulated (std::thread neither); OpenMP can, or run the program without threads\n\
         simurgh: ranks 0-3: exited with code 11\n",
    );
}

/// All processes live in one: who replaces its program would end the run, or a check, as if all were well.
#[test]
fn a_process_that_becomes_another_program_is_told() {
    let folder = Folder::new("mpi-exec");
    folder.write(
        "exec.c",
        "#include <mpi.h>\n#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
         int main(int c, char **v) { int rank; MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\
         if (rank == 0 && c > 1 && fork() == 0) execlp(\"echo\", \"echo\", \"a\", \"child\", (char *)0);\n\
         if (rank == 0 && c > 1) wait(0);\n\
         if (rank == 1 && c == 1) execlp(\"echo\", \"echo\", \"gone\", (char *)0);\n\
         MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); }\n",
    );
    let compiled = folder.simurgh(&["cc", "-g", "exec.c", "-o", "exec"]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
    let told =
        "execlp: a process cannot become another program while it is simulated; start it by fork or popen";
    let ran = folder.simurgh(&["run", "-n", "3", "--compute", "none", "./exec"]);
    assert_eq!(ran.code, 1, "{}", ran.told());
    assert!(ran.told().contains(told) && ran.told().contains("exec.c:8"), "{}", ran.told());
    let checked = folder.simurgh(&["check", "-n", "3", "./exec"]);
    assert_eq!(checked.code, 1, "{}", checked.told());
    assert!(checked.told().contains(told), "{}", checked.told());
    let child = folder.simurgh(&["run", "-q", "-n", "3", "--compute", "none", "./exec", "child"]);
    assert_eq!((child.code, &*child.stdout), (0, "a child\n"), "{}", child.told());
}

/// Libraries of graphs (GKlib, METIS) have tens of kilobytes of thread-local variables.
#[test]
fn thread_local_variables_may_be_large() {
    let folder = Folder::new("mpi-thread-locals");
    folder.write(
        "tls.c",
        "#include <mpi.h>\n#include <stdio.h>\n__thread int numbers[10000] = {7};\n\
         int main(void) { int rank; MPI_Init(0, 0); MPI_Comm_rank(MPI_COMM_WORLD, &rank); numbers[9999] = rank;\n\
         MPI_Barrier(MPI_COMM_WORLD); printf(\"%d %d\\n\", numbers[0], numbers[9999]); MPI_Finalize(); }\n",
    );
    let compiled = folder.simurgh(&["cc", "tls.c", "-o", "tls"]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
    let ran = folder.simurgh(&["run", "-q", "-n", "2", "--compute", "none", "./tls"]);
    assert_eq!((ran.code, &*ran.stdout), (0, "7 0\n7 1\n"), "{}", ran.told());
}

/// Programs take the time of each small piece of their work: that is no waiting for a date.
#[test]
fn a_clock_that_is_read_very_often_costs_what_it_costs() {
    let folder = Folder::new("mpi-readings");
    let readings = "double start = MPI_Wtime();\nfor (int i = 0; i < 40000; i++) MPI_Wtime();\n\
                    if (rank == 0) printf(\"%.6f\\n\", MPI_Wtime() - start);";
    compile(&folder, "readings", readings);
    let ran = folder.simurgh(&["run", "-q", "-n", "2", "--compute", "none", "./readings"]);
    assert_eq!((ran.code, &*ran.stdout), (0, "0.000400\n"), "{}", ran.told());
}

/// Nobody sends what is polled for, and somebody looks at the clock meanwhile; much is measured of so little.
#[test]
fn polling_that_looks_at_the_clock_is_ended_too() {
    let folder = Folder::new("mpi-polling-clock");
    let polls = "if (rank == 1) { MPI_Request r; int x, flag = 0; MPI_Irecv(&x, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &r);\n\
                 while (!flag) { MPI_Test(&r, &flag, MPI_STATUS_IGNORE); MPI_Wtime(); } }\nMPI_Barrier(MPI_COMM_WORLD);";
    compile(&folder, "polls", polls);
    let ran = folder.simurgh(&["run", "-q", "-n", "2", "--stuck-after", "1", "./polls"]);
    assert_eq!(ran.code, 3, "{}", ran.told());
}

/// The file may have grown before the last one has opened it.
#[test]
fn files_that_are_appended_to_begin_at_the_same_place_for_all() {
    let folder = Folder::new("mpi-append");
    let appends = "if (rank == 0) { FILE *f = fopen(\"data\", \"w\"); fwrite(\"0123456789\", 1, 10, f); fclose(f); }\nMPI_Barrier(MPI_COMM_WORLD);\n\
                   MPI_File file; MPI_Offset at; char text[5] = \"abcd\";\n\
                   MPI_File_open(MPI_COMM_WORLD, \"data\", MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &file);\n\
                   MPI_File_get_position(file, &at);\n\
                   MPI_File_write_at(file, at + 5 * rank, text, 5, MPI_CHAR, MPI_STATUS_IGNORE);\n\
                   printf(\"%d at %d\\n\", rank, (int)at);\nMPI_File_close(&file);";
    compile(&folder, "appends", appends);
    let ran = folder.simurgh(&["run", "-q", "-n", "4", "--compute", "none", "./appends"]);
    let mut lines: Vec<&str> = ran.stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0 at 10", "1 at 10", "2 at 10", "3 at 10"], "{}", ran.told());
}

/// The name of a port counts on with the ports, and each execution begins with none.
#[test]
fn ports_have_the_same_names_in_all_executions() {
    let folder = Folder::new("mpi-ports");
    let meets = "char port[MPI_MAX_PORT_NAME]; MPI_Comm other; int got;\n\
                 if (rank == 0) { MPI_Open_port(MPI_INFO_NULL, port); MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 0, MPI_COMM_WORLD);\n\
                 MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other); MPI_Close_port(port); MPI_Comm_disconnect(&other); }\n\
                 if (rank == 1) { MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);\n\
                 MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other); MPI_Comm_disconnect(&other); }\n\
                 if (rank > 1) MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);\n\
                 if (rank == 0) for (int i = 2; i < size; i++) MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);";
    compile(&folder, "meets", meets);
    let checked = folder.simurgh(&["check", "-n", "4", "./meets"]);
    assert_eq!(checked.code, 0, "{}", checked.told());
}
