//! Windows: memory that other processes may read and write (MPI 5.0, chapter 12).
//!
//! All processes have one address space, so that data are copied from one to another. What takes time is a flow between
//! their hosts, which the origin begins at the call. The data of a put are taken at the call, and written when whoever
//! waits for its flow finds it over: the target at a fence, the origin at a flush. Data never come later than MPI says.
//!
//! - `making`: windows of all kinds, and their end.
//! - `epochs`: when access is allowed. `locks`: who holds a window.
//! - `transfer`: puts and gets, and what is under way. `accumulate`: what combines data with those at the target.
//! - `synchronising`: fences, groups of targets, locks, flushes.

mod accumulate;
mod atomics;
mod epochs;
mod locks;
mod making;
mod synchronising;
#[cfg(test)]
mod tests;
mod transfer;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::rc::Rc;

use simurgh_kernel::ids::{ActivityId, ConditionId, MutexId};
use simurgh_kernel::simcall::Note;

use crate::abi::{self, Errhandler};
use crate::attributes::{Attributes, Value};
use crate::communicator::Communicator;
use crate::communicator::context::capacity;
use crate::error::Result;
use crate::rank::Rank;

pub use accumulate::{Accumulation, check_swapped};
pub use atomics::Atomics;
pub use epochs::Epochs;
pub use locks::{Hold, Holds, LockState};
pub use making::Plan;
pub use transfer::{Access, Operation};

/// Hints that a program gave, by key.
pub type Hints = BTreeMap<String, String>;

/// A window, as one of its processes has it.
#[derive(Debug)]
pub struct Window {
    /// Among whom.
    pub comm: Rc<Communicator>,
    /// What programs attached to it.
    pub attributes: RefCell<Attributes>,
    /// What programs call it.
    pub name: RefCell<String>,
    /// Who is called when something goes wrong.
    pub errhandler: Cell<Errhandler>,
    /// Its hints.
    pub info: RefCell<Hints>,
    /// Where the memory of this process begins.
    pub base: usize,
    /// By which call it was made.
    pub flavor: i32,
    /// What programs read of it.
    facts: Facts,
    /// Its place among those of this process, from which the names of its locks follow.
    pub number: u32,
    /// What messages of its processes carry, beside another one.
    tag: i32,
    /// What others see of each of them, by ranks.
    exposed: Vec<*const Exposed>,
    epochs: RefCell<Epochs>,
    /// Receives of `MPI_Win_test`, of those who have not completed.
    awaited: RefCell<Option<Vec<ActivityId>>>,
    /// How this process holds the windows of ranks that it has locked one by one.
    pub held: RefCell<BTreeMap<usize, Hold>>,
    /// What accesses to each rank own of the memory of this process, by their numbers.
    pub owned: RefCell<Vec<(usize, u64)>>,
    /// How many fences this process has called.
    pub fences: Cell<u64>,
    /// The moment after the last one.
    pub fenced: Cell<u32>,
    /// Memory that it frees.
    memory: Cell<*mut c_void>,
    /// When it was looked at in vain, and how often at that date.
    looked: Cell<(f64, u32)>,
}

/// What programs read of a window; they keep pointers to it.
#[derive(Debug)]
struct Facts {
    size: Rc<i64>,
    unit: Rc<i32>,
    flavor: Rc<i32>,
    model: Rc<i32>,
}

/// What others see of a process in a window. It lies in the memory of that process.
#[derive(Debug)]
pub(crate) struct Exposed {
    process: u32,
    base: Cell<usize>,
    size: Cell<i64>,
    unit: i64,
    /// Memory of dynamic windows: where each part begins, and its bytes.
    attached: RefCell<Vec<(usize, i64)>>,
    is_dynamic: bool,
    lock: RefCell<LockState>,
    /// Puts to this process, and its own gets.
    pending: RefCell<Vec<transfer::Pending>>,
    next: Cell<u64>,
    /// Whether somebody waits for what is pending, and keeps others off.
    is_waited_for: Cell<bool>,
    names: Names,
    /// Memory for all, if this is the first process.
    common: Cell<usize>,
}

/// The names of the locks of a window at a process.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Names {
    /// Of what is pending.
    pending: MutexId,
    /// Of what is atomic.
    atomic: MutexId,
    /// Of who holds it.
    gate: MutexId,
    /// Of the first of its origins; and how many have one.
    first_origin: MutexId,
    origins: u32,
    /// Somebody else may hold it now.
    freed: ConditionId,
}

/// The locks of each window beside those of its origins.
const LOCKS: u32 = 3;

/// How many locks each of the origins has: for what it updates, and a door and a seat for how it holds the window.
const KINDS: u32 = 3;

/// Of so many processes each has locks of its own at each window, for those who explore.
const ORIGINS_MOST: usize = 16;

fn origins(processes: usize) -> u32 {
    if processes <= ORIGINS_MOST { processes as u32 } else { 0 }
}

/// The lock number `which` of the window or file of this number of a process: one of [`LOCKS`], or one of its origins.
pub(crate) fn lock_name(number: u32, process: u32, processes: usize, which: u32) -> MutexId {
    MutexId(place_of(number, process, processes) * (LOCKS + KINDS * origins(processes)) + which)
}

/// Numbers that no two processes give: even ones are of the processes of the beginning, odd ones of those that were started later.
fn place_of(number: u32, process: u32, processes: usize) -> u32 {
    match process.checked_sub(processes as u32) {
        None => 2 * (number * processes as u32 + process),
        Some(later) => 2 * (number * (capacity(processes) - processes) as u32 + later) + 1,
    }
}

impl Names {
    fn new(number: u32, process: u32, processes: usize) -> Self {
        let lock = |which| lock_name(number, process, processes, which);
        let freed = ConditionId(place_of(number, process, processes));
        let (first_origin, origins) = (lock(LOCKS), origins(processes));
        Self { pending: lock(0), atomic: lock(1), gate: lock(2), first_origin, origins, freed }
    }

    /// The lock of a process that updates it, if it has one of its own.
    fn of_origin(&self, process: u32) -> Option<MutexId> {
        (process < self.origins).then(|| MutexId(self.first_origin.0 + process))
    }

    /// The locks of all who may update it, and of those that have none of their own.
    fn of_origins(&self) -> impl Iterator<Item = MutexId> {
        self.own_of_origins().chain([self.atomic])
    }

    fn own_of_origins(&self) -> impl Iterator<Item = MutexId> {
        (0..self.origins).map(|process| MutexId(self.first_origin.0 + process))
    }

    /// By which a process that has locks of its own comes to hold the window.
    fn door(&self, process: u32) -> MutexId {
        MutexId(self.first_origin.0 + self.origins + process)
    }

    /// What it has while it holds the window with others.
    fn seat(&self, process: u32) -> MutexId {
        MutexId(self.first_origin.0 + 2 * self.origins + process)
    }

    fn doors(&self) -> impl Iterator<Item = MutexId> {
        (0..self.origins).map(|process| self.door(process))
    }

    fn seats(&self) -> impl Iterator<Item = MutexId> {
        (0..self.origins).map(|process| self.seat(process))
    }

    fn make(&self, me: &Rank) {
        for lock in [self.pending, self.atomic, self.gate] {
            me.note(Note::NewMutex(lock));
        }
        if me.world.explored && me.world.atomics.are_ordered() {
            self.own_of_origins().for_each(|lock| me.note(Note::NewMutex(lock)));
        }
        if me.world.explored && me.world.holds.are_mixed() {
            self.doors().chain(self.seats()).for_each(|lock| me.note(Note::NewMutex(lock)));
        }
        me.note(Note::NewCondition(self.freed));
    }
}

impl Exposed {
    /// Its memory, from where to where.
    fn ranges(&self) -> Vec<(usize, usize)> {
        let attached = self.attached.borrow();
        let parts = [(self.base.get(), self.size.get())];
        let parts = if self.is_dynamic { &attached[..] } else { &parts[..] };
        let there = parts.iter().filter(|(base, size)| *base != 0 && *size > 0);
        there.map(|(base, size)| (*base, *base + *size as usize)).collect()
    }
}

impl Window {
    /// What others see of a rank.
    pub(crate) fn exposed(&self, rank: usize) -> &Exposed {
        // SAFETY: it stays where it is until all processes have come to the end of `MPI_Win_free`, and so cannot use it.
        unsafe { &*self.exposed[rank] }
    }

    /// What others see of this process.
    pub(crate) fn mine(&self) -> &Exposed {
        self.exposed(self.comm.rank)
    }

    /// What is attached to every window: `MPI_WIN_BASE` and the like (12.2.6).
    pub fn predefined_attribute(&self, key: i32) -> Option<Value> {
        let Facts { size, unit, flavor, model } = &self.facts;
        Some(match key {
            abi::WIN_BASE => Value::Pointer(self.base),
            abi::WIN_SIZE => Value::Address(Rc::clone(size)),
            abi::WIN_DISP_UNIT => Value::Integer(Rc::clone(unit)),
            abi::WIN_CREATE_FLAVOR => Value::Integer(Rc::clone(flavor)),
            abi::WIN_MODEL => Value::Integer(Rc::clone(model)),
            _ => return None,
        })
    }

    /// The rank that is a target; none for `MPI_PROC_NULL`.
    ///
    /// # Errors
    /// If there is no such rank.
    pub fn target(&self, rank: i32) -> Result<Option<usize>> {
        Ok(self.comm.destination(rank)?.map(|_| rank as usize))
    }

    /// The window of a rank is accessed.
    ///
    /// # Errors
    /// If it may not be.
    pub fn may_access(&self, rank: usize) -> Result {
        self.epochs.borrow_mut().access(rank)
    }

    /// The process that has a rank.
    pub fn process(&self, rank: usize) -> u32 {
        self.exposed(rank).process
    }

    /// What is one and the same for all its processes: the memory of a rank in it.
    pub fn identity(&self, rank: usize) -> usize {
        self.exposed[rank] as usize
    }

    /// The memory of a rank, or of all if they share it: what is one and the same for all processes; and the lock of those who wait
    /// for a change of it, and of those who change it. Where executions are explored, nothing is pending for long.
    pub(crate) fn watched(&self, rank: usize) -> (usize, MutexId) {
        let rank = if self.is_shared() { 0 } else { rank };
        (self.identity(rank), self.exposed(rank).names.pending)
    }

    /// Whether all processes have one memory.
    pub(crate) fn is_shared(&self) -> bool {
        self.flavor == abi::WIN_FLAVOR_SHARED
    }

    /// All of that memory, from where to where.
    pub(crate) fn ranges(&self, rank: usize) -> Vec<(usize, usize)> {
        match self.flavor {
            abi::WIN_FLAVOR_SHARED => {
                (0..self.exposed.len()).flat_map(|rank| self.exposed(rank).ranges()).collect()
            }
            _ => self.exposed(rank).ranges(),
        }
    }

    /// What its messages carry.
    pub fn tag(&self) -> i32 {
        self.tag
    }

    /// How it is accessed now.
    pub fn epochs(&self) -> std::cell::Ref<'_, Epochs> {
        self.epochs.borrow()
    }

    /// Memory that this process and others access, from where to where, and whose it is: that of this process, or of all if they
    /// share it.
    pub fn parts(&self) -> Vec<(usize, usize, u32)> {
        let parts = |of: &Exposed| {
            let process = of.process;
            of.ranges().into_iter().map(move |(start, end)| (start, end, process))
        };
        match self.flavor {
            abi::WIN_FLAVOR_SHARED => {
                (0..self.exposed.len()).flat_map(|rank| parts(self.exposed(rank))).collect()
            }
            _ => parts(self.mine()).collect(),
        }
    }

    /// What is begun on it and not ended.
    pub fn is_open(&self) -> Option<&'static str> {
        self.epochs.borrow().is_open()
    }

    /// Something has happened: who looks now does not look in vain.
    pub(crate) fn has_news(&self) {
        self.looked.set((0.0, 0));
    }
}

/// How often a program may look in vain at one date, before time passes.
const PATIENCE: u32 = 1000;

impl Rank {
    /// The program looks at what costs no time. If it does nothing else, it waits for another, and time has to pass.
    pub(crate) fn looks_at(&self, window: &Window) {
        let (date, count) = window.looked.get();
        let now = self.now();
        let count = if date == now { count + 1 } else { 1 };
        if count < PATIENCE {
            window.looked.set((now, count));
            return;
        }
        self.sleep(self.world.costs.test.max(1e-6));
        window.looked.set((self.now(), count));
    }

    /// The first number that no window and no file of this process has.
    pub(crate) fn free_number(&self) -> u32 {
        let (windows, files) = (self.windows.borrow(), self.files.borrow());
        let is_used = |number: u32| {
            windows.iter().any(|window| window.number == number)
                || files.iter().any(|file| file.number == number)
        };
        (0..).find(|number| !is_used(*number)).expect("there are more numbers than windows")
    }
}
