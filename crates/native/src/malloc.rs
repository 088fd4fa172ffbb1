//! `malloc` and its like, for the whole of our own process: libc and every library call these.
//!
//! Who asks decides which heap gives; where a block lies decides which heap takes it back. Without a process that runs
//! it is libc's own.

use std::ffi::c_void;

use crate::arena::{Arena, Misuse};
use crate::current::arena;
use crate::region;

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut u8;
    fn __libc_calloc(count: usize, size: usize) -> *mut u8;
    fn __libc_realloc(block: *mut u8, size: usize) -> *mut u8;
    fn __libc_free(block: *mut u8);
    fn __libc_memalign(align: usize, size: usize) -> *mut u8;
}

fn out_of_memory() -> *mut u8 {
    // SAFETY: errno belongs to this thread.
    unsafe { *libc::__errno_location() = libc::ENOMEM };
    std::ptr::null_mut()
}

fn checked(block: *mut u8) -> *mut u8 {
    if block.is_null() { out_of_memory() } else { block }
}

/// A block that nobody can give back: the process ends. Where none runs it is as libc does.
#[cold]
fn misused(misuse: Misuse, address: usize) {
    crate::with_heap(crate::Heap::Host, || crate::signals::abort_with(misuse.message(address)));
}

/// The heap that a block belongs to, if it is not libc's.
#[inline]
fn owner(address: usize) -> Option<*mut Arena> {
    region::is_ours(address).then(|| region::arena_of(address))
}

/// As in C.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc(size: usize) -> *mut u8 {
    let arena = arena();
    // SAFETY: a heap that serves a thread is alive.
    unsafe { if arena.is_null() { __libc_malloc(size) } else { checked((*arena).allocate(size).0) } }
}

/// As in C.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut u8 {
    let arena = arena();
    if arena.is_null() {
        // SAFETY: as in C.
        return unsafe { __libc_calloc(count, size) };
    }
    let Some(bytes) = count.checked_mul(size) else { return out_of_memory() };
    // SAFETY: a heap that serves a thread is alive, and gives blocks of the length that is asked for.
    unsafe {
        let (block, zero) = (*arena).allocate(bytes);
        if !block.is_null() && !zero {
            block.write_bytes(0, bytes);
        }
        checked(block)
    }
}

/// As in C.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn realloc(block: *mut u8, size: usize) -> *mut u8 {
    if block.is_null() {
        // SAFETY: as in C.
        return unsafe { malloc(size) };
    }
    let Some(owner) = owner(block as usize) else {
        // SAFETY: as in C.
        return unsafe { __libc_realloc(block, size) };
    };
    if size == 0 {
        // SAFETY: as in C, where this gives the block back.
        unsafe { free(block) };
        return std::ptr::null_mut();
    }
    // SAFETY: heaps of processes are alive as long as their range is known.
    let resized =
        if owner.is_null() { Err(Misuse::Wild) } else { unsafe { (*owner).resize(block as usize, size) } };
    match resized {
        Ok(block) => checked(block),
        Err(misuse) => {
            misused(misuse, block as usize);
            std::ptr::null_mut()
        }
    }
}

/// As in C.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn free(block: *mut u8) {
    let mine = arena();
    // Most blocks go back to the heap that serves: whose they are need not be looked up.
    // SAFETY: a heap that serves a thread is alive.
    if !mine.is_null()
        && unsafe { (*mine).spans(block as usize) }
        && unsafe { (*mine).free(block as usize) }.is_ok()
    {
        return;
    }
    let Some(owner) = owner(block as usize) else {
        // SAFETY: as in C.
        return unsafe { __libc_free(block) };
    };
    // SAFETY: heaps of processes are alive as long as their range is known.
    let freed = if owner.is_null() { Err(Misuse::Wild) } else { unsafe { (*owner).free(block as usize) } };
    if let Err(misuse) = freed {
        misused(misuse, block as usize);
    }
}

/// As in C.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn memalign(align: usize, size: usize) -> *mut u8 {
    let arena = arena();
    if arena.is_null() {
        // SAFETY: as in C.
        return unsafe { __libc_memalign(align, size) };
    }
    let Some(align) = align.checked_next_power_of_two() else { return out_of_memory() };
    // SAFETY: a heap that serves a thread is alive.
    checked(unsafe { (*arena).allocate_aligned(align, size) })
}

/// As in C.
///
/// # Safety
/// As in C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn aligned_alloc(align: usize, size: usize) -> *mut u8 {
    // SAFETY: as in C.
    unsafe { memalign(align, size) }
}

/// As in POSIX.
///
/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn posix_memalign(block: *mut *mut u8, align: usize, size: usize) -> i32 {
    if !align.is_power_of_two() || !align.is_multiple_of(size_of::<usize>()) {
        return libc::EINVAL;
    }
    // SAFETY: as in POSIX; errno is left alone.
    unsafe {
        let errno = *libc::__errno_location();
        let given = memalign(align, size);
        *libc::__errno_location() = errno;
        if given.is_null() {
            return libc::ENOMEM;
        }
        *block = given;
    }
    0
}

/// As in BSD.
///
/// # Safety
/// As in BSD.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn valloc(size: usize) -> *mut u8 {
    // SAFETY: as in C.
    unsafe { memalign(4096, size) }
}

/// As in glibc.
///
/// # Safety
/// As in glibc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pvalloc(size: usize) -> *mut u8 {
    // SAFETY: as in C.
    unsafe { memalign(4096, size.next_multiple_of(4096)) }
}

/// As in BSD.
///
/// # Safety
/// As in BSD.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn reallocarray(block: *mut u8, count: usize, size: usize) -> *mut u8 {
    match count.checked_mul(size) {
        // SAFETY: as in C.
        Some(bytes) => unsafe { realloc(block, bytes) },
        None => out_of_memory(),
    }
}

/// As in glibc.
///
/// # Safety
/// As in glibc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn malloc_usable_size(block: *mut u8) -> usize {
    if block.is_null() {
        return 0;
    }
    match owner(block as usize) {
        Some(owner) if owner.is_null() => 0,
        // SAFETY: heaps of processes are alive as long as their range is known.
        Some(owner) => unsafe { (*owner).size(block as usize).unwrap_or(0) },
        None => {
            static REAL: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
            // SAFETY: libc has this function, of this type.
            unsafe {
                let next = || libc::dlsym(libc::RTLD_NEXT, c"malloc_usable_size".as_ptr()) as usize;
                let real: extern "C" fn(*mut u8) -> usize = std::mem::transmute(*REAL.get_or_init(next));
                real(block)
            }
        }
    }
}

/// Whether libc and the libraries call ours: the host must export them.
pub(crate) fn is_exported() -> bool {
    let is = |name: &std::ffi::CStr, ours: usize| {
        // SAFETY: the name is terminated.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) as usize == ours }
    };
    is(c"malloc", malloc as *const c_void as usize)
        && is(c"free", free as *const c_void as usize)
        && is(c"calloc", calloc as *const c_void as usize)
        && is(c"realloc", realloc as *const c_void as usize)
}

/// What programs find under these names.
pub(crate) fn exports() -> [(&'static str, usize); 11] {
    [
        ("malloc", malloc as *const c_void as usize),
        ("calloc", calloc as *const c_void as usize),
        ("realloc", realloc as *const c_void as usize),
        ("free", free as *const c_void as usize),
        ("memalign", memalign as *const c_void as usize),
        ("aligned_alloc", aligned_alloc as *const c_void as usize),
        ("posix_memalign", posix_memalign as *const c_void as usize),
        ("valloc", valloc as *const c_void as usize),
        ("pvalloc", pvalloc as *const c_void as usize),
        ("reallocarray", reallocarray as *const c_void as usize),
        ("malloc_usable_size", malloc_usable_size as *const c_void as usize),
    ]
}
