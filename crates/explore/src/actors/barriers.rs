//! Barriers: which arrivals can be told apart.
//!
//! An arrival changes two things that others can see: when the barrier opens, which needs all arrivals of a round in whatever
//! order, and who was the last, which only those learn who ask. So two arrivals are independent if neither asks: exchanged, they
//! may exchange who was the last of the two, and nobody is told. Two more things make this true. The answer of those who do
//! not ask is the same for all. And no more actors than the barrier is made for come to it: otherwise the earlier of two
//! might pass, and shut out the later. Whether they do is seen as the program runs, as it is by what receives choose
//! ([`System::learned`](crate::System::learned)): before the first of too many comes, the arrivals of one round belong to different
//! actors, all of which are needed, so that the independence is right up to that arrival, which is always possible.
//!
//! One that asks depends on all arrivals of its round. A finer relation of pairs would have to say that its order among
//! the others matters only when all of them have come, which is no relation of pairs: "not the last" is no partial order. So
//! where one of n asks there are 2^(n-1) traces, instead of n!.
//!
//! Arrivals of different rounds are in the order of the rounds anyway, and the opening of one has nothing to do with arrivals
//! for the next.

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
