//! Accesses to files that nothing orders (MPI 5.0, 14.6.1).
//!
//! Two conflict if they overlap, one of them writes, and neither is known to the process of the other, by what happens before what. In
//! atomic mode the one comes after the other, and the search tries both orders; else what is read, or stays, is undefined.

use std::sync::PoisonError;

use crate::file::{Direction, Elements, OpenFile};
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
    moment: u32,
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
            && self.by != other.by
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
                moment: self.moment(),
                writes,
                is_atomic,
                ranges: ranges.map(|(start, length)| (start, start + length as u64)).collect(),
                written: if writes { written(elements) } else { 0 },
                call: self.call_name(),
                at: os::caller(),
            };
            let mut common = self.world.common.lock().unwrap_or_else(PoisonError::into_inner);
            let accesses = &mut common.file_accesses;
            let is_met = |other: &&FileAccess| access.conflicts(other) && !self.knows(other.by, other.moment);
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
}
