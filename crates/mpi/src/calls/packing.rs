//! Packing and unpacking by programs (MPI 5.0, 5.2 and 5.3).

use std::ffi::{c_char, c_void};
use std::rc::Rc;

use super::datatypes::{answer, answer_count, not_negative};
use crate::abi::{self, Comm, CountsOut, Datatype, text_of};
use crate::datatype::Type;
use crate::error::{Error, Result, fail};
use crate::message::Data;
use crate::rank::Rank;
use crate::verify::Used;

/// A buffer of packed data: its size, and how far it was used. Gives where it goes on, and the bytes that are left there.
fn rest(what: &str, size: i64, position: i64, needed: usize) -> Result<usize> {
    let size = not_negative(what, size)?;
    let position = not_negative("the position", position)?;
    match size.checked_sub(position) {
        Some(left) if left >= needed => Ok(position),
        _ => fail(
            abi::ERR_TRUNCATE,
            format!("{needed} bytes are needed, and the buffer of {size} bytes is used to byte {position}"),
        ),
    }
}

/// The elements that a call is about, and their bytes.
fn elements(me: &Rank, count: i64, datatype: Datatype) -> Result<(Rc<Type>, usize, usize)> {
    sized(me.committed(datatype)?, count)
}

/// Elements of a type that need not be committed, since none of them is touched.
fn sized(found: Rc<Type>, count: i64) -> Result<(Rc<Type>, usize, usize)> {
    let count = not_negative("the count", count)?;
    match found.size.checked_mul(count) {
        Some(bytes) => Ok((found, count, bytes)),
        None => fail(abi::ERR_COUNT, format!("{count} elements of {} bytes are too many", found.size)),
    }
}

/// The value that the program has there.
fn position_of(position: CountsOut) -> Result<i64> {
    if position.is_null() {
        return fail(abi::ERR_ARG, "the place of the position is a null pointer");
    }
    // SAFETY: the program has a position there.
    Ok(unsafe { position.get(0) })
}

/// What went wrong with a buffer of packed data that is too short for sending, in the words of the standard.
fn as_argument(error: Error) -> Error {
    match error.class {
        abi::ERR_TRUNCATE => Error::new(abi::ERR_ARG, error.message),
        _ => error,
    }
}

#[expect(clippy::too_many_arguments, reason = "the procedure of MPI has as many")]
pub fn pack(
    me: &Rank,
    inbuf: *const c_void,
    incount: i64,
    datatype: Datatype,
    outbuf: *mut c_void,
    outsize: i64,
    position: CountsOut,
    comm: Comm,
) -> Result {
    me.comm(comm)?;
    let (found, _, bytes) = elements(me, incount, datatype)?;
    let at = rest("the size of the buffer", outsize, position_of(position)?, bytes).map_err(as_argument)?;
    if bytes > 0 {
        me.check_uses(|| {
            let to = outbuf as usize + at;
            vec![
                Used::elements(inbuf as usize, incount as usize, &found, false),
                Used::bytes(to, to + bytes, true),
            ]
        });
        // SAFETY: the program has so many elements there, and so much room.
        unsafe { found.pack_to(inbuf, 0, bytes, outbuf.cast::<u8>().add(at)) };
        me.has_written(|| vec![Used::bytes(outbuf as usize + at, outbuf as usize + at + bytes, true)]);
    }
    answer_count(position, (at + bytes) as i64);
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "the procedure of MPI has as many")]
pub fn unpack(
    me: &Rank,
    inbuf: *const c_void,
    insize: i64,
    position: CountsOut,
    outbuf: *mut c_void,
    outcount: i64,
    datatype: Datatype,
    comm: Comm,
) -> Result {
    me.comm(comm)?;
    let (found, count, bytes) = elements(me, outcount, datatype)?;
    let at = rest("the size of the buffer", insize, position_of(position)?, bytes)?;
    if bytes > 0 {
        me.check_uses(|| {
            let from = inbuf as usize + at;
            vec![Used::bytes(from, from + bytes, false), Used::elements(outbuf as usize, count, &found, true)]
        });
        // SAFETY: the program has so many bytes there, and room for so many elements.
        unsafe {
            let data = std::slice::from_raw_parts(inbuf.cast::<u8>().add(at), bytes);
            found.unpack(data, outbuf, count);
        }
        me.has_written(|| vec![Used::elements(outbuf as usize, count, &found, true)]);
    }
    answer_count(position, (at + bytes) as i64);
    Ok(())
}

pub fn pack_size(me: &Rank, incount: i64, datatype: Datatype, comm: Comm, size: CountsOut) -> Result {
    me.comm(comm)?;
    let (_, _, bytes) = sized(me.datatype(datatype)?, incount)?;
    answer_count(size, bytes as i64);
    Ok(())
}

/// The one representation that there is.
fn check_representation(datarep: *const c_char) -> Result {
    // SAFETY: the program gives a text, or nothing.
    let name = unsafe { text_of(datarep) };
    if name == "external32" {
        return Ok(());
    }
    fail(
        abi::ERR_ARG,
        format!("{name:?} is no representation that data can be packed in: use \"external32\""),
    )
}

/// The elements that a call is about, and their bytes in `external32`.
fn external(
    me: &Rank,
    datarep: *const c_char,
    count: i64,
    datatype: Datatype,
) -> Result<(Rc<Type>, usize, usize)> {
    check_representation(datarep)?;
    let (found, count, _) = elements(me, count, datatype)?;
    let bytes = found.external_size() * count;
    Ok((found, count, bytes))
}

#[expect(clippy::too_many_arguments, reason = "the procedure of MPI has as many")]
pub fn pack_external(
    me: &Rank,
    datarep: *const c_char,
    inbuf: *const c_void,
    incount: i64,
    datatype: Datatype,
    outbuf: *mut c_void,
    outsize: i64,
    position: *mut i64,
) -> Result {
    let (found, count, bytes) = external(me, datarep, incount, datatype)?;
    let at = position_of(CountsOut::new(position.cast(), true))?;
    let at = rest("the size of the buffer", outsize, at, bytes).map_err(as_argument)?;
    me.check_uses(|| {
        let place = (outbuf as usize).wrapping_add(at);
        vec![Used::elements(inbuf as usize, count, &found, false), Used::bytes(place, place + bytes, true)]
    });
    let mut data = Data::new();
    // SAFETY: the program has so many elements there.
    unsafe { found.pack(inbuf, count, &mut data) };
    let written = found.to_external(&data, count);
    if bytes > 0 {
        // SAFETY: the program has so much room there.
        unsafe { outbuf.cast::<u8>().add(at).copy_from(written.as_ptr(), bytes) };
        me.has_written(|| vec![Used::bytes(outbuf as usize + at, outbuf as usize + at + bytes, true)]);
    }
    answer(position, (at + bytes) as i64)
}

#[expect(clippy::too_many_arguments, reason = "the procedure of MPI has as many")]
pub fn unpack_external(
    me: &Rank,
    datarep: *const c_char,
    inbuf: *const c_void,
    insize: i64,
    position: *mut i64,
    outbuf: *mut c_void,
    outcount: i64,
    datatype: Datatype,
) -> Result {
    let (found, count, bytes) = external(me, datarep, outcount, datatype)?;
    let at = position_of(CountsOut::new(position.cast(), true))?;
    let at = rest("the size of the buffer", insize, at, bytes)?;
    if bytes > 0 {
        me.check_uses(|| {
            let from = inbuf as usize + at;
            vec![Used::bytes(from, from + bytes, false), Used::elements(outbuf as usize, count, &found, true)]
        });
        // SAFETY: the program has so many bytes there, and room for so many elements.
        unsafe {
            let written = std::slice::from_raw_parts(inbuf.cast::<u8>().add(at), bytes);
            found.unpack(&found.from_external(written, count), outbuf, count);
        }
        me.has_written(|| vec![Used::elements(outbuf as usize, count, &found, true)]);
    }
    answer(position, (at + bytes) as i64)
}

pub fn pack_external_size(
    me: &Rank,
    datarep: *const c_char,
    incount: i64,
    datatype: Datatype,
    size: *mut i64,
) -> Result {
    check_representation(datarep)?;
    let (found, count, _) = sized(me.datatype(datatype)?, incount)?;
    answer(size, (found.external_size() * count) as i64)
}
