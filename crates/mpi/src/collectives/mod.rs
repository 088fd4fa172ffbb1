//! Collectives: what is sent to whom, by algorithm, and which algorithm is taken when.

/// Which algorithms are taken.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Selection {}
