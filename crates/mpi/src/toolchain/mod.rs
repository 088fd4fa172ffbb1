//! What programs are compiled with: the header, the modules, the library, and the compilers that are called with them.
//!
//! - [`command_line`]: what a command line of a compiler asks for, and what is added to it.
//! - [`cache`]: where the files lie. They are carried in this library, and written when they are first needed.
//!
//! `simurgh cc`, `cxx` and `fc` are these and a call of the compiler, which is `gcc`, `g++` or `gfortran` unless
//! `-cc=COMPILER` (`-cxx=`, `-fc=`) or `SIMURGH_CC` (`SIMURGH_CXX`, `SIMURGH_FC`) says another. `CC` and the like are not
//! looked at: those who build with these wrappers set them to the wrappers.

pub mod cache;
pub mod command_line;
pub mod compilers;

use std::ffi::OsString;
use std::path::PathBuf;

pub use cache::Files;
pub use command_line::{Asked, CommandLine, Shown};
pub use compilers::Compiler;

/// Which compiler stands behind a wrapper.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Language {
    /// `simurgh cc`.
    C,
    /// `simurgh cxx`.
    Cxx,
    /// `simurgh fc`.
    Fortran,
}

impl Language {
    /// The wrapper that a command is by its name, as `mpicc` is that of C.
    pub fn of_command(name: &str) -> Option<Self> {
        match name {
            "mpicc" | "simurgh-cc" | "smpicc" => Some(Self::C),
            "mpicxx" | "mpic++" | "mpiCC" | "mpicpp" | "simurgh-cxx" | "smpicxx" => Some(Self::Cxx),
            "mpif77" | "mpif90" | "mpifort" | "mpif08" | "simurgh-fc" | "smpif90" | "smpiff" => {
                Some(Self::Fortran)
            }
            _ => None,
        }
    }

    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Cxx => "C++",
            Self::Fortran => "Fortran",
        }
    }

    /// The compiler that is called unless another is named.
    pub fn compiler(self) -> &'static str {
        match self {
            Self::C => "gcc",
            Self::Cxx => "g++",
            Self::Fortran => "gfortran",
        }
    }

    /// The subcommand of `simurgh`.
    pub fn command(self) -> &'static str {
        match self {
            Self::C => "cc",
            Self::Cxx => "cxx",
            Self::Fortran => "fc",
        }
    }
}

/// Why nothing can be compiled.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no compiler.
    #[error(
        "there is no compiler for {language}: {tried} cannot be found; install one, or name it with {variable}=COMPILER"
    )]
    NoCompiler {
        /// For what.
        language: &'static str,
        /// What was looked for.
        tried: String,
        /// The variable that names another.
        variable: &'static str,
    },
    /// The files cannot be written.
    #[error("{place}: {cause}; name a folder that can be written with SIMURGH_CACHE=FOLDER")]
    Unwritable {
        /// Where.
        place: String,
        /// Why.
        cause: std::io::Error,
    },
    /// The compiler does not compile what belongs to MPI.
    #[error("{compiler} does not compile what belongs to MPI; it says: {said}")]
    Refused {
        /// Which.
        compiler: String,
        /// Its words.
        said: String,
    },
}

/// The command that compiles what a command line asks for, and what a person should know of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// The compiler, and all its arguments.
    pub words: Vec<OsString>,
    /// What will not work.
    pub warnings: Vec<String>,
}

/// Makes the command for a command line of a wrapper.
///
/// # Errors
/// If there is no compiler, or what it needs cannot be made.
pub fn command(line: &CommandLine, files: &Files) -> Result<Command, Error> {
    let compiler = Compiler::find(line.language, line.compiler.as_deref())?;
    let flags = Flags::new(&compiler, files, line)?;
    let mut words = compiler.words.clone();
    words.extend(flags.compile(line));
    words.extend(line.arguments.iter().cloned());
    if line.links() {
        words.extend(flags.link());
    }
    Ok(Command { words, warnings: line.warnings() })
}

/// What a wrapper is asked to show.
///
/// # Errors
/// As [`command`].
pub fn shown(line: &CommandLine, what: Shown, called: &str, files: &Files) -> Result<String, Error> {
    let compiler = Compiler::find(line.language, line.compiler.as_deref())?;
    let flags = Flags::new(&compiler, files, line)?;
    let texts = |words: Vec<OsString>| {
        words.iter().map(|word| command_line::quoted(&word.to_string_lossy())).collect::<Vec<_>>().join(" ")
    };
    let own = texts(compiler.words.clone());
    let paths = |paths: &[PathBuf]| {
        paths.iter().map(|path| path.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    };
    Ok(match what {
        Shown::Command if line.arguments.is_empty() => {
            format!("{own} {} {}", texts(flags.compile(line)), texts(flags.link()))
        }
        Shown::Command => texts(command(line, files)?.words),
        Shown::Compile => format!("{own} {}", texts(flags.compile(line))),
        Shown::Link => format!("{own} {}", texts(flags.link())),
        Shown::CompileFlags => texts(flags.compile(line)),
        Shown::LinkFlags => texts(flags.link()),
        Shown::Includes => paths(&flags.includes),
        Shown::Folders => paths(&flags.folders),
        Shown::Libraries => flags.libraries.join(" "),
        Shown::Compiler => own,
        Shown::Version => {
            format!("{called}: Simurgh {} (Language: {})", env!("CARGO_PKG_VERSION"), line.language.name())
        }
    })
}

/// What is added to a command line.
struct Flags {
    includes: Vec<PathBuf>,
    folders: Vec<PathBuf>,
    libraries: Vec<&'static str>,
    /// Where the program finds our library when it is run by itself.
    run_path: Option<PathBuf>,
    /// Whether the compiler makes programs that can be put anywhere only if told to.
    tell_pie: bool,
    /// Whether the compiler is told to let arguments of one procedure have several types.
    tell_lenient: bool,
    /// Whether what is not called is left out of the program.
    sweep: bool,
}

impl Flags {
    fn new(compiler: &Compiler, files: &Files, line: &CommandLine) -> Result<Self, Error> {
        let habits = compiler.habits(files);
        let mut flags = Self {
            includes: vec![files.include()],
            folders: Vec::new(),
            libraries: Vec::new(),
            run_path: None,
            tell_pie: !line.says_pie() && !habits.makes_pie,
            tell_lenient: habits.is_strict,
            sweep: false,
        };
        let shows = line.arguments.is_empty();
        if line.language == Language::Fortran && (line.compiles() || line.links() || shows) {
            let modules = files.modules(compiler)?;
            if line.links() || shows {
                files.fortran_library(compiler)?;
                flags.libraries.push(cache::FORTRAN_LIBRARY);
                flags.sweep = !line.says_linker();
            }
            flags.folders.push(modules.clone());
            flags.includes.push(modules);
        }
        if line.links() || shows {
            let library = files.library(compiler)?;
            flags.run_path = Some(library.clone()).filter(|path| !path.to_string_lossy().contains(','));
            flags.folders.push(library);
            flags.libraries.push(cache::LIBRARY);
        }
        Ok(flags)
    }

    fn compile(&self, line: &CommandLine) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        if self.tell_pie && line.compiles() {
            words.push("-fPIE".into());
        }
        if self.tell_lenient && (line.compiles() || line.arguments.is_empty()) {
            words.extend(["-fallow-argument-mismatch".into(), "-fallow-invalid-boz".into()]);
        }
        words.extend(self.includes.iter().map(|path| with("-I", path)));
        if line.counted {
            words.push("-fsanitize-coverage=trace-pc".into());
        }
        words
    }

    fn link(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = Vec::new();
        if self.tell_pie {
            words.push("-pie".into());
        }
        if self.sweep {
            words.push("-Wl,--gc-sections,--gc-keep-exported".into());
        }
        words.extend(self.run_path.iter().map(|path| with("-Wl,-rpath,", path)));
        words.extend(self.folders.iter().map(|path| with("-L", path)));
        words.extend(self.libraries.iter().map(|library| OsString::from(format!("-l{library}"))));
        words
    }
}

fn with(option: &str, path: &std::path::Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(path);
    word
}
