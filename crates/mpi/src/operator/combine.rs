//! What the standard's operators do to many numbers, by their kind.

use super::Predefined;
use super::extended::Extended;
use super::half::Half;
use super::numbers::{Complex, Integer, Real};
use super::pairs::locate;
use super::quad::Quad;
use crate::datatype::{Leaf, Number};

/// `right[i] = left[i] op right[i]`. Pairs lie `stride` bytes apart; without gaps if that is their size.
///
/// # Safety
/// `count` numbers or pairs lie at both places.
pub unsafe fn combine(
    operator: Predefined,
    leaf: Leaf,
    stride: usize,
    left: *const u8,
    right: *mut u8,
    count: usize,
) {
    // SAFETY: so many lie there, in all of what follows.
    unsafe {
        match (operator, leaf) {
            (Predefined::NoOp, _) => {}
            (Predefined::Replace, Leaf::Basic(basic)) => std::ptr::copy(left, right, basic.size * count),
            (Predefined::Replace, Leaf::Pair(..)) => std::ptr::copy(left, right, stride * count),
            (_, Leaf::Pair(value, index)) => {
                let packed = stride == leaf.size();
                let offset = if packed { value.size } else { Leaf::index_offset(value, index) };
                let greatest = operator == Predefined::Maxloc;
                locate(greatest, (value, index), (stride, offset), left, right, count);
            }
            (_, Leaf::Basic(basic)) => match basic.number {
                Number::I8 => integers::<i8>(operator, left, right, count),
                Number::I16 => integers::<i16>(operator, left, right, count),
                Number::I32 => integers::<i32>(operator, left, right, count),
                Number::I64 => integers::<i64>(operator, left, right, count),
                Number::I128 => integers::<i128>(operator, left, right, count),
                Number::U8 => integers::<u8>(operator, left, right, count),
                Number::U16 => integers::<u16>(operator, left, right, count),
                Number::U32 => integers::<u32>(operator, left, right, count),
                Number::U64 => integers::<u64>(operator, left, right, count),
                Number::U128 => integers::<u128>(operator, left, right, count),
                Number::F16 => reals::<Half>(operator, left, right, count),
                Number::F32 => reals::<f32>(operator, left, right, count),
                Number::F64 => reals::<f64>(operator, left, right, count),
                Number::F80 => reals::<Extended>(operator, left, right, count),
                Number::F128 => reals::<Quad>(operator, left, right, count),
                Number::ComplexF16 => complexes::<Half>(operator, left, right, count),
                Number::ComplexF32 => complexes::<f32>(operator, left, right, count),
                Number::ComplexF64 => complexes::<f64>(operator, left, right, count),
                Number::ComplexF80 => complexes::<Extended>(operator, left, right, count),
                Number::ComplexF128 => complexes::<Quad>(operator, left, right, count),
            },
        }
    }
}

/// One after the other; programs' numbers may lie at any address.
///
/// # Safety
/// `count` numbers lie at both places.
#[inline(always)]
unsafe fn each<T: Copy>(left: *const u8, right: *mut u8, count: usize, of: impl Fn(T, T) -> T) {
    let (left, right) = (left.cast::<T>(), right.cast::<T>());
    for index in 0..count {
        // SAFETY: so many numbers lie there.
        unsafe {
            let result = of(left.add(index).read_unaligned(), right.add(index).read_unaligned());
            right.add(index).write_unaligned(result);
        }
    }
}

/// # Safety
/// `count` integers lie at both places.
unsafe fn integers<T: Integer>(operator: Predefined, left: *const u8, right: *mut u8, count: usize) {
    let truth = |is: bool| if is { T::ONE } else { T::ZERO };
    let is = |number: T| number != T::ZERO;
    // SAFETY: so many integers lie there.
    unsafe {
        match operator {
            Predefined::Sum => each(left, right, count, T::sum),
            Predefined::Prod => each(left, right, count, T::product),
            Predefined::Min => each(left, right, count, |a: T, b| a.min(b)),
            Predefined::Max => each(left, right, count, |a: T, b| a.max(b)),
            Predefined::Band => each(left, right, count, T::and),
            Predefined::Bor => each(left, right, count, T::or),
            Predefined::Bxor => each(left, right, count, T::xor),
            Predefined::Land => each(left, right, count, |a, b| truth(is(a) && is(b))),
            Predefined::Lor => each(left, right, count, |a, b| truth(is(a) || is(b))),
            Predefined::Lxor => each(left, right, count, |a, b| truth(is(a) != is(b))),
            other => unreachable!("{other:?} is not for integers"),
        }
    }
}

/// # Safety
/// `count` reals lie at both places.
unsafe fn reals<T: Real>(operator: Predefined, left: *const u8, right: *mut u8, count: usize) {
    // SAFETY: so many reals lie there.
    unsafe {
        match operator {
            Predefined::Sum => each(left, right, count, T::sum),
            Predefined::Prod => each(left, right, count, T::product),
            Predefined::Min => each(left, right, count, |a: T, b| if a.is_less(b) { a } else { b }),
            Predefined::Max => each(left, right, count, |a: T, b| if b.is_less(a) { a } else { b }),
            other => unreachable!("{other:?} is not for reals"),
        }
    }
}

/// # Safety
/// `count` complex numbers lie at both places.
unsafe fn complexes<T: Real>(operator: Predefined, left: *const u8, right: *mut u8, count: usize) {
    // SAFETY: so many complex numbers lie there.
    unsafe {
        match operator {
            Predefined::Sum => each(left, right, count, Complex::<T>::sum),
            Predefined::Prod => each(left, right, count, Complex::<T>::product),
            other => unreachable!("{other:?} is not for complex numbers"),
        }
    }
}
