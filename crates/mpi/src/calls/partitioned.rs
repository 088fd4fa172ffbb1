//! Partitioned communication (MPI 5.0, chapter 4).

use std::ffi::c_void;
use std::rc::Rc;

use super::p2p::{Elements, incoming, outgoing};
use super::{check_place, elements, give};
use crate::abi::{self, Comm, Datatype, Info, Request};
use crate::error::{Result, fail};
use crate::p2p::{Mode, check_tag};
use crate::partitioned::{Divided, PartitionedReceive, PartitionedSend};
use crate::rank::Rank;
use crate::request::{Pending, Persistent};

fn divided(partitions: i32, elements: Elements) -> Result<Divided> {
    let Elements { buffer, count, datatype } = elements;
    match usize::try_from(partitions) {
        Ok(partitions) => Ok(Divided { buffer, partitions, count, datatype }),
        Err(_) => {
            fail(abi::ERR_ARG, format!("the number of partitions is {partitions}: it must not be negative"))
        }
    }
}

pub fn psend_init(
    me: &Rank,
    buf: *const c_void,
    partitions: i32,
    count: i64,
    datatype: Datatype,
    dest: i32,
    tag: i32,
    comm: Comm,
    info: Info,
    request: *mut Request,
) -> Result {
    let send = outgoing(me, buf, count, datatype, dest, tag, comm, Mode::Standard)?;
    check_place(request)?;
    me.hints(info)?;
    let elements = Elements { buffer: send.buffer.cast_mut(), count: send.count, datatype: send.datatype };
    let comm = Rc::clone(&send.comm);
    let made = me.partitioned_send(divided(partitions, elements)?, dest, tag, send.comm)?;
    let pending = Pending::inactive(Persistent::PartitionedSend(Rc::new(made)), Some(comm));
    give(request, me.keep(pending))
}

pub fn precv_init(
    me: &Rank,
    buf: *mut c_void,
    partitions: i32,
    count: i64,
    datatype: Datatype,
    source: i32,
    tag: i32,
    comm: Comm,
    info: Info,
    request: *mut Request,
) -> Result {
    if source == abi::ANY_SOURCE {
        return fail(
            abi::ERR_RANK,
            "a receive of partitions is from one rank: MPI_ANY_SOURCE is not allowed",
        );
    }
    check_tag(tag)?;
    let receive = incoming(me, buf, count, datatype, source, tag, comm)?;
    check_place(request)?;
    me.hints(info)?;
    let landing = receive.landing;
    let elements = Elements { buffer: landing.buffer, count: landing.count, datatype: landing.datatype };
    let comm = Rc::clone(&receive.comm);
    let made = me.partitioned_receive(divided(partitions, elements)?, source, tag, receive.comm)?;
    let pending = Pending::inactive(Persistent::PartitionedReceive(Rc::new(made)), Some(comm));
    give(request, me.keep(pending))
}

/// The send of a request, and the request.
fn sending(me: &Rank, request: Request) -> Result<(Rc<Pending>, Rc<PartitionedSend>)> {
    let Some(found) = me.request(request)? else {
        return fail(abi::ERR_REQUEST, "the request is MPI_REQUEST_NULL");
    };
    match found.persistent.as_deref() {
        Some(Persistent::PartitionedSend(send)) => {
            let send = Rc::clone(send);
            Ok((found, send))
        }
        _ => fail(abi::ERR_REQUEST, "the request is not one of MPI_Psend_init"),
    }
}

/// Says that these partitions are ready.
fn ready(me: &Rank, request: Request, partitions: impl Iterator<Item = i32>) -> Result {
    let (found, send) = sending(me, request)?;
    for partition in partitions {
        let done = send.ready(me, &found, partition);
        done.map_err(|error| match &found.comm {
            Some(comm) => error.on(me.on_comm(comm)),
            None => error,
        })?;
    }
    Ok(())
}

pub fn pready(me: &Rank, partition: i32, request: Request) -> Result {
    ready(me, request, [partition].into_iter())
}

pub fn pready_range(me: &Rank, partition_low: i32, partition_high: i32, request: Request) -> Result {
    if partition_low > partition_high {
        return fail(
            abi::ERR_ARG,
            format!("the partitions from {partition_low} to {partition_high} are none"),
        );
    }
    ready(me, request, partition_low..=partition_high)
}

pub fn pready_list(me: &Rank, length: i32, array_of_partitions: *const i32, request: Request) -> Result {
    let partitions = elements(length, array_of_partitions, "partitions")?;
    ready(me, request, partitions.into_iter())
}

pub fn parrived(me: &Rank, request: Request, partition: i32, flag: *mut i32) -> Result {
    check_place(flag)?;
    me.answers_anew(flag);
    // What is not under way has arrived (4.2.2).
    let Some(found) = me.request(request)? else { return give(flag, 1) };
    let receive: Rc<PartitionedReceive> = match found.persistent.as_deref() {
        Some(Persistent::PartitionedReceive(receive)) => Rc::clone(receive),
        _ => return fail(abi::ERR_REQUEST, "the request is not one of MPI_Precv_init"),
    };
    let arrived = receive.has_arrived(me, &found, partition).map_err(|error| match &found.comm {
        Some(comm) => error.on(me.on_comm(comm)),
        None => error,
    })?;
    give(flag, i32::from(arrived))
}
