//! Sets of small numbers, a word for 64 of them.

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    pub(crate) fn get(&self, at: u32) -> bool {
        self.0.get(at as usize / 64).is_some_and(|word| word & (1 << (at % 64)) != 0)
    }

    /// Adds a number, and says whether it was not there.
    pub(crate) fn set(&mut self, at: u32) -> bool {
        let place = at as usize / 64;
        if self.0.len() <= place {
            self.0.resize(place + 1, 0);
        }
        let before = self.0[place];
        self.0[place] |= 1 << (at % 64);
        self.0[place] != before
    }

    /// Calls for each number that is in `self`, in `mask` if there is one, and not in `known`.
    pub(crate) fn news(&self, mask: Option<&Bits>, known: &Bits, into: &mut Vec<u32>) {
        into.clear();
        for (place, &word) in self.0.iter().enumerate() {
            let mut word = word & !known.0.get(place).copied().unwrap_or(0);
            if let Some(mask) = mask {
                word &= mask.0.get(place).copied().unwrap_or(0);
            }
            while word != 0 {
                into.push(place as u32 * 64 + word.trailing_zeros());
                word &= word - 1;
            }
        }
    }

    /// Keeps what is in both; calls for each number that is lost.
    pub(crate) fn intersect(&mut self, other: &Bits, mut lost: impl FnMut(u32)) {
        for (place, word) in self.0.iter_mut().enumerate() {
            let mut gone = *word & !other.0.get(place).copied().unwrap_or(0);
            *word &= !gone;
            while gone != 0 {
                lost(place as u32 * 64 + gone.trailing_zeros());
                gone &= gone - 1;
            }
        }
    }

    pub(crate) fn meets(&self, other: &Bits) -> bool {
        self.0.iter().zip(&other.0).any(|(left, right)| left & right != 0)
    }

    pub(crate) fn and(&self, other: &Bits) -> Bits {
        Bits(self.0.iter().zip(&other.0).map(|(left, right)| left & right).collect())
    }

    /// Adds all that is in another.
    pub(crate) fn add(&mut self, other: &Bits) {
        if self.0.len() < other.0.len() {
            self.0.resize(other.0.len(), 0);
        }
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word |= other);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().enumerate().flat_map(|(place, &word)| {
            (0..64).filter(move |bit| word & (1_u64 << bit) != 0).map(move |bit| place as u32 * 64 + bit)
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// The bytes that it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.0.capacity() * 8
    }
}

impl FromIterator<u32> for Bits {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut bits = Self::default();
        for number in numbers {
            bits.set(number);
        }
        bits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_do_what_sets_do() {
        let (left, right): (Bits, Bits) =
            ([1, 64, 200].into_iter().collect(), [64, 70].into_iter().collect());
        assert!(left.get(200) && !left.get(199) && !left.get(5000) && left.meets(&right));
        assert_eq!(left.and(&right).iter().collect::<Vec<_>>(), [64]);
        let mut into = Vec::new();
        left.news(None, &right, &mut into);
        assert_eq!(into, [1, 200]);
        left.news(Some(&right), &Bits::default(), &mut into);
        assert_eq!(into, [64]);
        let (mut both, mut lost) = (left.clone(), Vec::new());
        both.intersect(&right, |number| lost.push(number));
        assert_eq!((both.iter().collect::<Vec<_>>(), lost), (vec![64], vec![1, 200]));
        both.add(&right);
        assert_eq!(both.iter().collect::<Vec<_>>(), [64, 70]);
        assert!(!both.is_empty() && Bits::default().is_empty());
    }
}
