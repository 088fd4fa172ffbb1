//! What an exploration found, replayed on the kernel and made shorter before anybody sees it.

use std::cell::Cell;
use std::fmt;
use std::path::Path;

use simurgh_explore::determinism::{Compared, Traffic};
use simurgh_explore::replay::follow;
use simurgh_explore::shorten::{NotShown, shorten};
use simurgh_explore::{Engine, Faults, Network, Step, Violation};
use simurgh_trace::counterexample::told::{Counterexample as Told, tell, varies};
use simurgh_trace::counterexample::{View, in_columns};

use super::schedule::Schedule;
use super::watch::Stopwatch;
use super::{Origin, Subject};
use crate::error::{Error, Result as OurResult};

/// An execution in which something goes wrong.
///
/// It prints as `check` prints it on the command line, without colours: what goes wrong and where, the steps in columns, one an
/// actor, and the lines of the program that they are at.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Counterexample {
    /// What goes wrong, in one line.
    pub what: String,
    /// The same as data.
    pub violation: Violation,
    /// The steps that show it, for [`Check::replay`](super::Check::replay); [`steps`](Self::steps) is their text.
    pub schedule: Vec<Step>,
    /// What happens then, step by step; or why that cannot be told, because it was not the same again.
    pub told: Result<Told, String>,
    /// What was checked, and who found it.
    origin: Origin,
    engine: Engine,
}

impl Counterexample {
    /// Whether actors wait for ever in it.
    pub fn is_deadlock(&self) -> bool {
        matches!(self.violation, Violation::Deadlock { .. })
    }

    /// The schedule as text: one word a step, for [`Check::replay`](super::Check::replay). A last word `deadlock` says that this is
    /// what it shows, where somebody fails on the way.
    pub fn steps(&self) -> String {
        let mut words: Vec<_> = self.schedule.iter().map(ToString::to_string).collect();
        let fails = self.told.as_ref().is_ok_and(|told| told.steps.iter().any(|step| step.fails.is_some()));
        if self.is_deadlock() && fails {
            words.push(DEADLOCK.to_owned());
        }
        words.join(" ")
    }

    /// Writes the schedule into a file, as `check --save FILE` does: `my_program replay FILE`, or `simurgh replay FILE` if it is
    /// of a scenario, shows it step by step.
    ///
    /// The file says which program it is of, and with which arguments it was checked. In a test that is the program
    /// with the name of the test, and no arguments but `check`, unless [`Check::program`](super::Check::program) says otherwise.
    ///
    /// # Errors
    /// If it is not the same every time, or the file cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> OurResult {
        let text = self.file().map_err(Error::other)?.write();
        let path = path.as_ref();
        simurgh_files::write(path, |out| out.write_all(text.as_bytes()))
            .map_err(|error| Error::file(path, error))
    }

    /// The schedule as it is saved; or why it cannot be.
    pub(crate) fn file(&self) -> Result<Schedule, String> {
        let told = self.told.as_ref().map_err(Clone::clone)?;
        Ok(Schedule::of(told, self.origin.clone(), self.engine.to_string()))
    }

    /// As it is printed.
    pub(crate) fn in_words(&self, view: &View<'_>) -> String {
        match &self.told {
            Ok(told) => in_columns(told, view),
            Err(why) => format!("{}\n  schedule: {}\n  {why}\n", self.what, self.steps()),
        }
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&plain()))
    }
}

/// The word behind the steps of a schedule that shows a deadlock, and something else before.
pub(super) const DEADLOCK: &str = "deadlock";

/// How counterexamples are printed where nobody knows where.
pub(super) fn plain() -> View<'static> {
    View { width: WIDTH, colour: false, source: &source }
}

/// How wide a page is where nobody knows.
pub const WIDTH: usize = 100;

/// The text of a source file, if it is where the program was built. The compiler names files as they are seen from the
/// root of a workspace, and cargo runs tests and programs in one of its folders.
pub fn source(file: &str) -> Option<String> {
    let read = |path: &Path| simurgh_files::read_text(path).ok();
    read(Path::new(file)).or_else(|| {
        let package = std::env::var_os("CARGO_MANIFEST_DIR")?;
        Path::new(&package).ancestors().find_map(|folder| read(&folder.join(file)))
    })
}

/// Replays what was found, and shortens it until that has taken long enough, by as many seconds as are asked about; what is left a second
/// later is not replayed any more.
pub(super) fn counterexamples(
    subject: &Subject<'_>,
    network: Network,
    engine: Engine,
    found: &[(Violation, Vec<Step>)],
    is_enough: &dyn Fn(f64) -> bool,
) -> Vec<Counterexample> {
    const LATE: &str = "it was not replayed, since the search was stopped and there is more; check it alone";
    let (names, is_first) = (subject.names(), Cell::new(true));
    let counterexample = |(violation, schedule): &(Violation, Vec<Step>)| {
        let told = match is_first.replace(false) || !is_enough(1.0) {
            true => replay(subject, network, violation, schedule, &|| is_enough(0.0)),
            false => Err(LATE.to_owned()),
        };
        let (schedule, told) = match told {
            Ok(told) => (told.steps.iter().map(|step| step.step).collect(), Ok(told)),
            Err(why) => (schedule.clone(), Err(why)),
        };
        let what = match told.as_ref().ok().and_then(|told| told.what.clone()) {
            Some(what) => what,
            None => describe(violation, &names),
        };
        let (violation, origin) = (violation.clone(), subject.origin().clone());
        Counterexample { what, violation, schedule, told, origin, engine }
    };
    found.iter().map(counterexample).collect()
}

/// Follows a schedule: what goes wrong, if something does. Of several it is what comes with the last steps, as a schedule ends with
/// what it shows; and if that is asked for, the deadlock.
///
/// # Errors
/// Where it cannot be followed.
pub(super) fn followed(
    subject: &Subject<'_>,
    network: Network,
    engine: Engine,
    schedule: &[Step],
    is_deadlock: bool,
) -> Result<Option<Counterexample>, String> {
    let mut system = subject.actors(network).unreliable(Faults::of(schedule));
    let changed = |impossible| format!("{impossible}; the program has changed, or it is another");
    let came = follow(&mut system, schedule).map_err(changed)?.violations;
    let deadlock = came.iter().find(|(_, violation)| matches!(violation, Violation::Deadlock { .. }));
    let last = came.iter().map(|(steps, _)| *steps).max();
    let shown =
        deadlock.filter(|_| is_deadlock).or_else(|| came.iter().find(|(steps, _)| Some(*steps) == last));
    let about = shown.map(|(_, violation)| violation);
    let names = |mailbox| subject.mailbox_name(mailbox);
    let told = tell(&mut system, schedule, about, &names).map_err(changed)?;
    let (Some(what), Some(violation)) = (told.what.clone(), told.violation.clone()) else { return Ok(None) };
    let (schedule, origin) = (schedule.to_vec(), subject.origin().clone());
    Ok(Some(Counterexample { what, violation, schedule, told: Ok(told), origin, engine }))
}

/// So long a counterexample is shortened: one of thousands of steps of a program that computes between them takes minutes.
const SECONDS_MAX: f64 = 3.0;

/// Shortens a schedule and tells what happens; or says why that cannot be done.
fn replay(
    subject: &Subject<'_>,
    network: Network,
    violation: &Violation,
    schedule: &[Step],
    is_enough: &dyn Fn() -> bool,
) -> Result<Told, String> {
    const DEPENDS: &str = "the program depends on something else than messages and choices (statics that change, the \
                           clock, random numbers of its own, the order of a hash map)";
    let mut system = subject.actors(network).unreliable(needed(violation, schedule));
    if let Violation::Varies { what, other, .. } = violation {
        // It is one of two executions: the other is what it is compared with.
        let compared = if *what == Traffic::Sends { Compared::Sends } else { Compared::Receives };
        system = system.compare(compared);
        follow(&mut system, other).map_err(|impossible| {
            format!("the execution that it differs from cannot be repeated: {impossible}")
        })?;
    }
    let mailbox = |mailbox| subject.mailbox_name(mailbox);
    // One that varies is about the whole of two executions.
    let short = match matches!(violation, Violation::Varies { .. }) || is_enough() {
        true => match follow(&mut system, schedule) {
            Ok(followed) if followed.came(violation).is_some() => Ok(schedule.to_vec()),
            Ok(_) => Err(NotShown::Absent),
            Err(impossible) => Err(NotShown::Diverges(impossible)),
        },
        false => {
            let clock = Stopwatch::start();
            shorten(&mut system, schedule, violation, &|| clock.seconds() > SECONDS_MAX || is_enough())
        }
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
    if !is_enough() && first != told()? {
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
            format!("{} is not deterministic: its {}", name(*actor), varies(*what, *number))
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
    use simurgh_kernel::watchdog::Watchdog;
    use simurgh_platform::Platform;

    use super::*;
    use crate::program::Program;

    fn subject(fill: impl Fn(&mut Program) -> OurResult + Sync + 'static) -> Subject<'static> {
        let origin = Origin::Program { name: "test".to_owned(), arguments: Vec::new() };
        Subject::new(Arc::new(Platform::builtin()), origin, Watchdog::default(), Box::new(fill))
            .expect("it can be made")
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
        let findings =
            counterexamples(&subject, Network::Unordered, Engine::Optimal, &found.found, &|_| false);
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
        assert!(told.place.is_some_and(|place| place.file.ends_with("counterexample.rs")));
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
        let findings =
            counterexamples(&subject, Network::Mailbox, Engine::Dfs, &[(violation, schedule)], &|_| false);
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
            let found = [(violation.clone(), schedule)];
            let findings = counterexamples(&subject, Network::Mailbox, Engine::Dfs, &found, &|_| false);
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
}
