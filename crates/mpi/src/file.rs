//! Files: views, pointers, and what is read and written (MPI 5.0, chapter 14).

/// A file that is open.
#[derive(Debug)]
pub struct OpenFile {}
