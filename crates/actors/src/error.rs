//! What can go wrong, in one line that says where and what to do.

use std::fmt::Display;
use std::panic::Location;
use std::process::ExitCode;

use simurgh_explore::STEADY;
use simurgh_kernel::context::stand_at;
use simurgh_kernel::simcall::Failure;

/// An error of Simurgh, as an actor or a program sees it. Where `main` ends with it, it prints as its text.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An activity did not succeed.
    #[error("{0}")]
    Failed(Failure),
    /// An activity of a set did not succeed, in a wait for any of them.
    #[error("{failure}")]
    Member {
        /// Its place in the set, where it stays.
        index: usize,
        /// Why.
        failure: Failure,
    },
    /// A message of another type arrived.
    #[error(
        "mailbox {mailbox:?} brought a message that is not a {expected}; give sender and receiver the same type"
    )]
    WrongMessage {
        /// Where.
        mailbox: String,
        /// What was expected.
        expected: &'static str,
    },
    /// The message of a receive was given to an earlier wait for it.
    #[error(
        "the message from mailbox {mailbox:?} was taken by an earlier wait; a receive brings one message"
    )]
    Taken {
        /// Where.
        mailbox: String,
    },
    /// There is no such host, link or disk.
    #[error("there is no {kind} {name:?} in the platform{hint}")]
    Unknown {
        /// Host, link or disk.
        kind: &'static str,
        /// The name that was given.
        name: String,
        /// What to do.
        hint: String,
    },
    /// The platform does not do what was asked of it.
    #[error("{0}")]
    Refused(String),
    /// The platform file cannot be used.
    #[error("{0}")]
    Platform(#[from] simurgh_platform::Error),
    /// The models cannot be set so.
    #[error("{0}")]
    Models(#[from] simurgh_models::Error),
    /// The simulation cannot go on.
    #[error("{0}")]
    Simulation(#[from] simurgh_kernel::simulation::Error),
    /// Something about the input: where, what, and what to do.
    #[error("{0}")]
    Input(String),
    /// What a program itself finds wrong.
    #[error("{0}")]
    Other(String),
    /// A file cannot be read or written.
    #[error("{path}: {source}{}", what_to_do(source))]
    File {
        /// Which file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Display::fmt(self, f)
    }
}

/// The result of what can go wrong.
pub type Result<T = (), E = Error> = std::result::Result<T, E>;

impl Error {
    /// Whether the time was up that one would wait. A member of a set that had failed by a timeout, of its own or of whoever is at
    /// its other end, is none: that is an [`Error::Member`], whose [`failure`](Self::failure) says so.
    pub fn is_timeout(&self) -> bool {
        matches!(self, Error::Failed(Failure::Timeout))
    }

    /// Whether somebody cancelled it.
    pub fn is_cancelled(&self) -> bool {
        self.failure() == Some(Failure::Cancelled)
    }

    /// Whether the actor at the other end is gone.
    pub fn is_peer_gone(&self) -> bool {
        self.failure() == Some(Failure::PeerGone)
    }

    /// Whether a host, a link or a disk went off, or was off.
    pub fn is_resource_off(&self) -> bool {
        matches!(self.failure(), Some(Failure::Resource(_)))
    }

    /// Why an activity did not succeed, if that is what it is.
    pub fn failure(&self) -> Option<Failure> {
        match self {
            Error::Failed(failure) | Error::Member { failure, .. } => Some(*failure),
            _ => None,
        }
    }

    /// An error of the program's own: a text, or an error of another library, as in `text.parse().map_err(Error::other)?`.
    #[track_caller]
    pub fn other(what: impl Display) -> Self {
        // An actor that ends with it failed here.
        stand_at(Location::caller());
        Error::Other(what.to_string())
    }

    /// An error about the input.
    pub fn input(message: impl Into<String>) -> Self {
        Error::Input(message.into())
    }

    /// An actor did something else when it was run again.
    pub(crate) fn diverged(actor: &str) -> Self {
        Self::input(format!("actor {actor:?} did something else when it was run again: {STEADY}"))
    }

    /// There is no host, link or disk of this name; perhaps another was meant.
    #[track_caller]
    pub(crate) fn unknown(kind: &'static str, name: &str, near: Option<&str>) -> Self {
        // An actor that ends with it named it here.
        stand_at(Location::caller());
        let hint = match near {
            Some(near) => format!("; did you mean {near:?}?"),
            None => "; `simurgh platform show FILE` lists them".to_owned(),
        };
        Error::Unknown { kind, name: name.to_owned(), hint }
    }

    /// A file cannot be read or written.
    pub fn file(path: impl AsRef<std::path::Path>, source: std::io::Error) -> Self {
        Error::File { path: path.as_ref().display().to_string(), source }
    }
}

/// What helps, where the system says only what is wrong.
fn what_to_do(error: &std::io::Error) -> &'static str {
    use std::io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, StorageFull};
    match error.kind() {
        PermissionDenied | ReadOnlyFilesystem => "; name another file, or change who may use this one",
        StorageFull => "; make room, or name a file on another disk",
        _ => "",
    }
}

impl From<String> for Error {
    #[track_caller]
    fn from(message: String) -> Self {
        Error::other(message)
    }
}

impl From<&str> for Error {
    #[track_caller]
    fn from(message: &str) -> Self {
        Error::other(message)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        Error::Failed(failure)
    }
}

/// The exit codes of every command.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Exit {
    /// Fine, or it holds.
    Fine = 0,
    /// Violated, or failed.
    Failed = 1,
    /// Cannot run: bad input.
    CannotRun = 2,
    /// Not exhausted.
    NotExhausted = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}
