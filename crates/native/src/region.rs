//! Where processes lie: one range of addresses for the copies of a program, one for their stacks and heaps.
//!
//! Addresses are fixed, so that pointers are the same in every run: the first range that is free, from 16 TiB up.

use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::arena::Arena;
use crate::elf::{PAGE, pages};
use crate::error::Error;

const FIRST: usize = 0x1000_0000_0000;
const LAST: usize = 0x5000_0000_0000;
/// Ranges begin at multiples of this.
const STEP: usize = 1 << 30;

/// Whether an address may be one of a process.
#[inline]
pub(crate) fn is_ours(address: usize) -> bool {
    address.wrapping_sub(FIRST) < LAST - FIRST
}

/// Sizes of a home: the stack (with its guard), the heap of the library, the heap of the program, in this order.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Home {
    pub stack: usize,
    pub library: usize,
    pub program: usize,
}

impl Home {
    pub fn bytes(&self) -> usize {
        self.stack + self.library + self.program
    }
}

/// The memory of the processes of a program.
#[derive(Debug)]
pub(crate) struct Region {
    pub images: usize,
    pub span: usize,
    pub homes: usize,
    pub home: Home,
    pub count: usize,
    bytes: usize,
    has_cheap_guards: bool,
    slot: usize,
}

/// Bytes at the low end of a stack that nobody may touch. A large one, for which a function with large arrays does not reach across,
/// costs two maps a process, so many processes have small ones.
const LARGE_GUARD: usize = 1 << 30;
const GUARD: usize = 64 * 1024;
const LARGE_GUARDS: usize = 512;

/// Bytes of the guard of each of so many processes.
pub(crate) fn guard_bytes(count: usize) -> usize {
    if count <= LARGE_GUARDS { LARGE_GUARD } else { GUARD }
}

/// Ranges in use: first address and length.
static USED: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

const SLOTS: usize = 1024;
/// Regions, for those who ask whose an address is; read without a lock.
static KNOWN: [AtomicPtr<Region>; SLOTS] = [const { AtomicPtr::new(std::ptr::null_mut()) }; SLOTS];
/// No region lies at or behind this place of the table.
static KNOWN_END: AtomicUsize = AtomicUsize::new(0);

impl Region {
    /// Reserves the addresses for so many copies of an image.
    pub fn reserve(span: usize, count: usize, home: Home) -> Result<Box<Self>, Error> {
        let images = (span * count).next_multiple_of(STEP);
        let bytes = images + (home.bytes() * count).next_multiple_of(STEP);
        let too_large = || {
            Error::TooLarge(format!(
                "{count} processes need more addresses than there are; give them smaller heaps"
            ))
        };
        let mut used = USED.lock().expect("nobody panics with it");
        let mut at = FIRST;
        let place = loop {
            if at.checked_add(bytes).is_none_or(|end| end > LAST) {
                return Err(too_large());
            }
            let taken = used.iter().find(|(start, length)| at < start + length && *start < at + bytes);
            match taken {
                Some((start, length)) => at = start + length,
                None if map(at, bytes, libc::PROT_NONE) => break at,
                None => at += STEP,
            }
        };
        let homes = place + images;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the range was just reserved for this.
        if unsafe { libc::mprotect(homes as *mut _, place + bytes - homes, protection) } != 0 {
            return Err(Error::system("cannot reserve memory for the processes"));
        }
        // Large pages would make a process that touches one byte cost two million.
        // SAFETY: advice about the same range.
        unsafe { libc::madvise(homes as *mut _, place + bytes - homes, libc::MADV_NOHUGEPAGE) };
        used.push((place, bytes));
        let mut region = Box::new(Region {
            images: place,
            span,
            homes,
            home,
            count,
            bytes,
            has_cheap_guards: false,
            slot: 0,
        });
        region.guard()?;
        let free = KNOWN.iter().position(|known| known.load(Ordering::Relaxed).is_null());
        region.slot = free.ok_or_else(too_large)?;
        KNOWN[region.slot].store(&raw mut *region, Ordering::Release);
        KNOWN_END.fetch_max(region.slot + 1, Ordering::AcqRel);
        Ok(region)
    }

    /// Makes the low end of each stack one that nobody may touch.
    fn guard(&mut self) -> Result<(), Error> {
        const MADV_GUARD_INSTALL: i32 = 102;
        let guard = guard_bytes(self.count);
        for index in 0..self.count {
            let low = self.home_of(index) as *mut libc::c_void;
            // SAFETY: the range is ours, and nothing is in it yet.
            let cheap = guard == GUARD
                && (self.has_cheap_guards || index == 0)
                && unsafe { libc::madvise(low, guard, MADV_GUARD_INSTALL) } == 0;
            if index == 0 {
                self.has_cheap_guards = cheap;
            }
            // SAFETY: as above.
            if !cheap && unsafe { libc::mprotect(low, guard, libc::PROT_NONE) } != 0 {
                return Err(Error::system(format!(
                    "cannot guard the stacks of {} processes (vm.max_map_count is too low?)",
                    self.count
                )));
            }
        }
        Ok(())
    }

    /// Where the copy of a process lies.
    pub fn image_of(&self, index: usize) -> usize {
        self.images + index * self.span
    }

    fn home_of(&self, index: usize) -> usize {
        self.homes + index * self.home.bytes()
    }

    /// Where the range of a process's stack ends.
    fn stack_end(&self, index: usize) -> usize {
        self.home_of(index) + self.home.stack
    }

    /// Where the stack of a process begins; it grows down from there. Not all at the same place of their page: they would
    /// drive each other out of the processor's cache.
    pub fn stack_top(&self, index: usize) -> usize {
        const LINE: usize = 64;
        self.stack_end(index) - index * 5 * LINE % PAGE
    }

    /// Whether an address is one that a stack runs into when it is too deep.
    pub fn is_guard(&self, index: usize, address: usize) -> bool {
        (self.home_of(index)..self.home_of(index) + guard_bytes(self.count)).contains(&address)
    }

    /// Whether a stack that has come to this address is too deep, wherever it was touched.
    pub fn is_below_stack(&self, index: usize, address: usize) -> bool {
        let low = self.stack(index).start;
        (low - LARGE_GUARD..low).contains(&address)
    }

    /// The range of a process's stack.
    pub fn stack(&self, index: usize) -> std::ops::Range<usize> {
        self.home_of(index) + guard_bytes(self.count)..self.stack_end(index)
    }

    /// Ranges of a process's heaps: the program's and the library's.
    pub fn heaps(&self, index: usize) -> [(usize, usize); 2] {
        let library = self.stack_end(index);
        [(library + self.home.library, self.home.program), (library, self.home.library)]
    }

    /// The process whose copy an address lies in.
    pub fn process_at(&self, address: usize) -> Option<usize> {
        let index = address.checked_sub(self.images)? / self.span;
        (index < self.count).then_some(index)
    }

    fn contains(&self, address: usize) -> bool {
        (self.images..self.images + self.bytes).contains(&address)
    }

    /// The heap around an address; null if it is in none.
    fn arena_at(&self, address: usize) -> *mut Arena {
        let Some(offset) = address.checked_sub(self.homes) else { return std::ptr::null_mut() };
        let index = offset / self.home.bytes();
        if index >= self.count {
            return std::ptr::null_mut();
        }
        let heap =
            self.heaps(index).into_iter().find(|(start, bytes)| (*start..start + bytes).contains(&address));
        heap.map_or(std::ptr::null_mut(), |(start, _)| start as *mut Arena)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        KNOWN[self.slot].store(std::ptr::null_mut(), Ordering::Release);
        // SAFETY: the range is ours, and whoever drops it has ended all processes that lie in it.
        unsafe { libc::munmap(self.images as *mut _, self.bytes) };
        USED.lock().expect("nobody panics with it").retain(|(start, _)| *start != self.images);
    }
}

/// Calls a function with the region that an address lies in.
pub(crate) fn with_region<T>(address: usize, f: impl FnOnce(&Region) -> T) -> Option<T> {
    let end = KNOWN_END.load(Ordering::Acquire);
    KNOWN[..end]
        .iter()
        .find_map(|known| {
            let region = known.load(Ordering::Acquire);
            // SAFETY: regions are taken out of the table before they go; addresses in them are asked for by those who use them.
            let region = unsafe { region.as_ref()? };
            region.contains(address).then_some(region)
        })
        .map(f)
}

/// The heap that an address lies in; null if it is in none.
pub(crate) fn arena_of(address: usize) -> *mut Arena {
    with_region(address, |region| region.arena_at(address)).unwrap_or(std::ptr::null_mut())
}

/// Maps a range that costs nothing until it is touched, exactly there; says whether that was possible.
fn map(at: usize, bytes: usize, protection: i32) -> bool {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    // SAFETY: an existing mapping is never replaced.
    let mapped = unsafe { libc::mmap(at as *mut _, bytes, protection, flags, -1, 0) } as usize;
    if mapped != at && mapped != libc::MAP_FAILED as usize {
        // SAFETY: an old kernel put it elsewhere: it is taken back.
        unsafe { libc::munmap(mapped as *mut _, bytes) };
    }
    mapped == at
}

/// A stack of at least a few pages, in whole pages, and its guard.
pub(crate) fn stack_bytes(wanted: usize, count: usize) -> usize {
    pages(wanted.max(64 * 1024)) + guard_bytes(count)
}

/// A heap of at least what its head needs.
pub(crate) fn heap_bytes(wanted: usize) -> usize {
    pages(wanted.max(16 * PAGE))
}
