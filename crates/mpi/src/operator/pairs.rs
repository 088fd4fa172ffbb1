//! Values with an index: the least or the greatest, and where it is; of equal ones the least index (MPI 5.0, 6.9.4).

use super::extended::Extended;
use super::half::Half;
use super::numbers::Real;
use super::quad::Quad;
use crate::datatype::{Basic, Number};

/// Whether a number is less than another.
///
/// # Safety
/// Such numbers lie at both places.
unsafe fn is_less(number: Number, left: *const u8, right: *const u8) -> bool {
    macro_rules! compared {
        ($kind:ty, $less:expr) => {
            // SAFETY: such numbers lie there.
            unsafe {
                let (left, right) =
                    (left.cast::<$kind>().read_unaligned(), right.cast::<$kind>().read_unaligned());
                $less(left, right)
            }
        };
    }
    match number {
        Number::I8 => compared!(i8, |a, b| a < b),
        Number::I16 => compared!(i16, |a, b| a < b),
        Number::I32 => compared!(i32, |a, b| a < b),
        Number::I64 => compared!(i64, |a, b| a < b),
        Number::I128 => compared!(i128, |a, b| a < b),
        Number::U8 => compared!(u8, |a, b| a < b),
        Number::U16 => compared!(u16, |a, b| a < b),
        Number::U32 => compared!(u32, |a, b| a < b),
        Number::U64 => compared!(u64, |a, b| a < b),
        Number::U128 => compared!(u128, |a, b| a < b),
        Number::F16 => compared!(Half, Half::is_less),
        Number::F32 => compared!(f32, f32::is_less),
        Number::F64 => compared!(f64, f64::is_less),
        Number::F80 => compared!(Extended, Extended::is_less),
        Number::F128 => compared!(Quad, Quad::is_less),
        Number::ComplexF16
        | Number::ComplexF32
        | Number::ComplexF64
        | Number::ComplexF80
        | Number::ComplexF128 => false,
    }
}

/// Takes over from `left` what is better there: less, or greater.
///
/// # Safety
/// `count` pairs lie at both places, one every `stride` bytes, each with its index `offset` bytes after its value.
pub unsafe fn locate(
    greatest: bool,
    (value, index): (&Basic, &Basic),
    (stride, offset): (usize, usize),
    left: *const u8,
    right: *mut u8,
    count: usize,
) {
    for pair in 0..count {
        // SAFETY: so many pairs lie there.
        unsafe {
            let (left, right) = (left.add(pair * stride), right.add(pair * stride));
            let (less, more) = (is_less(value.number, left, right), is_less(value.number, right, left));
            let better = if greatest { more } else { less };
            if better {
                std::ptr::copy(left, right, value.size);
            }
            let earlier = !less && !more && is_less(index.number, left.add(offset), right.add(offset));
            if better || earlier {
                std::ptr::copy(left.add(offset), right.add(offset), index.size);
            }
        }
    }
}
