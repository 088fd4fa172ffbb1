//! Files: views, pointers, and what is read and written (MPI 5.0, chapter 14).
//!
//! Files are those of the file system. Their data are read and written at the call; what takes time is an access to the disk of
//! the host, if it has one, and the messages by which processes agree.
//!
//! - `opening`: how files are opened, closed and deleted.
//! - `view`: which bytes a process sees.
//! - `access`: reading and writing, by offsets and by the pointer of each process.
//! - `shared`: the pointer that processes share. `collective`: what processes do together.

mod access;
mod collective;
mod opening;
mod shared;
mod view;

use std::cell::{Cell, RefCell};
use std::os::fd::AsRawFd;
use std::rc::Rc;

use simurgh_kernel::ids::MutexId;

use crate::abi::{self, Errhandler, File};
use crate::communicator::Communicator;
use crate::error::{Error, On, Result};
use crate::os;
use crate::rank::Rank;
use crate::window::Hints;

pub use access::{Direction, Elements, Place};
pub use collective::Split;
pub use opening::{check_mode, wrong_file};
pub use view::{Representation, View};

/// A file that is open, as one of its processes has it.
#[derive(Debug)]
pub struct OpenFile {
    /// Its place among the windows and files of this process, from which the name of its lock follows.
    pub number: u32,
    /// Who has opened it.
    pub comm: Rc<Communicator>,
    /// What it is called.
    pub path: String,
    /// How it was opened.
    pub amode: i32,
    /// Its hints.
    pub info: RefCell<Hints>,
    /// Who is called when something goes wrong.
    pub errhandler: Cell<Errhandler>,
    /// What is seen of it.
    pub view: RefCell<Rc<View>>,
    /// Whether accesses that overlap are one after the other.
    pub atomic: Cell<bool>,
    /// Where this process reads and writes next, in elements of the view.
    pub position: Cell<i64>,
    /// The collective that is begun.
    split: RefCell<Option<collective::Begun>>,
    /// Which memory that owns.
    owned: Cell<u64>,
    /// What accesses that were begun own.
    pub begun: RefCell<Vec<u64>>,
    /// Whether this process holds the lock of the shared pointer.
    is_held: Cell<bool>,
    file: Opened,
    tag: i32,
    /// What its processes share; it lies in the memory of the first.
    common: *const Common,
}

/// A file of the system that a process has opened, which whoever puts processes back is told of.
#[derive(Debug)]
struct Opened(std::fs::File);

impl Opened {
    fn new(file: std::fs::File) -> Self {
        os::descriptor(file.as_raw_fd(), true);
        Self(file)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        os::descriptor(self.0.as_raw_fd(), false);
    }
}

impl std::ops::Deref for Opened {
    type Target = std::fs::File;

    fn deref(&self) -> &std::fs::File {
        &self.0
    }
}

/// What the processes that have opened a file share.
#[derive(Debug)]
struct Common {
    /// Where the next one reads or writes that uses the shared pointer.
    pointer: Cell<i64>,
    /// Where the file ended when the first one opened it: nobody can have written since.
    end: i64,
    lock: MutexId,
    /// How many have come to what all do.
    came: Cell<usize>,
}

impl OpenFile {
    fn common(&self) -> &Common {
        // SAFETY: it stays where it is until all processes have come to the end of `MPI_File_close`.
        unsafe { &*self.common }
    }

    /// The view as it is now.
    pub fn seen(&self) -> Rc<View> {
        Rc::clone(&*self.view.borrow())
    }
}

impl Rank {
    /// A file.
    ///
    /// # Errors
    /// If the handle stands for none.
    pub fn file(&self, file: File) -> Result<Rc<OpenFile>> {
        if let Some(found) = self.files.borrow().get(file.0) {
            return Ok(Rc::clone(found));
        }
        let message = match file {
            abi::FILE_NULL => "the file is MPI_FILE_NULL".to_owned(),
            File(handle) => {
                format!("no file has the handle {handle:#x}: it was closed, or never opened")
            }
        };
        Err(Error::new(abi::ERR_FILE, message).on(On::File(abi::FILE_NULL)))
    }
}
