//! A token goes round a ring of actors; each adds one to it and passes it on.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use simurgh::clap;
use simurgh::prelude::*;

#[derive(clap::Args, Copy, Clone)]
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
    /// Who waits too long for the token takes it for lost, and makes a new one
    #[arg(long)]
    bug: bool,
}

/// How long the token may take before it is taken for lost, in seconds.
const PATIENCE: f64 = 60.0;

/// It counts the hands it went through.
struct Token(u64);

async fn member(ctx: Ctx, place: u32, options: Options) -> simurgh::Result {
    let Options { actors, rounds, bytes, bug } = options;
    let mine = ctx.mailbox(&format!("place {place}"));
    let next = ctx.mailbox(&format!("place {}", (place + 1) % actors));
    // The first makes the token, and is the one that receives it at the end of a round.
    let mut held = (place == 0).then_some(Token(0));
    for round in 1..=rounds {
        let begin = ctx.now();
        let Token(hands) = match held.take() {
            Some(token) => token,
            None => receive(&mine, bug).await?,
        };
        next.send(Token(hands + 1), bytes).await?;
        if place == 0 {
            let token = receive(&mine, bug).await?;
            let took = ctx.now() - begin;
            ctx.say(format!("round {round}: the token went through {} hands, in {took:.6} s", token.0));
            held = Some(token);
        }
    }
    Ok(())
}

async fn receive(mailbox: &Mailbox<Token>, bug: bool) -> simurgh::Result<Token> {
    if !bug {
        return mailbox.recv().await;
    }
    match mailbox.recv().timeout(PATIENCE).await {
        Err(error) if error.is_timeout() => Ok(Token(0)),
        received => received,
    }
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let options = *options;
    for place in 0..options.actors {
        let host = program.any_host()?;
        program.spawn(format!("member-{place}"), host, move |ctx| member(ctx, place, options))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    simurgh::main_with(app)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(bug: bool) -> impl Fn(&mut Program) -> simurgh::Result + Sync {
        move |program| app(program, &Options { actors: 3, rounds: 2, bytes: 1e6, bug })
    }

    #[test]
    fn the_token_comes_round() {
        // Who has one token can receive it in one way only.
        assert_eq!(simurgh::check(ring(false)).assert_holds().executions, 1);
    }

    #[test]
    fn a_second_token_is_one_too_many() {
        let found = simurgh::check(ring(true)).assert_deadlock();
        assert!(found.what.starts_with("deadlock: "), "{found}");
    }
}
