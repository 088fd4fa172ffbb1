//! Histories: something that is kept beside the actors of what was sent and received, for properties to look at.

use std::any::Any;
use std::sync::Arc;

use crate::actor::Data;
use crate::hash::fingerprint;
use crate::ids::ActorId;
use crate::intern::{Interner, Permutations};
use crate::message::Message;

/// Something that a history is told.
#[derive(Clone, Copy, Debug)]
pub enum Happened<'a, M> {
    /// A message was sent.
    Sent {
        /// By whom.
        from: ActorId,
        /// To whom.
        to: ActorId,
        /// What.
        msg: &'a M,
    },
    /// A message arrived and its handler has run.
    Received {
        /// From whom.
        from: ActorId,
        /// By whom.
        to: ActorId,
        /// What.
        msg: &'a M,
    },
}

/// A history whose values are numbers.
pub(crate) trait Recorder: Send + Sync {
    fn concerns(&self, msg: &Message) -> bool;
    fn record(&mut self, history: u32, from: ActorId, to: ActorId, msg: &Message, received: bool) -> u32;
    fn value(&self, history: u32) -> &dyn Any;
    fn hash(&self, history: u32, permutation: usize) -> u128;
    /// Forgets all values but one, which is number 0 from then on.
    fn forget_others(&mut self, history: u32);
}

type Concerns<M> = Box<dyn Fn(&M) -> bool + Send + Sync>;
type Tell<M, H> = Box<dyn Fn(&mut H, Happened<'_, M>) + Send + Sync>;

/// Which messages concern a history, and what it makes of them.
pub(crate) type Rules<M, H> = (Concerns<M>, Tell<M, H>);

pub(crate) struct Typed<M, H> {
    values: Interner<H>,
    rules: Arc<Rules<M, H>>,
}

impl<M, H: Data> Typed<M, H> {
    pub(crate) fn new(first: H, permutations: Permutations, rules: Arc<Rules<M, H>>) -> Self {
        let mut values = Interner::new(permutations);
        values.intern(first, hash);
        Self { values, rules }
    }
}

/// Histories are in no actor's place.
fn hash<H: Data>(history: &H) -> u128 {
    fingerprint(&(fingerprint(history), fingerprint(&'h')))
}

impl<M: Data, H: Data> Recorder for Typed<M, H> {
    fn concerns(&self, msg: &Message) -> bool {
        (self.rules.0)(msg.get())
    }

    fn record(&mut self, history: u32, from: ActorId, to: ActorId, msg: &Message, received: bool) -> u32 {
        let msg = msg.get();
        let mut value = self.values.get(history).clone();
        let happened =
            if received { Happened::Received { from, to, msg } } else { Happened::Sent { from, to, msg } };
        (self.rules.1)(&mut value, happened);
        self.values.intern(value, hash)
    }

    fn value(&self, history: u32) -> &dyn Any {
        self.values.get(history)
    }

    fn hash(&self, history: u32, permutation: usize) -> u128 {
        self.values.hash(history, permutation)
    }

    fn forget_others(&mut self, history: u32) {
        let value = self.values.get(history).clone();
        self.values = Interner::new(Arc::clone(&self.values.permutations));
        self.values.intern(value, hash);
    }
}
