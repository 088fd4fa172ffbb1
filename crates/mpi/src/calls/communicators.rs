//! Communicators, within a group and between two (MPI 5.0, 7.4 to 7.6).
