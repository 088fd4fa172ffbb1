//! Non-blocking and persistent collectives (MPI 5.0, 6.12 and 6.13).
