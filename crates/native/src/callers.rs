//! Who calls: functions of the host that note where the program goes on after them.
//!
//! A function that is called from C cannot tell where it returns to, and unwinding takes longer than most calls. So what the
//! program is bound to are a few instructions that keep the address on top of the stack and go on to the function.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::elf::pages;
use crate::error::Error;

/// Where the program goes on after the last call of such a function. One process runs at a time.
static CALLER: AtomicUsize = AtomicUsize::new(0);

/// Where the program goes on after the call that the host serves now; 0 if its functions do not note it.
#[inline]
pub fn caller() -> usize {
    CALLER.load(Ordering::Relaxed)
}

/// A call within another is over: the program goes on there after the outer one.
#[inline]
pub fn set_caller(address: usize) {
    CALLER.store(address, Ordering::Relaxed);
}

/// The instructions in front of one function: `mov r11, [rsp]`, `movabs r10, CALLER`, `mov [r10], r11`, `movabs r11, function`,
/// `jmp r11`. Calls may change both registers.
const BYTES: usize = 32;

/// Functions that note their caller, in front of these. They stay for ever.
///
/// # Errors
/// If the system has no memory for them.
pub fn noting_callers(functions: &[usize]) -> Result<Vec<usize>, Error> {
    let length = pages(functions.len().max(1) * BYTES);
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: new memory, wherever the system likes.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, -1, 0) };
    if start == libc::MAP_FAILED {
        return Err(Error::system("no memory for functions that note their callers"));
    }
    let place = CALLER.as_ptr() as usize;
    let noting = functions.iter().enumerate().map(|(number, function)| {
        let mut code = vec![0x4c, 0x8b, 0x1c, 0x24, 0x49, 0xba];
        code.extend_from_slice(&place.to_le_bytes());
        code.extend_from_slice(&[0x4d, 0x89, 0x1a, 0x49, 0xbb]);
        code.extend_from_slice(&function.to_le_bytes());
        code.extend_from_slice(&[0x41, 0xff, 0xe3]);
        let at = start as usize + number * BYTES;
        // SAFETY: there is room for so many bytes of each.
        unsafe { (at as *mut u8).copy_from_nonoverlapping(code.as_ptr(), code.len()) };
        at
    });
    let noting = noting.collect();
    // SAFETY: the memory is ours, and nobody else knows it.
    if unsafe { libc::mprotect(start, length, libc::PROT_READ | libc::PROT_EXEC) } != 0 {
        return Err(Error::system("functions that note their callers cannot be made executable"));
    }
    Ok(noting)
}

#[cfg(test)]
mod tests {
    use super::*;

    extern "C" fn sum(a: i64, b: i64, c: f64) -> i64 {
        a + b + c as i64
    }

    #[test]
    fn the_function_is_called_and_its_caller_is_noted() {
        let noting = noting_callers(&[sum as *const () as usize]).unwrap();
        // SAFETY: it goes on to a function of this type.
        let function: extern "C" fn(i64, i64, f64) -> i64 = unsafe { std::mem::transmute(noting[0]) };
        assert_eq!(function(1, 2, 3.0), 6);
        let here = the_function_is_called_and_its_caller_is_noted as *const () as usize;
        assert!((here..here + 4096).contains(&caller()), "{:#x} of {here:#x}", caller());
        set_caller(5);
        assert_eq!(caller(), 5);
    }
}
