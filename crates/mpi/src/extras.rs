//! What programs may call beside MPI: the functions of `simurgh.h`.

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::entry::Offered;
use crate::os;
use crate::rank::Rank;
use crate::sampling::{Enough, Place};
use crate::traces::play::simurgh_replay;

macro_rules! offered {
    ($($name:ident),* $(,)?) => {
        /// Under which names programs find them.
        pub const OFFERED: &[Offered] = &[$(Offered { name: stringify!($name), address: $name as *const () }),*];
    };
}

offered! {
    simurgh_sample_begin,
    simurgh_sample_end,
    simurgh_execute,
    simurgh_execute_flops,
    simurgh_host_speed,
    simurgh_shared_malloc,
    simurgh_shared_free,
    simurgh_replay,
}

/// The program calls.
fn called<T>(call: impl FnOnce(&Rank) -> T) -> T {
    os::in_heap_of_library(|| call(os::rank()))
}

fn place(file: *const c_char, line: c_int) -> Place {
    // SAFETY: the macros of the header give the name of the file.
    let file = if file.is_null() { c"" } else { unsafe { CStr::from_ptr(file) } };
    (line as u32, file.to_string_lossy().into_owned())
}

extern "C" fn simurgh_sample_begin(
    file: *const c_char,
    line: c_int,
    global: c_int,
    times: c_int,
    error: f64,
) -> c_int {
    let enough = Enough { times: u32::try_from(times).unwrap_or(0), error };
    called(|me| c_int::from(me.begins_sample(&place(file, line), global != 0, enough)))
}

extern "C" fn simurgh_sample_end(file: *const c_char, line: c_int, global: c_int) -> c_int {
    called(|me| me.ends_sample(place(file, line), global != 0));
    0
}

/// So many seconds of computation, at the full speed of the host.
extern "C" fn simurgh_execute(seconds: f64) {
    called(|me| executes(me, seconds * me.world.speed(me.process)));
}

extern "C" fn simurgh_execute_flops(flops: f64) {
    called(|me| executes(me, flops));
}

fn executes(me: &Rank, flops: f64) {
    me.has_computed();
    if flops > 0.0 && flops.is_finite() {
        me.compute(flops);
    }
    me.goes_on();
}

extern "C" fn simurgh_host_speed() -> f64 {
    called(|me| me.world.speed(me.process))
}

extern "C" fn simurgh_shared_malloc(bytes: usize, file: *const c_char, line: c_int) -> *mut c_void {
    let me = os::rank();
    let memory = os::in_heap_of_all(|| me.world.shared_memory().allocate(place(file, line), bytes));
    memory.map_or(std::ptr::null_mut(), |memory| memory as *mut c_void)
}

extern "C" fn simurgh_shared_free(memory: *mut c_void) {
    let me = os::rank();
    if memory.is_null() || os::in_heap_of_all(|| me.world.shared_memory().free(memory as usize)) {
        return;
    }
    // Programs that give back everything in one way, whatever it is.
    // SAFETY: the program gives what malloc gave.
    os::in_heap_of_program(|| unsafe { libc::free(memory) });
}
