//! Requests: immediate and persistent communication, and the wait and test families (MPI 5.0, 3.7 to 3.9).
