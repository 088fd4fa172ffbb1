//! Probes, matched probes, and cancelling (MPI 5.0, 3.8).
