//! Chord: nodes come and go, and whoever is asked finds the owner of any key in a few hops.
#![forbid(unsafe_code)]

mod account;
mod message;
mod node;
mod ring;

use std::collections::BTreeSet;
use std::process::ExitCode;

use account::{ACCOUNTS, Expected, collect};
use node::{Life, Node, Rules};
use ring::Id;
use simurgh::platform::Routing;
use simurgh::prelude::*;
use simurgh::{App, Error, clap};

#[derive(clap::Args)]
struct Options {
    /// How many nodes there are, in the first third of the time coming one by one
    #[arg(long, default_value_t = 64)]
    nodes: u32,
    /// The ring has 2^bits places
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=63))]
    bits: u32,
    /// When all is over, in seconds
    #[arg(long, default_value_t = 1000.0)]
    duration: f64,
    /// How many nodes leave in the second third of the time
    #[arg(long, default_value_t = 8)]
    leaves: u32,
    /// How many nodes fail in the second third of the time, without a word
    #[arg(long, default_value_t = 4)]
    crashes: u32,
    /// Takes the next message for the answer, whatever it is, as the implementation of 2011 did
    #[arg(long)]
    bug: bool,
    /// How many messages can be under way to a node at once
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    receives: u32,
}

/// How a node comes and goes.
struct Plan {
    life: Life,
    joins: f64,
    crashes: Option<f64>,
}

/// The first node is there from the start and stays; of the others some leave and some crash.
fn plan(options: &Options, mut random: Random) -> simurgh::Result<Vec<Plan>> {
    let places = 1u64 << options.bits;
    if u64::from(options.nodes) * 2 > places || options.nodes <= options.leaves + options.crashes {
        return Err(Error::input(
            "--nodes: at most half of the places of the ring, and more than leave and crash",
        ));
    }
    let mut ids = BTreeSet::new();
    while ids.len() < options.nodes as usize {
        ids.insert(Id(random.below(places)));
    }
    let mut ids: Vec<Id> = ids.into_iter().collect();
    random.shuffle(&mut ids);
    let third = options.duration / 3.0;
    let mut plans = Vec::new();
    for (number, &id) in (0..options.nodes).zip(&ids) {
        let (joins, goes) = (third * random.next_f64(), third * (1.0 + random.next_f64()));
        let known = (number > 0).then(|| ids[0]);
        let is_leaver = (1..=options.leaves).contains(&number);
        let is_crasher = (1..=options.crashes).contains(&number.saturating_sub(options.leaves));
        plans.push(Plan {
            life: Life { id, known, leaves: is_leaver.then_some(goes) },
            joins: if number == 0 { 0.0 } else { joins },
            crashes: is_crasher.then_some(goes),
        });
    }
    Ok(plans)
}

async fn peer(ctx: Ctx, rules: Rules, life: Life) -> simurgh::Result {
    let account = Node::new(ctx.clone(), rules, life.id).live(life).await?;
    // That it is given takes no time that anyone would have to know about.
    ctx.mailbox(ACCOUNTS).send(account, 0.0).detach().await;
    Ok(())
}

/// Hosts all over a country: up to some 20 ms from each other, behind links of 1 MB a second. The default model of the
/// network makes a short message take about 13 times its latency, as TCP does.
fn platform(options: &Options) -> simurgh::Result<Platform> {
    let mut random = Random::new(0, 0);
    let mut builder = Platform::builder();
    let zone = builder.zone("country", Routing::Vivaldi);
    for number in 0..options.nodes {
        let coordinates = [10.0 * random.next_f64(), 10.0 * random.next_f64(), 2.0 * random.next_f64()];
        let host = builder.host(zone, &format!("home-{number}"), 1e9).coordinates(coordinates).id();
        let link = builder.split_link(zone, &format!("line-{number}"), 1e6, 1e-3);
        builder.star(zone, host, &[link.up]);
    }
    Ok(builder.build()?)
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let rules = Rules {
        bits: options.bits,
        end: options.duration,
        bug: options.bug,
        receives: options.receives as usize,
    };
    let plans = plan(options, program.random())?;
    let stays = |plan: &&Plan| plan.life.leaves.is_none() && plan.crashes.is_none();
    let expected = Expected {
        accounts: plans.iter().filter(|plan| plan.crashes.is_none()).count(),
        members: plans.iter().filter(stays).map(|plan| plan.life.id).collect(),
        settled: (options.duration * 5.0 / 6.0).ceil(),
        bits: options.bits,
        end: options.duration,
    };
    for Plan { life, joins, crashes } in plans {
        let host = program.any_host()?;
        let mut actor = program.actor(format!("node {}", life.id), host)?.start_at(joins);
        if let Some(date) = crashes {
            actor = actor.kill_at(date);
        }
        actor.start(move |ctx| peer(ctx, rules, life))?;
    }
    let host = program.any_host()?;
    program.spawn("collector", host, move |ctx| collect(ctx, expected))?;
    Ok(())
}

fn main() -> ExitCode {
    App::new(app).platform(platform).main()
}
