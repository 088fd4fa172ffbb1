//! Groups of three, two senders and a receiver each: what happens in one group does not matter to the others, and a
//! checker that knows it tries 2 orders a group, and all groups together 2 to the power of their number.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use simurgh::clap;
use simurgh::prelude::*;

#[derive(clap::Args)]
struct Options {
    /// How many groups there are
    #[arg(long, default_value_t = 3)]
    groups: u32,
}

async fn receiver(ctx: Ctx, group: u32) -> simurgh::Result {
    let mailbox = ctx.mailbox::<u32>(&format!("group-{group}"));
    mailbox.recv().await?;
    mailbox.recv().await?;
    Ok(())
}

async fn sender(ctx: Ctx, group: u32, number: u32) -> simurgh::Result {
    ctx.mailbox(&format!("group-{group}")).send(number, 1e3).await
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    for group in 0..options.groups {
        let host = program.any_host()?;
        program.spawn(format!("receiver-{group}"), host, move |ctx| receiver(ctx, group))?;
        for number in 0..2 {
            let host = program.any_host()?;
            program.spawn(format!("sender-{group}-{number}"), host, move |ctx| sender(ctx, group, number))?;
        }
    }
    Ok(())
}

fn main() -> ExitCode {
    simurgh::main_with(app)
}
