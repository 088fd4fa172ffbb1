//! The engines, what each needs of a system, and what each is sound and complete for: which may be used for what.
//!
//! A reduction leaves executions out because others stand for them, as long as nothing is asked that those others would answer
//! differently. One execution for each Mazurkiewicz trace (all orders of the steps with the same happens-before relation) is enough for
//! all that dependence knows of. One execution for each reads-from equivalence class (who received what; a *way to receive* for short)
//! stands for all traces in which the messages are received so: what looks at several actors at once is lost.

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

impl fmt::Display for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Offer::Steps => "steps",
            Offer::Independence => "independence",
            Offer::StateKeys => "state fingerprints",
            Offer::Cycles => "cycles",
            Offer::ReadsFrom => "reads-from",
            Offer::LocalStates => "local states",
        })
    }
}

/// Searches beside the [engines](Engine) that are chosen by name: what each is called, what it needs, and what it is for.
const OTHERS: [(&str, &[Offer], &str); 2] = [
    (
        "liveness",
        &[Offer::StateKeys, Offer::Cycles],
        "a maximal finite path or a lasso without a goal; fairness",
    ),
    ("local", &[Offer::LocalStates], "local states that coexist, combined"),
];

/// A table of all engines, in Markdown: what each needs of a system, and which systems offer that.
pub fn table(systems: &[(&str, &[Offer])]) -> String {
    let names: Vec<&str> = systems.iter().map(|(name, _)| *name).collect();
    let mut text = format!("| engine | goes through | needs | {} |\n", names.join(" | "));
    text += &format!("|{}\n", " --- |".repeat(3 + systems.len()));
    for (name, needs, what) in Engine::ALL.into_iter().map(Engine::facts).chain(OTHERS) {
        let offered = |(_, offers): &(&str, &[Offer])| {
            if needs.iter().all(|need| offers.contains(need)) { "yes" } else { "no" }
        };
        let offered: Vec<&str> = systems.iter().map(offered).collect();
        let needs: Vec<String> = needs.iter().map(ToString::to_string).collect();
        text += &format!("| `{name}` | {what} | {} | {} |\n", needs.join(", "), offered.join(" | "));
    }
    text
}

/// What may be asked of a program.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Property {
    /// Does an actor ever find something wrong with its own state?
    Assertions,
    /// Do actors ever wait for ever?
    Deadlocks,
    /// Does something ever fail to hold of what several actors expose?
    Invariants,
    /// Does every actor send, or receive, the same in all executions?
    Determinism,
    /// All of these, where messages may be lost or arrive twice.
    UnreliableNetwork,
}

impl Engine {
    /// All of them.
    pub const ALL: [Engine; 9] = {
        use Engine::*;
        [Receives, Optimal, Source, Dpor, Dfs, States, Bfs, Random, Pct]
    };

    /// What it is called, what it needs of a system, and what it goes through.
    fn facts(self) -> (&'static str, &'static [Offer], &'static str) {
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

    /// Whether it is sound and complete for a property: what it leaves out can make no difference to it. Walks leave nothing out for a reason: they prove
    /// nothing, whatever the property, and mistake nothing.
    pub fn preserves(self, property: Property) -> bool {
        match (self, property) {
            // Its graph of who received what has no order of steps of unrelated actors, nor messages that are lost, or received
            // twice. Its reduction is enough for determinism: what an actor sends depends on what it received. But it keeps
            // no record of an execution that could be compared with others.
            (Engine::Receives, asked) => {
                !matches!(asked, Property::Invariants | Property::Determinism | Property::UnreliableNetwork)
            }
            // An execution is given up where it comes to a state that was seen, and is not compared with others.
            (Engine::States | Engine::Bfs, asked) => asked != Property::Determinism,
            (Engine::Optimal | Engine::Source | Engine::Dpor | Engine::Dfs, _) => true,
            (Engine::Random | Engine::Pct, _) => true,
        }
    }

    /// The engine to use where all these properties are asked: itself, or the best that is sound and complete for them, with the first
    /// property that it is not sound and complete for itself.
    pub fn refined(self, asked: &[Property]) -> (Engine, Option<Property>) {
        match asked.iter().find(|&&property| !self.preserves(property)) {
            Some(&lost) => (Engine::Optimal, Some(lost)),
            None => (self, None),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts().0)
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Property::Assertions => "assertions",
            Property::Deadlocks => "deadlocks",
            Property::Invariants => "invariants over several actors",
            Property::Determinism => "communication determinism",
            Property::UnreliableNetwork => "messages that are lost or arrive twice",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Property; 5] = {
        use Property::*;
        [Assertions, Deadlocks, Invariants, Determinism, UnreliableNetwork]
    };

    #[test]
    fn what_stands_for_others_is_too_little_for_some_properties() {
        // Invariants, determinism, and networks that lose messages.
        for engine in Engine::ALL {
            let lost: Vec<_> = ALL.into_iter().filter(|&property| !engine.preserves(property)).collect();
            match engine {
                Engine::Receives => assert_eq!(lost, ALL[2..]),
                Engine::States | Engine::Bfs => assert_eq!(lost, [Property::Determinism]),
                _ => assert_eq!(lost, []),
            }
        }
    }

    #[test]
    fn an_engine_is_refined_only_where_it_must_be() {
        let asked = [Property::Assertions, Property::Invariants];
        assert_eq!(Engine::Receives.refined(&asked), (Engine::Optimal, Some(Property::Invariants)));
        assert_eq!(Engine::Receives.refined(&asked[..1]), (Engine::Receives, None));
        assert_eq!(Engine::Source.refined(&asked), (Engine::Source, None));
        // What it is refined to is enough for all that was asked.
        for engine in Engine::ALL {
            let (refined, _) = engine.refined(&ALL);
            assert!(ALL.into_iter().all(|property| refined.preserves(property)));
        }
    }
}
