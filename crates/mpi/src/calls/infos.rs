//! Info objects (MPI 5.0, chapter 10).
