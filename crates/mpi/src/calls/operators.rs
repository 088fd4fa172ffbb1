//! Operators of reductions (MPI 5.0, 6.9).
