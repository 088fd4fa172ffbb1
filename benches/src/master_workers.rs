//! One master hands tasks of 1e6 bytes and 5e7 flops to workers in turn, each on a host of its own.

use simurgh::prelude::*;

use crate::star::star;
use crate::{Line, Threads};

/// What a worker is sent.
enum Order {
    Compute(f64),
    Stop,
}

async fn master(boxes: Vec<Mailbox<Order>>, tasks: u64) -> simurgh::Result {
    for (_, mailbox) in (0..tasks).zip(boxes.iter().cycle()) {
        mailbox.send(Order::Compute(5e7), 1e6).await?;
    }
    for mailbox in &boxes {
        mailbox.send(Order::Stop, 0.0).await?;
    }
    Ok(())
}

async fn worker(ctx: Ctx, mailbox: Mailbox<Order>) -> simurgh::Result {
    while let Order::Compute(flops) = mailbox.recv().await? {
        ctx.execute(flops).await?;
    }
    Ok(())
}

pub fn run(workers: u32, tasks: u64, threads: Threads) -> simurgh::Result<Line> {
    let (platform, hosts) = star("h", workers + 1, |_| 125e6)?;
    let mut program = Program::new(platform);
    let boxes: Vec<_> = program.mailboxes("", workers).iter().collect();
    for (mailbox, &host) in boxes.iter().zip(&hosts[1..]) {
        let mailbox = mailbox.clone();
        program.spawn("w", host, |ctx| worker(ctx, mailbox))?;
    }
    program.spawn("m", hosts[0], move |_| master(boxes, tasks))?;
    crate::simulate(program, threads)
}
