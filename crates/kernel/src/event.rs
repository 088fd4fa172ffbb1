//! What happens, told to whoever listens: the kernel knows no viewer.

use simurgh_models::{Explanation, SimTime, Usage};
use simurgh_platform::{DiskId, HostId, LinkId};

use crate::ids::{ActivityId, ActorId, BarrierId, ConditionId, MailboxId, MutexId, SemaphoreId};
use crate::simcall::Failure;

/// Why an actor does not go on.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum Reason {
    /// It sends to a mailbox.
    Sending(MailboxId),
    /// It receives from a mailbox.
    Receiving(MailboxId),
    /// It computes.
    Executing,
    /// It reads from a disk.
    Reading(DiskId),
    /// It writes to a disk.
    Writing(DiskId),
    /// It takes part in a parallel task.
    Parallel,
    /// It waits for one of several activities.
    WaitingAny(u32),
    /// It sleeps.
    Sleeping,
    /// It wants a lock.
    Locking(MutexId),
    /// It wants one from a semaphore.
    Acquiring(SemaphoreId),
    /// It waits for a notification.
    Condition(ConditionId),
    /// It waits for the others at a barrier.
    Barrier(BarrierId),
    /// It waits for the end of an actor.
    Joining(ActorId),
    /// It was halted.
    Suspended,
}

/// Something that happened. Activities are named by the identity they have until they are over.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// An actor was created.
    ActorStarted {
        /// Who.
        actor: ActorId,
        /// Its name.
        name: String,
        /// Where.
        host: HostId,
    },
    /// An actor ended.
    ActorEnded {
        /// Who.
        actor: ActorId,
        /// Whether it was killed or failed.
        failed: bool,
    },
    /// An actor went to another host.
    ActorMoved {
        /// Who.
        actor: ActorId,
        /// Where to.
        host: HostId,
    },
    /// An actor stopped to wait.
    Blocked {
        /// Who.
        actor: ActorId,
        /// What for.
        reason: Reason,
    },
    /// A blocked actor goes on.
    Unblocked {
        /// Who.
        actor: ActorId,
    },
    /// A message got under way: sender and receiver have met.
    TransferStarted {
        /// Which.
        activity: ActivityId,
        /// Who sent it.
        sender: ActorId,
        /// Who receives it.
        receiver: ActorId,
        /// The sender's host.
        src: HostId,
        /// The receiver's host.
        dst: HostId,
        /// Where they met.
        mailbox: MailboxId,
        /// How long it is.
        bytes: f64,
        /// When the message was posted.
        posted: SimTime,
    },
    /// A computation began.
    ExecutionStarted {
        /// Which.
        activity: ActivityId,
        /// Whose.
        actor: ActorId,
        /// Where.
        host: HostId,
        /// How much.
        flops: f64,
    },
    /// A disk access began.
    AccessStarted {
        /// Which.
        activity: ActivityId,
        /// Whose.
        actor: ActorId,
        /// On which disk.
        disk: DiskId,
        /// How much.
        bytes: f64,
        /// Whether it writes.
        write: bool,
    },
    /// A parallel task began.
    ParallelStarted {
        /// Which.
        activity: ActivityId,
        /// Whose.
        actor: ActorId,
        /// Where.
        hosts: Vec<HostId>,
    },
    /// An activity that had started is over.
    ActivityEnded {
        /// Which.
        activity: ActivityId,
        /// How.
        result: Result<(), Failure>,
    },
    /// Why an activity took as long as it did.
    Explained {
        /// Which.
        activity: ActivityId,
        /// Why.
        explanation: Box<Explanation>,
    },
    /// The load of a resource changed.
    Used(Usage),
    /// A host went on or off.
    HostState(HostId, bool),
    /// A link went on or off.
    LinkState(LinkId, bool),
}

/// Someone who wants to know what happens.
pub trait Observer {
    /// Called for each event, in order.
    fn event(&mut self, now: SimTime, event: &Event);
}
