//! Workloads to measure Simurgh with. Most of them exist on SimGrid too, as the programs that `benches/vs-simgrid` compiles:
//! both sides do the same work and print the same line.
//!
//! - [`pingpong`]: one byte to and fro: what a message costs.
//! - [`master_workers`]: one sender, many receivers, computations.
//! - [`flows`]: many transfers at once, whose shares change all the time.
//! - [`chord`]: a peer-to-peer system: many actors, small messages, timers that are mostly taken back.
//! - [`backbone`]: flows that share one full link, and nothing else.
//! - [`disks`]: many accesses to one disk at once.
//! - [`breadth`]: ten more, of many kinds.
//! - [`matmul`]: real computation in the code of the actors, for several workers.
//! - [`growth`]: how the cost of these grows, measured and drawn ([`chart`]).
//! - [`star`]: the platform of most of them.
#![forbid(unsafe_code)]

mod backbone;
mod breadth;
mod chart;
mod chord;
mod disks;
mod flows;
mod growth;
mod master_workers;
mod matmul;
mod pages;
mod pingpong;
mod star;

use std::fmt;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use simurgh::prelude::*;

/// Workloads to measure Simurgh with.
#[derive(Parser)]
struct Cli {
    /// Prints, on standard error, what the kernel and the models counted
    #[arg(long, global = true)]
    stats: bool,
    /// So many threads run the code of the actors, where that is faster [default: as many as there are cores]
    #[arg(long = "workers", global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    #[command(subcommand)]
    workload: Workload,
}

#[derive(Subcommand)]
enum Workload {
    /// Two hosts, one link, one byte to and fro
    Pingpong {
        /// How many round trips
        round_trips: u64,
    },
    /// One master hands tasks to workers in turn
    Masterworkers {
        /// How many workers
        #[arg(value_parser = clap::value_parser!(u32).range(1..))]
        workers: u32,
        /// How many tasks
        tasks: u64,
    },
    /// Every host of a star sends to others, all at once
    Flows {
        /// How many hosts
        #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
        hosts: u32,
        /// How many flows from each
        #[arg(value_parser = clap::value_parser!(u32).range(..=10_000))]
        flows: u32,
    },
    /// A ring of Chord in its steady state
    Chord {
        /// How many nodes
        #[arg(value_parser = clap::value_parser!(u32).range(1..))]
        nodes: u32,
        /// How many simulated seconds
        #[arg(value_parser = seconds)]
        end: f64,
    },
    /// Pairs of hosts talk over one backbone, which is full
    Backbone {
        /// How many pairs
        #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
        flows: u32,
        /// A rate of its own for each
        #[arg(value_parser = ["rates"])]
        rates: Option<String>,
    },
    /// Actors of one host read from and write to its disk
    Disks {
        /// How many actors
        #[arg(value_parser = clap::value_parser!(u32).range(1..=65_536))]
        actors: u32,
    },
    #[command(flatten)]
    Breadth(breadth::Workload),
    /// A matrix product, really computed by a grid of actors
    Matmul(matmul::Options),
    /// Measures how cost grows with size, and draws it
    Growth(growth::Options),
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(seconds) if f64::is_finite(seconds) && seconds >= 0.0 => Ok(seconds),
        _ => Err("give a number of seconds, such as 100".to_owned()),
    }
}

/// What a workload prints.
struct Line {
    clock: f64,
    stats: String,
    /// What was counted besides, and what it is called.
    counted: Option<(&'static str, u64)>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "clock {:.6}", self.clock)?;
        match self.counted {
            Some((what, count)) => write!(f, " {what} {count}"),
            None => Ok(()),
        }
    }
}

/// How many threads run the code of the actors, if that was said.
type Threads = Option<usize>;

/// Simulates a program that must come to a good end.
fn outcome(program: Program, threads: Threads) -> simurgh::Result<Outcome> {
    let outcome = program.simulate(Settings { workers: threads, ..Settings::default() })?;
    match outcome.report.failures.first() {
        Some(failure) => {
            Err(simurgh::Error::input(format!("actor {:?} failed: {}", failure.name, failure.message)))
        }
        None if !outcome.is_fine() => {
            Err(simurgh::Error::input(format!("not all actors came to their end: {:?}", outcome.report.end)))
        }
        None => Ok(outcome),
    }
}

fn line(outcome: &Outcome) -> Line {
    Line { clock: outcome.clock(), stats: stats(outcome), counted: None }
}

fn simulate(program: Program, threads: Threads) -> simurgh::Result<Line> {
    outcome(program, threads).map(|outcome| line(&outcome))
}

fn stats(outcome: &Outcome) -> String {
    let (report, models) = (&outcome.report, outcome.statistics());
    let round = report.turns as f64 / report.rounds.max(1) as f64;
    format!(
        "actors {} messages {} turns {} rounds {} mean round {round:.2} shared {} steps {} events {} started {} solves {} \
         variables solved {} peak {}",
        report.actors,
        report.messages,
        report.turns,
        report.rounds,
        outcome.threads().rounds,
        report.steps,
        models.events,
        models.started,
        models.solves,
        models.variables_solved,
        peak_bytes()
    )
}

/// The most memory that this process has had; 0 where the system does not tell.
fn peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).unwrap_or(0) * 1024
}

/// From so many nodes on, large pages are worth a second start.
const MANY: u32 = 50_000;

fn run(workload: &Workload, threads: Threads) -> simurgh::Result<Option<Line>> {
    let line = match *workload {
        Workload::Pingpong { round_trips } => pingpong::run(round_trips, threads),
        Workload::Masterworkers { workers, tasks } => master_workers::run(workers, tasks, threads),
        Workload::Flows { hosts, flows } => flows::run(hosts, flows, threads),
        Workload::Backbone { flows, ref rates } => backbone::run(flows, rates.is_some(), threads),
        Workload::Disks { actors } => disks::run(actors, threads),
        Workload::Chord { nodes, end } => {
            if nodes >= MANY {
                pages::make_large();
            }
            chord::run(nodes, end, threads)
        }
        Workload::Breadth(ref workload) => breadth::run(workload, threads),
        Workload::Matmul(options) => matmul::run(options, threads),
        Workload::Growth(ref options) => return growth::run(options).map(|()| None),
    };
    line.map(Some)
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    match run(&cli.workload, cli.threads.map(usize::from)) {
        Ok(line) => {
            if let Some(line) = line {
                println!("{line}");
                if cli.stats {
                    eprintln!("{}", line.stats);
                }
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("benches: {error}");
            ExitCode::from(2)
        }
    }
}
