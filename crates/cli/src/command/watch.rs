//! `simurgh watch PROGRAM ARGUMENTS...`: runs the `watch` of a program with little priority, so that it does not disturb
//! what it watches.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Args;
use simurgh_actors::{Error, Exit, Result};

/// The arguments of `simurgh watch`.
#[derive(Args, Clone, Debug)]
pub struct WatchArguments {
    /// A program with a command `watch`, such as those that are deployed
    pub program: PathBuf,
    /// What it is told: the deployment file, or --simulate; --every, --budget, --for, --json
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub arguments: Vec<OsString>,
}

/// Does it.
pub(crate) fn run(WatchArguments { program, arguments }: &WatchArguments) -> Result<Exit> {
    let file = |source| Error::File { path: program.display().to_string(), source };
    let path = found(program).ok_or_else(|| {
        let name = program.display();
        Error::input(format!(
            "{name}: there is no such program; give the path of one that has a command `watch`"
        ))
    })?;
    // Where there is no `nice`, the priority is as usual.
    let has_nice = Command::new("nice").arg("true").output().is_ok();
    let mut command = if has_nice {
        let mut nice = Command::new("nice");
        nice.args(["-n", "10"]).arg(path);
        nice
    } else {
        Command::new(path)
    };
    let status = command.arg("watch").args(arguments).status().map_err(file)?;
    Ok(match status.code() {
        Some(0) => Exit::Fine,
        Some(1) => Exit::Failed,
        Some(3) => Exit::NotExhausted,
        _ => Exit::CannotRun,
    })
}

/// Where a program is: a bare name is looked for along the path, as the shell does.
fn found(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return std::fs::canonicalize(program).ok();
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(program)).find(|path| path.is_file())
}
