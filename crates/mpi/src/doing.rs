//! What a process is about, noted as it goes: what it calls, which message it posted last, and what it waits for. Two plain stores a
//! post; read by whoever asks why nobody goes on ([`crate::report`]), or what each step of an execution was.

use std::cell::Cell;

use simurgh_kernel::simcall::{Criteria, Follow, RecvRequest, Simcall};

use crate::abi::Procedure;
use crate::arguments::Arguments;
use crate::rank::Rank;
use crate::request::Pending;

/// A message that is sent or received.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// Which way it goes.
    pub way: Way,
    /// The context in which it meets its other end.
    pub context: u32,
    /// Its tag; any if there is none.
    pub tag: Option<i32>,
}

/// Which way a message goes.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// To this process.
    To {
        /// The number of the process in the run.
        process: u32,
        /// So many bytes of data.
        bytes: u64,
    },
    /// From this rank of the communicator, or any.
    From(Option<u32>),
}

/// What a process waits for.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Awaited {
    /// The message; none if it is about none, or about one of another layer.
    pub note: Option<Note>,
    /// The call that has begun it, if that is another one than the call that waits.
    pub begun_by: Option<Procedure>,
    /// How many requests it is one of.
    pub among: u32,
}

/// What a process is about.
#[derive(Debug, Default)]
pub struct Doing {
    /// Which call it is, counted from the beginning.
    calls: Cell<u64>,
    /// What the program gave: it lies on the stack of the call, as long as that lasts.
    arguments: Cell<Option<std::ptr::NonNull<Arguments<'static>>>>,
    /// What it has posted last in this call.
    last: Cell<Option<Note>>,
    /// What it waits for.
    awaited: Cell<Awaited>,
    /// Whether it is in a computation of its own, which MPI only counts.
    computes: Cell<bool>,
}

/// What a request to the kernel is about, if it is a message.
fn note_of(simcall: &Simcall) -> Option<(Note, bool)> {
    let waits = |follow: &Follow| matches!(follow, Follow::Wait(_));
    match simcall {
        Simcall::Send(request, follow) => {
            let bytes = (request.bytes - crate::p2p::HEADER).max(0.0) as u64;
            let way = Way::To { process: request.mailbox.0, bytes };
            let envelope = &request.envelope;
            Some((Note { way, context: envelope.context, tag: Some(envelope.tag) }, waits(follow)))
        }
        Simcall::Recv(request, follow) => {
            let criteria = &request.criteria;
            let way = Way::From(criteria.source);
            Some((Note { way, context: criteria.context, tag: criteria.tag }, waits(follow)))
        }
        Simcall::Probe(_, criteria) => {
            let way = Way::From(criteria.source);
            Some((Note { way, context: criteria.context, tag: criteria.tag }, true))
        }
        _ => None,
    }
}

impl Doing {
    /// The program makes a call.
    #[inline]
    pub fn begins(&self, arguments: &Arguments<'_>) {
        self.calls.set(self.calls.get() + 1);
        self.arguments.set(Some(std::ptr::NonNull::from(arguments).cast()));
        self.last.set(None);
        self.awaited.set(Awaited::default());
    }

    /// It asks the kernel.
    #[inline]
    pub fn asks(&self, simcall: &Simcall) {
        if let Some((note, waits)) = note_of(simcall) {
            self.last.set(Some(note));
            if waits {
                self.awaited.set(Awaited { note: Some(note), begun_by: None, among: 1 });
            }
        }
    }

    /// It leaves a receive to its driver.
    #[inline]
    pub fn leaves(&self, request: &RecvRequest) {
        let Criteria { context, source, tag } = request.criteria;
        self.last.set(Some(Note { way: Way::From(source), context, tag }));
    }

    /// It computes, or has computed.
    pub fn computes(&self, computes: bool) {
        self.computes.set(computes);
    }

    /// Whether it computes.
    pub fn is_computing(&self) -> bool {
        self.computes.get()
    }

    /// Which call it is in, counted from the beginning, and what the program gave.
    ///
    /// # Safety
    /// It is in a call.
    pub(crate) unsafe fn call(&self) -> (u64, &Arguments<'_>) {
        // SAFETY: as the caller says, so that what lies on the stack of the call is there.
        let arguments =
            self.arguments.get().map_or(&Arguments::NONE, |arguments| unsafe { arguments.as_ref() });
        (self.calls.get(), arguments)
    }

    /// The message that it waits for, or else the one that it has posted last in this call.
    pub(crate) fn message(&self) -> Option<Note> {
        self.awaited.get().note.or(self.last.get())
    }

    /// What it waits for.
    pub fn awaited(&self) -> Awaited {
        self.awaited.get()
    }
}

impl Rank {
    /// What was posted last is what this request is about.
    pub fn has_begun(&self, request: &Pending) {
        let begun = Awaited { note: self.doing.last.get(), begun_by: self.procedure.get(), among: 1 };
        request.begun.set(Some(begun));
    }

    /// What it waits for.
    pub fn awaited(&self) -> Awaited {
        let present = self.posting.present().and_then(|request| request.begun.get());
        present.unwrap_or_else(|| self.doing.awaited())
    }

    /// Waits for this request, which is one of so many.
    pub fn awaits(&self, request: &Pending, among: usize) {
        let last = Awaited { note: self.doing.last.get(), ..Awaited::default() };
        let begun = request.begun.get().unwrap_or(last);
        self.doing.awaited.set(Awaited { among: among as u32, ..begun });
    }
}
