//! `simurgh cc`, `cxx`, `fc`: compilers for MPI programs; and the names by which build systems know them.
//!
//! A link to `simurgh` that is called `mpicc`, say, is `simurgh cc`. `simurgh mpi wrappers FOLDER` makes such links, so that
//! configure scripts, CMake and makefiles find all that they look for.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use simurgh_actors::{Error, Exit, Result};
use simurgh_mpi::toolchain::{self, Asked, CommandLine, Files, Language};

use super::{mpiexec, print, print_as_it_is};

/// The links that are made: commands of other implementations, as build systems look for them.
const LINKS: [&str; 10] =
    ["mpicc", "mpicxx", "mpic++", "mpiCC", "mpif77", "mpif90", "mpifort", "mpif08", "mpiexec", "mpirun"];

/// The arguments of `simurgh cc` and the like: all are the compiler's.
#[derive(clap::Args, Clone, Debug)]
pub struct CompileArguments {
    /// What the compiler is called with; -cc=COMPILER, -cxx=COMPILER or -fc=COMPILER names it, -show prints the command
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
    arguments: Vec<OsString>,
}

/// The arguments of `simurgh mpi`.
#[derive(clap::Args, Clone, Debug)]
pub struct MpiArguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(clap::Subcommand, Clone, Debug)]
enum Verb {
    /// Makes links in a folder: mpicc, mpicxx, mpifort, mpiexec and the like, for configure scripts, CMake and makefiles
    Wrappers {
        /// The folder, which is made if it is not there
        folder: PathBuf,
    },
    /// Tells which procedures of MPI a program calls, and whether all of them are implemented
    Coverage {
        /// The program, a shared object or an object file; of the library as a whole if there is none
        file: Option<PathBuf>,
        /// Lists all procedures that are missing
        #[arg(long, conflicts_with = "file")]
        missing: bool,
    },
}

/// Does what `simurgh mpi` says.
pub(crate) fn tools(arguments: &MpiArguments) -> Result<Exit> {
    match &arguments.verb {
        Verb::Wrappers { folder } => wrappers(folder),
        Verb::Coverage { file, missing } => super::coverage::coverage(file.as_deref(), *missing),
    }
}

/// Does what a link to `simurgh` is called for, or `simurgh cc` and the like. Their arguments are not ours to read.
pub(crate) fn by_name(words: &[OsString]) -> Option<ExitCode> {
    let called = Path::new(words.first()?).file_name()?.to_str()?.to_owned();
    if let Some(language) = Language::of_command(&called) {
        return Some(super::conclude_with(run(language, &called, &words[1..])));
    }
    if mpiexec::is_called(&called) {
        return Some(super::conclude_with(mpiexec::run(&called, &words[1..])));
    }
    let language = match words.get(1)?.to_str()? {
        "cc" => Language::C,
        "cxx" => Language::Cxx,
        "fc" => Language::Fortran,
        _ => return None,
    };
    Some(super::conclude_with(run(language, &format!("simurgh {}", language.command()), &words[2..])))
}

/// Calls the compiler, and ends as it does.
fn run(language: Language, called: &str, words: &[OsString]) -> Result<ExitCode> {
    let line = CommandLine::read(language, words.iter().cloned());
    let told = |error: toolchain::Error| Error::input(error.to_string());
    let files = Files::ready().map_err(told)?;
    if let Asked::Showing(what) = line.asked {
        print_as_it_is(&format!("{}\n", toolchain::shown(&line, what, called, &files).map_err(told)?));
        return Ok(Exit::Fine.into());
    }
    if line.helps {
        print(&help(language, called));
        if super::lost_output() {
            return Ok(Exit::CannotRun.into());
        }
    }
    if line.arguments.is_empty() {
        return Err(Error::input(format!("{called}: name the files that are to be compiled")));
    }
    let command = toolchain::command(&line, &files).map_err(told)?;
    for warning in &command.warnings {
        eprintln!("simurgh: warning: {warning}");
    }
    Ok(ended(&command.words))
}

/// What we say before the compiler helps with its own words.
fn help(language: Language, called: &str) -> String {
    let (compiler, name) = (language.compiler(), language.name());
    let verb = language.command();
    let (given, variable) = match language {
        Language::C => ("with Simurgh's mpi.h and library", "SIMURGH_CC"),
        Language::Cxx => ("with Simurgh's mpi.h and library", "SIMURGH_CXX"),
        Language::Fortran => ("with Simurgh's mpif.h, modules and library", "SIMURGH_FC"),
    };
    format!(
        "{called}: {compiler} {given}, for {name} programs that call MPI

Usage: simurgh {verb} [OPTIONS] FILES...

  -{verb}=COMPILER  calls another compiler than {compiler}; so does {variable}=COMPILER in the environment
  --counted     lets the program count what it executes, for `simurgh run --compute counted`
  -show         prints the command in place of running it; so do --showme, -compile_info, -link_info and --showme:WHAT

All other options are the compiler's. -static and -no-pie are left out: such a program cannot be there once for each process.
What is made is simulated with `simurgh run -n 4 ./app`, and explored with `simurgh check -n 3 ./app`.

The compiler's own help:

"
    )
}

/// Runs a command in the place of this one.
pub(crate) fn ended(words: &[OsString]) -> ExitCode {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    instead(command)
}

/// Runs a command in the place of this one: its signals and its exit code are its own.
pub(crate) fn instead(mut command: Command) -> ExitCode {
    use std::os::unix::process::CommandExt;
    let error = command.exec();
    eprintln!("simurgh: {}: {error}", command.get_program().to_string_lossy());
    Exit::CannotRun.into()
}

/// Makes the links.
fn wrappers(folder: &Path) -> Result<Exit> {
    let told = |path: &Path, error: std::io::Error| Error::input(format!("{}: {error}", path.display()));
    let own = std::env::current_exe().map_err(|error| told(Path::new("simurgh"), error))?;
    if folder.exists() && !folder.is_dir() {
        return Err(Error::input(format!(
            "{}: this is a file; name a folder for the links",
            folder.display()
        )));
    }
    std::fs::create_dir_all(folder).map_err(|error| told(folder, error))?;
    for name in LINKS {
        let path = folder.join(name);
        match std::fs::symlink_metadata(&path) {
            Ok(there) if there.is_symlink() => {
                std::fs::remove_file(&path).map_err(|error| told(&path, error))?
            }
            Ok(_) => {
                return Err(Error::input(format!(
                    "{}: this is there already, and no link; remove it, or name another folder",
                    path.display()
                )));
            }
            Err(_) => {}
        }
        std::os::unix::fs::symlink(&own, &path).map_err(|error| told(&path, error))?;
    }
    let shown = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    print(&format!(
        "wrote {} into {}; put this folder first in PATH to use them\n",
        LINKS.join(", "),
        shown.display()
    ));
    Ok(Exit::Fine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_is_known_by_its_name() {
        for name in LINKS {
            assert!(Language::of_command(name).is_some() || mpiexec::is_called(name), "{name}");
        }
        assert!(Language::of_command("simurgh").is_none());
    }
}
