//! Attributes in Fortran: integers, where C has pointers (MPI 5.0, 19.3.7).
//!
//! What Fortran sets is kept here, and C has a pointer to it: so C finds what the standard wants it to find, and Fortran knows
//! the pointer again. A value never changes and is kept once, however often it is set.

use std::collections::BTreeMap;
use std::ffi::c_void;

use crate::abi::{self, Comm, Datatype, Win};
use crate::entry::c;
use crate::fortran::set;
use crate::os;

/// How large the integers of a procedure are.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Size {
    /// `INTEGER`, as in MPI 1.
    Default,
    /// `INTEGER(KIND=MPI_ADDRESS_KIND)`.
    Address,
}

/// Values that were set in Fortran: each has an address that C is given.
#[derive(Debug, Default)]
pub struct Values {
    kept: BTreeMap<(Size, i64), Box<i64>>,
    sizes: BTreeMap<usize, Size>,
}

impl Values {
    /// The pointer that stands for a value in C. The lower half of it is the same number as an `int`.
    pub fn pointer(&mut self, size: Size, value: i64) -> *mut c_void {
        let kept = self.kept.entry((size, value)).or_insert_with(|| Box::new(value));
        let pointer = (&raw mut **kept).cast::<c_void>();
        self.sizes.insert(pointer as usize, size);
        pointer
    }

    /// The value that Fortran finds where C has this pointer.
    ///
    /// # Safety
    /// The pointer is one that was set under this key.
    pub unsafe fn value(&self, keyval: i32, pointer: *mut c_void) -> i64 {
        // SAFETY: the pointer is that of one of our values, or of one that comes with MPI.
        unsafe {
            match self.sizes.get(&(pointer as usize)) {
                Some(Size::Address) => pointer.cast::<i64>().read(),
                Some(Size::Default) => i64::from(pointer.cast::<i32>().read()),
                None => match keyval {
                    abi::WIN_SIZE => pointer.cast::<i64>().read(),
                    abi::TAG_UB
                    | abi::IO
                    | abi::HOST
                    | abi::WTIME_IS_GLOBAL
                    | abi::APPNUM
                    | abi::LASTUSEDCODE
                    | abi::UNIVERSE_SIZE
                    | abi::WIN_DISP_UNIT
                    | abi::WIN_CREATE_FLAVOR
                    | abi::WIN_MODEL => i64::from(pointer.cast::<i32>().read()),
                    _ => pointer as i64,
                },
            }
        }
    }
}

/// The pointer that stands for a value of the process that runs.
pub fn pointer(size: Size, value: i64) -> *mut c_void {
    os::in_heap_of_library(|| os::rank().fortran.values.borrow_mut().pointer(size, value))
}

/// The value that the process that runs finds where C has this pointer.
///
/// # Safety
/// The pointer is one that was set under this key.
pub unsafe fn value(keyval: i32, pointer: *mut c_void) -> i64 {
    // SAFETY: the caller knows it.
    unsafe { os::rank().fortran.values.borrow().value(keyval, pointer) }
}

macro_rules! attributes {
    ($($handle:ident: $get:ident, $put:ident;)*) => {$(
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
            // SAFETY: all are variables of the program, and what is found was set under this key.
            unsafe {
                let mut found: *mut c_void = std::ptr::null_mut();
                let result = c::$get($handle::from_fortran(*object), *keyval, (&raw mut found).cast(), flag);
                if result == abi::SUCCESS && *flag != 0 {
                    *attribute = value(*keyval, found);
                }
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
                let kept = pointer(Size::Address, *attribute);
                set(ierror, c::$put($handle::from_fortran(*object), *keyval, kept));
            }
        }
    )*};
}

attributes! {
    Comm: comm_get_attr, comm_set_attr;
    Datatype: type_get_attr, type_set_attr;
    Win: win_get_attr, win_set_attr;
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
    // SAFETY: all are variables of the program, and what is found was set under this key.
    unsafe {
        let mut found: *mut c_void = std::ptr::null_mut();
        let result = c::attr_get(Comm::from_fortran(*comm), *keyval, (&raw mut found).cast(), flag);
        if result == abi::SUCCESS && *flag != 0 {
            *attribute = value(*keyval, found) as i32;
        }
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
        let kept = pointer(Size::Default, i64::from(*attribute));
        set(ierror, c::attr_put(Comm::from_fortran(*comm), *keyval, kept));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_finds_a_pointer_and_fortran_its_value() {
        let mut values = Values::default();
        let (far, near) = (values.pointer(Size::Address, 1 << 40), values.pointer(Size::Default, -7));
        let mut limit = 32767_i32;
        // SAFETY: all are pointers to what they should be, or are not followed.
        unsafe {
            assert_eq!(far.cast::<i64>().read(), 1 << 40);
            assert_eq!(near.cast::<i32>().read(), -7);
            assert_eq!(values.value(77, far), 1 << 40);
            assert_eq!(values.value(77, near), -7);
            assert_eq!(values.value(77, 0x1234 as *mut c_void), 0x1234, "C set it");
            assert_eq!(values.value(abi::TAG_UB, (&raw mut limit).cast()), 32767);
            assert_eq!(values.value(abi::WIN_BASE, 0x5678 as *mut c_void), 0x5678);
        }
        assert_eq!(values.pointer(Size::Address, 1 << 40), far, "a value is kept once");
        assert_ne!(values.pointer(Size::Address, -7), near);
    }
}
