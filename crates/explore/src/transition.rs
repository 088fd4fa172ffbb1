//! The steps of actors as an engine sees them: plain data, with all that their dependence needs.

use simurgh_kernel::operation::{Side, Token};
use simurgh_kernel::simcall::{Criteria, Envelope};
use smallvec::SmallVec;

use crate::verdict::Step;

/// A send or receive, named by who posted it and how many posts that actor had made before: a name that does not change
/// with the order of what others do.
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

/// By what the receives and probes of a mailbox choose, as far as they were seen: all that can tell in which order
/// messages came.
///
/// This is what is known of the program, and no part of what a step is: so it makes no difference between two steps.
#[derive(Copy, Clone, Debug, Default)]
pub struct Observers(u8);

impl Observers {
    const ANY: u8 = 1;
    const BY_SOURCE: u8 = 2;
    const BY_TAG: u8 = 4;
    const BY_BOTH: u8 = 8;

    /// Adds one that chooses so. Says whether that is new.
    pub fn insert(&mut self, criteria: &Criteria) -> bool {
        let bit = match (criteria.source, criteria.tag) {
            (None, None) => Self::ANY,
            (Some(_), None) => Self::BY_SOURCE,
            (None, Some(_)) => Self::BY_TAG,
            (Some(_), Some(_)) => Self::BY_BOTH,
        };
        let new = self.0 & bit == 0;
        self.0 |= bit;
        new
    }

    /// Whether one of these could accept both messages, and so tell which of them came first.
    pub fn tell_apart(self, a: &Envelope, b: &Envelope) -> bool {
        let (source, tag) = (a.source == b.source, a.tag == b.tag);
        let accepts = |bit, both| self.0 & bit != 0 && both;
        a.context == b.context
            && (accepts(Self::ANY, true)
                || accepts(Self::BY_SOURCE, source)
                || accepts(Self::BY_TAG, tag)
                || accepts(Self::BY_BOTH, source && tag))
    }
}

impl PartialEq for Observers {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Whether more actors than a barrier is made for were seen to come to it: then who comes earlier passes earlier.
///
/// This is what is known of the program, and no part of what a step is: so it makes no difference between two steps.
#[derive(Copy, Clone, Debug, Default)]
pub struct Crowd(pub bool);

impl PartialEq for Crowd {
    fn eq(&self, _: &Self) -> bool {
        true
    }
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

/// What a step does. Requests that may have to queue are two steps, a post that is always possible and a wait, so that
/// a step that is possible stays so until it is taken (Rosa's thesis, 3.7).
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// Posts a message, which is in the mailbox at once.
    Send {
        /// Its name.
        post: Post,
        /// Where to.
        mailbox: u32,
        /// What is written on it.
        envelope: Envelope,
        /// Who may tell when it came.
        observers: Observers,
    },
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
        /// Its name.
        post: Post,
        /// Where.
        mailbox: u32,
        /// What is written on it.
        envelope: Envelope,
        /// Who may tell when it came.
        observers: Observers,
        /// Whether messages of one sender to one mailbox keep their order.
        ordered: bool,
    },
    /// Posts a receive.
    Recv {
        /// Its name.
        post: Post,
        /// Where from.
        mailbox: u32,
        /// Which messages it accepts.
        criteria: Criteria,
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
    /// Looks into a mailbox.
    Probe {
        /// Which.
        mailbox: u32,
        /// What for.
        criteria: Criteria,
    },
    /// Chooses a number.
    Choose,
    /// Queues for a lock, or for one from a semaphore.
    Take(Token),
    /// Takes it if it is there.
    TryTake(Token),
    /// Has what it queued for, or has waited too long for it.
    TakeWait {
        /// Which.
        token: Token,
        /// Whether it may give up.
        timed: bool,
        /// Whether it did.
        timeout: bool,
    },
    /// Gives it back.
    Give(Token),
    /// Gives a lock back and queues for a notification.
    ConditionPost {
        /// Which.
        condition: u32,
        /// The lock.
        lock: Token,
    },
    /// Was notified and has its lock back, or stops to wait for the notification.
    ConditionWait {
        /// Which.
        condition: u32,
        /// The lock.
        lock: Token,
        /// Whether it may give up.
        timed: bool,
        /// Whether it did; what remains is to get the lock back.
        timeout: bool,
    },
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
        /// Whether who comes first may shut others out.
        crowd: Crowd,
    },
    /// All have come to the barrier.
    BarrierWait {
        /// Which.
        barrier: u32,
        /// How many times all had come before.
        round: u32,
    },
    /// Creates an actor.
    Spawn {
        /// Which.
        child: u32,
    },
    /// Sees that an actor has ended, or has waited too long for it.
    Join {
        /// Which.
        target: u32,
        /// Whether it may give up.
        timed: bool,
        /// Whether it did.
        timeout: bool,
    },
    /// Looks whether an actor has ended.
    IsAlive {
        /// Which.
        target: u32,
    },
    /// Ends.
    Exit {
        /// The posts that it takes back, unless they have met somebody.
        withdrawn: SmallVec<[Awaited; 1]>,
        /// Whether there are daemons, which end with the last of the others: this may be it, in another order.
        last: bool,
    },
    /// Shows a value that invariants look at.
    Expose {
        /// Which.
        slot: u32,
        /// Which invariants look at it, one bit each; those beyond the last bit share it.
        invariants: u64,
    },
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
    /// Whose it is: an actor, a pair of sender and mailbox (a channel that keeps its order), or a single message
    /// with its copy.
    pub fn process(&self) -> u64 {
        match self.kind {
            Kind::Arrive { post, mailbox, ordered: true, .. } => {
                1 << 63 | u64::from(post.actor) << 32 | u64::from(mailbox)
            }
            // A copy comes after the message itself.
            Kind::Arrive { post, ordered: false, .. } => {
                3 << 62 | u64::from(post.actor) << 32 | u64::from(post.original().number)
            }
            _ => u64::from(self.step.actor),
        }
    }
}
