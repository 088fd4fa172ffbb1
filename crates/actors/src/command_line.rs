//! What a command needs of checks and explorations, and programs do not: `simurgh-cli` is written with it.
//!
//! It is public because that is another crate. `simurgh` does not offer it, and it may change in any version.
//!
//! - [`Subject`], [`Origin`]: what is checked, and where it comes from; [`came_from`], [`checked`], [`explored`].
//! - [`Schedule`]: the file of a counterexample.
//! - [`in_words`], [`why_stopped`], [`stopped`]: what is told, with options called as they are on the command line.
//! - [`count`], [`lines`], [`shell_word`]: words and numbers.

use std::path::Path;

use simurgh_kernel::watchdog::Watchdog;
use simurgh_trace::counterexample::View;

use crate::checking::{Check, CheckReport, Counterexample, Engine, Spelling, Stopped, Verdict};
use crate::error::Result;
use crate::timed::{self, Explore, ExploreReport};

pub use crate::checking::counterexample::{WIDTH, source};
pub use crate::checking::schedule::{Differs, Planned, Schedule, base, find_scenario};
pub use crate::checking::silence::{making, silently};
pub use crate::checking::subject::{Origin, Subject};
pub use crate::checking::watch::{Stopwatch, enough, resident};
pub use crate::text::{count, lines, shell_word};
pub use crate::timed::report::{amount, range, way};

/// A check of a program that comes from there, so that its schedules can be replayed in another process.
pub fn came_from(check: Check<'_>, origin: Origin) -> Check<'_> {
    check.of(origin)
}

/// Where a program comes from that is about to be checked.
pub fn came_of(check: &Check<'_>) -> Origin {
    check.origin()
}

/// A check whose options are called as they are on the command line, where it says something about one of them.
pub fn spelled_as_arguments(check: Check<'_>) -> Check<'_> {
    check.spelled(Spelling::Arguments)
}

/// A check of a program that is made of a file: a search that was kept is not gone on with once the file is another.
pub fn made_of<'a>(check: Check<'a>, file: &Path) -> Check<'a> {
    check.made_of(file)
}

/// A check whose search stays in its file when nothing is left of it, for whoever goes on with it.
pub fn keep_finished(check: Check<'_>) -> Check<'_> {
    check.keep_finished()
}

/// A check by one worker: what it has seen may decide what it explores.
pub fn in_turn(check: Check<'_>) -> Check<'_> {
    check.in_turn()
}

/// A check of a program of which an execution is known to end after so many steps.
pub fn with_length(check: Check<'_>, steps: u64) -> Check<'_> {
    check.with_length(steps)
}

/// Who looks whether the code of the program comes back.
pub fn watchdog<'c>(check: &'c Check<'_>) -> &'c Watchdog {
    check.watchdog()
}

/// What would be checked.
///
/// # Errors
/// If it cannot be made.
pub fn subject(check: Check<'_>) -> Result<Subject<'_>> {
    check.subject()
}

/// Does a check, as [`Check::run`] does, and gives what was checked as well; nobody looks whether its code comes back.
///
/// # Errors
/// If it cannot be checked.
pub fn checked(check: Check<'_>) -> Result<(CheckReport, Subject<'_>)> {
    check.explore()
}

/// Does an exploration, as [`Explore::run`] does, and gives what was explored as well.
///
/// # Errors
/// If it cannot be explored.
pub fn explored(explore: Explore<'_>) -> Result<(ExploreReport, timed::Subject<'_>)> {
    explore.explore()
}

/// The report of a search that was ended from outside, after so many executions and seconds.
pub fn ended(engine: Engine, executions: u64, seconds: f64) -> CheckReport {
    CheckReport { executions, seconds, ..CheckReport::empty(Verdict::NotExhausted, engine) }
}

/// A counterexample as it is saved; or why it cannot be.
///
/// # Errors
/// If it is not the same every time.
pub fn schedule(found: &Counterexample) -> Result<Schedule, String> {
    found.file()
}

/// A report for people. `hint` is told below the counterexamples.
pub fn in_words(report: &CheckReport, view: &View<'_>, hint: &str) -> String {
    report.in_words(view, Spelling::Arguments, hint)
}

/// Why a search stopped before its end, if it did, and what is kept of it.
pub fn why_stopped(report: &CheckReport) -> Option<String> {
    report.why_stopped(Spelling::Arguments)
}

/// Why a search stopped, in a line.
pub fn stopped(why: Stopped) -> String {
    why.in_words(Spelling::Arguments)
}
