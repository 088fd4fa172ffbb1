//! Buffers of `mpi_f08`: they come as descriptors (Fortran 2018, 18.5), since they may be sections of arrays.
//!
//! A section with gaps is copied for a call that is over when it returns. For others a datatype is made that has the same gaps.

use std::ffi::c_void;

use crate::abi::{self, Datatype, Procedure};
use crate::entry::c;
use crate::error::{On, fail};
use crate::fortran::special::Special;

/// `CFI_cdesc_t`, as the compilers of GNU and others have it.
#[repr(C)]
#[derive(Debug)]
pub struct Descriptor {
    base: *mut c_void,
    element: usize,
    version: i32,
    rank: i8,
    attribute: i8,
    kind: i16,
    dimensions: [Dimension; 15],
}

/// `CFI_dim_t`.
#[repr(C)]
#[derive(Copy, Clone, Debug)]
pub struct Dimension {
    lower: isize,
    extent: isize,
    stride: isize,
}

/// Where a buffer begins.
///
/// # Safety
/// It is a descriptor.
pub unsafe fn address(descriptor: *const Descriptor) -> *mut c_void {
    // SAFETY: it is a descriptor, of which only so much is read as every one has.
    unsafe { (*descriptor).base }
}

/// The shape of a section: bytes of an element, and the dimensions. A descriptor has no more of these than its rank.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Shape {
    element: usize,
    dimensions: Vec<(isize, isize)>,
}

impl Shape {
    /// # Safety
    /// It is a descriptor.
    unsafe fn of(descriptor: *const Descriptor) -> Self {
        // SAFETY: there are as many dimensions as the rank says; the reference is to one of them at a time.
        unsafe {
            let first = (&raw const (*descriptor).dimensions).cast::<Dimension>();
            let dimension = |index: usize| {
                let dimension = first.add(index).read();
                (dimension.extent, dimension.stride)
            };
            let rank = usize::try_from((*descriptor).rank).unwrap_or(0);
            Self { element: (*descriptor).element, dimensions: (0..rank).map(dimension).collect() }
        }
    }

    /// Whether there are no gaps. An array whose size nobody knows has none.
    fn is_whole(&self) -> bool {
        let mut expected = self.element as isize;
        for (index, (extent, stride)) in self.dimensions.iter().enumerate() {
            if *extent == 0 {
                return true;
            }
            if *extent > 1 && *stride != expected {
                return false;
            }
            if *extent < 0 {
                return index + 1 == self.dimensions.len() && *stride == expected;
            }
            expected *= extent;
        }
        true
    }

    /// How far from the first element each lies, in the order of Fortran.
    fn displacements(&self) -> Vec<isize> {
        let mut all = vec![0];
        for (extent, stride) in &self.dimensions {
            all = (0..*extent)
                .flat_map(|index| all.iter().map(move |before| before + index * stride))
                .collect();
        }
        all
    }
}

/// Where a call finds a buffer, or a copy of it.
#[derive(Debug)]
pub struct Place {
    address: *mut c_void,
    copy: Option<Copied>,
    /// A datatype that is freed after the call.
    datatype: Option<Datatype>,
}

#[derive(Debug)]
struct Copied {
    base: *mut c_void,
    shape: Shape,
    bytes: Vec<u64>,
    writes: bool,
}

impl Place {
    fn plain(address: *mut c_void) -> Self {
        Self { address, copy: None, datatype: None }
    }

    /// Where it begins, whatever its gaps.
    ///
    /// # Safety
    /// It is a descriptor.
    pub unsafe fn at(special: &Special, descriptor: *const Descriptor) -> Self {
        // SAFETY: it is a descriptor.
        Self::plain(special.buffer(unsafe { address(descriptor) }))
    }

    /// A buffer that must have no gaps.
    ///
    /// # Errors
    /// If it has.
    ///
    /// # Safety
    /// It is a descriptor.
    pub unsafe fn whole(
        special: &Special,
        descriptor: *const Descriptor,
        procedure: Procedure,
    ) -> Result<Self, i32> {
        // SAFETY: it is a descriptor.
        match unsafe { Shape::of(descriptor) }.is_whole() {
            // SAFETY: as above.
            true => Ok(unsafe { Self::at(special, descriptor) }),
            false => Err(refused(procedure)),
        }
    }

    /// A buffer for a call that is over when it returns: one with gaps is copied, and copied back if the call `writes`.
    ///
    /// # Safety
    /// It is a descriptor of memory of the program.
    pub unsafe fn copied(special: &Special, descriptor: *const Descriptor, writes: bool) -> Self {
        // SAFETY: it is a descriptor.
        let (shape, base) = unsafe { (Shape::of(descriptor), address(descriptor)) };
        if shape.is_whole() || base.is_null() {
            return Self::plain(special.buffer(base));
        }
        let displacements = shape.displacements();
        let mut bytes = vec![0_u64; (displacements.len() * shape.element).div_ceil(8)];
        let first = bytes.as_mut_ptr().cast::<u8>();
        for (index, displacement) in displacements.iter().enumerate() {
            // SAFETY: the element belongs to the section, and there is room for it here.
            unsafe {
                let from = base.cast::<u8>().offset(*displacement);
                std::ptr::copy_nonoverlapping(from, first.add(index * shape.element), shape.element);
            }
        }
        Self { address: first.cast(), copy: Some(Copied { base, shape, bytes, writes }), datatype: None }
    }

    /// A buffer for a call that goes on after it returns: for one with gaps, `count` and `datatype` become those of a datatype
    /// that has the same gaps.
    ///
    /// # Errors
    /// If there is no such datatype: elements of `datatype` are not elements of the array, or several of them.
    ///
    /// # Safety
    /// It is a descriptor of memory of the program.
    pub unsafe fn section(
        special: &Special,
        descriptor: *const Descriptor,
        count: &mut i64,
        datatype: &mut i32,
        procedure: Procedure,
    ) -> Result<Self, i32> {
        // SAFETY: it is a descriptor.
        let shape = unsafe { Shape::of(descriptor) };
        // SAFETY: as above.
        let mut place = unsafe { Self::at(special, descriptor) };
        if shape.is_whole() || place.address.is_null() || *count <= 0 {
            return Ok(place);
        }
        let old = Datatype::from_fortran(*datatype);
        let (mut size, mut lb, mut extent) = (0_i64, 0_i64, 0_i64);
        // SAFETY: the results are ours.
        let code = unsafe {
            match c::type_size_c(old, &mut size) {
                abi::SUCCESS => c::type_get_true_extent_c(old, &mut lb, &mut extent),
                code => code,
            }
        };
        if code != abi::SUCCESS {
            return Err(code);
        }
        let element = shape.element as i64;
        if size <= 0 || extent != size || lb != 0 || element % size != 0 {
            return Err(refused(procedure));
        }
        let each = element / size;
        let elements = (*count).div_euclid(each);
        let displacements: Vec<i64> =
            shape.displacements().iter().map(|displacement| *displacement as i64).collect();
        if *count % each != 0 || elements > displacements.len() as i64 {
            return Err(refused(procedure));
        }
        let mut made = abi::DATATYPE_NULL;
        // SAFETY: there are as many displacements, and the datatype is ours.
        let code = unsafe {
            match c::type_create_hindexed_block_c(elements, each, displacements.as_ptr(), old, &mut made) {
                abi::SUCCESS => c::type_commit(&mut made),
                code => code,
            }
        };
        if code != abi::SUCCESS {
            return Err(code);
        }
        place.datatype = Some(made);
        (*count, *datatype) = (1, made.to_fortran());
        Ok(place)
    }

    /// What is given to C.
    pub fn address(&self) -> *mut c_void {
        self.address
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(mut datatype) = self.datatype.take() {
            // SAFETY: it is ours; what is under way keeps it.
            unsafe { c::type_free(&mut datatype) };
        }
        let Some(copy) = self.copy.take().filter(|copy| copy.writes) else { return };
        let first = copy.bytes.as_ptr().cast::<u8>();
        for (index, displacement) in copy.shape.displacements().iter().enumerate() {
            let element = copy.shape.element;
            // SAFETY: the element belongs to the section, which the program gave for this.
            unsafe {
                let to = copy.base.cast::<u8>().offset(*displacement);
                std::ptr::copy_nonoverlapping(first.add(index * element), to, element);
            }
        }
    }
}

/// The answer to a section that cannot be had.
fn refused(procedure: Procedure) -> i32 {
    let message = "a section of an array that has gaps cannot be the buffer here; copy it into an array without gaps first";
    crate::entry::enter(procedure, On::Nothing, |_| fail(abi::ERR_BUFFER, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(element: usize, dimensions: &[(isize, isize)]) -> Shape {
        Shape { element, dimensions: dimensions.to_vec() }
    }

    #[test]
    fn gaps_are_seen() {
        assert!(shape(4, &[]).is_whole());
        assert!(shape(4, &[(10, 4)]).is_whole());
        assert!(!shape(4, &[(10, 8)]).is_whole());
        assert!(!shape(4, &[(10, -4)]).is_whole());
        assert!(shape(4, &[(1, 400)]).is_whole());
        assert!(shape(4, &[(3, 4), (5, 12)]).is_whole());
        assert!(!shape(4, &[(2, 4), (5, 12)]).is_whole());
        assert!(shape(4, &[(3, 4), (-1, 12)]).is_whole(), "nobody knows where it ends");
        assert!(shape(8, &[(0, 16)]).is_whole());
    }

    #[test]
    fn elements_come_in_the_order_of_fortran() {
        assert_eq!(shape(4, &[(2, 8), (2, 100)]).displacements(), [0, 8, 100, 108]);
        assert_eq!(shape(4, &[(3, -4)]).displacements(), [0, -4, -8]);
        assert_eq!(shape(4, &[]).displacements(), [0]);
    }

    #[test]
    fn a_section_is_copied_and_copied_back() {
        let mut array: Vec<i32> = (0..10).collect();
        let mut descriptor = Descriptor {
            base: array.as_mut_ptr().cast(),
            element: 4,
            version: 1,
            rank: 1,
            attribute: 2,
            kind: 0,
            dimensions: [Dimension { lower: 0, extent: 0, stride: 0 }; 15],
        };
        descriptor.dimensions[0] = Dimension { lower: 0, extent: 3, stride: 12 };
        // SAFETY: the descriptor is that of elements 0, 3 and 6.
        unsafe {
            let place = Place::copied(&Special::default(), &descriptor, true);
            let copy = std::slice::from_raw_parts_mut(place.address().cast::<i32>(), 3);
            assert_eq!(copy, [0, 3, 6]);
            copy.copy_from_slice(&[10, 13, 16]);
            drop(place);
            assert_eq!(array, [10, 1, 2, 13, 4, 5, 16, 7, 8, 9]);
            let place = Place::copied(&Special::default(), &descriptor, false);
            *place.address().cast::<i32>() = 99;
            drop(place);
            assert_eq!(array[0], 10);
        }
    }
}
