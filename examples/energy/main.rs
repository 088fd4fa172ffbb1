//! The same work on the same hosts, until the same deadline: race and then idle, race and then switch off, or slow down.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use simurgh::platform::Routing;
use simurgh::prelude::*;
use simurgh::{App, clap};

#[derive(clap::Args)]
struct Options {
    /// What each of the cores has to compute
    #[arg(long, default_value_t = 30e9)]
    flops: f64,
    /// When it has to be done
    #[arg(long, default_value_t = 60.0)]
    deadline: f64,
}

/// How to meet the deadline.
#[derive(Copy, Clone)]
enum Policy {
    RaceToIdle,
    RaceToOff,
    SlowDown,
    Nothing,
}

impl Policy {
    const ALL: [(&'static str, Policy); 4] = [
        ("race-to-idle", Policy::RaceToIdle),
        ("race-to-off", Policy::RaceToOff),
        ("slow-down", Policy::SlowDown),
        ("nothing", Policy::Nothing),
    ];
}

/// The speeds of a core, from the fastest on; and the watts of a host: idle, hardly loaded, all cores at work.
const SPEEDS: [f64; 4] = [2e9, 1.5e9, 1e9, 0.5e9];
const WATTS: &str = "80:110:220, 75:95:160, 70:85:118, 68:78:95";
const CORES: u32 = 4;

/// Four equal hosts, one for each policy, and one more to watch them, which draws nothing.
fn platform(_: &Options) -> simurgh::Result<Platform> {
    let mut builder = Platform::builder();
    let zone = builder.zone("rack", Routing::None);
    for (name, _) in Policy::ALL {
        builder
            .host(zone, name, SPEEDS[0])
            .cores(CORES)
            .power_states(&SPEEDS, 0)
            .property("wattage_per_state", WATTS)
            .property("wattage_off", "5");
    }
    builder.host(zone, "watch", 1e9);
    Ok(builder.build()?)
}

/// The slowest power state that is fast enough.
fn frugal(host: &Host, flops: f64, deadline: f64) -> usize {
    host.speeds().iter().rposition(|&speed| flops / speed <= deadline).unwrap_or(0)
}

async fn worker(ctx: Ctx, policy: Policy, flops: f64, deadline: f64) -> simurgh::Result {
    let host = ctx.host();
    let pstate = match policy {
        Policy::Nothing => return Ok(()),
        Policy::RaceToIdle | Policy::RaceToOff => 0,
        Policy::SlowDown => frugal(&host, flops, deadline),
    };
    host.set_pstate(pstate).await?;
    let work = ctx.execute(flops).threads(host.cores()).start().await;
    ctx.say(format!("power state {pstate}, {:.1} Gf a core", host.speed().await / 1e9));
    // The power changes with the load: it is drawn from the moment on at which the work has begun.
    ctx.sleep(1.0).await;
    ctx.say(format!("{:.0} W with {:.1} Gf at work", host.power().await?, host.load().await / 1e9));
    work.wait().await?;
    ctx.say(format!("done, {:.0} J", host.energy().await?));
    Ok(())
}

/// Switches a host off as soon as its worker is done, and reads all meters at the deadline.
async fn watch(ctx: Ctx, racer: ActorHandle, deadline: f64) -> simurgh::Result {
    racer.join().await;
    ctx.host_named("race-to-off")?.turn_off().await?;
    ctx.sleep_until(deadline).await;
    for (name, _) in Policy::ALL {
        let joules = ctx.host_named(name)?.energy().await?;
        ctx.say(format!("{name:<12} {joules:>6.0} J, {:>3.0} W on the average", joules / deadline));
    }
    Ok(())
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let Options { flops, deadline } = *options;
    let mut racer = None;
    for (name, policy) in Policy::ALL {
        let handle =
            program.spawn(format!("{name} worker"), name, move |ctx| worker(ctx, policy, flops, deadline))?;
        if matches!(policy, Policy::RaceToOff) {
            racer = Some(handle);
        }
    }
    if let Some(racer) = racer {
        program.spawn("meter", "watch", move |ctx| watch(ctx, racer, deadline))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    App::new(app).platform(platform).main()
}
