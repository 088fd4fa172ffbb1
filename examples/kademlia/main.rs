//! Kademlia: a distributed hash table in which whoever is asked finds the nodes nearest to any name.
#![forbid(unsafe_code)]

mod account;
mod node;
mod table;

use std::collections::BTreeSet;
use std::process::ExitCode;

use account::{ACCOUNTS, collect};
use node::Node;
use simurgh::platform::Routing;
use simurgh::prelude::*;
use simurgh::{App, Error, clap};
use table::Id;

#[derive(clap::Args)]
struct Options {
    /// How many nodes there are, in the first third of the time coming one by one
    #[arg(long, default_value_t = 100)]
    nodes: u32,
    /// How many of them fail in the second third of the time, without a word
    #[arg(long, default_value_t = 20)]
    crashes: u32,
    /// When all is over, in seconds
    #[arg(long, default_value_t = 900.0)]
    duration: f64,
}

async fn peer(ctx: Ctx, id: Id, known: Option<Id>, end: f64) -> simurgh::Result {
    let account = Node::new(ctx.clone(), id, end).live(known).await?;
    ctx.mailbox(ACCOUNTS).send(account, 0.0).detach().await;
    Ok(())
}

/// Hosts all over a country: up to some 20 ms from each other, behind links of 1 MB a second.
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
    let Options { nodes, crashes, duration } = *options;
    if crashes >= nodes {
        return Err(Error::input(format!(
            "--crashes {crashes}: at least one of the {nodes} nodes must stay"
        )));
    }
    let mut random = program.random();
    let mut ids = BTreeSet::new();
    while ids.len() < nodes as usize {
        ids.insert(Id(random.next_u64()));
    }
    let mut ids: Vec<Id> = ids.into_iter().collect();
    random.shuffle(&mut ids);
    let first = ids.first().copied();
    let third = duration / 3.0;
    let mut members = Vec::new();
    for (number, &id) in (0..nodes).zip(&ids) {
        let host = program.any_host()?;
        let (joins, fails) = (third * random.next_f64(), third * (1.0 + random.next_f64()));
        let mut actor = program.actor(format!("node {id}"), host)?;
        // The first is there from the start and stays, for the others to join by.
        if number > 0 {
            actor = actor.start_at(joins);
        }
        if (1..=crashes).contains(&number) {
            actor = actor.kill_at(fails);
        } else {
            members.push(id);
        }
        let known = first.filter(|_| number > 0);
        actor.start(move |ctx| peer(ctx, id, known, duration))?;
    }
    let settled = (duration * 5.0 / 6.0).ceil();
    let host = program.any_host()?;
    program.spawn("collector", host, move |ctx| collect(ctx, members, settled))?;
    Ok(())
}

fn main() -> ExitCode {
    App::new(app).platform(platform).main()
}
