//! How closely the loads and stores of processes are watched, and which of them were not.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What watching may cost, from one execution to the next.
#[derive(Debug, Default)]
pub struct Effort {
    /// How many executions have begun.
    executions: AtomicU64,
    /// Whether all executions are watched closely: something was found in one, which is to be found again.
    is_close: AtomicBool,
    /// Whether some execution was not watched, and whether one was not watched to its end.
    leaves_out: AtomicBool,
    cuts: AtomicBool,
}

/// Loads and stores that were not watched, though they might have been to memory that a communication owns, or a window.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Unwatched {
    /// Those of executions that are much like others.
    LaterExecutions,
    /// Those of a process that had executed too much in an execution.
    LongComputations,
}

impl Unwatched {
    /// What they are, in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Self::LaterExecutions => {
                "loads and stores of the program in 15 of 16 executions after the first hundred"
            }
            Self::LongComputations => {
                "loads and stores of the program after long computations while communications are not completed"
            }
        }
    }

    /// What machines call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::LaterExecutions => "later-executions",
            Self::LongComputations => "long-computations",
        }
    }
}

impl Effort {
    /// Another execution begins.
    pub fn begins_again(&self) {
        self.executions.fetch_add(1, Ordering::Relaxed);
    }

    /// The effort for each process in this execution, in instructions: 0 if it is not watched. All executions are at the beginning, and
    /// some of the later ones, which differ little from those before; the first one closely, since it may be the only one.
    pub fn allowed(&self) -> u64 {
        const CLOSE: u64 = 10_000_000;
        const USUAL: u64 = 1_000_000;
        let number = self.executions.load(Ordering::Relaxed);
        match number {
            _ if number <= 1 || self.is_close.load(Ordering::Relaxed) => CLOSE,
            _ if number <= 100 || number.is_multiple_of(16) => USUAL,
            _ => 0,
        }
    }

    /// Something was found by watching.
    pub fn looks_closely(&self) {
        self.is_close.store(true, Ordering::Relaxed);
    }

    /// A process goes on that is to be watched, and is not.
    pub fn misses(&self, what: Unwatched) {
        let noted = match what {
            Unwatched::LaterExecutions => &self.leaves_out,
            Unwatched::LongComputations => &self.cuts,
        };
        noted.store(true, Ordering::Relaxed);
    }

    /// What was missed in all executions together.
    pub fn missed(&self) -> Vec<Unwatched> {
        let noted =
            [(&self.cuts, Unwatched::LongComputations), (&self.leaves_out, Unwatched::LaterExecutions)];
        noted.into_iter().filter(|(noted, _)| noted.load(Ordering::Relaxed)).map(|(_, what)| what).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_executions_are_watched_and_each_sixteenth_later() {
        let effort = Effort::default();
        let mut allowed = Vec::new();
        for _ in 0..130 {
            effort.begins_again();
            allowed.push(effort.allowed());
        }
        assert!(allowed[0] > allowed[1]);
        assert!(allowed[1] > 0 && allowed[1..100].iter().all(|usual| *usual == allowed[1]));
        let watched: Vec<usize> = (101..=130).filter(|number| allowed[number - 1] > 0).collect();
        assert_eq!(watched, [112, 128]);
        effort.looks_closely();
        assert_eq!(effort.allowed(), allowed[0]);
    }
}
