//! The basic types: what the standard names, with the sizes and alignments of gcc and gfortran on x86-64 (MPI 5.0, 3.2.2,
//! 3.3, 5.1 and 14.5.2).

use crate::abi::{self, Datatype};

/// A type that is made of no others.
#[derive(Debug)]
pub struct Basic {
    /// Its handle.
    pub handle: Datatype,
    /// `MPI_INT`.
    pub name: &'static str,
    /// Which operators it may be given to.
    pub class: Class,
    /// What its bytes mean.
    pub number: Number,
    /// Bytes in memory.
    pub size: usize,
    /// What its address is a multiple of.
    pub align: usize,
    /// Bytes in the representation `external32`.
    pub external: usize,
}

impl PartialEq for Basic {
    fn eq(&self, other: &Self) -> bool {
        self.handle == other.handle
    }
}

impl Eq for Basic {}

/// The groups of types that the standard allows operators for (6.9.2).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Class {
    /// Of C; `MPI_CHAR` too, which the standard does not allow and most programs' libraries do.
    CInteger,
    /// Of Fortran.
    FortranInteger,
    /// Reals.
    Floating,
    /// True or false.
    Logical,
    /// Of two reals.
    Complex,
    /// A byte.
    Byte,
    /// Addresses, counts, offsets.
    MultiLanguage,
    /// What no operator is for.
    Other,
}

/// What bytes mean.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Number {
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
    /// IEEE half precision.
    F16,
    F32,
    F64,
    /// The 80 bits of the x87, in 16 bytes.
    F80,
    /// IEEE quadruple precision.
    F128,
    ComplexF16,
    ComplexF32,
    ComplexF64,
    ComplexF80,
    ComplexF128,
}

impl Number {
    /// Bytes in memory.
    pub fn size(self) -> usize {
        match self {
            Number::I8 | Number::U8 => 1,
            Number::I16 | Number::U16 | Number::F16 => 2,
            Number::I32 | Number::U32 | Number::F32 | Number::ComplexF16 => 4,
            Number::I64 | Number::U64 | Number::F64 | Number::ComplexF32 => 8,
            Number::I128 | Number::U128 | Number::F80 | Number::F128 | Number::ComplexF64 => 16,
            Number::ComplexF80 | Number::ComplexF128 => 32,
        }
    }

    /// What its address is a multiple of.
    pub fn align(self) -> usize {
        self.part().map_or(self.size(), Number::size)
    }

    /// The kind of its two parts, if it is complex.
    pub fn part(self) -> Option<Number> {
        match self {
            Number::ComplexF16 => Some(Number::F16),
            Number::ComplexF32 => Some(Number::F32),
            Number::ComplexF64 => Some(Number::F64),
            Number::ComplexF80 => Some(Number::F80),
            Number::ComplexF128 => Some(Number::F128),
            _ => None,
        }
    }

    /// Whether it is an integer with a sign.
    pub fn is_signed(self) -> bool {
        self <= Number::I128
    }
}

macro_rules! basics {
    ($($class:ident { $($name:ident $number:ident $external:literal,)* })*) => {
        /// All of them, by their handles.
        pub static BASICS: &[Basic] = &[$($(Basic {
            handle: abi::$name,
            name: concat!("MPI_", stringify!($name)),
            class: Class::$class,
            number: Number::$number,
            size: size_of_number(Number::$number).0,
            align: size_of_number(Number::$number).1,
            external: $external,
        },)*)*];
    };
}

/// Size and alignment, where a constant needs them.
const fn size_of_number(number: Number) -> (usize, usize) {
    match number {
        Number::I8 | Number::U8 => (1, 1),
        Number::I16 | Number::U16 | Number::F16 => (2, 2),
        Number::I32 | Number::U32 | Number::F32 => (4, 4),
        Number::I64 | Number::U64 | Number::F64 => (8, 8),
        Number::I128 | Number::U128 | Number::F80 | Number::F128 => (16, 16),
        Number::ComplexF16 => (4, 2),
        Number::ComplexF32 => (8, 4),
        Number::ComplexF64 => (16, 8),
        Number::ComplexF80 | Number::ComplexF128 => (32, 16),
    }
}

basics! {
    CInteger {
        CHAR I8 1,
        SIGNED_CHAR I8 1,
        UNSIGNED_CHAR U8 1,
        SHORT I16 2,
        UNSIGNED_SHORT U16 2,
        INT I32 4,
        UNSIGNED U32 4,
        LONG I64 4,
        UNSIGNED_LONG U64 4,
        LONG_LONG_INT I64 8,
        UNSIGNED_LONG_LONG U64 8,
        INT8_T I8 1,
        INT16_T I16 2,
        INT32_T I32 4,
        INT64_T I64 8,
        UINT8_T U8 1,
        UINT16_T U16 2,
        UINT32_T U32 4,
        UINT64_T U64 8,
    }
    FortranInteger {
        INTEGER I32 4,
        INTEGER1 I8 1,
        INTEGER2 I16 2,
        INTEGER4 I32 4,
        INTEGER8 I64 8,
        INTEGER16 I128 16,
    }
    Floating {
        FLOAT F32 4,
        DOUBLE F64 8,
        LONG_DOUBLE F80 16,
        REAL F32 4,
        DOUBLE_PRECISION F64 8,
        REAL2 F16 2,
        REAL4 F32 4,
        REAL8 F64 8,
        REAL16 F128 16,
    }
    Logical {
        C_BOOL U8 1,
        CXX_BOOL U8 1,
        LOGICAL U32 4,
        LOGICAL1 U8 1,
        LOGICAL2 U16 2,
        LOGICAL4 U32 4,
        LOGICAL8 U64 8,
        LOGICAL16 U128 16,
    }
    Complex {
        C_COMPLEX ComplexF32 8,
        C_DOUBLE_COMPLEX ComplexF64 16,
        C_LONG_DOUBLE_COMPLEX ComplexF80 32,
        CXX_FLOAT_COMPLEX ComplexF32 8,
        CXX_DOUBLE_COMPLEX ComplexF64 16,
        CXX_LONG_DOUBLE_COMPLEX ComplexF80 32,
        COMPLEX ComplexF32 8,
        DOUBLE_COMPLEX ComplexF64 16,
        COMPLEX4 ComplexF16 4,
        COMPLEX8 ComplexF32 8,
        COMPLEX16 ComplexF64 16,
        COMPLEX32 ComplexF128 32,
    }
    Byte {
        BYTE U8 1,
    }
    MultiLanguage {
        AINT I64 8,
        COUNT I64 8,
        OFFSET I64 8,
    }
    Other {
        PACKED U8 1,
        CHARACTER U8 1,
        WCHAR U32 2,
    }
}

/// The named pairs of a value and an index: their handles, names, and parts (6.9.4).
pub static PAIRS: &[(Datatype, &str, Datatype, Datatype)] = &[
    (abi::FLOAT_INT, "MPI_FLOAT_INT", abi::FLOAT, abi::INT),
    (abi::DOUBLE_INT, "MPI_DOUBLE_INT", abi::DOUBLE, abi::INT),
    (abi::LONG_INT, "MPI_LONG_INT", abi::LONG, abi::INT),
    (abi::TWO_INT, "MPI_2INT", abi::INT, abi::INT),
    (abi::SHORT_INT, "MPI_SHORT_INT", abi::SHORT, abi::INT),
    (abi::LONG_DOUBLE_INT, "MPI_LONG_DOUBLE_INT", abi::LONG_DOUBLE, abi::INT),
    (abi::TWO_REAL, "MPI_2REAL", abi::REAL, abi::REAL),
    (abi::TWO_DOUBLE_PRECISION, "MPI_2DOUBLE_PRECISION", abi::DOUBLE_PRECISION, abi::DOUBLE_PRECISION),
    (abi::TWO_INTEGER, "MPI_2INTEGER", abi::INTEGER, abi::INTEGER),
];

/// A basic type by its handle.
pub fn basic(handle: Datatype) -> Option<&'static Basic> {
    BASICS.iter().find(|basic| basic.handle == handle)
}

/// What a datatype without parts is, to operators and to conversions.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Leaf {
    /// A basic type.
    Basic(&'static Basic),
    /// A value, and after it an index.
    Pair(&'static Basic, &'static Basic),
}

impl Leaf {
    /// Where the index of a pair lies in memory.
    pub fn index_offset(value: &Basic, index: &Basic) -> usize {
        value.size.next_multiple_of(index.align)
    }

    /// Bytes of data.
    pub fn size(self) -> usize {
        match self {
            Leaf::Basic(basic) => basic.size,
            Leaf::Pair(value, index) => value.size + index.size,
        }
    }

    /// What its address is a multiple of.
    pub fn align(self) -> usize {
        match self {
            Leaf::Basic(basic) => basic.align,
            Leaf::Pair(value, index) => value.align.max(index.align),
        }
    }

    /// What the standard calls it.
    pub fn name(self) -> String {
        match self {
            Leaf::Basic(basic) => basic.name.to_owned(),
            Leaf::Pair(value, index) => format!("a pair of {} and {}", value.name, index.name),
        }
    }

    /// The basic types in it.
    pub fn basics(self) -> impl Iterator<Item = &'static Basic> {
        let (first, second) = match self {
            Leaf::Basic(basic) => (basic, None),
            Leaf::Pair(value, index) => (value, Some(index)),
        };
        std::iter::once(first).chain(second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_handle_has_one_type() {
        let mut handles: Vec<_> =
            BASICS.iter().map(|basic| basic.handle).chain(PAIRS.iter().map(|pair| pair.0)).collect();
        handles.sort();
        let all = handles.len();
        handles.dedup();
        assert_eq!(handles.len(), all);
        // Every handle of the standard's table but `MPI_DATATYPE_NULL`.
        assert_eq!(all, 70);
        for basic in BASICS {
            assert_eq!(
                (basic.size, basic.align),
                (basic.number.size(), basic.number.align()),
                "{}",
                basic.name
            );
        }
    }
}
