//! Who runs: the process whose code is on the processor, what it asks, and where its memory comes from.
//!
//! One process runs at a time in the whole of our own process, whatever the number of threads, since libc is there once.
//! A thread that runs it has a mark, so that other threads of the host do not take part; a worker of OpenMP knows whom
//! it works for.

use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::sync::Mutex;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use simurgh_kernel::context::Port;
use simurgh_kernel::simcall::{Answer, Simcall};

use crate::arena::Arena;
use crate::callers;
use crate::files::Descriptor;
use crate::handlers::Handler;
use crate::lending::Asked;
use crate::personality::End;
use crate::processes::Shared;
use crate::signals::Cause;
use crate::watch::Watch;

/// Which heap serves `malloc` and its like while a process runs.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Heap {
    /// The host's: what outlives the process, or is not part of its state.
    Host,
    /// That of the program.
    Program,
    /// That of what works for the process within the host, and is part of its state.
    Library,
}

/// Where a process is in its life.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
#[repr(u8)]
pub(crate) enum Stage {
    New,
    Suspended,
    Running,
    Over,
}

/// A process, for the host. It stays where it is.
pub(crate) struct Rank {
    pub number: usize,
    pub index: usize,
    /// What all processes of the program share.
    pub shared: *const Shared,
    pub stage: Stage,
    /// Where its stack was left; that of who drives it while it runs.
    pub stack: usize,
    /// What the program is begun with, at the end of its stack.
    pub arguments: usize,
    pub driver: usize,
    pub port: *mut Port,
    /// The date when it last began to run, for its workers.
    pub now: f64,
    pub heap: Heap,
    pub arenas: [*mut Arena; 2],
    pub errno: i32,
    pub locale: usize,
    /// Where it went by `chdir`, if it did.
    pub directory: Option<OwnedFd>,
    /// What it said by `umask`, if it did.
    pub mask: Option<libc::mode_t>,
    pub libgomp: Vec<u8>,
    pub local: *mut (),
    /// What was written to output and error since the last whole line.
    pub lines: [Vec<u8>; 2],
    /// Streams of libc that it has open.
    pub streams: Vec<usize>,
    /// What is watched of its memory.
    pub watch: Watch,
    /// Descriptors that it has open.
    pub descriptors: Vec<Descriptor>,
    /// Memory that it has mapped: where, and how much.
    pub maps: Vec<(usize, usize)>,
    /// What its workers ask of it, and whether it does that now.
    pub asked: Asked,
    pub serves: bool,
    /// What it does itself about faults, in the order of [`SIGNALS`](crate::signals::SIGNALS).
    pub handlers: [Handler; 5],
    /// How it left, by itself.
    pub left: Option<End>,
    /// The signal that it ended itself by.
    pub died_of: i32,
    /// What ended it.
    pub cause: Option<Box<Cause>>,
    pub end: Option<End>,
}

// SAFETY: the pointers lead to what lives as long as the process or the call that drives it, and whoever touches a
// process holds the gate.
unsafe impl Send for Rank {}

/// Held by whoever runs a process.
pub(crate) static GATE: Mutex<()> = Mutex::new(());

/// The process that runs; null if none does.
static CURRENT: AtomicPtr<Rank> = AtomicPtr::new(std::ptr::null_mut());

thread_local! {
    /// The heap that serves this thread: null is the host's.
    static ARENA: Cell<*mut Arena> = const { Cell::new(std::ptr::null_mut()) };
    /// Whether this thread runs the process that runs, and not a worker.
    static RUNS: Cell<bool> = const { Cell::new(false) };
    /// The process that this thread works for, if it is a worker of OpenMP.
    static OWNER: Cell<*mut Rank> = const { Cell::new(std::ptr::null_mut()) };
}

/// The heap that serves this thread now; null is the host's.
#[inline]
pub(crate) fn arena() -> *mut Arena {
    ARENA.get()
}

/// Makes this thread one that works for a process.
///
/// # Safety
/// The process is alive.
pub(crate) unsafe fn become_worker(rank: *mut Rank) {
    OWNER.set(rank);
    // SAFETY: as the caller says.
    ARENA.set(unsafe { arena_for(rank, Heap::Program) });
}

/// The process that this thread works for, or null.
pub(crate) fn owner() -> *mut Rank {
    OWNER.get()
}

/// The process that runs on this thread, or that it works for; null if there is none.
pub(crate) fn rank_or_owner() -> *mut Rank {
    if RUNS.get() { CURRENT.load(Ordering::Relaxed) } else { OWNER.get() }
}

/// How many times a process began to run, for those who watch over them.
static TURNS: AtomicU64 = AtomicU64::new(0);

/// Which turn it is; none while no process runs.
pub(crate) fn turn() -> Option<u64> {
    let turn = TURNS.load(Ordering::Relaxed);
    (!rank_anywhere().is_null()).then_some(turn)
}

/// How many turns there were, whether a process runs or not.
pub(crate) fn turns() -> u64 {
    TURNS.load(Ordering::Relaxed)
}

/// Says that a process runs on this thread from now on, or that none does.
pub(crate) fn set(rank: *mut Rank) {
    CURRENT.store(rank, Ordering::Release);
    TURNS.store(TURNS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    RUNS.set(!rank.is_null());
    if rank.is_null() {
        ARENA.set(std::ptr::null_mut());
    } else {
        // SAFETY: it is about to run, and stays until it does not.
        unsafe { ARENA.set(arena_for(rank, (*rank).heap)) };
    }
}

/// # Safety
/// The process is alive.
#[inline]
unsafe fn arena_for(rank: *mut Rank, heap: Heap) -> *mut Arena {
    match heap {
        Heap::Host => std::ptr::null_mut(),
        // SAFETY: as the caller says.
        Heap::Program => unsafe { (*rank).arenas[0] },
        // SAFETY: as the caller says.
        Heap::Library => unsafe { (*rank).arenas[1] },
    }
}

/// The process that runs on this thread, or null.
#[inline]
pub(crate) fn rank() -> *mut Rank {
    if RUNS.get() { CURRENT.load(Ordering::Relaxed) } else { std::ptr::null_mut() }
}

/// The process that runs on any thread, or null.
pub(crate) fn rank_anywhere() -> *mut Rank {
    CURRENT.load(Ordering::Acquire)
}

#[inline]
fn running() -> *mut Rank {
    let rank = rank();
    assert!(!rank.is_null(), "no process of a compiled program runs on this thread");
    rank
}

/// The number of the process that runs on this thread.
pub fn current() -> Option<usize> {
    let rank = rank();
    // SAFETY: a process that runs is alive.
    (!rank.is_null()).then(|| unsafe { (*rank).number })
}

/// Asks the kernel something in the name of the process that runs, and waits for the answer.
///
/// # Panics
/// When no process runs on this thread.
pub fn ask(simcall: Simcall) -> Answer {
    let rank = running();
    // SAFETY: whoever drives the process lends it a port while it runs. Nothing is allocated: there is no other question in it.
    unsafe { (*(*rank).port).simcall = Some(simcall) };
    let caller = callers::caller();
    crate::fiber::suspend();
    // Others have called meanwhile.
    callers::set_caller(caller);
    // SAFETY: as above; it may be another port.
    unsafe { (*(*rank).port).answer.take() }.expect("what is asked is answered")
}

/// Looks at the port of the process that runs.
///
/// # Panics
/// When no process runs on this thread.
#[inline]
pub fn look<T>(f: impl FnOnce(&Port) -> T) -> T {
    // SAFETY: whoever drives the process lends it a port while it runs.
    f(unsafe { &*(*running()).port })
}

/// Looks at, or adds to, the port of the process that runs. What `f` allocates belongs to the host.
///
/// # Panics
/// When no process runs on this thread.
#[inline]
pub fn with_port<T>(f: impl FnOnce(&mut Port) -> T) -> T {
    let rank = running();
    // SAFETY: whoever drives the process lends it a port while it runs.
    with_heap(Heap::Host, || f(unsafe { &mut *(*rank).port }))
}

/// Ends the process that runs.
///
/// # Panics
/// When no process runs on this thread.
pub fn leave(end: End) -> ! {
    let rank = running();
    if !matches!(end, End::Exited(0)) {
        crate::debugger::simurgh_debugger_end();
    }
    // SAFETY: it runs.
    unsafe { (*rank).left = Some(end) };
    crate::fiber::finish()
}

/// The personality's own word about the process that runs; null at first.
///
/// # Panics
/// When no process runs on this thread.
#[inline]
pub fn local<T>() -> *mut T {
    // SAFETY: it runs.
    unsafe { (*running()).local.cast() }
}

/// Sets the personality's own word about the process that runs.
///
/// # Panics
/// When no process runs on this thread.
pub fn set_local<T>(pointer: *mut T) {
    // SAFETY: it runs.
    unsafe { (*running()).local = pointer.cast() };
}

/// Where something of this name is in the memory of the process that runs: of its program, or else of a library.
///
/// # Panics
/// When no process runs on this thread.
pub fn symbol(name: &str) -> Option<usize> {
    let rank = running();
    // SAFETY: it runs, and what processes share lives longer than they do.
    let (shared, index) = unsafe { (&*(*rank).shared, (*rank).index) };
    let group = &shared.image.group;
    let found = group.find(name, None)?;
    Some(shared.region.image_of(index) + found.offset(group))
}

/// Says which heap serves the process that runs from now on; gives the one that did. Outside of any process it is always
/// the host's.
#[inline]
pub fn switch_heap(heap: Heap) -> Heap {
    let rank = rank();
    if rank.is_null() {
        return switch_heap_of_worker(heap);
    }
    // SAFETY: it runs.
    unsafe {
        ARENA.set(arena_for(rank, heap));
        std::mem::replace(&mut (*rank).heap, heap)
    }
}

#[cold]
fn switch_heap_of_worker(heap: Heap) -> Heap {
    let owner = OWNER.get();
    if owner.is_null() {
        return Heap::Host;
    }
    // SAFETY: who a thread works for stays; a worker that outlives it does not come here.
    let before = ARENA.replace(unsafe { arena_for(owner, heap) });
    if before.is_null() { Heap::Host } else { Heap::Program }
}

/// Calls a function that allocates from a certain heap.
#[inline]
pub fn with_heap<T>(heap: Heap, f: impl FnOnce() -> T) -> T {
    struct Back(Heap);
    impl Drop for Back {
        #[inline]
        fn drop(&mut self) {
            switch_heap(self.0);
        }
    }
    let _back = Back(switch_heap(heap));
    f()
}
