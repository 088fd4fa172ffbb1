//! Two explorations of the same local states take turns: without causal histories, and with them (see `causal_history`).
//!
//! Neither is better in general. Without causal histories there are fewer states, if there is an end; with them there is an end more
//! often. Each goes on until it has some times as many states as the other had, so that what is lost on the wrong one
//! is not much more than what the right one takes.

use crate::local::Options;
use crate::local::graph::Graph;
use crate::report::Report;
use crate::session::Session;

/// How many more states there may be with causal histories before it is the turn of the other.
const MORE: usize = 8;

pub(crate) struct Dovetail {
    options: Options,
    without: Graph,
    with: Option<Graph>,
    is_with: bool,
    /// How many states there may be in this turn.
    states_max: usize,
}

impl Dovetail {
    pub(crate) fn new(session: &Session<'_>, options: Options) -> Self {
        let without = Graph::new(session, &options, false);
        // Causal histories tell which states can coexist, and nothing else.
        let states_max = if options.coexistence { options.causal_histories_from } else { usize::MAX };
        Self { options, without, with: None, is_with: false, states_max }
    }

    /// Whose turn it is, and how many states it may come to.
    pub(crate) fn next(&mut self, session: &Session<'_>) -> (&mut Graph, usize) {
        if self.current().states > self.states_max {
            self.is_with = !self.is_with;
            if self.is_with {
                self.states_max = self.states_max.max(1).saturating_mul(MORE);
                self.with.get_or_insert_with(|| Graph::new(session, &self.options, true));
            }
        }
        if self.current().crowded {
            // Coexistence is not known any more, which causal histories could refine.
            (self.is_with, self.states_max) = (false, usize::MAX);
        }
        let graph = self.with.as_mut().filter(|_| self.is_with).unwrap_or(&mut self.without);
        (graph, self.states_max)
    }

    fn current(&self) -> &Graph {
        self.with.as_ref().filter(|_| self.is_with).unwrap_or(&self.without)
    }

    /// What there is to say of both.
    pub(crate) fn report(&self, report: &mut Report) {
        let graph = self.current();
        let both = std::iter::once(&self.without).chain(&self.with);
        report.transitions = both.map(|graph| graph.transitions).sum();
        report.states = graph.states as u64;
        report.depth = graph.progress().depth;
        if graph.crowded && report.note.is_none() {
            report.note = Some("coexistence was given up, since there are many local states".into());
        }
    }
}
