//! How a type was made: what `MPI_Type_get_envelope` and `MPI_Type_get_contents` tell (MPI 5.0, 5.1.13).

use std::rc::Rc;

use super::Type;
use crate::abi;

/// The arguments of the constructor of a type, in the order in which programs get them.
#[derive(Clone, Debug)]
pub struct Contents {
    /// Which constructor.
    pub combiner: i32,
    /// Whether it was that for large counts; then counts are in `counts`, else in `integers`.
    pub large: bool,
    /// Numbers of 32 bits.
    pub integers: Vec<i32>,
    /// Displacements in bytes.
    pub addresses: Vec<i64>,
    /// Numbers of 64 bits.
    pub counts: Vec<i64>,
    /// Types.
    pub types: Vec<Rc<Type>>,
}

impl Contents {
    /// Of a constructor without arguments yet.
    pub fn new(combiner: i32, large: bool) -> Self {
        Self {
            combiner,
            large,
            integers: Vec::new(),
            addresses: Vec::new(),
            counts: Vec::new(),
            types: Vec::new(),
        }
    }

    /// Of a type that has a name.
    pub fn named() -> Self {
        Self::new(abi::COMBINER_NAMED, false)
    }

    /// With counts, or displacements in elements.
    #[must_use]
    pub fn counts(mut self, counts: impl IntoIterator<Item = i64>) -> Self {
        match self.large {
            true => self.counts.extend(counts),
            false => self.integers.extend(counts.into_iter().map(|count| count as i32)),
        }
        self
    }

    /// With displacements in bytes.
    #[must_use]
    pub fn addresses(mut self, addresses: impl IntoIterator<Item = i64>) -> Self {
        match self.large {
            true => self.counts.extend(addresses),
            false => self.addresses.extend(addresses),
        }
        self
    }

    /// With numbers that have 32 bits in both variants.
    #[must_use]
    pub fn integers(mut self, integers: impl IntoIterator<Item = i32>) -> Self {
        self.integers.extend(integers);
        self
    }

    /// Made of this type.
    #[must_use]
    pub fn of(mut self, old: &Rc<Type>) -> Self {
        self.types.push(Rc::clone(old));
        self
    }
}
