//! Asking the processor for memory before it is needed.
//!
//! A large system visits its actors in no order, and the processor waits for memory at each of them. Where many things
//! happen at one instant it is known beforehand what will be visited: asking for all of it in a short loop lets many
//! fetches go on at once, instead of one after the other. Nothing is read, and nothing but time depends on it.

use prefetch_index::prefetch_index;

/// How many bytes the processor fetches at once.
const LINE: usize = 64;
/// More lines of one thing than this would push others out of the cache.
const MOST: usize = 16;
/// Distances are counted from here.
const ORIGIN: &[u8] = &[];

/// Asks for all of a thing; of a long one, for its first kilobyte.
#[inline(always)]
pub fn fetch<T: ?Sized>(thing: &T) {
    let start = std::ptr::from_ref(thing).cast::<u8>().addr();
    let size = size_of_val(thing).min(MOST * LINE);
    let distance = start.wrapping_sub(ORIGIN.as_ptr().addr());
    for line in 0..size.div_ceil(LINE) {
        prefetch_index(ORIGIN, distance.wrapping_add(line * LINE));
    }
    // Where it does not begin with a line, its end may be on one more.
    if size > align_of_val(thing) && (align_of_val(thing) < LINE || !size.is_multiple_of(LINE)) {
        prefetch_index(ORIGIN, distance.wrapping_add(size - 1));
    }
}

/// Asks for one of many things, if there are so many.
#[inline(always)]
pub fn fetch_from<T>(things: &[T], index: usize) {
    if let Some(thing) = things.get(index) {
        fetch(thing);
    }
}
