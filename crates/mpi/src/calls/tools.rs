//! The tools interface: its beginning and end, control variables, enumerations and categories (MPI 5.0, 15.3).

use std::ffi::{c_char, c_void};

use super::{check_place, give, give_elements};
use crate::abi::{self, Datatype, text_of, write_text};
use crate::error::{Result, fail};
use crate::rank::Rank;
use crate::tools::variables::{
    CATEGORIES, CONTROLS, Category, Control, ENUMERATIONS, Enumeration, FIRST_ENUMERATION,
};

/// Writes an answer, where the program wants it.
pub(super) fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: the program wants the answer there.
        unsafe { place.write_unaligned(value) };
    }
}

/// Writes a text, where the program wants it, and how long it is with the zero at its end (15.3.3).
pub(super) fn put_text(text: &str, place: *mut c_char, length: *mut i32) {
    if length.is_null() {
        return;
    }
    // SAFETY: the program gives the length of the room there, or no room.
    unsafe {
        let room = length.read_unaligned();
        if room > 0 && !place.is_null() {
            write_text(text, place, room as usize);
        }
        length.write_unaligned(text.len() as i32 + 1);
    }
}

/// One of a list.
pub(super) fn at<'a, T>(all: &'a [T], index: i32, what: &str) -> Result<&'a T> {
    match usize::try_from(index).ok().and_then(|index| all.get(index)) {
        Some(found) => Ok(found),
        None => {
            fail(abi::T_ERR_INVALID_INDEX, format!("there is no {what} {index}: there are {}", all.len()))
        }
    }
}

/// The place of a name in a list.
pub(super) fn place_of<'a>(
    mut names: impl Iterator<Item = &'a str>,
    name: *const c_char,
    place: *mut i32,
) -> Result {
    if name.is_null() || place.is_null() {
        return fail(abi::T_ERR_INVALID, "a null pointer is given");
    }
    // SAFETY: it ends with a zero.
    let name = unsafe { text_of(name) };
    match names.position(|known| known == name) {
        Some(found) => give(place, found as i32),
        None => fail(abi::T_ERR_INVALID_NAME, format!("nothing is called {name:?}")),
    }
}

pub fn t_init_thread(me: &Rank, required: i32, provided: *mut i32) -> Result {
    let level = required.clamp(abi::THREAD_SINGLE, abi::THREAD_SERIALIZED);
    put(provided, level);
    me.tools.users.set(me.tools.users.get() + 1);
    Ok(())
}

pub fn t_finalize(me: &Rank) -> Result {
    me.leave_tools()
}

pub fn t_cvar_get_num(me: &Rank, num_cvar: *mut i32) -> Result {
    me.check_tools()?;
    give(num_cvar, CONTROLS.len() as i32)
}

pub fn t_cvar_get_info(
    me: &Rank,
    cvar_index: i32,
    name: *mut c_char,
    name_len: *mut i32,
    verbosity: *mut i32,
    datatype: *mut Datatype,
    enumtype: *mut usize,
    desc: *mut c_char,
    desc_len: *mut i32,
    bind: *mut i32,
    scope: *mut i32,
) -> Result {
    me.check_tools()?;
    let found = at(CONTROLS, cvar_index, "control variable")?;
    let value = (found.value)(me);
    put_text(found.name, name, name_len);
    put(verbosity, found.verbosity);
    put(datatype, value.datatype());
    put(enumtype, value.enumeration());
    put_text(found.about, desc, desc_len);
    put(bind, abi::T_BIND_NO_OBJECT);
    put(scope, found.scope);
    Ok(())
}

pub fn t_cvar_get_index(me: &Rank, name: *const c_char, cvar_index: *mut i32) -> Result {
    me.check_tools()?;
    place_of(CONTROLS.iter().map(|control| control.name), name, cvar_index)
}

pub fn t_cvar_handle_alloc(
    me: &Rank,
    cvar_index: i32,
    _obj_handle: *mut c_void,
    handle: *mut usize,
    count: *mut i32,
) -> Result {
    me.check_tools()?;
    let found = at(CONTROLS, cvar_index, "control variable")?;
    check_place(handle)?;
    put(count, (found.value)(me).count() as i32);
    give(handle, me.tools.controls.borrow_mut().insert(cvar_index as usize))
}

pub fn t_cvar_handle_free(me: &Rank, handle: *mut usize) -> Result {
    control(me, super::taken(handle)?)?;
    me.tools.controls.borrow_mut().remove(super::taken(handle)?);
    give(handle, abi::T_CVAR_HANDLE_NULL)
}

/// The control variable of a handle.
fn control(me: &Rank, handle: usize) -> Result<&'static Control> {
    me.check_tools()?;
    match me.tools.controls.borrow().get(handle) {
        Some(index) => Ok(&CONTROLS[*index]),
        None => fail(abi::T_ERR_INVALID_HANDLE, "there is no such handle of a control variable"),
    }
}

pub fn t_cvar_read(me: &Rank, handle: usize, buf: *mut c_void) -> Result {
    let found = control(me, handle)?;
    check_place(buf)?;
    let bytes = (found.value)(me).to_bytes();
    // SAFETY: the program has room for as many elements as it was told.
    unsafe { bytes.as_ptr().copy_to_nonoverlapping(buf.cast(), bytes.len()) };
    Ok(())
}

pub fn t_cvar_write(me: &Rank, handle: usize, buf: *const c_void) -> Result {
    let found = control(me, handle)?;
    check_place(buf.cast_mut())?;
    // SAFETY: the program gives a value of the type that it was told.
    unsafe { found.set(me, buf.cast()) }
}

fn enumeration(me: &Rank, enumtype: usize) -> Result<&'static Enumeration> {
    me.check_tools()?;
    match enumtype.checked_sub(FIRST_ENUMERATION).and_then(|place| ENUMERATIONS.get(place)) {
        Some(found) => Ok(found),
        None => fail(abi::T_ERR_INVALID_HANDLE, "there is no such enumeration"),
    }
}

pub fn t_enum_get_info(
    me: &Rank,
    enumtype: usize,
    num: *mut i32,
    name: *mut c_char,
    name_len: *mut i32,
) -> Result {
    let found = enumeration(me, enumtype)?;
    put(num, found.items.len() as i32);
    put_text(found.name, name, name_len);
    Ok(())
}

pub fn t_enum_get_item(
    me: &Rank,
    enumtype: usize,
    index: i32,
    value: *mut i32,
    name: *mut c_char,
    name_len: *mut i32,
) -> Result {
    let found = enumeration(me, enumtype)?;
    let (number, text) = at(found.items, index, "item")?;
    put(value, *number);
    put_text(text, name, name_len);
    Ok(())
}

pub fn t_category_get_num(me: &Rank, num_cat: *mut i32) -> Result {
    me.check_tools()?;
    give(num_cat, CATEGORIES.len() as i32)
}

pub fn t_category_changed(me: &Rank, update_number: *mut i32) -> Result {
    me.check_tools()?;
    // They are the same from the beginning to the end.
    give(update_number, 0)
}

fn category(me: &Rank, index: i32) -> Result<&'static Category> {
    me.check_tools()?;
    at(CATEGORIES, index, "category")
}

pub fn t_category_get_info(
    me: &Rank,
    cat_index: i32,
    name: *mut c_char,
    name_len: *mut i32,
    desc: *mut c_char,
    desc_len: *mut i32,
    num_cvars: *mut i32,
    num_pvars: *mut i32,
    num_categories: *mut i32,
) -> Result {
    let found = category(me, cat_index)?;
    put_text(found.name, name, name_len);
    put_text(found.about, desc, desc_len);
    put(num_cvars, found.controls.len() as i32);
    put(num_pvars, found.performance.len() as i32);
    put(num_categories, found.categories.len() as i32);
    Ok(())
}

pub fn t_category_get_index(me: &Rank, name: *const c_char, cat_index: *mut i32) -> Result {
    me.check_tools()?;
    place_of(CATEGORIES.iter().map(|category| category.name), name, cat_index)
}

pub fn t_category_get_cvars(me: &Rank, cat_index: i32, len: i32, indices: *mut i32) -> Result {
    give_elements(indices, len, category(me, cat_index)?.controls)
}

pub fn t_category_get_pvars(me: &Rank, cat_index: i32, len: i32, indices: *mut i32) -> Result {
    give_elements(indices, len, category(me, cat_index)?.performance)
}

pub fn t_category_get_categories(me: &Rank, cat_index: i32, len: i32, indices: *mut i32) -> Result {
    give_elements(indices, len, category(me, cat_index)?.categories)
}

pub fn t_category_get_events(me: &Rank, cat_index: i32, _len: i32, _indices: *mut i32) -> Result {
    category(me, cat_index).map(drop)
}

pub fn t_category_get_num_events(me: &Rank, cat_index: i32, num_events: *mut i32) -> Result {
    category(me, cat_index)?;
    give(num_events, 0)
}
