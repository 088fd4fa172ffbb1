//! The code of a process as a coroutine: a stack of its own, and what is exchanged when it comes and goes.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock, PoisonError};

use simurgh_kernel::context::{Coroutine, Ending, Port};
use simurgh_kernel::simcall::Simcall;

use crate::current::{self, GATE, Heap, Rank, Stage, with_heap};
use crate::image::{Image, SHIM};
use crate::personality::End;
use crate::processes::Shared;
use crate::switch::{self, simurgh_enter_program, simurgh_switch};
use crate::tls::thread_pointer;
use crate::{child, counting, shim, signals};

pub(crate) struct Fiber {
    shared: Arc<Shared>,
    index: usize,
    /// What it asks first, without running.
    first: Option<Simcall>,
    /// When it was made: once its process was put back to an earlier state, it is not the code of that any more.
    made: u64,
    /// What is told of its end, once the others are ended too.
    ending: Option<Ending>,
}

impl Fiber {
    pub fn new(shared: Arc<Shared>, index: usize, first: Option<Simcall>) -> Self {
        let made = shared.restored.load(Ordering::Relaxed);
        Self { shared, index, first, made, ending: None }
    }

    /// Whether its process was put back since it was made.
    fn is_stale(&self) -> bool {
        self.shared.restored.load(Ordering::Relaxed) != self.made
    }

    fn rank(&self) -> *mut Rank {
        self.shared.ranks[self.index].get()
    }
}

impl Coroutine for Fiber {
    fn resume(&mut self, port: &mut Port) -> Option<Ending> {
        let _gate = GATE.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_stale() {
            return Some(Err("its process was put back to an earlier state".to_owned()));
        }
        if let Some(simcall) = self.first.take() {
            port.simcall = Some(simcall);
            return None;
        }
        let rank = self.rank();
        // SAFETY: whoever holds the gate may touch the process, and nobody else has a reference to it.
        unsafe {
            match (*rank).stage {
                Stage::New => (*rank).stack = begin(&self.shared, rank),
                Stage::Suspended => {}
                Stage::Running => unreachable!("the gate is held by whoever runs one"),
                Stage::Over => return Some(self.ending.take().unwrap_or(Ok(()))),
            }
            (*rank).now = port.now.seconds();
            (*rank).port = port;
            (*rank).stage = Stage::Running;
            let host = come(&self.shared.image, rank, &self.shared);
            simurgh_switch(&raw mut (*rank).driver, (*rank).stack);
            go(&self.shared.image, rank, &self.shared, host);
            (*rank).port = std::ptr::null_mut();
            if (*rank).stage != Stage::Over {
                return None;
            }
            let ending = conclude(&self.shared, rank);
            if ends_all(&self.shared, rank) {
                // It asks once more, after its own end, and is told of when the others are gone.
                port.simcall = Some(Simcall::KillAll);
                self.ending = Some(ending);
                return None;
            }
            Some(ending)
        }
    }
}

impl Drop for Fiber {
    fn drop(&mut self) {
        let _gate = GATE.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: as above.
        let rank = unsafe { &mut *self.rank() };
        if rank.stage != Stage::Over && !self.is_stale() {
            rank.stage = Stage::Over;
            rank.end = Some(End::Killed);
            shim::rest_of_output(rank, &*self.shared.image.personality);
        }
    }
}

/// The host's own directory and mask, from before the first process ran.
static HOME: OnceLock<Option<OwnedFd>> = OnceLock::new();
static MASK: OnceLock<libc::mode_t> = OnceLock::new();

/// Notes what processes may change.
pub(crate) fn remember_host() {
    HOME.get_or_init(shim::here);
    // What libc allocates once, when it is first asked, must not lie in the heap of whoever asks first.
    static WARM: std::sync::Once = std::sync::Once::new();
    // SAFETY: ordinary calls of libc, with terminated strings and room for the answers.
    WARM.call_once(|| unsafe {
        for name in [c"C.UTF-8", c"simurgh"] {
            let locale = libc::newlocale(libc::LC_ALL_MASK, name.as_ptr(), std::ptr::null_mut());
            if !locale.is_null() {
                libc::freelocale(locale);
            }
        }
        let (mut parts, at): (libc::tm, libc::time_t) = (std::mem::zeroed(), 0);
        libc::localtime_r(&raw const at, &raw mut parts);
        // Loads what unwinds, which the end of a thread needs too.
        let mut frames = [std::ptr::null_mut(); 4];
        libc::backtrace(frames.as_mut_ptr(), 4);
    });
    MASK.get_or_init(|| {
        // SAFETY: there is no other way to read the mask than to set it; it is set back.
        unsafe {
            let mask = libc::umask(0o077);
            libc::umask(mask);
            mask
        }
    });
}

/// What stands for the locale of the whole process, in libc.
const GLOBAL_LOCALE: isize = -1;

/// What the host had where a process has its own.
struct Host {
    errno: i32,
    locale: libc::locale_t,
    directory: Option<OwnedFd>,
    mask: Option<libc::mode_t>,
}

/// Puts what belongs to a process in its place.
///
/// # Safety
/// The gate is held, and the process is about to run.
#[inline]
unsafe fn come(image: &Image, rank: *mut Rank, shared: &Shared) -> Host {
    signals::prepare_thread();
    // SAFETY: the pad is this thread's and used by no one else; the copy keeps as many bytes of it.
    unsafe {
        let used = image.blocks.used;
        if used > 0 {
            let saved = (shared.region.image_of((*rank).index) + image.blocks.saved) as *const u8;
            saved.copy_to_nonoverlapping((thread_pointer() - used) as *mut u8, used);
        }
        if let Some(libgomp) = &image.libgomp {
            libgomp.come(&mut (*rank).libgomp);
        }
        let errno = libc::__errno_location();
        let mut host = Host { errno: *errno, locale: std::ptr::null_mut(), directory: None, mask: None };
        *errno = (*rank).errno;
        if (*rank).locale != 0 {
            host.locale = libc::uselocale((*rank).locale as libc::locale_t);
        }
        if let Some(directory) = &(*rank).directory {
            host.directory = shim::here();
            shim::go_to(directory);
        }
        host.mask = (*rank).mask.map(|mask| libc::umask(mask));
        current::set(rank);
        counting::runs(image, shared.region.image_of((*rank).index));
        host
    }
}

/// Takes it away again.
///
/// # Safety
/// The gate is held, and the process has just been left.
#[inline]
unsafe fn go(image: &Image, rank: *mut Rank, shared: &Shared, mut host: Host) {
    current::set(std::ptr::null_mut());
    counting::rests();
    // SAFETY: as in `come`.
    unsafe {
        let errno = libc::__errno_location();
        (*rank).errno = *errno;
        *errno = host.errno;
        if (*rank).locale != 0 {
            let back = if host.locale.is_null() { GLOBAL_LOCALE as libc::locale_t } else { host.locale };
            libc::uselocale(back);
        }
        if (*rank).directory.is_some() {
            let back = host.directory.take();
            back.as_ref().or(HOME.get().and_then(Option::as_ref)).into_iter().for_each(shim::go_to);
        }
        if let Some(mask) = (*rank).mask {
            (*rank).mask = Some(libc::umask(host.mask.unwrap_or(*MASK.get().unwrap_or(&mask))));
        }
        if let Some(libgomp) = &image.libgomp {
            libgomp.go(&mut (*rank).libgomp);
        }
        let used = image.blocks.used;
        if used > 0 {
            let saved = (shared.region.image_of((*rank).index) + image.blocks.saved) as *mut u8;
            saved.copy_from_nonoverlapping((thread_pointer() - used) as *const u8, used);
        }
    }
}

/// What became of a process that is over.
///
/// # Safety
/// The gate is held.
unsafe fn conclude(shared: &Shared, rank: *mut Rank) -> Ending {
    // SAFETY: as the caller says.
    let rank = unsafe { &mut *rank };
    let personality = &*shared.image.personality;
    let cause = rank.cause.take();
    let end = match rank.left.take() {
        Some(end) if cause.is_none() => end,
        _ => signals::explain(shared, rank, cause.as_deref()),
    };
    shim::rest_of_output(rank, personality);
    if end.crash().is_some() {
        personality.crashed(rank.number, &end);
    }
    let ending = personality.ending(rank.number, &end);
    rank.end = Some(end);
    ending
}

/// Whether the end of this process is that of all.
///
/// # Safety
/// The gate is held, and the process is over.
unsafe fn ends_all(shared: &Shared, rank: *mut Rank) -> bool {
    // SAFETY: as the caller says.
    let rank = unsafe { &*rank };
    rank.end.as_ref().is_some_and(|end| shared.image.personality.ends_all(rank.number, end))
}

/// Leaves the process that runs until it is answered.
pub(crate) fn suspend() {
    let rank = current::rank();
    if child::is_child() {
        // SAFETY: it runs.
        child::end_child(unsafe { (*rank).number }, "asks something of the simulation");
    }
    // SAFETY: it runs on this thread; whoever drives it waits where its own stack was left.
    unsafe {
        (*rank).stage = Stage::Suspended;
        simurgh_switch(&raw mut (*rank).stack, (*rank).driver);
    }
}

/// Leaves the process that runs for ever.
pub(crate) fn finish() -> ! {
    let rank = current::rank();
    if child::is_child() {
        // SAFETY: it runs.
        unsafe { child::finish(rank) };
    }
    // SAFETY: as above.
    unsafe {
        (*rank).stage = Stage::Over;
        simurgh_switch(&raw mut (*rank).stack, (*rank).driver);
    }
    unreachable!("a process that is over does not run")
}

/// Prepares the stack of a process.
///
/// # Safety
/// The process has not begun.
unsafe fn begin(shared: &Shared, rank: *mut Rank) -> usize {
    // SAFETY: the stack is the process's own.
    unsafe {
        (*rank).arguments = arguments(shared, shared.region.stack_top((*rank).index));
        switch::prepare((*rank).arguments, run, rank as usize)
    }
}

/// A function of a program that takes what `main` does, or less.
type Constructor = extern "C" fn(i32, *const usize, *const usize);

/// What runs first on the stack of a process.
extern "C" fn run(rank: usize) -> ! {
    // SAFETY: the process was prepared with its own address, and stays.
    let (shared, base, block) = unsafe {
        let rank = &*(rank as *const Rank);
        let shared = &*rank.shared;
        let base = shared.region.image_of(rank.index);
        (shared, base, rank.arguments)
    };
    let image = &*shared.image;
    with_heap(Heap::Host, || image.personality.begins(current::current().expect("it runs")));
    let (argc, argv) = (shared.args.len() as i32, block + 8);
    let envp = argv + 8 * (shared.args.len() + 1);
    // SAFETY: the shim has this function, and its copy is relocated.
    unsafe {
        let start: extern "C" fn(i32, usize, usize) =
            std::mem::transmute(base + image.of_shim("simurgh_start"));
        start(argc, argv, envp);
    }
    let program = &image.group.objects[0];
    for number in image.order.iter().filter(|number| **number != 0) {
        construct(image, base, *number, argc, argv, envp);
    }
    // SAFETY: the entry of a program expects this block on its stack; a library has an ordinary main.
    unsafe {
        if program.is_program {
            simurgh_enter_program(base + program.entry, block);
        }
        construct(image, base, 0, argc, argv, envp);
        let main = image.group.find_in(0, "main", None).map_or(0, |found| base + found.offset(&image.group));
        let run_main: extern "C" fn(usize, i32, usize, usize) -> ! =
            std::mem::transmute(base + image.of_shim("simurgh_run_main"));
        run_main(main, argc, argv, envp)
    }
}

/// Runs what an object wants to be run before `main`.
pub(crate) fn construct(image: &Image, base: usize, number: usize, argc: i32, argv: usize, envp: usize) {
    let object = &image.group.objects[number];
    let base = base + object.base;
    let tables = &object.tables;
    let call = |function: usize| {
        // SAFETY: the file says that a function is there, and its copy is relocated.
        let function: Constructor = unsafe { std::mem::transmute(function) };
        function(argc, argv as *const usize, envp as *const usize);
    };
    let array = |(address, bytes): (usize, usize)| {
        for index in 0..bytes / 8 {
            // SAFETY: the file says how long the array is.
            let function: usize = unsafe { crate::elf::read(base + address + 8 * index) };
            if function != 0 && function != usize::MAX {
                call(function);
            }
        }
    };
    if number == 0 {
        array(tables.preinit_array);
    }
    if tables.init != 0 {
        call(base + tables.init);
    }
    array(tables.init_array);
}

/// Runs what the objects want to be run at the end, in the opposite order.
pub(crate) fn destruct(image: &Image, base: usize) {
    for number in image.order.iter().rev().filter(|number| **number != SHIM) {
        let object = &image.group.objects[*number];
        let base = base + object.base;
        let (address, bytes) = object.tables.fini_array;
        let call = |function: usize| {
            // SAFETY: as in `construct`.
            let function: extern "C" fn() = unsafe { std::mem::transmute(function) };
            function();
        };
        for index in (0..bytes / 8).rev() {
            // SAFETY: as in `construct`.
            let function: usize = unsafe { crate::elf::read(base + address + 8 * index) };
            if function != 0 && function != usize::MAX {
                call(function);
            }
        }
        if object.tables.fini != 0 {
            call(base + object.tables.fini);
        }
    }
}

/// Writes what a program finds on its stack, at its end: the number of its arguments, them, its environment.
fn arguments(shared: &Shared, top: usize) -> usize {
    let strings: usize =
        shared.args.iter().chain(&shared.env).map(|text| text.as_bytes_with_nul().len()).sum();
    let words = shared.args.len() + shared.env.len() + 8;
    let block = (top - strings - 8 * words) & !15;
    let mut text_at = block + 8 * words;
    let mut word_at = block;
    let put_word = |word: usize, at: &mut usize| {
        // SAFETY: the block lies in the unused part of the stack of the process, which has room for it.
        unsafe { (*at as *mut usize).write(word) };
        *at += 8;
    };
    put_word(shared.args.len(), &mut word_at);
    for list in [&shared.args, &shared.env] {
        for text in list {
            let text = text.as_bytes_with_nul();
            // SAFETY: as above.
            unsafe { (text_at as *mut u8).copy_from_nonoverlapping(text.as_ptr(), text.len()) };
            put_word(text_at, &mut word_at);
            text_at += text.len();
        }
        put_word(0, &mut word_at);
    }
    // The auxiliary vector is empty.
    put_word(0, &mut word_at);
    put_word(0, &mut word_at);
    block
}

/// Ends the process that runs with a code, after the host was told.
pub(crate) fn exit(code: i32) -> ! {
    let rank = current::rank();
    // SAFETY: it runs.
    let (number, shared) = unsafe { ((*rank).number, &*(*rank).shared) };
    let personality = Arc::clone(&shared.image.personality);
    let end = End::Exited(code);
    with_heap(Heap::Host, || {
        // SAFETY: it runs.
        shim::rest_of_output(unsafe { &mut *rank }, &*personality);
        if let Some(libgomp) = &shared.image.libgomp {
            libgomp.end();
        }
        personality.leaves(number, &end);
        drop(personality);
    });
    current::leave(end)
}
