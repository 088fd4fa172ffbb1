//! Point-to-point communication that blocks.

use std::ffi::c_void;

use crate::abi::{Comm, Datatype};
use crate::error::Result;
use crate::rank::Rank;

pub fn send(
    me: &Rank,
    _buf: *const c_void,
    _count: i64,
    _datatype: Datatype,
    _dest: i32,
    _tag: i32,
    comm: Comm,
) -> Result {
    me.comm(comm)?;
    Ok(())
}
