//! Fingerprints: 128 bits of what a value contains, the same in every run and on every machine.
//!
//! Values are hashed through their ordinary [`Hash`]. While a permutation of actors is in force, every
//! [`ActorId`](crate::ActorId) inside of a value is hashed as the actor that it is exchanged for; that is all that
//! symmetry needs, and nobody has to write how a state is rewritten.

use std::cell::{Cell, RefCell};

pub(crate) use simurgh_search::fingerprint::fingerprint;

thread_local! {
    /// Whether a permutation is in force: looked at before the permutation itself, since it hardly ever is.
    static PERMUTED: Cell<bool> = const { Cell::new(false) };
    static PERMUTATION: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// As whom an actor is hashed.
pub(crate) fn image_of(actor: u32) -> u32 {
    if !PERMUTED.get() {
        return actor;
    }
    PERMUTATION.with_borrow(|images| images.get(actor as usize).copied().unwrap_or(actor))
}

/// The actor that is hashed as this one.
pub(crate) fn origin_of(image: u32) -> u32 {
    if !PERMUTED.get() {
        return image;
    }
    PERMUTATION
        .with_borrow(|images| images.iter().position(|other| *other == image).map_or(image, |at| at as u32))
}

/// The fingerprints of a value under each of the permutations; one, plain, if there are none.
pub(crate) fn fingerprints(permutations: &[Vec<u32>], mut of: impl FnMut() -> u128) -> Box<[u128]> {
    if permutations.len() <= 1 {
        return Box::new([of()]);
    }
    permutations
        .iter()
        .map(|images| {
            PERMUTATION.with_borrow_mut(|current| current.clone_from(images));
            PERMUTED.set(true);
            let hash = of();
            PERMUTED.set(false);
            hash
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ActorId;

    #[test]
    fn a_permutation_renames_actors_inside_of_values() {
        let [first, second] = [ActorId(0), ActorId(1)];
        let swap = [vec![0, 1], vec![1, 0]];
        let of = |value: (ActorId, u8)| fingerprints(&swap, || fingerprint(&value));
        assert_eq!(of((first, 7))[1], of((second, 7))[0]);
        assert_ne!(of((first, 7))[0], of((second, 7))[0]);
        assert_ne!(of((first, 7))[1], of((second, 8))[0]);
    }
}
