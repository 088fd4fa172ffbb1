//! Why a program cannot be run, in one line that says what to do.

use std::path::{Path, PathBuf};

/// Why a program cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is no program of this machine, or not of a kind that can be copied.
    #[error("{}: {reason}", path.display())]
    Unsuitable {
        /// Which.
        path: PathBuf,
        /// What it is, and what to do.
        reason: String,
    },
    /// A library that is nowhere.
    #[error(
        "{}: needs the library {library}, which is not found: install it, or add its folder to LD_LIBRARY_PATH",
        path.display()
    )]
    MissingLibrary {
        /// Who needs it.
        path: PathBuf,
        /// Its name.
        library: String,
    },
    /// What the operating system refused.
    #[error("{what}: {source}")]
    System {
        /// What was asked of it.
        what: String,
        /// What it said.
        source: std::io::Error,
    },
    /// More than there is room for.
    #[error("{0}")]
    TooLarge(String),
    /// The host was not linked as it must be.
    #[error("this program cannot run others: {0}")]
    Host(&'static str),
    /// Neither x86-64 nor Linux.
    #[error("compiled programs run on x86-64 Linux only")]
    OtherMachine,
}

impl Error {
    pub(crate) fn read(path: &Path, source: std::io::Error) -> Self {
        Error::Read { path: path.to_owned(), source }
    }

    pub(crate) fn unsuitable(path: &Path, reason: impl Into<String>) -> Self {
        Error::Unsuitable { path: path.to_owned(), reason: reason.into() }
    }

    /// With what the operating system said last.
    pub(crate) fn system(what: impl Into<String>) -> Self {
        Error::System { what: what.into(), source: std::io::Error::last_os_error() }
    }
}
