//! Operators of reductions (MPI 5.0, 6.9).

use std::ffi::c_void;

use super::datatypes::{answer, not_negative};
use crate::abi::{self, Datatype, Function, Op};
use crate::error::{Result, fail};
use crate::operator::Language;
use crate::rank::Rank;
use crate::verify::Used;

pub fn op_create(me: &Rank, user_fn: Function, commute: i32, op: *mut Op) -> Result {
    answer(op, me.make_operator(user_fn, Language::C, commute != 0)?)
}

pub fn op_free(me: &Rank, op: *mut Op) -> Result {
    if op.is_null() {
        return fail(abi::ERR_ARG, "the place of the operator is a null pointer");
    }
    // SAFETY: the program has a handle there.
    me.free_operator(unsafe { op.read() })?;
    answer(op, abi::OP_NULL)
}

pub fn op_commutative(me: &Rank, op: Op, commute: *mut i32) -> Result {
    answer(commute, i32::from(me.operator(op)?.commutative))
}

pub fn reduce_local(
    me: &Rank,
    inbuf: *const c_void,
    inoutbuf: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
) -> Result {
    let found = me.committed(datatype)?;
    let count = not_negative("the count", count)?;
    let operator = me.operator_for(op, &found)?;
    if count > 0 && found.is_predefined() && (inbuf.is_null() || inoutbuf.is_null()) {
        return fail(abi::ERR_BUFFER, "a buffer is a null pointer, and the count is not 0");
    }
    if [inbuf.addr(), inoutbuf.addr()].contains(&abi::IN_PLACE) {
        return fail(abi::ERR_BUFFER, "MPI_IN_PLACE is not allowed here: there are two operands");
    }
    if count > 0 && found.size > 0 && inbuf == inoutbuf {
        return fail(abi::ERR_BUFFER, "both operands are in the same buffer: each has its own");
    }
    me.check_uses(|| {
        vec![
            Used::elements(inbuf as usize, count, &found, false),
            Used::elements(inoutbuf as usize, count, &found, true),
        ]
    });
    me.has_written(|| vec![Used::elements(inoutbuf as usize, count, &found, true)]);
    // SAFETY: the program has so many elements at both places.
    unsafe { operator.apply(me, inbuf, inoutbuf, count, datatype, &found) }
}
