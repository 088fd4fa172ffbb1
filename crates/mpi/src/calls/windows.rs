//! Windows: how they are made, and what is asked of them (MPI 5.0, 12.2).
