//! The constants of MPI in Rust.

use std::fmt::Write;

use crate::table::Constant;

/// Their text: `MPI_SUM` of type `MPI_Op` is `Op(33)`.
pub fn constants(constants: &[Constant]) -> String {
    let mut text = String::from("// Made by build.rs from the table of constants.\n");
    for Constant { name, kind, value } in constants {
        let name = match name.strip_prefix("MPI_").expect("all names begin so") {
            name if name.starts_with('2') => format!("TWO_{}", &name[1..]),
            name => name.to_owned(),
        };
        let line = match kind.as_str() {
            "=" => {
                let other = value.strip_prefix("MPI_").expect("all names begin so");
                format!("pub const {name}: Datatype = {other};")
            }
            "int" => format!("pub const {name}: i32 = {value};"),
            "MPI_Offset" => format!("pub const {name}: i64 = {value};"),
            pointer if pointer.ends_with('*') || pointer.starts_with("MPI_T_") => {
                format!("pub const {name}: usize = {value};")
            }
            handle => {
                let handle = handle.strip_prefix("MPI_").expect("all names begin so");
                format!("pub const {name}: {handle} = {handle}({value});")
            }
        };
        writeln!(text, "#[allow(missing_docs, non_upper_case_globals, dead_code)]\n{line}")
            .expect("memory is there");
    }
    text
}
