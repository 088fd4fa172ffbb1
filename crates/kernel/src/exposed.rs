//! What actors show of their state, and what must be true of it.
//!
//! The kernel keeps the values, and knows nothing of them but how they print. Whoever drives it asks which have changed, and
//! judges the invariants that look at them.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::context::panic_message;
use crate::ids::ExposedId;

/// A value that is shown.
pub trait Value: Any + Send {
    /// How it prints.
    fn text(&self) -> String;

    /// The value itself.
    fn as_any(&self) -> &dyn Any;
}

impl<T: Any + fmt::Debug + Send> Value for T {
    fn text(&self) -> String {
        format!("{self:?}")
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl fmt::Debug for dyn Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

/// All that is shown.
#[derive(Debug, Default)]
pub struct Exposure {
    slots: Vec<Slot>,
}

#[derive(Debug)]
struct Slot {
    name: Box<str>,
    value: Box<dyn Value>,
}

impl Exposure {
    /// A new value, with what it is called. They are numbered in the order in which they are added.
    pub fn add(&mut self, name: &str, value: Box<dyn Value>) -> ExposedId {
        self.slots.push(Slot { name: name.into(), value });
        ExposedId::from_index(self.slots.len() - 1)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// A value, if it is of this type.
    pub fn get<T: 'static>(&self, id: ExposedId) -> Option<&T> {
        self.slots.get(id.index())?.value.as_ref().as_any().downcast_ref()
    }

    /// What a value is called.
    ///
    /// # Panics
    /// If there is none.
    pub fn name(&self, id: ExposedId) -> &str {
        &self.slots[id.index()].name
    }

    /// How a value prints.
    ///
    /// # Panics
    /// If there is none.
    pub fn text(&self, id: ExposedId) -> String {
        self.slots[id.index()].value.text()
    }

    /// What each value is called, and how it prints.
    pub fn texts(&self) -> impl Iterator<Item = (&str, String)> {
        self.slots.iter().map(|slot| (&*slot.name, slot.value.text()))
    }

    pub(crate) fn clear(&mut self) {
        self.slots.clear();
    }

    /// Shows another value in place of the one before; nothing if there is none such.
    pub(crate) fn set(&mut self, id: ExposedId, value: Box<dyn Value>) -> bool {
        let slot = self.slots.get_mut(id.index());
        slot.map(|slot| slot.value = value).is_some()
    }
}

/// What an invariant says of the values: that they are right, or what is wrong, if it has words for it.
pub type Judge = Box<dyn Fn(&Exposure) -> Result<(), Option<String>> + Send>;

/// Something that must be true of what is shown, whenever it can be seen; or, as a goal, at some time.
pub struct Invariant {
    name: String,
    looks_at: Vec<ExposedId>,
    holds: Judge,
    is_goal: bool,
}

/// An invariant that does not hold.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Broken {
    /// What it is called.
    pub name: String,
    /// What it said, if it said something.
    pub message: Option<String>,
    /// The values that it looks at: what each is called, and how it printed.
    pub values: Vec<(String, String)>,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "invariant {:?} does not hold", self.name)?;
        if let Some(message) = &self.message {
            write!(f, ": {message}")?;
        }
        let values: Vec<_> = self.values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        write!(f, " ({})", values.join(", "))
    }
}

impl fmt::Debug for Invariant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invariant")
            .field("name", &self.name)
            .field("looks_at", &self.looks_at)
            .finish_non_exhaustive()
    }
}

impl Invariant {
    /// What it is called, the values that it looks at (and no others), and how it judges them.
    pub fn new(name: String, mut looks_at: Vec<ExposedId>, holds: Judge) -> Self {
        looks_at.sort_unstable();
        looks_at.dedup();
        Self { name, looks_at, holds, is_goal: false }
    }

    /// The same as a goal: it need not be true always, but at some time, before all is over.
    #[must_use]
    pub fn as_goal(self) -> Self {
        Self { is_goal: true, ..self }
    }

    /// Whether it is a goal.
    pub fn is_goal(&self) -> bool {
        self.is_goal
    }

    /// What is to be said of a goal that was never reached, when all is over.
    pub fn missed(&self, exposure: &Exposure) -> Broken {
        let value = |&id: &ExposedId| (exposure.name(id).to_owned(), exposure.text(id));
        let values = self.looks_at.iter().map(value).collect();
        Broken { name: self.name.clone(), message: Some("it never becomes true".into()), values }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it looks at a value.
    pub fn looks_at(&self, id: ExposedId) -> bool {
        self.looks_at.binary_search(&id).is_ok()
    }

    /// Whether it is settled, as a goal is that was reached, and need not be judged again.
    ///
    /// # Errors
    /// What is wrong, if something is. One that panics does not hold, and as a goal, is no goal.
    pub fn judge(&self, exposure: &Exposure) -> Result<bool, Broken> {
        let judged = catch_unwind(AssertUnwindSafe(|| (self.holds)(exposure)));
        let message = match judged {
            Ok(Ok(())) => return Ok(self.is_goal),
            Ok(Err(_)) if self.is_goal => return Ok(false),
            Ok(Err(message)) => message,
            Err(panic) => Some(format!("panicked: {}", panic_message(panic.as_ref()))),
        };
        Err(Broken { message, ..self.missed(exposure) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_judgement_names_what_it_looks_at() {
        let mut exposure = Exposure::default();
        let one = exposure.add("one", Box::new(1));
        let other = exposure.add("other", Box::new("two"));
        let last = exposure.add("last", Box::new(Some(3.5)));
        assert_eq!((exposure.get(one), exposure.get(other)), (Some(&1), Some(&"two")));
        assert_eq!((exposure.get::<u8>(one), exposure.len()), (None, 3));
        let invariant = |looks_at, holds: Judge| Invariant::new("i".to_owned(), looks_at, holds);
        let fine = invariant(
            vec![one],
            Box::new(move |exposure| (exposure.get(one) == Some(&1)).then_some(()).ok_or(None)),
        );
        assert_eq!(fine.judge(&exposure), Ok(false));
        assert!(exposure.set(one, Box::new(2)));
        let told = fine.judge(&exposure).unwrap_err().to_string();
        assert_eq!(told, "invariant \"i\" does not hold (one = 2)");
        let worded = invariant(vec![last, one, last], Box::new(|_| Err(Some("too much".to_owned()))));
        let told = worded.judge(&exposure).unwrap_err().to_string();
        assert_eq!(told, "invariant \"i\" does not hold: too much (one = 2, last = Some(3.5))");
        assert!(worded.looks_at(last) && !worded.looks_at(other));
        assert!(!exposure.set(ExposedId(3), Box::new(0)));
    }
}
