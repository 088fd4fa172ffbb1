//! What the library knows of one process: its objects, by their handles, and how far it has come.
//!
//! All of it lies in a heap of that process, and belongs to it alone: nothing here is shared with another, so that the memory of
//! a process can be put back to what it was. Objects are counted (`Rc`), since a call may have one in its hands while the
//! program's own code runs (an operator, a copy function, an error handler) and frees it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use simurgh_kernel::ids::{ActivityId, BarrierId};
use simurgh_kernel::simcall::{Answer, Note, SendRequest, Simcall};

use crate::abi::{self, Comm, Errhandler, Procedure, Request};
use crate::attributes::{self, Keyval};
use crate::buffered::Buffered;
use crate::codes::Codes;
use crate::communicator::inter::between;
use crate::communicator::{Communicator, context};
use crate::compute::Clock;
use crate::datatype::{self, Type};
use crate::doing::Doing;
use crate::errhandler::Handler;
use crate::error::{Result, fail};
use crate::file::OpenFile;
use crate::group::Group;
use crate::handle::{Kind, Table};
use crate::info::Info;
use crate::logical::Booleans;
use crate::message::Sent;
use crate::operator::Operator;
#[cfg(not(test))]
use crate::os;
use crate::p2p::Found;
use crate::posting::Posting;
use crate::progress::{self, Vain};
use crate::request::{Pending, Spares};
use crate::sampling::Sampling;
use crate::session::OpenSession;
use crate::tools::Tools;
use crate::traces::Scribe;
use crate::tracks::Tracks;
use crate::traffic::Traffic;
use crate::verify::{Buffers, Handshakes, Polling, VectorClock};
use crate::window::Window;
use crate::world::World;

/// How far a process has come.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Stage {
    /// It has not called `MPI_Init`.
    Before,
    /// Between `MPI_Init` and `MPI_Finalize`.
    Within,
    /// It has called `MPI_Finalize`.
    After,
}

/// A process, as the library knows it.
#[derive(Debug)]
pub struct Rank {
    /// Its number in the run.
    pub process: u32,
    /// The run.
    pub world: Arc<World>,
    /// How far it has come.
    pub stage: Cell<Stage>,
    /// How its threads may call.
    pub thread_level: Cell<i32>,
    /// What the message that is sent next is sent as, for those who check it.
    pub sending: RefCell<Option<Box<Sent>>>,
    /// How often it has looked at the clock, where executions are explored.
    pub looks: Cell<u32>,
    /// The message that was sent last, if nobody waits for it and it may be taken back.
    pub detached: Cell<Option<ActivityId>>,
    /// What it has polled.
    pub polling: Polling,
    /// What it knows to have happened, by process.
    pub clock_of_all: RefCell<VectorClock>,
    /// What it knows of synchronous sends.
    pub handshakes: Handshakes,
    /// What communications own of its memory.
    pub buffers: Buffers,
    /// Where the program goes on after what it calls now, if that is noted.
    pub caller: Cell<usize>,
    /// What it calls now.
    pub procedure: Cell<Option<Procedure>>,
    /// What it is about, for people who ask why it does not go on.
    pub doing: Doing,
    /// What it has left to its driver.
    pub posting: Posting,
    /// How often in a row it has polled in vain.
    pub vain: Vain,
    /// When the program went on last.
    pub clock: Clock,
    /// How often in a row it has read the clock.
    pub clock_reads: Cell<u32>,
    /// How often it called what, and how long that took in all.
    pub called: RefCell<Called>,
    /// What it leaves behind for those who look at the run.
    pub tracks: Tracks,
    /// What it does, as a trace, where that is wanted.
    pub scribe: Scribe,
    /// Loops that are executed a few times.
    pub sampling: Sampling,
    /// All processes.
    pub comm_world: Rc<Communicator>,
    /// This one alone.
    pub comm_self: Rc<Communicator>,
    /// What leads to those who started it, until the program frees it.
    pub parent: Cell<Comm>,
    /// The barrier at which all of its world wait that have begun.
    pub start: BarrierId,
    /// Communicators that were made.
    pub comms: RefCell<Table<Rc<Communicator>>>,
    /// Groups that were made.
    pub groups: RefCell<Table<Rc<Group>>>,
    /// The sessions that groups come from, by the handles of the groups.
    pub sessions_of_groups: RefCell<BTreeMap<usize, Rc<OpenSession>>>,
    /// Datatypes of the standard.
    pub predefined: datatype::Predefined,
    /// Whether the variant for large counts is called, where that makes a difference: types tell how they were made.
    pub large: Cell<bool>,
    /// Datatypes that were made.
    pub types: RefCell<Table<Rc<Type>>>,
    /// Operators that were made.
    pub operators: RefCell<Table<Rc<Operator>>>,
    /// Error handlers that were made.
    pub errhandlers: RefCell<Table<Rc<Handler>>>,
    /// Lists of keys and values.
    pub infos: RefCell<Table<Rc<RefCell<Info>>>>,
    /// Keys of attributes.
    pub keyvals: RefCell<Table<Rc<Keyval>>>,
    /// Windows.
    pub windows: RefCell<Table<Rc<Window>>>,
    /// Files that are open.
    pub files: RefCell<Table<Rc<OpenFile>>>,
    /// Messages that were found, and not received.
    pub messages: RefCell<Table<Rc<Found>>>,
    /// Sessions.
    pub sessions: RefCell<Table<Rc<OpenSession>>>,
    /// Requests that are not completed.
    pub requests: RefCell<Table<Rc<Pending>>>,
    /// Requests that are over, for those that begin.
    pub spares: Spares,
    /// Those that a call has in its hands, between two calls: none.
    pub in_hand: RefCell<Vec<(usize, Rc<Pending>)>>,
    /// Requests that were freed while they were under way.
    pub orphans: RefCell<Vec<Rc<Pending>>>,
    /// Messages of buffered sends.
    pub buffered: Buffered,
    /// What its Fortran side needs.
    pub fortran: crate::fortran::State,
    /// Representations of data in files that it has registered, and whether their functions convert.
    pub representations: RefCell<Vec<(String, bool)>>,
    /// How many communicators it has named as the first of their groups.
    pub contexts: Cell<u32>,
    /// Whether it has used all names once.
    pub wrapped: Cell<bool>,
    /// How many sends of partitions it has made.
    pub channels: Cell<i32>,
    /// What it has sent and received so far.
    pub traffic: Traffic,
    /// What it has of the tools interface.
    pub tools: Tools,
    /// A standard send of fewer bytes does not wait for its receiver, where the program has said so.
    pub eager: Cell<Option<u64>>,
    /// What the program calls its errors.
    pub codes: RefCell<Codes>,
    /// The error handler of files that are opened.
    pub file_errhandler: Cell<Errhandler>,
    /// Whether the program has said what becomes of errors of files.
    pub files_are_handled: Cell<bool>,
    /// The predefined attributes.
    pub predefined_attributes: attributes::Predefined,
    /// What is true and false in Fortran, as the program says.
    pub booleans: RefCell<Option<Booleans>>,
}

/// How often a process called what, and how long that took in all; a program calls few of all procedures.
#[derive(Debug, Default)]
pub struct Called {
    all: Vec<(Procedure, u64, f64)>,
    /// Where to look first, by the last bits of a procedure.
    likely: [u8; 16],
}

impl Called {
    #[inline]
    fn counts(&mut self, procedure: Procedure, seconds: f64) {
        let Self { all, likely } = self;
        let likely = &mut likely[procedure as usize % 16];
        let place = match all.get(usize::from(*likely)) {
            Some((other, ..)) if *other == procedure => usize::from(*likely),
            _ => {
                let place = all.iter().position(|(other, ..)| *other == procedure).unwrap_or(all.len());
                *likely = u8::try_from(place).unwrap_or(0);
                place
            }
        };
        if place == all.len() {
            all.push((procedure, 0, 0.0));
        }
        let (_, count, time) = &mut all[place];
        *count += 1;
        *time += seconds;
    }

    /// All of them: the procedure, how often, and how long, seconds.
    pub fn iter(&self) -> impl Iterator<Item = &(Procedure, u64, f64)> {
        self.all.iter()
    }
}

/// Whether what is asked may be answered in several ways, by what others do first. Sends, receives from a process that is named, and
/// waits for one of them cannot: programs of these alone do the same in every order (Kahn 1974).
fn is_choice(simcall: &Simcall) -> bool {
    match simcall {
        Simcall::Recv(request, _) => request.criteria.source.is_none(),
        Simcall::WaitAny { activities, timeout, .. } => activities.len() > 1 || timeout.is_some(),
        Simcall::Send(..) | Simcall::Arrive { .. } | Simcall::Yield | Simcall::Sleep(_) => false,
        _ => true,
    }
}

impl Rank {
    /// A process that has just begun.
    pub fn new(process: u32, world: Arc<World>) -> Self {
        #[cfg(test)]
        let over = Arc::default();
        #[cfg(not(test))]
        let over = os::in_heap_of_all(Arc::default);
        let birth = world.birth(process);
        let (first, count) =
            birth.as_ref().map_or((0, world.size() as u32), |birth| (birth.first, birth.count));
        let everybody = Group::range(first, 1, count);
        let own = (process - first) as usize;
        let comm_world = Rc::new(Communicator::new(context::WORLD, everybody.clone(), own, None));
        let alone = Group::of(vec![process]);
        let comm_self = Rc::new(Communicator::new(context::SELF, alone, 0, None));
        *comm_world.name.borrow_mut() = "MPI_COMM_WORLD".to_owned();
        *comm_self.name.borrow_mut() = "MPI_COMM_SELF".to_owned();
        let application =
            birth.as_ref().map_or_else(|| world.application(process), |birth| birth.application);
        let predefined_attributes = attributes::Predefined::new(world.universe(), application);
        let mut comms = Table::new(Kind::Comm);
        let parent = birth.as_ref().map_or(abi::COMM_NULL, |birth| {
            let parents = Group::read(&mut &birth.parents[..]);
            let parent = between(birth.context, everybody, own, parents);
            *parent.name.borrow_mut() = "MPI_COMM_PARENT".to_owned();
            Comm(comms.insert(Rc::new(parent)))
        });
        let start = birth.map_or(world.start, |birth| birth.start);
        Self {
            process,
            world,
            stage: Cell::new(Stage::Before),
            thread_level: Cell::new(abi::THREAD_SINGLE),
            sending: RefCell::default(),
            looks: Cell::new(0),
            detached: Cell::new(None),
            polling: Polling::default(),
            clock_of_all: RefCell::default(),
            handshakes: Handshakes::default(),
            buffers: Buffers::default(),
            caller: Cell::new(0),
            procedure: Cell::new(None),
            doing: Doing::default(),
            posting: Posting::new(over),
            vain: Vain::default(),
            clock: Clock::default(),
            clock_reads: Cell::new(0),
            called: RefCell::default(),
            tracks: Tracks::default(),
            scribe: Scribe::default(),
            sampling: Sampling::default(),
            comm_world,
            comm_self,
            comms: RefCell::new(comms),
            parent: Cell::new(parent),
            start,
            groups: RefCell::new(Table::new(Kind::Group)),
            sessions_of_groups: RefCell::default(),
            predefined: datatype::Predefined::default(),
            large: Cell::new(false),
            types: RefCell::new(Table::new(Kind::Datatype)),
            operators: RefCell::new(Table::new(Kind::Op)),
            errhandlers: RefCell::new(Table::new(Kind::Errhandler)),
            infos: RefCell::new(Table::new(Kind::Info)),
            keyvals: RefCell::new(Table::new(Kind::Keyval)),
            windows: RefCell::new(Table::new(Kind::Win)),
            files: RefCell::new(Table::new(Kind::File)),
            messages: RefCell::new(Table::new(Kind::Message)),
            sessions: RefCell::new(Table::new(Kind::Session)),
            requests: RefCell::new(Table::new(Kind::Request)),
            spares: Spares::default(),
            in_hand: RefCell::default(),
            orphans: RefCell::default(),
            buffered: Buffered::default(),
            fortran: crate::fortran::State::default(),
            representations: RefCell::default(),
            contexts: Cell::new(0),
            wrapped: Cell::new(false),
            channels: Cell::new(0),
            traffic: Traffic::default(),
            tools: Tools::default(),
            eager: Cell::new(None),
            codes: RefCell::default(),
            file_errhandler: Cell::new(abi::ERRORS_RETURN),
            files_are_handled: Cell::new(false),
            predefined_attributes,
            booleans: RefCell::default(),
        }
    }

    /// Asks the kernel, and waits for the answer.
    pub fn ask(&self, simcall: Simcall) -> Answer {
        self.doing.asks(&simcall);
        self.does_more(&simcall);
        if self.world.explored && is_choice(&simcall) {
            self.world.has_choices.store(true, Ordering::Relaxed);
        }
        if progress::is_move(&simcall) {
            self.world.progress.moves();
        }
        if let Simcall::Send(request, _) = &simcall {
            self.tracks.sends(request.bytes);
        }
        if self.world.wanted.actions {
            return self.ask_and_write(simcall, |simcall| self.ask_kernel(simcall));
        }
        let answer = self.ask_kernel(simcall);
        self.was_told();
        answer
    }

    #[inline]
    fn ask_kernel(&self, simcall: Simcall) -> Answer {
        #[cfg(test)]
        return crate::testing::ask(simcall);
        #[cfg(not(test))]
        os::ask(simcall)
    }

    /// A call is over.
    pub fn has_called(&self, procedure: Procedure, from: f64, to: f64) {
        let seconds = to - from;
        self.was_in(Some(procedure), from, to);
        self.called.borrow_mut().counts(procedure, seconds);
    }

    /// Sends what nobody waits for.
    pub fn post(&self, request: SendRequest) {
        self.forgets_polls();
        self.tracks.sends(request.bytes);
        if self.world.wanted.actions {
            self.write_post(&request);
        }
        self.world.progress.moves();
        #[cfg(test)]
        return crate::testing::post(request);
        #[cfg(not(test))]
        os::post(request);
    }

    /// Leaves a word for the kernel, which it hears before the next request.
    pub fn note(&self, note: Note) {
        #[cfg(test)]
        return crate::testing::note(note);
        #[cfg(not(test))]
        os::note(note);
    }

    /// The present date, seconds.
    pub fn now(&self) -> f64 {
        #[cfg(test)]
        return crate::testing::now();
        #[cfg(not(test))]
        os::now()
    }

    /// What the program reads of the clock. Where executions are explored nothing takes time, and each look does: loops that wait end.
    pub fn clock_of_program(&self) -> f64 {
        const LOOK: f64 = 0.1;
        if !self.world.explored {
            return self.now();
        }
        self.looks.set(self.looks.get() + 1);
        LOOK * f64::from(self.looks.get())
    }

    /// Whether nothing that it has begun may go on while it does something else.
    pub fn has_nothing_under_way(&self) -> bool {
        let requests = self.requests.borrow().is_empty() && self.orphans.borrow().is_empty();
        requests && self.windows.borrow().is_empty() && self.files.borrow().is_empty()
    }

    /// Makes something that another process will have.
    pub fn for_others<T>(&self, make: impl FnOnce() -> T) -> T {
        #[cfg(test)]
        return make();
        #[cfg(not(test))]
        os::in_heap_of_all(make)
    }

    /// The process calls `MPI_Finalize`: what is attached to it is taken off first (11.2.2).
    ///
    /// # Errors
    /// If a function of the program gives one.
    pub fn ends(&self) -> Result {
        self.delete_attributes(&*self.comm_self, abi::COMM_SELF.0)
    }

    /// A standard send of fewer bytes does not wait for its receiver.
    pub fn eager_limit(&self) -> u64 {
        self.eager.get().unwrap_or(self.world.costs.detached_below)
    }

    /// Lets time pass.
    pub fn sleep(&self, seconds: f64) {
        if seconds > 0.0 {
            self.ask(Simcall::Sleep(seconds));
        }
    }

    /// Whether the program has called from Fortran.
    pub fn is_fortran(&self) -> bool {
        self.fortran.special.get().is_some()
    }

    /// A communicator.
    ///
    /// # Errors
    /// If the handle stands for none, or for one that is not made yet.
    pub fn comm(&self, comm: Comm) -> Result<Rc<Communicator>> {
        match comm {
            abi::COMM_WORLD => Ok(Rc::clone(&self.comm_world)),
            abi::COMM_SELF => Ok(Rc::clone(&self.comm_self)),
            abi::COMM_NULL => fail(abi::ERR_COMM, "the communicator is MPI_COMM_NULL"),
            Comm(handle) => match self.comms.borrow().get(handle) {
                Some(found) if found.unmade.get() => fail(
                    abi::ERR_COMM,
                    "the communicator is not made yet: the request of MPI_Comm_idup is waited for first",
                ),
                Some(found) => Ok(Rc::clone(found)),
                None => fail(
                    abi::ERR_COMM,
                    format!("no communicator has the handle {handle:#x}: it was freed, or never made"),
                ),
            },
        }
    }

    /// Keeps a request that is under way, and gives its handle.
    pub fn keep(&self, request: impl Into<Rc<Pending>>) -> Request {
        let request = request.into();
        self.has_begun(&request);
        if request.is_untold() {
            self.is_left(Rc::clone(&request));
        }
        Request(self.requests.borrow_mut().insert(request))
    }
}
