//! Waiting for all of several activities in one trip. One is waited for after the other: nobody can tell that from as many waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::actor::All;
use super::{Kernel, Served, Waiting};
use crate::activity::State;
use crate::ids::{ActivityId, ActorId};
use crate::simcall::{ActivitySet, Answer, Failure};

impl<K: Default> Kernel<K> {
    /// Waits for all of a set, one after the other.
    pub(super) fn wait_all(&mut self, actor: ActorId, set: ActivitySet, over: Arc<AtomicU32>) -> Served {
        over.store(0, Ordering::Relaxed);
        match self.wait_for_next(actor, &set, &over) {
            true => {
                self.block(actor, Waiting::All(Box::new(All { set, over })), None);
                Served::Blocked
            }
            false => Served::Answered(self.take_all(actor, &set)),
        }
    }

    /// Lets an actor wait for the next of a set that is not over; false if all are.
    fn wait_for_next(&mut self, actor: ActorId, set: &[ActivityId], over: &AtomicU32) -> bool {
        for (index, &id) in set.iter().enumerate().skip(over.load(Ordering::Relaxed) as usize) {
            if let Some(activity) = self.activities.get_mut(id)
                && !matches!(activity.state, State::Over(_))
            {
                over.store(index as u32, Ordering::Relaxed);
                activity.waiters.push(actor);
                return true;
            }
        }
        false
    }

    /// What came of all of a set, which is forgotten.
    fn take_all(&mut self, actor: ActorId, set: &[ActivityId]) -> Answer {
        let take = |&id: &ActivityId| match self.activities.get_mut(id) {
            Some(activity) => match activity.state {
                State::Over(result) => result.map(|()| activity.take_payload(id)),
                _ => unreachable!("all of them are over"),
            },
            None => Err(Failure::Cancelled),
        };
        let results = set.iter().map(take).collect();
        // The last first: that is how an actor lets go of what it began.
        set.iter().rev().for_each(|&id| self.forget(actor, id));
        Answer::All(results)
    }

    /// One of all that an actor waits for is over, the one whose turn it is.
    pub(super) fn wake_from_all(&mut self, actor: ActorId) {
        let record = &mut self.actors[actor.index()];
        let Waiting::All(all) = std::mem::replace(&mut record.waiting, Waiting::Nothing) else {
            unreachable!("it waits for all")
        };
        if let Some(activity) = self.activities.get_mut(all.present()) {
            activity.waiters.remove(actor);
        }
        let is_over = !self.wait_for_next(actor, &all.set, &all.over);
        let answer = is_over.then(|| self.take_all(actor, &all.set));
        self.actors[actor.index()].waiting = Waiting::All(all);
        if let Some(answer) = answer {
            self.unblock(actor, answer);
        }
    }
}
