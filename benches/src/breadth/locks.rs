//! Actors take locks, hold them for a while, and give them back, twenty times each; there is a lock for sixteen of them.

use std::sync::Arc;

use simurgh::prelude::*;

use super::scatter;
use crate::{Line, Threads};

pub fn run(actors: u32, threads: Threads) -> simurgh::Result<Line> {
    let mut program = Program::new(Platform::builtin());
    let locks: Arc<[_]> = (0..actors.div_ceil(16)).map(|_| program.mutex(0_u32)).collect();
    for me in 0..actors {
        let locks = Arc::clone(&locks);
        program.spawn("a", "node-0", move |ctx| async move {
            for k in 0..20 {
                ctx.sleep(1e-6 * scatter(me, k)).await;
                let mut taken = locks[scatter(k, me) as usize % locks.len()].lock().await;
                *taken += 1;
                ctx.sleep(1e-8 * scatter(me, 100 + k)).await;
            }
            Ok(())
        })?;
    }
    crate::simulate(program, threads)
}
