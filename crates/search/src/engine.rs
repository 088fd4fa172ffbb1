//! The engines, and what each needs of a system.

use std::fmt;

/// The ways to explore.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Engine {
    /// One execution for each reads-from equivalence class: it needs more than a system.
    Receives,
    /// One execution for each Mazurkiewicz trace: [`optimal`](mod@crate::optimal).
    Optimal,
    /// The same, and some that are sleep-set blocked: [`source`](mod@crate::source).
    Source,
    /// Many more: [`dpor`](mod@crate::dpor).
    Dpor,
    /// All of them: [`dfs`](mod@crate::dfs).
    Dfs,
    /// Every state once, in depth: [`states`](mod@crate::states).
    States,
    /// Every state once, the nearest first: [`bfs`](mod@crate::bfs).
    Bfs,
    /// Some of them, at random: [`random`](mod@crate::random).
    Random,
    /// Some of them, at random: [`pct`](mod@crate::pct).
    Pct,
}

/// What a system may offer to engines.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Offer {
    /// What may happen next, step by step.
    Steps,
    /// Which steps depend on each other.
    Independence,
    /// Fingerprints of states.
    StateKeys,
    /// States that come again, so that what goes on for ever is a cycle.
    Cycles,
    /// Who posts what where, and who met whom.
    ReadsFrom,
    /// The states of each actor by themselves.
    LocalStates,
}

/// Searches beside the [engines](Engine) that are chosen by name: what each is called, what it needs, and what it is for.
pub const OTHERS: [(&str, &[Offer], &str); 2] = [
    (
        "liveness",
        &[Offer::StateKeys, Offer::Cycles],
        "a maximal finite path or a lasso without a goal; fairness",
    ),
    ("local", &[Offer::LocalStates], "local states that coexist, combined"),
];

impl Engine {
    /// All of them.
    pub const ALL: [Engine; 9] = {
        use Engine::*;
        [Receives, Optimal, Source, Dpor, Dfs, States, Bfs, Random, Pct]
    };

    /// What it is called, what it needs of a system, and what it goes through.
    pub fn facts(self) -> (&'static str, &'static [Offer], &'static str) {
        const STEPS: &[Offer] = &[Offer::Steps];
        const REDUCED: &[Offer] = &[Offer::Steps, Offer::Independence];
        const STATES: &[Offer] = &[Offer::Steps, Offer::StateKeys];
        match self {
            Engine::Receives => {
                ("receives", &[Offer::ReadsFrom], "one execution for each reads-from equivalence class")
            }
            Engine::Optimal => ("optimal", REDUCED, "one execution for each Mazurkiewicz trace"),
            Engine::Source => ("source", REDUCED, "the same, and some that are sleep-set blocked"),
            Engine::Dpor => ("dpor", REDUCED, "the same, and often many more"),
            Engine::Dfs => ("dfs", STEPS, "every execution"),
            Engine::States => ("states", STATES, "every state once, in depth (visited-state search)"),
            Engine::Bfs => ("bfs", STATES, "every state once, the nearest first"),
            Engine::Random => ("random", STEPS, "some executions, at random"),
            Engine::Pct => ("pct", STEPS, "some executions, by random priorities"),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts().0)
    }
}
