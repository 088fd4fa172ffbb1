//! Groups (MPI 5.0, 7.3).
