//! Names in one arena, found again through a compact index of 32-bit positions.
//!
//! Two million names of twenty letters take about 70 MB here, and several times that as `String`s in a map.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// A list of distinct names: position to name and name to position.
#[derive(Default)]
pub(crate) struct NameTable {
    text: String,
    ends: Vec<u32>,
    index: HashTable<u32>,
}

/// Why a name was not added.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The name is there already, at this position.
    Taken(u32),
    /// All names together would exceed what 32-bit positions reach.
    Full,
}

impl NameTable {
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, position: usize) -> &str {
        name_at(&self.text, &self.ends, position)
    }

    pub(crate) fn find(&self, name: &str) -> Option<u32> {
        self.index.find(hash(name), |&at| self.is_at(at as usize, name)).copied()
    }

    /// The same where a name is likely to be that found before, or the one after it, as in most files: these are looked at first.
    #[inline]
    pub(crate) fn find_near(&self, name: &str, before: &mut u32) -> Option<u32> {
        for guess in [*before, before.saturating_add(1)] {
            if (guess as usize) < self.len() && self.is_at(guess as usize, name) {
                *before = guess;
                return Some(guess);
            }
        }
        let found = self.find(name)?;
        *before = found;
        Some(found)
    }

    /// The same as comparing what [`NameTable::get`] gives, and less to check.
    #[inline]
    fn is_at(&self, position: usize, name: &str) -> bool {
        let start = if position == 0 { 0 } else { self.ends[position - 1] as usize };
        self.text.as_bytes()[start..self.ends[position] as usize] == *name.as_bytes()
    }

    /// Adds a name at the end and returns its position.
    pub(crate) fn insert(&mut self, name: &str) -> Result<u32, Refusal> {
        let hashed = hash(name);
        if let Some(&at) = self.index.find(hashed, |&at| self.is_at(at as usize, name)) {
            return Err(Refusal::Taken(at));
        }
        if self.index.len() == self.index.capacity() {
            self.reserve(self.len().max(8), 0);
        }
        let (text, ends) = (&mut self.text, &mut self.ends);
        let Ok(end) = u32::try_from(text.len() + name.len()) else { return Err(Refusal::Full) };
        let Ok(position) = u32::try_from(ends.len()) else { return Err(Refusal::Full) };
        text.push_str(name);
        ends.push(end);
        self.index.insert_unique(hashed, position, |&at| hash(name_at(text, ends, at as usize)));
        Ok(position)
    }

    /// Makes room. The index is made anew in the order of the names, which reads them one after the other; growing it
    /// in place would read them in the order of their hashes, a cache miss each.
    pub(crate) fn reserve(&mut self, names: usize, letters: usize) {
        self.text.reserve(letters);
        self.ends.reserve(names);
        let wanted = self.len() + names;
        if wanted <= self.index.capacity() {
            return;
        }
        let mut index = HashTable::with_capacity(wanted);
        for at in 0..self.len() {
            index.insert_unique(hash(self.get(at)), at as u32, |_| unreachable!("there is room for all"));
        }
        self.index = index;
    }

    pub(crate) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|at| self.get(at))
    }
}

fn name_at<'a>(text: &'a str, ends: &[u32], position: usize) -> &'a str {
    let start = if position == 0 { 0 } else { ends[position - 1] as usize };
    &text[start..ends[position] as usize]
}

/// The same on every machine and in every run: nothing may depend on a random seed.
fn hash(name: &str) -> u64 {
    FixedState::with_seed(0x51_4d_55_52_47_48).hash_one(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_refused_twice() {
        let mut table = NameTable::default();
        for i in 0..1000 {
            assert_eq!(table.insert(&format!("n{i}")), Ok(i));
        }
        assert_eq!(table.insert("n7"), Err(Refusal::Taken(7)));
        assert_eq!(table.find("n999"), Some(999));
        assert_eq!(table.find("n1000"), None);
        let mut before = 0;
        for (name, found) in
            [("n0", Some(0)), ("n1", Some(1)), ("n1", Some(1)), ("n998", Some(998)), ("n999", Some(999))]
        {
            assert_eq!(table.find_near(name, &mut before), found);
        }
        assert_eq!((table.find_near("n1000", &mut before), before), (None, 999));
        before = u32::MAX;
        assert_eq!((table.find_near("n7", &mut before), before), (Some(7), 7));
        assert_eq!(table.get(0), "n0");
        assert_eq!(table.iter().count(), 1000);
    }
}
