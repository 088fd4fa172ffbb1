//! The tools interface (MPI 5.0, 15.3).
