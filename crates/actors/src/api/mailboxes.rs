//! Rows of mailboxes: one for each of many actors, found by a number.

use std::marker::PhantomData;

use simurgh_kernel::ids::MailboxId;

use super::Mailbox;
use super::names::Ids;
use super::quantity::at_most;
use super::shared::Shared;

/// Mailboxes that have a name in common and a number each: for many actors that write to each other by number.
///
/// A single mailbox costs its name, and whoever writes to a million others by name looks each of them up. Of a row only
/// the beginning of the names is kept, and the mailbox of a number is computed. Memory is taken up to the highest that is used,
/// so a row has at most 100 million.
///
/// ```
/// use simurgh::prelude::*;
///
/// let mut program = Program::new(Platform::builtin());
/// let peers = program.mailboxes("peer ", 3);
/// for number in 0..3 {
///     let peers = peers.clone();
///     program.spawn(format!("actor {number}"), format!("node-{number}"), move |_| async move {
///         peers.at((number + 1) % 3).send(number, 8.0).detach().await;
///         simurgh::check!(peers.at(number).recv().await? == (number + 2) % 3);
///         Ok(())
///     })?;
/// }
/// assert_eq!(peers.at(2).name(), "peer 2");
/// assert!(program.simulate(Settings::default())?.is_fine());
/// # Ok::<(), simurgh::Error>(())
/// ```
pub struct Mailboxes<T> {
    ids: Ids,
    registry: u32,
    carries: PhantomData<fn(T) -> T>,
}

impl<T> Clone for Mailboxes<T> {
    fn clone(&self) -> Self {
        Self { ids: self.ids.clone(), registry: self.registry, carries: PhantomData }
    }
}

impl<T> std::fmt::Debug for Mailboxes<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Mailboxes<{}>({})", std::any::type_name::<T>(), self.len())
    }
}

/// The most mailboxes of a row. Those up to the highest that is used take 16 bytes each: 1.6 GB.
const LENGTH_MAX: u32 = 100_000_000;

impl<T: Send + 'static> Mailboxes<T> {
    #[track_caller]
    pub(crate) fn new(shared: &Shared, before: &str, count: u32) -> Self {
        let count = at_most(count, LENGTH_MAX, "the number of mailboxes in a row");
        Self { ids: shared.mailboxes(before, count), registry: shared.registry(), carries: PhantomData }
    }

    /// The mailbox of a number.
    ///
    /// # Panics
    /// If there are not so many.
    #[inline]
    pub fn at(&self, number: u32) -> Mailbox<T> {
        let id = match &self.ids {
            Ids::Consecutive { first, length } if number < *length => MailboxId(first + number),
            Ids::Any(ids) if (number as usize) < ids.len() => ids[number as usize],
            _ => self.has_not(number),
        };
        Mailbox::of(id, self.registry)
    }

    #[cold]
    fn has_not(&self, number: u32) -> ! {
        panic!("there is no mailbox {number} in a row of {}, which begins with 0", self.len())
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = Mailbox<T>> + '_ {
        (0..self.len()).map(|number| self.at(number))
    }
}

impl<T> Mailboxes<T> {
    /// How many there are.
    pub fn len(&self) -> u32 {
        match &self.ids {
            Ids::Consecutive { length, .. } => *length,
            Ids::Any(ids) => ids.len() as u32,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
