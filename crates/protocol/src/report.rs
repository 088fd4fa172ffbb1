//! What a search found.

use std::fmt;

use simurgh_search::space::Seen;
use simurgh_watchdog::{LeftBehind, Stuck};

use crate::property::{Mode, Property};
use crate::schedule::Schedule;

pub use simurgh_search::Verdict;

/// What is known of one property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It holds in everything that can happen; for `sometimes`, this is how.
    Holds(Option<Schedule>),
    /// It does not hold, and this is how; for `sometimes`, no state was like that.
    Violated(Option<Schedule>),
    /// The search ended before that was known.
    Unknown,
}

/// A property, and what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Its name.
    pub name: String,
    /// When its condition is to hold.
    pub mode: Mode,
    /// What is known.
    pub outcome: Outcome,
}

/// What a search found, and how much it looked at.
#[derive(Clone, Debug, Default)]
#[must_use = "it says what was found; `assert_holds` asserts that it is nothing"]
pub struct Report {
    /// Which search it was.
    pub engine: &'static str,
    /// What it found, in a word.
    pub verdict: Verdict,
    /// The steps that were made: from global state to global state, or from local state to local state.
    pub transitions: u64,
    /// The executions, where they are gone through one by one.
    pub executions: u64,
    /// The distinct states: global ones, or local ones; none where executions are gone through.
    pub states: u64,
    /// The system states that were made to look at properties: all states in a global search.
    pub system_states: u64,
    /// The handlers that ran.
    pub handlers: u64,
    /// What local search found at first sight, and had to verify.
    pub suspicions: u64,
    /// The global states that verifying them went through.
    pub verified_states: u64,
    /// The most steps from a start.
    pub depth: usize,
    /// What is known of each property.
    pub findings: Vec<Finding>,
    /// What was left out, or why it cannot run.
    pub note: Option<String>,
    /// The code of the user that did not come back, if that is why something was left out.
    pub stuck: Option<Stuck>,
}

impl Report {
    /// Nothing is known yet.
    pub(crate) fn new(engine: &'static str, properties: &[Property]) -> Self {
        let unknown = |Property { name, mode, .. }: &Property| Finding {
            name: name.clone(),
            mode: *mode,
            outcome: Outcome::Unknown,
        };
        Self { engine, findings: properties.iter().map(unknown).collect(), ..Self::default() }
    }

    pub(crate) fn cannot_run(engine: &'static str, why: String) -> Self {
        Self { verdict: Verdict::CannotRun, note: Some(why), engine, ..Self::default() }
    }

    /// The same for a search that was left behind.
    pub(crate) fn left_behind(mut self, left: LeftBehind<Seen>) -> Self {
        self.verdict = Verdict::NotExhausted;
        self.note = Some(left.to_string());
        self.note_seen(left.seen);
        self.stuck = left.stuck;
        self
    }

    /// Notes how many states a search has seen.
    pub(crate) fn note_seen(&mut self, seen: Seen) {
        let Seen { states, transitions, depth } = seen;
        (self.states, self.system_states, self.transitions) = (states as u64, states as u64, transitions);
        self.depth = depth;
    }

    /// The first property that does not hold.
    pub fn violation(&self) -> Option<&Finding> {
        self.findings.iter().find(|finding| matches!(finding.outcome, Outcome::Violated(_)))
    }

    /// The schedule that was found for a property: how it is violated, or for `sometimes`, how it comes about.
    pub fn discovery(&self, name: &str) -> Option<&Schedule> {
        match self.outcome(name)? {
            Outcome::Holds(schedule) | Outcome::Violated(schedule) => schedule.as_ref(),
            Outcome::Unknown => None,
        }
    }

    fn outcome(&self, name: &str) -> Option<&Outcome> {
        self.findings.iter().find(|finding| finding.name == name).map(|finding| &finding.outcome)
    }

    /// For unit tests: all properties hold in everything that can happen.
    ///
    /// # Panics
    /// If a property does not hold, or that is not known; with the schedule.
    #[track_caller]
    pub fn assert_holds(&self) -> &Self {
        assert!(self.verdict == Verdict::Holds, "{self}");
        self
    }

    /// Another name of [`assert_holds`](Self::assert_holds), which Stateright has.
    ///
    /// # Panics
    /// If a property does not hold, or that is not known; with the schedule.
    #[track_caller]
    pub fn assert_properties(&self) -> &Self {
        self.assert_holds()
    }

    /// For unit tests: a property is violated; gives the schedule.
    ///
    /// # Panics
    /// If it holds, or is not known to be violated.
    #[track_caller]
    pub fn assert_violated(&self, name: &str) -> &Schedule {
        match self.outcome(name) {
            Some(Outcome::Violated(Some(schedule))) => schedule,
            _ => panic!("\"{name}\" is not violated by any schedule\n{self}"),
        }
    }
}

/// A number of things, in words.
pub(crate) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, verdict, states, transitions, depth, .. } = self;
        write!(f, "{engine}: {}", verdict.to_string().replace('-', " "))?;
        if let Some(note) = &self.note {
            write!(f, ": {note}")?;
        }
        writeln!(f)?;
        if *verdict != Verdict::CannotRun {
            // An engine counts executions or states; neither, where it ended in the first one.
            let seen = [(self.executions, "execution"), (*states, "state")].into_iter().find(|one| one.0 > 0);
            let seen = seen.map(|(number, what)| count(number, what) + ", ").unwrap_or_default();
            let depth = if *depth > 0 { format!(", depth {depth}") } else { String::new() };
            writeln!(f, "{seen}{}{depth}", count(*transitions, "transition"))?;
        }
        for Finding { name, mode, outcome } in &self.findings {
            let mode = format!("{mode:?}").to_lowercase();
            let (word, schedule) = match outcome {
                Outcome::Holds(schedule) => ("holds", schedule.as_ref()),
                Outcome::Violated(schedule) => ("is violated", schedule.as_ref()),
                Outcome::Unknown => ("is not known", None),
            };
            write!(f, "{mode} \"{name}\" {word}")?;
            match schedule {
                None => writeln!(f)?,
                Some(schedule) => {
                    writeln!(f, ", in {}:", count(schedule.steps.len() as u64, "step"))?;
                    for line in schedule.to_string().lines() {
                        writeln!(f, "  {line}")?;
                    }
                }
            }
        }
        Ok(())
    }
}
