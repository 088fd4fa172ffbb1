//! Single-decree Paxos: three nodes, each of them proposer, acceptor and learner.
#![forbid(unsafe_code)]

mod replica;
mod synod;

use std::process::ExitCode;
use std::time::Duration;

use peak_alloc::PeakAlloc;
use serde::{Deserialize, Serialize};
use simurgh::clap;
use simurgh_deploy::{Arguments, Stage, WatchArguments};
use simurgh_examples::protocol::{Engine, Protocol};
use simurgh_protocol::{Actor, ActorId, IdMap, Out, System, agree, local};

use replica::{Replica, agreeing};
use synod::{Place, Proposer, Synod, SynodMsg};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[derive(clap::Args)]
struct Options {
    /// How many of the nodes propose, each a value of its own
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=3))]
    proposals: u32,
    /// A proposer takes the value of the last response, in place of that with the highest ballot
    #[arg(long)]
    bug: bool,
}

#[derive(clap::Args)]
struct CheckOnly {
    /// Starts where node 0 has proposed, nodes 0 and 1 have accepted, and only node 0 has learned it; now node 1 proposes
    #[arg(long)]
    live: bool,
}

/// Commands about a log: Paxos for one place after the other.
#[derive(clap::Subcommand)]
enum OfLog {
    /// Runs one node of a log over real sockets: it proposes for one place after the other
    DeployLog {
        #[command(flatten)]
        deploy: Arguments,
        #[command(flatten)]
        log: LogOptions,
    },
    /// Looks at what may happen next to a log that runs, again and again
    Watch {
        #[command(flatten)]
        watch: WatchArguments,
        #[command(flatten)]
        log: LogOptions,
    },
}

/// How a log is run.
#[derive(clap::Args)]
struct LogOptions {
    /// A proposer takes the value of the last response, in place of that with the highest ballot
    #[arg(long)]
    bug: bool,
    /// How many seconds a node rests at most before it proposes
    #[arg(long, default_value_t = 6, value_name = "SECONDS")]
    rest: u32,
}

impl LogOptions {
    fn replica(&self, nodes: usize, goes_on: bool) -> Replica {
        let all = (0..nodes).map(ActorId::from).collect();
        Replica { all, bug: self.bug, rest: Duration::from_secs(self.rest.into()), goes_on }
    }
}

struct Node {
    all: Vec<ActorId>,
    proposes: bool,
    /// Whether it proposes again as long as it knows of nothing that was chosen, and does so even if it has nothing to
    /// propose: messages may have been lost.
    persistent: bool,
    bug: bool,
}

/// It is time to propose something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Propose;

/// What nodes agree on.
pub type Value = u32;

impl Node {
    fn place(&self, me: ActorId) -> Place<'_> {
        Place { me, all: &self.all, bug: self.bug }
    }
}

impl Actor for Node {
    type Msg = SynodMsg<Value>;
    type State = Synod<Value>;
    type Timer = Propose;

    fn on_start(&self, out: &mut Out<Self>) -> Self::State {
        let seconds = Duration::from_secs;
        match (self.proposes, self.persistent) {
            (true, _) => out.set_timer(Propose, Duration::ZERO..seconds(1)),
            (false, true) => out.set_timer(Propose, seconds(2)..seconds(4)),
            (false, false) => {}
        }
        Synod::default()
    }

    fn on_msg(&self, state: &mut Self::State, from: ActorId, msg: &Self::Msg, out: &mut Out<Self>) {
        state.handle(&self.place(out.me()), from, msg, &mut |to, msg| out.send(to, msg));
    }

    fn on_timeout(&self, state: &mut Self::State, Propose: &Propose, out: &mut Out<Self>) {
        let me = out.me();
        if self.persistent && state.chosen.is_some() {
            return;
        }
        state.propose(&self.place(me), me.0 + 1, &mut |to, msg| out.send(to, msg));
        if self.persistent {
            out.set_timer(Propose, Duration::from_secs(1)..Duration::from_secs(2));
        }
    }
}

fn checked(options: &Options, only: &CheckOnly) -> System<SynodMsg<Value>> {
    let all: Vec<ActorId> = (0..3).map(ActorId).collect();
    let bug = options.bug;
    let node = |proposes: bool| Node { all: all.clone(), proposes, persistent: false, bug };
    let system = if only.live {
        let ballot = (1, ActorId(0));
        let acceptor = || Synod { promised: Some(ballot), accepted: Some((ballot, 1)), ..Synod::default() };
        let mut heard = IdMap::default();
        heard.insert(ActorId(0), ballot);
        heard.insert(ActorId(1), ballot);
        let first = Synod { proposer: Proposer::Asked, heard, chosen: Some(1), ..acceptor() };
        System::new()
            .resumed(node(false), first, vec![])
            .resumed(node(true), acceptor(), vec![Propose])
            .resumed(node(false), Synod::default(), vec![])
    } else {
        System::new().actors((0..3).map(|place| node(place < options.proposals)))
    };
    let system = agreement(system);
    if options.proposals == 0 && !only.live {
        return system;
    }
    system.sometimes("a value is chosen", local(|state: &Synod<Value>| state.chosen.is_some()))
}

fn simulated(options: &Options) -> System<SynodMsg<Value>> {
    let all: Vec<ActorId> = (0..3).map(ActorId).collect();
    let node = |place| Node {
        all: all.clone(),
        proposes: place < options.proposals,
        persistent: true,
        bug: options.bug,
    };
    agreement(System::new().actors((0..3).map(node)))
        .eventually("all know what is chosen", local(|state: &Synod<Value>| state.chosen.is_some()))
}

fn agreement(system: System<SynodMsg<Value>>) -> System<SynodMsg<Value>> {
    system.always("no two nodes choose different values", agree(|state: &Synod<Value>| state.chosen))
}

fn deploy(arguments: &Arguments, options: &Options) -> ExitCode {
    arguments.run(|name, deployment| {
        let me = deployment.find(name)?;
        let (all, proposes) = (deployment.actors().collect(), me.0 < options.proposals);
        let mut told = None;
        let node = Node { all, proposes, persistent: true, bug: options.bug };
        Ok(simurgh_deploy::Node::new(node, name, deployment)?.watch(move |state: &Synod<Value>| {
            if state.chosen != told {
                told = state.chosen;
                told.iter().for_each(|value| println!("{value} is chosen"));
            }
        }))
    })
}

fn main() -> ExitCode {
    let protocol = Protocol { engine: Engine::Local, check: checked, run: simulated, deploy };
    protocol.main_or(&MEMORY, |command| match command {
        OfLog::DeployLog { deploy, log } => deploy.run(|node, deployment| {
            let replica = log.replica(deployment.nodes().len(), true);
            Ok(simurgh_deploy::Node::new(replica, node, deployment)?.observable())
        }),
        // From a snapshot, each node proposes once more: the search has an end, and the next snapshot comes soon.
        OfLog::Watch { watch, log } => {
            watch.run(|stage| (0..3).map(|_| log.replica(3, stage == Stage::Running)).collect(), agreeing)
        }
    })
}
