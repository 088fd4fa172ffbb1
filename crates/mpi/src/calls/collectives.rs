//! Collectives that block (MPI 5.0, chapter 6).

use std::ffi::c_void;

use crate::abi::{Comm, Counts, Datatype, Op};
use crate::collectives::call::Call;
use crate::collectives::scan::Own;
use crate::error::Result;
use crate::rank::Rank;

pub fn barrier(me: &Rank, comm: Comm) -> Result {
    Call::barrier(me, comm)?.run(me)?;
    me.finish_windows(&*me.comm(comm)?)
}

pub fn bcast(
    me: &Rank,
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    root: i32,
    comm: Comm,
) -> Result {
    Call::bcast(me, (buffer, count, datatype), root, comm)?.run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn gather(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    root: i32,
    comm: Comm,
) -> Result {
    Call::gather(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root, comm)?.run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn gatherv(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    displs: Counts,
    recvtype: Datatype,
    root: i32,
    comm: Comm,
) -> Result {
    Call::gatherv(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype), root, comm)?
        .run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn scatter(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    root: i32,
    comm: Comm,
) -> Result {
    Call::scatter(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root, comm)?.run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn scatterv(
    me: &Rank,
    sendbuf: *const c_void,
    sendcounts: Counts,
    displs: Counts,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    root: i32,
    comm: Comm,
) -> Result {
    Call::scatterv(me, (sendbuf, sendcounts, displs, sendtype), (recvbuf, recvcount, recvtype), root, comm)?
        .run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn allgather(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    comm: Comm,
) -> Result {
    Call::allgather(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), comm)?.run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn allgatherv(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    displs: Counts,
    recvtype: Datatype,
    comm: Comm,
) -> Result {
    Call::allgatherv(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype), comm)?
        .run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn alltoall(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    comm: Comm,
) -> Result {
    Call::alltoall(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), comm)?.run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn alltoallv(
    me: &Rank,
    sendbuf: *const c_void,
    sendcounts: Counts,
    sdispls: Counts,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    rdispls: Counts,
    recvtype: Datatype,
    comm: Comm,
) -> Result {
    Call::alltoallv(
        me,
        (sendbuf, sendcounts, sdispls, sendtype),
        (recvbuf, recvcounts, rdispls, recvtype),
        comm,
    )?
    .run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn alltoallw(
    me: &Rank,
    sendbuf: *const c_void,
    sendcounts: Counts,
    sdispls: Counts,
    sendtypes: *const Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    rdispls: Counts,
    recvtypes: *const Datatype,
    comm: Comm,
) -> Result {
    Call::alltoallw(
        me,
        (sendbuf, sendcounts, sdispls, sendtypes),
        (recvbuf, recvcounts, rdispls, recvtypes),
        comm,
    )?
    .run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn reduce(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    root: i32,
    comm: Comm,
) -> Result {
    Call::reduce(me, sendbuf, (recvbuf, count, datatype), op, root, comm)?.run(me)
}

pub fn allreduce(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
) -> Result {
    Call::allreduce(me, sendbuf, (recvbuf, count, datatype), op, comm)?.run(me)
}

pub fn reduce_scatter(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    datatype: Datatype,
    op: Op,
    comm: Comm,
) -> Result {
    Call::reduce_scatter(me, (sendbuf, recvbuf, datatype), recvcounts, op, comm)?.run(me)
}

pub fn reduce_scatter_block(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
) -> Result {
    Call::reduce_scatter_block(me, (sendbuf, recvbuf, datatype), recvcount, op, comm)?.run(me)
}

pub fn scan(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
) -> Result {
    Call::scan(me, sendbuf, (recvbuf, count, datatype), op, comm, Own::In)?.run(me)
}

pub fn exscan(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
) -> Result {
    Call::scan(me, sendbuf, (recvbuf, count, datatype), op, comm, Own::Out)?.run(me)
}
