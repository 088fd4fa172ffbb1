//! What a debugger finds in our memory: where the processes are, without knowing our types.
//!
//! `simurgh_processes` is a table of words that stays where it is: how many processes there are, where their rows begin, how long a
//! copy is. A row has the number of the process, where its copy lies, where its stage is, and where its stack pointer is kept
//! while it does not run. [`simurgh_debugger_ready`] is called when all copies are there and nothing of the program has run: a
//! breakpoint there is the moment to read symbols.
//!
//! Whoever lets the processes take one step after the other calls [`Processes::stop_before_step`], which calls `simurgh_debugger_step`;
//! `simurgh_step` says which step it is, whose, and where the words about it are. A process that is about to end by itself calls
//! [`simurgh_debugger_end`], on its own stack.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::processes::{Processes, Shared};

/// A process.
#[repr(C)]
struct Row {
    number: usize,
    copy: usize,
    /// Of one byte: 0 it has not begun, 1 it waits, 2 it runs, 3 it is over.
    stage: usize,
    /// What is on the stack there is a [`Saved`](crate::switch::Saved).
    stack: usize,
}

#[unsafe(no_mangle)]
static simurgh_processes: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

/// Fills the table with these processes.
pub(crate) fn show(shared: &Shared) {
    let row = |index: usize| {
        let rank = shared.ranks[index].get();
        // SAFETY: the process is alive; its addresses are taken, and nothing is read.
        unsafe {
            Row {
                number: (*rank).number,
                copy: shared.region.image_of(index),
                stage: &raw const (*rank).stage as usize,
                stack: &raw const (*rank).stack as usize,
            }
        }
    };
    // It is there as long as we are, since a debugger may look at any time.
    let rows: &'static mut [Row] = (0..shared.ranks.len()).map(row).collect::<Vec<_>>().leak();
    simurgh_processes[1].store(rows.as_ptr() as usize, Ordering::Relaxed);
    simurgh_processes[2].store(shared.image.span, Ordering::Relaxed);
    simurgh_processes[0].store(rows.len(), Ordering::Release);
    simurgh_debugger_ready();
}

#[unsafe(no_mangle)]
static simurgh_step: [AtomicUsize; 4] = [const { AtomicUsize::new(0) }; 4];

impl Processes {
    /// A process is about to take a step: stops there if a debugger has a breakpoint at `simurgh_debugger_step`.
    pub fn stop_before_step(step: usize, rank: usize, words: &str) {
        let told = [step, rank, words.as_ptr() as usize, words.len()];
        simurgh_step.iter().zip(told).for_each(|(word, told)| word.store(told, Ordering::Relaxed));
        simurgh_debugger_step();
    }
}

/// Does nothing.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn simurgh_debugger_step() {
    std::hint::black_box(&simurgh_step);
}

/// Does nothing.
#[unsafe(no_mangle)]
#[inline(never)]
pub(crate) extern "C" fn simurgh_debugger_end() {
    // Something else than the others do: functions that do the same may become one.
    std::hint::black_box(&simurgh_processes[2]);
}

/// Does nothing.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn simurgh_debugger_ready() {
    // So that there is something to stop at.
    std::hint::black_box(&simurgh_processes);
}
