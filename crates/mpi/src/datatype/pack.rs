//! Packing and unpacking: between elements in memory, with their gaps, and data without.

use std::ffi::c_void;

use super::Type;
use crate::message::Data;

impl Type {
    /// Whether elements, however many, are one block of memory that begins at their address.
    pub fn is_contiguous(&self) -> bool {
        self.layout.only_block() == Some(0) && self.extent == self.size as i64
    }

    /// Appends the data of `count` elements, without the gaps, to `out`.
    ///
    /// # Safety
    /// So many elements lie at `buffer`.
    pub unsafe fn pack(&self, buffer: *const c_void, count: usize, out: &mut Data) {
        // SAFETY: the range has that many elements.
        unsafe { self.pack_range(buffer, 0, self.size * count, out) };
    }

    /// Appends a part of the data of many elements: `length` bytes, without those `from` bytes that come before.
    ///
    /// # Safety
    /// As many elements as that needs lie at `buffer`.
    pub unsafe fn pack_range(&self, buffer: *const c_void, from: usize, length: usize, out: &mut Data) {
        let before = out.len();
        if before == 0 {
            out.reserve_exact(length);
        } else {
            out.reserve(length);
        }
        // SAFETY: so many bytes were reserved, and exactly so many are written.
        unsafe {
            self.pack_to(buffer, from, length, out.as_mut_ptr().add(before));
            out.set_len(before + if self.size == 0 { 0 } else { length });
        }
    }

    /// Writes a part of the data of many elements to memory.
    ///
    /// # Safety
    /// As many elements as that needs lie at `buffer`; there is room for `length` bytes at `out`.
    pub unsafe fn pack_to(&self, buffer: *const c_void, from: usize, length: usize, mut out: *mut u8) {
        let buffer = buffer.cast::<u8>();
        self.blocks(from, length, |offset, length| {
            // SAFETY: the bytes belong to the elements, and the lengths of all blocks are `length` together.
            unsafe {
                copy(buffer.wrapping_offset(offset as isize), out, length);
                out = out.add(length);
            }
        });
    }

    /// Puts data where the elements lie at `buffer`, `count` of them at most; gives the bytes that were used. Data that end
    /// within an element fill a part of it.
    ///
    /// # Safety
    /// There is room for so many elements.
    pub unsafe fn unpack(&self, data: &[u8], buffer: *mut c_void, count: usize) -> usize {
        let used = data.len().min(self.size * count);
        // SAFETY: there is room for them.
        unsafe { self.unpack_from(&data[..used], 0, buffer) };
        used
    }

    /// Puts data where those of many elements lie that come after the first `from` bytes.
    ///
    /// # Safety
    /// There is room for as many elements as that needs.
    pub unsafe fn unpack_from(&self, data: &[u8], from: usize, buffer: *mut c_void) {
        let buffer = buffer.cast::<u8>();
        let mut rest = data.as_ptr();
        self.blocks(from, data.len(), |offset, length| {
            // SAFETY: the bytes belong to the elements, and the lengths of all blocks are those of the data together.
            unsafe {
                copy(rest, buffer.wrapping_offset(offset as isize), length);
                rest = rest.add(length);
            }
        });
    }

    /// Hands on the blocks of memory, relative to the first element, of `length` bytes of data after the first `from`.
    pub fn blocks(&self, from: usize, length: usize, mut visit: impl FnMut(i64, usize)) {
        if length == 0 || self.size == 0 {
            return;
        }
        match self.layout.only_block() {
            Some(offset) if self.extent == self.size as i64 => visit(offset + from as i64, length),
            _ => self.layout.walk_repeated_range(0, self.extent, from, from + length, &mut visit),
        }
    }
}

/// Copies a block; the lengths of numbers are worth a path of their own.
///
/// # Safety
/// As for `memmove`: a program may receive into what it sends from within one process.
#[inline(always)]
unsafe fn copy(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: the caller answers for both.
    unsafe {
        match length {
            1 => to.write(from.read()),
            2 => to.cast::<u16>().write_unaligned(from.cast::<u16>().read_unaligned()),
            4 => to.cast::<u32>().write_unaligned(from.cast::<u32>().read_unaligned()),
            8 => to.cast::<u64>().write_unaligned(from.cast::<u64>().read_unaligned()),
            16 => to.cast::<u128>().write_unaligned(from.cast::<u128>().read_unaligned()),
            _ => std::ptr::copy(from, to, length),
        }
    }
}
