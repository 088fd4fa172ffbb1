//! A copy of the template for one process: one private map, then what depends on where it lies.

use std::os::fd::AsRawFd;

use crate::error::Error;
use crate::image::Image;

/// Whether parts of a copy that a program must not write, or not run, are protected as its file says.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Protection {
    /// They are: several maps a copy.
    Segments,
    /// They are not: one map a copy.
    None,
}

/// Maps the template at `base`, where addresses are reserved, and relocates it.
///
/// # Errors
/// When the system refuses the map.
///
/// # Safety
/// The range is reserved for this copy.
pub(crate) unsafe fn copy(image: &Image, base: usize, protection: Protection) -> Result<(), Error> {
    let all = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let map = |allowed| {
        // SAFETY: the caller has reserved the range.
        let mapped =
            unsafe { libc::mmap(base as *mut _, image.span, allowed, flags, image.file.as_raw_fd(), 0) };
        mapped != libc::MAP_FAILED
    };
    // Some systems forbid memory that is writable and executable at once.
    let is_forbidden = !map(all);
    if is_forbidden && !map(libc::PROT_READ | libc::PROT_WRITE) {
        return Err(Error::system(
            "cannot map a copy of the program (too many processes for vm.max_map_count?)",
        ));
    }
    let relocations = &image.relocations;
    // SAFETY: relocations lie in the copy, which is writable; functions that choose have their own relocations done.
    unsafe {
        for relative in &relocations.relative {
            ((base + relative.at) as *mut usize).write_unaligned(base.wrapping_add(relative.value));
        }
        for copied in &relocations.copied {
            let (from, to) = ((base + copied.from) as *const u8, (base + copied.to) as *mut u8);
            from.copy_to_nonoverlapping(to, copied.bytes);
        }
    }
    if protection == Protection::Segments || is_forbidden {
        protect(image, base)?;
    }
    // SAFETY: as above; a function that chooses is part of the copy.
    unsafe {
        for chosen in &relocations.chosen {
            let choose: extern "C" fn() -> usize = std::mem::transmute(base + chosen.value);
            ((base + chosen.at) as *mut usize).write_unaligned(choose());
        }
    }
    Ok(())
}

/// Protects the segments that are not to be written.
fn protect(image: &Image, base: usize) -> Result<(), Error> {
    for object in &image.group.objects {
        for segment in object.segments.iter().filter(|segment| !segment.writable) {
            let start = (base + object.base + segment.address) & !(crate::elf::PAGE - 1);
            let end = base + object.base + segment.address + segment.memory;
            let allowed = libc::PROT_READ | if segment.executable { libc::PROT_EXEC } else { 0 };
            // SAFETY: the range is part of the copy.
            if unsafe { libc::mprotect(start as *mut _, crate::elf::pages(end - start), allowed) } != 0 {
                return Err(Error::system(
                    "cannot protect a copy of the program (vm.max_map_count is too low?)",
                ));
            }
        }
    }
    Ok(())
}
