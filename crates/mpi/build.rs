//! Makes the header, the entry points and the constants of MPI from its tables.

#[path = "build/constants.rs"]
mod constants;
#[path = "build/entries.rs"]
mod entries;
#[path = "build/fortran.rs"]
mod fortran;
#[path = "build/header.rs"]
mod header;
#[path = "build/module_f08.rs"]
mod module_f08;
#[path = "build/modules.rs"]
mod modules;
#[path = "build/stub.rs"]
mod stub;
#[path = "build/table.rs"]
mod table;

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for folder in ["build", "include", "replay", "table", "src/calls", "src/extras.rs", "src/fortran"] {
        println!("cargo:rerun-if-changed={folder}");
    }
    let read = |name: &str| fs::read_to_string(Path::new("table").join(name)).expect("the table is there");
    let (mut procedures, callbacks) = table::procedures(&read("procedures.tsv"));
    procedures.extend(table::procedures(&read("removed.tsv")).0);
    let constants = table::constants(&read("constants.tsv"));
    let places = implemented(&procedures);
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    let write = |name: &str, text: String| fs::write(out.join(name), text).expect("the folder is ours");
    let (text, names) = entries::entries(&procedures, &places, &by_hand());
    write("entries.rs", text);
    let for_programs = [
        ("mpi.h", header::header(&procedures, &callbacks, &constants)),
        ("mpif.h", modules::mpif(&constants)),
        ("simurgh_types.F90", modules::types()),
        ("mpi.F90", modules::module(&procedures, &constants)),
        ("simurgh_callbacks.F90", module_f08::callbacks_module()),
        ("simurgh_f08.F90", module_f08::procedures(&procedures)),
        ("mpi_f08.F90", module_f08::module(&procedures, &constants)),
        ("libmpi_abi.S", stub::stub(&names.into_iter().chain(extras()).collect::<Vec<_>>())),
        ("simurgh.h", own("include/simurgh.h")),
        ("smpi.h", own("include/smpi/smpi.h")),
        ("alone.c", include_str!("build/alone.c").to_owned()),
    ];
    println!("cargo:rustc-env=SIMURGH_CONTENTS={:016x}", hash(&for_programs));
    for (name, text) in for_programs {
        write(name, text);
    }
    replayer(&out.join("replay.so"));
    write("procedures.rs", entries::enumeration(&procedures));
    write("constants.rs", constants::constants(&constants));
}

/// The modules of the functions that do procedures, by their names: what `src/calls` holds.
fn implemented(procedures: &[table::Procedure]) -> entries::Places {
    let known: std::collections::BTreeSet<String> =
        procedures.iter().map(table::Procedure::function).collect();
    let mut places = entries::Places::new();
    let mut files: Vec<_> = fs::read_dir("src/calls")
        .expect("the folder is there")
        .map(|entry| entry.expect("the folder is ours").path())
        .collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "rs")) {
        let module = file.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(file).expect("the file is ours");
        for line in text.lines() {
            let Some(rest) = line.strip_prefix("pub fn ").or_else(|| line.strip_prefix("pub unsafe fn "))
            else {
                continue;
            };
            let name: String =
                rest.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
            let name = name.strip_prefix("r#").unwrap_or(&name).to_owned();
            if known.contains(&name) {
                let before = places.insert(name.clone(), format!("crate::calls::{module}"));
                assert!(before.is_none(), "{name} is implemented twice");
            }
        }
    }
    places
}

/// The entry points of Fortran that are written by hand, and the modules they are in: what `src/fortran` holds.
fn by_hand() -> fortran::ByHand {
    let mut found = fortran::ByHand::new();
    for module in ["attributes", "by_hand", "callbacks"] {
        let text = fs::read_to_string(format!("src/fortran/{module}.rs")).expect("the file is ours");
        let mut add = |name: &str| found.insert(name.to_owned(), format!("crate::fortran::{module}"));
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("pub unsafe extern \"C\" fn ") {
                add(rest.split('(').next().expect("a function has a name"));
            }
        }
        // Those that macros make.
        let words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let made = |word: &&str| word.ends_with("_attr") || word.ends_with("create_keyval");
        for word in words.filter(made) {
            add(word);
        }
    }
    found.insert("keyval_create".to_owned(), "crate::fortran::attributes".to_owned());
    found
}

/// Compiles the program that replays traces. Where programs cannot be run, there is none.
fn replayer(out: &Path) {
    println!("cargo:rerun-if-env-changed=CC");
    let target = env::var("TARGET").unwrap_or_default();
    if !(target.starts_with("x86_64-") && target.contains("linux-gnu")) {
        fs::write(out, b"").expect("the folder is ours");
        return;
    }
    let compiler = env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let status = std::process::Command::new(&compiler)
        .args([
            "-O1",
            "-fPIC",
            "-shared",
            "-nostdlib",
            "-fno-stack-protector",
            "-Wl,--hash-style=gnu",
            "-s",
            "-o",
        ])
        .arg(out)
        .arg("replay/replay.c")
        .status();
    match status {
        Ok(status) if status.success() => {}
        Ok(status) => panic!("{compiler} could not compile the program that replays traces: {status}"),
        Err(error) => {
            panic!("{compiler} does not run ({error}): install a C compiler (gcc), or say which by CC")
        }
    }
}

fn own(path: &str) -> String {
    fs::read_to_string(path).expect("the file is ours")
}

/// What programs may call beside MPI, and what compilers call in programs that count.
fn extras() -> Vec<String> {
    let text = own("src/extras.rs");
    let functions = text.lines().filter_map(|line| line.strip_prefix("extern \"C\" fn "));
    let names = functions.filter_map(|rest| Some(rest.split_once('(')?.0.to_owned()));
    names.chain(["__sanitizer_cov_trace_pc".to_owned()]).collect()
}

/// Tells one set of files for programs from another (FNV-1a).
fn hash(files: &[(&str, String)]) -> u64 {
    let bytes = files.iter().flat_map(|(name, text)| name.bytes().chain([0]).chain(text.bytes()).chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
