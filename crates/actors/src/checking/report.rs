//! What a check found: plain data, which prints, and which a test can assert.

use std::fmt::{self, Write};

use simurgh_explore::{Engine, Violation};
use simurgh_trace::counterexample::View;

use super::Spelling;
use super::counterexample::{Counterexample, plain};
use super::cut::Cut;
use super::kept::Left;
use super::watch::Stopped;
use crate::error::{Error, Exit};
use crate::text::count;

/// More counterexamples than these are told in a line each.
const TOLD_MAX: usize = 5;

pub use simurgh_explore::Verdict;

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Holds => Exit::Fine,
            Verdict::Violated | Verdict::Deadlock => Exit::Failed,
            Verdict::CannotRun => Exit::CannotRun,
            Verdict::NotExhausted => Exit::NotExhausted,
        }
    }
}

/// What a check found, and how much it looked at.
#[derive(Debug)]
#[non_exhaustive]
pub struct CheckReport {
    /// What it found, in a word.
    pub verdict: Verdict,
    /// How many complete executions were seen.
    pub executions: u64,
    /// How many steps were taken, repeated ones included.
    pub transitions: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Who explored it.
    pub engine: Engine,
    /// Why that is not the engine that was asked for, if it is not.
    pub refined: Option<String>,
    /// What goes wrong: the first that was found, or with [`Check::all`](super::Check::all) one of each kind.
    pub counterexamples: Vec<Counterexample>,
    /// Executions that were not followed to their ends, because they were longer than allowed.
    pub cut: Option<Cut>,
    /// Whether all orders were tried. A search that stops at what it found has not tried all.
    pub exhausted: bool,
    /// Why it stopped before its end, if it did.
    pub stopped: Option<Stopped>,
    /// What is left of the search, where that is kept: [`Check::resume`](super::Check::resume).
    pub left: Option<Left>,
    /// What else is to be known.
    pub notes: Vec<String>,
    /// Why it cannot run, if it cannot.
    pub error: Option<Error>,
}

impl CheckReport {
    /// Of something that was not explored.
    pub(crate) fn empty(verdict: Verdict, engine: Engine) -> Self {
        Self {
            verdict,
            executions: 0,
            transitions: 0,
            seconds: 0.0,
            engine,
            refined: None,
            counterexamples: Vec::new(),
            cut: None,
            exhausted: false,
            stopped: None,
            left: None,
            notes: Vec::new(),
            error: None,
        }
    }

    /// Of what cannot run.
    pub(super) fn cannot_run(engine: Engine, error: Error) -> Self {
        Self { error: Some(error), ..Self::empty(Verdict::CannotRun, engine) }
    }

    /// The first counterexample, if something goes wrong.
    pub fn violation(&self) -> Option<&Counterexample> {
        self.counterexamples.first()
    }

    /// For tests: all orders were tried, and nothing goes wrong in any of them.
    ///
    /// # Panics
    /// If something goes wrong, or that is not known; with all counterexamples.
    #[track_caller]
    pub fn assert_holds(&self) -> &Self {
        match self.verdict {
            Verdict::Holds => self,
            Verdict::Violated | Verdict::Deadlock => self.fail("it does not hold"),
            Verdict::NotExhausted => self.fail("it is not known whether it holds: not all orders were tried"),
            Verdict::CannotRun => self.fail("it cannot be checked"),
        }
    }

    /// For tests: an actor fails, an invariant does not hold, or actors do not communicate as they do in another order. Gives the
    /// first counterexample of that kind. That actors wait for ever is another kind: [`assert_deadlock`](Self::assert_deadlock).
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn assert_violated(&self) -> &Counterexample {
        match self.counterexamples.iter().find(|found| !found.is_deadlock()) {
            Some(found) => found,
            None if !self.counterexamples.is_empty() => {
                self.fail("nothing is violated but that actors wait for ever (`assert_deadlock`)")
            }
            None => self.fail("nothing is violated"),
        }
    }

    /// For tests: actors wait for ever. Gives the first counterexample of that kind.
    ///
    /// # Panics
    /// If there is none.
    #[track_caller]
    pub fn assert_deadlock(&self) -> &Counterexample {
        match self.counterexamples.iter().find(|found| found.is_deadlock()) {
            Some(found) => found,
            None if !self.counterexamples.is_empty() => {
                self.fail("nobody waits for ever, but something else goes wrong (`assert_violated`)")
            }
            None => self.fail("nobody waits for ever"),
        }
    }

    /// Ends a test with all that is known.
    #[track_caller]
    fn fail(&self, what: &str) -> ! {
        panic!("{what}\n\n{self}{}", self.how_to_replay())
    }

    /// How to see again what was found, for those who read what a test printed.
    fn how_to_replay(&self) -> String {
        match self.violation() {
            // It is about two executions.
            Some(Counterexample { violation: Violation::Varies { .. }, .. }) | None => String::new(),
            Some(found) => format!(
                "to see it again: `replay({:?})` in place of the assertion, or `save(FILE)` of the counterexample\n",
                found.steps()
            ),
        }
    }

    /// For people. `hint` is told below the counterexamples.
    pub(crate) fn in_words(&self, view: &View<'_>, spelling: Spelling, hint: &str) -> String {
        if let Some(error) = &self.error {
            return format!("{}: {error}\n", self.verdict);
        }
        let mut text = String::new();
        for found in self.counterexamples.iter().take(TOLD_MAX) {
            text.push_str(&found.in_words(view));
            text.push('\n');
        }
        for found in self.counterexamples.iter().skip(TOLD_MAX) {
            let _ = writeln!(text, "also: {}", found.what);
        }
        if !self.counterexamples.is_empty() && !hint.is_empty() {
            let _ = writeln!(text, "{hint}");
        }
        if let Some(cut) = &self.cut {
            let _ = writeln!(text, "{}", cut.in_words(spelling, self.stopped != Some(Stopped::Endless)));
        }
        // What goes wrong in the first execution ends it before it can be counted.
        let executions = match self.executions {
            0 if !self.counterexamples.is_empty() => String::new(),
            executions => count(executions, "execution") + ", ",
        };
        let steps = count(self.transitions, "step");
        let _ = writeln!(text, "{}: {executions}{steps}, {:.3} s", self.verdict, self.seconds);
        if let Some(why) = self.why_stopped(spelling) {
            let _ = writeln!(text, "{why}");
        }
        text
    }

    /// Why the search stopped before its end, and what is kept of it.
    pub(crate) fn why_stopped(&self, spelling: Spelling) -> Option<String> {
        let why = self.stopped.map(|stopped| stopped.in_words(spelling));
        let Some(Left { parts, path }) = &self.left else { return why };
        Some(format!(
            "{}; what is left ({}) is kept in {}: the same {} goes on from there",
            why.as_deref().unwrap_or("stopped at the first violation"),
            count(*parts as u64, "part"),
            path.display(),
            spelling.of("command", "check")
        ))
    }
}

/// As `check` prints it on the command line, without colours; and what it says beside it.
impl fmt::Display for CheckReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.in_words(&plain(), Spelling::Methods, ""))?;
        self.refined.iter().chain(&self.notes).try_for_each(|line| writeln!(f, "{line}"))
    }
}
