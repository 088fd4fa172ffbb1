//! All actors sleep, each for another time, and meet at a barrier, again and again.

use simurgh::prelude::*;

use super::scatter;
use crate::{Line, Threads};

pub fn run(actors: u32, rounds: u32, threads: Threads) -> simurgh::Result<Line> {
    let mut program = Program::new(Platform::builtin());
    let barrier = program.barrier(actors);
    for me in 0..actors {
        program.spawn("a", "node-0", move |ctx| async move {
            for k in 0..rounds {
                ctx.sleep(1e-6 * scatter(me, k)).await;
                barrier.wait().await;
            }
            Ok(())
        })?;
    }
    crate::simulate(program, threads)
}
