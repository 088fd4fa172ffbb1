//! What bounds a search, and how far it has come.

/// How far a search has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// The distinct states so far.
    pub states: u64,
    /// The steps so far.
    pub transitions: u64,
    /// The most steps from a start so far.
    pub depth: usize,
}

type Stop<'a> = Box<dyn FnMut(&Progress) -> bool + 'a>;

/// What bounds a search.
pub(crate) struct Limits<'a> {
    pub(crate) states_max: u64,
    pub(crate) depth_max: usize,
    pub(crate) stop: Option<Stop<'a>>,
}
