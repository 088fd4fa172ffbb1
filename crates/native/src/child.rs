//! Children that processes make by `fork`: copies of the whole simulator, in which nobody drives the others.
//!
//! They compute, write, sleep and become other programs, as children do. What they ask of the simulation ends them, with a line.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::current::Rank;
use crate::personality::End;

/// Whether we are one. It has one thread.
static IS_CHILD: AtomicBool = AtomicBool::new(false);

/// Whether this is a child that a process made by `fork`.
#[inline]
pub fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

/// We are one from now on.
pub(crate) fn forked() {
    IS_CHILD.store(true, Ordering::Relaxed);
}

/// Ends the child, which does what a process alone can do.
pub fn end_child(rank: usize, deed: &str) -> ! {
    let line = format!(
        "simurgh: rank {rank}: a child made by fork {deed}, and has no part in the simulation: it ends with code 1; let the process \
         itself do so, and its child compute, write, or become another program (exec)\n"
    );
    // SAFETY: the line is there; whatever the parent has not written yet is left to it.
    unsafe {
        libc::write(2, line.as_ptr().cast(), line.len());
        libc::_exit(1)
    }
}

/// Ends the child as the process would be ended that it is a copy of: by a signal, or with a code.
///
/// # Safety
/// The process runs.
pub(crate) unsafe fn finish(rank: *const Rank) -> ! {
    // SAFETY: as the caller says.
    let rank = unsafe { &*rank };
    let signal = rank.cause.as_ref().map_or(rank.died_of, |cause| cause.signal);
    // SAFETY: the signal does what it does by default; if it does not end us, the code does.
    unsafe {
        if let (None, Some(End::Exited(code))) = (&rank.cause, &rank.left) {
            libc::_exit(*code);
        }
        let mut all: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, std::ptr::null_mut());
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
        libc::_exit(128 + signal)
    }
}
