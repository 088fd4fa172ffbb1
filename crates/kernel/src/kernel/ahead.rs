//! Asking the processor for what the kernel will soon visit ([`simurgh_models::ahead`]).

use simurgh_models::ahead::{fetch, fetch_from};

use simurgh_platform::HostId;

use super::{Kernel, Waiting};
use crate::activity::Kind;
use crate::ids::{ActorId, MailboxId};
use crate::simcall::Answer;

impl<K: Default> Kernel<K> {
    /// Asks the processor for a mailbox.
    #[inline]
    pub(crate) fn fetch_mailbox(&self, mailbox: MailboxId) {
        fetch_from(&self.mailboxes, mailbox.index());
    }

    /// Asks the processor for the oldest receive of a mailbox; false if there is none.
    #[inline]
    pub(crate) fn fetch_receive(&self, mailbox: MailboxId) -> bool {
        let first = self.mailboxes.get(mailbox.index()).and_then(|mailbox| mailbox.receives.first());
        first.inspect(|&slot| self.activities.fetch(slot)).is_some()
    }

    /// Asks the processor for an actor.
    #[inline]
    pub(crate) fn fetch_actor(&self, actor: ActorId) {
        fetch_from(&self.actors, actor.index());
    }

    /// Asks the processor for the message that an actor is answered with, if there is one.
    #[inline]
    pub(crate) fn fetch_answer(&self, actor: ActorId) {
        let answer = self.actors.get(actor.index()).and_then(|record| record.answer.as_ref());
        if let Some(Answer::Completed { message: Some(message), .. }) = answer {
            fetch(&**message);
        }
    }

    /// Asks the processor for the activity that an actor waits for, if it is one.
    #[inline]
    pub(crate) fn fetch_awaited(&self, actor: ActorId) {
        if let Some(Waiting::One { id, .. }) = self.actors.get(actor.index()).map(|record| &record.waiting) {
            self.activities.fetch(id.slot());
        }
    }

    /// Where that one is who has waited longest for a message in a mailbox.
    #[inline]
    pub(crate) fn first_destination(&self, mailbox: MailboxId) -> Option<HostId> {
        let slot = self.mailboxes.get(mailbox.index())?.receives.first()?;
        match &self.activities.get(self.activities.id_at(slot))?.kind {
            Kind::Comm(comm) => Some(comm.destination),
            _ => None,
        }
    }
}
