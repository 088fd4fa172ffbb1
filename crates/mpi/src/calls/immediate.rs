//! Immediate and persistent communication: what begins a request, or makes one that can be begun (MPI 5.0, 3.7 and 3.9).

use std::ffi::c_void;
use std::rc::Rc;

use super::p2p::{incoming, outgoing};
use crate::abi::{Comm, Datatype, Request, Status};
use crate::error::Result;
use crate::message::Content;
use crate::p2p::{Begun, Context, Incoming, Manner, Mode, Outgoing, Posted};
use crate::rank::Rank;
use crate::request::{Pending, Persistent, Several, Then, Work};
use crate::verify::Used;

/// Begins a send.
fn begin_send(me: &Rank, send: &Outgoing, request: *mut Request) -> Result {
    let comm = Some(Rc::clone(&send.comm));
    let activity = match me.post_send(send, Manner::Immediate)? {
        Posted::Done => None,
        Posted::UnderWay(activity) => Some(activity),
    };
    let pending = me.spares.request(activity, Work::Nothing, comm);
    if send.destination != crate::abi::PROC_NULL {
        let sent = me.moment_of_send();
        me.owns(&pending, || send.uses());
        pending.posted.set(sent);
        pending.detached.set(me.detached.take());
    }
    // SAFETY: the program wants the request there.
    unsafe { request.write(me.keep(pending)) };
    Ok(())
}

/// Begins a receive.
fn post(me: &Rank, receive: Incoming) -> Result<Rc<Pending>> {
    let Some(criteria) = me.criteria(&receive.comm, Context::User, receive.source, receive.tag)? else {
        return Ok(me.spares.complete(Status::of_nobody(), Some(receive.comm)));
    };
    if let Some(content) = me.takes_found(&criteria) {
        let pending = me.spares.request(None, Work::Receive(receive.landing), Some(receive.comm));
        pending.has_come(me, content);
        return Ok(pending);
    }
    // What it owns is asked for only where mistakes are looked for.
    let uses = me.world.explored.then(|| receive.uses());
    let Incoming { landing, comm, .. } = receive;
    let pending = match me.begin_receive(criteria) {
        Begun::Known(activity) => me.spares.request(Some(activity), Work::Receive(landing), Some(comm)),
        Begun::Left => me.spares.untold(landing, comm),
    };
    me.owns(&pending, || uses.unwrap_or_default());
    Ok(pending)
}

#[expect(clippy::too_many_arguments, reason = "a send of MPI has as many")]
pub fn isend(
    me: &Rank,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    dest: i32,
    tag: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    begin_send(me, &outgoing(me, buf, count, datatype, dest, tag, comm, Mode::Standard)?, request)
}

#[expect(clippy::too_many_arguments, reason = "a send of MPI has as many")]
pub fn ibsend(
    me: &Rank,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    dest: i32,
    tag: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    begin_send(me, &outgoing(me, buf, count, datatype, dest, tag, comm, Mode::Buffered)?, request)
}

#[expect(clippy::too_many_arguments, reason = "a send of MPI has as many")]
pub fn issend(
    me: &Rank,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    dest: i32,
    tag: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    begin_send(me, &outgoing(me, buf, count, datatype, dest, tag, comm, Mode::Synchronous)?, request)
}

#[expect(clippy::too_many_arguments, reason = "a send of MPI has as many")]
pub fn irsend(
    me: &Rank,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    dest: i32,
    tag: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    begin_send(me, &outgoing(me, buf, count, datatype, dest, tag, comm, Mode::Ready)?, request)
}

#[expect(clippy::too_many_arguments, reason = "a receive of MPI has as many")]
pub fn irecv(
    me: &Rank,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    source: i32,
    tag: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    let pending = post(me, incoming(me, buf, count, datatype, source, tag, comm)?)?;
    // SAFETY: the program wants the request there.
    unsafe { request.write(me.keep(pending)) };
    Ok(())
}

/// A send and a receive that are completed together.
#[derive(Debug)]
struct Exchange {
    landing: crate::request::Landing,
    status: Status,
}

impl Several for Exchange {
    fn arrived(&mut self, me: &Rank, _number: u32, message: Option<Box<Content>>) -> Result {
        if let Some(content) = message {
            self.status = me.lands(content, &self.landing).map_err(|(error, _)| error)?;
        }
        Ok(())
    }

    fn finish(&mut self, _me: &Rank) -> Result<Then> {
        Ok(Then::Complete)
    }

    fn status(&self) -> Status {
        self.status
    }
}

/// Begins to send and to receive at once.
/// What is used until it is completed: what is sent and received, or received alone where that takes the place of what is sent.
fn uses_of_exchange(send: &Outgoing, receive: &Incoming) -> Vec<Used> {
    let sends =
        send.destination != crate::abi::PROC_NULL && !std::ptr::eq(send.buffer, receive.landing.buffer);
    let sent = if sends { send.uses() } else { Vec::new() };
    let receives = receive.source != crate::abi::PROC_NULL;
    sent.into_iter().chain(if receives { receive.uses() } else { Vec::new() }).collect()
}

fn begin_exchange(me: &Rank, send: &Outgoing, receive: &Incoming, request: *mut Request) -> Result {
    let mut activities = Vec::new();
    if let Posted::UnderWay(activity) = me.post_send(send, Manner::Immediate)? {
        activities.push(activity);
    }
    let Incoming { landing, source, tag, comm } = receive;
    let posted = me.post_receive(comm, Context::User, *source, *tag)?;
    let status = if posted.is_some() { Status::empty() } else { Status::of_nobody() };
    activities.extend(posted);
    let work = Work::Several(Box::new(Exchange { landing: landing.clone(), status }));
    let pending = Pending::new(activities, work, Some(Rc::clone(comm)));
    me.owns(&pending, || uses_of_exchange(send, receive));
    pending.settle(me);
    // SAFETY: the program wants the request there.
    unsafe { request.write(me.keep(pending)) };
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "it is two calls of MPI")]
pub fn isendrecv(
    me: &Rank,
    sendbuf: *const c_void,
    sendcount: i64,
    sendtype: Datatype,
    dest: i32,
    sendtag: i32,
    recvbuf: *mut c_void,
    recvcount: i64,
    recvtype: Datatype,
    source: i32,
    recvtag: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    let send = outgoing(me, sendbuf, sendcount, sendtype, dest, sendtag, comm, Mode::Standard)?;
    let receive = incoming(me, recvbuf, recvcount, recvtype, source, recvtag, comm)?;
    if dest != crate::abi::PROC_NULL && source != crate::abi::PROC_NULL {
        me.check_apart(|| (send.uses(), receive.uses()));
    }
    begin_exchange(me, &send, &receive, request)
}

#[expect(clippy::too_many_arguments, reason = "it is two calls of MPI")]
pub fn isendrecv_replace(
    me: &Rank,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    dest: i32,
    sendtag: i32,
    source: i32,
    recvtag: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    let send = outgoing(me, buf, count, datatype, dest, sendtag, comm, Mode::Standard)?;
    let receive = incoming(me, buf, count, datatype, source, recvtag, comm)?;
    begin_exchange(me, &send, &receive, request)
}

pub fn buffer_iflush(me: &Rank, request: *mut Request) -> Result {
    let pending = Pending::new(me.under_way(&me.buffered), Work::Nothing, None);
    // SAFETY: the program wants the request there.
    unsafe { request.write(me.keep(pending)) };
    Ok(())
}

/// Keeps a request that is not begun.
fn keep_inactive(
    me: &Rank,
    persistent: Persistent,
    comm: Rc<crate::communicator::Communicator>,
    place: *mut Request,
) {
    let request = me.keep(Pending::inactive(persistent, Some(comm)));
    // SAFETY: the program wants the request there.
    unsafe { place.write(request) };
}

#[expect(clippy::too_many_arguments, reason = "a send of MPI has as many")]
pub fn send_init(
    me: &Rank,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    dest: i32,
    tag: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    let send = outgoing(me, buf, count, datatype, dest, tag, comm, Mode::Standard)?;
    let comm = Rc::clone(&send.comm);
    keep_inactive(me, Persistent::Send(send), comm, request);
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "a send of MPI has as many")]
pub fn bsend_init(
    me: &Rank,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    dest: i32,
    tag: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    let send = outgoing(me, buf, count, datatype, dest, tag, comm, Mode::Buffered)?;
    let comm = Rc::clone(&send.comm);
    keep_inactive(me, Persistent::Send(send), comm, request);
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "a send of MPI has as many")]
pub fn ssend_init(
    me: &Rank,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    dest: i32,
    tag: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    let send = outgoing(me, buf, count, datatype, dest, tag, comm, Mode::Synchronous)?;
    let comm = Rc::clone(&send.comm);
    keep_inactive(me, Persistent::Send(send), comm, request);
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "a send of MPI has as many")]
pub fn rsend_init(
    me: &Rank,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    dest: i32,
    tag: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    let send = outgoing(me, buf, count, datatype, dest, tag, comm, Mode::Ready)?;
    let comm = Rc::clone(&send.comm);
    keep_inactive(me, Persistent::Send(send), comm, request);
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "a receive of MPI has as many")]
pub fn recv_init(
    me: &Rank,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    source: i32,
    tag: i32,
    comm: Comm,
    request: *mut Request,
) -> Result {
    let receive = incoming(me, buf, count, datatype, source, tag, comm)?;
    let comm = Rc::clone(&receive.comm);
    keep_inactive(me, Persistent::Receive(receive), comm, request);
    Ok(())
}
