//! Views: which bytes of a file a process sees, and in which order (MPI 5.0, 14.3).

use std::rc::Rc;

use crate::abi;
use crate::datatype::Type;
use crate::error::{Result, fail};
use crate::rank::Rank;
use crate::verify::Kind;

/// How data are written in a file (14.5).
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Representation {
    /// As in memory.
    Native,
    /// As we like: as in memory.
    Internal,
    /// As all machines read them.
    External32,
    /// As the program says, by the number of the representation that it registered.
    Registered(usize),
}

/// A view.
#[derive(Clone, Debug)]
pub struct View {
    /// Where it begins, in bytes.
    pub displacement: i64,
    /// What offsets count.
    pub etype: Rc<Type>,
    /// The pattern that is repeated.
    pub filetype: Rc<Type>,
    /// How data are written.
    pub representation: Representation,
}

impl View {
    /// One of these.
    ///
    /// # Errors
    /// If the types make no view.
    pub fn new(
        displacement: i64,
        etype: Rc<Type>,
        filetype: Rc<Type>,
        representation: Representation,
    ) -> Result<Self> {
        if etype.size == 0 {
            return fail(abi::ERR_TYPE, "the elementary type of a view has no data");
        }
        if !filetype.size.is_multiple_of(etype.size) {
            return fail(
                abi::ERR_TYPE,
                format!(
                    "the file type has {} bytes of data, which are no elements of {} bytes",
                    filetype.size, etype.size
                ),
            );
        }
        if filetype.size > 0 && filetype.true_lb < 0 {
            return fail(abi::ERR_IO, "the file type has data before its beginning");
        }
        let mut last = i64::MIN;
        let mut in_order = true;
        filetype.blocks(0, filetype.size, |offset, _| {
            in_order &= offset >= last;
            last = offset;
        });
        if !in_order {
            return fail(abi::ERR_IO, "the displacements of the file type are not in order");
        }
        if representation == Representation::External32
            && (etype.external_size() != etype.size || filetype.external_size() != filetype.size)
            && etype.is_derived()
        {
            return fail(
                abi::ERR_UNSUPPORTED_DATAREP,
                "external32 is not supported for derived types whose data have other lengths than in memory",
            );
        }
        Ok(Self { displacement, etype, filetype, representation })
    }

    /// Checks that no byte of the file is in it twice, where it may be written (14.3).
    ///
    /// # Errors
    /// If one is.
    pub fn check_written(&self) -> Result {
        let mut end = i64::MIN;
        let mut apart = true;
        self.filetype.blocks(0, self.filetype.size, |offset, length| {
            apart &= offset >= end;
            end = offset + length as i64;
        });
        match apart {
            true => Ok(()),
            false => fail(abi::ERR_IO, "the file type has the same bytes twice, and the file may be written"),
        }
    }

    /// The bytes of an element in the file.
    pub fn unit(&self) -> usize {
        match self.representation {
            Representation::External32 => self.etype.external_size(),
            _ => self.etype.size,
        }
    }

    /// Whether data in the file are of other lengths than in memory: then they have no gaps.
    fn is_dense(&self) -> bool {
        self.unit() != self.etype.size || (self.filetype.is_contiguous() && self.filetype.true_lb == 0)
    }

    /// Hands on the places in the file of so many bytes of data after so many.
    fn walk(&self, from: usize, length: usize, mut visit: impl FnMut(i64, usize)) {
        if self.is_dense() {
            return visit(self.displacement + from as i64, length);
        }
        self.filetype.blocks(from, length, |offset, length| visit(self.displacement + offset, length));
    }

    /// The places in the file, in order, of `length` bytes of data from the element `offset` on.
    pub fn ranges(&self, offset: i64, length: usize) -> Vec<(u64, usize)> {
        let mut ranges: Vec<(u64, usize)> = Vec::new();
        if length == 0 || self.filetype.size == 0 {
            return ranges;
        }
        self.walk(offset as usize * self.unit(), length, |place, length| match ranges.last_mut() {
            Some(last) if last.0 + last.1 as u64 == place as u64 => last.1 += length,
            _ => ranges.push((place as u64, length)),
        });
        ranges
    }

    /// The place in the file of the element `offset`.
    pub fn byte_offset(&self, offset: i64) -> i64 {
        self.ranges(offset, 1).first().map_or(self.displacement, |range| range.0 as i64)
    }

    /// How many elements begin before this place in the file: the offset of its end, if it ends there.
    pub fn elements_before(&self, end: u64) -> i64 {
        let inside = end as i64 - self.displacement;
        if inside <= 0 || self.filetype.size == 0 {
            return 0;
        }
        let unit = self.unit() as i64;
        if self.is_dense() {
            return inside.div_euclid(unit) + i64::from(inside % unit != 0);
        }
        let extent = self.filetype.extent.max(1);
        // A pattern may reach beyond its extent, so the last one that begins before the end is looked at with those before.
        let reach = self.filetype.true_lb + self.filetype.true_extent;
        let whole = ((inside - reach) / extent).max(0);
        let mut bytes = whole * self.filetype.size as i64;
        let mut tile = whole;
        while tile * extent + self.filetype.true_lb < inside {
            self.filetype.blocks(0, self.filetype.size, |offset, length| {
                bytes += (inside - tile * extent - offset).clamp(0, length as i64);
            });
            tile += 1;
        }
        bytes.div_euclid(unit) + i64::from(bytes % unit != 0)
    }
}

impl Rank {
    /// The representation of a name.
    ///
    /// # Errors
    /// If there is none, or its functions convert.
    pub fn representation(&self, name: &str) -> Result<Representation> {
        let registered = self.representations.borrow();
        let number = registered.iter().position(|known| known.0 == name);
        match (name, number) {
            ("native", _) => Ok(Representation::Native),
            ("internal", _) => Ok(Representation::Internal),
            ("external32", _) => Ok(Representation::External32),
            (_, Some(number)) if !registered[number].1 => Ok(Representation::Registered(number)),
            (_, Some(_)) => fail(
                abi::ERR_UNSUPPORTED_DATAREP,
                format!(
                    "the representation {name:?} has functions that convert data, which is not supported"
                ),
            ),
            _ => {
                let message =
                    format!("no representation {name:?}: native, internal and external32 are known");
                self.is_mistaken(Kind::InvalidArgument, &message);
                fail(abi::ERR_UNSUPPORTED_DATAREP, message)
            }
        }
    }

    /// The name of a representation.
    pub fn representation_name(&self, representation: Representation) -> String {
        match representation {
            Representation::Native => "native".to_owned(),
            Representation::Internal => "internal".to_owned(),
            Representation::External32 => "external32".to_owned(),
            Representation::Registered(number) => self.representations.borrow()[number].0.clone(),
        }
    }

    /// Registers a representation of the program.
    ///
    /// # Errors
    /// If there is one of this name.
    pub fn register_representation(&self, name: String, converts: bool) -> Result {
        let mut registered = self.representations.borrow_mut();
        if name.is_empty() || name.len() >= abi::MAX_DATAREP_STRING as usize {
            return fail(abi::ERR_ARG, format!("{name:?} is no name for a representation"));
        }
        if ["native", "internal", "external32"].contains(&name.as_str())
            || registered.iter().any(|known| known.0 == name)
        {
            return fail(abi::ERR_DUP_DATAREP, format!("there is a representation {name:?} already"));
        }
        registered.push((name, converts));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datatype::Predefined;

    fn basic(handle: abi::Datatype) -> Rc<Type> {
        Predefined::default().get(handle).expect("it is there")
    }

    fn view(displacement: i64, filetype: Type) -> View {
        View::new(displacement, basic(abi::INT), Rc::new(filetype), Representation::Native)
            .expect("it is one")
    }

    /// The obvious way: every byte of the pattern again and again.
    fn obvious(view: &View, from: usize, length: usize) -> Vec<u64> {
        let mut tile = Vec::new();
        view.filetype.blocks(0, view.filetype.size, |offset, length| {
            tile.extend(offset..offset + length as i64);
        });
        let place = |byte: usize| {
            let (round, inside) = (byte / tile.len(), byte % tile.len());
            (view.displacement + round as i64 * view.filetype.extent + tile[inside]) as u64
        };
        (from..from + length).map(place).collect()
    }

    fn check(view: &View) {
        for offset in 0..9 {
            for length in 0..50 {
                let ranges = view.ranges(offset, length);
                let bytes: Vec<u64> =
                    ranges.iter().flat_map(|range| range.0..range.0 + range.1 as u64).collect();
                assert_eq!(
                    bytes,
                    obvious(view, offset as usize * 4, length),
                    "{length} bytes from {offset} on"
                );
                assert!(ranges.windows(2).all(|pair| pair[0].0 + (pair[0].1 as u64) < pair[1].0));
            }
            assert_eq!(view.byte_offset(offset) as u64, obvious(view, offset as usize * 4, 1)[0]);
        }
        let places = obvious(view, 0, 4000);
        for end in 0..200 {
            let before = places.iter().filter(|place| **place < end).count();
            assert_eq!(view.elements_before(end), before.div_ceil(4) as i64, "the end is {end}");
        }
    }

    #[test]
    fn patterns_are_repeated() {
        let int = basic(abi::INT);
        let vector = || Type::vector(2, 1, 3, &int, false).expect("it is made");
        let types = [
            Type::contiguous(3, &int, false).expect("it is made"),
            vector(),
            Type::resized(&Rc::new(vector()), 0, 24, false).expect("it is made"),
            Type::indexed(&[2, 1], &[1, 5], &int, false).expect("it is made"),
            Type::resized(&int, -4, 12, false).expect("it is made"),
        ];
        for filetype in types {
            let filetype = Rc::new(filetype);
            for displacement in [0, 5] {
                check(&view(displacement, Type::dup(&filetype)));
            }
        }
    }

    #[test]
    fn types_that_make_no_view() {
        let (int, byte) = (basic(abi::INT), basic(abi::BYTE));
        let class = |filetype: Type| {
            let made = View::new(0, Rc::clone(&int), Rc::new(filetype), Representation::Native);
            made.map_or_else(|error| error.class, |_| abi::SUCCESS)
        };
        assert_eq!(class(Type::contiguous(3, &byte, false).expect("it is made")), abi::ERR_TYPE);
        assert_eq!(class(Type::hvector(2, 1, -8, &int, false).expect("it is made")), abi::ERR_IO);
        assert_eq!(class(Type::indexed(&[1, 1], &[4, 0], &int, false).expect("it is made")), abi::ERR_IO);
    }

    #[test]
    fn bytes_that_are_twice_in_a_view_are_only_read() {
        let twice = Type::indexed(&[3, 2], &[0, 2], &basic(abi::INT), false).expect("it is made");
        let view = view(8, twice);
        assert_eq!(view.ranges(0, 24), [(8, 12), (16, 12)]);
        assert_eq!(view.check_written().map_err(|error| error.class), Err(abi::ERR_IO));
    }
}
