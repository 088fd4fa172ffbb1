//! Handles in C and in Fortran (MPI 5.0, 19.3).
