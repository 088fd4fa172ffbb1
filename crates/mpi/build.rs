//! Makes the header, the entry points and the constants of MPI from its tables.

#[path = "build/constants.rs"]
mod constants;
#[path = "build/entries.rs"]
mod entries;
#[path = "build/header.rs"]
mod header;
#[path = "build/table.rs"]
mod table;

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for folder in ["build", "table", "src/calls"] {
        println!("cargo:rerun-if-changed={folder}");
    }
    let read = |name: &str| fs::read_to_string(Path::new("table").join(name)).expect("the table is there");
    let (mut procedures, callbacks) = table::procedures(&read("procedures.tsv"));
    procedures.extend(table::procedures(&read("removed.tsv")).0);
    let constants = table::constants(&read("constants.tsv"));
    let places = implemented(&procedures);
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where"));
    let write = |name: &str, text: String| fs::write(out.join(name), text).expect("the folder is ours");
    write("mpi.h", header::header(&procedures, &callbacks, &constants));
    write("entries.rs", entries::entries(&procedures, &places));
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
