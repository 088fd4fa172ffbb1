//! The names of mailboxes, and their numbers. Mailboxes that are made as a row have a name in common, which is kept once.

use std::collections::BTreeMap;
use std::sync::Arc;

use simurgh_kernel::ids::MailboxId;

/// All names that a program has given to mailboxes.
#[derive(Debug, Default)]
pub(super) struct Names {
    by_name: BTreeMap<Arc<str>, MailboxId>,
    /// Those that have a name of their own, by number.
    single: Vec<(MailboxId, Arc<str>)>,
    /// The others, by number.
    rows: Vec<Row>,
    /// How many numbers are given out.
    count: u32,
}

/// Mailboxes whose names are a text followed by 0, 1, 2...
#[derive(Debug)]
struct Row {
    first: u32,
    length: u32,
    before: Arc<str>,
}

impl Row {
    /// The number of the mailbox that has this name.
    fn find(&self, name: &str) -> Option<MailboxId> {
        let rest = name.strip_prefix(&*self.before)?;
        let place: u32 = rest.parse().ok()?;
        // "+7" and "007" are numbers too, but not the names of any of these.
        (place < self.length && place.to_string() == rest).then(|| MailboxId(self.first + place))
    }
}

/// The mailboxes of a row.
#[derive(Clone, Debug)]
pub(super) enum Ids {
    /// One number after the other.
    Consecutive { first: u32, length: u32 },
    /// Some had a number already, as single mailboxes or in a shorter row.
    Any(Arc<[MailboxId]>),
}

impl Names {
    /// The mailbox of this name, which need not exist before.
    pub(super) fn mailbox(&mut self, name: &str) -> MailboxId {
        if let Some(id) = self.find(name) {
            return id;
        }
        let id = MailboxId(self.take(1));
        let name: Arc<str> = name.into();
        self.single.push((id, Arc::clone(&name)));
        self.by_name.insert(name, id);
        id
    }

    /// The mailboxes whose names are this text followed by 0, 1, 2...
    pub(super) fn row(&mut self, before: &str, length: u32) -> Ids {
        if let Some(row) = self.rows.iter().find(|row| *row.before == *before && row.length >= length) {
            return Ids::Consecutive { first: row.first, length };
        }
        let is_taken =
            |names: &Self| (0..length).any(|place| names.find(&format!("{before}{place}")).is_some());
        let may_be_taken = !self.rows.is_empty() || self.has_any_with(before);
        if may_be_taken && is_taken(self) {
            return Ids::Any((0..length).map(|place| self.mailbox(&format!("{before}{place}"))).collect());
        }
        let first = self.take(length);
        self.rows.push(Row { first, length, before: before.into() });
        Ids::Consecutive { first, length }
    }

    /// The name of a mailbox.
    pub(super) fn name(&self, id: MailboxId) -> Option<String> {
        if let Ok(place) = self.single.binary_search_by_key(&id, |&(id, _)| id) {
            return Some(self.single[place].1.to_string());
        }
        let row = &self.rows[self.rows.partition_point(|row| row.first <= id.0).checked_sub(1)?];
        let place = id.0 - row.first;
        (place < row.length).then(|| format!("{}{place}", row.before))
    }

    fn find(&self, name: &str) -> Option<MailboxId> {
        self.by_name.get(name).copied().or_else(|| self.rows.iter().find_map(|row| row.find(name)))
    }

    /// Whether some single mailbox has a name that begins like this.
    fn has_any_with(&self, before: &str) -> bool {
        use std::ops::Bound::{Included, Unbounded};
        let mut following = self.by_name.range::<str, _>((Included(before), Unbounded));
        following.next().is_some_and(|(name, _)| name.starts_with(before))
    }

    fn take(&mut self, count: u32) -> u32 {
        let first = self.count;
        self.count = first.checked_add(count).expect("fewer than 2^32 mailboxes");
        first
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_row_has_numbers_and_names() {
        let mut names = Names::default();
        let before = names.mailbox("before");
        let Ids::Consecutive { first, length: 100 } = names.row("peer ", 100) else {
            panic!("none is taken")
        };
        assert_eq!(names.mailbox("peer 17"), MailboxId(first + 17));
        assert_eq!(names.name(MailboxId(first + 17)).as_deref(), Some("peer 17"));
        let others = ["peer 017", "peer +17", "peer 100", "peer"].map(|other| names.mailbox(other));
        assert!(others.iter().all(|id| id.0 >= first + 100));
        assert_eq!(names.name(others[0]).as_deref(), Some("peer 017"));
        assert_eq!(names.name(before).as_deref(), Some("before"));
        assert_eq!(names.name(MailboxId(first + 104)), None);
        assert!(
            matches!(names.row("peer ", 50), Ids::Consecutive { first: same, length: 50 } if same == first)
        );
    }

    proptest! {
        /// Whatever is asked for in whatever order, a name stands for one number and a number for one name.
        #[test]
        fn one_name_one_number(
            asked in prop::collection::vec(("[ab]?[01]{0,2}", prop::option::of(0_u32..13)), 1..30)
        ) {
            let mut names = Names::default();
            let mut known = BTreeMap::new();
            for (name, length) in asked {
                let got: Vec<(String, MailboxId)> = match length {
                    None => vec![(name.clone(), names.mailbox(&name))],
                    Some(length) => {
                        let ids = names.row(&name, length);
                        let id = |place| match &ids {
                            Ids::Consecutive { first, .. } => MailboxId(first + place),
                            Ids::Any(ids) => ids[place as usize],
                        };
                        (0..length).map(|place| (format!("{name}{place}"), id(place))).collect()
                    }
                };
                for (name, id) in got {
                    prop_assert_eq!(*known.entry(name.clone()).or_insert(id), id);
                    prop_assert_eq!(names.name(id), Some(name));
                }
            }
            let numbers: std::collections::BTreeSet<_> = known.values().collect();
            prop_assert_eq!(numbers.len(), known.len());
        }
    }
}
