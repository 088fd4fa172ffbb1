//! Attributes and names of objects (MPI 5.0, 7.7 and 7.8).

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_void};

use super::{check_place, give, taken};
use crate::abi::{self, Comm, Datatype, Win, text_of, write_text};
use crate::attributes::{Keyval, Language, Object, Sort, Value};
use crate::error::{Result, fail};
use crate::rank::Rank;

fn create(me: &Rank, sort: Sort, copy: usize, delete: usize, extra: *mut c_void, place: *mut i32) -> Result {
    check_place(place)?;
    let (extra_state, language, freed) = (extra as i64, Language::C, Cell::new(false));
    let keyval = Keyval { sort, copy, delete, extra_state, language, freed };
    give(place, me.new_keyval(keyval))
}

fn free(me: &Rank, sort: Sort, place: *mut i32) -> Result {
    me.free_keyval(sort, taken(place)?)?;
    give(place, abi::KEYVAL_INVALID)
}

fn set(me: &Rank, object: &impl Object, handle: usize, key: i32, value: *mut c_void) -> Result {
    me.set_attribute(object, handle, key, Value::of(Language::C, value as i64))
}

fn get(me: &Rank, object: &impl Object, key: i32, place: *mut c_void, flag: *mut i32) -> Result {
    check_place(flag)?;
    let found = me.attribute(object, key)?;
    if let Some(value) = &found {
        give(place.cast::<i64>(), value.read(Language::C))?;
    }
    give(flag, i32::from(found.is_some()))
}

fn set_name(name: &RefCell<String>, text: *const c_char) -> Result {
    if text.is_null() {
        return fail(abi::ERR_ARG, "the name is a null pointer");
    }
    // SAFETY: it ends with a zero.
    let mut text = unsafe { text_of(text) };
    let longest = abi::MAX_OBJECT_NAME as usize - 1;
    if text.len() > longest {
        let end = (0..=longest).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
    }
    *name.borrow_mut() = text;
    Ok(())
}

fn give_name(name: &str, place: *mut c_char, length: *mut i32) -> Result {
    check_place(place)?;
    // SAFETY: the program has room for the longest name.
    let written = unsafe { write_text(name, place, abi::MAX_OBJECT_NAME as usize) };
    give(length, written as i32)
}

pub fn comm_create_keyval(
    me: &Rank,
    copy: usize,
    delete: usize,
    keyval: *mut i32,
    extra_state: *mut c_void,
) -> Result {
    create(me, Sort::Comm, copy, delete, extra_state, keyval)
}

pub fn comm_free_keyval(me: &Rank, keyval: *mut i32) -> Result {
    free(me, Sort::Comm, keyval)
}

pub fn comm_set_attr(me: &Rank, comm: Comm, keyval: i32, value: *mut c_void) -> Result {
    set(me, &*me.comm(comm)?, comm.0, keyval, value)
}

pub fn comm_get_attr(me: &Rank, comm: Comm, keyval: i32, value: *mut c_void, flag: *mut i32) -> Result {
    get(me, &*me.comm(comm)?, keyval, value, flag)
}

pub fn comm_delete_attr(me: &Rank, comm: Comm, keyval: i32) -> Result {
    me.delete_attribute(&*me.comm(comm)?, comm.0, keyval)
}

pub fn comm_set_name(me: &Rank, comm: Comm, name: *const c_char) -> Result {
    set_name(&me.comm(comm)?.name, name)
}

pub fn comm_get_name(me: &Rank, comm: Comm, name: *mut c_char, resultlen: *mut i32) -> Result {
    if comm == abi::COMM_NULL {
        return give_name("MPI_COMM_NULL", name, resultlen);
    }
    give_name(&me.comm(comm)?.name.borrow(), name, resultlen)
}

pub fn type_create_keyval(
    me: &Rank,
    copy: usize,
    delete: usize,
    keyval: *mut i32,
    extra_state: *mut c_void,
) -> Result {
    create(me, Sort::Type, copy, delete, extra_state, keyval)
}

pub fn type_free_keyval(me: &Rank, keyval: *mut i32) -> Result {
    free(me, Sort::Type, keyval)
}

pub fn type_set_attr(me: &Rank, datatype: Datatype, keyval: i32, value: *mut c_void) -> Result {
    set(me, &*me.datatype(datatype)?, datatype.0, keyval, value)
}

pub fn type_get_attr(
    me: &Rank,
    datatype: Datatype,
    keyval: i32,
    value: *mut c_void,
    flag: *mut i32,
) -> Result {
    get(me, &*me.datatype(datatype)?, keyval, value, flag)
}

pub fn type_delete_attr(me: &Rank, datatype: Datatype, keyval: i32) -> Result {
    me.delete_attribute(&*me.datatype(datatype)?, datatype.0, keyval)
}

pub fn type_set_name(me: &Rank, datatype: Datatype, name: *const c_char) -> Result {
    set_name(&me.datatype(datatype)?.name, name)
}

pub fn type_get_name(me: &Rank, datatype: Datatype, name: *mut c_char, resultlen: *mut i32) -> Result {
    if datatype == abi::DATATYPE_NULL {
        return give_name("MPI_DATATYPE_NULL", name, resultlen);
    }
    give_name(&me.datatype(datatype)?.name.borrow(), name, resultlen)
}

pub fn win_create_keyval(
    me: &Rank,
    copy: usize,
    delete: usize,
    keyval: *mut i32,
    extra_state: *mut c_void,
) -> Result {
    create(me, Sort::Win, copy, delete, extra_state, keyval)
}

pub fn win_free_keyval(me: &Rank, keyval: *mut i32) -> Result {
    free(me, Sort::Win, keyval)
}

pub fn win_set_attr(me: &Rank, win: Win, keyval: i32, value: *mut c_void) -> Result {
    set(me, &*me.window(win)?, win.0, keyval, value)
}

pub fn win_get_attr(me: &Rank, win: Win, keyval: i32, value: *mut c_void, flag: *mut i32) -> Result {
    get(me, &*me.window(win)?, keyval, value, flag)
}

pub fn win_delete_attr(me: &Rank, win: Win, keyval: i32) -> Result {
    me.delete_attribute(&*me.window(win)?, win.0, keyval)
}

pub fn win_set_name(me: &Rank, win: Win, name: *const c_char) -> Result {
    set_name(&me.window(win)?.name, name)
}

pub fn win_get_name(me: &Rank, win: Win, name: *mut c_char, resultlen: *mut i32) -> Result {
    if win == abi::WIN_NULL {
        return give_name("MPI_WIN_NULL", name, resultlen);
    }
    give_name(&me.window(win)?.name.borrow(), name, resultlen)
}

pub fn keyval_create(
    me: &Rank,
    copy: usize,
    delete: usize,
    keyval: *mut i32,
    extra_state: *mut c_void,
) -> Result {
    comm_create_keyval(me, copy, delete, keyval, extra_state)
}

pub fn keyval_free(me: &Rank, keyval: *mut i32) -> Result {
    comm_free_keyval(me, keyval)
}

pub fn attr_put(me: &Rank, comm: Comm, keyval: i32, value: *mut c_void) -> Result {
    comm_set_attr(me, comm, keyval, value)
}

pub fn attr_get(me: &Rank, comm: Comm, keyval: i32, value: *mut c_void, flag: *mut i32) -> Result {
    comm_get_attr(me, comm, keyval, value, flag)
}

pub fn attr_delete(me: &Rank, comm: Comm, keyval: i32) -> Result {
    comm_delete_attr(me, comm, keyval)
}
