//! One actor makes others, one each millisecond: they compute and sleep. It joins some, and kills those that sleep too long.

use std::collections::VecDeque;

use simurgh::prelude::*;

use super::scatter;
use crate::star::star;
use crate::{Line, Threads};

const HOSTS: u32 = 64;
/// So many are made before the oldest is looked after.
const GENERATION: usize = 50;

async fn child(ctx: Ctx, me: u32) -> simurgh::Result {
    ctx.execute(1e6 + scatter(me, 1)).await?;
    ctx.sleep(if me.is_multiple_of(5) { 1000.0 } else { 0.01 + scatter(me, 2) * 1e-7 }).await;
    Ok(())
}

pub fn run(actors: u32, threads: Threads) -> simurgh::Result<Line> {
    let (platform, hosts) = star("h", HOSTS, |_| 125e6)?;
    let first = hosts[0];
    let mut program = Program::new(platform);
    program.spawn("parent", first, move |ctx| async move {
        let mut alive = VecDeque::new();
        for me in 0..actors {
            let host = hosts[(me % HOSTS) as usize];
            alive.push_back((me, ctx.spawn("child", host, move |ctx| child(ctx, me))?.await));
            ctx.sleep(0.001).await;
            if alive.len() > GENERATION
                && let Some((old, handle)) = alive.pop_front()
            {
                match old % 5 {
                    0 => handle.kill().await,
                    1 => handle.join().await,
                    _ => {}
                }
            }
        }
        for (old, handle) in alive {
            if old.is_multiple_of(5) {
                handle.kill().await;
            }
        }
        Ok(())
    })?;
    crate::simulate(program, threads)
}
