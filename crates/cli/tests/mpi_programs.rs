//! Programs of C and Fortran that check themselves, one for each part of MPI: those of `crates/mpi/tests/programs`. Each prints
//! that it is right; how many processes it wants is said here.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::command::Folder;

fn is_there(compiler: &str) -> bool {
    let mut command = Command::new(compiler);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Compiles a program and runs it with each of these numbers of processes.
fn is_right(file: &str, processes: &[&str]) {
    let (name, extension) = file.split_once('.').expect("a file has an extension");
    let (verb, compiler) = if extension == "c" { ("cc", "gcc") } else { ("fc", "gfortran") };
    if !is_there(compiler) {
        println!("skipped: {compiler} is not there");
        return;
    }
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mpi/tests/programs");
    let source = programs.join(file);
    let folder = Folder::new(&format!("mpi-program-{name}"));
    let source = source.to_str().expect("a path that is text");
    let compiled = folder.simurgh(&[verb, "-g", "-O1", source, "-o", name]);
    assert_eq!(compiled.code, 0, "{}", compiled.told());
    for count in processes {
        let program = format!("./{name}");
        let ran = folder.simurgh(&["run", "-q", "-n", count, "--compute", "none", &program]);
        let expected = format!("{name}: right\n");
        assert_eq!((ran.code, ran.stdout.as_str()), (0, expected.as_str()), "{count}: {}", ran.told());
    }
}

#[test]
fn partitions_arrive() {
    is_right("partitioned.c", &["2", "3"]);
}

#[test]
fn receives_are_completed_in_every_way() {
    is_right("requests.c", &["2", "3"]);
}

#[test]
fn processes_are_started_later() {
    is_right("spawned.c", &["2", "4"]);
}

#[test]
fn processes_are_started_by_fortran() {
    is_right("spawned08.f90", &["2"]);
}

#[test]
fn processes_meet() {
    is_right("ports.c", &["4", "7"]);
}

#[test]
fn tools_see_variables() {
    is_right("tools.c", &["2", "3"]);
}

#[test]
fn sessions_have_buffers() {
    is_right("sessions.c", &["2", "5"]);
}

#[test]
fn files_are_read_and_written() {
    is_right("files.c", &["3"]);
}

#[test]
fn objects_are_what_they_should_be() {
    is_right("objects.c", &["3"]);
}

#[test]
fn windows_are_reached() {
    is_right("windows.c", &["3"]);
}
