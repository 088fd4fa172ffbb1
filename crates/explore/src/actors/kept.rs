//! What is kept of an execution beside the kernel, for barriers, unreliable networks, invariants and the comparison of executions.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use simurgh_kernel::context::Place;
use simurgh_kernel::exposed::Invariant;
use simurgh_kernel::ids::{ActorId, ExposedId};
use simurgh_kernel::simcall::SendRequest;

use crate::determinism::{Determinism, Exchange, Posted};
use crate::transition::{Crowd, Fate, Post};
use crate::verdict::Step;

/// A barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Meeting {
    /// How many times all have come, in the present execution.
    pub(super) round: u32,
    /// Whether more than it is made for were seen to come, in all executions until now.
    pub(super) crowd: Crowd,
    /// Who was seen to come, in all executions until now.
    pub(super) users: Vec<ActorId>,
}

impl Meeting {
    pub(super) fn reset(&mut self) {
        self.round = 0;
    }
}

/// What a network may do to messages, at most, in one execution.
#[derive(Copy, Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Faults {
    /// So many are lost.
    pub losses: u32,
    /// So many arrive twice, each of them a message that can be copied.
    pub duplications: u32,
}

impl Faults {
    /// Those that a schedule has, and so needs.
    pub fn of(schedule: &[Step]) -> Self {
        let count = |choice| {
            let has = |step: &&Step| step.actor != Step::NETWORK && step.choice == choice;
            schedule.iter().filter(has).count() as u32
        };
        Self { losses: count(Step::LOST), duplications: count(Step::TWICE) }
    }

    /// Whether nothing is lost, and all comes once.
    pub fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// What may be done, and what was.
#[derive(Debug, Default)]
pub(super) struct Unreliable {
    pub(super) allowed: Faults,
    /// What was lost in the present execution, in an order that does not depend on it.
    pub(super) lost: BTreeSet<Post>,
    /// What arrives twice.
    pub(super) twice: BTreeSet<Post>,
    /// Where messages were sent that cannot be copied, in all executions until now: the line, and the mailbox.
    pub(super) unrepeatable: BTreeSet<(Option<Place>, u32)>,
}

impl Unreliable {
    pub(super) fn reset(&mut self) {
        self.lost.clear();
        self.twice.clear();
    }

    /// How many more may have this fate.
    pub(super) fn left(&self, fate: Fate) -> u32 {
        match fate {
            Fate::Kept => u32::MAX,
            Fate::Lost => self.allowed.losses.saturating_sub(self.lost.len() as u32),
            Fate::Twice => self.allowed.duplications.saturating_sub(self.twice.len() as u32),
        }
    }
}

impl Hash for Unreliable {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.lost.iter().chain(&self.twice).for_each(|post| post.hash(hasher));
        (self.lost.len(), self.twice.len()).hash(hasher);
    }
}

/// What must be true, and what is known of it.
#[derive(Debug, Default)]
pub(super) struct Upheld {
    pub(super) invariants: Vec<Invariant>,
    /// Which of them look at each value, one bit each; those beyond the last bit share it.
    pub(super) watched: Vec<u64>,
    /// Which of them were seen not to hold in this execution: each is told once. Of goals, which were reached.
    pub(super) broken: Vec<bool>,
}

impl Upheld {
    pub(super) fn reset(&mut self) {
        self.broken.fill(false);
    }

    pub(super) fn watched(&self, slot: ExposedId) -> u64 {
        self.watched.get(slot.index()).copied().unwrap_or(0)
    }
}

/// The present execution, and how it compares with those before.
#[derive(Debug)]
pub(super) struct Traffic {
    pub(super) determinism: Determinism,
    /// How many steps were taken.
    pub(super) steps: usize,
    /// What was sent.
    pub(super) sends: Vec<(Post, Posted)>,
    /// The receives; what they got is known at the end.
    pub(super) receives: Vec<(Post, Posted)>,
    /// Who came to its end by itself.
    pub(super) ended: Vec<u32>,
}

impl Traffic {
    pub(super) fn reset(&mut self) {
        self.steps = 0;
        self.sends.clear();
        self.receives.clear();
        self.ended.clear();
    }

    pub(super) fn step(&mut self) {
        self.steps += 1;
    }

    pub(super) fn sent(&mut self, post: Post, request: &SendRequest, place: Option<Place>) {
        let (mailbox, envelope, bytes) = (request.mailbox.0, request.envelope, request.bytes.to_bits());
        let exchange = Exchange::Sent { mailbox, envelope, bytes };
        self.sends.push((post, Posted { exchange, step: self.steps + 1, place }));
    }

    pub(super) fn posted_receive(&mut self, post: Post, mailbox: u32, place: Option<Place>) {
        let exchange = Exchange::Received { mailbox, message: None };
        self.receives.push((post, Posted { exchange, step: self.steps + 1, place }));
    }

    pub(super) fn ended(&mut self, actor: u32) {
        self.ended.push(actor);
    }
}
