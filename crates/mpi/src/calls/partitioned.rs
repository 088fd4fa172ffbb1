//! Partitioned communication (MPI 5.0, chapter 4).
