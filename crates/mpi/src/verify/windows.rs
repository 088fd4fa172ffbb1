//! Accesses to windows that nothing orders (MPI 5.0, 12.7): by puts, gets and accumulates, and by loads and stores of the process whose
//! memory it is.
//!
//! An access is under way from its call to the synchronisation that completes it. Two of them conflict if they overlap, one of
//! them writes, and neither is completed before the other begins, by what happens before what. Accumulates with one operator on
//! one type are atomic, and order what their processes do.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::PoisonError;

use simurgh_native::Touch;

use crate::abi;
use crate::os;
use crate::rank::Rank;
use crate::request::Pending;
use crate::window::{Access, Hold, Operation, Window};

use super::clocks::{VectorClock, join};
use super::polling::ATOMICS;
use super::promises::Promises;
use super::used::WORD;
use super::{Deed, Kind, Used};

/// So many accesses are remembered.
const MOST: usize = 20_000;

/// What is wrong with a free of memory before its window is (12.2.5).
const FREED: &str = "memory of a window: MPI_Win_free comes first";

/// What is known of all windows.
#[derive(Debug, Default)]
pub(super) struct Windows {
    pub(super) accesses: Vec<Accessed>,
    /// What who held the memory of a process alone, and anybody, knew when it was given back.
    locks: BTreeMap<usize, (VectorClock, VectorClock)>,
    /// What those knew who have accessed it atomically.
    updates: BTreeMap<usize, VectorClock>,
    /// What those knew who have synchronised a window that is shared.
    syncs: BTreeMap<usize, VectorClock>,
    /// Where atomic instructions were executed.
    atomic: BTreeSet<usize>,
    /// Processes that have come to a poll in a state in which they were before, and do not know yet that anything has changed.
    spinning: BTreeSet<u32>,
    pub(super) promises: Promises,
}

#[derive(Debug)]
pub(super) struct Accessed {
    pub by: u32,
    /// The process whose memory it is.
    of: u32,
    pub used: Used,
    pub deed: Deed,
    /// Whether it only updates the target.
    only_updates: bool,
    /// When it was completed; not yet if there is none.
    pub over: Option<u32>,
    /// The number of what it owns at its origin.
    number: u64,
    call: &'static str,
    at: usize,
    /// Which window, and the rank of its target.
    window: (u32, usize),
}

impl Rank {
    pub(super) fn windows_of_all<T>(&self, with: impl FnOnce(&mut Windows) -> T) -> T {
        self.for_others(|| {
            let mut common = self.world.common.lock().unwrap_or_else(PoisonError::into_inner);
            with(&mut common.windows)
        })
    }

    /// A call accesses the window of a rank, and owns memory of this process until it is completed.
    pub fn check_access(&self, access: &Access, deed: Deed) {
        self.check_access_by(access, deed, false, || vec![access.origin.uses(deed == Deed::Get)]);
    }

    /// The same, of one that uses this memory of its own. Whether it only updates the target, and brings nothing back, is said.
    pub fn check_access_by(
        &self,
        access: &Access,
        deed: Deed,
        only_updates: bool,
        own: impl Fn() -> Vec<Used>,
    ) {
        if !self.world.explored {
            return;
        }
        self.buffers.last.set(0);
        let Access { window, rank, origin, target } = access;
        let signature = |operation: &Operation| operation.datatype.signature.repeated(operation.count as u64);
        if !signature(origin).matches(signature(target)) {
            let message = format!(
                "{}: {} at the origin is {} at the target",
                self.call_name(),
                origin.datatype.described(),
                target.datatype.described()
            );
            self.finding(Kind::TypeMismatch, &message);
        }
        let of = window.process(*rank);
        let used = self.for_others(|| {
            Used::elements(target.buffer as usize, target.count, &target.datatype, deed.writes())
        });
        self.check_written(std::slice::from_ref(&used));
        self.check_written(&own());
        self.check_promises(window, *rank, deed);
        self.check_uses(&own);
        let number = self.own_exposed(own());
        window.owned.borrow_mut().push((*rank, number));
        self.buffers.last.set(number);
        let access = Accessed {
            by: self.process,
            of,
            used,
            deed,
            only_updates,
            over: None,
            number: self.buffers.last.get(),
            call: self.call_name(),
            at: os::caller(),
            window: (window.number, *rank),
        };
        if let Some(message) = self.accesses(access) {
            self.finding(Kind::WindowRace, &message);
        }
    }

    /// The access that was just begun is one that a request completes too.
    pub fn is_requested(&self, request: &Pending) {
        request.owns.set(self.buffers.last.take());
    }

    /// Notes an access; what is wrong with it.
    fn accesses(&self, access: Accessed) -> Option<String> {
        let (clock, by) = (self.clock_now(), self.process);
        self.windows_of_all(|windows| {
            let is_before = |other: &Accessed| {
                other.over.is_some_and(|over| clock.get(other.by as usize).is_some_and(|known| *known >= over))
            };
            // What one process does itself, one after the other.
            let is_alone =
                |other: &Accessed| other.by == by && other.deed.is_local() && access.deed.is_local();
            // Programs poll words of memory that is shared, between two calls of MPI_Win_sync.
            let is_flag = |other: &Accessed| {
                self.world.flags.is_known()
                    && [other, &access].iter().all(|one| one.deed.is_local() && one.used.is_word())
            };
            let wrong = windows.accesses.iter().find(|other| {
                other.of == access.of
                    && access.deed.conflicts(other.deed)
                    && other.used.overlaps(&access.used)
                    && !is_alone(other)
                    && !is_before(other)
                    && !is_flag(other)
            });
            if let Some(other) = wrong {
                return Some(format!(
                    "{}: {} of the window of rank {}, which {} by rank {} ({}{}) accesses too: nothing orders the two",
                    access.call,
                    access.deed.in_words(),
                    access.of,
                    other.deed.in_words(),
                    other.by,
                    other.call,
                    self.world.lines.in_words(other.at)
                ));
            }
            let meets = |other: &&Accessed| {
                (other.of, other.by != by) == (access.of, true)
                    && other.used.overlaps(&access.used)
                    && !is_before(other)
            };
            windows.accesses.iter().filter(meets).for_each(|other| {
                let (one, two) = ((other.deed, other.only_updates), (access.deed, access.only_updates));
                self.world.atomics.meet(one, two);
            });
            // A loop that touches one place is one access.
            let same = |last: &Accessed| {
                (last.by, last.of, last.at, last.deed, last.over) == (by, access.of, access.at, access.deed, access.over)
                    && access.over.is_some()
            };
            match windows.accesses.last_mut().filter(|last| same(last)) {
                Some(last) => last.used.extend(&access.used),
                None => windows.accesses.push(access),
            }
            if windows.accesses.len() > MOST {
                windows.accesses.drain(..MOST / 2);
            }
            None
        })
    }

    /// The data of a get have come: it is complete at its target, too.
    pub(super) fn has_got(&self, number: u64) {
        self.completes_numbered(number, |deed| deed == Deed::Get);
    }

    /// A call reads or writes memory of windows, as the program itself does.
    pub(super) fn check_windows(&self, uses: &[Used], writes: bool) {
        self.touches_windows(uses.iter().filter(|used| used.writes == writes), None);
    }

    /// A call reads or writes memory of windows, as the program itself does, until what has this number is completed.
    pub(super) fn begins_in_windows(&self, uses: &[Used], number: u64) {
        self.touches_windows(uses.iter(), Some(number));
    }

    /// Memory of windows is accessed at once, or until what has this number is completed.
    fn touches_windows<'a>(&self, uses: impl Iterator<Item = &'a Used>, until: Option<u64>) {
        if self.windows.borrow().is_empty() {
            return;
        }
        let parts = self.exposed_parts();
        for used in uses {
            for (start, end, of) in &parts {
                if let Some(used) = self.for_others(|| used.within(*start, *end)) {
                    let mut touched = self.touching(*of, used, self.call_name(), os::caller());
                    if let Some(number) = until {
                        (touched.over, touched.number) = (None, number);
                    }
                    if let Some(message) = self.accesses(touched) {
                        self.finding(Kind::WindowRace, &message);
                    }
                }
            }
        }
    }

    /// What had this number is completed.
    pub(super) fn is_done_in_windows(&self, number: u64) {
        self.completes_numbered(number, Deed::is_local);
    }

    /// Accesses of this process with this number are complete, those that do this.
    fn completes_numbered(&self, number: u64, does: impl Fn(Deed) -> bool) {
        if self.windows.borrow().is_empty() {
            return;
        }
        let (moment, by) = (self.moment(), self.process);
        self.windows_of_all(|windows| {
            let is_meant = |access: &&mut Accessed| {
                access.by == by && access.number == number && does(access.deed) && access.over.is_none()
            };
            windows.accesses.iter_mut().filter(is_meant).for_each(|access| access.over = Some(moment));
        });
    }

    /// An access of the process itself.
    fn touching(&self, of: u32, used: Used, call: &'static str, at: usize) -> Accessed {
        let deed = if used.writes { Deed::Store } else { Deed::Load };
        let (by, over) = (self.process, Some(self.moment()));
        let window = (u32::MAX, 0);
        Accessed { by, of, used, deed, only_updates: false, over, number: 0, call, at, window }
    }

    /// Accesses of this process to a rank of a window, or to all, are complete.
    pub fn completes_accesses(&self, window: &Window, rank: Option<usize>) {
        if !self.world.explored {
            return;
        }
        self.completes_locally(window, rank);
        let (moment, by) = (self.moment(), self.process);
        self.windows_of_all(|windows| {
            let mine = windows.accesses.iter_mut().filter(|access| {
                access.by == by
                    && access.over.is_none()
                    && access.window.0 == window.number
                    && rank.is_none_or(|rank| access.window.1 == rank)
            });
            mine.for_each(|access| access.over = Some(moment));
        });
    }

    /// The memory of this process that such accesses owned is its own again.
    pub fn completes_locally(&self, window: &Window, rank: Option<usize>) {
        if !self.world.explored {
            return;
        }
        let (gone, rest): (Vec<_>, Vec<_>) =
            window.owned.take().into_iter().partition(|(target, _)| rank.is_none_or(|rank| rank == *target));
        *window.owned.borrow_mut() = rest;
        for (_, number) in gone {
            self.is_done_in_windows(number);
            self.own_no_longer(number);
            self.has_got(number);
        }
    }

    /// The window of a process was taken: all that those knew who had it before is known here.
    pub fn learns_of_lock(&self, window: &Window, rank: usize, hold: Hold) {
        if !self.world.explored {
            return;
        }
        let key = window.identity(rank);
        let known = self.windows_of_all(|windows| {
            windows.locks.get(&key).map(|(alone, anybody)| match hold {
                Hold::Exclusive => anybody.clone(),
                Hold::Shared => alone.clone(),
            })
        });
        if let Some(known) = known {
            self.moment();
            join(&mut self.clock_of_all.borrow_mut(), &known);
        }
    }

    /// The window of a process is given back.
    pub fn leaves_in_lock(&self, window: &Window, rank: usize, hold: Hold) {
        if !self.world.explored {
            return;
        }
        let (key, clock) = (window.identity(rank), self.clock_now());
        self.windows_of_all(|windows| {
            let (alone, anybody) = windows.locks.entry(key).or_default();
            join(anybody, &clock);
            if hold == Hold::Exclusive {
                join(alone, &clock);
            }
        });
        self.clock_of_all.borrow_mut()[self.process as usize] += 1;
    }

    /// Data are about to be read atomically at a rank: what those did who wrote there atomically is known from now on.
    pub fn reads_atomically(&self, window: &Window, rank: usize) {
        if !self.world.explored {
            return;
        }
        let key = window.identity(rank);
        if let Some(known) = self.windows_of_all(|windows| windows.updates.get(&key).cloned()) {
            self.moment();
            join(&mut self.clock_of_all.borrow_mut(), &known);
        }
    }

    /// Data may be written atomically at a rank: whoever reads them there knows what was done before.
    pub fn writes_atomically(&self, window: &Window, rank: usize) {
        if !self.world.explored {
            return;
        }
        let (key, clock) = (window.identity(rank), self.clock_now());
        self.windows_of_all(|windows| join(windows.updates.entry(key).or_default(), &clock));
        self.clock_of_all.borrow_mut()[self.process as usize] += 1;
    }

    /// A process synchronises what it sees of memory that is shared: all that those knew who did so before is known here.
    pub fn synchronises(&self, key: usize) {
        if !self.world.explored {
            return;
        }
        let mut clock = self.clock_now();
        self.windows_of_all(|windows| {
            let known = windows.syncs.entry(key).or_default();
            join(known, &clock);
            clock.clone_from(known);
        });
        let mut own = self.clock_of_all.borrow_mut();
        join(&mut own, &clock);
        own[self.process as usize] += 1;
    }

    /// The program gives memory back that the library gave it: no window is there.
    pub fn check_free_of_memory(&self, base: usize) {
        if self.world.explored && self.lies_in_window(base, base + 1) {
            self.finding(Kind::WindowRace, &format!("MPI_Free_mem: {FREED}"));
        }
    }

    /// Whether memory from one byte to another is that of a window, which the program gave to it for as long as it lives.
    fn lies_in_window(&self, start: usize, end: usize) -> bool {
        let is_there = |window: &Rc<Window>| {
            window.flavor == abi::WIN_FLAVOR_CREATE
                && window.parts().iter().any(|(low, high, _)| *low < end && start < *high)
        };
        self.windows.borrow().iter().any(is_there)
    }

    /// Memory that this process and others may access, and whose it is.
    fn exposed_parts(&self) -> Vec<(usize, usize, u32)> {
        self.windows.borrow().iter().flat_map(|window| window.parts()).collect()
    }

    /// The same, from where to where.
    pub(super) fn exposed_memory(&self) -> Vec<(usize, usize)> {
        self.exposed_parts().into_iter().map(|(start, end, _)| (start, end)).collect()
    }

    /// The process polls in vain. Whether memory of windows is changed by atomic instructions, which it may wait for: nothing says when
    /// it sees that.
    pub(super) fn spins_beside_atomics(&self) -> bool {
        !self.windows.borrow().is_empty()
            && self.windows_of_all(|windows| {
                windows.spinning.insert(self.process);
                !windows.atomic.is_empty()
            })
    }

    /// It does something else.
    pub(super) fn spins_no_longer(&self) {
        if !self.windows.borrow().is_empty() {
            self.windows_of_all(|windows| windows.spinning.remove(&self.process));
        }
    }

    /// The program is about to touch memory that others may access; whether that is the end of the execution.
    pub(super) fn touches_window(&self, touch: &Touch) -> bool {
        let (start, end) = (touch.address, touch.address + touch.bytes);
        let part = self.exposed_parts().into_iter().find(|(low, high, _)| *low < end && start < *high);
        let Some((low, high, of)) = part else { return false };
        if touch.frees && self.lies_in_window(start, end) {
            self.found(Kind::WindowRace, format!("a free of {FREED}"), touch.at + 1);
            return true;
        }
        // Who uses atomic operations orders what is done by them. Their loads look like any other.
        let is_atomic = self.windows_of_all(|windows| {
            if touch.is_atomic {
                windows.atomic.insert(touch.address);
            }
            touch.is_atomic || (touch.bytes <= WORD && windows.atomic.contains(&touch.address))
        });
        if is_atomic {
            let may_be_waited_for =
                touch.is_atomic && self.windows_of_all(|windows| !windows.spinning.is_empty());
            if may_be_waited_for {
                self.cannot_explore(ATOMICS);
                self.found(Kind::Unsupported, ATOMICS.to_owned(), touch.at + 1);
            }
            self.synchronises(low);
            return may_be_waited_for;
        }
        let used = Used::bytes(start.max(low), end.min(high), touch.writes);
        match self.accesses(self.touching(of, used, "the program", touch.at + 1)) {
            Some(message) => {
                self.found(Kind::WindowRace, message, touch.at + 1);
                true
            }
            None => false,
        }
    }
}
