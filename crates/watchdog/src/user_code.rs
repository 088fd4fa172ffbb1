//! Running code of a user where a panic is a finding, and where somebody may look whether it comes back.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use crate::exit::ended_the_process;
use crate::watchdog::{Call, Pulse};

/// Code of a user that is no handler.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Code {
    /// What says which states are looked at.
    Boundary,
    /// What keeps a history.
    History,
    /// The condition of the property with this number.
    Condition(usize),
}

impl Code {
    /// What it is called, where properties have names.
    pub fn in_words<'n>(self, name: impl FnOnce(usize) -> &'n str) -> String {
        match self {
            Code::Boundary => "within()".to_owned(),
            Code::History => "history()".to_owned(),
            Code::Condition(property) => format!("the condition of \"{}\"", name(property)),
        }
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
    /// On which pulse this thread notes what it runs, if somebody looks after it.
    static HERE: Here = const { Here(RefCell::new(None)) };
}

struct Here(RefCell<Option<Pulse>>);

impl Drop for Here {
    fn drop(&mut self) {
        // A thread that comes to its own end runs no code of a user any more.
        if let Some(pulse) = self.0.get_mut()
            && let Some(stuck) = pulse.runs_now()
        {
            ended_the_process(stuck);
        }
    }
}

/// From now on, this thread notes on a pulse which code of a user it runs.
pub(crate) fn note_on(pulse: Pulse) {
    HERE.with(|here| here.0.replace(Some(pulse)));
}

fn note(what: impl FnOnce(&mut Pulse)) {
    HERE.with(|here| {
        if let Some(pulse) = here.0.borrow_mut().as_mut() {
            what(pulse);
        }
    });
}

/// Runs code of a user; if it panics, gives what it said instead of printing it, since a checker comes by here often.
///
/// # Errors
/// What it said when it panicked.
pub fn quietly<T>(code: Code, run: impl FnOnce() -> T) -> Result<T, String> {
    run_noted(|pulse| pulse.asks(code), run)
}

/// The same for a handler of an actor; `call` says which, and what it is given.
///
/// # Errors
/// What it said when it panicked.
pub fn handling<T>(
    actor: u32,
    call: impl FnOnce() -> Option<Call>,
    run: impl FnOnce() -> T,
) -> Result<T, String> {
    run_noted(|pulse| pulse.handles(actor, call()), run)
}

fn run_noted<T>(what: impl FnOnce(&mut Pulse), run: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !QUIET.get() {
                before(panic);
            }
        }));
    });
    let outer = QUIET.replace(true);
    // What code of a user runs inside of itself is part of it.
    if !outer {
        note(what);
    }
    let result = catch_unwind(AssertUnwindSafe(run));
    if !outer {
        note(Pulse::rests);
    }
    QUIET.set(outer);
    result.map_err(|payload| match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => payload.downcast::<&str>().map_or("a panic".to_owned(), |text| (*text).to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_panics_is_told_and_nothing_is_printed() {
        assert_eq!(quietly(Code::Boundary, || 7), Ok(7));
        assert_eq!(quietly(Code::Boundary, || panic!("no {}", 7)), Err::<(), _>("no 7".to_owned()));
        assert_eq!(quietly(Code::Boundary, || std::panic::panic_any(7)), Err::<(), _>("a panic".to_owned()));
        assert!(!QUIET.get());
    }
}
