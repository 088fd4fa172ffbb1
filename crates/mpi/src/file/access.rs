//! Reading and writing (MPI 5.0, 14.4).

use std::ffi::c_void;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::simcall::{Answer, Follow, Simcall};
use simurgh_models::DiskAccess;

use super::{OpenFile, Representation, wrong_file};
use crate::abi::{self, Status};
use crate::datatype::Type;
use crate::error::{Error, Result, fail};
use crate::message::Data;
use crate::rank::Rank;
use crate::request::{Pending, Work, gone};
use crate::verify::Used;

/// Which way data go.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the file.
    Read,
    /// To the file.
    Write,
}

/// Where in a file.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Place {
    /// At this offset.
    At(i64),
    /// Where the pointer of this process is, which moves on.
    Own,
}

/// Elements of the program's memory.
#[derive(Clone, Debug)]
pub struct Elements {
    /// Where they are.
    pub buffer: *mut c_void,
    /// How many.
    pub count: usize,
    /// Of what.
    pub datatype: Rc<Type>,
}

impl Elements {
    /// Their data.
    pub(crate) fn data(&self) -> Data {
        let mut data = Data::new();
        // SAFETY: the program says that so many elements lie there.
        unsafe { self.datatype.pack(self.buffer, self.count, &mut data) };
        data
    }

    /// The memory that is read or written.
    pub(super) fn uses(&self, direction: Direction) -> Used {
        Used::elements(self.buffer as usize, self.count, &self.datatype, direction == Direction::Read)
    }

    /// Bytes of data in memory.
    pub fn bytes(&self) -> usize {
        self.datatype.size * self.count
    }
}

/// A status that says how many bytes were read or written.
pub(super) fn status_of(bytes: usize) -> Status {
    let mut status = Status::empty();
    status.set_bytes(bytes as i64);
    status
}

impl OpenFile {
    /// How many bytes it has.
    ///
    /// # Errors
    /// If the file system does not say.
    pub fn size(&self) -> Result<u64> {
        self.file.metadata().map(|known| known.len()).map_err(|error| wrong_file(&self.path, &error))
    }

    /// Makes it longer or shorter.
    ///
    /// # Errors
    /// If the file system refuses.
    pub fn resize(&self, size: u64) -> Result {
        self.file.set_len(size).map_err(|error| wrong_file(&self.path, &error))
    }

    /// Checks that it may be read, or written.
    ///
    /// # Errors
    /// If it may not.
    pub fn may(&self, direction: Direction) -> Result {
        match direction {
            Direction::Read if self.amode & abi::MODE_WRONLY != 0 => {
                fail(abi::ERR_ACCESS, format!("{} is read, and was opened with MPI_MODE_WRONLY", self.path))
            }
            Direction::Write if self.amode & abi::MODE_RDONLY != 0 => fail(
                abi::ERR_READ_ONLY,
                format!("{} is written, and was opened with MPI_MODE_RDONLY", self.path),
            ),
            _ => Ok(()),
        }
    }

    /// How many elements of the view so many elements of memory are.
    ///
    /// # Errors
    /// If they are no whole number.
    pub fn units(&self, elements: &Elements) -> Result<i64> {
        let (bytes, unit) = (elements.bytes(), self.seen().etype.size);
        if !bytes.is_multiple_of(unit) {
            return fail(
                abi::ERR_IO,
                format!(
                    "{bytes} bytes are accessed, which are no elements of {unit} bytes, as the view has them"
                ),
            );
        }
        Ok((bytes / unit) as i64)
    }

    /// Where elements are in the file, at an offset of the view.
    pub(crate) fn ranges(&self, offset: i64, elements: &Elements) -> Vec<(u64, usize)> {
        self.seen().ranges(offset, self.bytes_in_file(elements))
    }

    /// Bytes of elements in the file.
    pub(super) fn bytes_in_file(&self, elements: &Elements) -> usize {
        match self.seen().representation {
            Representation::External32 => elements.datatype.external_size() * elements.count,
            _ => elements.bytes(),
        }
    }

    /// Reads or writes elements at an offset of the view; gives the bytes of memory that were.
    ///
    /// # Errors
    /// If the file system refuses.
    pub(super) fn transfer(&self, direction: Direction, offset: i64, elements: &Elements) -> Result<usize> {
        let view = self.seen();
        let ranges = self.ranges(offset, elements);
        let external = view.representation == Representation::External32;
        let wrong = |error: std::io::Error| wrong_file(&self.path, &error);
        match direction {
            Direction::Write => {
                let data = elements.data();
                let written = match external {
                    true => elements.datatype.to_external(&data, elements.count),
                    false => data.to_vec(),
                };
                let mut done = 0;
                for (place, length) in ranges {
                    self.file.write_all_at(&written[done..done + length], place).map_err(wrong)?;
                    done += length;
                }
                Ok(elements.bytes())
            }
            Direction::Read => {
                let mut data = Vec::new();
                'ranges: for (place, length) in ranges {
                    let (start, mut done) = (data.len(), 0);
                    data.resize(start + length, 0);
                    while done < length {
                        let more = self
                            .file
                            .read_at(&mut data[start + done..], place + done as u64)
                            .map_err(wrong)?;
                        if more == 0 {
                            data.truncate(start + done);
                            break 'ranges;
                        }
                        done += more;
                    }
                }
                if external {
                    let count = data.len().checked_div(elements.datatype.external_size()).unwrap_or(0);
                    data.truncate(count * elements.datatype.external_size());
                    data = elements.datatype.from_external(&data, count);
                }
                // SAFETY: the program has room for so many elements there.
                Ok(unsafe { elements.datatype.unpack(&data, elements.buffer, elements.count) })
            }
        }
    }
}

impl Rank {
    /// Reads or writes; where executions are explored, one after the other, if the orders of accesses matter.
    pub(super) fn transfer(
        &self,
        file: &OpenFile,
        direction: Direction,
        offset: i64,
        elements: &Elements,
    ) -> Result<usize> {
        self.check_uses(|| vec![elements.uses(direction)]);
        let in_turn = self.check_file_access(file, direction, offset, elements) && !file.is_held.get();
        if in_turn {
            self.hold(file.common().lock);
        }
        let done = file.transfer(direction, offset, elements);
        if in_turn {
            self.give_back(file.common().lock);
        }
        self.has_written(|| vec![elements.uses(direction)]);
        done
    }

    /// The time that a disk takes; none if the host has no disk.
    fn disk_time(&self, direction: Direction, bytes: usize, follow: Follow) -> Result<Option<ActivityId>> {
        let Some(disk) = self.world.disk(self.process) else { return Ok(None) };
        let direction = match direction {
            Direction::Read => simurgh_models::Direction::Read,
            Direction::Write => simurgh_models::Direction::Write,
        };
        let access = Simcall::Access(DiskAccess::new(disk, direction, bytes as f64), follow);
        match self.world.progress.while_busy(|| self.ask(access)) {
            Answer::Activity(activity) => Ok(Some(activity)),
            Answer::Failed { failure, .. } => Err(gone(failure)),
            _ => Ok(None),
        }
    }

    /// Waits for as long as the disk takes for so many bytes.
    ///
    /// # Errors
    /// If it fails.
    pub(super) fn wait_for_disk(&self, direction: Direction, bytes: usize) -> Result {
        self.disk_time(direction, bytes, Follow::Wait(None)).map(drop)
    }

    /// Where an access is; a pointer moves on.
    ///
    /// # Errors
    /// If the offset is negative, or nothing is accessed there.
    pub(super) fn place(&self, file: &OpenFile, place: Place, elements: &Elements) -> Result<i64> {
        self.check_not_sequential(file)?;
        let units = file.units(elements)?;
        match place {
            Place::At(offset) if offset < 0 => {
                Err(Error::new(abi::ERR_ARG, format!("the offset is {offset}: it must not be negative")))
            }
            Place::At(offset) => Ok(offset),
            Place::Own => Ok(file.position.replace(file.position.get() + units)),
        }
    }

    /// Reads or writes.
    ///
    /// # Errors
    /// If it is not allowed, or the file system refuses.
    pub fn read_or_write(
        &self,
        file: &OpenFile,
        direction: Direction,
        place: Place,
        elements: &Elements,
    ) -> Result<Status> {
        self.check_direction(file, direction)?;
        let offset = self.place(file, place, elements)?;
        let done = self.transfer(file, direction, offset, elements)?;
        self.wait_for_disk(direction, done)?;
        Ok(status_of(done))
    }

    /// Begins to read or write: what the program waits for.
    ///
    /// # Errors
    /// If it is not allowed, or the file system refuses.
    pub fn begin_read_or_write(
        &self,
        file: &OpenFile,
        direction: Direction,
        place: Place,
        elements: &Elements,
    ) -> Result<Pending> {
        self.check_direction(file, direction)?;
        let offset = self.place(file, place, elements)?;
        self.begin_at(file, direction, offset, elements)
    }

    pub(super) fn begin_at(
        &self,
        file: &OpenFile,
        direction: Direction,
        offset: i64,
        elements: &Elements,
    ) -> Result<Pending> {
        let done = self.transfer(file, direction, offset, elements)?;
        let activity = self.disk_time(direction, done, Follow::Return)?;
        let request = Pending::new([], Work::Nothing, None);
        request.begins(activity, Work::Nothing, status_of(done));
        self.owns(&request, || vec![elements.uses(direction)]);
        self.lasts_in_file(request.owns.get());
        if request.owns.get() != 0 {
            file.begun.borrow_mut().push(request.owns.get());
        }
        Ok(request)
    }
}
