//! Traits of a user's values that a search relies on: they run outside of actors and handlers, and may panic as those may.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::place::Place;

/// A trait of a value.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Trait {
    /// `Clone`.
    Clone,
    /// `Debug`.
    Debug,
    /// `Drop`.
    Drop,
    /// `PartialEq`, `Eq`.
    Eq,
    /// `Hash`.
    Hash,
}

impl Trait {
    const ALL: [Self; 5] = [Self::Clone, Self::Debug, Self::Drop, Self::Eq, Self::Hash];

    /// Its number, from 1.
    pub(crate) fn number(self) -> u32 {
        self as u32 + 1
    }

    pub(crate) fn of_number(number: u32) -> Option<Self> {
        Self::ALL.get((number as usize).wrapping_sub(1)).copied()
    }
}

impl fmt::Display for Trait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self:?}`")
    }
}

/// A trait of a value has panicked: what a panic carries out of a search then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ValuePanic {
    /// Which trait.
    pub of: Trait,
    /// What it said.
    pub said: String,
    /// Where, if it is known.
    pub place: Option<Place>,
}

impl fmt::Display for ValuePanic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { of, said, place } = self;
        let place = place.map_or_else(String::new, |place| format!("{place}: "));
        write!(f, "{place}the {of} of a value panics: {said}; nothing is known without it")
    }
}

/// Runs the code of a trait of values. If it panics, the panic goes on as a [`ValuePanic`]; `place` says where it was.
pub fn guarding<T>(of: Trait, place: impl FnOnce() -> Option<Place>, run: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let panic: Box<dyn Any + Send> = match panic.downcast::<ValuePanic>() {
            Ok(inner) => inner,
            Err(panic) => Box::new(ValuePanic { of, said: said(panic.as_ref()), place: place() }),
        };
        resume_unwind(panic)
    })
}

/// What a panic says.
pub(crate) fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .or_else(|| panic.downcast_ref::<ValuePanic>().map(ToString::to_string))
        .unwrap_or_else(|| "a panic".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_a_value_says_of_which_trait() {
        let place = || Some(Place { file: "state.rs", line: 7 });
        let inner = || guarding(Trait::Eq, place, || resume_unwind(Box::new("odd")));
        let panic = catch_unwind(|| guarding(Trait::Drop, || None, inner)).unwrap_err();
        let told = "state.rs:7: the `Eq` of a value panics: odd; nothing is known without it";
        assert_eq!(panic.downcast_ref::<ValuePanic>().map(ToString::to_string).as_deref(), Some(told));
        assert_eq!(guarding(Trait::Drop, || None, || 7), 7);
        for of in Trait::ALL {
            assert_eq!(Trait::of_number(of.number()), Some(of));
        }
        assert_eq!(Trait::of_number(0), None);
    }
}
