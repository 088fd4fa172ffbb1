//! Sessions (MPI 5.0, 11.3).

use std::cell::Cell;
use std::ffi::{c_char, c_void};
use std::rc::Rc;

use super::{check_place, give, taken};
use crate::abi::{self, Errhandler, Group, Info, Request, Session, text_of, write_text};
use crate::buffered::Buffered;
use crate::errhandler::Sort;
use crate::error::{On, Result, fail};
use crate::info;
use crate::rank::Rank;
use crate::request::{Pending, Work};
use crate::session::{OpenSession, PROCESS_SETS};

/// The levels of thread support, by name; there is no more than the last but one.
const LEVELS: [(&str, i32); 4] = [
    ("MPI_THREAD_SINGLE", abi::THREAD_SINGLE),
    ("MPI_THREAD_FUNNELED", abi::THREAD_FUNNELED),
    ("MPI_THREAD_SERIALIZED", abi::THREAD_SERIALIZED),
    ("MPI_THREAD_MULTIPLE", abi::THREAD_MULTIPLE),
];

pub fn session_init(me: &Rank, info: Info, errhandler: Errhandler, session: *mut Session) -> Result {
    me.check_errhandler(Sort::Session, errhandler)?;
    begin(me, info, errhandler, session).map_err(|error| error.on(On::Given(errhandler)))
}

fn begin(me: &Rank, info: Info, errhandler: Errhandler, session: *mut Session) -> Result {
    check_place(session)?;
    let hints = me.hints(info)?;
    let wanted = match hints.get("thread_level") {
        None => LEVELS[2],
        Some(name) => match LEVELS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
            Some(level) => *level,
            None => return fail(abi::ERR_ARG, format!("{name:?} is no level of thread support")),
        },
    };
    let provided = if wanted.1 > abi::THREAD_SERIALIZED { LEVELS[2] } else { wanted };
    let mut used = info::Info::default();
    used.set("thread_level", provided.0)?;
    used.set("mpi_size", &me.comm_world.size().to_string())?;
    let opened = OpenSession {
        errhandler: Cell::new(abi::ERRORS_ARE_FATAL),
        info: used,
        buffered: Buffered::default(),
    };
    me.set_errhandler(Sort::Session, &opened.errhandler, errhandler)?;
    give(session, Session(me.sessions.borrow_mut().insert(Rc::new(opened))))
}

pub fn session_finalize(me: &Rank, session: *mut Session) -> Result {
    let handle = taken(session)?;
    let found = me.session(handle)?;
    me.check_left_of_sessions();
    me.flush_buffer(&found.buffered)?;
    me.release_errhandler(found.errhandler.get());
    me.sessions.borrow_mut().remove(handle.0);
    give(session, abi::SESSION_NULL)
}

pub fn session_get_info(me: &Rank, session: Session, info_used: *mut Info) -> Result {
    let found = me.session(session)?;
    check_place(info_used)?;
    give(info_used, me.keep_info(found.info.clone()))
}

pub fn session_get_num_psets(me: &Rank, session: Session, _info: Info, npset_names: *mut i32) -> Result {
    me.session(session)?;
    give(npset_names, PROCESS_SETS.len() as i32)
}

pub fn session_get_nth_pset(
    me: &Rank,
    session: Session,
    _info: Info,
    n: i32,
    pset_len: *mut i32,
    pset_name: *mut c_char,
) -> Result {
    me.session(session)?;
    let room = taken(pset_len)?;
    let Some(name) = usize::try_from(n).ok().and_then(|n| PROCESS_SETS.get(n)) else {
        return fail(
            abi::ERR_ARG,
            format!("there is no set of processes {n}: there are {}", PROCESS_SETS.len()),
        );
    };
    if room > 0 {
        check_place(pset_name)?;
        // SAFETY: the program has room for so many letters, the zero among them.
        unsafe { write_text(name, pset_name, room as usize) };
    }
    give(pset_len, name.len() as i32 + 1)
}

/// The name that a program gives.
fn name_of(name: *const c_char) -> Result<String> {
    if name.is_null() {
        return fail(abi::ERR_ARG, "the name of the set of processes is a null pointer");
    }
    // SAFETY: it ends with a zero.
    Ok(unsafe { text_of(name) })
}

pub fn session_get_pset_info(
    me: &Rank,
    session: Session,
    pset_name: *const c_char,
    info: *mut Info,
) -> Result {
    me.session(session)?;
    check_place(info)?;
    let set = me.process_set(&name_of(pset_name)?)?;
    let mut about = info::Info::default();
    about.set("mpi_size", &set.size().to_string())?;
    give(info, me.keep_info(about))
}

pub fn group_from_session_pset(
    me: &Rank,
    session: Session,
    pset_name: *const c_char,
    newgroup: *mut Group,
) -> Result {
    let found = me.session(session)?;
    check_place(newgroup)?;
    let set = me.process_set(&name_of(pset_name)?)?;
    let group = me.keep_group(set);
    me.comes_from(group, Some(&found));
    give(newgroup, group)
}

pub fn session_attach_buffer(me: &Rank, session: Session, buffer: *mut c_void, size: i64) -> Result {
    me.session(session)?.buffered.attach(buffer, size)
}

pub fn session_detach_buffer(
    me: &Rank,
    session: Session,
    buffer_addr: *mut c_void,
    size: abi::CountsOut,
) -> Result {
    let found = me.session(session)?;
    check_place(buffer_addr)?;
    let (buffer, length) = me.detach_buffer(&found.buffered)?;
    // SAFETY: the program wants the address of its buffer there, and its length.
    unsafe {
        buffer_addr.cast::<*mut c_void>().write(buffer);
        size.set(0, length);
    }
    Ok(())
}

pub fn session_flush_buffer(me: &Rank, session: Session) -> Result {
    me.flush_buffer(&me.session(session)?.buffered)
}

pub fn session_iflush_buffer(me: &Rank, session: Session, request: *mut Request) -> Result {
    let found = me.session(session)?;
    check_place(request)?;
    give(request, me.keep(Pending::new(me.under_way(&found.buffered), Work::Nothing, None)))
}
