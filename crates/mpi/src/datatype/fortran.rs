//! Types for the kinds of Fortran, types by their size, and pairs of a value and an index (MPI 5.0, 19.1.9 and 6.9.4).

use super::Type;
use super::basic::{self, Class, Leaf, PAIRS};
use super::contents::Contents;
use super::handles::Asked;
use crate::abi::{self, Datatype};
use crate::error::{Result, fail};
use crate::rank::Rank;

/// Decimal digits and decimal exponents of the real kinds of gfortran, and the types that have them.
const REALS: [(i32, i32, Datatype, Datatype); 4] = [
    (6, 37, abi::REAL4, abi::COMPLEX8),
    (15, 307, abi::REAL8, abi::COMPLEX16),
    (18, 4931, abi::LONG_DOUBLE, abi::C_LONG_DOUBLE_COMPLEX),
    (33, 4931, abi::REAL16, abi::COMPLEX32),
];

/// Decimal digits of the integer kinds.
const INTEGERS: [(i32, Datatype); 5] =
    [(2, abi::INTEGER1), (4, abi::INTEGER2), (9, abi::INTEGER4), (18, abi::INTEGER8), (38, abi::INTEGER16)];

impl Rank {
    /// The type of reals, or complex numbers, with such a precision and range; `MPI_UNDEFINED` is any.
    ///
    /// # Errors
    /// If no kind is so precise, or reaches so far.
    pub fn real_of_kind(&self, combiner: i32, precision: i32, range: i32) -> Result<Datatype> {
        if precision == abi::UNDEFINED && range == abi::UNDEFINED {
            return fail(
                abi::ERR_ARG,
                "precision and range are both MPI_UNDEFINED: one of them must be given",
            );
        }
        let enough = |asked: i32, offered: i32| asked == abi::UNDEFINED || asked <= offered;
        let found = REALS.iter().find(|kind| enough(precision, kind.0) && enough(range, kind.1));
        let Some((_, _, real, complex)) = found else {
            return fail(
                abi::ERR_ARG,
                format!("no kind of real has {precision} decimal digits and exponents to {range}"),
            );
        };
        let handle = if combiner == abi::COMBINER_F90_COMPLEX { *complex } else { *real };
        self.unnamed(Asked::Kind(combiner, precision, range), || {
            let contents = Contents::new(combiner, false).integers([precision, range]);
            of_kind(handle, contents)
        })
    }

    /// The type of integers with so many decimal digits.
    ///
    /// # Errors
    /// If no kind has so many.
    pub fn integer_of_kind(&self, range: i32) -> Result<Datatype> {
        let Some((_, handle)) = INTEGERS.iter().find(|kind| range <= kind.0) else {
            return fail(abi::ERR_ARG, format!("no kind of integer has {range} decimal digits"));
        };
        let combiner = abi::COMBINER_F90_INTEGER;
        self.unnamed(Asked::Kind(combiner, range, 0), || {
            of_kind(*handle, Contents::new(combiner, false).integers([range]))
        })
    }

    /// The pair of a value and an index of these types; `MPI_DATATYPE_NULL` if there is none.
    ///
    /// # Errors
    /// If a handle stands for no type.
    pub fn value_index(&self, value: Datatype, index: Datatype) -> Result<Datatype> {
        let (Some(value_type), Some(index_type)) = (self.basic(value)?, self.basic(index)?) else {
            return Ok(abi::DATATYPE_NULL);
        };
        if let Some(named) = PAIRS.iter().find(|pair| (pair.2, pair.3) == (value, index)) {
            return Ok(named.0);
        }
        let integer = |class| matches!(class, Class::CInteger | Class::FortranInteger | Class::MultiLanguage);
        let ordered = integer(value_type.class) || value_type.class == Class::Floating;
        if !ordered || !integer(index_type.class) {
            return Ok(abi::DATATYPE_NULL);
        }
        self.unnamed(Asked::Pair(value, index), || {
            let contents = Contents::new(abi::COMBINER_VALUE_INDEX, false)
                .of(&self.datatype(value)?)
                .of(&self.datatype(index)?);
            Type::of_leaf(Leaf::Pair(value_type, index_type), "", contents)
        })
    }
}

/// A predefined type without a name that is like one with a name.
fn of_kind(like: Datatype, contents: Contents) -> Result<Type> {
    let basic = basic::basic(like).expect("the kinds have basic types");
    Type::of_leaf(Leaf::Basic(basic), "", contents)
}

/// The named type of a class (`MPI_TYPECLASS_REAL` and the like) that has so many bytes.
///
/// # Errors
/// If there is none, or no such class.
pub(crate) fn match_size(class: i32, size: i32) -> Result<Datatype> {
    let found = match (class, size) {
        (abi::TYPECLASS_INTEGER, 1) => abi::INTEGER1,
        (abi::TYPECLASS_INTEGER, 2) => abi::INTEGER2,
        (abi::TYPECLASS_INTEGER, 4) => abi::INTEGER4,
        (abi::TYPECLASS_INTEGER, 8) => abi::INTEGER8,
        (abi::TYPECLASS_INTEGER, 16) => abi::INTEGER16,
        (abi::TYPECLASS_REAL, 2) => abi::REAL2,
        (abi::TYPECLASS_REAL, 4) => abi::REAL4,
        (abi::TYPECLASS_REAL, 8) => abi::REAL8,
        (abi::TYPECLASS_REAL, 16) => abi::REAL16,
        (abi::TYPECLASS_COMPLEX, 4) => abi::COMPLEX4,
        (abi::TYPECLASS_COMPLEX, 8) => abi::COMPLEX8,
        (abi::TYPECLASS_COMPLEX, 16) => abi::COMPLEX16,
        (abi::TYPECLASS_COMPLEX, 32) => abi::COMPLEX32,
        (abi::TYPECLASS_INTEGER | abi::TYPECLASS_REAL | abi::TYPECLASS_COMPLEX, _) => {
            return fail(abi::ERR_ARG, format!("no type of that class has {size} bytes"));
        }
        _ => {
            return fail(
                abi::ERR_ARG,
                format!(
                    "{class} is no class of types: use MPI_TYPECLASS_INTEGER, MPI_TYPECLASS_REAL or MPI_TYPECLASS_COMPLEX"
                ),
            );
        }
    };
    Ok(found)
}
