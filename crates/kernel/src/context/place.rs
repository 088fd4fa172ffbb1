//! Where in a program something is asked, or went wrong.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{Location, PanicHookInfo};

use super::port::PortGuard;

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
    /// Where the last panic was, while panics are remembered.
    pub(super) static PANICKED: Cell<Option<Place>> = const { Cell::new(None) };
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

/// Says at which line the actor that runs is: one that finds that something is wrong, or that carries out what is
/// written in a file and has just asked for it. Its next request is elsewhere.
pub fn stand_at(place: impl Into<Place>) {
    if let Some(port) = PortGuard::try_take().port() {
        port.stood = Some(place.into());
    }
}

/// Where the last panic on this thread was, if it was not that of an actor.
pub fn panicked_at() -> Option<Place> {
    PANICKED.get()
}

/// A panic hook that prints nothing, and remembers where the panic was for [`Port::place`](super::Port::place): for those who run an actor
/// that panics again and again.
pub fn remember_panic(info: &PanicHookInfo<'_>) {
    // The hook may be called while the thread is going down.
    let place = info.location().map(|location| Place::new(location.file(), location.line()));
    let _ = PANICKED.try_with(|panicked| panicked.set(place));
}
