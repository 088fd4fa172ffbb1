//! What survives a crash: a file to which changes are appended, and which is written anew as a whole now and then.
//!
//! | bytes | what |
//! | --- | --- |
//! | 8 | `simurgh2` |
//! | 8 | a number that is drawn for the file |
//! | 4, ... | the name of the node that it belongs to, behind its length |
//! | 16 | sum of all before it |
//! | ... | records: length (4), number (8), sum (16), and what is stored: all, or what has changed since the record before |
//!
//! Numbers are little-endian; a sum is the first half of a SHA-256, in records together with the number of the file. A record is on the disk (`fdatasync`)
//! before anything is sent that may depend on it. So a crash can tear the last record alone, and what that record says was told to nobody:
//! a record that is not sound is left out if no sound one follows, and otherwise the file is damaged and refused. Whenever the changes
//! are longer than twice the whole, the file is written anew, beside the old one, and takes its place once it is on the disk.
//!
//! While a node runs, it holds the lock of a file beside it.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::change::{self, Edit};
use crate::error::Error;
use crate::private;

const MARK: &[u8; 8] = b"simurgh2";
/// A file of an earlier version: the SHA-256 of what is stored, and what is stored.
const MARK_OF_WHOLE: &[u8; 8] = b"simurgh1";
const SUM_OF_WHOLE: usize = 32;
const SUM: usize = 16;
/// What is before the contents of a record.
const HEAD: usize = 4 + 8 + SUM;
/// Files with less than so many bytes of changes are not written anew.
const CHANGES_MIN: usize = 64 << 10;

const DAMAGED: &str = "this is damaged";

/// The file of a node.
pub(crate) struct Storage {
    node: String,
    path: PathBuf,
    /// What is stored.
    bytes: Vec<u8>,
    log: Option<Log>,
    /// Released when this is dropped, by a crash too.
    _lock: File,
}

/// A file to which can be appended.
struct Log {
    file: File,
    drawn: u64,
    /// The number of the next record.
    next: u64,
    changes: usize,
}

#[derive(Serialize, Deserialize)]
enum Record {
    Whole(Vec<u8>),
    Changed(Vec<Edit>),
}

/// What was read of a file.
struct Found {
    bytes: Vec<u8>,
    drawn: u64,
    next: u64,
    changes: usize,
    /// Up to where it is sound.
    end: usize,
}

impl Storage {
    /// The file of a node in a folder, for this process alone.
    pub(crate) fn new(folder: &Path, node: &str) -> Result<Self, Error> {
        let failed = |path: &Path, source| Error::Store { path: path.into(), source };
        fs::create_dir_all(folder).map_err(|source| failed(folder, source))?;
        let path = folder.join(format!("{node}.stored"));
        let lock_path = folder.join(format!("{node}.stored.lock"));
        let lock = private::options().create(true).truncate(false).open(&lock_path);
        let lock = lock.map_err(|source| failed(&lock_path, source))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Locked { path, node: node.into() }),
            Err(TryLockError::Error(source)) => return Err(failed(&lock_path, source)),
        }
        simurgh_files::tidy(&path);
        Ok(Self { node: node.into(), path, bytes: Vec::new(), log: None, _lock: lock })
    }

    /// What was stored last, if anything was.
    pub(crate) fn load<T: DeserializeOwned>(&mut self) -> Result<Option<T>, Error> {
        let read = |source| Error::Read { path: self.path.clone(), source };
        let mut file = match private::options().open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(source) => return Err(read(source)),
        };
        private::check(&file, &self.path)?;
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut file, &mut bytes).map_err(read)?;
        if let Some(rest) = bytes.strip_prefix(MARK_OF_WHOLE) {
            let sound = rest
                .split_at_checked(SUM_OF_WHOLE)
                .filter(|(sum, stored)| Sha256::digest(stored)[..] == **sum);
            self.bytes = sound.ok_or_else(|| self.damaged(DAMAGED))?.1.to_vec();
        } else {
            let Found { bytes: stored, drawn, next, changes, end } = self.found(&bytes)?;
            if end < bytes.len() {
                // What is torn makes room.
                let cut = file.set_len(end as u64).and_then(|()| file.sync_all());
                cut.map_err(|source| Error::Store { path: self.path.clone(), source })?;
            }
            file.seek(SeekFrom::Start(end as u64)).map_err(read)?;
            self.bytes = stored;
            self.log = Some(Log { file, drawn, next, changes });
        }
        match postcard::take_from_bytes(&self.bytes) {
            Ok((value, [])) => Ok(Some(value)),
            _ => Err(self.damaged("this was stored by another program, or an earlier one")),
        }
    }

    /// Stores something; it is on the disk when this returns.
    pub(crate) fn store<T: Serialize>(&mut self, value: &T) -> Result<(), Error> {
        let stored = postcard::to_stdvec(value).map_err(io::Error::other);
        let written = stored.and_then(|stored| {
            let room = CHANGES_MIN.max(2 * stored.len());
            match self.log.as_mut().filter(|log| log.changes < room) {
                Some(log) => log.append(&Record::Changed(change::between(&self.bytes, &stored)))?,
                None => self.log = Some(Log::begin(&self.path, &self.node, &stored)?),
            }
            self.bytes = stored;
            Ok(())
        });
        written.map_err(|source| Error::Store { path: self.path.clone(), source })
    }

    fn damaged(&self, what: &'static str) -> Error {
        Error::Stored { path: self.path.clone(), what }
    }

    fn found(&self, bytes: &[u8]) -> Result<Found, Error> {
        if !bytes.starts_with(MARK) {
            let begun = !bytes.is_empty() && MARK.starts_with(bytes);
            return Err(self.damaged(if begun { DAMAGED } else { "this was not stored by a node" }));
        }
        let (owner, drawn, begin) = head(bytes).ok_or_else(|| self.damaged(DAMAGED))?;
        if owner != self.node {
            let (path, node) = (self.path.clone(), self.node.clone());
            return Err(Error::OfAnother { path, owner: owner.into(), node });
        }
        let first = record(drawn, 0, &bytes[begin..]);
        let Some((Record::Whole(stored), length)) = first else { return Err(self.damaged(DAMAGED)) };
        let mut found = Found { bytes: stored, drawn, next: 1, changes: 0, end: begin + length };
        while let Some((Record::Changed(edits), length)) = record(drawn, found.next, &bytes[found.end..]) {
            found.bytes = change::apply(&found.bytes, &edits).ok_or_else(|| self.damaged(DAMAGED))?;
            found.next += 1;
            found.changes += length;
            found.end += length;
        }
        // A crash tears the last record only: if a sound one follows, it was not a crash.
        let follows = |at: usize| {
            let number = number_of(&bytes[at..])?;
            let may = number >= found.next && number - found.next <= (bytes.len() - found.end) as u64;
            may.then(|| record(drawn, number, &bytes[at..]))?
        };
        if (found.end + 1..bytes.len()).any(|at| follows(at).is_some()) {
            return Err(self.damaged(DAMAGED));
        }
        Ok(found)
    }
}

impl Log {
    /// Writes a file anew.
    fn begin(path: &Path, node: &str, stored: &[u8]) -> io::Result<Self> {
        let drawn: u64 = rand::random();
        let length = u32::try_from(node.len()).map_err(io::Error::other)?;
        let mut bytes = [&MARK[..], &drawn.to_le_bytes(), &length.to_le_bytes(), node.as_bytes()].concat();
        let sum = sum(&[&bytes]);
        bytes.extend(sum);
        bytes.extend(sealed(drawn, 0, &Record::Whole(stored.to_vec()))?);
        Ok(Self { file: private::replace(path, &bytes)?, drawn, next: 1, changes: 0 })
    }

    fn append(&mut self, record: &Record) -> io::Result<()> {
        let bytes = sealed(self.drawn, self.next, record)?;
        self.file.write_all(&bytes)?;
        self.file.sync_data()?;
        self.next += 1;
        self.changes += bytes.len();
        Ok(())
    }
}

/// Whom a file belongs to, the number drawn for it, and where its records begin.
fn head(bytes: &[u8]) -> Option<(&str, u64, usize)> {
    let rest = bytes.strip_prefix(MARK)?;
    let (drawn, rest) = rest.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let name = rest.get(..u32::from_le_bytes(*length) as usize)?;
    let begin = MARK.len() + 8 + 4 + name.len();
    if bytes.get(begin..begin + SUM)? != sum(&[&bytes[..begin]]) {
        return None;
    }
    Some((std::str::from_utf8(name).ok()?, u64::from_le_bytes(*drawn), begin + SUM))
}

fn sum(parts: &[&[u8]]) -> [u8; SUM] {
    let mut digest = Sha256::new();
    parts.iter().for_each(|part| digest.update(part));
    let digest = digest.finalize();
    std::array::from_fn(|place| digest[place])
}

/// A record as it is written.
fn sealed(drawn: u64, number: u64, record: &Record) -> io::Result<Vec<u8>> {
    let contents = postcard::to_stdvec(record).map_err(io::Error::other)?;
    let length = u32::try_from(contents.len()).map_err(io::Error::other)?;
    let (length, number) = (length.to_le_bytes(), number.to_le_bytes());
    let sum = sum(&[&drawn.to_le_bytes(), &length, &number, &contents]);
    Ok([&length[..], &number, &sum, &contents].concat())
}

/// The number that a record has which begins here.
fn number_of(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(4..)?.first_chunk()?))
}

/// The record with a number that begins here, if it is sound, and how long it is.
fn record(drawn: u64, number: u64, bytes: &[u8]) -> Option<(Record, usize)> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    let contents = bytes.get(HEAD..)?.get(..length)?;
    let right = number_of(bytes)? == number
        && bytes[12..HEAD] == sum(&[&drawn.to_le_bytes(), &bytes[..4], &bytes[4..12], contents]);
    if !right {
        return None;
    }
    match postcard::take_from_bytes(contents) {
        Ok((record, [])) => Some((record, HEAD + length)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("simurgh-storage-{name}-{}", std::process::id()))
    }

    fn loaded<T: DeserializeOwned>(folder: &Path) -> Result<Option<T>, Error> {
        Storage::new(folder, "a").expect("nobody else has it").load()
    }

    #[test]
    fn a_file_that_is_cut_anywhere_holds_the_last_record_before() {
        let folder = folder("cut");
        let mut storage = Storage::new(&folder, "a").expect("a folder");
        assert_eq!(storage.load::<Vec<u32>>().expect("nothing is wrong"), None);
        let value = |length: u32| (0..length).map(|place| place * 1000).collect::<Vec<u32>>();
        let mut ends = Vec::new();
        for length in 0..9 {
            storage.store(&value(length)).expect("it is stored");
            ends.push(fs::metadata(&storage.path).expect("the file").len() as usize);
        }
        let path = storage.path.clone();
        drop(storage);
        assert_eq!(loaded::<Vec<u32>>(&folder).expect("it is found"), Some(value(8)));
        let whole = fs::read(&path).expect("the file");
        assert!(ends.is_sorted() && ends[8] == whole.len());
        for end in 0..whole.len() {
            fs::write(&path, &whole[..end]).expect("it is written");
            let records = ends.iter().filter(|record| **record <= end).count();
            match loaded::<Vec<u32>>(&folder) {
                // The first record is there as soon as the file has its name.
                Err(_) => assert_eq!(records, 0, "cut at {end}"),
                Ok(found) => assert_eq!(found, Some(value(records as u32 - 1)), "cut at {end}"),
            }
            if records > 0 {
                // It goes on from there, and what was torn is gone.
                let mut storage = Storage::new(&folder, "a").expect("nobody else has it");
                storage.load::<Vec<u32>>().expect("it is found");
                storage.store(&vec![7]).expect("it is stored");
                drop(storage);
                assert_eq!(loaded(&folder).expect("it is found"), Some(vec![7]));
            }
            // Space that was given to the file, but not written.
            fs::write(&path, [&whole[..end], &vec![0; whole.len() - end][..]].concat())
                .expect("it is written");
            match loaded::<Vec<u32>>(&folder) {
                Err(_) => assert_eq!(records, 0, "zeroes from {end}"),
                Ok(found) => {
                    let found = found.expect("there is something").len() as u32 + 1;
                    assert!((records as u32..=records as u32 + 1).contains(&found), "zeroes from {end}");
                }
            }
        }
        // Whatever is changed before the last record is damage, not a crash.
        for place in 0..ends[7] {
            let mut other = whole.clone();
            other[place] ^= 0x10;
            fs::write(&path, &other).expect("it is written");
            assert!(loaded::<Vec<u32>>(&folder).is_err(), "byte {place} differs");
        }
        fs::write(&path, &whole).expect("it is written");
        assert!(loaded::<()>(&folder).is_err(), "another type");
        fs::remove_dir_all(&folder).expect("it is removed");
    }

    #[test]
    fn a_list_that_grows_is_not_written_again_and_again() {
        let folder = folder("grows");
        let mut storage = Storage::new(&folder, "a").expect("a folder");
        let (mut list, mut written, mut longest) = (Vec::new(), 0, 0);
        let mut last = 0;
        for place in 0..3000_u64 {
            list.push(u64::MAX - place);
            storage.store(&list).expect("it is stored");
            let length = fs::metadata(&storage.path).expect("the file").len();
            written += if length < last { length } else { length - last };
            (last, longest) = (length, longest.max(length));
        }
        let whole = storage.bytes.len() as u64;
        println!("{whole} bytes in the end, {written} written, the file had {longest} at most");
        assert!(
            longest < 4 * whole + 2 * CHANGES_MIN as u64 && written < 20 * whole,
            "{written}, {longest}, {whole}"
        );
        drop(storage);
        assert_eq!(loaded(&folder).expect("it is found"), Some(list));
        fs::remove_dir_all(&folder).expect("it is removed");
    }

    #[test]
    fn a_file_belongs_to_one_node_and_one_process() {
        let folder = folder("owned");
        let mut storage = Storage::new(&folder, "a").expect("a folder");
        storage.store(&7_u32).expect("it is stored");
        let told = Storage::new(&folder, "a").err().expect("it is locked").to_string();
        assert!(
            told.ends_with("a.stored: node \"a\" runs already, and has locked this; stop it first"),
            "{told}"
        );
        drop(storage);
        fs::copy(folder.join("a.stored"), folder.join("b.stored")).expect("it is copied");
        let told = Storage::new(&folder, "b").expect("it is free").load::<u32>().expect_err("of another");
        let told = told.to_string();
        assert!(told.contains("b.stored: this belongs to node \"a\", not to \"b\"; "), "{told}");
        fs::remove_dir_all(&folder).expect("it is removed");
    }

    #[test]
    fn files_of_the_version_before_are_read() {
        let folder = folder("before");
        let mut storage = Storage::new(&folder, "a").expect("a folder");
        let stored = postcard::to_stdvec(&7_u32).expect("it is encoded");
        let old = [&MARK_OF_WHOLE[..], &Sha256::digest(&stored)[..], &stored].concat();
        drop(private::replace(&storage.path, &old).expect("it is written"));
        assert_eq!(storage.load::<u32>().expect("it is found"), Some(7));
        storage.store(&8_u32).expect("it is stored");
        assert_eq!(fs::read(&storage.path).expect("the file")[..8], *MARK);
        storage.store(&9_u32).expect("it is stored");
        drop(storage);
        assert_eq!(loaded::<u32>(&folder).expect("it is found"), Some(9));
        fs::remove_dir_all(&folder).expect("it is removed");
    }

    #[test]
    #[cfg(unix)]
    fn what_others_can_read_is_refused() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let folder = folder("open");
        let mut storage = Storage::new(&folder, "a").expect("a folder");
        storage.store(&7_u32).expect("it is stored");
        assert_eq!(fs::metadata(&storage.path).expect("the file").mode() & 0o777, 0o600);
        fs::set_permissions(&storage.path, fs::Permissions::from_mode(0o644)).expect("it is changed");
        let told = storage.load::<u32>().expect_err("others may see it").to_string();
        assert!(told.contains("(mode 0644); close it to them by `chmod 600 "), "{told}");
        fs::remove_dir_all(&folder).expect("it is removed");
    }
}
