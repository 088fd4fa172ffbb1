//! Statuses: what a program asks of them, and sets in them (MPI 5.0, 3.2.5, 5.1.11 and 13.3).

use super::datatypes::{answer, answer_count};
use crate::abi::{self, CountsOut, Datatype, Status};
use crate::error::{Result, fail};
use crate::rank::Rank;

/// The status that the program gives.
fn given(status: *const Status) -> Result<Status> {
    if status.is_null() {
        return fail(abi::ERR_ARG, "the status is MPI_STATUS_IGNORE: a status is needed");
    }
    // SAFETY: the program has a status there.
    Ok(unsafe { status.read() })
}

/// Changes the status that the program gives.
fn change(status: *mut Status, change: impl FnOnce(&mut Status)) -> Result {
    let mut changed = given(status)?;
    change(&mut changed);
    answer(status, changed)
}

/// How many elements of a type a message brought, which may be no whole number of them.
fn count(me: &Rank, status: *const Status, datatype: Datatype) -> Result<i64> {
    let (bytes, size) = (given(status)?.bytes(), me.datatype(datatype)?.size as i64);
    let undefined = i64::from(abi::UNDEFINED);
    Ok(match size {
        0 if bytes == 0 => 0,
        0 => undefined,
        _ if bytes % size == 0 => bytes / size,
        _ => undefined,
    })
}

/// How many basic elements a message brought.
fn elements(me: &Rank, status: *const Status, datatype: Datatype) -> Result<i64> {
    let (bytes, found) = (given(status)?.bytes(), me.datatype(datatype)?);
    let elements = found.elements_in(bytes as u64);
    Ok(elements.map_or(i64::from(abi::UNDEFINED), |elements| elements as i64))
}

pub fn get_count(me: &Rank, status: *const Status, datatype: Datatype, place: CountsOut) -> Result {
    answer_count(place, count(me, status, datatype)?);
    Ok(())
}

pub fn get_elements(me: &Rank, status: *const Status, datatype: Datatype, count: CountsOut) -> Result {
    answer_count(count, elements(me, status, datatype)?);
    Ok(())
}

pub fn get_elements_x(me: &Rank, status: *const Status, datatype: Datatype, count: *mut i64) -> Result {
    answer(count, elements(me, status, datatype)?)
}

pub fn status_set_elements(me: &Rank, status: *mut Status, datatype: Datatype, count: i64) -> Result {
    let found = me.datatype(datatype)?;
    let bytes = u64::try_from(count).ok().and_then(|count| found.bytes_of(count));
    match bytes.and_then(|bytes| i64::try_from(bytes).ok()) {
        Some(bytes) => change(status, |status| status.set_bytes(bytes)),
        None => fail(abi::ERR_COUNT, format!("a message cannot have {count} elements of {}", found.label())),
    }
}

pub fn status_set_elements_x(me: &Rank, status: *mut Status, datatype: Datatype, count: i64) -> Result {
    status_set_elements(me, status, datatype, count)
}

pub fn status_set_cancelled(_me: &Rank, status: *mut Status, flag: i32) -> Result {
    change(status, |status| status.set_cancelled(flag != 0))
}

pub fn test_cancelled(_me: &Rank, status: *const Status, flag: *mut i32) -> Result {
    answer(flag, i32::from(given(status)?.is_cancelled()))
}

pub fn status_get_source(_me: &Rank, status: *const Status, source: *mut i32) -> Result {
    answer(source, given(status)?.source)
}

pub fn status_get_tag(_me: &Rank, status: *const Status, tag: *mut i32) -> Result {
    answer(tag, given(status)?.tag)
}

pub fn status_get_error(_me: &Rank, status: *const Status, err: *mut i32) -> Result {
    answer(err, given(status)?.error)
}

pub fn status_set_source(_me: &Rank, status: *mut Status, source: i32) -> Result {
    change(status, |status| status.source = source)
}

pub fn status_set_tag(_me: &Rank, status: *mut Status, tag: i32) -> Result {
    change(status, |status| status.tag = tag)
}

pub fn status_set_error(_me: &Rank, status: *mut Status, err: i32) -> Result {
    change(status, |status| status.error = err)
}
