//! One way in which the messages were received, as plain data: what came of every request, process by process.
//!
//! A way says all that an execution left open. Whoever answers each request of each process as the way says runs the
//! same execution again, whatever the order in which the processes take turns, and however long things take.

/// What came of a request of a process.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Outcome {
    /// A send or a receive was posted. A token that is given is a send, one that is taken a receive.
    Posted {
        /// The other end; `None` if it never met one.
        partner: Option<Place>,
    },
    /// A wait ended, or a test succeeded, with this member of its set.
    Completed(u32),
    /// A test found none of its set complete.
    Nothing,
    /// This number was chosen.
    Chosen(u32),
    /// This process was created.
    Spawned(u32),
}

/// One of the posts of a way.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// Whose post.
    pub process: u32,
    /// Which of its posts: the place among its [`Outcome::Posted`].
    pub post: u32,
}

/// What came of the requests of each process, in the order of its program. Requests that have one outcome only, such
/// as those that just take time, are left out; so is a wait that never ended.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Way {
    /// By the number of the process.
    pub processes: Vec<Vec<Outcome>>,
}
