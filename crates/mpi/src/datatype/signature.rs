//! Signatures: the basic types of a datatype, in order, without their places (MPI 5.0, 5.1).
//!
//! Whether two signatures are the same is told by their lengths and by a polynomial over the prime 2^61 - 1, whose value for
//! many repetitions takes few steps: no type is expanded to be compared.

use std::rc::Rc;

use super::basic::{Basic, Leaf};
use super::{Class, Type};
use crate::abi;

const PRIME: u64 = (1 << 61) - 1;
const BASE: u64 = 0x0123_4567_89AB_CDEF % PRIME;

/// A summary of a sequence of basic types.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// How many basic types.
    pub elements: u64,
    value: u64,
    /// Whether data may be of any type: `MPI_PACKED` (and nothing, of which there are no elements).
    any: bool,
}

impl Signature {
    /// Of nothing.
    pub fn empty() -> Self {
        Self { elements: 0, value: 0, any: true }
    }

    /// Of one basic type.
    pub fn of(basic: &Basic) -> Self {
        let any = basic.class == Class::Other && basic.handle == abi::PACKED;
        // Types that mean the same bytes match, whatever language and however long their names are; bytes match bytes alone.
        let kind = match basic.class {
            Class::Byte => 1,
            Class::Logical => 2 + basic.size as u64,
            Class::Other => 64 + basic.handle.0 as u64,
            _ => 32 + basic.number as u64,
        };
        Self { elements: 1, value: kind, any }
    }

    /// This one, then another.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        self.moved(power(next.elements), next)
    }

    /// This one, then another, whose length moves this one by a known factor.
    fn moved(self, factor: u64, next: Self) -> Self {
        Self {
            elements: self.elements.wrapping_add(next.elements),
            value: (times(self.value, factor) + next.value) % PRIME,
            any: self.any && next.any,
        }
    }

    /// This one `count` times.
    #[must_use]
    pub fn repeated(self, count: u64) -> Self {
        let (mut result, mut square, mut left) = (Self::empty(), self, count);
        let mut factor = power(self.elements);
        while left > 0 {
            if left & 1 == 1 {
                result = result.moved(factor, square);
            }
            square = square.moved(factor, square);
            factor = times(factor, factor);
            left >>= 1;
        }
        result
    }

    /// Whether data that were sent as this may be received as `other`, which may be longer.
    ///
    /// A longer receive is judged by what the caller cuts from it: both are to have as many basic types.
    pub fn matches(self, other: Self) -> bool {
        let is_any = |one: Self| one.any && one.elements > 0;
        is_any(self) || is_any(other) || (self.elements == other.elements && self.value == other.value)
    }
}

/// The product of two numbers below the prime, which is a power of two less one: what is above its bits is added to what is below.
fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    ((product as u64 & PRIME) + (product >> PRIME.count_ones()) as u64) % PRIME
}

fn power(mut exponent: u64) -> u64 {
    let (mut result, mut square) = (1, BASE);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = times(result, square);
        }
        square = times(square, square);
        exponent >>= 1;
    }
    result
}

/// The signature of parts, and what all of them are if they are the same.
pub(super) fn of_parts(parts: &[(usize, Rc<Type>)]) -> (Signature, Option<Leaf>) {
    let mut signature = Signature::empty();
    let mut uniform = parts.first().and_then(|(_, part)| part.uniform);
    for (count, part) in parts {
        signature = signature.then(part.signature.repeated(*count as u64));
        uniform = uniform.filter(|leaf| part.uniform == Some(*leaf));
    }
    (signature, uniform)
}

impl Type {
    /// How many basic elements so many bytes of data are; none if they end within one (`MPI_Get_elements`).
    pub fn elements_in(&self, bytes: u64) -> Option<u64> {
        if self.size == 0 {
            return (bytes == 0).then_some(0);
        }
        let size = self.size as u64;
        let (mut elements, mut rest) = (bytes / size * self.signature.elements, bytes % size);
        if let Some(leaf) = self.leaf {
            for basic in leaf.basics() {
                if rest >= basic.size as u64 {
                    rest -= basic.size as u64;
                    elements += 1;
                }
            }
            return (rest == 0).then_some(elements);
        }
        for (count, part) in self.parts.iter() {
            let whole = *count as u64 * part.size as u64;
            if rest < whole {
                return Some(elements + part.elements_in(rest)?);
            }
            rest -= whole;
            elements += *count as u64 * part.signature.elements;
        }
        Some(elements)
    }

    /// How many bytes so many basic elements are; none if the type has no elements (`MPI_Status_set_elements`).
    pub fn bytes_of(&self, elements: u64) -> Option<u64> {
        let each = self.signature.elements;
        if each == 0 {
            return (elements == 0).then_some(0);
        }
        let (mut bytes, mut rest) = ((elements / each).checked_mul(self.size as u64)?, elements % each);
        if let Some(leaf) = self.leaf {
            return Some(
                bytes + leaf.basics().take(rest as usize).map(|basic| basic.size as u64).sum::<u64>(),
            );
        }
        for (count, part) in self.parts.iter() {
            let whole = *count as u64 * part.signature.elements;
            if rest < whole {
                return Some(bytes + part.bytes_of(rest)?);
            }
            rest -= whole;
            bytes += *count as u64 * part.size as u64;
        }
        Some(bytes)
    }

    /// Hands on the basic types of `count` elements in order, each with how many there are in a row.
    pub fn runs(&self, count: usize, visit: &mut impl FnMut(&'static Basic, usize)) {
        match (self.leaf, self.uniform) {
            (_, Some(Leaf::Basic(basic))) => visit(basic, count * self.signature.elements as usize),
            (Some(leaf), _) => {
                for _ in 0..count {
                    leaf.basics().for_each(|basic| visit(basic, 1));
                }
            }
            (None, _) => {
                for _ in 0..count {
                    for (inner, part) in self.parts.iter() {
                        part.runs(*inner, visit);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_times_is_one_after_the_other() {
        let one = |value| Signature { elements: 1, value, any: false };
        let pair = one(PRIME - 1).then(one(40));
        let mut obvious = Signature::empty();
        for count in 0..70 {
            assert_eq!(pair.repeated(count), obvious, "{count} times");
            obvious = obvious.then(pair);
        }
        assert_eq!(pair.repeated(1 << 40), pair.repeated(1 << 20).repeated(1 << 20));
    }

    #[test]
    fn products_are_those_of_a_division() {
        let numbers = [0, 1, 2, BASE, 1 << 60, PRIME / 3, PRIME - 2, PRIME - 1];
        for (a, b) in numbers.into_iter().flat_map(|a| numbers.map(|b| (a, b))) {
            assert_eq!(u128::from(times(a, b)), u128::from(a) * u128::from(b) % u128::from(PRIME), "{a} {b}");
        }
    }
}
