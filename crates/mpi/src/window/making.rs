//! How windows are made, and what becomes of them (MPI 5.0, 12.2).

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;

use simurgh_kernel::simcall::Simcall;

use super::{Epochs, Exposed, Facts, Hints, LockState, Names, Window};
use crate::abi;
use crate::collectives::{allgather, barrier, bcast, team::Team};
use crate::communicator::Communicator;
use crate::error::{Result, fail};
use crate::os;
use crate::rank::Rank;

/// What a program says of a new window.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Among whom.
    pub comm: Rc<Communicator>,
    /// By which call.
    pub flavor: i32,
    /// Where the memory is, if the program has it.
    pub base: usize,
    /// Its bytes.
    pub size: i64,
    /// The unit of displacements.
    pub unit: i64,
    /// Hints.
    pub info: Hints,
}

/// Tags of messages of windows in the context of collectives are below all others.
const TAGS: i32 = i32::MIN;
/// Tags of one window.
const TAGS_OF_ONE: i32 = 4;
/// Memory that windows allocate begins at a multiple of this.
const ALIGNMENT: usize = 64;

/// Memory of the program, all zero.
fn allocate(size: usize) -> Result<*mut c_void> {
    let mut memory = std::ptr::null_mut();
    let size = size.max(1);
    // SAFETY: the alignment is a power of two, and a place for the address is given.
    let failed = os::in_heap_of_program(|| unsafe { libc::posix_memalign(&raw mut memory, ALIGNMENT, size) });
    if failed != 0 {
        return fail(abi::ERR_NO_MEM, format!("there is no memory for a window of {size} bytes"));
    }
    // SAFETY: so many bytes are there, which are the program's own.
    unsafe { clear(memory as usize, size) };
    Ok(memory)
}

/// Makes bytes of a heap zero. Where they are many, their pages are given back: what nobody touches takes no memory.
///
/// # Safety
/// The bytes are there, and used by nobody.
unsafe fn clear(start: usize, size: usize) {
    const PAGE: usize = 4096;
    const MANY: usize = 1 << 20;
    let (first, last) = (start.next_multiple_of(PAGE), (start + size) & !(PAGE - 1));
    let gives_back = size >= MANY
        // SAFETY: whole pages of private memory, which read as zero afterwards.
        && unsafe { libc::madvise(first as *mut c_void, last - first, libc::MADV_DONTNEED) } == 0;
    let (first, last) = if gives_back { (first, last) } else { (start + size, start + size) };
    // SAFETY: as the caller says.
    unsafe {
        (start as *mut u8).write_bytes(0, first - start);
        (last as *mut u8).write_bytes(0, start + size - last);
    }
}

impl Rank {
    /// Makes a window; all processes of the communicator do.
    ///
    /// # Errors
    /// If there is no memory, or a message is lost.
    pub fn make_window(&self, plan: Plan) -> Result<Rc<Window>> {
        let Plan { comm, flavor, base, size, unit, info } = plan;
        let sequence = comm.sequence.get();
        comm.sequence.set(sequence + 1);
        let tag = TAGS + (sequence % (1 << 28)) as i32 * TAGS_OF_ONE;
        let team = Team::all(self, &comm, tag + TAGS_OF_ONE - 1);
        let (shared, is_dynamic) = (flavor == abi::WIN_FLAVOR_SHARED, flavor == abi::WIN_FLAVOR_DYNAMIC);
        let apart = shared && info.get("alloc_shared_noncontig").is_some_and(|value| value == "true");
        let owns = flavor == abi::WIN_FLAVOR_ALLOCATE || apart;
        let memory = if owns { allocate(size as usize)? } else { std::ptr::null_mut() };
        if shared {
            bcast::bcast(&team, &mut [0; 8], 1, 0)?;
            barrier::barrier(&team)?;
        }
        let number = self.free_number();
        let names = Names::new(number, self.process, self.world.size());
        names.make(self);
        let mine = Box::into_raw(Box::new(Exposed {
            process: self.process,
            base: Cell::new(if owns { memory as usize } else { base }),
            size: Cell::new(size),
            unit,
            attached: RefCell::default(),
            is_dynamic,
            lock: RefCell::new(LockState::default()),
            pending: RefCell::default(),
            next: Cell::new(0),
            is_waited_for: Cell::new(false),
            names,
            common: Cell::new(0),
        }));
        let mut addresses = vec![0; 8 * comm.size()];
        addresses[8 * comm.rank..][..8].copy_from_slice(&(mine as usize).to_ne_bytes());
        allgather::allgather(&team, 8, &mut addresses)?;
        let exposed = addresses
            .chunks_exact(8)
            .map(|address| usize::from_ne_bytes(address.try_into().expect("they are 8")) as *const Exposed)
            .collect();
        let mut window = Window {
            attributes: RefCell::default(),
            name: RefCell::default(),
            errhandler: Cell::new(abi::ERRORS_ARE_FATAL),
            info: RefCell::new(info),
            base: if owns { memory as usize } else { base },
            flavor,
            facts: Facts {
                size: Rc::new(size),
                unit: Rc::new(unit as i32),
                flavor: Rc::new(flavor),
                model: Rc::new(abi::WIN_UNIFIED),
            },
            number,
            tag,
            exposed,
            epochs: RefCell::new(Epochs::default()),
            awaited: RefCell::default(),
            held: RefCell::default(),
            owned: RefCell::default(),
            fences: Cell::new(0),
            fenced: Cell::new(0),
            memory: Cell::new(memory),
            looked: Cell::new((0.0, 0)),
            comm: Rc::clone(&comm),
        };
        if shared && !apart {
            self.share(&mut window)?;
        }
        Ok(Rc::new(window))
    }

    /// One piece of memory for all, each part after that of the rank before. Whoever comes first makes it.
    fn share(&self, window: &mut Window) -> Result {
        let first = window.exposed(0);
        let sizes: Vec<usize> =
            (0..window.comm.size()).map(|rank| window.exposed(rank).size.get() as usize).collect();
        if first.common.get() == 0 {
            let memory = allocate(sizes.iter().sum())?;
            first.common.set(memory as usize);
            window.memory.set(memory);
        }
        let mut next = first.common.get();
        for (rank, size) in sizes.into_iter().enumerate() {
            window.exposed(rank).base.set(next);
            next += size;
        }
        window.base = window.mine().base.get();
        Ok(())
    }

    /// Ends a window; all of its processes do.
    ///
    /// # Errors
    /// If an epoch is not over, or a message is lost.
    pub fn end_window(&self, window: &Window) -> Result {
        window.epochs.borrow().free()?;
        self.tells_of_stores(window);
        self.meet(window)?;
        self.finish_all(window)?;
        self.meet(window)?;
        Ok(())
    }

    /// Gives back what belongs to a window that has ended.
    pub fn bury_window(&self, window: &Window) {
        let memory = window.memory.replace(std::ptr::null_mut());
        if !memory.is_null() {
            // SAFETY: it was allocated for the window, which nobody uses any more.
            os::in_heap_of_program(|| unsafe { libc::free(memory) });
        }
        let mine = window.exposed[window.comm.rank].cast_mut();
        // SAFETY: it was made with the window, and nobody uses it any more.
        drop(unsafe { Box::from_raw(mine) });
    }

    /// `MPI_Win_attach`.
    ///
    /// # Errors
    /// If the window is not dynamic, or a part of the memory is attached.
    pub fn attach(&self, window: &Window, base: usize, size: i64) -> Result {
        let mine = window.mine();
        if !mine.is_dynamic {
            return fail(
                abi::ERR_RMA_FLAVOR,
                "memory is attached to windows of MPI_Win_create_dynamic alone",
            );
        }
        let mut attached = mine.attached.borrow_mut();
        let end = base as i128 + i128::from(size);
        let overlaps = |(other, length): &(usize, i64)| {
            (*other as i128) < end && (base as i128) < *other as i128 + i128::from(*length)
        };
        if size > 0 && attached.iter().any(overlaps) {
            return fail(
                abi::ERR_RMA_ATTACH,
                format!("a part of the memory at {base:#x} is attached already"),
            );
        }
        attached.push((base, size));
        Ok(())
    }

    /// `MPI_Win_detach`.
    ///
    /// # Errors
    /// If no memory that begins there is attached.
    pub fn detach(&self, window: &Window, base: usize) -> Result {
        let mine = window.mine();
        if !mine.is_dynamic {
            return fail(
                abi::ERR_RMA_FLAVOR,
                "memory is attached to windows of MPI_Win_create_dynamic alone",
            );
        }
        let mut attached = mine.attached.borrow_mut();
        match attached.iter().position(|part| part.0 == base) {
            Some(place) => drop(attached.remove(place)),
            None => {
                return fail(abi::ERR_RMA_ATTACH, format!("no memory that begins at {base:#x} is attached"));
            }
        }
        Ok(())
    }

    /// `MPI_Win_shared_query`: size, unit and address of the part of a rank, or of the first that is not empty.
    ///
    /// # Errors
    /// If there is no such rank.
    pub fn shared_part(&self, window: &Window, rank: i32) -> Result<(i64, i64, usize)> {
        let part = |rank: usize| {
            let at = window.exposed(rank);
            (at.size.get(), at.unit, at.base.get())
        };
        // Other windows are shared by chance: among processes of one host.
        let here = self.world.host(self.process);
        let is_near =
            |rank: usize| !window.mine().is_dynamic && self.world.host(window.exposed(rank).process) == here;
        let is_shared = |rank: usize| window.is_shared() || is_near(rank);
        match window.target(rank)? {
            Some(rank) if is_shared(rank) => Ok(part(rank)),
            Some(rank) => Ok((0, part(rank).1, 0)),
            None if !window.is_shared() => Ok((0, 1, 0)),
            None => Ok((0..window.comm.size()).map(part).find(|part| part.0 > 0).unwrap_or((0, 1, 0))),
        }
    }

    /// `MPI_Win_sync`.
    pub fn sync_window(&self, window: &Rc<Window>) {
        self.polls_memory();
        self.synchronises(window.identity(0));
        self.ask(Simcall::Yield);
        if self.world.explored && window.is_shared() {
            self.with_memory_of(window, 0, || self.has_looked_at(window, 0, &window.ranges(0)));
        }
        self.synchronises(window.identity(0));
        self.looks_at(window);
    }
}
