//! Two hosts and one link; round trips of one byte.

use simurgh::platform::Routing;
use simurgh::prelude::*;

use crate::{Line, Threads};

async fn ping(to: Mailbox<()>, from: Mailbox<()>, round_trips: u64) -> simurgh::Result {
    for _ in 0..round_trips {
        to.send((), 1.0).await?;
        from.recv().await?;
    }
    Ok(())
}

async fn pong(from: Mailbox<()>, to: Mailbox<()>, round_trips: u64) -> simurgh::Result {
    for _ in 0..round_trips {
        from.recv().await?;
        to.send((), 1.0).await?;
    }
    Ok(())
}

pub fn run(round_trips: u64, threads: Threads) -> simurgh::Result<Line> {
    let mut builder = Platform::builder();
    let zone = builder.zone("c", Routing::Full);
    let (here, there) = (builder.host(zone, "h0", 1e9).id(), builder.host(zone, "h1", 1e9).id());
    let link = builder.link(zone, "l", 125e6, 50e-6).id();
    builder.route(zone, here, there, [link]);
    let mut program = Program::new(builder.build()?);
    let (a, b) = (program.mailbox::<()>("a"), program.mailbox::<()>("b"));
    let (to, from) = (a.clone(), b.clone());
    program.spawn("ping", here, move |_| ping(to, from, round_trips))?;
    program.spawn("pong", there, move |_| pong(a, b, round_trips))?;
    crate::simulate(program, threads)
}
