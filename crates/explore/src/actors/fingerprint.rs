//! A state as a number: equal for states that nobody can tell apart.

use std::hash::Hash;

use simurgh_kernel::ids::{ActorId, MailboxId};
use simurgh_kernel::kernel::Kernel;
use simurgh_kernel::operation::Side;
use simurgh_search::fingerprint::{StableHasher, fingerprint};

use super::{Actors, Next};
use crate::dependence::can_be_told_apart;
use crate::transition::Posting;

impl<F: FnMut(&mut Kernel)> Actors<F> {
    /// A fingerprint of all that somebody may tell apart.
    pub(super) fn fold_state(&self) -> u128 {
        let mut hasher = StableHasher::default();
        for (index, process) in self.processes[..self.count].iter().enumerate() {
            let actor = ActorId::from_index(index);
            (process.history, process.posts, process.granted).hash(&mut hasher);
            (process.timer, process.returns.len(), self.kernel.is_alive(actor)).hash(&mut hasher);
            // Whether what it asked for was heard: one that is halted may have halted itself, or be about to.
            matches!(process.next, Next::Queued(_)).hash(&mut hasher);
            self.kernel.is_suspended(actor).hash(&mut hasher);
            self.kernel.hash_wait(actor, &mut hasher);
            self.fold_unclaimed(actor).hash(&mut hasher);
        }
        // Who met whom, also where nobody was told yet.
        let meetings = self.meetings.iter().map(fingerprint);
        meetings.fold(0, u128::wrapping_add).hash(&mut hasher);
        self.messages.len().hash(&mut hasher);
        self.messages.iter().for_each(|message| message.post.hash(&mut hasher));
        (&self.unreliable.lost, &self.unreliable.twice).hash(&mut hasher);
        let mailboxes = (0..self.kernel.mailbox_count()).map(MailboxId::from_index);
        mailboxes.for_each(|mailbox| self.fold_mailbox(mailbox).hash(&mut hasher));
        self.kernel.hash_synchronisation(&mut hasher);
        self.guarded.hash(&mut hasher);
        self.fold_watched(&mut hasher);
        hasher.wide()
    }

    /// What an actor has posted and was not told the end of: what it will be told, as far as that is decided.
    fn fold_unclaimed(&self, actor: ActorId) -> u128 {
        let folds = self.processes[actor.index()].unclaimed.iter().map(|(id, posted)| {
            let met = self.partner(*id, posted);
            // Who sends is told that somebody received, and not who.
            let told = if posted.side.is_send() { None } else { met };
            fingerprint(&(posted.post, met.is_some(), told, self.is_over(*id)))
        });
        folds.fold(0, u128::wrapping_add)
    }

    /// What is in a mailbox, with the order of those posts only that something may tell apart by it.
    fn fold_mailbox(&self, mailbox: MailboxId) -> u128 {
        use simurgh_kernel::activity::Kind as Activity;
        let activities = self.kernel.activities();
        let queues = self.kernel.mailbox(mailbox);
        let mut sum = 0u128;
        for (queue, is_send) in [(queues.sends, true), (queues.receives, false)] {
            let mut earlier: Vec<Posting> = Vec::new();
            for id in queue.iter(activities) {
                let (Some(comm), Some(Activity::Comm(posted))) =
                    (self.comm(id), activities.get(id).map(|activity| &activity.kind))
                else {
                    unreachable!("a mailbox holds communications")
                };
                let (post, side) = match is_send {
                    true => (comm.send, Side::Send(posted.envelope())),
                    false => (comm.recv, Side::Recv(posted.criteria())),
                };
                let own = self.posting(post.expect("posted here"), mailbox.0, side);
                sum = sum.wrapping_add(fingerprint(&(own.post, is_send)));
                for before in earlier.iter().filter(|before| can_be_told_apart(before, &own)) {
                    sum = sum.wrapping_add(fingerprint(&(before.post, own.post)));
                }
                earlier.push(own);
            }
        }
        sum
    }
}
