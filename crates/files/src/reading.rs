//! Reading whole files, none longer than can be meant.

use std::collections::BTreeSet;
use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::writing::real;

/// Longer files are refused: nobody has written them.
pub const LENGTH_MAX: u64 = 1 << 30;

/// Why a file cannot be read, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// There is nothing of this name.
    #[error("there is no such file; check the path")]
    Missing,
    /// It is a directory.
    #[error("this is a directory; name a file in it")]
    Directory,
    /// It is something that gives bytes without being a file. Who reads it may wait for ever, and finds nothing there the second time.
    #[error("this is a {0}, not a file; write what it gives into a file, and name that")]
    Special(&'static str),
    /// It is longer than [`LENGTH_MAX`].
    #[error("the file is longer than {} MiB; check that it is the right one", LENGTH_MAX >> 20)]
    Long,
    /// It is not text.
    #[error("byte {at} is not UTF-8 text; save the file as UTF-8")]
    NotText {
        /// The first byte that is not.
        at: usize,
        /// Its line, from 1.
        line: usize,
    },
    /// The system says why.
    #[error("{0}; check that the file can be read")]
    Failed(io::Error),
}

impl From<io::Error> for Unreadable {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Unreadable::Missing,
            io::ErrorKind::IsADirectory => Unreadable::Directory,
            _ => Unreadable::Failed(error),
        }
    }
}

impl From<Unreadable> for io::Error {
    fn from(unreadable: Unreadable) -> Self {
        match unreadable {
            Unreadable::Failed(error) => error,
            Unreadable::Missing => io::Error::new(io::ErrorKind::NotFound, unreadable),
            _ => io::Error::new(io::ErrorKind::InvalidInput, unreadable),
        }
    }
}

/// The files that were read since somebody wanted them to be protected.
static INPUTS: Mutex<Option<BTreeSet<PathBuf>>> = Mutex::new(None);

/// From now on no file is written that was read: for a command that reads its input once, and writes something else.
pub fn protect_inputs() {
    INPUTS.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
}

/// Whether this is a file that was read, and is protected.
pub(crate) fn is_input(path: &Path) -> bool {
    let inputs = INPUTS.lock().unwrap_or_else(PoisonError::into_inner);
    inputs.as_ref().is_some_and(|inputs| inputs.contains(path))
}

/// The bytes of a file.
///
/// # Errors
/// If it is no file, too long, or cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>, Unreadable> {
    // Before it is opened: to open a pipe is to wait for its other end.
    let length = is_file(&std::fs::metadata(path)?)?;
    let file = File::open(path)?;
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(LENGTH_MAX + 1).read_to_end(&mut bytes)?;
    if let Some(inputs) = INPUTS.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        inputs.insert(real(path));
    }
    if bytes.len() as u64 > LENGTH_MAX { Err(Unreadable::Long) } else { Ok(bytes) }
}

/// The text of a file.
///
/// # Errors
/// If it is no file, too long, no text, or cannot be read.
pub fn read_text(path: &Path) -> Result<String, Unreadable> {
    String::from_utf8(read(path)?).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count();
        Unreadable::NotText { at, line }
    })
}

/// How long a file is, if it is one.
fn is_file(metadata: &Metadata) -> Result<u64, Unreadable> {
    let kind = metadata.file_type();
    if kind.is_dir() {
        Err(Unreadable::Directory)
    } else if !kind.is_file() {
        Err(Unreadable::Special(name(kind)))
    } else if metadata.len() > LENGTH_MAX {
        Err(Unreadable::Long)
    } else {
        Ok(metadata.len())
    }
}

/// What something is that is no file.
pub(crate) fn name(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return "pipe";
        }
        if kind.is_socket() {
            return "socket";
        }
    }
    let _ = kind;
    "device"
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let told = |path: &str| read(path.as_ref()).expect_err("it is no file").to_string();
        let device = "this is a device, not a file; write what it gives into a file, and name that";
        assert_eq!(told("/dev/zero"), device);
        assert_eq!(told("/dev/urandom"), device);
        assert_eq!(told("/"), "this is a directory; name a file in it");
        assert_eq!(told("/nowhere/at/all"), "there is no such file; check the path");
    }

    #[test]
    fn longer_files_than_anybody_means_are_refused_before_they_are_read() {
        let path = std::env::temp_dir().join(format!("simurgh-long-{}", std::process::id()));
        File::create(&path).and_then(|file| file.set_len(LENGTH_MAX + 1)).expect("a file of holes");
        let told = read(&path).expect_err("it is too long").to_string();
        assert_eq!(told, "the file is longer than 1024 MiB; check that it is the right one");
        std::fs::remove_file(&path).expect("it is removed");
    }
}
