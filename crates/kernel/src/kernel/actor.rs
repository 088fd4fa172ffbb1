//! What the kernel keeps of an actor, and what actors wait for.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use simurgh_models::SimTime;
use simurgh_platform::HostId;

use super::queue::WaitQueue;
use crate::ids::{ActivityId, ActorId, BarrierId, ConditionId, MutexId, SemaphoreId};
use crate::simcall::{ActivitySet, Answer, OnTimeout, WaitForAll};

/// What an actor waits for.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Waiting {
    Nothing,
    /// An activity: what most waits are for.
    One {
        id: ActivityId,
        on_timeout: OnTimeout,
        release: bool,
    },
    /// One of several activities, or of none.
    Several(Box<Several>),
    /// All of several activities.
    All(All),
    Sleep,
    Mutex(MutexId),
    Semaphore(SemaphoreId),
    Condition(ConditionId, MutexId),
    /// Notified, or timed out, and now in the queue of the lock; then the answer is whether it was notified.
    Reacquiring {
        mutex: MutexId,
        notified: bool,
    },
    Barrier(BarrierId),
    Join(ActorId),
    Suspended,
}

/// A wait for one of several activities.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Several {
    pub(super) set: ActivitySet,
    pub(super) on_timeout: OnTimeout,
    pub(super) release: bool,
}

/// A wait for all of several activities, one after the other; nothing came of them yet.
#[derive(Debug)]
pub(super) struct All(pub(super) Box<WaitForAll>);

impl All {
    /// The one that it waits for now.
    pub(super) fn present(&self) -> ActivityId {
        self.0.activities[self.0.over.load(Ordering::Relaxed) as usize]
    }
}

impl Clone for All {
    fn clone(&self) -> Self {
        let WaitForAll { activities, over, .. } = &*self.0;
        All(Box::new(WaitForAll {
            activities: activities.clone(),
            over: Arc::clone(over),
            results: Vec::new(),
        }))
    }
}

impl PartialEq for All {
    fn eq(&self, other: &Self) -> bool {
        self.0.activities == other.0.activities && Arc::ptr_eq(&self.0.over, &other.0.over)
    }
}

impl Waiting {
    /// The activities that are waited for.
    pub(super) fn activities(&self) -> &[ActivityId] {
        match self {
            Waiting::One { id, .. } => std::slice::from_ref(id),
            Waiting::Several(several) => &several.set,
            Waiting::All(all) => &all.0.activities,
            _ => &[],
        }
    }

    /// Whether what is waited for is forgotten when it is over.
    pub(super) fn releases(&self) -> bool {
        match self {
            Waiting::One { release, .. } => *release,
            Waiting::Several(several) => several.release,
            Waiting::All(_) => true,
            _ => false,
        }
    }
}

/// Whether an actor may go on.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Halt {
    No,
    /// It is suspended.
    Suspended,
    /// It is, and became ready in the meantime.
    Ready,
}

/// Whether an actor has a timer.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(super) enum Timer {
    No,
    Set,
    /// It is not needed any more, and was not taken back: most are soon replaced.
    Stale,
}

impl Timer {
    /// Takes back one that is there and not needed.
    #[inline]
    pub(super) fn take_back(&mut self, actor: ActorId, timers: &mut Vec<(ActorId, Option<f64>)>) {
        if *self == Timer::Stale {
            *self = Timer::No;
            timers.push((actor, None));
        }
    }
}

/// What is kept of an actor, by the kernel in one line of the cache, and by its driver next to it: a large system touches
/// those of its actors in no order.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Actor<K> {
    pub(super) host: HostId,
    pub(super) alive: bool,
    pub(super) daemon: bool,
    pub(super) halt: Halt,
    pub(super) timer: Timer,
    pub(super) waiting: Waiting,
    pub(super) since: SimTime,
    /// The answer that waits for the actor to run.
    pub(super) answer: Option<Answer>,
    pub(super) more: Option<Box<More>>,
    /// What the driver keeps.
    pub(super) kept: K,
}

/// What the kernel keeps of an actor that starts activities without waiting for them, or that others wait for.
#[derive(Debug, Default)]
pub(super) struct More {
    /// What it started and has not forgotten, in order; ended ones are swept now and then.
    pub(super) owned: Vec<ActivityId>,
    /// How long `owned` may grow before it is swept.
    pub(super) owned_limit: u32,
    /// Who waits for its end.
    pub(super) joiners: Option<Box<WaitQueue>>,
}

impl<K> Actor<K> {
    /// What it started and has not forgotten.
    pub(super) fn owned(&self) -> &[ActivityId] {
        self.more.as_ref().map_or(&[], |more| &more.owned)
    }

    /// What it started and what ends with it: its own, and what it waits for to the end.
    pub(super) fn belongings(&self) -> Vec<ActivityId> {
        let mut all = self.owned().to_vec();
        if self.waiting.releases() {
            all.extend(self.waiting.activities().iter().filter(|id| !self.owned().contains(id)));
        }
        all
    }
}

impl<K> Actor<K> {
    /// Ends its wait. A timer that is not needed any more is taken back at once, or late: when another is set.
    #[inline(always)]
    pub(super) fn stop_waiting(
        &mut self,
        actor: ActorId,
        lazy_timer_cancel: bool,
        timers: &mut Vec<(ActorId, Option<f64>)>,
    ) {
        debug_assert!(self.waiting != Waiting::Nothing, "only who waits can be woken");
        self.waiting = Waiting::Nothing;
        if self.timer == Timer::Set {
            self.timer = Timer::Stale;
            if !lazy_timer_cancel {
                self.timer.take_back(actor, timers);
            }
        }
    }

    /// Lets it run, now that it has its answer.
    #[inline(always)]
    pub(super) fn let_run(&mut self, actor: ActorId, ready: &mut Vec<ActorId>) {
        match self.halt {
            Halt::No => ready.push(actor),
            _ => self.halt = Halt::Ready,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A large system visits its actors in no order: each more line of the cache is waited for with every message.
    #[test]
    fn an_actor_is_a_line_of_the_cache() {
        assert_eq!(size_of::<Actor<()>>(), 64);
    }
}
