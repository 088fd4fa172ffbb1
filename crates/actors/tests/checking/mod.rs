//! Checks as library calls: every option, every assertion when it succeeds and when it fails, and checks at
//! the same time.

mod assertions;
mod found;
mod options;
mod timed;
mod together;

use std::path::Path;

use simurgh::Scenario;
use simurgh::prelude::*;

/// So many senders, of which the receiver takes the first to be first if it is wrong.
fn fan_in(senders: u32, wrong: bool) -> impl Fn(&mut Program) -> simurgh::Result + Sync {
    move |program| {
        program.spawn("receiver", "node-0", move |ctx: Ctx| async move {
            for turn in 0..senders {
                let sender = ctx.mailbox::<u32>("in").recv().await?;
                simurgh::check!(!wrong || turn > 0 || sender == 0, "sender {sender} came first");
            }
            Ok(())
        })?;
        for number in 0..senders {
            let code = move |ctx: Ctx| async move { ctx.mailbox("in").send(number, 1e3).repeatable().await };
            program.spawn(format!("sender-{number}"), "node-1", code)?;
        }
        Ok(())
    }
}

fn right(program: &mut Program) -> simurgh::Result {
    fan_in(3, false)(program)
}

fn wrong(program: &mut Program) -> simurgh::Result {
    fan_in(3, true)(program)
}

/// One of two is served, and the other waits for ever.
fn one_seat(program: &mut Program) -> simurgh::Result {
    program.spawn("usher", "node-0", |ctx: Ctx| async move { ctx.mailbox::<()>("seat").recv().await })?;
    for name in ["ann", "bob"] {
        program.spawn(name, "node-1", |ctx: Ctx| async move { ctx.mailbox("seat").send((), 1.0).await })?;
    }
    Ok(())
}

/// Goes on for ever: it tries again after each timeout.
fn endless(program: &mut Program) -> simurgh::Result {
    program.spawn("hopeful", "node-0", |ctx: Ctx| async move {
        while ctx.mailbox::<()>("never").recv().timeout(1.0).await.is_err() {}
    })?;
    Ok(())
}

fn unmade(program: &mut Program) -> simurgh::Result {
    program.spawn("lost", "no-such-host", |_: Ctx| async move {})?;
    Ok(())
}

/// An invariant over two actors that does not hold.
fn crossing(program: &mut Program) -> simurgh::Result {
    let (north, east) = (program.exposed("north", false), program.exposed("east", false));
    program.invariant("one way at a time", [north, east], |green| !(green[0] && green[1]));
    for (name, light) in [("north", north), ("east", east)] {
        program.spawn(name, "node-0", move |ctx: Ctx| async move {
            let _ = ctx.now();
            light.set(true).await;
            light.set(false).await;
        })?;
    }
    Ok(())
}

fn panicking(program: &mut Program) -> simurgh::Result {
    program.spawn("clumsy", "node-0", |ctx: Ctx| async move {
        assert!(ctx.choose(2).await == 0, "dropped it");
    })?;
    Ok(())
}

const SEAT: &str = r#"
[[actor]]
name = "usher"
do = ["recv seat"]
[[actor]]
name = "ann"
do = ["send seat 1"]
[[actor]]
name = "bob"
do = ["send seat 1"]
"#;

fn seat() -> Scenario {
    Scenario::parse(SEAT, "seat.toml", Path::new(".")).expect("it is a scenario")
}

fn one_host(name: &str) -> Platform {
    let text = format!(
        "<?xml version='1.0'?><platform version='4.1'><zone id='z' routing='Full'>\
         <host id='{name}' speed='1Gf'/></zone></platform>"
    );
    Platform::from_xml(&text, "one_host.xml", Path::new(".")).expect("it is a platform")
}
