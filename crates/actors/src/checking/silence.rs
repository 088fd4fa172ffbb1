//! Running code of which some may panic again and again, without a word.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use simurgh_kernel::context::{loud, panicked_at, quiet};
use simurgh_kernel::watchdog::ValuePanic;

use crate::error::{Error, Result};

/// What a panic says.
type Payload = Box<dyn Any + Send>;

/// The panic of what a caller gave us to call, on its way to the caller.
struct OfTheCaller(Payload);

/// A program could not be made again, on its way out of a search.
struct NotMade(Error);

/// Ends the search that is under way: its program was made before, and cannot be made now. What was explored since says nothing.
pub(crate) fn not_made(error: &Error) -> ! {
    let error = Error::input(format!(
        "{error}; it was made before: what makes a program has to do the same each time it is called"
    ));
    resume_unwind(Box::new(NotMade(error)))
}

/// Runs actors of which some may panic: that is a finding, told once, and not a message each time.
///
/// # Errors
/// If it is not an actor that panics: a value of the program, or a mistake of ours.
pub fn silently<T>(run: impl FnOnce() -> T) -> Result<T> {
    let (result, place) = {
        let _quiet = quiet();
        (catch_unwind(AssertUnwindSafe(run)), panicked_at())
    };
    result.map_err(|panic| {
        let panic = match panic.downcast::<OfTheCaller>() {
            Ok(panic) => resume_unwind(panic.0),
            Err(panic) => panic,
        };
        let panic = match panic.downcast::<NotMade>() {
            Ok(not_made) => return not_made.0,
            Err(panic) => panic,
        };
        let panic = match panic.downcast::<ValuePanic>() {
            Ok(value) => return Error::input(value.to_string()),
            Err(panic) => panic,
        };
        let place = place.map_or_else(String::new, |place| format!(" at {place}"));
        Error::other(format!(
            "internal error{place}: {}; unless that is a `Drop`, `Clone` or `Debug` of the program itself, please report it with \
             the program",
            said(&panic)
        ))
    })
}

fn said(panic: &Payload) -> String {
    let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Makes a program by the code of a user.
///
/// # Errors
/// If that fails, or panics.
pub fn making(make: impl FnOnce() -> Result) -> Result {
    let _quiet = quiet();
    catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|panic| {
        let place = panicked_at().map_or_else(String::new, |place| format!("{place}: "));
        Err(Error::input(format!("{place}the function that makes the program panics: {}", said(&panic))))
    })
}

/// Calls what a caller gave us to call, in the midst of what is done [`silently`].
///
/// # Errors
/// If it panics, which is told as usual; what is under way can be ended then, before it is [`pass_on`].
pub(crate) fn calling<T>(run: impl FnOnce() -> T) -> std::result::Result<T, Payload> {
    let _loud = loud();
    catch_unwind(AssertUnwindSafe(run))
}

/// Gives the panic of what a caller gave us to the caller.
pub(crate) fn pass_on(panic: Payload) -> ! {
    resume_unwind(Box::new(OfTheCaller(panic)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_of_ours_is_told_in_one_line() {
        let error = silently(|| unreachable!("a mistake")).unwrap_err().to_string();
        assert!(error.starts_with("internal error at ") && error.contains("silence.rs:"), "{error}");
        assert!(
            error.contains(": internal error: entered unreachable code: a mistake; unless that is"),
            "{error}"
        );
        assert_eq!(silently(|| 7).unwrap(), 7);
    }

    #[test]
    fn a_mistake_of_the_caller_goes_to_the_caller() {
        let passed = catch_unwind(|| {
            silently(|| {
                // Not printed here, as it is meant to be.
                let panic = catch_unwind(|| panic!("of the caller")).unwrap_err();
                pass_on(panic)
            })
        });
        let panic = passed.expect_err("it is not told as a mistake of ours");
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"of the caller"));
    }
}
