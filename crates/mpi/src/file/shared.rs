//! The pointer that all processes of a file share (MPI 5.0, 14.4.4).

use std::rc::Rc;

use simurgh_kernel::simcall::Simcall;

use super::access::status_of;
use super::{Direction, Elements, OpenFile};
use crate::abi::{self, Status};
use crate::collectives::folding::{Combine, Folding};
use crate::collectives::scan::{self, Own};
use crate::collectives::{bcast, team::Team};
use crate::error::{Result, fail};
use crate::rank::Rank;
use crate::request::Pending;

/// The sum of two numbers.
#[derive(Debug)]
struct Sum;

impl Combine for Sum {
    fn element(&self) -> usize {
        8
    }

    fn is_commutative(&self) -> bool {
        true
    }

    fn combine(&self, _me: &Rank, input: &[u8], inout: &mut [u8]) -> Result {
        let number = |bytes: &[u8]| i64::from_ne_bytes(bytes.try_into().expect("they are 8"));
        let sum = number(input) + number(inout);
        inout.copy_from_slice(&sum.to_ne_bytes());
        Ok(())
    }
}

impl Rank {
    /// Runs what one process at a time does with the shared pointer; it is told where that is, and says by how much it moves.
    fn with_pointer<T>(&self, file: &OpenFile, units: i64, run: impl FnOnce(i64) -> Result<T>) -> Result<T> {
        let common = file.common();
        self.ask(Simcall::Lock(common.lock, None));
        file.is_held.set(true);
        let result = run(common.pointer.replace(common.pointer.get() + units));
        file.is_held.set(false);
        self.ask(Simcall::Unlock(common.lock));
        result
    }

    /// Reads or writes where the shared pointer is.
    ///
    /// # Errors
    /// If it is not allowed, or the file system refuses.
    pub fn read_or_write_shared(
        &self,
        file: &OpenFile,
        direction: Direction,
        elements: &Elements,
    ) -> Result<Status> {
        self.check_direction(file, direction)?;
        let units = file.units(elements)?;
        self.with_pointer(file, units, |offset| {
            let done = self.transfer(file, direction, offset, elements)?;
            self.wait_for_disk(direction, done)?;
            Ok(status_of(done))
        })
    }

    /// Begins to read or write where the shared pointer is.
    ///
    /// # Errors
    /// If it is not allowed, or the file system refuses.
    pub fn begin_shared(
        &self,
        file: &OpenFile,
        direction: Direction,
        elements: &Elements,
    ) -> Result<Pending> {
        self.check_direction(file, direction)?;
        let units = file.units(elements)?;
        self.with_pointer(file, units, |offset| self.begin_at(file, direction, offset, elements))
    }

    /// Reads or writes where the shared pointer is, one process after the other in the order of their ranks.
    ///
    /// # Errors
    /// If it is not allowed, or the file system refuses.
    pub fn read_or_write_ordered(
        &self,
        file: &OpenFile,
        direction: Direction,
        elements: &Elements,
    ) -> Result<Status> {
        self.check_direction(file, direction)?;
        self.no_split_is_open(file)?;
        let units = file.units(elements)?;
        // Nobody moves it before all have looked: who is last knows that all have come.
        let start = file.common().pointer.get();
        let team = Team::all(self, &file.comm, file.tag);
        let mut sum = units.to_ne_bytes();
        scan::scan(&team, &Folding::new(Rc::new(Sum)), &mut sum, Own::In)?;
        let end = start + i64::from_ne_bytes(sum);
        let last = file.comm.size() - 1;
        if file.comm.rank == last {
            file.common().pointer.set(end);
        }
        let done = self.all_transfer(file, direction, end - units, elements);
        bcast::bcast(&team, &mut [0], 1, last)?;
        Ok(status_of(done?))
    }

    /// Sets the shared pointer, once all have come.
    ///
    /// # Errors
    /// If a message is lost.
    pub fn move_shared(&self, file: &OpenFile, offset: i64) -> Result {
        if self.comes_last(file) {
            file.common().pointer.set(offset);
        }
        self.meet_at_file(file)
    }

    /// Whether all others have come to what all do.
    fn comes_last(&self, file: &OpenFile) -> bool {
        let common = file.common();
        let came = common.came.get() + 1;
        let is_last = came == file.comm.size();
        common.came.set(if is_last { 0 } else { came });
        is_last
    }

    /// Whether this process is the first to come to what all do.
    pub(super) fn comes_first(&self, file: &OpenFile) -> bool {
        let is_first = file.common().came.get() == 0;
        self.comes_last(file);
        is_first
    }

    /// Where the shared pointer is, in what all processes do together.
    pub fn shared_position(&self, file: &OpenFile) -> i64 {
        file.common().pointer.get()
    }

    /// The same, of a process that asks by itself: before or after others move it, where executions are explored.
    ///
    /// # Errors
    /// None.
    pub fn ask_shared_position(&self, file: &OpenFile) -> Result<i64> {
        match self.world.explored {
            true => self.with_pointer(file, 0, Ok),
            false => Ok(self.shared_position(file)),
        }
    }

    /// Where a seek leads from a position.
    ///
    /// # Errors
    /// If it leads before the beginning of the view, or `whence` is not known.
    pub fn sought(&self, file: &OpenFile, offset: i64, whence: i32, position: i64) -> Result<i64> {
        let from = match whence {
            abi::SEEK_SET => 0,
            abi::SEEK_CUR => position,
            abi::SEEK_END => file.seen().elements_before(file.size()?),
            other => {
                return fail(
                    abi::ERR_ARG,
                    format!("a seek from {other}: MPI_SEEK_SET, MPI_SEEK_CUR and MPI_SEEK_END are known"),
                );
            }
        };
        match from.checked_add(offset) {
            Some(place) if place >= 0 => Ok(place),
            _ => fail(abi::ERR_ARG, format!("a seek by {offset} from {from} leads before the beginning")),
        }
    }
}
