//! What the kernel and the specification are compared by: steps, and what can be seen of a state, as plain data.

use std::collections::BTreeSet;

/// A send or receive: who posted it, and how many posts that actor had made before.
pub type Post = (u32, u32);

/// What is written on a message: context, source, tag.
pub type Envelope = (u32, u32, u32);

/// The actors of every program, and the mailboxes, contexts and tags that it may use.
pub const ACTORS: u32 = 3;
pub const MAILBOXES: u32 = 2;
pub const CONTEXTS: u32 = 2;
pub const TAGS: u32 = 2;

/// Which messages a receive or a probe accepts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Accepts {
    pub context: u32,
    pub sources: BTreeSet<u32>,
    pub tags: BTreeSet<u32>,
}

impl Accepts {
    pub fn admits(&self, (context, source, tag): Envelope) -> bool {
        self.context == context && self.sources.contains(&source) && self.tags.contains(&tag)
    }
}

/// What follows a post.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Follow {
    Return,
    Detach,
    Wait,
    Timed,
}

/// What an actor asks next.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Ask {
    Send { mailbox: u32, context: u32, tag: u32, follow: Follow },
    Recv { mailbox: u32, accepts: Accepts, follow: Follow },
    Wait { set: BTreeSet<Post>, timed: bool, giveup: bool, release: bool },
    Test { set: BTreeSet<Post> },
    Local { choices: u32 },
    Cancel { post: Post },
    Probe { mailbox: u32, accepts: Accepts },
    Exit,
}

/// Whose step it is.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum By {
    Actor(u32),
    /// A sender, a mailbox and a context, where messages keep their order.
    Channel(u32, u32, u32),
    /// A single message.
    Message(Post),
}

/// Which of the outcomes.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Choice {
    /// The only one; of a wait or test: nothing is over.
    Only,
    /// This post is taken, or arrives.
    Post(Post),
    /// This number is chosen.
    Number(u32),
}

/// A step, of an actor with what it asked before, or of the network.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Taken {
    pub by: By,
    pub choice: Choice,
}

/// The last answer to an actor.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Told {
    Silence,
    Posted(Post),
    Completed { post: Post, message: Option<Post> },
    Failed(Post),
    Timeout,
    Nothing,
    Chosen(u32),
    Probed(Option<Envelope>),
    Ready,
}

/// What can be seen of a state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Observation {
    /// The sends in each mailbox, oldest first.
    pub sends: Vec<Vec<Post>>,
    /// The receives in each mailbox, oldest first.
    pub recvs: Vec<Vec<Post>>,
    /// The messages under way that have not been taken back.
    pub travel: BTreeSet<Post>,
    /// Receives and the sends that they met.
    pub met: BTreeSet<(Post, Post)>,
    pub alive: Vec<bool>,
    pub told: Vec<Told>,
    /// What may happen next.
    pub enabled: BTreeSet<Taken>,
}

/// The step that led to a state, what is seen of it, and what each actor asks then; nothing once it has ended.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    pub step: Option<Taken>,
    pub seen: Observation,
    pub asks: Vec<Option<Ask>>,
    /// The earlier steps that the dependence relation says this one depends on, counted from 1.
    pub depends: BTreeSet<usize>,
}
