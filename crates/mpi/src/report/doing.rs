//! What a process was doing when it did not go on, in words.

use std::fmt;

use crate::abi::Procedure;
use crate::communicator::{Communicator, context};
use crate::doing::{Awaited, Note, Way};
use crate::rank::{Rank, Stage};

/// What a process was doing.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Doing {
    /// The call of MPI, or what it was doing outside of one.
    pub call: String,
    /// The call that has begun what it waits for, if that is another one.
    pub begun_by: Option<String>,
    /// `from rank 3`, `to rank 0`, `from any source`: a rank of the communicator.
    pub peer: Option<String>,
    /// The tag, if it is about one message; `any tag` of a receive that takes all.
    pub tag: Option<String>,
    /// The communicator, if it is not `MPI_COMM_WORLD`.
    pub communicator: Option<String>,
    /// The line of the program.
    pub line: Option<String>,
    /// The process that it waits for, by its number in the run, if it is one.
    pub waits_for: Option<u32>,
    /// The message that it waits for, as it was noted.
    pub note: Option<Note>,
    /// Whether it was in a call of MPI.
    pub is_in_mpi: bool,
    /// Whether it had come to its end.
    pub has_ended: bool,
}

impl Doing {
    /// What a process is about that has not ended.
    pub(super) fn of(rank: &Rank, line: Option<String>) -> Self {
        let Some(procedure) = rank.procedure.get() else {
            return Self { call: "outside of MPI".to_owned(), line, ..Self::default() };
        };
        if rank.doing.is_computing() {
            return Self { call: "computing".to_owned(), line, ..Self::default() };
        }
        let Awaited { note, begun_by, among } = rank.awaited();
        let mut doing = Self { call: procedure.name().to_owned(), line, is_in_mpi: true, ..Self::default() };
        doing.begun_by = begun_by.filter(|begun| *begun != procedure).map(|begun| begun.name().to_owned());
        if among > 1 {
            let first = doing.begun_by.take().unwrap_or_else(|| "one".to_owned());
            doing.begun_by = Some(format!("one of {among} requests, the first {first}"));
        }
        if let Some(note) = note {
            doing.is_about(rank, &note);
        }
        doing
    }

    /// What a process does that has ended well, or at least not badly.
    pub(super) fn ended(stage: Option<Stage>) -> Self {
        let call = match stage {
            Some(Stage::After) => "called MPI_Finalize and ended",
            _ => "ended without MPI_Init",
        };
        Self { call: call.to_owned(), has_ended: true, ..Self::default() }
    }

    /// What a process does that has not begun.
    pub(super) fn not_begun() -> Self {
        Self { call: "not begun".to_owned(), ..Self::default() }
    }

    fn is_about(&mut self, rank: &Rank, note: &Note) {
        self.note = Some(*note);
        self.communicator = rank.with_comm(note.context, |comm| called(rank, comm)).unwrap_or_default();
        if !note.context.is_multiple_of(context::STEP) {
            // What collectives send among themselves is nobody's business.
            return;
        }
        let process = match note.way {
            Way::To { process, .. } => Some(process),
            Way::From(source) => source.and_then(|source| {
                rank.with_comm(note.context, |comm| {
                    let group = comm.peers();
                    ((source as usize) < group.size()).then(|| group.process(source as usize))
                })?
            }),
        };
        self.waits_for = process;
        let in_comm = process.and_then(|process| {
            let number = rank.with_comm(note.context, |comm| comm.peers().rank_of(process)).flatten()?;
            let in_world = self.communicator.is_some() && number != process as usize;
            let in_world = if in_world { format!(" (rank {process} of the run)") } else { String::new() };
            Some(format!("rank {number}{in_world}"))
        });
        let peer = in_comm.or_else(|| process.map(|process| format!("rank {process} of the run")));
        self.peer = Some(match (note.way, peer) {
            (Way::To { .. }, Some(peer)) => format!("to {peer}"),
            (Way::From(Some(_)), Some(peer)) => format!("from {peer}"),
            (Way::From(Some(source)), None) => format!("from rank {source}"),
            _ => "from any source".to_owned(),
        });
        self.tag = Some(note.tag.map_or_else(|| "any tag".to_owned(), |tag| format!("tag {tag}")));
    }

    /// This is what one rank does of many that do the like with others.
    pub(super) fn is_one_of(&mut self, rank: u32) {
        if let Some(peer) = self.peer.take() {
            let tag = self.tag.take().map_or_else(String::new, |tag| format!(", {tag}"));
            self.peer = Some(format!("(rank {rank}: {peer}{tag})"));
        }
    }

    /// What is left where peers and tags do not count.
    pub(super) fn call_and_line(&self) -> String {
        let Self { call, begun_by, communicator, line, .. } = self;
        format!("{call} {begun_by:?} {communicator:?} {line:?}")
    }
}

impl fmt::Display for Doing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.call)?;
        if let Some(begun_by) = &self.begun_by {
            write!(f, " for {begun_by}")?;
        }
        if let Some(peer) = &self.peer {
            write!(f, " {peer}")?;
        }
        if let Some(tag) = &self.tag {
            write!(f, ", {tag}")?;
        }
        if let Some(communicator) = &self.communicator {
            write!(f, " on {communicator}")?;
        }
        match &self.line {
            Some(line) => write!(f, " at {line}"),
            None => Ok(()),
        }
    }
}

impl Rank {
    /// Looks at the communicator that a context belongs to, if the process still has it.
    pub(crate) fn with_comm<T>(&self, context: u32, look: impl FnOnce(&Communicator) -> T) -> Option<T> {
        let context = context - context % context::STEP;
        let is_it = |comm: &Communicator| {
            comm.context == context
                || comm.remote.as_ref().is_some_and(|remote| remote.local_context == context)
        };
        for comm in [&self.comm_world, &self.comm_self] {
            if is_it(comm) {
                return Some(look(comm));
            }
        }
        let comms = self.comms.try_borrow().ok()?;
        comms.iter().find(|comm| is_it(comm)).map(|comm| look(comm))
    }
}

/// What a communicator is called; nothing for that of all.
pub(crate) fn called(rank: &Rank, comm: &Communicator) -> Option<String> {
    if comm.context == rank.comm_world.context {
        return None;
    }
    let name = comm.name.try_borrow().map(|name| name.clone()).unwrap_or_default();
    Some(match name.as_str() {
        "MPI_COMM_SELF" => name,
        "" => format!("a communicator of {} processes", comm.size()),
        _ => format!("{name:?}"),
    })
}

/// Whether a call is one in which all of a communicator take part.
pub(super) fn is_collective(doing: &Doing) -> bool {
    doing.is_in_mpi
        && doing.note.is_some_and(|note| !note.context.is_multiple_of(context::STEP))
        && !doing.call.starts_with("MPI_Win_")
        && doing.call != Procedure::Init.name()
}

/// Whether a message to be sent waits for its receiver by its length alone.
pub(super) fn is_long_send(doing: &Doing) -> bool {
    let standard = ["MPI_Send", "MPI_Isend", "MPI_Sendrecv", "MPI_Sendrecv_replace", "MPI_Start"];
    let by = doing.begun_by.as_deref().unwrap_or(&doing.call);
    matches!(doing.note, Some(Note { way: Way::To { .. }, .. })) && standard.contains(&by)
}
