//! Looking at requests, which stay as they are (MPI 5.0, 3.7.6).

use super::requests::{length, told_nothing};
use crate::abi::{self, Request, Status};
use crate::error::Result;
use crate::rank::Rank;

pub fn request_get_status(me: &Rank, request: Request, flag: *mut i32, status: *mut Status) -> Result {
    me.answers_anew(flag);
    let found = me.request(request)?.filter(|found| found.active.get());
    let Some(found) = found else {
        // SAFETY: the program wants the answer there.
        unsafe { flag.write(1) };
        told_nothing(status);
        return Ok(());
    };
    me.pays_probe();
    let complete = me.test(&found);
    me.has_polled(&me.world.polls.probe, complete);
    // SAFETY: as above.
    unsafe { flag.write(i32::from(complete)) };
    if complete {
        me.tells_complete(&found);
        let so_far = match &*found.outcome.borrow() {
            Ok(status) => *status,
            Err(wrong) => wrong.1,
        };
        let told = found.asked(me)?.unwrap_or(so_far);
        // SAFETY: the program gives a status, or none.
        unsafe { told.write(status) };
    }
    Ok(())
}

/// Looks at the requests of an array, and leaves them as they are: those that are complete, with their statuses.
fn look(me: &Rank, count: i32, array: *const Request) -> Result<(Vec<(usize, Status)>, usize)> {
    let mut complete = Vec::new();
    let mut active = 0;
    for index in 0..length(count)? {
        // SAFETY: the program gives so many.
        let Some(found) = me.request(unsafe { *array.add(index) })?.filter(|found| found.active.get()) else {
            continue;
        };
        active += 1;
        if me.test(&found) {
            let status = match &*found.outcome.borrow() {
                Ok(status) => *status,
                Err(wrong) => wrong.1,
            };
            me.tells_complete(&found);
            complete.push((index, found.asked(me)?.unwrap_or(status)));
        }
    }
    Ok((complete, active))
}

pub fn request_get_status_any(
    me: &Rank,
    count: i32,
    array_of_requests: *const Request,
    index: *mut i32,
    flag: *mut i32,
    status: *mut Status,
) -> Result {
    me.pays_probe();
    let (complete, active) = look(me, count, array_of_requests)?;
    let found = complete.first();
    me.has_polled(&me.world.polls.probe, found.is_some() || active == 0);
    // SAFETY: the program wants the answers there.
    unsafe {
        flag.write(i32::from(found.is_some() || active == 0));
        index.write(found.map_or(abi::UNDEFINED, |(index, _)| *index as i32));
        match found {
            Some((_, told)) => told.write(status),
            None if active == 0 => Status::empty().write(status),
            None => {}
        }
    }
    Ok(())
}

pub fn request_get_status_all(
    me: &Rank,
    count: i32,
    array_of_requests: *const Request,
    flag: *mut i32,
    array_of_statuses: *mut Status,
) -> Result {
    me.pays_probe();
    let (complete, active) = look(me, count, array_of_requests)?;
    let all = complete.len() == active;
    me.has_polled(&me.world.polls.probe, all);
    // SAFETY: the program wants the answers there, a status for each request.
    unsafe {
        flag.write(i32::from(all));
        if all && !array_of_statuses.is_null() {
            for index in 0..length(count)? {
                let told = complete.iter().find(|(place, _)| *place == index);
                told.map_or_else(Status::empty, |(_, status)| *status).write(array_of_statuses.add(index));
            }
        }
    }
    Ok(())
}

pub fn request_get_status_some(
    me: &Rank,
    incount: i32,
    array_of_requests: *const Request,
    outcount: *mut i32,
    array_of_indices: *mut i32,
    array_of_statuses: *mut Status,
) -> Result {
    me.pays_probe();
    let (complete, active) = look(me, incount, array_of_requests)?;
    me.has_polled(&me.world.polls.probe, !complete.is_empty() || active == 0);
    // SAFETY: the program wants the answers there, and has room for as many as requests.
    unsafe {
        outcount.write(if active == 0 { abi::UNDEFINED } else { complete.len() as i32 });
        for (number, (index, status)) in complete.iter().enumerate() {
            array_of_indices.add(number).write(*index as i32);
            if !array_of_statuses.is_null() {
                status.write(array_of_statuses.add(number));
            }
        }
    }
    Ok(())
}
