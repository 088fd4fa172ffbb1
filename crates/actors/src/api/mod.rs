//! What an actor's code is written with.

mod activity;
mod actor;
mod assertion;
mod exposed;
mod mailbox;
mod mailboxes;
mod names;
mod quantity;
mod resources;
mod shared;
mod synchronisation;
mod task;
#[cfg(test)]
mod tests;

pub use activity::{Activity, ActivitySet, ActivityState, Start, Test, Wait, WaitAll, WaitAny};
pub use actor::{ActorHandle, Ctx, Execute, IntoEnding, Parallel, Spawn};
pub(crate) use actor::{body, reboot};
#[doc(hidden)]
pub use assertion::violated;
pub use exposed::{Exposed, IntoJudgement, View};
pub use mailbox::{Detach, Mailbox, Recv, Send};
pub use mailboxes::Mailboxes;
pub use quantity::Seconds;
pub use resources::{Access, Disk, Host, HostRef, Link};
pub(crate) use shared::{Registry, Shared};
pub use synchronisation::{Barrier, Condvar, Lock, Mutex, MutexGuard, Semaphore};
pub use task::Task;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use simurgh_kernel::context::Call;
use simurgh_kernel::simcall::{Answer, Failure, Payload, PlatformRequest, Simcall};

use crate::error::{Error, Result};

/// What reads an answer.
pub(crate) type Reader<T> = fn(Answer) -> T;

/// A simcall whose answer means something: the future behind most operations.
#[must_use = "nothing happens until it is awaited"]
pub struct Ask<T> {
    call: Call,
    read: Reader<T>,
}

impl<T> Ask<T> {
    #[track_caller]
    pub(crate) fn new(simcall: Simcall, read: Reader<T>) -> Self {
        Self { call: simurgh_kernel::context::call(simcall), read }
    }

    /// What it asks of the platform, for whoever is no actor; and how the answer is read.
    pub(crate) fn into_request(mut self) -> Result<(PlatformRequest, Reader<T>)> {
        match self.call.simcall_mut() {
            Some(Simcall::Platform(request)) => Ok((*request, self.read)),
            _ => Err(Error::input(
                "only an actor can ask for this; hosts and links can be asked and changed so",
            )),
        }
    }
}

impl<T> std::fmt::Debug for Ask<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ask").field("call", &self.call).finish_non_exhaustive()
    }
}

impl<T> Future for Ask<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let read = self.read;
        Pin::new(&mut self.call).poll(cx).map(read)
    }
}

/// An answer of another kind than asked for can only be a mistake of ours.
pub(crate) fn unexpected(answer: &Answer) -> ! {
    unreachable!("the kernel answered {answer:?} to something else")
}

/// As [`completed`], of an answer that is read where it lies: it is taken in pieces, for what was written piece by piece
/// and is copied as a whole is waited for.
#[inline]
pub(crate) fn take_completed(answer: &mut Option<Answer>) -> std::result::Result<Option<Payload>, Failure> {
    let result = match answer {
        Some(Answer::Completed { message, .. }) => Ok(message.take()),
        Some(Answer::Failed { failure, .. }) => Err(*failure),
        _ => return completed(answer.take().expect("it is there")),
    };
    // Nothing is left in it that must be dropped.
    std::mem::forget(answer.take());
    result
}

/// How an activity that was waited for ended.
#[inline]
pub(crate) fn completed(answer: Answer) -> std::result::Result<Option<Payload>, Failure> {
    match answer {
        Answer::Completed { message, .. } => Ok(message),
        Answer::Failed { failure, .. } => Err(failure),
        other => unexpected(&other),
    }
}

/// As [`completed`], of one of several: which.
pub(crate) fn completed_one(answer: Answer) -> (usize, std::result::Result<Option<Payload>, Failure>) {
    match answer.into_over() {
        Ok((index, result)) => (index as usize, result),
        Err(other) => unexpected(&other),
    }
}

pub(crate) fn nothing(answer: Answer) {
    match answer {
        Answer::Ready => {}
        other => unexpected(&other),
    }
}

pub(crate) fn flag(answer: Answer) -> bool {
    match answer {
        Answer::Flag(flag) => flag,
        other => unexpected(&other),
    }
}

pub(crate) fn number(answer: Answer) -> f64 {
    match answer {
        Answer::Number(number) => number,
        other => unexpected(&other),
    }
}
