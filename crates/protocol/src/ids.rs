//! Who is who: identities of actors, and sets and maps of them that know about symmetry.

use std::fmt;
use std::hash::{Hash, Hasher};

use crate::hash::{image_of, origin_of};

/// An actor of a system: its place in the order in which actors were added.
///
/// Keep identities in states and messages as `ActorId`, not as numbers: then actors can be exchanged for each other by
/// [`System::symmetric`](crate::System::symmetric) without any further code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ActorId(pub u32);

impl ActorId {
    /// The place in the order in which actors were added.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<usize> for ActorId {
    fn from(index: usize) -> Self {
        Self(u32::try_from(index).expect("fewer actors than four billion"))
    }
}

impl Hash for ActorId {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u32(image_of(self.0));
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of the first 64 actors, in one word: what a node keeps of who has answered.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IdSet(u64);

impl IdSet {
    /// Adds an actor, and says whether it was not there.
    ///
    /// # Panics
    /// If the actor is not one of the first 64.
    pub fn insert(&mut self, actor: ActorId) -> bool {
        assert!(actor.0 < 64, "an IdSet holds the actors 0 to 63, not {actor}: use a BTreeSet");
        let before = self.0;
        self.0 |= 1 << actor.0;
        self.0 != before
    }

    /// Removes an actor, and says whether it was there.
    pub fn remove(&mut self, actor: ActorId) -> bool {
        let before = self.0;
        self.0 &= !1_u64.checked_shl(actor.0).unwrap_or(0);
        self.0 != before
    }

    /// Whether an actor is in the set.
    pub fn contains(&self, actor: ActorId) -> bool {
        self.0 & 1_u64.checked_shl(actor.0).unwrap_or(0) != 0
    }

    /// How many actors are in the set.
    pub fn len(&self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether nobody is in the set.
    pub fn is_empty(&self) -> bool {
        self.0 == 0
    }

    /// The actors in the set, in order.
    pub fn iter(&self) -> impl Iterator<Item = ActorId> + use<> {
        let bits = self.0;
        (0..64).filter(move |place| bits & (1 << place) != 0).map(ActorId)
    }
}

impl FromIterator<ActorId> for IdSet {
    fn from_iter<I: IntoIterator<Item = ActorId>>(actors: I) -> Self {
        let mut set = Self::default();
        actors.into_iter().for_each(|actor| _ = set.insert(actor));
        set
    }
}

impl Hash for IdSet {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.iter().fold(0, |bits, actor| bits | (1 << image_of(actor.0))));
    }
}

impl fmt::Debug for IdSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A value for some of the actors.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct IdMap<V>(Vec<Option<V>>);

impl<V> Default for IdMap<V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<V> IdMap<V> {
    /// Sets the value of an actor, and gives the one it had.
    pub fn insert(&mut self, actor: ActorId, value: V) -> Option<V> {
        if self.0.len() <= actor.index() {
            self.0.resize_with(actor.index() + 1, || None);
        }
        self.0[actor.index()].replace(value)
    }

    /// The value of an actor.
    pub fn get(&self, actor: ActorId) -> Option<&V> {
        self.0.get(actor.index())?.as_ref()
    }

    /// How many actors have a value.
    pub fn len(&self) -> usize {
        self.values().count()
    }

    /// Whether no actor has a value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The actors that have a value, in order, and their values.
    pub fn iter(&self) -> impl Iterator<Item = (ActorId, &V)> {
        self.0.iter().enumerate().filter_map(|(at, value)| Some((ActorId::from(at), value.as_ref()?)))
    }

    /// The values, in the order of the actors.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.0.iter().flatten()
    }
}

impl<V: Hash> Hash for IdMap<V> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        // In the order of the images, so that exchanged actors give the same sequence. Images may lie beyond the
        // last actor that has a value, so the length is that of the last image.
        let last = self.iter().map(|(actor, _)| image_of(actor.0)).max();
        for image in last.map_or(0..0, |last| 0..last + 1) {
            self.get(ActorId(origin_of(image))).hash(hasher);
        }
        hasher.write_usize(self.len());
    }
}

impl<V: fmt::Debug> fmt::Debug for IdMap<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::{fingerprint, fingerprints};

    #[test]
    fn sets_and_maps_of_exchanged_actors_look_the_same() {
        let swap = [vec![0, 1, 2], vec![2, 1, 0]];
        let set = |actors: &[u32]| actors.iter().copied().map(ActorId).collect::<IdSet>();
        let both = |value: &dyn Fn() -> u128| fingerprints(&swap, value);
        let (left, right) = (set(&[0, 1]), set(&[1, 2]));
        assert_eq!(both(&|| fingerprint(&left))[1], both(&|| fingerprint(&right))[0]);
        let mut first = IdMap::default();
        first.insert(ActorId(0), 'a');
        first.insert(ActorId(1), 'b');
        let mut second = IdMap::default();
        second.insert(ActorId(2), 'a');
        second.insert(ActorId(1), 'b');
        assert_eq!(both(&|| fingerprint(&first))[1], both(&|| fingerprint(&second))[0]);
        assert_ne!(both(&|| fingerprint(&first))[0], both(&|| fingerprint(&second))[0]);
    }

    #[test]
    fn a_set_holds_what_was_put_in() {
        let mut set = IdSet::default();
        assert!(set.insert(ActorId(63)) && !set.insert(ActorId(63)) && set.contains(ActorId(63)));
        assert!(
            !set.contains(ActorId(64))
                && !set.remove(ActorId(70))
                && set.remove(ActorId(63))
                && set.is_empty()
        );
    }
}
