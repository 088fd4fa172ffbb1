//! `--record FOLDER`: what each process of an MPI program did, as a time-independent trace that can be replayed on other platforms.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use simurgh_actors::{Error, Result};
use simurgh_mpi::launch::Run;

use super::simulate::write_file;

/// The list of the files of all processes: the name of the trace.
const LIST: &str = "trace.txt";

/// Makes the folder, before a long run.
pub(super) fn check(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|error| {
        let what = if folder.exists() { "this is not a directory".to_owned() } else { error.to_string() };
        Error::input(format!("--record {}: {what}; name a directory to write into", folder.display()))
    })
}

/// Writes the trace; gives the name of its list, and what it does not tell.
pub(super) fn write(run: &Run, folder: &Path) -> Result<(PathBuf, Vec<&'static str>)> {
    let (mut list, mut left_out) = (String::new(), Vec::new());
    for (process, (actions, missing)) in run.actions().into_iter().enumerate() {
        let path = folder.join(format!("rank-{process}.txt"));
        write_file(&path, |out| {
            let mut out = std::io::BufWriter::new(out);
            use std::io::Write as _;
            writeln!(out, "{process} init")?;
            actions.iter().try_for_each(|action| writeln!(out, "{process} {action}"))?;
            writeln!(out, "{process} finalize")?;
            out.flush()
        })?;
        let _ = writeln!(list, "{}", path.display());
        left_out.extend(missing);
    }
    left_out.sort_unstable();
    left_out.dedup();
    let path = folder.join(LIST);
    write_file(&path, |out| out.write_all(list.as_bytes()))?;
    Ok((path, left_out))
}
