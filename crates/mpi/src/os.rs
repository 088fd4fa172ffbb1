//! What the library asks of whoever runs the processes: the kernel's answers, the clock, the heaps, an end.
//!
//! All that is below a process passes here, so that nothing else of this crate knows how processes are run.

use std::fs::File;
use std::os::fd::AsFd;

use simurgh_kernel::ids::{ActivityId, ActorId};
use simurgh_kernel::simcall::{Answer, Note, Post, RecvRequest, SendRequest, Simcall};
use simurgh_native::{End, Heap};

use crate::rank::Rank;
use crate::verify::Kind;
use crate::world::Aborted;

/// Asks the kernel on behalf of the process that runs, which waits for the answer.
pub fn ask(simcall: Simcall) -> Answer {
    simurgh_native::ask(simcall)
}

/// Sends a message that nobody waits for.
pub fn post(request: SendRequest) {
    let mut request = Some(request);
    simurgh_native::with_port(|port| {
        if port.takes_posts {
            port.posts.extend(request.take().map(Post::Send));
        }
    });
    if let Some(request) = request {
        ask(Simcall::Send(request, simurgh_kernel::simcall::Follow::Detach));
    }
}

/// Whether receives can be left to whoever drives the process that runs.
pub fn takes_posts() -> bool {
    simurgh_native::look(|port| port.takes_posts)
}

/// Leaves a receive, which is posted before the next request.
pub fn leave(request: RecvRequest) {
    simurgh_native::with_port(|port| port.posts.push(Post::Recv(request)));
}

/// Looks at the identities of the receives that were left before the last request.
pub fn received(look: impl FnOnce(&[ActivityId])) {
    simurgh_native::look(|port| look(&port.received));
}

/// Leaves a word for the kernel, which it hears before the next request.
pub fn note(note: Note) {
    simurgh_native::with_port(|port| port.notes.push(note));
}

/// Hands lines to whoever drives the process that runs, if it wants them.
pub fn say(bytes: &[u8]) {
    // What a process leaves unfinished at its end is handed on when it does not run any more.
    if simurgh_native::current().is_none() {
        return;
    }
    simurgh_native::with_port(|port| {
        if port.wants_labels {
            port.said.extend(String::from_utf8_lossy(bytes).lines().map(str::to_owned));
        }
    });
}

/// The process that runs may write, remove or make what is at a path.
pub fn touches(path: &str) {
    simurgh_native::touch(path.as_ref());
}

/// The process that runs has opened a descriptor, or is about to close it.
pub fn descriptor(number: i32, is_open: bool) {
    simurgh_native::note_descriptor(number, is_open);
}

/// The memory of long messages stays with the allocator: to get pages from the system again is dearer than to fill them.
pub fn keep_pages() {
    const MAPPED: i32 = 32 << 20;
    const KEPT: i32 = 256 << 20;
    // SAFETY: they say what the allocator does with what is given back from now on.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
    }
}

/// Makes something that does not belong to the process that runs.
pub fn in_heap_of_all<T>(make: impl FnOnce() -> T) -> T {
    simurgh_native::with_heap(Heap::Host, make)
}

/// Runs code of the program, for which memory is taken from its own heap.
pub fn in_heap_of_program<T>(run: impl FnOnce() -> T) -> T {
    simurgh_native::with_heap(Heap::Program, run)
}

/// Runs code of the library, for which memory is taken from the library's heap of the process.
pub fn in_heap_of_library<T>(run: impl FnOnce() -> T) -> T {
    simurgh_native::with_heap(Heap::Library, run)
}

/// The process that runs.
///
/// # Panics
/// If none does.
pub fn rank() -> &'static Rank {
    let rank = simurgh_native::local::<Rank>();
    assert!(!rank.is_null(), "a process of MPI has begun");
    // SAFETY: it was made when the process began, and stays as long as the process does.
    unsafe { &*rank }
}

/// The bytes of stack that a process may have: as many as this machine gives (`ulimit -s`), within reason.
pub fn stack_limit() -> usize {
    const LEAST: u64 = 8 << 20;
    const MOST: u64 = 1 << 30;
    let mut limit = libc::rlimit { rlim_cur: LEAST, rlim_max: LEAST };
    // SAFETY: it writes to what is given.
    unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) };
    limit.rlim_cur.clamp(LEAST, MOST) as usize
}

/// Whether this is a child that a process made by `fork`.
#[inline]
pub fn is_child() -> bool {
    simurgh_native::is_child()
}

/// Ends such a child, which does what a process alone can do.
pub fn end_child(deed: &str) -> ! {
    simurgh_native::end_child(rank().process as usize, deed)
}

/// Whether a worker of OpenMP calls, which cannot wait for others itself.
#[inline]
pub fn is_worker() -> bool {
    simurgh_native::is_worker()
}

/// Lets the process of a worker do something.
pub fn on_process(call: &mut dyn FnMut()) {
    simurgh_native::on_process(call);
}

/// Whether a worker has called what runs now.
pub fn is_for_worker() -> bool {
    simurgh_native::is_for_worker()
}

/// A process begins: what the library knows of it is made.
pub fn begins(make: impl FnOnce() -> Rank) {
    let rank = in_heap_of_library(|| Box::into_raw(Box::new(make())));
    simurgh_native::set_local(rank);
}

/// The present date, seconds.
pub fn now() -> f64 {
    simurgh_native::look(|port| port.now.seconds())
}

/// The actor that runs the process.
pub fn actor() -> ActorId {
    simurgh_native::look(|port| port.actor)
}

/// Where the program goes on after the call that is served, if that is noted.
pub fn caller() -> usize {
    simurgh_native::caller()
}

/// Where a function lies in the program of the process that runs: a number of the program, and its place in it.
pub fn place_in_program(address: usize) -> Option<(usize, usize)> {
    simurgh_native::place_in_program(address)
}

/// Watches memory of the process that runs, with at most so much effort.
pub fn watch(effort: u64, ranges: impl FnOnce() -> Vec<(usize, usize)>) {
    let goes_on = rank().caller.get();
    if goes_on != 0 {
        in_heap_of_all(|| simurgh_native::watch(ranges(), effort, goes_on));
    }
}

/// A number of the state that the program of the process is in, without memory that others write.
pub fn state_without(others: &[(usize, usize)]) -> Option<u64> {
    simurgh_native::state_without(others)
}

/// A call within another is over.
pub fn set_caller(address: usize) {
    simurgh_native::set_caller(address);
}

/// Ends the whole run, with a word for people that does not say whose it is.
pub fn abort(kind: Kind, code: i32, message: &str) -> ! {
    end_with(kind, code, message, caller())
}

/// The same, at a place of the program.
pub fn end_with(kind: Kind, code: i32, message: &str, at: usize) -> ! {
    let me = rank();
    in_heap_of_all(|| {
        let mut aborted = me.world.aborted.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // Where executions are explored, each process says how it ended.
        if aborted.is_none() || me.world.explored {
            *aborted = Some(Aborted { process: me.process, code, message: message.to_owned(), kind, at });
        }
    });
    if !me.world.explored {
        ask(Simcall::KillAll);
    }
    simurgh_native::leave(End::Exited(code))
}

/// Waits until all processes have begun.
pub fn all_have_begun() {
    ask(Simcall::Arrive { barrier: rank().start, told: false });
}

/// Where a variable of the program is, in the memory of the process that runs.
pub fn symbol(name: &str) -> Option<usize> {
    simurgh_native::symbol(name)
}

/// Standard output, for the caller alone: what it wants there is written to the file. What processes make write to it (commands that
/// they start, children of theirs) goes to standard error from now on.
///
/// # Errors
/// If one of them is closed; nothing is changed then.
pub fn keep_output() -> std::io::Result<File> {
    let kept = std::io::stdout().as_fd().try_clone_to_owned()?;
    // SAFETY: both numbers are those of standard streams, which stay open.
    match unsafe { libc::dup2(2, 1) } {
        1 => Ok(kept.into()),
        _ => Err(std::io::Error::last_os_error()),
    }
}

/// Ends this process as one whose reader has gone away.
pub fn end_by_closed_pipe() -> ! {
    // SAFETY: the signal does what it does by default, which is the end of the process.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::raise(libc::SIGPIPE);
    }
    std::process::abort()
}
