//! Counting what programs execute, the same in every run: programs compiled with `-fsanitize-coverage=trace-pc` call
//! `__sanitizer_cov_trace_pc` at the beginning of every basic block, and the return address says which block it is.
//!
//! A block counts as many bytes as its code has. How many that are is found out when a block of an object is reached for the first
//! time: the object's code is searched for calls of the same function, and a block ends where the next begins, or its function
//! ends. Hardware counters would be faster, but they are not to be had in most virtual machines and containers, and interrupts and
//! page faults make them differ a little from run to run.

use std::arch::global_asm;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use object::{Object as _, ObjectSymbol, SymbolKind};

use crate::current::{self, Heap, with_heap};
use crate::image::Image;

/// What compilers call in every block.
pub(crate) const HOOK: &str = "__sanitizer_cov_trace_pc";

/// A block counts no more, if it is not known where its function ends.
const MOST: usize = 256;

// The caller expects nothing to be saved but what any function saves.
global_asm!(
    ".text",
    ".balign 16",
    ".hidden simurgh_count",
    ".globl simurgh_count",
    ".type simurgh_count, @function",
    "simurgh_count:",
    "mov rdi, qword ptr [rsp]",
    "jmp {count}",
    ".size simurgh_count, . - simurgh_count",
    count = sym count,
);

unsafe extern "C" {
    /// The hook.
    pub(crate) fn simurgh_count();
}

/// Bytes of code of each block, by the place of its beginning in a copy of the image; 0 where it is not known.
pub(crate) struct Weights(Box<[Cell<u16>]>);

// SAFETY: they are touched by the thread that runs a process, of which there is one at a time.
unsafe impl Send for Weights {}
// SAFETY: as above.
unsafe impl Sync for Weights {}

impl Weights {
    /// For an image of so many bytes, if a program of it counts.
    pub fn new(counts: bool, span: usize) -> Self {
        Weights(vec![Cell::new(0); if counts { span } else { 0 }].into_boxed_slice())
    }
}

/// What a thread counts.
struct Counter {
    count: Cell<u64>,
    /// Where the copy of the process that runs begins, and how many bytes of it can be counted: none on other threads.
    base: Cell<usize>,
    span: Cell<usize>,
    weights: Cell<*const Cell<u16>>,
}

thread_local! {
    static COUNTER: Counter = const {
        Counter {
            count: Cell::new(0),
            base: Cell::new(0),
            span: Cell::new(0),
            weights: Cell::new(std::ptr::null()),
        }
    };
}

/// How many bytes of code this thread has executed so far, of programs that count.
pub fn executed() -> u64 {
    COUNTER.with(|counter| counter.count.get())
}

/// A process runs on this thread from now on: what it executes is counted.
pub(crate) fn runs(image: &Image, base: usize) {
    let weights = &image.weights.0;
    COUNTER.with(|counter| {
        counter.base.set(base);
        counter.span.set(weights.len());
        counter.weights.set(weights.as_ptr());
    });
}

/// No process runs on this thread.
pub(crate) fn rests() {
    COUNTER.with(|counter| counter.span.set(0));
}

extern "C" fn count(block: usize) {
    COUNTER.with(|counter| {
        let offset = block.wrapping_sub(counter.base.get());
        if offset >= counter.span.get() {
            return;
        }
        // SAFETY: there is a weight for each byte of the copy.
        let mut weight = unsafe { (*counter.weights.get().add(offset)).get() };
        if weight == 0 {
            learn(offset);
            // SAFETY: as above.
            weight = unsafe { (*counter.weights.get().add(offset)).get() }.max(1);
        }
        counter.count.set(counter.count.get() + u64::from(weight));
    });
}

/// Finds out the lengths of all blocks of the object that this one lies in.
#[cold]
fn learn(offset: usize) {
    static LEARNING: Mutex<()> = Mutex::new(());
    with_heap(Heap::Host, || {
        let _one = LEARNING.lock().unwrap_or_else(PoisonError::into_inner);
        let rank = current::rank();
        if rank.is_null() {
            return;
        }
        // SAFETY: the process runs, and what processes share stays while one of them does.
        let shared = unsafe { &*(*rank).shared };
        let image = &*shared.image;
        let Some((object, _)) = image.object_at(offset) else { return };
        // The template has the code of all copies; calls are relative, so that relocations do not touch them.
        let code = |at: usize, length: usize| {
            let at = image.group.template + at;
            // SAFETY: the template has every byte of every object, and it is not written to any more.
            unsafe { std::slice::from_raw_parts(at as *const u8, length) }
        };
        let segment = object.segments.iter().find(|segment| {
            let begin = object.base + segment.address;
            (begin..begin + segment.file).contains(&offset)
        });
        let Some(segment) = segment else { return };
        let begin = object.base + segment.address;
        let text = code(begin, segment.file);
        let functions = functions(&object.path);
        for (block, bytes) in blocks(text, offset - begin, |place| {
            let address = segment.address + place;
            functions.range(..=address).next_back().map(|(_, end)| end.saturating_sub(segment.address))
        }) {
            image.weights.0[begin + block].set(u16::try_from(bytes.max(1)).unwrap_or(u16::MAX));
        }
    });
}

/// The functions of a file: where each begins and ends.
fn functions(path: &std::path::Path) -> BTreeMap<usize, usize> {
    let Ok(bytes) = std::fs::read(path) else { return BTreeMap::new() };
    let Ok(file) = object::File::parse(&*bytes) else { return BTreeMap::new() };
    let symbols = file.symbols().chain(file.dynamic_symbols());
    symbols
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
        .map(|symbol| (symbol.address() as usize, (symbol.address() + symbol.size()) as usize))
        .collect()
}

/// A call of the hook: how long the instruction is, and what it goes to.
fn call_before(text: &[u8], after: usize) -> Option<(usize, usize)> {
    let relative = text.get(after.checked_sub(4)?..after)?;
    let target = after.wrapping_add_signed(i32::from_le_bytes(relative.try_into().ok()?) as isize);
    if after >= 6 && text[after - 6..after - 4] == [0xff, 0x15] {
        return Some((6, target));
    }
    (after >= 5 && text[after - 5] == 0xe8).then_some((5, target))
}

/// All blocks that begin with a call like the one that ends at `known`, and how many bytes of code each has; `end_of` says where
/// the function around a place ends.
fn blocks(text: &[u8], known: usize, end_of: impl Fn(usize) -> Option<usize>) -> Vec<(usize, usize)> {
    let Some((length, target)) = call_before(text, known) else { return Vec::new() };
    let begins: Vec<usize> =
        (length..=text.len()).filter(|after| call_before(text, *after) == Some((length, target))).collect();
    let mut blocks = Vec::with_capacity(begins.len());
    for (number, begin) in begins.iter().enumerate() {
        let next = begins.get(number + 1).map_or(text.len(), |next| next - length);
        let end = match end_of(*begin) {
            Some(end) if end > *begin => next.min(end),
            _ => next.min(begin + MOST),
        };
        blocks.push((*begin, end.saturating_sub(*begin)));
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls of a function at `target`, at these places, in a text of nothing else.
    fn text(length: usize, places: &[usize], target: usize) -> Vec<u8> {
        let mut text = vec![0x90; length];
        for place in places {
            let relative = (target as i32) - (*place as i32 + 5);
            text[*place] = 0xe8;
            text[place + 1..place + 5].copy_from_slice(&relative.to_le_bytes());
        }
        text
    }

    #[test]
    fn blocks_end_where_others_begin_or_their_function_ends() {
        let text = text(600, &[10, 40, 100], 500);
        assert_eq!(blocks(&text, 15, |_| None), [(15, 25), (45, 55), (105, MOST)]);
        let ends = |place: usize| Some(if place < 60 { 60 } else { 130 });
        assert_eq!(blocks(&text, 45, ends), [(15, 25), (45, 15), (105, 25)]);
    }

    #[test]
    fn calls_of_something_else_begin_no_block() {
        let mut text = text(600, &[10, 40], 500);
        text[20] = 0xe8;
        assert_eq!(blocks(&text, 15, |_| Some(80)).len(), 2);
        assert!(blocks(&text, 200, |_| None).is_empty(), "there is no call");
    }
}
