//! Files: views, pointers, and what is read and written (MPI 5.0, chapter 14).

use std::cell::Cell;

use crate::abi::Errhandler;

/// A file that is open.
#[derive(Debug)]
pub struct OpenFile {
    /// Who is called when something goes wrong.
    pub errhandler: Cell<Errhandler>,
}
