//! Random types against the obvious: the whole typemap, as a list.

use std::ffi::c_void;
use std::rc::Rc;

use simurgh_random::Random;

use super::basic::{BASICS, Basic, Leaf, PAIRS};
use super::*;
use crate::abi;
use crate::message::Data;

/// A type, and what the standard says of it: each basic type with its place, and the bounds that were set.
#[derive(Clone)]
struct Known {
    made: Rc<Type>,
    map: Vec<(&'static Basic, i64)>,
    marks: Option<(i64, i64)>,
}

impl Known {
    fn basic(handle: abi::Datatype) -> Self {
        let made = Rc::new(Predefined::default().get(handle).expect("it is known").twin());
        let map = match made.leaf.expect("it is a leaf") {
            Leaf::Basic(basic) => vec![(basic, 0)],
            Leaf::Pair(value, index) => {
                vec![(value, 0), (index, Leaf::index_offset(value, index) as i64)]
            }
        };
        Self { made, map, marks: None }
    }

    fn bounds(&self) -> (i64, i64) {
        self.marks.unwrap_or_else(|| {
            let (low, high) = self.true_bounds();
            let align = self.map.iter().map(|(basic, _)| basic.align as i64).max().unwrap_or(1);
            (low, low + (high - low + align - 1) / align * align)
        })
    }

    fn true_bounds(&self) -> (i64, i64) {
        let low = self.map.iter().map(|(_, at)| *at).min().unwrap_or(0);
        let high = self.map.iter().map(|(basic, at)| at + basic.size as i64).max().unwrap_or(0);
        (low, high)
    }

    fn extent(&self) -> i64 {
        self.bounds().1 - self.bounds().0
    }

    /// The bytes in the order of the data.
    fn bytes(&self, count: usize) -> Vec<i64> {
        let mut bytes = Vec::new();
        for element in 0..count as i64 {
            for (basic, at) in &self.map {
                bytes.extend((0..basic.size as i64).map(|byte| at + element * self.extent() + byte));
            }
        }
        bytes
    }

    /// Places of elements of parts, in bytes: what every constructor comes to.
    fn of(made: Type, placed: &[(i64, &Known)]) -> Self {
        let mut map = Vec::new();
        let mut marks: Option<(i64, i64)> = None;
        for (at, part) in placed {
            map.extend(part.map.iter().map(|(basic, inner)| (*basic, at + inner)));
            if let Some((low, high)) = part.marks {
                let (low, high) = (low + at, high + at);
                marks = Some(marks.map_or((low, high), |(l, h)| (l.min(low), h.max(high))));
            }
        }
        Self { made: Rc::new(made), map, marks }
    }

    fn check(&self) {
        let made = &self.made;
        let (low, high) = self.bounds();
        let (true_low, true_high) = self.true_bounds();
        assert_eq!((made.lb, made.extent), (low, high - low), "{made:?}");
        assert_eq!((made.true_lb, made.true_extent), (true_low, true_high - true_low), "{made:?}");
        let bytes = self.bytes(1);
        assert_eq!(made.size, bytes.len());
        let signature =
            self.map.iter().fold(Signature::empty(), |before, (basic, _)| before.then(Signature::of(basic)));
        assert_eq!(made.signature, signature);
        let mut runs = Vec::new();
        made.runs(2, &mut |basic, count| runs.extend(std::iter::repeat_n(basic, count)));
        let twice: Vec<_> = self.map.iter().chain(&self.map).map(|(basic, _)| *basic).collect();
        assert_eq!(runs, twice);
    }

    /// Packs and unpacks, whole and in parts, in memory that lies around the elements.
    fn check_copies(&self, random: &mut Random) {
        let count = random.below(4) as usize;
        let places = self.bytes(count);
        let low = places.iter().copied().min().unwrap_or(0);
        let high = places.iter().copied().max().unwrap_or(-1) + 1;
        let memory: Vec<u8> = (low..high).map(|_| random.next_u64() as u8).collect();
        let address = |memory: *const u8| memory.wrapping_offset(-low as isize).cast::<c_void>();
        let expected: Vec<u8> = places.iter().map(|at| memory[(at - low) as usize]).collect();

        let mut packed = Data::from_slice(&[7]);
        // SAFETY: the memory has all bytes of the elements.
        unsafe { self.made.pack(address(memory.as_ptr()), count, &mut packed) };
        assert_eq!(packed[1..], expected[..]);

        let total = expected.len();
        let from = random.below(total as u64 + 1) as usize;
        let length = random.below((total - from) as u64 + 1) as usize;
        let mut part = Data::new();
        // SAFETY: the memory has all bytes of the elements.
        unsafe { self.made.pack_range(address(memory.as_ptr()), from, length, &mut part) };
        assert_eq!(part[..], expected[from..from + length]);

        // Bytes that lie on each other have the value of the last.
        let mut filled = vec![0xEE; memory.len()];
        let mut wanted = filled.clone();
        places[..length].iter().zip(&expected).for_each(|(at, byte)| wanted[(at - low) as usize] = *byte);
        let place = address(filled.as_mut_ptr()).cast_mut();
        // SAFETY: the memory has all bytes of the elements.
        let used = unsafe { self.made.unpack(&expected[..length], place, count) };
        assert_eq!((used, &filled), (length, &wanted));

        let mut filled = vec![0xEE; memory.len()];
        let mut wanted = filled.clone();
        let range = from..from + length;
        places[range.clone()]
            .iter()
            .zip(&expected[range.clone()])
            .for_each(|(at, byte)| wanted[(at - low) as usize] = *byte);
        let place = address(filled.as_mut_ptr()).cast_mut();
        // SAFETY: the memory has all bytes of the elements.
        unsafe { self.made.unpack_from(&expected[range], from, place) };
        assert_eq!(filled, wanted);
    }

    fn check_elements(&self, random: &mut Random) {
        let sizes: Vec<u64> = self.map.iter().map(|(basic, _)| basic.size as u64).collect();
        if sizes.is_empty() {
            assert_eq!((self.made.elements_in(0), self.made.elements_in(1)), (Some(0), None));
            return;
        }
        let elements = random.below(3 * sizes.len() as u64 + 1);
        let bytes: u64 = sizes.iter().cycle().take(elements as usize).sum();
        assert_eq!(self.made.elements_in(bytes), Some(elements));
        assert_eq!(self.made.bytes_of(elements), Some(bytes));
        if sizes[(elements as usize) % sizes.len()] > 1 {
            assert_eq!(self.made.elements_in(bytes + 1), None);
        }
    }
}

fn number(random: &mut Random, from: i64, to: i64) -> i64 {
    from + random.below((to - from + 1) as u64) as i64
}

fn random_leaf(random: &mut Random) -> Known {
    let index = random.below((BASICS.len() + PAIRS.len()) as u64) as usize;
    let handle = BASICS.get(index).map_or_else(|| PAIRS[index - BASICS.len()].0, |basic| basic.handle);
    Known::basic(handle)
}

fn run(at: i64, count: i64, old: &Known) -> impl Iterator<Item = (i64, &Known)> {
    (0..count).map(move |index| (at + index * old.extent(), old))
}

/// A type of types that were made before.
fn random_type(random: &mut Random, known: &[Known]) -> Known {
    let old = &known[random.below(known.len() as u64) as usize];
    let large = random.below(2) == 1;
    let count = random.below(4) as usize;
    let length = number(random, 0, 3);
    let lengths: Vec<i64> = (0..count).map(|_| number(random, 0, 3)).collect();
    let places: Vec<i64> = (0..count).map(|_| number(random, -6, 6)).collect();
    let at_places = |lengths: &[i64], unit: i64| -> Vec<(i64, &Known)> {
        places.iter().zip(lengths).flat_map(|(place, length)| run(place * unit, *length, old)).collect()
    };
    let stride = number(random, -5, 5);
    let made = &old.made;
    let same = vec![length; count];
    let bytes: Vec<i64> = places.iter().map(|place| place * 5).collect();
    let result = match random.below(11) {
        0 => Type::contiguous(count, made, large)
            .map(|new| Known::of(new, &run(0, count as i64, old).collect::<Vec<_>>())),
        1 => Type::vector(count, length as usize, stride, made, large).map(|new| {
            let placed: Vec<_> =
                (0..count as i64).flat_map(|i| run(i * stride * old.extent(), length, old)).collect();
            Known::of(new, &placed)
        }),
        2 => Type::hvector(count, length as usize, stride * 3, made, large).map(|new| {
            let placed: Vec<_> = (0..count as i64).flat_map(|i| run(i * stride * 3, length, old)).collect();
            Known::of(new, &placed)
        }),
        3 => Type::indexed(&lengths, &places, made, large)
            .map(|new| Known::of(new, &at_places(&lengths, old.extent()))),
        4 => Type::hindexed(&lengths, &bytes, made, large).map(|new| Known::of(new, &at_places(&lengths, 5))),
        5 => Type::indexed_block(length as usize, &places, made, large)
            .map(|new| Known::of(new, &at_places(&same, old.extent()))),
        6 => Type::hindexed_block(length as usize, &bytes, made, large)
            .map(|new| Known::of(new, &at_places(&same, 5))),
        7 => {
            let parts: Vec<&Known> =
                (0..count).map(|_| &known[random.below(known.len() as u64) as usize]).collect();
            let olds: Vec<_> = parts.iter().map(|part| Rc::clone(&part.made)).collect();
            let placed: Vec<_> = parts
                .iter()
                .zip(lengths.iter().zip(&bytes))
                .flat_map(|(part, (length, at))| run(*at, *length, part))
                .collect();
            Type::structure(&lengths, &bytes, &olds, large).map(|new| Known::of(new, &placed))
        }
        8 => Type::resized(made, stride, length * 4, large).map(|new| {
            let mut known = Known::of(new, &[(0, old)]);
            known.marks = Some((stride, stride + length * 4));
            known
        }),
        9 => Ok(Known::of(Type::dup(made), &[(0, old)])),
        _ => random_subarray(random, old, large),
    };
    result.expect("it is small")
}

/// The elements of an array whose indices are wanted in each dimension, the last index the fastest in C.
fn part_of_array<'a>(
    old: &'a Known,
    sizes: &[i64],
    wanted: &[Vec<i64>],
    order: i32,
) -> (Vec<(i64, &'a Known)>, i64) {
    let fastest: Vec<usize> = match order {
        abi::ORDER_C => (0..sizes.len()).rev().collect(),
        _ => (0..sizes.len()).collect(),
    };
    let mut places = vec![0];
    let mut stride = old.extent();
    for dimension in fastest {
        let before = places;
        places = wanted[dimension]
            .iter()
            .flat_map(|index| before.iter().map(move |place| place + index * stride))
            .collect();
        stride *= sizes[dimension];
    }
    (places.into_iter().map(|place| (place, old)).collect(), stride)
}

fn random_order(random: &mut Random) -> i32 {
    [abi::ORDER_C, abi::ORDER_FORTRAN][random.below(2) as usize]
}

fn random_subarray(random: &mut Random, old: &Known, large: bool) -> crate::error::Result<Known> {
    let dimensions = number(random, 1, 3);
    let sizes: Vec<i64> = (0..dimensions).map(|_| number(random, 1, 4)).collect();
    let subsizes: Vec<i64> = sizes.iter().map(|size| number(random, 1, *size)).collect();
    let starts: Vec<i64> =
        sizes.iter().zip(&subsizes).map(|(size, subsize)| number(random, 0, size - subsize)).collect();
    let order = random_order(random);
    let wanted: Vec<Vec<i64>> =
        starts.iter().zip(&subsizes).map(|(start, length)| (*start..start + length).collect()).collect();
    let (placed, extent) = part_of_array(old, &sizes, &wanted, order);
    let made = Type::subarray(&sizes, &subsizes, &starts, order, &old.made, large)?;
    let mut known = Known::of(made, &placed);
    known.marks = Some((0, extent));
    Ok(known)
}

#[test]
fn random_types_are_what_their_typemaps_say() {
    for seed in 0..simurgh_testing::cases(3000) {
        let mut random = Random::new(seed, 0);
        let mut known: Vec<Known> = (0..3).map(|_| random_leaf(&mut random)).collect();
        for _ in 0..5 {
            let next = random_type(&mut random, &known);
            next.check();
            if next.map.len() < 3000 {
                next.check_copies(&mut random);
                next.check_elements(&mut random);
                if next.map.len() < 300 {
                    known.push(next);
                }
            }
        }
    }
}

#[test]
fn random_distributed_arrays_are_divided_among_all() {
    let int = Known::basic(abi::INT);
    let odd = Known::basic(abi::SHORT_INT);
    for seed in 0..simurgh_testing::cases(2000) {
        let mut random = Random::new(seed, 1);
        let old = if random.below(2) == 0 { &int } else { &odd };
        let order = random_order(&mut random);
        let dimensions = number(&mut random, 1, 3);
        let distributions: Vec<Distribution> = (0..dimensions)
            .map(|_| {
                let length = number(&mut random, 1, 9);
                let processes = number(&mut random, 1, 3) as i32;
                let kind = [abi::DISTRIBUTE_BLOCK, abi::DISTRIBUTE_CYCLIC, abi::DISTRIBUTE_NONE]
                    [random.below(3) as usize];
                let enough = (length as i32 + processes - 1) / processes;
                let least = if kind == abi::DISTRIBUTE_BLOCK { enough } else { 1 };
                let default = random.below(2) == 0;
                let argument =
                    if default { abi::DISTRIBUTE_DFLT_DARG } else { least + random.below(3) as i32 };
                let processes = if kind == abi::DISTRIBUTE_NONE { 1 } else { processes };
                Distribution { length, kind, argument, processes }
            })
            .collect();
        let size: i32 = distributions.iter().map(|distribution| distribution.processes).product();
        let sizes: Vec<i64> = distributions.iter().map(|distribution| distribution.length).collect();
        let mut all = 0;
        for rank in 0..size {
            let mut left = rank;
            let mut wanted = vec![Vec::new(); distributions.len()];
            for (dimension, distribution) in distributions.iter().enumerate().rev() {
                let coordinate = i64::from(left % distribution.processes);
                left /= distribution.processes;
                let processes = i64::from(distribution.processes);
                let default = distribution.argument == abi::DISTRIBUTE_DFLT_DARG;
                let argument = i64::from(distribution.argument);
                let length = distribution.length;
                let owner = |index: i64| match distribution.kind {
                    abi::DISTRIBUTE_NONE => 0,
                    abi::DISTRIBUTE_BLOCK if default => index / ((length + processes - 1) / processes),
                    abi::DISTRIBUTE_BLOCK => index / argument,
                    _ if default => index % processes,
                    _ => index / argument % processes,
                };
                wanted[dimension] = (0..length).filter(|index| owner(*index) == coordinate).collect();
            }
            let (placed, extent) = part_of_array(old, &sizes, &wanted, order);
            let made =
                Type::darray(size, rank, &distributions, order, &old.made, false).expect("it is right");
            let mut known = Known::of(made, &placed);
            known.marks = Some((0, extent));
            known.check();
            known.check_copies(&mut random);
            all += placed.len() as i64;
        }
        assert_eq!(all, sizes.iter().product::<i64>(), "every element has one owner");
    }
}

#[test]
fn huge_types_are_small() {
    let int = Known::basic(abi::INT).made;
    let vector = Rc::new(Type::vector(1 << 30, 1, 2, &int, true).expect("it fits"));
    assert_eq!((vector.size, vector.extent), (4 << 30, (8 << 30) - 4));
    let nested = Type::vector(1000, 1, 3, &vector, true).expect("it fits");
    let pair =
        Rc::new(Type::structure(&[1, 1], &[0, 64], &[Rc::clone(&vector), int], false).expect("it fits"));
    assert_eq!(nested.elements_in(4 * 12345), Some(12345));
    let mut seen = Vec::new();
    nested.blocks((4 << 30) * 7 + 4 * 10 + 1, 6, |offset, length| seen.push((offset, length)));
    let first = vector.extent * 21 + 80;
    assert_eq!(seen, [(first + 1, 3), (first + 8, 3)]);
    seen.clear();
    pair.blocks((4 << 30) - 4, 12, |offset, length| seen.push((offset, length)));
    assert_eq!(seen, [((8 << 30) - 8, 4), (64, 4), (pair.extent, 4)]);
    let error =
        Type::vector(1 << 40, 1 << 20, 1 << 30, &vector, true).expect_err("nobody has so much memory");
    assert_eq!(error.class, abi::ERR_ARG);
}

#[test]
fn neighbours_are_joined() {
    let int = Known::basic(abi::INT).made;
    let joined = Type::hindexed(&[1, 2, 1], &[0, 4, 12], &int, false).expect("it fits");
    assert!(joined.is_contiguous());
    let regular = Type::indexed_block(1, &[0, 2, 4], &int, false).expect("it fits");
    assert!(!regular.is_contiguous());
    let row = Rc::new(Type::contiguous(5, &int, false).expect("it fits"));
    assert!(Type::contiguous(7, &row, false).expect("it fits").is_contiguous());
    assert!(!Type::resized(&row, 0, 24, false).expect("it fits").is_contiguous());
}

#[test]
fn bounds_that_were_removed_still_count() {
    let of = |handle| Predefined::default().get(handle).expect("it is known");
    let parts = [of(abi::LB), of(abi::BYTE), of(abi::UB)];
    let made = Type::structure(&[1, 4, 1], &[-3, 0, 6], &parts, false).expect("it fits");
    assert_eq!((made.size, made.lb, made.ub(), made.true_lb, made.true_extent), (4, -3, 6, 0, 4));
    let twice = Type::contiguous(2, &Rc::new(made), false).expect("it fits");
    assert_eq!((twice.lb, twice.ub()), (-3, 15));
    let nothing = Type::structure(&[1], &[10], &parts[..1], false).expect("it fits");
    assert_eq!((nothing.lb, nothing.extent), (10, -10));
    let upper = Type::structure(&[1, 1], &[0, 3], &[of(abi::INT), of(abi::UB)], false).expect("it fits");
    assert_eq!((upper.lb, upper.extent), (0, 3));
}

#[test]
fn pairs_are_as_in_c() {
    let of = |handle| {
        let made = Known::basic(handle).made;
        (made.size, made.extent, made.true_extent)
    };
    assert_eq!(of(abi::SHORT_INT), (6, 8, 8));
    assert_eq!(of(abi::DOUBLE_INT), (12, 16, 12));
    assert_eq!(of(abi::LONG_DOUBLE_INT), (20, 32, 20));
    assert_eq!(of(abi::TWO_INT), (8, 8, 8));
}

#[test]
fn contents_are_what_was_given() {
    let int = Known::basic(abi::INT).made;
    let small =
        Type::structure(&[2, 3], &[0, 16], &[Rc::clone(&int), Rc::clone(&int)], false).expect("it fits");
    let contents = &small.contents;
    assert_eq!((contents.combiner, &contents.integers[..]), (abi::COMBINER_STRUCT, &[2, 2, 3][..]));
    assert_eq!((&contents.addresses[..], contents.counts.len(), contents.types.len()), (&[0, 16][..], 0, 2));
    let large = Type::hvector(2, 3, 16, &int, true).expect("it fits").contents;
    assert_eq!((large.integers.len(), large.addresses.len(), &large.counts[..]), (0, 0, &[2, 3, 16][..]));
    let array =
        Type::subarray(&[4, 5], &[2, 3], &[1, 2], abi::ORDER_C, &int, true).expect("it fits").contents;
    assert_eq!((&array.integers[..], &array.counts[..]), (&[2, abi::ORDER_C][..], &[4, 5, 2, 3, 1, 2][..]));
    let array =
        Type::subarray(&[4, 5], &[2, 3], &[1, 2], abi::ORDER_C, &int, false).expect("it fits").contents;
    assert_eq!(array.integers, [2, 4, 5, 2, 3, 1, 2, abi::ORDER_C]);
}

#[test]
fn external32_is_big_endian_with_sizes_of_its_own() {
    let of = |handle: abi::Datatype, data: &[u8]| {
        let made = Known::basic(handle).made;
        let count = data.len() / made.size;
        let written = made.to_external(data, count);
        assert_eq!(written.len(), made.external_size() * count);
        assert_eq!(made.from_external(&written, count), data, "it comes back");
        written
    };
    assert_eq!(of(abi::INT, &(-2i32).to_le_bytes()), [0xFF, 0xFF, 0xFF, 0xFE]);
    assert_eq!(of(abi::LONG, &(-2i64).to_le_bytes()), [0xFF, 0xFF, 0xFF, 0xFE]);
    assert_eq!(of(abi::LONG_LONG, &1i64.to_le_bytes()), [0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(of(abi::WCHAR, &0x20ACu32.to_le_bytes()), [0x20, 0xAC]);
    assert_eq!(of(abi::FLOAT, &2f32.to_le_bytes()), [0x40, 0, 0, 0]);
    // 2.0 of the x87: the exponent 0x4000, and a leading 1 that is written.
    let mut two = [0; 16];
    (two[7], two[9]) = (0x80, 0x40);
    assert_eq!(of(abi::LONG_DOUBLE, &two)[..3], [0x40, 0, 0]);
    let pair = Known::basic(abi::DOUBLE_INT).made;
    let mut data = 1f64.to_le_bytes().to_vec();
    data.extend(7i32.to_le_bytes());
    assert_eq!(pair.to_external(&data, 1), [0x3F, 0xF0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7]);
    let mut random = Random::new(5, 5);
    for _ in 0..1000 {
        // All numbers of the x87 that are normal come back.
        let mut number = [0; 16];
        number[..8].copy_from_slice(&(random.next_u64() | 1 << 63).to_le_bytes());
        number[8..10].copy_from_slice(&(1 + random.below(0x7FFE) as u16).to_le_bytes());
        of(abi::LONG_DOUBLE, &number);
    }
}
