//! Statuses: what a program asks of them (MPI 5.0, 3.2.5).
