//! Half precision: 16 bits, by way of 32.

use super::numbers::Real;

/// An IEEE number of 16 bits.
#[repr(transparent)]
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Half(pub u16);

impl Half {
    /// As a number of 32 bits, which holds all of them.
    pub fn to_f32(self) -> f32 {
        let sign = u32::from(self.0 >> 15) << 31;
        let (exponent, fraction) = (u32::from(self.0 >> 10 & 0x1F), u32::from(self.0 & 0x3FF));
        match exponent {
            // The smallest of them are multiples of 2^-24.
            0 => {
                let value = fraction as f32 / (1u32 << 24) as f32;
                f32::from_bits(value.to_bits() | sign)
            }
            0x1F => f32::from_bits(sign | 0xFF << 23 | fraction << 13),
            _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
        }
    }

    /// The nearest to a number of 32 bits; the even one of two.
    pub fn of(number: f32) -> Self {
        let bits = number.to_bits();
        let sign = (bits >> 16) as u16 & 0x8000;
        let magnitude = bits & 0x7FFF_FFFF;
        if magnitude > 0x7F80_0000 {
            return Self(sign | 0x7E00 | (magnitude >> 13) as u16 & 0x3FF);
        }
        let exponent = (magnitude >> 23) as i32 - 112;
        // How many bits are lost, of the fraction with its leading 1.
        let (fraction, lost) = match exponent {
            1.. => (magnitude & 0x7F_FFFF | (exponent as u32).min(63) << 23, 13),
            _ => (magnitude & 0x7F_FFFF | 1 << 23, (14 - exponent).min(31)),
        };
        if exponent >= 31 {
            return Self(sign | 0x7C00);
        }
        let kept = fraction >> lost;
        let rest = fraction & ((1 << lost) - 1);
        let half = 1 << (lost - 1);
        let up = rest > half || (rest == half && kept & 1 == 1);
        Self(sign | (kept + u32::from(up)) as u16)
    }
}

impl Real for Half {
    fn sum(self, other: Self) -> Self {
        Self::of(self.to_f32() + other.to_f32())
    }

    fn difference(self, other: Self) -> Self {
        Self::of(self.to_f32() - other.to_f32())
    }

    fn product(self, other: Self) -> Self {
        Self::of(self.to_f32() * other.to_f32())
    }

    fn is_less(self, other: Self) -> bool {
        self.to_f32() < other.to_f32()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_them_come_back() {
        for bits in 0..=u16::MAX {
            let half = Half(bits);
            match half.to_f32().is_nan() {
                true => assert!(Half::of(half.to_f32()).to_f32().is_nan()),
                false => assert_eq!(Half::of(half.to_f32()), half),
            }
        }
    }

    #[test]
    fn the_nearest_is_taken() {
        // Between any two neighbours: the middle goes to the even one, what is beside it to the nearer.
        for bits in 0..0x7BFFu16 {
            let (low, high) = (Half(bits).to_f32(), Half(bits + 1).to_f32());
            let middle = (low + high) / 2.0;
            assert_eq!(Half::of(middle).0, bits + (bits & 1), "{middle}");
            assert_eq!(Half::of(middle.next_down()).0, bits, "{middle}");
            assert_eq!(Half::of(-middle.next_up()).0, 0x8000 | (bits + 1), "{middle}");
        }
        assert_eq!(Half::of(65520.0).0, 0x7C00);
        assert_eq!(Half::of(65519.0).0, 0x7BFF);
        assert_eq!(Half::of(1e-30).0, 0);
        assert_eq!(
            (Half::of(1.5).sum(Half::of(2.0)), Half::of(3.0).product(Half::of(-2.0))),
            (Half::of(3.5), Half::of(-6.0))
        );
    }
}
