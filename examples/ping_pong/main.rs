//! Two actors throw a ball to each other: first a small one to learn the latency, then a large one for the bandwidth.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use simurgh::clap;
use simurgh::prelude::*;

#[derive(clap::Args)]
struct Options {
    /// How long the large ball is
    #[arg(long, default_value_t = 1e9)]
    bytes: f64,
}

/// What flies from one to the other: when it was thrown.
struct Ball {
    thrown: f64,
}

async fn pinger(ctx: Ctx) -> simurgh::Result {
    ctx.mailbox("ping").send(Ball { thrown: ctx.now() }, 1.0).await?;
    let ball: Ball = ctx.mailbox("pong").recv().await?;
    ctx.say(format!("the large ball took {:.6} s", ctx.now() - ball.thrown));
    Ok(())
}

async fn ponger(ctx: Ctx, bytes: f64) -> simurgh::Result {
    let ball: Ball = ctx.mailbox("ping").recv().await?;
    ctx.say(format!("the small ball took {:.6} s", ctx.now() - ball.thrown));
    ctx.mailbox("pong").send(Ball { thrown: ctx.now() }, bytes).await
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let bytes = options.bytes;
    let (first, second) = (program.any_host()?, program.any_host()?);
    program.spawn("pinger", first, pinger)?;
    program.spawn("ponger", second, move |ctx| ponger(ctx, bytes))?;
    Ok(())
}

fn main() -> ExitCode {
    simurgh::main_with(app)
}
