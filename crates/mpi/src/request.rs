//! What is under way: sends, receives, collectives and the like, from their start to their completion (MPI 5.0, 3.7).
//!
//! A request waits for activities of the kernel, one or several. Waiting and testing know no more than that: whichever of
//! them is over is handed to its request, and a request without activities that it waits for is complete.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;

use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::simcall::{Failure, Payload};
use smallvec::SmallVec;

use crate::abi::{self, Status};
use crate::communicator::Communicator;
use crate::datatype::Type;
use crate::doing::Awaited;
use crate::error::{Error, Result};
use crate::message::Content;
use crate::os;
use crate::p2p::{Incoming, Outgoing};
use crate::partitioned::{PartitionedReceive, PartitionedSend};
use crate::rank::Rank;
use crate::verify::Used;

/// A request.
#[derive(Debug)]
pub struct Pending {
    /// What it waits for.
    activities: RefCell<SmallVec<[(ActivityId, u32); 1]>>,
    /// What it is, and what is to be done with what arrives.
    pub work: RefCell<Work>,
    /// What it begins with each time, if it can be begun again.
    pub persistent: Option<Box<Persistent>>,
    /// Which of its messages tests have found complete.
    found: RefCell<Vec<bool>>,
    /// Whether the program itself has still to say that it is complete.
    pub open: Cell<bool>,
    /// Whether it waits for a receive that was left to the driver, and whose identity is not known yet.
    untold: Cell<bool>,
    /// Whether it was begun, and not completed since.
    pub active: Cell<bool>,
    /// Whether it was ever begun.
    pub was_started: Cell<bool>,
    /// When it was posted, for those who check ready sends.
    pub posted: Cell<u32>,
    /// Which memory it owns, if it owns any.
    pub owns: Cell<u64>,
    /// Whether a test of several has found it complete, and others not.
    pub was_seen: Cell<bool>,
    /// Whether it was waited for or tested before it was ever begun.
    pub was_awaited: Cell<bool>,
    /// Whether the program was told that it is complete, and has still to complete it.
    pub was_told: Cell<bool>,
    /// What it came to so far.
    pub outcome: RefCell<Outcome>,
    /// Whose errors its errors are.
    pub comm: Option<Rc<Communicator>>,
    /// What it was begun for, and by which call.
    pub begun: Cell<Option<Awaited>>,
    /// Whether the program has cancelled it.
    pub cancelled: Cell<bool>,
    /// The message of a send that waits for nobody, as long as that may be taken back.
    pub detached: Cell<Option<ActivityId>>,
}

/// What a request came to: its status, or what is wrong, which is rare.
pub type Outcome = std::result::Result<Status, Box<(Error, Status)>>;

/// What a request can be begun with again.
#[derive(Debug)]
pub enum Persistent {
    /// A send.
    Send(Outgoing),
    /// A receive.
    Receive(Incoming),
    /// A send of partitions.
    PartitionedSend(Rc<PartitionedSend>),
    /// A receive of partitions.
    PartitionedReceive(Rc<PartitionedReceive>),
    /// Anything else: what begins it.
    Other(Box<dyn Begin>),
}

/// Begins a persistent request.
pub trait Begin: std::fmt::Debug {
    /// Gives what it waits for, and what it is.
    ///
    /// # Errors
    /// As the call that is begun.
    fn begin(&self, me: &Rank) -> Result<(Vec<ActivityId>, Work)>;

    /// The memory that it uses.
    fn uses(&self) -> Vec<Used> {
        Vec::new()
    }

    /// Its request is freed.
    fn is_freed(&self, _me: &Rank) {}
}

/// What is done with what arrives.
#[derive(Debug)]
pub enum Work {
    /// Nothing: a send, or something that is complete.
    Nothing,
    /// It is put into the buffer.
    Receive(Landing),
    /// What the program does itself.
    Generalized(Generalized),
    /// Several messages, and something at the end.
    Several(Box<dyn Several>),
}

/// What a request of several messages does with them: a collective, say.
pub trait Several: std::fmt::Debug {
    /// One of its messages has arrived, the one of this number among its activities.
    ///
    /// # Errors
    /// If it is not what it should be.
    fn arrived(&mut self, me: &Rank, number: u32, message: Option<Box<Content>>) -> Result;

    /// All have arrived. It may begin more, which it waits for then; numbers go on from `next`.
    ///
    /// # Errors
    /// If what came of it is wrong.
    fn finish(&mut self, me: &Rank) -> Result<Then>;

    /// Its status.
    fn status(&self) -> Status {
        Status::empty()
    }

    /// Its messages if a test looks at them one by one, each at the cost of a test: their numbers, or nothing where one was
    /// complete when it began.
    fn messages(&self) -> Vec<Option<u32>> {
        Vec::new()
    }
}

/// What follows when all have arrived.
#[derive(Debug)]
pub enum Then {
    /// It is complete.
    Complete,
    /// It goes on with these.
    More(Vec<ActivityId>),
}

/// Where a message goes.
#[derive(Clone, Debug)]
pub struct Landing {
    /// Where to.
    pub buffer: *mut c_void,
    /// How many elements fit.
    pub count: usize,
    /// Of what.
    pub datatype: Rc<Type>,
}

impl Landing {
    /// Puts a message into its place.
    ///
    /// # Errors
    /// If it is longer than the place.
    pub fn put(&self, content: &Content) -> std::result::Result<Status, (Error, Status)> {
        let room = self.datatype.size * self.count;
        let length = content.data.len();
        let status = Status::new(content.source, content.tag, length.min(room) as i64);
        // SAFETY: the program gave room for so many elements, until the receive is complete.
        unsafe { self.datatype.unpack(&content.data[..length.min(room)], self.buffer, self.count) };
        if length > room {
            let message = format!(
                "a message of {length} bytes from rank {} with tag {} does not fit into a receive of {room} bytes",
                content.source, content.tag
            );
            return Err((Error::new(abi::ERR_TRUNCATE, message), status));
        }
        Ok(status)
    }
}

impl Pending {
    /// One that waits for these.
    pub fn new(
        activities: impl IntoIterator<Item = ActivityId>,
        work: Work,
        comm: Option<Rc<Communicator>>,
    ) -> Self {
        let activities: SmallVec<_> = activities.into_iter().zip(0..).collect();
        Self {
            found: RefCell::default(),
            activities: RefCell::new(activities),
            work: RefCell::new(work),
            persistent: None,
            open: Cell::new(false),
            untold: Cell::new(false),
            active: Cell::new(true),
            was_started: Cell::new(true),
            posted: Cell::new(0),
            owns: Cell::new(0),
            was_seen: Cell::new(false),
            was_awaited: Cell::new(false),
            was_told: Cell::new(false),
            outcome: RefCell::new(Ok(Status::empty())),
            comm,
            begun: Cell::new(None),
            cancelled: Cell::new(false),
            detached: Cell::new(None),
        }
    }

    /// Lets go of all that it was, so that its memory can be another's.
    fn is_forgotten(&mut self) {
        let Self { activities, work, persistent, found, open, untold, active, was_started, .. } = self;
        activities.get_mut().clear();
        *work.get_mut() = Work::Nothing;
        *persistent = None;
        found.get_mut().clear();
        (*open.get_mut(), *untold.get_mut()) = (false, false);
        (*active.get_mut(), *was_started.get_mut()) = (true, true);
        let Self { posted, owns, was_seen, was_awaited, was_told, outcome, comm, .. } = self;
        (*posted.get_mut(), *owns.get_mut()) = (0, 0);
        (*was_seen.get_mut(), *was_awaited.get_mut(), *was_told.get_mut()) = (false, false, false);
        *outcome.get_mut() = Ok(Status::empty());
        *comm = None;
        let Self { begun, cancelled, detached, .. } = self;
        (*begun.get_mut(), *cancelled.get_mut(), *detached.get_mut()) = (None, false, None);
    }

    /// One that is complete.
    pub fn complete(status: Status, comm: Option<Rc<Communicator>>) -> Self {
        let request = Self::new([], Work::Nothing, comm);
        *request.outcome.borrow_mut() = Ok(status);
        request
    }

    /// One that is not begun.
    pub fn inactive(persistent: Persistent, comm: Option<Rc<Communicator>>) -> Self {
        let mut request = Self::complete(Status::empty(), comm);
        request.persistent = Some(Box::new(persistent));
        request.active.set(false);
        request.was_started.set(false);
        request
    }

    /// It begins anew.
    pub fn begins(&self, activities: impl IntoIterator<Item = ActivityId>, work: Work, status: Status) {
        *self.activities.borrow_mut() = activities.into_iter().zip(0..).collect();
        self.found.borrow_mut().clear();
        *self.work.borrow_mut() = work;
        *self.outcome.borrow_mut() = Ok(status);
        self.active.set(true);
        self.was_started.set(true);
        self.was_told.set(false);
    }

    /// It begins anew, with a receive that was left.
    pub fn begins_untold(&self, landing: Landing) {
        self.begins([], Work::Receive(landing), Status::empty());
        self.untold.set(true);
    }

    /// Whether the identity of its receive is not known yet.
    pub fn is_untold(&self) -> bool {
        self.untold.get()
    }

    /// The identity of its receive.
    pub fn is_told(&self, activity: ActivityId) {
        self.untold.set(false);
        self.activities.borrow_mut().push((activity, 0));
    }

    /// Whether all that is missing is one message, which is received or sent as it is.
    pub fn is_plain(&self) -> bool {
        let one = self.untold.get() || self.activities.borrow().len() == 1;
        one && !self.open.get() && matches!(&*self.work.borrow(), Work::Nothing | Work::Receive(_))
    }

    /// What it waits for, if that is one and known.
    pub fn only_activity(&self) -> Option<ActivityId> {
        match self.activities.borrow()[..] {
            [(activity, _)] => Some(activity),
            _ => None,
        }
    }

    /// Goes on where nothing is waited for, as what has just begun may not.
    pub fn settle(&self, me: &Rank) {
        if self.activities.borrow().is_empty() {
            self.finish(me);
        }
    }

    /// It waits for one thing more.
    pub fn adds(&self, activity: ActivityId) {
        self.activities.borrow_mut().push((activity, 0));
    }

    /// What it waits for.
    pub fn waits_for(&self, me: &Rank) -> SmallVec<[ActivityId; 1]> {
        if self.untold.get() {
            me.tells();
        }
        self.activities.borrow().iter().map(|(activity, _)| *activity).collect()
    }

    /// What is looked at of that. It is complete when all is over, in whatever order: where executions are explored, the first alone.
    pub fn looks_at(&self, me: &Rank) -> SmallVec<[ActivityId; 1]> {
        let mut activities = self.waits_for(me);
        if me.world.explored {
            activities.truncate(1);
        }
        activities
    }

    /// The messages that a test looks at one by one, if there are several.
    pub fn messages(&self) -> Vec<Option<u32>> {
        match &*self.work.borrow() {
            Work::Several(several) => several.messages(),
            _ => Vec::new(),
        }
    }

    /// Whether a test has found the message at this place complete.
    pub fn was_found(&self, place: usize) -> bool {
        self.found.borrow().get(place).copied().unwrap_or(false)
    }

    /// A test has found the message at this place complete.
    pub fn is_found(&self, place: usize) {
        let mut found = self.found.borrow_mut();
        if found.len() <= place {
            found.resize(place + 1, false);
        }
        found[place] = true;
    }

    /// The activity of a message, if it is not over.
    pub fn activity(&self, number: u32) -> Option<ActivityId> {
        self.activities.borrow().iter().find(|(_, other)| *other == number).map(|(activity, _)| *activity)
    }

    /// Whether nothing is missing.
    pub fn is_complete(&self) -> bool {
        !self.open.get() && !self.untold.get() && self.activities.borrow().is_empty()
    }

    /// One of its activities is over.
    pub fn over(
        &self,
        me: &Rank,
        activity: ActivityId,
        result: std::result::Result<Option<Payload>, Failure>,
    ) {
        let number = {
            let mut activities = self.activities.borrow_mut();
            let Some(place) = activities.iter().position(|(other, _)| *other == activity) else { return };
            activities.remove(place).1
        };
        if me.world.explored {
            me.ends_handshake(activity);
        }
        self.takes(me, number, result);
        if self.activities.borrow().is_empty() {
            self.finish(me);
        }
    }

    /// The message of a receive is there already.
    pub fn has_come(&self, me: &Rank, content: Box<Content>) {
        let outcome = match &*self.work.borrow() {
            Work::Receive(landing) => {
                me.check_types(self.comm.as_deref(), landing, &content);
                landing.put(&content)
            }
            _ => unreachable!("messages come to receives"),
        };
        *self.outcome.borrow_mut() = outcome.map_err(Box::new);
    }

    /// All that a plain request waits for is over.
    pub fn is_over(&self, me: &Rank, result: std::result::Result<Option<Payload>, Failure>) {
        self.untold.set(false);
        self.activities.borrow_mut().clear();
        self.takes(me, 0, result);
    }

    fn takes(&self, me: &Rank, number: u32, result: std::result::Result<Option<Payload>, Failure>) {
        if let Err(wrong) = self.told(me, number, result)
            && self.outcome.borrow().is_ok()
        {
            *self.outcome.borrow_mut() = Err(Box::new(wrong));
        }
    }

    fn told(
        &self,
        me: &Rank,
        number: u32,
        result: std::result::Result<Option<Payload>, Failure>,
    ) -> std::result::Result<(), (Error, Status)> {
        let message = match result {
            Ok(payload) => payload.map(Content::of),
            Err(Failure::Cancelled) => {
                let mut status = Status::empty();
                status.set_cancelled(true);
                *self.outcome.borrow_mut() = Ok(status);
                return Ok(());
            }
            Err(failure) => return Err((gone(failure), Status::empty())),
        };
        let mut work = self.work.borrow_mut();
        match &mut *work {
            Work::Nothing | Work::Generalized(_) => Ok(()),
            Work::Receive(landing) => {
                let content = message.expect("a receive brings something");
                me.has_received(&content);
                me.check_types(self.comm.as_deref(), landing, &content);
                me.check_ready(&content, self.posted.get());
                *self.outcome.borrow_mut() = Ok(me.lands(content, landing)?);
                Ok(())
            }
            Work::Several(several) => {
                if let Some(content) = &message {
                    me.has_received(content);
                }
                several.arrived(me, number, message).map_err(|error| (error, Status::empty()))
            }
        }
    }

    /// All have arrived.
    fn finish(&self, me: &Rank) {
        let then = match &mut *self.work.borrow_mut() {
            Work::Several(several) => several.finish(me).map(|then| (then, several.status())),
            _ => return,
        };
        match then {
            Ok((Then::Complete, status)) => {
                let mut outcome = self.outcome.borrow_mut();
                if outcome.is_ok() {
                    *outcome = Ok(status);
                }
            }
            Ok((Then::More(more), _)) => {
                *self.activities.borrow_mut() = more.into_iter().zip(0..).collect();
                if self.is_complete() {
                    self.finish(me);
                }
            }
            Err(error) => *self.outcome.borrow_mut() = Err(Box::new((error, Status::empty()))),
        }
    }
}

/// Requests that are over, kept for those that begin: programs make two for each message.
#[derive(Debug, Default)]
pub struct Spares(RefCell<Vec<Rc<Pending>>>);

impl Spares {
    /// So many are kept.
    const MOST: usize = 64;

    /// One that waits for this, if for anything.
    #[inline]
    pub fn request(
        &self,
        activity: Option<ActivityId>,
        work: Work,
        comm: Option<Rc<Communicator>>,
    ) -> Rc<Pending> {
        let Some(mut spare) = self.0.borrow_mut().pop() else {
            return Rc::new(Pending::new(activity, work, comm));
        };
        let request = Rc::get_mut(&mut spare).expect("what is kept is nobody's");
        request.activities.get_mut().extend(activity.map(|activity| (activity, 0)));
        *request.work.get_mut() = work;
        request.comm = comm;
        spare
    }

    /// One that waits for a receive that was left ([`Rank::leave_receive`]).
    #[inline]
    pub fn untold(&self, landing: Landing, comm: Rc<Communicator>) -> Rc<Pending> {
        let request = self.request(None, Work::Receive(landing), Some(comm));
        request.untold.set(true);
        request
    }

    /// One that is complete.
    #[inline]
    pub fn complete(&self, status: Status, comm: Option<Rc<Communicator>>) -> Rc<Pending> {
        let request = self.request(None, Work::Nothing, comm);
        *request.outcome.borrow_mut() = Ok(status);
        request
    }

    /// Nobody here needs it any more.
    #[inline]
    pub fn keep(&self, mut request: Rc<Pending>) {
        if let Some(kept) = Rc::get_mut(&mut request) {
            let mut all = self.0.borrow_mut();
            if all.len() < Self::MOST {
                kept.is_forgotten();
                all.push(request);
            }
        }
    }
}

/// What a program is told of a communication that failed.
pub fn gone(failure: Failure) -> Error {
    Error::new(abi::ERR_OTHER, format!("the communication failed: {failure}"))
}

/// A request that the program completes itself (MPI 5.0, 13.2).
#[derive(Clone, Debug)]
pub struct Generalized {
    /// Fills in the status.
    pub query: usize,
    /// Is called when the request is gone.
    pub free: usize,
    /// Is called when it is cancelled.
    pub cancel: usize,
    /// Handed to all three.
    pub extra: *mut c_void,
    /// Whether they are called as Fortran calls.
    pub fortran: bool,
}

impl Pending {
    fn generalized(&self) -> Option<Generalized> {
        match &*self.work.borrow() {
            Work::Generalized(generalized) => Some(generalized.clone()),
            _ => None,
        }
    }

    /// What the program says of a request of its own.
    ///
    /// # Errors
    /// What its function says.
    pub fn asked(&self, _me: &Rank) -> Result<Option<Status>> {
        let Some(own) = self.generalized() else { return Ok(None) };
        own.status().map(Some)
    }

    /// The request is complete: what the program says of one of its own, which is gone then.
    ///
    /// # Errors
    /// What its functions say.
    pub fn ended(&self, me: &Rank) -> Result<Option<Status>> {
        if !matches!(&*self.work.borrow(), Work::Generalized(_)) {
            return Ok(None);
        }
        let status = self.asked(me);
        if let Some(own) = self.generalized() {
            own.is_freed()?;
        }
        status
    }

    /// The program frees it.
    ///
    /// # Errors
    /// What its function says.
    pub fn is_freed(&self, me: &Rank) -> Result {
        if let Some(Persistent::Other(begin)) = self.persistent.as_deref() {
            begin.is_freed(me);
        }
        match self.generalized() {
            Some(own) if !self.open.get() => own.is_freed(),
            _ => Ok(()),
        }
    }

    /// The program cancels it.
    ///
    /// # Errors
    /// What its function says.
    pub fn is_cancelled(&self) -> Result<bool> {
        match self.generalized() {
            Some(own) => own.is_cancelled(!self.open.get()).map(|()| true),
            None => Ok(false),
        }
    }
}

fn code(code: i32) -> Result {
    if code == abi::SUCCESS {
        return Ok(());
    }
    Err(Error::new(code, format!("a function of a generalized request gave the error {code}")))
}

impl Generalized {
    fn status(&self) -> Result<Status> {
        let mut status = Status::empty();
        let (extra, fortran, query) = (self.extra, self.fortran, self.query);
        let result = os::in_heap_of_program(|| {
            // SAFETY: the program says that it is such a function.
            unsafe {
                if fortran {
                    let query: extern "C" fn(*const *mut c_void, *mut Status, *mut i32) =
                        std::mem::transmute(query);
                    let mut error = abi::SUCCESS;
                    query(&extra, &mut status, &mut error);
                    error
                } else {
                    let query: extern "C" fn(*mut c_void, *mut Status) -> i32 = std::mem::transmute(query);
                    query(extra, &mut status)
                }
            }
        });
        code(result).map(|()| status)
    }

    fn is_freed(&self) -> Result {
        let (extra, fortran, free) = (self.extra, self.fortran, self.free);
        code(os::in_heap_of_program(|| {
            // SAFETY: the program says that it is such a function.
            unsafe {
                if fortran {
                    let free: extern "C" fn(*const *mut c_void, *mut i32) = std::mem::transmute(free);
                    let mut error = abi::SUCCESS;
                    free(&extra, &mut error);
                    error
                } else {
                    let free: extern "C" fn(*mut c_void) -> i32 = std::mem::transmute(free);
                    free(extra)
                }
            }
        }))
    }

    fn is_cancelled(&self, complete: bool) -> Result {
        let (extra, fortran, cancel) = (self.extra, self.fortran, self.cancel);
        code(os::in_heap_of_program(|| {
            // SAFETY: the program says that it is such a function.
            unsafe {
                if fortran {
                    let cancel: extern "C" fn(*const *mut c_void, *const i32, *mut i32) =
                        std::mem::transmute(cancel);
                    let mut error = abi::SUCCESS;
                    cancel(&extra, &i32::from(complete), &mut error);
                    error
                } else {
                    let cancel: extern "C" fn(*mut c_void, i32) -> i32 = std::mem::transmute(cancel);
                    cancel(extra, i32::from(complete))
                }
            }
        }))
    }
}
