//! Files, descriptors and mapped memory of processes, so that they can be put back to what they were.
//!
//! The shim tells of each descriptor and each map that a process makes, and of each path before what is there may be written, removed or
//! made. What lies at such a path is kept when it is first touched, where that was asked for
//! ([`Processes::keep_files`]): after each execution it lies there again.
//!
//! Not put back are files that are written by other ways (through a map that was shared, by other commands), their times, and owners.

use std::collections::BTreeMap;
use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::current::{self, Heap, Rank, with_heap};
use crate::processes::Processes;

/// A descriptor, and what it was of: a number that stands for something else by now is left alone.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) struct Descriptor {
    number: c_int,
    device: u64,
    inode: u64,
    /// Where the process reads and writes next, when a snapshot was taken.
    offset: i64,
}

/// What lies at a path.
#[derive(Clone, PartialEq, Eq, Debug)]
enum There {
    Nothing,
    File {
        bytes: Vec<u8>,
        mode: u32,
    },
    Folder,
    Link(PathBuf),
    /// A device or a pipe: nothing is to be put back.
    Other,
}

/// What lay at the paths that processes have touched.
#[derive(Debug, Default)]
pub(crate) struct Files {
    wanted: bool,
    /// When the snapshot was taken, or it was first touched after that.
    before: BTreeMap<PathBuf, There>,
    /// When it was first touched.
    first: BTreeMap<PathBuf, There>,
}

/// Held by whoever changes what is noted of a process: its workers may, too.
static NOTING: Mutex<()> = Mutex::new(());

fn noting() -> MutexGuard<'static, ()> {
    NOTING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl There {
    fn at(path: &Path) -> Self {
        let Ok(about) = path.symlink_metadata() else { return There::Nothing };
        let kind = about.file_type();
        if kind.is_symlink() {
            return fs::read_link(path).map_or(There::Other, There::Link);
        }
        if kind.is_dir() {
            return There::Folder;
        }
        match kind.is_file().then(|| fs::read(path)) {
            Some(Ok(bytes)) => There::File { bytes, mode: about.permissions().mode() },
            _ => There::Other,
        }
    }

    /// Takes away what was not there.
    fn take_away(&self, path: &Path) {
        let there = path.symlink_metadata();
        let is =
            |wanted: fn(&fs::FileType) -> bool| there.as_ref().is_ok_and(|about| wanted(&about.file_type()));
        // What is gone already, or is not empty for other reasons, stays so.
        let _ = match self {
            There::Other => Ok(()),
            There::Nothing if is(fs::FileType::is_dir) => fs::remove_dir(path),
            There::Nothing if there.is_ok() => fs::remove_file(path),
            There::File { .. } | There::Link(_) if is(fs::FileType::is_dir) => fs::remove_dir(path),
            There::Folder if there.is_ok() && !is(fs::FileType::is_dir) => fs::remove_file(path),
            There::Link(to) if fs::read_link(path).ok().as_ref() != Some(to) => fs::remove_file(path),
            There::File { .. } if is(fs::FileType::is_symlink) => fs::remove_file(path),
            _ => Ok(()),
        };
    }

    /// Puts there what was.
    fn put_back(&self, path: &Path) {
        let _ = match self {
            There::Folder if !path.is_dir() => fs::create_dir(path),
            There::Link(to) if path.symlink_metadata().is_err() => std::os::unix::fs::symlink(to, path),
            There::File { bytes, mode } if There::at(path) != *self => fs::write(path, bytes)
                .and_then(|()| fs::set_permissions(path, Permissions::from_mode(mode & 0o7777))),
            _ => Ok(()),
        };
    }
}

impl Files {
    /// What is at a path may be written.
    fn touch(&mut self, path: PathBuf) {
        if !self.wanted || self.before.contains_key(&path) {
            return;
        }
        let there = There::at(&path);
        // What a link leads to is written.
        let target = matches!(there, There::Link(_)).then(|| path.canonicalize().ok()).flatten();
        self.before.insert(path, there);
        if let Some(target) = target {
            self.touch(target);
        }
    }

    /// What is at a path was not there before.
    fn is_new(&mut self, path: PathBuf) {
        if self.wanted {
            self.before.entry(path).or_insert(There::Nothing);
        }
    }

    /// A snapshot is taken: what is there now is what was.
    pub(crate) fn keep(&mut self) {
        for (path, there) in &mut self.before {
            self.first.entry(path.clone()).or_insert_with(|| there.clone());
            *there = There::at(path);
        }
    }

    /// Puts all back to where the snapshot was taken.
    pub(crate) fn put_back(&self) {
        put_all_back(&self.before);
    }
}

fn put_all_back(files: &BTreeMap<PathBuf, There>) {
    // What is in folders comes after them.
    for (path, there) in files.iter().rev() {
        there.take_away(path);
    }
    for (path, there) in files {
        there.put_back(path);
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        let mut first = std::mem::take(&mut self.first);
        for (path, there) in std::mem::take(&mut self.before) {
            first.entry(path).or_insert(there);
        }
        put_all_back(&first);
    }
}

impl Processes {
    /// From now on, what processes do to files is undone when they are put back, and in the end.
    pub fn keep_files(&self) {
        self.shared().files.lock().unwrap_or_else(PoisonError::into_inner).wanted = true;
    }
}

impl Rank {
    /// What was opened and mapped, for a snapshot.
    pub(crate) fn kept_descriptors(&self) -> Vec<Descriptor> {
        // SAFETY: asks for a position.
        let offset = |number| unsafe { libc::lseek(number, 0, libc::SEEK_CUR) };
        self.descriptors.iter().map(|one| Descriptor { offset: offset(one.number), ..*one }).collect()
    }

    /// Closes what was opened since, and unmaps what was mapped since.
    ///
    /// # Safety
    /// The process does not run.
    pub(crate) unsafe fn close_since(&mut self, descriptors: &[Descriptor], maps: &[(usize, usize)]) {
        let known = |number| descriptors.iter().any(|one| one.number == number);
        for opened in self.descriptors.iter().filter(|one| !known(one.number)) {
            if Descriptor::of(opened.number).is_some_and(|now| now.is_same(opened)) {
                // SAFETY: the process opened it, and nobody else has it.
                unsafe { libc::close(opened.number) };
            }
        }
        for kept in descriptors.iter().filter(|kept| kept.offset >= 0) {
            if Descriptor::of(kept.number).is_some_and(|now| now.is_same(kept)) {
                // SAFETY: sets a position.
                unsafe { libc::lseek(kept.number, kept.offset, libc::SEEK_SET) };
            }
        }
        self.descriptors = descriptors.to_vec();
        for &(start, length) in self.maps.iter().filter(|map| !maps.contains(map)) {
            // SAFETY: the process mapped it, and has not unmapped it.
            unsafe { libc::munmap(start as *mut c_void, length) };
        }
        self.maps = maps.to_vec();
    }
}

impl Descriptor {
    /// What a number stands for now.
    fn of(number: c_int) -> Option<Self> {
        // SAFETY: fills in what it is given.
        let about = unsafe {
            let mut about: libc::stat = std::mem::zeroed();
            (libc::fstat(number, &raw mut about) == 0).then_some(about)
        }?;
        Some(Self { number, device: about.st_dev, inode: about.st_ino, offset: -1 })
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }
}

/// The process that runs, or that a worker works for; none where no process has asked.
fn rank() -> Option<&'static mut Rank> {
    let rank = current::rank_or_owner();
    // SAFETY: it runs, and stays until it is left; what is touched here is touched by those alone who hold the lock.
    unsafe { rank.as_mut() }
}

/// A process has made a descriptor, or is about to close it.
pub fn note_descriptor(number: c_int, is_open: bool) {
    with_heap(Heap::Host, || {
        let _noting = noting();
        let Some(rank) = rank() else { return };
        rank.descriptors.retain(|one| one.number != number);
        if is_open {
            rank.descriptors.extend(Descriptor::of(number));
        }
    });
}

/// What is at a path may be written, removed or made by the process that runs.
pub fn touch(path: &Path) {
    with_files(|files| files.touch(absolute(libc::AT_FDCWD, path)));
}

fn with_files(change: impl FnOnce(&mut Files)) {
    with_heap(Heap::Host, || {
        let Some(rank) = rank() else { return };
        // SAFETY: what processes share stays while one of them runs.
        let files = unsafe { &(*rank.shared).files };
        change(&mut files.lock().unwrap_or_else(PoisonError::into_inner));
    });
}

/// A path as it is seen from a directory, without what leads elsewhere on the way.
fn absolute(at: c_int, path: &Path) -> PathBuf {
    let base = || match at {
        libc::AT_FDCWD => std::env::current_dir().unwrap_or_default(),
        number => fs::read_link(format!("/proc/self/fd/{number}")).unwrap_or_default(),
    };
    let path = if path.is_absolute() { path.to_owned() } else { base().join(path) };
    match (path.parent().and_then(|parent| parent.canonicalize().ok()), path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path,
    }
}

/// # Safety
/// The program gives a path.
unsafe fn path_of<'a>(path: *const c_char) -> &'a Path {
    // SAFETY: as the caller says.
    Path::new(OsStr::from_bytes(unsafe { CStr::from_ptr(path) }.to_bytes()))
}

pub(crate) extern "C" fn descriptor(number: c_int, is_open: c_int) {
    note_descriptor(number, is_open != 0);
}

pub(crate) extern "C" fn touched(at: c_int, path: *const c_char) {
    if !path.is_null() {
        // SAFETY: the program gives a path.
        with_files(|files| files.touch(absolute(at, unsafe { path_of(path) })));
    }
}

pub(crate) extern "C" fn new_file(path: *const c_char) {
    // SAFETY: the shim gives the path of what it has just made.
    with_files(|files| files.is_new(absolute(libc::AT_FDCWD, unsafe { path_of(path) })));
}

pub(crate) extern "C" fn map(start: *mut c_void, length: usize, is_mapped: c_int) {
    with_heap(Heap::Host, || {
        let _noting = noting();
        let Some(rank) = rank() else { return };
        let (start, length) = (start as usize, crate::elf::pages(length));
        rank.maps = without(&rank.maps, start, start + length);
        if is_mapped != 0 {
            rank.maps.push((start, length));
        }
    });
}

/// What is left of maps when a range is unmapped.
fn without(maps: &[(usize, usize)], from: usize, to: usize) -> Vec<(usize, usize)> {
    let mut left = Vec::with_capacity(maps.len() + 1);
    for &(start, length) in maps {
        let end = start + length;
        for (start, end) in [(start, end.min(from)), (start.max(to), end)] {
            if start < end {
                left.push((start, end - start));
            }
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_cut() {
        let maps = [(0, 10), (20, 10)];
        assert_eq!(without(&maps, 3, 5), [(0, 3), (5, 5), (20, 10)]);
        assert_eq!(without(&maps, 5, 25), [(0, 5), (25, 5)]);
        assert_eq!(without(&maps, 0, 30), []);
        assert_eq!(without(&maps, 10, 20), maps);
    }
}
