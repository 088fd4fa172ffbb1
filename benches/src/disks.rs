//! Actors of one host read from and write to its disk in turn, all at once; sizes differ.

use simurgh::platform::Routing;
use simurgh::prelude::*;

use crate::{Line, Threads};

const ACCESSES: u32 = 10;

pub fn run(actors: u32, threads: Threads) -> simurgh::Result<Line> {
    let mut builder = Platform::builder();
    let zone = builder.zone("c", Routing::Full);
    let host = builder.host(zone, "h", 1e9).id();
    builder.disk(host, "disk", 1e8, 4e7);
    let mut program = Program::new(builder.build()?);
    for me in 0..actors {
        program.spawn("a", host, move |ctx| async move {
            let disk = ctx.disk("disk")?;
            for k in 0..ACCESSES {
                let bytes = f64::from(10_000 + (me * 7919 + k * 104_729) % 99_991);
                match (me + k) % 3 {
                    0 => disk.write(bytes).await?,
                    _ => disk.read(bytes).await?,
                };
            }
            Ok(())
        })?;
    }
    crate::simulate(program, threads)
}
