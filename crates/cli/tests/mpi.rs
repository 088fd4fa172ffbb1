//! Compiled MPI programs: those of `examples/mpi` print what they should, dates are those that SimGrid gave, and whoever gets
//! something wrong reads what.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::command::{Folder, Ran};

fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of the files of a folder with this extension, without it.
fn stems(folder: &Path, extension: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut stems: Vec<String> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    stems.sort();
    stems
}

pub(crate) fn is_there(compiler: &str) -> bool {
    let mut command = Command::new(compiler);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Whether two dates are the same: within 1e-6 of one another, or 2e-9 s.
fn agree(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= (1e-6 * expected.abs()).max(2e-9)
}

/// Does it for all, on two threads; what came of each, in their order.
pub(crate) fn two_at_a_time<T: Sync, R: Send>(items: &[T], play: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index) else { break };
                    let result = play(item);
                    found.lock().expect("nobody panicked").push((index, result));
                }
            });
        }
    });
    let mut found = found.into_inner().expect("nobody panicked");
    found.sort_by_key(|(index, _)| *index);
    found.into_iter().map(|(_, result)| result).collect()
}

/// Compiles the examples of a language, and runs them as the files in `expected` say: they must print just that.
fn examples_print_what_they_should(verb: &str, extension: &str, compiler: &str) {
    if !is_there(compiler) {
        println!("skipped: {compiler} is not there");
        return;
    }
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mpi");
    let names = stems(&examples, extension);
    assert!(!names.is_empty(), "examples/mpi has no .{extension}");
    let folder = Folder::new(&format!("mpi-examples-{verb}"));
    for file in ["cluster.xml", "hosts"] {
        folder.write(file, &read(&examples.join(file)));
    }
    for name in &names {
        let source = examples.join(format!("{name}.{extension}"));
        let compiled = folder.simurgh(&[verb, "-O2", text(&source), "-o", name, "-lm"]);
        assert_eq!(compiled.code, 0, "{}", compiled.told());
        let expected = read(&examples.join("expected").join(format!("{name}.txt")));
        let mut printed = String::new();
        for command in expected.lines().filter_map(|line| line.strip_prefix("$ simurgh ")) {
            let words: Vec<&str> = command.split_whitespace().collect();
            let ran = folder.simurgh(&words);
            assert_eq!(ran.code, 0, "{}", ran.told());
            printed.push_str(&format!("$ simurgh {command}\n{}", ran.stdout));
        }
        assert_eq!(printed, expected, "{name}");
    }
}

#[test]
fn examples_in_c_print_what_they_should() {
    examples_print_what_they_should("cc", "c", "gcc");
}

#[test]
fn examples_in_cxx_print_what_they_should() {
    examples_print_what_they_should("cxx", "cpp", "g++");
}

#[test]
fn examples_in_fortran_print_what_they_should() {
    examples_print_what_they_should("fc", "f90", "gfortran");
}

/// A folder of recorded runs beside the checkout.
fn recorded(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name);
    if !folder.is_dir() {
        println!("skipped: ../shared/{name} is not there");
        return None;
    }
    Some(folder)
}

/// Recorded programs whose dates differ, and why.
const DIFFERENT: [(&str, &str); 4] = [
    ("icoll-005", "MPI_Ibarrier: the reference lets ranks leave before all have entered"),
    ("icoll-041", "MPI_Ibarrier, as above"),
    ("mix-023", "MPI_Ibarrier, as above"),
    ("poll-010", "to be mended: the order in which ranks wake that sleep until one date"),
];

/// `T rank step date`.
fn step(line: &str) -> Option<(u32, u32, f64)> {
    let mut words = line.strip_prefix("T ")?.split_whitespace();
    let (rank, step, date) = (words.next()?, words.next()?, words.next()?);
    Some((rank.parse().ok()?, step.parse().ok()?, date.parse().ok()?))
}

/// Lines `T rank step date`, by rank and step.
fn steps(text: &str) -> Vec<(u32, u32, f64)> {
    let mut steps: Vec<(u32, u32, f64)> = text.lines().filter_map(step).collect();
    steps.sort_by_key(|(rank, step, _)| (*rank, *step));
    steps
}

/// Plays a recorded program; the error says which date differs.
fn play_program(folder: &Folder, recorded: &Path, name: &str) -> Result<(), String> {
    let file = |extension: &str| recorded.join(format!("{name}.{extension}"));
    let compiled = folder.simurgh(&["cc", "-O1", "-w", text(&file("c")), "-o", name]);
    if compiled.code != 0 {
        return Err(compiled.told());
    }
    let expected = read(&file("expected"));
    let ranks = expected.split_whitespace().nth(2).ok_or("the first line is `# np N kind KIND`")?;
    let (platform, hosts, program) = (file("xml"), file("hosts"), format!("./{name}"));
    let mut words = vec!["run", "-q", "-n", ranks, "-p", text(&platform), "--hostfile", text(&hosts)];
    words.extend(["--compute", "none", "--config", "smpi/coll-selector=default", program.as_str()]);
    let ran = folder.simurgh(&words);
    if ran.code != 0 {
        return Err(ran.told());
    }
    let (found, expected) = (steps(&ran.stdout), steps(&expected));
    if found.len() != expected.len() {
        return Err(format!("{} dates, not {}", found.len(), expected.len()));
    }
    for (found, expected) in found.iter().zip(&expected) {
        let (rank, step, date) = *expected;
        if (found.0, found.1) != (rank, step) {
            return Err(format!("step {} of rank {}, not {step} of {rank}", found.1, found.0));
        }
        if !agree(found.2, date) {
            return Err(format!("step {step} of rank {rank} at {:.9}, not at {date:.9}", found.2));
        }
    }
    Ok(())
}

#[test]
fn recorded_programs_have_their_dates() {
    let Some(recorded) = recorded("oracles-mpi") else { return };
    let names = stems(&recorded, "c");
    assert!(names.len() >= 120, "{} programs", names.len());
    let folder = Folder::new("mpi-recorded-programs");
    let results = two_at_a_time(&names, |name| play_program(&folder, &recorded, name));
    let mut wrong = Vec::new();
    for (name, result) in names.iter().zip(results) {
        let exception = DIFFERENT.iter().find(|(known, _)| known == name);
        match (result, exception) {
            (Err(difference), None) => wrong.push(format!("{name}: {difference}")),
            (Ok(()), Some((_, reason))) => {
                wrong.push(format!("{name} agrees: take it off the list ({reason})"));
            }
            (Ok(()), None) | (Err(_), Some(_)) => {}
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Plays a row of recorded collectives; the error says which date differs.
fn play_row(folder: &Folder, recorded: &Path, row: &str) -> Result<(), String> {
    let columns: Vec<&str> = row.split('\t').collect();
    let [keys, names, ranks, size, root, hosts, dates] = columns[..] else {
        return Err("a row has seven columns".to_owned());
    };
    let settings: Vec<String> = std::iter::once("smpi/coll-selector=default".to_owned())
        .chain(keys.split(',').filter(|key| *key != "-").map(|key| key.replacen(':', "=", 1)))
        .collect();
    let (platform, hosts) = (recorded.join("platform.xml"), recorded.join(hosts));
    let mut words = vec!["run", "-q", "-n", ranks, "-p", text(&platform), "--hostfile", text(&hosts)];
    words.extend(["--compute", "none"]);
    for setting in &settings {
        words.extend(["--config", setting.as_str()]);
    }
    words.extend(["./coll", names, size, root]);
    let ran = folder.simurgh(&words);
    if ran.code != 0 || ran.stdout.contains("WRONG") {
        return Err(ran.told());
    }
    let mut found: Vec<(usize, f64)> = Vec::new();
    for line in ran.stdout.lines().filter_map(|line| line.strip_prefix("T ")) {
        let (rank, date) = line.split_once(' ').ok_or("a line is `T RANK DATE`")?;
        found.push((
            rank.parse().map_err(|_| format!("{rank} is no rank"))?,
            date.trim().parse().map_err(|_| format!("{date} is no date"))?,
        ));
    }
    found.sort_by_key(|(rank, _)| *rank);
    let dates: Vec<f64> = dates.split_whitespace().filter_map(|date| date.parse().ok()).collect();
    if found.len() != dates.len() {
        return Err(format!("{} dates, not {}", found.len(), dates.len()));
    }
    match found.iter().zip(&dates).find(|((_, found), expected)| !agree(*found, **expected)) {
        Some(((rank, found), expected)) => {
            Err(format!("rank {rank} leaves at {found:.9}, not at {expected:.9}"))
        }
        None => Ok(()),
    }
}

/// All of them: there are no exceptions.
#[test]
fn recorded_collectives_have_their_dates() {
    let Some(recorded) = recorded("oracles-mpi-coll") else { return };
    let folder = Folder::new("mpi-recorded-collectives");
    let compiled = folder.simurgh(&["cc", "-O1", "-w", text(&recorded.join("coll.c")), "-o", "coll"]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
    let table = read(&recorded.join("expected.tsv"));
    let rows: Vec<&str> = table.lines().skip(1).collect();
    assert!(rows.len() >= 647, "{} rows", rows.len());
    let results = two_at_a_time(&rows, |row| play_row(&folder, &recorded, row));
    let mut wrong = Vec::new();
    for (row, result) in rows.iter().zip(results) {
        if let Err(difference) = result {
            let head: Vec<&str> = row.split('\t').take(6).collect();
            wrong.push(format!("{}: {difference}", head.join(" ")));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// The first four lines of a program; what follows is line 5.
const BEGINNING: &str = "#include <mpi.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
    int main(int argc, char **argv) { int rank, size, x = 0; MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);\n";

/// Compiles a program of these statements.
pub(crate) fn compile(folder: &Folder, name: &str, statements: &str) {
    let source = format!("{name}.c");
    folder.write(&source, &format!("{BEGINNING}{statements}\nMPI_Finalize(); return x; }}\n"));
    let compiled = folder.simurgh(&["cc", "-g", "-w", &source, "-o", name]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
}

/// Four processes, in a simulation that is the same each time.
pub(crate) fn run(folder: &Folder, name: &str) -> Ran {
    folder.simurgh(&["run", "-n", "4", "--compute", "none", &format!("./{name}")])
}

/// Programs that come to a bad end: their names, their statements, and what is said of it; the exit code is 1.
const BAD_ENDS: [(&str, &str, &[&str]); 15] = [
    (
        "null",
        "if (rank == 2) *(volatile int *)0 = 1;",
        &["simurgh: rank 2: null.c:5: segmentation fault writing 0x0\n"],
    ),
    (
        "division",
        "volatile int zero = 0; if (rank == 0) printf(\"%d\\n\", 7 / zero);",
        &["simurgh: rank 0: division.c:5: integer division by zero\n"],
    ),
    (
        "freed",
        "char *text = malloc(9); if (rank == 3) { free(text); free(text); }",
        &["simurgh: rank 3: freed.c:5: double free"],
    ),
    ("aborting", "if (rank == 1) abort();", &["simurgh: rank 1: aborting.c:5: aborted\n"]),
    (
        "returned",
        "if (rank == 1) return 0; MPI_Barrier(MPI_COMM_WORLD);",
        &["simurgh: rank 1: ended without MPI_Finalize\n", "  ranks 0, 2, 3: MPI_Barrier at returned.c:5\n"],
    ),
    ("code", "MPI_Finalize(); exit(rank == 1 ? 7 : 0);", &["simurgh: rank 1: exited with code 7"]),
    (
        "abort",
        "if (rank == 1) MPI_Abort(MPI_COMM_WORLD, 42); MPI_Barrier(MPI_COMM_WORLD);",
        &[
            "simurgh: rank 1: abort.c:5: called MPI_Abort with the code 42\n",
            "  ranks 0, 2, 3: MPI_Barrier at abort.c:5\n",
        ],
    ),
    (
        "range",
        "MPI_Send(&x, 1, MPI_INT, size, 0, MPI_COMM_WORLD);",
        &[
            "simurgh: rank 0: range.c:5: MPI_Send on MPI_COMM_WORLD: rank 4 is not in the communicator, which has 4 processes (MPI_ERR_RANK)",
        ],
    ),
    (
        "count",
        "MPI_Send(&x, -1, MPI_INT, 0, 0, MPI_COMM_WORLD);",
        &["MPI_Send on MPI_COMM_WORLD: the count is -1: it must not be negative (MPI_ERR_COUNT)"],
    ),
    (
        "truncated",
        "int four[4] = {0}; if (rank == 0) MPI_Send(four, 4, MPI_INT, 1, 0, MPI_COMM_WORLD); if (rank == 1) MPI_Recv(four, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        &[
            "a message of 16 bytes from rank 0 with tag 0 does not fit into a receive of 4 bytes (MPI_ERR_TRUNCATE)",
        ],
    ),
    (
        "epoch",
        "int cells[4]; MPI_Win window; MPI_Win_create(cells, 16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window); MPI_Put(&x, 1, MPI_INT, 0, 1, 1, MPI_INT, window);",
        &["is accessed outside of any epoch", "(MPI_ERR_RMA_SYNC)"],
    ),
    (
        "absent",
        "MPI_Comm children; MPI_Comm_spawn(\"./nothing\", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);",
        &[
            "simurgh: rank 0: absent.c:5: MPI_Comm_spawn on MPI_COMM_WORLD: there is no program \"./nothing\" (MPI_ERR_SPAWN)",
        ],
    ),
    (
        "child",
        "MPI_Comm other; MPI_Comm_get_parent(&other); if (other != MPI_COMM_NULL) *(volatile int *)0 = 1; MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);",
        &["simurgh: ranks 4, 5: child.c:5: segmentation fault writing 0x0"],
    ),
    (
        "receives",
        "MPI_Recv(&x, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);",
        &[
            "simurgh: deadlock: from 0.000000 s on no process can go on\n",
            "  rank 0: MPI_Recv from rank 1, tag 7 at receives.c:5\n",
            "  rank 3: MPI_Recv from rank 0, tag 7 at receives.c:5\n",
            "blocked for ever at 0.000000 s",
        ],
    ),
    (
        "sends",
        "static char large[100000]; MPI_Send(large, 100000, MPI_CHAR, (rank + 1) % size, 3, MPI_COMM_WORLD);",
        &[
            "  rank 3: MPI_Send to rank 0, tag 3 at sends.c:5\n",
            "  hint: a standard send of 65536 bytes or more waits for its receive",
            "blocked for ever at 0.000000 s",
        ],
    ),
];

#[test]
fn a_bad_end_is_told() {
    let folder = Folder::new("mpi-bad-ends");
    let wrong = two_at_a_time(&BAD_ENDS, |(name, statements, told)| {
        compile(&folder, name, statements);
        let ran = run(&folder, name);
        let all = ran.told();
        let missing: Vec<&&str> = told.iter().filter(|part| !all.contains(**part)).collect();
        (ran.code != 1 || !missing.is_empty()).then(|| format!("{name}: {missing:?} is missing in\n{all}"))
    });
    let wrong: Vec<String> = wrong.into_iter().flatten().collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A crash is told where there is no summary, too, and JSON stays JSON.
#[test]
fn a_bad_end_is_told_without_a_summary() {
    let folder = Folder::new("mpi-bad-ends-quiet");
    compile(&folder, "null", "if (rank == 2) *(volatile int *)0 = 1;");
    let quiet = folder.simurgh(&["run", "-q", "-n", "4", "--compute", "none", "./null"]);
    assert_eq!((quiet.code, quiet.stdout.as_str()), (1, ""), "{}", quiet.told());
    assert!(quiet.stderr.contains("null.c:5: segmentation fault"), "{}", quiet.told());
    let json = folder.simurgh(&["run", "--json", "-n", "4", "--compute", "none", "./null"]);
    assert_eq!(json.code, 1, "{}", json.told());
    let object: serde_json::Value = serde_json::from_str(&json.stdout).expect("JSON");
    assert_eq!(object["failures"][0]["actor"], "rank 2", "{}", json.told());
}

/// What cannot be run: the line that is read, and the exit code 2.
#[test]
fn what_cannot_be_run_is_refused() {
    let folder = Folder::new("mpi-refused");
    compile(&folder, "good", "");
    let fine = run(&folder, "good");
    assert_eq!(fine.code, 0, "{}", fine.told());
    folder.write("script", "#!/bin/sh\necho hello\n");
    folder.write("unknown", "node-0\nnode-1\nnowhere\n");
    folder.write("slots", "node-0:many\n");
    folder.write_bytes("cut", &folder.read("good")[..3000]);
    let table: [(&[&str], &str); 12] = [
        (
            &["-n", "4", "./script"],
            "-n goes with a compiled MPI program, and ./script is a script; name the program that it calls, or let the script call `simurgh run`",
        ),
        (&["-n", "4", "./nothing"], "./nothing: there is no such file"),
        (
            &["-n", "17", "./good"],
            "17 processes are to run on 16 hosts: give a platform with more hosts, or --oversubscribe to let them share",
        ),
        (
            &["-n", "0", "./good"],
            "invalid value '0' for '--processes <N>': 0 is not in 1..=4294967295; try --help",
        ),
        (&["-p", "nothing.xml", "./good"], "nothing.xml: there is no such file; check the path"),
        (&["--hostfile", "nothing", "./good"], "nothing: there is no such file; check the path"),
        (
            &["--hostfile", "unknown", "./good"],
            "unknown:3: the platform has no host \"nowhere\"; it has \"node-0\", \"node-1\", \"node-10\" and 13 more",
        ),
        (
            &["--hostfile", "slots", "./good"],
            "slots:1: \"many\" is no number of processes; write HOST:4 or HOST slots=4, say",
        ),
        (
            &["--config", "smpi/coll-selector=best", "./good"],
            "--config smpi/coll-selector=best: there is no selector \"best\" of collectives; choose one of default, mpich, ompi",
        ),
        (
            &["--config", "smpi/os=much", "./good"],
            "--config smpi/os=much: steps such as 0:1e-6:2e-9;1420:2e-6:1e-9 are expected",
        ),
        (
            &["--config", "smpi/init=-1", "./good"],
            "--config smpi/init=-1: a number of seconds is expected, 0 or more",
        ),
        (
            &["--config", "smpi/async-small-thresh=100000", "./good"],
            "--config smpi/async-small-thresh=100000: messages that set out before they are received are not simulated yet; only 0 is",
        ),
    ];
    for (arguments, line) in table {
        let mut words = vec!["run"];
        words.extend(arguments);
        let ran = folder.simurgh(&words);
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (2, format!("simurgh: {line}\n").as_str()),
            "{}",
            ran.told()
        );
    }
    let cut = run(&folder, "cut");
    assert_eq!(cut.code, 2, "{}", cut.told());
    assert!(cut.stderr.ends_with("cut: is shorter than it says; copy or build it again\n"), "{}", cut.told());
}

/// What is no program was read as a trace, and "not UTF-8".
#[test]
fn what_is_no_program_is_told_as_what_it_is() {
    let folder = Folder::new("mpi-no-program");
    folder.write_bytes("liba.a", b"!<arch>\n/               0  \x80\xff");
    folder.write_bytes("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    folder.write("empty", "");
    folder.write("notes", "not a program\n");
    folder.write_bytes("latin", b"caf\xe9\n");
    std::fs::create_dir_all(folder.path().join("folder")).unwrap();
    const ARCHIVE: &str = "an archive of object files; link it to a program with simurgh cc, and name that";
    const BINARY: &str = "neither a program nor a text; name a program that simurgh cc has made";
    let goes_with = "-n goes with a compiled MPI program, and";
    let table: [(&[&str], String); 10] = [
        (&["run", "-n", "2", "./liba.a"], format!("./liba.a: this is {ARCHIVE}")),
        (&["run", "./liba.a"], format!("./liba.a: this is {ARCHIVE}")),
        (&["check", "-n", "2", "./liba.a"], format!("./liba.a: this is {ARCHIVE}")),
        (&["run", "-n", "2", "./a.png"], format!("./a.png: this is {BINARY}")),
        (&["check", "./a.png"], format!("./a.png: this is {BINARY}")),
        (
            &["run", "-n", "2", "./empty"],
            format!("{goes_with} ./empty is an empty file; compile the program again with simurgh cc"),
        ),
        (&["run", "-n", "2", "./notes"], format!("{goes_with} ./notes is none; compile it with simurgh cc")),
        (&["run", "-n", "2", "./latin"], format!("{goes_with} ./latin is none; compile it with simurgh cc")),
        (
            &["run", "-n", "2", "./folder"],
            format!("{goes_with} ./folder is a directory; name the program in it"),
        ),
        (&["run", "./latin"], "./latin:1: this is not UTF-8 text; save the file as UTF-8".to_owned()),
    ];
    for (words, line) in table {
        let ran = folder.simurgh(words);
        let expected = format!("simurgh: {line}\n");
        assert_eq!((ran.code, ran.stderr.as_str()), (2, expected.as_str()), "{}", ran.told());
    }
}

/// A colon at the end was the last argument of the program before it.
#[test]
fn a_program_follows_each_colon() {
    let folder = Folder::new("mpi-colon");
    folder
        .write("good.c", "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); MPI_Finalize(); return 0; }\n");
    assert_eq!(folder.simurgh(&["cc", "good.c", "-o", "good"]).code, 0);
    for words in
        [&["./good", ":"][..], &["./good", ":", "-n", "1", "./good", ":"], &["./good", ":", "-n", "1"]]
    {
        let ran = folder.simurgh(&[&["run", "-n", "1"], words].concat());
        let expected = "simurgh: a program is missing after the colon, as in `: -n 4 ./b`\n";
        assert_eq!((ran.code, ran.stderr.as_str()), (2, expected), "{}", ran.told());
    }
}

/// What `--help` printed was the compiler's alone.
#[test]
fn wrappers_help_with_their_own_words_first() {
    let folder = Folder::new("mpi-help");
    for (verb, compiler) in [("cc", "gcc"), ("cxx", "g++"), ("fc", "gfortran")] {
        let ran = folder.simurgh(&[verb, "--help"]);
        let first = format!("simurgh {verb}: {compiler} with ");
        assert!(ran.code == 0 && ran.stdout.starts_with(&first), "{}", ran.told());
        for word in ["-show", "--counted", "-static", "Usage: simurgh", "simurgh run -n 4 ./app"] {
            assert!(ran.stdout.contains(word), "{word}: {}", ran.told());
        }
        // Then comes the compiler's own.
        assert!(ran.stdout.contains("-o <file>"), "{}", ran.told());
    }
}

/// Executables that lie at fixed addresses cannot be there once for each process.
#[test]
fn what_cannot_be_copied_is_refused() {
    let folder = Folder::new("mpi-fixed");
    folder.write("plain.c", "int main(void) { return 0; }\n");
    for option in ["-static", "-no-pie"] {
        let mut gcc = Command::new("gcc");
        gcc.args([option, "plain.c", "-o", "plain"]).current_dir(folder.path()).stderr(Stdio::null());
        if !gcc.status().is_ok_and(|status| status.success()) {
            println!("skipped: gcc {option} does not work here");
            continue;
        }
        let ran = run(&folder, "plain");
        assert_eq!(ran.code, 2, "{option}: {}", ran.told());
        assert!(
            ran.stderr.contains("linked to fixed addresses, so that it cannot be copied; "),
            "{option}: {}",
            ran.told()
        );
    }
}

/// The linker failed.
#[test]
fn what_would_be_static_is_made_as_it_can_be_folded() {
    let folder = Folder::new("mpi-static");
    folder.write(
        "hello.c",
        "#include <mpi.h>\nint main(int c, char **v) { MPI_Init(&c, &v); return MPI_Finalize(); }\n",
    );
    for option in ["-static", "-no-pie"] {
        let made = folder.simurgh(&["cc", option, "hello.c", "-o", "hello"]);
        assert_eq!(made.code, 0, "{}", made.told());
        assert!(made.stderr.contains(&format!("{option} is left out: ")), "{}", made.told());
        let ran = run(&folder, "hello");
        assert_eq!(ran.code, 0, "{}", ran.told());
    }
}

/// Several programs in one world, as coupled codes are started.
#[test]
fn several_programs_are_one_world() {
    let folder = Folder::new("mpi-several");
    let says = "int *application, found; MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &application, &found); \
                int all = 0; MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); \
                printf(\"%s %d of %d %d %d %s\\n\", NAME, rank, size, found ? *application : -1, all, argc > 1 ? argv[1] : \"\"); \
                fflush(stdout);";
    for name in ["ocean", "air"] {
        compile(&folder, name, &says.replace("NAME", &format!("{name:?}")));
    }
    let words = "run -q -n 2 --compute none ./ocean x : -n 3 ./air y : -n 1 ./ocean";
    let ran = folder.simurgh(&words.split(' ').collect::<Vec<_>>());
    assert_eq!(ran.code, 0, "{}", ran.told());
    let mut lines: Vec<&str> = ran.stdout.lines().collect();
    lines.sort_unstable();
    let told = [
        "air 2 of 6 1 15 y",
        "air 3 of 6 1 15 y",
        "air 4 of 6 1 15 y",
        "ocean 0 of 6 0 15 x",
        "ocean 1 of 6 0 15 x",
        "ocean 5 of 6 2 15 ",
    ];
    assert_eq!(lines, told);
    for (words, line) in [
        ("run -n 2 ./ocean : -n 1 ./land", "./land: there is no such file"),
        ("run ./ocean : -n 1 ./air", "say how many processes each has"),
        ("run -n 2 ./ocean : -n 0 ./air", "-n 0: give a number from 1 on"),
        ("run -n 2 ./ocean : -n 1", "a program is missing after the colon"),
        ("check -n 2 ./ocean : -n 1 ./air", "not be checked yet"),
    ] {
        let ran = folder.simurgh(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, 2, "{words}: {}", ran.told());
        assert!(ran.stderr.contains(line), "{words}: {}", ran.told());
    }
}

/// It ran on, and its output was lost with exit code 0.
#[test]
fn output_that_goes_nowhere_ends_a_run() {
    let folder = Folder::new("mpi-nowhere");
    compile(
        &folder,
        "talks",
        "for (long i = 0; i < 100000000; i++) { printf(\"%ld\\n\", i); MPI_Barrier(MPI_COMM_WORLD); }",
    );
    // As a program whose reader has gone away: it does not run to its end, which is an hour away.
    let script =
        format!("{{ {} run -q -n 2 ./talks; echo $? >&2; }} | head -n 1", env!("CARGO_BIN_EXE_simurgh"));
    let ran = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().expect("it runs");
    assert_eq!((ran.stdout.as_slice(), ran.stderr.as_slice()), (&b"0\n"[..], &b"141\n"[..]));
    compile(&folder, "says", "printf(\"a word\\n\");");
    let script = format!("{} run -q -n 2 ./says > /dev/full", env!("CARGO_BIN_EXE_simurgh"));
    let ran = Command::new("sh").args(["-c", &script]).current_dir(folder.path()).output().expect("it runs");
    let told = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{told}");
    assert!(told.contains("standard output: ") && told.contains("is lost"), "{told}");
}

#[test]
fn what_a_program_calls_is_listed() {
    let folder = Folder::new("mpi-coverage");
    compile(&folder, "known", "char port[MPI_MAX_PORT_NAME]; MPI_Open_port(MPI_INFO_NULL, port);");
    let listed = folder.simurgh(&["mpi", "coverage", "known"]);
    assert_eq!(
        (listed.code, listed.stdout.as_str()),
        (
            0,
            "known: 5 procedures of MPI are called, all are implemented\n  MPI_Comm_rank\n  MPI_Comm_size\n  MPI_Finalize\n  \
             MPI_Init\n  MPI_Open_port\n"
        ),
        "{}",
        listed.told()
    );
    folder.write(
        "other.c",
        "int MPIX_Query_cuda_support(void);\nint f(void) { return MPIX_Query_cuda_support(); }\n",
    );
    let compiled = folder.simurgh(&["cc", "-c", "other.c", "-o", "other.o"]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
    let listed = folder.simurgh(&["mpi", "coverage", "other.o"]);
    assert_eq!(
        (listed.code, listed.stdout.as_str()),
        (1, "other.o: 0 procedures of MPI are called\n  MPIX_Query_cuda_support: not in MPI 5.0\n"),
        "{}",
        listed.told()
    );
}

/// Every procedure of the table has something behind it.
#[test]
fn all_procedures_are_implemented() {
    let folder = Folder::new("mpi-coverage-all");
    let listed = folder.simurgh(&["mpi", "coverage", "--missing"]);
    let expected = "MPI 5.0 and what it removed: 541 of 541 procedures are implemented\n";
    assert_eq!((listed.code, listed.stdout.as_str()), (0, expected), "{}", listed.told());
}

/// What build systems call.
#[test]
fn links_compile_and_run() {
    let folder = Folder::new("mpi-links");
    let links = folder.simurgh(&["mpi", "wrappers", "bin"]);
    assert_eq!(links.code, 0, "{}", links.told());
    folder.write(
        "hello.c",
        &format!("{BEGINNING}if (rank == 0) printf(\"%d of %s\\n\", size, argv[1]);\nMPI_Finalize(); return x; }}\n"),
    );
    let call = |name: &str, arguments: &[&str]| {
        let mut command = Command::new(folder.path().join("bin").join(name));
        let output = command.args(arguments).current_dir(folder.path()).output().expect("the link is there");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    call("mpicc", &["hello.c", "-o", "hello"]);
    let printed = call("mpiexec", &["-n", "3", "./hello", "us"]);
    assert_eq!(printed, "3 of us\n");
}

#[test]
fn programs_start_themselves_where_nobody_does() {
    let folder = Folder::new("mpi-alone");
    assert_eq!(folder.simurgh(&["mpi", "wrappers", "bin"]).code, 0);
    compile(
        &folder,
        "tells",
        "printf(\"%d of %d: %s, %d\\n\", rank, size, argv[1], argc); if (argc > 3) x = 1;",
    );
    folder.write("script", "#!/bin/sh\nexport WORD=\"two words\"\nexec ./tells \"$WORD\" \"$@\"\n");
    let script = folder.path().join("script");
    let mut may = std::fs::metadata(&script).expect("it is there").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut may, 0o755);
    std::fs::set_permissions(&script, may).expect("it is ours");
    let call = |name: &str, arguments: &[&str]| {
        let mut command = Command::new(folder.path().join(name));
        let output = command.args(arguments).current_dir(folder.path()).output().expect("it is there");
        (output.status.code(), String::from_utf8(output.stdout).expect("text"))
    };
    assert_eq!(call("tells", &["alone"]), (Some(0), "0 of 1: alone, 2\n".to_owned()));
    assert_eq!(call("tells", &["a", "b", "c"]).0, Some(1));
    let (code, printed) = call("bin/mpiexec", &["-n", "2", "./script", "-x"]);
    assert_eq!(code, Some(0), "{printed}");
    // Who is first depends on what computing takes.
    for line in ["0 of 2: two words, 3\n", "1 of 2: two words, 3\n"] {
        assert!(printed.contains(line), "{printed}");
    }
}

#[test]
fn workers_of_openmp_call() {
    let folder = Folder::new("mpi-workers");
    // Each thread sends to the thread of the same number in the next process, and says whether it is the one that began.
    folder.write(
        "workers.c",
        "#include <mpi.h>\n#include <omp.h>\n#include <stdio.h>\nint main(int argc, char **argv) {\n\
         int rank, size, level, sum = 0, mains = 0; MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);\n\
         MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);\n\
         for (int round = 0; round < 20; round++)\n\
         #pragma omp parallel num_threads(3) reduction(+ : sum, mains)\n\
         { int me = omp_get_thread_num(), got = 0, flag, word = 100 * rank + me; MPI_Request request;\n\
         for (int turn = 0; turn < 3; turn++) {\n\
         if (turn == me) {\n\
         MPI_Irecv(&got, 1, MPI_INT, (rank + size - 1) % size, me, MPI_COMM_WORLD, &request);\n\
         MPI_Send(&word, 1, MPI_INT, (rank + 1) % size, me, MPI_COMM_WORLD);\n\
         MPI_Wait(&request, MPI_STATUS_IGNORE); MPI_Is_thread_main(&flag); mains += flag; sum += got; }\n\
         _Pragma(\"omp barrier\") } }\n\
         for (int i = 0; i < size; i++) { MPI_Barrier(MPI_COMM_WORLD);\n\
         if (i == rank) printf(\"%d %d %d %d\\n\", rank, sum, mains, level == MPI_THREAD_SERIALIZED); }\n\
         MPI_Finalize(); return 0; }\n",
    );
    let compiled = folder.simurgh(&["cc", "-fopenmp", "workers.c", "-o", "workers"]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
    let ran = folder.simurgh(&["run", "-q", "-n", "4", "--compute", "none", "workers"]);
    // 20 rounds of three words: 100 times the process before, and 0, 1, 2.
    assert_eq!(ran.stdout, "0 18060 20 1\n1 60 20 1\n2 6060 20 1\n3 12060 20 1\n", "{}", ran.told());
}

#[test]
fn workers_of_openmp_call_in_critical_sections_and_from_fortran() {
    let folder = Folder::new("mpi-critical");
    folder.write(
        "critical.c",
        "#include <mpi.h>\n#include <omp.h>\n#include <stdio.h>\nint main(int argc, char **argv) {\n\
         int rank, level, sum = 0; MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);\n\
         MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n\
         for (int round = 0; round < 10; round++)\n\
         #pragma omp parallel num_threads(2) reduction(+ : sum)\n\
         { int got;\n\
         #pragma omp critical\n\
         { MPI_Sendrecv(&rank, 1, MPI_INT, 1 - rank, 0, &got, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); sum += got; } }\n\
         for (int i = 0; i < 2; i++) { MPI_Barrier(MPI_COMM_WORLD); if (i == rank) printf(\"%d %d\\n\", rank, sum); }\n\
         MPI_Finalize(); return 0; }\n",
    );
    folder.write(
        "second.f90",
        "program second\n use mpi\n use omp_lib\n integer :: rank, level, got, ierr\n\
         call MPI_Init_thread(MPI_THREAD_SERIALIZED, level, ierr)\n call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)\n got = -1\n\
         !$omp parallel num_threads(2)\n if (omp_get_thread_num() == 1) then\n\
         call MPI_Sendrecv(rank, 1, MPI_INTEGER, 1 - rank, 0, got, 1, MPI_INTEGER, 1 - rank, 0, &\n\
         MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)\n endif\n !$omp end parallel\n\
         if (rank == 0) print '(i0)', got\n call MPI_Finalize(ierr)\nend program\n",
    );
    for (verb, file, name, printed) in
        [("cc", "critical.c", "critical", "0 20\n1 0\n"), ("fc", "second.f90", "second", "1\n")]
    {
        if verb == "fc" && !is_there("gfortran") {
            println!("skipped: gfortran is not there");
            continue;
        }
        let compiled = folder.simurgh(&[verb, "-fopenmp", file, "-o", name]);
        assert_eq!(compiled.code, 0, "{}", compiled.told());
        let ran = folder.simurgh(&["run", "-q", "-n", "2", "--compute", "none", name]);
        assert_eq!(ran.stdout, printed, "{}", ran.told());
    }
}

#[test]
fn the_first_process_reads_our_input() {
    let folder = Folder::new("mpi-input");
    folder.write(
        "reads.c",
        &format!(
            "{BEGINNING}char line[64] = \"-\"; int number = 0;\nfgets(line, sizeof line, stdin); scanf(\"%d\", &number);\n\
             for (int i = 0; i < size; i++) {{ if (i == rank) printf(\"%d %d %s\\n\", rank, number, line); MPI_Barrier(MPI_COMM_WORLD); }}\n\
             MPI_Finalize(); return x; }}\n"
        ),
    );
    folder.write("input", "some words\n42\n");
    let compiled = folder.simurgh(&["cc", "reads.c", "-o", "reads"]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
    let input = std::fs::File::open(folder.path().join("input")).expect("it was just written");
    let output = Command::new(env!("CARGO_BIN_EXE_simurgh"))
        .args(["run", "-q", "-n", "3", "reads"])
        .current_dir(folder.path())
        .stdin(input)
        .output()
        .expect("it runs");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0 42 some words\n\n1 0 -\n2 0 -\n");
}
