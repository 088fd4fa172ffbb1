//! What actors can do to themselves and to each other, and when it shows. The dates and the order within an instant are
//! those of SimGrid 3.32, except where it is said otherwise.
//!
//! Hosts a and b compute 1 Gflop/s, c 2 Gflop/s; a message of 1e6 bytes from a to b takes 1.095484 s.

mod ends;
mod halts;
mod locks;
mod programs;
mod quantities;
mod resources;
mod rounds;
mod stepping;
mod waits;

use std::pin::Pin;

use crate::support::log::Log;
use simurgh::prelude::*;

type Code = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Sends to mailbox x, and writes down what came of it.
fn sender(bytes: f64) -> impl FnOnce(Ctx, Log) -> Code {
    move |ctx, log| {
        Box::pin(async move {
            let result = ctx.mailbox("x").send((), bytes).await;
            log.how(&ctx, "sent", result);
        })
    }
}

/// Receives from mailbox x, and writes down what came of it.
fn receiver(ctx: Ctx, log: Log) -> Code {
    Box::pin(async move {
        let result = ctx.mailbox::<()>("x").recv().await;
        log.how(&ctx, "received", result);
    })
}
