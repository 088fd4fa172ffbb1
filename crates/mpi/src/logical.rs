//! What is true and false in Fortran, where a program has said it (MPI 5.0, chapter 20).

use crate::abi;
use crate::error::{Result, fail};

/// The two values of a `LOGICAL`.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Booleans {
    /// The bytes of one.
    pub size: usize,
    /// `.TRUE.`
    pub yes: [u8; 16],
    /// `.FALSE.`
    pub no: [u8; 16],
}

impl Booleans {
    /// Those of a program.
    ///
    /// # Errors
    /// If no `LOGICAL` has so many bytes, or both are equal.
    pub fn new(size: i32, yes: &[u8], no: &[u8]) -> Result<Self> {
        let size = check_size(size)?;
        if yes[..size] == no[..size] {
            return fail(abi::ERR_ARG, "the values for .TRUE. and .FALSE. are equal");
        }
        let value = |bytes: &[u8]| {
            let mut value = [0; 16];
            value[..size].copy_from_slice(&bytes[..size]);
            value
        };
        Ok(Self { size, yes: value(yes), no: value(no) })
    }
}

/// Checks the bytes of a `LOGICAL`.
///
/// # Errors
/// If none has so many.
pub fn check_size(size: i32) -> Result<usize> {
    match size {
        1 | 2 | 4 | 8 | 16 => Ok(size as usize),
        _ => fail(abi::ERR_ARG, format!("no LOGICAL has {size} bytes: give 1, 2, 4, 8 or 16")),
    }
}
