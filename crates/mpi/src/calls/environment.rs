//! Start, end, clocks, memory, versions (MPI 5.0, chapters 9 and 11).
