//! Locks, semaphores, condition variables and barriers. Whoever waits longest is served first.

use std::hash::{Hash, Hasher};

use super::queue::WaitQueue;
use super::{Kernel, Served, Waiting};
use crate::ids::{ActorId, BarrierId, ConditionId, MutexId, SemaphoreId};
use crate::simcall::{Answer, Wake};

#[derive(Debug, Default, Hash)]
pub(super) struct Mutex {
    pub(super) owner: Option<ActorId>,
    pub(super) queue: WaitQueue,
}

#[derive(Debug, Default, Hash)]
pub(super) struct Semaphore {
    /// More than a program can give back one by one.
    pub(super) count: u64,
    pub(super) queue: WaitQueue,
}

#[derive(Debug, Default, Hash)]
pub(super) struct Condition {
    /// Who waits; each knows the lock that it wants back.
    pub(super) queue: WaitQueue,
}

#[derive(Debug, Default)]
pub(super) struct Barrier {
    pub(super) size: u32,
    pub(super) arrived: WaitQueue,
}

/// Nothing that happens later depends on the order in which they came.
impl Hash for Barrier {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let mut arrived: Vec<ActorId> = self.arrived.iter().collect();
        arrived.sort_unstable();
        (self.size, arrived).hash(hasher);
    }
}

fn slot<T: Default>(table: &mut Vec<T>, index: usize) -> &mut T {
    if table.len() <= index {
        table.resize_with(index + 1, T::default);
    }
    &mut table[index]
}

impl<K: Default> Kernel<K> {
    /// Makes a free lock.
    pub fn new_mutex(&mut self, id: MutexId) {
        *slot(&mut self.mutexes, id.index()) = Mutex::default();
    }

    /// Makes a semaphore with so many to take.
    pub fn new_semaphore(&mut self, id: SemaphoreId, count: u32) {
        *slot(&mut self.semaphores, id.index()) =
            Semaphore { count: count.into(), queue: WaitQueue::default() };
    }

    /// Makes a condition variable.
    pub fn new_condition(&mut self, id: ConditionId) {
        *slot(&mut self.conditions, id.index()) = Condition::default();
    }

    /// Makes a barrier for so many actors.
    pub fn new_barrier(&mut self, id: BarrierId, size: u32) {
        *slot(&mut self.barriers, id.index()) = Barrier { size, arrived: WaitQueue::default() };
    }

    /// Who has a lock.
    pub fn lock_owner(&self, id: MutexId) -> Option<ActorId> {
        self.mutexes.get(id.index())?.owner
    }

    /// How many wait at a barrier, and for how many it was made.
    pub fn barrier_state(&self, id: BarrierId) -> (u32, u32) {
        self.barriers.get(id.index()).map_or((0, 0), |barrier| (barrier.arrived.len() as u32, barrier.size))
    }

    pub(super) fn lock(&mut self, actor: ActorId, id: MutexId, timeout: Option<f64>) -> Served {
        let mutex = slot(&mut self.mutexes, id.index());
        if mutex.owner.is_none() {
            mutex.owner = Some(actor);
            return Served::Answered(Answer::Flag(true));
        }
        if timeout.is_some_and(|seconds| seconds <= 0.0) {
            return Served::Answered(Answer::Flag(false));
        }
        mutex.queue.push(actor);
        self.block(actor, Waiting::Mutex(id), timeout);
        Served::Blocked
    }

    pub(super) fn try_lock(&mut self, actor: ActorId, id: MutexId) -> Served {
        let mutex = slot(&mut self.mutexes, id.index());
        let free = mutex.owner.is_none();
        if free {
            mutex.owner = Some(actor);
        }
        Served::Answered(Answer::Flag(free))
    }

    /// Gives a lock back, if the actor has it.
    pub(super) fn unlock(&mut self, actor: ActorId, id: MutexId) {
        let mutex = slot(&mut self.mutexes, id.index());
        if mutex.owner != Some(actor) {
            return;
        }
        mutex.owner = mutex.queue.pop();
        let Some(next) = mutex.owner else { return };
        let answer = match self.actors[next.index()].waiting {
            Waiting::Reacquiring { notified, .. } => Answer::Flag(notified),
            _ => Answer::Flag(true),
        };
        self.unblock(next, answer);
    }

    /// Whoever is given a lock and dies before it runs has nobody to give it back.
    pub(super) fn give_back_all(&mut self, actor: ActorId) {
        for index in 0..self.mutexes.len() {
            self.unlock(actor, MutexId::from_index(index));
        }
    }

    pub(super) fn acquire(&mut self, actor: ActorId, id: SemaphoreId, timeout: Option<f64>) -> Served {
        let semaphore = slot(&mut self.semaphores, id.index());
        if semaphore.count > 0 {
            semaphore.count -= 1;
            return Served::Answered(Answer::Flag(true));
        }
        if timeout.is_some_and(|seconds| seconds <= 0.0) {
            return Served::Answered(Answer::Flag(false));
        }
        semaphore.queue.push(actor);
        self.block(actor, Waiting::Semaphore(id), timeout);
        Served::Blocked
    }

    pub(super) fn release(&mut self, id: SemaphoreId) {
        let semaphore = slot(&mut self.semaphores, id.index());
        match semaphore.queue.pop() {
            Some(next) => self.unblock(next, Answer::Flag(true)),
            None => semaphore.count += 1,
        }
    }

    pub(super) fn wait_condition(
        &mut self,
        actor: ActorId,
        id: ConditionId,
        mutex: MutexId,
        timeout: Option<f64>,
    ) -> Served {
        self.unlock(actor, mutex);
        let at_once = timeout.is_some_and(|seconds| seconds <= 0.0);
        slot(&mut self.conditions, id.index()).queue.push(actor);
        self.block(actor, Waiting::Condition(id, mutex), timeout.filter(|_| !at_once));
        if at_once {
            self.time_out(actor);
        }
        Served::Blocked
    }

    pub(super) fn notify(&mut self, id: ConditionId, wake: Wake) {
        loop {
            let Some(actor) = slot(&mut self.conditions, id.index()).queue.pop() else { return };
            let Waiting::Condition(_, mutex) = self.actors[actor.index()].waiting else {
                unreachable!("who is in this queue waits for this condition")
            };
            self.reacquire(actor, mutex, true);
            if wake == Wake::One {
                return;
            }
        }
    }

    /// The wait for a condition is over; what remains is to get the lock back, however long that takes.
    pub(super) fn reacquire(&mut self, actor: ActorId, mutex: MutexId, notified: bool) {
        self.stop_waiting(actor);
        let lock = slot(&mut self.mutexes, mutex.index());
        if lock.owner.is_none() {
            lock.owner = Some(actor);
            self.answer(actor, Answer::Flag(notified));
        } else {
            lock.queue.push(actor);
            self.block(actor, Waiting::Reacquiring { mutex, notified }, None);
        }
    }

    pub(super) fn arrive(&mut self, actor: ActorId, id: BarrierId) -> Served {
        let barrier = slot(&mut self.barriers, id.index());
        if barrier.arrived.len() as u32 + 1 >= barrier.size {
            let arrived = std::mem::take(&mut barrier.arrived);
            for other in arrived.iter() {
                self.unblock(other, Answer::Flag(false));
            }
            return Served::Answered(Answer::Flag(true));
        }
        barrier.arrived.push(actor);
        self.block(actor, Waiting::Barrier(id), None);
        Served::Blocked
    }

    /// A dying actor leaves the queues that it stands in.
    pub(super) fn leave_queues(&mut self, actor: ActorId) {
        match self.actors[actor.index()].waiting {
            Waiting::Mutex(mutex) | Waiting::Reacquiring { mutex, .. } => {
                self.mutexes[mutex.index()].queue.leave(actor);
            }
            Waiting::Semaphore(semaphore) => {
                self.semaphores[semaphore.index()].queue.leave(actor);
            }
            Waiting::Condition(condition, _) => {
                self.conditions[condition.index()].queue.leave(actor);
            }
            Waiting::Barrier(barrier) => {
                self.barriers[barrier.index()].arrived.leave(actor);
            }
            Waiting::Join(target) => {
                self.leave_joiners(target, actor);
            }
            Waiting::Nothing
            | Waiting::One { .. }
            | Waiting::Several(_)
            | Waiting::All(_)
            | Waiting::Sleep
            | Waiting::Suspended => {}
        }
    }
}
