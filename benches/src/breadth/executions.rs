//! Actors compute, ten times each, on 16 hosts of four cores; sizes differ, so that the shares change at every end.

use simurgh::platform::Routing;
use simurgh::prelude::*;

use super::scatter;
use crate::{Line, Threads};

const HOSTS: u32 = 16;

pub fn run(actors: u32, threads: Threads) -> simurgh::Result<Line> {
    let mut builder = Platform::builder();
    let zone = builder.zone("c", Routing::Full);
    let hosts: Vec<_> = (0..HOSTS)
        .map(|number| {
            builder.host(zone, &format!("h{number}"), 1e9 * f64::from(1 + number % 3)).cores(4).id()
        })
        .collect();
    let mut program = Program::new(builder.build()?);
    for me in 0..actors {
        program.spawn("a", hosts[(me % HOSTS) as usize], move |ctx| async move {
            for k in 0..10 {
                ctx.execute(1e7 + 100.0 * scatter(me, k)).await?;
            }
            Ok(())
        })?;
    }
    crate::simulate(program, threads)
}
