//! What programs attach to communicators, windows and datatypes (MPI 5.0, 7.7).

/// What is attached to one object.
#[derive(Clone, Debug, Default)]
pub struct Attributes {}

/// A key under which something is attached.
#[derive(Clone, Debug)]
pub struct Keyval {}
