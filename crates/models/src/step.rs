//! What a step of the clock reports.

use simurgh_platform::{HostId, LinkId};

use crate::work::{ActionId, Resource, Token};

/// What happened at one stop of the clock. Cleared and filled anew by each step.
#[derive(Clone, Default, PartialEq, Debug)]
pub struct Step {
    /// Work that ended: host things, then communications, then disks; in each, failed before finished; in
    /// these by date, then by when the date was set.
    pub ended: Vec<Ended>,
    /// Resources that changed, in the order of the changes.
    pub changes: Vec<Change>,
}

/// One piece of work that is over.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Ended {
    /// Which one; its id is now free.
    pub action: ActionId,
    /// The number given when it was started.
    pub token: Token,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a piece of work ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All of it is done.
    Done,
    /// This resource went off under it.
    Failed(Resource),
}

/// A resource that is no longer as it was.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Change {
    /// A host is on again.
    HostOn(HostId),
    /// A host went off: its executions failed, its actors are to be killed.
    HostOff(HostId),
    /// A link is on again.
    LinkOn(LinkId),
    /// A link went off: its flows failed.
    LinkOff(LinkId),
    /// The speed of a host's cores changed.
    HostSpeed(HostId),
    /// The bandwidth of a link changed.
    LinkBandwidth(LinkId),
    /// The latency of a link changed.
    LinkLatency(LinkId),
}

/// What became of the clock.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Progress {
    /// The clock is at the next instant at which something happens (possibly the same date as before).
    Moved,
    /// Nothing is left that could end; the clock stays.
    Idle,
    /// The date given came before anything ended; the clock is there.
    Reached,
}

/// Counts of what was done so far.
#[derive(Copy, Clone, Default, PartialEq, Eq, Debug)]
pub struct Statistics {
    /// How many times shares were computed.
    pub solves: u64,
    /// How many variables took part in those, all together.
    pub variables_solved: u64,
    /// How many dates were reached: completions, ends of waits, timers.
    pub events: u64,
    /// How many times the clock stopped.
    pub steps: u64,
    /// How many profile events were applied.
    pub profile_events: u64,
    /// How many pieces of work were started.
    pub started: u64,
    /// How long computing shares took, if this was to be measured ([`Models::time_solver`](crate::Models::time_solver)).
    pub solver_nanoseconds: u64,
}
