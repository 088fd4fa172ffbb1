//! All operators on all types, against what is said of each.

use std::ffi::c_void;

use simurgh_random::Random;

use super::extended::Extended;
use super::half::Half;
use super::quad::Quad;
use super::*;
use crate::datatype::basic::{BASICS, PAIRS};
use crate::datatype::{Basic, Number, Predefined as Types};

const OPERATORS: [Predefined; 12] = [
    Predefined::Sum,
    Predefined::Min,
    Predefined::Max,
    Predefined::Prod,
    Predefined::Band,
    Predefined::Bor,
    Predefined::Bxor,
    Predefined::Land,
    Predefined::Lor,
    Predefined::Lxor,
    Predefined::Minloc,
    Predefined::Maxloc,
];

fn datatype(handle: Datatype) -> Rc<Type> {
    Types::default().get(handle).expect("it is known")
}

/// Applies an operator without a process, which only functions of programs need.
fn apply(operator: Predefined, handle: Datatype, left: &[u8], right: &[u8], count: usize) -> Result<Vec<u8>> {
    let found = datatype(handle);
    Operator::predefined(operator).check(&found)?;
    let mut result = right.to_vec();
    let leaf = found.leaf.expect("it has no parts");
    // SAFETY: the elements lie there.
    unsafe {
        combine::combine(operator, leaf, found.extent as usize, left.as_ptr(), result.as_mut_ptr(), count);
    }
    Ok(result)
}

/// A small whole number as bytes of its kind; all kinds have room for it.
fn written(number: Number, value: i8) -> Vec<u8> {
    match number {
        Number::F16 => Half::of(value.into()).0.to_le_bytes().to_vec(),
        Number::F32 => f32::from(value).to_le_bytes().to_vec(),
        Number::F64 => f64::from(value).to_le_bytes().to_vec(),
        Number::F80 => Extended::of(value.into()).0.to_vec(),
        Number::F128 => quad(value).0.to_le_bytes().to_vec(),
        _ => match number.part() {
            Some(part) => [written(part, value), written(part, 0)].concat(),
            None => i128::from(value).to_le_bytes()[..number.size()].to_vec(),
        },
    }
}

/// Quadruple precision from double: another bias, a longer fraction.
fn quad(value: i8) -> Quad {
    let bits = f64::from(value).to_bits();
    let exponent = bits >> 52 & 0x7FF;
    let exponent = if exponent == 0 { 0 } else { exponent + 0x3FFF - 0x3FF };
    let fraction = u128::from(bits & ((1 << 52) - 1)) << 60;
    Quad(u128::from(bits >> 63) << 127 | u128::from(exponent) << 112 | fraction)
}

/// What an operator gives, by the standard; for numbers so small that nothing is rounded.
fn expected(operator: Predefined, a: i8, b: i8) -> i8 {
    let truth = |is: bool| i8::from(is);
    match operator {
        Predefined::Sum => a + b,
        Predefined::Prod => a * b,
        Predefined::Min => a.min(b),
        Predefined::Max => a.max(b),
        Predefined::Band => a & b,
        Predefined::Bor => a | b,
        Predefined::Bxor => a ^ b,
        Predefined::Land => truth(a != 0 && b != 0),
        Predefined::Lor => truth(a != 0 || b != 0),
        Predefined::Lxor => truth((a != 0) != (b != 0)),
        other => unreachable!("{other:?} is for pairs"),
    }
}

/// The bytes that mean something.
fn meaning(number: Number, bytes: &[u8]) -> Vec<u8> {
    match number {
        Number::F80 | Number::ComplexF80 => {
            bytes.chunks(16).flat_map(|part| part[..10].iter().copied()).collect()
        }
        _ => bytes.to_vec(),
    }
}

/// A number that the type has, of products that are not 0 with a sign.
fn small(random: &mut Random, basic: &Basic) -> i8 {
    let value = random.below(11) as i8;
    match basic.number {
        number if number.is_signed() => value - 5,
        Number::F16 | Number::F32 | Number::F64 | Number::F80 | Number::F128 => {
            [-3, -2, -1, 1, 2, 3][value as usize % 6]
        }
        _ => value,
    }
}

#[test]
fn every_operator_does_what_it_says_on_every_type() {
    let mut allowed = 0;
    for basic in BASICS {
        for operator in OPERATORS {
            let mut random = Random::new(basic.handle.0 as u64, 0);
            let (mut left, mut right, mut wanted) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..37 {
                let (a, b) = (small(&mut random, basic), small(&mut random, basic));
                left.extend(written(basic.number, a));
                right.extend(written(basic.number, b));
                if operator.is_for(Leaf::Basic(basic)) {
                    wanted.extend(written(basic.number, expected(operator, a, b)));
                }
            }
            match apply(operator, basic.handle, &left, &right, 37) {
                Ok(result) => {
                    allowed += 1;
                    let same = meaning(basic.number, &result) == meaning(basic.number, &wanted);
                    assert!(same, "{operator:?} of {}", basic.name);
                }
                Err(error) => {
                    assert_eq!(error.class, abi::ERR_OP);
                    assert!(error.message.contains(basic.name), "{}", error.message);
                    assert!(error.message.contains(operator.name()), "{}", error.message);
                }
            }
        }
    }
    // 19 integers of C and 3 of several languages have 10 operators, 6 of Fortran 7, 9 reals 4, 12 complex 2, 8 logicals and
    // a byte 3.
    assert_eq!(allowed, 22 * 10 + 6 * 7 + 9 * 4 + 12 * 2 + 9 * 3);
}

#[test]
fn pairs_keep_the_first_of_equals() {
    for (handle, name, value, index) in PAIRS {
        let part = |handle| crate::datatype::basic::basic(handle).expect("pairs are of basic types");
        let (value, index) = (part(*value), part(*index));
        let extent = datatype(*handle).extent as usize;
        let offset = Leaf::index_offset(value, index);
        let mut random = Random::new(handle.0 as u64, 1);
        let pair = |a: i8, i: i8| {
            let mut bytes = vec![0; extent];
            bytes[..value.size].copy_from_slice(&written(value.number, a));
            bytes[offset..offset + index.size].copy_from_slice(&written(index.number, i));
            bytes
        };
        for operator in [Predefined::Minloc, Predefined::Maxloc] {
            let (mut left, mut right, mut wanted) = (Vec::new(), Vec::new(), Vec::new());
            for _ in 0..200 {
                let number = |random: &mut Random| random.below(4) as i8 - 2;
                let (a, i) = (number(&mut random), number(&mut random));
                let (b, j) = (number(&mut random), number(&mut random));
                let better = if operator == Predefined::Minloc { a < b } else { a > b };
                let (c, k) = match a == b {
                    true => (a, i.min(j)),
                    false if better => (a, i),
                    false => (b, j),
                };
                left.extend(pair(a, i));
                right.extend(pair(b, j));
                wanted.extend(pair(c, k));
            }
            assert_eq!(
                apply(operator, *handle, &left, &right, 200).expect("it is for pairs"),
                wanted,
                "{name}"
            );
        }
        for operator in &OPERATORS[..10] {
            assert!(apply(*operator, *handle, &[], &[], 0).is_err(), "{operator:?} of {name}");
        }
    }
}

#[test]
fn random_reals_of_the_x87_are_as_exact_as_doubles_at_least() {
    let mut random = Random::new(11, 0);
    for _ in 0..10_000 {
        let mut number = || (random.next_f64() - 0.5) * 2f64.powi(random.below(60) as i32 - 30);
        let (a, b) = (number(), number());
        let (x, y) = (Extended::of(a), Extended::of(b));
        use super::numbers::Real;
        // A sum of doubles that is exact in 64 bits rounds to the sum of doubles; others are within one place.
        let near = |ours: f64, theirs: f64| (ours - theirs).abs() <= theirs.abs() * f64::EPSILON;
        assert!(near(x.sum(y).to_f64(), a + b));
        assert!(near(x.difference(y).to_f64(), a - b));
        assert!(near(x.product(y).to_f64(), a * b));
        assert_eq!((x.is_less(y), y.is_less(x)), (a < b, b < a));
    }
    let nan = Extended::of(f64::NAN);
    assert_eq!(nan.compared(Extended::of(1.0)), None);
}

#[test]
fn complex_numbers_are_multiplied() {
    let bytes = |numbers: &[f64]| numbers.iter().flat_map(|number| number.to_le_bytes()).collect::<Vec<_>>();
    let product =
        apply(Predefined::Prod, abi::C_DOUBLE_COMPLEX, &bytes(&[1.0, 2.0]), &bytes(&[3.0, -1.0]), 1);
    assert_eq!(product.expect("it is for complex numbers"), bytes(&[5.0, 5.0]));
    let two = |x: f64, y: f64| [Extended::of(x).0, Extended::of(y).0].concat();
    let product = apply(Predefined::Prod, abi::C_LONG_DOUBLE_COMPLEX, &two(1.0, 2.0), &two(3.0, -1.0), 1);
    let product = product.expect("it is for complex numbers");
    assert_eq!(meaning(Number::ComplexF80, &product), meaning(Number::ComplexF80, &two(5.0, 5.0)));
}

#[test]
fn derived_types_are_refused_but_for_accumulating() {
    let pair = datatype(abi::SHORT_INT);
    let derived = Type::vector(2, 1, 2, &pair, false).expect("it fits");
    let operator = Operator::predefined(Predefined::Minloc);
    let error = operator.check(&derived).expect_err("it is derived");
    assert!(error.message.contains("MPI_MINLOC") && error.message.contains("derived"), "{}", error.message);
    let element = |value: i16, index: i32| {
        let mut bytes = vec![0; 8];
        bytes[..2].copy_from_slice(&value.to_le_bytes());
        bytes[4..].copy_from_slice(&index.to_le_bytes());
        bytes
    };
    let mut memory = [element(5, 1), element(9, 9), element(7, 2)].concat();
    let data: Vec<u8> = [(4i16, 8i32), (7, 1)]
        .iter()
        .flat_map(|(a, i)| [&a.to_le_bytes()[..], &i.to_le_bytes()].concat())
        .collect();
    // SAFETY: one element lies there.
    unsafe { operator.accumulate(&data, memory.as_mut_ptr().cast(), 1, &derived) }.expect("it is for pairs");
    assert_eq!(memory, [element(4, 8), element(9, 9), element(7, 1)].concat());
    let replace = Operator::predefined(Predefined::Replace);
    // SAFETY: one element lies there.
    unsafe { replace.accumulate(&data, memory.as_mut_ptr().cast(), 1, &derived) }.expect("it is for all");
    assert_eq!(memory, [element(4, 8), element(9, 9), element(7, 1)].concat());
}

extern "C" fn twice_the_left(left: *mut c_void, right: *mut c_void, count: *mut i32, handle: *mut Datatype) {
    // SAFETY: the library gives as many integers as it says.
    unsafe {
        assert_eq!(*handle, abi::INT);
        for index in 0..*count as usize {
            *right.cast::<i32>().add(index) += 2 * *left.cast::<i32>().add(index);
        }
    }
}

extern "C" fn large_of_fortran(
    left: *mut c_void,
    right: *mut c_void,
    count: *mut i64,
    handle: *mut Datatype,
) {
    // SAFETY: the library gives as many integers as it says.
    unsafe {
        assert_eq!((*handle, *count), (abi::INT, 2));
        *right.cast::<i32>() = *left.cast::<i32>() - *right.cast::<i32>();
    }
}

extern "C" fn of_fortran(_: *mut c_void, right: *mut c_void, count: *mut i32, handle: *mut i32) {
    // SAFETY: the library gives as many integers as it says.
    unsafe { *right.cast::<i32>() = 100 * *handle + *count };
}

#[test]
fn functions_of_programs_are_called_as_they_are() {
    let calls = |function: usize, wide, language| {
        let (left, mut right) = ([1i32, 2], [10i32, 20]);
        let function = Function::new(function, wide);
        let (from, to) = (left.as_ptr().cast(), right.as_mut_ptr().cast());
        // SAFETY: two integers lie there.
        unsafe { call(function, language, from, to, 2, abi::INT, 4) };
        right
    };
    assert_eq!(calls(twice_the_left as *const () as usize, false, Language::C), [12, 24]);
    assert_eq!(calls(large_of_fortran as *const () as usize, true, Language::C), [-9, 20]);
    assert_eq!(calls(of_fortran as *const () as usize, false, Language::Fortran)[0], 52102);
}
