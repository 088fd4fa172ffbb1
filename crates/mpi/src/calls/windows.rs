//! Windows: how they are made, and what is asked of them (MPI 5.0, 12.2).

use std::ffi::c_void;
use std::rc::Rc;

use crate::abi::{self, Comm, Group, Info, Win};
use crate::communicator::Communicator;
use crate::error::{On, Result, fail};
use crate::rank::Rank;
use crate::window::{Hints, Plan};

/// Writes what the program asks for.
pub(super) fn tell<T>(place: *mut T, value: T) -> Result {
    if place.is_null() {
        return fail(abi::ERR_ARG, "the place for the answer is a null pointer");
    }
    // SAFETY: the program gives room for it.
    unsafe { place.write(value) };
    Ok(())
}

/// The keys and values of an info object, or none.
pub(super) fn hints(me: &Rank, info: Info) -> Result<Hints> {
    Ok(me.hints(info)?.entries.into_iter().collect())
}

/// Gives hints to the program, as an info object.
pub(super) fn tell_hints(me: &Rank, hints: &Hints, place: *mut Info) -> Result {
    let entries = hints.iter().map(|(key, value)| (key.clone(), value.clone())).collect();
    tell(place, me.keep_info(crate::info::Info { entries }))
}

/// What all windows say of themselves if nobody says otherwise (12.2.1).
const HINTS: [(&str, &str); 5] = [
    ("no_locks", "false"),
    ("accumulate_ordering", "rar,raw,war,waw"),
    ("accumulate_ops", "same_op_no_op"),
    ("same_size", "false"),
    ("same_disp_unit", "false"),
];

fn comm_of(me: &Rank, comm: Comm) -> Result<Rc<Communicator>> {
    let comm = me.comm(comm)?;
    if comm.is_inter() {
        return fail(abi::ERR_COMM, "a window needs an intracommunicator, and this is an intercommunicator");
    }
    Ok(comm)
}

fn plan(me: &Rank, flavor: i32, size: i64, unit: i64, info: Info, comm: Comm) -> Result<Plan> {
    let comm = comm_of(me, comm)?;
    if size < 0 {
        return fail(abi::ERR_SIZE, format!("the size of the window is {size}: it must not be negative"));
    }
    if unit <= 0 {
        return fail(abi::ERR_DISP, format!("the unit of displacements is {unit}: it must be positive"));
    }
    let mut all: Hints = HINTS.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    if flavor == abi::WIN_FLAVOR_SHARED {
        all.insert("alloc_shared_noncontig".to_owned(), "false".to_owned());
    }
    all.extend(hints(me, info)?);
    Ok(Plan { comm, flavor, base: 0, size, unit, info: all })
}

/// Makes a window, and gives its handle; gives where its memory is.
fn made(me: &Rank, plan: Plan, win: *mut Win) -> Result<usize> {
    me.check_window_promises(&plan);
    let window = me.make_window(plan)?;
    let base = window.base;
    tell(win, Win(me.windows.borrow_mut().insert(window)))?;
    me.watches();
    Ok(base)
}

pub fn win_create(
    me: &Rank,
    base: *mut c_void,
    size: i64,
    disp_unit: i64,
    info: Info,
    comm: Comm,
    win: *mut Win,
) -> Result {
    // `MPI_BOTTOM` is a null pointer too: from there on, a window would have to reach as far as memory is.
    const REACH_LEAST: i64 = 1 << 32;
    let mut plan = plan(me, abi::WIN_FLAVOR_CREATE, size, disp_unit, info, comm)?;
    if me.world.explored && base.is_null() && size > 0 && size < REACH_LEAST {
        return fail(abi::ERR_BASE, format!("a window of {size} bytes begins at a null pointer"));
    }
    plan.base = base as usize;
    made(me, plan, win)?;
    Ok(())
}

fn allocated(
    me: &Rank,
    flavor: i32,
    size: i64,
    disp_unit: i64,
    info: Info,
    comm: Comm,
    baseptr: *mut c_void,
    win: *mut Win,
) -> Result {
    let plan = plan(me, flavor, size, disp_unit, info, comm)?;
    let base = made(me, plan, win)?;
    tell(baseptr.cast(), base)
}

pub fn win_allocate(
    me: &Rank,
    size: i64,
    disp_unit: i64,
    info: Info,
    comm: Comm,
    baseptr: *mut c_void,
    win: *mut Win,
) -> Result {
    allocated(me, abi::WIN_FLAVOR_ALLOCATE, size, disp_unit, info, comm, baseptr, win)
}

pub fn win_allocate_shared(
    me: &Rank,
    size: i64,
    disp_unit: i64,
    info: Info,
    comm: Comm,
    baseptr: *mut c_void,
    win: *mut Win,
) -> Result {
    allocated(me, abi::WIN_FLAVOR_SHARED, size, disp_unit, info, comm, baseptr, win)
}

pub fn win_create_dynamic(me: &Rank, info: Info, comm: Comm, win: *mut Win) -> Result {
    let plan = plan(me, abi::WIN_FLAVOR_DYNAMIC, 0, 1, info, comm)?;
    made(me, plan, win)?;
    Ok(())
}

pub fn win_attach(me: &Rank, win: Win, base: *mut c_void, size: i64) -> Result {
    let window = me.window(win)?;
    if size < 0 {
        return fail(abi::ERR_SIZE, format!("the size of the memory is {size}: it must not be negative"));
    }
    if base.is_null() && size > 0 {
        return fail(abi::ERR_RMA_ATTACH, "memory at a null pointer cannot be attached");
    }
    me.attach(&window, base as usize, size)?;
    me.watches();
    Ok(())
}

pub fn win_detach(me: &Rank, win: Win, base: *const c_void) -> Result {
    let window = me.window(win)?;
    me.detach(&window, base as usize)?;
    me.watches();
    Ok(())
}

pub fn win_shared_query(
    me: &Rank,
    win: Win,
    rank: i32,
    size: *mut i64,
    disp_unit: abi::CountsOut,
    baseptr: *mut c_void,
) -> Result {
    let window = me.window(win)?;
    let (bytes, unit, base) = me.shared_part(&window, rank)?;
    tell(size, bytes)?;
    // SAFETY: the program wants it there.
    unsafe { disp_unit.set(0, unit) };
    tell(baseptr.cast(), base)
}

pub fn win_free(me: &Rank, win: *mut Win) -> Result {
    // SAFETY: the program gives a handle of its own.
    let handle = unsafe { win.read() };
    let freed = || {
        let window = me.window(handle)?;
        me.check_window_is_closed(&window);
        me.delete_attributes(&*window, handle.0)?;
        me.end_window(&window)?;
        me.release_errhandler(window.errhandler.get());
        me.windows.borrow_mut().remove(handle.0);
        me.watches();
        me.bury_window(&window);
        tell(win, abi::WIN_NULL)
    };
    freed().map_err(|error| error.on(On::Win(handle)))
}

pub fn win_get_group(me: &Rank, win: Win, group: *mut Group) -> Result {
    let members = me.window(win)?.comm.group.clone();
    tell(group, me.keep_group(members))
}

pub fn win_set_info(me: &Rank, win: Win, info: Info) -> Result {
    let window = me.window(win)?;
    let given = hints(me, info)?;
    window.info.borrow_mut().extend(given);
    Ok(())
}

pub fn win_get_info(me: &Rank, win: Win, info_used: *mut Info) -> Result {
    let window = me.window(win)?;
    let hints = window.info.borrow().clone();
    tell_hints(me, &hints, info_used)
}
