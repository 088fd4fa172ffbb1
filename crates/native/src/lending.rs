//! Workers of OpenMP that call the host: the thread that runs their process does it for them.
//!
//! Only that thread can switch to other processes. A worker leaves its request and sends a signal, whose handler serves the
//! request on the stack of the process, between two instructions of its own: while it waits for its team, say, or computes.
//! Where the process is within the host or libc, which may hold locks, nothing is done, and the worker asks again.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::current::{self, Heap, Rank, Stage};
use crate::error::Error;
use crate::{libgomp, signals};

/// What a worker wants done.
struct Request {
    call: *mut (dyn FnMut() + 'static),
    is_taken: AtomicBool,
    is_done: AtomicBool,
}

/// What the workers of a process ask of it.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// The request that waits to be taken.
    waiting: AtomicPtr<Request>,
    /// Held by whoever has a request there that is not taken yet.
    asking: Mutex<()>,
}

fn signal() -> i32 {
    libc::SIGRTMIN() + 8
}

/// Begins to serve workers. The handler runs on the stack of the process, since it may be left for other processes.
pub(crate) fn install() -> Result<(), Error> {
    // SAFETY: an action that is zero but for what is set; the handler is of the type that the flags say.
    let done = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = serve as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_RESTART;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(signal(), &raw const action, std::ptr::null_mut()) == 0
    };
    if done { Ok(()) } else { Err(Error::system("cannot handle signals")) }
}

/// Whether this thread is a worker of a process, which has to [`borrow`](on_process) the thread that runs it.
#[inline]
pub fn is_worker() -> bool {
    !current::owner().is_null()
}

/// Whether what runs now was asked for by a worker.
pub fn is_for_worker() -> bool {
    let rank = current::rank();
    // SAFETY: it runs.
    !rank.is_null() && unsafe { (*rank).serves }
}

/// Lets the process that this worker works for do something; waits until it is done.
pub fn on_process(call: &mut dyn FnMut()) {
    let owner = current::owner();
    // SAFETY: processes stay, whatever becomes of them.
    let asked = unsafe { &(*owner).asked };
    // SAFETY: the request is over before this function returns, so what the function borrows is still there.
    let call = unsafe { std::mem::transmute::<*mut dyn FnMut(), *mut (dyn FnMut() + 'static)>(call) };
    let request = Request { call, is_taken: AtomicBool::new(false), is_done: AtomicBool::new(false) };
    let asking = asked.asking.lock().unwrap_or_else(PoisonError::into_inner);
    asked.waiting.store((&raw const request).cast_mut(), Ordering::Release);
    wait(owner, || {
        // While another process runs, ours waits for something; its turn comes.
        let is_taken = request.is_taken.load(Ordering::Acquire);
        if !is_taken && current::rank_anywhere() == owner {
            signals::send_to_runner(signal());
        }
        is_taken
    });
    drop(asking);
    wait(owner, || request.is_done.load(Ordering::Acquire));
}

/// Waits until something is so: shortly at first; for ever if the process is over.
fn wait(owner: *mut Rank, mut is_so: impl FnMut() -> bool) {
    for round in 0_u32.. {
        if is_so() {
            return;
        }
        // SAFETY: processes stay, whatever becomes of them.
        if unsafe { (&raw const (*owner).stage).read_volatile() } == Stage::Over {
            signals::park();
        }
        if round < 20 {
            std::thread::yield_now();
        } else {
            std::thread::sleep(Duration::from_micros(u64::from(round.min(100))));
        }
    }
}

/// The instruction that calls the kernel.
const SYSCALL: [u8; 2] = [0x0f, 0x05];

/// Does what a worker of the process that runs here asks for.
extern "C" fn serve(_signal: i32, _info: *mut libc::siginfo_t, context: *mut c_void) {
    let rank = current::rank();
    if rank.is_null() {
        return;
    }
    // SAFETY: the process runs on this thread; the kernel gives the registers.
    let is_free = unsafe {
        let general = &(*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs;
        let at = general[libc::REG_RIP as usize] as usize;
        // About to wait again, for a lock or a team: it holds nothing that the host needs.
        let is_waiting =
            general[libc::REG_RAX as usize] == libc::SYS_futex && *(at as *const [u8; 2]) == SYSCALL;
        let shared = &*(*rank).shared;
        let image = shared.region.image_of((*rank).index);
        let is_own = at.wrapping_sub(image) < shared.region.span;
        (*rank).heap == Heap::Program && (is_own || is_waiting || libgomp::is_code(at))
    };
    if !is_free {
        return;
    }
    // SAFETY: it runs.
    let waiting = unsafe { (*rank).asked.waiting.swap(std::ptr::null_mut(), Ordering::AcqRel) };
    if waiting.is_null() {
        return;
    }
    // SAFETY: who asks waits until it is done.
    let request = unsafe { &*waiting };
    // SAFETY: the errno of this thread, the process that runs, and a function whose caller waits for it.
    unsafe {
        let errno = *libc::__errno_location();
        request.is_taken.store(true, Ordering::Release);
        let before = std::mem::replace(&mut (*rank).serves, true);
        (*request.call)();
        (*rank).serves = before;
        request.is_done.store(true, Ordering::Release);
        *libc::__errno_location() = errno;
    }
}
