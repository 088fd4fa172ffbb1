//! Running code of a user where a panic is a finding, and where somebody may look whether it comes back.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;
use std::thread;

use crate::exit::ended_the_process;
use crate::place::Place;
use crate::value::{Trait, guarding, said};
use crate::watchdog::{Call, Pulse, Stuck, Whose};

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
    /// Where the last panic was that was not printed.
    static PANICKED: Cell<Option<Place>> = const { Cell::new(None) };
    /// On which pulse this thread notes what it runs, if somebody looks after it.
    static HERE: Here = const { Here(RefCell::new(None)) };
}

struct Here(RefCell<Option<Pulse>>);

impl Drop for Here {
    fn drop(&mut self) {
        // A search that came to its end has taken back its pulse.
        if let Some(pulse) = self.0.get_mut() {
            let unknown = || Stuck { whose: Whose::Value(None), place: None, seconds: 0.0 };
            ended_the_process(pulse.runs_now().unwrap_or_else(unknown));
        }
    }
}

/// From now on, this thread notes on a pulse which code of a user it runs; or on none any more, since its search is over.
pub(crate) fn note_on(pulse: Option<Pulse>) {
    HERE.with(|here| here.0.replace(pulse));
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
    // What is given is copied by code of the user, too.
    let call = if !QUIET.get() && is_searching() { call() } else { None };
    run_noted(|pulse| pulse.handles(actor, call), run)
}

/// Whether this thread notes what it runs.
fn is_searching() -> bool {
    HERE.with(|here| here.0.borrow().is_some())
}

/// Runs the code of a trait of a user's values. Where a search goes on, it is noted, and a panic goes on as a
/// [`ValuePanic`](crate::ValuePanic), without a word.
pub fn treating<T>(of: Trait, run: impl FnOnce() -> T) -> T {
    if !is_searching() {
        return run();
    }
    let treated = in_quiet(|pulse| pulse.treats(Some(of)), || guarding(of, || PANICKED.get(), run));
    treated.unwrap_or_else(|panic| resume_unwind(panic))
}

fn run_noted<T>(what: impl FnOnce(&mut Pulse), run: impl FnOnce() -> T) -> Result<T, String> {
    in_quiet(what, run).map_err(|panic| said(panic.as_ref()))
}

/// Runs code of a user that may panic without a word.
fn in_quiet<T>(what: impl FnOnce(&mut Pulse), run: impl FnOnce() -> T) -> thread::Result<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if QUIET.get() {
                PANICKED.set(panic.location().map(|at| Place::new(at.file(), at.line())));
            } else {
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
    result
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
