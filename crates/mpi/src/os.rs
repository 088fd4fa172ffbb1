//! What the library asks of whoever runs the processes: the kernel's answers, the clock, the heaps, an end.
//!
//! All that is below a process passes here, so that nothing else of this crate knows how processes are run.

use crate::rank::Rank;
use simurgh_kernel::ids::ActorId;
use simurgh_kernel::simcall::{Answer, SendRequest, Simcall};

/// Asks the kernel on behalf of the process that runs, which waits for the answer.
pub fn ask(_simcall: Simcall) -> Answer {
    unimplemented!("waits for crates/native")
}

/// Sends a message that nobody waits for.
pub fn post(_request: SendRequest) {
    unimplemented!("waits for crates/native")
}

/// Makes something that does not belong to the process that runs.
pub fn in_heap_of_all<T>(make: impl FnOnce() -> T) -> T {
    make()
}

/// Runs code of the program, for which memory is taken from its own heap.
pub fn in_heap_of_program<T>(run: impl FnOnce() -> T) -> T {
    run()
}

/// The process that runs.
pub fn rank() -> &'static Rank {
    unimplemented!("waits for crates/native")
}

/// The present date, seconds.
pub fn now() -> f64 {
    unimplemented!("waits for crates/native")
}

/// Ends the whole run, with a word for people.
pub fn abort(_code: i32, _message: &str) -> ! {
    unimplemented!("waits for crates/native")
}

/// The actor that runs the process.
pub fn actor() -> ActorId {
    unimplemented!("waits for crates/native")
}

/// Waits until all processes have begun.
pub fn all_have_begun() {
    unimplemented!("waits for crates/native")
}
