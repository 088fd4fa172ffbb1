//! Looking at records before they are needed.
//!
//! A large system visits its actors in no order, and the processor waits for memory at each of them. Where many things
//! happen at one instant it is known beforehand which will be visited: looking at all of them in a short loop lets the
//! processor fetch many at once, instead of one after the other. Nothing is done with what is seen.

use std::hint::black_box;

use simurgh_models::Ended;

use super::round::Slot;
use super::{Purpose, Simulation, purpose};
use crate::ids::{ActivityId, ActorId, MailboxId};
use crate::simcall::Simcall;

/// Fewer things than this are not worth it.
const FEW: usize = 8;
/// More than these would push each other out of the cache again.
const MANY: usize = 512;

impl Simulation {
    /// Looks at those whom the next ends concern: the first of a list.
    pub(super) fn look_at_ended(&self, all: &[Ended]) {
        let next = &all[..all.len().min(MANY)];
        if next.len() < FEW {
            return;
        }
        let waiter =
            |id: ActivityId| self.kernel.activities().get(id).and_then(|found| found.waiters.first());
        let mut seen = 0;
        for ended in next {
            if let Purpose::Activity(id) = purpose(ended.token) {
                seen ^= waiter(id).map_or(0, |actor| actor.0);
            }
        }
        for ended in next {
            let actor = match purpose(ended.token) {
                Purpose::Activity(id) => waiter(id),
                Purpose::Timer(actor) => Some(actor),
                Purpose::Kill(_) | Purpose::Start(_) => None,
            };
            seen ^= actor.map_or(0, |actor| self.look_at_actor(actor));
        }
        black_box(seen);
    }

    /// Looks at those whom the requests of a round concern.
    pub(super) fn look_at_requests(&self, slots: &[Slot]) {
        for next in slots.chunks(MANY) {
            if next.len() < FEW {
                return;
            }
            let mut seen = 0;
            let mut visit = |look: &dyn Fn(MailboxId) -> u32| {
                for port in next.iter().map(|slot| slot.port()) {
                    for post in &port.posts {
                        seen ^= look(post.mailbox);
                    }
                    match &port.simcall {
                        Some(Simcall::Send(request, _)) => seen ^= look(request.mailbox),
                        Some(Simcall::Recv(request, _)) => seen ^= look(request.mailbox),
                        _ => {}
                    }
                }
            };
            visit(&|mailbox| self.kernel.look_at_mailbox(mailbox));
            visit(&|mailbox| self.kernel.look_at_receiver(mailbox).map_or(0, |actor| actor.0));
            visit(&|mailbox| {
                self.kernel.look_at_receiver(mailbox).map_or(0, |actor| self.kernel.actor_host(actor).0)
            });
            black_box(seen);
        }
    }

    #[inline]
    fn look_at_actor(&self, actor: ActorId) -> u32 {
        let code = u32::from(self.code[actor.index()].body.is_some());
        self.kernel.actor_host(actor).0 ^ code ^ u32::from(self.models.alarm_is_set(actor.0))
    }
}
