//! Barriers: which arrivals can be told apart.
//!
//! Two arrivals are independent if neither asks who was the last, and if no more actors come to the barrier than it is made for. Whether
//! they do is seen as the program runs ([`System::learned`](crate::System::learned)). One that asks depends on all arrivals of its
//! round. Why that is right, and why it cannot be finer, is in docs/search.md ("Barriers").

use simurgh_kernel::ids::{ActorId, BarrierId};
use simurgh_kernel::kernel::{Kernel, Served};
use simurgh_kernel::simcall::Answer;

use super::{Actors, place_of};
use crate::transition::Known;

/// A barrier.
#[derive(Clone, Debug, Default)]
pub(super) struct Meeting {
    /// How many times all have come, in the present execution.
    pub(super) round: u32,
    /// Whether more than it is made for were seen to come, in all executions until now.
    crowd: Known<bool>,
    /// Who was seen to come, in all executions until now.
    users: Vec<ActorId>,
}

impl<F: FnMut(&mut Kernel)> Actors<F> {
    /// The round that an actor would come to now, and whether there are too many for it.
    pub(super) fn next_round(&self, barrier: u32) -> (u32, Known<bool>) {
        let known = self.barriers.get(barrier as usize);
        known.map_or_else(Default::default, |meeting| (meeting.round, meeting.crowd))
    }

    /// An actor has come to a barrier. What it is told says whether it was the last only if it asked.
    pub(super) fn come_to_barrier(
        &mut self,
        actor: ActorId,
        barrier: u32,
        told: bool,
        served: Served,
    ) -> Served {
        let (_, size) = self.kernel.barrier_state(BarrierId(barrier));
        let meeting = place_of(&mut self.barriers, barrier as usize);
        if !meeting.users.contains(&actor) {
            meeting.users.push(actor);
            let crowded = meeting.users.len() > size as usize && !meeting.crowd.0;
            meeting.crowd.0 |= crowded;
            self.learned |= crowded;
        }
        match served {
            Served::Answered(answer) => {
                meeting.round += 1;
                Served::Answered(if told { answer } else { Answer::Flag(false) })
            }
            other => other,
        }
    }
}
