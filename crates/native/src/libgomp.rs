//! OpenMP: libgomp is there once, and what it knows of a thread is exchanged when another process runs.
//!
//! So each process has a team, settings and workers of its own.

use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

/// The thread-local block of libgomp.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Libgomp {
    module: usize,
    bytes: usize,
    /// `omp_pause_resource_all`, where there is one.
    pause: Option<extern "C" fn(c_int) -> c_int>,
}

#[repr(C)]
struct Index {
    module: usize,
    offset: usize,
}

unsafe extern "C" {
    fn __tls_get_addr(index: *const Index) -> *mut u8;
}

/// Loads libgomp so that its workers sleep while they wait.
pub(crate) fn quietly<T>(uses_libgomp: bool, load: impl FnOnce() -> T) -> T {
    const NAME: &std::ffi::CStr = c"OMP_WAIT_POLICY";
    // SAFETY: libgomp reads the environment once, when it is loaded; nothing else of ours changes it.
    let is_ours = uses_libgomp && unsafe { libc::getenv(NAME.as_ptr()).is_null() };
    if is_ours {
        // SAFETY: as above.
        unsafe { libc::setenv(NAME.as_ptr(), c"passive".as_ptr(), 1) };
    }
    let result = load();
    if is_ours {
        // SAFETY: as above.
        unsafe { libc::unsetenv(NAME.as_ptr()) };
    }
    result
}

extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
    // SAFETY: libc gives a description of a loaded object, and hands our pointer on.
    unsafe {
        let name = std::ffi::CStr::from_ptr((*info).dlpi_name).to_string_lossy();
        if !name.contains("libgomp.so") {
            return 0;
        }
        for number in 0..(*info).dlpi_phnum {
            let header = &*(*info).dlpi_phdr.add(number as usize);
            if header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0 {
                let first = (*info).dlpi_addr as usize + header.p_vaddr as usize;
                let _ = CODE.set((first, header.p_memsz as usize));
            }
            if header.p_type == libc::PT_TLS {
                let found =
                    Libgomp { module: (*info).dlpi_tls_modid, bytes: header.p_memsz as usize, pause: None };
                *data.cast::<Option<Libgomp>>() = Some(found);
            }
        }
    }
    1
}

/// Where the code of libgomp lies: first address and length.
static CODE: OnceLock<(usize, usize)> = OnceLock::new();

/// Whether an address is one of libgomp's code.
pub(crate) fn is_code(address: usize) -> bool {
    CODE.get().is_some_and(|(first, length)| address.wrapping_sub(*first) < *length)
}

impl Libgomp {
    /// Its block, if it is loaded.
    pub fn find() -> Option<Self> {
        let mut found: Option<Libgomp> = None;
        // SAFETY: the callback gets the pointer that is given here.
        unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
        let mut found = found?;
        // SAFETY: libgomp is loaded for all to see, and has this function since version 9, of this type.
        unsafe {
            let pause = libc::dlsym(libc::RTLD_DEFAULT, c"omp_pause_resource_all".as_ptr());
            if !pause.is_null() {
                found.pause = Some(std::mem::transmute::<*mut c_void, extern "C" fn(c_int) -> c_int>(pause));
            }
        }
        Some(found)
    }

    /// Ends the workers of the process that runs, which is about to end.
    pub fn end(&self) {
        const HARD: c_int = 2;
        if let Some(pause) = self.pause {
            pause(HARD);
        }
    }

    fn block(&self) -> *mut u8 {
        // SAFETY: the module is loaded and stays so.
        unsafe { __tls_get_addr(&Index { module: self.module, offset: 0 }) }
    }

    /// Puts what libgomp knows of a process in its place; zeros the first time, with what is the same for all.
    pub fn come(&self, saved: &mut Vec<u8>) {
        let block = self.block();
        // SAFETY: the block of this thread is so long, and libgomp does not run on it now.
        let current = unsafe { std::slice::from_raw_parts_mut(block, self.bytes) };
        if saved.is_empty() {
            saved.extend_from_slice(current);
        }
        current.swap_with_slice(saved);
    }

    /// Takes it away again: what the host had comes back.
    pub fn go(&self, saved: &mut [u8]) {
        // SAFETY: as above.
        let current = unsafe { std::slice::from_raw_parts_mut(self.block(), self.bytes) };
        current.swap_with_slice(saved);
    }
}
