//! An actor on each host computes, goes to another power state, and asks what was used, a hundred times; others compute beside it.

use simurgh::platform::Routing;
use simurgh::prelude::*;

use super::scatter;
use crate::{Line, Threads};

pub fn run(hosts: u32, threads: Threads) -> simurgh::Result<Line> {
    let mut builder = Platform::builder();
    let zone = builder.zone("c", Routing::Full);
    for number in 0..hosts {
        builder
            .host(zone, &format!("h{number}"), 1e9)
            .power_states(&[1e9, 8e8, 5e8], 0)
            .cores(4)
            .property("wattage_per_state", "95:120:200,93:115:170,90:110:150")
            .property("wattage_off", "10");
    }
    let mut program = Program::new(builder.build()?);
    for me in 0..hosts {
        let name = format!("h{me}");
        program.spawn("a", name.as_str(), move |ctx| async move {
            let host = ctx.host();
            for k in 0..100 {
                ctx.execute(1e6 + 100.0 * scatter(me, k)).await?;
                host.set_pstate((me + k) as usize % 3).await?;
                if host.energy().await? < 0.0 {
                    return Err(simurgh::Error::input("less than nothing was used"));
                }
            }
            Ok(())
        })?;
        program.spawn("b", name.as_str(), move |ctx| async move {
            for k in 0..50 {
                ctx.execute(1e6 + 200.0 * scatter(me, 100 + k)).await?;
                ctx.sleep(1e-7 * scatter(me, 200 + k)).await;
            }
            Ok(())
        })?;
    }
    let outcome = crate::outcome(program, threads)?;
    let joules: f64 = outcome.energy().map(|(_, joules)| joules).sum();
    Ok(Line { counted: Some(("joules", joules.round() as u64)), ..crate::line(&outcome) })
}
