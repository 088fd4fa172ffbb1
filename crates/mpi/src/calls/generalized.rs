//! Generalized requests (MPI 5.0, 13.2).

use std::ffi::c_void;

use crate::abi::{self, Request, Status};
use crate::error::{Result, fail};
use crate::rank::Rank;
use crate::request::{Generalized, Pending, Work};

pub fn grequest_start(
    me: &Rank,
    query_fn: usize,
    free_fn: usize,
    cancel_fn: usize,
    extra_state: *mut c_void,
    request: *mut Request,
) -> Result {
    let own =
        Generalized { query: query_fn, free: free_fn, cancel: cancel_fn, extra: extra_state, fortran: false };
    start(me, own, request);
    Ok(())
}

/// Keeps a request that the program completes.
pub(crate) fn start(me: &Rank, own: Generalized, request: *mut Request) {
    let pending = Pending::complete(Status::empty(), None);
    pending.open.set(true);
    *pending.work.borrow_mut() = Work::Generalized(own);
    // SAFETY: the program wants the request there.
    unsafe { request.write(me.keep(pending)) };
}

pub fn grequest_complete(me: &Rank, request: Request) -> Result {
    match me.request(request)? {
        Some(found) if matches!(&*found.work.borrow(), Work::Generalized(_)) => {
            found.open.set(false);
            Ok(())
        }
        _ => fail(abi::ERR_REQUEST, "the request is not one of MPI_Grequest_start"),
    }
}
