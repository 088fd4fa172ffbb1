//! What processes of a file do together: views, sizes, and reading and writing as one (MPI 5.0, 14.2 to 14.4).

use std::ffi::c_void;

use super::access::status_of;
use super::{Direction, Elements, OpenFile, Place, View};
use crate::abi::{self, Status};
use crate::collectives::{allgather, team::Team};
use crate::error::{Result, fail};
use crate::rank::Rank;
use crate::request::Pending;
use crate::verify::Kind;

/// Which call begins a collective that another ends.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Split {
    /// `MPI_File_read_all_begin`.
    ReadAll,
    /// `MPI_File_write_all_begin`.
    WriteAll,
    /// `MPI_File_read_at_all_begin`.
    ReadAtAll,
    /// `MPI_File_write_at_all_begin`.
    WriteAtAll,
    /// `MPI_File_read_ordered_begin`.
    ReadOrdered,
    /// `MPI_File_write_ordered_begin`.
    WriteOrdered,
}

impl Split {
    /// The call that begins it.
    fn name(self) -> &'static str {
        match self {
            Split::ReadAll => "MPI_File_read_all_begin",
            Split::WriteAll => "MPI_File_write_all_begin",
            Split::ReadAtAll => "MPI_File_read_at_all_begin",
            Split::WriteAtAll => "MPI_File_write_at_all_begin",
            Split::ReadOrdered => "MPI_File_read_ordered_begin",
            Split::WriteOrdered => "MPI_File_write_ordered_begin",
        }
    }
}

/// A collective that is begun and not ended.
#[derive(Debug)]
pub(super) struct Begun {
    split: Split,
    /// What it came to.
    status: Status,
    /// Where its memory begins.
    buffer: usize,
}

impl Rank {
    /// Tells all where each reads or writes, then does it; gives the bytes of memory.
    ///
    /// Who has which part of the file is told as the reference tells it. Where the parts are apart each accesses its own; else
    /// each accesses as many bytes as the others.
    ///
    /// # Errors
    /// If a message is lost, or the file system refuses.
    pub(super) fn all_transfer(
        &self,
        file: &OpenFile,
        direction: Direction,
        offset: i64,
        elements: &Elements,
    ) -> Result<usize> {
        let team = Team::all(self, &file.comm, file.tag);
        let ranges = file.ranges(offset, elements);
        let begin = ranges.first().map_or(0, |range| range.0);
        let end = ranges.last().map_or(0, |range| range.0 + range.1 as u64);
        let mut told = Vec::new();
        for word in [begin, end] {
            let mut words = vec![0; 8 * file.comm.size()];
            words[8 * file.comm.rank..][..8].copy_from_slice(&word.to_ne_bytes());
            allgather::allgather(&team, 8, &mut words)?;
            told.push(words);
        }
        let done = self.transfer(file, direction, offset, elements)?;
        let number = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("they are 8"));
        let mut parts: Vec<(u64, u64)> =
            told[0].chunks_exact(8).map(number).zip(told[1].chunks_exact(8).map(number)).collect();
        parts.retain(|part| part.0 < part.1);
        parts.sort_unstable();
        let are_apart = parts.windows(2).all(|pair| pair[0].1 <= pair[1].0);
        let bytes = match (are_apart, parts.first(), parts.iter().map(|part| part.1).max()) {
            (false, Some(first), Some(last)) => (last - first.0) as usize / file.comm.size(),
            _ => done,
        };
        self.wait_for_disk(direction, bytes)?;
        Ok(done)
    }

    /// Reads or writes together with all others.
    ///
    /// # Errors
    /// If it is not allowed, a message is lost, or the file system refuses.
    pub fn read_or_write_all(
        &self,
        file: &OpenFile,
        direction: Direction,
        place: Place,
        elements: &Elements,
    ) -> Result<Status> {
        self.check_direction(file, direction)?;
        self.no_split_is_open(file)?;
        let offset = self.place(file, place, elements)?;
        self.all_transfer(file, direction, offset, elements).map(status_of)
    }

    /// Begins a collective that another call ends: all of it is done here.
    ///
    /// # Errors
    /// If one is begun already.
    pub fn begin_split(
        &self,
        file: &OpenFile,
        split: Split,
        elements: &Elements,
        run: impl FnOnce() -> Result<Status>,
    ) -> Result {
        self.no_split_is_open(file)?;
        let status = run()?;
        *file.split.borrow_mut() = Some(Begun { split, status, buffer: elements.buffer as usize });
        let direction = match split {
            Split::ReadAll | Split::ReadAtAll | Split::ReadOrdered => Direction::Read,
            Split::WriteAll | Split::WriteAtAll | Split::WriteOrdered => Direction::Write,
        };
        file.owned.set(self.owns_until_its_end(|| vec![elements.uses(direction)]));
        self.lasts_in_file(file.owned.get());
        Ok(())
    }

    /// Ends a collective that was begun.
    ///
    /// # Errors
    /// If it was not.
    pub fn end_split(&self, file: &OpenFile, split: Split, buffer: *const c_void) -> Result<Status> {
        let Some(begun) = file.split.take() else {
            return self.wrong_split(file, "a split collective is ended, and none is begun");
        };
        if begun.split != split {
            let message = format!("a split collective is ended that was begun by {}", begun.split.name());
            file.split.replace(Some(begun));
            return self.wrong_split(file, &message);
        }
        if self.world.explored && !self.is_fortran() && begun.buffer != buffer as usize {
            let message =
                format!("{}: the buffer is another one than {} has", self.call_name(), split.name());
            self.finding(Kind::InvalidArgument, &message);
        }
        self.owns_until_now(file.owned.take());
        Ok(begun.status)
    }

    /// Other collectives on a file wait for the end of a split one (14.4.5).
    ///
    /// # Errors
    /// If one is begun.
    pub(super) fn no_split_is_open(&self, file: &OpenFile) -> Result {
        let begun = file.split.borrow().as_ref().map(|begun| begun.split);
        match begun {
            Some(split) => self.wrong_split(file, &format!("{} is not ended", split.name())),
            None => Ok(()),
        }
    }

    /// Begins a collective whose request another call completes.
    ///
    /// # Errors
    /// If the file was not opened for that.
    pub fn begin_read_or_write_all(
        &self,
        file: &OpenFile,
        direction: Direction,
        place: Place,
        elements: &Elements,
    ) -> Result<Pending> {
        self.check_splits_of(file);
        self.begin_read_or_write(file, direction, place, elements)
    }

    /// What concerns the whole of a file waits until all accesses to it are completed that were begun (14.2.4, 14.3, 14.6.1).
    pub fn check_completed(&self, file: &OpenFile) {
        self.check_requests_of(file);
        self.check_splits_of(file);
    }

    /// A split collective that is not ended is a mistake here, which does no harm to us.
    fn check_splits_of(&self, file: &OpenFile) {
        if self.world.explored
            && let Some(begun) = &*file.split.borrow()
        {
            self.is_mistaken(Kind::CallOrder, &format!("{}: {} is not ended", file.path, begun.split.name()));
        }
    }

    /// Checks that a file is not read or written in order alone.
    ///
    /// # Errors
    /// If it is.
    pub fn check_not_sequential(&self, file: &OpenFile) -> Result {
        if file.amode & abi::MODE_SEQUENTIAL == 0 {
            return Ok(());
        }
        let message =
            format!("{} was opened with MPI_MODE_SEQUENTIAL: only the shared pointer can be used", file.path);
        self.is_mistaken(Kind::CallOrder, &message);
        fail(abi::ERR_UNSUPPORTED_OPERATION, message)
    }

    fn wrong_split<T>(&self, file: &OpenFile, message: &str) -> Result<T> {
        let message = format!("{}: {message}", file.path);
        self.is_mistaken(Kind::CallOrder, &message);
        fail(abi::ERR_IO, message)
    }

    /// Errors of files come back by default, which hides a mistake of the program.
    pub(crate) fn is_mistaken(&self, kind: Kind, message: &str) {
        if self.world.explored && !self.files_are_handled.get() {
            self.finding(kind, &format!("{}: {message}", self.call_name()));
        }
    }

    /// Checks that a file was opened for what is done with it.
    ///
    /// # Errors
    /// If it was not.
    pub fn check_direction(&self, file: &OpenFile, direction: Direction) -> Result {
        file.may(direction).inspect_err(|error| self.is_mistaken(Kind::InvalidArgument, &error.message))
    }

    /// `MPI_File_set_view`.
    ///
    /// # Errors
    /// If a message is lost.
    pub fn set_view(&self, file: &OpenFile, view: View) -> Result {
        *file.view.borrow_mut() = std::rc::Rc::new(view);
        file.position.set(0);
        self.move_shared(file, 0)
    }

    /// `MPI_File_sync`.
    ///
    /// # Errors
    /// If a message is lost.
    pub fn sync_file(&self, file: &OpenFile) -> Result {
        self.meet_at_file(file)
    }

    /// `MPI_File_set_size`, and `MPI_File_preallocate`, which never makes a file shorter. The first to come does it: what
    /// others write after that stays.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn set_size(&self, file: &OpenFile, size: u64, only_longer: bool) -> Result {
        if self.comes_first(file) && !(only_longer && file.size()? >= size) {
            file.resize(size)?;
        }
        Ok(())
    }
}
