//! What a destructor said that panicked where code was dropped, until somebody asks: each thread has one such word.

use std::cell::Cell;

thread_local! {
    static UNTOLD: Cell<Option<String>> = const { Cell::new(None) };
}

/// Keeps what was said; what was said before is forgotten. A thread that goes down keeps nothing.
pub fn keep(said: String) {
    let _ = UNTOLD.try_with(|untold| untold.set(Some(said)));
}

/// Takes what was said on this thread last.
pub fn take() -> Option<String> {
    UNTOLD.try_with(Cell::take).ok().flatten()
}
