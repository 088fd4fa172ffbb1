//! The procedures of MPI: each function here does the one that has its name. They look at the arguments, and leave the work to
//! the modules beside this folder. `build.rs` finds them by their names, and makes their entry points.

pub mod attributes;
pub mod collectives;
pub mod communicators;
pub mod datatypes;
pub mod environment;
pub mod errors;
pub mod events;
pub mod files;
pub mod generalized;
pub mod groups;
pub mod handles;
pub mod immediate;
pub mod infos;
pub mod neighbors;
pub mod nonblocking;
pub mod onesided;
pub mod operators;
pub mod p2p;
pub mod packing;
pub mod partitioned;
pub mod performance;
pub mod persistent;
pub mod probe;
pub mod processes;
pub mod request_status;
pub mod requests;
pub mod sessions;
pub mod status;
pub mod tools;
pub mod topologies;
pub mod windows;

use crate::abi;
use crate::error::{Result, fail};

/// Writes an answer where the program wants it.
fn give<T>(place: *mut T, value: T) -> Result {
    if place.is_null() {
        return fail(abi::ERR_ARG, "the place for the answer is a null pointer");
    }
    // SAFETY: the program wants the answer there.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// What a program has at a place: a handle, say, that it wants to be changed.
fn taken<T>(place: *mut T) -> Result<T> {
    if place.is_null() {
        return fail(abi::ERR_ARG, "the place of the argument is a null pointer");
    }
    // SAFETY: the program has a value there.
    Ok(unsafe { place.read_unaligned() })
}

/// Looks at the place for an answer before anybody else is asked for something.
fn check_place<T>(place: *mut T) -> Result {
    if place.is_null() { fail(abi::ERR_ARG, "the place for the answer is a null pointer") } else { Ok(()) }
}

/// The elements of an array that a program gives.
fn elements<T>(count: i32, first: *const T, what: &str) -> Result<Vec<T>> {
    let Ok(count) = usize::try_from(count) else {
        return fail(abi::ERR_ARG, format!("the number of {what} is {count}: it must not be negative"));
    };
    if count > 0 && first.is_null() {
        return fail(abi::ERR_ARG, format!("the array of {what} is a null pointer"));
    }
    // SAFETY: the program says that so many are there.
    Ok((0..count).map(|index| unsafe { first.add(index).read_unaligned() }).collect())
}

/// Writes elements into an array of the program, as many as there is room for.
fn give_elements<T: Copy>(first: *mut T, room: i32, values: &[T]) -> Result {
    let count = values.len().min(usize::try_from(room).unwrap_or(0));
    if count > 0 && first.is_null() {
        return fail(abi::ERR_ARG, "the array for the answer is a null pointer");
    }
    for (index, value) in values[..count].iter().enumerate() {
        // SAFETY: the program says that there is room.
        unsafe { first.add(index).write_unaligned(*value) };
    }
    Ok(())
}
