//! A line of a program.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::panic::Location;

/// A line of a program.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The file.
    pub file: &'static str,
    /// The line, from 1.
    pub line: u32,
}

impl Place {
    /// A line of a file whose name is kept for good, once a thread.
    pub fn new(file: &str, line: u32) -> Self {
        Self { file: keep(file), line }
    }
}

impl From<&'static Location<'static>> for Place {
    #[inline]
    fn from(location: &'static Location<'static>) -> Self {
        Self { file: location.file(), line: location.line() }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

thread_local! {
    /// Names of files that places refer to.
    static FILES: RefCell<BTreeSet<&'static str>> = const { RefCell::new(BTreeSet::new()) };
}

/// The same text, for good.
fn keep(file: &str) -> &'static str {
    FILES.with_borrow_mut(|files| match files.get(file) {
        Some(kept) => kept,
        None => {
            let kept: &'static str = Box::leak(file.into());
            files.insert(kept);
            kept
        }
    })
}
