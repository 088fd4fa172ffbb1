//! Where in a program something is asked, or went wrong.

use std::cell::Cell;
use std::panic::PanicHookInfo;

pub use simurgh_watchdog::Place;

use super::port::PortGuard;

thread_local! {
    /// Where the last panic was, while panics are remembered.
    pub(super) static PANICKED: Cell<Option<Place>> = const { Cell::new(None) };
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
