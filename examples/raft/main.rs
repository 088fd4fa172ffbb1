//! Raft: a leader is elected, and a log is replicated.
#![forbid(unsafe_code)]

mod server;

use std::process::ExitCode;
use std::time::Duration;

use peak_alloc::PeakAlloc;
use simurgh::clap;
use simurgh_deploy::{Arguments, Node};
use simurgh_examples::protocol::{Engine, Protocol};
use simurgh_protocol::{System, local, pairwise};

use server::{Msg, Server, State};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[derive(clap::Args)]
struct Options {
    /// How many servers there are; under deploy, the deployment file says so
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=9))]
    nodes: u32,
    /// How many commands somebody asks for, at servers in turn; under deploy, whoever types does
    #[arg(long, value_name = "N", default_value_t = 1)]
    commands: u32,
    /// How long a server waits for a leader before it wants to be one, in milliseconds: so long at least, less than twice as long
    #[arg(long, value_name = "MS", default_value_t = server::PATIENCE.as_millis() as u64)]
    patience: u64,
    /// Votes without comparing logs
    #[arg(long)]
    bug: bool,
}

#[derive(clap::Args)]
struct CheckOnly {
    /// Beyond this term nobody wants to be the leader
    #[arg(long, value_name = "TERM", default_value_t = 2)]
    terms: u32,
    /// How many of the servers want to be the leader, from the last
    #[arg(long, value_name = "N", default_value_t = 2)]
    candidates: u32,
    /// How many servers may be down at a time
    #[arg(long, value_name = "N", default_value_t = 0)]
    crashes: usize,
}

/// The commands that somebody asks for at a server.
fn asks(options: &Options, place: u32) -> Vec<String> {
    (0..options.commands)
        .filter(|command| command % options.nodes == place)
        .map(|command| format!("c{command}"))
        .collect()
}

fn checked(options: &Options, only: &CheckOnly) -> System<Msg> {
    let servers = (0..options.nodes).map(|place| Server {
        asks: asks(options, options.nodes - 1 - place),
        terms_max: only.terms,
        ambitious: place + only.candidates >= options.nodes,
        persistent: false,
        bug: options.bug,
        ..Server::new(options.nodes as usize)
    });
    let system = servers.fold(System::new(), System::durable).crashes(only.crashes);
    let system = properties(system);
    if options.commands == 0 {
        return system.sometimes("there is a leader", local(State::leads));
    }
    system.sometimes("something is committed", local(|state: &State| state.written().next().is_some()))
}

fn simulated(options: &Options) -> System<Msg> {
    let servers = (0..options.nodes).map(|place| Server {
        asks: asks(options, place),
        patience: Duration::from_millis(options.patience),
        bug: options.bug,
        ..Server::new(options.nodes as usize)
    });
    let all = options.commands as usize;
    properties(servers.fold(System::new(), System::durable))
        .eventually("all is committed everywhere", local(move |state: &State| state.written().count() == all))
}

/// The four properties of the paper's figure 3 that can be seen in states.
fn properties(system: System<Msg>) -> System<Msg> {
    system
        .always(
            "election safety",
            pairwise(|one: &State, other: &State| {
                let same_term = one.disk.term == other.disk.term;
                !same_term || one.leader.is_none() || other.leader.is_none() || one.leader == other.leader
            }),
        )
        .always(
            "log matching",
            pairwise(|one: &State, other: &State| {
                let both = || one.disk.log.iter().zip(&other.disk.log);
                let last_same = both().rposition(|(a, b)| a.term == b.term);
                last_same.is_none_or(|last| both().take(last + 1).all(|(a, b)| a == b))
            }),
        )
        .always(
            "leader completeness",
            pairwise(|one: &State, other: &State| {
                let later = other.leads() && other.disk.term > one.disk.term;
                !later || other.disk.log.starts_with(one.committed())
            }),
        )
        .always(
            "state machine safety",
            pairwise(|one: &State, other: &State| {
                one.committed().iter().zip(other.committed()).all(|(a, b)| a == b)
            }),
        )
}

fn deploy(arguments: &Arguments, options: &Options) -> ExitCode {
    arguments.run(|node, deployment| {
        let names: Vec<String> = deployment.nodes().iter().map(|peer| peer.name.clone()).collect();
        let server = Server {
            patience: Duration::from_millis(options.patience),
            bug: options.bug,
            ..Server::new(names.len())
        };
        let (mut told, mut leader) = (0, None);
        let node = Node::durable(server, node, deployment)?.lines(Msg::Typed);
        Ok(node.watch(move |state: &State| {
            if state.leader != leader {
                leader = state.leader;
                if let Some(leader) = leader {
                    println!("term {}: {} leads", state.disk.term, names[leader.index()]);
                }
            }
            for (place, command) in state.written().enumerate().skip(told) {
                println!("{}: {} (from {})", place + 1, command.text, names[command.origin.index()]);
            }
            told = state.written().count().max(told);
        }))
    })
}

fn main() -> ExitCode {
    let protocol = Protocol { engine: Engine::Local, check: checked, run: simulated, deploy };
    protocol.main(&MEMORY)
}
