//! What an exploration found, replayed on the kernel and made shorter before anybody sees it.

use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

use simurgh_explore::counterexample::{Counterexample, tell};
use simurgh_explore::determinism::{Compared, Traffic};
use simurgh_explore::replay::follow;
use simurgh_explore::shorten::{NotShown, shorten};
use simurgh_explore::{Faults, Network, Step, Violation};

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
    let mut system = subject.actors(network).unreliable(needed(violation, schedule));
    if let Violation::Varies { what, other, .. } = violation {
        // It is one of two executions: the other is what it is compared with.
        let compared = Compared { sends: *what == Traffic::Sends, receives: *what == Traffic::Receives };
        system = system.compare(compared);
        follow(&mut system, other).map_err(|impossible| {
            format!("the execution that it differs from cannot be repeated: {impossible}")
        })?;
    }
    let mailbox = |mailbox| subject.mailbox_name(mailbox);
    let short = match violation {
        // It is about the whole of two executions.
        Violation::Varies { .. } => match follow(&mut system, schedule) {
            Ok(followed) if followed.came(violation).is_some() => Ok(schedule.to_vec()),
            Ok(_) => Err(NotShown::Absent),
            Err(impossible) => Err(NotShown::Diverges(impossible)),
        },
        _ => shorten(&mut system, schedule, violation),
    };
    let short = short.map_err(|why| {
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

/// What the network must be allowed to do so that what was found can be repeated.
fn needed(violation: &Violation, schedule: &[Step]) -> Faults {
    let (mut needed, other) = (
        Faults::of(schedule),
        match violation {
            Violation::Varies { other, .. } => Faults::of(other),
            _ => Faults::default(),
        },
    );
    needed.losses = needed.losses.max(other.losses);
    needed.duplications = needed.duplications.max(other.duplications);
    needed
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
        Violation::Varies { actor, what, number, .. } => {
            format!("{} is not deterministic: its {}", name(*actor), what.varies(*number))
        }
        Violation::Deadlock { actors } => {
            let who: Vec<_> = actors.iter().map(|&actor| name(actor)).collect();
            format!("deadlock: {} wait for ever", who.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use simurgh_explore::{Options, optimal};
    use simurgh_platform::Platform;

    use super::*;
    use crate::command::check::Origin;
    use crate::program::Program;

    fn subject(fill: impl Fn(&mut Program) -> OurResult + Sync + 'static) -> Subject<'static> {
        let origin = Origin::Program { name: "test".to_owned(), arguments: Vec::new() };
        Subject::new(Arc::new(Platform::builtin()), origin, fill).expect("it can be made")
    }

    #[test]
    fn what_was_found_is_replayed_and_shortened() {
        let subject = subject(|program| {
            program.spawn("pessimist", "node-0", |ctx| async move {
                let got: u32 = ctx.mailbox("a").recv().await?;
                ctx.say(format!("got {got}"));
                if got == 2 { Err(Error::other("as I said")) } else { Ok(()) }
            })?;
            for number in [1u32, 2] {
                let code = move |ctx: crate::Ctx| async move { ctx.mailbox("a").send(number, 1.0).await };
                program.spawn(format!("sender-{number}"), "node-1", code)?;
            }
            Ok(())
        });
        let found = optimal::explore(&mut subject.actors(Network::Unordered), Options::all());
        let findings = findings(&subject, Network::Unordered, &found.found);
        let whats: Vec<_> = findings.iter().map(|finding| finding.what.as_str()).collect();
        assert_eq!(
            whats,
            [
                "pessimist failed: as I said",
                "deadlock: sender-1 waits for ever",
                "deadlock: sender-2 waits for ever"
            ]
        );
        let told = findings[0].told.as_ref().expect("it is the same every time");
        let does: Vec<_> = told.steps.iter().map(|step| step.does.as_str()).collect();
        let expected = [
            "sends m1 to \"a\"",
            "posts a receive at \"a\"",
            "m1 arrives at \"a\"",
            "receives m1 of sender-2",
        ];
        assert_eq!(does, expected);
        assert_eq!(told.steps[3].said[0].text, "got 2");
        assert!(told.place.is_some_and(|place| place.file.ends_with("findings.rs")));
    }

    #[test]
    fn a_program_with_a_memory_of_its_own_is_told_so() {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let subject = subject(|program| {
            program.spawn("moody", "node-0", |ctx| async move {
                // Another mailbox in every run.
                let run = RUNS.fetch_add(1, Ordering::Relaxed);
                ctx.mailbox::<()>(&format!("box-{run}")).recv().await
            })?;
            Ok(())
        });
        let violation = Violation::Deadlock { actors: vec![0] };
        let schedule = vec![Step { actor: 0, choice: 0 }];
        let findings = findings(&subject, Network::Mailbox, &[(violation, schedule)]);
        assert_eq!(findings[0].what, "deadlock: moody wait for ever");
        let why = findings[0].told.as_ref().unwrap_err();
        assert!(
            why.starts_with("it is not the same every time that it is replayed: the program depends on"),
            "{why}"
        );
    }

    #[test]
    fn what_does_not_happen_again_is_told_so() {
        let subject = subject(|program| {
            program.spawn("calm", "node-0", |ctx| async move {
                ctx.choose(2).await;
            })?;
            Ok(())
        });
        let violation = Violation::Failed { actor: 0, message: "never".to_owned() };
        let untold = |steps: &[&str]| {
            let schedule = steps.iter().map(|step| step.parse().unwrap()).collect();
            let findings = findings(&subject, Network::Mailbox, &[(violation.clone(), schedule)]);
            findings[0].told.clone().unwrap_err()
        };
        let why = untold(&["0/1"]);
        assert!(
            why.starts_with("it did not happen again when it was replayed: all steps are possible"),
            "{why}"
        );
        let why = untold(&["0/2"]);
        assert!(
            why.contains("step 1 (0/2) is not possible there; possible are 0, 0/1; either the program"),
            "{why}"
        );
    }

    #[test]
    fn a_mistake_of_ours_is_told_in_one_line() {
        let error = silently(|| unreachable!("a mistake")).unwrap_err().to_string();
        assert!(error.starts_with("internal error at ") && error.contains("findings.rs:"), "{error}");
        assert!(
            error.contains(": internal error: entered unreachable code: a mistake; please report"),
            "{error}"
        );
        assert_eq!(silently(|| 7).unwrap(), 7);
    }
}
