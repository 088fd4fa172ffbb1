//! Every distinct value once, known by a number.

use std::hash::Hash;

use hashbrown::HashTable;

use crate::hash::{fingerprint, fingerprints};

/// Distinct values in the order in which they came, with their fingerprints under each permutation of actors.
pub(crate) struct Interner<T> {
    values: Vec<T>,
    hashes: Vec<u128>,
    permutations: usize,
    table: HashTable<u32>,
}

impl<T: Eq + Hash> Interner<T> {
    pub(crate) fn new(permutations: usize) -> Self {
        Self {
            values: Vec::new(),
            hashes: Vec::new(),
            permutations: permutations.max(1),
            table: HashTable::new(),
        }
    }

    /// The number of a value. `place` is mixed into its fingerprints, under the same permutation.
    pub(crate) fn intern(&mut self, value: T, permutations: &[Vec<u32>], place: impl Fn() -> u128) -> u32 {
        let plain = fingerprint(&value);
        let (values, hashes, stride) = (&self.values, &mut self.hashes, self.permutations);
        if let Some(number) = self.table.find(plain as u64, |number| values[*number as usize] == value) {
            return *number;
        }
        let number = u32::try_from(self.values.len()).expect("fewer values than four billion");
        let under = fingerprints(permutations, || fingerprint(&(fingerprint(&value), place())));
        assert_eq!(under.len(), stride, "one fingerprint for each permutation");
        hashes.extend_from_slice(&under);
        let values = &self.values;
        self.table.insert_unique(plain as u64, number, |number| match values.get(*number as usize) {
            Some(value) => fingerprint(value) as u64,
            None => plain as u64,
        });
        self.values.push(value);
        number
    }

    pub(crate) fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }

    /// The fingerprint of a value under a permutation.
    pub(crate) fn hash(&self, number: u32, permutation: usize) -> u128 {
        self.hashes[number as usize * self.permutations + permutation]
    }

    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }
}
