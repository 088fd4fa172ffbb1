//! Two traffic lights at a crossing, and what must be true of both at once: an invariant over state that they expose.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use simurgh::clap;
use simurgh::prelude::*;

#[derive(clap::Args, Copy, Clone)]
struct Options {
    /// How often each light is green
    #[arg(long, default_value_t = 1)]
    turns: u32,
    /// Relies on the time that a light is green, instead of asking whether it still is
    #[arg(long)]
    bug: bool,
}

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Colour {
    Red,
    Green,
}

/// Is green for half a minute whenever it is told to.
async fn light(ctx: Ctx, way: &str, colour: Exposed<Colour>, turns: u32) -> simurgh::Result {
    for _ in 0..turns {
        ctx.mailbox::<()>(way).recv().await?;
        colour.set(Colour::Green).await;
        ctx.sleep(30.0).await;
        colour.set(Colour::Red).await;
        ctx.mailbox("red again").send((), 8.0).detach().await;
    }
    Ok(())
}

/// Tells the lights, one after the other.
async fn controller(ctx: Ctx, options: Options) -> simurgh::Result {
    for _ in 0..options.turns {
        for way in ["north", "east"] {
            ctx.mailbox(way).send((), 8.0).await?;
            if options.bug {
                // More than enough.
                ctx.sleep(60.0).await;
            } else {
                ctx.mailbox::<()>("red again").recv().await?;
            }
        }
    }
    Ok(())
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let options = *options;
    let north = program.exposed("north", Colour::Red);
    let east = program.exposed("east", Colour::Red);
    program.invariant("one way at a time", [north, east], |colours| colours.contains(&Colour::Red));
    let host = program.any_host()?;
    program.spawn("controller", host, move |ctx| controller(ctx, options))?;
    for (way, colour) in [("north", north), ("east", east)] {
        let host = program.any_host()?;
        program.spawn(way, host, move |ctx| light(ctx, way, colour, options.turns))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    simurgh::main_with(app)
}

#[cfg(test)]
mod tests {
    use simurgh::Engine;

    use super::*;

    fn crossing(bug: bool) -> impl Fn(&mut Program) -> simurgh::Result + Sync {
        move |program| app(program, &Options { turns: 2, bug })
    }

    #[test]
    fn one_way_at_a_time() {
        let report = simurgh::check(crossing(false)).assert_holds();
        // An invariant is about several actors at once.
        assert_eq!(report.engine, Engine::Optimal);
    }

    #[test]
    fn a_light_may_be_green_for_longer_than_it_should() {
        let found = simurgh::check(crossing(true)).assert_violated();
        let what = "invariant \"one way at a time\" does not hold (north = Green, east = Green)";
        assert_eq!(found.what, what);
    }
}
