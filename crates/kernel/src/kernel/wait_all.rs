//! Waiting for all of several activities in one trip. One is waited for after the other: nobody can tell that from as many waits.

use std::sync::atomic::Ordering;

use super::actor::All;
use super::{Kernel, Served, Waiting};
use crate::activity::State;
use crate::event::Event;
use crate::ids::ActorId;
use crate::simcall::{Answer, Failure, WaitForAll};

impl<K: Default> Kernel<K> {
    /// Waits for all of a set, one after the other.
    pub(super) fn wait_all(&mut self, actor: ActorId, mut all: Box<WaitForAll>) -> Served {
        all.over.store(0, Ordering::Relaxed);
        match self.wait_for_next(actor, &all) {
            true => {
                self.block(actor, Waiting::All(All(all)), None);
                Served::Blocked
            }
            false => {
                self.take_all(actor, &mut all);
                Served::Answered(Answer::All(all))
            }
        }
    }

    /// Lets an actor wait for the next of a set that is not over; false if all are.
    fn wait_for_next(&mut self, actor: ActorId, all: &WaitForAll) -> bool {
        for (index, &id) in all.activities.iter().enumerate().skip(all.over.load(Ordering::Relaxed) as usize)
        {
            if let Some(activity) = self.activities.get_mut(id)
                && !matches!(activity.state, State::Over(_))
            {
                all.over.store(index as u32, Ordering::Relaxed);
                activity.waiters.push(actor);
                return true;
            }
        }
        false
    }

    /// What came of all of a set, which is forgotten.
    fn take_all(&mut self, actor: ActorId, all: &mut WaitForAll) {
        let WaitForAll { activities, results, .. } = all;
        results.clear();
        results.extend(activities.iter().map(|&id| match self.activities.get_mut(id) {
            Some(activity) => match activity.state {
                State::Over(result) => result.map(|()| activity.take_payload(id)),
                _ => unreachable!("all of them are over"),
            },
            None => Err(Failure::Cancelled),
        }));
        // The last first: that is how an actor lets go of what it began.
        activities.iter().rev().for_each(|&id| self.forget(actor, id));
    }

    /// One of all that an actor waits for is over, the one whose turn it is.
    pub(super) fn wake_from_all(&mut self, actor: ActorId) {
        let record = &mut self.actors[actor.index()];
        let Waiting::All(mut all) = std::mem::replace(&mut record.waiting, Waiting::Nothing) else {
            unreachable!("it waits for all")
        };
        if let Some(activity) = self.activities.get_mut(all.present()) {
            activity.waiters.remove(actor);
        }
        if self.wait_for_next(actor, &all.0) {
            self.actors[actor.index()].waiting = Waiting::All(all);
            return;
        }
        self.take_all(actor, &mut all.0);
        // Such a wait has no timer.
        self.tell(|_| Event::Unblocked { actor });
        self.answer(actor, Answer::All(all.0));
    }
}
