//! Fingerprints: 128 bits of what a value contains, the same in every run and on every machine.
//!
//! What a state is known by. Every word that is hashed changes both halves, zeros too, so that what is longer is different.

use std::hash::{Hash, Hasher};

/// Two lanes of multiplications that are folded; odd constants with about as many ones as zeros.
const KEYS: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f, 0x1656_67b1_9e37_79f9, 0xd6e8_feb8_6659_fd93];

fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    (product as u64) ^ ((product >> 64) as u64)
}

/// Hashes to 128 bits, without any seed.
pub struct StableHasher {
    lanes: [u64; 2],
}

impl Default for StableHasher {
    fn default() -> Self {
        Self { lanes: [KEYS[2], KEYS[3]] }
    }
}

impl StableHasher {
    fn word(&mut self, word: u64) {
        self.lanes[0] = fold(self.lanes[0] ^ word, KEYS[0]).rotate_left(23).wrapping_add(KEYS[3]);
        self.lanes[1] =
            fold(self.lanes[1] ^ word.rotate_left(32), KEYS[1]).rotate_left(29).wrapping_add(KEYS[2]);
    }

    /// All bits of what was hashed.
    pub fn wide(&self) -> u128 {
        let first = fold(self.lanes[0] ^ KEYS[1], self.lanes[1] ^ KEYS[0]);
        let second = fold(self.lanes[1].wrapping_add(KEYS[0]), self.lanes[0].rotate_left(31) ^ KEYS[2]);
        (u128::from(first) << 64) | u128::from(second ^ self.lanes[1])
    }
}

/// Numbers are hashed as one word each.
macro_rules! words {
    ($($write:ident: $number:ty),*) => {
        $(fn $write(&mut self, value: $number) { self.word(value as u64) })*
    };
}

impl Hasher for StableHasher {
    fn finish(&self) -> u64 {
        self.wide() as u64
    }
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.word(u64::from_le_bytes(chunk.try_into().expect("eight bytes")));
        }
        let rest = chunks.remainder();
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.word(u64::from_le_bytes(last) ^ ((rest.len() as u64) << 56));
        }
    }
    words!(write_u8: u8, write_u16: u16, write_u32: u32, write_u64: u64, write_usize: usize);
}

/// The fingerprint of a value.
pub fn fingerprint(value: &impl Hash) -> u128 {
    let mut hasher = StableHasher::default();
    value.hash(&mut hasher);
    hasher.wide()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_has_different_fingerprints_in_both_lanes() {
        let mut seen = [std::collections::BTreeSet::new(), std::collections::BTreeSet::new()];
        for value in 0..100_000_u64 {
            let hash = fingerprint(&(value & 0xff, value >> 8));
            assert!(seen[0].insert(hash as u64) && seen[1].insert((hash >> 64) as u64), "{value}");
        }
        assert_ne!(fingerprint(&"ab"), fingerprint(&"ab\0"));
        assert_ne!(fingerprint(&(0_u32, 0_u32)), fingerprint(&0_u32));
    }
}
