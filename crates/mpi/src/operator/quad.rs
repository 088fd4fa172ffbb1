//! Quadruple precision, by integers: sign, exponent, fraction, rounded to the nearest, the even one of two (IEEE 754).

use super::numbers::Real;

/// An IEEE number of 128 bits.
#[repr(transparent)]
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Quad(pub u128);

const FRACTION_BITS: u32 = 112;
const FRACTION: u128 = (1 << FRACTION_BITS) - 1;
const SIGN: u128 = 1 << 127;
const EXPONENT_MAX: i32 = 0x7FFF;
const INFINITY: u128 = (EXPONENT_MAX as u128) << FRACTION_BITS;
const NOT_A_NUMBER: u128 = INFINITY | 1 << (FRACTION_BITS - 1);
/// Bits below the last that are kept until rounding: the two after it, and whether any other was not 0.
const GUARD: u32 = 3;

impl Quad {
    fn is_negative(self) -> bool {
        self.0 & SIGN != 0
    }

    fn magnitude(self) -> u128 {
        self.0 & !SIGN
    }

    fn is_nan(self) -> bool {
        self.magnitude() > INFINITY
    }

    fn is_infinite(self) -> bool {
        self.magnitude() == INFINITY
    }

    /// The exponent, and the fraction with its leading 1. The smallest numbers have the exponent 1, and no leading 1.
    fn parts(self) -> (i32, u128) {
        let exponent = (self.magnitude() >> FRACTION_BITS) as i32;
        let fraction = self.0 & FRACTION;
        if exponent == 0 { (1, fraction) } else { (exponent, fraction | 1 << FRACTION_BITS) }
    }

    fn negated(self) -> Self {
        Self(self.0 ^ SIGN)
    }

    /// The number nearest to a fraction with guard bits, whose leading 1 is where it belongs if the exponent is not the least.
    fn rounded(negative: bool, exponent: i32, fraction: u128) -> Self {
        let sign = if negative { SIGN } else { 0 };
        let (mut exponent, mut fraction) = (exponent, fraction);
        if fraction == 0 {
            return Self(sign);
        }
        let leading = 127 - fraction.leading_zeros() as i32 - (FRACTION_BITS + GUARD) as i32;
        if leading > 0 {
            fraction = shifted_right(fraction, leading as u32);
            exponent += leading;
        } else {
            let up = (-leading).min(exponent - 1).max(0);
            fraction <<= up;
            exponent -= up;
        }
        if exponent < 1 {
            fraction = shifted_right(fraction, (1 - exponent) as u32);
            exponent = 1;
        }
        let lost = fraction & ((1 << GUARD) - 1);
        let kept = fraction >> GUARD;
        let half = 1 << (GUARD - 1);
        let kept = kept + u128::from(lost > half || (lost == half && kept & 1 == 1));
        // Without a leading 1 the exponent is written as 0; a carry from rounding makes it the next one by itself.
        let magnitude = ((exponent as u128 - 1) << FRACTION_BITS) + kept;
        if magnitude >= INFINITY { Self(sign | INFINITY) } else { Self(sign | magnitude) }
    }
}

/// To the right; the last bit tells whether any that was lost was not 0.
fn shifted_right(value: u128, by: u32) -> u128 {
    match by {
        0 => value,
        1..128 => value >> by | u128::from(value << (128 - by) != 0),
        _ => u128::from(value != 0),
    }
}

/// The product of two numbers of 128 bits: upper and lower half.
fn long_product(a: u128, b: u128) -> (u128, u128) {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (low, middle, other, high) = (a0 * b0, a1 * b0, a0 * b1, a1 * b1);
    let sum = (low >> 64) + (middle & LOW) + (other & LOW);
    (high + (middle >> 64) + (other >> 64) + (sum >> 64), sum << 64 | low & LOW)
}

impl Real for Quad {
    fn sum(self, other: Self) -> Self {
        if self.is_nan() || other.is_nan() {
            return Self(if self.is_nan() { self.0 } else { other.0 } | NOT_A_NUMBER);
        }
        match (self.is_infinite(), other.is_infinite()) {
            (true, true) if self != other => return Self(NOT_A_NUMBER),
            (true, _) => return self,
            (_, true) => return other,
            _ => {}
        }
        let (large, small) =
            if self.magnitude() >= other.magnitude() { (self, other) } else { (other, self) };
        let ((exponent, left), (lower, right)) = (large.parts(), small.parts());
        let left = left << GUARD;
        let right = shifted_right(right << GUARD, (exponent - lower) as u32);
        if large.is_negative() == small.is_negative() {
            return Self::rounded(large.is_negative(), exponent, left + right);
        }
        let difference = left - right;
        Self::rounded(large.is_negative() && difference != 0, exponent, difference)
    }

    fn difference(self, other: Self) -> Self {
        self.sum(other.negated())
    }

    fn product(self, other: Self) -> Self {
        let negative = self.is_negative() != other.is_negative();
        if self.is_nan() || other.is_nan() {
            return Self(if self.is_nan() { self.0 } else { other.0 } | NOT_A_NUMBER);
        }
        if self.is_infinite() || other.is_infinite() {
            let nothing = self.magnitude() == 0 || other.magnitude() == 0;
            let sign = if negative { SIGN } else { 0 };
            return Self(if nothing { NOT_A_NUMBER } else { sign | INFINITY });
        }
        let ((a, left), (b, right)) = (self.parts(), other.parts());
        // Both with a leading 1 at bit 112, so that their product has its own at bit 224 or 225.
        let normal = |exponent: i32, fraction: u128| {
            let up = fraction.leading_zeros().saturating_sub(127 - FRACTION_BITS).min(FRACTION_BITS);
            (exponent - up as i32, fraction << up)
        };
        let ((a, left), (b, right)) = (normal(a, left), normal(b, right));
        let (high, low) = long_product(left, right);
        let lost = FRACTION_BITS - GUARD;
        let fraction = high << (128 - lost) | low >> lost | u128::from(low << (128 - lost) != 0);
        Self::rounded(negative, a + b - 0x3FFF, fraction)
    }

    fn is_less(self, other: Self) -> bool {
        if self.is_nan() || other.is_nan() || self.magnitude() | other.magnitude() == 0 {
            return false;
        }
        match (self.is_negative(), other.is_negative()) {
            (false, false) => self.0 < other.0,
            (true, true) => self.0 > other.0,
            (negative, _) => negative,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::arch::asm;
    use std::arch::x86_64::__m128i;

    use simurgh_random::Random;

    use super::*;

    // What compilers call for such numbers.
    unsafe extern "C" {
        fn __addtf3();
        fn __multf3();
    }

    /// Calls one of them: such numbers travel in the registers of vectors.
    macro_rules! called {
        ($function:ident, $left:expr, $right:expr) => {{
            // SAFETY: both have 128 bits, of which all values are valid.
            let (mut left, right) = unsafe {
                (
                    std::mem::transmute::<u128, __m128i>($left.0),
                    std::mem::transmute::<u128, __m128i>($right.0),
                )
            };
            // SAFETY: the function is there, and any numbers may be given to it.
            unsafe {
                asm!("call {}@PLT", sym $function, inout("xmm0") left, in("xmm1") right, clobber_abi("C"));
            }
            // SAFETY: as above.
            Quad(unsafe { std::mem::transmute::<__m128i, u128>(left) })
        }};
    }

    fn random_quad(random: &mut Random) -> Quad {
        let exponent = match random.below(5) {
            0 => random.below(3),
            1 => 0x7FFF - random.below(3),
            2 => random.below(0x8000),
            _ => 0x3FFF - 120 + random.below(240),
        };
        let fraction = u128::from(random.next_u64()) << 64 | u128::from(random.next_u64());
        let fraction = match random.below(3) {
            0 => 0,
            1 => fraction & fraction >> 50 & FRACTION,
            _ => fraction & FRACTION,
        };
        Quad(u128::from(random.below(2)) << 127 | u128::from(exponent) << FRACTION_BITS | fraction)
    }

    #[test]
    fn it_is_the_arithmetic_of_compilers() {
        let mut random = Random::new(3, 0);
        for _ in 0..300_000 {
            let (a, b) = (random_quad(&mut random), random_quad(&mut random));
            let (sum, product) = (called!(__addtf3, a, b), called!(__multf3, a, b));
            let same = |ours: Quad, theirs: Quad| ours == theirs || (ours.is_nan() && theirs.is_nan());
            assert!(same(a.sum(b), sum), "{a:x?} + {b:x?}: {:x?}, not {sum:x?}", a.sum(b));
            assert!(same(a.product(b), product), "{a:x?} * {b:x?}: {:x?}, not {product:x?}", a.product(b));
        }
    }
}
