//! One-sided communication and its synchronisation (MPI 5.0, 12.3 to 12.5).
