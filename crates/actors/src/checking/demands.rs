//! What is asked of a program, and whether an engine may be used for it: what each engine is sound and complete for.
//!
//! A reduction leaves executions out because others stand for them, as long as nothing is asked that those others would answer
//! differently. One execution for each Mazurkiewicz trace (all orders of the steps with the same happens-before relation) is enough for
//! all that dependence knows of. One execution for each reads-from equivalence class (who received what; a *way to receive* for short)
//! stands for all traces in which the messages are received so: what looks at several actors at once is lost.

use std::fmt;

use simurgh_explore::Engine;

use super::{Options, Subject};

/// What may be asked of a program.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Property {
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

/// What is asked of a program.
fn demands(subject: &Subject<'_>, options: &Options) -> Vec<Property> {
    let mut asked = vec![Property::Assertions, Property::Deadlocks];
    if !subject.invariants().is_empty() {
        asked.push(Property::Invariants);
    }
    if options.deterministic.is_some() {
        asked.push(Property::Determinism);
    }
    if !options.faults.is_none() {
        asked.push(Property::UnreliableNetwork);
    }
    asked
}

/// Why another engine is used than the one that was asked for, in a line; nothing if there is no need.
pub(super) fn refinement(subject: &Subject<'_>, options: &Options) -> Option<String> {
    let wanted: Engine = options.engine;
    let (engine, lost) = refined(wanted, &demands(subject, options));
    lost.map(|lost| {
        format!("the engine {wanted} is not sound and complete for {lost}; exploring with {engine} instead")
    })
}

/// Whether an engine is sound and complete for a property: what it leaves out can make no difference to it. Walks leave nothing out for a
/// reason: they prove nothing, whatever the property, and mistake nothing.
fn preserves(engine: Engine, property: Property) -> bool {
    match (engine, property) {
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

/// The engine to use where all these properties are asked: this one, or the best that is sound and complete for them, with the first
/// property that it is not sound and complete for itself.
fn refined(engine: Engine, asked: &[Property]) -> (Engine, Option<Property>) {
    match asked.iter().find(|&&property| !preserves(engine, property)) {
        Some(&lost) => (Engine::Optimal, Some(lost)),
        None => (engine, None),
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
            let lost: Vec<_> = ALL.into_iter().filter(|&property| !preserves(engine, property)).collect();
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
        assert_eq!(refined(Engine::Receives, &asked), (Engine::Optimal, Some(Property::Invariants)));
        assert_eq!(refined(Engine::Receives, &asked[..1]), (Engine::Receives, None));
        assert_eq!(refined(Engine::Source, &asked), (Engine::Source, None));
        // What it is refined to is enough for all that was asked.
        for engine in Engine::ALL {
            let (refined, _) = refined(engine, &ALL);
            assert!(ALL.into_iter().all(|property| preserves(refined, property)));
        }
    }
}
