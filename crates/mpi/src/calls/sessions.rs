//! Sessions (MPI 5.0, 11.3).
