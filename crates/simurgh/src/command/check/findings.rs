//! What an exploration found, replayed on the kernel and made shorter before anybody sees it.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use simurgh_explore::counterexample::{Counterexample, tell};
use simurgh_explore::replay::follow;
use simurgh_explore::shorten::{NotShown, shorten};
use simurgh_explore::{Network, Step, Violation};

use simurgh_kernel::context::{panicked_at, remember_panic};

use super::Subject;
use crate::error::{Error, Result as OurResult};

/// Something that was found.
pub(crate) struct Finding {
    /// What, in one line.
    pub(crate) what: String,
    /// The schedule that shows it.
    pub(crate) schedule: Vec<Step>,
    /// What happens then; or why it cannot be told.
    pub(crate) told: Result<Counterexample, String>,
}

/// Runs actors of which some may panic: that is a finding, told once, and not a message each time.
///
/// # Errors
/// If it is not an actor that panics: a mistake of ours.
pub(crate) fn silently<T>(run: impl FnOnce() -> T) -> OurResult<T> {
    let hook = take_hook();
    set_hook(Box::new(remember_panic));
    let result = catch_unwind(AssertUnwindSafe(run));
    let place = panicked_at().map_or_else(String::new, |place| format!(" at {place}"));
    set_hook(hook);
    result.map_err(|panic| {
        let message = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let message = message.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Error::other(format!("internal error{place}: {message}; please report it with the program"))
    })
}

/// Replays what was found.
pub(crate) fn findings(
    subject: &Subject<'_>,
    network: Network,
    found: &[(Violation, Vec<Step>)],
) -> Vec<Finding> {
    let names = subject.names();
    let finding = |(violation, schedule): &(Violation, Vec<Step>)| {
        let (schedule, told) = match replay(subject, network, violation, schedule) {
            Ok(told) => (told.steps.iter().map(|step| step.step).collect(), Ok(told)),
            Err(why) => (schedule.clone(), Err(why)),
        };
        let what = match told.as_ref().ok().and_then(|told| told.what.clone()) {
            Some(what) => what,
            None => describe(violation, &names),
        };
        Finding { what, schedule, told }
    };
    found.iter().map(finding).collect()
}

/// Shortens a schedule and tells what happens; or says why that cannot be done.
fn replay(
    subject: &Subject<'_>,
    network: Network,
    violation: &Violation,
    schedule: &[Step],
) -> Result<Counterexample, String> {
    const DEPENDS: &str = "the program depends on something else than messages and choices (statics that change, the \
                           clock, random numbers of its own, the order of a hash map)";
    let mut system = subject.actors(network);
    let mailbox = |mailbox| subject.mailbox_name(mailbox);
    let short = shorten(&mut system, schedule, violation).map_err(|why| {
        // Two runs that differ with the same steps are the program's doing for certain.
        let runs = [follow(&mut system, schedule), follow(&mut system, schedule)]
            .map(|run| run.map(|run| (run.transitions, run.violations)));
        let why = match why {
            NotShown::Diverges(impossible) => impossible.to_string(),
            NotShown::Absent => "all steps are possible, but nothing goes wrong".to_owned(),
        };
        if runs[0] == runs[1] {
            format!(
                "it did not happen again when it was replayed: {why}; either {DEPENDS}, or this is a mistake of \
                 Simurgh: please report it"
            )
        } else {
            format!("it did not happen again when it was replayed, and two replays differ: {DEPENDS}")
        }
    })?;
    let mut told = || {
        tell(&mut system, &short, Some(violation), &mailbox)
            .map_err(|impossible| format!("it does not happen every time: {impossible}; {DEPENDS}"))
    };
    let first = told()?;
    if first != told()? {
        return Err(format!("it is not the same every time that it is replayed: {DEPENDS}"));
    }
    Ok(first)
}

/// A violation in one line, when it could not be replayed.
fn describe(violation: &Violation, names: &[String]) -> String {
    let name = |actor: u32| names.get(actor as usize).cloned().unwrap_or_else(|| format!("actor {actor}"));
    match violation {
        Violation::Failed { actor, message } => format!("{} failed: {message}", name(*actor)),
        Violation::Invariant { name, message, values } => {
            let values: Vec<_> = values.iter().map(|(what, value)| format!("{what} = {value}")).collect();
            let message = message.as_ref().map_or_else(String::new, |message| format!(": {message}"));
            format!("invariant {name:?} does not hold{message} ({})", values.join(", "))
        }
        Violation::Deadlock { actors } => {
            let who: Vec<_> = actors.iter().map(|&actor| name(actor)).collect();
            format!("deadlock: {} wait for ever", who.join(", "))
        }
    }
}
