//! Every host of a star sends to others at once; sizes and links differ, so that the shares change at every end.

use simurgh::prelude::*;

use crate::star::star;
use crate::{Line, Threads};

/// The receiver of the `k`-th flow of a host, if it is another host.
fn receiver_of(host: u32, k: u32, hosts: u32) -> Option<u32> {
    let to = (host + k * k) % hosts;
    (to != host).then_some(to)
}

fn bytes(host: u32, k: u32) -> f64 {
    f64::from(1_000_000 + 1000 * ((host * 7919 + k * 104_729) % 9973))
}

fn mailbox(ctx: &Ctx, from: u32, k: u32) -> Mailbox<()> {
    ctx.mailbox(&format!("{from}-{k}"))
}

async fn sender(ctx: Ctx, me: u32, hosts: u32, flows: u32) -> simurgh::Result {
    let mut sends = ActivitySet::new();
    for k in (1..=flows).filter(|&k| receiver_of(me, k, hosts).is_some()) {
        sends.push(mailbox(&ctx, me, k).send((), bytes(me, k)).start().await);
    }
    sends.wait_all().await?;
    Ok(())
}

async fn receiver(ctx: Ctx, me: u32, hosts: u32, flows: u32) -> simurgh::Result {
    let mut receives = ActivitySet::new();
    for from in 0..hosts {
        for k in (1..=flows).filter(|&k| receiver_of(from, k, hosts) == Some(me)) {
            receives.push(mailbox(&ctx, from, k).recv().start().await);
        }
    }
    receives.wait_all().await?;
    Ok(())
}

pub fn run(hosts: u32, flows: u32, threads: Threads) -> simurgh::Result<Line> {
    let (platform, all) = star("h", hosts, |number| 125e6 * f64::from(1 + number % 5))?;
    let mut program = Program::new(platform);
    for (me, &host) in (0..).zip(&all) {
        program.spawn("s", host, move |ctx| sender(ctx, me, hosts, flows))?;
        program.spawn("r", host, move |ctx| receiver(ctx, me, hosts, flows))?;
    }
    crate::simulate(program, threads)
}
