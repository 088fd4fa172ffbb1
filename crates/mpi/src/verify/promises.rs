//! Assertions that synchronisation of windows is given, and whether they hold (MPI 5.0, 12.5.5).

use std::collections::{BTreeMap, BTreeSet};

use crate::abi;
use crate::communicator::Communicator;
use crate::rank::Rank;
use crate::window::{Hold, Plan, Window};

use super::clocks::VectorClock;
use super::{Deed, Kind};

/// What processes have promised. Windows are known by their [identities](Window::identity).
#[derive(Debug, Default)]
pub(super) struct Promises {
    /// Whose windows are not updated by others, between which fences.
    without_puts: BTreeSet<(usize, u64)>,
    /// When a process has posted, and whether its window is not updated by others.
    posts: BTreeMap<usize, (u32, bool)>,
    locks: Vec<Lock>,
}

/// A lock that is held, or was.
#[derive(Debug)]
struct Lock {
    by: u32,
    of: usize,
    hold: Hold,
    /// Whether nobody else asks for it meanwhile.
    is_unchecked: bool,
    /// When it was given back.
    over: Option<u32>,
}

impl Rank {
    /// What this process knows before it synchronises.
    pub fn clock_before(&self) -> VectorClock {
        if self.world.explored { self.clock_now() } else { VectorClock::new() }
    }

    /// A fence is called with assertions.
    pub fn check_fence(&self, window: &Window, assert: i32) {
        if !self.world.explored {
            return;
        }
        self.check_fenced(window, assert);
        if assert & abi::MODE_NOPRECEDE != 0 && window.epochs().has_fenced_access() {
            self.finding(Kind::Epoch, "MPI_Win_fence: MPI_MODE_NOPRECEDE is given, and accesses precede it");
        }
        if assert & abi::MODE_NOSTORE != 0 && window.fences.get() > 0 && self.has_stored(window) {
            self.finding(
                Kind::Epoch,
                "MPI_Win_fence: MPI_MODE_NOSTORE is given, and the window was stored to since the last fence",
            );
        }
        if assert & abi::MODE_NOPUT != 0 {
            let promise = (window.identity(window.comm.rank), window.fences.get() + 1);
            self.windows_of_all(|windows| windows.promises.without_puts.insert(promise));
        }
    }

    /// A fence is over.
    pub fn has_fenced(&self, window: &Window) {
        if self.world.explored {
            window.fences.set(window.fences.get() + 1);
            let moment = self.moment() + 1;
            self.clock_of_all.borrow_mut()[self.process as usize] = moment;
            window.fenced.set(moment);
        }
    }

    /// Whether this process has stored to its window since the last fence.
    fn has_stored(&self, window: &Window) -> bool {
        let (since, by, parts) = (window.fenced.get(), self.process, window.parts());
        self.windows_of_all(|windows| {
            windows.accesses.iter().any(|access| {
                access.by == by
                    && access.deed == Deed::Store
                    && access.over.is_some_and(|over| over >= since)
                    && parts.iter().any(|(start, end, _)| access.used.meets(*start, *end))
            })
        })
    }

    /// A window is posted with assertions.
    pub fn promises_at_post(&self, window: &Window, assert: i32) {
        if self.world.explored {
            let promise = (self.moment(), assert & abi::MODE_NOPUT != 0);
            let of = window.identity(window.comm.rank);
            self.windows_of_all(|windows| windows.promises.posts.insert(of, promise));
        }
    }

    /// An access began without a check: all of these had posted before, by what was known then.
    pub fn check_posted(&self, window: &Window, ranks: &[usize], before: &VectorClock) {
        if !self.world.explored {
            return;
        }
        let is_late = |rank: &&usize| {
            let of = window.identity(**rank);
            let posted = self.windows_of_all(|windows| windows.promises.posts.get(&of).map(|post| post.0));
            let known = before.get(window.process(**rank) as usize).copied().unwrap_or(0);
            posted.is_some_and(|posted| known < posted)
        };
        if let Some(rank) = ranks.iter().find(is_late) {
            let message = format!(
                "MPI_Win_start: MPI_MODE_NOCHECK is given, and nothing makes sure that rank {rank} has called MPI_Win_post before"
            );
            self.finding(Kind::Epoch, &message);
        }
    }

    /// A window was locked: if that was not to be checked, nobody else may hold it, by what was known then.
    pub fn check_locked(
        &self,
        window: &Window,
        rank: usize,
        hold: Hold,
        is_unchecked: bool,
        before: &VectorClock,
    ) {
        if !self.world.explored {
            return;
        }
        let (by, of) = (self.process, window.identity(rank));
        let other = self.windows_of_all(|windows| {
            let locks = &mut windows.promises.locks;
            let is_known = |lock: &Lock| {
                let known = before.get(lock.by as usize).copied().unwrap_or(0);
                lock.over.is_some_and(|over| known >= over)
            };
            let wrong = locks.iter().find(|lock| {
                (lock.of, lock.by == by) == (of, false)
                    && (lock.hold, hold) != (Hold::Shared, Hold::Shared)
                    && (lock.is_unchecked || is_unchecked)
                    && !is_known(lock)
            });
            let found = wrong.map(|lock| lock.by);
            locks.retain(|lock| lock.by != by || lock.of != of);
            locks.push(Lock { by, of, hold, is_unchecked, over: None });
            found
        });
        if let Some(other) = other {
            let message = format!(
                "MPI_Win_lock: MPI_MODE_NOCHECK is given, and rank {other} may hold the window of rank {rank} at the same time"
            );
            self.finding(Kind::Epoch, &message);
        }
    }

    /// A window is given back.
    pub fn holds_no_longer(&self, window: &Window, rank: usize) {
        if self.world.explored {
            let (by, of, moment) = (self.process, window.identity(rank), self.moment());
            self.windows_of_all(|windows| {
                let mine = |lock: &&mut Lock| (lock.by, lock.of) == (by, of) && lock.over.is_none();
                windows.promises.locks.iter_mut().filter(mine).for_each(|lock| lock.over = Some(moment));
            });
        }
    }

    /// A window is accessed: it was not promised that it is not.
    pub(super) fn check_promises(&self, window: &Window, rank: usize, deed: Deed) {
        if deed.updates() {
            self.check_update(window, rank);
        }
    }

    /// A window is updated by another: it was not promised that it is not.
    pub fn check_update(&self, window: &Window, rank: usize) {
        if !self.world.explored {
            return;
        }
        let (of, fences, is_started) =
            (window.identity(rank), window.fences.get(), window.epochs().is_started());
        let is_broken = self.windows_of_all(|windows| {
            let promises = &windows.promises;
            match is_started {
                true => promises.posts.get(&of).is_some_and(|post| post.1),
                false => promises.without_puts.contains(&(of, fences)),
            }
        });
        if is_broken {
            let message = format!(
                "{}: the window of rank {rank} is updated, and it has given MPI_MODE_NOPUT",
                self.call_name()
            );
            self.finding(Kind::Epoch, &message);
        }
    }

    /// A window is about to be locked: it was not said that this never happens (12.2.1).
    pub fn check_may_lock(&self, window: &Window) {
        if self.world.explored && is_promised(&window.info.borrow(), "no_locks") {
            let message = format!("{}: the window was made with the hint no_locks", self.call_name());
            self.finding(Kind::Epoch, &message);
        }
    }

    /// All make a window: what is said to be the same for all is (12.2.1).
    pub fn check_window_promises(&self, plan: &Plan) {
        let promised = |hint| is_promised(&plan.info, hint);
        if !self.world.explored || !["same_size", "same_disp_unit"].into_iter().any(promised) {
            return;
        }
        let said = |hint, amount| if promised(hint) { vec![amount] } else { Vec::new() };
        self.check_described(&plan.comm, || {
            vec![
                ("sizes with the hint same_size", said("same_size", plan.size)),
                ("units with the hint same_disp_unit", said("same_disp_unit", plan.unit)),
            ]
        });
    }

    /// A message is received: it is as long as the receive, if that was said (7.4.4).
    pub fn check_length(&self, comm: Option<&Communicator>, length: usize, room: usize) {
        if !self.world.explored || length >= room {
            return;
        }
        if comm.is_some_and(|comm| is_promised(&comm.info.borrow(), "mpi_assert_exact_length")) {
            let message = format!(
                "{}: a message of {length} bytes in a receive of {room} bytes, on a communicator with the hint mpi_assert_exact_length",
                self.call_name()
            );
            self.finding(Kind::TypeMismatch, &message);
        }
    }

    /// A message of any source or any tag is looked for: it was not said that this never happens (7.4.4).
    pub fn check_wildcards(&self, comm: &Communicator, any_source: bool, any_tag: bool) {
        if !self.world.explored {
            return;
        }
        let wildcards = [
            (any_source, "MPI_ANY_SOURCE", "mpi_assert_no_any_source"),
            (any_tag, "MPI_ANY_TAG", "mpi_assert_no_any_tag"),
        ];
        let hints = comm.info.borrow();
        let broken = wildcards.into_iter().find(|(is_used, _, hint)| *is_used && is_promised(&hints, hint));
        drop(hints);
        if let Some((_, wildcard, hint)) = broken {
            let message = format!("{}: {wildcard} on a communicator with the hint {hint}", self.call_name());
            self.finding(Kind::InvalidArgument, &message);
        }
    }
}

fn is_promised(hints: &BTreeMap<String, String>, hint: &str) -> bool {
    hints.get(hint).is_some_and(|value| value == "true")
}
