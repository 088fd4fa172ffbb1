//! Memory that processes share: what is allocated at one place of a program is the same memory for all, so that a thousand
//! processes with a gigabyte each need one. What lies in it means nothing (`SIMURGH_SHARED_MALLOC` of `simurgh.h`).
//!
//! A place has a file in memory, as long as the most that was asked for there. Each allocation maps it at an address of its own,
//! so that two arrays of one process are at different addresses. Addresses are the same in every run.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd};

use crate::sampling::Place;

/// Beyond the addresses of processes, and below those of this program.
const FIRST: usize = 0x5000_0000_0000;
const LAST: usize = 0x5400_0000_0000;
const PAGE: usize = 4096;

/// All of a run.
#[derive(Debug, Default)]
pub struct SharedMemory {
    places: BTreeMap<Place, Memory>,
    /// Allocations: where they are, and how long.
    mapped: BTreeMap<usize, usize>,
    /// Those that were there when a snapshot was taken.
    kept: BTreeMap<usize, usize>,
}

#[derive(Debug)]
struct Memory {
    file: File,
    length: usize,
}

impl SharedMemory {
    /// Allocates at a place of a program; none if there is no memory.
    pub fn allocate(&mut self, place: Place, bytes: usize) -> Option<usize> {
        let length = bytes.max(1).checked_next_multiple_of(PAGE).filter(|length| *length <= LAST - FIRST)?;
        let memory = match self.places.entry(place) {
            std::collections::btree_map::Entry::Occupied(found) => found.into_mut(),
            std::collections::btree_map::Entry::Vacant(vacant) => vacant.insert(Memory::new()?),
        };
        if length > memory.length {
            memory.file.set_len(length as u64).ok()?;
            memory.length = length;
        }
        let mut at = FIRST;
        loop {
            // The first gap that is long enough.
            while let Some((begin, mapped)) = self.mapped.range(..at + length).next_back() {
                if begin + mapped <= at {
                    break;
                }
                at = begin + mapped;
            }
            if at + length > LAST {
                return None;
            }
            if map(&memory.file, at, length) {
                self.mapped.insert(at, length);
                return Some(at);
            }
            // Somebody else is there.
            at += 1 << 30;
        }
    }

    /// What is there now is there when another execution begins.
    pub fn keep(&mut self) {
        self.kept.clone_from(&self.mapped);
    }

    /// Another execution begins: what was allocated since is given back. What was given back since is gone.
    pub fn begins_again(&mut self) {
        let kept = &self.kept;
        self.mapped.retain(|at, length| {
            let stays = kept.contains_key(at);
            if !stays {
                unmap(*at, *length);
            }
            stays
        });
    }

    /// Gives memory back; whether it is such memory.
    pub fn free(&mut self, at: usize) -> bool {
        let Some(length) = self.mapped.remove(&at) else { return false };
        unmap(at, length);
        true
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        for (at, length) in &self.mapped {
            unmap(*at, *length);
        }
    }
}

impl Memory {
    fn new() -> Option<Self> {
        // SAFETY: the name is terminated; the descriptor is new, and nobody else has it.
        let file = unsafe {
            let descriptor = libc::memfd_create(c"simurgh-shared".as_ptr(), libc::MFD_CLOEXEC);
            (descriptor >= 0).then(|| File::from_raw_fd(descriptor))?
        };
        Some(Self { file, length: 0 })
    }
}

fn map(file: &File, at: usize, length: usize) -> bool {
    let flags = libc::MAP_SHARED | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: an existing mapping is never replaced.
    let mapped = unsafe { libc::mmap(at as *mut _, length, protection, flags, file.as_raw_fd(), 0) } as usize;
    if mapped != at && mapped != libc::MAP_FAILED as usize {
        unmap(mapped, length);
    }
    mapped == at
}

fn unmap(at: usize, length: usize) {
    // SAFETY: the range was mapped here, and whoever has it does not use it any more.
    unsafe { libc::munmap(at as *mut _, length) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_place_is_one_memory_at_several_addresses() {
        let mut memory = SharedMemory::default();
        let place = |line| (line, "a.c".to_owned());
        let first = memory.allocate(place(1), 10_000).expect("there is memory");
        let second = memory.allocate(place(1), 20_000).expect("there is memory");
        let other = memory.allocate(place(2), 10_000).expect("there is memory");
        assert!(first != second && second != other);
        // SAFETY: these are mapped, and long enough.
        unsafe {
            (first as *mut u8).add(9_999).write(42);
            assert_eq!((second as *const u8).add(9_999).read(), 42);
            assert_eq!((other as *const u8).add(9_999).read(), 0);
            (second as *mut u8).add(19_999).write(1);
        }
        assert!(memory.free(first) && !memory.free(first));
        assert_eq!(memory.allocate(place(3), 5_000), Some(first), "the first gap is used again");
        assert_eq!(memory.allocate(place(4), usize::MAX), None);
        memory.keep();
        let late = memory.allocate(place(5), 5_000).expect("there is memory");
        memory.begins_again();
        assert_eq!(
            memory.allocate(place(5), 5_000),
            Some(late),
            "an execution finds what the one before it found"
        );
    }
}
