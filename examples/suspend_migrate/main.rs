//! A worker that is halted, resumed and moved to other hosts while it works.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use simurgh::App;
use simurgh::platform::Routing;
use simurgh::prelude::*;

/// Ten pieces of work, with the date and the host at the end of each.
async fn worker(ctx: Ctx) -> simurgh::Result {
    for piece in 1..=10 {
        ctx.execute(1e9).await?;
        ctx.say(format!("piece {piece:>2} is done"));
    }
    // An actor can also move by itself, here to where it will not be noticed.
    ctx.migrate("attic")?.await;
    ctx.say("and now I rest");
    ctx.suspend().await;
    ctx.say("who wakes me?");
    Ok(())
}

async fn supervisor(ctx: Ctx) -> simurgh::Result {
    let worker = ctx.spawn("worker", "slow", worker)?.await;
    ctx.sleep_until(2.5).await;
    ctx.say("halts the worker, in the middle of its third piece");
    worker.suspend().await;
    ctx.sleep_until(5.0).await;
    ctx.say("lets it go on");
    worker.resume().await;
    ctx.sleep_until(7.25).await;
    ctx.say("moves it to a host that is four times as fast");
    worker.migrate(&ctx.host_named("fast")?).await;
    if !worker.join_for(5.0).await {
        ctx.say("the worker rests: wakes it");
        worker.resume().await;
        worker.join().await;
    }
    ctx.say(format!("the worker is {}", if worker.is_alive().await { "alive" } else { "gone" }));
    Ok(())
}

fn platform(_: &simurgh::NoOptions) -> simurgh::Result<Platform> {
    let mut builder = Platform::builder();
    let zone = builder.zone("house", Routing::Star);
    for (name, speed) in [("office", 1e9), ("slow", 1e9), ("fast", 4e9), ("attic", 1e9)] {
        let host = builder.host(zone, name, speed).id();
        builder.star(zone, host, &[]);
    }
    Ok(builder.build()?)
}

fn app(program: &mut Program, _: &simurgh::NoOptions) -> simurgh::Result {
    program.spawn("supervisor", "office", supervisor)?;
    Ok(())
}

fn main() -> ExitCode {
    App::new(app).platform(platform).main()
}
