//! The compilers that stand behind the wrappers.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::UNIX_EPOCH;

use crate::toolchain::{Error, Files, Language};

/// A compiler.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Compiler {
    /// The command, and arguments that always come first.
    pub words: Vec<OsString>,
    /// For what.
    pub language: Language,
    path: PathBuf,
}

/// A short name for what some bytes say (FNV-1a).
pub(super) fn hashed(bytes: &[u8]) -> String {
    let hash = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

impl Compiler {
    /// The one that is named on the command line or in the environment, or a usual one.
    ///
    /// # Errors
    /// If there is none.
    pub fn find(language: Language, named: Option<&str>) -> Result<Self, Error> {
        let (variable, usual): (&'static str, &[&str]) = match language {
            Language::C => ("SIMURGH_CC", &["gcc", "cc", "clang"]),
            Language::Cxx => ("SIMURGH_CXX", &["g++", "c++", "clang++"]),
            Language::Fortran => ("SIMURGH_FC", &["gfortran", "flang", "flang-new", "f95"]),
        };
        let said = named
            .map(str::to_owned)
            .or_else(|| env::var(variable).ok())
            .filter(|said| !said.trim().is_empty());
        let tried = match &said {
            Some(said) => vec![said.as_str()],
            None => usual.to_vec(),
        };
        for words in &tried {
            let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
            if let Some(path) = found(Path::new(&words[0])) {
                return Ok(Self { words, language, path });
            }
        }
        Err(Error::NoCompiler { language: language.name(), tried: tried.join(", "), variable })
    }

    /// Its name for people.
    pub fn name(&self) -> String {
        self.words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    /// Tells it from other compilers, and from other versions of it.
    pub fn key(&self) -> String {
        let mut bytes: Vec<u8> = self.name().into_bytes();
        let path = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        bytes.extend(path.to_string_lossy().bytes());
        if let Ok(metadata) = path.metadata() {
            bytes.extend(metadata.len().to_le_bytes());
            let changed = metadata.modified().ok().and_then(|date| date.duration_since(UNIX_EPOCH).ok());
            bytes.extend(changed.unwrap_or_default().as_nanos().to_le_bytes());
        }
        hashed(&bytes)
    }

    /// A call of it.
    pub fn call(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]).stdin(Stdio::null());
        command
    }

    /// What it does by itself, and what it has to be told.
    pub fn habits(&self, files: &Files) -> Habits {
        let place = files.about(self);
        if let Ok(known) = std::fs::read_to_string(&place) {
            return Habits::read(&known);
        }
        let habits = self.asked();
        // Only so that it need not be asked again.
        let _ = simurgh_files::write(&place, |out| out.write_all(habits.written().as_bytes()));
        habits
    }

    fn asked(&self) -> Habits {
        let output = match self.language {
            Language::Fortran => self.call().arg("-v").output(),
            _ => self.call().args(["-dM", "-E", "-x", "c", "/dev/null"]).output(),
        };
        let Ok(output) = output else { return Habits { makes_pie: true, is_strict: false } };
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        // Other compilers than GNU's for Fortran make them by themselves.
        let is_gnu = text.contains("gcc version");
        let makes_pie = text.contains("__PIE__")
            || text.contains("--enable-default-pie")
            || (self.language == Language::Fortran && !is_gnu);
        Habits { makes_pie, is_strict: self.language == Language::Fortran && gnu_version(&text) >= Some(10) }
    }
}

/// What a compiler does by itself.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Habits {
    /// It makes programs that can be put anywhere.
    pub makes_pie: bool,
    /// It takes two calls of one procedure with arguments of different types for a mistake, as GNU's Fortran does since version
    /// 10. Programs with `mpif.h` call `MPI_Send` with reals and with integers.
    pub is_strict: bool,
}

impl Habits {
    fn read(text: &str) -> Self {
        let has = |word| text.split_whitespace().any(|known| known == word);
        Self { makes_pie: has("pie"), is_strict: has("strict") }
    }

    fn written(self) -> String {
        let word = |is: bool, word: &'static str| if is { word } else { "" };
        format!("{} {}", word(self.makes_pie, "pie"), word(self.is_strict, "strict"))
    }
}

/// The version that GNU's compilers tell when asked with `-v`.
fn gnu_version(text: &str) -> Option<u32> {
    let version = text.split("gcc version ").nth(1)?;
    version.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
}

/// Where a command is.
fn found(command: &Path) -> Option<PathBuf> {
    if command.components().count() > 1 {
        return command.is_file().then(|| command.to_owned());
    }
    let folders = env::var_os("PATH")?;
    env::split_paths(&folders).map(|folder| folder.join(command)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_a_compiler_is_read_again() {
        for (makes_pie, is_strict) in [(false, false), (false, true), (true, false), (true, true)] {
            let habits = Habits { makes_pie, is_strict };
            assert_eq!(Habits::read(&habits.written()), habits);
        }
        assert_eq!(gnu_version("Thread model: posix\ngcc version 12.2.0 (Debian 12.2.0-14) \n"), Some(12));
        assert_eq!(gnu_version("flang version 19.1.0"), None);
    }

    #[test]
    fn a_compiler_that_is_not_there_is_told() {
        let error = Compiler::find(Language::C, Some("no-such-compiler")).expect_err("there is none");
        assert_eq!(
            error.to_string(),
            "there is no compiler for C: no-such-compiler cannot be found; install one, or name it with SIMURGH_CC=COMPILER"
        );
    }
}
