//! One execution for each way in which the messages can be received.
//!
//! A *way* says which send each receive got and which outcome each wait, test and choice had. The idea is that of
//! reads-from exploration (Must, Enea and others, OOPSLA 2024; TruSt, POPL 2022), but it goes forwards only, without
//! revisits: the execution grows as a graph, and each send or receive that is added meets one that is there, or is left for what comes
//! later. Each way is reached by exactly one sequence of such choices (docs/search.md).
//!
//! - `order`: a partial order with its closure.
//! - `graph`: sends, receives, who met whom, and whether an execution can be like that.
//! - [`choice`]: what was picked, and what is left.
//! - [`future`]: what may still come, as far as it is known; `later`: receives that wait for it.
//! - [`search`]: one execution after the other.
//! - [`parts`]: a search in parts, on several cores or over days.
//! - `serve`: what becomes of a request.
//! - [`reads_from`]: what came of each request, for whoever wants to run an execution again elsewhere.
//! - [`actors`]: the actors of a program as such processes.

pub mod actors;
pub mod choice;
pub mod future;
mod graph;
mod later;
mod order;
pub mod parts;
pub mod reads_from;
pub mod search;
mod serve;

use simurgh_kernel::operation::{Operation, Token};
use smallvec::SmallVec;

pub use crate::actors::Network;
pub use simurgh_kernel::operation::{Patience, Side};

/// Where sends and receives meet.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mailbox(pub u32);

impl Mailbox {
    const LOCAL: u32 = 1 << 31;

    /// The tokens of a lock or semaphore: taking it is a receive, giving it back a send that does not travel.
    pub fn of(token: Token) -> Mailbox {
        let object = match token {
            Token::Mutex(id) => id.0 * 2,
            Token::Semaphore(id) => id.0 * 2 + 1,
        };
        Mailbox(object | Self::LOCAL)
    }

    /// Whether this is no network at all.
    pub fn is_local(self) -> bool {
        self.0 & Self::LOCAL != 0
    }
}

/// One of the posts of a process, in the order of its program.
pub type Handle = u32;

/// What this engine does not explore, if this operation is of that kind.
pub fn unsupported(operation: &Operation<'_>) -> Option<&'static str> {
    match operation {
        Operation::WaitCondition { .. } | Operation::Notify(..) => Some("condition variables"),
        Operation::Interfere(..) | Operation::IsAlive(_) => {
            Some("actors that kill or suspend others, or look whether they live")
        }
        Operation::Probe(..) => Some("probes"),
        _ => None,
    }
}

/// What a process asks.
#[derive(Clone, PartialEq, Debug)]
pub enum Request {
    /// Posts a send or a receive, and goes on: [`Reply::Posted`].
    Post(Mailbox, Side),
    /// Posts a send that belongs to nobody's steps (the first token of a lock): [`Reply::Done`].
    Give(Mailbox),
    /// Posts, and waits for it: [`Reply::Completed`], or [`Reply::TimedOut`], and then the post is taken back.
    PostAndWait(Mailbox, Side, Patience),
    /// Starts something that is over at once: [`Reply::Posted`].
    Begin,
    /// Waits for one of its posts: [`Reply::Completed`], [`Reply::Withdrawn`] or [`Reply::TimedOut`].
    WaitAny(SmallVec<[Handle; 4]>, Patience),
    /// Takes a post back, unless it has met somebody: [`Reply::TimedOut`] if it had not.
    Cancel(Handle),
    /// Asks whether one of its posts is complete: [`Reply::Completed`], [`Reply::Withdrawn`] or [`Reply::Nothing`].
    TestAny(SmallVec<[Handle; 4]>),
    /// Chooses a number below this one: [`Reply::Chosen`].
    Choose(u32),
    /// Creates a process, whose number is the next: [`Reply::Done`].
    Spawn,
    /// Waits for the end of a process, and whether it may give up: [`Reply::Done`], or [`Reply::TimedOut`].
    Join(u32, bool),
    /// Waits until as many have come to a barrier as it has places: [`Reply::Passed`].
    Arrive {
        /// Which.
        barrier: u32,
        /// For how many it is.
        places: u32,
        /// Whether it wants to know who came last.
        told: bool,
    },
    /// It came to its end.
    Ended,
    /// It failed: what it said.
    Failed(String),
    /// Something that this engine does not explore: what.
    Unsupported(&'static str),
}

impl Request {
    /// Whether it looks at what others have posted: it is better served after them.
    fn looks(&self) -> bool {
        matches!(
            self,
            Request::Post(_, Side::Recv(_))
                | Request::PostAndWait(_, Side::Recv(_), _)
                | Request::WaitAny(..)
                | Request::TestAny(_)
                | Request::Cancel(_)
                | Request::Join(..)
        )
    }

    /// A number that tells most requests apart.
    fn shape(&self) -> u32 {
        match self {
            Request::Post(mailbox, side) => mailbox.0 << 6 | u32::from(side.is_send()) << 5 | 1,
            Request::PostAndWait(mailbox, side, _) => mailbox.0 << 6 | u32::from(side.is_send()) << 5 | 2,
            Request::Give(mailbox) => mailbox.0 << 6 | 3,
            Request::Begin => 4,
            Request::WaitAny(set, _) => (set.len() as u32) << 6 | 5,
            Request::TestAny(set) => (set.len() as u32) << 6 | 6,
            Request::Choose(n) => n << 6 | 7,
            Request::Spawn => 8,
            Request::Join(process, _) => process << 6 | 9,
            Request::Arrive { barrier, .. } => barrier << 6 | 10,
            Request::Ended => 11,
            Request::Failed(_) => 12,
            Request::Unsupported(_) => 13,
            Request::Cancel(handle) => handle << 6 | 14,
        }
    }
}

/// What a process is answered.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    /// It may start.
    Start,
    /// It was posted, as this one of its posts.
    Posted(Handle),
    /// One of the set is complete.
    Completed {
        /// Which of the set.
        index: u32,
        /// Of a receive: the process whose message it got, and which of its posts.
        from: Option<(u32, Handle)>,
    },
    /// One of the set was taken back before: which of the set, and which of its posts.
    Withdrawn(u32, Handle),
    /// None of the set is complete.
    Nothing,
    /// It has waited long enough.
    TimedOut,
    /// The number that was chosen.
    Chosen(u32),
    /// All have come to the barrier; whether it was the last.
    Passed(bool),
    /// It is done.
    Done,
}

/// Processes that can be run one at a time, each from request to request, and all of them from the start again.
///
/// What a process does depends on what it was answered, and on nothing else.
pub trait Processes {
    /// Starts all over.
    fn restart(&mut self);

    /// How many processes there are at the start.
    fn count(&self) -> u32;

    /// The tokens that are there before anything happens. They count as the first posts of the first process.
    fn given(&self) -> &[Mailbox] {
        &[]
    }

    /// Whether a process may be left waiting at the end.
    fn is_daemon(&self, process: u32) -> bool;

    /// Runs a process, with the answer to its last request, up to its next one.
    fn resume(&mut self, process: u32, reply: Reply) -> Request;
}
