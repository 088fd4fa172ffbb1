//! Sets of small numbers that grow as they need.

use fixedbitset::FixedBitSet;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bits(FixedBitSet);

impl Bits {
    /// The numbers from which one of these ends is reached, where each is led to by those in its list.
    pub(crate) fn reaching(mut ends: Vec<u32>, backwards: &[Vec<u32>]) -> Self {
        let mut reaching = Self::default();
        while let Some(at) = ends.pop() {
            if reaching.set(at) {
                ends.extend(&backwards[at as usize]);
            }
        }
        reaching
    }

    pub(crate) fn get(&self, at: u32) -> bool {
        self.0.contains(at as usize)
    }

    /// Adds a number, and says whether it was not there.
    pub(crate) fn set(&mut self, at: u32) -> bool {
        if self.0.len() <= at as usize {
            self.0.grow((at as usize + 1).next_multiple_of(64));
        }
        !self.0.put(at as usize)
    }

    /// The numbers that are in `self`, in `mask` if there is one, and not in `known`.
    pub(crate) fn news(&self, mask: Option<&Bits>, known: &Bits, into: &mut Vec<u32>) {
        let new = self.0.difference(&known.0).map(|at| at as u32);
        into.clear();
        into.extend(new.filter(|at| mask.is_none_or(|mask| mask.get(*at))));
    }

    /// Keeps what is in both; calls for each number that is lost.
    pub(crate) fn intersect(&mut self, other: &Bits, lost: impl FnMut(u32)) {
        self.0.difference(&other.0).map(|at| at as u32).for_each(lost);
        self.0.intersect_with(&other.0);
    }

    pub(crate) fn meets(&self, other: &Bits) -> bool {
        !self.0.is_disjoint(&other.0)
    }

    pub(crate) fn and(&self, other: &Bits) -> Bits {
        self.0.intersection(&other.0).map(|at| at as u32).collect()
    }

    /// Adds all that is in another.
    pub(crate) fn add(&mut self, other: &Bits) {
        self.0.union_with(&other.0);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.ones().map(|at| at as u32)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_clear()
    }
}

impl FromIterator<u32> for Bits {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut bits = Self::default();
        numbers.into_iter().for_each(|number| _ = bits.set(number));
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
