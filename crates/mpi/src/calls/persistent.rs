//! Collectives that are begun again and again (MPI 5.0, 6.13).

use std::ffi::c_void;

use crate::abi::{Comm, Counts, Datatype, Info, Op, Request};
use crate::collectives::call::Call;
use crate::collectives::scan::Own;
use crate::error::Result;
use crate::rank::Rank;

pub fn barrier_init(me: &Rank, comm: Comm, _info: Info, request: *mut Request) -> Result {
    Call::barrier(me, comm)?.prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn bcast_init(
    me: &Rank,
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    root: i32,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::bcast(me, (buffer, count, datatype), root, comm)?.prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn gather_init(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    root: i32,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::gather(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root, comm)?
        .prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn gatherv_init(
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
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::gatherv(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype), root, comm)?
        .told_by(me, &[], &[recvcounts, displs])
        .prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn scatter_init(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    root: i32,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::scatter(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root, comm)?
        .prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn scatterv_init(
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
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::scatterv(me, (sendbuf, sendcounts, displs, sendtype), (recvbuf, recvcount, recvtype), root, comm)?
        .told_by(me, &[sendcounts, displs], &[])
        .prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn allgather_init(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::allgather(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), comm)?
        .prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn allgatherv_init(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    displs: Counts,
    recvtype: Datatype,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::allgatherv(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype), comm)?
        .told_by(me, &[], &[recvcounts, displs])
        .prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn alltoall_init(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::alltoall(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), comm)?
        .prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn alltoallv_init(
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
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::alltoallv(
        me,
        (sendbuf, sendcounts, sdispls, sendtype),
        (recvbuf, recvcounts, rdispls, recvtype),
        comm,
    )?
    .told_by(me, &[sendcounts, sdispls], &[recvcounts, rdispls])
    .prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn alltoallw_init(
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
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::alltoallw(
        me,
        (sendbuf, sendcounts, sdispls, sendtypes),
        (recvbuf, recvcounts, rdispls, recvtypes),
        comm,
    )?
    .told_by(me, &[sendcounts, sdispls], &[recvcounts, rdispls])
    .told_by_types(me, sendtypes, recvtypes)
    .prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn reduce_init(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    root: i32,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::reduce(me, sendbuf, (recvbuf, count, datatype), op, root, comm)?.prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn allreduce_init(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::allreduce(me, sendbuf, (recvbuf, count, datatype), op, comm)?.prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn reduce_scatter_init(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    datatype: Datatype,
    op: Op,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::reduce_scatter(me, (sendbuf, recvbuf, datatype), recvcounts, op, comm)?
        .told_by(me, &[], &[recvcounts])
        .prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn reduce_scatter_block_init(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::reduce_scatter_block(me, (sendbuf, recvbuf, datatype), recvcount, op, comm)?.prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn scan_init(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::scan(me, sendbuf, (recvbuf, count, datatype), op, comm, Own::In)?.prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn exscan_init(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::scan(me, sendbuf, (recvbuf, count, datatype), op, comm, Own::Out)?.prepare(me, request)
}
