//! Which states have been seen: fingerprints, and little else.

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
            for &old in shard.iter().filter(|entry| **entry != 0) {
                put(&mut larger, old);
            }
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
pub struct Parents {
    hashes: Vec<u64>,
    more: Vec<u16>,
    parents: Vec<u32>,
    /// Half of a fingerprint and the number of a state, so that most others are passed by without looking at them.
    table: Vec<u64>,
}

/// What marks a state without a parent.
const NONE: u32 = u32::MAX;

/// What marks a free place in the table.
const FREE: u64 = u64::MAX;

impl Default for Parents {
    fn default() -> Self {
        Self { hashes: Vec::new(), more: Vec::new(), parents: Vec::new(), table: vec![FREE; 64] }
    }
}

impl Parents {
    /// Adds a state unless it is there, and gives its number.
    pub fn insert(&mut self, hash: u128, parent: Option<u32>) -> Option<u32> {
        let Err(at) = self.look_up(hash) else { return None };
        let (entry, more) = ((hash >> 64) as u64, hash as u16);
        let number = self.hashes.len() as u32;
        assert!(number < NONE, "fewer states than four billion");
        self.table[at] = (entry << 32) | u64::from(number);
        self.hashes.push(entry);
        self.more.push(more);
        self.parents.push(parent.unwrap_or(NONE));
        if self.hashes.len() * 4 > self.table.len() * 3 {
            self.grow();
        }
        Some(number)
    }

    /// The number of a state that is there.
    pub fn find(&self, hash: u128) -> Option<u32> {
        self.look_up(hash).ok()
    }

    /// The number of a state, or the place in the table where it would be.
    fn look_up(&self, hash: u128) -> Result<u32, usize> {
        let (entry, more) = ((hash >> 64) as u64, hash as u16);
        let mut at = place(entry, self.table.len());
        loop {
            let here = self.table[at];
            if here == FREE {
                return Err(at);
            }
            let number = here as u32;
            let other = number as usize;
            if here >> 32 == entry & 0xffff_ffff && self.hashes[other] == entry && self.more[other] == more {
                return Ok(number);
            }
            at = if at + 1 == self.table.len() { 0 } else { at + 1 };
        }
    }

    fn grow(&mut self) {
        let size = self.table.len() * 2;
        self.table.clear();
        self.table.resize(size, FREE);
        for (number, &entry) in self.hashes.iter().enumerate() {
            let mut at = place(entry, size);
            while self.table[at] != FREE {
                at = if at + 1 == size { 0 } else { at + 1 };
            }
            self.table[at] = (entry << 32) | number as u64;
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.hashes.len()
    }

    /// The states on the way from a start to this one, both included.
    pub fn way(&self, last: u32) -> Vec<u32> {
        let mut way = vec![last];
        let mut at = last;
        while self.parents[at as usize] != NONE {
            at = self.parents[at as usize];
            way.push(at);
        }
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
