//! What differs between two sequences of bytes, such as a state before and after a handler: so that what is stored is the change alone.
//!
//! What programs keep changes by numbers that are counted up and lists that grow: bytes change where they are, and at one place some are
//! put in or taken out, behind which all are shifted. So bytes are compared one by one, those before some place with those at
//! the same distance from the beginning, those after it with those at the same distance from the end; the place is the one for which most
//! are equal. That takes one pass. What changes otherwise is right too, and longer than it could be.

use serde::{Deserialize, Serialize};

/// One step through the old bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Edit {
    /// So many bytes stay.
    keep: usize,
    /// So many are left out.
    skip: usize,
    /// These are put in.
    insert: Vec<u8>,
}

/// Equal bytes between two that differ are kept apart if there are more than so many: an edit takes a few bytes itself.
const GAP: usize = 8;

/// What makes `new` of `old`. All that follows the last edit stays.
pub(crate) fn between(old: &[u8], new: &[u8]) -> Vec<Edit> {
    let short = old.len().min(new.len());
    let from_begin = |place: usize| old[place] == new[place];
    let from_end = |place: usize| old[place + old.len() - short] == new[place + new.len() - short];
    // Where the bytes that are compared from the beginning stop, and those that are compared from the end begin.
    let (mut place, mut best, mut gain) = (0, 0_i64, 0_i64);
    for end in 1..=short {
        gain += i64::from(from_begin(end - 1)) - i64::from(from_end(end - 1));
        if gain > best {
            (place, best) = (end, gain);
        }
    }
    let mut edits = Edits { edits: Vec::new(), kept: 0 };
    (0..place).for_each(|at| edits.byte(from_begin(at), new[at]));
    edits.exchange(old.len() - short, &new[place..place + new.len() - short]);
    (place..short).for_each(|at| edits.byte(from_end(at), new[at + new.len() - short]));
    edits.joined(new)
}

/// Makes the new bytes of the old ones; nothing if they are not those that it was made for.
pub(crate) fn apply(old: &[u8], edits: &[Edit]) -> Option<Vec<u8>> {
    let (mut new, mut rest) = (Vec::with_capacity(old.len()), old);
    for Edit { keep, skip, insert } in edits {
        let (kept, behind) = rest.split_at_checked(*keep)?;
        new.extend(kept);
        new.extend(insert);
        rest = behind.get(*skip..)?;
    }
    new.extend(rest);
    Some(new)
}

struct Edits {
    edits: Vec<Edit>,
    /// How many bytes stayed since the last edit.
    kept: usize,
}

impl Edits {
    fn byte(&mut self, same: bool, new: u8) {
        if same {
            self.kept += 1;
        } else {
            self.exchange(1, &[new]);
        }
    }

    fn exchange(&mut self, skip: usize, insert: &[u8]) {
        if skip == 0 && insert.is_empty() {
            return;
        }
        match self.edits.last_mut().filter(|_| self.kept == 0) {
            Some(last) => {
                last.skip += skip;
                last.insert.extend(insert);
            }
            None => self.edits.push(Edit { keep: self.kept, skip, insert: insert.to_vec() }),
        }
        self.kept = 0;
    }

    /// Makes one of edits that have little between them.
    fn joined(self, new: &[u8]) -> Vec<Edit> {
        let mut joined: Vec<Edit> = Vec::new();
        let mut at = 0;
        for edit in self.edits {
            let kept = &new[at..at + edit.keep];
            at += edit.keep + edit.insert.len();
            match joined.last_mut().filter(|_| edit.keep <= GAP) {
                Some(last) => {
                    last.skip += edit.keep + edit.skip;
                    last.insert.extend(kept);
                    last.insert.extend(edit.insert);
                }
                None => joined.push(edit),
            }
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A list that grows by one, with a counter before it and one after it: a few bytes are stored, however long it is.
    #[test]
    fn a_list_that_grows_is_stored_by_what_is_new() {
        for length in [50_u32, 5000, 100_000] {
            let kept = |length: u32| {
                let list: Vec<(u32, u64)> = (0..length).map(|place| (place, u64::from(place) * 77)).collect();
                let other: Vec<u32> = (0..5000).collect();
                postcard::to_stdvec(&(length, list, other, length + 7)).expect("it is encoded")
            };
            let (old, new) = (kept(length), kept(length + 1));
            let edits = between(&old, &new);
            assert_eq!(apply(&old, &edits), Some(new));
            let stored = postcard::to_stdvec(&edits).expect("it is encoded").len();
            assert!(stored < 60, "{stored} bytes for one more than {length}");
        }
    }

    proptest! {
        #[test]
        fn what_changes_is_made_again(old: Vec<u8>, new: Vec<u8>) {
            prop_assert_eq!(apply(&old, &between(&old, &new)), Some(new));
        }

        #[test]
        fn a_few_changes_are_short(
            old in prop::collection::vec(any::<u8>(), 0..300), at: usize, put in prop::collection::vec(any::<u8>(), 0..20),
            flip: usize, out: bool,
        ) {
            let mut new = old.clone();
            let at = at % (old.len() + 1);
            new.splice(at..at, put.iter().copied());
            let changes = usize::from(!new.is_empty());
            if !new.is_empty() {
                let flip = flip % new.len();
                new[flip] ^= 1;
            }
            let (old, new) = if out { (new, old) } else { (old, new) };
            let edits = between(&old, &new);
            prop_assert_eq!(apply(&old, &edits), Some(new));
            let inserted: usize = edits.iter().map(|edit| edit.insert.len()).sum();
            prop_assert!(inserted <= put.len() + changes + 2 * GAP, "{:?}", edits);
            prop_assert_eq!(between(&old, &old), Vec::new());
        }

        #[test]
        fn edits_of_anything_else_do_not_panic(old: Vec<u8>, keep in 0_usize..300, skip: usize) {
            let _ = apply(&old, &[Edit { keep, skip, insert: vec![1] }, Edit { keep: skip, skip: keep, insert: vec![] }]);
        }
    }
}
