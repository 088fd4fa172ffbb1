//! The tools interface: performance variables, and the sessions in which they are observed (MPI 5.0, 15.3.7).

use std::ffi::{c_char, c_void};
use std::rc::Rc;

use super::tools::{at, put, put_text};
use super::{check_place, give, taken};
use crate::abi::{self, Datatype, text_of};
use crate::error::{Result, fail};
use crate::rank::Rank;
use crate::tools::variables::PERFORMANCE;
use crate::tools::{Deed, Session};

pub fn t_pvar_get_num(me: &Rank, num_pvar: *mut i32) -> Result {
    me.check_tools()?;
    give(num_pvar, PERFORMANCE.len() as i32)
}

pub fn t_pvar_get_info(
    me: &Rank,
    pvar_index: i32,
    name: *mut c_char,
    name_len: *mut i32,
    verbosity: *mut i32,
    var_class: *mut i32,
    datatype: *mut Datatype,
    enumtype: *mut usize,
    desc: *mut c_char,
    desc_len: *mut i32,
    bind: *mut i32,
    readonly: *mut i32,
    continuous: *mut i32,
    atomic: *mut i32,
) -> Result {
    me.check_tools()?;
    let found = at(PERFORMANCE, pvar_index, "performance variable")?;
    put_text(found.name, name, name_len);
    put(verbosity, abi::T_VERBOSITY_USER_BASIC);
    put(var_class, found.class);
    put(datatype, found.value(me).datatype());
    put(enumtype, abi::T_ENUM_NULL);
    put_text(found.about, desc, desc_len);
    put(bind, abi::T_BIND_NO_OBJECT);
    put(readonly, i32::from(found.is_continuous()));
    put(continuous, i32::from(found.is_continuous()));
    put(atomic, i32::from(!found.is_continuous()));
    Ok(())
}

pub fn t_pvar_get_index(me: &Rank, name: *const c_char, var_class: i32, pvar_index: *mut i32) -> Result {
    me.check_tools()?;
    if name.is_null() || pvar_index.is_null() {
        return fail(abi::T_ERR_INVALID, "a null pointer is given");
    }
    // SAFETY: it ends with a zero.
    let name = unsafe { text_of(name) };
    match PERFORMANCE.iter().position(|known| known.name == name && known.class == var_class) {
        Some(found) => give(pvar_index, found as i32),
        None => {
            fail(abi::T_ERR_INVALID_NAME, format!("no performance variable of this class is called {name:?}"))
        }
    }
}

pub fn t_pvar_session_create(me: &Rank, pe_session: *mut usize) -> Result {
    me.check_tools()?;
    check_place(pe_session)?;
    give(pe_session, me.tools.sessions.borrow_mut().insert(Rc::new(Session::default())))
}

pub fn t_pvar_session_free(me: &Rank, pe_session: *mut usize) -> Result {
    me.check_tools()?;
    me.end_tool_session(taken(pe_session)?)?;
    give(pe_session, abi::T_PVAR_SESSION_NULL)
}

pub fn t_pvar_handle_alloc(
    me: &Rank,
    pe_session: usize,
    pvar_index: i32,
    _obj_handle: *mut c_void,
    handle: *mut usize,
    count: *mut i32,
) -> Result {
    me.tool_session(pe_session)?;
    at(PERFORMANCE, pvar_index, "performance variable")?;
    check_place(handle)?;
    put(count, 1);
    give(handle, me.observe(pe_session, pvar_index as usize)?)
}

pub fn t_pvar_handle_free(me: &Rank, pe_session: usize, handle: *mut usize) -> Result {
    me.check_tools()?;
    me.observe_no_more(pe_session, taken(handle)?)?;
    give(handle, abi::T_PVAR_HANDLE_NULL)
}

pub fn t_pvar_start(me: &Rank, pe_session: usize, handle: usize) -> Result {
    me.tool_does(pe_session, handle, Deed::Start)
}

pub fn t_pvar_stop(me: &Rank, pe_session: usize, handle: usize) -> Result {
    me.tool_does(pe_session, handle, Deed::Stop)
}

pub fn t_pvar_reset(me: &Rank, pe_session: usize, handle: usize) -> Result {
    me.tool_does(pe_session, handle, Deed::Reset)
}

pub fn t_pvar_read(me: &Rank, pe_session: usize, handle: usize, buf: *mut c_void) -> Result {
    let found = me.observed(pe_session, handle)?;
    check_place(buf)?;
    let bytes = found.value(me).to_bytes();
    // SAFETY: the program has room for one element of the type that it was told.
    unsafe { bytes.as_ptr().copy_to_nonoverlapping(buf.cast(), bytes.len()) };
    Ok(())
}

pub fn t_pvar_readreset(me: &Rank, pe_session: usize, handle: usize, buf: *mut c_void) -> Result {
    let found = me.observed(pe_session, handle)?;
    if PERFORMANCE[found.variable].is_continuous() {
        return fail(abi::T_ERR_PVAR_NO_ATOMIC, "the variable cannot be read and reset at once");
    }
    t_pvar_read(me, pe_session, handle, buf)?;
    t_pvar_reset(me, pe_session, handle)
}

pub fn t_pvar_write(me: &Rank, pe_session: usize, handle: usize, buf: *const c_void) -> Result {
    let found = me.observed(pe_session, handle)?;
    check_place(buf.cast_mut())?;
    // SAFETY: the program gives one element of the type that it was told, of eight bytes.
    let bytes = unsafe { buf.cast::<[u8; 8]>().read_unaligned() };
    found.set(me, found.value(me).read(bytes))
}
