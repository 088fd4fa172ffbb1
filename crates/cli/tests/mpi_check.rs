//! `check` on compiled MPI programs: every way to receive, deadlocks, assertions, replays.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::command::Folder;

/// A program of MPI with these statements in its main function.
fn compile(folder: &Folder, name: &str, statements: &str) {
    let text = format!(
        "#include <mpi.h>\n#include <assert.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
         int main(int argc, char **argv) {{ int rank, size, x = 1, y, all[64], more[64]; MPI_Status status; MPI_Request request;\n\
         MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);\n\
         (void)x; (void)y; (void)all; (void)more; (void)status; (void)request;\n{statements}\n MPI_Finalize(); return 0; }}\n"
    );
    folder.write(&format!("{name}.c"), &text);
    let compiled = folder.simurgh(&["cc", "-g", "-O1", &format!("{name}.c"), "-o", name]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
}

const FAN_IN: &str = "if (rank == 0) for (int i = 1; i < size; i++) MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
 else MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);";

/// A static variable, a block of the heap and a stream that are not what they were would be seen.
const STATE: &str = "static int count; static char *text; if (count++) abort(); text = calloc(1, 100); if (text[50]) abort(); text[50] = 1;
 FILE *file = fopen(\"/dev/null\", \"w\"); fprintf(file, \"%d\", rank);
 if (rank == 0) for (int i = 1; i < size; i++) MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
 else MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);";

/// Programs, how many processes, the option, and what they say.
const HOLD: [(&str, &str, &str, &str, &str); 7] = [
    ("fan4", FAN_IN, "4", "infinite", "holds: 6 executions,"),
    ("fan5", FAN_IN, "5", "infinite", "holds: 24 executions,"),
    ("state", STATE, "4", "infinite", "holds: 6 executions,"),
    (
        "named",
        "if (rank == 0) for (int i = 1; i < size; i++) MPI_Recv(&x, 1, MPI_INT, i, 0, MPI_COMM_WORLD, &status);
         else MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);",
        "5",
        "infinite",
        "holds: 1 execution,",
    ),
    (
        "one",
        "if (rank == 0) { MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status); for (int i = 1; i < size; i++)
           if (i != status.MPI_SOURCE) MPI_Recv(&x, 1, MPI_INT, i, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
         else MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);",
        "5",
        "infinite",
        "holds: 4 executions,",
    ),
    (
        "collectives",
        "MPI_Barrier(MPI_COMM_WORLD); MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); assert(y == size);
         MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD); MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
         MPI_Alltoall(all, 1, MPI_INT, more, 1, MPI_INT, MPI_COMM_WORLD);",
        "5",
        "both",
        "--buffering zero: holds: 1 execution,",
    ),
    (
        "overtakes",
        // What rank 1 sends first to rank 0 may come after what rank 2 sends because of rank 1: not if sends wait.
        "if (rank == 1) { MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); MPI_Send(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD); }
         if (rank == 2) { MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &status); x = 2; MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); }
         if (rank == 0) { MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status); assert(x == 1);
           MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status); }",
        "3",
        "zero",
        "holds: 1 execution,",
    ),
];

/// A loop of so many turns while a receive is under way.
fn computes_long(turns: &str) -> String {
    format!(
        "if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
         else {{ MPI_Irecv(&y, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request); volatile int i = 0; while (i < {turns}) i++;
           MPI_Wait(&request, &status); assert(y == 1); }}"
    )
}

#[test]
fn what_was_not_watched_is_told() {
    let folder = Folder::new("mpi-check-unwatched");
    for (name, turns, is_watched) in [("short", "100000", true), ("long", "4000000", false)] {
        compile(&folder, name, &computes_long(turns));
        let program = format!("./{name}");
        let words = ["check", "-n", "2", "--buffering", "infinite", &program];
        let ran = folder.simurgh(&words);
        assert_eq!(ran.code, 0, "{}", ran.told());
        assert_eq!(!ran.stdout.contains("\n  not watched: "), is_watched, "{}", ran.told());
        let ran = folder.simurgh(&[&words[..1], &["--json"], &words[1..]].concat());
        let report: serde_json::Value = serde_json::from_str(&ran.stdout).expect("a report");
        let unwatched = &report["searches"][0]["unwatched"];
        match is_watched {
            true => assert!(unwatched.is_null(), "{report}"),
            false => assert_eq!(unwatched[0], "long-computations", "{report}"),
        }
    }
}

/// Instructions that are watched do what they do otherwise: integers, vectors, x87, recursion, jumps by tables, calls of libraries.
#[test]
fn what_is_watched_computes_the_same() {
    let folder = Folder::new("mpi-check-computes");
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/computing.c");
    let source = source.display().to_string();
    let vectors: &[&str] = if std::is_x86_feature_detected!("avx2") { &["-O3", "-mavx2"] } else { &["-O3"] };
    for options in [&["-O0"][..], &["-O2"], &["-Os", "-ffast-math"], vectors] {
        let compiled = folder.simurgh(&[&["cc"], options, &[&source, "-o", "computing", "-lm"]].concat());
        assert_eq!(compiled.code, 0, "{}", compiled.told());
        let ran = folder.simurgh(&["check", "-n", "2", "--buffering", "infinite", "./computing"]);
        assert_eq!(ran.code, 0, "{options:?}: {}", ran.told());
        assert!(!ran.stdout.contains("not watched"), "{}", ran.told());
    }
}

/// A fault of an instruction that is watched is one of the program: a null pointer, a division by zero, a jump to nowhere.
#[test]
fn what_is_watched_faults_where_it_does() {
    let folder = Folder::new("mpi-check-faults");
    for (name, fault, told) in [
        ("pointer", "volatile int *nothing = 0; y = *nothing;", "segmentation fault"),
        ("division", "volatile int zero = 0; exit(x / zero);", "division"),
        ("call", "void (*volatile nothing)(void) = 0; nothing();", "segmentation fault"),
    ] {
        let statements = format!(
            "if (rank == 0) MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
             else {{ MPI_Irecv(all, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);\n{fault}\n MPI_Wait(&request, &status); }}"
        );
        compile(&folder, name, &statements);
        let ran = folder.simurgh(&["check", "-n", "2", "--buffering", "infinite", &format!("./{name}")]);
        assert_eq!(ran.code, 1, "{}", ran.told());
        assert!(ran.stdout.contains(told) && ran.stdout.contains(&format!("{name}.c:10")), "{}", ran.told());
    }
}

/// Who waits for a flag of the language would be told of its change by nobody: that is no deadlock.
#[test]
fn loops_around_atomic_instructions_are_refused() {
    let folder = Folder::new("mpi-check-atomics");
    for storer in ["0", "1"] {
        let statements = format!(
            "MPI_Win win; MPI_Aint bytes; int *mine, *flag; MPI_Win_allocate_shared(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
             MPI_Win_shared_query(win, 0, &bytes, &x, &flag); *mine = 0; MPI_Barrier(MPI_COMM_WORLD); MPI_Win_lock_all(0, win);
             if (rank == {storer}) __atomic_exchange_n(flag, 1, __ATOMIC_SEQ_CST);
             else while (!__atomic_load_n(flag, __ATOMIC_SEQ_CST)) MPI_Win_sync(win);
             MPI_Win_unlock_all(win); MPI_Win_free(&win);"
        );
        compile(&folder, "flag", &statements);
        let ran = folder.simurgh(&["check", "-n", "2", "--engine", "optimal", "./flag"]);
        assert!(
            ran.code == 2 && ran.stderr.contains("atomic instructions are not explored"),
            "{}",
            ran.told()
        );
    }
}

/// Flushes of a process leave alone what others have put there: as many executions with room for messages as without.
#[test]
fn a_spin_lock_is_explored_alike_with_and_without_buffers() {
    let folder = Folder::new("mpi-check-spins");
    compile(
        &folder,
        "lock",
        "MPI_Win win; int *part, one = 1, zero = 0, old, mine = rank + 5;
         MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win); part[0] = part[1] = 0;
         MPI_Win_lock_all(0, win); MPI_Barrier(MPI_COMM_WORLD);
         do { MPI_Compare_and_swap(&one, &zero, &old, MPI_INT, 0, 0, win); MPI_Win_flush(0, win); } while (old);
         MPI_Put(&mine, 1, MPI_INT, 0, 1, 1, MPI_INT, win); MPI_Win_flush(0, win);
         MPI_Accumulate(&zero, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win); MPI_Win_flush(0, win);
         MPI_Win_unlock_all(win); MPI_Barrier(MPI_COMM_WORLD); MPI_Win_free(&win);",
    );
    for engine in ["optimal", "source"] {
        let ran = folder.simurgh(&["check", "-n", "2", "--engine", engine, "./lock"]);
        assert!(ran.code == 0 && ran.stdout.matches("holds: 30 executions,").count() == 2, "{}", ran.told());
    }
}

/// Those who hold a window together are in no order: one execution where messages order the one who holds it alone, and one for each set of
/// those who come before it where nothing does.
#[test]
fn locks_that_are_shared_are_in_no_order() {
    let folder = Folder::new("mpi-check-shared-locks");
    let begin = "MPI_Win win; int *part; MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win);
         if (rank == 0) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win); *part = 0; MPI_Win_unlock(0, win); }";
    for (name, between, executions) in [
        ("ordered", "MPI_Barrier(MPI_COMM_WORLD);", "holds: 1 execution,"),
        ("open", "", "holds: 4 executions,"),
    ] {
        let end = "MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win); MPI_Win_unlock(0, win); MPI_Win_free(&win);";
        compile(&folder, name, &format!("{begin}\n{between}\n{end}"));
        let ran = folder.simurgh(&["check", "-n", "3", "--buffering", "infinite", &format!("./{name}")]);
        assert!(ran.code == 0 && ran.stdout.contains(executions), "{}", ran.told());
    }
}

/// What turns out in the first execution begins the search anew. It is kept with that, and bounds are those of both.
#[test]
fn a_search_that_knows_more_is_kept() {
    let folder = Folder::new("mpi-check-known");
    compile(
        &folder,
        "lock",
        "MPI_Win win; int *part, one = 1, zero = 0, old;
         MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win); part[0] = 0;
         MPI_Win_lock_all(0, win); MPI_Barrier(MPI_COMM_WORLD);
         do { MPI_Compare_and_swap(&one, &zero, &old, MPI_INT, 0, 0, win); MPI_Win_flush(0, win); } while (old);
         MPI_Accumulate(&zero, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_REPLACE, win); MPI_Win_flush(0, win);
         MPI_Win_unlock_all(win); MPI_Win_free(&win);",
    );
    let words = ["check", "-n", "2", "--buffering", "infinite", "--resume", "left", "./lock"];
    let stopped = folder.simurgh(&[&["check", "--executions", "5"], &words[1..]].concat());
    assert!(
        stopped.code == 3 && stopped.stdout.contains("not-exhausted: 5 executions"),
        "{}",
        stopped.told()
    );
    assert!(stopped.stdout.contains("left.polled-memory"), "{}", stopped.told());
    let ran = folder.simurgh(&words);
    assert!(ran.code == 0 && ran.stdout.contains("holds: 14 executions"), "{}", ran.told());
    let left = std::fs::read_dir(folder.path()).unwrap().flatten();
    let left: Vec<_> =
        left.map(|file| file.file_name()).filter(|name| name.to_string_lossy().starts_with("left")).collect();
    assert!(left.is_empty(), "nothing is left to go on with: {left:?}");
    let bounded = folder.simurgh(&["check", "-n", "4", "--time", "2", "./lock"]);
    assert!(bounded.code == 3 && !bounded.stdout.contains(" 0 executions"), "{}", bounded.told());
}

/// A sparse exchange is right; a probe would have its synchronous sends over before they are received.
#[test]
fn synchronous_sends_to_loops_of_probes_are_refused() {
    let folder = Folder::new("mpi-check-sparse");
    compile(
        &folder,
        "sparse",
        "MPI_Request barrier = MPI_REQUEST_NULL; int done = 0, got = 0, waits = 0, flag;
         MPI_Issend(&x, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, &request);
         while (!done) { MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, &status);
           if (flag) { MPI_Recv(&y, 1, MPI_INT, status.MPI_SOURCE, 7, MPI_COMM_WORLD, &status); got++; }
           if (waits) MPI_Test(&barrier, &done, &status);
           else { MPI_Test(&request, &flag, &status); if (flag) { MPI_Ibarrier(MPI_COMM_WORLD, &barrier); waits = 1; } } }
         assert(got == 1);",
    );
    for engine in ["receives", "optimal", "source"] {
        let ran = folder.simurgh(&["check", "-n", "3", "--engine", engine, "./sparse"]);
        assert!(ran.code == 2 && ran.stderr.contains("are not explored yet"), "{engine}: {}", ran.told());
    }
}

/// The second window has the place of the first one, and one lock, not two.
const MADE_AGAIN: &str = "MPI_Win win; int *part; for (int i = 0; i < 2; i++) { if (i) MPI_Win_free(&win);
   MPI_Win_allocate(8, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win); }";

#[test]
fn windows_that_are_made_again_have_one_lock() {
    let folder = Folder::new("mpi-check-made-again");
    let in_turn = "MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win); MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win); MPI_Win_unlock(0, win);
         MPI_Win_free(&win);";
    // Rank 0 keeps the window until rank 1 has had it.
    let in_vain = "if (rank == 0) { MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win); MPI_Barrier(MPI_COMM_WORLD);
           MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &status); MPI_Win_unlock(0, win); }
         else { MPI_Barrier(MPI_COMM_WORLD); MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win); MPI_Win_unlock(0, win);
           MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); } MPI_Win_free(&win);";
    compile(&folder, "in_turn", &format!("{MADE_AGAIN}{in_turn}"));
    compile(&folder, "in_vain", &format!("{MADE_AGAIN}{in_vain}"));
    for engine in ["receives", "optimal"] {
        let check = |processes, program| {
            folder.simurgh(&[
                "check",
                "-n",
                processes,
                "--engine",
                engine,
                "--buffering",
                "infinite",
                program,
            ])
        };
        let ran = check("3", "./in_turn");
        assert!(ran.code == 0 && ran.stdout.contains("holds: 6 executions,"), "{engine}: {}", ran.told());
        let ran = check("2", "./in_vain");
        assert!(
            ran.code == 1 && ran.stdout.contains("rank 0 and rank 1 wait for ever"),
            "{engine}: {}",
            ran.told()
        );
    }
}

#[test]
fn programs_hold_in_as_many_executions_as_there_are_ways_to_receive() {
    let folder = Folder::new("mpi-check-holds");
    for (name, statements, processes, buffering, told) in HOLD {
        compile(&folder, name, statements);
        let program = format!("./{name}");
        let ran = folder.simurgh(&["check", "-n", processes, "--buffering", buffering, &program]);
        assert!(ran.code == 0 && ran.stdout.contains(told), "{name}: {}", ran.told());
    }
    // With room for all messages it does not.
    let ran = folder.simurgh(&["check", "-n", "3", "--buffering", "infinite", "./overtakes"]);
    assert!(ran.code == 1 && ran.stdout.contains("assertion `x == 1' failed"), "{}", ran.told());
}

const WIN_TEST: &str = "MPI_Group everybody, group; MPI_Win win; int other = 1 - rank;
 MPI_Win_create(all, sizeof all, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win); MPI_Comm_group(MPI_COMM_WORLD, &everybody);
 MPI_Group_incl(everybody, 1, &other, &group);
 if (rank == 0) { MPI_Win_post(group, 0, win); y = 0; while (!y) MPI_Win_test(win, &y); assert(all[3] == 1); }
 else { MPI_Win_start(group, 0, win); MPI_Put(&x, 1, MPI_INT, 0, 3, 1, MPI_INT, win); MPI_Win_complete(win); }
 MPI_Group_free(&group); MPI_Group_free(&everybody); MPI_Win_free(&win);";

/// Programs that poll: each process finds the messages of some others of a collective there, one after the other, and then waits.
const POLL: [(&str, &str, &str, &str); 10] = [
    (
        "receive",
        "if (rank == 0) { MPI_Irecv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
           y = 0; while (!y) MPI_Test(&request, &y, &status); }
         else MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);",
        "2",
        "holds: 2 executions,",
    ),
    (
        "barrier_of_two",
        "MPI_Ibarrier(MPI_COMM_WORLD, &request); y = 0; while (!y) MPI_Test(&request, &y, &status);",
        "2",
        "holds: 4 executions,",
    ),
    (
        "barrier_of_three",
        "MPI_Ibarrier(MPI_COMM_WORLD, &request); y = 0; while (!y) MPI_Test(&request, &y, &status);",
        "3",
        "holds: 27 executions,",
    ),
    (
        "one_polls",
        "MPI_Ibarrier(MPI_COMM_WORLD, &request); y = rank;
         while (!y) MPI_Test(&request, &y, &status); if (rank) MPI_Wait(&request, &status);",
        "4",
        "holds: 4 executions,",
    ),
    (
        // What a test of all tells does not change before all are complete.
        "all_of_two_reductions",
        "MPI_Request requests[2]; for (y = 0; y < 2; y++)
           MPI_Iallreduce(&x, &all[y], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[1 - y]);
         y = 0; while (!y) MPI_Testall(2, requests, &y, MPI_STATUSES_IGNORE); assert(all[0] == size && all[1] == size);",
        "3",
        "holds: 27 executions,",
    ),
    (
        "any_of_two_reductions",
        "MPI_Request requests[2]; for (y = 0; y < 2; y++)
           MPI_Iallreduce(&x, &all[y], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[y]);
         MPI_Waitany(2, requests, &y, &status); assert(all[y] == size); MPI_Wait(&requests[1 - y], &status);",
        "2",
        "holds: 4 executions,",
    ),
    (
        // All orders in which four requests are told: sends, which are complete, and receives.
        "any_of_four",
        "MPI_Request requests[4]; int n = 0;
         for (int i = 1; i < size && rank == 0; i++) { MPI_Irecv(&all[i], 1, MPI_INT, i, 0, MPI_COMM_WORLD, &requests[n++]);
           MPI_Isend(&x, 1, MPI_INT, i, 0, MPI_COMM_WORLD, &requests[n++]); }
         for (int i = 0; i < n; i++) MPI_Waitany(n, requests, &y, &status);
         if (rank) { MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); MPI_Recv(&y, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &status); }",
        "3",
        "holds: 24 executions,",
    ),
    (
        // The second partition is sent when the first is known to be there.
        "partitions",
        "if (rank == 0) MPI_Psend_init(all, 2, 2, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
         else MPI_Precv_init(all, 2, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
         MPI_Start(&request); y = 0;
         if (rank == 0) { MPI_Pready(0, request); MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &status); MPI_Pready(1, request); }
         else { while (!y) MPI_Parrived(request, 0, &y); MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); }
         MPI_Wait(&request, &status); MPI_Request_free(&request);",
        "2",
        "holds: ",
    ),
    (
        // A test of a partition looks for that one alone: each is there at once or waited for, and the word of what is sent in the first round
        // comes once.
        "rounds_of_partitions",
        "if (rank == 0) MPI_Psend_init(all, 2, 2, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
         else MPI_Precv_init(all, 2, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
         for (int round = 0; round < 2; round++) {
           MPI_Start(&request);
           if (rank == 0) MPI_Pready_range(0, 1, request);
           else for (int part = 0; part < 2; part++) { y = 0; while (!y) MPI_Parrived(request, part, &y); }
           MPI_Wait(&request, &status);
         }
         MPI_Request_free(&request);",
        "2",
        "holds: ",
    ),
    ("window", WIN_TEST, "2", "holds: 3 executions,"),
];

#[test]
fn loops_around_tests_of_collectives_and_windows_end() {
    let folder = Folder::new("mpi-check-polls");
    for (name, statements, processes, told) in POLL {
        compile(&folder, name, statements);
        let program = format!("./{name}");
        let ran = folder.simurgh(&["check", "-n", processes, "--buffering", "infinite", &program]);
        assert!(ran.code == 0 && ran.stdout.contains(told), "{name}: {}", ran.told());
    }
}

/// Whoever asks for an end in the first execution, which tells whether there are others, does not hear that the program holds.
#[test]
fn what_was_interrupted_does_not_hold() {
    let folder = Folder::new("mpi-check-interrupted");
    let long =
        "volatile double sum = 0; for (int i = 0; i < 100000000; i++) sum += i; MPI_Barrier(MPI_COMM_WORLD);";
    compile(&folder, "long", long);
    // It turns out at first that this one polls memory of a window.
    let polls = "MPI_Win win; int *part, old = rank;
         MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &win); part[0] = 0; MPI_Win_lock_all(0, win); MPI_Barrier(MPI_COMM_WORLD);
         if (rank == 0) MPI_Accumulate(&x, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_REPLACE, win);
         else do { MPI_Fetch_and_op(NULL, &old, MPI_INT, 1, 0, MPI_NO_OP, win); MPI_Win_flush(1, win); } while (!old);
         MPI_Win_unlock_all(win); MPI_Win_free(&win);";
    compile(&folder, "polls", &format!("{polls}{long}"));
    for (milliseconds, program) in [(300, "./long"), (600, "./long"), (1000, "./long"), (600, "./polls")] {
        let child = Command::new(env!("CARGO_BIN_EXE_simurgh"))
            .args(["check", "-n", "2", program])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("simurgh runs");
        std::thread::sleep(Duration::from_millis(milliseconds));
        let number = child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &number]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout);
        // A slow machine may not be there yet: then the signal ends it.
        assert!([Some(3), None].contains(&output.status.code()) && !told.contains("zero: holds"), "{told}");
    }
}

/// All memory is put back before each execution. What cannot be is told.
#[test]
fn memory_that_cannot_be_put_back_is_told() {
    let folder = Folder::new("mpi-check-protected");
    let text = "#include <mpi.h>\n#include <stdlib.h>\n#include <sys/mman.h>\n\
         int main(int argc, char **argv) { void *place; MPI_Init(&argc, &argv);\n\
         if (posix_memalign(&place, 4096, 3 * 4096)) abort(); mprotect((char *)place + 8192, 4096, PROT_NONE);\n\
         MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return 0; }\n";
    folder.write("guard.c", text);
    assert_eq!(folder.simurgh(&["cc", "guard.c", "-o", "guard"]).code, 0);
    let ran = folder.simurgh(&["check", "-n", "2", "./guard"]);
    assert!(ran.code == 2 && ran.stderr.contains("has protected or unmapped memory"), "{}", ran.told());
}

/// One of named receives is run once, at first; one that receives from any is searched, and both together take as long as is said.
#[test]
#[expect(clippy::disallowed_methods, reason = "how long it takes is what is tested")]
fn an_execution_that_never_ends_is_stopped_in_time() {
    let folder = Folder::new("mpi-check-time");
    for (name, source) in [("named", "1 - rank"), ("any", "MPI_ANY_SOURCE")] {
        let statements = format!(
            "for (long i = 0; i < 1000000000L; i++) {{ MPI_Isend(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &request);
               MPI_Recv(&y, 1, MPI_INT, {source}, 0, MPI_COMM_WORLD, &status); MPI_Wait(&request, &status); }}"
        );
        compile(&folder, name, &statements);
        let clock = std::time::Instant::now();
        let ran = folder.simurgh(&["check", "-n", "2", "--time", "1", &format!("./{name}")]);
        assert_eq!(ran.code, 3, "{name}: {}", ran.told());
        assert!(ran.stdout.contains("(--time)"), "{name}: {}", ran.told());
        assert!(clock.elapsed().as_secs_f64() < 6.0, "{name}: {:?}", clock.elapsed());
    }
}

#[test]
fn what_is_found_is_found_by_all_engines_and_replayed() {
    let folder = Folder::new("mpi-check-finds");
    compile(
        &folder,
        "order",
        "if (rank == 0) { MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status); assert(x == 1);
           MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status); }
         else MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);",
    );
    for engine in ["receives", "optimal", "source", "dpor", "dfs", "states", "bfs", "random"] {
        let words = ["check", "-n", "3", "--engine", engine, "--save", "order.schedule", "./order"];
        let ran = folder.simurgh(&words);
        assert!(
            ran.code == 1 && ran.stdout.contains("assertion `x == 1' failed"),
            "{engine}: {}",
            ran.told()
        );
        let replayed = folder.simurgh(&["replay", "order.schedule"]);
        assert!(
            replayed.code == 1 && replayed.stdout.contains("assertion `x == 1' failed"),
            "{engine}: {}",
            replayed.told()
        );
    }
    // What was taken back before it came.
    compile(
        &folder,
        "cancelled",
        "if (rank == 0) { MPI_Isend(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request); MPI_Cancel(&request); MPI_Wait(&request, &status);
           MPI_Test_cancelled(&status, &y); MPI_Send(&y, 1, MPI_INT, 1, 0, MPI_COMM_WORLD); }
         else { MPI_Recv(&y, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &status); if (!y) MPI_Recv(&y, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, &status); }",
    );
    for engine in ["receives", "optimal", "source", "dpor"] {
        let ran = folder.simurgh(&["check", "-n", "2", "--engine", engine, "./cancelled"]);
        assert!(ran.code == 0, "{engine}: {}", ran.told());
    }
    // Both send first: fine if somebody keeps the messages.
    compile(
        &folder,
        "heads",
        "MPI_Send(&rank, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD); MPI_Recv(&x, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &status);",
    );
    let ran = folder.simurgh(&["check", "-n", "2", "./heads"]);
    let told = "--buffering zero: deadlock: rank 0 and rank 1 wait for ever";
    assert!(ran.code == 1 && ran.stdout.contains(told), "{}", ran.told());
    assert!(ran.stdout.starts_with("--buffering infinite: holds: 1 execution,"), "{}", ran.told());
    compile(&folder, "crashes", "if (rank == 1) *(volatile int *)0 = 1; MPI_Barrier(MPI_COMM_WORLD);");
    let ran = folder.simurgh(&["check", "-n", "2", "./crashes"]);
    let told = "rank 1 failed: ";
    assert!(ran.code == 1 && ran.stdout.contains(told), "{}", ran.told());
    assert!(ran.stdout.contains("segmentation fault writing 0x0"), "{}", ran.told());
    compile(&folder, "aborts", "if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 3); MPI_Barrier(MPI_COMM_WORLD);");
    let ran = folder.simurgh(&["check", "-n", "2", "./aborts"]);
    assert!(ran.code == 1 && ran.stdout.contains("rank 1 failed: "), "{}", ran.told());
}

#[test]
fn what_cannot_be_said_of_mpi_programs_is_refused() {
    let folder = Folder::new("mpi-check-refused");
    compile(&folder, "fan", FAN_IN);
    folder.write("one.toml", "[[actor]]\nname = \"a\"\ndo = [\"sleep 1\"]\n");
    let of_memory = "--workers: the processes of an MPI program share one memory; one core explores them";
    let table: [(&[&str], &str); 4] = [
        (&["-n", "3", "--workers", "2", "./fan"], of_memory),
        // All cores.
        (&["-n", "3", "--workers", "0", "./fan"], of_memory),
        (
            &["-n", "3", "one.toml"],
            "-n goes with a compiled MPI program, and one.toml is none; compile it with simurgh cc",
        ),
        (&["--buffering", "zero", "nothing"], "nothing: there is no such file"),
    ];
    for (words, line) in table {
        let ran = folder.simurgh(&[&["check"], words].concat());
        assert_eq!((ran.code, ran.stderr), (2, format!("simurgh: {line}\n")), "{words:?}");
        assert_eq!(ran.stdout, "");
    }
    // Two searches are one object.
    let ran = folder.simurgh(&["check", "-n", "3", "--json", "./fan"]);
    let object: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one object");
    assert_eq!((ran.code, &object["executions"]), (0, &2.into()), "{}", ran.told());
    compile(
        &folder,
        "starts",
        "MPI_Comm other; MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other, MPI_ERRCODES_IGNORE);",
    );
    let ran = folder.simurgh(&["check", "-n", "1", "./starts"]);
    let told = "processes that are started later cannot be explored yet";
    assert!(ran.code == 2 && ran.stderr.contains(told), "{}", ran.told());
}

/// What MPI guarantees of a few messages (docs/mpi.md): the fourth was an alarm, since the end of a synchronous send tells that a receive
/// is posted.
#[test]
fn questions_about_mpi_are_answered() {
    let folder = Folder::new("mpi-check-questions");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/mpi/check/two_messages.c");
    let compiled = folder.simurgh(&["cc", "-g", source, "-o", "two_messages"]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
    for (question, kind) in [
        ("0", None),
        ("1", Some("buffer-race")),
        ("2", Some("buffer-race")),
        ("3", None),
        ("4", None),
        ("5", Some("ready-send")),
    ] {
        let ran = folder.simurgh(&["check", "-n", "2", "--save", "found", "./two_messages", question]);
        assert_eq!(ran.code, i32::from(kind.is_some()), "{question}: {}", ran.told());
        if let Some(kind) = kind {
            assert!(ran.stdout.contains(&format!("[{kind}]")), "{question}: {}", ran.told());
            let replayed = folder.simurgh(&["replay", "found"]);
            assert!(
                replayed.code == 1 && replayed.stdout.contains(&format!("[{kind}]")),
                "{}",
                replayed.told()
            );
        }
    }
    // The same with immediate sends, whose end is seen by a wait or a test, and with receives that are completed in another order.
    for (ends, third, holds) in [
        ("MPI_Wait(&q[0], MPI_STATUS_IGNORE);", "MPI_Send", true),
        ("for (int over = 0; !over;) MPI_Test(&q[0], &over, MPI_STATUS_IGNORE);", "MPI_Send", true),
        ("MPI_Wait(&q[0], MPI_STATUS_IGNORE);", "MPI_Rsend", false),
        ("", "MPI_Send", false),
    ] {
        let statements = format!(
            "int d[3] = {{0}}; MPI_Request q[3]; if (rank == 0) {{ for (int i = 0; i < 3; i++) MPI_Irecv(&d[i], 1, MPI_INT, 1, i, MPI_COMM_WORLD, &q[i]); \
             MPI_Wait(&q[2], MPI_STATUS_IGNORE); MPI_Wait(&q[0], MPI_STATUS_IGNORE); MPI_Wait(&q[1], MPI_STATUS_IGNORE); }} \
             else {{ MPI_Issend(&d[1], 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &q[0]); {ends} MPI_Rsend(&d[0], 1, MPI_INT, 0, 0, MPI_COMM_WORLD); \
             {third}(&d[2], 1, MPI_INT, 0, 2, MPI_COMM_WORLD); MPI_Wait(&q[0], MPI_STATUS_IGNORE); }}"
        );
        compile(&folder, "ready", &statements);
        let ran = folder.simurgh(&["check", "-n", "2", "./ready"]);
        assert_eq!(ran.code, i32::from(!holds), "{ends} {third}: {}", ran.told());
    }
}

/// What was found after probes in vain could not be replayed: whether a post was taken back was not told.
#[test]
fn what_is_found_after_probes_is_replayed() {
    let folder = Folder::new("mpi-check-probes");
    let statements = "MPI_Comm left; MPI_Comm_dup(MPI_COMM_WORLD, &left); int data = 0, there = 0; MPI_Request done; \
        if (rank == 0) { MPI_Irecv(&data, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &done); \
            for (int over = 0; !over;) { MPI_Status status; MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &there, &status); \
                if (there) { int got; MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); \
                    MPI_Send(&got, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD); } \
                MPI_Test(&done, &over, MPI_STATUS_IGNORE); } } \
        else if (rank == 1) { MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD); \
            MPI_Recv(&data, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); MPI_Send(&rank, 1, MPI_INT, 0, 3, MPI_COMM_WORLD); }";
    compile(&folder, "probes", statements);
    for engine in ["receives", "optimal", "dfs", "random"] {
        let words = ["check", "-n", "2", "--engine", engine, "--save", "found", "./probes"];
        let ran = folder.simurgh(&words);
        assert!(ran.code == 1 && ran.stdout.contains("[leak]"), "{engine}: {}", ran.told());
        assert!(!ran.stdout.contains("did not happen again"), "{engine}: {}", ran.told());
        let replayed = folder.simurgh(&["replay", "found"]);
        assert!(replayed.code == 1 && replayed.stdout.contains("[leak]"), "{engine}: {}", replayed.told());
    }
}

/// Programs that use sessions alone leave nothing behind either; threads of a program's own are no mistake, and cannot be explored.
#[test]
fn sessions_alone_and_threads() {
    let folder = Folder::new("mpi-check-sessions");
    let ends = "MPI_Session_finalize(&session);";
    let programs = [
        ("right", "MPI_Group_free(&group);", ends, 0, "holds"),
        ("group", "", ends, 1, "MPI_Session_finalize: never freed: 1 group made at group.c:5"),
        ("session", "MPI_Group_free(&group);", "", 1, "ended without MPI_Session_finalize"),
    ];
    for (name, frees, ends, code, told) in programs {
        let text = format!(
            "#include <mpi.h>\nint main(void) {{ MPI_Session session; MPI_Group group;\n\
             MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);\n\n\
             MPI_Group_from_session_pset(session, \"mpi://WORLD\", &group);\n{frees}\n{ends}\nreturn 0; }}\n"
        );
        folder.write(&format!("{name}.c"), &text);
        let compiled = folder.simurgh(&["cc", "-g", "-O1", &format!("{name}.c"), "-o", name]);
        assert_eq!(compiled.code, 0, "{}", compiled.told());
        let ran = folder.simurgh(&["check", "-n", "2", &format!("./{name}")]);
        assert!(ran.code == code && ran.stdout.contains(told), "{name}: {}", ran.told());
    }
    folder.write(
        "thread.c",
        "#include <mpi.h>\n#include <pthread.h>\n#include <stdlib.h>\nstatic void *computes(void *x) { return x; }\n\
         int main(int argc, char **argv) { pthread_t thread; MPI_Init(&argc, &argv);\n\
         if (pthread_create(&thread, 0, computes, 0)) abort();\npthread_join(thread, 0); MPI_Finalize(); return 0; }\n",
    );
    let compiled = folder.simurgh(&["cc", "-g", "thread.c", "-o", "thread"]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
    let ran = folder.simurgh(&["check", "-n", "2", "./thread"]);
    assert!(ran.code == 2 && ran.stderr.contains("pthread_create"), "{}", ran.told());
}
