//! A file that one process alone goes on writing, from the beginning of a long work to its end.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::reading::name;
use crate::writing::{Fresh, real, tidy};

/// A file that nobody else writes while this value lives. It is made if it is not there, and gone again if nothing is written into it.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    /// The file that is there. Its lock goes with it.
    held: File,
    /// It was made for this claim, and is empty.
    is_made: bool,
}

/// Why a file cannot be claimed.
#[derive(Debug, thiserror::Error)]
pub enum Unclaimed {
    /// Another process has it, or another part of this one.
    #[error("another process is writing this file; let it end, or name another file")]
    Held,
    /// It is no file.
    #[error("this is a {0}, not a file; name a file, which is made if it is not there")]
    Special(&'static str),
    /// The system says why.
    #[error("{0}; name a file that can be written")]
    Failed(#[from] io::Error),
}

impl Claim {
    /// Claims a file.
    ///
    /// # Errors
    /// If another has claimed it, or it cannot be written.
    pub fn on(path: &Path) -> Result<Self, Unclaimed> {
        let path = real(path);
        loop {
            let there = match fs::metadata(&path) {
                Ok(metadata) if metadata.is_file() => true,
                Ok(metadata) if metadata.is_dir() => return Err(Unclaimed::Special("directory")),
                Ok(metadata) => return Err(Unclaimed::Special(name(metadata.file_type()))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => false,
                Err(error) => return Err(error.into()),
            };
            let held = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
            lock(&held)?;
            // Who had it before may have replaced or removed it in between.
            if !is_at(&held, &path)? {
                continue;
            }
            tidy(&path);
            let claim = Self { path, held, is_made: !there };
            // Its folder must take others, too.
            Fresh::beside(&claim.path, &mut OpenOptions::new())?;
            return Ok(claim);
        }
    }

    /// Puts bytes in the place of what is there.
    ///
    /// # Errors
    /// If they cannot be written; then what was there is there still.
    pub fn replace(&mut self, bytes: &[u8]) -> Result<(), Unclaimed> {
        let mut fresh = Fresh::beside(&self.path, OpenOptions::new().read(true))?;
        let permissions = self.held.metadata()?.permissions();
        let file = fresh.file();
        // It is locked already.
        let _ = file.set_permissions(permissions);
        file.write_all(bytes)?;
        self.held = fresh.replace()?;
        self.is_made = false;
        Ok(())
    }

    /// Removes the file.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(mut self) -> io::Result<()> {
        self.is_made = false;
        fs::remove_file(&self.path)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.is_made {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn lock(file: &File) -> Result<(), Unclaimed> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(Unclaimed::Held),
        // Some file systems have no locks: there, as good as it gets.
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

/// Whether this is the file of that name.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let here = file.metadata()?;
        match fs::metadata(path) {
            Ok(there) => Ok((here.dev(), here.ino()) == (there.dev(), there.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_writer_whatever_becomes_of_it() {
        let path = std::env::temp_dir().join(format!("simurgh-claim-{}", std::process::id()));
        let held = |path: &Path| matches!(Claim::on(path), Err(Unclaimed::Held));
        let mut claim = Claim::on(&path).expect("nobody has it");
        assert!(path.exists() && held(&path));
        claim.replace(b"one").expect("it is written");
        assert!(held(&path), "it is another file, and claimed as well");
        drop(claim);
        assert_eq!(fs::read(&path).expect("it stays"), b"one");
        let mut claim = Claim::on(&path).expect("nobody has it any more");
        claim.replace(b"two").expect("it is written");
        claim.remove().expect("it is removed");
        assert!(!path.exists());
        drop(Claim::on(&path).expect("nobody has it"));
        assert!(!path.exists(), "nothing was written");
    }
}
