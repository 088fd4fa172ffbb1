//! Error handlers, codes and classes (MPI 5.0, 9.3 to 9.5).

use std::cell::Cell;
use std::ffi::c_char;

use super::{check_place, give, taken};
use crate::abi::{self, Comm, Errhandler, File, Session, Win, text_of, write_text};
use crate::errhandler::{Raised, Sort, is_predefined};
use crate::error::{On, Result, fail};
use crate::rank::Rank;

fn create(me: &Rank, sort: Sort, function: usize, errhandler: *mut Errhandler) -> Result {
    check_place(errhandler)?;
    let made = me.new_errhandler(sort, function, false)?;
    give(errhandler, made)
}

pub fn comm_create_errhandler(me: &Rank, function: usize, errhandler: *mut Errhandler) -> Result {
    create(me, Sort::Comm, function, errhandler)
}

pub fn win_create_errhandler(me: &Rank, function: usize, errhandler: *mut Errhandler) -> Result {
    create(me, Sort::Win, function, errhandler)
}

pub fn file_create_errhandler(me: &Rank, function: usize, errhandler: *mut Errhandler) -> Result {
    create(me, Sort::File, function, errhandler)
}

pub fn session_create_errhandler(me: &Rank, function: usize, errhandler: *mut Errhandler) -> Result {
    create(me, Sort::Session, function, errhandler)
}

pub fn errhandler_create(me: &Rank, function: usize, errhandler: *mut Errhandler) -> Result {
    create(me, Sort::Comm, function, errhandler)
}

pub fn comm_set_errhandler(me: &Rank, comm: Comm, errhandler: Errhandler) -> Result {
    me.set_errhandler(Sort::Comm, &me.comm(comm)?.errhandler, errhandler)
}

pub fn win_set_errhandler(me: &Rank, win: Win, errhandler: Errhandler) -> Result {
    me.set_errhandler(Sort::Win, &me.window(win)?.errhandler, errhandler)
}

pub fn file_set_errhandler(me: &Rank, file: File, errhandler: Errhandler) -> Result {
    match file {
        // The one that files have which are opened from now on (14.7).
        abi::FILE_NULL => me.set_errhandler(Sort::File, &me.file_errhandler, errhandler),
        _ => me.set_errhandler(Sort::File, &me.open_file(file)?.errhandler, errhandler),
    }
}

pub fn session_set_errhandler(me: &Rank, session: Session, errhandler: Errhandler) -> Result {
    me.set_errhandler(Sort::Session, &me.session(session)?.errhandler, errhandler)
}

pub fn errhandler_set(me: &Rank, comm: Comm, errhandler: Errhandler) -> Result {
    comm_set_errhandler(me, comm, errhandler)
}

/// Gives the error handler of an object: a handle that the program frees.
fn give_held(me: &Rank, place: &Cell<Errhandler>, errhandler: *mut Errhandler) -> Result {
    check_place(errhandler)?;
    me.hold_errhandler(place.get());
    give(errhandler, place.get())
}

pub fn comm_get_errhandler(me: &Rank, comm: Comm, errhandler: *mut Errhandler) -> Result {
    give_held(me, &me.comm(comm)?.errhandler, errhandler)
}

pub fn win_get_errhandler(me: &Rank, win: Win, errhandler: *mut Errhandler) -> Result {
    give_held(me, &me.window(win)?.errhandler, errhandler)
}

pub fn file_get_errhandler(me: &Rank, file: File, errhandler: *mut Errhandler) -> Result {
    match file {
        abi::FILE_NULL => give_held(me, &me.file_errhandler, errhandler),
        _ => give_held(me, &me.open_file(file)?.errhandler, errhandler),
    }
}

pub fn session_get_errhandler(me: &Rank, session: Session, errhandler: *mut Errhandler) -> Result {
    give_held(me, &me.session(session)?.errhandler, errhandler)
}

pub fn errhandler_get(me: &Rank, comm: Comm, errhandler: *mut Errhandler) -> Result {
    comm_get_errhandler(me, comm, errhandler)
}

pub fn errhandler_free(me: &Rank, errhandler: *mut Errhandler) -> Result {
    let handle = taken(errhandler)?;
    if !is_predefined(handle) {
        me.errhandler(handle)?;
        me.release_errhandler(handle);
    }
    give(errhandler, abi::ERRHANDLER_NULL)
}

/// Calls the error handler of an object for the program.
fn call(me: &Rank, procedure: &str, on: On, code: i32) -> Result {
    let message = me.codes.borrow().text(code)?;
    let message = format!("the program raises the error {code}: {message}");
    me.raise(&Raised { procedure, code, message: &message, on });
    Ok(())
}

pub fn comm_call_errhandler(me: &Rank, comm: Comm, errorcode: i32) -> Result {
    me.comm(comm)?;
    call(me, "MPI_Comm_call_errhandler", On::Comm(comm), errorcode)
}

pub fn win_call_errhandler(me: &Rank, win: Win, errorcode: i32) -> Result {
    me.window(win)?;
    call(me, "MPI_Win_call_errhandler", On::Win(win), errorcode)
}

pub fn file_call_errhandler(me: &Rank, fh: File, errorcode: i32) -> Result {
    if fh != abi::FILE_NULL {
        me.open_file(fh)?;
    }
    call(me, "MPI_File_call_errhandler", On::File(fh), errorcode)
}

pub fn session_call_errhandler(me: &Rank, session: Session, errorcode: i32) -> Result {
    me.session(session)?;
    call(me, "MPI_Session_call_errhandler", On::Session(session), errorcode)
}

pub fn error_class(me: &Rank, errorcode: i32, errorclass: *mut i32) -> Result {
    let class = me.codes.borrow().class(errorcode)?;
    give(errorclass, class)
}

pub fn error_string(me: &Rank, errorcode: i32, string: *mut c_char, resultlen: *mut i32) -> Result {
    check_place(string)?;
    let text = me.codes.borrow().text(errorcode)?;
    // SAFETY: the program has room for the longest text.
    let length = unsafe { write_text(&text, string, abi::MAX_ERROR_STRING as usize) };
    give(resultlen, length as i32)
}

pub fn add_error_class(me: &Rank, errorclass: *mut i32) -> Result {
    check_place(errorclass)?;
    let class = me.codes.borrow_mut().add_class();
    give(errorclass, class)
}

pub fn add_error_code(me: &Rank, errorclass: i32, errorcode: *mut i32) -> Result {
    check_place(errorcode)?;
    let code = me.codes.borrow_mut().add_code(errorclass)?;
    give(errorcode, code)
}

pub fn add_error_string(me: &Rank, errorcode: i32, string: *const c_char) -> Result {
    if string.is_null() {
        return fail(abi::ERR_ARG, "the text is a null pointer");
    }
    // SAFETY: it ends with a zero.
    let text = unsafe { text_of(string) };
    me.codes.borrow_mut().add_text(errorcode, text)
}

pub fn remove_error_class(me: &Rank, errorclass: i32) -> Result {
    me.codes.borrow_mut().remove_class(errorclass)
}

pub fn remove_error_code(me: &Rank, errorcode: i32) -> Result {
    me.codes.borrow_mut().remove_code(errorcode)
}

pub fn remove_error_string(me: &Rank, errorcode: i32) -> Result {
    me.codes.borrow_mut().remove_text(errorcode)
}
