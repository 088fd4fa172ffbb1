//! All the work under way, in one flat array.

use crate::heap::{EventHeap, Lane};
use crate::prefetch::prefetch_from;
use crate::work::{ActionId, Token};

/// What solves the rate of an action.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Engine {
    /// Nothing: it only has a date.
    Timer,
    Cpu,
    Network,
    /// Nothing, as long as a flow has its links to itself.
    Uncontended,
    Disk,
    Parallel,
}

/// In which group an action is reported, and in which heap its date is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    Host = 0,
    Network = 1,
    Disk = 2,
}

/// What an action is doing.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    Free,
    /// It waits for a latency; its date is the end of this.
    Waiting,
    /// It progresses at its rate; its date is its end.
    Moving,
}

/// No variable: the work is nothing, or only a date.
pub(crate) const NO_VARIABLE: u32 = u32::MAX;

/// One piece of work: a line of the cache.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Action {
    /// Work left at date `updated`.
    pub remaining: f64,
    /// Work a second since then.
    pub rate: f64,
    pub updated: f64,
    /// Its rate is this times its share.
    pub factor: f64,
    pub token: Token,
    /// Its variable in the engine's system. Of a flow that is alone, this and the next are what its links are known by.
    pub variable: u32,
    pub second: u32,
    pub generation: u32,
    pub engine: Engine,
    pub class: Class,
    pub phase: Phase,
    pub suspended: bool,
    /// Its place in the order in which work of its sort was started.
    pub order: u64,
}

/// Remaining work below this is nothing (1e-5 of work in 1e-9 of time).
pub(crate) const DUST: f64 = 1e-14;

impl Action {
    /// Takes off the work done since the last time.
    #[inline]
    pub fn settle(&mut self, now: f64) {
        self.remaining = self.remaining_at(now);
        self.updated = now;
    }

    /// The work left at a date not before `updated`.
    #[inline]
    pub fn remaining_at(&self, now: f64) -> f64 {
        let elapsed = now - self.updated;
        if elapsed <= 0.0 || self.rate == 0.0 {
            return self.remaining;
        }
        let left = self.remaining - self.rate * elapsed;
        if left < DUST { 0.0 } else { left }
    }

    /// Settles the work, and sets the share and thereby the date of the end. Dates set together count as set in the order
    /// in which the work was started.
    #[inline]
    pub fn set_share(&mut self, index: u32, share: f64, now: f64, dates: &mut EventHeap) {
        let rate = share * self.factor;
        let rank = self.order as u32;
        self.settle(now);
        self.rate = rate;
        if self.remaining <= 0.0 {
            dates.set_ranked(Lane::Ends, index, now, rank);
        } else if rate > 0.0 {
            dates.set_ranked(Lane::Ends, index, now + self.remaining / rate, rank);
        } else {
            dates.remove(index);
        }
    }
}

/// Of so many free slots, the next ones are not in the cache;
const MANY: usize = 2048;
/// one that is used after so many others is asked for.
const SOON: usize = 8;

/// A slab of actions.
#[derive(Clone, Default, Debug)]
pub(crate) struct Actions {
    slots: Vec<Action>,
    free: Vec<u32>,
    started: u64,
}

impl Actions {
    /// Where the next action will be.
    #[inline]
    pub fn next_index(&self) -> u32 {
        self.free.last().copied().unwrap_or(self.slots.len() as u32)
    }

    /// Adds an action; its generation is set here, and its order if it has none.
    #[inline(always)]
    pub fn insert(&mut self, action: Action) -> ActionId {
        self.started += 1;
        let index = match self.free.pop() {
            Some(index) => index,
            None => self.grow(&action),
        };
        if self.free.len() >= MANY {
            prefetch_from(&self.slots, self.free[self.free.len() - SOON] as usize);
        }
        let slot = &mut self.slots[index as usize];
        let generation = slot.generation;
        let order = if action.order == 0 { self.started } else { action.order };
        *slot = Action { generation, order, ..action };
        ActionId::new(index, generation)
    }

    #[cold]
    fn grow(&mut self, action: &Action) -> u32 {
        self.slots.push(Action { generation: 0, ..action.clone() });
        self.slots.len() as u32 - 1
    }

    /// Frees a slot.
    #[inline]
    pub fn remove(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        debug_assert!(slot.phase != Phase::Free, "an action is freed once");
        slot.phase = Phase::Free;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index);
    }

    /// The index of an action that is still there.
    pub fn find(&self, id: ActionId) -> Option<u32> {
        let slot = self.slots.get(id.index() as usize)?;
        (slot.generation == id.generation() && slot.phase != Phase::Free).then_some(id.index())
    }

    #[inline]
    pub fn id(&self, index: u32) -> ActionId {
        ActionId::new(index, self.slots[index as usize].generation)
    }

    /// Asks the processor for an action.
    #[inline]
    pub fn prefetch(&self, index: u32) {
        prefetch_from(&self.slots, index as usize);
    }

    /// Where the actions of an engine are.
    pub fn indices_of(&self, engine: Engine) -> Vec<u32> {
        let is_one = |index: &u32| {
            let action = self.at(*index);
            action.phase != Phase::Free && action.engine == engine
        };
        (0..self.slots.len() as u32).filter(is_one).collect()
    }

    /// What is at an index, if there is such an index; it may have been freed.
    #[inline]
    pub fn get(&self, index: u32) -> Option<&Action> {
        self.slots.get(index as usize)
    }

    #[inline]
    pub fn at(&self, index: u32) -> &Action {
        &self.slots[index as usize]
    }

    #[inline]
    pub fn at_mut(&mut self, index: u32) -> &mut Action {
        &mut self.slots[index as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It is visited three times for each message, and thousands of others come in between.
    #[test]
    fn an_action_is_a_line_of_the_cache() {
        assert_eq!(size_of::<Action>(), 64);
    }
}
