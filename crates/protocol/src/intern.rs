//! Every distinct value once, known by a number.

use std::hash::Hash;
use std::sync::Arc;

use hashbrown::HashTable;
use simurgh_watchdog::{Trait, treating};

use crate::hash::{fingerprint, fingerprints};

/// Ways to exchange actors: what becomes of each. The first leaves them as they are.
pub(crate) type Permutations = Arc<Vec<Vec<u32>>>;

/// Distinct values in the order in which they came, with their fingerprints under each permutation of actors.
pub(crate) struct Interner<T> {
    pub(crate) values: Vec<T>,
    hashes: Vec<u128>,
    pub(crate) permutations: Permutations,
    /// How many fingerprints there are of each value.
    stride: usize,
    table: HashTable<u32>,
}

impl<T: Eq + Hash> Interner<T> {
    pub(crate) fn new(permutations: Permutations) -> Self {
        let stride = permutations.len().max(1);
        Self { values: Vec::new(), hashes: Vec::new(), permutations, stride, table: HashTable::new() }
    }

    /// The number of a value; `hash` gives its fingerprint under the permutation that is in force.
    pub(crate) fn intern(&mut self, value: T, hash: impl Fn(&T) -> u128) -> u32 {
        let plain = treating(Trait::Hash, || fingerprint(&value));
        let values = &self.values;
        let find = || self.table.find(plain as u64, |number| values[*number as usize] == value);
        if let Some(number) = treating(Trait::Eq, find).copied() {
            treating(Trait::Drop, || drop(value));
            return number;
        }
        let number = u32::try_from(values.len()).expect("fewer values than four billion");
        treating(Trait::Hash, || {
            self.hashes.extend_from_slice(&fingerprints(&self.permutations, || hash(&value)));
            self.table.insert_unique(plain as u64, number, |number| match values.get(*number as usize) {
                Some(value) => fingerprint(value) as u64,
                None => plain as u64,
            });
        });
        self.values.push(value);
        number
    }

    pub(crate) fn get(&self, number: u32) -> &T {
        &self.values[number as usize]
    }

    /// The fingerprint of a value under a permutation.
    pub(crate) fn hash(&self, number: u32, permutation: usize) -> u128 {
        self.hashes[number as usize * self.stride + permutation]
    }
}
