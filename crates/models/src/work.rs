//! What can be asked of the models: executions, transfers, disk accesses, parallel tasks.

use std::fmt;

use simurgh_platform::{DiskId, HostId, LinkId, RouteError};

/// A number chosen by whoever starts a piece of work, given back when it ends.
pub type Token = u64;

/// One piece of work under way. An id is never reused: a slot's generation grows each time it is freed.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub struct ActionId(
    /// The slot above, the generation below.
    u64,
);

impl ActionId {
    #[inline]
    pub(crate) fn new(index: u32, generation: u32) -> ActionId {
        ActionId(u64::from(index) << 32 | u64::from(generation))
    }

    /// An alarm, which is no piece of work, by the number of its date.
    #[inline]
    pub(crate) fn alarm(sequence: u64) -> ActionId {
        ActionId::new(u32::MAX, sequence as u32)
    }

    #[inline]
    pub(crate) fn index(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    pub(crate) fn generation(self) -> u32 {
        self.0 as u32
    }

    /// The id as a number, for others to carry; none is `u64::MAX`.
    #[inline]
    pub fn to_bits(self) -> u64 {
        self.0
    }

    /// Reads back what [`to_bits`](Self::to_bits) wrote.
    #[inline]
    pub fn from_bits(bits: u64) -> ActionId {
        ActionId(bits)
    }
}

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.index(), self.generation())
    }
}

/// A computation on one host.
#[derive(Clone, PartialEq, Debug)]
pub struct Execution {
    /// Where it runs.
    pub host: HostId,
    /// How much each thread computes.
    pub flops: f64,
    /// Its share compared to the others of the host; 1 is usual, 2 gets twice as much. Ignored if it has several
    /// threads.
    pub priority: f64,
    /// The most it may get, in flop/s. Ignored if it has several threads.
    pub bound: Option<f64>,
    /// How many cores it can fill. Each thread counts as one execution.
    pub threads: u32,
}

impl Execution {
    /// `flops` on `host`, of priority 1, unbounded, with one thread.
    pub fn new(host: HostId, flops: f64) -> Execution {
        Execution { host, flops, priority: 1.0, bound: None, threads: 1 }
    }
}

/// A message between two hosts.
#[derive(Clone, PartialEq, Debug)]
pub struct Transfer {
    /// The sender's host.
    pub src: HostId,
    /// The receiver's host.
    pub dst: HostId,
    /// Its size; cut to whole bytes.
    pub bytes: f64,
    /// The most it may move, in B/s.
    pub rate: Option<f64>,
}

impl Transfer {
    /// `bytes` from `src` to `dst`, as fast as the network allows.
    pub fn new(src: HostId, dst: HostId, bytes: f64) -> Transfer {
        Transfer { src, dst, bytes, rate: None }
    }
}

/// Which way bytes go between a host and its disk.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Direction {
    /// From the disk.
    Read,
    /// To the disk.
    Write,
}

/// A read or a write.
#[derive(Clone, PartialEq, Debug)]
pub struct DiskAccess {
    /// Which disk.
    pub disk: DiskId,
    /// Read or write.
    pub direction: Direction,
    /// How much; cut to whole bytes.
    pub bytes: f64,
    /// Its share compared to the other accesses; 1 is usual.
    pub priority: f64,
}

impl DiskAccess {
    /// `bytes` read from or written to `disk`, of priority 1.
    pub fn new(disk: DiskId, direction: Direction, bytes: f64) -> DiskAccess {
        DiskAccess { disk, direction, bytes, priority: 1.0 }
    }
}

/// Computations and messages that progress together, as one: when half of one is done, so is half of each.
#[derive(Clone, PartialEq, Debug)]
pub struct ParallelTask {
    /// The hosts that take part.
    pub hosts: Vec<HostId>,
    /// What each computes; empty, or one a host.
    pub flops: Vec<f64>,
    /// What each sends to each, row by row (a row is a source); empty, or hosts × hosts.
    pub bytes: Vec<f64>,
}

/// Something that can be shared, can fail, and can be what limits a piece of work.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub enum Resource {
    /// The processor of a host.
    Host(HostId),
    /// A link (one half of it, where it is split).
    Link(LinkId),
    /// A disk.
    Disk(DiskId),
}

/// Why a piece of work cannot even start.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum Refused {
    /// A resource that it needs is off.
    #[error("{}", off(.0))]
    Off(Resource),
    /// The two hosts are not joined.
    #[error("{0}")]
    NoRoute(RouteError),
    /// The request makes no sense.
    #[error("{0}")]
    Invalid(String),
}

impl Refused {
    /// A share or a limit must keep its sense when capacities are multiplied with it.
    pub fn unless_sensible(what: &str, value: f64) -> Result<(), Refused> {
        const LEAST: f64 = 1e-100;
        const MOST: f64 = 1e100;
        let expected = match value {
            _ if (LEAST..=MOST).contains(&value) => return Ok(()),
            _ if value > MOST => format!("it is too large: give {MOST:e} at most"),
            _ if value > 0.0 => format!("it is too small: give {LEAST:e} at least"),
            _ => "give a number above 0, such as 1".to_owned(),
        };
        Err(Refused::Invalid(format!("{what} cannot be {value:e}; {expected}")))
    }
}

fn off(resource: &Resource) -> String {
    match resource {
        Resource::Host(id) => format!("host number {id} is off"),
        Resource::Link(id) => format!("link number {id} is off"),
        Resource::Disk(id) => format!("disk number {id} is off"),
    }
}
