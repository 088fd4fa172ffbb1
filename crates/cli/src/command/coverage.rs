//! `simurgh mpi coverage ./app`: which procedures of MPI a program calls, and whether all of them are there.

use std::path::Path;

use simurgh_actors::{Error, Exit, Result};
use simurgh_mpi::coverage::{of_library, of_program};

use super::print;

/// Tells of a program, or of the library if none is named.
pub(crate) fn coverage(file: Option<&Path>, all: bool) -> Result<Exit> {
    let Some(file) = file else { return Ok(library(all)) };
    let bytes =
        simurgh_files::read(file).map_err(|error| Error::input(format!("{}: {error}", file.display())))?;
    let found = of_program(&bytes).map_err(|error| Error::input(format!("{}: {error}", file.display())))?;
    let called = found.present.len() + found.missing.len();
    let mut text = format!("{}: {} of MPI are called", file.display(), counted(called));
    text += match (called, found.missing.len()) {
        (0, _) => "\n",
        (_, 0) => ", all are implemented\n",
        _ => "\n",
    };
    for name in &found.present {
        text += &format!("  {name}\n");
    }
    for name in &found.missing {
        text += &format!("  {name}: not implemented\n");
    }
    for name in &found.unknown {
        text += &format!("  {name}: not in MPI 5.0\n");
    }
    print(&text);
    Ok(if found.missing.is_empty() && found.unknown.is_empty() { Exit::Fine } else { Exit::Failed })
}

fn library(all: bool) -> Exit {
    let (count, missing) = of_library();
    let mut text = format!(
        "MPI 5.0 and what it removed: {} of {} are implemented\n",
        count - missing.len(),
        counted(count)
    );
    if all {
        for name in missing {
            text += &format!("  {name}: not implemented\n");
        }
    }
    print(&text);
    Exit::Fine
}

fn counted(count: usize) -> String {
    format!("{count} procedure{}", if count == 1 { "" } else { "s" })
}
