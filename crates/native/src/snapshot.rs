//! What processes are at a moment when none of them runs, and putting them back to it.
//!
//! A snapshot has the bytes of what processes may write: the writable segments of their copies, their heaps as far as they were used,
//! their stacks from where they were left, and what the host knows of each. Putting back copies these bytes, clears what was
//! used of the heaps since, and closes what was opened since. It costs what the processes had at the moment of the snapshot, so that a
//! moment shortly after their start is a good one. Pages of large segments that were not written before the snapshot are not
//! copied: they are given back to the system, which reads the template again.
//!
//! Descriptors that were opened since are closed, memory that was mapped since is unmapped, and files that were written are put back
//! where that was asked for ([`files`](crate::files)). What was mapped before keeps what is in it, and streams that were open before keep
//! what they have read.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use crate::current::{GATE, Heap, Rank, Stage};
use crate::elf::{PAGE, pages};
use crate::files::Descriptor;
use crate::handlers::Handler;
use crate::processes::{Processes, Shared};

/// Segments up to this size are copied whole: finding out which of their pages were written takes longer.
const SMALL: usize = 64 * PAGE;

/// So much of a stack below where it was left is cleared, so that what a program reads before it writes it is the same each time.
const CLEARED: usize = 16 << 10;

/// The processes of a program, as they were.
pub struct Snapshot {
    ranks: Vec<Kept>,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot")
            .field("processes", &self.ranks.len())
            .field("bytes", &self.bytes())
            .finish()
    }
}

impl Snapshot {
    /// How many bytes it keeps.
    pub fn bytes(&self) -> usize {
        self.ranks.iter().flat_map(|kept| &kept.ranges).map(|range| range.bytes.len()).sum()
    }
}

/// Bytes, and where they were.
struct Range {
    at: usize,
    bytes: Vec<u8>,
}

/// A large segment, of which the pages that were written are kept among the ranges.
struct Large {
    start: usize,
    /// By page from the start, whether it had been written.
    written: Vec<bool>,
}

/// One process.
struct Kept {
    ranges: Vec<Range>,
    large: Vec<Large>,
    /// Where what was used of each heap ended.
    used: [usize; 2],
    stage: Stage,
    stack: usize,
    arguments: usize,
    heap: Heap,
    errno: i32,
    locale: usize,
    mask: Option<libc::mode_t>,
    libgomp: Vec<u8>,
    local: *mut (),
    lines: [Vec<u8>; 2],
    streams: Vec<usize>,
    descriptors: Vec<Descriptor>,
    maps: Vec<(usize, usize)>,
    directory: Option<OwnedFd>,
    handlers: [Handler; 5],
    died_of: i32,
}

// SAFETY: the pointer leads into the memory of the process, which whoever puts it back has to itself.
unsafe impl Send for Kept {}
// SAFETY: as above.
unsafe impl Sync for Kept {}

impl Processes {
    /// Keeps what all processes are now. None of them runs.
    pub fn snapshot(&self) -> Snapshot {
        let _gate = GATE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let shared = self.shared();
        shared.files.lock().unwrap_or_else(PoisonError::into_inner).keep();
        // SAFETY: whoever holds the gate may look at the processes.
        Snapshot { ranks: shared.ranks.iter().map(|rank| unsafe { keep(shared, &*rank.get()) }).collect() }
    }

    /// Puts all processes back to what they were. None of them runs, and the code of earlier executions is dropped.
    ///
    /// # Panics
    /// If the snapshot is of other processes.
    pub fn restore(&self, snapshot: &Snapshot) {
        let _gate = GATE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let shared = self.shared();
        assert_eq!(shared.ranks.len(), snapshot.ranks.len(), "a snapshot of the same processes");
        shared.restored.fetch_add(1, Ordering::Relaxed);
        for (rank, kept) in shared.ranks.iter().zip(&snapshot.ranks) {
            // SAFETY: whoever holds the gate may touch the processes.
            unsafe { put_back(&mut *rank.get(), kept) };
        }
        shared.files.lock().unwrap_or_else(PoisonError::into_inner).put_back();
    }
}

/// The parts of a copy that the program may write, in whole pages.
pub(crate) fn writable(shared: &Shared, index: usize) -> Vec<(usize, usize)> {
    let base = shared.region.image_of(index);
    let image = &*shared.image;
    let mut parts: Vec<(usize, usize)> = Vec::new();
    for object in &image.group.objects {
        for segment in object.segments.iter().filter(|segment| segment.writable) {
            let start = (base + object.base + segment.address) & !(PAGE - 1);
            let end = base + object.base + segment.address + segment.memory;
            parts.push((start, start + pages(end - start)));
        }
    }
    let saved = base + image.blocks.saved;
    if image.blocks.used > 0 {
        parts.push((saved & !(PAGE - 1), pages(saved + image.blocks.used)));
    }
    parts.sort_unstable();
    parts.dedup_by(|next, before| {
        let joins = next.0 <= before.1;
        if joins {
            before.1 = before.1.max(next.1);
        }
        joins
    });
    parts
}

/// # Safety
/// The process does not run, and all ranges of it are readable.
unsafe fn keep(shared: &Shared, rank: &Rank) -> Kept {
    let mut ranges = Vec::new();
    let mut keep_range = |start: usize, end: usize| {
        // SAFETY: as the caller says.
        let bytes = unsafe { std::slice::from_raw_parts(start as *const u8, end - start) }.to_vec();
        ranges.push(Range { at: start, bytes });
    };
    let mut large = Vec::new();
    for (start, end) in writable(shared, rank.index) {
        if end - start <= SMALL {
            keep_range(start, end);
            continue;
        }
        let written = written(start, end);
        for (page, _) in written.iter().enumerate().filter(|(_, written)| **written) {
            keep_range(start + page * PAGE, start + (page + 1) * PAGE);
        }
        large.push(Large { start, written });
    }
    if rank.stage == Stage::Suspended {
        keep_range(rank.stack, shared.region.stack(rank.index).end);
        // SAFETY: the process does not run.
        unsafe { clear_below(rank, rank.stack) };
    }
    // SAFETY: the heaps are alive.
    let used = rank.arenas.map(|arena| unsafe { (*arena).used() });
    for (arena, used) in rank.arenas.into_iter().zip(used) {
        keep_range(arena as usize, used);
    }
    Kept {
        ranges,
        large,
        used,
        stage: rank.stage,
        stack: rank.stack,
        arguments: rank.arguments,
        heap: rank.heap,
        errno: rank.errno,
        locale: rank.locale,
        mask: rank.mask,
        libgomp: rank.libgomp.clone(),
        local: rank.local,
        lines: rank.lines.clone(),
        streams: rank.streams.clone(),
        descriptors: rank.kept_descriptors(),
        maps: rank.maps.clone(),
        directory: rank.directory.as_ref().and_then(|directory| directory.try_clone().ok()),
        handlers: rank.handlers,
        died_of: rank.died_of,
    }
}

/// # Safety
/// The process does not run, and it is the one that was kept.
unsafe fn put_back(rank: &mut Rank, kept: &Kept) {
    let opened: Vec<usize> =
        rank.streams.iter().copied().filter(|stream| !kept.streams.contains(stream)).collect();
    for stream in opened {
        // SAFETY: the stream is open, and its memory is still there.
        unsafe { libc::fclose(stream as *mut libc::FILE) };
    }
    // SAFETY: as the caller says.
    unsafe { rank.close_since(&kept.descriptors, &kept.maps) };
    // SAFETY: as the caller says; the arenas are alive.
    unsafe {
        for (arena, used) in rank.arenas.into_iter().zip(kept.used) {
            clear(used, (*arena).used());
        }
        for large in &kept.large {
            give_back(large);
        }
        for range in &kept.ranges {
            (range.at as *mut u8).copy_from_nonoverlapping(range.bytes.as_ptr(), range.bytes.len());
        }
        if kept.stage == Stage::Suspended {
            clear_below(rank, kept.stack);
        }
    }
    rank.stage = kept.stage;
    rank.stack = kept.stack;
    rank.arguments = kept.arguments;
    rank.heap = kept.heap;
    rank.errno = kept.errno;
    rank.locale = kept.locale;
    rank.mask = kept.mask;
    rank.libgomp.clone_from(&kept.libgomp);
    rank.local = kept.local;
    rank.lines.clone_from(&kept.lines);
    rank.streams.clone_from(&kept.streams);
    rank.handlers = kept.handlers;
    rank.serves = false;
    rank.watch.forget();
    rank.died_of = kept.died_of;
    (rank.port, rank.left, rank.cause, rank.end) = (std::ptr::null_mut(), None, None, None);
    rank.directory = kept.directory.as_ref().and_then(|directory| directory.try_clone().ok());
}

/// Clears what calls have left on a stack below where it is.
///
/// # Safety
/// The process does not run, and its stack was left there.
unsafe fn clear_below(rank: &Rank, stack: usize) {
    // SAFETY: as the caller says; the stack is mapped whole.
    unsafe {
        let low = (stack - CLEARED).max((*rank.shared).region.stack(rank.index).start);
        (low as *mut u8).write_bytes(0, stack - low);
    }
}

/// Makes bytes zero: in place if they are few, else by giving their pages back.
///
/// # Safety
/// They are used by nobody.
unsafe fn clear(start: usize, end: usize) {
    const MANY: usize = 256 << 10;
    if end <= start {
        return;
    }
    let (first, last) = (pages(start), end & !(PAGE - 1));
    // SAFETY: as the caller says; whole pages of private memory without a file behind it read as zero when they were given back.
    unsafe {
        if end - start > MANY && libc::madvise(first as *mut _, last - first, libc::MADV_DONTNEED) == 0 {
            (start as *mut u8).write_bytes(0, first - start);
            (last as *mut u8).write_bytes(0, end - last);
        } else {
            (start as *mut u8).write_bytes(0, end - start);
        }
    }
}

/// Gives back those pages of a segment that were first written after the snapshot.
///
/// # Safety
/// The process does not run.
unsafe fn give_back(large: &Large) {
    let end = large.start + large.written.len() * PAGE;
    for (page, (now, before)) in written(large.start, end).into_iter().zip(&large.written).enumerate() {
        if now && !before {
            // SAFETY: a page of the copy; it is read from the template again.
            unsafe { libc::madvise((large.start + page * PAGE) as *mut _, PAGE, libc::MADV_DONTNEED) };
        }
    }
}

/// Which pages of a private map of a file have been written: they are not the file's any more. All, where that cannot be found out.
fn written(start: usize, end: usize) -> Vec<bool> {
    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    const OF_FILE: u64 = 1 << 61;
    let count = (end - start) / PAGE;
    let mut entries = vec![0_u8; count * 8];
    let map = File::open("/proc/self/pagemap");
    let read = map.and_then(|map| map.read_exact_at(&mut entries, (start / PAGE * 8) as u64));
    if read.is_err() {
        return vec![true; count];
    }
    let entries =
        entries.chunks_exact(8).map(|entry| u64::from_ne_bytes(entry.try_into().expect("eight bytes")));
    entries.map(|entry| entry & SWAPPED != 0 || (entry & PRESENT != 0 && entry & OF_FILE == 0)).collect()
}
