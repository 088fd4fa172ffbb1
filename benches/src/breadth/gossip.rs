//! Each host of a torus, or of the cluster in a file, tells others what it knows, again and again, at its own pace. Sizes differ, and so do the
//! ways.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use simurgh::platform::{ClusterSpec, Topology};
use simurgh::prelude::*;

use super::scatter;
use crate::{Line, Threads};

/// Who has heard nothing for so long goes home, in seconds.
const PATIENCE: f64 = 1.0;
/// At least so long between two messages, in seconds.
const PAUSE: f64 = 1e-3;

async fn teller(ctx: Ctx, boxes: Mailboxes<()>, me: u32, rounds: u32) -> simurgh::Result {
    let others = boxes.len() - 1;
    for k in 0..rounds {
        ctx.sleep(PAUSE + 1e-8 * scatter(me, k)).await;
        let to = (me + 1 + scatter(k, me) as u32 % others) % boxes.len();
        boxes.at(to).send((), 1000.0 + (scatter(me, k) / 100.0).floor()).detach().await;
    }
    Ok(())
}

async fn listener(inbox: Mailbox<()>, messages: Arc<AtomicU64>) -> simurgh::Result {
    loop {
        match inbox.recv().timeout(PATIENCE).await {
            Ok(()) => messages.fetch_add(1, Ordering::Relaxed),
            Err(error) if error.is_timeout() => return Ok(()),
            Err(error) => return Err(error),
        };
    }
}

pub fn run(side: u32, rounds: u32, threads: Threads) -> simurgh::Result<Line> {
    let mut builder = Platform::builder();
    let mut torus = ClusterSpec::new("c", side * side);
    torus.topology = Topology::Torus(vec![side, side]);
    builder.cluster(None, torus);
    spread(builder.build()?, rounds, threads)
}

/// Its hosts are `c-0`, `c-1` and so on.
pub fn file(file: &Path, rounds: u32, threads: Threads) -> simurgh::Result<Line> {
    spread(Platform::from_file(file)?, rounds, threads)
}

fn spread(platform: Platform, rounds: u32, threads: Threads) -> simurgh::Result<Line> {
    let hosts = platform.hosts().count() as u32;
    let mut program = Program::new(platform);
    let boxes = program.mailboxes("", hosts);
    let messages = Arc::new(AtomicU64::new(0));
    for me in 0..hosts {
        let (all, inbox, messages) = (boxes.clone(), boxes.at(me), Arc::clone(&messages));
        let name = format!("c-{me}");
        program.spawn("t", name.as_str(), move |ctx| teller(ctx, all, me, rounds))?;
        program.spawn("l", name.as_str(), move |_| listener(inbox, messages))?;
    }
    let line = crate::simulate(program, threads)?;
    Ok(Line { counted: Some(("messages", messages.load(Ordering::Relaxed))), ..line })
}
