//! A protocol as a system of steps: what partial order reductions and walks see of it.
//!
//! Every message on its way is a process that takes one step: it arrives, or is lost. Timers, crashes and recoveries are steps of
//! their actor. Two steps depend on each other if they concern the same actor, if one sends what the other receives, or if something
//! that is asked for could see their order: both change what a condition on several actors looks at, or both are told to the
//! history. A crash depends on everything, since only so many may be down; and where there is a boundary, so does every step. A message
//! that has no effect where it arrives counts as received, or its race with what was done before would not be seen; for conditions it is
//! still on its way, as in a search over states.

use std::ops::ControlFlow;

use simurgh_search::space::{Lasso, Seen, StateSpace, Steps};
use simurgh_search::verdict::{Exploration, Finding, Verdict};
use simurgh_search::{Options, Progress as Went, Reversal, System};

use crate::model::Model;
use crate::network::Network;
use crate::property::{Kind, Mode, Property};
use crate::report::count;
use crate::session::{Decided, Session};
use crate::space::{CRASH, Move, TIMEOUT};
use crate::successors::Successors;

/// The process that chooses in which state the system starts.
const START: u64 = 1 << 62;
/// The mark of processes that are messages.
const MESSAGE: u64 = 1 << 63;
/// The number of events that stands for before the first.
const BEFORE: u32 = (1 << 28) - 1;

/// How a transition is written: whose it is, and what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Step {
    process: u64,
    what: Move,
}

/// A step, and all that its dependence on others needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transition {
    step: Step,
    /// Whom it concerns.
    actor: u32,
    /// How many events that one had before.
    number: u32,
    /// Which event of which actor sent the message that arrives or is lost.
    cause: Option<(u32, u32)>,
    /// Whether it changes what conditions on several actors look at.
    is_visible: bool,
    /// Whether it is told to the history.
    is_told: bool,
    /// Whether it depends on everything.
    on_all: bool,
}

/// A message on its way.
#[derive(Clone, Copy)]
struct Flying {
    process: u64,
    cause: (u32, u32),
    envelope: u32,
    /// It had no effect where it arrived: all that can become of it is to be lost.
    is_ignored: bool,
}

/// A system that goes step by step.
pub(crate) struct Stepping<'s, 'a> {
    session: &'s mut Session<'a>,
    start: Option<usize>,
    state: Vec<u32>,
    flying: Vec<Flying>,
    /// How many events each actor had.
    events: Vec<u32>,
    /// The steps since the start that had an effect, and the states in which they were made.
    way: Vec<(Vec<u32>, Move)>,
    /// What comes after the present state, if that is known.
    next: Option<Successors>,
    /// The starts within the boundary, and whether each was looked at.
    starts: Vec<(usize, bool)>,
    found: Vec<Decided>,
}

impl Finding for Decided {
    fn verdict(&self) -> Verdict {
        Verdict::Violated
    }
}

impl<'s, 'a> Stepping<'s, 'a> {
    pub(crate) fn new(session: &'s mut Session<'a>) -> Self {
        let all = session.starts.clone();
        let inside = (0..all.len()).filter(|start| session.is_within(&all[*start]));
        let starts = inside.map(|start| (start, false)).collect();
        Self {
            session,
            start: None,
            state: Vec::new(),
            flying: Vec::new(),
            events: Vec::new(),
            way: Vec::new(),
            next: None,
            starts,
            found: Vec::new(),
        }
    }

    fn begin(&mut self, start: usize) {
        self.start = Some(start);
        self.state.clone_from(&self.session.starts[start]);
        let envelopes = self.state[self.session.space.header()..].to_vec();
        for (index, envelope) in envelopes.into_iter().enumerate() {
            let from = self.session.space.envelopes.get(envelope).from;
            self.fly(envelope, (from, BEFORE), index);
        }
        let known = self.starts.iter_mut().find(|(inside, _)| *inside == start).expect("it is inside");
        if !std::mem::replace(&mut known.1, true) {
            self.look(None);
        }
    }

    fn fly(&mut self, envelope: u32, cause: (u32, u32), index: usize) {
        let (actor, event) = cause;
        assert!(actor < 1 << 18 && event <= BEFORE && index < 1 << 14, "fewer events than there are numbers");
        let process = MESSAGE | u64::from(actor) << 42 | u64::from(event) << 14 | index as u64;
        self.flying.push(Flying { process, cause, envelope, is_ignored: false });
    }

    /// Tells the session what the present state decides.
    fn look(&mut self, step: Option<Move>) {
        for decided in self.session.look(&self.state, step) {
            self.decide(decided);
        }
    }

    fn decide(&mut self, decided: Decided) {
        let start = self.start.expect("it has begun");
        self.session.found(decided, Lasso { start, steps: self.way.clone(), back_to: None });
        if !self.session.wants_more() {
            self.found.push(decided);
        }
    }

    /// What comes after the present state, within the boundary.
    fn successors(&mut self) -> Successors {
        if let Some(next) = self.next.take() {
            return next;
        }
        let mut next = Successors::default();
        if let Some(broken) = self.session.expand(Steps::All, &self.state, &mut next) {
            self.decide(broken);
        }
        next
    }

    /// The messages that a step may be about, by their places: more than one if they are the same.
    fn subjects(&self, step: Move) -> Vec<usize> {
        let (envelope, after) = match step {
            Move::Event { event, .. } => (event, 0),
            Move::Loss { envelope, after } => (envelope, after),
        };
        let may_be = |at: &usize| {
            let flying = self.flying[*at];
            flying.envelope == envelope && (matches!(step, Move::Loss { .. }) || !flying.is_ignored)
        };
        let all = (0..self.flying.len()).filter(may_be);
        if self.session.space.network == Network::Ordered {
            all.skip(after as usize).take(1).collect()
        } else {
            all.collect()
        }
    }

    fn transition(&mut self, step: Move, flying: Option<Flying>) -> Transition {
        let space = &self.session.space;
        let (actor, is_loss) = match step {
            Move::Event { actor, .. } => (actor, false),
            Move::Loss { envelope, .. } => (space.envelopes.get(envelope).to, true),
        };
        let process = flying.map_or(u64::from(actor), |flying| flying.process);
        let mut made = Transition {
            step: Step { process, what: step },
            actor,
            number: self.events[actor as usize],
            cause: flying.map(|flying| flying.cause),
            is_visible: false,
            is_told: false,
            on_all: matches!(step, Move::Event { event: CRASH, .. }) || self.session.system.within.is_some(),
        };
        let (before, mut after, mut moves_messages) = (self.state[actor as usize], None, is_loss);
        if let Move::Event { event, reaction, .. } = step {
            let reaction = space.reaction(reaction);
            if !reaction.is_quiet {
                let sends = space.sends(reaction);
                after = Some(reaction.local);
                moves_messages = event < TIMEOUT || !sends.is_empty();
                let arrives = (event < TIMEOUT).then_some(event);
                made.is_told = arrives.iter().chain(sends).any(|envelope| space.concerns[*envelope as usize]);
            }
        }
        made.is_visible = self.is_visible(actor as usize, before, after.unwrap_or(before), moves_messages);
        made
    }

    /// Whether a condition on several actors can see a change.
    fn is_visible(&mut self, actor: usize, before: u32, after: u32, moves_messages: bool) -> bool {
        let Session { system, space, evaluator, .. } = &mut *self.session;
        system.properties.iter().enumerate().any(|(property, asked)| match &asked.condition.kind {
            Kind::Local(_) | Kind::History(_) => false,
            Kind::World(_) => moves_messages || before != after,
            _ => {
                let mut shade = |local| evaluator.shade(property, space, (actor, local), true);
                before != after && shade(before) != shade(after)
            }
        })
    }
}

impl System for Stepping<'_, '_> {
    type Transition = Transition;
    type Step = Step;
    type Violation = Decided;
    type Snapshot = ();

    fn reset(&mut self) {
        self.flying.clear();
        self.way.clear();
        self.next = None;
        self.events.clear();
        self.events.resize(self.session.space.actors(), 0);
        self.start = None;
        if let [(only, _)] = self.starts[..] {
            self.begin(only);
        }
    }

    fn enabled(&mut self, into: &mut Vec<Transition>) {
        if self.start.is_none() {
            let what = |start: usize| Move::Loss { envelope: start as u32, after: 0 };
            into.extend(self.starts.iter().map(|&(start, _)| starting(what(start))));
            return;
        }
        let next = self.successors();
        for successor in &next.list {
            let step = successor.step;
            let is_quiet = match step {
                Move::Event { reaction, .. } => self.session.space.reaction(reaction).is_quiet,
                Move::Loss { .. } => false,
            };
            if !is_quiet && !self.session.is_within(next.state(successor)) {
                if let Some(broken) = self.session.broken_boundary() {
                    self.way.push((self.state.clone(), step));
                    self.decide(broken);
                    self.way.pop();
                }
                continue;
            }
            match step {
                // A timer that goes off for nothing and is set again may do so for ever, and nobody sees it.
                Move::Event { event, .. } if event >= TIMEOUT && is_quiet => {}
                Move::Event { event, .. } if event >= TIMEOUT => into.push(self.transition(step, None)),
                _ => {
                    for at in self.subjects(step) {
                        let flying = self.flying[at];
                        into.push(self.transition(step, Some(flying)));
                    }
                }
            }
        }
        self.next = Some(next);
    }

    fn execute(&mut self, step: Step) -> Transition {
        let Step { process, what } = step;
        if process == START {
            let Move::Loss { envelope: start, .. } = what else { unreachable!("a start is written so") };
            self.begin(start as usize);
            return starting(what);
        }
        let place = self.flying.iter().position(|flying| flying.process == process);
        let made = self.transition(what, place.map(|at| self.flying[at]));
        self.events[made.actor as usize] += 1;
        let next = self.successors();
        let successor = next.list.iter().find(|successor| successor.step == what).expect("it is possible");
        if let Move::Event { reaction, event, .. } = what {
            let reaction = self.session.space.reaction(reaction);
            if reaction.is_quiet {
                self.flying[place.expect("timers are not quiet")].is_ignored = true;
                self.next = Some(next);
                return made;
            }
            if event < TIMEOUT && self.session.space.network != Network::Duplicating {
                self.flying.remove(place.expect("it is on its way"));
            }
            for (index, envelope) in self.session.space.sends(reaction).to_vec().into_iter().enumerate() {
                self.fly(envelope, (made.actor, made.number), index);
            }
        } else {
            self.flying.remove(place.expect("it is on its way"));
        }
        let state = next.state(successor).to_vec();
        let before = std::mem::replace(&mut self.state, state);
        self.way.push((before, what));
        self.look(Some(what));
        made
    }

    fn step(transition: &Transition) -> Step {
        transition.step
    }

    fn process(transition: &Transition) -> u64 {
        transition.step.process
    }

    fn dependent(a: &Transition, b: &Transition) -> bool {
        a.actor == b.actor
            || a.on_all
            || b.on_all
            || a.is_visible && b.is_visible
            || a.is_told && b.is_told
            || sends(a, b)
            || sends(b, a)
    }

    fn reversal(first: &Transition, second: &Transition) -> Reversal {
        if sends(first, second) || first.step.process == START {
            Reversal::Never
        } else if first.actor == second.actor || first.on_all || second.on_all {
            // The other may react differently, or not at all.
            Reversal::Look
        } else {
            Reversal::Same
        }
    }

    fn disables(transition: &Transition) -> bool {
        transition.on_all
    }

    fn blocks(transition: &Transition, other: &Transition) -> bool {
        // Timers that are set now may not be set afterwards; a message arrives whatever happened before.
        transition.actor == other.actor && other.step.process & MESSAGE == 0
    }

    fn violation_count(&self) -> usize {
        self.found.len()
    }

    fn violation(&self, index: usize) -> Decided {
        self.found[index]
    }

    fn at_end(&mut self, _: &mut dyn Iterator<Item = Step>) -> Vec<Decided> {
        Vec::new()
    }
}

/// The choice of a start.
fn starting(what: Move) -> Transition {
    let step = Step { process: START, what };
    let (actor, number, cause) = (u32::MAX, 0, None);
    Transition { step, actor, number, cause, is_visible: true, is_told: true, on_all: true }
}

/// Whether a transition sends the message that another is about.
fn sends(sender: &Transition, other: &Transition) -> bool {
    other.cause == Some((sender.actor, sender.number))
}

/// What a search that goes step by step finds.
pub(crate) type Explored = Exploration<Step, Decided>;

/// What cannot be checked in this way, if there is anything.
fn refusal(system: &Model, is_walk: bool) -> Option<String> {
    let is_eventually = |property: &&Property| property.mode == Mode::Eventually;
    if let Some(Property { name, .. }) = system.properties.iter().find(is_eventually) {
        return Some(format!(
            "\"{name}\" is an eventually, which single executions cannot show: use bfs or dfs"
        ));
    }
    let for_ever = system.network == Network::Duplicating && !is_walk;
    for_ever.then(|| {
        "messages that arrive any number of times have executions without end: use bfs, dfs, local or walks".into()
    })
}

/// Goes through executions, one by one.
pub(crate) fn search<'a>(
    session: &mut Session<'a>,
    is_walk: bool,
    executions: Option<u64>,
    explore: impl for<'s> FnOnce(&mut Stepping<'s, 'a>, Options<'_, Stepping<'s, 'a>>) -> Explored,
) {
    if let Some(why) = refusal(session.system, is_walk) {
        return session.fail(why);
    }
    let depth = (session.limits.depth_max < usize::MAX).then_some(session.limits.depth_max);
    let stop = session.limits.stop.take();
    let mut went = Went::default();
    let mut stopped = false;
    let watcher = |went: &Went| {
        let Went { executions, transitions, depth, .. } = *went;
        let seen = Seen { states: executions as usize, transitions, depth };
        stopped |= stop.as_ref().is_some_and(|stop| stop.is_to_end(seen));
        if stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = Options { depth, executions, report: Some(&mut went), ..Options::default() };
    let found = explore(&mut Stepping::new(session), options.watch(watcher));
    session.report.executions = found.executions + found.cut;
    session.report.transitions = found.transitions;
    session.report.depth = went.depth;
    let seen = count(session.report.executions, if is_walk { "walk" } else { "execution" });
    let steps = count(depth.unwrap_or(0) as u64, "step");
    session.cut = (found.verdict == Verdict::NotExhausted).then(|| match found.cut {
        _ if is_walk && !stopped => format!("{seen} do not see everything"),
        cut @ 1.. if !stopped => format!("{} cut at {steps}", count(cut, "execution")),
        _ => format!("it was stopped after {seen}"),
    });
}
