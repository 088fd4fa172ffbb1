//! What operators do to numbers, one by one.

/// Integers.
pub trait Integer: Copy + Ord {
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// The sum, as far as it fits.
    fn sum(self, other: Self) -> Self;
    /// The product, as far as it fits.
    fn product(self, other: Self) -> Self;
    /// Bit by bit.
    fn and(self, other: Self) -> Self;
    /// Bit by bit.
    fn or(self, other: Self) -> Self;
    /// Bit by bit.
    fn xor(self, other: Self) -> Self;
}

macro_rules! integers {
    ($($kind:ty)*) => {$(
        impl Integer for $kind {
            const ZERO: Self = 0;
            const ONE: Self = 1;
            #[inline(always)]
            fn sum(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn product(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                self ^ other
            }
        }
    )*};
}

integers! { i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 }

/// Real numbers.
pub trait Real: Copy {
    /// The sum.
    fn sum(self, other: Self) -> Self;
    /// The difference.
    fn difference(self, other: Self) -> Self;
    /// The product.
    fn product(self, other: Self) -> Self;
    /// Whether it is less; nothing is less than what is not a number.
    fn is_less(self, other: Self) -> bool;
}

macro_rules! reals {
    ($($kind:ty)*) => {$(
        impl Real for $kind {
            #[inline(always)]
            fn sum(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn difference(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn product(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn is_less(self, other: Self) -> bool {
                self < other
            }
        }
    )*};
}

reals! { f32 f64 }

/// Complex numbers, as C and Fortran lay them out.
#[repr(C)]
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Complex<R> {
    /// The real part.
    pub real: R,
    /// The imaginary part.
    pub imaginary: R,
}

impl<R: Real> Complex<R> {
    /// The sum.
    #[inline(always)]
    pub fn sum(self, other: Self) -> Self {
        Self { real: self.real.sum(other.real), imaginary: self.imaginary.sum(other.imaginary) }
    }

    /// The product.
    #[inline(always)]
    pub fn product(self, other: Self) -> Self {
        Self {
            real: self.real.product(other.real).difference(self.imaginary.product(other.imaginary)),
            imaginary: self.real.product(other.imaginary).sum(self.imaginary.product(other.real)),
        }
    }
}
