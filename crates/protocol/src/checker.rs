//! Checking: which search, with which bounds.

use simurgh_search::liveness::Fairness;
use simurgh_search::space::{Seen, StateSpace};
use simurgh_search::{bfs, states};

use crate::actor::Data;
use crate::limits::{Limits, Progress};
use crate::local;
use crate::property::Mode;
use crate::report::{Report, Verdict};
use crate::session::Session;
use crate::system::System;

/// A search that is about to begin.
pub struct Checker<'a, M> {
    pub(crate) system: &'a System<M>,
    pub(crate) limits: Limits<'a>,
    pub(crate) workers: usize,
    pub(crate) fairness: Fairness,
    pub(crate) local: local::Options,
}

impl<M: Data> System<M> {
    /// Goes on to checking it.
    pub fn checker(&self) -> Checker<'_, M> {
        Checker::new(self)
    }
}

impl<'a, M: Data> Checker<'a, M> {
    pub(crate) fn new(system: &'a System<M>) -> Self {
        Self {
            system,
            limits: Limits { states_max: u64::MAX, depth_max: usize::MAX, stop: None },
            workers: 1,
            fairness: Fairness::default(),
            local: local::Options::default(),
        }
    }

    /// Ends the search after so many distinct states.
    #[must_use]
    pub fn states_max(mut self, states: u64) -> Self {
        self.limits.states_max = states;
        self
    }

    /// Goes no further than so many steps from the start.
    #[must_use]
    pub fn depth_max(mut self, steps: usize) -> Self {
        self.limits.depth_max = steps;
        self
    }

    /// Asks from time to time whether to end the search: for a clock, or for an interrupt.
    #[must_use]
    pub fn stop_when(mut self, stop: impl FnMut(&Progress) -> bool + 'a) -> Self {
        self.limits.stop = Some(Box::new(stop));
        self
    }

    /// Lets breadth-first search use several threads. What it finds is the same for any number.
    #[must_use]
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers.max(1);
        self
    }

    /// Says what can be relied on where `eventually` is concerned.
    #[must_use]
    pub fn fairness(mut self, fairness: Fairness) -> Self {
        self.fairness = fairness;
        self
    }

    /// Says how local search goes about it.
    #[must_use]
    pub fn local_options(mut self, options: local::Options) -> Self {
        self.local = options;
        self
    }

    /// Looks at all global states, the nearest first: a counterexample is one of the shortest there are.
    #[must_use = "the report says what was found; `assert_holds` asserts that it is nothing"]
    pub fn bfs(self) -> Report {
        self.global("bfs", bfs::search)
    }

    /// Looks at all global states in depth: in less memory, with longer counterexamples.
    #[must_use = "the report says what was found; `assert_holds` asserts that it is nothing"]
    pub fn dfs(self) -> Report {
        self.global("dfs", states::search)
    }

    /// Looks at the local states of each actor by themselves, and verifies what seems to be wrong (LMC-OPT).
    #[must_use = "the report says what was found; `assert_holds` asserts that it is nothing"]
    pub fn local(self) -> Report {
        self.locally("local", local::Mode::Opt)
    }

    /// The same, but makes all system states to look at every property (LMC-GEN).
    #[must_use = "the report says what was found; `assert_holds` asserts that it is nothing"]
    pub fn local_gen(self) -> Report {
        self.locally("local-gen", local::Mode::Gen)
    }

    fn locally(self, name: &'static str, mode: local::Mode) -> Report {
        if let Some(mistake) = self.system.mistake() {
            return Report::cannot_run(name, mistake);
        }
        local::search(Session::new(self.system, self.limits, name), &self.local, mode)
    }

    fn global(self, name: &'static str, search: impl FnOnce(&mut Session<'a, M>) -> Seen) -> Report {
        if let Some(mistake) = self.system.mistake() {
            return Report::cannot_run(name, mistake);
        }
        let mut session = Session::new(self.system, self.limits, name);
        session.workers = self.workers;
        if session.wants_more() {
            let seen = search(&mut session);
            session.note(seen);
        }
        if session.wants_more() {
            for (at, property) in self.system.properties.iter().enumerate() {
                let goes_on = session.cut.is_none() && session.report.verdict != Verdict::CannotRun;
                if property.mode == Mode::Eventually && goes_on {
                    session.search_eventually(at, self.fairness);
                }
            }
        }
        session.finish()
    }
}
