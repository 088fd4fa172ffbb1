//! Accesses to windows that nothing orders (MPI 5.0, 12.7): by puts, gets and accumulates, and by loads and stores of the process whose
//! memory it is.
//!
//! An access is under way from its call to the synchronisation that completes it. Two of them conflict if they overlap, one of
//! them writes, and neither is completed before the other begins, by what happens before what. Accumulates with one operator on
//! one type are atomic, and order what their processes do.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use simurgh_native::Touch;

use crate::operator::Predefined;
use crate::os;
use crate::rank::Rank;
use crate::request::Pending;
use crate::window::{Access, Hold, Operation, Window};

use super::clocks::{VectorClock, join};
use super::{Kind, Used};

/// So many accesses are remembered.
const MOST: usize = 20_000;

/// What is known of all windows.
#[derive(Debug, Default)]
pub(super) struct Windows {
    accesses: Vec<Accessed>,
    /// What who held the memory of a process alone, and anybody, knew when it was given back.
    locks: BTreeMap<(u32, u32), (VectorClock, VectorClock)>,
}

/// What an access does.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Deed {
    /// A put.
    Put,
    /// A get.
    Get,
    /// An accumulate: its operator, and the kind of number.
    Accumulate(usize, usize),
    /// A load of the process itself.
    Load,
    /// A store of the process itself.
    Store,
}

impl Deed {
    fn writes(self) -> bool {
        matches!(self, Deed::Put | Deed::Accumulate(..) | Deed::Store)
    }

    fn conflicts(self, other: Deed) -> bool {
        match (self, other) {
            (Deed::Accumulate(one, of), Deed::Accumulate(two, what)) => {
                // What replaces, and what fetches alone, may meet any other: programs make locks of them.
                let is_plain =
                    |op: usize| op != Predefined::NoOp as usize && op != Predefined::Replace as usize;
                (one != two && is_plain(one) && is_plain(two)) || of != what
            }
            // What one process does itself, one after the other.
            (Deed::Load | Deed::Store, Deed::Load | Deed::Store) => false,
            _ => self.writes() || other.writes(),
        }
    }

    fn in_words(self) -> &'static str {
        match self {
            Deed::Put => "a put",
            Deed::Get => "a get",
            Deed::Accumulate(..) => "an accumulate",
            Deed::Load => "a load",
            Deed::Store => "a store",
        }
    }
}

#[derive(Debug)]
struct Accessed {
    by: u32,
    /// The process whose memory it is.
    of: u32,
    used: Used,
    deed: Deed,
    /// When it was completed; not yet if there is none.
    over: Option<u32>,
    call: &'static str,
    at: usize,
    /// Which window, and the rank of its target.
    window: (u32, usize),
}

impl Rank {
    fn windows_of_all<T>(&self, with: impl FnOnce(&mut Windows) -> T) -> T {
        self.for_others(|| {
            let mut common = self.world.common.lock().unwrap_or_else(PoisonError::into_inner);
            with(&mut common.windows)
        })
    }

    /// A call accesses the window of a rank, and owns memory of this process until it is completed.
    pub fn check_access(&self, access: &Access, deed: Deed) {
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
        if let Some(message) =
            self.accesses(of, used, deed, self.call_name(), os::caller(), (window.number, *rank))
        {
            self.finding(Kind::WindowRace, &message);
        }
        let own = |operation: &Operation, writes| {
            Used::elements(operation.buffer as usize, operation.count, &operation.datatype, writes)
        };
        let uses = vec![own(origin, deed == Deed::Get)];
        self.check_uses(|| vec![own(origin, deed == Deed::Get)]);
        // What lies in a window is looked at as such.
        if !matches!(deed, Deed::Accumulate(..)) && !self.is_exposed(&uses) {
            let number = self.own(uses);
            window.owned.borrow_mut().push((*rank, number));
            self.buffers.last.set(number);
        }
    }

    /// The access that was just begun is one that a request completes too.
    pub fn is_requested(&self, request: &Pending) {
        request.owns.set(self.buffers.last.take());
    }

    fn is_exposed(&self, uses: &[Used]) -> bool {
        self.exposed_memory().iter().any(|(start, end)| uses.iter().any(|used| used.meets(*start, *end)))
    }

    /// Notes an access; what is wrong with it.
    fn accesses(
        &self,
        of: u32,
        used: Used,
        deed: Deed,
        call: &'static str,
        at: usize,
        window: (u32, usize),
    ) -> Option<String> {
        let (clock, moment) = (self.clock_now(), self.moment());
        let over = matches!(deed, Deed::Load | Deed::Store).then_some(moment);
        self.windows_of_all(|windows| {
            let is_before = |other: &Accessed| {
                other.over.is_some_and(|over| clock.get(other.by as usize).is_some_and(|known| *known >= over))
            };
            let wrong = windows.accesses.iter().find(|other| {
                other.of == of && deed.conflicts(other.deed) && other.used.overlaps(&used) && !is_before(other)
            });
            if let Some(other) = wrong {
                return Some(format!(
                    "{call}: {} of the window of rank {of}, which {} by rank {} ({}{}) accesses too: nothing orders the two",
                    deed.in_words(),
                    other.deed.in_words(),
                    other.by,
                    other.call,
                    self.world.lines.in_words(other.at)
                ));
            }
            // A loop that touches one place is one access.
            let same = |last: &Accessed| {
                last.by == self.process && last.at == at && last.deed == deed && last.over == over && over.is_some()
            };
            match windows.accesses.last_mut().filter(|last| same(last)) {
                Some(last) => last.used.extend(&used),
                None => {
                    let by = self.process;
                    windows.accesses.push(Accessed { by, of, used, deed, over, call, at, window });
                }
            }
            if windows.accesses.len() > MOST {
                windows.accesses.drain(..MOST / 2);
            }
            None
        })
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
        gone.into_iter().for_each(|(_, number)| self.own_no_longer(number));
    }

    /// The window of a process was taken: all that those knew who had it before is known here.
    pub fn learns_of_lock(&self, window: &Window, rank: usize, hold: Hold) {
        if !self.world.explored {
            return;
        }
        let key = (window.process(rank), window.number);
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
        let (key, clock) = ((window.process(rank), window.number), self.clock_now());
        self.windows_of_all(|windows| {
            let (alone, anybody) = windows.locks.entry(key).or_default();
            join(anybody, &clock);
            if hold == Hold::Exclusive {
                join(alone, &clock);
            }
        });
        self.clock_of_all.borrow_mut()[self.process as usize] += 1;
    }

    /// What is atomic at a process orders what those do who access it.
    pub fn is_atomic_with(&self, window: &Window, rank: usize) {
        self.learns_of_lock(window, rank, Hold::Exclusive);
        self.leaves_in_lock(window, rank, Hold::Shared);
    }

    /// Memory of this process that others may access.
    pub(super) fn exposed_memory(&self) -> Vec<(usize, usize)> {
        let windows = self.windows.borrow();
        windows.iter().flat_map(|window| window.memory_of_this_process()).collect()
    }

    /// The program is about to touch memory that others may access; whether that is the end of the execution.
    pub(super) fn touches_window(&self, touch: &Touch) -> bool {
        let (start, end) = (touch.address, touch.address + touch.bytes);
        if !self.exposed_memory().iter().any(|(low, high)| *low < end && start < *high) {
            return false;
        }
        let deed = if touch.writes { Deed::Store } else { Deed::Load };
        let used = Used::bytes(start, end, touch.writes);
        match self.accesses(self.process, used, deed, "the program", touch.at + 1, (u32::MAX, 0)) {
            Some(message) => {
                self.found(Kind::WindowRace, message, touch.at + 1);
                true
            }
            None => false,
        }
    }
}
