//! Crashes: a signal of a process ends that process, and the others go on.
//!
//! The handler notes the registers and goes on elsewhere: on a stack of its own, from where the process is left
//! for ever. What happened and where is found out afterwards, by whoever drives it. Signals that come while no process
//! runs are handled as if we were not there.

use std::arch::global_asm;
use std::cell::Cell;
use std::ffi::c_void;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use crate::current::{self, Heap, Rank};
use crate::error::Error;
use crate::execute;
use crate::handlers;
use crate::personality::{Crash, End};
use crate::processes::Shared;
use crate::region::is_ours;
use crate::unwind::{self, Registers};

/// What ended a process.
#[derive(Clone, Debug)]
pub(crate) struct Cause {
    pub signal: i32,
    pub code: i32,
    pub address: usize,
    pub registers: Registers,
    /// Whether the address was to be written.
    pub writing: bool,
    pub interrupted: bool,
}

pub(crate) const SIGNALS: [i32; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];

/// What was done with the signals before us, in the order of [`SIGNALS`].
static BEFORE: OnceLock<Vec<libc::sigaction>> = OnceLock::new();

/// The stack on which a process is left that has none any more. One process runs at a time.
static EMERGENCY: AtomicUsize = AtomicUsize::new(0);
const EMERGENCY_BYTES: usize = 64 * 1024;

/// The cause that is being handled; one process runs at a time.
static CAUSE: Mutex<Option<Cause>> = Mutex::new(None);
/// What is wrong, where we have found it ourselves and raised the signal.
static MESSAGE: Mutex<Option<String>> = Mutex::new(None);

/// The thread that runs a process, and whether somebody wants it to end.
static RUNNER: AtomicI32 = AtomicI32::new(0);
static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// Whether somebody wants to know where it is, and what they are told.
static IS_GLANCED_AT: AtomicBool = AtomicBool::new(false);
static GLANCED: Mutex<Option<(usize, Registers)>> = Mutex::new(None);
/// Whether a worker of the process did what ends it.
static IS_OF_WORKER: AtomicBool = AtomicBool::new(false);

fn interrupt_signal() -> i32 {
    libc::SIGRTMIN() + 7
}

global_asm!(
    ".text",
    ".balign 16",
    ".hidden simurgh_crashed",
    ".globl simurgh_crashed",
    ".type simurgh_crashed, @function",
    "simurgh_crashed:",
    ".cfi_startproc",
    ".cfi_undefined rip",
    "xor ebp, ebp",
    "call {crashed}",
    "ud2",
    ".cfi_endproc",
    ".size simurgh_crashed, . - simurgh_crashed",
    crashed = sym crashed,
);

unsafe extern "C" {
    fn simurgh_crashed();
}

/// Begins to handle signals, once.
pub(crate) fn install() -> Result<(), Error> {
    static LOCK: Mutex<()> = Mutex::new(());
    let _lock = LOCK.lock().expect("nobody panics with it");
    if BEFORE.get().is_some() {
        return Ok(());
    }
    let stack = vec![0_u128; EMERGENCY_BYTES / 16].leak();
    EMERGENCY.store(stack.as_ptr() as usize + EMERGENCY_BYTES, Ordering::Release);
    let mut before = Vec::new();
    let handle = |signal: i32| {
        // SAFETY: an action that is zero but for what is set; the handler is of the type that the flags say.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as *const () as usize;
            // A glance at a process does not cut its system calls short.
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_NODEFER | libc::SA_RESTART;
            libc::sigemptyset(&raw mut action.sa_mask);
            let mut old: libc::sigaction = std::mem::zeroed();
            let done = libc::sigaction(signal, &raw const action, &raw mut old) == 0;
            done.then_some(old).ok_or_else(|| Error::system("cannot handle signals"))
        }
    };
    for signal in SIGNALS {
        before.push(handle(signal)?);
    }
    handle(interrupt_signal())?;
    crate::lending::install()?;
    let _ = BEFORE.set(before);
    Ok(())
}

thread_local! {
    /// The number of this thread, once it is prepared.
    static THREAD: Cell<i32> = const { Cell::new(0) };
}

/// Gives this thread a stack for handlers, if it has none.
#[inline]
pub(crate) fn prepare_thread() {
    if THREAD.get() == 0 {
        prepare_thread_first();
    }
    RUNNER.store(THREAD.get(), Ordering::Release);
}

#[cold]
fn prepare_thread_first() {
    // SAFETY: the stack for handlers is never given back.
    unsafe {
        let mut old: libc::stack_t = std::mem::zeroed();
        libc::sigaltstack(std::ptr::null(), &raw mut old);
        if old.ss_flags & libc::SS_DISABLE != 0 || old.ss_size < 128 * 1024 {
            let memory = vec![0_u128; 16 << 10].leak();
            let stack = libc::stack_t {
                ss_sp: memory.as_mut_ptr().cast(),
                ss_flags: 0,
                ss_size: size_of_val(memory),
            };
            libc::sigaltstack(&raw const stack, std::ptr::null_mut());
        }
        THREAD.set(libc::gettid());
    }
}

extern "C" fn handler(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel gives the registers, which the thread goes on with.
    if signal != interrupt_signal()
        && execute::has_faulted(unsafe { &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs })
    {
        return;
    }
    let interrupted = signal == interrupt_signal();
    let owner = current::owner();
    if !owner.is_null() && owner != current::rank_anywhere() {
        // A worker of a process that is over, or waits: it has nothing left to do.
        park();
    }
    let rank = if owner.is_null() { current::rank() } else { owner };
    if rank.is_null() {
        if !interrupted {
            as_before(signal, info, context);
        }
        return;
    }
    if interrupted && owner.is_null() && IS_GLANCED_AT.swap(false, Ordering::AcqRel) {
        // SAFETY: the kernel gives the registers; a process that runs is alive.
        unsafe {
            let general = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
            if let Ok(mut place) = GLANCED.try_lock() {
                *place = Some(((*rank).index, Registers::of_signal(general)));
            }
        }
        return;
    }
    let of_worker = interrupted && IS_OF_WORKER.swap(false, Ordering::AcqRel);
    // SAFETY: it runs.
    let is_in_host = unsafe { (*rank).heap != Heap::Program };
    if interrupted && !of_worker && (is_in_host || !IS_INTERRUPTED.swap(false, Ordering::AcqRel)) {
        // What the host does for it may hold a lock: whoever wants its end asks again.
        return;
    }
    // SAFETY: the kernel gives both; the registers are what the thread goes on with after the handler.
    unsafe {
        let general = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let cause = Cause {
            signal,
            code: (*info).si_code,
            address: (*info).si_addr() as usize,
            registers: Registers::of_signal(general),
            writing: general[libc::REG_ERR as usize] & 2 != 0,
            interrupted,
        };
        let handler = if owner.is_null() && !interrupted { handlers::find(rank, &cause) } else { None };
        // What a worker did is noted already.
        if !of_worker && let Ok(mut place) = CAUSE.try_lock() {
            *place = Some(cause);
        }
        if let Some(handler) = handler {
            handlers::call(handler, signal, info, context, simurgh_crashed as *const () as usize);
            return;
        }
        if !owner.is_null() {
            // The thread that runs the process leaves it; this one has nothing left to do.
            IS_OF_WORKER.store(true, Ordering::Release);
            send_to_runner(interrupt_signal());
            park();
        }
        leave_from(general);
    }
}

/// A signal that is none of [`SIGNALS`] ends the process that runs.
///
/// # Safety
/// The kernel gives the registers.
pub(crate) unsafe fn end(signal: i32, context: *mut c_void) {
    // SAFETY: as the caller says; the registers are what the thread goes on with after the handler.
    unsafe {
        let general = &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let registers = Registers::of_signal(general);
        let cause = Cause { signal, code: 0, address: 0, registers, writing: false, interrupted: false };
        if let Ok(mut place) = CAUSE.try_lock() {
            *place = Some(cause);
        }
        leave_from(general);
    }
}

/// The thread goes on where the process is left, on another stack.
pub(crate) fn leave_from(general: &mut [libc::greg_t; 23]) {
    general[libc::REG_RIP as usize] = simurgh_crashed as *const () as i64;
    general[libc::REG_RSP as usize] = (EMERGENCY.load(Ordering::Acquire) & !15) as i64;
}

/// Waits for ever: this thread has nothing left to do.
pub(crate) fn park() -> ! {
    loop {
        // SAFETY: only waits.
        unsafe { libc::pause() };
    }
}

/// Memory of a process that is needed cannot be read or written: nothing can go on, and no memory be taken to say so.
fn last_words(address: usize) -> ! {
    let mut line = [0_u8; 400];
    let room = line.len();
    let mut rest = &mut line[..];
    let _ = writeln!(
        rest,
        "simurgh: segmentation fault outside of all processes, at address {address:#x}: a process has protected or unmapped memory \
         that is put back (mprotect, munmap), or damaged what is not its own (a write far beyond an array, say); if none does so, this \
         is a mistake of Simurgh"
    );
    let length = room - rest.len();
    // SAFETY: the line is there, and nothing else is done.
    unsafe {
        libc::write(2, line.as_ptr().cast(), length);
        libc::_exit(2)
    }
}

/// Does what would have been done without us.
fn as_before(signal: i32, info: *mut libc::siginfo_t, context: *mut c_void) {
    let place = SIGNALS.iter().position(|other| *other == signal).expect("no other is handled");
    let Some(before) = BEFORE.get().map(|before| before[place]) else { return };
    // SAFETY: the kernel gives it.
    let address = unsafe { (*info).si_addr() } as usize;
    if [libc::SIGSEGV, libc::SIGBUS].contains(&signal) && is_ours(address) {
        last_words(address);
    }
    match before.sa_sigaction {
        libc::SIG_IGN => {}
        libc::SIG_DFL => {
            // It comes again when the handler returns, and ends us.
            // SAFETY: gives the signal its default action.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                if signal == libc::SIGABRT {
                    libc::raise(signal);
                }
            }
        }
        address if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: a handler with three arguments was there before.
            unsafe {
                let handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut c_void) =
                    std::mem::transmute(address);
                handler(signal, info, context);
            }
        }
        address => {
            // SAFETY: a handler with one argument was there before.
            unsafe {
                let handler: extern "C" fn(i32) = std::mem::transmute(address);
                handler(signal);
            }
        }
    }
}

/// Runs on the emergency stack, in the place of what went wrong.
extern "C" fn crashed() -> ! {
    let rank = current::rank();
    current::switch_heap(crate::Heap::Host);
    let cause = CAUSE.lock().map_or(None, |mut cause| cause.take());
    // SAFETY: it runs.
    unsafe { (*rank).cause = cause.map(Box::new) };
    crate::fiber::finish()
}

/// Says what is wrong with the process that is about to end.
pub(crate) fn set_message(message: String) {
    if let Ok(mut place) = MESSAGE.lock() {
        *place = Some(message);
    }
}

/// Ends the process that runs with a message, as by a signal. Where none runs, the host is ended.
pub(crate) fn abort_with(message: String) {
    if current::rank_anywhere().is_null() {
        // SAFETY: ends us, as libc does when its heap is misused.
        unsafe { libc::abort() };
    }
    set_message(message);
    // SAFETY: the handler does not come back to a process.
    unsafe { libc::raise(libc::SIGABRT) };
}

/// Ends the process that runs as a signal would that it has raised itself.
pub(crate) fn die(signal: i32) -> ! {
    let rank = current::rank();
    // SAFETY: it runs.
    unsafe { (*rank).died_of = signal };
    crate::debugger::simurgh_debugger_end();
    crate::fiber::finish()
}

/// Sends a signal to the thread that runs a process.
pub(crate) fn send_to_runner(signal: i32) {
    // SAFETY: sends a signal that we handle to a thread of ours.
    unsafe { libc::syscall(libc::SYS_tgkill, libc::getpid(), RUNNER.load(Ordering::Acquire), signal) };
}

/// Ends the process that runs, from another thread.
pub(crate) fn interrupt() -> Option<usize> {
    let rank = current::rank_anywhere();
    if rank.is_null() {
        return None;
    }
    // SAFETY: processes stay; its number does not change.
    let number = unsafe { (*rank).number };
    IS_INTERRUPTED.store(true, Ordering::Release);
    send_to_runner(interrupt_signal());
    Some(number)
}

/// The process of these that runs, by its index, and its registers.
pub(crate) fn glance(shared: &Shared) -> Option<(usize, Registers)> {
    let rank = current::rank_anywhere();
    // SAFETY: processes stay; what they share does not change.
    if rank.is_null() || !std::ptr::eq(unsafe { (*rank).shared }, shared) {
        return None;
    }
    GLANCED.lock().ok()?.take();
    IS_GLANCED_AT.store(true, Ordering::Release);
    // SAFETY: sends a signal that we handle to a thread of ours.
    unsafe {
        libc::syscall(libc::SYS_tgkill, libc::getpid(), RUNNER.load(Ordering::Acquire), interrupt_signal())
    };
    // It answers as soon as it is on a processor.
    for _ in 0..200 {
        std::thread::sleep(std::time::Duration::from_millis(5));
        if let Some(found) = GLANCED.lock().ok()?.take() {
            return Some(found);
        }
    }
    IS_GLANCED_AT.store(false, Ordering::Release);
    None
}

/// What happened to a process that is over, in words, with the place.
pub(crate) fn explain(shared: &Shared, rank: &Rank, cause: Option<&Cause>) -> End {
    let told = MESSAGE.lock().map_or(None, |mut message| message.take());
    let Some(cause) = cause else {
        let backtrace = unwind::backtrace(shared, &Registers::suspended(rank.stack));
        let place = backtrace.iter().find_map(|frame| frame.place.clone());
        let signal = rank.died_of;
        let message = told.unwrap_or_else(|| name(signal));
        let crash = Box::new(Crash { signal, address: 0, message, place, backtrace });
        return if signal == libc::SIGABRT { End::Aborted(crash) } else { End::Crashed(crash) };
    };
    let mut registers = cause.registers.clone();
    let is_called = cause.signal == libc::SIGSEGV && registers.rip == cause.address;
    if is_called {
        // A call of what is no function has no frame yet: where it returns to is on the stack.
        registers.leave_call(shared.region.stack(rank.index));
    }
    let backtrace = unwind::backtrace(shared, &registers);
    let place = backtrace.iter().find_map(|frame| frame.place.clone());
    let message = told.unwrap_or_else(|| describe(shared, rank, cause, is_called));
    let signal = if cause.interrupted { libc::SIGALRM } else { cause.signal };
    let crash = Box::new(Crash { signal, address: cause.address, message, place, backtrace });
    End::Crashed(crash)
}

/// A signal that was raised, in words.
fn name(signal: i32) -> String {
    match signal {
        libc::SIGABRT => "aborted".to_owned(),
        libc::SIGSEGV => "segmentation fault, raised".to_owned(),
        libc::SIGFPE => "floating-point exception, raised".to_owned(),
        libc::SIGILL => "illegal instruction, raised".to_owned(),
        libc::SIGBUS => "bus error, raised".to_owned(),
        libc::SIGTERM => "terminated by its own signal (SIGTERM)".to_owned(),
        libc::SIGALRM => "ended by an alarm that it has set (SIGALRM), which it does not handle".to_owned(),
        other => format!("ended by its own signal {other}"),
    }
}

fn describe(shared: &Shared, rank: &Rank, cause: &Cause, is_called: bool) -> String {
    let address = cause.address;
    if cause.interrupted {
        return "did not come back: ended while it ran".to_owned();
    }
    if let Some(name) = shared.image.undefined_at(address) {
        return format!("uses {name}, which neither the program nor its libraries nor Simurgh define");
    }
    match cause.signal {
        libc::SIGSEGV | libc::SIGBUS
            if shared.region.is_guard(rank.index, address)
                || shared.region.is_below_stack(rank.index, cause.registers.stack()) =>
        {
            let bytes = shared.options.stack;
            format!(
                "stack overflow: more than {} KiB of stack; `ulimit -s` raises the limit, and `malloc` has none",
                bytes / 1024
            )
        }
        libc::SIGSEGV if is_called && address == 0 => {
            "segmentation fault: call of a null function pointer".to_owned()
        }
        libc::SIGSEGV if is_called => {
            format!("segmentation fault: call of {address:#x}, which is no function")
        }
        libc::SIGSEGV if cause.code == 128 => {
            "segmentation fault at an address that does not exist".to_owned()
        }
        libc::SIGSEGV if cause.code <= 0 => "segmentation fault, raised".to_owned(),
        libc::SIGSEGV => {
            let what = if cause.writing { "writing" } else { "reading" };
            format!("segmentation fault {what} {address:#x}")
        }
        libc::SIGBUS => format!("bus error at {address:#x}"),
        libc::SIGFPE if cause.code == 1 => "integer division by zero".to_owned(),
        libc::SIGFPE => "floating-point exception".to_owned(),
        libc::SIGILL => "illegal instruction".to_owned(),
        libc::SIGABRT => "aborted".to_owned(),
        other => format!("signal {other}"),
    }
}
