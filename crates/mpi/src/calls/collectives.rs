//! Collectives that block (MPI 5.0, chapter 6).
