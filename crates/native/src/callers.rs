//! Who calls: functions of the host that note where the program goes on after them.
//!
//! A function that is called from C cannot tell where it returns to, and unwinding takes longer than most calls. So what the
//! program is bound to are a few instructions that keep the address on top of the stack and go on to the function.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::current;
use crate::elf::pages;
use crate::error::Error;
use crate::snapshot;

/// What is known of the last call of such a function: where the program goes on, its stack, and the registers that calls keep. One
/// process runs at a time.
static CALL: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];

/// Where the program goes on after the call that the host serves now; 0 if its functions do not note it.
#[inline]
pub fn caller() -> usize {
    CALL[0].load(Ordering::Relaxed)
}

/// A call within another is over: the program goes on there after the outer one.
#[inline]
pub fn set_caller(address: usize) {
    CALL[0].store(address, Ordering::Relaxed);
}

/// Where an address lies in the program of the process that runs, or in a library that came with it: a number of that program, and how far
/// from its beginning. Copies of one program have the same. None if it lies in neither.
///
/// # Panics
/// When no process runs on this thread.
pub fn place_in_program(address: usize) -> Option<(usize, usize)> {
    let rank = current::rank();
    assert!(!rank.is_null(), "no process of a compiled program runs on this thread");
    // SAFETY: it runs, and what processes share stays as long as they do.
    let shared = unsafe { &*(*rank).shared };
    let index = shared.region.process_at(address)?;
    Some((&raw const shared.image as usize, address - shared.region.image_of(index)))
}

/// A number of the state that the program of the process that runs is in: its registers and all of its memory. Two that differ have
/// different ones, in all likelihood. None if its functions do not note their callers, or if there is too much memory. It is asked at
/// the beginning of a call, before another process runs.
///
/// # Panics
/// When no process runs on this thread.
pub fn state_without(others: &[(usize, usize)]) -> Option<u64> {
    const MOST: usize = 8 << 20;
    let rank = current::rank();
    assert!(!rank.is_null(), "no process of a compiled program runs on this thread");
    let registers = CALL.each_ref().map(|register| register.load(Ordering::Relaxed));
    if registers[0] == 0 {
        return None;
    }
    // SAFETY: it runs.
    let rank = unsafe { &*rank };
    // SAFETY: what processes share stays as long as they do.
    let shared = unsafe { &*rank.shared };
    let mut ranges = snapshot::writable(shared, rank.index);
    ranges.push((registers[1], shared.region.stack(rank.index).end));
    // SAFETY: the heap is alive.
    ranges.push((rank.arenas[0] as usize, unsafe { (*rank.arenas[0]).used() }));
    if ranges.iter().map(|(start, end)| end.saturating_sub(*start)).sum::<usize>() > MOST {
        return None;
    }
    let mut state = 0_u64;
    let mut add = |word: u64| state = (state.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    registers.iter().for_each(|register| add(*register as u64));
    for (start, end) in ranges {
        for at in (start.next_multiple_of(8)..end & !7).step_by(8) {
            if others.iter().any(|(start, end)| (*start..*end).contains(&at)) {
                continue;
            }
            // SAFETY: memory of the process, which does not run.
            add(unsafe { std::ptr::read_volatile(at as *const u64) });
        }
    }
    Some(state)
}

/// The instructions in front of one function: `mov r11, [rsp]`, `movabs r10, CALL`, stores of `r11`, `rsp`, `rbx`, `rbp` and `r12` to
/// `r15`, `movabs r11, function`, `jmp r11`. Calls may change both registers.
const BYTES: usize = 64;

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
    let place = CALL.as_ptr() as usize;
    let noting = functions.iter().enumerate().map(|(number, function)| {
        let mut code = vec![0x4c, 0x8b, 0x1c, 0x24, 0x49, 0xba];
        code.extend_from_slice(&place.to_le_bytes());
        code.extend_from_slice(&[0x4d, 0x89, 0x1a]);
        // `mov [r10 + 8 * n], register`, with the prefix and the last byte of each.
        let stores = [
            (0x49, 0x62),
            (0x49, 0x5a),
            (0x49, 0x6a),
            (0x4d, 0x62),
            (0x4d, 0x6a),
            (0x4d, 0x72),
            (0x4d, 0x7a),
        ];
        for ((prefix, operand), number) in stores.into_iter().zip(1_u8..) {
            code.extend_from_slice(&[prefix, 0x89, operand, 8 * number]);
        }
        code.extend_from_slice(&[0x49, 0xbb]);
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
