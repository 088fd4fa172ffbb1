//! `simurgh gdb -n 4 ./app`: a run under gdb, with commands to look at each process. `simurgh replay FILE --gdb`: a schedule, step by step.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use simurgh_actors::{Error, Exit, Result};
use simurgh_mpi::launch::Run;

use super::compile::instead;

/// Commands for gdb.
const COMMANDS: &str = include_str!("gdb.py");
/// Names the file that symbols are written to, in the environment of the run that is debugged.
const VARIABLE: &str = "SIMURGH_GDB_SYMBOLS";
/// The symbols of so many processes are read at once; those of others when they are looked at.
const AT_ONCE: usize = 64;

/// The arguments of `simurgh gdb`.
#[derive(clap::Args, Clone, Debug)]
pub struct GdbArguments {
    /// All that `simurgh run` takes: -n 4 ./app, say
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// Does what `simurgh gdb` says. Its arguments are those of `simurgh run`, which reads them.
pub(crate) fn by_name(words: &[OsString]) -> Option<ExitCode> {
    let asks_for_help = words.get(2).is_some_and(|word| word == "--help" || word == "-h");
    (words.get(1)? == "gdb" && !asks_for_help).then(|| super::conclude_with(run(&words[2..])))
}

fn run(words: &[OsString]) -> Result<ExitCode> {
    if words.is_empty() {
        return Err(Error::input("gdb: name the program, as in simurgh gdb -n 4 ./app"));
    }
    let (mut command, symbols) = prepared("start")?;
    let own = std::env::current_exe().map_err(|error| Error::input(format!("simurgh: {error}")))?;
    command.arg("--args").arg(own).arg("run").args(words).env(VARIABLE, &symbols);
    Ok(instead(command))
}

/// Does what `simurgh replay FILE --gdb` says: the same command under gdb, which stops at each step.
///
/// # Errors
/// If gdb does not run. It takes the place of this process otherwise.
pub(super) fn replay(file: &Path) -> Result<Exit> {
    let (mut command, symbols) = prepared("walk")?;
    let own = std::env::current_exe().map_err(|error| Error::input(format!("simurgh: {error}")))?;
    command.arg("--args").arg(own).arg("replay").arg(file).env(VARIABLE, &symbols);
    instead(command);
    Ok(Exit::CannotRun)
}

/// gdb with our commands, of which this one is called first; and the file that symbols are written to.
fn prepared(first: &str) -> Result<(Command, PathBuf)> {
    let found = Command::new("gdb").args(["-batch", "-ex", "python print(1)"]).output();
    match found {
        Err(error) => {
            return Err(Error::input(format!(
                "gdb does not run ({error}): install it, as in apt install gdb"
            )));
        }
        Ok(output) if output.stdout != b"1\n" => {
            return Err(Error::input(
                "gdb was built without Python, which the commands for ranks need; install another",
            ));
        }
        Ok(_) => {}
    }
    let folder = folder()?;
    let written = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).map(|()| path.clone()).map_err(|error| Error::file(&path, error))
    };
    let symbols = written("symbols.gdb", "")?;
    let commands = written("commands.py", COMMANDS)?;
    let mut command = Command::new("gdb");
    command.args(["-q", "-x"]).arg(commands);
    command.arg("-ex").arg(format!("python {first}({:?})", symbols.display().to_string()));
    Ok((command, symbols))
}

/// A folder of our own for what gdb reads.
fn folder() -> Result<PathBuf> {
    let folder = std::env::temp_dir().join(format!("simurgh-gdb-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| Error::file(&folder, error))?;
    Ok(folder)
}

/// Whether this is a run that is debugged.
pub(super) fn is_debugged() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Within a run that is debugged: hands the symbols to gdb, and stops for it.
pub(super) fn stop_for_debugger(run: &Run) -> Result<()> {
    let Some(place) = std::env::var_os(VARIABLE) else { return Ok(()) };
    let path = Path::new(&place);
    let script = run.gdb_script(AT_ONCE, &path.with_file_name("shim.so"));
    script.and_then(|script| std::fs::write(path, script)).map_err(|error| Error::file(path, error))?;
    run.show_to_debugger();
    Ok(())
}
