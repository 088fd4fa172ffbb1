//! What Fortran programs call: `mpif.h`, the module `mpi` and the module `mpi_f08`.
//!
//! `build/fortran.rs` makes the entry points from the table, with the conversions that are here:
//! - `special`: `MPI_BOTTOM` and the like, which are variables of the program, known by their addresses.
//! - [`strings`]: texts, padded with blanks.
//! - [`descriptors`]: buffers of `mpi_f08`, which may be sections of arrays.
//! - [`attributes`], [`callbacks`], [`by_hand`]: procedures that do not follow from the table.

pub mod attributes;
pub mod by_hand;
pub mod callbacks;
pub mod descriptors;
pub mod special;
pub mod strings;

pub use descriptors::{Descriptor, Place, address};
pub use special::{Special, special};
pub use strings::{Room, Text};

use crate::abi::{self, Comm};
use crate::entry::c;

/// What the library keeps for the Fortran side of a process.
#[derive(Debug, Default)]
pub struct State {
    /// Where its special variables are, once somebody asked.
    pub special: std::cell::Cell<Option<Special>>,
}

/// Writes an error code where the program wants it.
///
/// # Safety
/// `place` is null or an integer of the program.
pub unsafe fn set(place: *mut i32, code: i32) {
    if !place.is_null() {
        // SAFETY: it is an integer of the program.
        unsafe { place.write(code) };
    }
}

/// The length of an array; C itself complains about one below zero.
pub fn length(count: i64) -> usize {
    usize::try_from(count).unwrap_or(0)
}

/// An array of integers, as handles or the like. Where nothing is read, all are the first thing that an integer can be.
///
/// # Safety
/// The array has `length` elements, if it is read.
pub unsafe fn handles<T>(first: *const i32, length: usize, reads: bool, from: fn(i32) -> T) -> Vec<T> {
    // SAFETY: the array has so many.
    (0..length).map(|index| from(if reads { unsafe { first.add(index).read() } } else { 0 })).collect()
}

/// Writes handles where the program has its array of integers.
///
/// # Safety
/// The array has as many elements.
pub unsafe fn put_handles<T: Copy>(handles: &[T], first: *mut i32, to: fn(T) -> i32) {
    for (index, handle) in handles.iter().enumerate() {
        // SAFETY: the array has so many.
        unsafe { first.add(index).write(to(*handle)) };
    }
}

/// Indices that C counts from 0 are counted from 1.
///
/// # Safety
/// The array has so many elements, if `count` is a number.
pub unsafe fn count_from_one(first: *mut i32, count: i32) {
    for index in 0..length(i64::from(count)) {
        // SAFETY: the array has so many.
        unsafe {
            let place = first.add(index);
            if *place != abi::UNDEFINED {
                *place += 1;
            }
        }
    }
}

/// With how many processes one of a communicator communicates in a collective.
///
/// # Safety
/// A process of the program runs.
pub unsafe fn peers(comm: Comm) -> usize {
    let (mut inter, mut size) = (0, 0);
    // SAFETY: the results are ours.
    unsafe {
        c::comm_test_inter(comm, &mut inter);
        match inter {
            0 => c::comm_size(comm, &mut size),
            _ => c::comm_remote_size(comm, &mut size),
        };
    }
    length(i64::from(size))
}

/// How many neighbours a process receives from and sends to.
///
/// # Safety
/// A process of the program runs.
pub unsafe fn neighbors(comm: Comm) -> (usize, usize) {
    let (mut kind, mut incoming, mut outgoing, mut weighted) = (abi::UNDEFINED, 0, 0, 0);
    // SAFETY: the results are ours.
    unsafe {
        c::topo_test(comm, &mut kind);
        match kind {
            abi::CART => {
                c::cartdim_get(comm, &mut incoming);
                incoming *= 2;
                outgoing = incoming;
            }
            abi::GRAPH => {
                let mut rank = 0;
                c::comm_rank(comm, &mut rank);
                c::graph_neighbors_count(comm, rank, &mut incoming);
                outgoing = incoming;
            }
            abi::DIST_GRAPH => {
                c::dist_graph_neighbors_count(comm, &mut incoming, &mut outgoing, &mut weighted);
            }
            _ => {}
        }
    }
    (length(i64::from(incoming)), length(i64::from(outgoing)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Request;

    #[test]
    fn arrays_of_handles_go_in_and_out() {
        let mut numbers = [384, 5, 7];
        // SAFETY: the array has three elements.
        unsafe {
            let mut all: Vec<Request> = handles(numbers.as_ptr(), 3, true, Request::from_fortran);
            assert_eq!(all, [abi::REQUEST_NULL, Request(5), Request(7)]);
            all[1] = abi::REQUEST_NULL;
            put_handles(&all, numbers.as_mut_ptr(), Request::to_fortran);
        }
        assert_eq!(numbers, [384, 384, 7]);
    }

    #[test]
    fn indices_are_counted_from_one_and_undefined_is_none() {
        let mut indices = [0, 3, abi::UNDEFINED];
        // SAFETY: the array has three elements.
        unsafe { count_from_one(indices.as_mut_ptr(), 3) };
        assert_eq!(indices, [1, 4, abi::UNDEFINED]);
        // SAFETY: nothing is touched.
        unsafe { count_from_one(indices.as_mut_ptr(), abi::UNDEFINED) };
        assert_eq!(indices, [1, 4, abi::UNDEFINED]);
    }
}
