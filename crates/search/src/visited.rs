//! Which states have been seen: fingerprints, and little else.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

/// How many small tables there are; which of them is ten more bits of a fingerprint.
const SHARDS: usize = 1024;

/// A set of fingerprints: 74 of their 128 bits count, in about ten bytes each.
///
/// Growing goes shard by shard and by a half, so that there is never a second copy of the whole.
pub struct FingerprintSet {
    shards: Vec<Vec<u64>>,
    filled: Vec<u32>,
}

/// A place for a hash in a table of any size.
fn place(hash: u64, size: usize) -> usize {
    ((u128::from(hash) * size as u128) >> 64) as usize
}

impl Default for FingerprintSet {
    fn default() -> Self {
        Self { shards: vec![Vec::new(); SHARDS], filled: vec![0; SHARDS] }
    }
}

impl FingerprintSet {
    /// Adds a fingerprint, and says whether it was not there.
    pub fn insert(&mut self, hash: u128) -> bool {
        // Zero marks a free place.
        let entry = ((hash >> 64) as u64).max(1);
        let at = (hash as usize) % SHARDS;
        let shard = &mut self.shards[at];
        if (self.filled[at] as usize + 1) * 8 > shard.len() * 7 {
            let mut larger = vec![0; (shard.len() * 3 / 2).max(8)];
            shard.iter().filter(|entry| **entry != 0).for_each(|&old| _ = put(&mut larger, old));
            *shard = larger;
        }
        let new = put(shard, entry);
        self.filled[at] += u32::from(new);
        new
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.filled.iter().map(|count| *count as usize).sum()
    }
}

fn put(shard: &mut [u64], entry: u64) -> bool {
    let mut at = place(entry, shard.len());
    loop {
        match shard[at] {
            0 => {
                shard[at] = entry;
                return true;
            }
            other if other == entry => return false,
            _ => at = if at + 1 == shard.len() { 0 } else { at + 1 },
        }
    }
}

/// Fingerprints in the order in which they came, each with the one it was reached from: 80 bits of each count.
#[derive(Default)]
pub struct Parents {
    hashes: Vec<Kept>,
    parents: Vec<u32>,
    /// The numbers of the states, by their fingerprints.
    table: HashTable<u32>,
}

/// What marks a state without a parent.
const NONE: u32 = u32::MAX;

/// What is kept of a fingerprint, in one place: its higher half, and two bytes of the other.
type Kept = [u8; 10];

fn kept(hash: u128) -> Kept {
    *hash.rotate_left(64).to_le_bytes().first_chunk().expect("there are sixteen")
}

/// By what it is found.
fn half(kept: &Kept) -> u64 {
    u64::from_le_bytes(*kept.first_chunk().expect("there are ten"))
}

impl Parents {
    /// Adds a state unless it is there, and gives its number.
    pub fn insert(&mut self, hash: u128, parent: Option<u32>) -> Option<u32> {
        let (hashes, kept) = (&self.hashes, kept(hash));
        let is_it = |number: &u32| hashes[*number as usize] == kept;
        let entry = self.table.entry(half(&kept), is_it, |number| half(&hashes[*number as usize]));
        let Entry::Vacant(place) = entry else { return None };
        let number = hashes.len() as u32;
        assert!(number < NONE, "fewer states than four billion");
        place.insert(number);
        self.hashes.push(kept);
        self.parents.push(parent.unwrap_or(NONE));
        Some(number)
    }

    /// The number of a state that is there.
    pub fn find(&self, hash: u128) -> Option<u32> {
        let kept = kept(hash);
        self.table.find(half(&kept), |number| self.hashes[*number as usize] == kept).copied()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.hashes.len()
    }

    /// The states on the way from a start to this one, both included.
    pub fn way(&self, last: u32) -> Vec<u32> {
        let before = |at: &u32| Some(self.parents[*at as usize]).filter(|parent| *parent != NONE);
        let mut way: Vec<u32> = std::iter::successors(Some(last), before).collect();
        way.reverse();
        way
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fingerprint of 128 bits.
    fn fingerprint(value: &u32) -> u128 {
        let mut random = simurgh_random::Random::new(u64::from(*value), 0);
        u128::from(random.next_u64()) << 64 | u128::from(random.next_u64())
    }

    #[test]
    fn both_sets_know_what_was_put_in() {
        let (mut set, mut parents) = (FingerprintSet::default(), Parents::default());
        for round in [true, false] {
            for value in 0..50_000_u32 {
                let hash = fingerprint(&value);
                assert_eq!(set.insert(hash), round);
                assert_eq!(parents.insert(hash, value.checked_sub(1)).is_some(), round);
                assert_eq!(parents.find(hash), Some(value));
            }
        }
        assert_eq!((set.count(), parents.count()), (50_000, 50_000));
        assert_eq!(parents.way(3), [0, 1, 2, 3]);
        assert_eq!(parents.find(fingerprint(&50_000_u32)), None);
    }

    #[test]
    fn a_fingerprint_takes_about_ten_bytes() {
        let mut set = FingerprintSet::default();
        (0..1_000_000_u32).for_each(|value| assert!(set.insert(fingerprint(&value))));
        let places: usize = set.shards.iter().map(Vec::len).sum();
        assert!(places * 8 < 14_000_000, "{} bytes", places * 8);
    }
}
