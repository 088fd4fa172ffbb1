//! Trees among ranks, and segments of long messages.
//!
//! A tree is on numbers from 0 on, its root is 0 but for the tree in order. How SMPI's `ompi` algorithms build theirs is followed
//! number by number.

/// Whom a rank hears from and speaks to in a tree.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tree {
    /// Above it; none at the root.
    pub parent: Option<usize>,
    /// Below it, in order.
    pub children: Vec<usize>,
}

impl Tree {
    /// The same tree with its root at another place of the circle of ranks.
    #[must_use]
    pub fn rooted(self, root: usize, size: usize) -> Self {
        let turn = |number: usize| (number + root) % size;
        Self { parent: self.parent.map(turn), children: self.children.into_iter().map(turn).collect() }
    }
}

/// The largest power of two that is not above `size`.
pub fn power_below(size: usize) -> usize {
    1 << size.ilog2()
}

/// 1, 2, 4, ... below `limit`.
pub fn powers(limit: usize) -> impl DoubleEndedIterator<Item = usize> {
    let count = if limit <= 1 { 0 } else { (limit - 1).ilog2() + 1 };
    (0..count).map(|exponent| 1 << exponent)
}

/// The binomial tree; children by increasing distance.
pub fn binomial(v: usize, size: usize) -> Tree {
    let reach = if v == 0 { size } else { v & v.wrapping_neg() };
    let parent = (v > 0).then(|| v & (v - 1));
    let children = powers(reach).map(|distance| v + distance).filter(|child| *child < size).collect();
    Tree { parent, children }
}

/// At most `fanout` chains below the root, of equal length but for one.
pub fn chain(fanout: usize, v: usize, size: usize) -> Tree {
    let others = size - 1;
    let runs = fanout.min(others).clamp(1, 32);
    let (short, longer) = (others / runs, others % runs);
    let begin = |run: usize| 1 + run * short + run.min(longer);
    if v == 0 {
        return Tree { parent: None, children: (0..runs.min(others)).map(begin).collect() };
    }
    let run = (0..runs).rev().find(|run| begin(*run) <= v).unwrap_or(0);
    let parent = if begin(run) == v { 0 } else { v - 1 };
    let end = begin(run + 1);
    Tree { parent: Some(parent), children: (v + 1 < end).then_some(v + 1).into_iter().collect() }
}

/// The binary tree whose levels are filled in turn: those of a level first get one child each.
pub fn binary(v: usize, size: usize) -> Tree {
    let level = 1_usize << (v + 1).ilog2();
    let parent = (v > 0).then(|| {
        let above = level / 2;
        if v - above < level - 1 { v - above } else { v - level }
    });
    let children = [v + level, v + 2 * level].into_iter().filter(|child| *child < size).collect();
    Tree { parent, children }
}

/// The binary tree in which the last rank is the root, and each subtree has consecutive ranks, the last of which is its root.
pub fn in_order(rank: usize, size: usize) -> Tree {
    let (mut low, mut high, mut parent) = (0, size - 1, None);
    loop {
        let count = high - low + 1;
        let second = (count > 2).then(|| low + count / 2 - 1);
        if rank == high {
            let first = (low < high).then(|| high - 1);
            return Tree { parent, children: first.into_iter().chain(second).collect() };
        }
        parent = Some(high);
        match second {
            Some(second) if rank <= second => high = second,
            Some(second) => (low, high) = (second + 1, high - 1),
            None => high -= 1,
        }
    }
}

/// The tree of radix 4: who is above, and those below in groups, the farthest first.
pub fn of_four(v: usize, size: usize) -> (Option<usize>, Vec<Vec<usize>>) {
    let mut reach = 1;
    while reach < size && (v == 0 || v.is_multiple_of(4 * reach)) {
        reach *= 4;
    }
    let parent = (v > 0).then(|| v - v % (4 * reach));
    let mut groups = Vec::new();
    while reach > 1 {
        reach /= 4;
        let group: Vec<usize> =
            [1, 2, 3].iter().map(|times| v + times * reach).filter(|child| *child < size).collect();
        groups.push(group);
    }
    (parent, groups)
}

/// How many elements a segment of about `bytes` bytes has.
pub fn segment(bytes: usize, element: usize, count: usize) -> usize {
    if element == 0 || element > bytes || bytes >= count * element {
        return count.max(1);
    }
    let fit = bytes / element;
    (fit + usize::from(bytes - fit * element > element / 2)).max(1)
}

/// How many segments of `each` elements `count` make: one at least, empty if need be.
pub fn segments(count: usize, each: usize) -> usize {
    count.div_ceil(each).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parents and children say the same, and everybody is reached from the root.
    #[test]
    fn trees_hold_together() {
        for size in 1..=40 {
            let kinds: [(usize, &dyn Fn(usize) -> Tree); 6] = [
                (0, &|v| binomial(v, size)),
                (0, &|v| chain(1, v, size)),
                (0, &|v| chain(size / 2, v, size)),
                (0, &|v| binary(v, size)),
                (size - 1, &|v| in_order(v, size)),
                (0, &|v| {
                    let (parent, groups) = of_four(v, size);
                    Tree { parent, children: groups.concat() }
                }),
            ];
            for (kind, (root, tree)) in kinds.iter().enumerate() {
                let mut reached = 0;
                for v in 0..size {
                    let Tree { parent, children } = tree(v);
                    assert_eq!(parent.is_none(), v == *root, "tree {kind}, {v} of {size}");
                    for child in &children {
                        assert_eq!(tree(*child).parent, Some(v), "tree {kind}, {child} of {size}");
                    }
                    reached += children.len();
                }
                assert_eq!(reached, size - 1, "tree {kind} of {size}");
            }
        }
    }

    #[test]
    fn segments_are_rounded_to_elements() {
        assert_eq!(segment(1024, 4, 1000), 256);
        assert_eq!(segment(10, 4, 1000), 2);
        assert_eq!(segment(11, 4, 1000), 3);
        assert_eq!(segment(8192, 4, 100), 100);
        assert_eq!(segment(2, 4, 100), 100);
        assert_eq!(powers(9).collect::<Vec<_>>(), [1, 2, 4, 8]);
        assert_eq!(powers(8).collect::<Vec<_>>(), [1, 2, 4]);
        assert_eq!(powers(1).count(), 0);
    }
}
