//! Operators of reductions, of the standard and of programs (MPI 5.0, 6.9).

/// An operator.
#[derive(Debug)]
pub struct Operator {}
