//! State that actors expose, for invariants to look at.

use std::fmt::{Debug, Display};
use std::marker::PhantomData;

use simurgh_kernel::exposed::Exposure;
use simurgh_kernel::ids::ExposedId;
use simurgh_kernel::simcall::Simcall;

use super::{Ask, nothing};

/// A value that an actor exposes: what it is can be seen by the invariants of the program
/// ([`Program::invariant`](crate::Program::invariant)) and by people who look at a counterexample, but not by other
/// actors.
pub struct Exposed<T> {
    id: ExposedId,
    shows: PhantomData<fn(T) -> T>,
}

impl<T> Clone for Exposed<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Exposed<T> {}

impl<T> Debug for Exposed<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Exposed").field(&self.id).finish()
    }
}

impl<T: Debug + Clone + Send + 'static> Exposed<T> {
    pub(crate) fn new(id: ExposedId) -> Self {
        Self { id, shows: PhantomData }
    }

    /// Exposes another value from now on. This is a step that everybody could see: where an invariant looks at the value,
    /// an exploration tries it before and after each step of others that the invariant could see too.
    #[track_caller]
    pub fn set(&self, value: T) -> Ask<()> {
        Ask::new(Simcall::Expose(self.id, Box::new(value)), nothing)
    }
}

/// What an invariant looks at: an exposed value, or several of them in a tuple, an array or a vector.
pub trait View {
    /// The values, in the same shape.
    type Values;

    /// Which they are.
    fn list(&self, into: &mut Vec<ExposedId>);

    /// What they are now.
    fn read(&self, exposure: &Exposure) -> Self::Values;
}

impl<T: Debug + Clone + Send + 'static> View for Exposed<T> {
    type Values = T;

    fn list(&self, into: &mut Vec<ExposedId>) {
        into.push(self.id);
    }

    fn read(&self, exposure: &Exposure) -> T {
        exposure.get::<T>(self.id).expect("a value of an invariant is one of its own program").clone()
    }
}

impl<V: View> View for Vec<V> {
    type Values = Vec<V::Values>;

    fn list(&self, into: &mut Vec<ExposedId>) {
        self.iter().for_each(|view| view.list(into));
    }

    fn read(&self, exposure: &Exposure) -> Self::Values {
        self.iter().map(|view| view.read(exposure)).collect()
    }
}

impl<V: View, const N: usize> View for [V; N] {
    type Values = [V::Values; N];

    fn list(&self, into: &mut Vec<ExposedId>) {
        self.iter().for_each(|view| view.list(into));
    }

    fn read(&self, exposure: &Exposure) -> Self::Values {
        std::array::from_fn(|index| self[index].read(exposure))
    }
}

macro_rules! tuples {
    ($($name:ident)+) => {
        impl<$($name: View),+> View for ($($name,)+) {
            type Values = ($($name::Values,)+);

            #[expect(non_snake_case, reason = "the members are named after their types")]
            fn list(&self, into: &mut Vec<ExposedId>) {
                let ($($name,)+) = self;
                $($name.list(into);)+
            }

            #[expect(non_snake_case, reason = "the members are named after their types")]
            fn read(&self, exposure: &Exposure) -> Self::Values {
                let ($($name,)+) = self;
                ($($name.read(exposure),)+)
            }
        }
    };
}

tuples!(A);
tuples!(A B);
tuples!(A B C);
tuples!(A B C D);
tuples!(A B C D E);
tuples!(A B C D E F);

/// What an invariant comes to: whether it holds, or a result whose error says what is wrong.
pub trait IntoJudgement {
    /// Reads it.
    fn into_judgement(self) -> Result<(), Option<String>>;
}

impl IntoJudgement for bool {
    fn into_judgement(self) -> Result<(), Option<String>> {
        if self { Ok(()) } else { Err(None) }
    }
}

impl<E: Display> IntoJudgement for Result<(), E> {
    fn into_judgement(self) -> Result<(), Option<String>> {
        self.map_err(|error| Some(error.to_string()))
    }
}
