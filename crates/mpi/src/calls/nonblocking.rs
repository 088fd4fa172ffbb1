//! Collectives that do not block (MPI 5.0, 6.12).

use std::ffi::c_void;

use crate::abi::{Comm, Counts, Datatype, Op, Request};
use crate::collectives::call::Call;
use crate::collectives::scan::Own;
use crate::error::Result;
use crate::rank::Rank;

pub fn ibarrier(me: &Rank, comm: Comm, request: *mut Request) -> Result {
    Call::barrier(me, comm)?.start(me, request)
}

pub fn ibcast(
    me: &Rank,
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    root: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    Call::bcast(me, (buffer, count, datatype), root, comm)?.start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn igather(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    root: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    Call::gather(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root, comm)?
        .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn igatherv(
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
    request: *mut Request,
) -> Result {
    Call::gatherv(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype), root, comm)?
        .told_by(me, &[], &[recvcounts, displs])
        .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn iscatter(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    root: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    Call::scatter(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), root, comm)?
        .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn iscatterv(
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
    request: *mut Request,
) -> Result {
    Call::scatterv(me, (sendbuf, sendcounts, displs, sendtype), (recvbuf, recvcount, recvtype), root, comm)?
        .told_by(me, &[sendcounts, displs], &[])
        .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn iallgather(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    comm: Comm,
    request: *mut Request,
) -> Result {
    Call::allgather(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), comm)?
        .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn iallgatherv(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    displs: Counts,
    recvtype: Datatype,
    comm: Comm,
    request: *mut Request,
) -> Result {
    Call::allgatherv(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcounts, displs, recvtype), comm)?
        .told_by(me, &[], &[recvcounts, displs])
        .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn ialltoall(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    comm: Comm,
    request: *mut Request,
) -> Result {
    Call::alltoall(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), comm)?
        .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn ialltoallv(
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
    request: *mut Request,
) -> Result {
    Call::alltoallv(
        me,
        (sendbuf, sendcounts, sdispls, sendtype),
        (recvbuf, recvcounts, rdispls, recvtype),
        comm,
    )?
    .told_by(me, &[sendcounts, sdispls], &[recvcounts, rdispls])
    .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn ialltoallw(
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
    .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn ireduce(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    root: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    Call::reduce(me, sendbuf, (recvbuf, count, datatype), op, root, comm)?.start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn iallreduce(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
    request: *mut Request,
) -> Result {
    Call::allreduce(me, sendbuf, (recvbuf, count, datatype), op, comm)?.start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn ireduce_scatter(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    datatype: Datatype,
    op: Op,
    comm: Comm,
    request: *mut Request,
) -> Result {
    Call::reduce_scatter(me, (sendbuf, recvbuf, datatype), recvcounts, op, comm)?
        .told_by(me, &[], &[recvcounts])
        .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn ireduce_scatter_block(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    recvcount: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
    request: *mut Request,
) -> Result {
    Call::reduce_scatter_block(me, (sendbuf, recvbuf, datatype), recvcount, op, comm)?.start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn iscan(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
    request: *mut Request,
) -> Result {
    Call::scan(me, sendbuf, (recvbuf, count, datatype), op, comm, Own::In)?.start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn iexscan(
    me: &Rank,
    sendbuf: *const c_void,
    recvbuf: *mut c_void,
    count: i64,
    datatype: Datatype,
    op: Op,
    comm: Comm,
    request: *mut Request,
) -> Result {
    Call::scan(me, sendbuf, (recvbuf, count, datatype), op, comm, Own::Out)?.start(me, request)
}
