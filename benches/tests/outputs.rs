//! What the workloads print is what the same programs on SimGrid 3.32 print; the lines below are SimGrid's.

use std::path::Path;
use std::process::{Command, Output};

fn benches(arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_benches")).args(arguments.split(' ')).output().expect("the program runs")
}

fn line(arguments: &str) -> String {
    let output = benches(arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

fn same(cases: &[(&str, &str)]) {
    for (arguments, simgrid) in cases {
        assert_eq!(line(arguments), format!("{simgrid}\n"), "{arguments}");
    }
}

#[test]
fn pingpong_is_simgrids() {
    same(&[("pingpong 1", "clock 0.001301"), ("pingpong 1000", "clock 1.301017")]);
}

#[test]
fn masterworkers_is_simgrids() {
    same(&[
        ("masterworkers 7 3", "clock 0.086387"),
        ("masterworkers 10 100", "clock 1.047380"),
        ("masterworkers 1000 10000", "clock 100.908938"),
    ]);
}

#[test]
fn backbone_is_simgrids() {
    same(&[
        ("backbone 500", "clock 2.603801"),
        ("backbone 500 rates", "clock 8.375935"),
        ("backbone 1000", "clock 5.203844"),
        ("backbone 1000 rates", "clock 16.915077"),
        ("backbone 4000", "clock 20.741679"),
    ]);
}

/// SimGrid takes whole bytes off at each stop, which shows in the seventh digit (docs/models.md): these agree to the sixth.
#[test]
fn disks_are_fluids() {
    same(&[
        ("disks 500", "clock 3.000338"),
        ("disks 800", "clock 4.795494"),
        ("disks 1000", "clock 5.995495"),
        ("disks 4000", "clock 24.001647"),
    ]);
}

#[test]
fn flows_is_simgrids() {
    same(&[
        ("flows 8 4", "clock 0.404943"),
        ("flows 31 7", "clock 0.915299"),
        ("flows 64 32", "clock 3.103776"),
    ]);
}

#[test]
fn chord_is_simgrids() {
    same(&[
        ("chord 1 100", "clock 100.000000 messages 119665"),
        ("chord 2 100", "clock 100.000000 messages 50"),
        ("chord 100 100", "clock 100.000000 messages 5221"),
        ("chord 777 130.5", "clock 130.500000 messages 67555"),
        ("chord 1000 100", "clock 100.000000 messages 70188"),
    ]);
}

#[test]
fn workloads_of_many_kinds_are_simgrids() {
    same(&[
        ("alltoall 1", "clock 0.079611"),
        ("alltoall 2", "clock 0.345705"),
        ("zones 5", "clock 0.102796"),
        ("zones 15", "clock 0.171870"),
        ("churn 1000", "clock 1.635820"),
        ("executions 200", "clock 1.954642"),
        ("executions 1000", "clock 9.443536"),
        ("gossip 4 20", "clock 1.125577 messages 320"),
        ("gossip 8 100", "clock 1.615503 messages 6400"),
        ("locks 500", "clock 11.038880"),
        ("locks 1000", "clock 11.043458"),
        ("barriers 300 10", "clock 9.981644"),
        ("barriers 1000 20", "clock 19.989095"),
        ("energy 50", "clock 11.031934 joules 70598"),
        ("energy 250", "clock 11.097543 joules 353625"),
        ("sleepers 1000", "clock 5.704418"),
        ("sleepers 10000", "clock 5.712138"),
        ("star 2", "clock 0.009961"),
        ("star 1000", "clock 0.009961"),
    ]);
}

#[test]
fn a_platform_that_is_read_is_simgrids() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("two-hosts.xml");
    let text = r#"<?xml version="1.0"?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="world" routing="Full">
    <host id="first" speed="1Gf"/>
    <host id="last" speed="1Gf"/>
    <link id="l" bandwidth="125MBps" latency="50us"/>
    <route src="first" dst="last"><link_ctn id="l"/></route>
  </zone>
</platform>
"#;
    std::fs::write(&file, text).expect("the file is written");
    let file = file.display().to_string();
    assert!(!file.contains(' '), "arguments are separated by spaces: {file}");
    same(&[(&format!("load {file}"), "clock 0.009310")]);
}

/// The program itself holds the product against a direct one, and fails if it is wrong.
#[test]
fn matmul_is_right_and_the_same_again() {
    let first = line("matmul 60 --grid 3");
    assert!(first.starts_with("clock 0.0"), "{first}");
    assert_eq!(first, line("matmul 60 --grid 3"));
    assert!(line("matmul 5 --grid 1").starts_with("clock "));
}

#[test]
fn stats_go_to_standard_error() {
    let output = benches("pingpong 10 --stats");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "clock 0.013010\n");
    let stats = String::from_utf8_lossy(&output.stderr);
    assert!(stats.starts_with("actors 2 messages 20 turns "), "{stats}");
}

#[test]
fn what_cannot_be_run_is_said() {
    for (arguments, said) in [
        ("matmul 10 --grid 3", "give a size that is a multiple of the grid"),
        ("chord 0 100", "0 is not in 1.."),
        ("chord 10 forever", "give a number of seconds"),
        ("masterworkers 0 1", "0 is not in 1.."),
    ] {
        let output = benches(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(errors.contains(said), "{arguments}: {errors}");
    }
}
