//! Groups: ordered sets of processes (MPI 5.0, 7.3).

use std::collections::BTreeMap;
use std::rc::Rc;

/// An ordered set of processes, each by its number in the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Group {
    /// `first`, `first + stride`, ...: so many. All of a run is one, without a list for each process.
    Range {
        /// The first process.
        first: u32,
        /// From one to the next.
        stride: i32,
        /// How many.
        count: u32,
    },
    /// Any others.
    List(Rc<[u32]>),
}

impl Group {
    /// Nobody.
    pub fn empty() -> Self {
        Group::Range { first: 0, stride: 1, count: 0 }
    }

    /// The first so many.
    pub fn all(count: usize) -> Self {
        Group::Range { first: 0, stride: 1, count: count as u32 }
    }

    /// These, in this order.
    pub fn of(processes: Vec<u32>) -> Self {
        let stride = match processes[..] {
            [first, second, ..] => second as i32 - first as i32,
            _ => 1,
        };
        let regular = processes.windows(2).all(|pair| pair[1] as i32 - pair[0] as i32 == stride);
        match processes.first() {
            None => Self::empty(),
            Some(&first) if regular => Group::Range { first, stride, count: processes.len() as u32 },
            _ => Group::List(processes.into()),
        }
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        match self {
            Group::Range { count, .. } => *count as usize,
            Group::List(list) => list.len(),
        }
    }

    /// The process of a rank.
    ///
    /// # Panics
    /// If there is none.
    pub fn process(&self, rank: usize) -> u32 {
        match self {
            Group::Range { first, stride, count } => {
                assert!(rank < *count as usize, "no such rank");
                (*first as i32 + *stride * rank as i32) as u32
            }
            Group::List(list) => list[rank],
        }
    }

    /// The rank of a process.
    pub fn rank_of(&self, process: u32) -> Option<usize> {
        match self {
            Group::Range { first, stride, count } => {
                let away = process as i32 - *first as i32;
                let rank = if *stride == 0 { 0 } else { away / *stride };
                (rank >= 0 && rank < *count as i32 && rank * *stride == away).then_some(rank as usize)
            }
            Group::List(list) => list.iter().position(|other| *other == process),
        }
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.size()).map(|rank| self.process(rank))
    }

    /// The ranks in this group of the ranks of another; none for those who are not here.
    pub fn translate(&self, ranks: impl Iterator<Item = usize>, to: &Group) -> Vec<Option<usize>> {
        match to {
            Group::Range { .. } => ranks.map(|rank| to.rank_of(self.process(rank))).collect(),
            Group::List(list) => {
                let places: BTreeMap<u32, usize> = list.iter().copied().zip(0..).collect();
                ranks.map(|rank| places.get(&self.process(rank)).copied()).collect()
            }
        }
    }

    /// Whether both have the same processes, in whatever order.
    pub fn is_similar(&self, other: &Group) -> bool {
        let sorted = |group: &Group| {
            let mut all: Vec<u32> = group.iter().collect();
            all.sort_unstable();
            all
        };
        self.size() == other.size() && sorted(self) == sorted(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_groups_need_no_list() {
        assert_eq!(Group::of(vec![1, 3, 5]), Group::Range { first: 1, stride: 2, count: 3 });
        assert_eq!(Group::of(vec![5, 3, 1]).iter().collect::<Vec<_>>(), [5, 3, 1]);
        assert_eq!(Group::of(vec![5, 3, 1]).rank_of(3), Some(1));
        assert_eq!(Group::of(vec![1, 3, 5]).rank_of(2), None);
        assert_eq!(Group::of(vec![1, 3, 5]).rank_of(7), None);
        assert_eq!(Group::of(vec![4]).rank_of(4), Some(0));
        let list = Group::of(vec![4, 1, 2]);
        assert!(matches!(list, Group::List(_)));
        assert_eq!(list.rank_of(2), Some(2));
        assert!(list.is_similar(&Group::of(vec![1, 2, 4])));
        assert_eq!(list.translate(0..3, &Group::all(3)), [None, Some(1), Some(2)]);
    }
}
