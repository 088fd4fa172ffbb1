//! What all engines share: counts, bounds, what was found, and whom to tell.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::system::{Headway, System};
use crate::verdict::{Divergence, Exploration, Finding, Found, Verdict};

/// How an exploration is doing.
#[derive(Copy, Clone, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// How many complete executions were seen.
    pub executions: u64,
    /// How many executions were given up because all that was possible had been explored elsewhere.
    pub redundant: u64,
    /// How many executions were cut at the bound on their length.
    pub cut: u64,
    /// How many steps were taken, repeated ones included.
    pub transitions: u64,
    /// How long the longest execution was.
    pub depth: usize,
    /// Whether all was seen: known at the end.
    pub exhausted: bool,
}

/// Someone who looks at a long exploration now and then, and may stop it: to show progress, or when time is up.
pub type Watcher<'a> = Box<dyn FnMut(&Progress) -> ControlFlow<()> + 'a>;

/// Someone who looks at the system at the end of each complete execution.
pub type Visitor<'a, S> = Box<dyn FnMut(&mut S, &[<S as System>::Transition]) + 'a>;

/// How far an exploration goes, and who looks at it.
pub struct Options<'a, S: System> {
    /// At most so many steps an execution.
    pub depth: Option<usize>,
    /// Whether an execution that seems to be endless is cut too ([`ENDLESS`]).
    pub cuts_endless: bool,
    /// At most so many executions.
    pub executions: Option<u64>,
    /// Whether to go on after a violation, to find those of other kinds.
    pub all: bool,
    /// Who may stop it.
    pub watcher: Option<Watcher<'a>>,
    /// Who looks at each execution.
    pub visitor: Option<Visitor<'a, S>>,
    /// Where the last progress goes.
    pub report: Option<&'a mut Progress>,
    /// Whether it is time for the watcher to look, however few steps were taken: asked after each of them.
    pub due: Option<Box<dyn Fn() -> bool + 'a>>,
}

impl<S: System> Default for Options<'_, S> {
    fn default() -> Self {
        Self {
            depth: None,
            cuts_endless: false,
            executions: None,
            all: false,
            watcher: None,
            visitor: None,
            report: None,
            due: None,
        }
    }
}

impl<'a, S: System> Options<'a, S> {
    /// Goes on after a violation.
    pub fn all() -> Self {
        Self { all: true, ..Self::default() }
    }

    /// Lets someone look at the end of each execution.
    pub fn visit(self, visitor: impl FnMut(&mut S, &[S::Transition]) + 'a) -> Self {
        Self { visitor: Some(Box::new(visitor)), ..self }
    }

    /// Lets someone stop the exploration.
    pub fn watch(self, watcher: impl FnMut(&Progress) -> ControlFlow<()> + 'a) -> Self {
        Self { watcher: Some(Box::new(watcher)), ..self }
    }
}

/// An execution in which a process has waited or looked in vain so many times in a row, or so many are created, seems to be endless.
pub const ENDLESS: usize = 1000;

/// How many executions, and how many steps, there are at most before the watcher looks again.
const EXECUTIONS_BETWEEN_LOOKS: u64 = 64;
const STEPS_BETWEEN_LOOKS: u64 = 1 << 12;

/// How often the first execution is repeated at most, and how many steps that may take if it is more than once: what depends on
/// the order of a hash map is the same by luck, now and then.
const REPEATS: usize = 4;
const REPEATED_STEPS: usize = 1 << 10;

/// How often code of a user is asked the same once more, to see whether it says the same, after so many questions: few states are all
/// that some systems have, and what is left to chance is the same twice by luck.
pub fn repeats(asked: u64) -> u32 {
    match asked {
        0..16 => 7,
        16..1000 => 1,
        _ => 0,
    }
}

/// Whether a program is the same twice: does one execution, as far as so many steps, and then does it again. What is not as it was,
/// if something is not.
pub fn divergence<S: System>(system: &mut S, steps_max: usize) -> Option<Divergence> {
    let mut session = Session::new(system, Options::all());
    let trace = in_turn(session.system, |trace| trace.len() < steps_max);
    let _ = session.repeat_first(&trace);
    session.divergence
}

/// An execution in which each process has its turn, also where one goes on for ever; it goes as far as it is said to.
fn in_turn<S: System>(
    system: &mut S,
    mut goes_on: impl FnMut(&[S::Transition]) -> bool,
) -> Vec<S::Transition> {
    let (mut trace, mut enabled, mut last) = (Vec::new(), Vec::new(), 0);
    while goes_on(&trace) {
        enabled.clear();
        system.enabled(&mut enabled);
        let next = enabled.iter().find(|t| S::process(t) > last).or(enabled.first());
        let Some(next) = next else { break };
        last = S::process(next);
        trace.push(system.execute(S::step(next)));
    }
    trace
}

/// Whether the process of the last step has tried in vain again and again, or more and more processes are created; asked now and then.
fn seems_endless<S: System>(trace: &[S::Transition]) -> bool {
    let Some(last) = trace.last().filter(|_| trace.len() >= ENDLESS && trace.len().is_multiple_of(128))
    else {
        return false;
    };
    let own = trace.iter().rev().filter(|step| S::process(step) == S::process(last)).map(S::headway);
    let in_vain = own.take_while(|&headway| headway != Headway::Made).filter(|&it| it == Headway::InVain);
    let created = trace.iter().filter(|step| S::headway(step) == Headway::Creates);
    in_vain.count() >= ENDLESS || created.count() >= ENDLESS
}

/// So many steps of one execution are taken to see whether processes are created without end.
const PROBED: usize = 8 * ENDLESS;

/// An exploration under way.
pub(crate) struct Session<'s, 'a, S: System> {
    pub(crate) system: &'s mut S,
    options: Options<'a, S>,
    pub(crate) progress: Progress,
    found: BTreeMap<S::Violation, Vec<S::Step>>,
    /// The schedule of the first execution that was cut.
    cut_schedule: Option<Vec<S::Step>>,
    /// The program did not do again what it did before.
    divergence: Option<Divergence>,
    /// Whether an execution was repeated to see whether it is the same.
    repeated: bool,
    /// What is possible after a replay.
    possible: Vec<S::Transition>,
    /// Whether something was left out.
    pub(crate) bounded: bool,
}

impl<'s, 'a, S: System> Session<'s, 'a, S> {
    pub(crate) fn new(system: &'s mut S, options: Options<'a, S>) -> Self {
        system.reset();
        let mut session = Self {
            system,
            options,
            progress: Progress::default(),
            found: BTreeMap::new(),
            cut_schedule: None,
            divergence: None,
            repeated: false,
            possible: Vec::new(),
            bounded: false,
        };
        // Some fail before anything has happened.
        for index in 0..session.system.violation_count() {
            session.record(session.system.violation(index), &[]);
        }
        session
    }

    /// Does a step. Breaks if what it did ends the exploration.
    pub(crate) fn execute(&mut self, step: S::Step, trace: &mut Vec<S::Transition>) -> ControlFlow<(), ()> {
        let before = self.system.violation_count();
        trace.push(self.system.execute(step));
        self.progress.transitions += 1;
        let after = self.system.violation_count();
        for index in before..after {
            self.record(self.system.violation(index), trace);
        }
        // An execution may be endless: somebody looks at it now and then.
        self.look(self.progress.transitions.is_multiple_of(STEPS_BETWEEN_LOOKS), trace.len())?;
        self.go_on()
    }

    /// Lets the watcher look, if it is time to, at an execution of so many steps.
    pub(crate) fn look(&mut self, is_time: bool, steps: usize) -> ControlFlow<()> {
        if !is_time && !self.options.due.as_ref().is_some_and(|due| due()) {
            return ControlFlow::Continue(());
        }
        self.progress.depth = self.progress.depth.max(steps);
        if self.options.watcher.as_mut().is_some_and(|watcher| watcher(&self.progress).is_break()) {
            self.bounded = true;
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Goes back to the start and repeats what was done, after which `next` was possible. Breaks if it is not as it was.
    pub(crate) fn replay(&mut self, trace: &[S::Transition], next: &[S::Transition]) -> ControlFlow<()> {
        self.system.reset();
        for taken in trace {
            let again = self.repeat(taken)?;
            if again != *taken {
                return self.diverge(taken, Some(&again));
            }
        }
        let mut possible = std::mem::take(&mut self.possible);
        possible.clear();
        self.system.enabled(&mut possible);
        for expected in next {
            if !possible.contains(expected) {
                let instead = possible.iter().find(|other| S::process(other) == S::process(expected));
                return self.diverge(expected, instead);
            }
        }
        self.possible = possible;
        ControlFlow::Continue(())
    }

    /// Does a step again that was done before.
    pub(crate) fn repeat(&mut self, taken: &S::Transition) -> ControlFlow<(), S::Transition> {
        if !self.system.can_repeat(taken) {
            self.diverge(taken, None)?;
        }
        self.progress.transitions += 1;
        let again = self.system.execute(S::step(taken));
        self.look(false, 0)?;
        ControlFlow::Continue(again)
    }

    fn diverge(&mut self, taken: &S::Transition, instead: Option<&S::Transition>) -> ControlFlow<()> {
        self.divergence = Some(self.system.divergence(taken, instead));
        ControlFlow::Break(())
    }

    /// Whether an execution of this length is cut here; then it is counted as such.
    pub(crate) fn is_cut(&mut self, trace: &[S::Transition]) -> bool {
        let is_long = self.options.depth.is_some_and(|depth| trace.len() >= depth);
        let cut = is_long || self.options.cuts_endless && seems_endless::<S>(trace);
        if cut {
            self.cut(trace);
        }
        cut
    }

    fn cut(&mut self, trace: &[S::Transition]) {
        self.bounded = true;
        self.progress.cut += 1;
        self.cut_schedule.get_or_insert_with(|| trace.iter().map(S::step).collect());
        self.progress.depth = self.progress.depth.max(trace.len());
    }

    /// Follows one execution, in which each process has its turn, to see whether more and more are created: in breadth, and where
    /// many states lie side by side, no search would come to the end of it. Then it is counted as cut. These steps are not counted.
    pub(crate) fn creates_for_ever(&mut self) -> bool {
        if !self.options.cuts_endless {
            return false;
        }
        self.system.reset();
        let mut created = 0;
        let trace = in_turn(self.system, |trace| {
            created += usize::from(trace.last().is_some_and(|step| S::headway(step) == Headway::Creates));
            trace.len() < PROBED && created < ENDLESS
        });
        if created == ENDLESS {
            self.cut(&trace);
        }
        created == ENDLESS
    }

    /// Nothing may happen any more: the execution is complete.
    pub(crate) fn complete(&mut self, trace: &[S::Transition]) -> ControlFlow<()> {
        self.progress.executions += 1;
        self.progress.depth = self.progress.depth.max(trace.len());
        if let Some(visitor) = &mut self.options.visitor {
            visitor(self.system, trace);
        }
        for violation in self.system.at_end(&mut trace.iter().map(S::step)) {
            self.record(violation, trace);
        }
        self.go_on()?;
        self.repeat_first(trace)
    }

    /// Does the first execution again before the search goes on: a program that is not the same twice is no program to
    /// explore. These steps are not counted.
    fn repeat_first(&mut self, trace: &[S::Transition]) -> ControlFlow<()> {
        if std::mem::replace(&mut self.repeated, true) {
            return ControlFlow::Continue(());
        }
        let often = (REPEATED_STEPS / trace.len().max(1)).clamp(1, REPEATS);
        let counted = self.progress.transitions;
        for _ in 0..often {
            self.system.reset();
            for taken in trace {
                let again = self.repeat(taken)?;
                // What was learned of the program meanwhile makes a step another one, but does not make it ask for anything else.
                let is_alike = || match self.system.divergence(taken, Some(&again)) {
                    Divergence::Actor { asked: Some(asked), before, .. } => asked == before,
                    _ => false,
                };
                if again != *taken && !is_alike() {
                    return self.diverge(taken, Some(&again));
                }
            }
        }
        self.progress.transitions = counted;
        ControlFlow::Continue(())
    }

    /// All begins anew, with a better knowledge of the program; what was found was found.
    pub(crate) fn restart(&mut self) {
        let Progress { transitions, depth, .. } = self.progress;
        self.progress = Progress { transitions, depth, ..Progress::default() };
        self.cut_schedule = None;
        self.system.reset();
    }

    /// Whether another execution may begin, of those that remain.
    pub(crate) fn begin(&mut self) -> ControlFlow<()> {
        self.go_on()?;
        if self.options.executions.is_some_and(|most| self.progress.executions + self.progress.cut >= most) {
            self.bounded = true;
            return ControlFlow::Break(());
        }
        let runs = self.progress.executions + self.progress.cut + self.progress.redundant;
        self.look(runs.is_multiple_of(EXECUTIONS_BETWEEN_LOOKS), 0)
    }

    pub(crate) fn record(&mut self, violation: S::Violation, trace: &[S::Transition]) {
        if !self.found.keys().any(|other| violation.is_told_by(other)) {
            self.found.insert(violation, trace.iter().map(S::step).collect());
        }
    }

    pub(crate) fn go_on(&self) -> ControlFlow<()> {
        if self.found.is_empty() || self.options.all {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    }

    /// What was found.
    pub(crate) fn conclude(mut self) -> Found<S> {
        // What such a condition said is not known to be so.
        if let Some(condition) = self.system.unsteady() {
            self.divergence = Some(Divergence::Condition(condition));
        }
        self.bounded |= self.divergence.is_some();
        self.progress.exhausted = !self.bounded && self.go_on().is_continue();
        if let Some(report) = self.options.report {
            *report = self.progress;
        }
        Exploration {
            verdict: Verdict::of(self.found.keys(), !self.bounded),
            executions: self.progress.executions,
            transitions: self.progress.transitions,
            found: self.found.into_iter().collect(),
            cut: self.progress.cut,
            cut_schedule: self.cut_schedule,
            divergence: self.divergence,
        }
    }
}
