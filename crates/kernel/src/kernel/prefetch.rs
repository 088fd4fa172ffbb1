//! Asking the processor for what the kernel will soon visit ([`simurgh_models::prefetch`]).

use simurgh_models::prefetch::{prefetch, prefetch_from};

use simurgh_platform::HostId;

use super::{Kernel, Waiting};
use crate::activity::Kind;
use crate::ids::{ActorId, MailboxId};
use crate::simcall::Answer;

impl<K: Default> Kernel<K> {
    /// Asks the processor for a mailbox.
    #[inline]
    pub(crate) fn prefetch_mailbox(&self, mailbox: MailboxId) {
        prefetch_from(&self.mailboxes, mailbox.index());
    }

    /// Asks the processor for the oldest receive of a mailbox; false if there is none.
    #[inline]
    pub(crate) fn prefetch_receive(&self, mailbox: MailboxId) -> bool {
        let first = self.mailboxes.get(mailbox.index()).and_then(|mailbox| mailbox.receives.first());
        first.inspect(|&slot| self.activities.prefetch(slot)).is_some()
    }

    /// Asks the processor for an actor.
    #[inline]
    pub(crate) fn prefetch_actor(&self, actor: ActorId) {
        prefetch_from(&self.actors, actor.index());
    }

    /// Asks the processor for the message that an actor is answered with, if there is one.
    #[inline]
    pub(crate) fn prefetch_answer(&self, actor: ActorId) {
        let answer = self.actors.get(actor.index()).and_then(|record| record.answer.as_ref());
        if let Some(Answer::Completed { message: Some(message), .. }) = answer {
            prefetch(&**message);
        }
    }

    /// Asks the processor for the activity that an actor waits for, if it is one.
    #[inline]
    pub(crate) fn prefetch_awaited(&self, actor: ActorId) {
        if let Some(Waiting::One { id, .. }) = self.actors.get(actor.index()).map(|record| &record.waiting) {
            self.activities.prefetch(id.slot());
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
