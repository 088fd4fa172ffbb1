//! One receiver and several senders: the messages can come in any order, and a checker tries each order once.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use simurgh::clap;
use simurgh::prelude::*;

#[derive(clap::Args)]
struct Options {
    /// How many senders there are
    #[arg(long, default_value_t = 4)]
    senders: u32,
    /// Expects the first sender to be first, which it need not be
    #[arg(long)]
    bug: bool,
}

async fn receiver(ctx: Ctx, senders: u32, bug: bool) -> simurgh::Result {
    let mailbox = ctx.mailbox::<u32>("in");
    for turn in 0..senders {
        let sender = mailbox.recv().await?;
        if bug && turn == 0 && sender != 0 {
            return Err(simurgh::Error::other(format!("sender {sender} came before sender 0")));
        }
    }
    Ok(())
}

async fn sender(ctx: Ctx, number: u32) -> simurgh::Result {
    ctx.mailbox("in").send(number, 1e3).await
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let Options { senders, bug } = *options;
    let host = program.any_host()?;
    program.spawn("receiver", host, move |ctx| receiver(ctx, senders, bug))?;
    for number in 0..senders {
        let host = program.any_host()?;
        program.spawn(format!("sender-{number}"), host, move |ctx| sender(ctx, number))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    simurgh::main_with(app)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fan_in(senders: u32, bug: bool) -> impl Fn(&mut Program) -> simurgh::Result + Sync {
        move |program| app(program, &Options { senders, bug })
    }

    #[test]
    fn every_order_is_fine() {
        let report = simurgh::check(fan_in(4, false)).assert_holds();
        assert_eq!(report.executions, 24);
    }

    #[test]
    fn the_first_sender_need_not_be_first() {
        let found = simurgh::check(fan_in(2, true)).assert_violated();
        assert_eq!(found.what, "receiver failed: sender 1 came before sender 0");
        // The same order again, on the program without the bug.
        assert!(simurgh::check(fan_in(2, false)).replay(&found.steps()).violation().is_none());
    }
}
