//! What can go wrong with a platform, each said in one line: where, what, and what to do.

use std::fmt;

use simurgh_files::shown;

/// Why a platform, a deployment or a profile could not be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The file is missing, a directory, not text...
    #[error("{file}: {problem}; {advice}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why it cannot be read.
        problem: String,
        /// What to do about it.
        advice: String,
    },
    /// What is written cannot be understood.
    #[error("{place}: {problem}; {advice}")]
    Malformed {
        /// Where it is written.
        place: Place,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        advice: String,
    },
    /// What is written can be understood, and cannot be built.
    #[error("{place}: {problem}; {advice}")]
    Invalid {
        /// Where it is written.
        place: Place,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        advice: String,
    },
}

/// A file, with a line where one is known. A platform built from Rust has a name and no lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file's name as the user gave it.
    pub file: String,
    /// The line, from 1.
    pub line: Option<u32>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => write!(f, "{}", self.file),
        }
    }
}

/// No route between two hosts: names both, the zone that has none, and what would help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no route from host {source_host:?} to host {target_host:?}: {problem}; {advice}")]
pub struct RouteError {
    /// The name of the host it starts from.
    pub source_host: String,
    /// The name of the host it should reach.
    pub target_host: String,
    /// The zone in which the way ends.
    pub zone: String,
    /// What is missing, and in which zone.
    pub problem: String,
    /// What to do about it.
    pub advice: String,
}

/// Problem and advice of an error whose place is added by whoever knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    pub(crate) problem: String,
    pub(crate) advice: String,
}

impl Complaint {
    pub(crate) fn new(problem: impl Into<String>, advice: impl Into<String>) -> Self {
        Self { problem: one_line(problem.into()), advice: one_line(advice.into()) }
    }

    pub(crate) fn at(self, file: &str, line: Option<u32>) -> Error {
        let place = Place { file: file.to_owned(), line };
        Error::Invalid { place, problem: self.problem, advice: self.advice }
    }
}

/// Names may hold line breaks, and be of any length; messages must not.
pub(crate) fn one_line(text: String) -> String {
    shown(&text).into_owned()
}
