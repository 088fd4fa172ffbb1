//! `_dl_find_object` and `dl_iterate_phdr` for programs: who unwinds a stack asks which object an address lies in.

use std::ffi::{c_int, c_void};

use crate::current;
use crate::processes::Shared;
use crate::region::{self, Region};

/// As glibc has it, on x86-64.
#[repr(C)]
pub(crate) struct DlFindObject {
    flags: u64,
    map_start: usize,
    map_end: usize,
    link_map: usize,
    eh_frame: usize,
    reserved: [u64; 7],
}

unsafe extern "C" {
    #[link_name = "_dl_find_object"]
    fn libc_dl_find_object(address: *const c_void, result: *mut DlFindObject) -> c_int;
}

/// The process whose program an address lies in belongs to these.
fn shared_of(address: usize) -> Option<*const Shared> {
    let rank = current::rank_or_owner();
    if rank.is_null() || region::with_region(address, |_| ()).is_none() {
        return None;
    }
    // SAFETY: a process that runs has what it shares with others.
    Some(unsafe { (*rank).shared })
}

/// The object of a copy that an address lies in: its range, and where its table for exceptions is.
fn in_copy(shared: &Shared, address: usize) -> Option<(std::ops::Range<usize>, Option<usize>)> {
    let region: &Region = &shared.region;
    let base = region.image_of(region.process_at(address)?);
    let (object, _) = shared.image.object_at(address - base)?;
    let start = base + object.base;
    Some((start..start + object.span, object.eh_frame_header.map(|header| start + header)))
}

/// What programs find under the name `_dl_find_object`.
pub(crate) extern "C" fn find_object(address: *const c_void, result: *mut DlFindObject) -> c_int {
    // SAFETY: what processes share stays while one of them runs.
    let copied =
        shared_of(address as usize).and_then(|shared| in_copy(unsafe { &*shared }, address as usize));
    match copied {
        Some((range, header)) => {
            let found = DlFindObject {
                flags: 0,
                map_start: range.start,
                map_end: range.end,
                link_map: 0,
                eh_frame: header.unwrap_or(0),
                reserved: [0; 7],
            };
            if header.is_none() {
                return -1;
            }
            // SAFETY: the caller gives room for the answer.
            unsafe { result.write(found) };
            0
        }
        // SAFETY: handed on as it came.
        None => unsafe { libc_dl_find_object(address, result) },
    }
}

/// The range of the object that an address lies in, and its table for exceptions: of a copy, or of the host.
pub(crate) fn tables(address: usize) -> Option<(std::ops::Range<usize>, usize)> {
    if region::is_ours(address) {
        return region::with_region(address, |_| ()).and_then(|()| {
            let shared = WALKED.get();
            if shared.is_null() {
                return None;
            }
            // SAFETY: set while a stack is walked, by who has what the processes share.
            let (range, header) = in_copy(unsafe { &*shared }, address)?;
            Some((range, header?))
        });
    }
    let mut found: DlFindObject =
        DlFindObject { flags: 0, map_start: 0, map_end: 0, link_map: 0, eh_frame: 0, reserved: [0; 7] };
    // SAFETY: there is room for the answer.
    let is_found = unsafe { libc_dl_find_object(address as *const c_void, &raw mut found) } == 0;
    (is_found && found.eh_frame != 0).then_some((found.map_start..found.map_end, found.eh_frame))
}

thread_local! {
    /// Whose stack is walked on this thread.
    static WALKED: std::cell::Cell<*const Shared> = const { std::cell::Cell::new(std::ptr::null()) };
}

/// Calls a function that walks stacks of these processes.
pub(crate) fn while_walking<T>(shared: &Shared, f: impl FnOnce() -> T) -> T {
    let before = WALKED.replace(shared);
    let result = f();
    WALKED.set(before);
    result
}

type Callback = unsafe extern "C" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int;

/// What programs find under the name `dl_iterate_phdr`: the objects of their own copy, then those of the host.
pub(crate) extern "C" fn iterate_headers(callback: Callback, data: *mut c_void) -> c_int {
    let rank = current::rank_or_owner();
    if !rank.is_null() {
        // SAFETY: a process that runs has what it shares with others.
        let (shared, index) = unsafe { (&*(*rank).shared, (*rank).index) };
        let base = shared.region.image_of(index);
        for object in &shared.image.group.objects {
            let Ok(name) = std::ffi::CString::new(object.path.to_string_lossy().as_bytes()) else { continue };
            let start = base + object.base;
            // SAFETY: all zero is a value of this type.
            let mut info: libc::dl_phdr_info = unsafe { std::mem::zeroed() };
            info.dlpi_addr = start as u64;
            info.dlpi_name = name.as_ptr();
            info.dlpi_phdr = (start + object.headers.0) as *const _;
            info.dlpi_phnum = object.headers.1 as u16;
            // SAFETY: the callback gets what libc would give it.
            let answer = unsafe { callback(&raw mut info, size_of::<libc::dl_phdr_info>(), data) };
            if answer != 0 {
                return answer;
            }
        }
    }
    // SAFETY: the callback is of the type that libc expects.
    unsafe { libc::dl_iterate_phdr(Some(callback), data) }
}
