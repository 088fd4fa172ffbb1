//! What is told of a mistake: its kind, the call, the line, and in words what is wrong.

use std::fmt;
use std::sync::OnceLock;

use crate::abi;
use crate::os;
use crate::rank::Rank;

/// The kinds of what is found; their names are those of rules in reports.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// An argument that the standard does not allow.
    InvalidArgument,
    /// A call before `MPI_Init`, after `MPI_Finalize`, or twice.
    CallOrder,
    /// A message that is longer than its receive.
    Truncation,
    /// A message that is received as something else than it was sent.
    TypeMismatch,
    /// Processes of one communicator call different collectives, or with arguments that do not fit.
    CollectiveMismatch,
    /// A request that is never started, never completed, or freed while it is active.
    Request,
    /// An object that is never freed.
    Leak,
    /// A process that ends without `MPI_Finalize`.
    MissingFinalize,
    /// Memory that a communication owns is touched.
    BufferRace,
    /// Accesses to a window that nothing orders.
    WindowRace,
    /// Accesses to a file that nothing orders.
    FileRace,
    /// An access or a synchronisation of a window out of its epoch.
    Epoch,
    /// A ready send whose receive is not posted.
    ReadySend,
    /// `MPI_Abort`.
    Abort,
    /// Any other error of MPI.
    Error,
    /// What Simurgh cannot do.
    Unsupported,
}

impl Kind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Kind::InvalidArgument => "invalid-argument",
            Kind::CallOrder => "call-order",
            Kind::Truncation => "truncation",
            Kind::TypeMismatch => "type-mismatch",
            Kind::CollectiveMismatch => "collective-mismatch",
            Kind::Request => "request",
            Kind::Leak => "leak",
            Kind::MissingFinalize => "missing-finalize",
            Kind::BufferRace => "buffer-race",
            Kind::WindowRace => "window-race",
            Kind::FileRace => "file-race",
            Kind::Epoch => "epoch",
            Kind::ReadySend => "ready-send",
            Kind::Abort => "abort",
            Kind::Error => "error",
            Kind::Unsupported => "unsupported",
        }
    }

    /// The kind of an error of a call.
    pub fn of_class(class: i32) -> Self {
        match class {
            abi::ERR_TRUNCATE => Kind::Truncation,
            abi::ERR_RMA_SYNC | abi::ERR_RMA_CONFLICT | abi::ERR_LOCKTYPE => Kind::Epoch,
            abi::ERR_BUFFER
            | abi::ERR_COUNT
            | abi::ERR_TYPE
            | abi::ERR_TAG
            | abi::ERR_COMM
            | abi::ERR_RANK
            | abi::ERR_REQUEST
            | abi::ERR_ROOT
            | abi::ERR_GROUP
            | abi::ERR_OP
            | abi::ERR_TOPOLOGY
            | abi::ERR_DIMS
            | abi::ERR_ARG
            | abi::ERR_WIN
            | abi::ERR_BASE
            | abi::ERR_DISP
            | abi::ERR_SIZE
            | abi::ERR_ASSERT
            | abi::ERR_RMA_RANGE
            | abi::ERR_RMA_ATTACH
            | abi::ERR_RMA_SHARED
            | abi::ERR_FILE
            | abi::ERR_AMODE
            | abi::ERR_INFO
            | abi::ERR_INFO_KEY
            | abi::ERR_INFO_VALUE
            | abi::ERR_KEYVAL
            | abi::ERR_ERRHANDLER => Kind::InvalidArgument,
            _ => Kind::Error,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

type Find = dyn Fn(usize) -> Option<String> + Send + Sync;

/// Finds the lines of addresses to which calls return.
#[derive(Default)]
pub struct Lines(OnceLock<Box<Find>>);

impl fmt::Debug for Lines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lines")
    }
}

impl Lines {
    /// Says how they are found.
    pub fn are_found_by(&self, find: impl Fn(usize) -> Option<String> + Send + Sync + 'static) {
        let _ = self.0.set(Box::new(find));
    }

    /// `ring.c:14`; nothing if the program does not say.
    pub fn at(&self, address: usize) -> Option<String> {
        if address == 0 { None } else { self.0.get()?(address) }
    }

    /// ` at ring.c:14`, or nothing.
    pub fn in_words(&self, address: usize) -> String {
        self.at(address).map_or_else(String::new, |line| format!(" at {line}"))
    }
}

impl Rank {
    /// Ends the execution with what was found, at the line of the call that the process is in.
    pub fn finding(&self, kind: Kind, message: &str) -> ! {
        if matches!(kind, Kind::BufferRace | Kind::WindowRace | Kind::Epoch) {
            // A load or store of another process may be a part of it.
            self.world.effort.looks_closely();
        }
        os::end_with(kind, 1, message, os::caller())
    }

    /// Ends the search: what the program does cannot be explored.
    pub(super) fn cannot_explore(&self, why: &'static str) {
        *self.world.gives_up.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(why);
    }

    /// Ends the execution, and the search: what the program does cannot be explored.
    pub fn gives_up(&self, why: &'static str) -> ! {
        self.cannot_explore(why);
        self.finding(Kind::Unsupported, why)
    }

    /// The call that the process is in.
    pub fn call_name(&self) -> &'static str {
        self.procedure.get().map_or("MPI", |procedure| procedure.name())
    }

    /// ` at ring.c:14`, or nothing.
    pub fn line_of(&self, address: usize) -> String {
        os::in_heap_of_all(|| self.world.lines.in_words(address))
    }
}
