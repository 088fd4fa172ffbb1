//! Actors that sleep ten times, each for another time.

use simurgh::prelude::*;

use super::scatter;
use crate::{Line, Threads};

pub fn run(actors: u32, threads: Threads) -> simurgh::Result<Line> {
    let mut program = Program::new(Platform::builtin());
    for me in 0..actors {
        program.spawn("a", "node-0", move |ctx| async move {
            for k in 0..10 {
                ctx.sleep(1e-6 * scatter(me, k)).await;
            }
            Ok(())
        })?;
    }
    crate::simulate(program, threads)
}
