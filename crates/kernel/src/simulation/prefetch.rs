//! Asking for records before they are needed ([`simurgh_models::prefetch`]): those of the actors that something happens to at
//! one instant, of the code that runs next, and of whom the requests of a round concern. Each pass over a few of them
//! asks for what the pass before has found.

use simurgh_models::Ended;
use simurgh_platform::HostId;
use smallvec::SmallVec;

use super::round::Slot;
use super::{Purpose, Simulation, purpose};
use crate::context::Port;
use crate::ids::{ActivityId, ActorId, MailboxId};
use crate::simcall::{Post, Simcall};

/// Fewer things than this are not worth it.
pub(super) const FEW: usize = 3;
/// Of more things than these what is asked for first would be pushed out of the cache by what is asked for last.
pub(super) const TOGETHER: usize = 32;
/// The code of an actor takes more room.
pub(super) const CODE_TOGETHER: usize = 16;
/// The code of so many actors is asked for when it is known that they will run; that of more shortly before they do.
pub(super) const CODE_BEFOREHAND: usize = 128;

/// Of fewer actors, what their alarms need is in the cache.
const MANY_ACTORS: usize = 2048;
/// An actor is asked for when so many alarms come before its own, its code when so many do.
const RECORD_AHEAD: usize = 8;
const CODE_AHEAD: usize = 4;

impl Simulation {
    /// Where many sleep, each up to a date of its own, asks for those whose alarms come soon.
    #[inline]
    pub(super) fn prefetch_alarmed(&self) {
        if self.kernel.actor_count() < MANY_ACTORS {
            return;
        }
        if let Some(later) = self.models.coming_alarm(RECORD_AHEAD) {
            self.kernel.prefetch_actor(ActorId(later));
        }
        if let Some(soon) = self.models.coming_alarm(CODE_AHEAD) {
            self.prefetch_code(&[ActorId(soon)]);
        }
    }

    /// Asks for those whom the next ends concern: the first of a list.
    pub(super) fn prefetch_ended(&self, all: &[Ended]) {
        let next = &all[..all.len().min(TOGETHER)];
        for ended in next {
            if let Purpose::Activity(id) = purpose(ended.token) {
                self.kernel.activities().prefetch(id.slot());
            }
        }
        let waiter =
            |id: ActivityId| self.kernel.activities().get(id).and_then(|found| found.waiters.first());
        for ended in next {
            let actor = match purpose(ended.token) {
                Purpose::Activity(id) => waiter(id),
                Purpose::Timer(actor) => Some(actor),
                Purpose::Kill(_) | Purpose::Start(_) => None,
            };
            if let Some(actor) = actor {
                self.kernel.prefetch_actor(actor);
            }
        }
        for ended in next {
            let actor = match purpose(ended.token) {
                Purpose::Activity(id) => {
                    self.kernel.activities().prefetch_payload(id);
                    waiter(id)
                }
                Purpose::Timer(actor) => {
                    // What a wait that is over was for.
                    self.kernel.prefetch_awaited(actor);
                    Some(actor)
                }
                Purpose::Kill(_) | Purpose::Start(_) => None,
            };
            if let Some(actor) = actor
                && all.len() <= CODE_BEFOREHAND
            {
                self.prefetch_code(&[actor]);
            }
        }
    }

    /// Asks for the code of those that run next: the first of a list.
    #[inline]
    pub(super) fn prefetch_code(&self, all: &[ActorId]) {
        let next = &all[..all.len().min(CODE_TOGETHER)];
        for &actor in next {
            if let Some(body) = &self.kernel.kept(actor).body {
                body.prefetch();
            }
        }
    }

    /// Asks for the records of those that run next: the first of a list.
    pub(super) fn prefetch_ready(&self, all: &[ActorId]) {
        for &actor in all.iter().take(CODE_TOGETHER) {
            self.kernel.prefetch_actor(actor);
        }
    }

    /// Asks for the mailboxes that an actor has just named.
    #[inline]
    pub(super) fn prefetch_mailboxes(&self, port: &Port) {
        for mailbox in mailboxes(port) {
            self.kernel.prefetch_mailbox(mailbox);
        }
    }

    /// Asks for those whom the next requests of a round concern: the first of a list.
    pub(super) fn prefetch_requested(&self, all: &[Slot]) {
        let next = &all[..all.len().min(TOGETHER)];
        let mut wanted = SmallVec::<[MailboxId; 2 * TOGETHER]>::new();
        let is_large = next.len() == TOGETHER;
        let mut looks = false;
        for port in next.iter().map(|slot| slot.port()) {
            if self.models.looks_at(port.host) {
                looks = true;
                self.models.prefetch_host(port.host);
            }
            self.models.prefetch_alarm(port.actor.0);
            if is_large {
                self.kernel.prefetch_actor(port.actor);
            }
            wanted.extend(mailboxes(port));
        }
        if is_large {
            self.kernel.activities().prefetch_free(TOGETHER);
        }
        // Only those go on to which somebody waits for a message.
        wanted.retain(|mailbox| self.kernel.prefetch_receive(*mailbox));
        if !looks {
            return;
        }
        for slot in next {
            self.models.prefetch_links(slot.port().host);
        }
        let mut destinations = SmallVec::<[HostId; 2 * TOGETHER]>::new();
        destinations.extend(wanted.iter().filter_map(|&mailbox| self.kernel.first_destination(mailbox)));
        destinations.iter().for_each(|&host| self.models.prefetch_host(host));
        destinations.iter().for_each(|&host| self.models.prefetch_links(host));
    }
}

/// The mailboxes that an actor names in what it asks.
#[inline]
fn mailboxes(port: &Port) -> impl Iterator<Item = MailboxId> + '_ {
    let asked = match &port.simcall {
        Some(Simcall::Send(request, _)) => Some(request.mailbox),
        Some(Simcall::Recv(request, _)) => Some(request.mailbox),
        _ => None,
    };
    port.posts.iter().map(Post::mailbox).chain(asked)
}
