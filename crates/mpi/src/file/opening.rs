//! How files are opened, closed and deleted (MPI 5.0, 14.2).

use std::cell::{Cell, RefCell};
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::rc::Rc;

use simurgh_kernel::simcall::Note;

use super::{Common, OpenFile, Opened, Representation, View};
use crate::abi;
use crate::collectives::{allgather, barrier, bcast, team::Team};
use crate::communicator::Communicator;
use crate::error::{Error, On, Result, fail};
use crate::os;
use crate::rank::Rank;
use crate::window::{Hints, lock_name};

/// Tags of messages of files in the context of collectives are above those of windows, and below all others.
const TAGS: i32 = i32::MIN + (1 << 30);

/// What a program is told of what the file system says.
pub fn wrong_file(path: &str, error: &std::io::Error) -> Error {
    let class = match error.kind() {
        ErrorKind::NotFound => abi::ERR_NO_SUCH_FILE,
        ErrorKind::AlreadyExists => abi::ERR_FILE_EXISTS,
        ErrorKind::PermissionDenied => abi::ERR_ACCESS,
        ErrorKind::ReadOnlyFilesystem => abi::ERR_READ_ONLY,
        ErrorKind::StorageFull => abi::ERR_NO_SPACE,
        ErrorKind::QuotaExceeded => abi::ERR_QUOTA,
        ErrorKind::NotADirectory | ErrorKind::IsADirectory | ErrorKind::InvalidFilename => abi::ERR_BAD_FILE,
        _ => abi::ERR_IO,
    };
    Error::new(class, format!("{path}: {error}"))
}

fn on_no_file(error: Error) -> Error {
    error.on(On::File(abi::FILE_NULL))
}

/// Checks how a file is to be opened (14.2.1).
///
/// # Errors
/// If it makes no sense.
pub fn check_mode(amode: i32) -> Result {
    let has = |mode: i32| amode & mode != 0;
    let ways =
        [abi::MODE_RDONLY, abi::MODE_RDWR, abi::MODE_WRONLY].into_iter().filter(|way| has(*way)).count();
    let all = abi::MODE_RDONLY
        | abi::MODE_RDWR
        | abi::MODE_WRONLY
        | abi::MODE_CREATE
        | abi::MODE_EXCL
        | abi::MODE_DELETE_ON_CLOSE
        | abi::MODE_UNIQUE_OPEN
        | abi::MODE_SEQUENTIAL
        | abi::MODE_APPEND;
    if amode & !all != 0 {
        return fail(abi::ERR_AMODE, format!("{amode:#x} has modes of access that are not known"));
    }
    if ways != 1 {
        return fail(
            abi::ERR_AMODE,
            "a file is opened with one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY",
        );
    }
    if has(abi::MODE_RDONLY) && (has(abi::MODE_CREATE) || has(abi::MODE_EXCL)) {
        return fail(abi::ERR_AMODE, "a file that is only read cannot be created: MPI_MODE_RDONLY is given");
    }
    if has(abi::MODE_RDWR) && has(abi::MODE_SEQUENTIAL) {
        return fail(
            abi::ERR_AMODE,
            "MPI_MODE_SEQUENTIAL is for files that are read, or written, and not both",
        );
    }
    Ok(())
}

fn opened(path: &str, amode: i32, is_first: bool) -> Result<Opened> {
    if amode & abi::MODE_RDONLY == 0 || amode & abi::MODE_DELETE_ON_CLOSE != 0 {
        os::touches(path);
    }
    let has = |mode: i32| amode & mode != 0;
    let mut options = OpenOptions::new();
    options.read(!has(abi::MODE_WRONLY)).write(!has(abi::MODE_RDONLY));
    if is_first && has(abi::MODE_CREATE) {
        match has(abi::MODE_EXCL) {
            true => options.create_new(true),
            false => options.create(true).truncate(false),
        };
    }
    options.open(path).map(Opened::new).map_err(|error| wrong_file(path, &error))
}

impl Rank {
    /// Opens a file; all processes of the communicator do.
    ///
    /// # Errors
    /// If it cannot be opened by all.
    pub fn open(
        &self,
        comm: &Rc<Communicator>,
        path: String,
        amode: i32,
        info: Hints,
    ) -> Result<Rc<OpenFile>> {
        let sequence = comm.sequence.get();
        comm.sequence.set(sequence + 1);
        let tag = TAGS + (sequence % (1 << 29)) as i32;
        let team = Team::all(self, comm, tag);
        // The first one makes it, and the others find it.
        let mut result = if comm.rank == 0 { opened(&path, amode, true).map(Some) } else { Ok(None) };
        let mut class = result.as_ref().map_or_else(|error| i64::from(error.class), |_| 0).to_ne_bytes();
        bcast::bcast(&team, &mut class, 1, 0)?;
        let class = i64::from_ne_bytes(class);
        let mut mode = i64::from(amode).to_ne_bytes();
        bcast::bcast(&team, &mut mode, 1, 0)?;
        if comm.rank != 0 {
            result = match class {
                0 if i64::from_ne_bytes(mode) != i64::from(amode) => {
                    fail(abi::ERR_NOT_SAME, format!("{path} is opened in different modes by different ranks"))
                }
                0 => opened(&path, amode, false).map(Some),
                class => fail(class as i32, format!("{path}: rank 0 could not open it")),
            };
        }
        let number = self.free_number();
        let lock = lock_name(number, self.process, self.world.size(), 0);
        let end = match &result {
            Ok(Some(file)) if amode & abi::MODE_APPEND != 0 => {
                file.metadata().map_or(0, |known| known.len() as i64)
            }
            _ => 0,
        };
        let common = Common { pointer: Cell::new(end), end, lock, came: Cell::new(0) };
        let mine = Box::into_raw(Box::new(common));
        // An address, or what went wrong.
        let word = result.as_ref().map_or_else(|error| error.class as usize, |_| mine as usize);
        let mut words = vec![0; 8 * comm.size()];
        words[8 * comm.rank..][..8].copy_from_slice(&word.to_ne_bytes());
        if comm.rank == 0 {
            self.note(Note::NewMutex(lock));
        }
        allgather::allgather(&team, 8, &mut words)?;
        let words: Vec<usize> = words
            .chunks_exact(8)
            .map(|word| usize::from_ne_bytes(word.try_into().expect("they are 8")))
            .collect();
        let failed = words.iter().position(|word| *word < 1 << 16);
        if comm.rank != 0 || failed.is_some() {
            // SAFETY: it was made here, and nobody else was told.
            drop(unsafe { Box::from_raw(mine) });
        }
        let file = match (result, failed) {
            (Ok(Some(file)), None) => file,
            (Err(error), _) => return Err(on_no_file(error)),
            (_, Some(rank)) => {
                let error = Error::new(words[rank] as i32, format!("{path}: rank {rank} could not open it"));
                return Err(on_no_file(error));
            }
            (Ok(None), None) => unreachable!("a file is open, or not"),
        };
        let byte = self.datatype(abi::BYTE)?;
        let view = View::new(0, Rc::clone(&byte), byte, Representation::Native)?;
        let open = OpenFile {
            number,
            comm: Rc::clone(comm),
            path,
            amode,
            info: RefCell::new(info),
            errhandler: Cell::new(self.file_errhandler.get()),
            view: RefCell::new(Rc::new(view)),
            atomic: Cell::new(false),
            position: Cell::new(0),
            split: RefCell::default(),
            owned: Cell::default(),
            is_held: Cell::default(),
            begun: RefCell::default(),
            file,
            tag,
            common: words[0] as *const Common,
        };
        self.hold_errhandler(open.errhandler.get());
        // Others may have written already: the end is that which the first one found.
        open.position.set(open.common().end);
        Ok(Rc::new(open))
    }

    /// Waits for all who have opened a file.
    ///
    /// # Errors
    /// If a message is lost.
    pub(super) fn meet_at_file(&self, file: &OpenFile) -> Result {
        barrier::barrier(&Team::all(self, &file.comm, file.tag))
    }

    /// Closes a file; all who have opened it do.
    ///
    /// # Errors
    /// If a message is lost, or the file cannot be deleted.
    pub fn close(&self, file: &OpenFile) -> Result {
        self.no_split_is_open(file)?;
        self.meet_at_file(file)?;
        // That of the window that the reference has for each file.
        self.meet_at_file(file)?;
        self.meet_at_file(file)?;
        if file.comm.rank == 0 {
            // SAFETY: it was made when the file was opened, and nobody uses it any more.
            drop(unsafe { Box::from_raw(file.common.cast_mut()) });
            if file.amode & abi::MODE_DELETE_ON_CLOSE != 0 {
                std::fs::remove_file(&file.path).map_err(|error| wrong_file(&file.path, &error))?;
            }
        }
        Ok(())
    }

    /// Deletes a file.
    ///
    /// # Errors
    /// If it is not there, or may not be deleted.
    pub fn delete(&self, path: &str) -> Result {
        os::touches(path);
        std::fs::remove_file(path).map_err(|error| on_no_file(wrong_file(path, &error)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes() {
        let class = |amode| check_mode(amode).map_or_else(|error| error.class, |()| 0);
        assert_eq!(class(abi::MODE_RDONLY), 0);
        assert_eq!(class(abi::MODE_RDWR | abi::MODE_CREATE | abi::MODE_EXCL), 0);
        assert_eq!(class(0), abi::ERR_AMODE);
        assert_eq!(class(abi::MODE_RDONLY | abi::MODE_WRONLY), abi::ERR_AMODE);
        assert_eq!(class(abi::MODE_RDONLY | abi::MODE_CREATE), abi::ERR_AMODE);
        assert_eq!(class(abi::MODE_RDWR | abi::MODE_SEQUENTIAL), abi::ERR_AMODE);
        assert_eq!(class(abi::MODE_RDONLY | 1 << 20), abi::ERR_AMODE);
    }
}
