//! The variables that tools see. Control variables have the names of the configuration keys, where there is one.

use crate::abi::{self, Datatype};
use crate::collectives::Selection;
use crate::error::{Result, fail};
use crate::rank::Rank;

/// A set of named numbers.
#[derive(Debug)]
pub struct Enumeration {
    /// Its name.
    pub name: &'static str,
    /// Numbers and their names.
    pub items: &'static [(i32, &'static str)],
}

/// All of them; a handle is the place of one, and [`FIRST_ENUMERATION`].
pub const ENUMERATIONS: &[Enumeration] = &[
    Enumeration {
        name: "selector of collectives",
        items: &[(0, "default"), (1, "mpich"), (2, "ompi"), (3, "chosen one by one")],
    },
    Enumeration { name: "yes or no", items: &[(0, "no"), (1, "yes")] },
];

/// The handle of the first enumeration.
pub const FIRST_ENUMERATION: usize = 0x7000;

const SELECTORS: usize = 0;
const YES_OR_NO: usize = 1;

/// The value of a control variable.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `int`, one of an enumeration.
    Choice(i32, usize),
    /// `unsigned long`.
    Number(u64),
    /// `double`.
    Real(f64),
    /// Letters, with a zero at the end.
    Text(String),
}

impl Value {
    /// Its type.
    pub fn datatype(&self) -> Datatype {
        match self {
            Value::Choice(..) => abi::INT,
            Value::Number(_) => abi::UNSIGNED_LONG,
            Value::Real(_) => abi::DOUBLE,
            Value::Text(_) => abi::CHAR,
        }
    }

    /// How many elements it has.
    pub fn count(&self) -> usize {
        match self {
            Value::Text(text) => text.len() + 1,
            _ => 1,
        }
    }

    /// The handle of its enumeration.
    pub fn enumeration(&self) -> usize {
        match self {
            Value::Choice(_, place) => FIRST_ENUMERATION + place,
            _ => abi::T_ENUM_NULL,
        }
    }

    /// In memory.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Value::Choice(number, _) => number.to_ne_bytes().to_vec(),
            Value::Number(number) => number.to_ne_bytes().to_vec(),
            Value::Real(number) => number.to_ne_bytes().to_vec(),
            Value::Text(text) => text.bytes().chain([0]).collect(),
        }
    }
}

/// A control variable.
#[derive(Debug)]
pub struct Control {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Who may change it.
    pub scope: i32,
    /// For whom it is.
    pub verbosity: i32,
    /// Its value for a process.
    pub value: fn(&Rank) -> Value,
}

/// The one control variable that a process may change for itself.
pub const EAGER: &str = "smpi/send-is-detached-thresh";

fn yes_or_no(flag: bool) -> Value {
    Value::Choice(i32::from(flag), YES_OR_NO)
}

/// All control variables.
pub const CONTROLS: &[Control] = &[
    Control {
        name: EAGER,
        about: "A standard send of fewer bytes does not wait for its receiver.",
        scope: abi::T_SCOPE_LOCAL,
        verbosity: abi::T_VERBOSITY_TUNER_BASIC,
        value: |me| Value::Number(me.eager_limit()),
    },
    Control {
        name: "smpi/coll-selector",
        about: "By whose rules the algorithms of collectives are chosen.",
        scope: abi::T_SCOPE_READONLY,
        verbosity: abi::T_VERBOSITY_TUNER_BASIC,
        value: |me| {
            let chosen = &me.world.selection;
            let is = |name: &str| Selection::of(name).as_ref() == Ok(chosen);
            let known = ["default", "mpich", "ompi"].into_iter().position(is);
            Value::Choice(known.unwrap_or(3) as i32, SELECTORS)
        },
    },
    Control {
        name: "smpi/init",
        about: "The seconds that MPI_Init takes.",
        scope: abi::T_SCOPE_READONLY,
        verbosity: abi::T_VERBOSITY_TUNER_DETAIL,
        value: |me| Value::Real(me.world.costs.init),
    },
    Control {
        name: "smpi/wtime",
        about: "The seconds that it takes to read a clock.",
        scope: abi::T_SCOPE_READONLY,
        verbosity: abi::T_VERBOSITY_TUNER_DETAIL,
        value: |me| Value::Real(me.world.costs.wtime),
    },
    Control {
        name: "smpi/test",
        about: "The seconds that MPI_Test takes.",
        scope: abi::T_SCOPE_READONLY,
        verbosity: abi::T_VERBOSITY_TUNER_DETAIL,
        value: |me| Value::Real(me.world.costs.test),
    },
    Control {
        name: "smpi/iprobe",
        about: "The seconds that MPI_Iprobe takes.",
        scope: abi::T_SCOPE_READONLY,
        verbosity: abi::T_VERBOSITY_TUNER_DETAIL,
        value: |me| Value::Real(me.world.costs.probe),
    },
    Control {
        name: "smpi/grow-injected-times",
        about: "Whether polling in vain costs more each time.",
        scope: abi::T_SCOPE_READONLY,
        verbosity: abi::T_VERBOSITY_TUNER_DETAIL,
        value: |me| yes_or_no(me.world.costs.polling_grows),
    },
    Control {
        name: "smpi/finalization-barrier",
        about: "Whether MPI_Finalize waits for all.",
        scope: abi::T_SCOPE_READONLY,
        verbosity: abi::T_VERBOSITY_TUNER_DETAIL,
        value: |me| yes_or_no(me.world.costs.finalize_waits),
    },
    Control {
        name: "host",
        about: "The simulated host on which the process runs.",
        scope: abi::T_SCOPE_CONSTANT,
        verbosity: abi::T_VERBOSITY_USER_BASIC,
        value: |me| Value::Text(me.world.host_name(me.process)),
    },
];

impl Control {
    /// Gives it another value, which lies there in memory.
    ///
    /// # Errors
    /// If it cannot be changed.
    ///
    /// # Safety
    /// A value of its type lies there.
    pub unsafe fn set(&self, me: &Rank, value: *const u8) -> Result {
        if self.name != EAGER {
            return fail(abi::T_ERR_CVAR_SET_NEVER, "the variable is set when the run begins");
        }
        // SAFETY: an unsigned long lies there.
        me.eager.set(Some(unsafe { value.cast::<u64>().read_unaligned() }));
        Ok(())
    }
}

/// What a performance variable has come to.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Amount {
    /// `unsigned long long`.
    Number(u64),
    /// `double`, seconds.
    Seconds(f64),
}

impl Amount {
    /// Nothing of the same kind.
    #[must_use]
    pub fn nothing(self) -> Self {
        match self {
            Amount::Number(_) => Amount::Number(0),
            Amount::Seconds(_) => Amount::Seconds(0.0),
        }
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        match (self, other) {
            (Amount::Number(one), Amount::Number(other)) => Amount::Number(one.wrapping_add(other)),
            (Amount::Seconds(one), Amount::Seconds(other)) => Amount::Seconds(one + other),
            _ => self,
        }
    }

    /// What one has more than the other.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        match (self, other) {
            (Amount::Number(one), Amount::Number(other)) => Amount::Number(one.wrapping_sub(other)),
            (Amount::Seconds(one), Amount::Seconds(other)) => Amount::Seconds(one - other),
            _ => self,
        }
    }

    /// Its type.
    pub fn datatype(self) -> Datatype {
        match self {
            Amount::Number(_) => abi::UNSIGNED_LONG_LONG,
            Amount::Seconds(_) => abi::DOUBLE,
        }
    }

    /// In memory.
    pub fn to_bytes(self) -> [u8; 8] {
        match self {
            Amount::Number(number) => number.to_ne_bytes(),
            Amount::Seconds(seconds) => seconds.to_ne_bytes(),
        }
    }

    /// One of the same kind, from memory.
    #[must_use]
    pub fn read(self, bytes: [u8; 8]) -> Self {
        match self {
            Amount::Number(_) => Amount::Number(u64::from_ne_bytes(bytes)),
            Amount::Seconds(_) => Amount::Seconds(f64::from_ne_bytes(bytes)),
        }
    }
}

/// A performance variable.
#[derive(Debug)]
pub struct Performance {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// What kind of number.
    pub class: i32,
    value: fn(&Rank) -> Amount,
}

impl Performance {
    /// What a process has of it.
    pub fn value(&self, me: &Rank) -> Amount {
        (self.value)(me)
    }

    /// Whether it is observed all the time, and so can only be read: one that tells what is there now.
    pub fn is_continuous(&self) -> bool {
        self.class == abi::T_PVAR_CLASS_LEVEL
    }
}

/// All performance variables.
pub const PERFORMANCE: &[Performance] = &[
    Performance {
        name: "messages_sent",
        about: "Messages that were sent, those of collectives too.",
        class: abi::T_PVAR_CLASS_COUNTER,
        value: |me| Amount::Number(me.traffic.sent.get()),
    },
    Performance {
        name: "bytes_sent",
        about: "Bytes of data in the messages that were sent.",
        class: abi::T_PVAR_CLASS_AGGREGATE,
        value: |me| Amount::Number(me.traffic.sent_bytes.get()),
    },
    Performance {
        name: "messages_received",
        about: "Messages that were received, those of collectives too.",
        class: abi::T_PVAR_CLASS_COUNTER,
        value: |me| Amount::Number(me.traffic.received.get()),
    },
    Performance {
        name: "bytes_received",
        about: "Bytes of data in the messages that were received.",
        class: abi::T_PVAR_CLASS_AGGREGATE,
        value: |me| Amount::Number(me.traffic.received_bytes.get()),
    },
    Performance {
        name: "calls",
        about: "Calls of MPI that were made.",
        class: abi::T_PVAR_CLASS_COUNTER,
        value: |me| Amount::Number(me.called.borrow().iter().map(|(_, count, _)| *count).sum()),
    },
    Performance {
        name: "time_in_calls",
        about: "Simulated seconds that calls of MPI took.",
        class: abi::T_PVAR_CLASS_TIMER,
        value: |me| {
            Amount::Seconds(me.called.borrow().iter().fold(0.0, |sum, (_, _, seconds)| sum + seconds))
        },
    },
    Performance {
        name: "requests",
        about: "Requests that are not completed, or persistent.",
        class: abi::T_PVAR_CLASS_LEVEL,
        value: |me| Amount::Number(me.requests.borrow().len() as u64),
    },
    Performance {
        name: "communicators",
        about: "Communicators that were made and not freed.",
        class: abi::T_PVAR_CLASS_LEVEL,
        value: |me| Amount::Number(me.comms.borrow().len() as u64),
    },
];

/// A group of variables.
#[derive(Debug)]
pub struct Category {
    /// Its name.
    pub name: &'static str,
    /// What is in it.
    pub about: &'static str,
    /// Control variables, by their places.
    pub controls: &'static [i32],
    /// Performance variables, by their places.
    pub performance: &'static [i32],
    /// Categories, by their places.
    pub categories: &'static [i32],
}

/// All categories.
pub const CATEGORIES: &[Category] = &[
    Category {
        name: "simurgh",
        about: "All variables of the simulated MPI.",
        controls: &[8],
        performance: &[],
        categories: &[1, 2, 3, 4],
    },
    Category {
        name: "messages",
        about: "What is sent and received.",
        controls: &[0],
        performance: &[0, 1, 2, 3],
        categories: &[],
    },
    Category {
        name: "collectives",
        about: "How collectives are done.",
        controls: &[1],
        performance: &[],
        categories: &[],
    },
    Category {
        name: "costs",
        about: "What calls cost beside their messages.",
        controls: &[2, 3, 4, 5, 6, 7],
        performance: &[4, 5],
        categories: &[],
    },
    Category {
        name: "objects",
        about: "What the program has made.",
        controls: &[],
        performance: &[6, 7],
        categories: &[],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_is_in_one_category() {
        let sorted = |of: fn(&Category) -> &'static [i32]| {
            let mut all: Vec<i32> = CATEGORIES.iter().flat_map(&of).copied().collect();
            all.sort_unstable();
            all
        };
        assert_eq!(sorted(|category| category.controls), (0..CONTROLS.len() as i32).collect::<Vec<_>>());
        assert_eq!(
            sorted(|category| category.performance),
            (0..PERFORMANCE.len() as i32).collect::<Vec<_>>()
        );
        assert_eq!(sorted(|category| category.categories), (1..CATEGORIES.len() as i32).collect::<Vec<_>>());
    }

    #[test]
    fn names_are_unique() {
        let names = |names: Vec<&str>| {
            let distinct: std::collections::BTreeSet<&str> = names.iter().copied().collect();
            assert_eq!(distinct.len(), names.len(), "{names:?}");
        };
        names(CONTROLS.iter().map(|variable| variable.name).collect());
        names(PERFORMANCE.iter().map(|variable| variable.name).collect());
        names(CATEGORIES.iter().map(|category| category.name).collect());
    }

    #[test]
    fn amounts_are_of_one_kind() {
        let (one, two) = (Amount::Number(3), Amount::Number(5));
        assert_eq!((one.plus(two), two.minus(one)), (Amount::Number(8), Amount::Number(2)));
        let half = Amount::Seconds(0.5);
        assert_eq!(half.nothing().read(half.to_bytes()), half);
        assert_eq!(half.datatype(), abi::DOUBLE);
    }
}
