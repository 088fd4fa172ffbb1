//! Parts of arrays: a rectangle of one, and what a process has of one that is distributed (MPI 5.0, 5.1.3 and 5.1.4).
//!
//! Both are loops over the dimensions, the slowest outside, with the extent of the whole array.

use std::rc::Rc;

use super::Type;
use super::constructors::Marks;
use super::contents::Contents;
use super::layout::Layout;
use crate::abi;
use crate::error::{Result, fail};

/// How one dimension of an array is distributed.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Distribution {
    /// How long it is.
    pub length: i64,
    /// `MPI_DISTRIBUTE_BLOCK`, `_CYCLIC` or `_NONE`.
    pub kind: i32,
    /// How many in a row belong to one process, or `MPI_DISTRIBUTE_DFLT_DARG`.
    pub argument: i32,
    /// Over how many processes.
    pub processes: i32,
}

/// Runs of indices in one dimension: `count` runs of `length` from `start` on, one every `period`, then `rest` more.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
struct Runs {
    start: i64,
    length: i64,
    count: i64,
    period: i64,
    rest: i64,
}

impl Runs {
    fn one(start: i64, length: i64) -> Self {
        Self { start, length, count: i64::from(length > 0), period: 0, rest: 0 }
    }

    fn elements(&self) -> i64 {
        self.length * self.count + self.rest
    }

    /// What lies at these indices, if such a thing lies at each.
    fn of(&self, inner: &Layout, stride: i64) -> Result<Layout> {
        let bytes = |indices: i64| match indices.checked_mul(stride) {
            Some(bytes) => Ok(bytes),
            None => fail(abi::ERR_ARG, "the array is too large: its bytes cannot be addressed with 64 bits"),
        };
        let whole = inner
            .repeated(self.length as usize, stride)?
            .repeated(self.count as usize, bytes(self.period)?)?
            .shifted(bytes(self.start)?)?;
        let rest = inner
            .repeated(self.rest as usize, stride)?
            .shifted(bytes(self.start + self.count * self.period)?)?;
        Layout::sequence([whole, rest])
    }
}

impl Distribution {
    /// The indices of the process that is at this coordinate.
    fn runs(&self, coordinate: i64) -> Result<Runs> {
        let Self { length, kind, argument, processes } = *self;
        let processes = i64::from(processes);
        let default = argument == abi::DISTRIBUTE_DFLT_DARG;
        let argument = i64::from(argument);
        if !default && argument <= 0 && kind != abi::DISTRIBUTE_NONE {
            return fail(abi::ERR_ARG, format!("a distribution argument is {argument}: it must be positive"));
        }
        match kind {
            abi::DISTRIBUTE_NONE if processes == 1 => Ok(Runs::one(0, length)),
            abi::DISTRIBUTE_NONE => fail(
                abi::ERR_ARG,
                format!("a dimension that is not distributed has {processes} processes: it must have 1"),
            ),
            abi::DISTRIBUTE_BLOCK => {
                let block = if default { (length + processes - 1) / processes } else { argument };
                if block.saturating_mul(processes) < length {
                    return fail(
                        abi::ERR_ARG,
                        format!("{processes} blocks of {block} do not cover a dimension of {length}"),
                    );
                }
                let start = block.saturating_mul(coordinate).min(length);
                Ok(Runs::one(start, block.min(length - start)))
            }
            abi::DISTRIBUTE_CYCLIC => {
                let block = if default { 1 } else { argument };
                let period = block.saturating_mul(processes);
                let start = block.saturating_mul(coordinate).min(length);
                let left = length - start;
                let (count, over) = (left / period, left % period);
                let (count, rest) = if over >= block { (count + 1, 0) } else { (count, over) };
                Ok(Runs { start, length: block, count, period, rest })
            }
            other => fail(
                abi::ERR_ARG,
                format!(
                    "{other} is no distribution: use MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC or MPI_DISTRIBUTE_NONE"
                ),
            ),
        }
    }
}

/// The dimensions from the fastest to the slowest.
fn from_fastest(dimensions: usize, order: i32) -> Result<Vec<usize>> {
    match order {
        abi::ORDER_C => Ok((0..dimensions).rev().collect()),
        abi::ORDER_FORTRAN => Ok((0..dimensions).collect()),
        other => fail(abi::ERR_ARG, format!("{other} is no order: use MPI_ORDER_C or MPI_ORDER_FORTRAN")),
    }
}

/// What lies at these runs of indices of an array.
fn part_of_array(
    lengths: &[i64],
    runs: &[Runs],
    order: i32,
    old: &Rc<Type>,
    contents: Contents,
) -> Result<Type> {
    let mut layout = old.layout.clone();
    let mut extent = i128::from(old.extent);
    let mut elements = 1i128;
    for dimension in from_fastest(lengths.len(), order)? {
        let Ok(stride) = i64::try_from(extent) else {
            return fail(abi::ERR_ARG, "the array is too large: its bytes cannot be addressed with 64 bits");
        };
        layout = runs[dimension].of(&layout, stride)?;
        extent *= i128::from(lengths[dimension]);
        elements = elements.saturating_mul(i128::from(runs[dimension].elements()));
    }
    let parts = if elements == 0 { Vec::new() } else { vec![(elements as usize, Rc::clone(old))] };
    Type::derived(layout, Marks::both(0, extent), old.align, parts, contents)
}

impl Type {
    /// `MPI_Type_create_subarray`.
    ///
    /// # Errors
    /// If the part is not within the array, or the array is too large.
    pub fn subarray(
        sizes: &[i64],
        subsizes: &[i64],
        starts: &[i64],
        order: i32,
        old: &Rc<Type>,
        large: bool,
    ) -> Result<Self> {
        for (dimension, ((size, subsize), start)) in sizes.iter().zip(subsizes).zip(starts).enumerate() {
            if *size < 1 || *subsize < 1 || *start < 0 || *subsize > size - start {
                return fail(
                    abi::ERR_ARG,
                    format!(
                        "dimension {dimension}: {subsize} elements from {start} on are no part of an array of {size}"
                    ),
                );
            }
        }
        let all = || [sizes, subsizes, starts].into_iter().flatten().copied();
        let contents =
            Contents::new(abi::COMBINER_SUBARRAY, large).integers([sizes.len() as i32]).counts(all());
        let contents = contents.integers([order]).of(old);
        let runs: Vec<_> =
            subsizes.iter().zip(starts).map(|(length, start)| Runs::one(*start, *length)).collect();
        part_of_array(sizes, &runs, order, old, contents)
    }

    /// `MPI_Type_create_darray`: what the process `rank` of `size` has of a distributed array.
    ///
    /// # Errors
    /// If the distribution makes no sense.
    pub fn darray(
        size: i32,
        rank: i32,
        distributions: &[Distribution],
        order: i32,
        old: &Rc<Type>,
        large: bool,
    ) -> Result<Self> {
        let processes = distributions.iter().try_fold(1i64, |product, distribution| {
            product.checked_mul(i64::from(distribution.processes)).filter(|_| distribution.processes > 0)
        });
        if processes != Some(i64::from(size)) {
            return fail(
                abi::ERR_ARG,
                format!("the grid of processes does not have {size} processes, as it is said to have"),
            );
        }
        if !(0..size).contains(&rank) {
            return fail(abi::ERR_ARG, format!("rank {rank} is not among the {size} processes of the grid"));
        }
        if let Some(wrong) = distributions.iter().find(|distribution| distribution.length < 1) {
            return fail(abi::ERR_ARG, format!("a dimension of the array is {} long", wrong.length));
        }
        let numbers = |of: fn(&Distribution) -> i32| distributions.iter().map(of);
        let lengths: Vec<i64> = distributions.iter().map(|distribution| distribution.length).collect();
        let contents = Contents::new(abi::COMBINER_DARRAY, large)
            .integers([size, rank, distributions.len() as i32])
            .counts(lengths.iter().copied())
            .integers(numbers(|distribution| distribution.kind))
            .integers(numbers(|distribution| distribution.argument))
            .integers(numbers(|distribution| distribution.processes))
            .integers([order])
            .of(old);
        // The grid is numbered row by row, whatever the order of the array.
        let mut left = i64::from(rank);
        let mut runs = vec![Runs::one(0, 0); distributions.len()];
        for (dimension, distribution) in distributions.iter().enumerate().rev() {
            let processes = i64::from(distribution.processes);
            runs[dimension] = distribution.runs(left % processes)?;
            left /= processes;
        }
        part_of_array(&lengths, &runs, order, old, contents)
    }
}
