//! Windows: memory that other processes may read and write (MPI 5.0, chapter 12).

/// A window.
#[derive(Debug)]
pub struct Window {}
