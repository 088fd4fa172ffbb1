//! `dlopen` and `dlsym` of programs: among what was loaded with them.

use std::ffi::{CStr, c_char, c_int, c_void};

use crate::current;
use crate::libraries;

/// What stands for the program and its libraries.
const GROUP: usize = 0x5109_6000;

/// Why the last request failed; terminated strings only. The program is told once.
static FAILED: std::sync::atomic::AtomicPtr<c_char> = std::sync::atomic::AtomicPtr::new(std::ptr::null_mut());

fn fail(why: &'static CStr) -> *mut c_void {
    FAILED.store(why.as_ptr().cast_mut(), std::sync::atomic::Ordering::Relaxed);
    std::ptr::null_mut()
}

fn shared() -> Option<(&'static crate::processes::Shared, usize)> {
    let rank = current::rank_or_owner();
    if rank.is_null() {
        return None;
    }
    // SAFETY: what processes share stays while one of them runs.
    unsafe { Some((&*(*rank).shared, (*rank).index)) }
}

pub(crate) extern "C" fn open(path: *const c_char, flags: c_int) -> *mut c_void {
    if path.is_null() {
        return GROUP as *mut c_void;
    }
    // SAFETY: the program gives a terminated string.
    let name = unsafe { CStr::from_ptr(path) }.to_string_lossy();
    let file = name.rsplit('/').next().unwrap_or_default();
    let Some((shared, _)) = shared() else { return fail(c"no process runs") };
    if shared.image.group.objects.iter().any(|object| object.name == file) {
        return GROUP as *mut c_void;
    }
    if libraries::is_shared(file) {
        // SAFETY: one of the system's own libraries, there once for all.
        return unsafe { libc::dlopen(path, flags) };
    }
    fail(c"libraries that a program opens while it runs are not supported by Simurgh: link it with them")
}

pub(crate) extern "C" fn symbol(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    let handle = handle as usize;
    let is_next = handle == libc::RTLD_NEXT as usize;
    let is_ours = handle == GROUP || handle == libc::RTLD_DEFAULT as usize || is_next;
    if !is_ours {
        // SAFETY: a handle of libc's.
        return unsafe { libc::dlsym(handle as *mut c_void, name) };
    }
    // SAFETY: the program gives a terminated string.
    let Ok(name) = unsafe { CStr::from_ptr(name) }.to_str() else { return fail(c"no such symbol") };
    let Some((shared, index)) = shared() else { return fail(c"no process runs") };
    let image = &shared.image;
    if let Some((_, address)) = crate::shim::first().into_iter().find(|(first, _)| *first == name) {
        return address as *mut c_void;
    }
    // The next one after the program's own.
    let first = usize::from(is_next);
    let found = (first..image.group.objects.len()).find_map(|object| image.group.find_in(object, name, None));
    if let Some(found) = found {
        return (shared.region.image_of(index) + found.offset(&image.group)) as *mut c_void;
    }
    let exported = image.personality.exports().iter().find(|export| export.name == name);
    if let Some(export) = exported {
        return export.address as *mut c_void;
    }
    match image.shared.find(name, None) {
        Some(address) => address as *mut c_void,
        None => fail(c"undefined symbol"),
    }
}

pub(crate) extern "C" fn versioned_symbol(
    handle: *mut c_void,
    name: *const c_char,
    _version: *const c_char,
) -> *mut c_void {
    symbol(handle, name)
}

pub(crate) extern "C" fn close(_handle: *mut c_void) -> c_int {
    0
}

pub(crate) extern "C" fn error() -> *mut c_char {
    FAILED.swap(std::ptr::null_mut(), std::sync::atomic::Ordering::Relaxed)
}

pub(crate) extern "C" fn address(address: *const c_void, about: *mut libc::Dl_info) -> c_int {
    if crate::region::is_ours(address as usize) {
        return 0;
    }
    // SAFETY: handed on as it came.
    unsafe { libc::dladdr(address, about) }
}
