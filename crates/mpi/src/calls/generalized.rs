//! Generalized requests (MPI 5.0, 13.2).
