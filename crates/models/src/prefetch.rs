//! Software prefetch.
//!
//! A large system visits its actors in no order, and the processor waits for memory at each of them. Where many things
//! happen at one instant it is known beforehand what will be visited: prefetching all of it in a short loop lets many
//! cache misses be served at once, instead of one after the other. Nothing is read, and nothing but time depends on it.

/// How many bytes the processor fetches at once.
const LINE: usize = 64;
/// More lines of one thing than this would push others out of the cache.
const MOST: usize = 16;

/// Asks for all of a thing; of a long one, for its first kilobyte.
#[inline(always)]
pub fn prefetch<T: ?Sized>(thing: &T) {
    let start = std::ptr::from_ref(thing).cast::<u8>();
    let size = size_of_val(thing).min(MOST * LINE);
    for line in 0..size.div_ceil(LINE) {
        prefetch_line(start.wrapping_add(line * LINE));
    }
    // Where it does not begin with a line, its end may be on one more.
    if size > align_of_val(thing) && (align_of_val(thing) < LINE || !size.is_multiple_of(LINE)) {
        prefetch_line(start.wrapping_add(size - 1));
    }
}

/// Asks for one of many things, if there are so many.
#[inline(always)]
pub fn prefetch_from<T>(things: &[T], index: usize) {
    if let Some(thing) = things.get(index) {
        prefetch(thing);
    }
}

/// Asks for the line at an address, which is a hint: it reads nothing that the program could see, and may be any address.
#[inline(always)]
#[allow(unsafe_code)]
fn prefetch_line(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: PREFETCHT0 never faults and changes no register nor memory, whatever the address; SSE is part of x86-64.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(address.cast());
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: PRFM never faults and changes no register nor memory, whatever the address.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = address;
}
