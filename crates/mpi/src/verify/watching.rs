//! Polling of memory in windows, where executions are explored: loops around atomic accesses, locks and `MPI_Win_sync` end, too.
//!
//! Who comes to such a call in a state in which it was before waits until memory that it has looked at meanwhile is changed by another.
//! So those who change it tell those who wait, which takes steps of the search: only programs that are known to poll memory pay for it.
//! Whether a program does turns out when it is explored for the first time.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::PoisonError;

use simurgh_kernel::ids::ActivityId;
use simurgh_kernel::simcall::{Answer, Criteria, Envelope, Follow, RecvRequest, SendRequest, Simcall};

use crate::communicator::context;
use crate::p2p::{HEADER, mailbox};
use crate::rank::Rank;
use crate::window::Window;

use super::used::sum;

/// What was looked at: memory of a rank in a window, and what was in it.
#[derive(Debug)]
pub(super) struct Looked {
    window: Rc<Window>,
    rank: usize,
    seen: Seen,
}

/// Memory, from where to where, and a number for what was in it.
#[derive(Clone, Debug)]
struct Seen {
    ranges: Vec<(usize, usize)>,
    sum: u64,
}

impl Seen {
    /// Of much memory, what comes first.
    fn of(ranges: &[(usize, usize)]) -> Self {
        const MOST: usize = 1 << 20;
        let ranges: Vec<_> = ranges.iter().map(|&(start, end)| (start, end.min(start + MOST))).collect();
        Self { sum: sum(&ranges), ranges }
    }

    fn is_same(&self) -> bool {
        sum(&self.ranges) == self.sum
    }
}

/// Who waits for another content of the memory of a rank in a window.
pub(super) type Watchers = BTreeMap<usize, Vec<Watcher>>;

#[derive(Debug)]
pub(super) struct Watcher {
    process: u32,
    /// For which time it waits.
    time: u32,
    seen: Seen,
}

/// The context of messages that say that memory has changed: one of the library's own, in which nothing else is sent.
const NEWS: u32 = context::BOOT + 3;

impl Rank {
    fn watchers<T>(&self, with: impl FnOnce(&mut Watchers) -> T) -> T {
        self.for_others(|| {
            let mut common = self.world.common.lock().unwrap_or_else(PoisonError::into_inner);
            with(&mut common.watchers)
        })
    }

    /// Whether the program polls memory, so that changes are told.
    pub(crate) fn tells_changes(&self) -> bool {
        self.world.explored && self.world.watches.is_known()
    }

    /// The program is about to look at memory of a window. If it did so before in the same state, it waits for a change.
    pub(crate) fn polls_memory(&self) {
        if self.world.explored && !self.polling.looked.borrow().is_empty() {
            self.spins(None);
        }
    }

    /// Does what belongs to a poll of memory: it does not get anybody further.
    pub(crate) fn while_polling<T>(&self, run: impl FnOnce() -> T) -> T {
        let before = self.polling.is_polling.replace(true);
        let result = run();
        self.polling.is_polling.set(before);
        result
    }

    /// The program has looked at this memory of a rank.
    pub(crate) fn has_looked_at(&self, window: &Rc<Window>, rank: usize, ranges: &[(usize, usize)]) {
        if self.world.explored {
            let mut looked = self.polling.looked.borrow_mut();
            let (memory, seen) = (window.watched(rank).0, Seen::of(ranges));
            looked
                .retain(|other| other.seen.ranges != ranges || other.window.watched(other.rank).0 != memory);
            looked.push(Looked { window: Rc::clone(window), rank, seen });
        }
    }

    /// Does something to, or looks at, the memory of a process, while nobody else begins to wait for a change of it; those who
    /// wait for one are told.
    pub(crate) fn with_memory_of<T>(&self, window: &Window, rank: usize, run: impl FnOnce() -> T) -> T {
        if !self.tells_changes() {
            return run();
        }
        let (memory, lock) = window.watched(rank);
        self.while_polling(|| self.hold(lock));
        let result = run();
        self.tells_watchers(memory);
        self.while_polling(|| self.give_back(lock));
        result
    }

    /// What the program has stored in memory that all share is there for the others.
    pub(crate) fn tells_of_stores(&self, window: &Window) {
        if self.tells_changes() && window.is_shared() {
            self.with_memory_of(window, 0, || ());
        }
    }

    fn tells_watchers(&self, memory: usize) {
        let told = self.watchers(|all| match all.get_mut(&memory) {
            None => Vec::new(),
            Some(waiting) => {
                let (told, rest) =
                    std::mem::take(waiting).into_iter().partition(|watcher| !watcher.seen.is_same());
                *waiting = rest;
                told
            }
        });
        for Watcher { process, time, .. } in told {
            let request = SendRequest {
                mailbox: mailbox(process),
                bytes: HEADER,
                rate: None,
                envelope: Envelope { context: NEWS, source: self.process, tag: time as i32 },
                payload: None,
            };
            self.while_polling(|| self.ask(Simcall::Send(request, Follow::Detach)));
        }
    }

    /// Begins to wait for a change of what was looked at; nothing if it has changed already.
    pub(super) fn waits_for_change(&self, looked: &[Looked]) -> Option<ActivityId> {
        let time = self.polling.time.get() + 1;
        self.polling.time.set(time);
        for Looked { window, rank, seen } in looked {
            let ((memory, lock), process) = (window.watched(*rank), self.process);
            self.hold(lock);
            let is_same = seen.is_same();
            if is_same {
                let watcher = || Watcher { process, time, seen: seen.clone() };
                self.watchers(|all| all.entry(memory).or_default().push(watcher()));
            }
            self.give_back(lock);
            if !is_same {
                self.waits_no_longer(looked);
                return None;
            }
        }
        let criteria = Criteria { context: NEWS, source: None, tag: Some(time as i32) };
        let request = RecvRequest { mailbox: mailbox(self.process), rate: None, criteria };
        match self.ask(Simcall::Recv(request, Follow::Return)) {
            Answer::Activity(activity) => Some(activity),
            other => unreachable!("a receive is not answered by {other:?}"),
        }
    }

    /// Nobody will answer what it polls.
    pub(super) fn waits_for_ever(&self) -> ! {
        let criteria = Criteria { context: NEWS, source: None, tag: Some(0) };
        let request = RecvRequest { mailbox: mailbox(self.process), rate: None, criteria };
        self.ask(Simcall::Recv(request, Follow::Wait(None)));
        unreachable!("nothing is sent with this tag")
    }

    /// It waits no longer, whatever has changed.
    pub(super) fn waits_no_longer(&self, looked: &[Looked]) {
        for Looked { window, rank, .. } in looked {
            let (memory, lock) = window.watched(*rank);
            self.hold(lock);
            self.watchers(|all| {
                if let Some(waiting) = all.get_mut(&memory) {
                    waiting.retain(|watcher| watcher.process != self.process);
                }
            });
            self.give_back(lock);
        }
    }
}
