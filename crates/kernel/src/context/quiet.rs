//! Panics of actors that are run again and again: they are remembered, and not printed.
//!
//! The panic hook belongs to the whole process, and what is run here may be one of several tests that run at once. So one hook
//! is put before the one that is there, once and for good, and a thread says whether it wants to be quiet.

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::{set_hook, take_hook};
use std::sync::Once;

use super::place::remember_panic;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Until it is dropped, panics on this thread are printed or not, as it was made.
#[derive(Debug)]
#[must_use = "what was before is restored when it is dropped"]
pub struct Quiet {
    outer: bool,
    /// It is about the thread that it was made on.
    _here: PhantomData<*const ()>,
}

/// From now on panics on this thread are not printed; where the last of them was is remembered, for
/// [`Port::place`](super::Port::place) and [`panicked_at`](super::panicked_at).
pub fn quiet() -> Quiet {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| if is_quiet() { remember_panic(panic) } else { before(panic) }));
    });
    set(true)
}

/// From now on panics on this thread are printed, as by default.
pub fn loud() -> Quiet {
    set(false)
}

/// Whether panics on this thread are not printed. A thread that runs actors for this one should be made quiet then, too.
pub fn is_quiet() -> bool {
    // The hook may be called while the thread is going down.
    QUIET.try_with(Cell::get).unwrap_or(false)
}

fn set(quiet: bool) -> Quiet {
    Quiet { outer: QUIET.replace(quiet), _here: PhantomData }
}

impl Quiet {
    /// Leaves it so for as long as the thread lives, or until one that was made before is dropped.
    pub fn stay(self) {
        std::mem::forget(self);
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        QUIET.set(self.outer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_is_quiet_and_others_are_not() {
        let outer = quiet();
        {
            let _inner = loud();
            assert!(!is_quiet());
            let _innermost = quiet();
            assert!(is_quiet());
        }
        assert!(is_quiet());
        let elsewhere = std::thread::scope(|scope| scope.spawn(is_quiet).join().expect("it only looks"));
        assert!(!elsewhere);
        drop(outer);
        assert!(!is_quiet());
    }
}
