//! A linearizable register that several servers keep.
#![forbid(unsafe_code)]

mod server;

use std::process::ExitCode;

use peak_alloc::PeakAlloc;
use simurgh::clap;
use simurgh_deploy::{Arguments, Deployment, Node};
use simurgh_examples::protocol::{Engine, Protocol};
use simurgh_protocol::linearizability::{Calls, Register, RegisterAnswer, RegisterAsk};
use simurgh_protocol::{ActorId, Happened, IdMap, System, history, local};

use server::{Answers, Client, Msg, Server, Value};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[derive(clap::Args)]
struct Options {
    /// How many servers keep the register; under deploy, all nodes but the clients, which are the last
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=9))]
    servers: u32,
    /// How many clients there are: the first writes, the others read
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=9))]
    clients: u32,
    /// How often each client writes or reads [default: one write, two reads; 10 of each under run and deploy]
    #[arg(long, value_name = "N")]
    operations: Option<u32>,
    /// Does not have a majority keep what is read before it answers
    #[arg(long)]
    bug: bool,
}

#[derive(clap::Args)]
struct CheckOnly {
    /// How many nodes may be down at a time
    #[arg(long, value_name = "N", default_value_t = 0)]
    crashes: usize,
}

/// What clients asked and were answered, whatever was repeated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Seen {
    calls: Calls<Register<Value>>,
    asked: IdMap<u32>,
    answered: IdMap<u32>,
}

impl Seen {
    fn tell(&mut self, happened: Happened<'_, Msg>) {
        let is_new = |known: &mut IdMap<u32>, client, number: u32| {
            let new = known.get(client).is_none_or(|last| *last < number);
            if new {
                known.insert(client, number);
            }
            new
        };
        match happened {
            Happened::Sent { from, msg: Msg::Ask(number, ask), .. }
                if is_new(&mut self.asked, from, *number) =>
            {
                self.calls.ask(from, ask.clone());
            }
            Happened::Received { to, msg: Msg::Answer(number, answer), .. }
                if is_new(&mut self.answered, to, *number) =>
            {
                self.calls.answer(to, answer.clone());
            }
            _ => {}
        }
    }
}

/// The client with this number: the first writes 1, 2, 3...
fn client(options: &Options, number: u32, persistent: bool) -> Client {
    let asks = match (number, persistent) {
        (0, false) => (1..=options.operations.unwrap_or(1)).map(RegisterAsk::Write).collect(),
        (0, true) => (1..=options.operations.unwrap_or(10)).map(RegisterAsk::Write).collect(),
        (_, false) => vec![RegisterAsk::Read; options.operations.unwrap_or(2) as usize],
        (_, true) => vec![RegisterAsk::Read; options.operations.unwrap_or(10) as usize],
    };
    Client { server: ActorId(number % options.servers), asks, persistent }
}

fn system(options: &Options, persistent: bool) -> System<Msg> {
    let server = || Server { servers: options.servers as usize, persistent, bug: options.bug };
    let first = Seen { calls: Calls::new(Register(0)), asked: IdMap::default(), answered: IdMap::default() };
    let system = (0..options.servers).fold(System::new(), |system, _| system.durable(server()));
    system
        .actors((0..options.clients).map(|number| client(options, number, persistent)))
        .history(first, |msg| matches!(msg, Msg::Ask(..) | Msg::Answer(..)), Seen::tell)
        .always("linearizable", history(|seen: &Seen| seen.calls.is_linearizable()))
}

fn checked(options: &Options, only: &CheckOnly) -> System<Msg> {
    let written = |answers: &Answers| answers.0.contains(&RegisterAnswer::Value(1));
    let system = system(options, false).crashes(only.crashes);
    if options.clients < 2 {
        return system;
    }
    system.sometimes("what was written is read", local(written))
}

fn simulated(options: &Options) -> System<Msg> {
    let most = options.operations.unwrap_or(10) as usize;
    system(options, true)
        .eventually("everybody is answered", local(move |answers: &Answers| answers.0.len() == most))
}

fn deploy(arguments: &Arguments, options: &Options) -> ExitCode {
    let place = Deployment::read(&arguments.file).and_then(|deployment| {
        let servers = deployment.nodes().len().saturating_sub(options.clients as usize);
        Ok((servers, deployment.find(&arguments.node)?.index()))
    });
    if let Ok((servers, place)) = place
        && place >= servers
    {
        let sized = Options { servers: servers.max(1) as u32, ..*options };
        return arguments.run(|name, deployment| {
            let client = client(&sized, (place - servers) as u32, true);
            let asks = client.asks.clone();
            let mut told = 0;
            Ok(Node::new(client, name, deployment)?.watch(move |answers: &Answers| {
                for (ask, answer) in asks.iter().zip(&answers.0).skip(told) {
                    println!("{ask:?}: {answer:?}");
                }
                told = answers.0.len();
            }))
        });
    }
    arguments.run(|name, deployment| {
        let servers = deployment.nodes().len().saturating_sub(options.clients as usize);
        let server = Server { servers, persistent: true, bug: options.bug };
        Node::durable(server, name, deployment)
    })
}

fn main() -> ExitCode {
    let protocol = Protocol { engine: Engine::Bfs, check: checked, run: simulated, deploy };
    protocol.main(&MEMORY)
}
