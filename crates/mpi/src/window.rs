//! Windows: memory that other processes may read and write (MPI 5.0, chapter 12).

use std::cell::{Cell, RefCell};

use crate::abi::Errhandler;
use crate::attributes::{Attributes, Value};

/// A window.
#[derive(Debug)]
pub struct Window {
    /// What programs attached to it.
    pub attributes: RefCell<Attributes>,
    /// What programs call it.
    pub name: RefCell<String>,
    /// Who is called when something goes wrong.
    pub errhandler: Cell<Errhandler>,
}

impl Window {
    /// What is attached to every window: `MPI_WIN_BASE` and the like.
    pub fn predefined_attribute(&self, _key: i32) -> Option<Value> {
        None
    }
}
