//! Attributes in Fortran: integers, where C has pointers (MPI 5.0, 19.3.7).

use std::cell::Cell;

use crate::abi::{self, Comm, Datatype, Procedure, Win};
use crate::attributes::{Keyval, Language, Object, Sort, Value};
use crate::entry::enter;
use crate::error::{On, Result};
use crate::fortran::callbacks::{
    also_mpi_comm_dup_fn, also_mpi_comm_null_copy_fn, also_mpi_comm_null_delete_fn, also_mpi_dup_fn,
};
use crate::fortran::set;
use crate::rank::Rank;

/// Reads what is attached, as Fortran reads it.
fn read(me: &Rank, object: &impl Object, key: i32, flag: *mut i32) -> Result<Option<i64>> {
    let found = me.attribute(object, key)?;
    // SAFETY: it is a variable of the program.
    unsafe { flag.write(i32::from(found.is_some())) };
    Ok(found.map(|value| value.read(Language::Fortran)))
}

macro_rules! attributes {
    ($($handle:ident, $on:expr, $find:ident: $get:ident, $got:ident; $put:ident, $given:ident;)*) => {$(
        /// Gives an attribute.
        ///
        /// # Safety
        /// Called as Fortran calls.
        pub unsafe extern "C" fn $get(
            object: *mut i32,
            keyval: *mut i32,
            attribute: *mut i64,
            flag: *mut i32,
            ierror: *mut i32,
        ) {
            // SAFETY: all are variables of the program.
            unsafe {
                let object = $handle::from_fortran(*object);
                let result = enter(Procedure::$got, $on(object), |me| {
                    if let Some(value) = read(me, &*me.$find(object)?, *keyval, flag)? {
                        attribute.write(value);
                    }
                    Ok(())
                });
                set(ierror, result);
            }
        }

        /// Sets an attribute.
        ///
        /// # Safety
        /// Called as Fortran calls.
        pub unsafe extern "C" fn $put(
            object: *mut i32,
            keyval: *mut i32,
            attribute: *mut i64,
            ierror: *mut i32,
        ) {
            // SAFETY: all are variables of the program.
            unsafe {
                let object = $handle::from_fortran(*object);
                let result = enter(Procedure::$given, $on(object), |me| {
                    let value = Value::of(Language::Fortran, *attribute);
                    me.set_attribute(&*me.$find(object)?, object.0, *keyval, value)
                });
                set(ierror, result);
            }
        }
    )*};
}

fn nothing<T>(_: T) -> On {
    On::Nothing
}

attributes! {
    Comm, On::Comm, comm: comm_get_attr, CommGetAttr; comm_set_attr, CommSetAttr;
    Datatype, nothing, datatype: type_get_attr, TypeGetAttr; type_set_attr, TypeSetAttr;
    Win, On::Win, window: win_get_attr, WinGetAttr; win_set_attr, WinSetAttr;
}

/// Gives an attribute, as in MPI 1.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn attr_get(
    comm: *mut i32,
    keyval: *mut i32,
    attribute: *mut i32,
    flag: *mut i32,
    ierror: *mut i32,
) {
    // SAFETY: all are variables of the program.
    unsafe {
        let comm = Comm::from_fortran(*comm);
        let result = enter(Procedure::AttrGet, On::Comm(comm), |me| {
            if let Some(value) = read(me, &*me.comm(comm)?, *keyval, flag)? {
                attribute.write(value as i32);
            }
            Ok(())
        });
        set(ierror, result);
    }
}

/// Sets an attribute, as in MPI 1.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn attr_put(comm: *mut i32, keyval: *mut i32, attribute: *mut i32, ierror: *mut i32) {
    // SAFETY: all are variables of the program.
    unsafe {
        let comm = Comm::from_fortran(*comm);
        let result = enter(Procedure::AttrPut, On::Comm(comm), |me| {
            let value = Value::of(Language::OldFortran, i64::from(*attribute));
            me.set_attribute(&*me.comm(comm)?, comm.0, *keyval, value)
        });
        set(ierror, result);
    }
}

/// The functions of a key: those that come with MPI are the constants of C.
fn known(copy: usize, delete: usize) -> (usize, usize) {
    let is = |function: usize, known: *const ()| function == known as usize;
    let copies = is(copy, also_mpi_comm_dup_fn as *const ()) || is(copy, also_mpi_dup_fn as *const ());
    let copy = match copies {
        true => abi::COMM_DUP_FN,
        false if is(copy, also_mpi_comm_null_copy_fn as *const ()) => abi::COMM_NULL_COPY_FN,
        false => copy,
    };
    let delete = match is(delete, also_mpi_comm_null_delete_fn as *const ()) {
        true => abi::COMM_NULL_DELETE_FN,
        false => delete,
    };
    (copy, delete)
}

macro_rules! keys {
    ($($create:ident, $created:ident: $sort:ident, $integer:ty, $language:ident;)*) => {$(
        /// Makes a key of attributes.
        ///
        /// # Safety
        /// Called as Fortran calls.
        pub unsafe extern "C" fn $create(
            copy: usize,
            delete: usize,
            keyval: *mut i32,
            extra: *mut $integer,
            ierror: *mut i32,
        ) {
            // SAFETY: all are variables and functions of the program.
            unsafe {
                let (copy, delete) = known(copy, delete);
                let result = enter(Procedure::$created, On::Nothing, |me| {
                    let extra_state = i64::from(*extra);
                    let language = Language::$language;
                    let (sort, freed) = (Sort::$sort, Cell::new(false));
                    let made = Keyval { sort, copy, delete, extra_state, language, freed };
                    keyval.write(me.new_keyval(made));
                    Ok(())
                });
                set(ierror, result);
            }
        }
    )*};
}

keys! {
    comm_create_keyval, CommCreateKeyval: Comm, i64, Fortran;
    type_create_keyval, TypeCreateKeyval: Type, i64, Fortran;
    win_create_keyval, WinCreateKeyval: Win, i64, Fortran;
    keyval_create, KeyvalCreate: Comm, i32, OldFortran;
}
