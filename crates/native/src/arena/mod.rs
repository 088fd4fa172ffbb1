//! The heap of a process: blocks in one range of addresses, with all that is known of them inside the range.
//!
//! What it gives depends on what was asked of it before and on nothing else, so that pointers are the same from run to run,
//! and whoever puts the bytes of the range back has put the heap back. Small blocks come from lists of their size class,
//! large ones from a list by address in which neighbours are joined, and either from the end of what was used so far.
//! A block lies between a header and a mark, which are looked at when it is given back.

mod size;

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use size::{CLASSES, LARGE, class_of, class_total};

/// Bytes before a block.
const HEADER: usize = 16;
/// Bytes after a block, right behind the last one that was asked for.
const MARK: usize = 8;

const USED: u64 = 0x5ec0_4d1e_a110_ca7e;
const FREE: u64 = 0xf4ee_b10c_0f4e_e000;
const ALIGNED: u64 = 0xa119_0ed0_b10c_0000;
const END: u64 = 0x0e0d_0f0b_10c0_1234;

/// Whether threads beside the one that runs the processes may allocate (workers of OpenMP).
pub(crate) static HAS_WORKERS: AtomicBool = AtomicBool::new(false);

/// Why a pointer cannot be given back.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Misuse {
    /// It was given back before.
    Twice,
    /// It never was the beginning of a block, or what stands before it was overwritten.
    Wild,
    /// What stands behind the block was overwritten.
    Overrun,
}

impl Misuse {
    /// As a message for people.
    pub fn message(self, address: usize) -> String {
        match self {
            Misuse::Twice => format!("double free of {address:#x}"),
            Misuse::Wild => format!("free of {address:#x}, which is not the beginning of an allocated block"),
            Misuse::Overrun => {
                format!("heap corruption: written beyond the end of the block at {address:#x}")
            }
        }
    }
}

/// What stands before a block.
#[repr(C)]
struct Header {
    /// The bytes that were asked for; of an aligned block, how far its real beginning lies before it.
    size: u64,
    tag: u64,
}

/// A free range of the list of large ones. It lies behind the header of the block that was there, so that a second
/// free is told from a wild one.
#[repr(C)]
struct Hole {
    next: usize,
    bytes: usize,
}

/// A heap. It lies at the beginning of its range, and is never moved.
#[repr(C)]
pub(crate) struct Arena {
    lock: AtomicU32,
    end: usize,
    /// Where what was used so far ends.
    top: usize,
    /// From here on nothing was ever written.
    fresh: usize,
    /// Bytes in blocks that are in use.
    live: usize,
    large: usize,
    small: [usize; CLASSES],
}

impl Arena {
    /// A heap in a range of zeros.
    ///
    /// # Safety
    /// The range is readable, writable, zero, and used by nobody else.
    pub unsafe fn create(base: usize, bytes: usize) -> *mut Arena {
        let arena = base as *mut Arena;
        let first = (base + size_of::<Arena>()).next_multiple_of(16);
        // SAFETY: the caller gives the range.
        unsafe {
            (*arena).end = base + bytes;
            (*arena).top = first;
            (*arena).fresh = first;
        }
        arena
    }

    /// Bytes in blocks that are in use.
    pub fn live(&self) -> usize {
        self.live
    }

    /// Where what was ever used ends.
    pub fn used(&self) -> usize {
        self.fresh
    }

    /// Where what was used so far ends.
    #[cfg(test)]
    pub fn top(&self) -> usize {
        self.top
    }

    fn locked<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        if !HAS_WORKERS.load(Ordering::Relaxed) {
            return f(self);
        }
        while self.lock.swap(1, Ordering::Acquire) != 0 {
            std::hint::spin_loop();
        }
        let result = f(self);
        self.lock.store(0, Ordering::Release);
        result
    }

    /// A block of so many bytes, 16-aligned; null if there is no room. Says whether it is known to be zero.
    pub fn allocate(&mut self, size: usize) -> (*mut u8, bool) {
        self.locked(|arena| arena.allocate_alone(size))
    }

    fn allocate_alone(&mut self, size: usize) -> (*mut u8, bool) {
        let Some(total) = size.checked_add(HEADER + MARK).filter(|total| *total < 1 << 47) else {
            return (std::ptr::null_mut(), false);
        };
        let taken = if total <= LARGE { self.take_small(class_of(total)) } else { self.take_large(total) };
        let Some((at, zero)) = taken else { return (std::ptr::null_mut(), false) };
        self.live += size;
        let user = at + HEADER;
        // SAFETY: the block is ours and at least as long as asked for, header and mark included.
        unsafe {
            (at as *mut Header).write(Header { size: size as u64, tag: USED ^ user as u64 });
            ((user + size) as *mut u64).write_unaligned(END ^ user as u64);
        }
        (user as *mut u8, zero)
    }

    fn take_small(&mut self, class: usize) -> Option<(usize, bool)> {
        let head = self.small[class];
        if head == 0 {
            return self.extend(class_total(class));
        }
        // SAFETY: a free block of a list has the next one behind its header.
        self.small[class] = unsafe { *((head + HEADER) as *const usize) };
        Some((head, false))
    }

    /// New room behind all that was used.
    fn extend(&mut self, total: usize) -> Option<(usize, bool)> {
        let at = self.top;
        let top = at.checked_add(total).filter(|top| *top <= self.end)?;
        self.top = top;
        let zero = at >= self.fresh;
        self.fresh = self.fresh.max(top);
        Some((at, zero))
    }

    fn take_large(&mut self, total: usize) -> Option<(usize, bool)> {
        let total = size::large_total(total);
        let mut link: *mut usize = &raw mut self.large;
        // SAFETY: the list consists of holes within the range.
        unsafe {
            while *link != 0 {
                let at = *link;
                let Hole { next, bytes } = hole(at).read();
                if bytes >= total {
                    if bytes > total {
                        hole(at + total).write(Hole { next, bytes: bytes - total });
                    }
                    *link = if bytes > total { at + total } else { next };
                    return Some((at, false));
                }
                link = &raw mut (*hole(at)).next;
            }
        }
        let taken = self.extend(total);
        if let Some((at, true)) = taken {
            want_large_pages(at, total);
        }
        taken
    }

    /// A block whose address is a multiple of `align`, a power of two.
    pub fn allocate_aligned(&mut self, align: usize, size: usize) -> *mut u8 {
        if align <= 16 {
            return self.allocate(size).0;
        }
        let Some(padded) = size.checked_add(align + HEADER) else { return std::ptr::null_mut() };
        let block = self.allocate(padded).0 as usize;
        if block == 0 {
            return std::ptr::null_mut();
        }
        let user = (block + HEADER).next_multiple_of(align);
        // SAFETY: the header of the aligned block lies in the block around it.
        unsafe {
            let header = Header { size: (user - block) as u64, tag: ALIGNED ^ user as u64 };
            ((user - HEADER) as *mut Header).write(header);
        }
        user as *mut u8
    }

    /// Whether an address lies in the range of this heap.
    #[inline]
    pub fn spans(&self, address: usize) -> bool {
        (&raw const *self as usize..self.end).contains(&address)
    }

    fn contains(&self, address: usize) -> bool {
        let first = &raw const *self as usize + size_of::<Arena>();
        address >= first + HEADER && address < self.fresh && address.is_multiple_of(16)
    }

    /// The block around an address that was given, and its size.
    fn block(&self, user: usize) -> Result<(usize, usize), Misuse> {
        if !self.contains(user) {
            return Err(Misuse::Wild);
        }
        // SAFETY: the header lies in the range, in pages that are readable.
        let Header { size, tag } = unsafe { ((user - HEADER) as *const Header).read() };
        if tag == ALIGNED ^ user as u64 {
            let outer = user.wrapping_sub(size as usize);
            if outer >= user {
                return Err(Misuse::Wild);
            }
            return self.block(outer);
        }
        if tag == FREE ^ user as u64 {
            return Err(Misuse::Twice);
        }
        if tag != USED ^ user as u64
            || user.checked_add(size as usize + MARK).is_none_or(|end| end > self.top)
        {
            return Err(Misuse::Wild);
        }
        // SAFETY: the mark lies behind the block, in the range.
        let mark = unsafe { ((user + size as usize) as *const u64).read_unaligned() };
        if mark != END ^ user as u64 {
            return Err(Misuse::Overrun);
        }
        Ok((user, size as usize))
    }

    /// How many bytes from an address on belong to its block.
    pub fn size(&mut self, address: usize) -> Result<usize, Misuse> {
        self.locked(|arena| arena.block(address).map(|(user, size)| size - (address - user)))
    }

    /// Takes a block back.
    pub fn free(&mut self, address: usize) -> Result<(), Misuse> {
        self.locked(|arena| arena.free_alone(address))
    }

    fn free_alone(&mut self, address: usize) -> Result<(), Misuse> {
        let (user, size) = self.block(address)?;
        self.live -= size;
        let at = user - HEADER;
        let total = size + HEADER + MARK;
        // SAFETY: the block is in use until now, and long enough for what is written in it.
        unsafe {
            if address != user {
                (*((address - HEADER) as *mut Header)).tag = FREE ^ address as u64;
            }
            (*(at as *mut Header)).tag = FREE ^ user as u64;
            if total <= LARGE {
                let class = class_of(total);
                *((at + HEADER) as *mut usize) = self.small[class];
                self.small[class] = at;
            } else {
                self.give_large(at, size::large_total(total));
            }
        }
        Ok(())
    }

    /// Puts a range into the list of large ones, joined with its neighbours.
    ///
    /// # Safety
    /// The range was given by `take_large`, and is used by nobody.
    unsafe fn give_large(&mut self, at: usize, bytes: usize) {
        let (mut before, mut next) = (0, self.large);
        // SAFETY: the list consists of holes within the range, and the new one becomes one of them.
        unsafe {
            while next != 0 && next < at {
                before = next;
                next = (*hole(before)).next;
            }
            let mut bytes = bytes;
            if next != 0 && at + bytes == next {
                bytes += (*hole(next)).bytes;
                next = (*hole(next)).next;
            }
            let mut joined = at;
            if before != 0 && before + (*hole(before)).bytes == at {
                joined = before;
                *hole(before) = Hole { next, bytes: (*hole(before)).bytes + bytes };
            } else {
                hole(at).write(Hole { next, bytes });
                let link = if before == 0 { &mut self.large } else { &mut (*hole(before)).next };
                *link = at;
            }
            if joined + (*hole(joined)).bytes == self.top {
                self.unlink_last(joined);
                self.top = joined;
            }
        }
    }

    /// Takes the last hole out of the list.
    ///
    /// # Safety
    /// It is in the list.
    unsafe fn unlink_last(&mut self, last: usize) {
        let mut link: *mut usize = &raw mut self.large;
        // SAFETY: the list consists of holes within the range.
        unsafe {
            while *link != last {
                link = &raw mut (*hole(*link)).next;
            }
            *link = 0;
        }
    }

    /// Makes a block longer or shorter; gives its new address, null if there is no room.
    pub fn resize(&mut self, address: usize, size: usize) -> Result<*mut u8, Misuse> {
        self.locked(|arena| {
            let (user, old) = arena.block(address)?;
            let have = old - (address - user);
            let room = |size: usize| {
                let total = size.saturating_add(HEADER + MARK);
                if total <= LARGE { class_total(class_of(total)) } else { size::large_total(total) }
            };
            if address == user && room(size) == room(old) {
                arena.live = arena.live - old + size;
                // SAFETY: the block has room for so many bytes and the mark.
                unsafe {
                    (*((user - HEADER) as *mut Header)).size = size as u64;
                    ((user + size) as *mut u64).write_unaligned(END ^ user as u64);
                }
                return Ok(user as *mut u8);
            }
            let (new, _) = arena.allocate_alone(size);
            if new.is_null() {
                return Ok(new);
            }
            // SAFETY: both blocks are at least that long, and different.
            unsafe { (address as *const u8).copy_to_nonoverlapping(new, have.min(size)) };
            arena.free_alone(address)?;
            Ok(new)
        })
    }
}

/// Blocks of several large pages are made of such: they are touched five hundred times as seldom.
fn want_large_pages(at: usize, bytes: usize) {
    const LARGE_PAGE: usize = 2 << 20;
    let (first, last) = (at.next_multiple_of(LARGE_PAGE), (at + bytes) & !(LARGE_PAGE - 1));
    if bytes >= 4 * LARGE_PAGE {
        // SAFETY: advice about a range of ours, which may be refused.
        unsafe { libc::madvise(first as *mut libc::c_void, last - first, libc::MADV_HUGEPAGE) };
    }
}

/// Where a hole says what it is.
fn hole(at: usize) -> *mut Hole {
    (at + HEADER) as *mut Hole
}

#[cfg(test)]
mod tests;
