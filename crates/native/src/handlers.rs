//! Handlers that programs have for their own faults.

use std::ffi::c_void;

use crate::current::{Heap, Rank};
use crate::signals::{Cause, SIGNALS};

/// A handler of the program's own.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Handler {
    /// Where it is; nothing is done by 0, the fault is ignored by 1.
    pub function: usize,
    pub flags: i32,
}

/// What the program itself does about a fault: if it can, and the fault is its own, not one of the host that it called.
///
/// # Safety
/// The process runs.
pub(crate) unsafe fn find(rank: *mut Rank, cause: &Cause) -> Option<Handler> {
    let place = SIGNALS.iter().position(|other| *other == cause.signal)?;
    // SAFETY: it runs, and what processes share stays while one of them runs.
    let (rank, shared) = unsafe { (&mut *rank, &*(*rank).shared) };
    let is_fault = cause.code > 0 && rank.heap == Heap::Program;
    let handler = rank.handlers[place];
    if !is_fault || handler.function <= libc::SIG_IGN || shared.region.is_guard(rank.index, cause.address) {
        return None;
    }
    if handler.flags & libc::SA_RESETHAND != 0 {
        rank.handlers[place] = Handler::default();
    }
    Some(handler)
}

/// Lets the process go on in its handler, on its own stack. If that returns, the process is ended for what it did: the
/// same instruction would fail again. `end` is where it is ended.
///
/// # Safety
/// Both are what the kernel gave, and the process has stack left.
pub(crate) unsafe fn call(
    handler: Handler,
    signal: i32,
    info: *mut libc::siginfo_t,
    context: *mut c_void,
    end: usize,
) {
    // What functions without calls keep below the stack.
    const RED_ZONE: usize = 128;
    let context = context.cast::<libc::ucontext_t>();
    // SAFETY: as above; what is written lies below all that the process uses.
    unsafe {
        let general = &mut (*context).uc_mcontext.gregs;
        let stack = general[libc::REG_RSP as usize] as usize - RED_ZONE;
        let info_at = (stack - size_of::<libc::siginfo_t>()) & !15;
        let context_at = (info_at - size_of::<libc::ucontext_t>()) & !15;
        (info_at as *mut libc::siginfo_t).copy_from_nonoverlapping(info, 1);
        (context_at as *mut libc::ucontext_t).copy_from_nonoverlapping(context, 1);
        let return_at = context_at - size_of::<usize>();
        (return_at as *mut usize).write(end);
        general[libc::REG_RSP as usize] = return_at as i64;
        general[libc::REG_RIP as usize] = handler.function as i64;
        general[libc::REG_RDI as usize] = i64::from(signal);
        general[libc::REG_RSI as usize] = info_at as i64;
        general[libc::REG_RDX as usize] = context_at as i64;
        general[libc::REG_RAX as usize] = 0;
        // Strings go forwards.
        general[libc::REG_EFL as usize] &= !0x400;
    }
}
