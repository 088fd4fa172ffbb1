//! Neighbourhood collectives (MPI 5.0, 8.6 to 8.9).
