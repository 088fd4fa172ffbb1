//! The steps of actors as an engine sees them: plain data, with all that their dependence needs.

use simurgh_kernel::ids::ExposedId;
use simurgh_kernel::operation::{Side, Token};
use simurgh_kernel::simcall::{Criteria, Envelope};
use smallvec::SmallVec;

use crate::verdict::Step;

/// A send or receive, by who posted it and how many posts that actor had made before: the same whatever others do.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Post {
    /// Who.
    pub actor: u32,
    /// Which one.
    pub number: u32,
}

impl Post {
    /// Tells the copy of a message from the message itself.
    const COPY: u32 = 1 << 31;

    /// The copy of a message, which a network delivers after the message itself.
    pub fn copy(self) -> Self {
        Self { number: self.number | Self::COPY, ..self }
    }

    /// What was posted, of a copy too.
    pub fn original(self) -> Self {
        Self { number: self.number & !Self::COPY, ..self }
    }

    /// Whether it is a copy that the network made.
    pub fn is_copy(self) -> bool {
        self != self.original()
    }
}

/// What a network makes of a message.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fate {
    /// It arrives once.
    Kept,
    /// It never arrives, and its sender takes it for received.
    Lost,
    /// It arrives, and a copy of it after that.
    Twice,
}

/// A post that an actor waits for, or takes back.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Awaited {
    /// Which.
    pub post: Post,
    /// Where.
    pub mailbox: u32,
    /// Which side, with what others may choose it by.
    pub side: Side,
    /// The post that it met, if it has.
    pub partner: Option<Post>,
    /// Whether it is a message that the network has lost.
    pub lost: bool,
}

/// What is known of the program, and no part of what a step is: so it makes no difference between two steps.
#[derive(Copy, Clone, Debug, Default)]
pub struct Known<T>(pub T);

impl<T> PartialEq for Known<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// By what the receives and probes of a mailbox choose, as far as they were seen: all that can tell in which order
/// messages came. One bit for each manner: by nothing, by source, by tag, by both.
#[derive(Copy, Clone, Debug, Default)]
pub struct MatchKeys(u8);

impl MatchKeys {
    /// Adds one that chooses so. Says whether that is new.
    pub fn insert(&mut self, criteria: &Criteria) -> bool {
        let before = self.0;
        self.0 |= 1 << (u8::from(criteria.source.is_some()) | u8::from(criteria.tag.is_some()) << 1);
        self.0 != before
    }

    /// Whether one of these could accept both messages, and so tell which of them came first.
    pub fn tell_apart(self, a: &Envelope, b: &Envelope) -> bool {
        // Each of the two that is not the same for both messages shuts out those who choose by it.
        let by_source = if a.source == b.source { 0 } else { 0b1010 };
        let by_tag = if a.tag == b.tag { 0 } else { 0b1100 };
        a.context == b.context && self.0 & !(by_source | by_tag) != 0
    }
}

/// A message or a receive that comes to a mailbox.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Posting {
    /// Its name.
    pub post: Post,
    /// Where.
    pub mailbox: u32,
    /// What is written on it, or which messages it accepts.
    pub side: Side,
    /// Who may tell when a message came.
    pub observers: Known<MatchKeys>,
}

/// What came of a wait or a test.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// This one of the set is over.
    Taken,
    /// The time was up; what of the set had not met was taken back.
    Timeout,
    /// None was over: only a test says so.
    Nothing,
}

/// How a wait in a queue ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Ending {
    /// Whether it could be given up.
    pub timed: bool,
    /// Whether it was.
    pub timeout: bool,
}

/// What a step does. Requests that may have to queue are two steps, a post that is always possible and a wait, so that
/// a step that is possible stays so until it is taken (Rosa's thesis, 3.7).
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// Posts a receive, or a message that is in the mailbox at once.
    Post(Posting),
    /// Posts a message, which is under way then, or lost.
    Submit {
        /// Its name.
        post: Post,
        /// What the network makes of it.
        fate: Fate,
        /// Whether no other may have this fate any more: the bound is reached.
        last: bool,
    },
    /// A message under way reaches its mailbox.
    Arrive {
        /// Which, and where.
        posting: Posting,
        /// Whether messages of one sender to one mailbox keep their order.
        ordered: bool,
    },
    /// Waits for one of a set, or tests it.
    Wait {
        /// The communications of the set.
        awaited: SmallVec<[Awaited; 1]>,
        /// Which of them was taken, if it is a communication that was.
        taken: Option<Post>,
        /// What came of it.
        outcome: Outcome,
        /// Whether the wait may time out.
        timed: bool,
        /// Whether the set holds but one activity.
        single: bool,
    },
    /// Takes posts back, unless they have met somebody.
    Withdraw(SmallVec<[Awaited; 1]>),
    /// Looks into a mailbox, for such a message.
    Probe(u32, Criteria),
    /// Chooses a number.
    Choose,
    /// Queues for a lock, or for one from a semaphore.
    Take(Token),
    /// Takes it if it is there.
    TryTake(Token),
    /// Has what it queued for, or has waited too long for it.
    TakeWait(Token, Ending),
    /// Gives it back.
    Give(Token),
    /// Gives a lock back and queues for a notification of a condition.
    ConditionPost(u32, Token),
    /// Was notified of a condition and has its lock back, or stops to wait: then what remains is to get the lock back.
    ConditionWait(u32, Token, Ending),
    /// Wakes one or all that wait for a condition.
    Notify(u32),
    /// Comes to a barrier.
    BarrierPost {
        /// Which.
        barrier: u32,
        /// How many times all had come before.
        round: u32,
        /// Whether it asks if it was the last.
        told: bool,
        /// Whether more actors than the barrier is made for were seen to come to it: then who comes earlier passes earlier,
        /// and may shut others out.
        crowd: Known<bool>,
    },
    /// All have come to a barrier, in this round.
    BarrierWait(u32, u32),
    /// Creates this actor.
    Spawn(u32),
    /// Sees that this actor has ended, or has waited too long for it.
    Join(u32, Ending),
    /// Looks whether this actor has ended.
    IsAlive(u32),
    /// Ends.
    Exit {
        /// The posts that it takes back, unless they have met somebody.
        withdrawn: SmallVec<[Awaited; 1]>,
        /// Whether there are daemons, which end with the last of the others: this may be it, in another order.
        last: bool,
    },
    /// Shows a value that these invariants look at, one bit each; those beyond the last bit share it.
    Expose(ExposedId, u64),
    /// Interferes with other actors: kills, halts, lets go on, or ends them by leaving only daemons.
    Interfere,
}

/// One step of an actor, or of the network.
#[derive(Clone, PartialEq, Debug)]
pub struct Transition {
    /// How it is written in a schedule.
    pub step: Step,
    /// What it does.
    pub kind: Kind,
}

impl Transition {
    /// Whose it is: an actor, a sender, a mailbox and a context (a channel that keeps its order), or a single message
    /// with its copy.
    pub fn process(&self) -> u64 {
        match self.kind {
            Kind::Arrive { posting: Posting { post, mailbox, side, .. }, ordered: true } => {
                let channel = u64::from(post.actor) << 32 | u64::from(mailbox);
                // Contexts are few: two that share a number here would be tried one after the other alone.
                let context = u64::from(side.context()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                1 << 63 | (channel ^ context) & (u64::MAX >> 1)
            }
            // A copy comes after the message itself.
            Kind::Arrive { posting: Posting { post, .. }, ordered: false } => {
                3 << 62 | u64::from(post.actor) << 32 | u64::from(post.original().number)
            }
            _ => u64::from(self.step.actor),
        }
    }
}
