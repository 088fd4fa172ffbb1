//! The host's side of the shim: what it asks of us, by name.
//!
//! The shim is a shared object in C (`shim/`), one private copy a process. It defines what libc keeps once for
//! all: the standard streams, exit handlers, clocks, random numbers, environment, options, locale, signals.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::current::{self, Heap, Rank, switch_heap, with_heap};
use crate::handlers::Handler;
use crate::personality::Personality;
use crate::{child, counting, dl, fiber, files, find_object, malloc, signals, tls};

/// The shim, as it was compiled.
pub const BYTES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/shim.so"));

/// Names that always mean ours, whatever a program or library defines: what there may be only one of.
pub(crate) fn first() -> Vec<(&'static str, usize)> {
    macro_rules! here {
        ($($name:expr => $function:expr),* $(,)?) => { [$(($name, $function as *const c_void as usize)),*] };
    }
    let mut names = here! {
        "simurgh_write" => write,
        "simurgh_read" => read,
        "simurgh_exit" => exit,
        "simurgh_die" => die,
        "simurgh_now" => now,
        "simurgh_sleep" => sleep,
        "simurgh_forked" => forked,
        "simurgh_heap" => heap,
        "simurgh_construct" => construct,
        "simurgh_destruct" => destruct,
        "simurgh_rank" => rank_number,
        "simurgh_is_first" => is_first,
        "simurgh_no_thread" => no_thread,
        "simurgh_chdir" => change_directory,
        "simurgh_umask" => change_mask,
        "simurgh_hostname" => host_name,
        "simurgh_locale" => set_locale,
        "simurgh_stream" => note_stream,
        "simurgh_descriptor" => files::descriptor,
        "simurgh_touch" => files::touched,
        "simurgh_new_file" => files::new_file,
        "simurgh_map" => files::map,
        counting::HOOK => counting::simurgh_count,
        "simurgh_handler" => set_handler,
        "__tls_get_addr" => tls::tls_get_addr,
        "_dl_find_object" => find_object::find_object,
        "dl_iterate_phdr" => find_object::iterate_headers,
        "dlopen" => dl::open,
        "dlsym" => dl::symbol,
        "dlvsym" => dl::versioned_symbol,
        "dlclose" => dl::close,
        "dlerror" => dl::error,
        "dladdr" => dl::address,
    }
    .to_vec();
    names.extend(malloc::exports());
    names
}

/// Output of a process: a stream, where its bytes lie, and how many.
pub(crate) const WRITE: extern "C" fn(c_int, *const u8, usize) -> isize = write;

/// Input of a process: where it goes, and how much of it.
pub(crate) const READ: extern "C" fn(*mut u8, usize) -> isize = read;

/// The process that runs; the shim calls us on its stack, or from a worker of it.
fn rank() -> &'static mut Rank {
    let rank = current::rank_or_owner();
    assert!(!rank.is_null(), "the shim is called by processes that run, and their workers");
    // SAFETY: it runs, and stays until it is left; nobody else touches it meanwhile.
    unsafe { &mut *rank }
}

fn personality(rank: &Rank) -> Arc<dyn Personality> {
    // SAFETY: what processes share stays while one of them runs.
    let shared = unsafe { &*rank.shared };
    Arc::clone(&shared.image.personality)
}

/// Held by whoever writes: workers may, too.
static WRITING: Mutex<()> = Mutex::new(());

extern "C" fn write(fd: c_int, bytes: *const u8, count: usize) -> isize {
    with_heap(Heap::Host, || {
        // Copied before anything is held: if the bytes are not there, the process ends here.
        // SAFETY: the program gives so many bytes; if it does not, it is at fault, and is told so.
        let bytes = unsafe { std::slice::from_raw_parts(bytes, count) }.to_vec();
        let rank = rank();
        let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = &mut rank.lines[usize::from(fd == 2)];
        let Some(end) = bytes.iter().rposition(|byte| *byte == b'\n') else {
            lines.extend_from_slice(&bytes);
            return;
        };
        let mut whole = std::mem::take(lines);
        whole.extend_from_slice(&bytes[..=end]);
        lines.extend_from_slice(&bytes[end + 1..]);
        personality(rank).output(rank.number, fd, &whole);
    });
    count as isize
}

/// Hands on what a process wrote after its last whole line.
pub(crate) fn rest_of_output(rank: &mut Rank, personality: &dyn Personality) {
    for (fd, lines) in [(1, 0), (2, 1)] {
        let rest = std::mem::take(&mut rank.lines[lines]);
        if !rest.is_empty() {
            personality.output(rank.number, fd, &rest);
        }
    }
}

extern "C" fn read(bytes: *mut u8, count: usize) -> isize {
    with_heap(Heap::Host, || {
        let rank = rank();
        // SAFETY: as for writing.
        let bytes = unsafe { std::slice::from_raw_parts_mut(bytes, count) };
        personality(rank).input(rank.number, bytes) as isize
    })
}

extern "C" fn exit(code: c_int) -> ! {
    fiber::exit(code)
}

extern "C" fn die(signal: c_int, message: *const c_char) -> ! {
    switch_heap(Heap::Host);
    if !message.is_null() {
        // SAFETY: the shim gives a terminated string.
        signals::set_message(unsafe { CStr::from_ptr(message) }.to_string_lossy().into_owned());
    }
    signals::die(signal)
}

extern "C" fn now() -> f64 {
    with_heap(Heap::Host, || {
        let rank = rank();
        // A worker cannot ask, nor a child made by fork.
        let asks = current::owner().is_null() && !child::is_child();
        if asks { personality(rank).now(rank.number) } else { rank.now }
    })
}

extern "C" fn sleep(seconds: f64) {
    if child::is_child() {
        return std::thread::sleep(Duration::try_from_secs_f64(seconds).unwrap_or_default());
    }
    with_heap(Heap::Host, || {
        let rank = rank();
        if current::owner().is_null() {
            personality(rank).sleep(rank.number, seconds);
        }
    });
}

extern "C" fn forked() {
    child::forked();
}

extern "C" fn heap(heap: c_int) -> c_int {
    let heap = match heap {
        0 => Heap::Host,
        1 => Heap::Program,
        _ => Heap::Library,
    };
    switch_heap(heap) as c_int
}

extern "C" fn construct(argc: c_int, argv: usize, envp: usize) {
    let rank = rank();
    // SAFETY: what processes share stays while one of them runs.
    let shared = unsafe { &*rank.shared };
    fiber::construct(&shared.image, shared.region.image_of(rank.index), 0, argc, argv, envp);
}

extern "C" fn destruct() {
    let rank = rank();
    // SAFETY: as above.
    let shared = unsafe { &*rank.shared };
    fiber::destruct(&shared.image, shared.region.image_of(rank.index));
}

/// Whether nobody has asked before: what all processes would say is said once.
extern "C" fn is_first() -> c_int {
    static ASKED: AtomicBool = AtomicBool::new(false);
    c_int::from(!ASKED.swap(true, Ordering::Relaxed))
}

/// The process asked for a thread, which it does not get.
extern "C" fn no_thread() {
    let rank = rank();
    personality(rank).refuses_thread(rank.number);
}

extern "C" fn rank_number() -> c_int {
    rank().number as c_int
}

extern "C" fn change_directory(path: *const c_char) -> c_int {
    // SAFETY: the program gives a path.
    if unsafe { libc::chdir(path) } != 0 {
        return -1;
    }
    with_heap(Heap::Host, || rank().directory = here());
    0
}

/// The directory in which we are, as a descriptor.
pub(crate) fn here() -> Option<OwnedFd> {
    // SAFETY: makes a new descriptor, which belongs to nobody else.
    unsafe {
        let descriptor = libc::open(c".".as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC);
        (descriptor >= 0).then(|| OwnedFd::from_raw_fd(descriptor))
    }
}

/// Goes to a directory.
pub(crate) fn go_to(directory: &OwnedFd) {
    // SAFETY: the descriptor is open.
    unsafe { libc::fchdir(directory.as_raw_fd()) };
}

extern "C" fn change_mask(mask: c_int) -> c_int {
    let rank = rank();
    // SAFETY: changes the mask of the process; that of the host comes back when another one runs.
    let before = unsafe { libc::umask(mask as libc::mode_t) };
    rank.mask = Some(mask as libc::mode_t);
    before as c_int
}

extern "C" fn host_name(name: *mut u8, bytes: usize) {
    let rank = rank();
    // SAFETY: as above.
    let hosts = unsafe { &(*rank.shared).options.hosts };
    let host = hosts.get(rank.index).or(hosts.last()).map_or("localhost", String::as_str);
    let length = host.len().min(bytes.saturating_sub(1));
    if bytes > 0 {
        // SAFETY: the program gives room for so many bytes.
        unsafe {
            name.copy_from_nonoverlapping(host.as_ptr(), length);
            *name.add(length) = 0;
        }
    }
}

extern "C" fn set_locale(locale: *mut c_void) {
    rank().locale = locale as usize;
    // SAFETY: the shim has just made it.
    unsafe { libc::uselocale(locale.cast()) };
}

/// What the process does itself about a signal.
extern "C" fn set_handler(signal: c_int, function: usize, flags: c_int) {
    if let Some(place) = signals::SIGNALS.iter().position(|other| *other == signal) {
        rank().handlers[place] = Handler { function, flags };
    }
}

/// A stream of libc was opened or is about to be closed; all are to be closed if none is named.
extern "C" fn note_stream(stream: *mut c_void, is_open: c_int) {
    with_heap(Heap::Host, || {
        let rank = rank();
        if stream.is_null() {
            close_streams(rank);
        } else if is_open != 0 {
            rank.streams.push(stream as usize);
        } else {
            rank.streams.retain(|other| *other != stream as usize);
        }
    });
}

/// Closes what a process left open: libc would look at it when we end.
pub(crate) fn close_streams(rank: &mut Rank) {
    for stream in std::mem::take(&mut rank.streams) {
        // SAFETY: the stream is open, and its memory is still there.
        unsafe { libc::fclose(stream as *mut libc::FILE) };
    }
}
