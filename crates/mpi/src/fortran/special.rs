//! Constants that are variables in Fortran: they are known by their addresses (MPI 5.0, 2.5.4).
//!
//! They lie in two common blocks. Every process has its own copy of the program's memory, and with it of these.

use std::ffi::{c_char, c_void};

use crate::abi::{self, Status};
use crate::os;

/// The names that compilers give to the common block of numbers.
const NUMBERS: [&str; 4] = ["simurghmpi_", "simurghmpi", "simurghmpi__", "SIMURGHMPI"];
/// And to that of texts.
const TEXTS: [&str; 4] = ["simurghmpc_", "simurghmpc", "simurghmpc__", "SIMURGHMPC"];

// Where each lies in its block, in integers or in letters. `build/modules.rs` declares them in this order.
const BOTTOM: usize = 0;
const IN_PLACE: usize = 1;
const BUFFER_AUTOMATIC: usize = 2;
const UNWEIGHTED: usize = 3;
const WEIGHTS_EMPTY: usize = 4;
const ERRCODES_IGNORE: usize = 5;
const STATUS_IGNORE: usize = 6;
const STATUSES_IGNORE: usize = 14;
const ARGV_NULL: usize = 0;
const ARGVS_NULL: usize = 1;

/// Where the common blocks of a process are; 0 if the program has none.
#[derive(Copy, Clone, PartialEq, Eq, Default, Debug)]
pub struct Special {
    numbers: usize,
    texts: usize,
}

/// Those of the process that runs.
pub fn special() -> Special {
    if os::is_worker() {
        let mut found = Special::default();
        os::on_process(&mut || found = special());
        return found;
    }
    let state = &os::rank().fortran;
    state.special.get().unwrap_or_else(|| {
        let found = |names: [&str; 4]| names.into_iter().find_map(os::symbol).unwrap_or(0);
        let special = Special { numbers: found(NUMBERS), texts: found(TEXTS) };
        state.special.set(Some(special));
        special
    })
}

impl Special {
    /// Whether an address is that of a number in its block.
    fn is<T>(self, address: *mut T, position: usize) -> bool {
        self.numbers != 0 && address as usize == self.numbers + 4 * position
    }

    /// A buffer as C has it.
    pub fn buffer(self, buffer: *mut c_void) -> *mut c_void {
        if self.is(buffer, BOTTOM) {
            return abi::BOTTOM as *mut c_void;
        }
        if self.is(buffer, IN_PLACE) {
            return abi::IN_PLACE as *mut c_void;
        }
        if self.is(buffer, BUFFER_AUTOMATIC) {
            return abi::BUFFER_AUTOMATIC as *mut c_void;
        }
        buffer
    }

    /// Whether a buffer is `MPI_IN_PLACE`.
    pub fn is_in_place(self, buffer: *mut c_void) -> bool {
        self.is(buffer, IN_PLACE)
    }

    /// A status, or an array of them, as C has it.
    pub fn status(self, status: *mut Status) -> *mut Status {
        if self.is(status, STATUS_IGNORE) || self.is(status, STATUSES_IGNORE) {
            return std::ptr::null_mut();
        }
        status
    }

    /// Weights as C has them.
    pub fn weights(self, weights: *mut i32) -> *mut i32 {
        if self.is(weights, UNWEIGHTED) {
            return abi::UNWEIGHTED as *mut i32;
        }
        if self.is(weights, WEIGHTS_EMPTY) {
            return abi::WEIGHTS_EMPTY as *mut i32;
        }
        weights
    }

    /// Error codes of `MPI_Comm_spawn` as C has them.
    pub fn errcodes(self, codes: *mut i32) -> *mut i32 {
        if self.is(codes, ERRCODES_IGNORE) { std::ptr::null_mut() } else { codes }
    }

    /// Whether an array of arguments is `MPI_ARGV_NULL` or `MPI_ARGVS_NULL`.
    pub fn is_argv_null(self, argv: *const c_char) -> bool {
        self.texts != 0 && [ARGV_NULL, ARGVS_NULL].iter().any(|place| argv as usize == self.texts + place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_known_by_their_addresses() {
        let special = Special { numbers: 0x1000, texts: 0x2000 };
        let at = |place: usize| (0x1000 + 4 * place) as *mut c_void;
        assert_eq!(special.buffer(at(BOTTOM)) as usize, abi::BOTTOM);
        assert_eq!(special.buffer(at(IN_PLACE)) as usize, abi::IN_PLACE);
        assert_eq!(special.buffer(at(BUFFER_AUTOMATIC)) as usize, abi::BUFFER_AUTOMATIC);
        assert_eq!(special.buffer(at(99)), at(99));
        assert!(special.status(at(STATUS_IGNORE).cast()).is_null());
        assert!(special.status(at(STATUSES_IGNORE).cast()).is_null());
        assert!(!special.status(at(40).cast()).is_null());
        assert_eq!(special.weights(at(UNWEIGHTED).cast()) as usize, abi::UNWEIGHTED);
        assert_eq!(special.weights(at(WEIGHTS_EMPTY).cast()) as usize, abi::WEIGHTS_EMPTY);
        assert!(special.errcodes(at(ERRCODES_IGNORE).cast()).is_null());
        assert!(
            special.is_argv_null(0x2000 as *const c_char) && special.is_argv_null(0x2001 as *const c_char)
        );
        assert!(!special.is_argv_null(0x2002 as *const c_char));
    }

    #[test]
    fn a_program_without_the_blocks_has_no_special_variables() {
        let special = Special::default();
        assert!(special.buffer(std::ptr::null_mut()).is_null());
        assert!(!special.is_argv_null(std::ptr::null()));
    }
}
