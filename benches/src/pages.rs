//! Large pages for large systems: the memory of millions of actors is visited in no order, and with pages of 4 kB the
//! processor spends much of its time on finding them. And thousands of messages under way are made and dropped at a time, more
//! than the allocator keeps at hand if nothing is said. What a second thread makes is kept with the rest: its own part of
//! the memory would have small pages.

use std::process::Command;

/// How the allocator of the C library is asked for both.
const VARIABLE: &str = "GLIBC_TUNABLES";
const WISH: &str = "glibc.malloc.hugetlb=1:glibc.malloc.tcache_count=2000:glibc.malloc.arena_max=1";

/// Starts this program again with large pages, where it can; says nothing where it cannot, or where somebody has already
/// said how memory is to be had.
#[cfg(target_os = "linux")]
pub fn make_large() {
    use std::os::unix::process::CommandExt;
    if std::env::var_os(VARIABLE).is_none()
        && let Ok(program) = std::env::current_exe()
    {
        // This returns only if it failed; then pages are as they are.
        let _ = Command::new(program).args(std::env::args_os().skip(1)).env(VARIABLE, WISH).exec();
    }
}

#[cfg(not(target_os = "linux"))]
pub fn make_large() {}
