//! The `long double` of x86: 80 bits, of which Rust has no type. The x87 does the arithmetic, by its own instructions; on
//! other machines `long double` is another type, and this crate is for x86-64 alone.

use std::arch::asm;
use std::cmp::Ordering;

use super::numbers::Real;

/// A number of the x87, in the 16 bytes that C gives it; the last six mean nothing.
#[repr(C, align(16))]
#[derive(Copy, Clone, Debug)]
pub struct Extended(pub [u8; 16]);

macro_rules! operation {
    ($name:ident, $instruction:literal) => {
        fn $name(self, other: Self) -> Self {
            let mut result = self;
            // SAFETY: both numbers are loaded, and one is stored: the stack of the x87 is as it was. It is empty at every call.
            unsafe {
                asm!(
                    "fld tbyte ptr [{left}]",
                    "fld tbyte ptr [{right}]",
                    $instruction,
                    "fstp tbyte ptr [{left}]",
                    left = in(reg) &raw mut result,
                    right = in(reg) &raw const other,
                    out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                    out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                    options(nostack),
                );
            }
            result
        }
    };
}

impl Real for Extended {
    operation!(sum, "faddp st(1), st");
    // The assembler of LLVM writes `st(1) = st(1) - st` so.
    operation!(difference, "fsubp st(1), st");
    operation!(product, "fmulp st(1), st");

    fn is_less(self, other: Self) -> bool {
        self.compared(other) == Some(Ordering::Less)
    }
}

impl Extended {
    /// A number of another kind.
    #[cfg(test)]
    pub fn of(number: f64) -> Self {
        let mut result = Self([0; 16]);
        // SAFETY: one number is loaded, and stored.
        unsafe {
            asm!(
                "fld qword ptr [{from}]",
                "fstp tbyte ptr [{to}]",
                from = in(reg) &raw const number,
                to = in(reg) &raw mut result,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        result
    }

    /// As a number of another kind, rounded.
    #[cfg(test)]
    pub fn to_f64(self) -> f64 {
        let mut result = 0.0;
        // SAFETY: one number is loaded, and stored.
        unsafe {
            asm!(
                "fld tbyte ptr [{from}]",
                "fstp qword ptr [{to}]",
                from = in(reg) &raw const self,
                to = in(reg) &raw mut result,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        result
    }

    /// Which is less; none if one is not a number.
    pub fn compared(self, other: Self) -> Option<Ordering> {
        let (above, unordered, equal): (u8, u8, u8);
        // SAFETY: both numbers are loaded, and both are dropped: `fucomip` drops one, `fstp` the other.
        unsafe {
            asm!(
                "fld tbyte ptr [{right}]",
                "fld tbyte ptr [{left}]",
                "fucomip st, st(1)",
                "fstp st(0)",
                "seta {above}",
                "setp {unordered}",
                "sete {equal}",
                left = in(reg) &raw const self,
                right = in(reg) &raw const other,
                above = lateout(reg_byte) above,
                unordered = lateout(reg_byte) unordered,
                equal = lateout(reg_byte) equal,
                out("st(0)") _, out("st(1)") _, out("st(2)") _, out("st(3)") _,
                out("st(4)") _, out("st(5)") _, out("st(6)") _, out("st(7)") _,
                options(nostack),
            );
        }
        match (unordered != 0, above != 0, equal != 0) {
            (true, ..) => None,
            (_, true, _) => Some(Ordering::Greater),
            (_, _, true) => Some(Ordering::Equal),
            _ => Some(Ordering::Less),
        }
    }
}
