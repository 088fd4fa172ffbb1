//! Point-to-point communication that blocks (MPI 5.0, 3.2 to 3.6 and 3.10).

use std::ffi::c_void;
use std::rc::Rc;

use crate::abi::{self, Comm, Datatype, Status};
use crate::datatype::Type;
use crate::error::{Error, Result, fail};
use crate::message::Data;
use crate::p2p::{Context, Incoming, Manner, Mode, Outgoing, Posted, check_any_tag, check_tag};
use crate::rank::Rank;
use crate::request::{Landing, Pending, Work};

/// Elements of a program's memory: so many of a type, from an address on.
#[derive(Clone, Debug)]
pub struct Elements {
    pub buffer: *mut c_void,
    pub count: usize,
    pub datatype: Rc<Type>,
}

impl Rank {
    /// Checks what a program says of its memory.
    pub fn elements(&self, buffer: *const c_void, count: i64, datatype: Datatype) -> Result<Elements> {
        let count = match usize::try_from(count) {
            Ok(count) => count,
            Err(_) => return fail(abi::ERR_COUNT, format!("the count is {count}: it must not be negative")),
        };
        let found = self.committed(datatype)?;
        if buffer.is_null() && count > 0 && found.size > 0 && found.is_predefined() {
            return fail(abi::ERR_BUFFER, "the buffer is a null pointer, and the count is not 0");
        }
        Ok(Elements { buffer: buffer.cast_mut(), count, datatype: found })
    }
}

impl Rank {
    /// The same; where nothing is sent or received, memory and type do not matter, unless mistakes are looked for.
    fn elements_unless(
        &self,
        partner: i32,
        buffer: *const c_void,
        count: i64,
        datatype: Datatype,
    ) -> Result<Elements> {
        if partner == abi::PROC_NULL && !self.world.explored && self.committed(datatype).is_err() {
            return self.elements(std::ptr::null(), 0, abi::BYTE);
        }
        self.elements(buffer, count, datatype)
    }
}

/// A send, checked.
#[expect(clippy::too_many_arguments, reason = "a send of MPI has as many")]
pub(super) fn outgoing(
    me: &Rank,
    buffer: *const c_void,
    count: i64,
    datatype: Datatype,
    destination: i32,
    tag: i32,
    comm: Comm,
    mode: Mode,
) -> Result<Outgoing> {
    let comm = me.comm(comm)?;
    comm.destination(destination)?;
    check_tag(tag)?;
    let Elements { buffer, count, datatype } = me.elements_unless(destination, buffer, count, datatype)?;
    Ok(Outgoing { buffer, count, datatype, destination, tag, comm, mode })
}

/// A receive, checked.
pub(super) fn incoming(
    me: &Rank,
    buffer: *mut c_void,
    count: i64,
    datatype: Datatype,
    source: i32,
    tag: i32,
    comm: Comm,
) -> Result<Incoming> {
    let comm = me.comm(comm)?;
    comm.source(source)?;
    check_any_tag(tag)?;
    let Elements { buffer, count, datatype } = me.elements_unless(source, buffer, count, datatype)?;
    let receive = Incoming { landing: Landing { buffer, count, datatype }, source, tag, comm };
    if me.world.explored && receive.landing.datatype.is_derived() {
        me.check_written(&receive.uses());
    }
    Ok(receive)
}

pub fn send(
    me: &Rank,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    dest: i32,
    tag: i32,
    comm: Comm,
) -> Result {
    me.send(&outgoing(me, buf, count, datatype, dest, tag, comm, Mode::Standard)?)
}

pub fn ssend(
    me: &Rank,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    dest: i32,
    tag: i32,
    comm: Comm,
) -> Result {
    me.send(&outgoing(me, buf, count, datatype, dest, tag, comm, Mode::Synchronous)?)
}

pub fn rsend(
    me: &Rank,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    dest: i32,
    tag: i32,
    comm: Comm,
) -> Result {
    me.send(&outgoing(me, buf, count, datatype, dest, tag, comm, Mode::Ready)?)
}

pub fn bsend(
    me: &Rank,
    buf: *const c_void,
    count: i64,
    datatype: Datatype,
    dest: i32,
    tag: i32,
    comm: Comm,
) -> Result {
    let send = outgoing(me, buf, count, datatype, dest, tag, comm, Mode::Buffered)?;
    me.post_send(&send, Manner::Blocking)?;
    Ok(())
}

#[expect(clippy::too_many_arguments, reason = "a receive of MPI has as many")]
pub fn recv(
    me: &Rank,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    source: i32,
    tag: i32,
    comm: Comm,
    status: *mut Status,
) -> Result {
    let receive = incoming(me, buf, count, datatype, source, tag, comm)?;
    told(me.receive(&receive), status)
}

/// Writes a status where the program wants it, and gives what went wrong.
pub(super) fn told(outcome: std::result::Result<Status, (Error, Status)>, place: *mut Status) -> Result {
    let (result, status) = match outcome {
        Ok(status) => (Ok(()), status),
        Err((error, status)) => (Err(error), status),
    };
    // SAFETY: the program gives a status, or none.
    unsafe { status.write(place) };
    result
}

#[expect(clippy::too_many_arguments, reason = "it is two calls of MPI")]
pub fn sendrecv(
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
    status: *mut Status,
) -> Result {
    let send = outgoing(me, sendbuf, sendcount, sendtype, dest, sendtag, comm, Mode::Standard)?;
    let receive = incoming(me, recvbuf, recvcount, recvtype, source, recvtag, comm)?;
    if dest != abi::PROC_NULL && source != abi::PROC_NULL {
        me.check_apart(|| (send.uses(), receive.uses()));
    }
    told(exchange(me, &send, &receive), status)
}

/// Sends and receives at once.
pub(super) fn exchange(
    me: &Rank,
    send: &Outgoing,
    receive: &Incoming,
) -> std::result::Result<Status, (Error, Status)> {
    let failed = |error| (error, Status::empty());
    let uses = |receives: bool| {
        let sends = Some(send).filter(|send| send.destination != abi::PROC_NULL && !receives);
        let receives = Some(receive).filter(|receive| receive.source != abi::PROC_NULL);
        let sent = sends.map(Outgoing::uses).unwrap_or_default();
        sent.into_iter().chain(receives.map(Incoming::uses).unwrap_or_default()).collect()
    };
    if receive.source == abi::PROC_NULL {
        me.send(send).map_err(failed)?;
        return Ok(Status::of_nobody());
    }
    if send.destination == abi::PROC_NULL {
        return me.receive(receive);
    }
    let myself = receive.comm.rank as i32;
    if !receive.comm.is_inter()
        && send.destination == myself
        && receive.source == myself
        && send.tag == receive.tag
    {
        // With oneself it is no message, and costs nothing.
        let content = crate::message::Content {
            process: me.process,
            source: myself,
            tag: send.tag,
            waited: true,
            sent: me.sent_as(send.count, &send.datatype),
            data: send.packed_into(Data::with_capacity(send.bytes())),
        };
        me.check_types(Some(&receive.comm), &receive.landing, &content);
        me.check_uses(|| uses(false));
        me.has_written(|| uses(true));
        return receive.landing.put(&content);
    }
    me.check_uses(|| uses(false));
    let sent = match me.post_send(send, Manner::Immediate).map_err(failed)? {
        Posted::Done => None,
        Posted::UnderWay(activity) => {
            let sent = Pending::new([activity], Work::Nothing, None);
            me.has_begun(&sent);
            Some(sent)
        }
    };
    let Incoming { landing, source, tag, comm } = receive;
    let received = me.receive_content(comm, Context::User, *source, *tag).map_err(failed)?;
    let received = received.expect("it comes from somebody");
    me.check_types(Some(comm), landing, &received);
    me.has_written(|| uses(true));
    let outcome = me.lands(received, landing);
    if let Some(sent) = sent {
        me.wait_for(&sent);
        sent.outcome.into_inner().map_err(|wrong| *wrong)?;
    }
    outcome
}

#[expect(clippy::too_many_arguments, reason = "it is two calls of MPI")]
pub fn sendrecv_replace(
    me: &Rank,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    dest: i32,
    sendtag: i32,
    source: i32,
    recvtag: i32,
    comm: Comm,
    status: *mut Status,
) -> Result {
    // The data are put together before anything is received.
    let send = outgoing(me, buf, count, datatype, dest, sendtag, comm, Mode::Standard)?;
    let receive = incoming(me, buf, count, datatype, source, recvtag, comm)?;
    told(exchange(me, &send, &receive), status)
}

pub fn buffer_attach(me: &Rank, buffer: *mut c_void, size: i64) -> Result {
    me.buffered.attach(buffer, size)
}

pub fn buffer_detach(me: &Rank, buffer_addr: *mut c_void, size: abi::CountsOut) -> Result {
    let (buffer, length) = me.detach_buffer(&me.buffered)?;
    // SAFETY: the program wants the address of its buffer there, and its length.
    unsafe {
        buffer_addr.cast::<*mut c_void>().write(buffer);
        size.set(0, length);
    }
    Ok(())
}

pub fn comm_attach_buffer(me: &Rank, comm: Comm, buffer: *mut c_void, size: i64) -> Result {
    me.comm(comm)?.buffered.attach(buffer, size)
}

pub fn comm_detach_buffer(me: &Rank, comm: Comm, buffer_addr: *mut c_void, size: abi::CountsOut) -> Result {
    let comm = me.comm(comm)?;
    let (buffer, length) = me.detach_buffer(&comm.buffered)?;
    // SAFETY: the program wants the address of its buffer there, and its length.
    unsafe {
        buffer_addr.cast::<*mut c_void>().write(buffer);
        size.set(0, length);
    }
    Ok(())
}

pub fn comm_flush_buffer(me: &Rank, comm: Comm) -> Result {
    let comm = me.comm(comm)?;
    me.flush_buffer(&comm.buffered)
}

pub fn comm_iflush_buffer(me: &Rank, comm: Comm, request: *mut abi::Request) -> Result {
    let comm = me.comm(comm)?;
    let pending = Pending::new(me.under_way(&comm.buffered), Work::Nothing, Some(Rc::clone(&comm)));
    // SAFETY: the program wants the request there.
    unsafe { request.write(me.keep(pending)) };
    Ok(())
}

pub fn buffer_flush(me: &Rank) -> Result {
    me.flush_buffer(&me.buffered)
}
