//! A run as plain data: who did what, from when to when, and how loaded everything was.
//!
//! All names are resolved, so that writers need nothing else. Everything is in a fixed order: hosts, links, disks and
//! actors by identity, the rest as it happened.

use simurgh_kernel::ids::ActorId;
use simurgh_models::SimTime;
use simurgh_platform::{DiskId, HostId, LinkId};

/// A date, and a place among all that happened at that date.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mark {
    /// The date.
    pub at: SimTime,
    /// How many events were recorded before.
    pub order: u64,
}

impl Mark {
    /// Before everything else.
    pub const START: Mark = Mark { at: SimTime::ZERO, order: 0 };

    /// The date in seconds.
    pub fn seconds(self) -> f64 {
        self.at.seconds()
    }
}

/// From one mark to another.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Span {
    /// Its beginning.
    pub from: Mark,
    /// Its end.
    pub to: Mark,
}

/// What was recorded of a run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Timeline {
    /// What the platform is called.
    pub platform: String,
    /// What the run is called, if it has a name: the scenario or the program.
    pub title: Option<String>,
    /// When the run ended.
    pub end: SimTime,
    /// The hosts that had actors, load or failures.
    pub hosts: Vec<HostLine>,
    /// The links that had load or failures.
    pub links: Vec<LinkLine>,
    /// The disks that had load.
    pub disks: Vec<DiskLine>,
    /// All actors.
    pub actors: Vec<ActorLine>,
    /// The messages that got under way.
    pub messages: Vec<Message>,
    /// The computations.
    pub executions: Vec<Execution>,
    /// The reads and writes.
    pub accesses: Vec<Access>,
    /// The parallel tasks.
    pub parallel_tasks: Vec<ParallelTask>,
    /// The names of calls, where intervals are told by them: in the order of their colours.
    pub calls: Vec<String>,
}

impl Timeline {
    /// The host of that identity, if anything happened there.
    pub fn host(&self, id: HostId) -> Option<&HostLine> {
        let found = self.hosts.binary_search_by_key(&id, |host| host.id);
        found.ok().map(|index| &self.hosts[index])
    }

    /// The actor of that identity, if it was recorded.
    pub fn actor(&self, id: ActorId) -> Option<&ActorLine> {
        let found = self.actors.binary_search_by_key(&id, |actor| actor.id);
        found.ok().map(|index| &self.actors[index])
    }
}

/// What happened to a host.
#[derive(Clone, PartialEq, Debug)]
pub struct HostLine {
    /// Its identity.
    pub id: HostId,
    /// Its name.
    pub name: String,
    /// How many flop/s were computed, from each date on.
    pub loads: Vec<Load>,
    /// When it was off.
    pub off: Vec<Span>,
}

/// What happened to a link.
#[derive(Clone, PartialEq, Debug)]
pub struct LinkLine {
    /// Its identity.
    pub id: LinkId,
    /// Its name.
    pub name: String,
    /// What its load is counted in.
    pub unit: Unit,
    /// How much it carried, from each date on.
    pub loads: Vec<Load>,
    /// When it was off.
    pub off: Vec<Span>,
}

/// What happened to a disk.
#[derive(Clone, PartialEq, Debug)]
pub struct DiskLine {
    /// Its identity.
    pub id: DiskId,
    /// Its name.
    pub name: String,
    /// The host it is in.
    pub host: HostId,
    /// How many B/s were read and written, from each date on.
    pub loads: Vec<Load>,
}

/// What a load is counted in.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Bytes a second.
    BytesPerSecond,
    /// The share of the time that the air is taken, for wifi.
    AirTime,
}

/// How much of a resource is used from a date on.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct Load {
    /// Since when.
    pub at: SimTime,
    /// How much is used.
    pub used: f64,
    /// How much there is.
    pub capacity: f64,
}

impl Load {
    /// The part that is used: 1 when all of it is; 0 where there is nothing to use.
    pub fn ratio(&self) -> f64 {
        let ratio = self.used / self.capacity;
        if ratio.is_finite() { ratio } else { 0.0 }
    }
}

/// The life of an actor.
#[derive(Clone, PartialEq, Debug)]
pub struct ActorLine {
    /// Its identity.
    pub id: ActorId,
    /// Its name; others may have the same.
    pub name: String,
    /// Where it was; more than one if it moved.
    pub stays: Vec<Stay>,
    /// What it did. Between two intervals it runs, which takes no time.
    pub intervals: Vec<Interval>,
    /// How its life ended.
    pub ending: Ending,
}

/// An actor's time on a host.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub struct Stay {
    /// Where.
    pub host: HostId,
    /// When.
    pub span: Span,
}

/// How the life of an actor ended.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It came to its end.
    Finished,
    /// It was killed or failed.
    Failed,
    /// It was alive when the run ended.
    Alive,
}

/// Something an actor did that may take time.
#[derive(Clone, PartialEq, Debug)]
pub struct Interval {
    /// What it did.
    pub kind: Kind,
    /// With what: the name of the mailbox, the disk, the actor...; may be empty.
    pub detail: String,
    /// On which host.
    pub host: HostId,
    /// When.
    pub span: Span,
    /// The work whose end ended it.
    pub work: Option<Work>,
    /// Why it did not succeed.
    pub failure: Option<String>,
}

/// What an actor can be seen doing.
#[derive(Copy, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Computes.
    Executing,
    /// Takes part in a parallel task.
    Parallel,
    /// Sends to a mailbox.
    Sending,
    /// Receives from a mailbox.
    Receiving,
    /// Reads from a disk.
    Reading,
    /// Writes to a disk.
    Writing,
    /// Waits for one of several activities.
    WaitingAny,
    /// Sleeps.
    Sleeping,
    /// Wants a lock.
    Locking,
    /// Wants one from a semaphore.
    Acquiring,
    /// Waits for a notification.
    Condition,
    /// Waits for the others at a barrier.
    Barrier,
    /// Waits for the end of an actor.
    Joining,
    /// Halted.
    Suspended,
    /// Within a call, which the detail names.
    Calling,
}

impl Kind {
    /// All kinds, in the order of the legend.
    pub const ALL: [Kind; 15] = [
        Kind::Executing,
        Kind::Parallel,
        Kind::Sending,
        Kind::Receiving,
        Kind::Reading,
        Kind::Writing,
        Kind::WaitingAny,
        Kind::Sleeping,
        Kind::Locking,
        Kind::Acquiring,
        Kind::Condition,
        Kind::Barrier,
        Kind::Joining,
        Kind::Suspended,
        Kind::Calling,
    ];
}

/// A piece of work, by its place in the lists of the timeline.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Work {
    /// One of [`Timeline::messages`].
    Message(usize),
    /// One of [`Timeline::executions`].
    Execution(usize),
    /// One of [`Timeline::accesses`].
    Access(usize),
    /// One of [`Timeline::parallel_tasks`].
    Parallel(usize),
}

/// How a piece of work ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// All of it was done.
    Done,
    /// It was not, for this reason.
    Failed(String),
    /// It was under way when the run ended.
    Unfinished,
}

/// A message that got under way.
#[derive(Clone, PartialEq, Debug)]
pub struct Message {
    /// Who sent it.
    pub sender: ActorId,
    /// Who received it.
    pub receiver: ActorId,
    /// Where from.
    pub src: HostId,
    /// Where to.
    pub dst: HostId,
    /// The name of the mailbox where they met.
    pub mailbox: String,
    /// How long it is.
    pub bytes: f64,
    /// When it was posted.
    pub posted: SimTime,
    /// From when sender and receiver had met to when the message arrived or failed.
    pub span: Span,
    /// Whether it arrived.
    pub outcome: Outcome,
}

/// A computation.
#[derive(Clone, PartialEq, Debug)]
pub struct Execution {
    /// Whose.
    pub actor: ActorId,
    /// Where it began.
    pub host: HostId,
    /// How much.
    pub flops: f64,
    /// When.
    pub span: Span,
    /// How it ended.
    pub outcome: Outcome,
}

/// A read or a write.
#[derive(Clone, PartialEq, Debug)]
pub struct Access {
    /// Whose.
    pub actor: ActorId,
    /// On which disk.
    pub disk: DiskId,
    /// How much.
    pub bytes: f64,
    /// Which way.
    pub direction: simurgh_models::Direction,
    /// When.
    pub span: Span,
    /// How it ended.
    pub outcome: Outcome,
}

/// Computations and communications on several hosts at once.
#[derive(Clone, PartialEq, Debug)]
pub struct ParallelTask {
    /// Whose.
    pub actor: ActorId,
    /// Where.
    pub hosts: Vec<HostId>,
    /// When.
    pub span: Span,
    /// How it ended.
    pub outcome: Outcome,
}
