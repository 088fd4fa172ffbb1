//! Pairs of hosts, each with a link of its own, talk over one backbone that is full; sizes differ, so that the share of all changes
//! at every end. With `rates`, each flow has a rate of its own, below and above the share.

use simurgh::platform::Routing;
use simurgh::prelude::*;

use crate::{Line, Threads};

fn bytes(flow: u32) -> f64 {
    f64::from(1_000_000 + 1000 * (flow * 7919 % 9973))
}

pub fn run(flows: u32, rates: bool, threads: Threads) -> simurgh::Result<Line> {
    let mut builder = Platform::builder();
    let zone = builder.zone("c", Routing::Star);
    let backbone = builder.link(zone, "backbone", 1.25e9, 100e-6).id();
    let mut hosts = Vec::new();
    for number in 0..2 * flows {
        let host = builder.host(zone, &format!("h{number}"), 1e9).id();
        let link = builder.link(zone, &format!("l{number}"), 125e6, 50e-6).id();
        builder.star(zone, host, &[link, backbone]);
        hosts.push(host);
    }
    let mut program = Program::new(builder.build()?);
    for flow in 0..flows {
        let (from, to) = (hosts[flow as usize], hosts[(flows + flow) as usize]);
        let name = flow.to_string();
        let mailbox = name.clone();
        program.spawn("s", from, move |ctx| async move {
            let send = ctx.mailbox(&mailbox).send((), bytes(flow));
            match rates {
                true => {
                    send.rate(1.25e9 / f64::from(flows) * (0.5 + f64::from(flow) / f64::from(flows))).await?
                }
                false => send.await?,
            };
            Ok(())
        })?;
        program.spawn("r", to, move |ctx| async move {
            ctx.mailbox::<()>(&name).recv().await?;
            Ok(())
        })?;
    }
    crate::simulate(program, threads)
}
