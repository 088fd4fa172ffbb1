//! Which procedures of MPI a program calls, and which of them are missing here.

use std::collections::{BTreeMap, BTreeSet};

use object::{Object, ObjectSymbol};

use crate::entry::PROCEDURES;

/// The procedures that a program calls.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Coverage {
    /// Those that are implemented.
    pub present: BTreeSet<String>,
    /// Those that are not.
    pub missing: BTreeSet<String>,
    /// Names that look like MPI's, and are none of MPI 5.0.
    pub unknown: BTreeSet<String>,
}

/// Why a program cannot be looked at.
#[derive(Debug, thiserror::Error)]
#[error("this is neither an executable nor an object file ({0}); name what a compiler made")]
pub struct NotCompiled(String);

/// Looks at an executable, a shared object or an object file.
///
/// # Errors
/// If it is none of these.
pub fn of_program(bytes: &[u8]) -> Result<Coverage, NotCompiled> {
    let file = object::File::parse(bytes).map_err(|error| NotCompiled(error.to_string()))?;
    let symbols = file.symbols().chain(file.dynamic_symbols());
    let undefined = symbols.filter(|symbol| symbol.is_undefined()).filter_map(|symbol| symbol.name().ok());
    Ok(of_names(undefined))
}

/// How many procedures there are, and those of them that are missing.
pub fn of_library() -> (usize, Vec<&'static str>) {
    let missing = PROCEDURES.iter().filter(|(_, implemented)| !implemented).map(|(name, _)| *name).collect();
    (PROCEDURES.len(), missing)
}

fn of_names<'a>(names: impl Iterator<Item = &'a str>) -> Coverage {
    let known: BTreeMap<String, (&str, bool)> =
        PROCEDURES.iter().map(|(name, implemented)| (name.to_lowercase(), (*name, *implemented))).collect();
    let mut coverage = Coverage::default();
    for name in names {
        // What a linker adds to a name that has a version.
        let name = name.split('@').next().unwrap_or_default();
        let Some(plain) = plain(name) else { continue };
        let without_suffix = plain.strip_suffix("_c").unwrap_or(&plain);
        match known.get(&plain).or_else(|| known.get(without_suffix)) {
            Some((name, true)) => coverage.present.insert((*name).to_owned()),
            Some((name, false)) => coverage.missing.insert((*name).to_owned()),
            // Predefined functions, which are no procedures.
            None if plain.ends_with("_fn") || plain.ends_with("_fn_null") || plain.ends_with("_cptr") => {
                continue;
            }
            None if plain == "mpi_f_sync_reg" => continue,
            None => coverage.unknown.insert(name.to_owned()),
        };
    }
    coverage
}

/// `mpi_send` of `MPI_Send`, `PMPI_Send`, `mpi_send_`, `simurgh_send_ts`, `mpi_send_f08ts_` and the like.
fn plain(name: &str) -> Option<String> {
    let lower = name.to_lowercase();
    let name = lower.trim_end_matches('_');
    if crate::extras::OFFERED.iter().any(|offered| offered.name == name) {
        return None;
    }
    if let Some(rest) = name.strip_prefix("simurgh_") {
        return Some(format!("mpi_{}", rest.strip_suffix("_ts").unwrap_or(rest)));
    }
    let name = name.strip_suffix("_f08ts").or_else(|| name.strip_suffix("_f08")).unwrap_or(name);
    let name = name.strip_prefix('p').filter(|rest| rest.starts_with("mpi")).unwrap_or(name);
    (name.starts_with("mpi_") || name.starts_with("mpix_")).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_name_is_its_procedure() {
        for name in [
            "MPI_Send",
            "PMPI_Send",
            "MPI_Send_c",
            "mpi_send_",
            "pmpi_send__",
            "MPI_SEND",
            "simurgh_send_ts",
            "simurgh_send_c_ts",
            "mpi_send_f08ts_",
            "pmpi_send_c_f08ts_",
        ] {
            let found = of_names([name].into_iter());
            assert_eq!(found.present.iter().map(String::as_str).collect::<Vec<_>>(), ["MPI_Send"], "{name}");
        }
    }

    #[test]
    fn what_is_no_procedure_is_told_apart() {
        let names = ["printf", "MPIX_Query_cuda_support", "MPI_Sned", "mpi_comm_dup_fn_", "mpirun"];
        let found = of_names(names.into_iter());
        assert!(found.present.is_empty() && found.missing.is_empty());
        assert_eq!(
            found.unknown.iter().map(String::as_str).collect::<Vec<_>>(),
            ["MPIX_Query_cuda_support", "MPI_Sned"]
        );
    }

    #[test]
    fn names_that_end_like_large_variants_are_themselves() {
        let found = of_names(["MPI_Comm_c2f"].into_iter());
        assert_eq!(found.present.len() + found.missing.len(), 1);
    }

    #[test]
    fn what_is_no_program_is_told() {
        assert!(
            of_program(b"#!/bin/sh\n").is_err_and(|error| error.to_string().starts_with("this is neither"))
        );
    }
}
