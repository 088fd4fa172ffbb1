//! Processes that are started, or met, while the program runs (MPI 5.0, 11.7 to 11.11).
