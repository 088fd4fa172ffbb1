//! What survives a crash: a file that is replaced as a whole, so that there is always either what was or what is.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

use crate::error::Error;

const MARK: &[u8; 8] = b"simurgh1";
const SUM: usize = 32;

/// The file of a node.
pub(crate) struct Storage {
    folder: PathBuf,
    path: PathBuf,
    fresh: PathBuf,
}

impl Storage {
    pub(crate) fn new(folder: &Path, node: &str) -> Result<Self, Error> {
        fs::create_dir_all(folder).map_err(|source| Error::Store { path: folder.into(), source })?;
        let path = folder.join(format!("{node}.stored"));
        Ok(Self { folder: folder.into(), fresh: path.with_extension("stored.new"), path })
    }

    /// What was stored last, if anything was.
    pub(crate) fn load<T: DeserializeOwned>(&self) -> Result<Option<T>, Error> {
        let bytes = match fs::read(&self.path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(Error::Read { path: self.path.clone(), source }),
        };
        let damaged = |what| Error::Stored { path: self.path.clone(), what };
        let rest = bytes.strip_prefix(MARK).ok_or(damaged("this was not stored by a node"))?;
        let (sum, stored) = rest.split_at_checked(SUM).ok_or(damaged("this is damaged"))?;
        if Sha256::digest(stored)[..] != *sum {
            return Err(damaged("this is damaged"));
        }
        match postcard::take_from_bytes(stored) {
            Ok((value, [])) => Ok(Some(value)),
            _ => Err(damaged("this was stored by another program, or an earlier one")),
        }
    }

    /// Stores something; it is on the disk when this returns.
    pub(crate) fn store<T: Serialize>(&self, value: &T) -> Result<(), Error> {
        let failed = |source| Error::Store { path: self.path.clone(), source };
        let stored = postcard::to_stdvec(value).map_err(|error| failed(io::Error::other(error)))?;
        let write = || -> io::Result<()> {
            let mut file = File::create(&self.fresh)?;
            file.write_all(&[&MARK[..], &Sha256::digest(&stored)[..], &stored].concat())?;
            file.sync_all()?;
            fs::rename(&self.fresh, &self.path)?;
            // The new name of the file is on the disk once its folder is.
            File::open(&self.folder)?.sync_all()
        };
        write().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_found_and_damage_is_told() {
        let folder = std::env::temp_dir().join(format!("simurgh-storage-{}", std::process::id()));
        let storage = Storage::new(&folder, "a").expect("a folder");
        assert_eq!(storage.load::<u32>().expect("nothing is wrong"), None);
        for value in [7_u32, 700_000] {
            storage.store(&value).expect("it is stored");
            assert_eq!(storage.load::<u32>().expect("it is found"), Some(value));
        }
        let whole = fs::read(&storage.path).expect("the file");
        for end in 0..whole.len() {
            fs::write(&storage.path, &whole[..end]).expect("it is written");
            assert!(storage.load::<u32>().is_err(), "cut at {end}");
        }
        fs::write(&storage.path, &whole).expect("it is written");
        assert!(storage.load::<()>().is_err(), "another type");
        fs::remove_dir_all(&folder).expect("it is removed");
    }
}
