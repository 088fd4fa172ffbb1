//! Attributes and names of objects (MPI 5.0, 7.7 and 7.8).
