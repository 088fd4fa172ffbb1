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
    /// How many nodes there are, in the first third of the time coming one by one [default: 64; 2 under check]
    #[arg(long)]
    nodes: Option<u32>,
    /// The ring has 2^bits places
    #[arg(long, default_value_t = 24, value_parser = clap::value_parser!(u32).range(1..=63))]
    bits: u32,
    /// When all is over, in seconds
    #[arg(long, default_value_t = 1000.0)]
    duration: f64,
    /// Ends a node when it has waited in vain so many times [default: never; 2 under check, where time is abstract]
    #[arg(long)]
    timeouts: Option<u32>,
    /// How many nodes leave in the second third of the time [default: 8; none under check]
    #[arg(long)]
    leaves: Option<u32>,
    /// How many nodes fail in the second third of the time, without a word [default: 4; none under check]
    #[arg(long)]
    crashes: Option<u32>,
    /// Takes the next message for the answer, whatever it is, as the implementation of 2011 did
    #[arg(long)]
    bug: bool,
    /// How many messages can be under way to a node at once [default: 4; 1 under check]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    receives: Option<u32>,
}

/// How much of everything there is.
struct Sizes {
    nodes: u32,
    leaves: u32,
    crashes: u32,
    receives: u32,
    timeouts: Option<u32>,
}

impl Options {
    fn sizes(&self, explored: bool) -> simurgh::Result<Sizes> {
        let (nodes, leaves, crashes, receives, timeouts) =
            if explored { (2, 0, 0, 1, Some(2)) } else { (64, 8, 4, 4, None) };
        let sizes = Sizes {
            nodes: self.nodes.unwrap_or(nodes),
            leaves: self.leaves.unwrap_or(leaves),
            crashes: self.crashes.unwrap_or(crashes),
            receives: self.receives.unwrap_or(receives),
            timeouts: self.timeouts.or(timeouts),
        };
        if u64::from(sizes.nodes) * 2 > 1 << self.bits || sizes.nodes <= sizes.leaves + sizes.crashes {
            return Err(Error::input(
                "--nodes: at most half of the places of the ring, and more than leave and crash",
            ));
        }
        if explored && sizes.crashes > 0 {
            return Err(Error::input("--crashes: a crash has a date, and time is abstract under check"));
        }
        Ok(sizes)
    }
}

/// How a node comes and goes.
struct Plan {
    life: Life,
    joins: f64,
    crashes: Option<f64>,
}

/// The first node is there from the start and stays; of the others some leave and some crash.
fn plan(options: &Options, sizes: &Sizes, mut random: Random) -> Vec<Plan> {
    let mut ids = BTreeSet::new();
    while ids.len() < sizes.nodes as usize {
        ids.insert(Id(random.below(1 << options.bits)));
    }
    let mut ids: Vec<Id> = ids.into_iter().collect();
    random.shuffle(&mut ids);
    let third = options.duration / 3.0;
    let mut plans = Vec::new();
    for (number, &id) in (0..sizes.nodes).zip(&ids) {
        let (joins, goes) = (third * random.next_f64(), third * (1.0 + random.next_f64()));
        let known = (number > 0).then(|| ids[0]);
        let is_leaver = (1..=sizes.leaves).contains(&number);
        let is_crasher = (1..=sizes.crashes).contains(&number.saturating_sub(sizes.leaves));
        plans.push(Plan {
            life: Life { id, known, leaves: is_leaver.then_some(goes) },
            joins: if number == 0 { 0.0 } else { joins },
            crashes: is_crasher.then_some(goes),
        });
    }
    plans
}

async fn peer(ctx: Ctx, rules: Rules, life: Life) -> simurgh::Result {
    let account = Node::new(ctx.clone(), rules, life.id).live(life).await?;
    if rules.timeouts.is_none() {
        // That it is given takes no time that anyone would have to know about.
        ctx.mailbox(ACCOUNTS).send(account, 0.0).detach().await;
    }
    Ok(())
}

/// Hosts all over a country: up to some 20 ms from each other, behind links of 1 MB a second. The default model of the
/// network makes a short message take about 13 times its latency, as TCP does.
fn platform(options: &Options) -> simurgh::Result<Platform> {
    let mut random = Random::new(0, 0);
    let mut builder = Platform::builder();
    let zone = builder.zone("country", Routing::Vivaldi);
    for number in 0..options.nodes.unwrap_or(64) {
        let coordinates = [10.0 * random.next_f64(), 10.0 * random.next_f64(), 2.0 * random.next_f64()];
        let host = builder.host(zone, &format!("home-{number}"), 1e9).coordinates(coordinates).id();
        let link = builder.split_link(zone, &format!("line-{number}"), 1e6, 1e-3);
        builder.star(zone, host, &[link.up]);
    }
    Ok(builder.build()?)
}

fn app(program: &mut Program, options: &Options) -> simurgh::Result {
    let sizes = options.sizes(program.is_explored())?;
    let rules = Rules {
        bits: options.bits,
        end: options.duration,
        timeouts: sizes.timeouts,
        bug: options.bug,
        receives: sizes.receives as usize,
    };
    let plans = plan(options, &sizes, program.random());
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
    if rules.timeouts.is_none() {
        // Who ends by its timeouts may have missed anything: then the ring need not be right, and nobody looks at it.
        let host = program.any_host()?;
        program.spawn("collector", host, move |ctx| collect(ctx, expected))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    App::new(app).platform(platform).main()
}
