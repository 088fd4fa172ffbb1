//! Properties of many things in one table. Things of a kind have the same ones, so each text is kept once.

use std::fmt;

use crate::names::{NameTable, Refusal};

/// Properties of hosts, of links or of disks, by the position of each.
#[derive(Default)]
pub(crate) struct PropertyTable {
    texts: NameTable,
    /// As they were given, until [`PropertyTable::sort`]: then by owner and by name, each name once.
    entries: Vec<Entry>,
}

#[derive(Clone, Copy)]
struct Entry {
    owner: u32,
    name: u32,
    value: u32,
    /// The line of the file; 0 where there is none.
    line: u32,
}

/// The properties of one thing.
#[derive(Clone, Copy)]
pub(crate) struct PropertiesOf<'a> {
    texts: &'a NameTable,
    entries: &'a [Entry],
}

impl PropertyTable {
    /// Gives a thing a property, in the place of one of that name.
    pub(crate) fn insert(
        &mut self,
        owner: u32,
        name: &str,
        value: &str,
        line: Option<u32>,
    ) -> Result<(), Refusal> {
        let (name, value) = (self.keep(name)?, self.keep(value)?);
        self.entries.push(Entry { owner, name, value, line: line.unwrap_or(0) });
        Ok(())
    }

    fn keep(&mut self, text: &str) -> Result<u32, Refusal> {
        match self.texts.insert(text) {
            Ok(at) | Err(Refusal::Taken(at)) => Ok(at),
            Err(refusal) => Err(refusal),
        }
    }

    /// Once all are there.
    pub(crate) fn sort(&mut self) {
        let texts = &self.texts;
        let order = |one: &Entry, other: &Entry| {
            let names = || texts.get(one.name as usize).cmp(texts.get(other.name as usize));
            one.owner.cmp(&other.owner).then_with(names)
        };
        if !self.entries.is_sorted_by(|one, other| order(one, other).is_lt()) {
            self.entries.sort_by(order);
            // The last of a name counts.
            self.entries.dedup_by(|later, kept| {
                let is_same = (later.owner, later.name) == (kept.owner, kept.name);
                if is_same {
                    (kept.value, kept.line) = (later.value, later.line);
                }
                is_same
            });
        }
        self.texts.shrink();
        self.entries.shrink_to_fit();
    }

    pub(crate) fn of(&self, owner: u32) -> PropertiesOf<'_> {
        let start = self.entries.partition_point(|entry| entry.owner < owner);
        let count = self.entries[start..].iter().take_while(|entry| entry.owner == owner).count();
        PropertiesOf { texts: &self.texts, entries: &self.entries[start..start + count] }
    }
}

impl<'a> PropertiesOf<'a> {
    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// The line at which a property was given, if it was in a file.
    pub(crate) fn line(&self, name: &str) -> Option<u32> {
        let entry = self.entries.iter().find(|entry| self.texts.get(entry.name as usize) == name)?;
        Some(entry.line).filter(|line| *line > 0)
    }

    /// By name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> + use<'a> {
        let PropertiesOf { texts, entries } = *self;
        entries.iter().map(|entry| (texts.get(entry.name as usize), texts.get(entry.value as usize)))
    }
}

impl fmt::Debug for PropertiesOf<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Given in any order, names twice, values that are names.
        #[test]
        fn the_table_is_a_map_of_maps(given in prop::collection::vec((0..6_u32, "[a-c]{0,2}", "[a-c]{0,2}", 0..9_u32), 0..30)) {
            let (mut table, mut maps) = (PropertyTable::default(), BTreeMap::<u32, BTreeMap<&str, &str>>::new());
            let mut lines = BTreeMap::new();
            for (owner, name, value, line) in &given {
                let line = Some(*line).filter(|line| *line > 0);
                prop_assert_eq!(table.insert(*owner, name, value, line), Ok(()));
                maps.entry(*owner).or_default().insert(name, value);
                lines.insert((*owner, name.as_str()), line);
            }
            table.sort();
            for owner in 0..7 {
                let map = maps.remove(&owner).unwrap_or_default();
                prop_assert_eq!(table.of(owner).iter().collect::<Vec<_>>(), map.clone().into_iter().collect::<Vec<_>>());
                for name in ["", "a", "bc", "d"] {
                    prop_assert_eq!(table.of(owner).get(name), map.get(name).copied());
                    prop_assert_eq!(table.of(owner).line(name), lines.get(&(owner, name)).copied().flatten());
                }
            }
        }
    }
}
