//! The representation `external32`: big-endian, IEEE, with sizes that do not depend on the machine (MPI 5.0, 14.5.2).
//!
//! A `long` has 4 bytes there, a `wchar_t` 2, and a `long double` is an IEEE number of 16 bytes. What does not fit loses its
//! upper bytes.

use super::Type;
use super::basic::{Basic, Number};

impl Type {
    /// Bytes of one element in `external32`.
    pub fn external_size(&self) -> usize {
        let mut size = 0;
        self.runs(1, &mut |basic, count| size += basic.external * count);
        size
    }

    /// Writes `count` elements, given without gaps, in `external32`.
    pub fn to_external(&self, data: &[u8], count: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.external_size() * count);
        let mut rest = data;
        self.runs(count, &mut |basic, count| {
            let (here, after) = rest.split_at(basic.size * count);
            rest = after;
            here.chunks_exact(basic.size).for_each(|number| write(basic, number, &mut out));
        });
        out
    }

    /// Reads `count` elements that are written in `external32`; gives their data without gaps.
    pub fn from_external(&self, data: &[u8], count: usize) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.size * count);
        let mut rest = data;
        self.runs(count, &mut |basic, count| {
            let (here, after) = rest.split_at(basic.external * count);
            rest = after;
            here.chunks_exact(basic.external).for_each(|number| read(basic, number, &mut out));
        });
        out
    }
}

/// The kind and size of the parts of a number.
fn parts(basic: &Basic) -> (Number, usize) {
    match basic.number.part() {
        Some(part) => (part, part.size()),
        None => (basic.number, basic.size),
    }
}

fn write(basic: &Basic, native: &[u8], out: &mut Vec<u8>) {
    let (number, size) = parts(basic);
    let external = basic.external / (basic.size / size);
    for part in native.chunks_exact(size) {
        match number {
            Number::F80 => out.extend(quad_of_extended(part).to_be_bytes()),
            _ => out.extend(part[..external].iter().rev()),
        }
    }
}

fn read(basic: &Basic, written: &[u8], out: &mut Vec<u8>) {
    let (number, size) = parts(basic);
    let external = basic.external / (basic.size / size);
    for part in written.chunks_exact(external) {
        match number {
            Number::F80 => {
                let quad = part.iter().fold(0, |value, byte| value << 8 | u128::from(*byte));
                out.extend(extended_of_quad(quad));
            }
            _ => {
                out.extend(part.iter().rev());
                let negative = number.is_signed() && part[0] >= 0x80;
                out.extend(std::iter::repeat_n(if negative { 0xFF } else { 0 }, size - external));
            }
        }
    }
}

/// The IEEE number of 128 bits that has the value of one of the x87: the exponents are the same, the fraction is longer, and
/// its leading 1 is not written.
pub(crate) fn quad_of_extended(bytes: &[u8]) -> u128 {
    let fraction = u64::from_le_bytes(bytes[..8].try_into().expect("it has 8 bytes"));
    let upper = u16::from_le_bytes(bytes[8..10].try_into().expect("it has 2 bytes"));
    u128::from(upper) << 112 | u128::from(fraction & !(1 << 63)) << 49
}

/// The number of the x87 that is nearest to an IEEE number of 128 bits.
pub(crate) fn extended_of_quad(quad: u128) -> [u8; 16] {
    let upper = (quad >> 112) as u16;
    let exponent = upper & 0x7FFF;
    let fraction = quad & ((1 << 112) - 1);
    let leading = u128::from(exponent != 0) << 63;
    let (kept, lost) = (leading | fraction >> 49, fraction & ((1 << 49) - 1));
    let half = 1 << 48;
    let up = exponent != 0x7FFF && (lost > half || (lost == half && kept & 1 == 1));
    // What is not a number stays so, even if only lost bits told it.
    let quiet = u128::from(exponent == 0x7FFF && fraction != 0) << 62;
    let mut kept = (kept | quiet) + u128::from(up);
    let mut upper = upper;
    if kept >> 64 != 0 {
        kept >>= 1;
        upper += 1;
    } else if exponent == 0 && kept >> 63 != 0 {
        upper += 1;
    }
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&(kept as u64).to_le_bytes());
    bytes[8..10].copy_from_slice(&upper.to_le_bytes());
    bytes
}
