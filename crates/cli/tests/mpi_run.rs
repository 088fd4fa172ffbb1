//! What `simurgh run -n` tells of MPI programs beside their output: where the time went, the same in every run, as a timeline and as
//! a trace that can be replayed; and a debugger that sees every process.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::command::{Folder, Ran};

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/mpi").join(name)
}

fn is_there(command: &str) -> bool {
    let mut command = Command::new(command);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    let is_there = command.status().is_ok_and(|status| status.success());
    if !is_there {
        println!("skipped: {command:?} is not there");
    }
    is_there
}

/// A folder with an example that was compiled.
fn compiled(folder: &str, verb: &str, source: &str, options: &[&str]) -> Folder {
    let folder = Folder::new(folder);
    folder.write("cluster.xml", &std::fs::read_to_string(example("cluster.xml")).unwrap());
    let source = example(source);
    let mut words = vec![verb, "-O2"];
    words.extend(options);
    words.extend([source.to_str().unwrap(), "-o", "app", "-lm"]);
    fine(&folder, &words);
    folder
}

fn fine(folder: &Folder, words: &[&str]) -> Ran {
    let ran = folder.simurgh(words);
    assert_eq!(ran.code, 0, "{}", ran.told());
    ran
}

/// The date at which a run ended, from its summary for machines.
fn clock(ran: &Ran) -> f64 {
    let summary: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    summary["clock"].as_f64().unwrap()
}

/// Keeps all processors busy while something is done.
fn under_load<T>(run: impl FnOnce() -> T) -> T {
    let stop = Arc::new(AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            let stop = Arc::clone(&stop);
            scope.spawn(move || {
                let mut number = 1_u64;
                while !stop.load(Ordering::Relaxed) {
                    number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005) + 1);
                }
            });
        }
        let result = run();
        stop.store(true, Ordering::Relaxed);
        result
    })
}

#[test]
fn a_summary_says_where_the_time_went() {
    if !is_there("gcc") {
        return;
    }
    let folder = compiled("mpi-summary", "cc", "ring.c", &[]);
    let run = ["run", "-n", "4", "--compute", "none", "./app"];
    let told = fine(&folder, &run).stdout;
    for line in [
        "  computing                0.0%",
        "  in MPI                 100.0%",
        "12 messages",
        "    MPI_Recv",
        "  first to end          rank ",
        "  last to end           rank ",
    ] {
        assert!(told.contains(line), "{line:?} is not in\n{told}");
    }
    let quiet = fine(&folder, &["run", "-q", "-n", "4", "--compute", "none", "./app"]).stdout;
    assert!(!quiet.contains("in MPI") && !quiet.contains("finished"), "{quiet}");
    let json = fine(&folder, &["run", "--json", "--links", "-n", "4", "--compute", "none", "./app"]).stdout;
    let summary: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mpi = &summary["mpi"];
    assert_eq!(mpi["processes"], 4);
    assert_eq!(mpi["ranks"].as_array().map(Vec::len), Some(4));
    let calls = mpi["calls"].as_array().unwrap();
    let recv = calls.iter().find(|call| call["name"] == "MPI_Recv").unwrap();
    assert!(recv["seconds"].as_f64().unwrap() > 0.0);
    let links = mpi["links"].as_array().unwrap();
    assert!(!links.is_empty() && links[0]["used"].as_f64().unwrap() > 0.0, "{json}");
    assert!(
        fine(&folder, &["run", "--links", "-n", "4", "--compute", "none", "./app"])
            .stdout
            .contains("  link ")
    );
}

/// All that a run leaves behind.
fn all_of(folder: &Folder, compute: &str) -> Vec<Vec<u8>> {
    let run = ["run", "-n", "8", "-p", "cluster.xml", "--compute", compute];
    let mut found = Vec::new();
    let words =
        [&run[..], &["--trace", "out.json", "--svg", "out.svg", "--record", "traces", "./app"]].concat();
    found.push(fine(folder, &words).stdout.into_bytes());
    found.push(fine(folder, &[&run[..], &["--json", "--links", "./app"]].concat()).stdout.into_bytes());
    for file in ["out.json", "out.svg", "traces/rank-0.txt", "traces/rank-7.txt"] {
        found.push(folder.read(file));
    }
    found
}

#[test]
fn counted_runs_are_the_same_whatever_the_load() {
    if !is_there("gcc") {
        return;
    }
    let folder = compiled("mpi-counted", "cc", "diffusion.c", &["--counted"]);
    for compute in ["counted", "none"] {
        let alone = all_of(&folder, compute);
        let loaded = under_load(|| all_of(&folder, compute));
        for (place, (alone, loaded)) in alone.iter().zip(&loaded).enumerate() {
            assert!(alone == loaded, "--compute {compute}: {place} differs");
        }
    }
    let end = |compute| {
        clock(&fine(
            &folder,
            &["run", "--json", "-n", "8", "-p", "cluster.xml", "--compute", compute, "./app"],
        ))
    };
    assert!(end("counted") > 1.05 * end("none"), "what is computed counts");
}

#[test]
fn counting_is_in_proportion_to_what_is_executed() {
    if !is_there("gcc") {
        return;
    }
    let folder = Folder::new("mpi-counting");
    folder.write(
        "loop.c",
        "#include <mpi.h>
         #include <stdlib.h>
         int main(int argc, char** argv) {
             MPI_Init(&argc, &argv);
             double x = 1.0;
             for (long i = 0; i < atol(argv[1]); i++) { x = x * 0.999 + 1e-3; if (x > 2.0) x = 1.0; }
             MPI_Finalize();
             return x == 0.0;
         }",
    );
    fine(&folder, &["cc", "--counted", "-O2", "loop.c", "-o", "loop"]);
    let end = |count: &str| {
        clock(&fine(&folder, &["run", "--json", "-n", "1", "--compute", "counted", "./loop", count]))
    };
    let (short, long) = (end("1000000"), end("3000000"));
    assert!((long / short - 3.0).abs() < 0.01, "{short} {long}");
    let twice =
        ["run", "--json", "-n", "1", "--compute", "counted", "--config", "smpi/flops-per-instruction=2"];
    let twice = clock(&fine(&folder, &[&twice[..], &["./loop", "1000000"]].concat()));
    assert!((twice / short - 2.0).abs() < 0.01, "{short} {twice}");
}

#[test]
fn programs_that_do_not_count_are_refused_with_what_to_do() {
    if !is_there("gcc") {
        return;
    }
    let folder = compiled("mpi-uncounted", "cc", "ring.c", &[]);
    let ran = folder.simurgh(&["run", "-n", "2", "--compute", "counted", "./app"]);
    assert_eq!(ran.code, 2, "{}", ran.told());
    assert!(ran.stderr.contains("compile it with --counted"), "{}", ran.told());
}

#[test]
fn replayed_traces_take_as_long_as_the_run() {
    if !is_there("gcc") {
        return;
    }
    for (source, options) in [
        ("ring.c", &[][..]),
        ("diffusion.c", &["--counted"]),
        ("conjugate_gradient.c", &["--counted"]),
        ("master_workers.c", &[]),
    ] {
        let name = source.trim_end_matches(".c");
        let folder = compiled(&format!("mpi-record-{name}"), "cc", source, options);
        let compute = if options.is_empty() { "none" } else { "counted" };
        for size in ["4", "8"] {
            let platform = ["-p", "cluster.xml", "--json"];
            let run =
                [&["run", "-n", size, "--compute", compute, "--record", "traces"], &platform[..], &["./app"]];
            let ran = clock(&fine(&folder, &run.concat()));
            let replayed = fine(&folder, &[&["run"], &platform[..], &["traces/trace.txt"]].concat());
            let replayed = clock(&replayed);
            assert!((ran - replayed).abs() <= 1e-6 * ran, "{name} on {size}: {ran}, replayed {replayed}");
            let elsewhere = clock(&fine(&folder, &["run", "--json", "traces/trace.txt"]));
            assert!(elsewhere > ran, "the built-in platform is slower: {elsewhere} {ran}");
        }
    }
}

#[test]
fn what_traces_cannot_tell_is_said() {
    if !is_there("gcc") {
        return;
    }
    let folder = compiled("mpi-record-halo", "cc", "halo.c", &[]);
    let ran = fine(&folder, &["run", "-n", "4", "--compute", "none", "--record", "traces", "./app"]);
    assert!(ran.stderr.contains("traces cannot tell MPI_"), "{}", ran.told());
    assert!(ran.stdout.contains("wrote traces/trace.txt"), "{}", ran.told());
    let ran = folder.simurgh(&["run", "-n", "4", "traces/trace.txt"]);
    assert_eq!(ran.code, 2, "{}", ran.told());
    assert!(ran.stderr.contains("is a trace, which says how many processes"), "{}", ran.told());
}

#[test]
fn timelines_are_told_by_calls() {
    if !is_there("gcc") {
        return;
    }
    let folder = compiled("mpi-timeline", "cc", "conjugate_gradient.c", &["--counted"]);
    let pictures = ["--svg", "out.svg", "--trace", "out.json", "--trace", "out.paje"];
    let run = [&["run", "-n", "4", "--compute", "counted"], &pictures[..], &["./app"]].concat();
    fine(&folder, &run);
    for file in ["out.svg", "out.json", "out.paje"] {
        let text = String::from_utf8(folder.read(file)).unwrap();
        assert!(text.contains("MPI_Allreduce") && text.contains("executing"), "{file}");
        assert!(file != "out.svg" || text.contains("<title>app</title>"), "it has the name of the program");
        assert!(
            !text.contains("receiving from"),
            "{file}: what the kernel does is not what the program does"
        );
    }
}

#[test]
fn samples_skip_loops_and_shared_memory_is_one() {
    if !is_there("gcc") {
        return;
    }
    let folder = Folder::new("mpi-sample");
    let source = example("sample.c");
    fine(&folder, &["cc", "--counted", "-O2", source.to_str().unwrap(), "-o", "app"]);
    let run = |compute: &str| fine(&folder, &["run", "-q", "-n", "4", "--compute", compute, "./app"]).stdout;
    assert_eq!(run("none"), "16 of 400 blocks were executed, 4 ranks had 4000 MB\n");
    let told = fine(&folder, &["run", "--json", "-n", "4", "--compute", "counted", "./app"]);
    let every = fine(&folder, &["run", "--json", "-n", "4", "--compute", "counted", "./app", "all"]);
    let (sampled, all) = (clock(&told), clock(&every));
    assert!((sampled / all - 1.0).abs() < 0.02, "the mean stands for the rest: {sampled} {all}");
    // With another MPI, the header does nothing.
    let include = fine(&folder, &["cc", "--showme:incdirs"]).stdout.trim().to_owned();
    folder.write("mpi.h", "/* another MPI */\n");
    let header = std::fs::read_to_string(Path::new(&include).join("simurgh.h")).unwrap();
    folder.write("simurgh.h", &header);
    folder.write(
        "plain.c",
        "#include <simurgh.h>
         int main(void) {
             int n = 0;
             char* memory = SIMURGH_SHARED_MALLOC(10);
             for (int i = 0; i < 9; i++) SIMURGH_SAMPLE_LOCAL(2) { n++; }
             SIMURGH_SHARED_FREE(memory);
             return n == 9 ? 0 : 1;
         }",
    );
    let built =
        Command::new("gcc").args(["-I.", "plain.c", "-o", "plain"]).current_dir(folder.path()).status();
    assert!(built.unwrap().success());
    assert!(Command::new(folder.path().join("plain")).status().unwrap().success());
}

#[test]
fn programs_for_smpi_find_their_names() {
    if !is_there("gcc") {
        return;
    }
    let folder = Folder::new("mpi-smpi-names");
    folder.write(
        "app.c",
        "#include <smpi/smpi.h>
         #include <stdio.h>
         int main(int argc, char** argv) {
             MPI_Init(&argc, &argv);
             double* memory = SMPI_SHARED_MALLOC(1000 * sizeof(double));
             int done = 0;
             SMPI_SAMPLE_LOCAL(int i = 0, i < 100, i++, 3, 0.0) { done++; memory[i] = i; }
             double start = MPI_Wtime();
             smpi_execute_flops(2e9);
             SMPI_SAMPLE_DELAY(0.5) { done = -1; }
             printf(\"%d %.3f\\n\", done, MPI_Wtime() - start);
             SMPI_FREE(memory);
             MPI_Finalize();
             return 0;
         }",
    );
    fine(&folder, &["cc", "app.c", "-o", "app"]);
    let told = fine(&folder, &["run", "-q", "-n", "1", "--compute", "none", "./app"]).stdout;
    assert_eq!(told, "3 2.500\n");
}

/// Dates that SimGrid 3.32 printed for this program: when ranks 0 and 15 have the communicator, and how long the sum then takes.
#[test]
fn a_communicator_is_made_by_the_broadcast_that_was_chosen() {
    if !is_there("gcc") {
        return;
    }
    let folder = Folder::new("mpi-made-by-broadcast");
    folder.write(
        "app.c",
        "#include <mpi.h>
         #include <stdio.h>
         int main(int argc, char** argv) {
             MPI_Init(&argc, &argv);
             int rank, sum;
             MPI_Comm made;
             MPI_Comm_rank(MPI_COMM_WORLD, &rank);
             if (argv[1][0] == 'd') MPI_Comm_dup(MPI_COMM_WORLD, &made);
             else MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &made);
             double has = MPI_Wtime();
             MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, made);
             if (rank == 0 || rank == 15) printf(\"%d %.6f %.6f\\n\", rank, has, MPI_Wtime() - has);
             MPI_Comm_free(&made);
             MPI_Finalize();
             return 0;
         }",
    );
    folder.write(
        "cluster.xml",
        "<platform version=\"4.1\"><cluster id=\"c\" prefix=\"n\" suffix=\"\" radical=\"0-15\" speed=\"1Gf\" bw=\"125MBps\" \
         lat=\"50us\"/></platform>",
    );
    let hosts: String = (0..16).map(|host| format!("n{host}\n")).collect();
    folder.write("hosts", &hosts);
    fine(&folder, &["cc", "app.c", "-o", "app"]);
    for (selector, how, first, last) in [
        ("mpich", "dup", [0.006255, 0.001817], [0.007265, 0.000807]),
        ("ompi", "dup", [0.006255, 0.001816], [0.007264, 0.001212]),
        ("default", "dup", [0.0, 0.001010], [0.000808, 0.001010]),
        ("mpich", "split", [0.003436, 0.001413], [0.004244, 0.000605]),
        ("default", "split", [0.000205, 0.001013], [0.001016, 0.000808]),
    ] {
        let setting = format!("smpi/coll-selector={selector}");
        let words =
            ["run", "-q", "-n", "16", "-p", "cluster.xml", "--hostfile", "hosts", "--compute", "none"];
        let ran = fine(&folder, &[&words[..], &["--config", &setting, "./app", how]].concat());
        for (rank, expected) in [("0", first), ("15", last)] {
            let line = ran.stdout.lines().find_map(|line| line.strip_prefix(&format!("{rank} ")));
            let dates: Vec<f64> = line.unwrap().split(' ').map(|date| date.parse().unwrap()).collect();
            let agree = dates.iter().zip(expected).all(|(date, expected)| (date - expected).abs() < 1.5e-6);
            assert!(agree, "{selector} {how}: rank {rank} has {dates:?}, not {expected:?}");
        }
    }
}

/// The first reduction tells all processes which of them share a host, in n rounds of n messages. Who looks at messages has all of them.
#[test]
fn rounds_that_are_not_simulated_take_as_long() {
    if !is_there("gcc") {
        return;
    }
    let folder = Folder::new("mpi-rounds");
    folder.write(
        "app.c",
        "#include <mpi.h>
         #include <unistd.h>
         int main(void) {
             MPI_Init(0, 0);
             int rank, sum, values[64];
             MPI_Comm twin;
             MPI_Comm_rank(MPI_COMM_WORLD, &rank);
             usleep(rank * 37 % 64);
             MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
             if (sum != 64 * 63 / 2) MPI_Abort(MPI_COMM_WORLD, 1);
             MPI_Request request;
             MPI_Irecv(values, 64, MPI_INT, (rank + 1) % 64, 0, MPI_COMM_WORLD, &request);
             MPI_Comm_dup(MPI_COMM_WORLD, &twin);
             MPI_Send(values + rank, 1, MPI_INT, (rank + 63) % 64, 0, MPI_COMM_WORLD);
             MPI_Wait(&request, MPI_STATUS_IGNORE);
             MPI_Bcast(values, 64, MPI_INT, 5, twin);
             MPI_Comm_free(&twin);
             MPI_Finalize();
             return 0;
         }",
    );
    folder.write("cluster.xml", &std::fs::read_to_string(example("cluster.xml")).unwrap());
    fine(&folder, &["cc", "app.c", "-o", "app"]);
    let traffic = |ran: &Ran| {
        let summary: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        (summary["messages"].as_u64().unwrap(), summary["mpi"]["bytes"].as_f64().unwrap())
    };
    let common = ["run", "--json", "-n", "64", "--oversubscribe", "--compute", "none"];
    for platform in [&[][..], &["-p", "cluster.xml"]] {
        let few = fine(&folder, &[&common[..], platform, &["./app"]].concat());
        let all = fine(&folder, &[&common[..], platform, &["--links", "./app"]].concat());
        assert!((clock(&few) - clock(&all)).abs() < 1e-9 * clock(&all), "{} {}", clock(&few), clock(&all));
        assert_eq!(traffic(&few), traffic(&all));
    }
}

/// Dates that SimGrid 3.32 printed: several processes of a host are a group in the order of processes, whatever their ranks are.
#[test]
fn collectives_by_hosts_go_by_the_order_of_processes() {
    if !is_there("gcc") {
        return;
    }
    let folder = Folder::new("mpi-by-hosts");
    folder.write(
        "app.c",
        "#include <mpi.h>
         #include <stdio.h>
         int main(int argc, char** argv) {
             MPI_Init(&argc, &argv);
             int rank, size, data[250] = {0}, sums[250];
             MPI_Comm made;
             MPI_Comm_rank(MPI_COMM_WORLD, &rank);
             MPI_Comm_size(MPI_COMM_WORLD, &size);
             MPI_Comm_split(MPI_COMM_WORLD, 0, argv[1][0] == 'b' ? -rank : rank, &made);
             double has = MPI_Wtime();
             MPI_Allreduce(data, sums, 250, MPI_INT, MPI_SUM, made);
             if (rank == 0 || rank == size - 1) printf(\"%d %.6f %.6f\\n\", rank, has, MPI_Wtime() - has);
             MPI_Comm_free(&made);
             MPI_Finalize();
             return 0;
         }",
    );
    let hosts: String =
        ["a", "b", "c"].iter().map(|name| format!("<host id=\"{name}\" speed=\"1Gf\"/>")).collect();
    let (mut links, mut routes) = (String::new(), String::new());
    for (from, to, micros) in [("a", "b", 100), ("b", "c", 300), ("a", "c", 700)] {
        links += &format!("<link id=\"{from}{to}\" bandwidth=\"125MBps\" latency=\"{micros}us\"/>");
        routes += &format!("<route src=\"{from}\" dst=\"{to}\"><link_ctn id=\"{from}{to}\"/></route>");
    }
    let zone = format!("<zone id=\"z\" routing=\"Full\">{hosts}{links}{routes}</zone>");
    folder.write("hosts.xml", &format!("<platform version=\"4.1\">{zone}</platform>"));
    folder.write("one", "a\nb\nc\n");
    folder.write("several", "a\na\nb\nb\nb\nc\n");
    fine(&folder, &["cc", "app.c", "-o", "app"]);
    for (processes, places, how, first, last) in [
        ("3", "one", "forwards", "0 0.009873 0.003676", "2 0.012694 0.000635"),
        ("3", "one", "backwards", "0 0.012694 0.001075", "2 0.009873 0.003676"),
        ("6", "several", "forwards", "0 0.012091 0.002266", "5 0.013502 0.000635"),
        ("6", "several", "backwards", "0 0.015314 0.001075", "5 0.012494 0.003676"),
    ] {
        let setting = ["--config", "smpi/coll-selector=mpich", "--compute", "none", "--oversubscribe", "-q"];
        let words = ["run", "-n", processes, "-p", "hosts.xml", "--hostfile", places, "./app", how];
        let ran = fine(&folder, &[&words[..1], &setting[..], &words[1..]].concat());
        let mut lines: Vec<&str> = ran.stdout.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, [first, last], "{processes} {how}");
    }
}

#[test]
fn a_debugger_sees_every_process() {
    if !is_there("gcc") || !is_there("gdb") {
        return;
    }
    let folder = Folder::new("mpi-gdb");
    folder.write(
        "app.c",
        "#include <mpi.h>
int mine;
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &mine);
    int local = 100 + mine;
    if (mine == 2) {
        local += 1000;
        MPI_Send(&local, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    if (mine == 0) MPI_Recv(&local, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
",
    );
    fine(&folder, &["cc", "-g", "-O0", "app.c", "-o", "app"]);
    let mut gdb = Command::new(env!("CARGO_BIN_EXE_simurgh"))
        .args(["gdb", "-q", "-n", "4", "--compute", "none", "./app"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let commands = "break app.c:9\ncontinue\nranks\nprint local\nrank 0 print mine\nrank 1 print local\nrank 0\n\
                    rank 9\nprint local\ncontinue\nquit\n";
    gdb.stdin.take().unwrap().write_all(commands.as_bytes()).unwrap();
    let output = gdb.wait_with_output().unwrap();
    let told =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    for expected in [
        "4 ranks are there, and none has begun",
        "[rank 2]",
        "* rank 2    runs, in main at ",
        "app.c:9",
        "  rank 0    waits in MPI_Recv, in main at ",
        "  rank 1    waits in MPI_Barrier, in main at ",
        "= 1102",
        "= 0\n",
        "= 101",
        "give a rank from 0 to 3",
        "exited normally",
    ] {
        assert!(told.contains(expected), "{expected:?} is not in\n{told}");
    }
    assert_eq!(told.matches("= 1102").count(), 2, "the rank that runs is as it was\n{told}");
}
