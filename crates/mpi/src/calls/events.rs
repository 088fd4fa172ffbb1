//! The tools interface: events, of which there are none, and the one source of time stamps, the simulated clock
//! (MPI 5.0, 15.3.8).

use std::ffi::{c_char, c_void};

use super::tools::{at, place_of, put, put_text};
use super::{check_place, give};
use crate::abi::{self, Datatype, Info};
use crate::error::{Result, fail};
use crate::rank::Rank;

/// The names of events.
const EVENTS: &[&str] = &[];

/// Sources of time stamps, and what they are.
const SOURCES: &[(&str, &str)] = &[("simulation", "The simulated clock, which all processes share.")];

/// Ticks of the simulated clock in a second.
const TICKS: i64 = 1_000_000_000;

/// No event was ever registered, so that no handle stands for one.
fn no_registration(me: &Rank) -> Result {
    me.check_tools()?;
    fail(abi::T_ERR_INVALID_HANDLE, "there is no such handle of an event: there are no events")
}

pub fn t_event_get_num(me: &Rank, num_events: *mut i32) -> Result {
    me.check_tools()?;
    give(num_events, EVENTS.len() as i32)
}

pub fn t_event_get_info(
    me: &Rank,
    event_index: i32,
    _name: *mut c_char,
    _name_len: *mut i32,
    _verbosity: *mut i32,
    _array_of_datatypes: *mut Datatype,
    _array_of_displacements: *mut i64,
    _num_elements: *mut i32,
    _enumtype: *mut usize,
    _info: *mut Info,
    _desc: *mut c_char,
    _desc_len: *mut i32,
    _bind: *mut i32,
) -> Result {
    me.check_tools()?;
    at(EVENTS, event_index, "event").map(drop)
}

pub fn t_event_get_index(me: &Rank, name: *const c_char, event_index: *mut i32) -> Result {
    me.check_tools()?;
    place_of(EVENTS.iter().copied(), name, event_index)
}

pub fn t_event_handle_alloc(
    me: &Rank,
    event_index: i32,
    _obj_handle: *mut c_void,
    _info: Info,
    _event_registration: *mut usize,
) -> Result {
    me.check_tools()?;
    at(EVENTS, event_index, "event").map(drop)
}

pub fn t_event_handle_set_info(me: &Rank, _event_registration: usize, _info: Info) -> Result {
    no_registration(me)
}

pub fn t_event_handle_get_info(me: &Rank, _event_registration: usize, _info_used: *mut Info) -> Result {
    no_registration(me)
}

pub fn t_event_register_callback(
    me: &Rank,
    _event_registration: usize,
    _cb_safety: i32,
    _info: Info,
    _user_data: *mut c_void,
    _event_cb_function: usize,
) -> Result {
    no_registration(me)
}

pub fn t_event_callback_set_info(
    me: &Rank,
    _event_registration: usize,
    _cb_safety: i32,
    _info: Info,
) -> Result {
    no_registration(me)
}

pub fn t_event_callback_get_info(
    me: &Rank,
    _event_registration: usize,
    _cb_safety: i32,
    _info_used: *mut Info,
) -> Result {
    no_registration(me)
}

pub fn t_event_handle_free(
    me: &Rank,
    _event_registration: usize,
    _user_data: *mut c_void,
    _free_cb_function: usize,
) -> Result {
    no_registration(me)
}

pub fn t_event_set_dropped_handler(
    me: &Rank,
    _event_registration: usize,
    _dropped_cb_function: usize,
) -> Result {
    no_registration(me)
}

pub fn t_event_read(me: &Rank, _event_instance: usize, _element_index: i32, _buffer: *mut c_void) -> Result {
    no_registration(me)
}

pub fn t_event_copy(me: &Rank, _event_instance: usize, _buffer: *mut c_void) -> Result {
    no_registration(me)
}

pub fn t_event_get_timestamp(me: &Rank, _event_instance: usize, _event_timestamp: *mut i64) -> Result {
    no_registration(me)
}

pub fn t_event_get_source(me: &Rank, _event_instance: usize, _source_index: *mut i32) -> Result {
    no_registration(me)
}

pub fn t_source_get_num(me: &Rank, num_sources: *mut i32) -> Result {
    me.check_tools()?;
    give(num_sources, SOURCES.len() as i32)
}

pub fn t_source_get_info(
    me: &Rank,
    source_index: i32,
    name: *mut c_char,
    name_len: *mut i32,
    desc: *mut c_char,
    desc_len: *mut i32,
    ordering: *mut i32,
    ticks_per_second: *mut i64,
    max_ticks: *mut i64,
    info: *mut Info,
) -> Result {
    me.check_tools()?;
    let (called, about) = at(SOURCES, source_index, "source")?;
    put_text(called, name, name_len);
    put_text(about, desc, desc_len);
    put(ordering, abi::T_SOURCE_ORDERED);
    put(ticks_per_second, TICKS);
    put(max_ticks, i64::MAX);
    put(info, abi::INFO_NULL);
    Ok(())
}

pub fn t_source_get_timestamp(me: &Rank, source_index: i32, timestamp: *mut i64) -> Result {
    me.check_tools()?;
    at(SOURCES, source_index, "source")?;
    check_place(timestamp)?;
    give(timestamp, (me.now() * TICKS as f64) as i64)
}
