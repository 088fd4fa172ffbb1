//! Collectives: what is sent to whom, by algorithm, and which algorithm is taken when (MPI 5.0, chapter 6).
//!
//! In reading order:
//! - [`selection`], [`decisions`]: which algorithm; SMPI's selectors and names.
//! - [`team`]: those who take part, and how they send and receive.
//! - [`buffers`], [`folding`]: data without gaps, and operators on them.
//! - [`trees`], [`doubling`], [`halving`], [`hosts`], [`in_step`]: what several algorithms share.
//! - [`barrier`], [`bcast`] and [`pipelines`], [`reduce`], [`allreduce`], [`reduce_scatter`], [`scan`], [`gather`],
//!   [`scatter`], [`allgather`], [`allgatherv`], [`alltoall`], [`alltoallv`]: the algorithms.
//! - [`check`], [`neighbors`], [`call`]: from the arguments of a program to an algorithm.
//! - [`exchange`]: those that do not block, between two groups, and among neighbours.

pub mod allgather;
pub mod allgatherv;
pub mod allreduce;
pub mod alltoall;
pub mod alltoallv;
pub mod barrier;
pub mod bcast;
pub mod buffers;
pub mod call;
pub mod check;
pub mod decisions;
pub mod doubling;
pub mod exchange;
pub mod folding;
pub mod gather;
pub mod halving;
pub mod hosts;
pub mod in_step;
pub mod neighbors;
pub mod pipelines;
pub mod reduce;
pub mod reduce_scatter;
pub mod scan;
pub mod scatter;
pub mod selection;
pub mod team;
pub mod trees;

pub use selection::Selection;

#[cfg(test)]
mod call_tests;
#[cfg(test)]
mod tests;
