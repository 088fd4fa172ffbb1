//! Tasks: an amount of computation and a message in one, the style of SimGrid's MSG.

use super::actor::{Ctx, Execute};
use super::mailbox::{Mailbox, Send};

/// Work that can be sent to where it is done.
#[derive(Clone, PartialEq, Debug)]
pub struct Task<T = ()> {
    /// Its name.
    pub name: String,
    /// How much is to be computed.
    pub flops: f64,
    /// How many bytes go with it when it is sent.
    pub bytes: f64,
    /// What goes with it.
    pub data: T,
}

impl Task {
    /// A task without data.
    pub fn new(name: impl Into<String>, flops: f64, bytes: f64) -> Self {
        Self { name: name.into(), flops, bytes, data: () }
    }
}

impl<T: std::marker::Send + 'static> Task<T> {
    /// A task with data.
    pub fn with_data(name: impl Into<String>, flops: f64, bytes: f64, data: T) -> Self {
        Self { name: name.into(), flops, bytes, data }
    }

    /// Does the work, on the host of the actor.
    #[track_caller]
    pub fn execute(&self, ctx: &Ctx) -> Execute {
        ctx.execute(self.flops)
    }

    /// Sends it. The message is as long as the task says.
    #[track_caller]
    pub fn send_to(self, mailbox: &Mailbox<Task<T>>) -> Send<Task<T>> {
        let bytes = self.bytes;
        mailbox.send(self, bytes)
    }
}
