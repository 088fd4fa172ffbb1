//! MPI's binary interface: handles, constants, statuses, as the standard fixes them (MPI 5.0, chapter 20).
//!
//! A handle is a pointer to nothing: a number below 4096 for what is predefined, and above for what a program makes
//! ([`crate::handle`]). All fit into the integers that are handles in Fortran.

use std::ffi::{c_char, c_void};

macro_rules! handles {
    ($($name:ident: $what:literal,)*) => {$(
        #[doc = $what]
        #[repr(transparent)]
        #[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub usize);

        impl $name {
            /// The integer that stands for it in Fortran.
            pub fn to_fortran(self) -> i32 {
                self.0 as i32
            }

            /// What an integer stands for in Fortran.
            pub fn from_fortran(handle: i32) -> Self {
                Self(handle as u32 as usize)
            }
        }
    )*};
}

handles! {
    Comm: "A communicator.",
    Datatype: "A datatype.",
    Errhandler: "An error handler.",
    File: "A file.",
    Group: "A group of processes.",
    Info: "A list of keys and values.",
    Message: "A message that was found by a matched probe.",
    Op: "An operator of reductions.",
    Request: "A communication, or something else, that is under way.",
    Session: "A session.",
    Win: "A window.",
}

include!(concat!(env!("OUT_DIR"), "/constants.rs"));
include!(concat!(env!("OUT_DIR"), "/procedures.rs"));

impl Procedure {
    /// `MPI_Send`.
    pub fn name(self) -> &'static str {
        crate::entry::PROCEDURES[self as usize].0
    }
}

/// What is known of a message, or of anything else that was completed.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// Who sent it.
    pub source: i32,
    /// Its tag.
    pub tag: i32,
    /// What went wrong, where several are completed at once.
    pub error: i32,
    /// The bytes that it brought (two words), whether it was cancelled, and two that are not used.
    hidden: [i32; 5],
}

impl Status {
    /// Of a message of so many bytes.
    pub fn new(source: i32, tag: i32, bytes: i64) -> Self {
        let mut status = Self { source, tag, error: SUCCESS, hidden: [0; 5] };
        status.set_bytes(bytes);
        status
    }

    /// What is given where there is nothing to tell (3.7.3).
    pub fn empty() -> Self {
        Self::new(ANY_SOURCE, ANY_TAG, 0)
    }

    /// That of a receive from nobody (3.10).
    pub fn of_nobody() -> Self {
        Self::new(PROC_NULL, ANY_TAG, 0)
    }

    /// How many bytes it brought.
    pub fn bytes(&self) -> i64 {
        i64::from(self.hidden[0] as u32) | i64::from(self.hidden[1]) << 32
    }

    /// It brought so many bytes.
    pub fn set_bytes(&mut self, bytes: i64) {
        (self.hidden[0], self.hidden[1]) = (bytes as i32, (bytes >> 32) as i32);
    }

    /// Whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.hidden[2] != 0
    }

    /// It was cancelled, or not.
    pub fn set_cancelled(&mut self, cancelled: bool) {
        self.hidden[2] = i32::from(cancelled);
    }

    /// Writes that there is nothing to tell, `MPI_ERROR` too.
    ///
    /// # Safety
    /// `place` is null (`MPI_STATUS_IGNORE`) or a status of the program.
    pub unsafe fn write_empty(place: *mut Status) {
        if !place.is_null() {
            // SAFETY: it is not null, so it is a status of the program.
            unsafe { place.write(Status::empty()) };
        }
    }

    /// Writes it where a program wants it, unless it does not; `MPI_ERROR` is left as it was (3.2.5).
    ///
    /// # Safety
    /// `place` is null (`MPI_STATUS_IGNORE`) or a status of the program.
    pub unsafe fn write(self, place: *mut Status) {
        if !place.is_null() {
            // SAFETY: it is not null, so it is a status of the program.
            unsafe {
                let error = (*place).error;
                *place = Status { error, ..self };
            }
        }
    }
}

/// An array of counts or displacements that a program gives, of 32 or of 64 bits each.
#[derive(Copy, Clone, Debug)]
pub struct Counts {
    first: *const c_void,
    wide: bool,
}

impl Counts {
    /// An array that begins here.
    pub fn new(first: *const c_void, wide: bool) -> Self {
        Self { first, wide }
    }

    /// Whether there is none.
    pub fn is_null(self) -> bool {
        self.first.is_null()
    }

    /// Whether each has 64 bits.
    pub fn is_wide(self) -> bool {
        self.wide
    }

    /// From where to where so many of them lie.
    pub fn place(self, length: usize) -> (usize, usize) {
        let each = if self.wide { size_of::<i64>() } else { size_of::<i32>() };
        (self.first.addr(), self.first.addr() + length * each)
    }

    /// One of them.
    ///
    /// # Safety
    /// The array has more than `index` elements.
    pub unsafe fn get(self, index: usize) -> i64 {
        // SAFETY: the caller knows its length.
        unsafe {
            match self.wide {
                true => self.first.cast::<i64>().add(index).read_unaligned(),
                false => i64::from(self.first.cast::<i32>().add(index).read_unaligned()),
            }
        }
    }

    /// The first `length` of them.
    ///
    /// # Safety
    /// The array has so many.
    pub unsafe fn take(self, length: usize) -> Vec<i64> {
        // SAFETY: the caller knows its length.
        (0..length).map(|index| unsafe { self.get(index) }).collect()
    }
}

/// Where a program wants a count, or an array of them, of 32 or of 64 bits each.
#[derive(Copy, Clone, Debug)]
pub struct CountsOut {
    first: *mut c_void,
    wide: bool,
}

impl CountsOut {
    /// An array that begins here.
    pub fn new(first: *mut c_void, wide: bool) -> Self {
        Self { first, wide }
    }

    /// Where nobody asks.
    pub fn none() -> Self {
        Self { first: std::ptr::null_mut(), wide: false }
    }

    /// Whether nobody asks.
    pub fn is_null(self) -> bool {
        self.first.is_null()
    }

    /// Whether it has 64 bits.
    pub fn is_wide(self) -> bool {
        self.wide
    }

    /// Writes one of them; what does not fit is `MPI_UNDEFINED`.
    ///
    /// # Safety
    /// It is null, or the array has more than `index` elements.
    pub unsafe fn set(self, index: usize, value: i64) {
        if self.first.is_null() {
            return;
        }
        // SAFETY: the caller knows its length.
        unsafe {
            match self.wide {
                true => self.first.cast::<i64>().add(index).write_unaligned(value),
                false => {
                    let value = i32::try_from(value).unwrap_or(UNDEFINED);
                    self.first.cast::<i32>().add(index).write_unaligned(value);
                }
            }
        }
    }

    /// The one that is there.
    ///
    /// # Safety
    /// The array has more than `index` elements.
    pub unsafe fn get(self, index: usize) -> i64 {
        // SAFETY: the caller knows its length.
        unsafe { Counts::new(self.first, self.wide).get(index) }
    }
}

/// A function of the program that exists with `int` counts, or with large ones.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Where it is.
    pub address: usize,
    /// Whether its counts have 64 bits.
    pub wide: bool,
}

impl Function {
    /// One at this address.
    pub fn new(address: usize, wide: bool) -> Self {
        Self { address, wide }
    }
}

/// The text that a program gives.
///
/// # Safety
/// It ends with a zero.
pub unsafe fn text_of(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: it ends with a zero.
    unsafe { std::ffi::CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Writes a text, and a zero after it, where a program wants it; of a long one the beginning.
///
/// # Safety
/// There is room for `room` bytes.
pub unsafe fn write_text(text: &str, place: *mut c_char, room: usize) -> usize {
    let length = text.len().min(room.saturating_sub(1));
    // SAFETY: there is room for the zero too.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), place.cast::<u8>(), length);
        place.add(length).write(0);
    }
    length
}
