//! What an actor calls what it asks, in words of its own, for people who read of it.
//!
//! Whoever drives actors says whether labels are wanted ([`Port::wants_labels`](super::Port::wants_labels)): making them takes time, and most
//! executions are read by nobody.

use super::port::PortGuard;

/// What an actor calls what it asks. Several requests may be parts of one call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The call as people say it: `MPI_Send(2 x MPI_INT to 1, tag 7)`.
    pub text: String,
    /// Which call of the actor it is: requests with the same number belong together.
    pub call: u64,
    /// Which part of it.
    pub part: Part,
}

/// Which part of a call a request is.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Part {
    /// What the caller asked for: its message, its wait.
    Own,
    /// What the call does to get there, and nobody has asked for.
    Inner,
    /// What people need not know of at all.
    Hidden,
}

/// Says what the next request of the actor that runs is called, if somebody wants to know.
pub fn label(make: impl FnOnce() -> Label) {
    if let Some(port) = PortGuard::try_take().port().filter(|port| port.wants_labels) {
        port.label = Some(Box::new(make()));
    }
}
