//! Sessions (MPI 5.0, 11.3).

/// A session.
#[derive(Debug)]
pub struct OpenSession {}
