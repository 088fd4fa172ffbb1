//! Error handlers: who is called when a call goes wrong (MPI 5.0, 9.3).

/// A function of the program that is called when something goes wrong.
#[derive(Clone, Debug)]
pub struct Handler {
    /// Where it is.
    pub function: usize,
    /// Whether it is called as Fortran calls.
    pub fortran: bool,
}
