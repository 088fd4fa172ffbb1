//! Collectives among neighbours (MPI 5.0, 8.6 to 8.8).

use std::ffi::c_void;

use crate::abi::{Comm, Counts, Datatype, Info, Request};
use crate::collectives::call::Call;
use crate::error::Result;
use crate::rank::Rank;

/// Displacements of bytes, which have 64 bits in either variant.
fn bytes(displacements: *const i64) -> Counts {
    Counts::new(displacements.cast(), true)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn neighbor_allgather(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    comm: Comm,
) -> Result {
    Call::neighbor_allgather(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), comm)?
        .run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn neighbor_allgatherv(
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
    Call::neighbor_allgatherv(
        me,
        (sendbuf, sendcount, sendtype),
        (recvbuf, recvcounts, displs, recvtype),
        comm,
    )?
    .run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn neighbor_alltoall(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    comm: Comm,
) -> Result {
    Call::neighbor_alltoall(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), comm)?.run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn neighbor_alltoallv(
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
    Call::neighbor_alltoallv(
        me,
        (sendbuf, sendcounts, sdispls, sendtype),
        (recvbuf, recvcounts, rdispls, recvtype),
        comm,
    )?
    .run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn neighbor_alltoallw(
    me: &Rank,
    sendbuf: *const c_void,
    sendcounts: Counts,
    sdispls: *const i64,
    sendtypes: *const Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    rdispls: *const i64,
    recvtypes: *const Datatype,
    comm: Comm,
) -> Result {
    Call::neighbor_alltoallw(
        me,
        (sendbuf, sendcounts, bytes(sdispls), sendtypes),
        (recvbuf, recvcounts, bytes(rdispls), recvtypes),
        comm,
    )?
    .run(me)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn ineighbor_allgather(
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
    Call::neighbor_allgather(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), comm)?
        .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn ineighbor_allgatherv(
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
    Call::neighbor_allgatherv(
        me,
        (sendbuf, sendcount, sendtype),
        (recvbuf, recvcounts, displs, recvtype),
        comm,
    )?
    .told_by(me, &[], &[recvcounts, displs])
    .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn ineighbor_alltoall(
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
    Call::neighbor_alltoall(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), comm)?
        .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn ineighbor_alltoallv(
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
    Call::neighbor_alltoallv(
        me,
        (sendbuf, sendcounts, sdispls, sendtype),
        (recvbuf, recvcounts, rdispls, recvtype),
        comm,
    )?
    .told_by(me, &[sendcounts, sdispls], &[recvcounts, rdispls])
    .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn ineighbor_alltoallw(
    me: &Rank,
    sendbuf: *const c_void,
    sendcounts: Counts,
    sdispls: *const i64,
    sendtypes: *const Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    rdispls: *const i64,
    recvtypes: *const Datatype,
    comm: Comm,
    request: *mut Request,
) -> Result {
    Call::neighbor_alltoallw(
        me,
        (sendbuf, sendcounts, bytes(sdispls), sendtypes),
        (recvbuf, recvcounts, bytes(rdispls), recvtypes),
        comm,
    )?
    .told_by(me, &[sendcounts, bytes(sdispls)], &[recvcounts, bytes(rdispls)])
    .told_by_types(me, sendtypes, recvtypes)
    .start(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn neighbor_allgather_init(
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
    Call::neighbor_allgather(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), comm)?
        .prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn neighbor_allgatherv_init(
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
    Call::neighbor_allgatherv(
        me,
        (sendbuf, sendcount, sendtype),
        (recvbuf, recvcounts, displs, recvtype),
        comm,
    )?
    .told_by(me, &[], &[recvcounts, displs])
    .prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn neighbor_alltoall_init(
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
    Call::neighbor_alltoall(me, (sendbuf, sendcount, sendtype), (recvbuf, recvcount, recvtype), comm)?
        .prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn neighbor_alltoallv_init(
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
    Call::neighbor_alltoallv(
        me,
        (sendbuf, sendcounts, sdispls, sendtype),
        (recvbuf, recvcounts, rdispls, recvtype),
        comm,
    )?
    .told_by(me, &[sendcounts, sdispls], &[recvcounts, rdispls])
    .prepare(me, request)
}

#[expect(clippy::too_many_arguments, reason = "MPI has as many")]
pub fn neighbor_alltoallw_init(
    me: &Rank,
    sendbuf: *const c_void,
    sendcounts: Counts,
    sdispls: *const i64,
    sendtypes: *const Datatype,
    recvbuf: *mut c_void,
    recvcounts: Counts,
    rdispls: *const i64,
    recvtypes: *const Datatype,
    comm: Comm,
    _info: Info,
    request: *mut Request,
) -> Result {
    Call::neighbor_alltoallw(
        me,
        (sendbuf, sendcounts, bytes(sdispls), sendtypes),
        (recvbuf, recvcounts, bytes(rdispls), recvtypes),
        comm,
    )?
    .told_by(me, &[sendcounts, bytes(sdispls)], &[recvcounts, bytes(rdispls)])
    .told_by_types(me, sendtypes, recvtypes)
    .prepare(me, request)
}
