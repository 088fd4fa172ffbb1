//! What all global searches share: the properties that are still open, the bounds, and what was found.

use std::any::TypeId;

use simurgh_search::STEADY;
use simurgh_search::liveness::{self, Eventually, Fairness};
use simurgh_search::session::repeats;
use simurgh_search::space::{Lasso, Level, Seen, StateSpace, Steps};
use simurgh_watchdog::{Asker, Code, quietly};

use crate::evaluate::{Evaluator, Found, failed};
use crate::hash::fingerprint;
use crate::inert::Inert;
use crate::model::Model;
use crate::property::{Kind, Mode, Property, States};
use crate::replay::Replayed;
use crate::report::{Finding, Outcome, Report, Verdict};
use crate::schedule::{Schedule, Step};
use crate::space::{CRASH, Lookup, Move, Space, TIMEOUT, Unsteady};
use crate::successors::Successors;
use crate::symmetry;

/// The name of the property that every system has.
pub(crate) const NO_PANIC: &str = "no handler panics";

/// What a report says of a system with a boundary.
const WITHIN: &str = "only states within the boundary count";

/// One of how many states is compared with those that it stands for, where there is symmetry.
const SAMPLE: u128 = 64;

/// What bounds a search.
pub(crate) struct Limits {
    pub(crate) states_max: u64,
    pub(crate) depth_max: usize,
    /// How many threads expand states.
    pub(crate) workers: usize,
    /// Who says that it is to end.
    pub(crate) stop: Option<Asker<Seen>>,
}

/// A search that is going on.
pub(crate) struct Session<'a> {
    pub(crate) system: &'a Model,
    pub(crate) space: Space,
    pub(crate) starts: Vec<Vec<u32>>,
    pub(crate) evaluator: Evaluator<'a>,
    /// The properties `always` and `sometimes` that have not been decided.
    pub(crate) open: Vec<usize>,
    pub(crate) limits: Limits,
    pub(crate) report: Report,
    panic: Option<Schedule>,
    /// What was left out, if anything.
    pub(crate) cut: Option<String>,
    /// Why an `eventually` is neither known to hold nor to be violated, though nothing was left out otherwise.
    pub(crate) undecided: Option<String>,
    /// What the code of the user said that panicked last, where that is not a handler.
    said: String,
    /// Whether that was the boundary.
    boundary_panicked: bool,
    /// How often the boundary was asked.
    bounded: u64,
    /// Suspicions of a local search that were not verified.
    pub(crate) unanswered: usize,
    samples: Lookup<u128, u128>,
    /// How many steps were gone once more with actors exchanged.
    pub(crate) gone_again: usize,
    ticks: u64,
    /// The steps of the searches before this one.
    transitions_before: u64,
    /// Which `eventually` is looked for, and which messages do not matter to it any more.
    eventually: (usize, Inert),
}

/// What a state decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Decided {
    Panic,
    Property(usize),
    /// Nothing can be decided, since a condition, the boundary or the history panics.
    Broken(Code),
}

impl<'a> Session<'a> {
    pub(crate) fn new(system: &'a Model, limits: Limits, engine: &'static str) -> Self {
        let (space, starts) = Space::new(system);
        let evaluator = Evaluator::new(&system.properties, space.actors());
        let is_open = |property: &usize| system.properties[*property].mode != Mode::Eventually;
        let mut session = Self {
            system,
            space,
            starts,
            evaluator,
            open: (0..system.properties.len()).filter(is_open).collect(),
            limits,
            report: Report::new(engine, &system.properties),
            panic: None,
            cut: None,
            undecided: None,
            said: String::new(),
            boundary_panicked: false,
            bounded: 0,
            unanswered: 0,
            samples: Lookup::default(),
            gone_again: 0,
            ticks: 0,
            transitions_before: 0,
            eventually: (usize::MAX, Inert::default()),
        };
        let asks_history = |property: &&Property| matches!(property.condition.kind, Kind::History(_));
        if let Some(Property { name, .. }) = system.properties.iter().find(asks_history)
            && !session.space.has_history()
        {
            session
                .fail(format!("\"{name}\" looks at the history, but there is none: add one with history()"));
        }
        if let Some(why) = session.space.broken.take() {
            session.fail(format!("history() panics when the system starts: {why}"));
        }
        session.look_at_types();
        session.look_at_starts();
        session
    }

    /// A condition on states of a type that no actor has would hold of everything.
    fn look_at_types(&mut self) {
        let Some(start) = self.starts.first() else { return };
        let types: Option<Vec<TypeId>> = (0..self.space.actors())
            .map(|actor| self.space.local(actor, start[actor]).state().map(|state| state.type_id()))
            .collect();
        // Where one has failed when it started, its type is not known.
        let Some(types) = types else { return };
        let is_foreign = |property: &&Property| property.condition.of.is_some_and(|of| !types.contains(&of));
        if let Some(Property { name, .. }) = self.system.properties.iter().find(is_foreign) {
            self.fail(format!(
                "\"{name}\" is about states of a type that no actor has: look at its argument"
            ));
        }
    }

    /// A boundary without a start inside would let everything hold.
    fn look_at_starts(&mut self) {
        let mut inside = false;
        for (start, state) in self.starts.clone().iter().enumerate() {
            inside |= self.is_within(state);
            if self.broken_boundary().is_some() {
                return self.tell_broken(Code::Boundary, &Schedule { start, ..Schedule::default() });
            }
        }
        if !inside {
            self.fail("within(): no state that the system can start in is within the boundary".into());
        }
    }

    /// Gives up, since something is wrong with the system or with what is asked of it.
    pub(crate) fn fail(&mut self, why: String) {
        self.report.verdict = Verdict::CannotRun;
        self.report.note = Some(why);
    }

    /// Whether a state is what a suspicion was about, or shows that it cannot be decided.
    pub(crate) fn look_for(&mut self, suspicion: Decided, state: &[u32]) -> Option<Decided> {
        match suspicion {
            Decided::Property(_) if failed(&self.space, state, None) => None,
            Decided::Property(property) => self.decides(property, state, None),
            Decided::Panic => failed(&self.space, state, None).then_some(suspicion),
            // Who comes to a state asks whether it is within the boundary, and tells what came of that.
            Decided::Broken(_) => None,
        }
    }

    fn decides(&mut self, property: usize, state: &[u32], changed: Option<usize>) -> Option<Decided> {
        let decides = self.evaluator.decides(property, Found { space: &self.space, state }, changed);
        decides.then(|| self.broken_condition(property).unwrap_or(Decided::Property(property)))
    }

    /// Whether the condition of a property that was asked last has panicked.
    fn broken_condition(&mut self, property: usize) -> Option<Decided> {
        self.said = self.evaluator.panic.take()?;
        Some(Decided::Broken(Code::Condition(property)))
    }

    /// Looks for a way on which a property never becomes true.
    pub(crate) fn search_eventually(&mut self, property: usize, fairness: Fairness) {
        let name = &self.system.properties[property].name;
        if self.space.permutations.len() > 1 {
            self.cut =
                Some(format!("\"{name}\" is an eventually, which cannot be looked for with symmetric()"));
            return;
        }
        // Only a condition on everything sees messages that will be ignored.
        let sees_messages = matches!(self.system.properties[property].condition.kind, Kind::World(_));
        let inert = if sees_messages { Inert::default() } else { Inert::new(&self.space) };
        self.eventually = (property, inert);
        self.transitions_before = self.report.transitions;
        let (answer, seen) = liveness::search(self, fairness);
        self.report.transitions = self.transitions_before + seen.transitions;
        match answer {
            liveness::Answer::Holds => self.report.findings[property].outcome = Outcome::Holds(None),
            liveness::Answer::Left => {
                let why = "is not known: some ways leave the boundary before it becomes true";
                self.undecided = Some(format!("\"{name}\" {why}"));
            }
            liveness::Answer::Over => {}
        }
    }

    /// Whether the boundary that was asked last has panicked.
    pub(crate) fn broken_boundary(&mut self) -> Option<Decided> {
        std::mem::take(&mut self.boundary_panicked).then_some(Decided::Broken(Code::Boundary))
    }

    /// Notes what was decided, once it has been seen to happen again from the start.
    pub(crate) fn decide(&mut self, decided: Decided, schedule: Schedule) {
        if let Decided::Broken(code) = decided {
            return self.tell_broken(code, &schedule);
        }
        let replayed = match confirm(self.system, decided, &schedule) {
            Ok(replayed) => replayed,
            Err(why) => return self.fail(why),
        };
        match decided {
            Decided::Panic => {
                let states = replayed.actors_after(schedule.steps.len());
                let failed = |(actor, state): (usize, &String)| {
                    state.strip_prefix("failed: ").map(|why| format!("actor {actor} panics: {why}"))
                };
                self.report.note = states.iter().enumerate().find_map(failed);
                self.panic = Some(schedule);
                self.report.verdict = Verdict::Violated;
            }
            Decided::Property(property) => {
                self.open.retain(|other| *other != property);
                if self.system.properties[property].mode == Mode::Sometimes {
                    self.report.findings[property].outcome = Outcome::Holds(Some(schedule));
                } else {
                    self.report.findings[property].outcome = Outcome::Violated(Some(schedule));
                    self.report.verdict = Verdict::Violated;
                }
            }
            Decided::Broken(_) => unreachable!("it was told"),
        }
    }

    /// A condition that panics is no finding about the system: who wrote it has to know where.
    fn tell_broken(&mut self, code: Code, schedule: &Schedule) {
        let what = code.in_words(|property| &self.system.properties[property].name);
        let place = match schedule.to_string().trim_end() {
            "" => "at the start".into(),
            steps => format!("after {}", steps.replace('\n', "; ")),
        };
        let states = self.system.replay(schedule).map_or(String::new(), |replayed| {
            let states = replayed.actors_after(schedule.steps.len()).into_iter().enumerate();
            let texts: Vec<String> = states.map(|(actor, state)| format!("{actor} is {state}")).collect();
            format!("; there, {}", texts.join("; "))
        });
        self.fail(format!("{what} panics {place}: {}{states}", self.said));
    }

    /// What did something else when the same happened once more.
    fn unsteady(&self) -> Option<Unsteady> {
        let condition = || self.evaluator.asked.unsteady.map(Code::Condition).map(Unsteady::Code);
        self.space.unsteady.or_else(condition)
    }

    /// Whether the search has to end, for those whose steps differ in what they take: the clock is asked when so much was done.
    pub(crate) fn over_after(&mut self, work: u64, seen: Seen) -> bool {
        self.report.transitions = self.transitions_before + seen.transitions;
        if seen.states as u64 > self.limits.states_max {
            self.cut = Some(format!("{} states were the bound", self.limits.states_max));
            return true;
        }
        let before = self.ticks / 1024;
        self.ticks += work;
        if self.ticks / 1024 > before
            && let Some(stop) = &self.limits.stop
            && stop.is_to_end(Seen { transitions: self.report.transitions, ..seen })
        {
            self.cut = Some(format!("it was stopped at depth {}", seen.depth));
            return true;
        }
        false
    }

    /// The same for those who have much to do between two calls: the clock is asked each time.
    pub(crate) fn over_often(&mut self, seen: Seen) -> bool {
        self.ticks = self.ticks.next_multiple_of(1024) + 1023;
        self.over_after(1, seen)
    }

    pub(crate) fn is_open(&self, decided: Decided) -> bool {
        match decided {
            Decided::Panic => self.panic.is_none(),
            Decided::Property(property) => self.open.contains(&property),
            Decided::Broken(_) => true,
        }
    }

    /// What was found, in the end.
    pub(crate) fn finish(mut self) -> Report {
        self.report.handlers = self.space.handlers;
        if let Some(unsteady) = self.unsteady() {
            let name = |property: usize| self.system.properties[property].name.as_str();
            let what = match unsteady {
                Unsteady::Actor(actor) => {
                    format!("actor {actor} did something else when the same happened to it once more")
                }
                Unsteady::Code(code) => {
                    format!("not deterministic: {} gave another answer about the same", code.in_words(name))
                }
            };
            self.fail(format!("{what}: {STEADY}"));
        }
        let exhausted = self.cut.is_none() && self.report.verdict == Verdict::Holds;
        for Finding { mode, outcome, .. } in &mut self.report.findings {
            match (&outcome, mode) {
                _ if self.report.verdict == Verdict::CannotRun => *outcome = Outcome::Unknown,
                (Outcome::Unknown, Mode::Always) if exhausted => *outcome = Outcome::Holds(None),
                (Outcome::Unknown, Mode::Sometimes) if exhausted => *outcome = Outcome::Violated(None),
                _ => {}
            }
        }
        if let Some(schedule) = self.panic {
            let outcome = Outcome::Violated(Some(schedule));
            self.report.findings.insert(0, Finding { name: NO_PANIC.into(), mode: Mode::Always, outcome });
        }
        if self.report.verdict == Verdict::CannotRun {
            return self.report;
        }
        // That no handler panics is a property, too, and it is not known where something was left out.
        let is_violated = self.report.violation().is_some();
        let missing = self.cut.or(self.undecided).filter(|_| !is_violated);
        if is_violated {
            self.report.verdict = Verdict::Violated;
        } else if missing.is_some() {
            self.report.verdict = Verdict::NotExhausted;
        }
        let within = self.system.within.is_some().then(|| WITHIN.into());
        let notes: Vec<String> = [missing, self.report.note.take(), within].into_iter().flatten().collect();
        self.report.note = (!notes.is_empty()).then(|| notes.join("; "));
        self.report
    }
}

impl StateSpace for Session<'_> {
    type Step = Move;
    type Finding = Decided;

    fn starts(&mut self) -> Vec<Vec<u32>> {
        self.starts.clone()
    }

    fn key(&mut self, state: &[u32]) -> u128 {
        self.space.hash(state)
    }

    fn expand(&mut self, steps: Steps, state: &[u32], out: &mut Successors) -> Option<Decided> {
        self.space.expand_learning(steps, state, out);
        self.said = self.space.broken.take()?;
        Some(Decided::Broken(Code::History))
    }

    fn expand_block(
        &mut self,
        level: &Level,
        first: usize,
        lists: &mut [Successors],
    ) -> Option<(usize, Decided)> {
        let space = &self.space;
        let one = |first: usize, lists: &mut [Successors]| {
            let mut unknown: Vec<usize> = Vec::new();
            for (at, list) in lists.iter_mut().enumerate() {
                list.clear();
                if space.expand(Steps::Effective, level.get(first + at), list).is_err() {
                    unknown.push(first + at);
                }
            }
            unknown
        };
        let unknown: Vec<usize> = if self.limits.workers == 1 {
            one(first, lists)
        } else {
            let part = lists.len().div_ceil(self.limits.workers);
            std::thread::scope(|scope| {
                let parts = lists.chunks_mut(part).enumerate();
                let threads: Vec<_> =
                    parts.map(|(at, lists)| scope.spawn(move || one(first + at * part, lists))).collect();
                let ends = threads.into_iter().map(|thread| thread.join());
                ends.flat_map(|unknown| unknown.expect("looking things up does not panic")).collect()
            })
        };
        unknown.into_iter().find_map(|at| {
            let found = self.expand(Steps::Effective, level.get(at), &mut lists[at - first]);
            found.map(|broken| (at, broken))
        })
    }

    fn workers(&self) -> usize {
        self.limits.workers
    }

    /// If the boundary panics, it is within, and [`StateSpace::look`] tells.
    fn is_within(&mut self, state: &[u32]) -> bool {
        let answer = is_within(self.system, &self.space, state);
        self.boundary_panicked = answer.is_err();
        if self.system.within.is_some() {
            let is_same = |_| is_within(self.system, &self.space, state) == answer;
            if !(0..repeats(self.bounded)).all(is_same) {
                self.space.unsteady.get_or_insert(Unsteady::Code(Code::Boundary));
            }
            self.bounded += 1;
        }
        answer.unwrap_or_else(|why| {
            self.said = why;
            true
        })
    }

    fn look(&mut self, state: &[u32], step: Option<Move>) -> Vec<Decided> {
        if let Some(broken) = self.broken_boundary() {
            return vec![broken];
        }
        let changed = step.and_then(Move::actor);
        // What is left of a system after a panic is no state of the protocol.
        if failed(&self.space, state, changed) {
            return vec![Decided::Panic];
        }
        (0..self.open.len()).filter_map(|at| self.decides(self.open[at], state, changed)).collect()
    }

    fn found(&mut self, decided: Decided, way: Lasso<Move>) {
        let steps = way.steps.iter().map(|(state, step)| Step::of(&self.space, state, *step)).collect();
        self.decide(decided, Schedule { start: way.start, steps, back_to: way.back_to });
    }

    fn wants_more(&self) -> bool {
        self.report.verdict == Verdict::Holds && self.unsteady().is_none()
    }

    fn is_over(&mut self, seen: Seen) -> bool {
        self.over_after(1, seen)
    }

    fn is_cut(&mut self, depth: usize) -> bool {
        let is_cut = depth >= self.limits.depth_max;
        if is_cut {
            self.cut = Some(format!("{depth} steps were the bound"));
        }
        is_cut
    }

    fn is_sample(&self, number: usize) -> bool {
        symmetry::is_sample(self, number)
    }

    fn compare(&mut self, number: usize, way: &[&[u32]]) {
        symmetry::compare(self, number, way);
    }

    /// With symmetry: compares what can happen in a state with what can happen in others that count as the same.
    fn meet(&mut self, state: &[u32], hash: u128) {
        if self.space.permutations.len() <= 1 || !hash.is_multiple_of(SAMPLE) {
            return;
        }
        let mut next = Successors::default();
        self.space.expand_learning(Steps::Effective, state, &mut next);
        let sum = next.list.iter().fold(0_u128, |sum, successor| sum.wrapping_add(successor.key));
        if *self.samples.entry(hash).or_insert(sum) != sum {
            self.fail(
                "symmetric(): the actors behave differently when they are exchanged; do handlers compare \
                 identities for order, or were the actors built with different numbers?"
                    .into(),
            );
        }
    }
}

impl Eventually for Session<'_> {
    fn holds(&mut self, state: &[u32]) -> Result<bool, Decided> {
        let found = Found { space: &self.space, state };
        let holds = self.evaluator.has_come_true(self.eventually.0, found);
        self.broken_condition(self.eventually.0).map_or(Ok(holds), Err)
    }

    fn must_happen(step: Move) -> bool {
        matches!(step, Move::Event { event, .. } if event != CRASH)
    }

    fn fairness_key(&self, state: &[u32], step: Move) -> u64 {
        let key = match step {
            Move::Loss { envelope, after } => fingerprint(&("loss", envelope, after)),
            // A timer is known by its name, since its place among those that are set changes.
            Move::Event { actor, event, .. } if (TIMEOUT..CRASH).contains(&event) => {
                let local = self.space.local(actor as usize, state[actor as usize]);
                let timer = local.timer_text((event - TIMEOUT) as usize);
                fingerprint(&("timeout", actor, timer))
            }
            Move::Event { actor, event, .. } => fingerprint(&("event", actor, event)),
        };
        key as u64
    }

    fn is_persistent(&self, state: &[u32], step: Move) -> bool {
        self.eventually.1.is_done_with(state, step)
    }

    fn never(&self) -> Decided {
        Decided::Property(self.eventually.0)
    }
}

/// Whether a state is within the boundary, or what that said when it panicked. Behind a handler that panicked there is no boundary.
fn is_within(system: &Model, space: &Space, state: &[u32]) -> Result<bool, String> {
    let Some(within) = system.within.as_ref().filter(|_| !failed(space, state, None)) else {
        return Ok(true);
    };
    quietly(Code::Boundary, || within(&States { nodes: &Found { space, state } }))
}

/// Whether a schedule, followed from the start through the handlers, ends where a property is decided.
fn confirm(system: &Model, decided: Decided, schedule: &Schedule) -> Result<Replayed, String> {
    let replayed = system.replay(schedule).map_err(|error| error.to_string())?;
    let (space, last) = (&replayed.space, replayed.last());
    let mut evaluator = Evaluator::new(&system.properties, space.actors());
    let seen = replayed.states.iter().all(|state| is_within(system, space, state).unwrap_or(true))
        && match decided {
            Decided::Panic => failed(space, last, None),
            Decided::Property(property) if system.properties[property].mode == Mode::Eventually => {
                let mut states = replayed.states.iter();
                let again = schedule.back_to.is_none_or(|at| replayed.states[at] == last);
                states.all(|state| !evaluator.has_come_true(property, Found { space, state })) && again
            }
            Decided::Property(property) => {
                !failed(space, last, None) && evaluator.decides(property, Found { space, state: last }, None)
            }
            Decided::Broken(_) => true,
        };
    if seen {
        return Ok(replayed);
    }
    let name = match decided {
        Decided::Property(property) => &system.properties[property].name,
        Decided::Panic | Decided::Broken(_) => NO_PANIC,
    };
    Err(format!(
        "\"{name}\" was decided by a schedule that does not show it when followed again: do conditions or handlers depend on more than their arguments, or name actors that are symmetric()?"
    ))
}
