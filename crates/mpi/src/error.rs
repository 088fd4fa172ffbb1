//! What goes wrong in a call: a class of the standard, and what a person needs to know.

use std::fmt;

use crate::abi::{Comm, Errhandler, File, Session, Win};

/// What came of a call.
pub type Result<T = ()> = std::result::Result<T, Error>;

/// What went wrong.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Error {
    /// Which kind of mistake: `MPI_ERR_COMM` and the like, or a code that the program made.
    pub class: i32,
    /// What it is, for people.
    pub message: String,
    /// Whose error handler is called, where that is not the object among the arguments.
    pub on: Option<On>,
}

/// Whose error handler is called.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum On {
    /// That of no object: that of `MPI_COMM_SELF` (9.3).
    Nothing,
    /// That of a communicator.
    Comm(Comm),
    /// That of a window.
    Win(Win),
    /// That of a file.
    File(File),
    /// That of a session.
    Session(Session),
    /// The one that the program gives to the call.
    Given(Errhandler),
}

impl Error {
    /// A mistake of this kind.
    pub fn new(class: i32, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), on: None }
    }

    /// The same, told to the error handler of another object.
    #[must_use]
    pub fn on(mut self, on: On) -> Self {
        self.on = Some(on);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// A mistake of this kind, as the result of a call.
///
/// # Errors
/// Always.
pub fn fail<T>(class: i32, message: impl Into<String>) -> Result<T> {
    Err(Error::new(class, message))
}
