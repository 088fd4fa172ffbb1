//! Workloads of many kinds, for which nothing was tuned: one file each, and the same in `benches/peers` on SimGrid.
//!
//! - [`alltoall`]: every host of a fat tree sends to every other.
//! - [`zones`]: routes that are looked for in zones of zones.
//! - [`churn`]: actors that come, end and are killed.
//! - [`executions`]: many computations on shared cores.
//! - [`gossip`]: hosts of a torus, or of the cluster in a file, tell others what they know.
//! - [`locks`] and [`barriers`]: actors that wait for each other.
//! - [`energy`]: hosts whose power state changes all the time.
//! - [`sleepers`]: actors that only sleep.
//! - [`loading`]: platforms that are made, or read from a file, and hardly used.

mod alltoall;
mod barriers;
mod churn;
mod energy;
mod executions;
mod gossip;
mod loading;
mod locks;
mod sleepers;
mod zones;

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::RangedI64ValueParser;

use crate::{Line, Threads};

fn size() -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=1_000_000)
}

#[derive(Subcommand)]
pub enum Workload {
    /// Every host of a fat tree sends to every other, all at once
    Alltoall {
        /// How many switches of 16 hosts
        #[arg(value_parser = size())]
        switches: u32,
    },
    /// Messages between hosts of Dijkstra zones inside a Dijkstra zone
    Zones {
        /// How many zones, and hosts of each
        #[arg(value_parser = clap::value_parser!(u32).range(3..=1000))]
        width: u32,
    },
    /// Actors that come, end and are killed
    Churn {
        /// How many actors
        #[arg(value_parser = size())]
        actors: u32,
    },
    /// Actors compute on the shared cores of 16 hosts
    Executions {
        /// How many actors
        #[arg(value_parser = size())]
        actors: u32,
    },
    /// Hosts of a square torus tell others what they know
    Gossip {
        /// How many hosts along a side
        #[arg(value_parser = clap::value_parser!(u32).range(2..=1000))]
        side: u32,
        /// How often each
        #[arg(value_parser = size())]
        rounds: u32,
    },
    /// Hosts of a cluster in a file, c-0 and so on, tell others what they know
    Network {
        /// The platform
        file: PathBuf,
        /// How often each
        #[arg(value_parser = size())]
        rounds: u32,
    },
    /// Actors take locks in turn
    Locks {
        /// How many actors; a lock for each sixteen
        #[arg(value_parser = size())]
        actors: u32,
    },
    /// Actors meet at one barrier
    Barriers {
        /// How many actors
        #[arg(value_parser = size())]
        actors: u32,
        /// How often
        #[arg(value_parser = size())]
        rounds: u32,
    },
    /// Hosts compute in changing power states
    Energy {
        /// How many hosts
        #[arg(value_parser = size())]
        hosts: u32,
    },
    /// Actors that only sleep
    Sleepers {
        /// How many actors
        #[arg(value_parser = size())]
        actors: u32,
    },
    /// A star of hosts is made, and one message sent
    Star {
        /// How many hosts
        #[arg(value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
        hosts: u32,
    },
    /// A platform is read from a file, and one message sent
    Load {
        /// The platform
        file: PathBuf,
    },
}

/// A number below 999,983 that looks like chance: different for different `a` below that.
fn scatter(a: u32, b: u32) -> f64 {
    ((u64::from(a) * 7919 + u64::from(b) * 104_729) % 999_983) as f64
}

pub fn run(workload: &Workload, threads: Threads) -> simurgh::Result<Line> {
    match *workload {
        Workload::Alltoall { switches } => alltoall::run(switches, threads),
        Workload::Zones { width } => zones::run(width, threads),
        Workload::Churn { actors } => churn::run(actors, threads),
        Workload::Executions { actors } => executions::run(actors, threads),
        Workload::Gossip { side, rounds } => gossip::run(side, rounds, threads),
        Workload::Network { ref file, rounds } => gossip::file(file, rounds, threads),
        Workload::Locks { actors } => locks::run(actors, threads),
        Workload::Barriers { actors, rounds } => barriers::run(actors, rounds, threads),
        Workload::Energy { hosts } => energy::run(hosts, threads),
        Workload::Sleepers { actors } => sleepers::run(actors, threads),
        Workload::Star { hosts } => loading::star(hosts, threads),
        Workload::Load { ref file } => loading::file(file, threads),
    }
}
