//! Info objects (MPI 5.0, chapter 10).

use std::ffi::c_char;

use super::{check_place, elements, give, taken};
use crate::abi::{self, Info, text_of, write_text};
use crate::error::{Result, fail};
use crate::info::{self, check_key};
use crate::rank::Rank;

/// The text that a program gives.
fn text(text: *const c_char, class: i32, what: &str) -> Result<String> {
    if text.is_null() {
        return fail(class, format!("the {what} is a null pointer"));
    }
    // SAFETY: it ends with a zero.
    Ok(unsafe { text_of(text) })
}

fn key_of(key: *const c_char) -> Result<String> {
    let key = text(key, abi::ERR_INFO_KEY, "key")?;
    check_key(&key)?;
    Ok(key)
}

pub fn info_create(me: &Rank, info: *mut Info) -> Result {
    check_place(info)?;
    give(info, me.keep_info(info::Info::default()))
}

pub fn info_create_env(me: &Rank, argc: i32, argv: *mut *mut c_char, info: *mut Info) -> Result {
    check_place(info)?;
    let argc = if argv.is_null() { 0 } else { argc };
    let arguments: Vec<String> = elements(argc, argv.cast_const(), "arguments")?
        .into_iter()
        // SAFETY: the arguments of a program are texts, or null.
        .map(|argument| unsafe { text_of(argument) })
        .collect();
    give(info, me.keep_info(me.environment(&arguments)))
}

pub fn info_dup(me: &Rank, info: Info, newinfo: *mut Info) -> Result {
    let found = me.info(info)?;
    check_place(newinfo)?;
    let copy = found.borrow().clone();
    give(newinfo, me.keep_info(copy))
}

pub fn info_free(me: &Rank, info: *mut Info) -> Result {
    let handle = taken(info)?;
    me.info(handle)?;
    if handle == abi::INFO_ENV {
        return fail(abi::ERR_INFO, "MPI_INFO_ENV cannot be freed");
    }
    me.infos.borrow_mut().remove(handle.0);
    give(info, abi::INFO_NULL)
}

/// Checks that a list may be changed.
fn check_own(info: Info) -> Result {
    if info == abi::INFO_ENV {
        return fail(abi::ERR_INFO, "MPI_INFO_ENV cannot be changed");
    }
    Ok(())
}

pub fn info_set(me: &Rank, info: Info, key: *const c_char, value: *const c_char) -> Result {
    let found = me.info(info)?;
    check_own(info)?;
    let (key, value) = (key_of(key)?, text(value, abi::ERR_INFO_VALUE, "value")?);
    found.borrow_mut().set(&key, &value)
}

pub fn info_delete(me: &Rank, info: Info, key: *const c_char) -> Result {
    let found = me.info(info)?;
    check_own(info)?;
    let key = key_of(key)?;
    found.borrow_mut().delete(&key)
}

pub fn info_get(
    me: &Rank,
    info: Info,
    key: *const c_char,
    valuelen: i32,
    value: *mut c_char,
    flag: *mut i32,
) -> Result {
    let (found, key) = (me.info(info)?, key_of(key)?);
    let Ok(length) = usize::try_from(valuelen) else {
        return fail(abi::ERR_ARG, format!("the length is {valuelen}: it must not be negative"));
    };
    check_place(flag)?;
    let found = found.borrow();
    let known = found.get(&key);
    if let Some(known) = known {
        check_place(value)?;
        // SAFETY: the program has room for so many letters and a zero.
        unsafe { write_text(known, value, length + 1) };
    }
    give(flag, i32::from(known.is_some()))
}

pub fn info_get_string(
    me: &Rank,
    info: Info,
    key: *const c_char,
    buflen: *mut i32,
    value: *mut c_char,
    flag: *mut i32,
) -> Result {
    let (found, key) = (me.info(info)?, key_of(key)?);
    check_place(flag)?;
    let room = taken(buflen)?;
    let found = found.borrow();
    let known = found.get(&key);
    if let Some(known) = known {
        if room > 0 {
            check_place(value)?;
            // SAFETY: the program has room for so many letters, the zero among them.
            unsafe { write_text(known, value, room as usize) };
        }
        give(buflen, known.len() as i32 + 1)?;
    }
    give(flag, i32::from(known.is_some()))
}

pub fn info_get_valuelen(
    me: &Rank,
    info: Info,
    key: *const c_char,
    valuelen: *mut i32,
    flag: *mut i32,
) -> Result {
    let (found, key) = (me.info(info)?, key_of(key)?);
    check_place(flag)?;
    let found = found.borrow();
    let known = found.get(&key);
    if let Some(known) = known {
        give(valuelen, known.len() as i32)?;
    }
    give(flag, i32::from(known.is_some()))
}

pub fn info_get_nkeys(me: &Rank, info: Info, nkeys: *mut i32) -> Result {
    give(nkeys, me.info(info)?.borrow().entries.len() as i32)
}

pub fn info_get_nthkey(me: &Rank, info: Info, n: i32, key: *mut c_char) -> Result {
    let found = me.info(info)?;
    check_place(key)?;
    let found = found.borrow();
    match usize::try_from(n).ok().and_then(|n| found.entries.get(n)) {
        Some((known, _)) => {
            // SAFETY: the program has room for the longest key.
            unsafe { write_text(known, key, abi::MAX_INFO_KEY as usize) };
            Ok(())
        }
        None => fail(abi::ERR_ARG, format!("there is no key {n}: the info has {}", found.entries.len())),
    }
}
