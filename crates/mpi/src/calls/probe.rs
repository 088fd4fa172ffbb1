//! Probes, matched probes, and cancelling (MPI 5.0, 3.8).

use std::cell::RefCell;
use std::ffi::c_void;
use std::rc::Rc;

use simurgh_kernel::simcall::{Answer, ExecRequest, Failure, Follow, Simcall};

use crate::abi::{self, Comm, Datatype, Message, Request, Status};
use crate::communicator::Communicator;
use crate::error::{Result, fail};
use crate::p2p::{Context, Found, HEADER, check_any_tag, mailbox};
use crate::rank::Rank;
use crate::request::{Landing, Pending, Persistent, Work};

impl Rank {
    /// What a probe costs: work at full speed of a core of the host, which others may share.
    pub fn pays_probe(&self) {
        let seconds = f64::from(self.world.polls.probe.get()) * self.world.costs.probe;
        if seconds > 0.0 {
            let flops = seconds * self.world.speed(self.process);
            let request = ExecRequest { flops, host: None, priority: None, bound: None, threads: 1 };
            self.ask(Simcall::Execute(request, Follow::Wait(None)));
        }
    }

    /// Looks for a message, without costs.
    fn look_for(&self, comm: &Communicator, source: i32, tag: i32, waits: bool) -> Result<Option<Status>> {
        let Some(criteria) = self.criteria(comm, Context::User, source, tag)? else {
            return Ok(Some(Status::of_nobody()));
        };
        if self.world.explored {
            return self.finds(criteria, waits);
        }
        match self.ask(Simcall::Probe(mailbox(self.process), criteria)) {
            Answer::Probed(found) => Ok(found.map(|found| {
                let (envelope, bytes) = *found;
                Status::new(envelope.source as i32, envelope.tag, (bytes - HEADER) as i64)
            })),
            other => unreachable!("a probe is not answered by {other:?}"),
        }
    }

    fn probes(&self, comm: &Communicator, source: i32, tag: i32, waits: bool) -> Result<Option<Status>> {
        check_any_tag(tag)?;
        comm.source(source)?;
        if source == abi::PROC_NULL {
            return Ok(Some(Status::of_nobody()));
        }
        self.pays_probe();
        let found = self.look_for(comm, source, tag, waits)?;
        self.has_polled(&self.world.polls.probe, found.is_some());
        Ok(found)
    }

    /// Takes a message out of the mailbox that was found there, by a receive for it alone.
    fn take_found(&self, comm: Rc<Communicator>, status: &Status) -> Result<Message> {
        if status.source == abi::PROC_NULL {
            return Ok(abi::MESSAGE_NO_PROC);
        }
        let criteria = self.criteria(&comm, Context::User, status.source, status.tag)?;
        let content = criteria.and_then(|criteria| self.takes_found(&criteria));
        let activity = match content {
            Some(_) => None,
            None => self.post_receive(&comm, Context::User, status.source, status.tag)?,
        };
        let content = RefCell::new(content);
        Ok(Message(self.messages.borrow_mut().insert(Rc::new(Found { activity, content, comm }))))
    }

    /// A message that was found: it is received once. None for that of nobody.
    fn take_message(&self, message: *mut Message) -> Result<Option<Rc<Found>>> {
        // SAFETY: the program gives its message.
        let handle = unsafe { *message };
        if handle == abi::MESSAGE_NO_PROC {
            // SAFETY: as above.
            unsafe { message.write(abi::MESSAGE_NULL) };
            return Ok(None);
        }
        match self.messages.borrow_mut().remove(handle.0) {
            Some(found) => {
                // SAFETY: as above.
                unsafe { message.write(abi::MESSAGE_NULL) };
                Ok(Some(found))
            }
            None => fail(abi::ERR_REQUEST, "the message is none that MPI_Mprobe or MPI_Improbe has found"),
        }
    }
}

pub fn probe(me: &Rank, source: i32, tag: i32, comm: Comm, status: *mut Status) -> Result {
    let comm = me.comm(comm)?;
    loop {
        if let Some(found) = me.probes(&comm, source, tag, true)? {
            // SAFETY: the program gives a status, or none.
            unsafe { found.write(status) };
            return Ok(());
        }
    }
}

pub fn iprobe(me: &Rank, source: i32, tag: i32, comm: Comm, flag: *mut i32, status: *mut Status) -> Result {
    let comm = me.comm(comm)?;
    me.answers_anew(flag);
    let found = me.probes(&comm, source, tag, false)?;
    // SAFETY: the program wants the answers there.
    unsafe {
        flag.write(i32::from(found.is_some()));
        if let Some(found) = found {
            found.write(status);
        }
    }
    Ok(())
}

pub fn mprobe(
    me: &Rank,
    source: i32,
    tag: i32,
    comm: Comm,
    message: *mut Message,
    status: *mut Status,
) -> Result {
    let comm = me.comm(comm)?;
    loop {
        if let Some(found) = me.probes(&comm, source, tag, true)? {
            // SAFETY: the program wants the answers there.
            unsafe {
                message.write(me.take_found(comm, &found)?);
                found.write(status);
            }
            return Ok(());
        }
    }
}

pub fn improbe(
    me: &Rank,
    source: i32,
    tag: i32,
    comm: Comm,
    flag: *mut i32,
    message: *mut Message,
    status: *mut Status,
) -> Result {
    let comm = me.comm(comm)?;
    me.answers_anew(flag);
    let found = me.probes(&comm, source, tag, false)?;
    // SAFETY: the program wants the answers there.
    unsafe {
        flag.write(i32::from(found.is_some()));
        if let Some(found) = found {
            message.write(me.take_found(comm, &found)?);
            found.write(status);
        }
    }
    Ok(())
}

/// The request that receives a message that was found.
fn receive_found(
    me: &Rank,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    message: *mut Message,
) -> Result<Pending> {
    let super::p2p::Elements { buffer, count, datatype } = me.elements(buf, count, datatype)?;
    Ok(match me.take_message(message)? {
        None => Pending::complete(Status::of_nobody(), None),
        Some(found) => {
            let landing = Landing { buffer, count, datatype };
            let pending = Pending::new(found.activity, Work::Receive(landing), Some(Rc::clone(&found.comm)));
            if let Some(content) = found.content.take() {
                pending.has_come(me, content);
            }
            pending
        }
    })
}

pub fn mrecv(
    me: &Rank,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    message: *mut Message,
    status: *mut Status,
) -> Result {
    let request = receive_found(me, buf, count, datatype, message)?;
    if let Work::Receive(landing) = &*request.work.borrow() {
        me.check_uses(|| vec![landing.uses()]);
    }
    me.wait_for(&request);
    super::p2p::told(request.outcome.into_inner().map_err(|wrong| *wrong), status)
}

pub fn imrecv(
    me: &Rank,
    buf: *mut c_void,
    count: i64,
    datatype: Datatype,
    message: *mut Message,
    request: *mut Request,
) -> Result {
    let pending = receive_found(me, buf, count, datatype, message)?;
    if let Work::Receive(landing) = &*pending.work.borrow() {
        me.owns(&pending, || vec![landing.uses()]);
    }
    // SAFETY: the program wants the request there.
    unsafe { request.write(me.keep(pending)) };
    Ok(())
}

impl Rank {
    /// Takes the message of a send back that waits for nobody, unless it was received (3.8.4); whether it is such a send. Programs that do so are
    /// explored once more, with messages that can be taken back.
    fn takes_back_send(&self, request: &Pending) -> bool {
        let is_message = match request.persistent.as_deref() {
            None => request.comm.is_some(),
            Some(persistent) => matches!(persistent, Persistent::Send(_)) && request.active.get(),
        };
        let is_send = is_message && matches!(&*request.work.borrow(), Work::Nothing);
        if !self.world.explored || !is_send || !request.is_complete() {
            return false;
        }
        self.world.cancels.is_seen();
        if let Some(activity) = request.detached.take() {
            self.ask(Simcall::Withdraw(activity));
            // It is over by now, in one way or the other.
            if let (_, Err(Failure::Cancelled)) = self.wait_any([activity].into_iter().collect()) {
                let mut status = Status::empty();
                status.set_cancelled(true);
                *request.outcome.borrow_mut() = Ok(status);
            }
            self.has_left_buffer(request.comm.as_deref(), activity);
        }
        true
    }
}

pub fn cancel(me: &Rank, request: *mut Request) -> Result {
    // SAFETY: the program gives its request.
    let Some(found) = me.request(unsafe { *request })? else {
        return fail(abi::ERR_REQUEST, "the request is MPI_REQUEST_NULL");
    };
    if matches!(
        found.persistent.as_deref(),
        Some(Persistent::PartitionedSend(_) | Persistent::PartitionedReceive(_))
    ) {
        return fail(abi::ERR_REQUEST, "a request of partitions cannot be cancelled");
    }
    me.check_cancelled(&found);
    found.cancelled.set(true);
    if found.is_cancelled()? || matches!(&*found.work.borrow(), Work::Several(_)) {
        return Ok(());
    }
    if me.takes_back_send(&found) {
        return Ok(());
    }
    for activity in found.waits_for(me) {
        // What has met its other end goes on: then it is too late.
        me.ask(Simcall::Withdraw(activity));
    }
    Ok(())
}
