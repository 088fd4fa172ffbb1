//! Point-to-point communication: a message is posted to the mailbox of a process, with the context, the source and the tag on it
//! (MPI 5.0, chapter 3; SMPI's costs).

use std::cell::RefCell;
use std::ffi::c_void;
use std::rc::Rc;

use simurgh_kernel::ids::{ActivityId, MailboxId};
use simurgh_kernel::simcall::{Answer, Criteria, Envelope, Follow, RecvRequest, SendRequest, Simcall};

use crate::abi::{self, Status};
use crate::buffered::Buffered;
use crate::communicator::Communicator;
use crate::datatype::Type;
use crate::error::{Error, Result, fail};
use crate::message::{Content, Data};
use crate::rank::Rank;
use crate::request::{Landing, gone};
use crate::spare;

/// The largest tag.
pub const TAG_MAX: i32 = i32::MAX;

/// Flows carry so much beside the data.
pub const HEADER: f64 = 16.0;

/// How a send behaves (3.4).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Mode {
    /// Waits for the receiver if the message is long.
    Standard,
    /// Never waits.
    Buffered,
    /// Waits for the receiver.
    Synchronous,
    /// The receiver is there.
    Ready,
    /// Never waits, and needs no buffer of the program.
    Detached,
}

/// A send.
#[derive(Clone, Debug)]
pub struct Outgoing {
    /// Where the data lie.
    pub buffer: *const c_void,
    /// How many elements.
    pub count: usize,
    /// Of what.
    pub datatype: Rc<Type>,
    /// The rank that it goes to.
    pub destination: i32,
    /// The label.
    pub tag: i32,
    /// Among whom.
    pub comm: Rc<Communicator>,
    /// How it behaves.
    pub mode: Mode,
}

/// A receive.
#[derive(Clone, Debug)]
pub struct Incoming {
    /// Where the data go.
    pub landing: Landing,
    /// The rank that it comes from, or `MPI_ANY_SOURCE`.
    pub source: i32,
    /// The label, or `MPI_ANY_TAG`.
    pub tag: i32,
    /// Among whom.
    pub comm: Rc<Communicator>,
}

/// A message that a matched probe has found: a receive for it alone is posted.
#[derive(Debug)]
pub struct Found {
    /// The receive.
    pub activity: Option<ActivityId>,
    /// The message itself, where the probe has received it.
    pub content: RefCell<Option<Box<Content>>>,
    /// Among whom.
    pub comm: Rc<Communicator>,
}

/// In which of the contexts of a communicator.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Context {
    /// That of the program's messages.
    User,
    /// That of collectives.
    Collective,
    /// That in which other communicators are made.
    Internal,
    /// That of partitions.
    Partitioned,
}

/// What a post gave.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Posted {
    /// It is complete.
    Done,
    /// It is under way.
    UnderWay(ActivityId),
}

/// How a receive was begun.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Begun {
    /// It is posted.
    Known(ActivityId),
    /// It is left to the driver, for the request that is kept next.
    Left,
}

/// How a send is made.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Manner {
    /// By a call that blocks, or a persistent request.
    Blocking,
    /// By an immediate call.
    Immediate,
}

/// The mailbox of a process.
pub fn mailbox(process: u32) -> MailboxId {
    MailboxId(process)
}

/// Checks a tag of a send.
///
/// # Errors
/// If it is negative.
pub fn check_tag(tag: i32) -> Result {
    if tag < 0 {
        return fail(abi::ERR_TAG, format!("the tag is {tag}: a send needs one from 0 to {TAG_MAX}"));
    }
    Ok(())
}

/// Checks a tag of a receive.
///
/// # Errors
/// If it is negative, and not `MPI_ANY_TAG`.
pub fn check_any_tag(tag: i32) -> Result {
    if tag < 0 && tag != abi::ANY_TAG {
        return fail(
            abi::ERR_TAG,
            format!("the tag is {tag}: a receive needs one from 0 to {TAG_MAX}, or MPI_ANY_TAG"),
        );
    }
    Ok(())
}

impl Outgoing {
    /// The bytes of data.
    pub fn bytes(&self) -> usize {
        self.datatype.size * self.count
    }

    /// The data, without gaps, in memory that is kept for them.
    pub fn data(&self) -> Data {
        self.packed_into(spare::data(self.bytes()))
    }

    /// The same, in this memory.
    pub fn packed_into(&self, mut data: Data) -> Data {
        // SAFETY: the program says that so many elements lie there.
        unsafe { self.datatype.pack(self.buffer, self.count, &mut data) };
        data
    }
}

impl Rank {
    /// Posts a send of the program.
    ///
    /// # Errors
    /// If there is no such rank.
    pub fn post_send(&self, send: &Outgoing, manner: Manner) -> Result<Posted> {
        if send.destination == abi::PROC_NULL {
            return Ok(Posted::Done);
        }
        if manner == Manner::Blocking {
            self.check_uses(|| send.uses());
        }
        // It is the receiver's in the end.
        let (data, mode) = (self.for_others(|| send.data()), send.mode);
        self.sending.replace(self.sent_as(send.count, &send.datatype));
        self.send_data(
            &send.comm,
            Context::User,
            send.destination,
            send.tag,
            data,
            mode,
            manner,
            Follow::Return,
        )
    }

    /// Sends, and waits for as long as such a send does.
    ///
    /// # Errors
    /// If there is no such rank, or the message is lost.
    pub fn send(&self, send: &Outgoing) -> Result {
        if send.destination == abi::PROC_NULL {
            return Ok(());
        }
        self.check_uses(|| send.uses());
        let data = self.for_others(|| send.data());
        let (mode, wait, manner) = (send.mode, Follow::Wait(None), Manner::Blocking);
        self.sending.replace(self.sent_as(send.count, &send.datatype));
        self.send_data(&send.comm, Context::User, send.destination, send.tag, data, mode, manner, wait)?;
        Ok(())
    }

    /// Sends data; what follows if the send waits is said. `Follow::Wait` gives [`Posted::Done`].
    ///
    /// # Errors
    /// If there is no such rank, or the message is lost.
    #[expect(clippy::too_many_arguments, reason = "it is what is written on a message")]
    pub fn send_data(
        &self,
        comm: &Communicator,
        context: Context,
        destination: i32,
        tag: i32,
        data: Data,
        mode: Mode,
        manner: Manner,
        follow: Follow,
    ) -> Result<Posted> {
        let Some(process) = comm.destination(destination)? else { return Ok(Posted::Done) };
        if mode == Mode::Buffered {
            self.make_room(self.buffer_of(comm), data.len())?;
        }
        let mut sent = self.sending.take().or_else(|| self.stamp(None));
        if let Some(sent) = sent.as_mut() {
            self.is_of_mode(sent, mode, process);
            let is_later = manner == Manner::Immediate || mode == Mode::Buffered;
            sent.is_immediate = is_later && context == Context::User;
        }
        let costs = &self.world.costs;
        let bytes = data.len() as u64;
        let detached = match mode {
            Mode::Standard | Mode::Ready => bytes < self.eager_limit(),
            Mode::Buffered | Mode::Detached => true,
            Mode::Synchronous => false,
        };
        self.traffic.sends(bytes);
        match manner {
            Manner::Immediate => self.sleep(costs.immediate_send.of(bytes)),
            Manner::Blocking if detached || mode == Mode::Synchronous => self.sleep(costs.send.of(bytes)),
            Manner::Blocking => {}
        }
        let envelope = Envelope { context: context.of(comm), source: comm.rank as u32, tag };
        let content =
            Content { process: self.process, source: comm.rank as i32, tag, waited: !detached, sent, data };
        let request = SendRequest {
            mailbox: mailbox(process),
            bytes: bytes as f64 + HEADER,
            rate: None,
            envelope,
            payload: Some(self.for_others(|| spare::boxed(content))),
        };
        if mode == Mode::Buffered {
            // Nobody waits for it but whoever wants the buffer back.
            if let Answer::Activity(activity) = self.ask(Simcall::Send(request, Follow::Return)) {
                self.is_buffered(self.buffer_of(comm), activity, bytes as usize);
                self.detached.set(Some(activity).filter(|_| self.world.explored));
            }
            return Ok(Posted::Done);
        }
        if detached && manner == Manner::Immediate && self.world.cancels.is_known() {
            if let Answer::Activity(activity) = self.ask(Simcall::Send(request, Follow::Return)) {
                self.detached.set(Some(activity));
            }
            return Ok(Posted::Done);
        }
        if detached {
            self.post(request);
            return Ok(Posted::Done);
        }
        let posted = match self.ask(Simcall::Send(request, follow)) {
            Answer::Activity(activity) => Ok(Posted::UnderWay(activity)),
            Answer::Completed { .. } => Ok(Posted::Done),
            Answer::Failed { failure, .. } => Err(gone(failure)),
            other => unreachable!("a send is not answered by {other:?}"),
        };
        if mode == Mode::Synchronous {
            let activity = posted.as_ref().ok().and_then(|posted| match posted {
                Posted::UnderWay(activity) => Some(*activity),
                _ => None,
            });
            self.has_begun_handshake(process, activity);
        }
        posted
    }

    /// The buffer of buffered sends: that of the communicator, if it has one, else that of its session (3.6).
    pub(crate) fn buffer_of<'a>(&'a self, comm: &'a Communicator) -> &'a Buffered {
        let of_session = comm.session.get().map(|session| &session.buffered);
        let own = [Some(&comm.buffered), of_session];
        own.into_iter().flatten().find(|buffered| buffered.is_attached()).unwrap_or(&self.buffered)
    }

    /// What a receive asks for; nothing if it is from nobody.
    ///
    /// # Errors
    /// If there is no such rank.
    pub fn criteria(
        &self,
        comm: &Communicator,
        context: Context,
        source: i32,
        tag: i32,
    ) -> Result<Option<Criteria>> {
        let Some(source) = comm.source(source)? else { return Ok(None) };
        if context == Context::User {
            self.check_wildcards(comm, source.is_none(), tag == abi::ANY_TAG);
        }
        let tag = (tag != abi::ANY_TAG).then_some(tag);
        Ok(Some(Criteria { context: context.of(comm), source, tag }))
    }

    /// Posts a receive; nothing if it is from nobody.
    ///
    /// # Errors
    /// If there is no such rank.
    pub fn post_receive(
        &self,
        comm: &Communicator,
        context: Context,
        source: i32,
        tag: i32,
    ) -> Result<Option<ActivityId>> {
        let Some(criteria) = self.criteria(comm, context, source, tag)? else { return Ok(None) };
        let request = RecvRequest { mailbox: mailbox(self.process), rate: None, criteria };
        Ok(Some(self.ask_receive(request)))
    }

    /// Begins a receive of the program, for a request.
    pub fn begin_receive(&self, criteria: Criteria) -> Begun {
        let request = RecvRequest { mailbox: mailbox(self.process), rate: None, criteria };
        match self.leave_receive(request) {
            None => Begun::Left,
            Some(request) => Begun::Known(self.ask_receive(request)),
        }
    }

    fn ask_receive(&self, request: RecvRequest) -> ActivityId {
        match self.ask(Simcall::Recv(request, Follow::Return)) {
            Answer::Activity(activity) => activity,
            other => unreachable!("a receive is not answered by {other:?}"),
        }
    }

    /// Receives a message, and waits for it; nothing if it is from nobody.
    ///
    /// # Errors
    /// If there is no such rank, or the message is lost.
    pub fn receive_content(
        &self,
        comm: &Communicator,
        context: Context,
        source: i32,
        tag: i32,
    ) -> Result<Option<Box<Content>>> {
        let Some(criteria) = self.criteria(comm, context, source, tag)? else { return Ok(None) };
        if let Some(content) = self.takes_found(&criteria) {
            return Ok(Some(content));
        }
        let request = RecvRequest { mailbox: mailbox(self.process), rate: None, criteria };
        match self.ask(Simcall::Recv(request, Follow::Wait(None))) {
            Answer::Completed { message, .. } => {
                let content = Content::of(message.expect("a receive brings something"));
                self.has_received(&content);
                Ok(Some(content))
            }
            Answer::Failed { failure, .. } => Err(gone(failure)),
            other => unreachable!("a receive is not answered by {other:?}"),
        }
    }

    /// Receives what the program asks for, and waits for it.
    ///
    /// # Errors
    /// If there is no such rank, the message does not fit, or is lost. A status goes with it.
    pub fn receive(&self, receive: &Incoming) -> std::result::Result<Status, (Error, Status)> {
        let Incoming { landing, source, tag, comm } = receive;
        // What is received from nobody is written nowhere.
        if *source != abi::PROC_NULL {
            self.check_uses(|| receive.uses());
        }
        let posted = self.moment_of_post();
        let content = self
            .receive_content(comm, Context::User, *source, *tag)
            .map_err(|error| (error, Status::empty()))?;
        match content {
            Some(content) => {
                self.check_types(Some(comm), landing, &content);
                self.check_ready(&content, posted);
                self.has_written(|| receive.uses());
                self.lands(content, landing)
            }
            None => Ok(Status::of_nobody()),
        }
    }

    /// Puts a message into its place; its memory is kept for another.
    ///
    /// # Errors
    /// If it is longer than the place.
    pub fn lands(
        &self,
        content: Box<Content>,
        landing: &Landing,
    ) -> std::result::Result<Status, (Error, Status)> {
        let outcome = landing.put(&content);
        self.for_others(|| spare::keep(content));
        outcome
    }

    /// What a receive costs after the message has come.
    pub fn has_received(&self, content: &Content) {
        self.learns(content);
        self.traffic.receives(content.data.len() as u64);
        if !content.waited {
            self.sleep(self.world.costs.receive.of(content.data.len() as u64));
        }
    }
}

impl Context {
    /// The number of the context.
    pub fn of(self, comm: &Communicator) -> u32 {
        comm.context + self as u32
    }
}
