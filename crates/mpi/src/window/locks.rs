//! Locks of passive targets: who holds the window of a process, and who waits for it (MPI 5.0, 12.5.3).
//!
//! One may hold it alone, or several together. Whoever asks first is served first, so that nobody waits for ever.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};

use simurgh_kernel::simcall::{Simcall, Wake};

use super::Exposed;
use crate::rank::Rank;

/// How a window is held.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Hold {
    /// Alone.
    Exclusive,
    /// With others.
    Shared,
}

/// How windows of a program are held.
#[derive(Debug, Default)]
pub struct Holds {
    /// Alone, and together, by somebody at some time.
    seen: [AtomicBool; 2],
    /// Whether both are known to be.
    are_mixed: AtomicBool,
}

impl Holds {
    fn has(&self, hold: Hold) {
        self.seen[usize::from(hold == Hold::Shared)].store(true, Ordering::Relaxed);
    }

    /// Whether both are known to be.
    pub fn are_mixed(&self) -> bool {
        self.are_mixed.load(Ordering::Relaxed)
    }

    /// Both are known to be, from the beginning.
    pub fn know(&self) {
        self.are_mixed.store(true, Ordering::Relaxed);
    }

    /// Whether it turned out that both are, and is not known.
    pub fn has_news(&self) -> bool {
        self.seen.iter().all(|seen| seen.load(Ordering::Relaxed)) && !self.are_mixed()
    }

    /// Whether it turned out that both are, and was not known before. It is known from now on.
    pub fn has_learned(&self) -> bool {
        let both = self.seen.iter().all(|seen| seen.load(Ordering::Relaxed));
        both && !self.are_mixed.swap(true, Ordering::Relaxed)
    }
}

/// Who holds the window of a process, by ranks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LockState {
    alone: Option<usize>,
    together: BTreeSet<usize>,
    queue: VecDeque<(usize, Hold)>,
}

impl LockState {
    /// A rank wants the window; it has it at once, or has to wait.
    pub fn request(&mut self, rank: usize, hold: Hold) {
        self.queue.push_back((rank, hold));
        self.grant();
    }

    /// A rank gives the window back. Whether others have got it.
    pub fn release(&mut self, rank: usize) -> bool {
        if self.alone == Some(rank) {
            self.alone = None;
        }
        self.together.remove(&rank);
        self.grant()
    }

    /// Whether a rank holds the window.
    pub fn holds(&self, rank: usize) -> bool {
        self.alone == Some(rank) || self.together.contains(&rank)
    }

    /// Those who wait get it, in their order.
    fn grant(&mut self) -> bool {
        let mut some = false;
        while let Some(&(rank, hold)) = self.queue.front() {
            let free = self.alone.is_none() && (hold == Hold::Shared || self.together.is_empty());
            if !free {
                break;
            }
            self.queue.pop_front();
            some = true;
            match hold {
                Hold::Exclusive => self.alone = Some(rank),
                Hold::Shared => drop(self.together.insert(rank)),
            }
        }
        some
    }
}

/// That a window is held and given back gets nobody any further: polls are made of it.
impl Rank {
    /// Waits for the window of a process, in the name of the rank that this process has.
    ///
    /// Where executions are explored, those who hold it together do not wait, as long as nobody wants it alone: the search would try
    /// all of their orders. Whoever wants it alone takes the lock itself. If a program does both, it is explored again, as it is.
    pub(super) fn take_window(&self, at: &Exposed, rank: usize, hold: Hold) {
        if self.world.explored {
            self.world.holds.has(hold);
            if !self.world.holds.are_mixed() {
                if hold == Hold::Exclusive {
                    self.while_polling(|| self.hold(at.names.gate));
                }
                return;
            }
        }
        match self.place_at(at) {
            Some(place) => self.while_polling(|| self.comes_in(at, place, hold)),
            None => self.while_polling(|| self.waits_for_window(at, rank, hold)),
        }
    }

    /// The place of this process among those that have locks of their own at a window, where executions are explored.
    fn place_at(&self, at: &Exposed) -> Option<u32> {
        (self.world.explored && self.process < at.names.origins).then_some(self.process)
    }

    /// Waits for the window by locks that those who hold it together do not have in common, so that their order is not explored: a
    /// big-reader lock, of which each reader has one part and a writer takes all, here with a door before each part (its seat), for the queue.
    /// Whoever wants it alone closes all doors, one after the other, and waits for all seats to be free.
    ///
    /// That is the lock of above, with its queue. Who holds the window together with others has the door for as long as it takes to sit
    /// down, which is at once, since nobody has a seat of another but behind closed doors. So a door is closed by one who wants the
    /// window alone, or open. Who finds it open comes before those who have not closed it yet: they do nothing else meanwhile that could
    /// be seen, so it may as well have asked before them. Who finds it closed waits for one that has asked before, be it for others to leave.
    fn comes_in(&self, at: &Exposed, place: u32, hold: Hold) {
        match hold {
            Hold::Shared => {
                self.hold(at.names.door(place));
                self.hold(at.names.seat(place));
                self.give_back(at.names.door(place));
            }
            Hold::Exclusive => at.names.doors().chain(at.names.seats()).for_each(|lock| self.hold(lock)),
        }
    }

    /// Gives the window back: seats before doors, so that whoever comes through a door finds its seat free.
    fn leaves(&self, at: &Exposed, place: u32, hold: Hold) {
        match hold {
            Hold::Shared => self.give_back(at.names.seat(place)),
            Hold::Exclusive => {
                at.names.seats().chain(at.names.doors()).for_each(|lock| self.give_back(lock));
            }
        }
    }

    fn waits_for_window(&self, at: &Exposed, rank: usize, hold: Hold) {
        self.ask(Simcall::Lock(at.names.gate, None));
        at.lock.borrow_mut().request(rank, hold);
        while !at.lock.borrow().holds(rank) {
            self.ask(Simcall::WaitCondition(at.names.freed, at.names.gate, None));
        }
        self.ask(Simcall::Unlock(at.names.gate));
    }

    /// Gives the window of a process back.
    pub(super) fn give_window_back(&self, at: &Exposed, rank: usize, hold: Hold) {
        if self.world.explored && !self.world.holds.are_mixed() {
            if hold == Hold::Exclusive {
                self.while_polling(|| self.give_back(at.names.gate));
            }
            return;
        }
        if let Some(place) = self.place_at(at) {
            self.while_polling(|| self.leaves(at, place, hold));
            return;
        }
        self.while_polling(|| {
            self.hold(at.names.gate);
            let others = at.lock.borrow_mut().release(rank);
            if others {
                self.ask(Simcall::Notify(at.names.freed, Wake::All));
            }
            self.give_back(at.names.gate);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone_or_together_and_in_order() {
        let mut lock = LockState::default();
        lock.request(0, Hold::Shared);
        lock.request(1, Hold::Shared);
        lock.request(2, Hold::Exclusive);
        lock.request(3, Hold::Shared);
        assert_eq!([0, 1, 2, 3].map(|rank| lock.holds(rank)), [true, true, false, false]);
        assert!(!lock.release(0));
        assert!(lock.release(1));
        assert_eq!([0, 1, 2, 3].map(|rank| lock.holds(rank)), [false, false, true, false]);
        lock.request(4, Hold::Shared);
        assert!(lock.release(2));
        assert_eq!([2, 3, 4].map(|rank| lock.holds(rank)), [false, true, true]);
        lock.request(5, Hold::Exclusive);
        assert!(!lock.release(4));
        assert!(lock.release(3));
        assert!(lock.holds(5));
        assert!(!lock.release(5));
        assert_eq!(lock, LockState::default());
    }

    /// All orders of a few requests: nobody shares with one who is alone, and all are served.
    #[test]
    fn never_both() {
        for kinds in 0..32_u32 {
            let mut lock = LockState::default();
            for rank in 0..5 {
                lock.request(rank, if kinds >> rank & 1 == 0 { Hold::Shared } else { Hold::Exclusive });
            }
            let mut served = Vec::new();
            while served.len() < 5 {
                let holders: Vec<usize> = (0..5).filter(|rank| lock.holds(*rank)).collect();
                let alone = holders.iter().filter(|rank| kinds >> **rank & 1 == 1).count();
                assert!(!holders.is_empty() && (alone == 0 || holders.len() == 1), "{kinds:b}: {holders:?}");
                let last = *holders.last().expect("somebody holds it");
                lock.release(last);
                served.push(last);
            }
            assert_eq!(lock, LockState::default());
        }
    }
}
