//! Error handlers, codes and classes (MPI 5.0, 9.3 to 9.5).
