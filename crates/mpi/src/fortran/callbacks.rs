//! Functions that Fortran programs supply.
//!
//! Operators and error handlers need no care: C calls them with addresses, and a handle begins with the integer that it is in
//! Fortran. For generalized requests and conversions C is given a function of ours, with what it needs to call that of the program as its extra state.

use std::ffi::{c_char, c_void};

use crate::abi::{self, Datatype, Status};
use crate::entry::c;
use crate::fortran::{Text, set};
use crate::os;

/// `MPI_COMM_DUP_FN`, `MPI_TYPE_DUP_FN`, `MPI_WIN_DUP_FN`.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn also_mpi_comm_dup_fn(
    _object: *mut i32,
    _keyval: *mut i32,
    _extra: *mut i64,
    before: *mut i64,
    after: *mut i64,
    flag: *mut i32,
    ierror: *mut i32,
) {
    // SAFETY: all are variables of the program.
    unsafe {
        *after = *before;
        *flag = 1;
        set(ierror, abi::SUCCESS);
    }
}

/// `MPI_DUP_FN`.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn also_mpi_dup_fn(
    _object: *mut i32,
    _keyval: *mut i32,
    _extra: *mut i32,
    before: *mut i32,
    after: *mut i32,
    flag: *mut i32,
    ierror: *mut i32,
) {
    // SAFETY: all are variables of the program.
    unsafe {
        *after = *before;
        *flag = 1;
        set(ierror, abi::SUCCESS);
    }
}

/// `MPI_COMM_NULL_COPY_FN` and the like.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn also_mpi_comm_null_copy_fn(
    _object: *mut i32,
    _keyval: *mut i32,
    _extra: *mut c_void,
    _before: *mut c_void,
    _after: *mut c_void,
    flag: *mut i32,
    ierror: *mut i32,
) {
    // SAFETY: all are variables of the program.
    unsafe {
        *flag = 0;
        set(ierror, abi::SUCCESS);
    }
}

/// `MPI_COMM_NULL_DELETE_FN` and the like.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn also_mpi_comm_null_delete_fn(
    _object: *mut i32,
    _keyval: *mut i32,
    _value: *mut c_void,
    _extra: *mut c_void,
    ierror: *mut i32,
) {
    // SAFETY: it is a variable of the program.
    unsafe { set(ierror, abi::SUCCESS) };
}

/// Stands for a conversion that is not needed.
///
/// # Safety
/// Never called.
pub unsafe extern "C" fn also_mpi_conversion_fn_null() {}

/// Stands for a conversion with large counts that is not needed.
///
/// # Safety
/// Never called.
pub unsafe extern "C" fn also_mpi_conversion_fn_null_c() {}

/// A generalized request whose functions are in Fortran.
struct Generalized {
    query: usize,
    free: usize,
    cancel: usize,
    /// What they are given, as a variable of theirs.
    extra: i64,
    /// The variable that the request was started with. Some programs wait for what their functions write there.
    variable: *mut i64,
}

impl Generalized {
    /// Calls one of the functions with the extra state.
    unsafe fn call(&mut self, function: impl FnOnce(*mut i64, *mut i32)) -> i32 {
        let (before, mut error) = (self.extra, abi::SUCCESS);
        os::in_heap_of_program(|| function(&raw mut self.extra, &raw mut error));
        // SAFETY: a program whose function writes to its extra state has a variable for it, which has not changed meanwhile.
        unsafe {
            if self.extra != before && *self.variable == before {
                *self.variable = self.extra;
            }
        }
        error
    }
}

unsafe extern "C" fn queries(extra: *mut c_void, status: *mut Status) -> i32 {
    // SAFETY: `extra` is what the request was started with, and the program says that it is such a function.
    unsafe {
        let own = &mut *extra.cast::<Generalized>();
        let query: extern "C" fn(*mut i64, *mut Status, *mut i32) = std::mem::transmute(own.query);
        own.call(|extra, error| query(extra, status, error))
    }
}

unsafe extern "C" fn frees(extra: *mut c_void) -> i32 {
    // SAFETY: `extra` is what the request was started with, of which this is the end; and the program says that it is such a
    // function.
    unsafe {
        let own = extra.cast::<Generalized>();
        let free: extern "C" fn(*mut i64, *mut i32) = std::mem::transmute((*own).free);
        let error = (*own).call(|extra, error| free(extra, error));
        os::in_heap_of_library(|| drop(Box::from_raw(own)));
        error
    }
}

unsafe extern "C" fn cancels(extra: *mut c_void, complete: i32) -> i32 {
    // SAFETY: `extra` is what the request was started with, and the program says that it is such a function.
    unsafe {
        let own = &mut *extra.cast::<Generalized>();
        let cancel: extern "C" fn(*mut i64, *const i32, *mut i32) = std::mem::transmute(own.cancel);
        own.call(|extra, error| cancel(extra, &complete, error))
    }
}

/// Starts a generalized request.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn grequest_start(
    query: usize,
    free: usize,
    cancel: usize,
    extra: *mut i64,
    request: *mut i32,
    ierror: *mut i32,
) {
    // SAFETY: all are variables of the program.
    unsafe {
        let own = Generalized { query, free, cancel, extra: *extra, variable: extra };
        let own = os::in_heap_of_library(|| Box::into_raw(Box::new(own)).cast());
        let mut made = abi::REQUEST_NULL;
        let address = |function: *const ()| function as usize;
        let result = c::grequest_start(
            address(queries as *const ()),
            address(frees as *const ()),
            address(cancels as *const ()),
            own,
            &mut made,
        );
        *request = made.to_fortran();
        set(ierror, result);
    }
}

/// A representation of data whose functions are in Fortran.
struct Representation {
    read: usize,
    write: usize,
    extent: usize,
    extra: i64,
    wide: bool,
}

impl Representation {
    /// Calls one of the two conversions.
    unsafe fn converts(
        &self,
        function: usize,
        user: *mut c_void,
        datatype: Datatype,
        count: i64,
        file: *mut c_void,
        position: i64,
    ) -> i32 {
        let (handle, small, mut error) = (datatype.to_fortran(), count as i32, abi::SUCCESS);
        let count: *const c_void =
            if self.wide { (&raw const count).cast() } else { (&raw const small).cast() };
        os::in_heap_of_program(|| {
            // SAFETY: the program says that it is such a function.
            unsafe {
                let function: extern "C" fn(
                    *mut c_void,
                    *const i32,
                    *const c_void,
                    *mut c_void,
                    *const i64,
                    *const i64,
                    *mut i32,
                ) = std::mem::transmute(function);
                function(user, &handle, count, file, &position, &self.extra, &mut error);
            }
        });
        error
    }
}

macro_rules! conversions {
    ($($name:ident: $function:ident, $count:ty;)*) => {$(
        unsafe extern "C" fn $name(
            user: *mut c_void,
            datatype: Datatype,
            count: $count,
            file: *mut c_void,
            position: i64,
            extra: *mut c_void,
        ) -> i32 {
            // SAFETY: `extra` is what the representation was made with.
            unsafe {
                let own = &*extra.cast::<Representation>();
                own.converts(own.$function, user, datatype, i64::from(count), file, position)
            }
        }
    )*};
}

conversions! {
    reads: read, i32;
    reads_large: read, i64;
    writes: write, i32;
    writes_large: write, i64;
}

unsafe extern "C" fn extent(datatype: Datatype, extent: *mut i64, extra: *mut c_void) -> i32 {
    let (handle, mut error) = (datatype.to_fortran(), abi::SUCCESS);
    // SAFETY: `extra` is what the representation was made with, and the program says that it is such a function.
    unsafe {
        let own = &*extra.cast::<Representation>();
        let function: extern "C" fn(*const i32, *mut i64, *const i64, *mut i32) =
            std::mem::transmute(own.extent);
        os::in_heap_of_program(|| function(&handle, extent, &own.extra, &mut error));
    }
    error
}

/// Registers a representation of data.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn register_datarep(
    name: *mut c_char,
    read: usize,
    write: usize,
    size: usize,
    extra: *mut i64,
    ierror: *mut i32,
    length: usize,
) {
    // SAFETY: all are variables and functions of the program.
    unsafe {
        register(
            name,
            length,
            Representation { read, write, extent: size, extra: *extra, wide: false },
            ierror,
        )
    };
}

/// Registers a representation of data whose counts are large.
///
/// # Safety
/// Called as Fortran calls.
pub unsafe extern "C" fn register_datarep_c_08(
    name: *mut c_char,
    read: usize,
    write: usize,
    size: usize,
    extra: *mut i64,
    ierror: *mut i32,
    length: usize,
) {
    // SAFETY: all are variables and functions of the program.
    unsafe {
        register(
            name,
            length,
            Representation { read, write, extent: size, extra: *extra, wide: true },
            ierror,
        )
    };
}

unsafe fn register(name: *mut c_char, length: usize, own: Representation, ierror: *mut i32) {
    let none = [
        also_mpi_conversion_fn_null as *const () as usize,
        also_mpi_conversion_fn_null_c as *const () as usize,
    ];
    let given = |function: usize, ours: *const ()| match none.contains(&function) {
        true => abi::CONVERSION_FN_NULL,
        false => ours as usize,
    };
    let wide = own.wide;
    let (read, write) = match wide {
        true => (given(own.read, reads_large as *const ()), given(own.write, writes_large as *const ())),
        false => (given(own.read, reads as *const ()), given(own.write, writes as *const ())),
    };
    // SAFETY: all are variables and functions of the program, or ours.
    unsafe {
        let name = Text::new(name, length, false);
        let own = os::in_heap_of_library(|| Box::into_raw(Box::new(own)).cast());
        let size = extent as *const () as usize;
        set(
            ierror,
            match wide {
                true => c::register_datarep_c(name.as_ptr(), read, write, size, own),
                false => c::register_datarep(name.as_ptr(), read, write, size, own),
            },
        );
    }
}
