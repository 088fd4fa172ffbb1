//! What is recorded for those who want to see: loads over time, and why a piece of work took as long as it did.

use simurgh_platform::{HostId, LinkId};

use crate::time::SimTime;
use crate::work::{DiskAccess, Execution, ParallelTask, Resource, Token};

/// The load of a resource from this date on.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Usage {
    /// Since when.
    pub at: SimTime,
    /// Which resource.
    pub resource: Resource,
    /// How much of it is used, in flop/s or B/s (wifi links: the share of the time).
    pub used: f64,
    /// How much of it there is, in the same unit.
    pub capacity: f64,
}

/// Why one piece of work lasted from its start to its end.
#[derive(Clone, PartialEq, Debug)]
pub struct Explanation {
    /// When it was started.
    pub started: SimTime,
    /// When it ended; for one still under way, the date up to which it is explained.
    pub ended: SimTime,
    /// What it was.
    pub what: What,
    /// For a transfer, when its latency was over and bytes began to move.
    pub latency_until: Option<SimTime>,
    /// Its progress, from start to end; neighbours differ.
    pub segments: Vec<Segment>,
}

/// What was asked, and the numbers derived from it at the start.
#[derive(Clone, PartialEq, Debug)]
pub enum What {
    /// A sleep or a timeout of so many seconds.
    Timer {
        /// How long.
        duration: f64,
    },
    /// A computation.
    Execution(Execution),
    /// A message.
    Transfer(FlowFacts),
    /// A disk access.
    DiskAccess(DiskAccess),
    /// A parallel task.
    ParallelTask(ParallelTask),
}

/// The numbers of a flow, as they were at its start.
#[derive(Clone, PartialEq, Debug)]
pub struct FlowFacts {
    /// The sender's host.
    pub src: HostId,
    /// The receiver's host.
    pub dst: HostId,
    /// How many bytes move.
    pub bytes: f64,
    /// The links from sender to receiver.
    pub links: Vec<LinkId>,
    /// The links by which acknowledgements come back; empty without cross-traffic.
    pub reverse_links: Vec<LinkId>,
    /// The sum of the latencies.
    pub latency: f64,
    /// The wait is this times the latency.
    pub latency_factor: f64,
    /// Bytes move at this times the share.
    pub bandwidth_factor: f64,
    /// The smallest bandwidth of the route, and the link that has it.
    pub bandwidth: Option<(LinkId, f64)>,
    /// The most that the TCP window allows: gamma / (2 latency).
    pub window_bound: Option<f64>,
    /// The rate asked for.
    pub rate: Option<f64>,
    /// The penalty: shares are inversely proportional to it.
    pub penalty: f64,
}

/// A stretch of time during which the rate of a piece of work did not change, nor its cause.
#[derive(Clone, PartialEq, Debug)]
pub struct Segment {
    /// From when.
    pub from: SimTime,
    /// Until when.
    pub to: SimTime,
    /// Work a second, in flop/s, B/s, or share/s for a parallel task.
    pub rate: f64,
    /// What kept the rate from being higher.
    pub limit: Limit,
    /// Who shares the limiting resource, itself left out; in rising order.
    pub sharers: Vec<Token>,
}

/// What kept a rate from being higher.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Limit {
    /// This resource is full.
    Resource(Resource),
    /// The smallest bandwidth of the route, taken when the flow started.
    Bandwidth(LinkId),
    /// The TCP window: gamma / (2 latency).
    TcpWindow,
    /// The rate asked for.
    UserRate,
    /// One execution never gets more than a core (or as many cores as it has threads).
    OneCore,
    /// The bound asked for.
    UserBound,
    /// It is suspended.
    Suspended,
    /// The wait for the latency is not over, or a timer is running.
    Latency,
    /// All the slots of a link with a concurrency limit are taken.
    Concurrency,
    /// Nothing: it is over at once.
    Nothing,
}
