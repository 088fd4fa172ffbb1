//! A token goes round a ring of actors; each adds one to it and passes it on.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use simurgh::clap;
use simurgh::prelude::*;

#[derive(clap::Args)]
struct Options {
    /// How many actors are in the ring
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(2..))]
    actors: u32,
    /// How many times the token goes round
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// How long the token is
    #[arg(long, default_value_t = 1e6)]
    bytes: f64,
}

/// It counts the hands it went through.
struct Token(u64);

async fn member(ctx: Ctx, place: u32, actors: u32, rounds: u32, bytes: f64) -> simurgh::Result {
    let mine = ctx.mailbox(&format!("place {place}"));
    let next = ctx.mailbox(&format!("place {}", (place + 1) % actors));
    // The first makes the token, and is the one that receives it at the end of a round.
    let mut held = (place == 0).then_some(Token(0));
    for round in 1..=rounds {
        let begin = ctx.now();
        let Token(hands) = match held.take() {
            Some(token) => token,
            None => mine.recv().await?,
        };
        next.send(Token(hands + 1), bytes).await?;
        if place == 0 {
            let token: Token = mine.recv().await?;
            let took = ctx.now() - begin;
            ctx.say(format!("round {round}: the token went through {} hands, in {took:.6} s", token.0));
            held = Some(token);
        }
    }
    Ok(())
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let Options { actors, rounds, bytes } = *options;
    for place in 0..actors {
        let host = program.any_host()?;
        program
            .spawn(format!("member-{place}"), host, move |ctx| member(ctx, place, actors, rounds, bytes))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    simurgh::main_with(app)
}
