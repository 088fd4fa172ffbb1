//! The files that programs are compiled with. They are written where the user's caches are, in a folder that is named by what
//! they contain: so another version of Simurgh has others, and several compilers can be at work at once.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::toolchain::compilers::hashed;
use crate::toolchain::{Compiler, Error, Language};

/// The library that programs are linked with; its functions are found when Simurgh runs the program.
pub const LIBRARY: &str = "mpi_abi";
/// The compiled part of the modules of Fortran.
pub const FORTRAN_LIBRARY: &str = "simurgh_fortran";

const OWN_HEADER: &str = include_str!("../../include/simurgh.h");
const SMPI_HEADER: &str = include_str!("../../include/smpi/smpi.h");
/// It was compiled with this library.
const REPLAYER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/replay.so"));
const HEADER: &str = include_str!(concat!(env!("OUT_DIR"), "/mpi.h"));
const FORTRAN_HEADER: &str = include_str!(concat!(env!("OUT_DIR"), "/mpif.h"));
const STUB: &str = include_str!(concat!(env!("OUT_DIR"), "/libmpi_abi.S"));
const ALONE: &str = include_str!(concat!(env!("OUT_DIR"), "/alone.c"));
/// In the order in which they are compiled.
const MODULES: [(&str, &str); 4] = [
    ("simurgh_types", include_str!(concat!(env!("OUT_DIR"), "/simurgh_types.F90"))),
    ("simurgh_callbacks", include_str!(concat!(env!("OUT_DIR"), "/simurgh_callbacks.F90"))),
    ("mpi", include_str!(concat!(env!("OUT_DIR"), "/mpi.F90"))),
    ("mpi_f08", include_str!(concat!(env!("OUT_DIR"), "/mpi_f08.F90"))),
];
/// The procedures that the modules declare.
const PROCEDURES: (&str, &str) = ("simurgh_f08", include_str!(concat!(env!("OUT_DIR"), "/simurgh_f08.F90")));

/// The folder of the files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Files {
    root: PathBuf,
}

impl Files {
    /// Writes them, if they are not there yet.
    ///
    /// # Errors
    /// If they cannot be written anywhere.
    pub fn ready() -> Result<Self, Error> {
        let mut first = None;
        for place in places() {
            match Self::ready_in(&place) {
                Ok(files) => return Ok(files),
                Err(cause) => {
                    first.get_or_insert(Error::Unwritable { place: place.display().to_string(), cause });
                }
            }
        }
        Err(first.unwrap_or_else(|| Error::Unwritable {
            place: "~/.cache".to_owned(),
            cause: io::Error::new(io::ErrorKind::NotFound, "there is no home"),
        }))
    }

    /// Writes them below a folder, if they are not there yet.
    ///
    /// # Errors
    /// If they cannot be written there.
    pub fn ready_in(folder: &Path) -> io::Result<Self> {
        let files = Self { root: folder.join(env!("SIMURGH_CONTENTS")) };
        let headers = [
            ("mpi.h", HEADER),
            ("mpif.h", FORTRAN_HEADER),
            ("simurgh.h", OWN_HEADER),
            ("smpi/smpi.h", SMPI_HEADER),
        ];
        for (name, text) in headers {
            let path = files.include().join(name);
            let is_there = path.metadata().is_ok_and(|metadata| metadata.len() == text.len() as u64);
            if !is_there {
                fs::create_dir_all(path.parent().expect("it is in a folder"))?;
                simurgh_files::write(&path, |out| out.write_all(text.as_bytes()))?;
            }
        }
        Ok(files)
    }

    /// The folder of the headers.
    pub fn include(&self) -> PathBuf {
        self.root.join("include")
    }

    /// The program that replays traces.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn replayer(&self) -> Result<PathBuf, Error> {
        let path = self.root.join("replay.so");
        let is_there = path.metadata().is_ok_and(|metadata| metadata.len() == REPLAYER.len() as u64);
        if !is_there {
            simurgh_files::write(&path, |out| out.write_all(REPLAYER))
                .map_err(|cause| Error::Unwritable { place: path.display().to_string(), cause })?;
        }
        Ok(path)
    }

    /// What is known of a compiler.
    pub fn about(&self, compiler: &Compiler) -> PathBuf {
        self.root.join(format!("habits-{}", compiler.key()))
    }

    /// The folder of the library that programs are linked with.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn library(&self, compiler: &Compiler) -> Result<PathBuf, Error> {
        // It knows by which command a program is started; a copy of the command elsewhere has another.
        let command = command();
        let folder = self.root.join(format!("lib-{}", hashed(command.as_bytes())));
        self.made(&folder, |place| {
            let sources =
                [("libmpi_abi.S", STUB), ("alone.c", ALONE)].map(|(name, text)| (place.join(name), text));
            for (source, text) in &sources {
                fs::write(source, text)?;
            }
            let library = place.join("libmpi_abi.so.1");
            let mut call = assembler(compiler).call();
            call.args(["-shared", "-nostdlib", "-fPIC", "-O1", "-w", "-fno-stack-protector"])
                .arg(format!("-DSIMURGH={command:?}"))
                .args(["-Wl,-soname,libmpi_abi.so.1", "-o"])
                .arg(&library)
                .args(sources.iter().map(|(source, _)| source));
            run(call)?;
            for (source, _) in &sources {
                fs::remove_file(source)?;
            }
            std::os::unix::fs::symlink("libmpi_abi.so.1", place.join("libmpi_abi.so"))
        })
        .map_err(|cause| self.told(compiler, &folder, cause))?;
        Ok(folder)
    }

    /// The folder of the modules, as this compiler of Fortran has them.
    ///
    /// # Errors
    /// If it does not compile them.
    pub fn modules(&self, compiler: &Compiler) -> Result<PathBuf, Error> {
        let folder = self.root.join(format!("modules-{}", compiler.key()));
        self.made(&folder, |place| {
            for (name, text) in MODULES {
                let source = place.join(format!("{name}.F90"));
                fs::write(&source, text)?;
                // The module alone: that takes a tenth of the time of compiling it.
                let mut call = compiler.call();
                call.args(["-w", "-fsyntax-only"]).arg(source).current_dir(place);
                run(call)?;
            }
            Ok(())
        })
        .map_err(|cause| self.told(compiler, &folder, cause))?;
        Ok(folder)
    }

    /// Makes the compiled part of the modules, which lies beside them.
    ///
    /// # Errors
    /// If the compiler does not compile them.
    pub fn fortran_library(&self, compiler: &Compiler) -> Result<(), Error> {
        let folder = self.modules(compiler)?;
        let library = folder.join(format!("lib{FORTRAN_LIBRARY}.a"));
        if library.exists() {
            return Ok(());
        }
        let place = self.root.join(format!("making-{}", own()));
        let make = || {
            fs::create_dir_all(&place)?;
            let mut objects = Vec::new();
            for (name, text) in [MODULES[0], PROCEDURES] {
                let source = place.join(format!("{name}.F90"));
                fs::write(&source, text)?;
                let (assembly, object) = (place.join(format!("{name}.s")), place.join(format!("{name}.o")));
                let mut call = compiler.call();
                call.args(["-w", "-O1", "-fPIC", "-ffunction-sections", "-S", "-I"]).arg(&folder);
                call.arg("-o").arg(&assembly).arg(&source).current_dir(&place);
                run(call)?;
                hide(&assembly)?;
                let mut call = compiler.call();
                call.arg("-c").arg("-o").arg(&object).arg(&assembly);
                run(call)?;
                objects.push(object);
            }
            let made = place.join("made.a");
            let mut call = process::Command::new("ar");
            call.arg("rcs").arg(&made).args(objects);
            run(call)?;
            fs::rename(&made, &library)
        };
        let result = make();
        let _ = fs::remove_dir_all(&place);
        result.map_err(|cause| self.told(compiler, &library, cause))
    }

    /// Makes a folder beside its place first. Who comes second finds it there.
    fn made(&self, folder: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
        if folder.exists() {
            return Ok(());
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let place = self.root.join(format!("{name}.{}", own()));
        let result = fs::create_dir_all(&place).and_then(|()| make(&place)).and_then(|()| {
            fs::rename(&place, folder).or_else(|error| if folder.exists() { Ok(()) } else { Err(error) })
        });
        if place.exists() {
            let _ = fs::remove_dir_all(&place);
        }
        result
    }

    fn told(&self, compiler: &Compiler, place: &Path, cause: io::Error) -> Error {
        match cause.kind() {
            io::ErrorKind::Other => Error::Refused { compiler: compiler.name(), said: cause.to_string() },
            _ => Error::Unwritable { place: place.display().to_string(), cause },
        }
    }
}

/// Where the files may be: where the user says, where caches are, or else where temporary files are.
pub fn places() -> Vec<PathBuf> {
    let given = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(place) = given("SIMURGH_CACHE") {
        return vec![absolute(place)];
    }
    let cache = given("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let cache = cache.or_else(|| given("HOME").map(|home| home.join(".cache")));
    let mut places: Vec<_> = cache.map(|cache| cache.join("simurgh")).into_iter().collect();
    // SAFETY: it always succeeds.
    let user = unsafe { libc::getuid() };
    places.push(env::temp_dir().join(format!("simurgh-{user}")));
    places
}

fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// Where programs find the command. If it is gone when they look, they look in PATH.
fn command() -> String {
    let own = env::current_exe().ok().filter(|own| own.file_stem().is_some_and(|name| name == "simurgh"));
    own.map_or_else(|| "simurgh".to_owned(), |own| own.display().to_string())
}

/// What assembles: compilers of Fortran other than GNU's do not.
fn assembler(compiler: &Compiler) -> Compiler {
    match compiler.language {
        Language::Fortran => Compiler::find(Language::C, None).unwrap_or_else(|_| compiler.clone()),
        _ => compiler.clone(),
    }
}

/// Hides all names from other objects than the one that they are linked into, so that what is not called can be left out. A
/// program may have its own `mpi_send_f08ts`, which then calls ours as `pmpi_send_f08ts` (MPI 5.0, 15.2).
fn hide(assembly: &Path) -> io::Result<()> {
    let text = fs::read_to_string(assembly)?;
    let mut new = String::new();
    let mut names = Vec::new();
    for line in text.lines() {
        match line.trim().strip_prefix(".globl").map(str::trim) {
            Some(name) => {
                let binding = if name.starts_with("mpi_") { ".weak" } else { ".globl" };
                new += &format!("\t{binding} {name}\n\t.hidden {name}\n");
                names.push(name);
            }
            None => new += &format!("{line}\n"),
        }
    }
    for name in names.iter().filter(|name| name.starts_with("mpi_")) {
        new += &format!("\t.globl p{name}\n\t.hidden p{name}\n\t.set p{name}, {name}\n");
    }
    fs::write(assembly, new)
}

/// A name that nobody else has, in this process or another.
fn own() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Runs a compiler; what it says is the error.
fn run(mut call: process::Command) -> io::Result<()> {
    let output = call.output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&[output.stderr, output.stdout].concat()).into_owned();
    let first = said.lines().filter(|line| !line.trim().is_empty()).take(4).collect::<Vec<_>>().join("; ");
    Err(io::Error::other(if first.is_empty() { output.status.to_string() } else { first }))
}
