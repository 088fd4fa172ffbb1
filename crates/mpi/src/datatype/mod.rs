//! Datatypes: which bytes of memory make up a message, and what they mean (MPI 5.0, chapter 5).

use std::cell::RefCell;
use std::ffi::c_void;

use crate::attributes::Attributes;

/// A datatype.
#[derive(Debug)]
pub struct Type {
    /// Bytes of data in one element.
    pub size: usize,
    /// From one element to the next.
    pub extent: i64,
    /// What programs attached to it.
    pub attributes: RefCell<Attributes>,
    /// What programs call it.
    pub name: RefCell<String>,
}

impl Type {
    /// Whether the standard has made it.
    pub fn is_predefined(&self) -> bool {
        true
    }

    /// Appends the data of `count` elements, without the gaps, to `out`.
    ///
    /// # Safety
    /// So many elements lie at `buffer`.
    pub unsafe fn pack(&self, buffer: *const c_void, count: usize, out: &mut impl Extend<u8>) {
        // SAFETY: so many bytes lie there.
        out.extend(
            unsafe { std::slice::from_raw_parts(buffer.cast::<u8>(), self.size * count) }.iter().copied(),
        );
    }

    /// Puts data where the elements lie at `buffer`, `count` of them at most; gives the bytes that were used.
    ///
    /// # Safety
    /// There is room for so many elements.
    pub unsafe fn unpack(&self, data: &[u8], buffer: *mut c_void, count: usize) -> usize {
        let used = data.len().min(self.size * count);
        // SAFETY: there is room for so many bytes.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), buffer.cast(), used) };
        used
    }
}
