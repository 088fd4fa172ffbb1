//! Checking: which search, with which bounds.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use simurgh_search::liveness::Fairness;
use simurgh_search::space::{Seen, Seen as Progress, StateSpace};
use simurgh_search::{Options, bfs, dfs, dpor, optimal, pct, random, source, states};
use simurgh_watchdog::{PATIENCE, Stop, ValuePanic, apart};

use crate::actor::Data;
use crate::local;
use crate::model::Model;
use crate::property::Mode;
use crate::report::{Report, Verdict};
use crate::session::{Limits, Session};
use crate::stepping::{self, Explored, Stepping};
use crate::system::System;

/// How many walks there are where nobody says.
const WALKS: u64 = 10_000;

/// How long a walk is at most where nobody says.
const WALK_DEPTH: usize = 1_000;

/// A search that is about to begin.
#[must_use]
pub struct Checker<'a> {
    system: &'a Model,
    limits: Limits,
    stop: Option<Stop<'a, Seen>>,
    patience: Duration,
    fairness: Fairness,
    local: local::Options,
    executions_max: Option<u64>,
}

impl<M: Data> System<M> {
    /// Goes on to checking it.
    pub fn checker(&self) -> Checker<'_> {
        Checker {
            system: &self.model,
            limits: Limits { states_max: u64::MAX, depth_max: usize::MAX, workers: 1, stop: None },
            stop: None,
            patience: PATIENCE,
            fairness: Fairness::default(),
            local: local::Options::default(),
            executions_max: None,
        }
    }
}

impl<'a> Checker<'a> {
    /// Ends the search after so many distinct states.
    pub fn states_max(mut self, states: u64) -> Self {
        self.limits.states_max = states;
        self
    }

    /// Ends a search that goes through executions one by one after so many.
    pub fn executions_max(mut self, executions: u64) -> Self {
        self.executions_max = Some(executions);
        self
    }

    /// Goes no further than so many steps from the start; local search: than so many steps of each actor. Executions that partial order
    /// reductions cut there stand for others: what lies within the bound may need a larger one to be found.
    pub fn depth_max(mut self, steps: usize) -> Self {
        self.limits.depth_max = steps;
        self
    }

    /// Asks from time to time whether to end the search: for a clock, or for an interrupt. It ends within a second then, whatever it does.
    pub fn stop_when(mut self, stop: impl FnMut(&Progress) -> bool + 'a) -> Self {
        self.stop = Some(Box::new(stop));
        self
    }

    /// Gives up on a handler, a condition, a boundary, a history, or a `Clone`, `Debug`, `Drop`, `Eq` or `Hash` of a value that has not
    /// come back for so long: 10 s unless said otherwise, `Duration::MAX` for never. The report says which ([`Report::stuck`]); the thread that runs it is left behind.
    pub fn stuck_after(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Lets breadth-first search use several threads. What it finds is the same for any number.
    pub fn workers(mut self, workers: usize) -> Self {
        self.limits.workers = workers.max(1);
        self
    }

    /// Says what can be relied on where `eventually` is concerned.
    pub fn fairness(mut self, fairness: Fairness) -> Self {
        self.fairness = fairness;
        self
    }

    /// Says how local search goes about it.
    pub fn local_options(mut self, options: local::Options) -> Self {
        self.local = options;
        self
    }

    /// Looks at all global states, the nearest first: a counterexample is one of the shortest there are.
    pub fn bfs(self) -> Report {
        self.global("bfs", |session| bfs::search(session))
    }

    /// Looks at all global states in depth: in less memory, with longer counterexamples.
    pub fn dfs(self) -> Report {
        self.global("dfs", |session| states::search(session))
    }

    /// Looks at the local states of each actor by themselves, and verifies what seems to be wrong (LMC-OPT).
    pub fn local(self) -> Report {
        self.locally("local", local::Mode::Opt)
    }

    /// The same, but builds the product of the local states to look at every property (LMC-GEN).
    pub fn local_gen(self) -> Report {
        self.locally("local-gen", local::Mode::Gen)
    }

    /// Goes through executions one by one, one for each Mazurkiewicz trace: each order of the steps that depend on each other (optimal
    /// dynamic partial order reduction). It needs hardly any memory, but comes to an end only where every execution does: bound it by
    /// [`depth_max`](Self::depth_max) where timers are set again and again.
    pub fn optimal(self) -> Report {
        self.stepwise("optimal", false, |system, options| optimal::explore(system, options))
    }

    /// The same by source sets: a few more executions, less work for each.
    pub fn source(self) -> Report {
        self.stepwise("source", false, |system, options| source::explore(system, options))
    }

    /// The same by persistent sets (Flanagan and Godefroid, POPL 2005): often many more executions.
    pub fn dpor(self) -> Report {
        self.stepwise("dpor", false, |system, options| dpor::explore(system, options))
    }

    /// Goes through every interleaving, one by one: the exhaustive reference engine of the three before.
    pub fn interleavings(self) -> Report {
        self.stepwise("interleavings", false, |system, options| dfs::explore(system, options))
    }

    /// Walks at random, 10,000 times unless [`executions_max`](Self::executions_max) says otherwise: for what is too large to exhaust.
    pub fn random(self, seed: u64) -> Report {
        self.stepwise("random", true, move |system, options| random::explore(system, seed, options))
    }

    /// Walks with random priorities (probabilistic concurrency testing), for a bug that needs `depth` ordered steps.
    pub fn pct(self, seed: u64, depth: u32) -> Report {
        self.stepwise("pct", true, move |system, options| pct::explore(system, seed, depth, options))
    }

    fn stepwise(
        mut self,
        name: &'static str,
        is_walk: bool,
        explore: impl for<'s, 'b> FnOnce(&mut Stepping<'s, 'b>, Options<'_, Stepping<'s, 'b>>) -> Explored
        + Send
        + 'static,
    ) -> Report {
        if is_walk {
            self.executions_max.get_or_insert(WALKS);
            // Most protocols go on for ever.
            self.limits.depth_max = self.limits.depth_max.min(WALK_DEPTH);
        }
        let executions_max = self.executions_max;
        self.search(name, move |session| stepping::search(session, is_walk, executions_max, explore))
    }

    fn locally(self, name: &'static str, mode: local::Mode) -> Report {
        let options = self.local.clone();
        self.search(name, move |session| local::search(session, options, mode))
    }

    fn global(self, name: &'static str, search: fn(&mut Session<'_>) -> Seen) -> Report {
        let fairness = self.fairness;
        self.search(name, move |session| {
            let seen = search(session);
            session.report.note_seen(seen);
            if !session.wants_more() {
                return;
            }
            for (at, property) in session.system.properties.iter().enumerate() {
                let goes_on = session.cut.is_none() && session.report.verdict != Verdict::CannotRun;
                if property.mode == Mode::Eventually && goes_on {
                    session.search_eventually(at, fairness);
                }
            }
        })
    }

    /// Runs a search on a thread of its own, since code of a user may never come back.
    fn search(self, name: &'static str, search: impl FnOnce(&mut Session<'_>) + Send + 'static) -> Report {
        if let Some(mistake) = self.system.mistake() {
            return Report::cannot_run(name, mistake);
        }
        let (system, mut limits) = (self.system.clone(), self.limits);
        let names = system.properties.iter().map(|property| property.name.clone()).collect();
        let is_asked = self.stop.is_some();
        let done = apart(self.patience, names, self.stop, move |asker| {
            limits.stop = is_asked.then_some(asker);
            let run = || {
                let mut session = Session::new(&system, limits, name);
                if session.wants_more() {
                    search(&mut session);
                }
                session.finish()
            };
            catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| match panic.downcast::<ValuePanic>() {
                Ok(value) => Report::cannot_run(name, value.to_string()),
                Err(panic) => resume_unwind(panic),
            })
        });
        done.unwrap_or_else(|left| Report::new(name, &self.system.properties).left_behind(left))
    }
}
