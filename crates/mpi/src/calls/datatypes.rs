//! Datatypes: constructors, and what is asked of them (MPI 5.0, 5.1).

use std::ffi::c_void;
use std::rc::Rc;

use crate::abi::{self, Counts, CountsOut, Datatype};
use crate::datatype::{self, Distribution, Type};
use crate::error::{Result, fail};
use crate::rank::Rank;

/// Writes an answer where the program wants it.
pub(super) fn answer<T>(place: *mut T, value: T) -> Result {
    if place.is_null() {
        return fail(abi::ERR_ARG, "the place of an answer is a null pointer");
    }
    // SAFETY: the program has room for the answer there.
    unsafe { place.write_unaligned(value) };
    Ok(())
}

/// Writes a count where the program wants it.
pub(super) fn answer_count(place: CountsOut, value: i64) {
    // SAFETY: the program has room for the answer there.
    unsafe { place.set(0, value) };
}

/// A number that is not negative.
pub(super) fn not_negative(what: &str, number: i64) -> Result<usize> {
    match usize::try_from(number) {
        Ok(number) => Ok(number),
        Err(_) => fail(abi::ERR_COUNT, format!("{what} is {number}: it must not be negative")),
    }
}

/// An array of the program.
fn array(counts: Counts, length: usize) -> Result<Vec<i64>> {
    if length > 0 && counts.is_null() {
        return fail(abi::ERR_ARG, format!("an array of {length} numbers is a null pointer"));
    }
    // SAFETY: the program says that it has so many.
    Ok(unsafe { counts.take(length) })
}

fn wide(first: *const i64, length: usize) -> Result<Vec<i64>> {
    array(Counts::new(first.cast(), true), length)
}

fn narrow(first: *const i32, length: usize) -> Result<Vec<i64>> {
    array(Counts::new(first.cast(), false), length)
}

/// Lengths of blocks.
fn lengths(counts: Counts, length: usize) -> Result<Vec<i64>> {
    let lengths = array(counts, length)?;
    for (index, length) in lengths.iter().enumerate() {
        not_negative(&format!("the length of block {index}"), *length)?;
    }
    Ok(lengths)
}

/// Keeps a type that was made.
fn made(me: &Rank, datatype: Type, newtype: *mut Datatype) -> Result {
    answer(newtype, me.keep_type(datatype))
}

pub fn type_contiguous(me: &Rank, count: i64, oldtype: Datatype, newtype: *mut Datatype) -> Result {
    let old = me.datatype(oldtype)?;
    made(me, Type::contiguous(not_negative("the count", count)?, &old, me.large.get())?, newtype)
}

pub fn type_vector(
    me: &Rank,
    count: i64,
    blocklength: i64,
    stride: i64,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> Result {
    let old = me.datatype(oldtype)?;
    let (count, length) =
        (not_negative("the count", count)?, not_negative("the length of blocks", blocklength)?);
    made(me, Type::vector(count, length, stride, &old, me.large.get())?, newtype)
}

pub fn type_create_hvector(
    me: &Rank,
    count: i64,
    blocklength: i64,
    stride: i64,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> Result {
    let old = me.datatype(oldtype)?;
    let (count, length) =
        (not_negative("the count", count)?, not_negative("the length of blocks", blocklength)?);
    made(me, Type::hvector(count, length, stride, &old, me.large.get())?, newtype)
}

pub fn type_hvector(
    me: &Rank,
    count: i32,
    blocklength: i32,
    stride: i64,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> Result {
    type_create_hvector(me, count.into(), blocklength.into(), stride, oldtype, newtype)
}

pub fn type_indexed(
    me: &Rank,
    count: i64,
    array_of_blocklengths: Counts,
    array_of_displacements: Counts,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> Result {
    let old = me.datatype(oldtype)?;
    let count = not_negative("the count", count)?;
    let lengths = lengths(array_of_blocklengths, count)?;
    made(me, Type::indexed(&lengths, &array(array_of_displacements, count)?, &old, me.large.get())?, newtype)
}

pub fn type_create_hindexed(
    me: &Rank,
    count: i64,
    array_of_blocklengths: Counts,
    array_of_displacements: *const i64,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> Result {
    let old = me.datatype(oldtype)?;
    let count = not_negative("the count", count)?;
    let lengths = lengths(array_of_blocklengths, count)?;
    made(me, Type::hindexed(&lengths, &wide(array_of_displacements, count)?, &old, me.large.get())?, newtype)
}

pub fn type_hindexed(
    me: &Rank,
    count: i32,
    array_of_blocklengths: *mut i32,
    array_of_displacements: *mut i64,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> Result {
    let lengths = Counts::new(array_of_blocklengths.cast(), false);
    type_create_hindexed(me, count.into(), lengths, array_of_displacements, oldtype, newtype)
}

pub fn type_create_indexed_block(
    me: &Rank,
    count: i64,
    blocklength: i64,
    array_of_displacements: Counts,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> Result {
    let old = me.datatype(oldtype)?;
    let count = not_negative("the count", count)?;
    let length = not_negative("the length of blocks", blocklength)?;
    made(
        me,
        Type::indexed_block(length, &array(array_of_displacements, count)?, &old, me.large.get())?,
        newtype,
    )
}

pub fn type_create_hindexed_block(
    me: &Rank,
    count: i64,
    blocklength: i64,
    array_of_displacements: *const i64,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> Result {
    let old = me.datatype(oldtype)?;
    let count = not_negative("the count", count)?;
    let length = not_negative("the length of blocks", blocklength)?;
    made(
        me,
        Type::hindexed_block(length, &wide(array_of_displacements, count)?, &old, me.large.get())?,
        newtype,
    )
}

pub fn type_create_struct(
    me: &Rank,
    count: i64,
    array_of_blocklengths: Counts,
    array_of_displacements: *const i64,
    array_of_types: *const Datatype,
    newtype: *mut Datatype,
) -> Result {
    let count = not_negative("the count", count)?;
    let lengths = lengths(array_of_blocklengths, count)?;
    let displacements = wide(array_of_displacements, count)?;
    let handles = wide(array_of_types.cast(), count)?;
    let olds: Vec<Rc<Type>> =
        handles.iter().map(|handle| me.datatype(Datatype(*handle as usize))).collect::<Result<_>>()?;
    made(me, Type::structure(&lengths, &displacements, &olds, me.large.get())?, newtype)
}

pub fn type_struct(
    me: &Rank,
    count: i32,
    array_of_blocklengths: *mut i32,
    array_of_displacements: *mut i64,
    array_of_types: *mut Datatype,
    newtype: *mut Datatype,
) -> Result {
    let lengths = Counts::new(array_of_blocklengths.cast(), false);
    type_create_struct(me, count.into(), lengths, array_of_displacements, array_of_types, newtype)
}

#[expect(clippy::too_many_arguments, reason = "the procedure of MPI has as many")]
pub fn type_create_subarray(
    me: &Rank,
    ndims: i32,
    array_of_sizes: Counts,
    array_of_subsizes: Counts,
    array_of_starts: Counts,
    order: i32,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> Result {
    let old = me.datatype(oldtype)?;
    let ndims = dimensions(ndims)?;
    let (sizes, subsizes) = (array(array_of_sizes, ndims)?, array(array_of_subsizes, ndims)?);
    let starts = array(array_of_starts, ndims)?;
    made(me, Type::subarray(&sizes, &subsizes, &starts, order, &old, me.large.get())?, newtype)
}

#[expect(clippy::too_many_arguments, reason = "the procedure of MPI has as many")]
pub fn type_create_darray(
    me: &Rank,
    size: i32,
    rank: i32,
    ndims: i32,
    array_of_gsizes: Counts,
    array_of_distribs: *const i32,
    array_of_dargs: *const i32,
    array_of_psizes: *const i32,
    order: i32,
    oldtype: Datatype,
    newtype: *mut Datatype,
) -> Result {
    let old = me.datatype(oldtype)?;
    let ndims = dimensions(ndims)?;
    let lengths = array(array_of_gsizes, ndims)?;
    let (kinds, arguments) = (narrow(array_of_distribs, ndims)?, narrow(array_of_dargs, ndims)?);
    let processes = narrow(array_of_psizes, ndims)?;
    let distributions: Vec<_> = (0..ndims)
        .map(|dimension| Distribution {
            length: lengths[dimension],
            kind: kinds[dimension] as i32,
            argument: arguments[dimension] as i32,
            processes: processes[dimension] as i32,
        })
        .collect();
    made(me, Type::darray(size, rank, &distributions, order, &old, me.large.get())?, newtype)
}

fn dimensions(ndims: i32) -> Result<usize> {
    match usize::try_from(ndims) {
        Ok(ndims) if ndims > 0 => Ok(ndims),
        _ => fail(abi::ERR_ARG, format!("an array of {ndims} dimensions: there must be one at least")),
    }
}

pub fn type_create_resized(
    me: &Rank,
    oldtype: Datatype,
    lb: i64,
    extent: i64,
    newtype: *mut Datatype,
) -> Result {
    made(me, Type::resized(&me.datatype(oldtype)?, lb, extent, me.large.get())?, newtype)
}

pub fn type_create_f90_real(me: &Rank, p: i32, r: i32, newtype: *mut Datatype) -> Result {
    answer(newtype, me.real_of_kind(abi::COMBINER_F90_REAL, p, r)?)
}

pub fn type_create_f90_complex(me: &Rank, p: i32, r: i32, newtype: *mut Datatype) -> Result {
    answer(newtype, me.real_of_kind(abi::COMBINER_F90_COMPLEX, p, r)?)
}

pub fn type_create_f90_integer(me: &Rank, r: i32, newtype: *mut Datatype) -> Result {
    answer(newtype, me.integer_of_kind(r)?)
}

pub fn type_get_value_index(
    me: &Rank,
    value_type: Datatype,
    index_type: Datatype,
    pair_type: *mut Datatype,
) -> Result {
    answer(pair_type, me.value_index(value_type, index_type)?)
}

pub fn type_match_size(_me: &Rank, typeclass: i32, size: i32, datatype: *mut Datatype) -> Result {
    answer(datatype, datatype::match_size(typeclass, size)?)
}

pub fn type_commit(me: &Rank, datatype: *mut Datatype) -> Result {
    me.datatype(given(datatype)?)?.committed.set(true);
    Ok(())
}

/// A handle that the program gives by its address.
fn given(datatype: *mut Datatype) -> Result<Datatype> {
    if datatype.is_null() {
        return fail(abi::ERR_ARG, "the place of the datatype is a null pointer");
    }
    // SAFETY: the program has a handle there.
    Ok(unsafe { datatype.read_unaligned() })
}

pub fn type_free(me: &Rank, datatype: *mut Datatype) -> Result {
    me.free_type(given(datatype)?)?;
    answer(datatype, abi::DATATYPE_NULL)
}

pub fn type_dup(me: &Rank, oldtype: Datatype, newtype: *mut Datatype) -> Result {
    answer(newtype, abi::DATATYPE_NULL)?;
    let handle = me.dup_type(oldtype)?;
    answer(newtype, handle)
}

pub fn type_size(me: &Rank, datatype: Datatype, size: CountsOut) -> Result {
    answer_count(size, me.datatype(datatype)?.size as i64);
    Ok(())
}

pub fn type_size_x(me: &Rank, datatype: Datatype, size: *mut i64) -> Result {
    answer(size, me.datatype(datatype)?.size as i64)
}

pub fn type_get_extent(me: &Rank, datatype: Datatype, lb: *mut i64, extent: *mut i64) -> Result {
    let found = me.datatype(datatype)?;
    answer(lb, found.lb)?;
    answer(extent, found.extent)
}

pub fn type_get_extent_x(me: &Rank, datatype: Datatype, lb: *mut i64, extent: *mut i64) -> Result {
    type_get_extent(me, datatype, lb, extent)
}

pub fn type_get_true_extent(
    me: &Rank,
    datatype: Datatype,
    true_lb: *mut i64,
    true_extent: *mut i64,
) -> Result {
    let found = me.datatype(datatype)?;
    answer(true_lb, found.true_lb)?;
    answer(true_extent, found.true_extent)
}

pub fn type_get_true_extent_x(
    me: &Rank,
    datatype: Datatype,
    true_lb: *mut i64,
    true_extent: *mut i64,
) -> Result {
    type_get_true_extent(me, datatype, true_lb, true_extent)
}

pub fn type_extent(me: &Rank, datatype: Datatype, extent: *mut i64) -> Result {
    answer(extent, me.datatype(datatype)?.extent)
}

pub fn type_lb(me: &Rank, datatype: Datatype, displacement: *mut i64) -> Result {
    answer(displacement, me.datatype(datatype)?.lb)
}

pub fn type_ub(me: &Rank, datatype: Datatype, displacement: *mut i64) -> Result {
    answer(displacement, me.datatype(datatype)?.ub())
}

/// The contents of a type can be told to whoever asks: large counts only to those who ask for them.
fn asked_rightly(found: &Type, wide: bool) -> Result {
    if found.contents.large && !wide {
        return fail(
            abi::ERR_TYPE,
            "the datatype was made with large counts: ask with MPI_Type_get_envelope_c and MPI_Type_get_contents_c",
        );
    }
    Ok(())
}

pub fn type_get_envelope(
    me: &Rank,
    datatype: Datatype,
    num_integers: CountsOut,
    num_addresses: CountsOut,
    num_large_counts: CountsOut,
    num_datatypes: CountsOut,
    combiner: *mut i32,
) -> Result {
    let found = me.datatype(datatype)?;
    asked_rightly(&found, me.large.get())?;
    let contents = &found.contents;
    answer_count(num_integers, contents.integers.len() as i64);
    answer_count(num_addresses, contents.addresses.len() as i64);
    answer_count(num_large_counts, contents.counts.len() as i64);
    answer_count(num_datatypes, contents.types.len() as i64);
    answer(combiner, contents.combiner)
}

#[expect(clippy::too_many_arguments, reason = "the procedure of MPI has as many")]
pub fn type_get_contents(
    me: &Rank,
    datatype: Datatype,
    max_integers: i64,
    max_addresses: i64,
    max_large_counts: i64,
    max_datatypes: i64,
    array_of_integers: *mut i32,
    array_of_addresses: *mut i64,
    array_of_large_counts: CountsOut,
    array_of_datatypes: *mut Datatype,
) -> Result {
    let found = me.datatype(datatype)?;
    asked_rightly(&found, me.large.get())?;
    let contents = &found.contents;
    if contents.combiner == abi::COMBINER_NAMED {
        return fail(abi::ERR_TYPE, format!("{} has a name, and no contents", found.label()));
    }
    let rooms = [
        ("integers", contents.integers.len(), max_integers),
        ("addresses", contents.addresses.len(), max_addresses),
        ("large counts", contents.counts.len(), max_large_counts),
        ("datatypes", contents.types.len(), max_datatypes),
    ];
    for (what, needed, room) in rooms {
        if room < needed as i64 {
            return fail(
                abi::ERR_ARG,
                format!("there is room for {room} {what}, and the datatype has {needed}"),
            );
        }
    }
    // SAFETY: the program has room for as many as it says.
    unsafe {
        for (index, integer) in contents.integers.iter().enumerate() {
            array_of_integers.add(index).write(*integer);
        }
        for (index, address) in contents.addresses.iter().enumerate() {
            array_of_addresses.add(index).write(*address);
        }
        for (index, count) in contents.counts.iter().enumerate() {
            array_of_large_counts.set(index, *count);
        }
        for (index, part) in contents.types.iter().enumerate() {
            array_of_datatypes.add(index).write(me.handle_of_type(part));
        }
    }
    Ok(())
}

pub fn get_address(_me: &Rank, location: *const c_void, address: *mut i64) -> Result {
    answer(address, location as i64)
}

pub fn address(_me: &Rank, location: *mut c_void, address: *mut i64) -> Result {
    answer(address, location as i64)
}

pub fn aint_add(_me: &Rank, base: i64, disp: i64) -> i64 {
    base.wrapping_add(disp)
}

pub fn aint_diff(_me: &Rank, addr1: i64, addr2: i64) -> i64 {
    addr1.wrapping_sub(addr2)
}
