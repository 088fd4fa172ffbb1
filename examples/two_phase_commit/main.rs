//! Two-phase commit (Gray: Notes on data base operating systems, 1978): all take part in a transaction, or none.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use simurgh::prelude::*;
use simurgh::{Error, clap};

#[derive(clap::Args, Copy, Clone)]
struct Options {
    /// How many take part
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    participants: u32,
    /// Who waits too long for the decision aborts without it
    #[arg(long)]
    bug: bool,
}

/// How long anyone waits for a message, in seconds.
const PATIENCE: f64 = 10.0;

#[derive(Copy, Clone, PartialEq, Eq, Debug)]
enum Decision {
    Commit,
    Abort,
}

/// To a participant.
enum Order {
    /// Can you commit?
    Prepare,
    /// What all do.
    Do(Decision),
}

/// From a participant.
struct Vote {
    can_commit: bool,
}

/// What a participant did in the end.
struct Done {
    participant: u32,
    did: Decision,
}

/// Asks all whether they can commit, decides, and checks that all did the same.
async fn coordinator(ctx: Ctx, participants: u32) -> simurgh::Result {
    let orders: Vec<Mailbox<Order>> = (0..participants).map(|number| orders(&ctx, number)).collect();
    for order in &orders {
        order.send(Order::Prepare, 100.0).detach().await;
    }
    let decision = decide(&ctx, participants).await?;
    for order in &orders {
        order.send(Order::Do(decision), 100.0).detach().await;
    }
    for _ in 0..participants {
        let Done { participant, did } = ctx.mailbox("done").recv().await?;
        simurgh::check!(
            did == decision,
            "participant {participant} did {did:?}, but all were to {decision:?}"
        );
    }
    ctx.say(format!("all did {decision:?}"));
    Ok(())
}

/// Commit, if all say in time that they can.
async fn decide(ctx: &Ctx, participants: u32) -> simurgh::Result<Decision> {
    let votes = ctx.mailbox::<Vote>("votes");
    for _ in 0..participants {
        match votes.recv().timeout(PATIENCE).await {
            Ok(vote) if vote.can_commit => {}
            Ok(_) => return Ok(Decision::Abort),
            Err(error) if error.is_timeout() => return Ok(Decision::Abort),
            Err(error) => return Err(error),
        }
    }
    Ok(Decision::Commit)
}

async fn participant(ctx: Ctx, number: u32, bug: bool) -> simurgh::Result {
    let orders = orders(&ctx, number);
    orders.recv().await?;
    ctx.execute(1e9).await?;
    let can_commit = ctx.choose(2).await == 0;
    ctx.mailbox("votes").send(Vote { can_commit }, 100.0).detach().await;
    let did = if can_commit {
        // From here on it has promised to commit, and must not go back on its own.
        let order = if bug { orders.recv().timeout(PATIENCE).await } else { orders.recv().await };
        match order {
            Ok(Order::Do(decision)) => decision,
            Ok(Order::Prepare) => return Err(Error::other("asked twice")),
            Err(error) if error.is_timeout() => Decision::Abort,
            Err(error) => return Err(error),
        }
    } else {
        // Who cannot commit need not wait: all will abort.
        Decision::Abort
    };
    ctx.mailbox("done").send(Done { participant: number, did }, 100.0).detach().await;
    Ok(())
}

fn orders(ctx: &Ctx, participant: u32) -> Mailbox<Order> {
    ctx.mailbox(&format!("participant {participant}"))
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let Options { participants, bug } = *options;
    let host = program.any_host()?;
    program.spawn("coordinator", host, move |ctx| coordinator(ctx, participants))?;
    for number in 0..participants {
        let host = program.any_host()?;
        program.spawn(format!("participant-{number}"), host, move |ctx| participant(ctx, number, bug))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    simurgh::main_with(app)
}
