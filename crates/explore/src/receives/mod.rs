//! One execution for each way in which the messages can be received.
//!
//! A *way* says which send each receive got and which outcome each wait, test and choice had. The idea is that of
//! reads-from exploration (Must, Enea and others, OOPSLA 2024; TruSt, POPL 2022), but it goes forwards only, without
//! revisits. Processes run one after the other in a fixed manner, and the execution is a graph, not a line. When a
//! send is added to the graph, it either meets one of the receives that are there, or it is *left for later*: then it
//! meets only a receive that is added after it, or none. The same for a receive. As the manner in which the graph grows
//! depends on the graph alone, each way is reached by exactly one sequence of such choices. Nothing is ever undone, no
//! way is seen twice, and no memory is needed but for the choices of the present one.
//!
//! The price is that some choices lead nowhere (a send and a receive of one mailbox both left for later, and nobody
//! comes). These are not executions and are not counted; most are seen to be hopeless when they are made.
//!
//! - [`order`]: a partial order with its closure.
//! - [`graph`]: sends, receives, who met whom, and whether an execution can be like that.
//! - [`search`]: the choices, one after the other.
//! - [`way`]: what came of each request, for whoever wants to run an execution again elsewhere.
//! - [`actors`]: the actors of a program as such processes.

pub mod actors;
pub mod graph;
pub mod order;
pub mod search;
pub mod way;

use smallvec::SmallVec;

pub use crate::actors::Network;

/// Where sends and receives meet.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Mailbox(pub u32);

impl Mailbox {
    const LOCAL: u32 = 1 << 31;

    /// The tokens of a lock or semaphore: taking it is a receive, giving it back a send that does not travel.
    pub fn token(object: u32) -> Mailbox {
        Mailbox(object | Self::LOCAL)
    }

    /// Whether this is no network at all.
    pub fn is_local(self) -> bool {
        self.0 & Self::LOCAL != 0
    }
}

/// One of the posts of a process, in the order of its program.
pub type Handle = u32;

/// What a process asks.
#[derive(Clone, PartialEq, Debug)]
pub enum Request {
    /// Posts a send or a receive, and goes on: [`Reply::Posted`].
    Post {
        /// Where.
        mailbox: Mailbox,
        /// Which end.
        is_send: bool,
    },
    /// Posts, and waits for it: [`Reply::Completed`].
    PostAndWait {
        /// Where.
        mailbox: Mailbox,
        /// Which end.
        is_send: bool,
    },
    /// Starts something that is over at once: [`Reply::Posted`].
    Begin,
    /// Waits for one of its posts: [`Reply::Completed`].
    WaitAny(SmallVec<[Handle; 4]>),
    /// Asks whether one of its posts is complete: [`Reply::Completed`] or [`Reply::Nothing`].
    TestAny(SmallVec<[Handle; 4]>),
    /// Chooses a number below this one: [`Reply::Chosen`].
    Choose(u32),
    /// Creates a process, whose number is the next: [`Reply::Done`].
    Spawn,
    /// Waits for the end of a process: [`Reply::Done`].
    Join(u32),
    /// It came to its end.
    Ended,
    /// It failed: what it said.
    Failed(String),
    /// Something that this engine does not explore: what.
    Unsupported(&'static str),
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
    /// None of the set is complete.
    Nothing,
    /// The number that was chosen.
    Chosen(u32),
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

    /// Whether a process may be left waiting at the end.
    fn is_daemon(&self, process: u32) -> bool;

    /// Runs a process, with the answer to its last request, up to its next one.
    fn resume(&mut self, process: u32, reply: Reply) -> Request;
}
