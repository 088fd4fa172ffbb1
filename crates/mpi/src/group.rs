//! Groups: ordered sets of processes (MPI 5.0, 7.3).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::abi;
use crate::error::{Result, fail};
use crate::message::Data;
use crate::rank::Rank;
use crate::session::OpenSession;

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

    /// `first`, `first + stride`, ...: so many. One of fewer than two has a single form, so that groups can be compared.
    pub fn range(first: u32, stride: i32, count: u32) -> Self {
        match count {
            0 => Self::empty(),
            1 => Group::Range { first, stride: 1, count },
            _ => Group::Range { first, stride, count },
        }
    }

    /// Those whose ranks in this group are given, in the order in which they are given.
    ///
    /// # Panics
    /// If there is no such rank.
    pub fn select(&self, ranks: &Group) -> Self {
        match (self, ranks) {
            (_, Group::Range { count: 0, .. }) => Self::empty(),
            (Group::Range { stride, .. }, Group::Range { first, stride: step, count }) => {
                self.process(ranks.process(*count as usize - 1) as usize);
                Self::range(self.process(*first as usize), stride * step, *count)
            }
            _ => Self::of(ranks.iter().map(|rank| self.process(rank as usize)).collect()),
        }
    }

    /// The processes of both: those of this group, then the others.
    #[must_use]
    pub fn union(&self, other: &Group) -> Self {
        let known = other.translate(0..other.size(), self);
        let others = other.iter().zip(known).filter(|(_, known)| known.is_none()).map(|(process, _)| process);
        Self::of(self.iter().chain(others).collect())
    }

    /// The processes of this group that are in another too.
    #[must_use]
    pub fn intersection(&self, other: &Group) -> Self {
        self.filtered(other, true)
    }

    /// The processes of this group that are not in another.
    #[must_use]
    pub fn difference(&self, other: &Group) -> Self {
        self.filtered(other, false)
    }

    fn filtered(&self, other: &Group, there: bool) -> Self {
        let known = self.translate(0..self.size(), other);
        let kept = self.iter().zip(known).filter(|(_, known)| known.is_some() == there);
        Self::of(kept.map(|(process, _)| process).collect())
    }

    /// All but those whose ranks are given.
    #[must_use]
    pub fn without(&self, ranks: &BTreeSet<usize>) -> Self {
        let kept = self.iter().enumerate().filter(|(rank, _)| !ranks.contains(rank));
        Self::of(kept.map(|(_, process)| process).collect())
    }

    /// Appends it to a message.
    pub fn write(&self, data: &mut Data) {
        let mut number = |value: u32| data.extend_from_slice(&value.to_le_bytes());
        match self {
            Group::Range { first, stride, count } => {
                [0, *first, *stride as u32, *count].into_iter().for_each(number);
            }
            Group::List(list) => {
                [1, list.len() as u32].into_iter().for_each(&mut number);
                list.iter().copied().for_each(number);
            }
        }
    }

    /// Takes it from the beginning of a message.
    ///
    /// # Panics
    /// If none is there.
    pub fn read(data: &mut &[u8]) -> Self {
        let mut number = || {
            let (first, rest) = data.split_first_chunk().expect("a group is in the message");
            *data = rest;
            u32::from_le_bytes(*first)
        };
        if number() == 0 {
            let (first, stride, count) = (number(), number() as i32, number());
            return Group::Range { first, stride, count };
        }
        let length = number();
        Group::List((0..length).map(|_| number()).collect())
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

impl Rank {
    /// A group.
    ///
    /// # Errors
    /// If the handle stands for none.
    pub fn group(&self, group: abi::Group) -> Result<Rc<Group>> {
        match group {
            abi::GROUP_EMPTY => Ok(Rc::new(Group::empty())),
            abi::GROUP_NULL => fail(abi::ERR_GROUP, "the group is MPI_GROUP_NULL"),
            abi::Group(handle) => match self.groups.borrow().get(handle) {
                Some(found) => Ok(Rc::clone(found)),
                None => fail(
                    abi::ERR_GROUP,
                    format!("no group has the handle {handle:#x}: it was freed, or never made"),
                ),
            },
        }
    }

    /// Keeps a group that was made of another, and gives its handle: it comes from the same session, if from any.
    pub fn keep_group_of(&self, parent: abi::Group, group: Group) -> abi::Group {
        let made = self.keep_group(group);
        let session = self.sessions_of_groups.borrow().get(&parent.0).cloned();
        self.comes_from(made, session.as_ref());
        made
    }

    /// Notes which session a group comes from.
    pub fn comes_from(&self, group: abi::Group, session: Option<&Rc<OpenSession>>) {
        if let Some(session) = session.filter(|_| group != abi::GROUP_EMPTY) {
            self.sessions_of_groups.borrow_mut().insert(group.0, Rc::clone(session));
        }
    }

    /// Keeps a group, and gives its handle.
    pub fn keep_group(&self, group: Group) -> abi::Group {
        if group.size() == 0 {
            return abi::GROUP_EMPTY;
        }
        abi::Group(self.groups.borrow_mut().insert(Rc::new(group)))
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

    /// All lists without repetition of some of the processes 0 to 4, of three at most.
    fn small() -> Vec<Vec<u32>> {
        let mut lists = vec![vec![]];
        for length in 0..3 {
            let shorter: Vec<Vec<u32>> =
                lists.iter().filter(|list: &&Vec<u32>| list.len() == length).cloned().collect();
            for list in shorter {
                for next in (0..5).filter(|next| !list.contains(next)) {
                    lists.push(list.iter().copied().chain([next]).collect());
                }
            }
        }
        lists
    }

    #[test]
    fn operations_are_those_of_ordered_sets() {
        for a in small() {
            for b in small() {
                let (first, second) = (Group::of(a.clone()), Group::of(b.clone()));
                let list = |group: Group| group.iter().collect::<Vec<_>>();
                let both = a.iter().chain(b.iter().filter(|process| !a.contains(process)));
                assert_eq!(list(first.union(&second)), both.copied().collect::<Vec<_>>());
                let common = a.iter().filter(|process| b.contains(process));
                assert_eq!(list(first.intersection(&second)), common.copied().collect::<Vec<_>>());
                let rest = a.iter().filter(|process| !b.contains(process));
                assert_eq!(list(first.difference(&second)), rest.copied().collect::<Vec<_>>());
                let (mut sorted_a, mut sorted_b) = (a.clone(), b.clone());
                sorted_a.sort_unstable();
                sorted_b.sort_unstable();
                assert_eq!(first.is_similar(&second), sorted_a == sorted_b);
                assert_eq!(first == second, a == b);
            }
        }
    }

    #[test]
    fn selecting_ranks_is_composition() {
        let groups = [Group::range(3, 2, 5), Group::range(20, -3, 5), Group::of(vec![7, 1, 9, 2, 4])];
        for group in &groups {
            for ranks in small() {
                let expected: Vec<u32> = ranks.iter().map(|rank| group.process(*rank as usize)).collect();
                let selected = group.select(&Group::of(ranks));
                assert_eq!(selected.iter().collect::<Vec<_>>(), expected);
                assert_eq!(selected, Group::of(expected), "equal groups have one form");
            }
        }
        assert_eq!(groups[0].without(&[0, 4].into()), Group::range(5, 2, 3));
    }

    #[test]
    fn groups_travel_in_messages() {
        let groups = [Group::empty(), Group::range(3, -1, 4), Group::of(vec![5, 1, 2])];
        let mut data = Data::new();
        groups.iter().for_each(|group| group.write(&mut data));
        let mut rest = &data[..];
        assert_eq!([(); 3].map(|()| Group::read(&mut rest)), groups);
        assert!(rest.is_empty());
    }
}
