//! Messages that are lost, or arrive twice: what an unordered network may do, at most so often in one execution.
//!
//! What becomes of a message is decided when it is sent: sending has up to three outcomes. A lost message is never under
//! way; its sender, if it waits, takes it for received, since the network took it and nobody tells otherwise. Of a message that
//! arrives twice, the copy arrives at any time after the message itself (whichever of the two came first could not be told), and
//! the sender does not wait for it. Copies are neither lost nor copied again.
//!
//! A bound makes steps impossible, which reductions do not expect; docs/search.md says why they miss nothing by it.

use std::collections::BTreeSet;

use simurgh_kernel::context::{Place, panicked_at};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::simcall::{Repeatable, SendRequest};
use simurgh_kernel::watchdog::{Trait, guarding};

use super::{Actors, Comm, Message, Network};
use crate::transition::{Fate, Post};
use crate::verdict::Step;

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
    allowed: Faults,
    /// What was lost in the present execution, in an order that does not depend on it.
    pub(super) lost: BTreeSet<Post>,
    /// What arrives twice.
    pub(super) twice: BTreeSet<Post>,
    /// Where messages were sent that cannot be copied, in all executions until now: the line, and the mailbox.
    unrepeatable: BTreeSet<(Option<Place>, u32)>,
}

impl Unreliable {
    /// How many more may have this fate.
    pub(super) fn left(&self, fate: Fate) -> u32 {
        match fate {
            Fate::Kept => u32::MAX,
            Fate::Lost => self.allowed.losses.saturating_sub(self.lost.len() as u32),
            Fate::Twice => self.allowed.duplications.saturating_sub(self.twice.len() as u32),
        }
    }
}

/// What becomes of a message with this outcome of sending it.
pub(super) fn fate_of(choice: u32) -> Fate {
    match choice {
        Step::LOST => Fate::Lost,
        Step::TWICE => Fate::Twice,
        _ => Fate::Kept,
    }
}

fn is_repeatable(request: &SendRequest) -> bool {
    request.payload.as_ref().is_none_or(Repeatable::allows)
}

impl<F: FnMut(&mut Kernel)> Actors<F> {
    /// From the next start on, the network may do this, if it is an unordered one: the others deliver each message once.
    pub fn unreliable(mut self, faults: Faults) -> Self {
        let is_unordered = self.network == Network::Unordered;
        self.unreliable.allowed = if is_unordered { faults } else { Faults::default() };
        self
    }

    /// Where messages were sent that cannot be copied, and so were not, though the network might have: the line, if it
    /// is known, and the mailbox.
    pub fn unrepeatable(&self) -> impl Iterator<Item = (Option<Place>, u32)> {
        self.unreliable.unrepeatable.iter().copied()
    }

    /// The choices that stand for what else than arriving once a message may come to.
    pub(super) fn fates(&self, request: &SendRequest) -> impl Iterator<Item = u32> + use<F> {
        let is_lost = self.unreliable.left(Fate::Lost) > 0;
        let is_twice = self.unreliable.left(Fate::Twice) > 0 && is_repeatable(request);
        is_lost.then_some(Step::LOST).into_iter().chain(is_twice.then_some(Step::TWICE))
    }

    /// Remembers a message that cannot be copied, if others are.
    pub(super) fn note_unrepeatable(&mut self, request: &SendRequest, place: Option<Place>) {
        if self.unreliable.allowed.duplications > 0 && !is_repeatable(request) {
            self.unreliable.unrepeatable.insert((place, request.mailbox.0));
        }
    }

    /// A message was sent, and this becomes of it.
    pub(super) fn meet_fate(&mut self, message: Message, fate: Fate) {
        match fate {
            Fate::Kept => self.set_out(message),
            Fate::Lost => {
                self.unreliable.lost.insert(message.post);
                guarding(Trait::Drop, panicked_at, || self.kernel.lose(message.activity));
            }
            Fate::Twice => {
                self.unreliable.twice.insert(message.post);
                let repeat = || self.kernel.repeat(message.activity);
                let activity =
                    guarding(Trait::Clone, panicked_at, repeat).expect("it was seen that it can be");
                let post = message.post.copy();
                *self.comm_mut(activity) =
                    Comm { bits: activity.to_bits(), mailbox: message.mailbox, send: Some(post), recv: None };
                self.set_out(message);
                self.set_out(Message { post, activity, ..message });
            }
        }
    }
}
