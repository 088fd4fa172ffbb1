//! Accesses to files that nothing orders (MPI 5.0, 14.6.1).
//!
//! Two conflict if they overlap, one of them writes, and neither is known to the process of the other, by what happens before what. In
//! atomic mode the one comes after the other, and the search tries both orders; else what is read, or stays, is undefined.

use std::sync::PoisonError;

use crate::datatype::Type;
use crate::file::{Direction, Elements, OpenFile, Representation};
use crate::os;
use crate::rank::Rank;

use super::Kind;
use super::used::sum;

/// So many accesses are remembered.
const MOST: usize = 20_000;

#[derive(Debug)]
pub(super) struct FileAccess {
    path: String,
    by: u32,
    /// When it was completed; not yet if there is none.
    over: Option<u32>,
    /// The number of what its request owns.
    number: u64,
    writes: bool,
    is_atomic: bool,
    /// From which byte to which.
    ranges: Vec<(u64, u64)>,
    /// A number for what is written.
    written: u64,
    call: &'static str,
    at: usize,
}

impl FileAccess {
    fn conflicts(&self, other: &FileAccess) -> bool {
        let overlap =
            |(start, end): &(u64, u64)| self.ranges.iter().any(|(low, high)| low < end && start < high);
        // Whoever writes what another does, such as a heading, changes nothing.
        let is_same = (self.writes, other.writes) == (true, true)
            && self.ranges == other.ranges
            && self.written == other.written;
        self.path == other.path
            && (self.by != other.by || other.over.is_none())
            && (self.writes || other.writes)
            && !is_same
            && other.ranges.iter().any(overlap)
    }

    fn in_words(&self) -> &'static str {
        if self.writes { "a write" } else { "a read" }
    }
}

fn written(elements: &Elements) -> u64 {
    let data = elements.data();
    let start = data.as_ptr() as usize;
    sum(&[(start, start + data.len())])
}

impl Rank {
    /// A call reads or writes a file there. Whether it does so while nobody else of those who opened it does.
    pub fn check_file_access(
        &self,
        file: &OpenFile,
        direction: Direction,
        offset: i64,
        elements: &Elements,
    ) -> bool {
        if !self.world.explored {
            return false;
        }
        let (by, is_atomic, writes) = (self.process, file.atomic.get(), direction == Direction::Write);
        let found = self.for_others(|| {
            let ranges = file.ranges(offset, elements).into_iter();
            let access = FileAccess {
                path: file.path.clone(),
                by,
                over: Some(self.moment()),
                number: 0,
                writes,
                is_atomic,
                ranges: ranges.map(|(start, length)| (start, start + length as u64)).collect(),
                written: if writes { written(elements) } else { 0 },
                call: self.call_name(),
                at: os::caller(),
            };
            let mut common = self.world.common.lock().unwrap_or_else(PoisonError::into_inner);
            let accesses = &mut common.file_accesses;
            let is_met = |other: &&FileAccess| {
                let is_before = other.over.is_some_and(|over| self.knows(other.by, over));
                access.conflicts(other) && !is_before
            };
            let mut is_ordered = false;
            for other in accesses.iter().filter(is_met) {
                if !(is_atomic && other.is_atomic) {
                    return Some(format!(
                        "{}: {} of {} overlaps {} by rank {} ({}{}): nothing orders the two",
                        access.call,
                        access.in_words(),
                        file.path,
                        other.in_words(),
                        other.by,
                        other.call,
                        self.world.lines.in_words(other.at)
                    ));
                }
                is_ordered = true;
            }
            if is_ordered {
                self.world.files_in_turn.is_seen();
            }
            accesses.push(access);
            if accesses.len() > MOST {
                accesses.drain(..MOST / 2);
            }
            None
        });
        if let Some(message) = found {
            self.finding(Kind::FileRace, &message);
        }
        is_atomic && self.world.files_in_turn.is_known()
    }

    /// A process is about to set its view of a file: what all say alike (14.3), and what the file type is made of.
    pub fn check_view(&self, file: &OpenFile, etype: &Type, filetype: &Type, representation: Representation) {
        if !self.world.explored {
            return;
        }
        self.check_described(&file.comm, || {
            let number = match representation {
                Representation::Native => -1,
                Representation::Internal => -2,
                Representation::External32 => -3,
                Representation::Registered(number) => number as i64,
            };
            vec![
                ("extents of the elementary type", vec![etype.extent]),
                ("data representations", vec![number]),
            ]
        });
        let Some(number) = filetype.size.checked_div(etype.size) else { return };
        let Ok(byte) = self.datatype(crate::abi::BYTE) else { return };
        // Bytes are what many take for data of any type.
        let is_bytes = |ty: &Type| ty.signature.matches(byte.signature.repeated(ty.size as u64));
        let is_made_of_it = filetype.signature.matches(etype.signature.repeated(number as u64));
        if !is_made_of_it && !is_bytes(etype) && !is_bytes(filetype) {
            let (file, elementary) = (filetype.described(), etype.described());
            let message =
                format!("the file type is {file}, which is not made of the elementary type {elementary}");
            self.is_mistaken(Kind::InvalidArgument, &message);
        }
    }

    /// The access that the present call has made lasts until what has this number is completed.
    pub fn lasts_in_file(&self, number: u64) {
        if !self.world.explored || number == 0 {
            return;
        }
        self.for_others(|| {
            let mut common = self.world.common.lock().unwrap_or_else(PoisonError::into_inner);
            let last = common.file_accesses.iter_mut().rev().find(|access| access.by == self.process);
            if let Some(access) = last.filter(|access| access.at == os::caller()) {
                (access.over, access.number) = (None, number);
            }
        });
    }

    /// What had this number is completed.
    pub(super) fn is_done_in_files(&self, number: u64) {
        if self.files.borrow().is_empty() {
            return;
        }
        let moment = self.moment();
        self.for_others(|| {
            let mut common = self.world.common.lock().unwrap_or_else(PoisonError::into_inner);
            let is_meant = |access: &&mut FileAccess| access.by == self.process && access.number == number;
            common.file_accesses.iter_mut().filter(is_meant).for_each(|access| {
                access.over.get_or_insert(moment);
            });
        });
    }
}
