//! Threads that work for a process: those of OpenMP.
//!
//! libgomp makes them while the process runs. They allocate from the heap of whoever runs, and their thread-local
//! variables begin with the values that the program gives them.

use std::ffi::c_void;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use crate::arena::HAS_WORKERS;
use crate::current;
use crate::tls::thread_pointer;

type Function = extern "C" fn(*mut c_void) -> *mut c_void;
type Create = unsafe extern "C" fn(*mut c_void, *const c_void, Function, *mut c_void) -> i32;

/// What a worker begins with.
struct Worker {
    function: Function,
    argument: *mut c_void,
    variables: Vec<u8>,
    owner: *mut current::Rank,
}

extern "C" fn work(worker: *mut c_void) -> *mut c_void {
    // SAFETY: made by whoever created this thread, for it alone.
    let Worker { function, argument, variables, owner } = *unsafe { Box::from_raw(worker.cast::<Worker>()) };
    // SAFETY: the pad ends at the thread pointer, and is at least that long.
    unsafe {
        let pad = (thread_pointer() - variables.len()) as *mut u8;
        pad.copy_from_nonoverlapping(variables.as_ptr(), variables.len());
    }
    drop(variables);
    // SAFETY: the process waits for its workers while it lives.
    unsafe { current::become_worker(owner) };
    function(argument)
}

/// `pthread_create`, for the whole of our own process: a thread that is made while a process runs works for it.
///
/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    thread: *mut c_void,
    attributes: *const c_void,
    function: Function,
    argument: *mut c_void,
) -> i32 {
    static REAL: OnceLock<usize> = OnceLock::new();
    // SAFETY: libc has this function, of this type; arguments are handed on as they came.
    unsafe {
        let real = *REAL.get_or_init(|| libc::dlsym(libc::RTLD_NEXT, c"pthread_create".as_ptr()) as usize);
        let real: Create = std::mem::transmute(real);
        let owner = current::rank_or_owner();
        if owner.is_null() {
            return real(thread, attributes, function, argument);
        }
        HAS_WORKERS.store(true, Ordering::Relaxed);
        current::with_heap(current::Heap::Host, || {
            let variables = (&*(*owner).shared).image.initial_variables(owner);
            let worker = Box::into_raw(Box::new(Worker { function, argument, variables, owner }));
            let error = real(thread, attributes, work, worker.cast());
            if error != 0 {
                drop(Box::from_raw(worker));
            }
            error
        })
    }
}
