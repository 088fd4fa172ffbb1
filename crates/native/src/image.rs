//! A program with all that it needs, read once: the template of which every process is a private copy.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::counting::{self, Weights};
use crate::elf::{Object, PAGE, pages};
use crate::error::Error;
use crate::group::{Group, SharedLibraries};
use crate::libgomp::Libgomp;
use crate::lines::Lines;
use crate::personality::{Personality, SourceLine};
use crate::relocation::{self, Outside, Relocations, STUB};
use crate::tls::Blocks;
use crate::{libraries, shim};

/// A program, its shim and its libraries: read once, all names looked up.
pub struct Image {
    pub(crate) group: Group,
    pub(crate) relocations: Relocations,
    pub(crate) blocks: Blocks,
    pub(crate) file: File,
    /// How many bytes a copy takes.
    pub(crate) span: usize,
    pub(crate) shared: SharedLibraries,
    pub(crate) personality: Arc<dyn Personality>,
    /// Objects in the order in which they begin: who is needed by others first.
    pub(crate) order: Vec<usize>,
    pub(crate) libgomp: Option<Libgomp>,
    pub(crate) lines: Lines,
    /// The lengths of the blocks of programs that count what they execute.
    pub(crate) weights: Weights,
    stubs: usize,
}

/// The number of the shim in its group; the program is 0.
pub(crate) const SHIM: usize = 1;

/// Room for names that are nowhere.
const STUBS: usize = 1 << 20;

impl Image {
    /// Reads a program, and looks up every name in it.
    ///
    /// # Errors
    /// When it cannot be run; the message says what to do.
    pub fn read(path: &Path, personality: Arc<dyn Personality>) -> Result<Image, Error> {
        if cfg!(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))) {
            return Err(Error::OtherMachine);
        }
        if !crate::malloc::is_exported() {
            return Err(Error::Host("it does not export malloc, calloc, realloc and free to libc"));
        }
        let (mut objects, bytes, shared_names) = gather(path, &*personality)?;
        let mut span = 0;
        for object in &mut objects {
            object.base = span;
            span = pages(span + object.span);
        }
        let blocks = Blocks::place(&objects, &mut span)?;
        let file = memory_file(span)?;
        let template = map_template(&file, span)?;
        for (object, bytes) in objects.iter().zip(&bytes) {
            for segment in &object.segments {
                let to = (template + object.base + segment.address) as *mut u8;
                let from = &bytes[segment.offset..segment.offset + segment.file];
                // SAFETY: the template has room for every segment of every object.
                unsafe { from.as_ptr().copy_to_nonoverlapping(to, from.len()) };
            }
        }
        drop(bytes);
        blocks.fill(template);
        let uses_libgomp = shared_names.iter().any(|name| name.starts_with("libgomp"));
        let shared = crate::libgomp::quietly(uses_libgomp, || SharedLibraries::open(&shared_names));
        let group = Group { objects, template };
        let first: BTreeMap<&str, usize> = shim::first().into_iter().collect();
        let exports: BTreeMap<&str, usize> =
            personality.exports().iter().map(|export| (export.name, export.address)).collect();
        let stubs = reserve_stubs()?;
        let outside = Outside {
            first: &|name| first.get(name).copied(),
            exports: &|name| exports.get(name).copied(),
            shared: &shared,
            shim: SHIM,
            stubs,
        };
        let relocations = relocation::resolve(&group, &outside, &blocks)?;
        if relocations.undefined.len() * STUB > STUBS {
            return Err(Error::unsuitable(path, "refers to too many names that are nowhere"));
        }
        let order = order(&group.objects);
        let libgomp = uses_libgomp.then(Libgomp::find).flatten();
        let lines = Lines::default();
        let counts =
            (0..group.objects.len()).any(|number| group.imports(number).any(|name| name == counting::HOOK));
        let weights = Weights::new(counts, span);
        Ok(Image {
            group,
            relocations,
            blocks,
            file,
            span,
            shared,
            personality,
            order,
            libgomp,
            lines,
            weights,
            stubs,
        })
    }

    /// The program's file.
    pub fn path(&self) -> &Path {
        &self.group.objects[0].path
    }

    /// Names that the program or a library refers to, and that are nowhere. Whoever uses one is ended, with its name.
    pub fn undefined(&self) -> &[String] {
        &self.relocations.undefined
    }

    /// Names with this beginning that the program or one of its libraries refers to and does not define, in order.
    pub fn imports(&self, prefix: &str) -> Vec<String> {
        let of_objects = (0..self.group.objects.len()).filter(|number| *number != SHIM);
        let mut names: Vec<String> = of_objects
            .flat_map(|number| self.group.imports(number))
            .filter(|name| name.starts_with(prefix))
            .map(str::to_owned)
            .collect();
        names.sort();
        names.dedup();
        names
    }

    /// The name of what is nowhere, by the address that stands for it.
    pub(crate) fn undefined_at(&self, address: usize) -> Option<&str> {
        let offset = address.checked_sub(self.stubs)?;
        self.relocations.undefined.get(offset / STUB).map(String::as_str)
    }

    /// The object that an address of a copy lies in, and the address as its file has it.
    pub(crate) fn object_at(&self, offset: usize) -> Option<(&Object, usize)> {
        let object = self.group.objects.iter().find(|o| (o.base..o.base + o.span).contains(&offset))?;
        Some((object, offset - object.base))
    }

    /// The thread-local variables of a process as a new thread of it finds them.
    pub(crate) fn initial_variables(&self, rank: *const crate::current::Rank) -> Vec<u8> {
        // SAFETY: the process runs, and its copy is there.
        unsafe {
            let base = (*(*rank).shared).region.image_of((*rank).index);
            self.blocks.initial_variables(base)
        }
    }

    /// The line of the program at an offset of a copy.
    pub(crate) fn line_at(&self, offset: usize) -> Option<SourceLine> {
        let (object, address) = self.object_at(offset)?;
        self.lines.line(&object.path, address)
    }

    /// Where the shim has a function or variable, from the base of a copy.
    pub(crate) fn of_shim(&self, name: &str) -> usize {
        let found = self.group.find_in(SHIM, name, None);
        found.unwrap_or_else(|| panic!("the shim has {name}")).offset(&self.group)
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // SAFETY: both ranges are the image's own; no copy refers to them.
        unsafe {
            libc::munmap(self.group.template as *mut _, self.span);
            libc::munmap(self.stubs as *mut _, STUBS);
        }
    }
}

type Gathered = (Vec<Object>, Vec<Vec<u8>>, Vec<String>);

/// The program, the shim and all libraries that they need, with their bytes; and the names of those that are there once.
fn gather(path: &Path, personality: &dyn Personality) -> Result<Gathered, Error> {
    let read = |path: &Path| {
        let is_folder = path.is_dir();
        let folder = || Error::unsuitable(path, "is a folder; name a program");
        if is_folder {
            Err(folder())
        } else {
            std::fs::read(path).map_err(|source| Error::read(path, source))
        }
    };
    let path = path.canonicalize().map_err(|source| Error::read(path, source))?;
    let program = read(&path)?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut objects = vec![Object::parse(&path, &name, &program)?];
    let mut bytes = vec![program];
    let shim_path = PathBuf::from("simurgh's shim");
    objects.push(Object::parse(&shim_path, "libsimurgh-shim.so", shim::BYTES)?);
    bytes.push(shim::BYTES.to_vec());
    let (mut shared, mut at) = (Vec::new(), 0);
    while at < objects.len() {
        for library in objects[at].needed.clone() {
            let known = objects.iter().any(|o| o.name == library) || shared.contains(&library);
            if known || personality.provides(&library) {
                continue;
            }
            if libraries::is_shared(&library) {
                shared.push(library);
                continue;
            }
            let needs = &objects[at];
            let found = libraries::find(&library, &needs.run_paths, &needs.path).ok_or_else(|| {
                Error::MissingLibrary { path: needs.path.clone(), library: library.clone() }
            })?;
            let library_bytes = read(&found)?;
            let object = Object::parse(&found, &library, &library_bytes)?;
            if objects.iter().any(|o| o.name == object.name) {
                continue;
            }
            objects.push(object);
            bytes.push(library_bytes);
        }
        at += 1;
    }
    Ok((objects, bytes, shared))
}

/// Objects in the order in which they begin: the shim, then each after all that it needs.
fn order(objects: &[Object]) -> Vec<usize> {
    fn visit(number: usize, objects: &[Object], seen: &mut Vec<bool>, order: &mut Vec<usize>) {
        if std::mem::replace(&mut seen[number], true) {
            return;
        }
        for needed in &objects[number].needed {
            if let Some(needed) = objects.iter().position(|o| o.name == *needed) {
                visit(needed, objects, seen, order);
            }
        }
        order.push(number);
    }
    let (mut seen, mut order) = (vec![false; objects.len()], Vec::new());
    visit(SHIM, objects, &mut seen, &mut order);
    visit(0, objects, &mut seen, &mut order);
    order
}

fn memory_file(bytes: usize) -> Result<File, Error> {
    // SAFETY: makes a new descriptor, which belongs to nobody else.
    let file = unsafe {
        let descriptor = libc::memfd_create(c"simurgh".as_ptr(), libc::MFD_CLOEXEC);
        if descriptor < 0 {
            return Err(Error::system("cannot make a file in memory"));
        }
        File::from_raw_fd(descriptor)
    };
    let sized = file.set_len(bytes as u64);
    sized.map_err(|source| Error::System { what: "cannot make a file in memory".to_owned(), source })?;
    Ok(file)
}

fn map_template(file: &File, bytes: usize) -> Result<usize, Error> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping, where the system likes it.
    let mapped =
        unsafe { libc::mmap(std::ptr::null_mut(), bytes, protection, libc::MAP_SHARED, file.as_raw_fd(), 0) };
    if mapped == libc::MAP_FAILED {
        Err(Error::system("cannot map the program"))
    } else {
        Ok(mapped as usize)
    }
}

/// Addresses that nobody can use, one for each name that is nowhere.
fn reserve_stubs() -> Result<usize, Error> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping, where the system likes it.
    let mapped = unsafe { libc::mmap(std::ptr::null_mut(), STUBS, libc::PROT_NONE, flags, -1, 0) };
    if mapped == libc::MAP_FAILED {
        Err(Error::system("cannot map the program"))
    } else {
        Ok(mapped as usize)
    }
}

const _: () = assert!(PAGE.is_power_of_two());
